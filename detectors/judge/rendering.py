"""What a judge is shown of a claim: one JSON object, in which nobody's words can end their own text.

A quotation mark or a line end in a passage is escaped by JSON; the signs with which chat templates mark roles
(``<|im_end|>``, ``[INST]``) are escaped too, since some servers read them inside of messages.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_ESCAPED = re.compile(
    "<"
    r"|\[(?=/?[A-Z][A-Z_]{2,}\])"
    "|[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\U000e0000-\U000e007f]"
)
"""Signs of templates, and what a reader of the prompt would not see: controls, changes of direction, tags."""
_ASTRAL = 0x10000


@dataclass(frozen=True, slots=True)
class Shown:
    """A passage, or a stretch of it, as it stands in the prompt; offsets are those of the passage."""

    passage: int
    start: int
    end: int
    text: str
    is_part: bool = False


def id_of(place: int) -> str:
    """What the prompt calls the evidence at a place."""
    return f"P{place + 1}"


def task_text(
    claim: str,
    shown: Sequence[Shown],
    *,
    question: str = "",
    before: str = "",
    not_shown: Mapping[str, Any] | None = None,
) -> str:
    """The message with the claim to be judged; read as JSON, it gives back every text sign by sign."""
    passages = [
        {"id": id_of(place), "text": one.text, **({"is_part": True} if one.is_part else {})}
        for place, one in enumerate(shown)
    ]
    fields: dict[str, Any] = {"question": question, "before": before, "not_shown": not_shown}
    given = {name: value for name, value in fields.items() if value}
    return escaped({**given, "passages": passages, "claim": claim})


def escaped(value: Any) -> str:
    """JSON in one line, legible in every script."""
    return _ESCAPED.sub(_escape, json.dumps(value, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < _ASTRAL:
        return f"\\u{code:04x}"
    high, low = divmod(code - _ASTRAL, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
