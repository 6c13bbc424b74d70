"""Labels of a golden case that deny each other, or that cannot have been given so."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from detectors.golden.near import normal
from detectors.golden.problem import Problem, doubt, fault
from detectors.golden.sets import GoldenSet
from schemas.golden import GoldenCase, Labelled, answer_label_of
from schemas.labels import ClaimLabel, Outcome

_ASSERTS = frozenset({ClaimLabel.SUPPORTED, ClaimLabel.CONTRADICTED, ClaimLabel.UNSUPPORTED})


def answer_problems(case: GoldenCase, line: int, now: datetime) -> Iterator[Problem]:
    """Faults in the labels of one case."""
    yield from _history(case, line, "answer_labels", case.answer_labels, now)
    for index, claim in enumerate(case.claims):
        yield from _history(case, line, f"claims[{index}].labels", claim.labels, now)
        if _packed(claim.text) not in _packed(case.answer):
            told = "does not stand in the answer word for word, so no detector's claim can be compared with it"
            yield doubt(case, line, f"claims[{index}].text", told)
    yield from _answer_against_claims(case, line)
    if not case.is_answerable and case.answer_label is Outcome.GROUNDED:
        told = "grounded, but the case is not answerable; correct one of the two (an answer that declines is abstained)"
        yield fault(case, line, "answer_labels", told)


def pair_problems(golden: GoldenSet) -> Iterator[Problem]:
    """Cases that label one answer (question, passages) in two ways, or call a question both answerable and not."""
    answers: dict[tuple[Any, ...], int] = {}
    questions: dict[tuple[Any, ...], int] = {}
    for place, case in enumerate(golden.cases):
        asked = (normal(case.question), case.corpus_version, case.intent)
        first = golden.cases[questions.setdefault(asked, place)]
        if first.is_answerable != case.is_answerable:
            told = (
                f"{first.case_id} asks the same and says the opposite; correct one, or tell their corpus_version apart"
            )
            yield fault(case, golden.line(place), "is_answerable", told)
        if not case.answer or case.answer_label is None:
            continue
        same = (*asked, normal(case.answer), tuple((seen.doc_id, seen.text) for seen in case.seen))
        first = golden.cases[answers.setdefault(same, place)]
        if first.answer_label is not case.answer_label:
            told = f"{case.answer_label}, but {first.case_id} calls the same answer {first.answer_label}; agree on one"
            yield fault(case, golden.line(place), "answer_labels", told)


def _answer_against_claims(case: GoldenCase, line: int) -> Iterator[Problem]:
    labels = [claim.label for claim in case.claims]
    own, derived = case.answer_label, answer_label_of(labels)
    if own is None:
        return
    if own is Outcome.ABSTAINED and _ASSERTS & set(labels):
        told = (
            "abstained, but a claim of the answer is labelled as a statement; an answer that declines asserts nothing"
        )
        yield fault(case, line, "answer_labels", told)
    elif own is not Outcome.ABSTAINED and derived is not None and own is not derived:
        told = f"{own.value}, but the labels of its claims make it {derived.value} (docs/labelling.md); correct one"
        yield fault(case, line, "answer_labels", told)


def _history(
    case: GoldenCase, line: int, where: str, labels: Sequence[Labelled[Any]], now: datetime
) -> Iterator[Problem]:
    for index, given in enumerate(labels):
        if not given.author.strip():
            yield fault(case, line, f"{where}[{index}].author", "is blank; say who gave the label")
        if given.at > now:
            yield fault(
                case, line, f"{where}[{index}].at", f"{given.at.isoformat()} lies in the future; correct the time"
            )
        if index and given.at < labels[index - 1].at:
            yield fault(
                case, line, f"{where}[{index}].at", "is earlier than the label before it; order them oldest first"
            )


def _packed(text: str) -> str:
    return " ".join(text.split())
