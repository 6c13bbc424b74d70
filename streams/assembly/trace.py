"""The spans of one trace to a Trace: one extraction contract for every format, whatever the order of the spans."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from schemas.labels import RiskTier
from schemas.span import Span, SpanKind
from schemas.trace import MAX_ITEMS, Passage, Timings, ToolCall, Trace, Versions
from streams.assembly.contexts import Contexts, collect_contexts, with_id
from streams.assembly.hops import find_hops, last_user_message, output_of
from streams.assembly.merge import LONG_AGO, merge_versions
from streams.assembly.prompts import PromptLayout, ReadPrompt, read_prompt
from streams.assembly.tree import Tree, build_tree, ids_above

UNMAPPED = "unmapped"
_SPEAKING = frozenset({SpanKind.CHAIN, SpanKind.AGENT, SpanKind.LLM, SpanKind.OTHER})
_DECIDING_FLAGS = frozenset({"no_content", "redacted", "truncated"})


@dataclass(frozen=True, slots=True)
class AssemblyRules:
    """What configuration adds: ``tier_of(intent, tier as traced)`` gives the risk tier of a trace."""

    tier_of: Callable[[str, str], RiskTier] = lambda _intent, _traced: RiskTier.MEDIUM
    layouts: tuple[PromptLayout, ...] = (PromptLayout(),)


def assemble(copies: Iterable[Span], rules: AssemblyRules, recorded_at: datetime) -> Trace | None:
    """The trace; None when nothing in it is part of an answer, as in the trace of a judge.

    ``ts`` is the end of the root, else of the last span, else ``recorded_at``. Revision, close reason and late spans
    are the caller's. More passages or tool calls than a trace holds are cut, flagged ``truncated``. Raises
    ValidationError for what no trace can hold, such as the name of a tenant that is too long.
    """
    tree = build_tree(copies)
    if tree is None:
        return None
    final = _final_call(tree)
    contexts = collect_contexts(tree)
    prompt = "\n\n".join(message.content for message in final.messages) if final and final.messages else None
    read = read_prompt(prompt, rules.layouts) if prompt else None
    passages, context_flags = _passages(contexts, read)
    question = _question(tree, final, read)
    all_tools = [span for span in tree.of_kind(SpanKind.TOOL) if span.tool is not None]
    tools = all_tools[:MAX_ITEMS]
    cut = ("truncated",) if contexts.has_more or len(all_tools) > MAX_ITEMS else ()
    answer, answer_source = _answer(tree, final)
    around = ids_above(final, tree) if final else frozenset()
    concerned = {answer_source.span_id, *contexts.of_span}
    if final is not None and "passages_from_prompt" in context_flags:
        concerned.add(final.span_id)
    mapped = _mapped(tree)
    intent = mapped.get("intent") or UNMAPPED
    return Trace(
        trace_id=tree.root.trace_id,
        ts=_event_time(tree) or recorded_at,
        question=question,
        rewrites=_rewrites(tree, question),
        answer=answer,
        passages=passages,
        packed_prompt=prompt,
        tool_calls=tuple(_tool_call(span, answer, around) for span in tools),
        hops=find_hops(tree, contexts, tools),
        alternatives=final.completions[1:] if final else (),
        token_logprobs=final.token_logprobs if final else (),
        intent=intent,
        tier=rules.tier_of(intent, mapped.get("tier", "")),
        conversation_id=_first(tree, "conversation_id"),
        user_id=_first(tree, "user_id"),
        tenant=mapped.get("tenant") or _first(tree, "tenant"),
        roles=_roles(tree, mapped),
        locale=mapped.get("locale") or _first(tree, "locale"),
        region=mapped.get("region") or _first(tree, "region"),
        versions=_versions(tree, final, mapped),
        timings=_timings(tree),
        feedback="; ".join(_feedback(tree)),
        source=tree.root.source,
        decoder=tree.root.decoder,
        flags=tuple(dict.fromkeys((*_flags(tree, concerned, has_answer=bool(answer)), *context_flags, *cut))),
    )


def _final_call(tree: Tree) -> Span | None:
    """The model call that wrote the answer: the last to end among those that wrote something, else the last at all."""
    calls = tree.of_kind(SpanKind.LLM)
    writing = [span for span in calls if output_of(span).strip()] or list(calls)
    return max(writing, key=lambda span: span.end or span.start or LONG_AGO) if writing else None


def _question(tree: Tree, final: Span | None, read: ReadPrompt | None) -> str:
    """The root's input; else the user's newest message, without the contexts packed into it; else what was searched."""
    root = tree.root
    if tree.is_rooted and root.kind in _SPEAKING - {SpanKind.LLM} and (root.input or "").strip():
        return root.input or ""
    asked = last_user_message(final) if final else ""
    queries = [span.query for span in tree.spans if span.query and span.query.strip()]
    packed = next((query for query in sorted(queries, key=len, reverse=True) if query in asked), "")
    return packed or (read.question if read else "") or asked or (queries[0] if queries else "") or root.input or ""


def _answer(tree: Tree, final: Span | None) -> tuple[str | None, Span]:
    """The root's output, else what the final call wrote; and the span that it came from."""
    root = tree.root
    if tree.is_rooted and root.kind in _SPEAKING:
        written = output_of(root) if root.kind is SpanKind.LLM else root.output or ""
        if written.strip():
            return written, root
    if final is not None and output_of(final).strip():
        return output_of(final), final
    return (root.output if root.kind in _SPEAKING else None), root


