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
_BRIEF_CHARS = 120
_ANSWERING_SHARE = 0.6
_MIN_TERM_CHARS = 3
_HEAD_CHARS = 6
_QUESTION_CHARS = 2000
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u9fff]{2,}")
_SENTENCE_END = re.compile(r"[.!?]+\s|[\n。！？।؟]+")


def find_stance(claims: Sequence[Claim], *, has_nothing: bool) -> Outcome | None:
    """``abstained``, ``clarified`` or ``no_claims``; None when the answer asserts something.

    Sentences that only send the reader elsewhere do not make an answer of a refusal. ``has_nothing`` says that the
    model was given nothing: then a mere referral is an abstention too.
    """
    if not all(is_referral(claim.text) for claim in claims if claim.is_factual):
        return None
    others = [claim.text for claim in claims if not claim.is_factual]
    if any(is_refusal(text) for text in others):
        return Outcome.CLARIFIED if any(asks_back(text) for text in others) else Outcome.ABSTAINED
    if len(others) < len(claims):
        return Outcome.ABSTAINED if has_nothing else None
    has_question = any(_asks_reader(text) for text in others)
    return Outcome.CLARIFIED if has_question else Outcome.NO_CLAIMS


def seems_answerable(question: str, passages: Sequence[Passage]) -> bool:
    """Whether two sentences in a row hold at least three fifths of the question's terms, and all its figures.

    Terms are the heads of words of three letters and more that are no stop words, two of them at least; pairs of
    characters in scripts without spaces. The first 2,000 characters of the question count. Terms scattered over a
    passage would only show that it is about the same thing, which is what retrieval looks for anyway.
    """
    terms = set(_terms(question[:_QUESTION_CHARS]))
    if len(terms) < _MIN_TERMS:
        return False
    figures = {term for term in terms if term[0].isdigit()}
    needed = _ANSWERING_SHARE * len(terms)
    return any(
        len(found) >= needed and figures <= found
        for passage in passages
        for found in _found_in_neighbours(terms, passage.text)
    )


def _asks_reader(text: str) -> bool:
    """A question back: one with a cue, or a brief one; a long one is rhetorical or the title of what it sums up."""
    return is_question(text) and not is_offer(text) and (asks_back(text) or len(text) <= _BRIEF_CHARS)


def _found_in_neighbours(terms: set[str], text: str) -> Iterator[set[str]]:
    before: set[str] = set()
    for sentence in _SENTENCE_END.split(text):
        found = terms.intersection(_terms(sentence))
        if found:
            yield before | found
        if sentence.strip():
            before = found


def _terms(text: str) -> Iterator[str]:
    stopwords = load_lexicon().stopwords
    for word in _WORD.findall(text.lower()):
        runs = _UNSPACED.findall(word)
        if runs:
            yield from (run[position : position + 2] for run in runs for position in range(len(run) - 1))
        elif "가" <= word[0] <= "힣":
            yield word[:2]  # what follows is grammar
        elif word[0].isdigit() or (len(word) >= _MIN_TERM_CHARS and word not in stopwords):
            yield word[:_HEAD_CHARS].removesuffix("s")
