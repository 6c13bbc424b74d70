"""What the fold eats: one closed 5-minute bucket with all its tallies, and running totals of them by stratum."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from schemas.labels import RiskTier
from schemas.slice import Slice
from schemas.tally import BUCKET, Tally


class SeriesKey(NamedTuple):
    """One series of the tests: an alert cell seen by one detector."""

    intent: str
    tier: RiskTier
    fingerprint: str

    @property
    def cell(self) -> "CellKey":
        """The alert cell without the detector."""
        return CellKey(self.intent, self.tier)


class CellKey(NamedTuple):
    """An alert cell as a plain key; ``Slice`` is its public form."""

    intent: str
    tier: RiskTier

    @property
    def slice(self) -> Slice:
        """The public form."""
        return Slice(intent=self.intent, tier=self.tier)


@dataclass(frozen=True, slots=True)
class DeployMark:
    """A change that traces do not carry, told by a person or a pipeline; ``intent`` ``*`` stands for all."""

    at: datetime
    field: str
    value: str
    intent: str = "*"


@dataclass(frozen=True, slots=True)
class ClosedBucket:
    """All tally rows of one bucket that will not change soon, and the deploys marked inside it."""

    start: datetime
    tallies: Sequence[Tally] = ()
    deploys: Sequence[DeployMark] = ()
    length: timedelta = BUCKET

    @property
    def end(self) -> datetime:
        """End of the bucket, the event time of whatever it decides."""
        return self.start + self.length


class Totals(NamedTuple):
    """The additive measures of verdict rows that alerts report on, named as in ``Tally``."""

    judged: float = 0
    hallucinated: float = 0
    sum_w: float = 0
    sum_wk: float = 0
    sum_w2: float = 0
    nested_judged: float = 0
    nested_hallucinated: float = 0


TotalsByStratum = Mapping[str, Totals]


def totals_of(rows: Iterable[Tally]) -> TotalsByStratum:
    """Sums by stratum; the order of the rows does not change a single bit of the result."""
    grouped: dict[str, list[Tally]] = {}
    for row in rows:
        grouped.setdefault(row.stratum, []).append(row)
    return {stratum: _sum(grouped[stratum]) for stratum in sorted(grouped)}


def plus(one: TotalsByStratum, other: TotalsByStratum) -> TotalsByStratum:
    """Both together."""
    added = dict(one)
    for stratum, totals in other.items():
        before = added.get(stratum)
        added[stratum] = totals if before is None else Totals._make(a + b for a, b in zip(before, totals, strict=True))
    return added


def minus(later: TotalsByStratum, earlier: TotalsByStratum) -> TotalsByStratum:
    """What was added between two readings of the same running totals."""
    return {
        stratum: Totals._make(
            a - b for a, b in zip(totals, earlier[stratum] if stratum in earlier else Totals(), strict=True)
        )
        for stratum, totals in later.items()
    }


def nested(totals: TotalsByStratum) -> tuple[float, float]:
    """Judged and hallucinated answers of the nested subsample, over all strata."""
    return (
        math.fsum(part.nested_judged for part in totals.values()),
        math.fsum(part.nested_hallucinated for part in totals.values()),
    )


def as_tallies(totals: TotalsByStratum, key: SeriesKey, start: datetime) -> list[Tally]:
    """The totals as rows of verdicts, the form in which ``sampling.rates`` estimates."""
    return [
        Tally(
            bucket=start,
            intent=key.intent,
            tier=key.tier,
            stratum=stratum,
            fingerprint=key.fingerprint,
            judged=round(part.judged),
            hallucinated=max(part.hallucinated, 0.0),
            sum_w=max(part.sum_w, 0.0),
            sum_wk=max(part.sum_wk, 0.0),
            sum_w2=max(part.sum_w2, 0.0),
            nested_judged=round(part.nested_judged),
            nested_hallucinated=max(part.nested_hallucinated, 0.0),
        )
        for stratum, part in totals.items()
        if part.judged > 0
    ]


def _sum(rows: Sequence[Tally]) -> Totals:
    if len(rows) == 1:
        return _measures(rows[0])
    return Totals._make(math.fsum(column) for column in zip(*map(_measures, rows), strict=True))


def _measures(row: Tally) -> Totals:
    return Totals(
        row.judged,
        row.hallucinated,
        row.sum_w,
        row.sum_wk,
        row.sum_w2,
        row.nested_judged,
        row.nested_hallucinated,
    )
