"""The exact test and the interval for two runs over the same cases, against published values."""

from math import comb

import pytest

from sampling.paired import PairedCounts, mcnemar_exact, paired_difference


@pytest.mark.parametrize(
    ("lost", "gained", "p"), [(0, 0, 1.0), (1, 0, 1.0), (0, 5, 0.0625), (6, 0, 0.03125), (1, 7, 0.0703125), (4, 4, 1.0)]
)
def test_mcnemar_has_its_textbook_values(lost: int, gained: int, p: float) -> None:
    """Half a coin each way."""
    assert p == pytest.approx(mcnemar_exact(lost, gained))


@pytest.mark.parametrize("n", [1, 2, 9, 40])
def test_mcnemar_is_the_binomial_written_out(n: int) -> None:
    """Twice the smaller tail, at most 1."""
    for lost in range(n + 1):
        tail = sum(comb(n, k) for k in range(min(lost, n - lost) + 1)) / 2**n
        assert min(1.0, 2 * tail) == pytest.approx(mcnemar_exact(lost, n - lost))


def test_the_interval_is_that_of_the_literature() -> None:
    """Of 1, 1, 7 and 12 children; Fagerland, Lydersen and Laake 2014, Statistics in Medicine 33."""
    found = paired_difference(PairedCounts(both=1, lost=7, gained=1, neither=12))
    assert (-6 / 21, -0.507, -0.026) == pytest.approx(found, abs=5e-4)


def test_nothing_changed_is_not_certainty() -> None:
    """Ten cases that stayed as they were allow a change; a thousand hardly one; none says nothing."""
    _, low, high = paired_difference(PairedCounts(both=10))
    _, narrow_low, narrow_high = paired_difference(PairedCounts(both=500, neither=500))
    assert low < -0.2
    assert high > 0.2
    assert (0, 0) == pytest.approx((narrow_low, narrow_high), abs=0.005)
    assert (0.0, -1.0, 1.0) == paired_difference(PairedCounts())
