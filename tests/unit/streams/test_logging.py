"""Log lines: fields instead of sentences, and no user text."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Literal

import pytest
import structlog

from schemas.errors import RowRejected
from streams.logging import configure_logging


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Global logging state goes back to what it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    """What was written, as records."""
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_one_json_object_with_fields() -> None:
    """A machine can read it without parsing a sentence."""
    stream = io.StringIO()
    configure_logging("info", "json", stream)
    structlog.get_logger("ingest").info("trace_stored", trace_id="t-1", drawn=True)
    (line,) = lines(stream)
    assert ("trace_stored", "t-1", True, "info", "ingest") == tuple(
        line[name] for name in ("event", "trace_id", "drawn", "level", "logger")
    )


def test_user_text_is_replaced_by_its_length() -> None:
    """A careless field does not leak an answer."""
    stream = io.StringIO()
    configure_logging("info", "json", stream)
    structlog.get_logger().info("x", answer="my secret", passages=["a"])
    assert ("<9 characters>", "<hidden>") == (lines(stream)[0]["answer"], lines(stream)[0]["passages"])


def test_lower_levels_are_left_out() -> None:
    """At warning the line of each trace is not written."""
    stream = io.StringIO()
    configure_logging("warning", "json", stream)
    structlog.get_logger().info("x")
    logging.getLogger("other").info("y")
    assert lines(stream) == []


def test_libraries_are_heard_from_warning_on() -> None:
    """Their info lines would drown ours; their warnings come in the same form."""
    stream = io.StringIO()
    configure_logging("info", "json", stream)
    logging.getLogger("aiokafka.consumer").info("chatter")
    logging.getLogger("httpx2").info("the address of an endpoint, call by call")
    logging.getLogger("aiokafka.consumer").warning("trouble %s", "here")
    assert ["trouble here"] == [line["event"] for line in lines(stream)]


def test_exception_is_written_as_a_field() -> None:
    """A traceback stays within its line."""
    stream = io.StringIO()
    configure_logging("info", "json", stream)
    try:
        _ = 1 / 0
    except ZeroDivisionError:
        structlog.get_logger().exception("agent_died")
    (line,) = lines(stream)
    assert str(line["exception"]).endswith("ZeroDivisionError")
    assert "test_exception_is_written_as_a_field" in str(line["exception"])


def test_console_style_is_plain_without_a_terminal() -> None:
    """No colour codes in a file."""
    stream = io.StringIO()
    configure_logging("info", "console", stream)
    structlog.get_logger().info("trace_stored", trace_id="t-1")
    assert "\x1b" not in stream.getvalue()
    assert "trace_id=t-1" in stream.getvalue()


INJECTIONS = (
    "a\nlevel=info event=forged",
    "a\r\n{}",
    "\x1b]0;owned\x07\x1b[2J",
    "\u202egnol",
    "\x00",
    "\u2028",
    "\ud83d",
    "\x9b31m",
)


@pytest.mark.parametrize("style", ["json", "console"])
@pytest.mark.parametrize("text", INJECTIONS)
def test_an_event_is_one_line_of_printable_characters(style: Literal["json", "console"], text: str) -> None:
    """An id that a stranger made can neither forge a line nor reach the terminal."""
    stream = io.StringIO()
    configure_logging("info", style, stream)
    structlog.get_logger().info("verdict", trace_id=text, labels={text: 1}, names=[text], error=ValueError(text))
    logging.getLogger("faust").warning("topic %s", text)
    written = stream.getvalue()
    assert 2 == written.count("\n")
    assert all(line.isprintable() for line in written.splitlines())
    assert 2 == len(written.splitlines())


def test_a_long_field_is_cut() -> None:
    """One trace must not fill a disk."""
    stream = io.StringIO()
    configure_logging("info", "json", stream)
    structlog.get_logger().info("x", trace_id="t" * 1_000_000)
    assert len(stream.getvalue()) < 1_000


@pytest.mark.parametrize("style", ["json", "console"])
def test_a_traceback_shows_no_text_of_a_user(style: Literal["json", "console"]) -> None:
    """Messages of libraries quote what they could not read, and local variables hold whole traces."""
    stream = io.StringIO()
    configure_logging("info", style, stream)
    answer = "a secret of a user"
    try:
        try:
            float(answer)
        except ValueError as error:
            raise RowRejected("insert into traces: the store refuses a row") from error
    except RowRejected:
        structlog.get_logger().exception("agent_failed")
    assert "secret" not in stream.getvalue()
    assert "RowRejected: insert into traces: the store refuses a row" in stream.getvalue()
    assert "ValueError" in stream.getvalue()
