"""What one convention says about a span, field by field and not yet shaped: the kind decides later what is read out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from schemas.span import Feedback, SpanKind
from streams.sources.conventions.messages import Said
from streams.sources.conventions.values import name, parsed
from streams.sources.raw import Json


class Given(NamedTuple):
    """A value as it was sent; ``is_json`` where the convention encodes every value so."""

    value: Json
    is_json: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """None and empty mean that the convention does not say. ``names`` holds ids and versions by the span's own words.

    ``has_lists`` is True where content lies in many attributes or events, of which a limit may have dropped some.
    """

    convention: str
    kind: SpanKind | None = None
    input: Given | None = None
    output: Given | None = None
    query: Given | None = None
    documents: Given | None = None
    messages: tuple[Said, ...] = ()
    prompt_flags: frozenset[str] = frozenset()
    """What had to be said of ``messages``; it counts where they are used."""
    completions: tuple[Said, ...] = ()
    tool_name: str = ""
    arguments: Given | None = None
    finish_reason: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    feedback: tuple[Feedback, ...] = ()
    flags: frozenset[str] = frozenset()
    has_lists: bool = False


def given(attributes: Mapping[str, Any], *keys: str, is_json: bool = False) -> Given | None:
    """The first of ``keys`` that is there, and is not null."""
    return next((Given(attributes[key], is_json) for key in keys if attributes.get(key) is not None), None)


def names_of(
    found: Mapping[str, Json], table: Mapping[str, tuple[str, ...]], flags: set[str], *, is_json: bool = False
) -> dict[str, str]:
    """By field of the table the first name that one of its keys holds; fields without one are left out."""
    named = {}
    for kind, keys in table.items():
        for key in keys:
            if key in found and (
                text := name(parsed(found[key], flags, is_json=True) if is_json else found[key], flags)
            ):
                named[kind] = text
                break
    return named


def prompt_name(found: Mapping[str, Json], name_key: str, version_key: str, flags: set[str]) -> dict[str, str]:
    """The prompt's version as ``name@version``, or the one of the two that is said."""
    parts = (name(found.get(key), flags) for key in (name_key, version_key))
    text = "@".join(part for part in parts if part)
    return {"prompt": text} if text else {}
