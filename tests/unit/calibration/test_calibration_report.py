"""The report: what it chooses, what it refuses to choose, and that it says how much it knows."""

import io
import sys

import pytest

from detectors.calibration import Measure, Target
from sampling.policy_diff import diff_policies
from sampling.policy_file import default_policy, parse_policy
from schemas.errors import ConfigError
from schemas.labels import ClaimLabel, Outcome, RiskTier
from schemas.slice import Slice
from streams.calibration.page import calibration_page
from streams.calibration.picture import calibration_picture
from streams.calibration.report import CalibrationReport
from tests.builders import verdict
from tests.builders_golden import golden_case, golden_claim
from tests.unit.calibration.made import report_of, scored, wanted


def test_a_good_detector_gets_thresholds_and_an_operating_point() -> None:
    """The target holds on other sources, and the alert needs few times the answers of a perfect detector."""
    report = report_of(scored(600))
    assert report.is_enough
    assert report.pooled.cross_fitted is not None
    assert report.pooled.cross_fitted.precision.rate is not None
    assert report.pooled.is_reached
    assert 0.74 < report.pooled.cross_fitted.precision.rate < 0.9
    best, fair, fractions = report.operating[0].best, report.operating[0].cross_fitted, report.operating[0].fractions
    assert best is not None
    assert fair is not None
    assert fractions is not None
    assert best.times_true is not None
    assert fair.times_true is not None
    assert fractions.times_true is not None
    assert 1 < best.times_true < fair.times_true * 1.2
    assert fair.times_true < fractions.times_true
    assert report.suggestion.alert_threshold == best.threshold
    assert [0.01, 0.05, 0.1, 0.2] == [point.base_rate for point in report.by_base_rate]


def test_the_same_seed_gives_the_same_report() -> None:
    """And the figures of resamples differ with another seed."""
    rows = scored(300, apart=1.5)
    first = report_of(rows)
    assert first == report_of(rows)
    other = report_of(rows, wanted(seed=9))
    assert (first.pooled.threshold, True) == (other.pooled.threshold, first.pooled != other.pooled)


def test_fair_figures_are_worse_than_those_in_sample() -> None:
    """Where scores tell nothing, choosing finds precision that is not there, and cross-fitting shows it."""
    gaps = []
    for seed in range(6):
        report = report_of(scored(240, apart=0.0, seed=seed))
        assert report.pooled.in_sample is not None
        assert report.pooled.cross_fitted is not None
        gaps.append((report.pooled.in_sample.precision.rate or 0) - (report.pooled.cross_fitted.precision.rate or 0))
        assert not report.pooled.is_reached
    assert min(gaps) > 0


def test_small_tiers_use_the_pooled_threshold_and_say_so() -> None:
    """With how many labels are missing; a tier without a label is not there."""
    report = report_of([*scored(300), *scored(40, tier=RiskTier.HIGH, seed=2)])
    medium, high = report.tiers
    assert (RiskTier.MEDIUM, False, 0) == (medium.tier, medium.uses_pooled, medium.missing)
    assert (RiskTier.HIGH, True, 160, report.pooled.threshold) == (high.tier, high.uses_pooled, high.missing, high.used)
    assert "high: 160 labels are missing, so the pooled threshold is used" in report.remarks
    assert {RiskTier.MEDIUM: medium.used, RiskTier.HIGH: high.used} == report.suggestion.bars
    assert any(remark.startswith("labels missing by slice: fees/high 160") for remark in report.remarks)


def test_too_few_labels_suggest_nothing_and_say_how_many_are_missing() -> None:
    """The figures are shown all the same, and called guesses."""
    report = report_of(scored(60))
    assert (False, 140, 60) == (report.is_enough, report.missing, report.labels)
    assert report.remarks[0].startswith("60 labelled and scored answers, 140 fewer than the 200")
    assert ("", {}, None) == (report.suggestion.snippet, report.suggestion.bars, report.suggestion.alert_threshold)
    assert "140 of 200 are missing" in calibration_page(report)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_labels_of_one_kind_choose_and_measure_nothing(share: float) -> None:
    """However many there are."""
    report = report_of(scored(220, hallucinated=share))
    assert (False, None, None) == (report.is_enough, report.pooled.threshold, report.operating[0].best)
    assert any("without the other kind" in remark for remark in report.remarks)
    assert calibration_page(report)


def test_nothing_at_all_is_a_report_too() -> None:
    """No labels: every figure says so, page and picture are made."""
    report = report_of([])
    assert (False, 200, ()) == (report.is_enough, report.missing, report.tiers)
    assert "guess" in calibration_page(report)
    assert calibration_picture(report).startswith(b"\x89PNG")


def test_a_target_out_of_reach_is_told_and_not_suggested() -> None:
    """With the nearest threshold; the operating point does not depend on the target."""
    report = report_of(scored(400, apart=1.0), wanted(target=Target(Measure.PRECISION, 0.99)))
    assert not report.pooled.is_reached
    assert "all tiers together: a precision of 0.99 is out of reach at every threshold" in "\n".join(report.remarks)
    assert {} == report.suggestion.bars
    assert all(figure.is_bar for figure in report.slices)


