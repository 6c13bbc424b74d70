"""Laws of the review draw and of what its labels make of a rate."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sampling.agreement import cohen_kappa
from sampling.corrected import Labelled, correct, corrected_rate
from sampling.review_draw import Candidate, draw_reviews, review_u
from sampling.review_labels import reviewed
from schemas.labels import Outcome
from schemas.review import ReviewLabel, ReviewStratum
from tests.builders import FINGERPRINT, tally, traffic_tally
from tests.builders_golden import review_label

SALTS = st.binary(min_size=1, max_size=64)
PAIRS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=40)


@st.composite
def pools(draw: st.DrawFn) -> list[Candidate]:
    """Judged answers with any π; some were labelled before."""
    return [
        Candidate(n, f"t-{n}", draw(st.booleans()), draw(st.floats(0.001, 1)), is_labelled=draw(st.booleans()))
        for n in range(draw(st.integers(0, 40)))
    ]


@st.composite
def counts(draw: st.DrawFn) -> Labelled:
    """Hits among a sample of any size."""
    size = draw(st.floats(1, 5000))
    return Labelled(draw(st.floats(0, 1)) * size, size, int(size))


@given(pools(), st.integers(0, 50), SALTS, st.floats(0, 1))
def test_as_many_as_wanted_are_drawn_each_once_and_none_that_is_labelled(
    pool: list[Candidate], count: int, salt: bytes, share: float
) -> None:
    """As far as there are any, with probabilities in (0, 1]."""
    found = draw_reviews(pool, count, salt, share)
    free = [one.place for one in pool if not one.is_labelled]
    assert min(count, len(free)) == len(found) == len({one.place for one in found})
    assert {one.place for one in found} <= set(free)
    assert all(0 < one.probability <= 1 for one in found)
    assert all((one.stratum is ReviewStratum.FLAGGED) == pool[one.place].is_flagged for one in found)


@given(pools(), SALTS, st.randoms())
def test_the_order_of_the_pool_does_not_matter(pool: list[Candidate], salt: bytes, rng: object) -> None:
    """Every worker and every export agree."""
    turned = pool[:]
    rng.shuffle(turned)  # type: ignore[attr-defined]
    assert draw_reviews(pool, 10, salt) == draw_reviews(turned, 10, salt)


@given(pools(), SALTS, st.integers(0, 20), st.integers(0, 20))
def test_more_only_adds(pool: list[Candidate], salt: bytes, few: int, more: int) -> None:
    """Within a stratum, whatever was labelled before."""
    for is_flagged in (True, False):
        own = [one for one in pool if one.is_flagged is is_flagged]
        small, large = ({one.place for one in draw_reviews(own, count, salt)} for count in (few, few + more))
        assert small <= large


@given(st.text(st.characters(exclude_categories=["Cs"])), SALTS)
def test_a_review_number_is_fixed_and_below_one(trace_id: str, salt: bytes) -> None:
    """Of any id."""
    assert 0 <= review_u(trace_id, salt) < 1
    assert review_u(trace_id, salt) == review_u(trace_id, salt)


@given(counts(), counts(), counts(), st.integers(0, 2**32 - 1))
@settings(max_examples=50)
def test_a_corrected_rate_lies_in_its_interval(
    apparent: Labelled, flagged: Labelled, other: Labelled, seed: int
) -> None:
    """And the interval in [0, 1], between what people find in either stratum where nothing is unknown."""
    rate, low, high = correct(apparent, flagged, other, np.random.default_rng(seed))
    assert 0 <= low <= rate <= high <= 1
    ends = [part.hits / part.size for part in (flagged, other)]
    assert min(ends) - 1e-9 <= rate <= max(ends) + 1e-9


@given(st.integers(0, 60), st.integers(0, 140), st.floats(0.01, 1), st.randoms())
@settings(max_examples=20)
def test_only_relative_weights_count(bad: int, missed: int, probability: float, rng: object) -> None:
    """A draw of twice the size has the same shares, and the order of labels does not matter."""
    given_labels = [
        review_label(
            Outcome.HALLUCINATED if n < hits else Outcome.GROUNDED, f"{stratum}-{n}", stratum=stratum, probability=0.5
        )
        for stratum, hits, every in ((ReviewStratum.FLAGGED, bad, 60), (ReviewStratum.UNFLAGGED, missed, 140))
        for n in range(every)
    ]
    other: list[ReviewLabel] = [label.model_copy(update={"probability": probability}) for label in given_labels]
    rng.shuffle(other)  # type: ignore[attr-defined]
    rows = [traffic_tally(5000), tally(1000, 100)]
    one, two = (
        corrected_rate(rows, reviewed(labels), FINGERPRINT, np.random.default_rng(0))
        for labels in (given_labels, other)
    )
    assert np.allclose([one.rate, one.low, one.high], [two.rate, two.low, two.high])  # type: ignore[arg-type]  # enough labels: not None


@given(PAIRS)
def test_kappa_lies_in_its_interval_and_is_symmetric(pairs: list[tuple[str, str]]) -> None:
    """Whoever is called first."""
    one, other = cohen_kappa(pairs), cohen_kappa([pair[::-1] for pair in pairs])
    assert -1 <= one.low <= one.high <= 1
    if one.kappa is not None and other.kappa is not None:
        assert abs(one.kappa - other.kappa) < 1e-9
        assert one.low <= one.kappa <= one.high
