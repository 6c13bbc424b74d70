"""Who is asked to label, how well reviewers agree, and what their labels make of a rate."""

from collections import Counter
from datetime import timedelta

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from sampling.agreement import cohen_kappa
from sampling.corrected import NEEDED, CorrectedRate, Labelled, correct, corrected_by_slice, corrected_rate
from sampling.draw import u_of
from sampling.review_draw import Candidate, ReviewDraw, draw_reviews, review_u
from sampling.review_labels import Reviewed, answers_of, opinions, reviewed
from schemas.errors import ConfigError
from schemas.labels import ClaimLabel, Outcome, RiskTier
from schemas.review import ReviewStratum
from schemas.slice import Slice
from tests.builders import FINGERPRINT, NOW, tally, traffic_tally
from tests.builders_golden import review_label

SALT = b"salt-of-the-tests"
FLAGGED, UNFLAGGED, ASKED = ReviewStratum.FLAGGED, ReviewStratum.UNFLAGGED, ReviewStratum.ASKED


def pool(count: int, flagged: int = 0, **fields: object) -> list[Candidate]:
    """Candidates of which the first are flagged."""
    return [Candidate(n, f"t-{n}", n < flagged, **{"probability": 0.2, **fields}) for n in range(count)]  # type: ignore[arg-type]


def ids(draws: list[ReviewDraw]) -> set[int]:
    """Who was drawn."""
    return {one.place for one in draws}


def test_three_in_ten_are_flagged_ones() -> None:
    """By default; where one stratum has too few, the other gives more."""
    found = draw_reviews(pool(1000, 200), 100, SALT)
    assert {FLAGGED: 30, UNFLAGGED: 70} == Counter(one.stratum for one in found)
    assert {FLAGGED: 5, UNFLAGGED: 95} == Counter(one.stratum for one in draw_reviews(pool(1000, 5), 100, SALT))
    assert {FLAGGED: 60, UNFLAGGED: 40} == Counter(one.stratum for one in draw_reviews(pool(240, 200), 100, SALT))
    assert 7 == len(draw_reviews(pool(7, 3), 100, SALT))


def test_asking_for_more_adds_to_what_was_drawn() -> None:
    """The same numbers at every export, whatever the order in which answers come."""
    few, many = draw_reviews(pool(500, 100), 50, SALT), draw_reviews(pool(500, 100)[::-1], 200, SALT)
    assert ids(few) < ids(many)
    assert ids(few) != ids(draw_reviews(pool(500, 100), 50, b"another salt"))


def test_what_is_labelled_is_not_asked_again_and_counts_in_the_sample() -> None:
    """The next ones of the same order come; their inclusion probability is that of both together."""
    first = draw_reviews(pool(500, 100), 50, SALT)
    labelled = [
        Candidate(one.place, one.trace_id, one.is_flagged, one.probability, is_labelled=one.place in ids(first))
        for one in pool(500, 100)
    ]
    second = draw_reviews(labelled, 50, SALT)
    whole = {one.place: one for one in draw_reviews(pool(500, 100), 100, SALT)}
    assert (set(), ids(first) | ids(second)) == (ids(first) & ids(second), set(whole))
    assert [whole[one.place].probability for one in second] == pytest.approx([one.probability for one in second])


def test_probabilities_are_those_of_the_draw() -> None:
    """With equal weights m of N; certain where all are taken."""
    found = draw_reviews(pool(2000), 400, SALT)
    assert {0.2} == {round(one.probability, 1) for one in found}
    assert {1.0} == {one.probability for one in draw_reviews(pool(30), 30, SALT)}


def test_answers_that_stand_for_more_are_drawn_more() -> None:
    """So that all labels weigh alike: π of the review times π of the draw is one number."""
    rare = [Candidate(n, f"r-{n}", is_flagged=False, probability=0.1) for n in range(2000)]
    common = [Candidate(n, f"c-{n}", is_flagged=False, probability=0.5) for n in range(2000, 4000)]
    found = draw_reviews([*rare, *common], 300, SALT)
    numbers = Counter(one.place < 2000 for one in found)
    assert 200 < numbers[True] < 290
    weights = [one.probability * (0.1 if one.place < 2000 else 0.5) for one in found]
    assert max(weights) == pytest.approx(min(weights))


def test_the_order_of_rows_does_not_tell_the_stratum() -> None:
    """A blinded reviewer sees them mixed."""
    strata = [one.stratum for one in draw_reviews(pool(1000, 300), 100, SALT)]
    assert FLAGGED in strata[:20]
    assert UNFLAGGED in strata[:20]
    assert FLAGGED in strata[-20:]


