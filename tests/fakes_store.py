"""A store in memory with the behaviour of ``streams.store.Store``, held to it by the contract tests."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta

from schemas.alert import Alert
from schemas.draw import DrawnTrace
from schemas.labels import AlertState, Outcome, RiskTier
from schemas.policy import PolicyRecord
from schemas.tally import BUCKET, Tally, bucket_start
from schemas.verdict import Verdict
from streams.store import (
    AlertAction,
    AllTenants,
    CheckResult,
    Deploy,
    ExpiredCount,
    FlaggedAnswer,
    FoundTrace,
    IntentTraffic,
    Lead,
    ListFilter,
    MigrationReport,
    RebuildReport,
    StoreCounts,
    StoredSpan,
    StoredTrace,
    StoreStats,
    Suspect,
    Tenants,
    TraceHead,
    TraceSummary,
    UnmappedShare,
    Verification,
    WantedLeads,
    Watermark,
)
from tests import fakes_store_reads
from tests.fakes_fates import MemoryFates
from tests.fakes_spend import MemoryJudgements, MemorySpending
from tests.fakes_store_reads import Rows
from tests.fakes_store_reviews import MemoryReviews
from tests.true_tallies import cell_key, newest_traces, newest_verdicts, summed, true_tallies

_HOUR = timedelta(hours=1)


class MemoryStore:
    """Every method of the real store; nothing is ever unavailable. ``closed`` says that ``close`` was called."""

    def __init__(self) -> None:
        self.closed = False
        self._traces: list[DrawnTrace] = []
        self._verdicts: list[Verdict] = []
        self._heads: dict[str, TraceHead] = {}
        self._spans: dict[tuple[str, str, str], StoredSpan] = {}
        self._expired: dict[tuple[date, str], ExpiredCount] = {}
        self._policy: dict[tuple[datetime, str], PolicyRecord] = {}
        self._heartbeat: PolicyRecord | None = None
        self._watermarks: dict[tuple[str, int], Watermark] = {}
        self._alerts: dict[str, Alert] = {}
        self._actions: dict[tuple[datetime, str], AlertAction] = {}
        self._suspects: dict[tuple[str, int, int, int, str], Suspect] = {}
        self._deploys: dict[tuple[datetime, str, str, str], Deploy] = {}
        self._tallies: dict[tuple[object, ...], Tally] = {}
        self._generation = 0
        self._changed: dict[datetime, int] = {}
        self.reviews = MemoryReviews(self._traces, self._verdicts)
        self.fates = MemoryFates(self._traces, self._verdicts)
        self.spending, self.judgements = MemorySpending(self._traces, self._verdicts), MemoryJudgements()

    def migrate(self, **_days: int) -> MigrationReport:
        """Nothing to do."""
        return MigrationReport(applied={})

    def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True

    def ping(self) -> bool:
        """True until closed."""
        return not self.closed

    def insert_traces(self, rows: Sequence[DrawnTrace]) -> None:
        """Keep every delivery."""
        self._traces.extend(rows)

    def insert_verdicts(self, rows: Sequence[Verdict]) -> None:
        """Keep every delivery."""
        self._verdicts.extend(rows)

    def insert_heads(self, rows: Sequence[TraceHead]) -> None:
        """The largest revision counts."""
        for row in rows:
            known = self._heads.get(row.trace_id)
            if known is None or row.revision >= known.revision:
                self._heads[row.trace_id] = row

    def heads(self, trace_ids: Sequence[str]) -> dict[str, TraceHead]:
        """The heads of those traces that have one."""
        return {trace_id: self._heads[trace_id] for trace_id in trace_ids if trace_id in self._heads}

    def insert_spans(self, rows: Sequence[StoredSpan], _now: datetime) -> None:
        """The same copy twice is one."""
        for row in rows:
            self._spans.setdefault((row.span.trace_id, row.span.span_id, row.content_hash), row)

    def spans(self, trace_ids: Sequence[str]) -> dict[str, list[StoredSpan]]:
        """By trace id."""
        found: dict[str, list[StoredSpan]] = {}
        for (trace_id, *_), row in sorted(self._spans.items(), key=lambda item: item[0]):
            if trace_id in trace_ids:
                found.setdefault(trace_id, []).append(row)
        return found

    def insert_expired(self, rows: Sequence[ExpiredCount]) -> None:
        """The same trace counts once."""
        self._expired.update({(row.ts.date(), row.trace_id): row for row in rows})

    def expired(self) -> dict[date, int]:
        """Distinct traces by day."""
        return dict(sorted(Counter(day for day, _ in self._expired).items()))

    def insert_policy(self, records: Sequence[PolicyRecord]) -> None:
        """Keep entries, and the newest heartbeat."""
        for record in records:
            if record.complete_until is None:
                self._policy[record.published_at, record.policy_id] = record
            elif self._heartbeat is None or record.complete_until >= (
                self._heartbeat.complete_until or record.complete_until
            ):
                self._heartbeat = record

    def policy_records(self) -> list[PolicyRecord]:
        """In order of publication."""
        beats = [] if self._heartbeat is None else [self._heartbeat]
        entries = [record for _, record in sorted(self._policy.items(), key=lambda item: item[0])]
        return sorted([*entries, *beats], key=lambda record: record.published_at)

    def insert_watermarks(self, rows: Sequence[Watermark]) -> None:
        """The newest per partition counts."""
        for row in rows:
            known = self._watermarks.get((row.topic, row.partition))
            if known is None or row.at >= known.at:
                self._watermarks[row.topic, row.partition] = row

    def watermarks(self) -> list[Watermark]:
        """By topic and partition."""
        return [row for _, row in sorted(self._watermarks.items(), key=lambda item: item[0])]

    def insert_alerts(self, rows: Sequence[Alert]) -> None:
        """The last inserted state counts."""
        self._alerts.update({row.alert_id: row for row in rows})

    def alerts(self, *, states: Sequence[AlertState] | None = None, limit: int = 100) -> list[Alert]:
        """Last changed first."""
        rows = [row for row in self._alerts.values() if states is None or row.state in states]
        return sorted(sorted(rows, key=lambda row: row.alert_id), key=lambda row: row.updated_at, reverse=True)[:limit]

    def alert(self, alert_id: str) -> Alert | None:
        """The present state of one alert."""
        return self._alerts.get(alert_id)

    def insert_alert_actions(self, rows: Sequence[AlertAction]) -> None:
        """The same action twice is one."""
        self._actions.update({(row.at, f"{row.kind} {row.alert_id}"): row for row in rows})

    def alert_actions(self, since: datetime) -> list[AlertAction]:
        """Oldest first."""
        return [row for key, row in sorted(self._actions.items(), key=lambda item: item[0]) if key[0] >= since]

    def insert_suspects(self, rows: Sequence[Suspect], _now: datetime) -> None:
        """The same death twice is one."""
        self._suspects.update({(row.topic, row.partition, row.offset, row.recorded_ms, row.death): row for row in rows})

    def suspects(self) -> list[Suspect]:
        """By position."""
        return [row for _, row in sorted(self._suspects.items(), key=lambda item: item[0])]

    def insert_deploys(self, rows: Sequence[Deploy]) -> None:
        """The same deploy twice is one."""
        self._deploys.update({(row.at, row.intent, row.field, row.value): row for row in rows})

    def deploys(self, since: datetime) -> list[Deploy]:
        """Oldest first."""
        return [row for key, row in sorted(self._deploys.items(), key=lambda item: item[0]) if key[0] >= since]

    def rebuild_tallies(self, now: datetime) -> RebuildReport:  # noqa: ARG002 — nothing here is ever too old
        """Recompute everything and note the buckets whose numbers changed."""
        new = {cell_key(row): row for row in true_tallies(self._traces, self._verdicts)}
        changed = {key for key in new.keys() | self._tallies.keys() if new.get(key) != self._tallies.get(key)}
        self._generation += 1
        self._changed.update({key[0]: self._generation for key in changed if isinstance(key[0], datetime)})
        self._tallies = new
        buckets = len({key[0] for key in changed})
        return RebuildReport(generation=self._generation, buckets=buckets, cells=len(changed), took_seconds=0.0)

    def mark_for_rebuild(self, since: datetime, until: datetime) -> int:
        """Everything is always recomputed; the buckets of the whole hours are counted."""
        first = since.replace(minute=0, second=0, microsecond=0)
        last = until.replace(minute=0, second=0, microsecond=0)
        end = until if last == until else last + _HOUR
        moments = {bucket_start(row.trace.ts) for row in self._traces} | {
            bucket_start(row.ts) for row in self._verdicts
        }
        return sum(first <= moment < end for moment in moments)

    def changed_buckets(self, since_generation: int) -> tuple[list[datetime], int]:
        """Buckets changed after a generation."""
        buckets = sorted(bucket for bucket, generation in self._changed.items() if generation > since_generation)
        return buckets, max(self._generation, since_generation)

    def tallies(
        self, since: datetime, until: datetime, *, step: timedelta = BUCKET, by_version: bool = True
    ) -> list[Tally]:
        """Sums by cell; raises ValueError unless ``step`` is a multiple of a bucket."""
        if step < BUCKET or step % BUCKET:
            message = f"step {step}: use a multiple of {BUCKET}"
            raise ValueError(message)
        rows = list(self._tallies.values())
        is_hourly = not step % _HOUR
        if is_hourly:
            rows = summed(rows, step=_HOUR, by_policy=False)
        inside = [row for row in rows if since <= row.bucket < until]
        return summed(inside, step=step, by_version=by_version, by_policy=not is_hourly)

    def draws_without_verdict(self, limit: int) -> list[DrawnTrace]:
        """Oldest first."""
        judged: dict[str, int] = {}
        for verdict in self._verdicts:
            judged[verdict.trace_id] = max(verdict.revision, judged.get(verdict.trace_id, 0))
        rows = [
            row
            for row in newest_traces(self._traces).values()
            if row.draw.drawn and row.trace.revision > judged.get(row.trace.trace_id, 0)
        ]
        return sorted(rows, key=lambda row: (row.trace.ts, row.trace.trace_id))[:limit]

    def flagged(  # noqa: PLR0913 — the real store's filters
        self,
        *,
        tenants: Tenants,
        intent: str | None = None,
        tier: RiskTier | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
    ) -> list[FlaggedAnswer]:
        """Newest first, one a trace."""
        traces = newest_traces(self._traces)
        answers: dict[tuple[datetime, str], FlaggedAnswer] = {}
        verdicts = sorted(newest_verdicts(self._verdicts).items(), key=lambda item: item[1].verified_at)
        for (bucket, trace_id, _), verdict in verdicts:
            row = traces.get((bucket, trace_id))
            if row is None or verdict.outcome is not Outcome.HALLUCINATED or not _may_see(row, tenants):
                continue
            is_wanted = intent in {None, row.trace.intent} and tier in {None, row.trace.tier}
            is_inside = (since is None or row.trace.ts >= since) and (until is None or row.trace.ts < until)
            if is_wanted and is_inside:
                answers[row.trace.ts, trace_id] = FlaggedAnswer(trace=row.trace, draw=row.draw, verdict=verdict)
        ordered = sorted(
            sorted(answers.items(), key=lambda item: item[0][1]), key=lambda item: item[0][0], reverse=True
        )
        return [answer for _, answer in ordered][:limit]

    def trace(self, trace_id: str, *, tenants: Tenants, ts: datetime | None = None) -> StoredTrace | None:  # noqa: ARG002 — only a hint
        """One trace with its verdicts."""
        rows = [row for row in newest_traces(self._traces).values() if row.trace.trace_id == trace_id]
        seen = [row for row in rows if _may_see(row, tenants)]
        if not seen:
            return None
        verdicts = [row for row in newest_verdicts(self._verdicts).values() if row.trace_id == trace_id]
        ordered = sorted(
            sorted(verdicts, key=lambda row: row.fingerprint), key=lambda row: row.verified_at, reverse=True
        )
        return StoredTrace(drawn=max(seen, key=lambda row: row.trace.ts), verdicts=ordered)

    def counts(self) -> StoreCounts:
        """How much is stored."""
        traces, verdicts = newest_traces(self._traces).values(), newest_verdicts(self._verdicts).values()
        moments = [row.trace.ts for row in traces]
        return StoreCounts(
            traces=len(traces),
            drawn=sum(row.draw.drawn for row in traces),
            verdicts=len(verdicts),
            outcomes=dict(Counter(row.outcome for row in verdicts)),
            first_ts=min(moments, default=None),
            last_ts=max(moments, default=None),
            alerts_firing=sum(row.state is AlertState.FIRING for row in self._alerts.values()),
            generation=self._generation,
        )

    def list_traces(self, wanted: ListFilter, *, tenants: Tenants) -> list[TraceSummary]:
        """Newest first."""
        return fakes_store_reads.summaries(self._rows(tenants), wanted)

    def find_trace(self, text: str, *, tenants: Tenants) -> FoundTrace:
        """By id, else by a beginning that only one has."""
        exact = self.trace(text, tenants=tenants)
        if exact is not None:
            return FoundTrace(trace=exact, candidates=(text,))
        every = fakes_store_reads.summaries(self._rows(tenants), ListFilter(limit=len(self._traces)))
        ids = tuple(dict.fromkeys(row.trace_id for row in every if text and row.trace_id.startswith(text)))[:10]
        return FoundTrace(trace=self.trace(ids[0], tenants=tenants) if len(ids) == 1 else None, candidates=ids)

    def leads(self, wanted: WantedLeads, *, tenants: Tenants) -> list[Lead]:
        """Negative ones first."""
        return fakes_store_reads.leads(self._rows(tenants), wanted)

    def intents(self, since: datetime, until: datetime) -> list[IntentTraffic]:
        """Most traffic first."""
        return fakes_store_reads.intents(self._rows(AllTenants.ALL), since, until)

    def unmapped(self, since: datetime, until: datetime) -> list[UnmappedShare]:
        """Oldest first."""
        return fakes_store_reads.unmapped(self._rows(AllTenants.ALL), since, until)

    def stats(self) -> StoreStats:
        """Counts without bytes."""
        return fakes_store_reads.stats(self._rows(AllTenants.ALL))

    def verify(self, wanted: Verification) -> Iterator[CheckResult]:
        """Every check, without progress: it takes no time."""
        return fakes_store_reads.verify(self._rows(AllTenants.ALL), wanted)

    def _rows(self, tenants: Tenants) -> Rows:
        traces = [row for row in newest_traces(self._traces).values() if _may_see(row, tenants)]
        verdicts = list(newest_verdicts(self._verdicts).values())
        return Rows(traces, verdicts, self._heads, self.policy_records())


def _may_see(row: DrawnTrace, tenants: Tenants) -> bool:
    return isinstance(tenants, AllTenants) or row.trace.tenant in tenants
