"""Parts of sentences as claims, and back: what is a claim of its own when judged is one with its sentence when cut."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from detectors.claims.citations import find_citations
from schemas.claim import Claim
from schemas.labels import ClaimLabel
from schemas.verdict import ClaimVerdict


@dataclass(frozen=True, slots=True)
class Part:
    """A claim inside its sentence: ``sentence[start:end]``; ``subject`` is what it leaves out, ``rule`` what cut it."""

    start: int
    end: int
    subject: str
    rule: str


def part_claims(sentence: Claim, parts: Sequence[Part]) -> list[Claim]:
    """The claims of a sentence's parts, in order; the sentence itself where there is but one.

    A part without a citation takes over that of the next part with one: ``A and B [1]`` cites for both.
    """
    if len(parts) <= 1:
        return [sentence]
    made: list[Claim] = []
    following: tuple[str, ...] = ()
    for part in reversed(parts):
        text = sentence.text[part.start : part.end]
        following = find_citations(text) or following
        changes = {
            "start": sentence.start + part.start,
            "end": sentence.start + part.end,
            "text": text,
            "subject": part.subject,
            "citations": following,
            "sentence_start": sentence.start,
            "sentence_end": sentence.end,
            "split_by": part.rule,
        }
        made.append(sentence.model_copy(update=changes))
    return made[::-1]


def numbered(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """The claims with their places as indices."""
    return tuple(
        claim if claim.index == index else claim.model_copy(update={"index": index})
        for index, claim in enumerate(claims)
    )


def by_sentence(judged: Sequence[ClaimVerdict], answer: str, order: Sequence[ClaimLabel]) -> list[ClaimVerdict]:
    """The verdicts with the parts of a sentence as one, labelled with the first of ``order`` that one of them has.

    Cutting half a sentence would leave a torn one, so sentences are cut whole.
    """
    return [_joined(list(group), answer, order) for _, group in groupby(judged, key=_sentence)]


def _sentence(judged: ClaimVerdict) -> int:
    claim = judged.claim
    return claim.start if claim.sentence_start is None else claim.sentence_start


def _joined(parts: Sequence[ClaimVerdict], answer: str, order: Sequence[ClaimLabel]) -> ClaimVerdict:
    first = parts[0]
    if first.claim.sentence_start is None or first.claim.sentence_end is None:
        return first
    labels = {part.label for part in parts}
    label = next((label for label in order if label in labels), first.label)
    start, end = first.claim.sentence_start, first.claim.sentence_end
    claim = first.claim.model_copy(update={"start": start, "end": end, "text": answer[start:end]})
    return first.model_copy(update={"claim": claim, "label": label})
