"""Decides which stretches of an answer state a fact; the others stay in the verdict, marked as not factual."""

import re
import unicodedata

from detectors.claims.citations import strip_citations
from detectors.claims.courtesies import is_courtesy
from detectors.claims.scripts import is_unspaced
from detectors.lexicon import Lexicon, Refusals, load_lexicon, normal_form

_DIGIT = re.compile(r"\d")
_URL = re.compile(r"\w{2,10}://\S{1,2000}")
_QUESTION_MARKS = frozenset("?？؟\u037e፧⁇⁈‽꘏⳺⳻")
_ASKS = _QUESTION_MARKS | {";", "]", ")", "】"}
"""Signs without which a sentence neither ends with a question mark nor with a citation behind one."""
_ENDS = "。.、!！ "
_ARMENIAN_QUESTION = "\u055e"
"""Set above the word that asks, not at the end."""
_GREEK_QUESTION = re.compile("[\u0370-\u03ff\u1f00-\u1fff];\\Z")
_QUOTES = '"”’»)）」』›“'
_QUOTE_OPENERS = '"“‘«(（「『‹„‚¿'
_TAIL_CHARS = 120
_LEAD_IN_WORDS = 12
_LONG_LEAD_IN_WORDS = 45
_LABEL = re.compile(r"(?:[^\W\d_]{2,20} ){1,2}[\[(]?[\divx]{1,4}[\])]?(?: \([^()]{1,40}\))?[:：]")
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
    form = normal_form(bare, _REFUSAL_CHARS + 1)
    if _refuses(form):
        return False
    return len(bare) > _PHRASE_CHARS or not _is_phrase(form, load_lexicon())


def is_question(text: str) -> bool:
    """Whether the sentence ends with a question mark, markup, emoji and citations aside, or with a particle that asks.

    A sentence that only ends with a quoted question states that somebody asked it.
    """
    tail = text[-_TAIL_CHARS:]
    if _ARMENIAN_QUESTION in tail:
        return True
    if _ASKS.isdisjoint(tail) and not tail.rstrip(_ENDS).endswith(load_lexicon().question_endings):
        return False
    tail = _without_signs(strip_citations(tail))
    unquoted = tail.rstrip(_QUOTES)
    if unquoted.endswith(tuple(_QUESTION_MARKS)) or _GREEK_QUESTION.search(unquoted):
        opening = text.lstrip("*_~#> ")[:1]
        return len(unquoted) == len(tail) or opening in _QUOTE_OPENERS
    return tail.endswith(load_lexicon().question_endings)


def is_refusal(text: str) -> bool:
    """Whether the sentence says that the answer is not known or not in the sources.

    Clauses joined by "but", "because" and the like must not state something else: ``I could not find X, but Y costs
    $5`` is no refusal. Nor must a clause before ", and": ``Y is free, and the price is not given in the text``.
    """
    return _refuses(normal_form(text, _REFUSAL_CHARS + 1))


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


def _refuses(form: str) -> bool:
    lexicon = load_lexicon()
    languages = lexicon.languages_of_refusals(form) if len(form) <= _REFUSAL_CHARS else []
    return any(_only_refuses(form, language, lexicon) for language in languages)


def _without_signs(text: str) -> str:
    """The text without markup, white space, emoji, entities of blanks and exclamation marks at its end."""
    end = len(text)
    while end and (text[end - 1] in "*_~`.。!！ \t\n\u200d\ufe0f\u200b\u200e\u200f" or _is_symbol(text[end - 1])):
        end -= 1
    return text[:end]


def _is_symbol(char: str) -> bool:
    return unicodedata.category(char) in {"So", "Sk", "Cf", "Zs"}


def _only_refuses(form: str, language: Refusals, lexicon: Lexicon) -> bool:
    if not language.found_in(form):
        return False
    parts = language.contrasts.split(form)
    says_so = [language.found_in(part) for part in parts]
    return any(says_so) and all(
        not _opens_with_claim(part, language, lexicon) if said else _adds_nothing(part, lexicon)
        for part, said in zip(parts, says_so, strict=True)
    )


def _opens_with_claim(part: str, language: Refusals, lexicon: Lexicon) -> bool:
    """A clause before ", and" that has a verb, denies nothing and is no courtesy."""
    clauses = language.additions.split(part)
    return len(clauses) > 1 and any(
        not lexicon.verbs.isdisjoint(clause.split())
        and not language.found_in(clause)
        and not _adds_nothing(clause, lexicon)
        for clause in clauses[:-1]
    )


def _adds_nothing(clause: str, lexicon: Lexicon) -> bool:
    stripped = clause.strip(" .,;:!，。、；：")
    if _word_count(stripped) < _CLAUSE_WORDS and not _has_digit(stripped):
        return True
    known = (lexicon.fillers, lexicon.referrals, lexicon.offers)
    return any(pattern.match(stripped) for pattern in known) or lexicon.thanks.fullmatch(stripped) is not None


def _is_phrase(form: str, lexicon: Lexicon) -> bool:
    if form.endswith((":", "：")):
        return _is_lead_in(f"{form[:-1].rstrip()}:", lexicon)  # in French a blank stands before the colon
    if _has_digit(form):
        return False
    return is_courtesy(form, lexicon)


def _is_lead_in(form: str, lexicon: Lexicon) -> bool:
    """``You will need:``, ``Step 2:`` and ``… the differences are as follows:``; long ones need such a cue."""
    if lexicon.meta.fullmatch(form) or _LABEL.fullmatch(form):
        return True
    count = _word_count(form)
    if _has_digit(form):
        return False
    return count <= _LEAD_IN_WORDS or (count <= _LONG_LEAD_IN_WORDS and lexicon.lead_ins.search(form) is not None)


def _word_count(form: str) -> int:
    """Words; in scripts without spaces two characters count as one."""
    return len(form.split()) + sum(map(is_unspaced, form)) // 2


def _has_digit(text: str) -> bool:
    return _DIGIT.search(text) is not None
