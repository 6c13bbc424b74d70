"""Two lexical baselines that the evidence detector must beat, at answer level: weighted coverage, and boosted counts.

They share nothing with the detector but the folds, so that a fault of its tokeniser cannot help it here.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

Array = NDArray[np.float64]
Row = Mapping[str, Any]
FEATURES = (
    "share of the answer's words in the passages, weighted by rarity",
    "the same, each word counting alike",
    "lowest weighted share over the answer's sentences",
    "mean over sentences of the best weighted share in one sentence of the passages",
    "lowest of these",
    "share of word pairs found",
    "share of word triples found",
    "numbers in the answer",
    "share of them not in the passages",
    "capitalised words inside the answer's sentences",
    "share of them not in the passages",
    "negations of the answer more than of the passages, per sentence",
    "weight of the rarest word not in the passages",
    "words of the answer, logarithm",
    "words of the passages, logarithm",
    "sentences of the answer",
    "words of the answer that the question holds, share",
)
_WORD = re.compile(r"\d[\d.,]*\d|\w+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been but by for from had has have he her his i in is it its of on or she that the their "
        "they this to was were which who will with you",
    )
)
_NEGATIONS = frozenset(["no", "not", "never", "none", "without", "n't", "cannot"])


class Rarity:
    """Inverse document frequency over the passages and answers of training records."""

    def __init__(self, records: Sequence[Row]) -> None:
        documents = {text for record in records for text in (_context(record), record["answer"])}
        self._seen = Counter(word for text in sorted(documents) for word in set(_words(text)))
        self._count = len(documents)

    def weight(self, word: str) -> float:
        """The logarithm of the share of documents without the word, smoothed."""
        return math.log((1 + self._count) / (1 + self._seen[word]))


def coverage(records: Sequence[Row], rarity: Rarity) -> Array:
    """First baseline: the weighted share of each answer's words that its passages hold."""
    return np.array([_share(_words(r["answer"]), frozenset(_words(_context(r))), rarity) for r in records])


def counted(records: Sequence[Row], rarity: Rarity) -> Array:
    """The 17 features of the second baseline, one row a record."""
    return np.array([_features(record, rarity) for record in records])


def boosted(train: Array, is_bad: NDArray[np.bool_], test: Array) -> Array:
    """Probability of a good answer by gradient boosting at scikit-learn's defaults."""
    model = HistGradientBoostingClassifier(random_state=0).fit(train, ~is_bad)
    scores: Array = model.predict_proba(test)[:, 1]
    return scores


def _features(record: Row, rarity: Rarity) -> list[float]:
    answer, context = record["answer"], _context(record)
    words, held = _words(answer), frozenset(_words(context))
    sentences = [_words(one) for one in _SENTENCE.split(answer) if _words(one)]
    evidence = [frozenset(_words(one)) for one in _SENTENCE.split(context)]
    shares = [_share(one, held, rarity) for one in sentences] or [1.0]
    best = [max((_share(one, piece, rarity) for piece in evidence), default=0.0) for one in sentences] or [1.0]
    numbers = [word for word in words if word[0].isdigit()]
    names = [word.lower() for word in re.findall(r"(?<=[a-z,] )[A-Z]\w+", answer)]
    asked = frozenset(_words(record["question"]))
    denied = sum(word in _NEGATIONS for word in answer.lower().split()) / max(len(sentences), 1)
    denied_there = sum(word in _NEGATIONS for word in context.lower().split()) / max(len(evidence), 1)
    return [
        _share(words, held, rarity),
        _part(words, held),
        min(shares),
        sum(best) / len(best),
        min(best),
        _part(_runs(words, 2), frozenset(_runs(_words(context), 2))),
        _part(_runs(words, 3), frozenset(_runs(_words(context), 3))),
        len(numbers),
        1 - _part(numbers, held),
        len(names),
        1 - _part(names, held),
        denied - denied_there,
        max((rarity.weight(word) for word in words if word not in held), default=0.0),
        math.log1p(len(words)),
        math.log1p(len(held)),
        len(sentences),
        1 - _part(words, frozenset(words) - asked) if words else 0.0,
    ]


def _context(record: Row) -> str:
    return "\n".join(passage["text"] for passage in record["passages"])


@cache
def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in _WORD.findall(text.lower()) if word not in _STOP)


def _runs(words: Sequence[str], length: int) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + length]) for at in range(len(words) - length + 1)]


def _part(wanted: Sequence[Any], held: frozenset[Any]) -> float:
    return sum(one in held for one in wanted) / len(wanted) if wanted else 1.0


def _share(words: Sequence[str], held: frozenset[str], rarity: Rarity) -> float:
    weights = [(rarity.weight(word), word in held) for word in words]
    total = sum(weight for weight, _ in weights)
    return sum(weight for weight, found in weights if found) / total if total else 1.0