def _passages(contexts: Contexts, read: ReadPrompt | None) -> tuple[tuple[Passage, ...] | None, tuple[str, ...]]:
    """The documents; where the trace has none with text, the contexts of the prompt take their place, or lend it."""
    found = contexts.passages
    if found is not None and not contexts.has_no_text:
        return found, ()
    texts = read.contexts if read else ()
    if not texts:
        return (None, ("no_document_text",)) if found else (found, ())
    if found and len(found) == len(texts):
        lent = zip(found, texts, strict=True)
        return tuple(passage.model_copy(update={"text": text}) for passage, text in lent), ("passages_from_prompt",)
    passages = tuple(with_id(Passage(text=text, rank=rank)) for rank, text in enumerate(texts))
    return passages, ("passages_from_prompt",)


def _tool_call(span: Span, answer: str | None, around: Collection[str]) -> ToolCall:
    """The call; one around the call that wrote the answer, and that gave this very answer, had given nothing by then.

    An answer is no evidence for itself.
    """
    call = span.tool or ToolCall(name=span.name)
    is_answer = span.span_id in around and call.output is not None and call.output.strip() == (answer or "").strip()
    return call.model_copy(update={"output": None}) if is_answer else call


def _event_time(tree: Tree) -> datetime | None:
    if tree.is_rooted and tree.root.end is not None:
        return tree.root.end
    known = [moment for span in tree.spans if (moment := span.end or span.start) is not None]
    return max(known, default=None)


def _rewrites(tree: Tree, question: str) -> tuple[str, ...]:
    queries = (span.query for span in tree.of_kind(SpanKind.RETRIEVER) if span.query)
    return tuple(dict.fromkeys(query for query in queries if query.strip() != question.strip()))[:MAX_ITEMS]


def _first(tree: Tree, name: str) -> str:
    spans = (tree.root, *tree.spans)
    return next((value for span in spans if (value := getattr(span, name))), "")


def _mapped(tree: Tree) -> dict[str, str]:
    """By field the value of the rule that comes first in its list; among equals the root's, then the earliest."""
    values = [value for span in (tree.root, *tree.spans, *tree.asides) for value in span.mapped]
    best: dict[str, str] = {}
    for value in sorted(values, key=lambda value: value.rank):  # sorted() keeps the order of equals
        best.setdefault(value.field, value.value)
    return best


def _roles(tree: Tree, mapped: dict[str, str]) -> tuple[str, ...]:
    given = mapped.get("roles", "")
    named = tuple(role.strip() for role in given.split(",") if role.strip())
    return named or next((span.roles for span in (tree.root, *tree.spans) if span.roles), ())


def _versions(tree: Tree, final: Span | None, mapped: dict[str, str]) -> Versions:
    stated = Versions(**{name: mapped.get(name, "") for name in Versions.model_fields})
    others = [final.versions] if final else []
    return merge_versions([stated, *others, tree.root.versions, *(span.versions for span in tree.spans)])


def _timings(tree: Tree) -> Timings:
    root = tree.root
    total = _milliseconds(root) if tree.is_rooted else None
    return Timings(
        retrieval_ms=_sum(tree.of_kind(SpanKind.RETRIEVER, SpanKind.RERANKER)),
        generation_ms=_sum(tree.of_kind(SpanKind.LLM)),
        total_ms=total,
    )


def _sum(spans: Sequence[Span]) -> float | None:
    durations = [duration for span in spans if (duration := _milliseconds(span)) is not None]
    return sum(durations) if durations else None


def _milliseconds(span: Span) -> float | None:
    if span.start is None or span.end is None or span.end < span.start:
        return None
    return (span.end - span.start) / timedelta(milliseconds=1)


def _feedback(tree: Tree) -> Iterable[str]:
    for span in (*tree.spans, *tree.asides):
        for said in span.feedback:
            yield f"{said.name}={said.value}" + (f" ({said.comment})" if said.comment else "")


def _flags(tree: Tree, concerned: Collection[str], *, has_answer: bool) -> tuple[str, ...]:
    """Flags that decide an outcome count where they concern answer or passages; elsewhere they begin with ``span_``."""
    flags: dict[str, None] = {}
    for span in tree.spans:
        for flag in span.flags:
            decides = not has_answer if flag == "no_content" else span.span_id in concerned
            flags[flag if decides or flag not in _DECIDING_FLAGS else f"span_{flag}"] = None
    if not tree.is_rooted:
        flags["no_root"] = None
    return tuple(flags)
