"""Whether an answer's quotations stand word for word in something that the model was given.

A short quotation that the context holds is no finding: what could be checked was checked, and to send every quoted
word to review would bury the ones that matter.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from detectors.claims.kinds import is_question
from detectors.structural.folding import FoldedTexts, fold
from detectors.structural.quotations import Quotation, find_quotations, without_block_signs
from schemas.claim import Claim
from schemas.finding import MAX_DETAIL_CHARS, Finding, StructuralRule

_LEAST_WORDS = 3
_ELLIPSIS = re.compile(r"\[[^\[\]\n]{0,200}\]|\(\s?(?:\.{3}|…)\s?\)|\.{3,}|…+|(?:\. ){2,}\.")
_EDGE = " .,;:!?-()[]。、।॥؟،؛۔·¡¿"
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"”“»’']?\s+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_MIN_TITLE_WORDS = 2
_MAX_TITLE_WORDS = 8
_SENTENCE_ENDS = (".", "!", "。", "！")
_SHORT_WORD_CHARS = 3
_AROUND_CHARS = 200


class QuoteStatus(StrEnum):
    """What a quotation was found to be, by its wording alone."""

    FOUND = "found"
    UNSUPPORTED = "unsupported"
    REVIEW = "review"
    """Fewer than three words: too little to decide on."""


def quote_status(quote: str, texts: Iterable[str]) -> QuoteStatus:
    """``review`` under three words, ``unsupported`` when no text holds the quotation, else ``found``.

    White space, case, quotation marks, dashes and Unicode forms are ignored, and so is punctuation at the ends. Parts
    around an ellipsis or a bracketed insertion must each be verbatim, in this order, in one text. In scripts without
    spaces two characters count as a word.
    """
    return _status(quote, FoldedTexts(texts))


def quote_findings(answer: str, claims: Sequence[Claim], texts: FoldedTexts) -> list[Finding]:
    """A finding for each claim with a quotation that no text holds; short ones too, under a rule of their own.

    ``claims`` are those of the answer. Passed over: titles; questions, which state nothing and mostly repeat the
    user's; what stands outside factual claims, since a refusal may quote what it did not find; one or two words that
    stand outside the marks, too. Where a quotation runs over several claims, those are named whose part is not found,
    or the first when each part is.
    """
    findings = (
        finding
        for quotation in find_quotations(answer)
        for finding in _findings(answer, quotation, _factual_within(claims, quotation), texts)
    )
    return list(findings)


def count_words(text: str) -> int:
    """Words of a text; in scripts without spaces two characters count as one."""
    return sum((len(word) + 1) // 2 if _UNSPACED.search(word) else 1 for word in _WORD.findall(text))


def _status(quote: str, texts: FoldedTexts) -> QuoteStatus:
    if count_words(fold(_ELLIPSIS.sub(" ", quote))) < _LEAST_WORDS:
        return QuoteStatus.REVIEW
    return QuoteStatus.FOUND if _is_held(quote, texts) else QuoteStatus.UNSUPPORTED


def _is_held(quote: str, texts: FoldedTexts) -> bool:
    return texts.hold_as_is(quote.strip(_EDGE)) or any(texts.hold(parts) for parts in _readings(quote))


def _readings(quote: str) -> Iterator[Sequence[str]]:
    """As it stands; with ``[T]he`` read as ``The``; cut at ellipses and insertions; and sentence by sentence.

    Sources put "she said" between two sentences of a speech, and who quotes both leaves it out.
    """
    yield [fold(quote).strip(_EDGE)]
    if _ELLIPSIS.search(quote) is not None:
        yield [fold(quote.replace("[", "").replace("]", "")).strip(_EDGE)]
        yield _parts(_ELLIPSIS.split(quote))
    sentences = _parts(_SENTENCE_END.split(quote))
    if len(sentences) > 1 and all(count_words(part) >= _LEAST_WORDS for part in sentences):
        yield sentences


def _parts(pieces: Iterable[str]) -> list[str]:
    return [part for piece in pieces if (part := fold(piece).strip(_EDGE))]


def _findings(answer: str, quotation: Quotation, claims: Sequence[Claim], texts: FoldedTexts) -> Iterator[Finding]:
    text = _text(answer, quotation, quotation.start, quotation.end)
    if not claims or not _WORD.search(text) or _is_title(text) or is_question(text):
        return
    status = _status(text, texts)
    if status is QuoteStatus.FOUND or (status is QuoteStatus.REVIEW and _is_held(text, texts)):
        return
    if status is QuoteStatus.REVIEW:
        if not _speaks_of_itself(answer, quotation, claims[0]):
            yield _finding(StructuralRule.QUOTE_TOO_SHORT, claims[0], text)
        return
    parts = [
        (claim, _text(answer, quotation, max(claim.start, quotation.start), min(claim.end, quotation.end)))
        for claim in claims
    ]
    missing = [(claim, part) for claim, part in parts if not _is_held(part, texts)]
    for claim, part in missing or [(claims[0], text)]:
        yield _finding(StructuralRule.QUOTE_NOT_FOUND, claim, part)


def _speaks_of_itself(answer: str, quotation: Quotation, claim: Claim) -> bool:
    """Whether the claim says the words near the quotation, too: ``a book I like (the noun "book")``."""
    wording = fold(answer[quotation.start : quotation.end]).strip(_EDGE)
    before = answer[max(claim.start, quotation.start - _AROUND_CHARS) : quotation.start]
    around = f"{before} {answer[quotation.end : min(claim.end, quotation.end + _AROUND_CHARS)]}"
    return f" {wording} " in f" {' '.join(_WORD.findall(fold(around)))} "


def _text(answer: str, quotation: Quotation, start: int, end: int) -> str:
    return without_block_signs(answer[start:end]) if quotation.is_block else answer[start:end]


def _finding(rule: StructuralRule, claim: Claim, text: str) -> Finding:
    return Finding(rule=rule, claim=claim.index, detail=text.strip()[:MAX_DETAIL_CHARS])


def _factual_within(claims: Sequence[Claim], quotation: Quotation) -> list[Claim]:
    first = max(0, bisect_right(claims, quotation.start, key=lambda claim: claim.start) - 1)
    found: list[Claim] = []
    for claim in claims[first:]:
        if claim.start >= quotation.end:
            break
        if claim.is_factual and claim.end > quotation.start:
            found.append(claim)
    return found


def _is_title(text: str) -> bool:
    """Whether the words are capitalised as in a title: every longer word, and two at least.

    A title is no sentence and has eight words at most, since languages that capitalise nouns have no longer words else.
    """
    words = _WORD.findall(text)
    if len(words) > _MAX_TITLE_WORDS or text.rstrip().endswith(_SENTENCE_ENDS):
        return False
    longer = [word for word in words if len(word) > _SHORT_WORD_CHARS]
    return len(words) >= _MIN_TITLE_WORDS and bool(longer) and not text.isupper() and all(map(_is_capital, longer))


def _is_capital(word: str) -> bool:
    return word[0].isupper() or word[0].isdigit()
