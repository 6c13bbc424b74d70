"""What is wrong in one way only is put right, and the trace says so in its flags; everything else is left as it came.

A table names a repair for each field; whether the result is a trace is decided by the schema afterwards.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from schemas.trace import MAX_ITEMS, MAX_TOKENS
from streams.sources.encoding import without_surrogates
from streams.sources.times import event_time, passage_time

ABSENT: Final = object()
"""The field is left out, so that its default holds."""
Flags = dict[str, None]
"""Flags in the order in which they were raised, each once."""
Repair = Callable[[Any, Flags], Any]
_YES_NO = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def repair(found: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The known fields of a JSON object, repaired, and a flag for each kind of repair. Never raises."""
    flags: Flags = {}
    return _fields(_TRACE)(found, flags), tuple(flags)


def _fields(table: Mapping[str, Repair]) -> Repair:
    def repaired(value: Any, flags: Flags) -> Any:
        if not isinstance(value, Mapping):
            return value
        result = {}
        for name, mend in table.items():
            mended = _mended(mend, value.get(name, ABSENT), flags, can_be_null=name in _CAN_BE_NULL)
            if mended is not ABSENT:
                result[name] = mended
        return result

    return repaired


def _mended(mend: Repair, value: Any, flags: Flags, *, can_be_null: bool) -> Any:
    if value is None:
        if not can_be_null:
            flags["null_as_missing"] = None
        return ABSENT
    return value if value is ABSENT else mend(value, flags)


def _each(mend: Repair) -> Repair:
    def repaired(value: Any, flags: Flags) -> Any:
        if not isinstance(value, list) or len(value) > MAX_ITEMS:
            return value
        return [mend(item, flags) for item in value]

    return repaired


def _text(value: Any, flags: Flags) -> Any:
    if not isinstance(value, str):
        return value
    clean = without_surrogates(value)
    if clean is not value:
        flags["surrogate_replaced"] = None
    return clean


def _name(value: Any, flags: Flags) -> Any:
    """Ids and versions are often numbers where they are made; a fraction has more than one spelling, so it stays."""
    if isinstance(value, int) and not isinstance(value, bool):
        flags["number_as_text"] = None
        return str(value)
    return _text(value, flags)


def _number(value: Any, flags: Flags) -> Any:
    """Numbers in quotes are read; NaN, infinities and what is out of range are no measurement and are left out."""
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return _blank(value, flags)
        if "_" in value:  # Python reads it, nobody else does
            return value
        flags["text_as_number"] = None
        value = number
    if isinstance(value, (int, float)) and not isinstance(value, bool) and not _is_finite(value):
        flags["number_dropped"] = None
        return ABSENT
    return value


def _numbers(value: Any, flags: Flags) -> Any:
    """One number without a value makes the list useless: the places of the others would shift."""
    if not isinstance(value, list) or len(value) > MAX_TOKENS:
        return value
    numbers = []
    for item in value:
        number = ABSENT if item is None else _number(item, flags)
        if number is ABSENT:
            flags["number_dropped"] = None
            return ABSENT
        if not isinstance(number, (int, float)):
            return value
        numbers.append(number)
    return numbers


def _count(value: Any, flags: Flags) -> Any:
    number = _number(value, flags)
    if number is ABSENT or isinstance(number, (str, bool)) or not isinstance(number, (int, float)):
        return number
    if number != int(number) or not 0 <= number < 2**31:
        flags["number_dropped"] = None
        return ABSENT
    if isinstance(value, float):
        flags["number_respelled"] = None
    return int(number)


def _yes_no(value: Any, flags: Flags) -> Any:
    if isinstance(value, bool):
        return value
    known = _YES_NO.get(str(value).strip().lower()) if isinstance(value, (str, int)) else None
    if known is None:
        return _blank(value, flags)
    flags["text_as_boolean"] = None
    return known


def _word(value: Any, flags: Flags) -> Any:
    if not isinstance(value, str):
        return value
    word = value.strip().lower()
    if word != value:
        flags["word_respelled"] = None
    return _blank(word, flags)


def _blank(value: Any, flags: Flags) -> Any:
    """An empty text where none can stand means that nothing was said."""
    if isinstance(value, str) and not value.strip():
        flags["blank_as_missing"] = None
        return ABSENT
    return value


def _time(value: Any, flags: Flags) -> Any:
    time, flag = event_time(value)
    if flag:
        flags[flag] = None
    return time


def _optional_time(value: Any, flags: Flags) -> Any:
    time, flag = passage_time(value)
    if flag:
        flags[flag] = None
    return ABSENT if time is None else time


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # an integer beyond the largest float
        return False


_CAN_BE_NULL = frozenset(
    {
        *("answer", "passages", "packed_prompt", "output", "score", "updated_at", "effective_from", "first_seen_at"),
        *("cited", "retrieval_ms", "generation_ms", "total_ms"),
    }
)
_PASSAGE: dict[str, Repair] = {
    **dict.fromkeys(("doc_id", "chunk_id", "version", "superseded_by"), _name),
    "text": _text,
    "score": _number,
    "rank": _count,
    **dict.fromkeys(("updated_at", "effective_from", "first_seen_at"), _optional_time),
    **dict.fromkeys(("archived", "cited"), _yes_no),
    "allowed_roles": _each(_text),
    "trust": _word,
}
_TOOL: dict[str, Repair] = {"name": _text, "arguments": _text, "output": _text}
_TRACE: dict[str, Repair] = {
    **dict.fromkeys(("trace_id", "intent", "conversation_id", "user_id", "tenant", "locale", "region"), _name),
    "ts": _time,
    **dict.fromkeys(("question", "answer", "packed_prompt", "feedback"), _text),
    **dict.fromkeys(("rewrites", "alternatives", "roles", "flags"), _each(_text)),
    "passages": _each(_fields(_PASSAGE)),
    "tool_calls": _each(_fields(_TOOL)),
    "token_logprobs": _numbers,
    "tier": _word,
    "versions": _fields(dict.fromkeys(("model", "prompt", "corpus", "retriever", "app"), _name)),
    "timings": _fields(dict.fromkeys(("retrieval_ms", "generation_ms", "total_ms"), _number)),
}
