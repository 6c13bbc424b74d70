"""GenAI content in events: on spans, or as log records that carry a span's ids and arrive on another topic.

Up to 1.36 each message was an event of its own; before that, prompt and completion were one event each; since 1.37 one
event holds all content. A log record says no more than its own message: assembly adds them up by trace and span id.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from schemas.span import Feedback, SpanKind
from streams.sources.conventions.genai import read_attributes
from streams.sources.conventions.messages import Said, messages_of
from streams.sources.conventions.reading import Reading
from streams.sources.conventions.values import as_text, name, number, parsed
from streams.sources.raw import Json, RawSpan

DETAILS = "gen_ai.client.inference.operation.details"
EVALUATION = "gen_ai.evaluation.result"
_MESSAGES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_CHOICE = "gen_ai.choice"
_PROMPT, _COMPLETION = "gen_ai.content.prompt", "gen_ai.content.completion"
_NAMES = frozenset({DETAILS, EVALUATION, _CHOICE, _PROMPT, _COMPLETION, *_MESSAGES})
Event = tuple[str, Mapping[str, Json]]


def read_genai_events(raw: RawSpan) -> Reading | None:
    """What the events of a span, or the event that a log record is, say; None when there is none."""
    flags: set[str] = set()
    events = list(_events(raw, flags))
    if not events:
        return None
    details = next((read_attributes(content, "genai") for event, content in events if event == DETAILS), None)
    prompt_flags: set[str] = set()
    messages = tuple(_messages(events, prompt_flags))
    completions = tuple(_completions(events, flags))
    feedback = tuple(_feedback(content, flags) for event, content in events if event == EVALUATION)
    has_content = any(event != EVALUATION for event, _ in events)
    return Reading(
        convention="genai_events",
        kind=(details and details.kind) or (SpanKind.LLM if has_content else None),
        messages=(details.messages if details else ()) or messages,
        prompt_flags=frozenset(prompt_flags | (details.prompt_flags if details else set())),
        completions=(details.completions if details else ()) or completions,
        finish_reason=(details.finish_reason if details else "")
        or next((said.finish_reason for said in completions if said.finish_reason), ""),
        names=details.names if details else {},
        feedback=feedback,
        flags=frozenset(flags | (details.flags if details else set())),
        has_lists=not raw.is_log and has_content,
    )


def _events(raw: RawSpan, flags: set[str]) -> Iterator[Event]:
    if raw.is_log:
        if raw.name in _NAMES:
            yield raw.name, {**raw.attributes, **_body(raw.body, flags)}
        return
    for event in raw.events:
        if event.name in _NAMES:
            yield event.name, {**event.attributes, **_body(event.attributes.get("gen_ai.event.content"), flags)}


def _body(body: Json, flags: set[str]) -> dict[str, Any]:
    """A log record's body, or the attribute in which some libraries keep it: a map, JSON of one, or text alone."""
    content = parsed(body, flags)
    if isinstance(content, dict):
        return content
    return {"content": content} if isinstance(content, (str, list)) and content else {}


def _messages(events: Sequence[Event], flags: set[str]) -> Iterator[Said]:
    for event, content in events:
        if event in _MESSAGES:
            role = _MESSAGES[event]
            yield from messages_of({**content, "role": content.get("role") or role}, flags, role)
        elif event == _PROMPT:
            yield from messages_of(content.get("gen_ai.prompt", content.get("content")), flags)


def _completions(events: Sequence[Event], flags: set[str]) -> Iterator[Said]:
    """Choices in the order of their index, which need not be the order of the events."""
    choices = [content for event, content in events if event == _CHOICE]
    for content in sorted(choices, key=lambda choice: number(choice.get("index")) or 0.0):
        message = parsed(content.get("message"), flags)
        said = messages_of(content if message is None else message, flags, "assistant")
        if isinstance(message, dict) and not said:
            said = messages_of({"role": "assistant", **message}, flags, "assistant")
        reason = name(content.get("finish_reason"), flags)
        yield from (Said("assistant", one.content, reason or one.finish_reason) for one in said[:1])
    for event, content in events:
        if event == _COMPLETION:
            yield from messages_of(content.get("gen_ai.completion", content.get("content")), flags, "assistant")


def _feedback(content: Mapping[str, Json], flags: set[str]) -> Feedback:
    """A foreign evaluator's result: a lead for review."""
    value = content.get("gen_ai.evaluation.score.label", content.get("gen_ai.evaluation.score.value"))
    return Feedback(
        name=name(content.get("gen_ai.evaluation.name"), flags) or "evaluation",
        value="" if value is None else as_text(value),
        comment=as_text(content.get("gen_ai.evaluation.explanation") or ""),
        is_from_user=False,
    )
