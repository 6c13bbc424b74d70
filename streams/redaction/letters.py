"""Dead letters: the one place where a message stays as it came, unless the deployment wants its hash or nothing."""

from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from typing import Literal

from streams.agents.deadletter import DeadLetter

Conceal = Callable[[DeadLetter], DeadLetter]


def concealing(handling: Literal["keep", "hash", "drop"], key: bytes) -> Conceal:
    """What is done with a dead letter before it is sent.

    ``hash`` leaves the length of the value and keyed hashes of value and key (``gw-length``, ``gw-hash``,
    ``gw-key-hash``), ``drop`` neither; both leave position, reason and the field's name, since a whole detail may quote
    content, and none of the producer's headers.
    """
    if handling == "keep":
        return lambda letter: letter

    def conceal(letter: DeadLetter) -> DeadLetter:
        message = letter.message
        about = [("gw-concealed", handling.encode())]
        if handling == "hash":
            parts = (("gw-hash", message.value), ("gw-key-hash", message.key))
            about += [(name, _hash(part, key)) for name, part in parts if part is not None]
            about.append(("gw-length", str(len(message.value or b"")).encode()))
        emptied = replace(message, key=None, value=None, headers=())
        return replace(letter, message=emptied, detail=letter.detail.partition(":")[0], about=tuple(about))

    return conceal


def _hash(content: bytes, key: bytes) -> bytes:
    return blake2b(content, key=key, digest_size=16).hexdigest().encode()
