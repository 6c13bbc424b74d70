"""A dead letter gives back exactly what was given up, whatever a stranger wrote into it."""

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from schemas.errors import ConfigError, InvalidMessage, NotReached
from streams.agents.deadletter import DeadLetter, from_error, to_outgoing
from streams.deadletters.choosing import Wanted, grouped, named, replayable
from streams.deadletters.envelope import Whole, mark_of, read_letter, read_mark
from streams.deadletters.letters import POISON, Letter, Position
from streams.messages import Message
from streams.redaction.letters import concealing
from tests.builders import NOW
from tests.hostile.message import Maker
from tests.hostile.refused import REFUSED

LIMIT = 16_000_000


def laid(letter: DeadLetter, limit: int = LIMIT, offset: int = 0) -> Message:
    """The letter as a consumer of ``gw.deadletter`` reads it."""
    sent = to_outgoing(letter, limit)
    return Message("gw.deadletter", 0, offset, sent.key, sent.value, sent.headers, NOW + timedelta(seconds=offset))


def given_up(message: Message, reason: str = "not_json", limit: int = LIMIT, offset: int = 0) -> Whole:
    """The letter of a message, read back."""
    error = InvalidMessage(reason, "(message): no", "auto/native_json")
    whole = read_letter(laid(from_error(message, error, "ingest"), limit, offset))
    assert whole is not None
    return whole


def message(value: bytes | None = b"junk", **fields: object) -> Message:
    """A message of a source topic."""
    return replace(Message("traces", 2, 3, b"k\xff", value, (("trace", b"\x00\x01"),), NOW), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", sorted(REFUSED))
def test_every_kind_of_bad_message_comes_back_as_it_was(kind: str) -> None:
    """Key, bytes, headers, position and time; what is cut for its size says so."""
    hostile = REFUSED[kind](Maker(kind, 1, NOW, random.Random(7)))
    original = message(hostile.value, key=hostile.key, headers=hostile.headers)
    whole = given_up(original, hostile.reason)
    is_cut = kind in {"large_header", "large_key"}
    assert is_cut or original == whole.message
    assert (original.value, original.position, NOW) == (
        whole.message.value,
        whole.message.position,
        whole.message.recorded_at,
    )
    assert (hostile.reason, "ingest", "auto/native_json", "") == (
        whole.letter.reason,
        whole.letter.stage,
        whole.letter.decoder,
        whole.letter.obstacle,
    )


@pytest.mark.parametrize("name", ["gw-reason", "original-gw-reason", "original-original-gw-x", "original-x", "gw-mark"])
def test_headers_named_like_ours_come_back_and_decide_nothing(name: str) -> None:
    """A producer can neither forge a reason nor mark a letter as replayed."""
    original = message(headers=((name, b"forged"),))
    whole = given_up(original)
    assert (original, "not_json") == (whole.message, whole.letter.reason)


@pytest.mark.parametrize(
    ("handling", "length", "text"), [("hash", 4, "privacy.dead_letter: hash"), ("drop", 0, "privacy.dead_letter: drop")]
)
def test_what_was_left_out_for_privacy_is_said(handling: str, length: int, text: str) -> None:
    """And where the original may still be found."""
    letter = from_error(message(), InvalidMessage("not_json", "(message): secret"), "ingest")
    whole = read_letter(laid(concealing(handling, b"k" * 32)(letter)))  # type: ignore[arg-type]
    assert whole is not None
    assert (handling, length, 0) == (whole.letter.concealed, whole.letter.length_bytes, whole.letter.kept_bytes)
    assert text in whole.letter.obstacle
    assert "traces 2:3" in whole.letter.obstacle


def test_a_prefix_cannot_be_replayed() -> None:
    """Half a trace would be another trace."""
    whole = given_up(message(b"x" * 50), "too_large", limit=10)
    assert (50, 10) == (whole.letter.length_bytes, whole.letter.kept_bytes)
    assert "raise ingest.max_message_bytes" in whole.letter.obstacle


@pytest.mark.parametrize("headers", [(), (("gw-mark", b"replayed"),), (("reason", b"x"),)])
def test_what_is_no_letter_is_passed_over(headers: tuple[tuple[str, bytes], ...]) -> None:
    """Anybody may have written to the topic."""
    assert read_letter(Message("gw.deadletter", 0, 0, None, b"{", headers, NOW)) is None
    assert read_mark(Message("gw.deadletter", 0, 0, None, b"{", headers, NOW)) is None


@pytest.mark.parametrize("junk", [b"", b"x", b"-1", b"9" * 40, b"\xff", "²".encode()])
def test_a_letter_with_broken_headers_of_ours_is_read_anyway(junk: bytes) -> None:
    """Somebody with rights on the topic may have damaged it; a list must not end at it."""
    names = ("gw-topic", "gw-partition", "gw-offset", "gw-recorded-at", "gw-reason", "gw-length")
    whole = read_letter(Message("gw.deadletter", 0, 0, None, b"{", tuple((name, junk) for name in names), NOW))
    assert whole is not None
    assert (0, 0) == (whole.letter.partition, whole.letter.offset)


def test_a_mark_names_its_letter() -> None:
    """It lies on the same topic and is no letter itself."""
    letter = given_up(message(), offset=12).letter
    sent = mark_of(letter, NOW)
    record = Message("gw.deadletter", 0, 13, sent.key, sent.value, sent.headers, NOW)
    mark = read_mark(record)
    assert mark is not None
    assert ("0:12", NOW) == (mark.letter, mark.at)
    assert read_letter(record) is None


@pytest.mark.parametrize("text", ["", "1", "1:", ":1", "a:b", "1:2:3", "-1:2", "1:2; DROP", "٣:٤"])
def test_a_position_that_is_none_is_refused_with_the_form(text: str) -> None:
    """As the list shows it."""
    with pytest.raises(ConfigError, match="partition:offset"):
        Position.parse(text)


def letters() -> list[Letter]:
    """Two of one kind, one replayed; and one on which the process died."""
    first = given_up(message(), offset=1).letter
    second = given_up(message(), offset=2).letter.model_copy(update={"replayed_at": NOW})
    return [first, second, given_up(message(), POISON, offset=3).letter]


def test_counts_are_by_topic_stage_and_reason_with_the_first_and_the_last() -> None:
    """Replayed ones are counted, and are not open."""
    group, other = grouped(letters())
    assert ("traces", "ingest", "not_json", 2, 1) == (group.topic, group.stage, group.reason, group.letters, group.open)
    assert (NOW + timedelta(seconds=1), NOW + timedelta(seconds=2)) == (group.first_at, group.last_at)
    assert (POISON, 1) == (other.reason, other.letters)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Wanted(), [1]),
        (Wanted(reasons=frozenset({"not_json"})), [1]),
        (Wanted(reasons=frozenset({POISON})), [3]),
        (Wanted(topics=frozenset({"other"})), []),
        (Wanted(stages=frozenset({"sink"})), []),
        (Wanted(since=NOW + timedelta(seconds=2)), []),
        (Wanted(has_replayed=True), [1, 2]),
    ],
)
def test_only_what_fits_is_replayed_and_poison_by_name_alone(wanted: Wanted, expected: list[int]) -> None:
    """A message that ended the process may end it again."""
    assert expected == [letter.position.offset for letter in replayable(letters(), wanted)]


def test_a_letter_that_is_not_there_is_named() -> None:
    """Retention may have taken it."""
    with pytest.raises(NotReached, match="no letter 7:7"):
        named(letters(), [Position.parse("0:1"), Position.parse("7:7")])
