"""What stands for a value that was taken out: its kind and a keyed hash, the same wherever the same value stood.

Six digits keep values of one trace apart, 1 : 16 million each; whole fields get sixteen, to count people by.
"""

import re
from hashlib import blake2b

from streams.redaction.kinds import Kind

NAMES = {Kind.ID: "ID"}
"""Openings that are not the kind's own name."""
_SHORT_BYTES, _LONG_BYTES = 3, 8
_HASHED = re.compile(r"\[[A-Z]{2,16}[ _][0-9a-f]{16}\]")


def privacy_key(salt: bytes) -> bytes:
    """The key of all hashes, made from the deployment's salt; it tells nothing about the key of the draw."""
    return blake2b(salt, person=b"gw-privacy", digest_size=32).digest()


def placeholder(kind: Kind, value: str, key: bytes) -> str:
    """``[EMAIL_3f9a2c]``: a different value, kind or key gives another one."""
    return f"[{NAMES.get(kind, kind.name)}_{_hash(kind, value, key, _SHORT_BYTES)}]"


def hashed(opening: str, value: str, key: bytes) -> str:
    """``[USER_8d1f…]`` for a whole field, sixteen hex digits; an empty field and one that is hashed stay."""
    if not value or _HASHED.fullmatch(value):
        return value
    return f"[{opening}{_hash(opening, value, key, _LONG_BYTES)}]"


def _hash(name: str, value: str, key: bytes, size: int) -> str:
    content = f"{name}\0{value}".encode("utf-8", "surrogatepass")
    return blake2b(content, key=key, digest_size=size).hexdigest()
