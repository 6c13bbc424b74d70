"""What the store in memory says of itself and of its traces, worked out the slow and obvious way."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sampling.draw import u_of
from sampling.policy_log import PolicyLog
from schemas.draw import DrawnTrace
from schemas.labels import RiskTier
from schemas.patterns import compile_pattern
from schemas.policy import PolicyRecord
from schemas.trace import UNMAPPED, passage_hash
from schemas.verdict import Verdict
from streams.store import (
    CheckName,
    CheckResult,
    IntentTraffic,
    Lead,
    ListFilter,
    StoreStats,
    TableStats,
    TraceHead,
    TraceSummary,
    UnmappedShare,
    Verification,
    WantedLeads,
)

_AHEAD = timedelta(minutes=10)
_ROW_CHECKS = [
    CheckName.LABELS, CheckName.TIMES, CheckName.DUPLICATES, CheckName.DRAWS_JUDGED, CheckName.VERDICTS_TRACED,
    CheckName.VERDICTS_DRAWN, CheckName.HEADS_TRACED, CheckName.POLICIES_KNOWN, CheckName.DRAWS_AGREE,
]  # fmt: skip
"""Those that can find something in memory: tallies, texts and tables are never at odds here."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What is stored, newest of each."""

    traces: Sequence[DrawnTrace]
    verdicts: Sequence[Verdict]
    heads: Mapping[str, TraceHead]
    records: Sequence[PolicyRecord]


def summaries(rows: Rows, wanted: ListFilter) -> list[TraceSummary]:
    """Traces that fit, newest first."""
    found = []
    for row in rows.traces:
        of_trace = [v for v in rows.verdicts if (v.ts, v.trace_id) == (row.trace.ts, row.trace.trace_id)]
        newest = max(of_trace, key=lambda v: (v.verified_at, v.fingerprint), default=None)
        found.append(_summary(row, newest))
    ordered = sorted(sorted(found, key=lambda s: s.trace_id), key=lambda s: s.ts, reverse=True)
    return [summary for summary in ordered if _fits(summary, wanted)][: wanted.limit]


def leads(rows: Rows, wanted: WantedLeads) -> list[Lead]:
    """Negative ones first, each part newest first."""
    said = {(row.trace.ts, row.trace.trace_id): row.trace.feedback for row in rows.traces}
    every = summaries(rows, ListFilter(since=wanted.since, has_feedback=True, limit=len(said)))
    found = []
    for summary in every:
        feedback = said[summary.ts, summary.trace_id]
        is_negative = bool(wanted.negative) and compile_pattern(wanted.negative).is_in(feedback)
        found.append(Lead(trace=summary, feedback=feedback[:1000], is_negative=is_negative))
    return sorted(found, key=lambda lead: not lead.is_negative)[: wanted.limit]


def intents(rows: Rows, since: datetime, until: datetime) -> list[IntentTraffic]:
    """Most traffic first."""
    groups: dict[tuple[str, RiskTier], list[datetime]] = defaultdict(list)
    for row in rows.traces:
        groups[row.trace.intent, row.trace.tier].append(row.trace.ts)
    traffic = {key: sum(since <= ts < until for ts in times) for key, times in groups.items()}
    total = sum(traffic.values())
    found = [
        IntentTraffic(
            intent=key[0],
            tier=key[1],
            traffic=traffic[key],
            share=traffic[key] / total if total else 0.0,
            first_seen=min(times),
            last_seen=max(times),
        )
        for key, times in groups.items()
    ]
    return sorted(found, key=lambda one: (-one.traffic, one.intent, one.tier))


def unmapped(rows: Rows, since: datetime, until: datetime) -> list[UnmappedShare]:
    """By hour, then topic."""
    every: Counter[tuple[datetime, str]] = Counter()
    without: Counter[tuple[datetime, str]] = Counter()
    for row in rows.traces:
        if since <= row.trace.ts < until:
            topic = row.trace.source.topic if row.trace.source else ""
            key = (row.trace.ts.replace(minute=0, second=0, microsecond=0), topic)
            every[key] += 1
            without[key] += row.trace.intent == UNMAPPED
    return [
        UnmappedShare(topic=key[1], hour=key[0], traffic=n, unmapped=without[key], share=without[key] / n)
        for key, n in sorted(every.items())
    ]


