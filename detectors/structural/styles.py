"""Which styles of citation an answer may hold, told by cheap looks at the whole of it.

Most answers are prose without any: what these looks rule out is not sought in every claim.
"""

import re
from dataclasses import dataclass
from functools import cache

from detectors.lexicon import load_lexicon
from detectors.lexicon.acts.phrases import Phrases

_BLANK = r"[\s\p{Z}\x0b\x1c-\x1f\x{85}]"
_SIGNS = r"[\s\p{Z}\x0b\x1c-\x1f\x{85}\"'“„«`*]"
KINDS = frozenset({"document", "doc", "source", "article", "passage", "file", "the", "dokument", "documento", "quelle"})
"""What may stand between a cue and an id: ``according to document kb-12``."""
NUMBERED_KINDS = "passage|document|doc|source|article|excerpt|dokument|quelle|documento|fuente|fonte"
"""Nouns before the number of a passage: ``passage 2``."""
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


@dataclass(frozen=True, slots=True)
class Styles:
    """What may be there; False is certain."""

    has_brackets: bool
    has_prose: bool
    has_links: bool

    @property
    def exist(self) -> bool:
        """Whether any style is possible."""
        return self.has_brackets or self.has_prose or self.has_links


def find_styles(text: str) -> Styles:
    """Tests a text that holds all claims of an answer; one pass each, a fraction of a microsecond to some."""
    return Styles(
        has_brackets=may_have_brackets(text),
        has_prose=may_name_in_prose(text),
        has_links="<" in text or "](" in text or "://" in text or "www." in text or "WWW." in text,
    )


def may_have_brackets(text: str) -> bool:
    """Whether a bracket of a citation could open."""
    return "(" in text or "[" in text or "（" in text or "［" in text


def may_name_in_prose(text: str) -> bool:
    """Whether an id or a number could be named after words such as "according to", or a passage by its number."""
    return _named_in_prose().search(text) is not None


@cache
def _named_in_prose() -> Phrases:
    """A cue, kinds, then an id (something with a digit or a joining sign) or a number; or "passage 2" without a cue."""
    cues = [re.escape(cue).replace(r"\ ", f"{_BLANK}+").replace("'", "['’]") for cue in load_lexicon().citation_cues]
    spaced = "|".join(cue for cue in cues if cue.isascii())
    unspaced = "|".join(cue for cue in cues if not cue.isascii())
    kinds = "|".join(sorted(KINDS))
    number = rf"(?:{NUMBERED_KINDS})s?{_BLANK}#?\p{{Nd}}"
    named = rf"(?:{_BLANK}+(?:{kinds}))*{_SIGNS}*(?:\S*[\p{{Nd}}_:/#-]|{number})"
    return Phrases(
        [
            rf"(?:^|[^\p{{L}}\p{{N}}_])(?:{spaced}){named}",
            rf"(?:{unspaced}){named}",
            rf"passages?{_BLANK}#?\p{{Nd}}",
            rf"(?:{'|'.join(ORDINALS)}){_BLANK}passage",
        ],
        "(?i)",
    )
