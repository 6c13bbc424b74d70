"""Which answers a review asks about: drawn from the judged ones of some days, by verdict, and never asked twice."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sampling.review_draw import FLAGGED_SHARE, Candidate, ReviewDraw, draw_reviews
from sampling.review_labels import Reviewed, answers_of, reviewed
from schemas.errors import NotReached
from schemas.labels import Outcome
from schemas.review import ReviewFrame, ReviewLabel, ReviewStratum
from streams.reviews.refs import ReviewRef
from streams.reviews.rows import ReviewRow, review_row, verdict_of
from streams.store import AllTenants, Reviewable, ReviewFilter, Store, StoredTrace, Tenants

PER_WEEK = 100
"""Fresh labels a week that keep a corrected rate of four weeks honest while detector and traffic drift."""


class Kind(StrEnum):
    """Which answers: drawn for an estimate, with one label, in dispute, or named by somebody."""

    DRAWN = "drawn"
    SECOND_OPINION = "second_opinion"
    DISPUTED = "disputed"
    NAMED = "named"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to export; ``fingerprint`` empty: the detector of the newest verdict.

    ``reviewer`` is who labels now: a second opinion is never asked of whoever gave the first. ``trace_ids`` are those
    of the kind ``named``.
    """

    answers: ReviewFilter
    count: int = PER_WEEK
    flagged_share: float = FLAGGED_SHARE
    fingerprint: str = ""
    kind: Kind = Kind.DRAWN
    reviewer: str = ""
    is_blind: bool = True
    trace_ids: tuple[str, ...] = ()


def export(store: Store, wanted: Wanted, salt: bytes, tenants: Tenants) -> list[ReviewRow]:
    """The rows of one export. Raises NotReached when nothing was judged on these days, and what the store raises."""
    items = reviewed(store.reviews.labels(wanted.answers, tenants=tenants))
    refs = _refs(store, wanted, items, salt, tenants)
    answers = store.reviews.answers([(ref.ts, ref.trace_id) for ref in refs], tenants=tenants)
    found = [(ref, answers.get((ref.ts, ref.trace_id))) for ref in refs]
    said = {one.item: _told(one) for one in items} if wanted.kind is Kind.DISPUTED else {}
    return [
        review_row(_with_claims(ref, stored), stored, salt, is_blind=wanted.is_blind, said=said)
        for ref, stored in found
        if stored is not None
    ]


def _refs(store: Store, wanted: Wanted, items: Sequence[Reviewed], salt: bytes, tenants: Tenants) -> list[ReviewRef]:
    match wanted.kind:
        case Kind.SECOND_OPINION:
            return second_opinions(items, wanted.count, wanted.reviewer)
        case Kind.DISPUTED:
            return disputed(items, wanted.count)
        case Kind.NAMED:
            return [_named(store, trace_id, wanted.fingerprint, tenants) for trace_id in wanted.trace_ids]
    fingerprint = wanted.fingerprint or store.reviews.newest_fingerprint(wanted.answers)
    if not fingerprint:
        raise NotReached("no answer was judged in this time; widen --since, or look at `groundwatch traces list`")
    pool = store.reviews.pool(wanted.answers, fingerprint, tenants=tenants)
    frame = _frame(wanted.answers, tenants)
    return [
        ref.model_copy(update={"frame": frame.model_copy(update={"limit": limit})})
        for ref, limit in drawn_refs(pool, items, fingerprint, wanted, salt)
    ]


def drawn_refs(
    pool: Sequence[Reviewable], items: Sequence[Reviewed], fingerprint: str, wanted: Wanted, salt: bytes
) -> list[tuple[ReviewRef, float | None]]:
    """What is drawn from a pool, and the limit of its draw: nothing that a draw had labelled before."""
    before = {one.item[:2]: one.drawn for one in answers_of(items) if one.drawn is not None}
    candidates = [
        Candidate(
            place,
            one.trace_id,
            one.outcome is Outcome.HALLUCINATED,
            one.inclusion_probability,
            is_labelled=(one.ts, one.trace_id) in before,
        )
        for place, one in enumerate(pool)
        if _is_free(before.get((one.ts, one.trace_id)), fingerprint)
    ]
    drawn = draw_reviews(candidates, wanted.count, salt, wanted.flagged_share)
    return [(_ref(pool[one.place], one, fingerprint), one.limit) for one in drawn]


def second_opinions(items: Collection[Reviewed], count: int, reviewer: str) -> list[ReviewRef]:
    """Answers with the label of one reviewer, of another than ``reviewer``, longest waiting first."""
    once = [one for one in answers_of(items) if len(one.latest) == 1 and one.latest[0].reviewer != reviewer]
    return [_ref_again(one, is_second_opinion=True) for one in once[:count]]


def disputed(items: Collection[Reviewed], count: int) -> list[ReviewRef]:
    """Answers on which, or on a claim of which, reviewers disagree, longest waiting first."""
    open_ones = {one.item[:2] for one in items if not one.is_settled}
    first = {one.item[:2]: one for one in reversed([*items]) if one.item[:2] in open_ones}
    return [_ref_again(one, is_second_opinion=False) for one in list(first.values())[::-1][:count]]


def _named(store: Store, trace_id: str, fingerprint: str, tenants: Tenants) -> ReviewRef:
    stored = store.trace(trace_id, tenants=tenants)
    judged = [one for one in stored.verdicts if fingerprint in {"", one.fingerprint}] if stored else []
    if stored is None or not judged:
        what = "no trace" if stored is None else "no verdict on trace"
        raise NotReached(f"{what} {trace_id[:60]!r}; `groundwatch traces list` shows ids")
    trace = stored.drawn.trace
    return ReviewRef(
        trace_id=trace.trace_id,
        ts=trace.ts,
        revision=judged[0].revision,
        fingerprint=judged[0].fingerprint,
        claims=0,
        stratum=ReviewStratum.ASKED,
        probability=1.0,
        draw_probability=1.0,
        intent=trace.intent,
        tier=trace.tier,
        tenant=trace.tenant,
    )


def _told(one: Reviewed) -> str:
    return "; ".join(f"{label.reviewer}: {label.label}" for label in one.latest)


def _frame(answers: ReviewFilter, tenants: Tenants) -> ReviewFrame:
    names = () if isinstance(tenants, AllTenants) else tuple(sorted(tenants))
    return ReviewFrame(
        since=answers.since, until=answers.until, intents=answers.intents, tier=answers.tier, tenants=names
    )


def _is_free(before: ReviewLabel | None, fingerprint: str) -> bool:
    return before is None or before.fingerprint == fingerprint


def _ref(one: Reviewable, drawn: ReviewDraw, fingerprint: str) -> ReviewRef:
    return ReviewRef(
        trace_id=one.trace_id,
        ts=one.ts,
        revision=one.revision,
        fingerprint=fingerprint,
        claims=0,
        stratum=drawn.stratum,
        probability=drawn.probability,
        draw_probability=one.inclusion_probability,
        intent=one.intent,
        tier=one.tier,
        tenant=one.tenant,
    )


def _ref_again(one: Reviewed, *, is_second_opinion: bool) -> ReviewRef:
    label = one.drawn or one.latest[0]
    same = label.model_dump(include=set(ReviewRef.model_fields) - {"claims", "is_second_opinion"})
    return ReviewRef(**same, claims=0, is_second_opinion=is_second_opinion)


def _with_claims(ref: ReviewRef, stored: StoredTrace) -> ReviewRef:
    verdict = verdict_of(stored, ref.fingerprint)
    return ref.model_copy(update={"claims": len(verdict.claims) if verdict else 0})
