"""Keys that belong to no convention of this area: OpenTelemetry's own for session, user and release, and bare ones."""

from schemas.span import SpanKind
from streams.sources.conventions.langfuse import is_judge
from streams.sources.conventions.reading import Reading, given, names_of
from streams.sources.own_calls import is_own_span
from streams.sources.raw import RawSpan

OWN_SERVICE = "groundwatch"
OWN_ATTRIBUTE = "groundwatch.layer"
_NAMES = {
    "conversation_id": ("session.id", "conversation.id", "thread.id"),
    "user_id": ("user.id", "enduser.id"),
}
_RESOURCE_NAMES = {"app": ("service.version",)}


def read_plain(raw: RawSpan) -> Reading:
    """What OpenTelemetry's general keys say, and bare ``input`` and ``output``."""
    found = raw.attributes
    flags: set[str] = set()
    return Reading(
        convention="plain",
        kind=None,
        input=given(found, "input"),
        output=given(found, "output"),
        names={**names_of(raw.resource, _RESOURCE_NAMES, flags), **names_of(found, _NAMES, flags)},
        flags=frozenset(flags),
    )


def is_own_or_judge(raw: RawSpan) -> bool:
    """Whether the span is one of our own calls or a known judge's: judging it would never end."""
    is_ours = OWN_ATTRIBUTE in raw.attributes or raw.resource.get("service.name") == OWN_SERVICE
    return is_ours or is_judge(raw) or is_own_span(raw.attributes)


def kind_of(raw: RawSpan, stated: list[SpanKind]) -> SpanKind:
    """The kind of a span: an evaluator if anything says so, else the first kind that says more than chain or other."""
    if SpanKind.EVALUATOR in stated or is_own_or_judge(raw):
        return SpanKind.EVALUATOR
    telling = [kind for kind in stated if kind not in (SpanKind.OTHER, SpanKind.CHAIN)]
    if telling:
        return telling[0]
    return SpanKind.CHAIN if SpanKind.CHAIN in stated else SpanKind.OTHER
