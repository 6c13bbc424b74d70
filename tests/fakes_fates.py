"""What became of source messages, in memory, as ``streams.store.fates`` keeps it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from schemas.draw import DrawnTrace
from schemas.verdict import Verdict
from streams.store import FateCounts, MessageFate, SourceFate, Stretch, TraceStates, UnstoredTrace
from tests.true_tallies import newest_traces, newest_verdicts


class MemoryFates:
    """Every method of the real one over the rows of a store in memory."""

    def __init__(self, traces: Sequence[DrawnTrace], verdicts: Sequence[Verdict]) -> None:
        self._traces = traces
        self._verdicts = verdicts
        self._fates: dict[tuple[str, int, int], tuple[datetime, MessageFate]] = {}
        self._unstored: dict[tuple[str, str], tuple[datetime, UnstoredTrace]] = {}

    def insert(self, rows: Sequence[MessageFate], handled_at: datetime) -> None:
        """Of a position the row that was handled last counts."""
        for row in rows:
            key = (row.topic, row.partition, row.offset)
            if key not in self._fates or self._fates[key][0] <= handled_at:
                self._fates[key] = (handled_at, row)

    def insert_unstored(self, rows: Sequence[UnstoredTrace], closed_at: datetime) -> None:
        """A trace counts once."""
        self._unstored.update({(row.topic, row.trace_id): (closed_at, row) for row in rows})

    def skip(self, stretch: Stretch, at: datetime) -> None:
        """Offsets without a row are skipped, and dead letters."""
        known = {row.offset for row in self._within(stretch) if row.fate is not SourceFate.DEAD_LETTER}
        place = {"topic": stretch.topic, "partition": stretch.partition, "recorded_at": at, "fate": SourceFate.SKIPPED}
        offsets = [offset for offset in range(stretch.first, stretch.end) if offset not in known]
        self.insert([MessageFate(offset=offset, **place) for offset in offsets], at)

    def starts(self, since: datetime) -> dict[tuple[str, int], int]:
        """The first offset of each partition."""
        found: dict[tuple[str, int], int] = {}
        for _, row in self._fates.values():
            if row.recorded_at >= since:
                key = (row.topic, row.partition)
                found[key] = min(row.offset, found.get(key, row.offset))
        return found

    def counts(self, stretch: Stretch, *, since: datetime, kept_since: datetime) -> dict[SourceFate, FateCounts]:
        """Messages of a stretch by fate."""
        found: dict[SourceFate, FateCounts] = {}
        for row in self._within(stretch):
            old = found.get(row.fate, FateCounts())
            is_kept = row.recorded_at >= since and row.oldest_ts is not None and row.oldest_ts >= kept_since
            found[row.fate] = FateCounts(
                messages=old.messages + 1,
                stored=old.stored + row.stored,
                kept=old.kept + (row.stored if is_kept else 0),
                duplicates=old.duplicates + row.duplicates,
                expired=old.expired + row.expired,
                refused=old.refused + row.refused,
                spans=old.spans + row.spans,
            )
        return found

    def gaps(self, stretch: Stretch, *, limit: int) -> list[tuple[int, int]]:
        """Pieces of a stretch without a row."""
        found = []
        before = stretch.first - 1
        for offset in [*sorted(row.offset for row in self._within(stretch)), stretch.end]:
            if offset - before > 1:
                found.append((before + 1, offset - 1))
            before = offset
        return found[:limit]

    def states(self, since: datetime, *, kept_since: datetime) -> dict[str, TraceStates]:
        """Traces by source topic, and what became of their draws."""
        judged = _by_id(newest_verdicts(self._verdicts).values())
        found: dict[str, TraceStates] = {}
        for row in newest_traces(self._traces).values():
            source = row.trace.source
            if source is None or source.recorded_at < since:
                continue
            state = _state(row, judged.get(row.trace.trace_id)) if row.draw.drawn else None
            one = TraceStates(
                stored=1,
                kept=int(row.trace.ts >= kept_since),
                drawn=int(row.draw.drawn),
                **({state: 1} if state else {}),
            )
            found[source.topic] = found.get(source.topic, TraceStates()).plus(one)
        stored = {row.trace.trace_id for row in self._traces}
        for closed_at, gone in self._unstored.values():
            if closed_at >= since and gone.trace_id not in stored:
                found[gone.topic] = found.get(gone.topic, TraceStates()).plus(TraceStates(**{gone.fate: 1}))
        return found

    def pending_ids(self, since: datetime, *, limit: int) -> set[str]:
        """Drawn ones without a verdict."""
        judged = _by_id(newest_verdicts(self._verdicts).values())
        ids = {
            row.trace.trace_id
            for row in newest_traces(self._traces).values()
            if row.draw.drawn
            and row.trace.source is not None
            and row.trace.source.recorded_at >= since
            and _state(row, judged.get(row.trace.trace_id)) == "pending"
        }
        return set(sorted(ids)[:limit])

    def _within(self, stretch: Stretch) -> list[MessageFate]:
        return [
            row
            for _, row in self._fates.values()
            if (row.topic, row.partition) == (stretch.topic, stretch.partition)
            and stretch.first <= row.offset < stretch.end
        ]


def _by_id(verdicts: Iterable[Verdict]) -> Mapping[str, Verdict]:
    return {one.trace_id: one for one in sorted(verdicts, key=lambda one: (one.revision, one.verified_at))}


def _state(row: DrawnTrace, verdict: Verdict | None) -> str:
    if verdict is None or verdict.revision < row.trace.revision:
        return "pending"
    kind, _, reason = verdict.outcome.value.partition(":")
    return {"error": "errors", "unresolved": "unresolved"}.get(kind, "judged") if reason else "judged"
