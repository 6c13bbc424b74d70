"""Compares an answer with other answers to the same prompt: short ones by vote, long ones claim by claim.

A vote over whole answers is self-consistency as of Wang et al. (2022, arXiv:2203.11171); a long answer is never given
twice in the same words, so its claims are looked for in the other samples, as in SelfCheckGPT (Manakul et al. 2023,
arXiv:2303.08896), with the evidence detector in the place of their scorers and a sample in the place of a passage.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from detectors.claims.citations import strip_citations
from detectors.claims.scripts import count_words
from detectors.consistency.vote import normalised, vote
from detectors.detector import Detector
from detectors.judging import judge_guarded
from schemas.claim import CheckItem
from schemas.routes import ConsistencyRule
from schemas.trace import Passage
from schemas.verdict import ClaimJudgement

SHORT_WORDS = 6
"""An answer of at most so many words, citations apart, is short: a date, a name, an amount, yes or no."""
SUPPORTED = 0.5
"""Support from which a sample says what a claim says: an even chance on the detector's calibrated scale."""
_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the samples say of an answer; the fields are those of ``schemas.layers.Consistency``."""

    samples: int
    votes: int | None = None
    agreement: float | None = None
    unstable_claims: tuple[int, ...] = ()
    is_flagged: bool = False


def compare(item: CheckItem, others: Sequence[str], rule: ConsistencyRule, detector: Detector) -> Comparison | None:
    """The comparison with at least one other answer, in any order; None where nothing can be compared.

    Short is a comparison whose answers all are; it is flagged when fewer than ``rule.least`` of ``rule.samples``
    answers say the same as the one that was given. In a long one a claim is unstable when fewer than that many
    answers say it, the given one included; a single unstable claim flags the answer. With more or fewer answers than
    the rule names, ``least`` counts in proportion, rounded up. Nothing can be compared in a long answer without a
    factual claim, or when the detector fails on every claim.
    """
    answers = [item.answer, *others]
    if all(is_short(answer) for answer in answers):
        return _by_vote(answers, least_of(rule, len(answers)))
    return _by_claims(item, others, rule, detector)


def is_short(answer: str) -> bool:
    """Whether an answer is compared as a whole: at most six words; in scripts without spaces, about ten characters."""
    return count_words(normalised(strip_citations(answer))) <= SHORT_WORDS


def least_of(rule: ConsistencyRule, answers: int) -> int:
    """How many of so many answers must agree: the rule's share of its own number, rounded up."""
    return math.ceil(rule.least * answers / rule.samples)


def _by_vote(answers: Sequence[str], least: int) -> Comparison:
    """The given answer stands first, so that of equally frequent ones it is its own that counts."""
    bare = [strip_citations(answer) for answer in answers]
    found = vote(bare, least)
    is_outvoted = found.answer != normalised(bare[0])
    return Comparison(found.total, votes=found.votes, is_flagged=found.is_flagged or is_outvoted)


def _by_claims(item: CheckItem, others: Sequence[str], rule: ConsistencyRule, detector: Detector) -> Comparison | None:
    judged = judge_guarded(detector, [_beside(item, other) for other in others])
    wanted = [number for number, claim in enumerate(item.claims) if claim.is_factual]
    supports = {number: _supports([judgements[number] for judgements in judged]) for number in wanted}
    known = {number: found for number, found in supports.items() if found}
    if not known:
        return None
    unstable = tuple(item.claims[number].index for number, found in known.items() if _is_unstable(found, rule))
    # fsum: the same mean whatever order the samples come in
    agreement = math.fsum(math.fsum(found) / len(found) for found in known.values()) / len(known)
    return Comparison(
        1 + len(others), agreement=round(agreement, _DECIMALS), unstable_claims=unstable, is_flagged=bool(unstable)
    )


def _beside(item: CheckItem, other: str) -> CheckItem:
    """The claims of an answer with another answer as all that supports them."""
    return CheckItem(item.question, (Passage(text=strip_citations(other)),), item.answer, item.claims)


def _supports(judgements: Sequence[ClaimJudgement]) -> list[float]:
    """Support by each sample that the detector could judge against: a failure is no score."""
    return [judgement.support for judgement in judgements if judgement.error is None and judgement.support is not None]


def _is_unstable(supports: Sequence[float], rule: ConsistencyRule) -> bool:
    saying = 1 + sum(support >= SUPPORTED for support in supports)
    return saying < least_of(rule, 1 + len(supports))
