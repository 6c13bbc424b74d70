"""The claims of an answer as the network reads them: without citations and marks, a fragment with what completes it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from detectors.claims.citations import strip_citations
from detectors.evidence.claimtext import claim_words, words_to_check
from detectors.evidence.words import Word
from schemas.claim import CheckItem, Claim

_MARK = re.compile(r"\s*(?:\d{1,3}[.)]\s|[-*•·]\s)")


@dataclass(frozen=True, slots=True)
class AskedClaim:
    """The text that is read, and the words that evidence is looked for with."""

    text: str
    words: Sequence[Word]


def asked_claims(item: CheckItem) -> list[AskedClaim | None]:
    """One a claim; None where it is not factual. A claim without a word that counts is found no evidence for."""
    found = words_to_check(item.claims, item.question)
    return [None if words is None else _asked(claim, words) for claim, words in zip(item.claims, found, strict=True)]


def _asked(claim: Claim, words: Sequence[Word]) -> AskedClaim:
    is_completed = len(words) != len(claim_words(claim))
    return AskedClaim(" ".join(word.text for word in words) if is_completed else _readable(claim), words)


def _readable(claim: Claim) -> str:
    text = claim.statement
    for cited in claim.citations:
        text = text.replace(f"[{cited}]", " ")
    text = strip_citations(text)
    mark = _MARK.match(text)
    return " ".join(text[mark.end() if mark else 0 :].split())
