"""The hash draw: permanent, keyed, and at the rate it says."""

from hashlib import blake2b
from math import sqrt

import pytest

from sampling.draw import decide, u_of, unit_of
from sampling.effective import compose
from schemas.errors import ConfigError
from schemas.labels import RiskTier
from schemas.policy import Allocation, Sampling, StratumRule
from tests.builders import policy, screening, trace

SALT = b"a salt that is never rotated"
COUNT = 200_000


def test_u_is_the_keyed_hash_over_two_to_the_64() -> None:
    """The value is the one that the design states, so another program can compute it."""
    digest = blake2b(b"t-1", digest_size=8, key=SALT).digest()
    assert int.from_bytes(digest, "big") / 2**64 == u_of("t-1", SALT)


def test_u_depends_on_the_salt() -> None:
    """Two deployments draw different samples."""
    assert u_of("t-1", SALT) != u_of("t-1", b"another")


def test_lone_surrogate_and_nul_have_a_number() -> None:
    """Ids come from strangers; any text has its own permanent number."""
    numbers = {u_of(name, SALT) for name in ("\ud800", "\ud801", "\x00", "?")}
    assert 4 == len(numbers)


@pytest.mark.parametrize(("number", "expected"), [(0, 0.0), (2**63, 0.5), (2**64 - 1, 1 - 2**-53)])
def test_every_hash_stays_below_one(number: int, expected: float) -> None:
    """The largest would round up to 1, and then π = 1 would leave a trace out."""
    assert expected == unit_of(number)


@pytest.mark.parametrize("salt", [b"", b"x" * 65])
def test_unfit_salt_is_refused_with_its_length(salt: bytes) -> None:
    """An empty key would make the sample predictable for anybody."""
    with pytest.raises(ConfigError, match=f"{len(salt)} bytes; give 1 to 64"):
        u_of("t-1", salt)


def test_realised_rate_lies_within_binomial_bounds() -> None:
    """Over 200,000 ids every rate is hit within four standard errors, and u has no trend."""
    numbers = [u_of(f"trace-{number}", SALT) for number in range(COUNT)]
    for pi in (0.001, 0.02, 0.2, 0.5, 0.9):
        realised = sum(u < pi for u in numbers) / COUNT
        assert abs(realised - pi) < 4 * sqrt(pi * (1 - pi) / COUNT)
    assert abs(sum(numbers) / COUNT - 0.5) < 4 * sqrt(1 / 12 / COUNT)


def test_decision_names_stratum_probability_and_policy() -> None:
    """Everything that the estimate needs later is in the draw."""
    document = policy(
        sampling=Sampling(
            strata=(StratumRule(name="weak", score_below=0.5),),
            allocations=(Allocation(stratum="weak", probability=1.0), Allocation(tier=RiskTier.HIGH, probability=0.5)),
            default_probability=0.25,
        )
    )
    found = decide(trace(), screening(score=0.1), compose("p1", document), SALT)
    assert ("weak", 1.0, 0.25, "p1", True) == (
        found.stratum,
        found.inclusion_probability,
        found.min_probability,
        found.policy_id,
        found.drawn,
    )
