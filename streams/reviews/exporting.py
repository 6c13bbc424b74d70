"""Which answers a review asks about: drawn from the judged ones of some days, by verdict, and never asked twice."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sampling.review_draw import FLAGGED_SHARE, Candidate, ReviewDraw, draw_reviews
from sampling.review_labels import Reviewed, answers_of, reviewed
from schemas.errors import NotReached
from schemas.labels import Outcome
from schemas.review import ReviewLabel
from streams.reviews.refs import ReviewRef
from streams.reviews.rows import ReviewRow, review_row, verdict_of
from streams.store import Reviewable, ReviewFilter, Store, StoredTrace, Tenants

PER_WEEK = 100
"""Fresh labels a week that keep a corrected rate of four weeks honest while detector and traffic drift."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to export; ``fingerprint`` empty: the detector of the newest verdict.

    ``second_opinion_of``: answers that one reviewer labelled, for another one to look at; the name is that of who
    labels now, so that nobody is asked again about what they labelled; empty otherwise.
    """

    answers: ReviewFilter
    count: int = PER_WEEK
    flagged_share: float = FLAGGED_SHARE
    fingerprint: str = ""
    is_second_opinion: bool = False
    reviewer: str = ""
    is_blind: bool = True


def export(store: Store, wanted: Wanted, salt: bytes, tenants: Tenants) -> list[ReviewRow]:
    """The rows of one export. Raises NotReached when nothing was judged on these days, and what the store raises."""
    fingerprint = wanted.fingerprint or store.reviews.newest_fingerprint(wanted.answers)
    if not fingerprint:
        raise NotReached("no answer was judged in this time; widen --since, or look at `groundwatch traces list`")
    labels = store.reviews.labels(wanted.answers, tenants=tenants)
    if wanted.is_second_opinion:
        refs = second_opinions(reviewed(labels), wanted.count, wanted.reviewer)
    else:
        pool = store.reviews.pool(wanted.answers, fingerprint, tenants=tenants)
        refs = drawn_refs(pool, labels, fingerprint, wanted, salt)
    answers = store.reviews.answers([(ref.ts, ref.trace_id) for ref in refs], tenants=tenants)
    found = [(ref, answers.get((ref.ts, ref.trace_id))) for ref in refs]
    return [
        review_row(_with_claims(ref, stored), stored, salt, is_blind=wanted.is_blind)
        for ref, stored in found
        if stored is not None
    ]


def drawn_refs(
    pool: Sequence[Reviewable], labels: Sequence[ReviewLabel], fingerprint: str, wanted: Wanted, salt: bytes
) -> list[ReviewRef]:
    """What is drawn from a pool: neither what the draw had labelled before, nor what it had on another detector."""
    before = {one.item[:2]: one.drawn for one in answers_of(reviewed(labels)) if one.drawn is not None}
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
    return [_ref(pool[one.place], one, fingerprint) for one in drawn]


def second_opinions(items: Collection[Reviewed], count: int, reviewer: str) -> list[ReviewRef]:
    """Answers with the label of one reviewer, of another than ``reviewer``, longest waiting first."""
    once = [one for one in answers_of(items) if len(one.latest) == 1 and one.latest[0].reviewer != reviewer]
    return [_ref_again(one.drawn or one.latest[0]) for one in once[:count]]


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


def _ref_again(label: ReviewLabel) -> ReviewRef:
    return ReviewRef(
        **label.model_dump(include=set(ReviewRef.model_fields) - {"claims", "is_second_opinion"}),
        claims=0,
        is_second_opinion=True,
    )


def _with_claims(ref: ReviewRef, stored: StoredTrace) -> ReviewRef:
    verdict = verdict_of(stored, ref.fingerprint)
    return ref.model_copy(update={"claims": len(verdict.claims) if verdict else 0})
