"""Whether an answer asserts something, abstains, or asks back; decided from its claims and phrase lists alone."""

import re
from collections.abc import Iterator, Sequence

from detectors.claims.kinds import asks_back, is_offer, is_question, is_referral, is_refusal
from detectors.lexicon import load_lexicon
from schemas.claim import Claim
from schemas.labels import Outcome
from schemas.trace import Passage

_WORD = re.compile(r"\w+")
_MIN_TERMS = 2
_ANSWERING_SHARE = 0.6
_MIN_TERM_CHARS = 3
_QUESTION_CHARS = 2000
_CJK = re.compile(r"[\u3040-\u9fff]{2,}")


def find_stance(claims: Sequence[Claim], *, has_nothing: bool) -> Outcome | None:
    """``abstained``, ``clarified`` or ``no_claims``; None when the answer asserts something.

    Sentences that only send the reader elsewhere do not make an answer of a refusal. ``has_nothing`` says that the
    model was given nothing: then a mere referral is an abstention too.
    """
    factual = [claim.text for claim in claims if claim.is_factual]
    others = [claim.text for claim in claims if not claim.is_factual]
    if not all(is_referral(text) for text in factual):
        return None
    if any(is_refusal(text) for text in others):
        return Outcome.CLARIFIED if any(asks_back(text) for text in others) else Outcome.ABSTAINED
    if factual:
        return Outcome.ABSTAINED if has_nothing else None
    has_question = any(is_question(text) and not is_offer(text) for text in others)
    return Outcome.CLARIFIED if has_question else Outcome.NO_CLAIMS


def seems_answerable(question: str, passages: Sequence[Passage]) -> bool:
    """Whether one passage holds at least three fifths of the question's terms (of two at least).

    Terms are words of three letters and more that are no stop words, without a plural s; pairs of characters in
    scripts without spaces. The first 2,000 characters of the question count.
    """
    terms = set(_terms(question[:_QUESTION_CHARS]))
    if len(terms) < _MIN_TERMS:
        return False
    needed = _ANSWERING_SHARE * len(terms)
    return any(len(terms.intersection(_terms(passage.text))) >= needed for passage in passages)


def _terms(text: str) -> Iterator[str]:
    stopwords = load_lexicon().stopwords
    for word in _WORD.findall(text.lower()):
        runs = _CJK.findall(word)
        if runs:
            yield from (run[position : position + 2] for run in runs for position in range(len(run) - 1))
        elif len(word) >= _MIN_TERM_CHARS and word not in stopwords:
            yield word[:-1] if word.endswith("s") and not word.endswith("ss") else word
