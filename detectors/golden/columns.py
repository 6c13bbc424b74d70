"""Rows of any table to golden cases, by a mapping of columns; a row without an id gets one from its content.

An id made so is the same at the next import, so importing a table twice changes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any

from pydantic import ValidationError

from schemas.codec import invalid_message
from schemas.errors import ConfigError
from schemas.golden import GoldenCase

LISTS = frozenset({"required_sources", "forbidden_sources"})
PASSAGES = frozenset({"passages", "given"})
TRANSLATED = frozenset({"answer_label", "is_answerable", "intent", "tier", "split"})
"""Fields with few words, whose cells may be translated."""
OF_LABEL = frozenset({"answer_label", "author", "labelled_at", "note"})
TARGETS = (
    *(name for name in GoldenCase.model_fields if name not in {"format_version", "answer_labels", "claims"}),
    *sorted(OF_LABEL),
)
_TRUE = frozenset({"true", "yes", "y", "1"})
_FALSE = frozenset({"false", "no", "n", "0"})
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Mapped:
    """How rows are read: ``columns`` from our fields to theirs (a.b for a nested one), a field not named is its own.

    ``values`` translate cells of ``TRANSLATED`` fields, ``defaults`` fill fields without a cell, ``separator`` parts
    lists.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)
    separator: str = ";"


def mapped(
    columns: Mapping[str, str], values: Mapping[str, str], defaults: Mapping[str, str], separator: str
) -> Mapped:
    """A checked mapping. Raises ConfigError for a field that cases do not have."""
    for name in (*columns, *defaults):
        if name not in TARGETS:
            raise ConfigError(f"--map, --default: {name!r} is no field of a case; use one of {', '.join(TARGETS)}")
    return Mapped(columns, values, defaults, separator)


def case_of(row: Mapping[str, Any], how: Mapped) -> GoldenCase:
    """One row as a case. Raises ConfigError naming the column, its value and the fix."""
    cells = {name: _cell(row, name, how) for name in TARGETS}
    present = {name: value for name, value in cells.items() if value not in (_MISSING, None, "")}
    fields = {name: _converted(name, value, how) for name, value in present.items() if name not in OF_LABEL}
    if "answer_label" in present:
        fields["answer_labels"] = [_label(present)]
    fields.setdefault("case_id", _id_of(fields))
    try:
        return GoldenCase.model_validate(fields)
    except ValidationError as error:
        raise ConfigError(invalid_message(error).detail) from error


def _cell(row: Mapping[str, Any], name: str, how: Mapped) -> Any:
    column = how.columns.get(name, name)
    value = _at(row, column)
    if value is _MISSING and name in how.columns:
        raise ConfigError(f"{name}: the row has no column {column!r}; it has {', '.join(map(str, row)) or 'none'}")
    if isinstance(value, bool | int):
        value = str(value).lower()
    if isinstance(value, str):
        value = how.values.get(value.strip(), value.strip()) if name in TRANSLATED else value.strip()
    return how.defaults.get(name, _MISSING) if value in (_MISSING, None, "") else value


def _at(row: Mapping[str, Any], column: str) -> Any:
    if column in row:
        return row[column]
    found: Any = row
    for part in column.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return _MISSING
        found = found[part]
    return found


def _converted(name: str, value: Any, how: Mapped) -> Any:
    if name == "is_answerable":
        return _truth(name, value)
    if name in LISTS:
        return _parts(value, how)
    if name in PASSAGES:
        return _passages(name, value)
    return value.casefold() if name in {"tier", "split"} and isinstance(value, str) else value


def _parts(value: Any, how: Mapped) -> Any:
    if not isinstance(value, str):
        return value
    return [part.strip() for part in value.split(how.separator) if part.strip()]


def _truth(name: str, value: Any) -> bool:
    word = str(value).casefold()
    if word in _TRUE | _FALSE:
        return word in _TRUE
    raise ConfigError(f"{name}: {value!r} is neither yes nor no; write true or false, or translate it with --value")


def _passages(name: str, value: Any) -> Any:
    """Texts become passages named by their content, so that the same text has the same id in every row."""
    items = [value] if isinstance(value, str | Mapping) else value
    if not isinstance(items, Sequence):
        raise ConfigError(f"{name}: give a text, a list of texts, or a list of objects with doc_id and text")
    return [{"doc_id": "text-" + _digest(item), "text": item} if isinstance(item, str) else item for item in items]


def _label(present: Mapping[str, Any]) -> dict[str, Any]:
    for name, fix in (("author", "give --author"), ("labelled_at", "give --at")):
        if name not in present:
            raise ConfigError(f"answer_label: a label needs {name}; name its column with --map {name}=COLUMN, or {fix}")
    at = str(present["labelled_at"])
    if not _is_time(at):
        raise ConfigError(f"labelled_at: {at!r} is no time with a zone; write 2026-03-10T12:00Z")
    label = str(present["answer_label"]).casefold()
    return {"label": label, "author": present["author"], "at": at, "note": str(present.get("note", ""))}


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _id_of(fields: Mapping[str, Any]) -> str:
    return "import-" + _digest(
        "\n".join(str(fields.get(name, "")) for name in ("question", "answer", "corpus_version"))
    )


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
