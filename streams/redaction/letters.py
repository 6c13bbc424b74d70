"""Dead letters: the one place where a message stays as it came, unless the deployment wants its hash or nothing."""

from dataclasses import replace
from hashlib import blake2b
from typing import Literal

from streams.broker.publisher import Outgoing

_OURS = "gw-"
_REPLACED = frozenset(("gw-hash", "gw-length", "gw-null", "gw-null-key", "gw-key-length", "gw-headers-dropped"))


def concealed(
    letter: Outgoing, value: bytes | None, key: bytes | None, handling: Literal["keep", "hash", "drop"], secret: bytes
) -> Outgoing:
    """The dead letter as it may be sent; ``value`` and ``key`` are those of the message that could not be read.

    ``hash`` leaves the length of the value and keyed hashes of value and key (``gw-length``, ``gw-hash``,
    ``gw-key-hash``), ``drop`` neither; both leave the position and the reason, and none of the producer's headers.
    """
    if handling == "keep":
        return letter
    ours = tuple(pair for pair in letter.headers if pair[0].startswith(_OURS) and pair[0] not in _REPLACED)
    about = [("gw-concealed", handling.encode())]
    if handling == "hash":
        about += [(name, _hash(part, secret)) for name, part in (("gw-hash", value), ("gw-key-hash", key)) if part]
        about.append(("gw-length", str(len(value or b"")).encode()))
    return replace(letter, key=b"", value=None, headers=(*ours, *about))


def _hash(content: bytes, secret: bytes) -> bytes:
    return blake2b(content, key=secret, digest_size=16).hexdigest().encode()
