"""Which places may hold intent, tier, tenant or a version: by their name, how many traces have them, how many values.

A guess for a person to confirm. Words of names count most, since values alone cannot tell an intent from a country.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from streams.attach.paths import Places
from streams.attach.reading import share
from streams.attach.report import Candidate
from streams.sources.fields import DEFAULT_RULES

_WORDS: Mapping[str, Sequence[str]] = {
    "intent": (
        "intent", "use_case", "usecase", "category", "topic", "route", "workflow", "feature", "skill", "queue",
        "domain", "task", "trace.name", "tags", "agent", "entity.name", "service.name",
    ),
    "tier": ("risk_tier", "risk", "tier", "severity", "criticality", "priority", "impact"),
    "tenant": ("tenant", "organization", "organisation", "org_id", "org", "customer", "account", "workspace", "client"),
    "roles": ("roles", "user_role", "user.role", "groups", "permissions"),
    "locale": ("locale", "language", "lang"),
    "region": ("region", "country", "market"),
    "prompt": ("prompt_version", "prompt.version", "template.version", "prompt_id", "promptversion", "prompt_hash"),
    "corpus": ("corpus", "index_version", "index.name", "kb_version", "knowledge", "collection"),
    "retriever": ("retriever_version", "retriever", "retrieval_version", "ranker"),
    "app": ("service.version", "app_version", "release", "git_sha", "commit", "revision", "build", "app.version"),
}  # fmt: skip
"""By field, the words of a path that speak for it, the best first."""
_MOST = 5
_VALUES = 8
_LEAST_SHARE = 0.2
_MOST_VALUES = {"intent": 60, "tier": 8, "roles": 100, "locale": 100, "region": 100}
"""More different values than this are no slices."""
_MANY_VALUES = 2_000
_NEVER = re.compile(
    r"(?:^|[._])(?:input|output|content|message|messages|text|prompt_text|document|documents|question|answer|query"
    r"|completion|completions|token_count|usage|duration|time|timestamp|url|host|pid|thread|sdk|telemetry|trace_id|span_id|mime_type)(?:$|[._])"
)
_ID = re.compile(r"[0-9a-f]{16,}|[0-9a-f]{8}-[0-9a-f]{4}-.*|\d{6,}|.*\d{4}-\d\d-\d\dT.*", re.IGNORECASE)
_FREE_TEXT_CHARS = 80


@dataclass(frozen=True, slots=True)
class Place:
    """A path with its value in each trace; a trace that says several keeps the first."""

    path: str
    by_trace: Mapping[str, str]


def places_by_path(found: Iterable[tuple[str, Places]]) -> list[Place]:
    """Turned round: for each path the traces that have it. Items without a trace count each for itself."""
    paths: dict[str, dict[str, str]] = defaultdict(dict)
    for number, (trace_id, places) in enumerate(found):
        for path, value in places.items():
            paths[path].setdefault(trace_id or f"#{number}", value)
    return [Place(path, by_trace) for path, by_trace in paths.items()]


def candidates(
    places: Sequence[Place], traces: int, having: Mapping[str, Collection[str]] = MappingProxyType({})
) -> dict[str, tuple[Candidate, ...]]:
    """For each field the likeliest places, at most five; fields without any are left out.

    ``having`` names by field the traces that have it already.
    """
    found = {}
    for field in _WORDS:
        ranked = sorted(
            ((rank, place) for place in places if (rank := _rank(field, place, traces)) is not None),
            key=lambda pair: (pair[0], pair[1].path),
        )
        rows = [_row(field, place, traces, having.get(field, ())) for place in _unlike(place for _, place in ranked)]
        if rows:
            found[field] = tuple(rows[:_MOST])
    return found


def _unlike(ranked: Iterable[Place]) -> Iterator[Place]:
    """Without those that say what a likelier one says, under another key."""
    said: list[Mapping[str, str]] = []
    for place in ranked:
        if place.by_trace not in said:
            said.append(place.by_trace)
            yield place


def _rank(field: str, place: Place, traces: int) -> tuple[int, int, float] | None:
    """Smaller is likelier: a default place, then the word that speaks for it, then the share of traces; None for no."""
    path = place.path.lower()
    word = next((number for number, word in enumerate(_WORDS[field]) if _names(path, word)), None)
    values = set(place.by_trace.values())
    if word is None or (_NEVER.search(path) and not _is_default(field, place.path)):
        return None
    if share(len(place.by_trace), traces) < _LEAST_SHARE or not _are_names(field, values):
        return None
    is_constant = field == "intent" and len(values) == 1 and traces > 1
    return (0 if _is_default(field, place.path) else 1 + 100 * is_constant, word, -len(place.by_trace))


def _names(path: str, word: str) -> bool:
    """Whether a path ends with a word, or with the word and one more part of a name (``intent_name``)."""
    return re.search(rf"(?:^|[._\-]){re.escape(word)}(?:[_\-][a-z0-9]+)?$", path) is not None


def _are_names(field: str, values: set[str]) -> bool:
    """Whether values can be slices or versions: few, short, no ids."""
    if len(values) > _MOST_VALUES.get(field, _MANY_VALUES):
        return False
    if any(len(value) > _FREE_TEXT_CHARS for value in values):
        return False
    is_version = field in {"prompt", "corpus", "retriever", "app"}
    return is_version or not all(_ID.fullmatch(value) for value in values)


def _is_default(field: str, path: str) -> bool:
    return path in {rule.path for rule in DEFAULT_RULES.get(field, ())}


def _row(field: str, place: Place, traces: int, having: Collection[str]) -> Candidate:
    counts = Counter(place.by_trace.values())
    values = sorted(counts, key=lambda value: (-counts[value], value))
    return Candidate(
        path=place.path,
        share=min(1.0, share(len(place.by_trace), traces)),
        distinct=len(counts),
        values=tuple(values[:_VALUES]),
        gain=min(1.0, share(len(place.by_trace.keys() - set(having)), traces)),
        is_default=_is_default(field, place.path),
    )
