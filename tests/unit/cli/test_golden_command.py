"""``groundwatch golden`` as it is typed: exit codes, locks, histories, and files that are whole or untouched."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from detectors.golden import golden_text, lock_path, read_golden, read_lock
from schemas.errors import ConfigError
from schemas.golden import GoldenCase, Split
from schemas.labels import Outcome
from streams.cli.program import app
from streams.cli.tables import read_table
from tests.builders_golden import golden_case

QUESTIONS = ("What does a crossing cost?", "May dogs come along?", "When is the last boat?", "Where are tickets sold?")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str, text: str | None = None) -> Result:
        return CliRunner(env={"COLUMNS": "200"}).invoke(app, ["golden", *arguments], input=text)

    return invoke


def written(*cases: GoldenCase) -> Path:
    """A set in this folder."""
    Path("g.jsonl").write_text(golden_text(cases), encoding="utf-8")
    return Path("g.jsonl")


def four(**fields: object) -> list[GoldenCase]:
    """Cases that are not alike."""
    return [golden_case(f"c-{n}", question=question, **fields) for n, question in enumerate(QUESTIONS)]


def test_check_tells_faults_and_ends_with_one(run: Callable[..., Result]) -> None:
    """Malformed lines and whole-set faults; doubts alone end with 0, unless strict."""
    written(golden_case("a"), golden_case("b", split=Split.HOLDOUT))
    with Path("g.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"case_id": "x"}\n')
    found = run("check", "g.jsonl", "--json")
    rows = [json.loads(line) for line in found.stdout.splitlines()]
    assert (1, [(2, "question"), (3, "question")]) == (found.exit_code, [(row["line"], row["field"]) for row in rows])
    assert "g.jsonl: line 3: question: is missing; add it" in run("check", "g.jsonl").stderr
    written(golden_case("a"), golden_case("b"))
    assert (0, 1) == (run("check", "g.jsonl").exit_code, run("check", "g.jsonl", "--strict").exit_code)
    written(golden_case("a"))
    assert "fine (1 cases, version g" in run("check", "g.jsonl").stdout


def test_check_takes_a_policy(run: Callable[..., Result]) -> None:
    """Whose intents the cases must have."""
    written(golden_case("a"))
    Path("p.yaml").write_text("name: p\nintents:\n  fees: {}\n", encoding="utf-8")
    assert "'refunds' is not in the policy" in run("check", "g.jsonl", "--policy", "p.yaml").stderr


def test_split_locks_the_holdout_against_every_change(run: Callable[..., Result]) -> None:
    """Relabelling, adding to it and editing by hand are refused and leave the file as it was."""
    path = written(*four())
    assert 0 == run("split", "g.jsonl", "--shares", "dev=0.5,holdout=0.5", "--seed", "3").exit_code
    held = read_golden(path).part(Split.HOLDOUT).cases[0]
    before = path.read_text(encoding="utf-8")
    refused = run("relabel", "g.jsonl", held.case_id, "hallucinated", "--author", "ben")
    assert isinstance(refused.exception, ConfigError)
    assert f"{held.case_id} (changed)" in str(refused.exception)
    near = run("add", "g.jsonl", "--id", "new", "--question", held.question)
    assert "new (added)" in str(near.exception)
    assert before == path.read_text(encoding="utf-8")
    path.write_text(before.replace('"owner": "support"', '"owner": "billing"'), encoding="utf-8")
    assert "is not as it was locked" in str(run("stats", "g.jsonl").exception)


def test_unlocking_needs_a_reason_and_keeps_it(run: Callable[..., Result]) -> None:
    """Who, why and which cases; afterwards it is locked again."""
    path = written(*four(split=Split.HOLDOUT))
    assert 0 == run("lock", "g.jsonl", "--author", "ana").exit_code
    done = run("relabel", "g.jsonl", "c-1", "hallucinated", "--author", "ben", "--unlock", "the fee is 3 EUR", "--json")
    assert ["grounded", "hallucinated"] == [label["label"] for label in json.loads(done.stdout)["labels"]]
    lock = read_lock(path)
    assert lock is not None
    assert [("ben", "the fee is 3 EUR", ("c-1",))] == [(one.author, one.reason, one.cases) for one in lock.unlockings]
    assert Outcome.HALLUCINATED is read_golden(path).by_id()["c-1"].answer_label
    assert isinstance(run("relabel", "g.jsonl", "c-1", "grounded").exception, ConfigError)
    path.write_text(golden_text(four(split=Split.HOLDOUT)[:3]), encoding="utf-8")
    assert "c-3 (removed)" in str(run("lock", "g.jsonl").exception)
    assert 0 == run("lock", "g.jsonl", "--unlock", "c-3 was two questions").exit_code
    assert 3 == len(read_golden(path).cases)


def test_a_dry_run_writes_nothing(run: Callable[..., Result]) -> None:
    """Neither splits nor imports."""
    path = written(*four())
    before = path.read_bytes()
    shown = json.loads(run("split", "g.jsonl", "--dry-run", "--json").stdout)
    assert (4, False) == (sum(shown["cases"].values()), shown["is_written"])
    Path("t.csv").write_text("question\nWho?\n", encoding="utf-8")
    assert 1 == len(json.loads(run("import", "g.jsonl", "t.csv", "--dry-run", "--json").stdout)["new"])
    assert (before, False) == (path.read_bytes(), lock_path(path).exists())


def test_import_tells_bad_rows_and_takes_the_good_ones(run: Callable[..., Result]) -> None:
    """By row and field, with exit code 1; an unknown column is told with those there are."""
    Path("t.csv").write_text("id;frage;ja\n1;Wann?;ja\n2;;ja\n3;Wo?;vielleicht\n", encoding="utf-8-sig")
    columns = ("--map", "case_id=id", "--map", "question=frage", "--map", "is_answerable=ja", "--value", "ja=true")
    found = run("import", "g.jsonl", "t.csv", *columns)
    assert (1, "1 new, 0 with more labels, 0 there already, 2 refused") == (found.exit_code, found.stdout.split(";")[0])
    assert "row 3: question" in found.stderr
    assert "row 4: is_answerable: 'vielleicht' is neither yes nor no" in found.stderr
    assert "it has id, frage, ja" in run("import", "g.jsonl", "t.csv", "--map", "question=q").stderr


def test_cases_come_from_standard_input_and_from_gzip(run: Callable[..., Result]) -> None:
    """As other commands read them; faulty lines are told and the others taken."""
    text = golden_text([golden_case("a")]) + "{}\n"
    found = run("add", "g.jsonl", "--from", "-", text=text)
    assert (1, ["a"]) == (found.exit_code, [case.case_id for case in read_golden(Path("g.jsonl")).cases])
    assert "line 2: case_id is missing" in found.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("split", "g.jsonl", "--shares", "dev"), "--shares 'dev': write train, dev or holdout and a share"),
        (("split", "g.jsonl", "--shares", "dev=0.7,holdout=0.7"), "add up to 1"),
        (("relabel", "g.jsonl", "c-0", "good"), "label 'good': use one of abstained, grounded"),
        (("relabel", "g.jsonl", "c-0", "grounded", "--claim", "0"), "label 'grounded': use one of contradicted"),
        (("relabel", "g.jsonl", "c-9", "grounded"), "no case 'c-9'"),
        (("add", "g.jsonl", "--id", "x"), "a new case needs --id and --question"),
        (("add", "g.jsonl", "--from", "x", "--id", "y"), "leave out --trace, --id"),
        (("import", "g.jsonl"), "give a table, or --reviews"),
        (("import", "g.jsonl", "g.jsonl", "--map", "question"), "--map 'question': write NAME=VALUE"),
        (("stats", "g.jsonl", "--case", "x"), "--case 'x': no such case"),
        (("stats", "missing.jsonl"), "cannot read missing.jsonl"),
        (("diff", "g.jsonl", "missing.jsonl"), "cannot read missing.jsonl"),
    ],
)
def test_what_cannot_be_done_says_what_to_do(run: Callable[..., Result], arguments: tuple[str, ...], says: str) -> None:
    """A wrong call is a wrong configuration: exit code 2."""
    written(*four())
    found = run(*arguments)
    assert isinstance(found.exception, ConfigError)
    assert says in str(found.exception)


def test_a_terminal_gets_no_control_characters(run: Callable[..., Result]) -> None:
    """Texts of cases are strangers'."""
    evil = "\x1b[2J\u202eWhat?"
    written(golden_case("a", question=evil, owner="x"), golden_case("b", question=evil + " x", split=Split.HOLDOUT))
    Path("old.jsonl").write_text(golden_text([golden_case("a", question="Other?")]), encoding="utf-8")
    for arguments in (
        ("stats", "g.jsonl", "--cases", "--case", "a"),
        ("diff", "old.jsonl", "g.jsonl"),
        ("check", "g.jsonl"),
    ):
        output = run(*arguments).output
        assert [mark for mark in "\x1b\u202e" if mark in output] == []


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a,b\n1,2\n", [(2, {"a": "1", "b": "2"})]),
        ("\ufeffa;b\n\n1;2\n", [(3, {"a": "1", "b": "2"})]),
        ('a\tb\n"x\ny"\t2\n', [(3, {"a": "x\ny", "b": "2"})]),
        ('{"a": 1}\n\n{"a": {"b": 2}}\n', [(1, {"a": 1}), (3, {"a": {"b": 2}})]),
    ],
)
def test_tables_of_each_kind_are_read(tmp_path: Path, text: str, rows: list[tuple[int, dict[str, object]]]) -> None:
    """With the line that a row ends on."""
    path = tmp_path / "t"
    path.write_text(text, encoding="utf-8", newline="")
    assert rows == [(row.number, row.cells) for row in read_table(path)]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"a,a\n1,2\n", "'a' heads two columns"),
        (b"a,\n1,2\n", "a column has no name"),
        (b"a,b\n1\n", "row 2: 1 cells under 2 columns"),
        (b'a,b\n"1,2\n', "row 2: unexpected end of data"),
        (b'{"a": 1}\n[1]\n', "row 2: not a JSON object"),
        (b'{"a": 1}\n{\n', "row 2: not JSON"),
        (b"a\n\xff\n", "not UTF-8"),
        (b"\x1f\x8bxx", "cannot read"),
    ],
)
def test_a_table_that_is_none_says_where_and_why(tmp_path: Path, content: bytes, says: str) -> None:
    """And how to mend it."""
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as refused:
        list(read_table(path))
    assert says in str(refused.value)