def test_a_review_number_is_another_than_that_of_the_draw() -> None:
    """Uncorrelated, in [0, 1), and bound to the salt."""
    names = [f"t-{n}" for n in range(5000)]
    ours, drawn = (np.array([number(name, SALT) for name in names]) for number in (review_u, u_of))
    assert abs(np.corrcoef(ours, drawn)[0, 1]) < 0.05
    assert abs(ours.mean() - 0.5) < 0.02
    with pytest.raises(ConfigError):
        review_u("t", b"")


@pytest.mark.parametrize("seed", range(5))
def test_kappa_is_that_of_a_library(seed: int) -> None:
    """On random labels; its interval holds it."""
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 3, 80)
    other = np.where(rng.random(80) < 0.7, one, rng.integers(0, 3, 80))
    found = cohen_kappa(list(zip(one.tolist(), other.tolist(), strict=True)))
    assert found.kappa == pytest.approx(cohen_kappa_score(one, other))
    assert -1 <= found.low < (found.kappa or 0.0) < found.high <= 1


def test_kappa_of_few_pairs_is_not_certain() -> None:
    """Nor defined when only one label occurs."""
    perfect = cohen_kappa([("a", "a"), ("b", "b")] * 3)
    assert (1.0, True, 1.0) == (perfect.kappa, perfect.low < 0.8, perfect.high)
    assert (None, 1.0) == (cohen_kappa([("a", "a")] * 9).kappa, cohen_kappa([("a", "a")] * 9).observed)
    assert (0, None, -1.0, 1.0) == (cohen_kappa([]).n, cohen_kappa([]).kappa, cohen_kappa([]).low, cohen_kappa([]).high)


def test_kappa_intervals_cover() -> None:
    """Of 40 pairs at a true kappa of 0.6, in about 95 of 100 sets."""
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(300):
        one = rng.integers(0, 2, 40)
        other = np.where(rng.random(40) < 0.8, one, 1 - one)
        found = cohen_kappa(list(zip(one.tolist(), other.tolist(), strict=True)))
        hits += found.low <= 0.6 <= found.high
    assert 0.91 < hits / 300


def test_a_label_holds_when_all_agree_or_somebody_settled_it() -> None:
    """Each reviewer's latest counts; claims and answers are told apart."""
    rows = [
        review_label(Outcome.GROUNDED, "agreed"),
        review_label(Outcome.GROUNDED, "agreed", reviewer="ben"),
        review_label(Outcome.GROUNDED, "changed"),
        review_label(Outcome.UNCLEAR, "changed", at=NOW + timedelta(days=1)),
        review_label(Outcome.GROUNDED, "open"),
        review_label(Outcome.UNCLEAR, "open", reviewer="ben"),
        review_label(Outcome.GROUNDED, "settled"),
        review_label(Outcome.UNCLEAR, "settled", reviewer="ben"),
        review_label(Outcome.HALLUCINATED, "settled", reviewer="eve", is_adjudication=True),
        review_label(ClaimLabel.SUPPORTED, "agreed"),
    ]
    items = reviewed(rows[::-1])
    assert {"agreed": Outcome.GROUNDED, "changed": Outcome.UNCLEAR, "open": None, "settled": Outcome.HALLUCINATED} == {
        one.item[1]: one.label for one in answers_of(items)
    }
    pairs = {one.item[1]: opinions(one) for one in answers_of(items)}
    assert (None, 2) == (pairs["changed"], sum(len(pair) for pair in [pairs["settled"]] if pair))


def test_a_label_that_was_asked_for_first_is_drawn_all_the_same() -> None:
    """When the draw asks for it later; what was only asked for is in no estimate."""
    asked = review_label(trace_id="a", stratum=ASKED, probability=1.0)
    drawn = review_label(trace_id="a", at=NOW + timedelta(days=1), reviewer="ben")
    assert [drawn] == [one.drawn for one in reviewed([asked, drawn])]
    assert [None] == [one.drawn for one in reviewed([asked])]


def labels(flagged: tuple[int, int], unflagged: tuple[int, int], **fields: object) -> list[Reviewed]:
    """(bad, all) of each stratum."""
    return reviewed(
        review_label(
            Outcome.HALLUCINATED if n < bad else Outcome.GROUNDED, f"{stratum}-{n}", **{"stratum": stratum, **fields}
        )
        for stratum, (bad, every) in ((FLAGGED, flagged), (UNFLAGGED, unflagged))
        for n in range(every)
    )


def rate_of(items: list[Reviewed], hallucinated: int = 100, judged: int = 1000) -> CorrectedRate:
    """Corrected over a slice of which a tenth is flagged."""
    rows = [traffic_tally(5000), tally(judged, hallucinated)]
    return corrected_rate(rows, items, FINGERPRINT, np.random.default_rng(0))


