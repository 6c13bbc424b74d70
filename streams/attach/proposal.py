"""What belongs into the configuration: the topics, what their messages are, and where their fields are found."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from schemas.trace import Versions
from streams.assembly.trace import UNMAPPED
from streams.attach.candidates import candidates, places_by_path
from streams.attach.paths import Places, places_in
from streams.attach.presence import states_tier
from streams.attach.reading import Built, Reading, Seen
from streams.attach.report import Candidate, FieldFound, Proposal
from streams.settings import SourceSettings
from streams.sources.sniffing import Encoding

_FORMATS: Mapping[str, str] = {
    **dict.fromkeys((Encoding.OTLP_PROTO, Encoding.OTLP_JSON_TRACES, Encoding.OTLP_JSON_LOGS), "otlp"),
    **dict.fromkeys((Encoding.JAEGER_JSON, Encoding.JAEGER_PROTO), "jaeger"),
    Encoding.NATIVE_JSON: "native",
}
_MAPPED = frozenset({"langsmith", "langfuse", "mlflow", "langchain", "llamaindex", "rag_json"})
_ENOUGH = 20
"""Fewer messages than this do not prove that a topic has one format."""
_FOUND = 0.9
_WORTH = 0.1
"""A rule that adds less than this is none."""
_PROPOSED = ("intent", "tier", "tenant", "roles", "locale", "region", "prompt", "corpus", "retriever", "app")
_TIERS = {
    "low": ("low", "minor", "p3", "p4", "4", "3", "green"),
    "medium": ("medium", "mid", "normal", "moderate", "p2", "2", "yellow"),
    "high": ("high", "critical", "severe", "major", "p0", "p1", "1", "0", "red"),
}
_MAX_HOME_MADE = 40


def propose(
    reading: Reading,
    fields: Sequence[FieldFound],
    max_bytes: int,
    tried: Mapping[str, str],
    own: Sequence[SourceSettings] = (),
) -> Proposal:
    """The proposal beside the entries that there are; ``tried`` names, by topic, a format that was found by trying."""
    found = list(_places(reading, max_bytes))
    traces = len({trace_id for trace_id, _ in found if trace_id}) or len(found)
    known = candidates(places_by_path(found), traces, _having(reading.built))
    present = {field.field: field.share for field in fields}
    rules = {name: rule for name in _PROPOSED if (rule := _rule(name, known.get(name, ()))) is not None}
    met = sorted({one.message.topic for one in reading.seen})
    covered = {topic: entry for topic in met if (entry := _pattern_of(topic, own))}
    topics = [topic for topic in met if topic not in covered]
    sources = [source for topic in topics if (source := _source(topic, reading.seen, rules, tried)) is not None]
    unread = [one for one in reading.seen if not one.is_read and one.encoding == Encoding.OTHER_JSON]
    return Proposal(
        config={"sources": sources} if sources else {},
        candidates=known,
        home_made=tuple(_home_made(unread, max_bytes)),
        notes=(*_notes(rules, known, present), *_covered(covered, rules)),
    )


def _pattern_of(topic: str, own: Sequence[SourceSettings]) -> str:
    """The entry for many topics that decides about this one; an entry of its own behind it would be of no use."""
    first = next((entry for entry in own if entry.fits(topic)), None)
    return first.topic if first is not None and first.topic != topic else ""


def _covered(covered: Mapping[str, str], rules: Mapping[str, Any]) -> Iterator[str]:
    for topic, pattern in covered.items():
        if rules:
            yield f"{topic} has the entry {pattern} under sources: put rules for {', '.join(rules)} there by hand"


def in_effect(own: Sequence[SourceSettings], proposal: Proposal) -> tuple[SourceSettings, ...]:
    """The sources as they would be: what the configuration says of a topic already stays, as ``--write`` leaves it."""
    known = {source.topic: source.model_dump(exclude_unset=True) for source in own}
    made = []
    for source in proposal.config.get("sources", ()):
        said = known.pop(source["topic"], {})
        rules = {**source.get("rules", {}), **said.get("rules", {})}
        made.append(SourceSettings(**{**source, **said, "rules": rules}))
    return (*made, *(source for source in own if source.topic in known))


def _places(reading: Reading, max_bytes: int) -> Iterator[tuple[str, Places]]:
    for one in reading.seen:
        if one.is_read and not one.decoded.ignored:
            yield from places_in(one, max_bytes)


def _having(built: Sequence[Built]) -> dict[str, set[str]]:
    """By field, the ids of the traces that have it."""
    return {name: {one.trace.trace_id for one in built if _has(one, name)} for name in _PROPOSED}


def _has(built: Built, name: str) -> bool:
    if name == "tier":
        return states_tier(built)
    trace = built.trace
    value = getattr(trace.versions if name in Versions.model_fields else trace, name)
    return bool(value) and value != UNMAPPED


def _rule(name: str, known: Sequence[Candidate]) -> list[dict[str, Any]] | None:
    """The rules of a field; None where nothing was met that could be it and would add to what is found already."""
    best = next((one for one in known if one.gain >= _WORTH and not one.is_default), None)
    if best is None or (name == "intent" and best.distinct == 1):
        return None
    rule: dict[str, Any] = {"path": best.path}
    if name == "tier":
        values = _tier_values(best.values)
        if values is None:
            return None
        rule |= {"values": values} if values else {}
    return [rule]


def _tier_values(values: Sequence[str]) -> dict[str, str] | None:
    """A translation of what was met; empty when all are tiers already, None when some are no words for a tier."""
    known = {word: tier for tier, words in _TIERS.items() for word in words}
    found = {value: known.get(value.casefold(), "") for value in values}
    if not all(found.values()):
        return None
    return {} if all(value.casefold() == tier for value, tier in found.items()) else found


def _source(
    topic: str, seen: Sequence[Seen], rules: Mapping[str, Any], tried: Mapping[str, str]
) -> dict[str, Any] | None:
    own = [one for one in seen if one.message.topic == topic]
    format_ = tried.get(topic) or _format(own)
    source: dict[str, Any] = {"topic": topic}
    source |= {"format": format_} if format_ else {}
    source |= {"rules": dict(rules)} if rules else {}
    return source if len(source) > 1 else None


def _format(own: Sequence[Seen]) -> str:
    """The one format of all that was read, empty where there are several or too few to tell."""
    counts = Counter(
        one.encoding if one.encoding in _MAPPED else _FORMATS.get(one.encoding, "") for one in own if one.is_read
    )
    (format_, count), *others = counts.most_common() or [("", 0)]
    return format_ if not others and count >= _ENOUGH else ""


def _home_made(unread: Sequence[Seen], max_bytes: int) -> Iterator[str]:
    """Paths of JSON that nothing reads, the most frequent first."""
    counts = Counter(path for one in unread for _, places in places_in(one, max_bytes) for path in places)
    for path, count in counts.most_common(_MAX_HOME_MADE):
        yield f"{path} ({count} of {len(unread)})"


def _notes(
    rules: Mapping[str, Any], known: Mapping[str, Sequence[Candidate]], present: Mapping[str, float]
) -> Iterator[str]:
    if present.get("intent", 0.0) < _FOUND and "intent" not in rules:
        yield (
            "no place was met that looks like an intent: have the producer set metadata.intent, or write a rule "
            "(docs/mapping.md)"
        )
    if present.get("tier", 0.0) < _FOUND and "tier" not in rules:
        tier = known.get("tier", ())
        words = (
            f" ({tier[0].path} has values that are no words for one: {', '.join(tier[0].values[:4])})" if tier else ""
        )
        yield f"no risk tier was met{words}: set `tiers` by intent under sources, the first pattern that fits counts"
