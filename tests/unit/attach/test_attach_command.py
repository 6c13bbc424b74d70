"""The command itself on files: what it prints, what it writes, how it ends."""

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from schemas.errors import ConfigError
from streams.cli.attach_write import change_of, planned, save
from streams.cli.exits import ExitCode
from streams.cli.program import app
from streams.cli.shapes import SHAPES
from streams.settings import Settings, load_settings
from streams.settings.reference import annotated_example
from tests.attach_samples import JUNK, mixed, native, sample, studied
from tests.unit.attach.test_attach_study import home_made

TOP = (
    "topics", "is_file", "messages", "spans", "traces", "whole_traces", "judge_traces", "decoded_share", "forms",
    "problems", "fields", "coverage", "examples", "proposal", "dry_run", "cost", "acls", "load", "notes", "seconds",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written elsewhere, and no configuration of this machine is read."""
    monkeypatch.chdir(tmp_path)


def attach(folder: Path, values: list[bytes], *arguments: str) -> Result:
    """Run the command on a file with these messages."""
    file = folder / "dump.jsonl"
    file.write_bytes(b"\n".join(value for value in values if b"\n" not in value))
    return CliRunner().invoke(app, ["attach", "--file", str(file), *arguments])


def test_json_keeps_its_shape(tmp_path: Path) -> None:
    """One object; its fields are there to stay."""
    result = attach(tmp_path, [native(number) for number in range(5)], "--json", "--dry-run")
    assert ExitCode.OK == result.exit_code, result.output
    (line,) = result.stdout.splitlines()
    assert line.isascii()
    assert TOP == tuple(json.loads(line))
    SHAPES["attach"].model_validate_json(line)


def test_the_terminal_shows_every_part(tmp_path: Path) -> None:
    """From what the messages are to what they cost."""
    result = attach(tmp_path, [native(number) for number in range(5)], "--dry-run")
    parts = (
        "What the messages are: 100.0 % decode",
        "Fields:",
        "Coverage",
        "Assembled traces",
        "Mapping",
        "Dry run",
        "Cost",
    )
    assert [] == [part for part in parts if part not in result.output]
    assert "nothing was stored" in result.output


def test_layers_that_a_dry_run_leaves_out_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No model is loaded and no endpoint asked while a person waits; what verify does beyond that is said."""
    for name in ("JUDGE", "CONSISTENCY"):
        monkeypatch.setenv(f"GROUNDWATCH_{name}__URL", "http://127.0.0.1:1/v1")
        monkeypatch.setenv(f"GROUNDWATCH_{name}__MODEL", "some-model")
    monkeypatch.setenv("GROUNDWATCH_MODELS__USE", "own")
    shown = " ".join(attach(tmp_path, [native(1)], "--dry-run").output.split())
    wanted = [
        "1 traces judged in memory by layers L0 and L1",
        "verify adds L2 (models.use: own): its verdicts will differ",
        "not in these times: L3 (judge some-model) where a route names it",
        "not in these times: L4 (samples of some-model) where a route names it",
        "judge: some-model, where a route names it",
    ]
    assert [] == [part for part in wanted if part not in shown]
    monkeypatch.setenv("GROUNDWATCH_MODELS__USE", "none")
    cost = json.loads(attach(tmp_path, [native(1)], "--json").stdout)["cost"]
    assert ["L3", "L4"] == [layer[:2] for layer in cost["left_out"]]


def test_text_of_strangers_cannot_reach_the_terminal(tmp_path: Path) -> None:
    """Control and direction characters of contents, names and values are replaced; personal data is redacted."""
    document = json.loads(native(1))
    evil = "\u001b]0;owned\u0007\u202e[red]x[/red] mail jane.doe@example.com"
    document |= {"question": evil, "answer": evil, "intent": "a", "conversation_id": evil, "locale": "\u001b[31m"}
    result = attach(tmp_path, [json.dumps(document).encode()])
    assert [] == [mark for mark in ("\u001b", "\u202e", "\u0007", "jane.doe@example.com") if mark in result.output]
    assert "[red]x[/red]" in result.output
    hidden = attach(tmp_path, [json.dumps(document).encode()], "--no-examples")
    assert "[red]" not in hidden.output


def test_nothing_readable_is_a_fault(tmp_path: Path) -> None:
    """Exit code 1, with the reason and the fix."""
    result = attach(tmp_path, [JUNK])
    assert ExitCode.FOUND_FAULTS == result.exit_code
    assert "not_json" in result.output
    both = CliRunner().invoke(app, ["attach", "--file", "x", "--bootstrap", "k:9092"])
    assert isinstance(both.exception, ConfigError)


def test_write_makes_a_file_that_can_be_run(tmp_path: Path) -> None:
    """With the mapping, checked by the loader; a second time there is nothing to change."""
    values = [home_made(number) for number in range(30)]
    path = tmp_path / "own.yaml"
    arguments = ("--topic", "rag", "--write", "--config", str(path))
    assert ExitCode.OK == attach(tmp_path, values, *arguments).exit_code
    settings = load_settings(path)
    assert ("rag",) == settings.kafka.source.topics
    assert ("rag", "rag_json") == (settings.sources[0].topic, settings.sources[0].format)
    assert "says all this already" in attach(tmp_path, values, *arguments).output


def test_write_asks_before_it_changes_a_file(tmp_path: Path) -> None:
    """Without a terminal there is nobody to ask: --force."""
    path = tmp_path / "groundwatch.yaml"
    path.write_text("data_dir: here  # mine\n", encoding="utf-8")
    refused = attach(tmp_path, [native(1)], "--topic", "t", "--write")
    assert isinstance(refused.exception, ConfigError)
    assert "data_dir: here  # mine\n" == path.read_text(encoding="utf-8")
    assert ExitCode.OK == attach(tmp_path, [native(1)], "--topic", "t", "--write", "--force").exit_code
    assert "data_dir: here  # mine\nkafka:\n" in path.read_text(encoding="utf-8")


def test_a_file_keeps_its_comments_and_what_it_said(tmp_path: Path) -> None:
    """Of the annotated example only what changes is changed; rules that are there win over proposed ones."""
    path = tmp_path / "groundwatch.yaml"
    own = 'sources:\n  # ours\n  - topic: rag\n    strict: true\n    rules:\n      intent: [{path: "mine"}]\n'
    path.write_text(annotated_example() + own, encoding="utf-8")
    report = studied(sample([home_made(number) for number in range(30)], topic="rag"))
    plan = planned(path, change_of(report, Settings(), "kafka:9092"))
    changed = [line for line in plan.diff.splitlines() if line[:1] == "-" and line[:3] != "---"]
    assert ["embedded: true", "bootstrap_servers", "topics"] == [
        line[1:].strip().split(": [")[0].split(': "')[0] for line in changed
    ][:3]
    save(path, plan)
    text = path.read_text(encoding="utf-8")
    assert "  # ours" in text
    (source,) = yaml.safe_load(text)["sources"]
    assert ({"path": "mine"}, True, "rag_json") == (source["rules"]["intent"][0], source["strict"], source["format"])
    assert {"intent", "tier", "tenant", "app"} >= source["rules"].keys() > {"intent"}
    assert not load_settings(path).embedded


def test_a_file_that_would_be_wrong_is_not_written(tmp_path: Path) -> None:
    """The loader's own words, before anything is changed."""
    path = tmp_path / "groundwatch.yaml"
    path.write_text("data_dirr: here\n", encoding="utf-8")
    report = studied(sample(mixed(10)))
    with pytest.raises(ConfigError, match="as it would be: unknown key data_dirr"):
        planned(path, change_of(report, Settings(), ""))
    path.write_text("- a list\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="expected `key: value` lines"):
        planned(path, {})
    path.write_text("a: [", encoding="utf-8")
    with pytest.raises(ConfigError, match="is not YAML"):
        planned(path, {})
    assert [path] == list(tmp_path.iterdir())
