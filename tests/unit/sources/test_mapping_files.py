"""Mapping files: what may be in them, and mistakes, each named with its key and what to write instead."""

from pathlib import Path

import pytest

from schemas.errors import ConfigError
from streams.sources.mapping import load_mapping, parse_mapping
from streams.sources.mapping.file import SPAN_FIELDS, TRACE_FIELDS
from streams.sources.mapping.functions import FUNCTIONS, NAMES
from tests.source_messages import decode, decoder, trace_of

GUIDE = Path(__file__).parents[3] / "docs" / "mapping.md"
SMALLEST = """
name: mine
kind: trace
fields:
  trace_id: "id"
"""
SPANS = """
name: mine
kind: spans
fields: {trace_id: "t", span_id: "s"}
"""


def written(folder: Path, text: str) -> Path:
    """A mapping file with this text."""
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a: [", ["not YAML"]),
        ("- a", ["expected `key: value` lines", "list", "docs/mapping.md"]),
        ("", ["found NoneType"]),
        (SMALLEST + "colour: red\n", ["unknown key colour", "docs/mapping.md"]),
        (SMALLEST.replace("name: mine\n", ""), ["name is missing"]),
        (SMALLEST.replace("mine", "My mapping"), ["name:", "pattern"]),
        (SMALLEST.replace("kind: trace", "kind: rows"), ["kind:", "'spans' or 'trace'"]),
        (SMALLEST + "  question: 5\n", ["fields.question must be text", "quotes"]),
        (SMALLEST + "  qestion: q\n", ["fields.qestion: no such field of kind trace", "question"]),
        (SMALLEST + "  span_id: s\n", ["fields.span_id: no such field of kind trace"]),
        (SMALLEST + '  question: "a..b"\n', ["fields.question = 'a..b'", "at column 3", "near '.'"]),
        (SMALLEST + '  question: "lowr(a)"\n', ["fields.question", "no function lowr()", "lower"]),
        (SMALLEST + '  question: "lower(a, b)"\n', ["lower() takes 1 argument, not 2"]),
        (SMALLEST + '  question: ""\n', ["fields.question = ''", "cannot be empty"]),
        (SMALLEST + '  question: "!a.b"\n', ["write !(a.b)"]),
        (SMALLEST + f'  question: "{"a" * 2001}"\n', ["2001 characters", "2000"]),
        (SMALLEST + f'  question: "{"(" * 900}a{")" * 900}"\n', ["fields.question", "nested too deep"]),
        (SMALLEST.replace("trace_id", "question"), ["groups[0] has no field trace_id"]),
        (SPANS.replace(', span_id: "s"', ""), ["groups[0] has no field span_id"]),
        (SPANS + "kinds: {x: robot}\n", ["kinds.x:", "'chain'"]),
        (SPANS + 'whole: "[0"\n', ["whole = '[0'", "Incomplete expression"]),
        (SPANS + "naive_time: Mars\n", ["naive_time = 'Mars'", "Europe/Berlin"]),
        (SPANS + "groups: []\n", ["groups:"]),
        (SPANS + "groups: [{when: a}]\n", ["groups[0].items is missing"]),
        (SPANS + "groups: [{items: []}]\n", ["groups[0].items is empty", "write @"]),
        (SPANS + "groups: [{items: '[0'}]\n", ["groups[0].items = '[0'"]),
        (SPANS + "groups: [{items: '@', when: '|'}]\n", ["groups[0].when = '|'"]),
        (SPANS + "groups: [{items: '@', fields: {kind: '|'}}]\n", ["groups[0].fields.kind = '|'"]),
        (SPANS + "groups: [{items: '@', fieldz: {}}]\n", ["unknown key groups[0].fieldz"]),
        (SPANS + "fixes: {colour: x}\n", ["fixes.colour: no such field"]),
    ],
)
def test_every_mistake_is_named_with_its_key_and_fix(tmp_path: Path, text: str, parts: list[str]) -> None:
    """The message begins with the file."""
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_mapping(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert [] == [part for part in parts if part not in message], message


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """Missing, or in another encoding."""
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read: No such file"):
        load_mapping(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9")
    with pytest.raises(ConfigError, match="byte 9 is not UTF-8"):
        load_mapping(tmp_path / "latin.yaml")


def test_a_file_is_used_by_a_topic(tmp_path: Path) -> None:
    """Its name is the trace's decoder."""
    own = SMALLEST + '  question: "q"\n  answer: "a.text"\n  passages: "hits[].doc"\n  intent: "area"\n'
    using = decoder(format="mapping", mapping=written(tmp_path, own))
    trace = trace_of(
        {"id": "1", "q": "?", "a": {"text": "No."}, "hits": [{"doc": "x"}], "area": "weights"}, using=using
    )
    assert ("mine", "?", "No.", "weights") == (trace.decoder, trace.question, trace.answer, trace.intent)
    assert ["x"] == [passage.text for passage in trace.passages or ()]


def test_values_of_wrong_type_are_flagged_and_the_rest_is_read(tmp_path: Path) -> None:
    """One odd field does not cost the answer."""
    own = SMALLEST + '  answer: "a"\n  ts: "when"\n  model: "m"\n  question: "ends_with(q, \'?\') && q"\n'
    using = decoder(format="mapping", mapping=written(tmp_path, own))
    trace = trace_of({"id": "1", "a": "No.", "when": {}, "m": ["x"], "q": 5}, using=using)
    assert ("No.", "") == (trace.answer, trace.versions.model)
    assert {"bad_time", "wrong_shape", "record_time"} <= set(trace.flags)


@pytest.mark.parametrize(
    ("item", "reason", "part"),
    [
        ({}, "missing_field", "trace_id: the mapping looks for 'id'"),
        ({"id": ""}, "missing_field", "trace_id"),
        ({"id": ["x"]}, "wrong_type", "trace_id: list"),
        ({"id": True}, "wrong_type", "trace_id: bool"),
        ({"id": "x" * 257}, "too_large", "trace_id: 257 characters"),
        ("text", "wrong_type", "an item is str"),
    ],
)
def test_an_item_without_a_usable_id_is_refused_by_field(tmp_path: Path, item: object, reason: str, part: str) -> None:
    """Its neighbour goes on."""
    using = decoder(format="mapping", mapping=written(tmp_path, SMALLEST))
    found = decode([item, {"id": "good"}], using=using)
    assert ["good"] == [trace.trace_id for trace in found.traces]
    assert [reason] == [problem.reason for problem in found.problems]
    assert part in found.problems[0].detail


def test_documents_without_items_say_where_they_were_looked_for(tmp_path: Path) -> None:
    """The user sees the expression, not the data."""
    using = decoder(format="mapping", mapping=written(tmp_path, SPANS + "groups: [{items: 'rows[]'}]\n"))
    (problem,) = decode({"secret": 1}, using=using).problems
    assert ("no_items", True, False) == (problem.reason, "rows[]" in problem.detail, "secret" in problem.detail)


def test_items_that_no_group_takes_are_problems(tmp_path: Path) -> None:
    """Unknown kinds of event are told, not swallowed."""
    using = decoder(format="mapping", mapping=written(tmp_path, SPANS + "groups: [{items: '@', when: kind}]\n"))
    assert ["unknown_item"] == [problem.reason for problem in decode({"t": 1, "s": 2}, using=using).problems]


def test_false_counts_as_nothing_said() -> None:
    """So that `condition && value` works for any field."""
    mapper = parse_mapping(SPANS.replace('"t"', "\"t && 'x'\""), "test")
    assert "trace_id" in mapper.members[0].groups[0].fields
    assert "missing_field" in str(decode({"t": False, "s": 1}).problems)


def test_the_guide_names_every_field_and_function() -> None:
    """docs/mapping.md is what the messages point to."""
    guide = GUIDE.read_text(encoding="utf-8")
    own = {name for name in NAMES if name not in type(FUNCTIONS).__mro__[1]().FUNCTION_TABLE}
    assert [] == [name for name in sorted(own) if f"`{name}(" not in guide]
    assert [] == [name for name in sorted(SPAN_FIELDS | TRACE_FIELDS) if f"`{name}`" not in guide]
