"""Traces checked without Kafka: one result a line, and a bad line stops nothing."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from detectors.layers import Layers
from schemas.labels import ClaimLabel, Containment, Outcome
from schemas.policy import CriticalRule, Fallbacks, IntentRules, PolicyDocument
from schemas.trace import Trace, passage_hash
from streams.cli import layered
from streams.cli.check import describe
from streams.cli.checking import Checked, as_json, check_lines
from streams.cli.program import app
from streams.cli.recorded import Line
from tests.builders import passage, policy, trace
from tests.fakes import FakeDetector
from tests.fakes_layers import FakeStacked

ANSWER = "A refund is possible within 30 days. Opened software comes back within 90 days."


def lines(*contents: bytes) -> list[Line]:
    """Lines of a file."""
    return [Line(Path("t.jsonl"), number, content, 0) for number, content in enumerate(contents, start=1)]


def recorded(answer: str = ANSWER, **fields: Any) -> bytes:
    """A trace as its line of a file."""
    return trace(answer=answer, **fields).model_dump_json(exclude_none=True).encode()


def checked(now: datetime, *contents: bytes, rules: PolicyDocument | None = None, batch: int = 2) -> list[Checked]:
    """Results with a detector that finds `90` contradicted."""
    detector = FakeDetector({"90": (0.1, 0.95)})
    return list(check_lines(lines(*contents), detector, rules or policy(), now, batch))


def test_contradicted_claim_makes_the_answer_hallucinated(now: datetime) -> None:
    """The claim is named with label, span and evidence."""
    (result,) = checked(now, recorded())
    row = as_json(result)
    assert (Outcome.HALLUCINATED, 0.1, 1) == (row["outcome"], row["score"], row["line"])
    labels = [claim["label"] for claim in row["claims"]]
    assert [ClaimLabel.SUPPORTED, ClaimLabel.CONTRADICTED] == labels
    spans = [ANSWER[claim["start"] : claim["end"]] for claim in row["claims"]]
    assert spans == [claim["text"] for claim in row["claims"]]
    assert row["claims"][1]["evidence"]["doc_id"] == "refunds"


def test_bad_lines_are_named_and_the_rest_is_checked(now: datetime) -> None:
    """Order is kept across batches; a fault names its field."""
    results = checked(now, recorded(), b"not json", b'{"trace_id": "x", "ts": "y"}', recorded(trace_id="t-9"))
    assert [False, True, True, False] == [bool(result.fault) for result in results]
    assert results[1].fault.startswith("not_json")
    assert "ts" in results[2].fault
    assert results[3].verdict is not None
    assert results[3].verdict.trace_id == "t-9"
    assert {"line": 2, "error": results[1].fault} == as_json(results[1])


def test_every_trace_is_judged_whatever_the_policy_draws(now: datetime) -> None:
    """Here nobody samples."""
    results = checked(now, *[recorded(trace_id=f"t-{number}") for number in range(5)])
    assert [Outcome.HALLUCINATED] * 5 == [result.verdict.outcome for result in results if result.verdict]


def test_rules_of_the_policy_hold(now: datetime) -> None:
    """A critical claim that is contradicted stops the answer."""
    rules = policy(intents={"*": IntentRules(critical=(CriticalRule(name="days", pattern=r"\d+ days"),))})
    (result,) = checked(now, recorded(), rules=rules)
    assert result.verdict is not None
    assert result.verdict.containment is Containment.ABSTAIN


def test_what_a_user_would_read_is_part_of_the_result(now: datetime) -> None:
    """The answer without its bad claim, or the policy's text; in JSON and in plain text."""
    texts = Fallbacks(abstain="Call us.\nWe are open.")
    rules = policy(intents={"*": IntentRules(critical=(CriticalRule(name="late", pattern="late"),), fallbacks=texts)})
    trimmed, kept_back, whole = checked(
        now,
        recorded(),
        recorded("A refund is possible. It is never late after 90 days."),
        recorded("A refund is possible within 30 days."),
        rules=rules,
    )
    assert "A refund is possible within 30 days." == as_json(trimmed)["delivered"]
    assert "Call us.\nWe are open." == as_json(kept_back)["delivered"]
    assert "A refund is possible within 30 days." == as_json(whole)["delivered"]
    assert kept_back.verdict is not None
    assert "  would deliver:\n    Call us.\n    We are open." in describe(kept_back.verdict, kept_back.delivered).plain


