"""What WordNet says of two words, and that trees laid out as masks reach the leaf that a walk would."""

import numpy as np
import pytest

from detectors.evidence.alignment import meanings
from detectors.evidence.forest import Forest
from detectors.evidence.matching import match, prepare
from detectors.evidence.passages import index_passage
from detectors.evidence.relations import antonyms_of, relation_of_two
from detectors.evidence.weights import load_weights
from detectors.evidence.words import stem, words_of


@pytest.mark.parametrize(
    ("word", "other", "expected"),
    [
        ("doctor", "physician", "same"),
        ("tree", "oak", "wider"),
        ("oak", "tree", "narrower"),
        ("hot", "cold", "opposite"),
        ("cat", "qwzx", "unrelated"),
        ("qwzx", "cat", "unrelated"),
    ],
)
def test_two_words_stand_in_one_relation(word: str, other: str, expected: str) -> None:
    """From the claim's word to the one of the evidence; unknown words are unrelated."""
    assert expected == relation_of_two(stem(word), stem(other))


def test_antonyms_go_both_ways() -> None:
    """Who asks from the other side gets the same answer."""
    assert stem("lose") in antonyms_of(stem("win"))
    assert stem("win") in antonyms_of(stem("lose"))


def test_a_missing_word_weighs_by_what_stands_in_its_stead() -> None:
    """A synonym in the evidence and an antonym in it count apart."""
    found = []
    for claim in ("The physician left town.", "The arrival was hot."):
        prepared = prepare(words_of(claim), lambda _: 0.5)
        one = match(prepared, [index_passage("The doctor left town. The arrival was cold.")])
        assert one is not None
        found.append(meanings(prepared, one))
    assert [(0.5, 0.0), (0.0, 0.5)] == [(same, opposite) for same, _, _, opposite, *_ in found]


def test_masks_reach_the_leaf_that_a_walk_reaches() -> None:
    """Row by row, tree by tree."""
    forest = load_weights().support.forest
    rows = np.random.default_rng(3).normal(size=(40, int(forest.feature.max()) + 1)) * 2
    assert forest.score(rows) == pytest.approx([_walked(forest, row) for row in rows])


def _walked(forest: Forest, row: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    total = forest.base
    for tree in range(forest.feature.shape[0]):
        node = 0
        while forest.left[tree, node] != node:
            goes_left = row[forest.feature[tree, node]] <= forest.threshold[tree, node]
            node = int(forest.left[tree, node] if goes_left else forest.right[tree, node])
        total += float(forest.value[tree, node])
    return total
