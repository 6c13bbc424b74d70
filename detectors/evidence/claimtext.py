"""The words of a claim that are about the world: citations, list marks and talk about "passage 2" are taken out."""

import re

from detectors.claims.citations import strip_citations
from detectors.evidence.words import Word, words_of
from schemas.claim import Claim

_MARK = re.compile(r"\s*(?:\d{1,3}[.)]\s|[-*•·]\s)")
_PASSAGE = re.compile(r"\bpassages?\s+\d{1,3}(?:(?:\s*,\s*|\s+and\s+|\s*&\s*)\d{1,3})*\b", re.IGNORECASE)


def claim_words(claim: Claim) -> list[Word]:
    """Words of the claim's text without citations as the splitter knows them."""
    text = claim.text
    for citation in claim.citations:
        text = text.replace(f"[{citation}]", " ")
    text = _PASSAGE.sub(" ", strip_citations(text))
    mark = _MARK.match(text)
    return words_of(text[mark.end() :] if mark else text)
