"""Decides which stretches of an answer state a fact; the others stay in the verdict, marked as not factual."""

import re

from detectors.claims.citations import strip_citations
from detectors.lexicon import Lexicon, load_lexicon, normal_form

_DIGIT = re.compile(r"\d")
_URL = re.compile(r"\w{2,10}://\S{1,2000}")
_QUESTION_MARKS = frozenset("?？؟\u037e፧")
_TAIL_CHARS = 120
_EDGE = " .!。！।:：,;…"
_LEAD_IN_WORDS = 12
_PHRASE_CHARS = 300
_REFUSAL_CHARS = 400
_CLAUSE_WORDS = 3


def states_fact(text: str) -> bool:
    """Whether a sentence can be checked against evidence.

    Not so questions, greetings, thanks, offers of help, lead-ins, bare citations and sentences that say that the answer
    is not known. Sentences of more than 300 characters always count as factual, refusals of up to 400 excepted.
    """
    if is_question(text):
        return False
    bare = strip_citations(text)
    if not any(char.isalnum() for char in bare) or ("://" in bare and not any(map(str.isalnum, _URL.sub("", bare)))):
        return bare == text and "://" in bare
    if is_refusal(bare):
        return False
    return len(bare) > _PHRASE_CHARS or not _is_phrase(normal_form(bare), load_lexicon())


def is_question(text: str) -> bool:
    """Whether the sentence ends with a question mark, closing quotes and citations aside."""
    tail = text[-_TAIL_CHARS:]
    if _QUESTION_MARKS.isdisjoint(tail):
        return False
    tail = strip_citations(tail).rstrip("\"'”’»)]*_~` \t\n.!！")
    return tail.endswith(tuple(_QUESTION_MARKS))


def is_refusal(text: str) -> bool:
    """Whether the sentence says that the answer is not known or not in the sources.

    Clauses joined by "but", "because" and the like must not state something else: ``I could not find X, but Y costs
    $5`` is no refusal.
    """
    lexicon = load_lexicon()
    form = normal_form(text, _REFUSAL_CHARS + 1)
    padded = f" {form} "
    if len(form) > _REFUSAL_CHARS or not any(cue in padded for cue in lexicon.refusal_cues):
        return False
    parts = lexicon.contrasts.split(form)
    says_so = [lexicon.refusals.search(part) is not None for part in parts]
    return any(says_so) and all(said or _adds_nothing(part, lexicon) for part, said in zip(parts, says_so, strict=True))


def is_referral(text: str) -> bool:
    """Whether the sentence only sends the reader elsewhere ("please contact support") or says sorry."""
    return load_lexicon().referrals.match(normal_form(text)) is not None


def is_offer(text: str) -> bool:
    """Whether the sentence offers more help."""
    form = normal_form(text)
    return load_lexicon().offers.match(form) is not None and not _has_digit(form)


def asks_back(text: str) -> bool:
    """Whether a question asks the user for what is missing, and is not an offer of help."""
    return (
        is_question(text) and not is_offer(text) and load_lexicon().clarifications.search(normal_form(text)) is not None
    )


def _adds_nothing(clause: str, lexicon: Lexicon) -> bool:
    stripped = clause.strip(" .,;:!")
    if len(stripped.split()) < _CLAUSE_WORDS and not _has_digit(stripped):
        return True
    known = (lexicon.fillers, lexicon.referrals, lexicon.offers)
    return any(pattern.match(stripped) for pattern in known) or lexicon.thanks.fullmatch(stripped) is not None


def _is_phrase(form: str, lexicon: Lexicon) -> bool:
    plain = form.strip(_EDGE)
    has_digit = _has_digit(form)
    if form.endswith((":", "：")):
        return lexicon.meta.fullmatch(form) is not None or (not has_digit and len(form.split()) <= _LEAD_IN_WORDS)
    if has_digit:
        return False
    return (
        lexicon.greetings.fullmatch(plain) is not None
        or lexicon.thanks.fullmatch(plain) is not None
        or lexicon.offers.match(plain) is not None
        or lexicon.meta.fullmatch(form) is not None
        or lexicon.meta.fullmatch(plain) is not None
    )


def _has_digit(text: str) -> bool:
    return _DIGIT.search(text) is not None
