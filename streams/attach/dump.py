"""A sample out of a file: one message a line (JSON Lines, plain or gzip), or one JSON or binary document as a message.

A list of documents counts as that many messages, where its format knows no lists.
"""

import gzip
import json
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from schemas.errors import ConfigError, InvalidMessage, NotReached
from streams.attach.sample import Sample
from streams.messages import Message
from streams.sources.json_text import load
from streams.sources.sniffing import Encoding, shape_of

MAX_FILE_BYTES = 256_000_000
"""Of a file that is one document, and of a line; unpacked."""
_LOOKED_AT = 50
"""Lines among which one of JSON shows that a file is lines."""
_GZIP = b"\x1f\x8b"
_LISTS = frozenset({Encoding.LANGSMITH, Encoding.MLFLOW, Encoding.LANGFUSE, Encoding.LANGCHAIN, Encoding.LLAMAINDEX})
"""Formats whose mapping reads a list as one message as well as its parts."""


def read_dump(file: Path, topic: str, count: int, now: datetime) -> Sample:
    """The first ``count`` messages, as if they lay on ``topic`` with line numbers for offsets and ``now`` as time.

    Raises ConfigError for a file that cannot be read, NotReached for one without content.
    """
    try:
        with file.open("rb") as raw:
            is_packed = raw.read(len(_GZIP)) == _GZIP
            raw.seek(0)
            stream: BinaryIO = gzip.GzipFile(fileobj=raw) if is_packed else raw  # type: ignore[assignment]  # reads like one
            values = list(islice(_values(stream), count))
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"cannot read {file}: {reason}; give JSON Lines, plain or gzip, or one document") from error
    if not values:
        raise NotReached(f"{file} is empty; give a file with messages of the topic")
    messages = [Message(topic, 0, number, None, value, (), now) for number, value in values]
    return Sample(tuple(messages), is_file=True)


def _values(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Values with their line numbers; the first line tells whether lines or the whole are messages."""
    skipped, first = b"", stream.readline(MAX_FILE_BYTES)
    while first and not first.strip():
        skipped, first = skipped + first, stream.readline(MAX_FILE_BYTES)
    if not first:
        return
    if not _is_json(first):  # the line feed before it may be the first byte of protobuf
        yield from _parts(_bounded(skipped + first + stream.read(MAX_FILE_BYTES + 1)))
        return
    rest = stream.readline(MAX_FILE_BYTES)
    if not rest:
        yield from _parts(first)
        return
    number = skipped.count(b"\n") + 1
    yield number, first.strip()
    number += 1
    while rest:
        if rest.strip():
            yield number, rest.strip()
        rest = stream.readline(MAX_FILE_BYTES)
        number += 1


def _bounded(content: bytes) -> bytes:
    if len(content) > MAX_FILE_BYTES:
        raise ConfigError(
            f"the file is one document of more than {MAX_FILE_BYTES // 1_000_000} MB; give one message a line"
        )
    return content


def _parts(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The documents of a list, else the whole."""
    try:
        document, is_dirty = load(content)
    except InvalidMessage:
        lines = content.split(b"\n")
        is_lines = any(_is_json(line) for line in lines[:_LOOKED_AT])
        parts = enumerate(map(bytes.strip, lines), start=1) if is_lines else [(1, content)]
        yield from ((number, part) for number, part in parts if part)
        return
    is_split = isinstance(document, list) and not is_dirty and shape_of(document) not in _LISTS
    if not is_split:
        yield 1, content.strip()
        return
    for number, part in enumerate(document, start=1):
        yield number, json.dumps(part).encode()


def _is_json(line: bytes) -> bool:
    """Whether a line is a JSON document of its own; a bad first line among good ones is too, by its brackets."""
    stripped = line.strip()
    if stripped[:1] not in (b"{", b"["):
        return False
    try:
        load(stripped)
    except InvalidMessage:
        return stripped[-1:] in (b"}", b"]") and len(stripped) > 2  # noqa: PLR2004 - {} and [ alone begin documents
    return True
