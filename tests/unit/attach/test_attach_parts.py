"""The parts of ``attach``: how a sample is spread, a file read, a place ranked, a refusal explained."""

import gzip
import json
from pathlib import Path

import pytest
from aiokafka.errors import KafkaConnectionError, TopicAuthorizationFailedError
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import BrokerUnavailable, ConfigError, NotReached
from schemas.labels import Outcome
from streams.attach.advice import load_advice
from streams.attach.candidates import Place, candidates
from streams.attach.dump import read_dump
from streams.attach.presence import _FIELDS
from streams.attach.refusals import explained, missing, nothing_there
from streams.attach.sample import Sample, spread
from tests.attach_samples import AT, as_proto, native, openinference_spans

SOURCES = Path(__file__).parents[3] / "streams" / "sources"


@given(st.integers(0, 2_000), st.dictionaries(st.integers(0, 200), st.integers(0, 500), max_size=80))
def test_a_sample_is_spread_evenly(count: int, available: dict[int, int]) -> None:
    """As much as there is, and no partition two more than another that has more to give."""
    quota = spread(count, available)
    assert min(count, sum(available.values())) == sum(quota.values())
    assert all(0 <= quota[key] <= size for key, size in available.items())
    open_ones = [quota[key] for key, size in available.items() if quota[key] < size]
    assert not open_ones or max(quota.values()) - min(open_ones) <= 1


def test_every_field_has_words_and_a_way_to_look_for_it() -> None:
    """Data and code name the same fields; what is needed has a fix for whoever."""
    advice = load_advice()
    assert {*_FIELDS, "citations"} == advice.fields.keys()
    assert {"needed", "useful", "optional"} == {words.need for words in advice.fields.values()}
    assert [] == [name for name, words in advice.fields.items() if not words.fixes or not words.cost]
    assert {outcome.value for outcome in Outcome if outcome.is_unresolved} == advice.unresolved.keys()


def test_every_reason_of_the_decoders_has_a_fix() -> None:
    """A message that cannot be read comes with what to do."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py"))
    fixes = load_advice().problems
    reasons = {part.split('"')[0] for part in code.split('InvalidMessage("')[1:]}
    reasons |= {part.split('"')[1] for part in code.split("InvalidMessage(\n")[1:] if part.strip().startswith('"')}
    assert set() == reasons - fixes.keys()


def dump(folder: Path, content: bytes, count: int = 100) -> Sample:
    """The sample out of a file with this content."""
    file = folder / "dump"
    file.write_bytes(content)
    return read_dump(file, "t", count, AT)


def test_a_file_may_be_lines_plain_or_gzip(tmp_path: Path) -> None:
    """Line numbers are offsets; empty lines and a bad line are no end."""
    lines = b"\n".join([native(1), b"", b'{"broken', native(2)])
    found = dump(tmp_path, lines)
    assert [(1, native(1)), (3, b'{"broken'), (4, native(2))] == [(m.offset, m.value) for m in found.messages]
    assert [m.value for m in found.messages] == [m.value for m in dump(tmp_path, gzip.compress(lines)).messages]
    assert [1] == [m.offset for m in dump(tmp_path, lines, count=1).messages]
    assert found.is_file
    assert [1, 2, 3] == [
        m.offset for m in dump(tmp_path, b"% consumer started\n" + native(1) + b"\n" + native(2)).messages
    ]


def test_a_file_may_be_one_document(tmp_path: Path) -> None:
    """Pretty-printed JSON, a list of documents, or OTLP in protobuf."""
    document = openinference_spans(1)[0]
    assert 1 == len(dump(tmp_path, json.dumps(document, indent=2).encode()).messages)
    listed = json.dumps([json.loads(native(number)) for number in range(3)], indent=1).encode()
    assert [1, 2, 3] == [m.offset for m in dump(tmp_path, listed).messages]
    assert [as_proto(document)] == [m.value for m in dump(tmp_path, as_proto(document)).messages]
    with pytest.raises(NotReached, match="is empty"):
        dump(tmp_path, b"\n \n")
    with pytest.raises(ConfigError, match="cannot read"):
        dump(tmp_path, gzip.compress(native(1))[:40])


def place(path: str, *values: str) -> Place:
    """A place with one value a trace."""
    return Place(path, {f"t{number}": value for number, value in enumerate(values)})


def best(field: str, *places: Place) -> list[str]:
    """The paths that are proposed for a field, the best first."""
    return [one.path for one in candidates(places, 4).get(field, ())]


def test_an_intent_has_few_values_and_a_telling_name() -> None:
    """Ids, free text, constants and what belongs to messages are none."""
    found = best(
        "intent",
        place("resource.service.name", "rag", "rag", "rag", "rag"),
        place("metadata.route", "a", "b", "a", "b"),
        place("metadata.intent", "a", "b", "a", "b"),
        place("metadata.use_case", "x", "y", "x", "x"),
        place("metadata.task", *(f"{number:032x}" for number in range(4))),
        place("metadata.topic", *("Why is my parcel late, and what can I do about it? " * 3 for _ in range(4))),
        place("llm.input_messages.0.message.category", "a", "b", "a", "b"),
        place("other", "a", "b", "c", "d"),
    )
    assert ["metadata.intent", "metadata.use_case", "resource.service.name"] == found


def test_what_few_traces_have_is_no_candidate() -> None:
    """One trace in four is enough, one in ten is not; what it adds counts the traces that lack the field."""
    few = Place("metadata.queue", {"t1": "a"})
    assert {} == candidates([few], 10)
    assert ("metadata.queue", 0.25, 0.25) == (
        (row := candidates([few], 4)["intent"][0]).path, row.share, row.gain
    )  # fmt: skip
    assert 0.0 == candidates([few], 4, {"intent": {"t1"}})["intent"][0].gain


def test_refusals_say_what_to_do() -> None:
    """Missing, empty, forbidden and away: each with a fix."""
    assert "did you mean otlp_spans?" in str(missing(["otlp_span"], ["otlp_spans", "__consumer_offsets"], "k:9092"))
    assert "__consumer_offsets" not in str(missing(["x"], ["__consumer_offsets"], "k:9092"))
    assert "start the producer" in str(nothing_there(["t"], had_any=False, ever_had=False))
    assert "retention" in str(nothing_there(["t"], had_any=False, ever_had=True))
    assert "--from" in str(nothing_there(["t"], had_any=True, ever_had=True))
    forbidden = explained(TopicAuthorizationFailedError(), "k:9092", ["t"])
    assert isinstance(forbidden, NotReached)
    assert "--operation Read --operation Describe --topic t" in str(forbidden)
    away = explained(KafkaConnectionError(), "k:9092", ["t"], ["Unable connect: refused"])
    assert isinstance(away, BrokerUnavailable)
    assert "Unable connect: refused" in str(away)
    login = explained(KafkaConnectionError(), "k:9092", ["t"], ["[Error 58] SaslAuthenticationFailed: no"])
    assert "SASL_PASSWORD" in str(login)
