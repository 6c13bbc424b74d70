"""Small word lists that the features use, English but for denials; data (``lexicon.json``), so a list grows alone."""

import json
from collections import defaultdict
from importlib.resources import files

_DATA = json.loads(files("detectors.evidence").joinpath("lexicon.json").read_text(encoding="utf-8"))

STOPWORDS: frozenset[str] = frozenset(_DATA["stopwords"])
DENIALS, EMPHASIS, SCOPE_ENDS, CONTRASTS, MUTUAL = (
    frozenset(_DATA[name].split()) for name in ("denials", "emphasis", "scope_ends", "contrasts", "mutual")
)
"""Plain words for "not" in many languages, words that make it "not only", and words past which it does not reach.

``MUTUAL``: what holds both ways ("Ann met Bob").
"""
NEGATIONS: frozenset[str] = frozenset(_DATA["negations"]) | DENIALS
HEDGES: frozenset[str] = frozenset(_DATA["hedges"])
ABSOLUTES: frozenset[str] = frozenset(_DATA["absolutes"])
NUMBER_WORDS: dict[str, float] = {word: float(value) for word, value in _DATA["numbers"].items()}
MULTIPLIERS: dict[str, float] = {word: float(value) for word, value in _DATA["multipliers"].items()}


def _opposites() -> dict[str, frozenset[str]]:
    table: defaultdict[str, set[str]] = defaultdict(set)
    for left, right in _DATA["opposites"]:
        table[left].add(right)
        table[right].add(left)
    return {word: frozenset(others) for word, others in table.items()}


OPPOSITES: dict[str, frozenset[str]] = _opposites()
"""Word → its opposites, unstemmed, both directions."""
