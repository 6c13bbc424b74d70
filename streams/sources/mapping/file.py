"""Mapping files: YAML that says where the spans or traces of a document are and what their fields are called."""

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from schemas.errors import ConfigError
from schemas.span import SpanKind
from streams.sources.mapping.compiled import Group, Mapper, Member
from streams.sources.mapping.expressions import Expression, compile_expression
from streams.sources.mapping.moments import zone_of

PRESETS = ("langsmith", "langfuse", "mlflow", "langchain", "llamaindex", "rag_json")
_BOTH = {
    "trace_id", "conversation_id", "user_id", "tenant", "roles", "locale", "region", "intent", "tier", "model",
    "prompt", "corpus", "retriever", "app", "feedback", "flags", "metadata", "tags", "is_judge",
}  # fmt: skip
SPAN_FIELDS = frozenset(_BOTH | {
    "span_id", "parent_id", "name", "kind", "start", "end", "said_at", "is_update", "is_error", "input", "output",
    "query", "documents", "tool_name", "arguments", "finish_reason", "attributes",
})  # fmt: skip
TRACE_FIELDS = frozenset(_BOTH | {
    "ts", "question", "answer", "passages", "packed_prompt", "alternatives", "tool_calls", "total_ms",
})  # fmt: skip
_NEEDED = {"spans": ("trace_id", "span_id"), "trace": ("trace_id",)}


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class _Group(_Part):
    """Where items are, which of them are meant, and what is different about them."""

    items: list[str]
    when: str = ""
    ignore: bool = False
    fields: dict[str, str] = {}

    @field_validator("items", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


class _File(_Part):
    """The whole file."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    kind: Literal["spans", "trace"]
    whole: bool | str = False
    naive_time: str = "utc"
    kinds: dict[str, SpanKind] = {}
    groups: list[_Group] = Field(default=[_Group(items=["@"])], min_length=1, max_length=100)
    fields: dict[str, str] = {}
    fixes: dict[str, str] = {}


@lru_cache(maxsize=64)
def preset(name: str, naive_time: str = "") -> Mapper:
    """The mapping that is shipped under this name, one of ``PRESETS``."""
    place = files("streams.sources.mapping") / "presets" / f"{name}.yaml"
    return parse_mapping(place.read_text(encoding="utf-8"), f"preset {name}", naive_time)


def load_mapping(path: Path, naive_time: str = "") -> Mapper:
    """The mapping in a file; ``naive_time`` goes before what the file says.

    Raises ConfigError with file, key, position in the expression, and what to write instead.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from error
    return parse_mapping(text, str(path), naive_time)


def parse_mapping(text: str, origin: str, naive_time: str = "") -> Mapper:
    """The mapping in YAML ``text``; ``origin`` begins every message. Raises ConfigError."""
    try:
        content = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{origin}: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{origin}: expected `key: value` lines, found {type(content).__name__}; see docs/mapping.md")
    try:
        file = _File.model_validate(content)
    except ValidationError as error:
        raise ConfigError("\n".join(_fault(origin, fault) for fault in error.errors(include_url=False))) from error
    return _Compiler(origin).mapper(file, naive_time)


def _fault(origin: str, fault: Any) -> str:
    key = _key(fault["loc"])
    if fault["type"] == "extra_forbidden":
        return f"{origin}: unknown key {key}; the keys are described in docs/mapping.md"
    if fault["type"] == "missing":
        return f"{origin}: {key} is missing; see docs/mapping.md"
    if fault["type"] == "string_type":
        return f"{origin}: {key} must be text; put an expression into quotes"
    return f"{origin}: {key}: {fault['msg'].removeprefix('Value error, ')}"


def _key(location: Any) -> str:
    key = ""
    for part in location:
        key += f"[{part}]" if isinstance(part, int) else f".{part}" if key else str(part)
    return key


class _Compiler:
    """Compiles one file, naming keys in its errors."""

    def __init__(self, origin: str) -> None:
        self._origin = origin

    def mapper(self, file: _File, naive_time: str) -> Mapper:
        allowed = SPAN_FIELDS if file.kind == "spans" else TRACE_FIELDS
        shared = self._fields(file.fields, "fields", allowed, file.kind)
        self._known(file.fixes, "fixes", allowed, file.kind)
        groups = [self._group(group, f"groups[{place}]", shared, file) for place, group in enumerate(file.groups)]
        return Mapper(
            name=file.name,
            is_trace=file.kind == "trace",
            whole=file.whole if isinstance(file.whole, bool) else self._expression(file.whole, "whole"),
            zone=self._zone(naive_time or file.naive_time),
            kinds={key.casefold(): kind for key, kind in file.kinds.items()},
            members=_members(groups),
            fixes=file.fixes,
        )

    def _group(self, group: _Group, key: str, shared: Mapping[str, Expression], file: _File) -> Group:
        allowed = SPAN_FIELDS if file.kind == "spans" else TRACE_FIELDS
        fields = {**shared, **self._fields(group.fields, f"{key}.fields", allowed, file.kind)}
        lacking = [name for name in _NEEDED[file.kind] if name not in fields]
        if lacking and not group.ignore:
            raise ConfigError(f"{self._origin}: {key} has no field {lacking[0]}; set it there or under `fields`")
        if not group.items:
            raise ConfigError(f"{self._origin}: {key}.items is empty; write @ for the document itself")
        return Group(
            items=tuple(self._expression(text, f"{key}.items") for text in group.items),
            when=self._expression(group.when, f"{key}.when") if group.when else None,
            is_ignored=group.ignore,
            fields=fields,
        )

    def _fields(self, fields: Mapping[str, str], key: str, allowed: frozenset[str], kind: str) -> dict[str, Expression]:
        self._known(fields, key, allowed, kind)
        return {name: self._expression(text, f"{key}.{name}") for name, text in fields.items()}

    def _known(self, fields: Mapping[str, str], key: str, allowed: frozenset[str], kind: str) -> None:
        unknown = next((name for name in fields if name not in allowed), None)
        if unknown is not None:
            raise ConfigError(
                f"{self._origin}: {key}.{unknown}: no such field of kind {kind}; there are {', '.join(sorted(allowed))}"
            )

    def _expression(self, text: str, key: str) -> Expression:
        try:
            return compile_expression(text)
        except ConfigError as error:
            raise ConfigError(f"{self._origin}: {key} = {text[:80]!r}: {error}") from error

    def _zone(self, text: str) -> Any:
        try:
            return zone_of(text)
        except ConfigError as error:
            raise ConfigError(f"{self._origin}: naive_time = {error}") from error


def _members(groups: list[Group]) -> tuple[Member, ...]:
    """Groups by where their items are: an item is read by the first of them that means it."""
    by_source: dict[str, Member] = {}
    for group in groups:
        for items in group.items:
            known = by_source.get(items.source)
            by_source[items.source] = Member(items, (*known.groups, group) if known else (group,))
    return tuple(by_source.values())
