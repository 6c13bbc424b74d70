"""One replay in this process: traffic through broker, roles and store, then what store and alerts say of it."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from time import monotonic
from typing import Any

from benchkit.machine import load
from benchkit.pipeline import pipeline, quiet_logs
from benchkit.ragtruth import TIERS, Plan, Sent
from detectors.detector import Detector
from sampling.rates import estimate
from schemas.alert import Alert, RateEstimate
from schemas.labels import Outcome
from schemas.policy import PolicyDocument
from schemas.tally import Tally
from streams.agents.alert import AlertStep
from streams.agents.batches import Lifeline
from streams.broker.publisher import Outgoing
from streams.run import run_loop, serve_roles
from streams.runtime import Runtime
from streams.settings import Role, Settings
from streams.store import ALL_TENANTS, Store

AT_ONCE = 250
ROLES = (Role.INGEST, Role.VERIFY, Role.SINK, Role.ALERT)
TICKS_AT_END = 3
"""Finished alert rounds after the last verdict: one may have begun before it, one folds the rest, one is sure."""
PATIENCE_SECONDS = 3000.0


@dataclass(frozen=True, slots=True)
class Replay:
    """What to replay: ``sent`` by event time, with a deploy at ``deployed`` in the intents that ``plan`` multiplies."""

    plan: Plan
    mode: str
    sent: Sequence[Sent]
    deployed: datetime
    until: datetime
    policy: PolicyDocument
    detector: Detector


@dataclass(slots=True)
class Progress:
    """How far the process is."""

    began: float = field(default_factory=monotonic)
    ticks: int = 0

    async def reach(self, ticks: int) -> None:
        """Wait until so many alert rounds are through."""
        while self.ticks < ticks:  # noqa: ASYNC110 - counted in the same loop, and half a second is soon enough
            await asyncio.sleep(0.5)


def replay(job: Replay, settings: Settings) -> dict[str, Any]:
    """Run ``job`` and return its figures as JSON-ready data."""
    quiet_logs()
    result: dict[str, Any] = {}

    async def run() -> int:
        lifeline, progress = Lifeline(), Progress()
        _count_ticks(progress)
        async with pipeline(settings, job.policy, lifeline) as runtime:
            runtime.detector = job.detector
            store = runtime.open_store()
            tasks = [
                asyncio.create_task(_feed(runtime, job.sent)),
                asyncio.create_task(_finish(store, job, lifeline, progress, result)),
            ]
            code = await serve_roles(runtime, ROLES)
            for task in tasks:
                task.cancel()
            for outcome in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(outcome, Exception):
                    raise outcome
            return code

    code = run_loop(run)
    if code or not result:
        raise SystemExit(f"the replay ended with code {code} before it was through")
    return result


def _count_ticks(progress: Progress) -> None:
    """Alert rounds say nowhere that they are through, so the class is made to; nothing else runs in this process."""
    original = AlertStep.tick

    async def tick(self: AlertStep) -> None:
        await original(self)
        progress.ticks += 1

    AlertStep.tick = tick  # type: ignore[method-assign]


async def _feed(runtime: Runtime, sent: Sequence[Sent]) -> None:
    (topic,) = runtime.settings.kafka.source.topics
    todo = iter(sent)
    while chunk := list(islice(todo, AT_ONCE)):
        messages = [Outgoing(one.trace["trace_id"].encode(), json.dumps(one.trace).encode()) for one in chunk]
        await runtime.publisher.send(topic, messages)
        await asyncio.sleep(0)


async def _finish(store: Store, job: Replay, lifeline: Lifeline, progress: Progress, result: dict[str, Any]) -> None:
    try:
        await _wait(store, job, progress)
        verified_seconds = monotonic() - progress.began
        await progress.reach(progress.ticks + TICKS_AT_END)
        result.update(await asyncio.to_thread(collect, store, job))
        result["seconds"] = verified_seconds
        result["traces_per_second"] = len(job.sent) / verified_seconds
        result["load"] = load()
    finally:
        lifeline.stop("replay done")


async def _wait(store: Store, job: Replay, progress: Progress) -> None:
    said = 0.0
    while (counts := await asyncio.to_thread(store.counts)).verdicts < len(job.sent):
        seconds = monotonic() - progress.began
        if seconds > PATIENCE_SECONDS:
            raise TimeoutError(f"only {counts.verdicts} of {len(job.sent)} verdicts after {seconds:.0f} s")
        if seconds - said >= 15:
            said = seconds
            print(f"  {seconds:4.0f} s  stored {counts.traces:,}  verified {counts.verdicts:,}", flush=True)
        await asyncio.sleep(1.0)


def collect(store: Store, job: Replay) -> dict[str, Any]:
    """Rates, alerts and quality, by intent."""
    alerts = [alert for alert in store.alerts(limit=500) if alert.fired_at is not None]
    tallies = store.tallies(job.sent[0].ts - timedelta(minutes=5), job.until + timedelta(minutes=5))
    outcomes = first_outcomes(store, job)
    return {
        "plan": job.plan.name,
        "mode": job.mode,
        "deployed": job.deployed.isoformat(),
        "thresholds": job.policy.thresholds.model_dump(),
        "traces": len(job.sent),
        "slices": {intent: _slice(intent, job, tallies, alerts) for intent in TIERS},
        "quality": quality(job, outcomes),
        "is_flagged": {name: o is Outcome.HALLUCINATED for name, o in outcomes.items() if o in _JUDGED},
    }


def _slice(intent: str, job: Replay, tallies: Sequence[Tally], alerts: Sequence[Alert]) -> dict[str, Any]:
    own = [one for one in job.sent if one.intent == intent]
    before, after = [one for one in own if one.ts < job.deployed], [one for one in own if one.ts >= job.deployed]
    rows = [tally for tally in tallies if tally.intent == intent]
    fired = sorted((a for a in alerts if a.slice.intent == intent), key=lambda a: a.fired_at or job.until)
    is_changed = intent in job.plan.multiples
    true = [alert for alert in fired if is_changed and alert.fired_at and alert.fired_at > job.deployed]
    return {
        "multiple": job.plan.multiples.get(intent, 1.0),
        "human_before": _human(before),
        "human_after": _human(after),
        "apparent_before": _rate(estimate([tally for tally in rows if tally.bucket < job.deployed])),
        "apparent_after": _rate(estimate([tally for tally in rows if tally.bucket >= job.deployed])),
        "page": _page(true[0], after, job) if true else None,
        "false_pages": len([alert for alert in fired if alert not in true]),
    }


def _human(sent: Sequence[Sent]) -> dict[str, float]:
    return {"n": len(sent), "rate": sum(one.is_bad for one in sent) / len(sent)}


def _rate(found: RateEstimate) -> dict[str, Any]:
    return found.model_dump(mode="json")


def _page(alert: Alert, after: Sequence[Sent], job: Replay) -> dict[str, Any]:
    fired = alert.fired_at or job.until
    return {
        "answers": sum(one.ts < fired for one in after),
        "hours": (fired - job.deployed).total_seconds() / 3600,
        "since_minus_deploy_minutes": (alert.since - job.deployed).total_seconds() / 60,
        "samples": alert.samples,
        "rate": _rate(alert.rate),
        "reference": _rate(alert.reference),
        "changes": [f"{c.field}: {c.before} → {c.after} ({c.posterior:.2f})" for c in alert.changes],
        "is_historical": alert.is_historical,
    }


def first_outcomes(store: Store, job: Replay) -> dict[str, Outcome]:
    """The outcome of each record, as stored for its first trace."""
    found = {}
    for one in job.sent:
        if one.is_first:
            stored = store.trace(one.trace["trace_id"], tenants=ALL_TENANTS, ts=one.ts)
            assert stored is not None, one.trace["trace_id"]
            found[one.record_id] = stored.verdicts[0].outcome
    return found


def quality(job: Replay, outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """Verdicts against labels, each record once, by intent."""
    firsts = [one for one in job.sent if one.is_first]
    return {
        intent: figures([(one.is_bad, outcomes[one.record_id]) for one in firsts if one.intent == intent])
        for intent in TIERS
    }


def figures(pairs: Sequence[tuple[bool, Outcome]]) -> dict[str, Any]:
    """Balanced accuracy, precision, recall and F1 of ``hallucinated`` over judged answers (hallucinated or grounded).

    ``balanced_accuracy_of_all`` takes in the rest (unclear, abstained, no_claims, errors) as not flagged.
    """
    judged = [(bad, outcome is Outcome.HALLUCINATED) for bad, outcome in pairs if outcome in _JUDGED]
    everything = [(bad, outcome is Outcome.HALLUCINATED) for bad, outcome in pairs]
    hits = sum(bad and flagged for bad, flagged in judged)
    flagged_count, bad_count = sum(flagged for _, flagged in judged), sum(bad for bad, _ in judged)
    precision, recall = _ratio(hits, flagged_count), _ratio(hits, bad_count)
    both = (precision or 0) + (recall or 0)
    return {
        "records": len(pairs),
        "bad": sum(bad for bad, _ in pairs),
        "judged": len(judged),
        "balanced_accuracy": balanced(judged),
        "balanced_accuracy_of_all": balanced(everything),
        "precision": precision,
        "recall": recall,
        "f1": 2 * (precision or 0) * (recall or 0) / both if both else None,
        "false_alarms": _ratio(flagged_count - hits, len(judged) - bad_count),
        "outcomes": dict(Counter(outcome.value for _, outcome in pairs)),
        "others_that_people_found_bad": sum(bad for bad, outcome in pairs if outcome not in _JUDGED),
    }


_JUDGED = frozenset({Outcome.HALLUCINATED, Outcome.GROUNDED})


def balanced(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """Mean of the hit rate and the share of good answers left alone; None without both kinds."""
    bad = [flagged for is_bad, flagged in pairs if is_bad]
    good = [flagged for is_bad, flagged in pairs if not is_bad]
    return (sum(bad) / len(bad) + 1 - sum(good) / len(good)) / 2 if bad and good else None


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
