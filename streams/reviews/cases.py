"""Answers that reviewers labelled, as golden cases; what they still disagree about is left out."""

from collections.abc import Mapping, Sequence
from typing import Any

from sampling.review_labels import Reviewed, answers_of, reviewed
from schemas.golden import GoldenCase, GoldenClaim, GoldenPassage, Labelled
from schemas.labels import ClaimLabel, Outcome
from schemas.review import ReviewLabel
from streams.reviews.rows import verdict_of
from streams.store import ReviewFilter, Store, StoredTrace, Tenants


def golden_cases(store: Store, wanted: ReviewFilter, tenants: Tenants) -> tuple[list[GoldenCase], list[str]]:
    """A case for every settled answer, and why the others are none. Raises what the store raises."""
    labels = store.reviews.labels(wanted, tenants=tenants)
    items = reviewed(labels)
    answers = answers_of(items)
    stored = store.reviews.answers([(one.item[0], one.item[1]) for one in answers], tenants=tenants)
    histories: dict[tuple[object, ...], list[ReviewLabel]] = {}
    for label in labels:
        histories.setdefault((label.ts, label.trace_id, label.claim_index), []).append(label)
    cases: list[GoldenCase] = []
    refused: list[str] = []
    for one in answers:
        answer = stored.get((one.item[0], one.item[1]))
        if not one.is_settled:
            said = ", ".join(f"{label.reviewer}: {label.label}" for label in one.latest)
            refused.append(f"{one.item[1]}: reviewers disagree ({said}); settle it with `review import --adjudicate`")
        elif answer is None or not answer.drawn.trace.answer:
            refused.append(f"{one.item[1]}: the answer is no longer stored, so there is nothing to judge")
        else:
            cases.append(_case(one, answer, items, histories))
    return cases, refused


def case_of_stored(stored: StoredTrace) -> GoldenCase:
    """A stored trace as a case without labels; what the model was given is all that is known of its sources."""
    trace = stored.drawn.trace
    verdict = stored.verdicts[0] if stored.verdicts else None
    return GoldenCase(
        case_id=trace.trace_id[:200],
        question=trace.question or "(no question recorded)",
        given=_given(stored),
        answer=trace.answer or "",
        claims=_claims(tuple(judged.claim.text for judged in verdict.claims)) if verdict and trace.answer else (),
        intent=trace.intent,
        tier=trace.tier,
        locale=trace.locale,
        corpus_version=trace.versions.corpus,
        source_id=trace.conversation_id,
        trace_id=trace.trace_id,
    )


def _case(
    one: Reviewed,
    stored: StoredTrace,
    items: Sequence[Reviewed],
    histories: Mapping[tuple[object, ...], Sequence[ReviewLabel]],
) -> GoldenCase:
    """Settled claims with their histories; where the newest label is not the one that holds, that one comes last."""
    verdict = verdict_of(stored, one.latest[0].fingerprint)
    claims = []
    by_claim = {item.item[2]: item for item in items if item.item[:2] == one.item[:2] and item.is_settled}
    for index, judged in enumerate(verdict.claims if verdict else ()):
        own = histories.get((*one.item[:2], index), []) if index in by_claim else []
        labels = tuple(_labelled(Labelled[ClaimLabel], label) for label in _ordered(own))
        evidence = (judged.evidence.doc_id,) if judged.evidence and judged.evidence.doc_id else ()
        claims.append(GoldenClaim(text=judged.claim.text, labels=labels, evidence=evidence))
    answer_labels = tuple(_labelled(Labelled[Outcome], label) for label in _ordered(histories[one.item]))
    return case_of_stored(stored).model_copy(update={"claims": tuple(claims), "answer_labels": answer_labels})


def _ordered(labels: Sequence[ReviewLabel]) -> list[ReviewLabel]:
    """By time; an adjudication goes last, since its label is the one that holds."""
    return sorted(labels, key=lambda label: (label.is_adjudication, label.at))


def _labelled(kind: Any, label: ReviewLabel) -> Any:
    return kind(label=label.label, author=label.reviewer, at=label.at, note=label.note)


def _given(stored: StoredTrace) -> tuple[GoldenPassage, ...]:
    passages = stored.drawn.trace.passages or ()
    return tuple(
        GoldenPassage(
            doc_id=passage.doc_id or f"passage-{number}",
            text=passage.text,
            chunk_id=passage.chunk_id,
            version=passage.version,
        )
        for number, passage in enumerate(passages, start=1)
    )


def _claims(texts: Sequence[str]) -> tuple[GoldenClaim, ...]:
    return tuple(GoldenClaim(text=text) for text in texts if text)
