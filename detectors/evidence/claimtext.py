"""The words of a claim that are about the world.

Citations, targets of links, list marks and talk about "passage 2" are taken out.
"""

import re
from collections.abc import Sequence

from detectors.claims.citations import strip_citations
from detectors.evidence.words import Word, words_of
from schemas.claim import Claim

_MARK = re.compile(r"\s*(?:\d{1,3}[.)]\s|[-*•·]\s)")
_BRACKET = re.compile(r"\[([^\[\]\n]{1,200})\]")
_TARGET = re.compile(r"(?<=\])\(\s?<?[^\s()<>]{1,500}>?(?:\s[^()\n]{0,200})?\)|\bhref\s?=\s?[\"']?[^\s\"'<>]{1,500}")
_PASSAGE = re.compile(r"\bpassages?\s+\d{1,3}(?:(?:\s*,\s*|\s+and\s+|\s*&\s*)\d{1,3})*\b", re.IGNORECASE)
# "No, it cannot be merged" denies once, not twice.
_REPLY = re.compile(r"\s*(?:yes|no)\s*[,:;–—]\s*", re.IGNORECASE)
_FEWEST_WORDS = 3
_CONTRACTION = re.compile("['’]")
_ARTICLES = frozenset({"a", "an", "the"})


def words_to_check(claims: Sequence[Claim], question: str) -> list[list[Word] | None]:
    """For each claim the words that evidence must cover; None where the claim is not factual.

    A fragment ("Not quite.", "Yes, once.", "They cannot be paid out.") says nothing by itself: it is read together with
    the next factual claim, or else the one before, or else the question. "Shipping is free." names its subject and
    stands alone.
    """
    own = [claim_words(claim) if claim.is_factual else None for claim in claims]
    return [words if words is None else _completed(own, at, words, question) for at, words in enumerate(own)]


def claim_words(claim: Claim) -> list[Word]:
    """Words of the claim without its citations, its list mark, and a "yes," or "no," in front."""
    known = frozenset(claim.citations)
    text = _BRACKET.sub(lambda found: " " if found.group(1) in known else found.group(), claim.statement)
    text = _TARGET.sub(" ", text) if "](" in text or "href" in text else text
    for address in known:
        text = text.replace(address, " ") if "://" in address else text
    text = _PASSAGE.sub(" ", strip_citations(text))
    for prefix in (_MARK, _REPLY):
        found = prefix.match(text)
        text = text[found.end() :] if found else text
    return words_of(text)


def _completed(own: Sequence[list[Word] | None], at: int, words: list[Word], question: str) -> list[Word]:
    counting = sum(not word.is_stop for word in words)
    if counting >= _FEWEST_WORDS or (counting == _FEWEST_WORDS - 1 and _names_its_subject(words)):
        return words
    beside = next((other for other in (*own[at + 1 : at + 2], *own[max(at - 1, 0) : at]) if other), None)
    if beside is None:
        return words + words_of(question)
    if counting == _FEWEST_WORDS - 1:
        # Two words can be denied ("They cannot be paid out"); "Not quite" must not deny the sentence beside it.
        return [*beside, *(word for word in words if not word.is_stop or word.is_negation)]
    return [word for word in words if not word.is_stop] + beside


def _names_its_subject(words: Sequence[Word]) -> bool:
    """True when the first word that is no article counts: "shipping is free", but not "they are free" or "I'm not"."""
    first = next((word for word in words if word.text.lower() not in _ARTICLES), None)
    return first is not None and not first.is_stop and not _CONTRACTION.search(first.text)
