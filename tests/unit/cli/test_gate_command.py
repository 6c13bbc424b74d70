"""``groundwatch gate`` as it is typed: exit codes, refused runs, what is written where, and what changed by what."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner, Result

from detectors.golden import golden_text
from sampling.policy_file import default_policy_text
from schemas.errors import ConfigError
from schemas.golden import GoldenCase, Split
from schemas.labels import RiskTier
from schemas.trace import Trace
from streams.cli.exits import ExitCode, exit_code
from streams.cli.program import app
from streams.gate.report import GateReport
from tests.builders import ANSWER, trace
from tests.builders_golden import golden_case

WRONG = "You can return it within 90 days of delivery [1]."
QUESTIONS = {"a": "How long can I return my order?", "b": "What about opened software?", "c": "Do you sell parrots?"}


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs the gate over ``g.jsonl`` in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    closed = {"is_answerable": False, "required_sources": (), "passages": ()}
    cases = [
        golden_case("a", question=QUESTIONS["a"], answer="", answer_labels=(), claims=()),
        golden_case("b", question=QUESTIONS["b"], answer="", answer_labels=(), claims=(), tier=RiskTier.HIGH),
        golden_case("c", question=QUESTIONS["c"], answer="", answer_labels=(), claims=(), **closed),
    ]
    asked(*cases)
    run("good.jsonl", a=ANSWER, b="Opened software is excluded [1].", c="I could not find anything about that.")
    run("bad.jsonl", a=WRONG, b="Opened software is excluded [1].", c="I could not find anything about that.")

    def invoke(*arguments: str) -> Result:
        return CliRunner(env={"COLUMNS": "200"}).invoke(app, ["gate", "g.jsonl", *arguments])

    return invoke


def asked(*cases: GoldenCase) -> None:
    """The golden set of this folder."""
    Path("g.jsonl").write_text(golden_text(cases), encoding="utf-8")


def run(file: str, **answers: str) -> None:
    """A run that answers these cases, named by their trace ids."""
    lines(file, *(trace(name, question=QUESTIONS.get(name, name), answer=text) for name, text in answers.items()))


def lines(file: str, *traces: Trace, **more: Any) -> None:
    """A run of these traces, each line with fields that traces do not have."""
    rows = [{**one.model_dump(mode="json"), **more} for one in traces]
    Path(file).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def report(done: Result) -> GateReport:
    """What ``--json -`` printed: one line and nothing else."""
    (line,) = done.stdout.splitlines()
    assert line.isascii()
    return GateReport.model_validate_json(line)


def refusal(done: Result) -> str:
    """The message of a run that cannot be used; it ends with exit code 2."""
    assert isinstance(done.exception, ConfigError)
    assert ExitCode.WRONG_CONFIG is exit_code(done.exception)
    return str(done.exception)


def test_good_answers_pass_and_wrong_ones_do_not(gate: Callable[..., Result]) -> None:
    """Exit codes 0 and 1; the table says which gate and why."""
    assert ExitCode.OK == gate("--candidate", "good.jsonl").exit_code
    done = gate("--candidate", "bad.jsonl")
    assert ExitCode.FOUND_FAULTS == done.exit_code
    assert "FAILED: 1 of" in done.stdout
    assert "1 failed: contradicted_claim; owner support" in done.stdout
    assert ExitCode.OK == gate("--candidate", "bad.jsonl", "--max-hallucinated", "1").exit_code


def test_the_report_is_one_object(gate: Callable[..., Result]) -> None:
    """By its shape, with fingerprints, policy and versions."""
    found = report(gate("--candidate", "good.jsonl", "--json", "-"))
    assert (True, 3, 3, 0) == (found.is_passed, found.whole.passed, found.candidate.answers, found.candidate.strangers)
    assert (16, "default", ("p-1",)) == (
        len(found.candidate.fingerprint),
        found.candidate.policy,
        found.candidate.versions["prompt"],
    )
    assert (None, None, None) == (found.baseline, found.product, found.judging)


def test_a_missing_answer_fails(gate: Callable[..., Result]) -> None:
    """It is not left out of anything."""
    run("part.jsonl", a=ANSWER, c="I could not find anything about that.")
    done = gate("--candidate", "part.jsonl", "--json", "-")
    assert ExitCode.FOUND_FAULTS == done.exit_code
    assert {"b": "missing"} == {one.case_id: one.diagnosis for one in report(done).results if one.diagnosis}


def test_regressions_are_told_with_what_changed(gate: Callable[..., Result]) -> None:
    """Case, flip, test, bucket, and the version that differs."""
    found = report(gate("--candidate", "bad.jsonl", "--baseline", "good.jsonl", "--json", "-"))
    assert found.product is not None
    assert (("a",), (), {"grounded -> hallucinated": 1}) == (
        found.product.newly_failed,
        found.product.newly_passed,
        found.product.flips,
    )
    assert (1.0, None, "newly_failed", ("a",)) == (
        found.product.whole.p_value,
        found.judging,
        found.buckets_are_of,
        found.buckets[0].cases,
    )
    assert ((), ()) == (found.changed_product, found.changed_judging)
    limited = gate("--candidate", "bad.jsonl", "--baseline", "good.jsonl", "--max-hallucinated", "1")
    assert ExitCode.OK == limited.exit_code
    strict = ("--max-hallucinated", "1", "--max-regressions", "0")
    assert ExitCode.FOUND_FAULTS == gate("--candidate", "bad.jsonl", "--baseline", "good.jsonl", *strict).exit_code


def test_another_policy_is_no_regression_of_the_product(gate: Callable[..., Result]) -> None:
    """The same answers under a stricter policy: all of the change is the judging's."""
    strict = default_policy_text().replace("supported: 0.7", "supported: 1.0").replace("name: default", "name: strict")
    Path("strict.yaml").write_text(strict, encoding="utf-8")
    Path("old.yaml").write_text(default_policy_text(), encoding="utf-8")
    runs = ("--candidate", "good.jsonl", "--baseline", "good.jsonl")
    policies = ("--policy", "strict.yaml", "--baseline-policy", "old.yaml")
    found = report(gate(*runs, *policies, "--json", "-"))
    assert found.judging is not None
    assert found.product is not None
    assert found.baseline is not None
    assert ((), {"a", "b"}) == (found.product.newly_failed, set(found.judging.newly_failed))
    assert {"policy", "threshold_supported", "threshold_unsupported"} == {one.part for one in found.changed_judging}
    assert found.baseline.fingerprint != found.candidate.fingerprint
    assert "the baseline's answers, new policy against its own" in gate(*runs, *policies).stdout
    assert report(gate(*runs, "--baseline-policy", "old.yaml", "--json", "-")).judging is None


