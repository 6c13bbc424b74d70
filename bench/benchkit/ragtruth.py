"""Human-labelled answers of six models as a product's traffic: strong models before a deploy, some weak ones after it.

The share of weak answers is worked out from the human labels, so that the human rate is multiplied by what a run asks
for. Records recur, each model group in shuffled rounds, so every record appears before any appears twice.
"""

import gzip
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from schemas.errors import ConfigError
from schemas.labels import RiskTier

DATA_FILE = "grounding-dev.jsonl.gz"
TIERS = {"qa": RiskTier.HIGH, "summary": RiskTier.MEDIUM, "data2txt": RiskTier.LOW}
"""Intents (the task of a record) and the tier that the benchmark gives them."""
STRONG = frozenset({"gpt-4-0613", "gpt-3.5-turbo-0613"})
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """One run: by how much the human rate of each intent is multiplied, and how much traffic there is.

    Intents without a multiple keep their strong models and get ``quiet_per_day`` answers a day throughout.
    """

    name: str
    multiples: Mapping[str, float]
    days_before: float = 21.0
    per_day_before: int = 310
    days_after: float = 2.0
    per_day_after: int = 1200
    quiet_per_day: int = 100


PLANS = {
    "x2": Plan("x2", {"qa": 2.0, "summary": 2.0, "data2txt": 2.0}),
    "x4-qa": Plan("x4-qa", {"qa": 4.0}),
}


@dataclass(frozen=True, slots=True)
class Sent:
    """One trace of the traffic with what only the benchmark knows; ``is_first`` of its record."""

    trace: dict[str, Any]
    ts: datetime
    intent: str
    record_id: str
    is_bad: bool
    is_first: bool


def data_path() -> Path:
    """The labelled records. Raises ConfigError naming GROUNDWATCH_DATA."""
    folder = os.environ.get("GROUNDWATCH_DATA", "")
    path = Path(folder) / DATA_FILE
    if not folder or not path.is_file():
        raise ConfigError(
            f"no {DATA_FILE} at GROUNDWATCH_DATA={folder!r}; set it to the folder of the labelled records"
        )
    return path


def read_records(path: Path) -> list[dict[str, Any]]:
    """All records of the file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def ragtruth(records: Iterable[Row]) -> list[Row]:
    """Those of RAGTruth."""
    return [record for record in records if record["dataset"] == "ragtruth"]


def human_rate(records: Sequence[Row]) -> float:
    """Share that people found hallucinated."""
    return sum(bool(record["hallucinated"]) for record in records) / len(records)


def weak_share(strong: Sequence[Row], weak: Sequence[Row], multiple: float) -> float:
    """Share of weak answers at which the human rate is ``multiple`` times that of the strong ones."""
    low, high = human_rate(strong), human_rate(weak)
    share = (multiple - 1) * low / (high - low)
    if not 0 < share <= 1:
        raise ConfigError(
            f"a rate of {multiple} times {low:.3f} cannot be mixed from answers of {low:.3f} and {high:.3f}"
        )
    return share


def traffic(records: Sequence[Row], plan: Plan, deployed: datetime, seed: int) -> list[Sent]:
    """The run's traces by event time; ``deployed`` is when the mix changes."""
    rng = Random(f"{plan.name} {seed}")
    planned = [item for intent in TIERS for item in _intent(records, intent, plan, deployed, rng)]
    planned.sort(key=lambda item: item[0])
    seen: set[str] = set()
    sent = []
    for number, (ts, record, version) in enumerate(planned):
        sent.append(
            Sent(
                native(record, f"{plan.name}-{seed}-{number}", ts, versions_at(ts, deployed, version)),
                ts,
                record["task"],
                record["id"],
                bool(record["hallucinated"]),
                record["id"] not in seen,
            )
        )
        seen.add(record["id"])
    return sent


def _intent(
    records: Sequence[Row], intent: str, plan: Plan, deployed: datetime, rng: Random
) -> Iterator[tuple[datetime, Row, str]]:
    own = [record for record in records if record["task"] == intent]
    strong = [record for record in own if record["model"] in STRONG]
    weak = [record for record in own if record["model"] not in STRONG]
    good, bad = _rounds(strong, rng), _rounds(weak, rng)
    multiple = plan.multiples.get(intent)
    before = plan.per_day_before if multiple else plan.quiet_per_day
    after = plan.per_day_after if multiple else plan.quiet_per_day
    start, end = deployed - timedelta(days=plan.days_before), deployed + timedelta(days=plan.days_after)
    for ts in _times(start, deployed, round(before * plan.days_before), rng):
        yield ts, next(good), "strong-models"
    share = weak_share(strong, weak, multiple) if multiple else 0.0
    times = _times(deployed, end, round(after * plan.days_after), rng)
    weak_ones = set(rng.sample(range(len(times)), round(share * len(times))))
    for number, ts in enumerate(times):
        chosen = bad if number in weak_ones else good
        yield ts, next(chosen), "mixed-models" if multiple else "strong-models"


def _rounds(records: Sequence[Row], rng: Random) -> Iterator[Row]:
    while True:
        yield from rng.sample(records, len(records))


def _times(start: datetime, end: datetime, count: int, rng: Random) -> list[datetime]:
    return sorted(start + (end - start) * rng.random() for _ in range(count))


def versions_at(ts: datetime, deployed: datetime, model: str) -> dict[str, str]:
    """What was running: the model changes with the deploy, three harmless changes lie around it."""
    return {
        "model": model,
        "prompt": "p-2" if ts >= deployed - timedelta(days=11) else "p-1",
        "corpus": "c-2" if ts >= deployed - timedelta(days=4) else "c-1",
        "app": "a-2" if ts >= deployed - timedelta(hours=20) else "a-1",
    }


def native(record: Row, trace_id: str, ts: datetime, versions: Mapping[str, str]) -> dict[str, Any]:
    """The record as a native trace."""
    return {
        "trace_id": trace_id,
        "ts": ts.isoformat(),
        "question": record["question"],
        "answer": record["answer"],
        "passages": [{"doc_id": passage["doc_id"], "text": passage["text"]} for passage in record["passages"]],
        "intent": record["task"],
        "tier": TIERS[record["task"]].value,
        "versions": dict(versions),
    }
