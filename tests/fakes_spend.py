"""What judges cost and what they said, in memory, as ``streams.store.spend`` and ``streams.store.judged`` keep it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from schemas.draw import DrawnTrace
from schemas.labels import RiskTier
from schemas.spend import SUPPORT_BINS, BudgetShare, ClaimSupports, Cost, Spend, SpendSum
from schemas.verdict import ClaimJudgement, Verdict
from tests.true_tallies import newest_traces, newest_verdicts

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class MemorySpending:
    """Every method of the real one."""

    def __init__(self, traces: Sequence[DrawnTrace] = (), verdicts: Sequence[Verdict] = ()) -> None:
        self._traces = traces
        self._verdicts = verdicts
        self._spend: dict[tuple[object, ...], tuple[int, Spend]] = {}
        self._shares: dict[tuple[datetime, str, str], tuple[int, BudgetShare]] = {}

    def insert(self, rows: Sequence[Spend], rev: int) -> None:
        """The highest ``rev`` counts."""
        for row in rows:
            key = (row.worker, row.minute, row.intent, row.tier, row.layer, row.route)
            if key not in self._spend or self._spend[key][0] <= rev:
                self._spend[key] = (rev, row)

    def sums(self, since: datetime, until: datetime, *, step: timedelta) -> list[SpendSum]:
        """By stretch and by who asked."""
        found: dict[tuple[object, ...], SpendSum] = {}
        for _, row in self._spend.values():
            if not since <= row.minute < until:
                continue
            start = row.minute - (row.minute - _EPOCH) % step
            key = (start, row.intent, row.tier.value, row.layer.value, row.route)
            known = found.get(key)
            cost = (known.cost if known else Cost()).plus(row.cost)
            found[key] = SpendSum(
                start=start, intent=row.intent, tier=row.tier, layer=row.layer, route=row.route, cost=cost
            )
        return [found[key] for key in sorted(found, key=str)]

    def supports(self, since: datetime, until: datetime) -> list[ClaimSupports]:
        """Of the newest verdict on each drawn trace."""
        newest: dict[str, Verdict] = {}
        for one in sorted(newest_verdicts(self._verdicts).values(), key=lambda one: (one.revision, one.verified_at)):
            newest[one.trace_id] = one
        found: dict[tuple[str, RiskTier, str], ClaimSupports] = {}
        for row in newest_traces(self._traces).values():
            verdict = newest.get(row.trace.trace_id)
            if verdict is None or not row.draw.drawn or not since <= row.trace.ts < until:
                continue
            key = (row.trace.intent, row.trace.tier, row.draw.stratum)
            known = found.get(key) or ClaimSupports(
                intent=key[0], tier=key[1], stratum=key[2], answers=0, bins=(0,) * SUPPORT_BINS
            )
            bins = list(known.bins)
            for claim in verdict.claims:
                if claim.support is not None:
                    bins[min(int(claim.support * SUPPORT_BINS), SUPPORT_BINS - 1)] += 1
            failed = known.failed + sum(claim.error is not None for claim in verdict.claims)
            found[key] = known.model_copy(update={"answers": known.answers + 1, "failed": failed, "bins": tuple(bins)})
        return [found[key] for key in sorted(found)]

    def insert_shares(self, rows: Sequence[BudgetShare], rev: int) -> None:
        """The highest ``rev`` counts."""
        for row in rows:
            key = (row.hour, row.pot, row.worker)
            if key not in self._shares or self._shares[key][0] <= rev:
                self._shares[key] = (rev, row)

    def shares(self, since: datetime) -> list[BudgetShare]:
        """By hour, pot and worker."""
        return [row for key, (_, row) in sorted(self._shares.items(), key=lambda item: item[0]) if key[0] >= since]


class MemoryJudgements:
    """Every method of the real one."""

    def __init__(self) -> None:
        self._said: dict[str, ClaimJudgement] = {}

    def insert(self, judgements: Mapping[str, ClaimJudgement], now: datetime) -> None:  # noqa: ARG002 — the last one is the newest
        """The newest counts."""
        self._said.update(judgements)

    def read(self, keys: Sequence[str]) -> dict[str, ClaimJudgement]:
        """Those that are known."""
        return {key: self._said[key] for key in keys if key in self._said}
