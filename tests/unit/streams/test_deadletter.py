"""Dead letters and their ceiling."""

from dataclasses import replace

import pytest

from schemas.errors import InvalidMessage, RowRejected
from streams.agents.batches import CeilingReached
from streams.agents.deadletter import PREFIX_BYTES, Ceiling, from_error, read_each, to_outgoing
from streams.messages import Message
from tests.builders import NOW


def message(value: bytes | None = b"junk", offset: int = 3) -> Message:
    """A message with a binary key and a header of its own."""
    return Message("traces", 2, offset, b"k\xff", value, (("trace", b"\x00\x01"),), NOW)


def test_original_key_bytes_and_headers_are_kept() -> None:
    """Whoever replays a dead letter needs exactly what was sent."""
    letter = from_error(message(), InvalidMessage("not_json", "(message): no"), "ingest")
    outgoing = to_outgoing(letter, 1000)
    headers = dict(outgoing.headers)
    assert (b"k\xff", b"junk", b"\x00\x01") == (outgoing.key, outgoing.value, headers["trace"])
    assert (b"traces", b"2", b"3") == (headers["gw-topic"], headers["gw-partition"], headers["gw-offset"])
    assert (b"not_json", b"ingest") == (headers["gw-reason"], headers["gw-stage"])


def test_a_tombstone_stays_null() -> None:
    """A null value is marked, since the dead letter topic may be read by tools that skip nulls."""
    outgoing = to_outgoing(from_error(message(None), InvalidMessage("tombstone", "null"), "ingest"), 1000)
    assert outgoing.value is None
    assert b"1" == dict(outgoing.headers)["gw-null"]


def test_a_value_over_the_limit_keeps_prefix_length_and_hash() -> None:
    """A dead letter that the broker refuses would stop the stream for ever."""
    outgoing = to_outgoing(from_error(message(b"x" * 50), RowRejected("no"), "ingest"), 10)
    headers = dict(outgoing.headers)
    assert (b"x" * 10, b"50", 32) == (outgoing.value, headers["gw-length"], len(headers["gw-hash"]))


def test_one_bad_message_costs_no_other() -> None:
    """Each message is decoded on its own."""

    def decode(one: Message) -> int:
        if one.offset == 1:
            raise InvalidMessage("not_json", "(message): no")
        return one.offset

    read, letters = read_each([message(offset=n) for n in range(3)], decode, "ingest")
    assert [0, 2] == [number for _, number in read]
    assert [1] == [letter.message.offset for letter in letters]


def test_a_run_of_bad_messages_reaches_the_ceiling() -> None:
    """A run goes on over batches."""
    ceiling = Ceiling(run_length=4).after([False, True, True])
    with pytest.raises(CeilingReached, match="4 bad messages in a row"):
        ceiling.after([True, True])


def test_a_good_message_ends_the_run() -> None:
    """Single bad messages never stop a consumer."""
    ceiling = Ceiling(run_length=3)
    for _ in range(10):
        ceiling = ceiling.after([True, True, False])
    assert 0 == ceiling.run


def test_a_high_share_of_bad_messages_reaches_the_ceiling() -> None:
    """Every second message bad is a wrong decoder, not bad luck."""
    with pytest.raises(CeilingReached, match="of 10 messages"):
        Ceiling(run_length=100, ratio=0.5, window=10).after([True, True, False] * 4)


def test_the_share_needs_a_full_window() -> None:
    """The first message of a topic may be bad without stopping anything."""
    assert 1 == Ceiling(window=10).after([True]).run


def test_a_strangers_header_cannot_pass_for_ours() -> None:
    """A reason that the producer wrote would mislead whoever reads the dead letters."""
    forged = replace(message(), headers=(("gw-reason", b"fine"), ("gw-null", b"1"), ("trace", b"\x00")))
    headers = dict(to_outgoing(from_error(forged, InvalidMessage("not_json", "no"), "ingest"), 1000).headers)
    assert (b"not_json", b"fine", b"1") == (
        headers["gw-reason"],
        headers["original-gw-reason"],
        headers["original-gw-null"],
    )
    assert "gw-null" not in headers


def test_a_thousand_headers_are_kept_and_a_megabyte_of_them_is_not() -> None:
    """A record that its headers make too large would be refused for ever."""
    many = replace(message(), headers=tuple((f"h{n}", b"\xff" * 20) for n in range(1000)))
    error = InvalidMessage("not_json", "no")
    assert 1000 + 8 == len(to_outgoing(from_error(many, error, "ingest"), 1000).headers)
    large = replace(message(), headers=(("small", b"1"), ("large", b"x" * 1_000_000), ("last", b"2")))
    headers = dict(to_outgoing(from_error(large, error, "ingest"), 1000).headers)
    assert (b"1", b"2", False) == (headers["small"], headers["gw-headers-dropped"], "large" in headers)


def test_a_large_key_keeps_its_beginning() -> None:
    """Keys are the producer's as much as values are."""
    outgoing = to_outgoing(from_error(replace(message(), key=b"k" * 1_000_000), RowRejected("no"), "ingest"), 1000)
    assert (b"k" * PREFIX_BYTES, b"1000000") == (outgoing.key, dict(outgoing.headers)["gw-key-length"])


def test_a_message_of_nothing_is_a_letter_that_can_be_sent() -> None:
    """Neither key nor value: our client refuses to send such a record, and would end the process over it."""
    outgoing = to_outgoing(
        from_error(replace(message(None), key=None), InvalidMessage("tombstone", "null"), "ingest"), 10
    )
    assert (b"", None) == (outgoing.key, outgoing.value)
    assert (b"1", b"1") == (dict(outgoing.headers)["gw-null-key"], dict(outgoing.headers)["gw-null"])