def test_a_rate_is_corrected_by_precision_and_false_omission() -> None:
    """The rate is q · PPV + (1 − q) · FOR, with an interval that holds it; the same seed gives the same one."""
    found = rate_of(labels((30, 60), (7, 140)))
    assert found.rate == pytest.approx(0.1 * 0.5 + 0.9 * 0.05)
    assert 0.06 < found.low < 0.095 < found.high < 0.16
    assert found == rate_of(labels((30, 60), (7, 140)))


@pytest.mark.parametrize(
    ("items", "missing"),
    [
        ([], (60, 140)),
        (labels((3, 59), (7, 140)), (1, 0)),
        (labels((3, 60), (7, 100)), (0, 40)),
        (labels((3, 60), (7, 140), fingerprint="another"), (60, 140)),
        (labels((3, 60), (7, 140), answer_label=Outcome.UNCLEAR), (60, 140)),
    ],
)
def test_with_too_few_labels_there_is_no_rate_but_their_number(items: list[Reviewed], missing: tuple[int, int]) -> None:
    """Labels on another detector's verdicts, and answers that people could not decide, do not count."""
    found = rate_of(items)
    assert (None, missing) == (found.rate, (found.missing_flagged, found.missing_unflagged))
    assert found.apparent.rate == pytest.approx(0.1)


def test_without_judged_answers_there_is_no_rate() -> None:
    """However many labels there are."""
    found = corrected_rate([], labels((3, 60), (7, 140)), FINGERPRINT, np.random.default_rng(0))
    assert (None, 0, None) == (found.rate, found.missing, found.apparent.rate)


def test_labels_count_by_their_weight() -> None:
    """One that stands for more answers counts for more, and unequal weights widen the interval."""
    light = labels((30, 60), (0, 140))
    heavy = reviewed(
        [
            *(one.drawn for one in light if one.drawn is not None),
            *(review_label(Outcome.HALLUCINATED, f"h-{n}", probability=0.01) for n in range(10)),
        ]
    )
    even, uneven = rate_of(light), rate_of(heavy)
    share = 10 * 500 / (10 * 500 + 140 * 50)
    assert uneven.false_omission == pytest.approx(share)
    assert uneven.high - uneven.low > 2 * (even.high - even.low)


def test_every_slice_is_corrected_by_its_own_labels() -> None:
    """The whole by all of them."""
    other = Slice(intent="fees", tier=RiskTier.LOW)
    items = [
        *labels((30, 60), (7, 140)),
        *labels((3, 10), (0, 20), intent="fees", tier=RiskTier.LOW, ts=NOW - timedelta(1)),
    ]
    rows = {
        tally().slice: [traffic_tally(5000), tally(1000, 100)],
        other: [tally(100, 5, intent="fees", tier=RiskTier.LOW)],
    }
    whole, slices = corrected_by_slice(rows, items, FINGERPRINT, np.random.default_rng(0))
    assert (230, 200, 30) == (whole.labels, slices[tally().slice].labels, slices[other].labels)
    assert (True, None, 170) == (slices[tally().slice].rate is not None, slices[other].rate, slices[other].missing)


def test_unsettled_and_undecided_answers_are_told_apart() -> None:
    """Neither is a label."""
    rows = [one.drawn for one in labels((0, 60), (0, 140)) if one.drawn is not None]
    rows += [review_label(Outcome.HALLUCINATED, "flagged-0", stratum=FLAGGED, reviewer="ben")]
    rows += [review_label(Outcome.UNCLEAR, "unclear"), review_label(Outcome.ABSTAINED, "abstained")]
    found = rate_of(
        [item for item in reviewed(rows) if item.item[1] != "flagged-0"] + reviewed(rows[:1] + rows[200:201])
    )
    assert (1, 2, 59, 140) == (found.unsettled, found.undecided, found.flagged_labels, found.unflagged_labels)


def test_the_interval_of_a_correction_covers() -> None:
    """At 5 %, se .80, sp .97 and 200 labels: 93 % of intervals and more hold the truth."""
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(200):
        flagged, bad_flagged = (n := rng.binomial(5000, 0.0685)), rng.binomial(60, 0.04 / 0.0685)
        missed = rng.binomial(140, 0.01 / 0.9315)
        _, low, high = correct(
            Labelled(flagged, 5000, n), Labelled(bad_flagged, 60, 60), Labelled(missed, 140, 140), rng
        )
        hits += low <= 0.05 <= high
    assert 0.91 <= hits / 200
    assert (60, 140) == (NEEDED[FLAGGED], NEEDED[UNFLAGGED])