def stats(rows: Rows) -> StoreStats:
    """Counts; nothing in memory has bytes."""
    moments = [row.trace.ts for row in rows.traces]
    passages = [passage_hash(p.text) for row in rows.traces for p in row.trace.passages or ()]
    days = (max(moments) - min(moments)) / timedelta(days=1) if moments else 0.0
    oldest, newest = min(moments, default=None), max(moments, default=None)
    return StoreStats(
        tables=(TableStats(name="traces", rows=len(moments), oldest=oldest, newest=newest),),
        traces=len(moments),
        verdicts=len(rows.verdicts),
        days=days,
        traces_per_day=len(moments) / max(days, 1.0) if moments else None,
        passages=len(passages),
        passage_texts=len(set(passages)),
        deduplicated_share=1 - len(set(passages)) / len(passages) if passages else None,
    )


def verify(rows: Rows, wanted: Verification) -> Iterator[CheckResult]:
    """Every check in order; those of rows find what the real ones find."""
    for name in CheckName:
        checked, faults = _checked(name, rows, wanted) if name in _ROW_CHECKS else (0, [])
        yield CheckResult(name=name, checked=checked, faults=len(faults), examples=tuple(faults[: wanted.limit]))


def _checked(name: CheckName, rows: Rows, wanted: Verification) -> tuple[int, list[str]]:
    known = {(row.trace.ts, row.trace.trace_id): row for row in rows.traces}
    verdicts = sorted(rows.verdicts, key=lambda v: (v.ts, v.trace_id))
    keys = [(v, known.get((v.ts, v.trace_id))) for v in verdicts]
    late = [row.trace.trace_id for row in rows.traces if row.trace.ts > wanted.now + _AHEAD]
    early = [v.trace_id for v in verdicts if v.verified_at < v.ts - _AHEAD]
    both = len(rows.traces) + len(verdicts)
    return {
        CheckName.LABELS: (both, []),
        CheckName.TIMES: (both, sorted({*late, *early})),
        CheckName.DUPLICATES: _duplicates(rows),
        CheckName.DRAWS_JUDGED: (sum(row.draw.drawn for row in rows.traces), []),
        CheckName.VERDICTS_TRACED: (len(verdicts), [v.trace_id for v, row in keys if row is None]),
        CheckName.VERDICTS_DRAWN: (
            len(verdicts), [v.trace_id for v, row in keys if row is not None and not row.draw.drawn]
        ),
        CheckName.HEADS_TRACED: (
            len(rows.heads), [h.trace_id for h in rows.heads.values() if (h.ts, h.trace_id) not in known]
        ),
        CheckName.POLICIES_KNOWN: _policies(rows),
        CheckName.DRAWS_AGREE: (len(rows.traces), _wrong_draws(rows, wanted.salt)),
    }[name]  # fmt: skip


def _duplicates(rows: Rows) -> tuple[int, list[str]]:
    times: dict[str, set[datetime]] = defaultdict(set)
    for row in rows.traces:
        times[row.trace.trace_id].add(row.trace.ts)
    return len(times), sorted(trace_id for trace_id, found in times.items() if len(found) > 1)


def _policies(rows: Rows) -> tuple[int, list[str]]:
    known = {record.policy_id for record in rows.records}
    ids = [row.draw.policy_id for row in rows.traces]
    unknown = sorted(name for name in set(ids) if not set(name.split("+")) <= known)
    return len(set(ids)), [f"{name} ({ids.count(name)} traces)" for name in unknown]


def _wrong_draws(rows: Rows, salt: bytes | None) -> list[str]:
    log = PolicyLog()
    for record in rows.records:
        log = log.add(record)
    return [
        row.trace.trace_id
        for row in sorted(rows.traces, key=lambda row: (row.trace.ts, row.trace.trace_id))
        if row.draw.drawn != (row.draw.u < row.draw.inclusion_probability)
        or (salt is not None and u_of(row.trace.trace_id, salt) != row.draw.u)
    ]


def _summary(row: DrawnTrace, newest: Verdict | None) -> TraceSummary:
    return TraceSummary(
        trace_id=row.trace.trace_id,
        ts=row.trace.ts,
        intent=row.trace.intent,
        tier=row.trace.tier,
        tenant=row.trace.tenant,
        is_drawn=row.draw.drawn,
        outcome=newest.outcome if newest else None,
        failures=newest.failures if newest else (),
        question=row.trace.question[:200],
        feedback=row.trace.feedback[:200],
    )


def _fits(summary: TraceSummary, wanted: ListFilter) -> bool:
    is_wanted = (
        wanted.intent in {None, summary.intent}
        and wanted.tier in {None, summary.tier}
        and wanted.outcome in {None, summary.outcome}
        and (wanted.failure is None or wanted.failure in summary.failures)
    )
    is_inside = (wanted.since is None or summary.ts >= wanted.since) and (
        wanted.until is None or summary.ts < wanted.until
    )
    return is_wanted and is_inside and (not wanted.has_feedback or summary.feedback != "")
