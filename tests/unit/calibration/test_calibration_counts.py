"""Pairs, curves, thresholds by target, folds and fractions, on answers small enough to count by hand."""

import numpy as np
import pytest

from detectors.calibration import (
    GRID,
    Counts,
    Curve,
    Measure,
    Pair,
    Target,
    choose,
    claim_pairs,
    counted,
    cross_fitted,
    folds_of,
    fractions_at,
    mark_sums,
    paired,
    place_of,
    reliability,
    resampled,
)
from detectors.golden import LabelledCase
from schemas.labels import ClaimLabel, Outcome, RiskTier
from tests.builders import verdict
from tests.builders_golden import golden_case, golden_claim

ANSWERS = [(0.15, True)] * 12 + [(0.45, True)] * 6 + [(0.45, False)] * 6 + [(0.85, True)] * 2 + [(0.95, False)] * 14
"""20 hallucinated, 20 grounded."""


def pairs(answers: list[tuple[float, bool]] = ANSWERS, each: int = 1) -> list[Pair]:
    """Pairs of which ``each`` in a row share a source."""
    return [
        Pair(f"c-{n}", f"s-{n // each}", "refunds", RiskTier.MEDIUM, score, is_bad)
        for n, (score, is_bad) in enumerate(answers)
    ]


def precision(value: float) -> Target:
    """A wanted precision."""
    return Target(Measure.PRECISION, value)


def test_a_score_on_the_threshold_is_not_below_it() -> None:
    """As in the policy: supported at the threshold and above."""
    curve = counted(pairs([(0.7, True), (0.69, True), (0.7, False)])).curve()
    assert Counts(1, 0, 1, 1) == curve.at(place_of(0.7))
    assert Counts(2, 1, 0, 0) == curve.at(place_of(0.71))
    assert 99 == len(GRID)


def test_counts_are_what_comparing_gives() -> None:
    """At every threshold of the grid, for scores on and beside it."""
    scores = [(float(score), n % 3 == 0) for n, score in enumerate(np.round(np.linspace(0, 1, 201), 3))]
    curve = counted(pairs(scores)).curve()
    for place, threshold in enumerate(GRID):
        caught = sum(score < threshold and bad for score, bad in scores)
        alarms = sum(score < threshold and not bad for score, bad in scores)
        assert Counts(caught, alarms, 67 - caught, 134 - alarms) == curve.at(place)


def test_precision_takes_the_threshold_that_finds_most() -> None:
    """12 of 12 below 0.45, 18 of 24 above it; from 0.86 on 20 of 26."""
    curve = counted(pairs()).curve()
    first = choose(curve, precision(0.8))
    most = choose(curve, precision(0.75))
    assert first is not None
    assert most is not None
    assert (Counts(12, 0, 8, 20), True) == (curve.at(first.place), first.is_reached)
    assert Counts(20, 6, 0, 14) == curve.at(most.place)


def test_recall_flags_as_few_as_it_can() -> None:
    """The lowest threshold that finds nine in ten."""
    curve = counted(pairs()).curve()
    chosen = choose(curve, Target(Measure.RECALL, 0.9))
    assert chosen is not None
    assert Counts(18, 6, 2, 14) == curve.at(chosen.place)


def test_a_target_out_of_reach_is_told_with_the_nearest() -> None:
    """Luck with a few flagged answers is no precision; scores of one cannot be flagged."""
    curve = counted(pairs([(0.1, True)] * 3 + [(0.5, False)] * 5 + [(0.5, True)] * 5)).curve()
    chosen = choose(curve, precision(0.9))
    assert chosen is not None
    assert (False, Counts(8, 5, 0, 0)) == (chosen.is_reached, curve.at(chosen.place))
    never = choose(counted(pairs([(1.0, True)] * 3 + [(0.5, False)])).curve(), Target(Measure.RECALL, 0.5))
    assert never is not None
    assert not never.is_reached


def test_labels_of_one_kind_choose_nothing() -> None:
    """Everything or nothing would do."""
    assert choose(counted(pairs([(0.5, True)] * 30)).curve(), precision(0.5)) is None


def test_folds_keep_sources_whole_and_are_even() -> None:
    """Sizes differ by one source at most; the same seed gives the same folds."""
    counts = counted(pairs(each=4))
    fold = folds_of(counts.sources, 3, np.random.default_rng(1))
    assert [3, 3, 4] == sorted(np.bincount(fold).tolist())
    assert (fold == folds_of(counts.sources, 3, np.random.default_rng(1))).all()


