"""What the labels of some days say: the corrected rate beside the apparent one, agreement, and what to talk through."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from sampling.agreement import cohen_kappa
from sampling.corrected import CorrectedRate, corrected_by_slice
from sampling.review_labels import Reviewed, answers_of, opinions, reviewed
from schemas.base import Record, UtcDatetime
from schemas.labels import RiskTier
from schemas.review import ReviewStratum
from schemas.slice import Slice
from schemas.tally import Tally
from streams.store import ReviewFilter, Store, Tenants

ROLLING = timedelta(days=28)
"""Labels of four weeks: enough of them, and not older than the drift of detector and traffic allows."""
MOST_DISAGREEMENTS = 200
_STEP = timedelta(days=1)


class SliceCorrected(Record):
    """A slice with its corrected rate."""

    intent: str
    tier: RiskTier
    corrected: CorrectedRate


class KappaRow(Record):
    """Agreement of the first two reviewers on answers or claims, of one intent or of all (empty)."""

    what: str
    intent: str = ""
    n: int
    observed: float | None
    kappa: float | None
    low: float
    high: float


class Opinion(Record):
    """One reviewer's newest label."""

    reviewer: str
    label: str
    at: UtcDatetime
    note: str = ""


class Disagreement(Record):
    """An answer or a claim on which reviewers disagree and that nobody settled yet."""

    trace_id: str
    ts: UtcDatetime
    intent: str
    claim_index: int | None
    opinions: tuple[Opinion, ...]


class ReviewStats(Record):
    """Labels of [since, until), counted once an answer or claim; rates are of one detector."""

    since: UtcDatetime
    until: UtcDatetime
    fingerprint: str
    answers: int
    claims: int
    reviewers: dict[str, int]
    by_stratum: dict[ReviewStratum, int]
    labels: dict[str, int]
    corrected: CorrectedRate
    slices: tuple[SliceCorrected, ...]
    agreement: tuple[KappaRow, ...]
    disagreements: tuple[Disagreement, ...]


@dataclass(frozen=True, slots=True)
class StatsWanted:
    """Which labels; ``seed`` fixes the draws behind intervals, ``fingerprint`` empty: that of the newest verdict."""

    answers: ReviewFilter
    fingerprint: str = ""
    seed: int = 0


def rolling(now: datetime) -> ReviewFilter:
    """The last four weeks."""
    return ReviewFilter(now - ROLLING, now)


def review_stats(store: Store, wanted: StatsWanted, tenants: Tenants) -> ReviewStats:
    """Read and summarise; raises what the store raises."""
    fingerprint = wanted.fingerprint or store.reviews.newest_fingerprint(wanted.answers)
    labels = store.reviews.labels(wanted.answers, tenants=tenants)
    tallies = store.tallies(wanted.answers.since, wanted.answers.until, step=_STEP, by_version=False)
    return summarised(reviewed(labels), _of(tallies, wanted.answers), fingerprint, wanted)


def summarised(
    items: Sequence[Reviewed], tallies: Sequence[Tally], fingerprint: str, wanted: StatsWanted
) -> ReviewStats:
    """The numbers from labels and tallies."""
    answers = answers_of(items)
    by_slice: dict[Slice, list[Tally]] = {}
    for tally in tallies:
        by_slice.setdefault(tally.slice, []).append(tally)
    whole, slices = corrected_by_slice(by_slice, answers, fingerprint, np.random.default_rng(wanted.seed))
    return ReviewStats(
        since=wanted.answers.since,
        until=wanted.answers.until,
        fingerprint=fingerprint,
        answers=len(answers),
        claims=len(items) - len(answers),
        reviewers=dict(Counter(label.reviewer for one in answers for label in one.latest)),
        by_stratum=dict(Counter(one.drawn.stratum if one.drawn else ReviewStratum.ASKED for one in answers)),
        labels=dict(Counter(one.label.value for one in answers if one.label is not None)),
        corrected=whole,
        slices=tuple(
            SliceCorrected(intent=cell.intent, tier=cell.tier, corrected=found)
            for cell, found in sorted(slices.items(), key=lambda item: item[0].slice_key)
        ),
        agreement=tuple(_agreement(items)),
        disagreements=tuple(_disagreement(one) for one in items if not one.is_settled)[:MOST_DISAGREEMENTS],
    )


def _agreement(items: Sequence[Reviewed]) -> Iterable[KappaRow]:
    for what, of_claims in (("answers", False), ("claims", True)):
        pairs: dict[str, list[tuple[str, str]]] = {"": []}
        for one in items:
            two = opinions(one)
            if two is None or (one.item[2] is not None) != of_claims:
                continue
            pair = two[0].label.value, two[1].label.value
            pairs[""].append(pair)
            pairs.setdefault(two[0].intent, []).append(pair)
        for intent, given in pairs.items():
            if given:
                found = cohen_kappa(given)
                yield KappaRow(
                    what=what,
                    intent=intent,
                    n=found.n,
                    observed=found.observed,
                    kappa=found.kappa,
                    low=found.low,
                    high=found.high,
                )


def _disagreement(one: Reviewed) -> Disagreement:
    ts, trace_id, claim = one.item
    said = tuple(
        Opinion(reviewer=label.reviewer, label=label.label.value, at=label.at, note=label.note) for label in one.latest
    )
    return Disagreement(trace_id=trace_id, ts=ts, intent=one.latest[0].intent, claim_index=claim, opinions=said)


def _of(tallies: Iterable[Tally], wanted: ReviewFilter) -> list[Tally]:
    return [
        tally
        for tally in tallies
        if (not wanted.intents or tally.intent in wanted.intents) and wanted.tier in {None, tally.tier}
    ]
