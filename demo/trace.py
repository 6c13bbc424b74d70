"""One record as a native JSON trace: fresh ids, people, timings and version tags around a text that recurs."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from demo.corpus import CORPUS_AS_OF, AnswerKind, Chunk, Corpus, DemoAnswer
from demo.recipe import Recipe
from schemas.trace import Versions

_USERS = 1800
_TENANTS = (("orrivane-eu", "eu-central", 0.8), ("orrivane-ch", "eu-alps", 0.11), ("orrivane-no", "eu-north", 0.09))
_CONTINUED_SHARE = 0.2
"""Share of the traces that continue the conversation before them in the same intent."""
_CONVERSATION_ENDS_AFTER = timedelta(minutes=20)
_SHUFFLED_SHARE = 0.3
_MS_PER_CHARACTER = 6.0


@dataclass(frozen=True, slots=True)
class Arrival:
    """A question that comes in at a moment, with the record that answers it."""

    moment: datetime
    record: DemoAnswer


@dataclass(frozen=True, slots=True)
class _Person:
    user_id: str
    conversation_id: str
    tenant: str
    region: str


@dataclass(slots=True)
class TraceWriter:
    """Writes arrivals, given in event order, as traces; ``ids`` draws trace ids alone, so that they differ by run."""

    corpus: Corpus
    recipe: Recipe
    now: datetime
    rng: Random
    ids: Random
    _latest: dict[str, tuple[datetime, _Person]] = field(default_factory=dict)

    def write(self, arrival: Arrival) -> dict[str, Any]:
        """The trace as a JSON-ready dict with the fields of ``schemas.trace.Trace``; holds no label or record id."""
        record = arrival.record
        person = self._person(arrival)
        # small talk is answered without a search, so its trace does not speak of passages at all
        passages = {} if record.kind is AnswerKind.GREETING else {"passages": self._passages(record)}
        return {
            "trace_id": f"demo-{self.ids.getrandbits(64):016x}",
            "ts": _iso(arrival.moment),
            "question": record.question,
            "answer": record.answer,
            "intent": record.intent,
            "tier": record.tier.value,
            "conversation_id": person.conversation_id,
            "user_id": person.user_id,
            "tenant": person.tenant,
            "roles": ["customer"],
            "locale": record.locale,
            "region": person.region,
            "versions": versions_at(self.recipe, record.intent, arrival.moment, self.now).model_dump(),
            "timings": self._timings(record),
            **passages,
        }

    def _person(self, arrival: Arrival) -> _Person:
        known = self._latest.get(arrival.record.intent)
        is_recent = known is not None and arrival.moment - known[0] < _CONVERSATION_ENDS_AFTER
        if known is not None and is_recent and self.rng.random() < _CONTINUED_SHARE:
            person = known[1]
        else:
            person = self._new_person()
        self._latest[arrival.record.intent] = (arrival.moment, person)
        return person

    def _new_person(self) -> _Person:
        tenant, region, _ = self.rng.choices(_TENANTS, [share for *_, share in _TENANTS])[0]
        # a user belongs to one tenant, so the tenant is part of the id
        user_id = f"u-{tenant.removeprefix('orrivane-')}-{self.rng.randrange(_USERS):04d}"
        return _Person(user_id, f"c-{self.rng.getrandbits(48):012x}", tenant, region)

    def _passages(self, record: DemoAnswer) -> list[dict[str, Any]]:
        chunks = list(self.corpus.passages_of(record))
        if self.rng.random() < _SHUFFLED_SHARE:
            self.rng.shuffle(chunks)
        score = self.rng.uniform(0.74, 0.93)
        passages = []
        for rank, chunk in enumerate(chunks):
            passages.append(_passage(chunk, rank, round(score, 4), self.now))
            score -= self.rng.uniform(0.02, 0.09)
        return passages

    def _timings(self, record: DemoAnswer) -> dict[str, float]:
        retrieval = 70 * self.rng.lognormvariate(0, 0.4)
        generation = (350 + _MS_PER_CHARACTER * len(record.answer)) * self.rng.lognormvariate(0, 0.25)
        return {
            "retrieval_ms": round(retrieval, 1),
            "generation_ms": round(generation, 1),
            "total_ms": round(retrieval + generation + self.rng.uniform(5, 40), 1),
        }


def versions_at(recipe: Recipe, intent: str, moment: datetime, now: datetime) -> Versions:
    """The version tags in force for an intent at a moment of the window that ends at ``now``."""
    tags = recipe.first_versions.model_dump()
    for step in sorted(recipe.steps, key=lambda step: step.before_now, reverse=True):
        if step.intent in {"*", intent} and moment >= now - step.before_now:
            tags[step.field] = step.value
    return Versions(**tags)


def _passage(chunk: Chunk, rank: int, score: float, now: datetime) -> dict[str, Any]:
    document = chunk.document
    # Whole days, so that the documents are as old at `now` as they were on the day they were written for.
    moved = now.astimezone(UTC).replace(hour=6, minute=0, second=0, microsecond=0)
    return {
        "doc_id": document.doc_id,
        "chunk_id": f"{document.key}#{chunk.number}",
        "version": document.version,
        "text": chunk.text,
        "score": score,
        "rank": rank,
        "updated_at": _iso(moved + (document.updated_at - CORPUS_AS_OF)),
        "effective_from": _iso(moved + (document.effective_from - CORPUS_AS_OF)),
        "archived": bool(document.superseded_by),
        "superseded_by": document.superseded_by,
        "allowed_roles": list(document.allowed_roles),
        "trust": document.trust,
    }


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")