def test_a_changed_version_of_the_product_is_named(gate: Callable[..., Result]) -> None:
    """From the versions in the traces."""
    good = [Trace.model_validate_json(line) for line in Path("good.jsonl").read_text(encoding="utf-8").splitlines()]
    newer = [one.model_copy(update={"versions": one.versions.model_copy(update={"prompt": "p-2"})}) for one in good]
    lines("new.jsonl", *newer)
    found = report(gate("--candidate", "new.jsonl", "--baseline", "good.jsonl", "--json", "-"))
    assert [("prompt", "p-1", "p-2")] == [(one.part, one.before, one.after) for one in found.changed_product]


def test_answers_are_found_by_name_and_by_question(gate: Callable[..., Result]) -> None:
    """``golden_case`` is a field of the file alone; lines about something else are counted."""
    lines("named.jsonl", trace("t-1", question="?"), golden_case="a")
    with Path("named.jsonl").open("a", encoding="utf-8") as file:
        file.write(trace("t-2", question="what about OPENED software").model_dump_json() + "\n")
        file.write(trace("t-3", question="Who are you?").model_dump_json() + "\n")
    found = report(gate("--candidate", "named.jsonl", "--json", "-"))
    assert [("a", "t-1"), ("b", "t-2"), ("c", "")] == [(one.case_id, one.trace_id) for one in found.results]
    assert 1 == found.candidate.strangers


