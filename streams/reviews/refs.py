"""What a row of a review is about, sealed into one cell: which answer, which verdict, how it was drawn.

Sealed, because the stratum would tell a blinded reviewer what the detector said, and because a spreadsheet that mangles
a time or a probability must be noticed. The seal is keyed by the deployment's salt: deterministic (the same row has the
same ref), opaque, and with a check sum, so that an edited one is refused.
"""

import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from hashlib import blake2b

from pydantic import Field, ValidationError

from schemas.base import Record, UtcDatetime
from schemas.errors import ConfigError
from schemas.labels import RiskTier
from schemas.review import ReviewFrame, ReviewStratum

_PREFIX = "r1."
_SUM_BYTES = 12
_PERSON = b"gw-review-ref"


class ReviewRef(Record):
    """An answer as it was drawn for review, with the verdict shown; ``claims`` is how many it has."""

    trace_id: str
    ts: UtcDatetime
    revision: int
    fingerprint: str
    claims: int = Field(ge=0)
    stratum: ReviewStratum
    probability: float = Field(gt=0, le=1)
    draw_probability: float = Field(gt=0, le=1)
    intent: str
    tier: RiskTier
    tenant: str
    frame: ReviewFrame | None = None
    is_second_opinion: bool = False


def sealed(ref: ReviewRef, salt: bytes) -> str:
    """The ref as one word of letters, digits, ``-``, ``_`` and a dot."""
    content = zlib.compress(ref.model_dump_json().encode(), 9)
    checksum = _checksum(content, salt)
    return _PREFIX + urlsafe_b64encode(checksum + _mixed(content, checksum, salt)).decode().rstrip("=")


def opened(text: str, salt: bytes) -> ReviewRef:
    """The ref behind a word. Raises ConfigError for one that was changed, cut, or sealed by another deployment."""
    word = text.strip()
    try:
        raw = urlsafe_b64decode(word.removeprefix(_PREFIX) + "=" * (-len(word.removeprefix(_PREFIX)) % 4))
        content = _mixed(raw[_SUM_BYTES:], raw[:_SUM_BYTES], salt)
        if word.startswith(_PREFIX) and _checksum(content, salt) == raw[:_SUM_BYTES]:
            return ReviewRef.model_validate_json(zlib.decompress(content))
    except (NotBase64, ValueError, zlib.error, ValidationError):
        pass
    shown = f"{word[:12]}…" if word else "nothing"
    raise ConfigError(f"{shown} is no ref of this deployment; copy the cell whole from the export, and do not edit it")


def _checksum(content: bytes, salt: bytes) -> bytes:
    return blake2b(content, digest_size=_SUM_BYTES, key=salt, person=_PERSON).digest()


def _mixed(content: bytes, nonce: bytes, salt: bytes) -> bytes:
    """Content with a keyed stream over it; applied twice it is the content again."""
    stream = bytearray()
    counter = 0
    while len(stream) < len(content):
        block = nonce + counter.to_bytes(4, "big")
        stream += blake2b(block, key=salt, person=_PERSON).digest()
        counter += 1
    return bytes(one ^ other for one, other in zip(content, stream, strict=False))
