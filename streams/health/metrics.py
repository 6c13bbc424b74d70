"""From what a process knows of itself to Prometheus's families, read at each scrape; nothing is counted twice over.

Values stay where they are made (vitals, ledger, alert step), so that no part of the pipeline knows of Prometheus.
"""

import platform
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib.metadata import version

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from schemas.labels import AlertState, Layer
from schemas.spend import Cost
from streams.agents.alert_pulse import AlertPulse
from streams.agents.budgets import PotState
from streams.agents.fates import FateCounts
from streams.agents.layer_counts import LayerCounts
from streams.agents.vitals import BATCH_SECONDS, WaitReason
from streams.assembly import OpenTraces
from streams.broker.reading import Losses
from streams.health import catalogue as names
from streams.health.budget_metrics import of_budgets, refused_calls
from streams.health.catalogue import Kind, Metric
from streams.health.check_metrics import check_families
from streams.health.counting import silent_since
from streams.health.coverage import TopicCoverage
from streams.health.histogram import histogram
from streams.health.judge_metrics import of_judge
from streams.health.process import Process
from streams.inline.checker import Checker

Values = Iterator[tuple[tuple[str, ...], float]]
_FAMILIES = {Kind.COUNTER: CounterMetricFamily, Kind.GAUGE: GaugeMetricFamily}


@dataclass(slots=True)
class Covered:
    """The last count of coverage; ``at`` and ``silent_since`` are monotonic, 0.0 for never."""

    at: float = 0.0
    topics: Sequence[TopicCoverage] = ()
    silent_since: float | None = None
    """Since when draws wait for a verdict and none comes."""

    def after(self, topics: Sequence[TopicCoverage], now: float) -> "Covered":
        """With a new count."""
        pending = sum(one.traces["pending"] for one in topics)
        silent = silent_since(self.silent_since, pending, {"then": _judged(self.topics), "now": _judged(topics)}, now)
        return Covered(now, topics, silent)


@dataclass(slots=True)
class Sources:
    """Where the values are; what a process does not have stays None or empty."""

    process: Process
    now: Callable[[], datetime]
    fates: FateCounts = field(default_factory=FateCounts)
    refused: Counter[str] = field(default_factory=Counter)
    """Rows that are no messages and that the store refused, by table."""
    layers: LayerCounts = field(default_factory=LayerCounts)
    alert: AlertPulse | None = None
    open_traces: OpenTraces | None = None
    assembled: Mapping[str, int] = field(default_factory=dict)
    fingerprint: Callable[[], str] = lambda: ""
    covered: Covered = field(default_factory=Covered)
    losses: Losses = field(default_factory=Losses)
    checks: Checker | None = None
    judge: Callable[[], Mapping[str, int]] = dict
    """What became of the claims that this process asked a judge about, by name."""
    spending: Callable[[], Mapping[Layer, Cost]] = dict
    """What this process spent, by layer."""
    budgets: Callable[[], Mapping[str, PotState]] = dict
    """What the alert leader knows of each budget."""
    clock_step: Callable[[], timedelta] = timedelta
    """By how much the wall clock is off the one that event time is judged by."""


class ProcessMetrics(Collector):
    """Collects all families of ``names``; families without a value are left out."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def collect(self) -> Iterator[Family]:
        """One family after the other."""
        sources = self._sources
        for metric, values in (
            *_of_process(sources),
            *_of_flow(sources),
            *_of_layers(sources.layers),
            *of_judge(sources.layers, sources.judge()),
            *refused_calls(sources.spending()),
            *_of_alerts(sources),
        ):
            family = _FAMILIES[metric.kind](metric.name, metric.text, labels=metric.labels)
            for labels, value in values:
                family.add_metric(labels, value)
            if family.samples:
                yield family
        agents = sources.process.lifeline.vitals.agents
        rows = (((name,), BATCH_SECONDS, one.histogram, one.busy_seconds) for name, one in agents.items())
        yield histogram(names.BATCHES, rows)
        if sources.checks is not None:
            yield from check_families(sources.checks)


def registry_of(sources: Sources) -> CollectorRegistry:
    """A registry of this process alone: ours, and processor time, memory, start time and open files."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(ProcessMetrics(sources))
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    return registry


Pair = tuple[Metric, Values]


def _judged(topics: Sequence[TopicCoverage]) -> int:
    return sum(one.traces[state] for one in topics for state in ("judged", "errors", "unresolved"))


def _one(value: float) -> Values:
    yield (), value


def _of_process(sources: Sources) -> Iterator[Pair]:
    process = sources.process
    now, look = process.clock(), process.look
    build = (version("groundwatch"), platform.python_version(), sources.fingerprint())
    yield names.BUILD, iter([(build, 1.0)])
    yield names.READY, _one(float(not look.waiting))
    yield names.WAITING, (((one.part, one.why.value), now - began) for one, began in look.waiting.items())
    yield names.LOOK_AGE, _one(now - look.at)
    yield names.SUSPENSIONS, _one(process.suspensions)
    yield names.EXITS, (((reason,), count) for reason, count in process.exits.items())
    yield names.CLOCK_STEP, _one(sources.clock_step().total_seconds())
    members = look.signs.members
    yield names.PARTITIONS, (((one.group,), one.partitions) for one in members)
    yield names.STANDBY, (((one.group,), float(one.is_standby)) for one in members)
    yield names.REBALANCES, (((one.group,), one.rebalances) for one in members)
    services = process.services.items()
    yield names.SERVICE_UP, (((name,), float(bool(one.ok_since))) for name, one in services)
    yield names.SERVICE_FAILURES, (((name,), one.failures) for name, one in services)
    every = look.signs.agents
    yield names.IDLE, (((one.name,), one.idle_seconds + now - look.at) for one in every)
    agents = process.lifeline.vitals.agents
    yield names.BUSY, (((one.name,), one.busy_seconds) for one in every if not one.is_timer)
    yield names.MESSAGES, (((name,), one.messages) for name, one in agents.items())
    yield (
        names.AGENT_WAITS,
        (
            ((name, reason.value), float(one.waits_for is reason))
            for name, one in agents.items()
            for reason in WaitReason
        ),
    )
    yield (
        names.WAITS,
        (((name, reason.value), one.waits[reason]) for name, one in agents.items() for reason in WaitReason),
    )


