"""Several copies of one span to one span, whatever the order in which they came.

Exporters send a span more than once: byte for byte again, or first pending and then complete, or as partial updates.
Copies are put in an order of their own content, so arrival never matters; then the later copy wins field by field.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from schemas.span import Span, SpanKind
from schemas.trace import ToolCall, Versions

LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)
_LATER_WINS = (
    "parent_id", "name", "input", "output", "query", "documents", "messages", "completions", "finish_reason",
    "token_logprobs", "conversation_id", "user_id", "tenant", "roles", "locale", "region", "decoder",
)  # fmt: skip
_UNIONS = ("feedback", "flags")
_PIECES = ("messages", "completions")


def merge_copies(copies: Iterable[Span]) -> Span:
    """One span out of its copies (at least one, all of the same trace and span id).

    A copy without an end comes before one with an end, then by ``said_at`` (else its end, else its start), then by how
    much it says, then by content hash. A later copy wins in every field that it states; messages and completions that
    come one an update are put together; times are widened, and flags, feedback and mapped values are united. The
    position is that of the earliest record.
    """
    known = list(copies)
    ordered = known if len(known) == 1 else sorted({copy.content_hash: copy for copy in known}.values(), key=_order)
    if len(ordered) == 1:
        return ordered[0]
    merged: dict[str, Any] = {name: _last_stated(ordered, name) for name in _LATER_WINS}
    merged |= {name: tuple(dict.fromkeys(item for copy in ordered for item in getattr(copy, name))) for name in _UNIONS}
    merged |= {name: _pieced(ordered, name) or merged[name] for name in _PIECES}
    merged["tool"] = _merged_tool(ordered)
    merged["mapped"] = tuple(dict.fromkeys(value for copy in reversed(ordered) for value in copy.mapped))  # later first
    return ordered[-1].model_copy(
        update={
            **merged,
            "kind": _kind(ordered),
            "versions": merge_versions([copy.versions for copy in reversed(ordered)]),
            "start": min((copy.start for copy in ordered if copy.start), default=None),
            "end": max((copy.end for copy in ordered if copy.end), default=None),
            "said_at": max((copy.said_at for copy in ordered if copy.said_at), default=None),
            "is_update": all(copy.is_update for copy in ordered),
            "is_error": any(copy.is_error for copy in ordered),
            "source": min((copy.source for copy in ordered if copy.source), key=_position, default=None),
        }
    )


def _kind(ordered: Sequence[Span]) -> SpanKind:
    """The last kind that is stated; feedback on a span does not make feedback of it."""
    stated = [copy.kind for copy in ordered if copy.kind is not SpanKind.OTHER]
    own = [kind for kind in stated if kind is not SpanKind.FEEDBACK]
    return (own or stated or [SpanKind.OTHER])[-1]


def _merged_tool(ordered: Sequence[Span]) -> ToolCall | None:
    """A call comes in two parts, too: name and arguments first, the output later."""
    calls = [copy.tool for copy in reversed(ordered) if copy.tool is not None]
    if not calls:
        return None
    return ToolCall(
        name=next((call.name for call in calls if call.name), ""),
        arguments=next((call.arguments for call in calls if call.arguments), ""),
        output=next((call.output for call in calls if call.output is not None), None),
    )


def _pieced(ordered: Sequence[Span], name: str) -> tuple[Any, ...]:
    """Lists that come one item a log record, put together; updates that say when they were written win one by one."""
    stated = [copy for copy in ordered if getattr(copy, name)]
    if not all(copy.is_update and copy.said_at is None and len(getattr(copy, name)) == 1 for copy in stated):
        return ()
    return tuple(dict.fromkeys(getattr(copy, name)[0] for copy in stated))


def merge_versions(candidates: Iterable[Versions]) -> Versions:
    """Field by field the first version that is stated."""
    known = list(candidates)
    fields = {
        name: next((value for one in known if (value := getattr(one, name))), "") for name in Versions.model_fields
    }
    return Versions(**fields)


def _order(copy: Span) -> tuple[bool, datetime, int, str]:
    moment = copy.said_at or copy.end or copy.start or LONG_AGO
    stated = sum(bool(getattr(copy, name)) for name in _LATER_WINS)
    return copy.end is not None, moment, stated, copy.content_hash


def _last_stated(ordered: Sequence[Span], name: str) -> Any:
    """The value of the last copy that states the field; an empty list of documents is a statement."""
    values = [getattr(copy, name) for copy in ordered]
    stated = [value for value in values if (value is not None if name == "documents" else bool(value))]
    return stated[-1] if stated else values[-1]


def _position(source: Any) -> tuple[datetime, str, int, int]:
    return source.recorded_at, source.topic, source.partition, source.offset
