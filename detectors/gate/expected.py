"""The claims that a golden case expects of a good answer, and those that it must not make.

Whether a claim is stated in other words is asked of the detector, with the answer as the only passage. For claims that
must not be made the words decide alone: a corrected answer often differs in one figure or one *not*.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from detectors.claims.citations import strip_citations
from detectors.detector import Detector
from detectors.golden.near import normal
from detectors.judging import judge_guarded
from detectors.outcome import label_claim
from schemas.claim import CheckItem, Claim
from schemas.golden import WRONG_CLAIMS, GoldenCase
from schemas.labels import ClaimLabel
from schemas.policy import Thresholds
from schemas.trace import Passage

_POINT = re.compile(r"(?<=\d)[.,](?=\d)")
_PERCENT = re.compile(r"(?<=\d)\s*%")
_POINT_LETTER = "\ua78f"
"""Counts as a letter, so that normalising keeps it, and stands in no text."""


@dataclass(frozen=True, slots=True)
class Stated:
    """``missing``: expected claims that the answer does not make; ``repeated``: wrong ones that it makes again."""

    expected: int = 0
    missing: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()


def stated_claims(
    cases: Sequence[GoldenCase], answers: Sequence[str], detector: Detector, thresholds: Thresholds
) -> list[Stated]:
    """For each answer what it states of its case: expected are claims labelled supported, where answerable.

    An expected claim is stated when its words stand in the answer, or when the detector finds it supported by the
    answer at the policy's threshold. A claim labelled contradicted or unsupported is repeated when its words stand in
    the answer. Case, punctuation, citations and space do not count. Raises Retryable when the detector is away.
    """
    wanted = [_expected(case) for case in cases]
    found = [
        [_holds(answer, claim) for claim in own] if answer else [False] * len(own)
        for own, answer in zip(wanted, answers, strict=True)
    ]
    asked = [
        (number, place, claim)
        for number, own in enumerate(wanted)
        for place, claim in enumerate(own)
        if answers[number] and not found[number][place]
    ]
    judged = judge_guarded(detector, [_item(cases[number], answers[number], claim) for number, _, claim in asked])
    for (number, place, _), (judgement,) in zip(asked, judged, strict=True):
        found[number][place] = label_claim(judgement, thresholds).label is ClaimLabel.SUPPORTED
    return [
        Stated(
            len(own),
            tuple(claim for claim, is_there in zip(own, there, strict=True) if not is_there),
            tuple(claim for claim in _forbidden(case) if _holds(answer, claim)),
        )
        for case, answer, own, there in zip(cases, answers, wanted, found, strict=True)
    ]


def _expected(case: GoldenCase) -> list[str]:
    if not case.is_answerable:
        return []
    return [claim.text for claim in case.claims if claim.label is ClaimLabel.SUPPORTED]


def _forbidden(case: GoldenCase) -> list[str]:
    return [claim.text for claim in case.claims if claim.label in WRONG_CLAIMS]


def _holds(answer: str, claim: str) -> bool:
    words = _words(claim)
    return bool(words) and f" {words} " in f" {_words(answer)} "


def _words(text: str) -> str:
    """Normal words without citations; 4.5 and 4 % stay other figures than 4."""
    return normal(_PERCENT.sub("percent", _POINT.sub(_POINT_LETTER, strip_citations(text))))


def _item(case: GoldenCase, answer: str, text: str) -> CheckItem:
    statement = strip_citations(text).strip() or text
    claim = Claim(index=0, start=0, end=len(statement), text=statement)
    return CheckItem(case.question, (Passage(doc_id="answer", text=answer),), statement, (claim,))