def _of_flow(sources: Sources) -> Iterator[Pair]:
    process = sources.process
    wall = sources.now().timestamp()
    members = process.members
    # The topic of the leader's election has no messages.
    lags = [(members[role].group, lag) for role, lag in process.lags.items() if members[role].vitals.every_seconds == 0]
    yield names.LAG, (((group, topic), lag) for group, one in lags for topic, lag in one.by_topic().items())
    yield (
        names.OLDEST,
        (((group, topic), age) for group, one in lags for topic, age in one.oldest_seconds(wall).items()),
    )
    yield names.LAG_AGE, (((group,), process.clock() - one.at) for group, one in lags)
    fates = sources.fates
    yield names.SOURCE_MESSAGES, (((topic, fate.value), n) for (topic, fate), n in fates.messages.items())
    yield names.SOURCE_TRACES, (((topic, fate.value), n) for (topic, fate), n in fates.traces.items())
    yield names.REFUSED_ROWS, (((table,), count) for table, count in sources.refused.items() if count)
    yield names.DEAD_SHARE, (((topic,), share) for topic, share in fates.dead_shares().items())
    yield names.LOST, (((topic,), count) for topic, count in sources.losses.messages.items())
    yield names.MADE_ANEW, (((topic,), count) for topic, count in sources.losses.made_anew.items())
    yield names.ASSEMBLED, (((reason,), count) for reason, count in sources.assembled.items())
    if sources.open_traces is not None:
        began = sources.open_traces.began().values()
        yield names.OPEN_TRACES, _one(len(sources.open_traces))
        yield names.OLDEST_OPEN, _one(max(0.0, wall - min(began).timestamp()) if began else 0.0)


def _of_layers(counts: LayerCounts) -> Iterator[Pair]:
    answers = counts.answers.items()
    yield (
        names.LAYER_ANSWERS,
        (((layer.value, str(ran).lower(), why.value), number) for (layer, ran, why), number in answers),
    )
    for metric, values in (
        (names.LAYER_CLAIMS, counts.claims),
        (names.LAYER_CACHED, counts.cached),
        (names.LAYER_CALLS, counts.calls),
        (names.LAYER_COST, counts.dollars),
        (names.LAYER_SECONDS, counts.seconds),
    ):
        yield metric, (((layer.value,), number) for layer, number in values.items())
    directions = (("in", counts.tokens_in), ("out", counts.tokens_out))
    yield (
        names.LAYER_TOKENS,
        (((layer.value, way), number) for way, tokens in directions for layer, number in tokens.items()),
    )


def _of_alerts(sources: Sources) -> Iterator[Pair]:
    pulse = sources.alert
    if pulse is None:
        return
    members = sources.process.look.signs.members
    is_leader = any(one.is_leader for one in members)
    yield names.LEADER, _one(float(is_leader))
    yield names.TICKS, _one(pulse.ticks)
    yield names.NOTIFY_FAILURES, (((who, kind), count) for (who, kind), count in pulse.failures.items())
    yield names.NOTIFY_LAST_FAILURE, (((who,), at.timestamp()) for who, at in pulse.failed_at.items())
    yield names.NOTIFY_WAITING, (((who,), count) for who, count in pulse.waiting.items())
    if not is_leader:
        return
    if pulse.ticked_at:
        yield names.TICK_AGE, _one(sources.process.clock() - pulse.ticked_at)
    yield names.ALERTS, (((state.value,), pulse.states[state]) for state in AlertState)
    alerts = [((one.alert_id, one.rule, one.slice.tier or ""), one) for one in pulse.open]
    yield names.ALERT_EVIDENCE, ((labels, one.evidence) for labels, one in alerts)
    yield names.ALERT_RATIO, ((labels, one.ratio) for labels, one in alerts if one.ratio is not None)
    yield from of_budgets(sources.budgets())
    yield from _of_coverage(sources)


def _of_coverage(sources: Sources) -> Iterator[Pair]:
    covered, now = sources.covered, sources.process.clock()
    if not covered.at:
        return
    yield names.JUDGING_SILENT, _one(0.0 if covered.silent_since is None else now - covered.silent_since)
    yield names.COVERAGE_AGE, _one(now - covered.at)
    yield (
        names.COVERED_MESSAGES,
        (((one.topic, fate), count) for one in covered.topics for fate, count in one.messages.items()),
    )
    yield (
        names.COVERED_TRACES,
        (((one.topic, state), count) for one in covered.topics for state, count in one.traces.items()),
    )
