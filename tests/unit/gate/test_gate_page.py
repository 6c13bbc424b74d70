"""The page about the gate shows what the code does, and its example for CI runs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from detectors.gate import Diagnosis, Fault
from detectors.golden import read_golden
from streams.gate.limits import default_limits_text
from streams.gate.report import GateReport

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "docs" / "examples" / "gate"
PAGE = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
WORKFLOW = yaml.safe_load((EXAMPLE / "workflow.yml").read_text(encoding="utf-8"))


def test_the_page_shows_the_defaults_as_they_are() -> None:
    """Comments included."""
    (shown,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert default_limits_text().split("\n\n", 1)[1] == shown


def test_every_diagnosis_and_every_fault_is_explained() -> None:
    """In the table, each fault where its diagnosis stands."""
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE, re.MULTILINE))
    assert [diagnosis.value for diagnosis in Diagnosis] == list(rows)
    named = set(re.findall(r"`(\w+)`", "".join(rows.values())))
    assert {fault.value for fault in Fault} == named


def test_every_field_of_the_report_is_named() -> None:
    """Scripts read it."""
    assert [name for name in GateReport.model_fields if f"`{name}`" not in PAGE] == []


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The example where a checkout would have it."""
    shutil.copytree(EXAMPLE, tmp_path / "docs" / "examples" / "gate")
    return tmp_path


def steps() -> list[dict[str, Any]]:
    """The steps of the one job that run a command, except the installation."""
    (job,) = WORKFLOW["jobs"].values()
    return [step for step in job["steps"] if "run" in step and not step["run"].startswith("pip install")]


def run(step: dict[str, Any], checkout: Path) -> subprocess.CompletedProcess[str]:
    """A step as GitHub runs it: bash, failing at the first error, in the folder that the workflow names."""
    (job,) = WORKFLOW["jobs"].values()
    folder = checkout / job["defaults"]["run"]["working-directory"]
    summary = checkout / "summary.md"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    surroundings = {**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_WORKSPACE": str(checkout)}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True, check=False)


def test_the_workflow_runs(checkout: Path) -> None:
    """Every command of it, in a copy of the example; it leaves a report, a JUnit file and a summary."""
    for step in steps():
        done = run(step, checkout)
        assert (0, "") == (done.returncode, done.stderr), done.stdout
    folder = checkout / "docs" / "examples" / "gate"
    found = GateReport.model_validate_json((folder / "gate.json").read_bytes())
    assert found.is_passed
    assert found.whole.cases == len(read_golden(EXAMPLE / "golden.jsonl").cases)
    assert "PASSED" in (checkout / "summary.md").read_text(encoding="utf-8")
    assert (folder / "gate.xml").exists()


def test_the_workflow_stops_the_worse_version(checkout: Path) -> None:
    """With the runs exchanged, as the page says: a regression of each kind; no exit code is lost in a pipe."""
    folder = checkout / "docs" / "examples" / "gate"
    (folder / "candidate.jsonl").rename(folder / "swap")
    (folder / "baseline.jsonl").rename(folder / "candidate.jsonl")
    (folder / "swap").rename(folder / "baseline.jsonl")
    (gate,) = [step for step in steps() if step["name"] == "Gate"]
    assert 1 == run(gate, checkout).returncode
    found = GateReport.model_validate_json((folder / "gate.json").read_bytes())
    kinds = {Diagnosis.RETRIEVAL, Diagnosis.ABSTENTION, Diagnosis.GENERATION, Diagnosis.CITATION}
    assert kinds == {bucket.diagnosis for bucket in found.buckets}
    assert {"ticketing", "service", "refunds-desk"} == {owner for bucket in found.buckets for owner in bucket.owners}


def test_actions_of_the_example_are_pinned_by_commit() -> None:
    """As those of our own workflow are."""
    used = re.findall(r"uses: (\S+)", (EXAMPLE / "workflow.yml").read_text(encoding="utf-8"))
    assert used
    assert [action for action in used if not re.search(r"@[0-9a-f]{40}$", action)] == []
