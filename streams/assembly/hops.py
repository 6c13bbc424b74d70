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
    to that one.
    """
    calls = [span for span in tree.of_kind(SpanKind.LLM) if output_of(span)]
    if len(calls) < 2:  # noqa: PLR2004 - one call is no chain
        return ()
    order = {span.span_id: number for number, span in enumerate(tree.spans)}
    givers = [span for span in tree.spans if span.span_id in contexts.of_span]
    giver_places = [order[span.span_id] for span in givers]
    tool_places = [order[span.span_id] for span in tools]
    hops = []
    first_giver = first_tool = 0
    for number, call in enumerate(calls):
        end = order[call.span_id] if number < len(calls) - 1 else len(order)
        next_giver, next_tool = bisect(giver_places, end), bisect(tool_places, end)
        hops.append(_hop(call, givers[first_giver:next_giver], range(first_tool, next_tool), contexts.of_span))
        first_giver, first_tool = next_giver, next_tool
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


def _hop(call: Span, own: Sequence[Span], tools: range, of_span: Mapping[str, tuple[int, ...]]) -> Hop:
    indices = dict.fromkeys(index for span in own for index in of_span[span.span_id])
    asked = next((span.query for span in own if span.query), "") or last_user_message(call)
    return Hop(name=call.name, question=asked, passages=tuple(indices), tools=tuple(tools), output=output_of(call))
