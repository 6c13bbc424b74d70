"""Tells a line that names what follows (title, label, term) from a short statement; in doubt it is a statement."""

import re

from detectors.claims.lines import Line
from detectors.claims.scripts import is_cased, is_unspaced
from detectors.lexicon import load_lexicon

_BOLD_LINE = re.compile(r"(\*\*|__)[^*_\n]{1,100}\1:?|(\*\*|__)[^*_\n]{1,100}:\2|<(b|strong)>[^<>\n]{1,100}</\3>:?")
_UNDERLINE = re.compile(r"={3,}|-{3,}")
_TERMINATORS = ".!?…。！？｡؟۔।॥։።፧။។:：;；,，、"
_SENTENCE_END = re.compile(r"[.!?。！？।](?:[*_]{0,3}|</(?:b|strong)>)\Z")
_INNER_END = re.compile(r"[.!?…。！？](?:\s|\Z)")
_WORDS = 8
_CHARS = 80
_UNSPACED_CHARS = 16
_PARTICLE_CHARS = 3


def is_label(line: Line, following: Line) -> bool:
    """A bold line that is no statement, a term above its definition, or an underlined line.

    A bold item of a list is a label only when something is nested below it: ``- **Paris**`` may be the answer.
    """
    if _BOLD_LINE.fullmatch(line.content) and not _is_statement(line.content):
        return not line.has_marker or following.indent > line.indent
    if line.has_marker or len(line.text) > _CHARS:
        return False
    if line.tag == "dt" or following.marker == ":":
        return True
    return line.text[-1] not in _TERMINATORS and _UNDERLINE.fullmatch(following.text) is not None


def is_title(line: Line, before: Line, following: Line) -> bool:
    """A short line alone in its block with neither verb, digit nor full stop.

    Scripts in which a sentence needs no verb (Cyrillic, Arabic, Hebrew) have no such titles: ``Доставка бесплатная``
    says something.
    """
    text = line.text
    if line.has_marker or len(text) > _CHARS or text[-1] in _TERMINATORS or any(map(str.isdigit, text)):
        return False
    if _INNER_END.search(text) or not (before.is_blank and (following.is_blank or following.has_marker)):
        return False
    lexicon = load_lexicon()
    if is_unspaced(text[0]):
        return len(text) <= _UNSPACED_CHARS and not any(verb in text for verb in lexicon.unspaced_verbs)
    words = text.lower().split()
    return len(words) <= _WORDS and is_cased(text[0]) and text[0].isupper() and lexicon.verbs.isdisjoint(words)


def _is_statement(bold: str) -> bool:
    """``**Yes, it is free**`` and ``**Free.**``, but not ``**What is free**``, ``**Why It Is Free**``."""
    if _SENTENCE_END.search(bold[-12:]):
        return True
    words = bold.strip("*_:").removesuffix("</b>").removesuffix("</strong>").split(">")[-1].split()
    if bold.rstrip("*_").endswith(":") or not words or words[0].lower() in load_lexicon().question_words:
        return False
    has_verb = not load_lexicon().verbs.isdisjoint(word.lower().strip(",") for word in words)
    return has_verb and any(word[0].islower() for word in words if len(word) > _PARTICLE_CHARS)
