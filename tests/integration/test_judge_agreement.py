"""``groundwatch judge``: agreement from stored verdicts, with a process beside it and without one; examples."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from detectors.fingerprint import fingerprint_parts
from detectors.golden.reading import golden_text
from schemas.labels import ClaimLabel, Layer, Outcome
from schemas.policy import Thresholds
from streams.cli.program import app
from streams.store import Store
from tests.builders import NOW, claim_verdict, verdict
from tests.builders_golden import golden_case
from tests.integration.configured_store import KINDS, configured

pytestmark = pytest.mark.integration
PARTS = fingerprint_parts("d-1", Thresholds(), [Layer.L1])


@pytest.fixture(params=KINDS)
def stored(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Three answers: two that a judge decided claims of, one that it did not."""
    with configured(request.param, tmp_path, monkeypatch, _three_answers):
        yield


def _three_answers(store: Store) -> None:
    judged = (
        claim_verdict(ClaimLabel.SUPPORTED, decided_by=Layer.L3, support=0.5),
        claim_verdict(ClaimLabel.UNSUPPORTED, decided_by=Layer.L3, support=0.5),
        claim_verdict(ClaimLabel.UNCLEAR, decided_by=Layer.L3, error=Outcome.ERROR_TIMEOUT),
        claim_verdict(ClaimLabel.SUPPORTED),
    )
    store.insert_verdicts(
        [verdict(name, claims=judged, fingerprint_parts=PARTS) for name in ("t-1", "t-2")]
        + [verdict("t-3", fingerprint_parts=PARTS)]
    )


def run(*arguments: str) -> Result:
    """A command, as it is typed."""
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, list(arguments))


@pytest.mark.usefixtures("stored")
def test_agreement_is_told_by_intent_and_for_scripts() -> None:
    """Only what the judge decided, within the time asked for, newest first up to a limit."""
    times = ("--since", NOW.isoformat(), "--until", "2026-03-11")

    table = run("judge", "agreement", *times).output
    rows = [json.loads(line) for line in run("judge", "agreement", *times, "--json").stdout.splitlines()]

    assert [
        part for part in ("refunds", "50.0%", "unsupported below, supported by the judge: 2") if part not in table
    ] == []
    assert [("unsupported", "supported", 2), ("unsupported", "unsupported", 2)] == [
        (row["below"], row["judge"], row["claims"]) for row in rows
    ]
    assert 1 == len(run("judge", "agreement", *times, "--limit", "1", "--json").stdout.splitlines())
    assert "No judge decided" in run("judge", "agreement", "--until", NOW.isoformat()).output


def test_examples_of_a_golden_set_are_shown(tmp_path: Path) -> None:
    """As they would stand in the prompt."""
    path = tmp_path / "golden.jsonl"
    path.write_text(golden_text([golden_case()]), encoding="utf-8")

    assert "supported" in run("judge", "examples", str(path)).output
    assert "supported" == json.loads(run("judge", "examples", str(path), "--json").stdout)["label"]
