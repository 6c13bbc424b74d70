"""``groundwatch calibrate`` as it is typed: what it reads, what it keeps apart, what it writes, how it ends."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from detectors.golden import GoldenSet, golden_text
from detectors.layers import Layers
from sampling.corrected import CorrectedRate
from sampling.policy_file import default_policy
from schemas.alert import RateEstimate
from schemas.errors import ConfigError
from schemas.golden import GoldenCase, Split
from schemas.labels import Outcome, RiskTier
from streams.calibration.report import CalibrationReport
from streams.cli import calibrating, layered, reviewing
from streams.cli.program import app
from streams.reviews.summary import ReviewStats, SliceCorrected
from tests.builders import NOW
from tests.builders_golden import golden_case, labelled_answer
from tests.fakes_detectors import WordDetector


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs the command in an empty folder, with a detector that counts words."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(layered, "load_evidence_detector", WordDetector)

    def invoke(*arguments: str) -> Result:
        return CliRunner(env={"COLUMNS": "200"}).invoke(app, ["calibrate", *arguments])

    return invoke


def cases(number: int, prefix: str = "c", **fields: object) -> list[GoldenCase]:
    """Answers of which each third says what no passage says, and is labelled so."""
    made = []
    for place in range(number):
        is_bad = place % 3 == 0
        label = Outcome.HALLUCINATED if is_bad else Outcome.GROUNDED
        answer = "Parrots fly to the moon every Sunday." if is_bad else "Opened software is excluded."
        own = {"answer": answer, "answer_labels": (labelled_answer(label),), "claims": (), "source_id": f"s-{place}"}
        made.append(golden_case(f"{prefix}-{place}", **{**own, **fields}))
    return made


def written(name: str, *made: GoldenCase) -> str:
    """A golden set in this folder."""
    Path(name).write_text(golden_text(made), encoding="utf-8")
    return name


def test_enough_labels_give_page_picture_json_and_policy(run: Callable[..., Result]) -> None:
    """Exit code 0; the JSON on standard output is the one in the folder, and the policy is fit to be compared."""
    done = run(written("g.jsonl", *cases(210)), "--base-rate", "0.1", "--out", "r", "--json")
    assert 0 == done.exit_code, done.output
    report = CalibrationReport.model_validate_json(done.stdout)
    assert report == CalibrationReport.model_validate_json(Path("r/calibration.json").read_text(encoding="utf-8"))
    assert (210, True, 0.1) == (report.labels, report.is_enough, report.operating[0].base_rate)
    assert {"calibration.html", "calibration.json", "calibration.png", "policy.yaml"} == {
        path.name for path in Path("r").iterdir()
    }
    checked = CliRunner().invoke(app, ["policy", "check", "r/policy.yaml"])
    assert 0 == checked.exit_code


def test_too_few_labels_end_with_one_and_are_told(run: Callable[..., Result]) -> None:
    """The report is shown all the same."""
    done = run(written("g.jsonl", *cases(30)))
    assert 1 == done.exit_code
    assert "30 labelled and scored answers, 170 fewer than the 200" in done.stdout
    assert "threshold" in done.stdout


def test_the_holdout_is_not_chosen_on_and_can_be_measured(run: Callable[..., Result]) -> None:
    """Twenty of fifty cases are held out; a set of these alone chooses nothing."""
    path = written("g.jsonl", *cases(30), *cases(20, "h", split=Split.HOLDOUT))
    assert 30 == json.loads(run(path, "--json").stdout)["labels"]
    held = CalibrationReport.model_validate_json(run(path, "--json", "--holdout").stdout)
    assert (20, True, None) == (held.labels, held.is_holdout, held.pooled.threshold)
    only = run(written("h.jsonl", *cases(5, split=Split.HOLDOUT)))
    assert isinstance(only.exception, ConfigError)
    none = run(written("d.jsonl", *cases(5)), "--holdout")
    assert "has no hold-out" in str(none.exception)


def test_several_sets_are_one_unless_their_ids_clash(run: Callable[..., Result]) -> None:
    """Each with its version."""
    first, second = written("a.jsonl", *cases(6)), written("b.jsonl", *cases(6, "d"))
    report = json.loads(run(first, second, "--json").stdout)
    assert (12, ["a.jsonl", "b.jsonl"], 2) == (report["labels"], report["files"], len(set(report["versions"])))
    assert "case 'c-0' is in a.jsonl, too" in str(run(first, written("c.jsonl", *cases(2))).exception)


def test_what_cannot_be_asked_is_refused_with_the_fix(run: Callable[..., Result]) -> None:
    """Wrong together or out of range."""
    path = written("g.jsonl", *cases(6))
    assert "one of the two" in str(run(path, "--precision", "0.8", "--recall", "0.8").exception)
    assert "below 0.5" in str(run(path, "--base-rate", "0.6").exception)
    assert "give a golden set" in str(run().exception)
    assert "--holdout measures" in str(run(path, "--reviews", "--holdout").exception)
    assert "cannot read nowhere.yaml" in str(run(path, "--policy", "nowhere.yaml").exception)
    Path("taken").write_text("", encoding="utf-8")
    assert "cannot make taken" in str(run(path, "--out", "taken").exception)


def test_unlabelled_and_undecided_answers_are_counted_not_scored(run: Callable[..., Result]) -> None:
    """Unclear and abstained labels are left out by name; cases that only ask are not judged at all."""
    odd = [
        golden_case("u", answer_labels=(labelled_answer(Outcome.UNCLEAR),), claims=()),
        golden_case("a", answer_labels=(labelled_answer(Outcome.ABSTAINED),), claims=()),
        golden_case("q", answer="", answer_labels=(), claims=()),
    ]
    report = json.loads(run(written("g.jsonl", *cases(6), *odd), "--json").stdout)
    assert (6, {"label unclear": 1, "label abstained": 1}) == (report["labels"], report["left_out"])


def test_reviewed_answers_never_bring_a_holdout_back(run: Callable[..., Result]) -> None:
    """Neither the case itself, nor one made from its trace, nor one of its source."""
    held = golden_case("h", split=Split.HOLDOUT, trace_id="t-h", source_id="page")
    own = golden_case("c")
    path = Path(written("g.jsonl", own, held))
    reviewed = [
        golden_case("h"),
        golden_case("t-h", trace_id="t-h"),
        golden_case("x", source_id="page"),
        golden_case("c"),
        golden_case("new", source_id=""),
    ]
    assert ["new"] == [case.case_id for case in calibrating._unseen(reviewed, [path], [own])]


def test_labels_of_reviewers_bring_answers_and_base_rates(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Corrected rates by slice; one that cannot double is none, and --base-rate goes before all of them."""
    seen = SliceCorrected(intent="refunds", tier=RiskTier.MEDIUM, corrected=corrected(0.03))
    full = SliceCorrected(intent="dogs", tier=RiskTier.LOW, corrected=corrected(0.6))
    counts: dict[str, Any] = {"answers": 9, "claims": 0, "reviewers": {}, "by_stratum": {}, "labels": {}}
    nothing: dict[str, Any] = {"since": NOW, "until": NOW, "fingerprint": "f", "agreement": (), "disagreements": ()}
    told = ReviewStats(**counts, **nothing, slices=(seen, full), corrected=corrected(0.04))
    monkeypatch.setattr(reviewing, "cases", lambda *_: (cases(9, "r"), ["t-9: reviewers disagree"]))
    monkeypatch.setattr(reviewing, "stats", lambda *_: told)
    done = run("--reviews", "--json")
    report = json.loads(done.stdout)
    assert "t-9: reviewers disagree" in done.stderr
    assert (9, ["labels of reviewers"]) == (report["labels"], report["files"])
    assert [(0.04, "labels"), (0.03, "labels")] == [
        (point["base_rate"], point["base_rate_from"]) for point in report["operating"]
    ]
    given = json.loads(run("--reviews", "--base-rate", "0.2", "--json").stdout)
    assert {"given"} == {point["base_rate_from"] for point in given["operating"]}


def corrected(rate: float) -> CorrectedRate:
    """A rate that labels were enough for."""
    return CorrectedRate(apparent=RateEstimate(rate=0.1, low=0.05, high=0.2, n=100), rate=rate)


def test_judging_takes_every_labelled_answer_once(run: Callable[..., Result]) -> None:
    """In batches, by case id."""
    made = cases(calibrating.BATCH + 3)
    verdicts = calibrating.judged(GoldenSet(tuple(made)), WordDetector(), default_policy(), NOW, Layers())
    assert {case.case_id for case in made} == verdicts.keys()
    assert {Outcome.HALLUCINATED, Outcome.GROUNDED} == {found.outcome for found in verdicts.values()}
