"""JSON passages as ``key: value`` spans with offsets, found by scanning, so that broken JSON still gives lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_ITEM = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?|[{}\[\],]|[^\s"{}\[\],:]+', re.DOTALL)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|_")


@dataclass(frozen=True, slots=True)
class KeyValue:
    """A value at ``start:end`` under ``key`` inside ``path`` (outer keys), as words; it reads from ``label_start``."""

    key: str
    path: str
    label_start: int
    start: int
    end: int


def key_value_spans(text: str) -> Iterator[KeyValue]:
    """Every value of a JSON object or array with its keys; nothing when the text does not look like JSON.

    A value of ``true`` gives its key alone, a list of scalars one span a scalar.
    """
    if not text.lstrip()[:1] or text.lstrip()[0] not in "{[" or '":' not in text:
        return
    keys: list[str] = []
    key, key_start = "", 0
    for match in _ITEM.finditer(text):
        item = match.group()
        if match.group(2) is not None:
            key, key_start = _CAMEL.sub(" ", match.group(1)), match.start()
        elif item in "{[":
            keys.append(key if item == "{" else "")
            key = "" if item == "{" else key
        elif item in "}]":
            key = keys.pop() if keys else ""
        elif item != ",":
            start, end = match.span(1) if match.group(1) is not None else match.span()
            label_start = key_start if key and key_start < start else start
            yield KeyValue(key, " ".join(keys[-2:]), label_start, start, end)
