"""Dead letters as text for people; whatever a stranger sent is escaped before a terminal sees it."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from schemas.base import Record
from streams.cli.display import columns, moment, plain
from streams.deadletters.choosing import LetterGroup
from streams.deadletters.letters import Letter
from streams.messages import Message

MAX_HEADERS = 50
MAX_HEADER_CHARACTERS = 200
MAX_DETAIL_CHARACTERS = 70
_HEX_WIDTH = 16
_MOSTLY_TEXT = 0.9
_PRINTABLE = range(0x20, 0x7F)


class LetterShown(Letter):
    """A letter with its key, headers and the beginning of its value as escaped text.

    ``obstacle`` says why it can never be replayed; ``preview_bytes`` are so many of the value's bytes.
    """

    key: str | None
    headers: tuple[tuple[str, str], ...]
    preview: str
    preview_bytes: int
    can_be_replayed: bool
    why_not: str = ""


def shown(letter: Letter, message: Message, most: int) -> LetterShown:
    """The letter with at most ``most`` bytes of its value."""
    headers = tuple((escaped(name.encode("utf-8", "replace")), escaped(value)) for name, value in message.headers)
    start = (message.value or b"")[:most]
    return LetterShown(
        **letter.model_dump(),
        key=None if message.key is None else escaped(message.key),
        headers=headers,
        preview=escaped(start) if is_text(start) else hexadecimal(start),
        preview_bytes=len(start),
        can_be_replayed=not letter.obstacle,
        why_not=letter.obstacle,
    )


def escaped(content: bytes) -> str:
    """As text in one line; what is no printable character (controls, directions, broken bytes) as an escape."""
    text = content.decode("utf-8", "backslashreplace")
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def hexadecimal(content: bytes) -> str:
    """Sixteen bytes a line with their place and, beside them, what of it is ASCII."""
    lines = []
    for start in range(0, len(content), _HEX_WIDTH):
        part = content[start : start + _HEX_WIDTH]
        seen = "".join(chr(byte) if byte in _PRINTABLE else "." for byte in part)
        lines.append(f"{start:06x}  {part.hex(' '):<{_HEX_WIDTH * 3 - 1}}  {seen}")
    return "\n".join(lines)


def is_text(content: bytes) -> bool:
    """Whether people would rather read it as text than as numbers."""
    text = content.decode("utf-8", "replace")
    readable = sum(one != "\ufffd" and (one.isprintable() or one in "\n\r\t") for one in text)
    return readable >= _MOSTLY_TEXT * len(text)


def group_table(groups: Sequence[LetterGroup]) -> Table:
    """Counts by topic, stage and reason."""
    table = columns("topic", "stage", "reason", "letters", "open", "first", "last", right=slice(3, 5))
    for group in groups:
        times = (moment(group.first_at), moment(group.last_at))
        names = (Text(plain(name)) for name in (group.topic, group.stage, group.reason))
        table.add_row(*names, f"{group.letters:,}", f"{group.open:,}", *times)
    return table


def letter_table(letters: Sequence[Letter]) -> Table:
    """A line a letter."""
    table = columns("letter", "given up", "message", "stage", "reason", "bytes", "detail", right=slice(5, 6))
    table.columns[0].no_wrap = True  # it is copied into `deadletter show`
    for letter in letters:
        state = f" (replayed {moment(letter.replayed_at)})" if letter.replayed_at else ""
        table.add_row(
            letter.letter,
            moment(letter.at),
            Text(plain(f"{letter.topic} {letter.partition}:{letter.offset}")),
            Text(plain(letter.stage)),
            Text(plain(letter.reason + state)),
            f"{letter.length_bytes:,}",
            Text(escaped(letter.detail.encode("utf-8", "replace"))[:MAX_DETAIL_CHARACTERS]),
        )
    return table


def shown_text(one: LetterShown) -> Text:
    """One letter in full."""
    state = f"replayed {moment(one.replayed_at)}" if one.replayed_at else "open"
    size = f"{one.length_bytes:,} bytes" + (f", {one.kept_bytes:,} kept" if one.kept_bytes < one.length_bytes else "")
    lines = [
        ("letter", f"{one.letter}, given up {moment(one.at)}, {state}"),
        ("message", f"{one.topic} partition {one.partition} offset {one.offset}, recorded {moment(one.recorded_at)}"),
        ("stage", one.stage),
        ("reason", one.reason),
        ("detail", escaped(one.detail.encode("utf-8", "replace"))),
        ("decoder", one.decoder or "(none)"),
        ("content", one.schema_name and f"a record of ours: {one.schema_name}"),
        ("left out", one.concealed and f"value, key and headers (privacy.dead_letter: {one.concealed})"),
        ("replay", one.why_not and f"impossible: {one.why_not}"),
        ("key", "(null)" if one.key is None else one.key[:MAX_HEADER_CHARACTERS]),
        *((f"header {name}", value[:MAX_HEADER_CHARACTERS]) for name, value in one.headers[:MAX_HEADERS]),
        ("", f"and {len(one.headers) - MAX_HEADERS} more headers" if len(one.headers) > MAX_HEADERS else ""),
        ("value", "(null)" if one.is_null else size),
    ]
    text = "\n".join(plain(f"{name:<9} {value}") for name, value in lines if value)
    return Text(f"{text}\n{one.preview}" if one.preview else text)


class Replayed(Record):
    """What became of the letters of a replay, by result."""

    letters: int = 0
    taken_in: int = 0
    sent_again: int = 0
    readable: int = 0
    refused: int = 0
    impossible: int = 0
    gone: int = 0