def test_cross_fitting_measures_where_it_did_not_choose() -> None:
    """Every answer is counted once; a chooser that looks at its own fold is caught."""
    counts = counted(pairs(each=2))
    fold = folds_of(counts.sources, 4, np.random.default_rng(2))
    seen: list[float] = []

    def chooser(curve: Curve) -> int | None:
        seen.append(curve.bad + curve.good)
        return place_of(0.5)

    assert counts.curve().at(place_of(0.5)) == cross_fitted(counts, fold, chooser)
    assert [30, 30, 30, 30] == seen
    assert cross_fitted(counts, fold, lambda _: None) is None


def test_resampling_draws_whole_sources() -> None:
    """Two sources of ten answers: every resample holds 0, 10 or 20 of the first."""
    counts = counted(pairs([(0.2, True)] * 10 + [(0.8, False)] * 10, each=10))
    drawn = {curve.bad for curve in resampled(counts, 60, np.random.default_rng(3))}
    assert {0.0, 10.0, 20.0} == drawn


def test_fractions_are_calibrated_at_the_base_rate_and_never_rise() -> None:
    """Their mean over all answers is the base rate, whatever share of the labels is hallucinated."""
    curve = counted(pairs()).curve()
    fractions = fractions_at(curve, 0.05)
    bad, good = mark_sums(curve, fractions)
    assert pytest.approx(0.05) == 0.05 * bad / 20 + 0.95 * good / 20
    assert (np.diff(fractions) <= 1e-12).all()
    assert bad > good


def test_reliability_by_hand() -> None:
    """Two bins: 0.25 of which a half is good, 0.95 of which all are."""
    found = reliability([0.2, 0.3, 0.2, 0.3, 0.95, 0.95, 1.0, 0.9], [True, False, False, True] + [True] * 4)
    assert found is not None
    assert [(0.2, 2, 1), (0.3, 2, 1), (0.9, 4, 4)] == [(one.low, one.n, one.good) for one in found.bins]
    assert pytest.approx((2 * 0.3 + 2 * 0.2 + 4 * 0.05) / 8) == found.ece
    assert pytest.approx(0.75 * 0.25) == found.brier_of_mean
    assert reliability([], []) is None


def test_a_score_that_always_tells_the_overall_share_gains_nothing() -> None:
    """Perfectly calibrated and of no use: both Brier scores are the same."""
    found = reliability([0.75] * 8, [True] * 6 + [False] * 2)
    assert found is not None
    assert pytest.approx((0.0, found.brier_of_mean)) == (found.ece, found.brier)


def test_what_has_no_label_or_no_score_is_counted_and_never_scored() -> None:
    """An error with a score of what was judged before it is an error."""
    labels = (Outcome.GROUNDED, Outcome.HALLUCINATED, Outcome.UNCLEAR, Outcome.HALLUCINATED, Outcome.GROUNDED)
    cases = [LabelledCase(golden_case(f"c-{n}"), label) for n, label in enumerate(labels)]
    verdicts = [
        verdict(score=0.9),
        verdict(score=0.2, outcome=Outcome.HALLUCINATED),
        verdict(score=0.1),
        verdict(score=0.3, outcome=Outcome.ERROR_TIMEOUT),
        verdict(score=None, outcome=Outcome.NO_CLAIMS),
    ]
    found = paired(cases, verdicts)
    assert [("c-0", 0.9, False), ("c-1", 0.2, True)] == [(one.case_id, one.score, one.is_bad) for one in found.pairs]
    assert {Outcome.UNCLEAR: 1} == found.left_out_labels
    assert {Outcome.ERROR_TIMEOUT: 1, Outcome.NO_CLAIMS: 1} == found.left_out_verdicts
    assert 5 == sum(found.confusion.values())


def test_a_labelled_claim_gets_the_worst_label_that_lies_on_it() -> None:
    """What stands elsewhere or was in error is not judged."""
    one = verdict()
    claim = one.claims[0]
    first = claim.model_copy(update={"claim": claim.claim.model_copy(update={"start": 0, "end": 10}), "support": 0.9})
    second = claim.model_copy(
        update={
            "claim": claim.claim.model_copy(update={"start": 11, "end": 20}),
            "label": ClaimLabel.UNSUPPORTED,
            "support": 0.2,
        }
    )
    labelled = (
        golden_claim(text="0123456789 0123456789"),
        golden_claim(ClaimLabel.UNCLEAR, text="rest"),
        golden_claim(None, text="0"),
    )
    case = golden_case(answer="0123456789 0123456789 rest", answer_labels=(), claims=labelled)
    found = list(claim_pairs(case, one.model_copy(update={"claims": (first, second)})))
    assert [ClaimLabel.UNSUPPORTED, None] == [pair.judged for pair in found]
    assert [0.2, None] == [pair.support for pair in found]
    broken = second.model_copy(update={"error": Outcome.ERROR_TIMEOUT})
    assert (
        ClaimLabel.SUPPORTED is next(iter(claim_pairs(case, one.model_copy(update={"claims": (first, broken)})))).judged
    )
