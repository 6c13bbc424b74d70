"""A dead letter as it lies on ``gw.deadletter``, and the message that it was; the reverse of ``to_outgoing``.

A mark is a message on the same topic that says of a letter that it was replayed: it lives as long as the letter, needs
no store, and an embedded broker forgets both together.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from schemas.codec import HEADER
from streams.agents.deadletter import unescaped
from streams.broker.publisher import Outgoing
from streams.deadletters.letters import Letter, Mark
from streams.messages import Message

MARK = "gw-mark"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Whole:
    """A letter with its content: the message as it was given up."""

    letter: Letter
    message: Message


def read_letter(record: Message) -> Whole | None:
    """The letter in a message of ``gw.deadletter``; None for what is none of ours."""
    ours = {name: value for name, value in record.headers if name.startswith("gw-")}
    if "gw-topic" not in ours or MARK in ours:
        return None
    original = tuple((unescaped(name), value) for name, value in record.headers if not name.startswith("gw-"))
    message = Message(
        topic=_text(ours, "gw-topic"),
        partition=_number(ours, "gw-partition", 0),
        offset=_number(ours, "gw-offset", 0),
        key=None if "gw-null-key" in ours else record.key,
        value=None if "gw-null" in ours else record.value or b"",
        headers=original,
        recorded_at=_moment(ours, "gw-recorded-at"),
    )
    kept = len(message.value or b"")
    return Whole(
        Letter(
            letter=f"{record.partition}:{record.offset}",
            at=record.recorded_at,
            topic=message.topic,
            partition=message.partition,
            offset=message.offset,
            recorded_at=message.recorded_at,
            stage=_text(ours, "gw-stage"),
            reason=_text(ours, "gw-reason"),
            detail=_text(ours, "gw-detail"),
            decoder=_text(ours, "gw-decoder"),
            length_bytes=_number(ours, "gw-length", kept),
            kept_bytes=kept,
            is_null="gw-null" in ours and "gw-concealed" not in ours,
            concealed=_text(ours, "gw-concealed"),
            schema_name=(message.header(HEADER) or b"").decode("utf-8", "replace")[:80],
        ),
        message,
    )


def mark_of(letter: Letter, at: datetime) -> Outgoing:
    """The message that marks a letter as replayed."""
    mark = Mark(letter=letter.letter, at=at)
    return Outgoing(mark.letter.encode(), mark.model_dump_json().encode(), ((MARK, b"replayed"),))


def read_mark(record: Message) -> Mark | None:
    """The mark in a message of ``gw.deadletter``; None for anything else."""
    if record.header(MARK) is None:
        return None
    with suppress(ValueError, RecursionError):
        found = json.loads(record.value or b"")
        return Mark.model_validate(found)
    return None


def _text(headers: Mapping[str, bytes], name: str) -> str:
    return headers.get(name, b"").decode("utf-8", "replace")


def _number(headers: Mapping[str, bytes], name: str, default: int) -> int:
    text = headers.get(name, b"")
    return int(text) if text.isdigit() and len(text) < len(str(2**63)) else default


def _moment(headers: Mapping[str, bytes], name: str) -> datetime:
    try:
        found = datetime.fromisoformat(_text(headers, name))
    except ValueError:
        return _EPOCH
    return found if found.tzinfo is not None else _EPOCH
