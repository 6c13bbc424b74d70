"""The steps of an answer made in several: each model call with what was retrieved and called for it."""

from bisect import bisect
from collections.abc import Mapping, Sequence

from schemas.span import Span, SpanKind
from schemas.trace import MAX_ITEMS, Hop
from streams.assembly.contexts import Contexts
from streams.assembly.tree import Tree


def find_hops(tree: Tree, contexts: Contexts, tools: Sequence[Span]) -> tuple[Hop, ...]:
    """The hops in order, the last model call included; empty unless two calls were given something of their own.

    A passage or tool output belongs to the first model call that begins after it; what follows the last call belongs
    to that one. The output of a tool that makes model calls itself, as another agent does, comes after these.
    """
    calls = [span for span in tree.of_kind(SpanKind.LLM) if output_of(span)]
    if len(calls) < 2:  # noqa: PLR2004 - one call is no chain
        return ()
    order = {span.span_id: number for number, span in enumerate(tree.spans)}
    ends = [order[call.span_id] for call in calls]
    last_inside = _last_inside(calls, tools, tree)
    own_givers: list[list[Span]] = [[] for _ in calls]
    own_tools: list[list[int]] = [[] for _ in calls]
    for span in tree.spans:
        if span.span_id in contexts.of_span:
            own_givers[min(bisect(ends, order[span.span_id]), len(calls) - 1)].append(span)
    for index, tool in enumerate(tools):
        after = last_inside.get(tool.span_id, order[tool.span_id])
        own_tools[min(bisect(ends, after), len(calls) - 1)].append(index)
    hops = [
        _hop(call, givers, places, contexts.of_span)
        for call, givers, places in zip(calls, own_givers, own_tools, strict=True)
    ]
    sourced = [hop for hop in hops if hop.passages or hop.tools]
    if len(sourced) < 2:  # noqa: PLR2004 - as above
        return ()
    return tuple(sourced if sourced[-1] is hops[-1] else [*sourced, hops[-1]])[-MAX_ITEMS:]


def output_of(span: Span) -> str:
    """What a model call wrote: its first completion, else its output."""
    return (span.completions[0] if span.completions else span.output) or ""


def last_user_message(span: Span) -> str:
    """The newest message of the user in a model's input, empty when there is none."""
    return next((message.content for message in reversed(span.messages) if message.role in {"user", "human"}), "")


def _last_inside(calls: Sequence[Span], tools: Sequence[Span], tree: Tree) -> dict[str, int]:
    """By tool the place of the last model call below it. Each span is walked over once; a circle ends the walk."""
    places = {span.span_id: number for number, span in enumerate(tree.spans)}
    ids = {tool.span_id for tool in tools}
    found: dict[str, int] = {}
    walked: set[str] = set()
    for call in reversed(calls):
        span = tree.by_id.get(call.parent_id)
        while span is not None and span.span_id not in walked:
            walked.add(span.span_id)
            if span.span_id in ids:
                found[span.span_id] = places[call.span_id]
            span = tree.by_id.get(span.parent_id)
    return found


def _hop(call: Span, own: Sequence[Span], tools: Sequence[int], of_span: Mapping[str, tuple[int, ...]]) -> Hop:
    indices = dict.fromkeys(index for span in own for index in of_span[span.span_id])
    asked = next((span.query for span in own if span.query), "") or last_user_message(call)
    return Hop(name=call.name, question=asked, passages=tuple(indices), tools=tuple(tools), output=output_of(call))