def test_recall_may_be_the_target() -> None:
    """The lowest threshold that finds nine in ten."""
    report = report_of(scored(400), wanted(target=Target(Measure.RECALL, 0.9)))
    assert report.pooled.in_sample is not None
    assert 0.9 <= (report.pooled.in_sample.recall.rate or 0) < 0.93


def test_a_holdout_is_measured_and_never_chosen_on() -> None:
    """At the policy's bar of each tier and its threshold of labels."""
    report = report_of(scored(300), wanted(is_holdout=True))
    point = report.operating[0]
    assert (None, None, None) == (report.pooled.threshold, point.best, report.tiers[0].used)
    assert report.tiers[0].at_bar.caught + report.tiers[0].at_bar.missed == report.tiers[0].hallucinated
    assert point.at_policy is not None
    assert 0.7 == point.at_policy.threshold
    assert "" == report.suggestion.policy
    assert "Hold-out" in calibration_page(report)


def test_base_rates_come_from_the_option_then_from_labels_then_from_the_default() -> None:
    """By slice, and each says which."""
    cell = Slice(intent="fees", tier=RiskTier.MEDIUM)
    rows = [*scored(210), *scored(210, intent="dogs")]
    report = report_of(rows, wanted(base_rate=None, by_slice={cell: 0.03}, whole=0.07))
    assert [("", 0.07, "labels"), ("dogs", 0.05, "default"), ("fees", 0.03, "labels")] == [
        (point.intent, point.base_rate, point.base_rate_from) for point in report.operating
    ]
    assert {(0.1, "given")} == {(point.base_rate, point.base_rate_from) for point in report_of(rows).operating}


def test_the_changed_policy_is_the_old_one_but_for_what_is_suggested() -> None:
    """Comments stay, and `policy diff` shows these changes alone; a band above the threshold stays."""
    report = report_of(scored(600))
    found = report.suggestion
    changed = parse_policy(found.policy)
    assert (found.alert_threshold, found.alert_threshold) == (
        changed.thresholds.unsupported,
        changed.thresholds.supported,
    )
    assert changed.bars[RiskTier.MEDIUM] == found.bars[RiskTier.MEDIUM]
    diff = diff_policies(default_policy(), changed, (), ())
    assert ["thresholds.supported", "thresholds.unsupported"] == [change.path for change in diff.thresholds]
    assert ["bars.medium"] == [change.path for change in diff.other]
    assert not diff.probabilities
    assert "# Where a claim's calibrated scores turn into a label." in found.policy
    banded = "name: banded\nthresholds:\n  supported: 0.95\n  unsupported: 0.4\n"
    kept = report_of(scored(600), wanted(policy=parse_policy(banded), policy_text=banded)).suggestion
    assert 0.95 == parse_policy(kept.policy).thresholds.supported
    assert "thresholds:\n  supported: 0.95\n" in kept.snippet


def test_answers_and_claims_are_counted_by_label() -> None:
    """What is left out of the figures still stands in the confusion, with its reason."""
    odd, even = (golden_case(name, claims=(golden_claim(ClaimLabel.SUPPORTED),)) for name in ("odd", "even"))
    rows = [*scored(10), (odd, verdict(score=None, outcome=Outcome.ERROR_MODEL)), (even, verdict())]
    report = report_of(rows)
    assert {"verdict error:model": 1} == report.left_out
    assert 12 == sum(row.answers for row in report.answers)
    assert [(ClaimLabel.SUPPORTED, 1), (None, 1)] == [(row.judged, row.claims) for row in report.claims]
    assert (11, 1) == (report.reliability[0].labels, report.reliability[1].labels)


def test_the_page_escapes_what_strangers_wrote_and_needs_nothing_beside_it() -> None:
    """Names of files, intents and policies; control characters and lone surrogates do not break it."""
    evil = "<script>alert(1)</script>\x00"
    names = {"files": (f"{evil}\ud800",), "policy": f"{evil}\ud800"}
    report = report_of(scored(210, intent=evil)).model_copy(update=names)
    page = calibration_page(report)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page.encode()
    assert [] == [word for word in ("http://", "https://", "src=", "url(", "@import") if word in page]
    assert "prefers-color-scheme: dark" in page


def test_the_report_is_the_same_after_json() -> None:
    """Every number is finite, so any reader takes it."""
    report = report_of(scored(250, apart=0.3))
    text = report.model_dump_json()
    assert "Infinity" not in text
    assert "NaN" not in text
    assert report == CalibrationReport.model_validate_json(text)


def test_the_picture_is_a_png_of_some_size() -> None:
    """Read back by the library that drew it."""
    from matplotlib.image import imread  # noqa: PLC0415  optional

    pixels = imread(io.BytesIO(calibration_picture(report_of(scored(250)))), format="png")
    assert pixels.shape[0] > 800 < pixels.shape[1]
    assert pixels[..., :3].std() > 0.05


def test_without_matplotlib_the_picture_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing else needs it."""
    report = report_of(scored(20))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ConfigError, match=r"groundwatch\[reports\]"):
        calibration_picture(report)
    assert calibration_page(report)
