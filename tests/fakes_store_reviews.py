"""Reviews in memory with the behaviour of ``streams.store.reviews``, held to it by the contract tests."""

from collections.abc import Sequence
from datetime import datetime

from schemas.draw import DrawnTrace
from schemas.review import ReviewLabel
from schemas.verdict import Verdict
from streams.store import AllTenants, Reviewable, ReviewFilter, StoredTrace, Tenants
from tests.true_tallies import newest_traces, newest_verdicts

Key = tuple[datetime, str]


class MemoryReviews:
    """Over the lists of a store in memory, so that it sees what is stored later, too."""

    def __init__(self, traces: list[DrawnTrace], verdicts: list[Verdict]) -> None:
        self._traces = traces
        self._verdicts = verdicts
        self._labels: dict[tuple[object, ...], ReviewLabel] = {}
        self.kept: dict[Key, StoredTrace] = {}

    def insert_labels(self, rows: Sequence[ReviewLabel], *, tenants: Tenants) -> None:
        """The same label twice is one."""
        self.keep([(row.ts, row.trace_id) for row in rows], "reviewed", tenants=tenants)
        for row in rows:
            self._labels[row.trace_id, row.ts, row.claim_index, row.reviewer, row.at, row.label] = row

    def labels(self, wanted: ReviewFilter, *, tenants: Tenants) -> list[ReviewLabel]:
        """Oldest first."""
        found = [row for row in self._labels.values() if _fits(row, wanted, tenants)]
        return sorted(
            found,
            key=lambda row: (
                row.at, row.trace_id, -1 if row.claim_index is None else row.claim_index, row.reviewer, row.label
            ),
        )  # fmt: skip

    def pool(self, wanted: ReviewFilter, fingerprint: str, *, tenants: Tenants) -> list[Reviewable]:
        """By time."""
        traces = newest_traces(self._traces)
        found = [
            Reviewable(
                trace_id=verdict.trace_id,
                ts=verdict.ts,
                revision=verdict.revision,
                outcome=verdict.outcome,
                intent=row.trace.intent,
                tier=row.trace.tier,
                tenant=row.trace.tenant,
                inclusion_probability=row.draw.inclusion_probability,
            )
            for verdict in newest_verdicts(self._verdicts).values()
            for row in traces.values()
            if (row.trace.ts, row.trace.trace_id) == (verdict.ts, verdict.trace_id)
            and verdict.fingerprint == fingerprint
            and verdict.outcome.is_judged
            and row.draw.drawn
            and _fits(row.trace, wanted, tenants)
        ]
        return sorted(found, key=lambda one: (one.ts, one.trace_id))

    def newest_fingerprint(self, wanted: ReviewFilter) -> str:
        """Empty when nothing was judged."""
        times: dict[str, datetime] = {}
        for verdict in self._verdicts:
            if wanted.since <= verdict.ts < wanted.until:
                times[verdict.fingerprint] = max(
                    verdict.verified_at, times.get(verdict.fingerprint, verdict.verified_at)
                )
        return min(times, key=lambda name: (-times[name].timestamp(), name), default="")

    def keep(self, keys: Sequence[Key], _reason: str, *, tenants: Tenants) -> int:
        """How many were there."""
        found = self._stored(keys, tenants)
        self.kept.update(found)
        return len(found)

    def answers(self, keys: Sequence[Key], *, tenants: Tenants) -> dict[Key, StoredTrace]:
        """Stored ones before copies."""
        found = {**self._copies(tenants), **self._stored(keys, tenants)}
        return {key: found[key] for key in keys if key in found}

    def _copies(self, tenants: Tenants) -> dict[Key, StoredTrace]:
        return {key: kept for key, kept in self.kept.items() if _is_seen(kept.drawn.trace.tenant, tenants)}

    def _stored(self, keys: Sequence[Key], tenants: Tenants) -> dict[Key, StoredTrace]:
        found = {}
        for row in newest_traces(self._traces).values():
            key = (row.trace.ts, row.trace.trace_id)
            if key in keys and _is_seen(row.trace.tenant, tenants):
                own = [one for one in newest_verdicts(self._verdicts).values() if (one.ts, one.trace_id) == key]
                own.sort(key=lambda one: one.fingerprint)
                own.sort(key=lambda one: one.verified_at, reverse=True)
                found[key] = StoredTrace(drawn=row, verdicts=own)
        return found


def _fits(row: object, wanted: ReviewFilter, tenants: Tenants) -> bool:
    return (
        wanted.since <= row.ts < wanted.until  # type: ignore[attr-defined]  # a label or a trace
        and (not wanted.intents or row.intent in wanted.intents)  # type: ignore[attr-defined]
        and wanted.tier in {None, row.tier}  # type: ignore[attr-defined]
        and _is_seen(row.tenant, tenants)  # type: ignore[attr-defined]
    )


def _is_seen(tenant: str, tenants: Tenants) -> bool:
    return isinstance(tenants, AllTenants) or tenant in tenants
