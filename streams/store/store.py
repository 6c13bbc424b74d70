"""The store's one face: writes that may be repeated, and named reads; nothing else of the project knows ClickHouse.

Synchronous and safe from several threads. One instance is one client, and on the embedded engine one client is one
lock: give each role (writer, readers, tally job) its own.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Self

from schemas.alert import Alert
from schemas.draw import DrawnTrace
from schemas.labels import AlertState, RiskTier
from schemas.policy import PolicyRecord
from schemas.tally import BUCKET, Tally
from schemas.verdict import Verdict
from streams.store import flagged, judged, listing, log, migrations, progress, spans, spend, suspects, tallies, traces
from streams.store.checks import Verification, run_checks
from streams.store.connection import Connection, connect
from streams.store.counts import read_counts
from streams.store.fates import Fates
from streams.store.fingerprints import StoredFingerprint, read_fingerprints
from streams.store.intents import read_intents, read_unmapped
from streams.store.leads import WantedLeads, read_leads
from streams.store.passages import PassageWriter
from streams.store.rebuild import Rebuilder, mark_for_rebuild
from streams.store.records import (
    AlertAction,
    Deploy,
    ExpiredCount,
    FlaggedAnswer,
    MigrationReport,
    RebuildReport,
    StoreCounts,
    StoredSpan,
    StoredTrace,
    Suspect,
    Tenants,
    TraceHead,
    Watermark,
)
from streams.store.reports import (
    CheckProgress,
    CheckResult,
    FoundTrace,
    IntentTraffic,
    Lead,
    StoreStats,
    TraceSummary,
    UnmappedShare,
)
from streams.store.reviews import Reviews, read_kept
from streams.store.stats import read_stats


class Store:
    """A client of the store. Every method may raise StoreUnavailable; writes also RowRejected (a row's content)."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._passages = PassageWriter(connection)
        self._rebuilder = Rebuilder(connection)
        self.fates = Fates(connection)
        """What became of each source message."""
        self.reviews = Reviews(connection)
        """Labels of reviewers, and the answers that they are about."""
        self.spending, self.judgements = spend.Spending(connection), judged.Judgements(connection)  # of judges

    @classmethod
    def open(cls, dsn: str, *, database: str = "groundwatch", read_only: bool = False) -> Self:
        """Connect to ``chdb:///absolute/path`` or ``http(s)://user:password@host:port``; creates the database.

        Raises ConfigError for what only a person can mend (address, login, missing package or database) and
        StoreUnavailable otherwise, naming the process that owns the path.
        """
        return cls(connect(dsn, database=database, read_only=read_only))

    def migrate(self, *, retention_days: int = 90, hourly_days: int = 400) -> MigrationReport:
        """Bring the tables up to date; repeatable. Raises ConfigError when store and files disagree.

        Rows older than ``retention_days`` by event time are dropped, hourly tallies after ``hourly_days`` (1 to 3650).
        """
        return migrations.migrate(self._connection, retention_days=retention_days, hourly_days=hourly_days)

    def close(self) -> None:
        """Disconnect; the instance cannot be used afterwards."""
        self._connection.close()

    def ping(self) -> bool:
        """True when the engine answers."""
        return self._connection.ping()

    def insert_traces(self, rows: Sequence[DrawnTrace]) -> None:
        """Store every trace with its draw and screening; batches up to 1,000 cost the least."""
        traces.insert_traces(self._connection, self._passages, rows)

    def insert_verdicts(self, rows: Sequence[Verdict]) -> None:
        """Store verdicts; the newest per trace and fingerprint counts. ``ts`` must be the trace's."""
        traces.insert_verdicts(self._connection, rows)

    def insert_heads(self, rows: Sequence[TraceHead]) -> None:
        """Store what is fixed at first emission."""
        progress.insert_heads(self._connection, rows)

    def heads(self, trace_ids: Sequence[str]) -> dict[str, TraceHead]:
        """The heads of those traces that have one."""
        return progress.read_heads(self._connection, trace_ids)

    def insert_spans(self, rows: Sequence[StoredSpan], now: datetime) -> None:
        """Store copies of spans of assembled traces, for three days from ``now``."""
        spans.insert_spans(self._connection, rows, now)

    def spans(self, trace_ids: Sequence[str]) -> dict[str, list[StoredSpan]]:
        """The stored copies of spans of those traces that have any, by trace id."""
        return spans.read_spans(self._connection, trace_ids)

    def insert_expired(self, rows: Sequence[ExpiredCount]) -> None:
        """Count traces older than retention, each once."""
        progress.insert_expired(self._connection, rows)

    def expired(self) -> dict[date, int]:
        """Distinct expired traces by day of their event time (UTC)."""
        return progress.read_expired(self._connection)

    def insert_policy(self, records: Sequence[PolicyRecord]) -> None:
        """Add to the policy log; only the newest heartbeat is kept."""
        log.insert_policy(self._connection, records)

    def policy_records(self) -> list[PolicyRecord]:
        """The policy log in order of publication."""
        return log.read_policy(self._connection)

    def insert_watermarks(self, rows: Sequence[Watermark]) -> None:
        """Store how far ingest is; the newest per partition counts."""
        progress.insert_watermarks(self._connection, rows)

    def watermarks(self) -> list[Watermark]:
        """The newest watermark of every partition."""
        return progress.read_watermarks(self._connection)

    def insert_alerts(self, rows: Sequence[Alert]) -> None:
        """Add states of alerts; the one inserted last is an alert's present one."""
        log.insert_alerts(self._connection, rows)

    def alerts(self, *, states: Sequence[AlertState] | None = None, limit: int = 100) -> list[Alert]:
        """Present states of alerts, last changed first."""
        return log.read_alerts(self._connection, states=states, limit=limit)

    def alert(self, alert_id: str) -> Alert | None:
        """The present state of one alert."""
        found = log.read_alerts(self._connection, states=None, limit=1, alert_id=alert_id) if alert_id else []
        return found[0] if found else None

    def insert_alert_actions(self, rows: Sequence[AlertAction]) -> None:
        """Add what people did to alerts."""
        log.insert_actions(self._connection, rows)

    def alert_actions(self, since: datetime) -> list[AlertAction]:
        """What people did since a moment, oldest first."""
        return log.read_actions(self._connection, since)

    def insert_suspects(self, rows: Sequence[Suspect], now: datetime) -> None:
        """Add deaths of processes on a message; the same death twice is one."""
        suspects.insert_suspects(self._connection, rows, now)

    def suspects(self) -> list[Suspect]:
        """The deaths of the last eight days, by position."""
        return suspects.read_suspects(self._connection)

    def insert_deploys(self, rows: Sequence[Deploy]) -> None:
        """Add deploys."""
        log.insert_deploys(self._connection, rows)

    def deploys(self, since: datetime) -> list[Deploy]:
        """Deploys since a moment, oldest first."""
        return log.read_deploys(self._connection, since)

    def rebuild_tallies(self, now: datetime) -> RebuildReport:
        """Recompute the tallies of every bucket that got rows since the last run; one caller at a time, anywhere."""
        return self._rebuilder.rebuild(now)

    def mark_for_rebuild(self, since: datetime, until: datetime) -> int:
        """Have the tallies of [since, until) recomputed by the next ``rebuild_tallies``; the number of buckets."""
        return mark_for_rebuild(self._connection, since, until)

    def changed_buckets(self, since_generation: int) -> tuple[list[datetime], int]:
        """Starts of 5-minute buckets whose numbers changed after a generation, and the newest generation."""
        return tallies.changed_buckets(self._connection, since_generation)

    def tallies(
        self, since: datetime, until: datetime, *, step: timedelta = BUCKET, by_version: bool = True
    ) -> list[Tally]:
        """Sums by cell over ``step`` for buckets in [since, until).

        ``step`` is a multiple of 5 minutes; multiples of an hour read the hourly table, which has no ``policy_id``.
        ``by_version=False`` merges versions and policies; stratum and fingerprint stay.
        """
        return tallies.read_tallies(self._connection, since, until, step=step, by_version=by_version)

    def draws_without_verdict(self, limit: int) -> list[DrawnTrace]:
        """Drawn traces without a verdict on their newest revision, oldest first."""
        return traces.read_waiting(self._connection, limit)

    def flagged(  # noqa: PLR0913 — filters, all keyword-only
        self,
        *,
        tenants: Tenants,
        intent: str | None = None,
        tier: RiskTier | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
    ) -> list[FlaggedAnswer]:
        """Answers found hallucinated with ``ts`` in [since, until), newest first, one entry a trace."""
        wanted = flagged.Wanted(intent=intent, tier=tier, since=since, until=until, limit=limit)
        return flagged.read_flagged(self._connection, tenants, wanted)

    def trace(self, trace_id: str, *, tenants: Tenants, ts: datetime | None = None) -> StoredTrace | None:
        """One trace with its verdicts, None when it is not there or not the reader's; give ``ts`` where it is known.

        A reviewed one is found when retention has taken the trace itself, too.
        """
        found = traces.read_trace(self._connection, trace_id, tenants, ts)
        return found or next(iter(read_kept(self._connection, [trace_id], tenants)), None)

    def counts(self) -> StoreCounts:
        """How much is stored, counted from the rows themselves (some 0.2 s per million traces)."""
        return read_counts(self._connection)

    def list_traces(self, wanted: listing.ListFilter, *, tenants: Tenants) -> list[TraceSummary]:
        """Traces that fit, newest first, at most ``wanted.limit``."""
        return listing.read_list(self._connection, tenants, wanted)

    def find_trace(self, text: str, *, tenants: Tenants) -> FoundTrace:
        """The trace of that id, else the only one whose id begins so; several are named."""
        return listing.find_trace(self._connection, text, tenants)

    def leads(self, wanted: WantedLeads, *, tenants: Tenants) -> list[Lead]:
        """Traces with feedback, drawn or not, with the newest outcome: negative feedback first, then the newest."""
        return read_leads(self._connection, tenants, wanted)

    def intents(self, since: datetime, until: datetime) -> list[IntentTraffic]:
        """Every stored intent and tier with its traffic in [since, until), most first."""
        return read_intents(self._connection, since, until)

    def unmapped(self, since: datetime, until: datetime) -> list[UnmappedShare]:
        """Traces and those without an intent by source topic and hour in [since, until), oldest first."""
        return read_unmapped(self._connection, since, until)

    def fingerprints(self, fingerprint: str = "") -> list[StoredFingerprint]:
        """What the fingerprints of stored verdicts are made of, last used first; one alone where it is given."""
        return read_fingerprints(self._connection, fingerprint)

    def stats(self) -> StoreStats:
        """Size, age and growth; seconds for millions of traces."""
        return read_stats(self._connection)

    def verify(self, wanted: Verification) -> Iterator[CheckProgress | CheckResult]:
        """Check what must hold, a step at a time; minutes for millions of traces, so give it a client of its own."""
        return run_checks(self._connection, wanted, self.policy_records())
