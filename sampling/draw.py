"""The draw: one permanent random number per trace id, compared with π; so every repetition gives the same sample.

See ``docs/decisions`` for why a keyed hash and not a random number.
"""

from hashlib import blake2b
from math import nextafter

from sampling.effective import EffectivePolicy
from sampling.strata import stratum_of
from schemas.draw import Draw, Screening
from schemas.errors import ConfigError
from schemas.trace import Trace

_LARGEST = nextafter(1.0, 0.0)


def u_of(trace_id: str, salt: bytes) -> float:
    """The trace's random number in [0, 1): BLAKE2b-64(UTF-8 of the id, key = salt), big-endian, / 2⁶⁴.

    The salt is 1 to 64 bytes (ConfigError otherwise) and is never changed: another one is another sample.

    >>> u_of("t-1", b"salt") == u_of("t-1", b"salt")
    True
    """
    if not 1 <= len(salt) <= blake2b.MAX_KEY_SIZE:
        message = f"salt of the draw has {len(salt)} bytes; give 1 to {blake2b.MAX_KEY_SIZE}"
        raise ConfigError(message)
    digest = blake2b(trace_id.encode("utf-8", "surrogatepass"), digest_size=8, key=salt).digest()
    return unit_of(int.from_bytes(digest, "big"))


def unit_of(number: int) -> float:
    """A 64-bit number as a fraction below 1; the topmost would round up to 1, and π = 1 must draw every trace."""
    return min(number / 2**64, _LARGEST)


def decide(trace: Trace, screening: Screening, policy: EffectivePolicy, salt: bytes) -> Draw:
    """The draw of one trace under the policy in force at its event time. Raises ConfigError for an unfit salt."""
    stratum = stratum_of(trace, screening, policy.document.sampling.strata)
    u = u_of(trace.trace_id, salt)
    probability = policy.probability(trace.intent, trace.tier, stratum)
    return Draw(
        stratum=stratum,
        u=u,
        inclusion_probability=probability,
        min_probability=policy.min_probability(trace.intent, trace.tier),
        policy_id=policy.policy_id,
        drawn=u < probability,
    )