@pytest.mark.parametrize("fields", [{"passages": ()}, {"passages": None}, {"passages": (passage(""),)}])
def test_result_is_json_whatever_the_trace(now: datetime, fields: dict[str, Any]) -> None:
    """Missing context is an outcome, not a crash."""
    (result,) = checked(now, recorded(**fields))
    assert json.loads(json.dumps(as_json(result)))["trace_id"] == "t-1"


def test_description_cannot_style_the_terminal(now: datetime) -> None:
    """An answer that tries to clear the screen is shown, not obeyed."""
    (result,) = checked(now, recorded("The fee is \x1b[2J 90 dollars."))
    assert result.verdict is not None
    shown = describe(result.verdict, result.delivered).plain
    assert "\x1b" not in shown
    assert "contradicted" in shown


def write(folder: Path, *contents: bytes) -> str:
    """A file of lines."""
    path = folder / "t.jsonl"
    path.write_bytes(b"\n".join(contents))
    return str(path)


@pytest.fixture
def command_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command uses the fake instead of the trained weights."""
    monkeypatch.setattr(layered, "load_evidence_detector", lambda: FakeDetector({"90": (0.1, 0.95)}))


@pytest.mark.usefixtures("command_detector")
def test_command_prints_one_object_a_line(tmp_path: Path) -> None:
    """A program reads it line by line; a faulty line has its object, too, and the exit code says so."""
    result = CliRunner().invoke(app, ["check", "--json", write(tmp_path, recorded(), b"nope")])
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 1
    assert [1, 2] == [row["line"] for row in rows]
    assert "t.jsonl:2: not_json" in result.stderr


@pytest.mark.usefixtures("command_detector")
def test_command_ends_with_0_when_all_could_be_checked(tmp_path: Path) -> None:
    """A hallucination is a result, not a failure of the command."""
    result = CliRunner().invoke(app, ["check", write(tmp_path, recorded())])
    assert result.exit_code == 0
    assert "hallucinated" in result.stdout


def test_native_example_of_the_docs_is_a_trace() -> None:
    """The page about the format shows a trace that decodes."""
    page = (Path(__file__).parents[3] / "docs" / "native-format.md").read_text(encoding="utf-8")
    block = page.split("```json\n", 1)[1].split("```", 1)[0]
    assert Trace.model_validate_json(block).passages


def test_the_line_holds_everything_that_was_found(now: datetime) -> None:
    """Findings with their failure, severities, sources, faithfulness, times by step, and what was judged."""
    quoting = "A refund is possible within 30 days. The terms say “no questions will be asked”."
    (result,) = checked(now, recorded(quoting))
    row = json.loads(json.dumps(as_json(result)))
    assert [("quote_not_found", "unsupported_claim", 1)] == [
        (found["rule"], found["failure"], found["claim"]) for found in row["findings"]
    ]
    assert ["document", "memory"] == [claim["source"] for claim in row["claims"]]
    assert (0.5, "medium", {"unsupported_claim": "medium"}) == (
        row["faithfulness"],
        row["severity"],
        row["severities"],
    )
    assert {"split", "L0", "L1", "second_looks"} == set(row["timings_ms"])
    assert (passage_hash(quoting), ["document"], False) == (
        row["judged"]["answer_hash"],
        [text["source"] for text in row["judged"]["texts"]],
        row["judged"]["is_context_truncated"],
    )


def test_the_text_says_what_was_judged_against_what(now: datetime) -> None:
    """Source beside each claim, severity beside each failure, and how the answer was split."""
    (result,) = checked(now, recorded())
    assert result.verdict is not None
    text = describe(result.verdict, result.delivered).plain
    assert "contradicted_claim (high)" in text
    assert "faithfulness 0.50" in text
    assert "[document]" in text
    assert "judged: the whole answer, 2 claims, against 1 document (77 characters); split by 3" in text


@pytest.mark.usefixtures("command_detector")
def test_command_judges_by_the_layers_of_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a process with it would; what ran is in the verdict."""
    monkeypatch.setattr(layered, "load_layers", lambda _settings, _detector: Layers(models=FakeStacked()))
    file = write(tmp_path, recorded())
    found = json.loads(CliRunner().invoke(app, ["check", "--json", file]).stdout)
    assert ["L0", "L1", "L2"] == found["layers"] == [row["layer"] for row in found["routing"] if row["ran"]]
    assert (0.0, None) == (found["cost_usd"], found["consistency"])
    assert "L2 ran: routed" in CliRunner().invoke(app, ["check", file]).stdout