def test_intent_and_tier_are_those_of_the_case(gate: Callable[..., Result]) -> None:
    """A trace that calls itself harmless does not escape the high tier's bar."""
    low = trace("b", question=QUESTIONS["b"], answer="Opened software is excluded [1].", tier=RiskTier.LOW, intent="x")
    lines("low.jsonl", low)
    found = report(gate("--candidate", "low.jsonl", "--json", "-"))
    assert [("refunds", "high")] == [(one.intent, one.tier) for one in found.results if one.case_id == "b"]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (["{}"], "r.jsonl:1: missing_field: trace_id"),
        (["nonsense"], "r.jsonl:1: not_json"),
        (['{"trace_id": "a", "ts": "2026-03-10T12:00:00Z"}'] * 2, "r.jsonl:2: 'a' is answered on r.jsonl:1 already"),
        (['{"trace_id": "a", "ts": "2026-03-10T12:00:00Z", "golden_case": "z"}'], "golden_case 'z' is no case"),
        (['{"trace_id": "a", "ts": "2026-03-10T12:00:00Z", "golden_case": 7}'], "golden_case: write the case's id"),
    ],
)
def test_a_run_that_cannot_be_read_is_refused(gate: Callable[..., Result], rows: list[str], says: str) -> None:
    """Whole, with line and fix."""
    Path("r.jsonl").write_text("\n".join(rows), encoding="utf-8")
    assert says in refusal(gate("--candidate", "r.jsonl"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--candidate", "no.jsonl"), "cannot read no.jsonl"),
        (("--candidate", "good.jsonl", "--gates", "no.yaml"), "cannot read no.yaml"),
        (("--candidate", "good.jsonl", "--gates", "wrong.yaml"), "wrong.yaml: line 1: every_tiers is not a key"),
        (("--candidate", "good.jsonl", "--policy", "no.yaml"), "cannot read no.yaml"),
        (("--candidate", "good.jsonl", "--baseline-policy", "wrong.yaml"), "give one with --baseline"),
        (("--candidate", "good.jsonl", "--split", "train"), "has no case of split train"),
        (("--candidate", "good.jsonl", "--junit", "no/gate.xml"), "cannot write no/gate.xml"),
    ],
)
def test_wrong_options_are_refused(gate: Callable[..., Result], arguments: tuple[str, ...], says: str) -> None:
    """With exit code 2, which CI can tell from a gate that failed."""
    Path("wrong.yaml").write_text("every_tiers: {}\n", encoding="utf-8")
    assert says in refusal(gate(*arguments))


def test_files_are_written_also_when_a_gate_fails(gate: Callable[..., Result]) -> None:
    """That is when they are needed; JSON holds what the terminal was told, JUnit a case each."""
    done = gate("--candidate", "bad.jsonl", "--json", "gate.json", "--junit", "gate.xml")
    assert (ExitCode.FOUND_FAULTS, True) == (done.exit_code, done.stdout.startswith("FAILED"))
    found = GateReport.model_validate_json(Path("gate.json").read_bytes())
    names = {case.attrib["name"] for case in ET.parse("gate.xml").iter("testcase")}  # noqa: S314 - our own file
    assert {one.case_id for one in found.results} <= names


def test_one_split_can_be_asked_alone(gate: Callable[..., Result]) -> None:
    """Answers to the rest are neither strangers nor faults."""
    cases = [golden_case(name, question=text, split=Split.HOLDOUT) for name, text in QUESTIONS.items() if name == "a"]
    asked(*cases, golden_case("b", question=QUESTIONS["b"]))
    found = report(gate("--candidate", "good.jsonl", "--split", "holdout", "--json", "-"))
    assert (["a"], 1, 1, (Split.HOLDOUT,)) == (
        [one.case_id for one in found.results],
        found.candidate.answers,
        found.candidate.strangers,
        found.splits,
    )


def test_texts_of_users_cannot_style_the_terminal(gate: Callable[..., Result]) -> None:
    """Escapes, direction marks, lone surrogates and markup come out as text or not at all."""
    nasty = "You can return it [red]within\u202e 90 days\x1b[2J of delivery\ud800."
    rows = [{**trace("a", question="[bold]\x07?").model_dump(mode="json"), "answer": nasty}]
    Path("nasty.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = gate("--candidate", "nasty.jsonl", "--junit", "gate.xml")
    assert "[red]within" in done.stdout
    assert not {"\x1b", "\x07", "\u202e", "\ud800"} & set(done.stdout)
    assert ET.parse("gate.xml").getroot().tag == "testsuites"  # noqa: S314 - our own file
