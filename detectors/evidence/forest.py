"""Small regression trees evaluated side by side in numpy, so that serving needs no training library."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_MOST_LEAVES = 16
_ROWS_AT_ONCE = 256
"""Bounds memory where one answer holds thousands of claims."""


@dataclass(frozen=True, slots=True, eq=False)
class _Layout:
    """The same trees as rows of splits: each has a mask of the leaves that remain where a claim goes right."""

    feature: NDArray[np.intp]
    threshold: Array
    mask: NDArray[np.uint16]
    value: Array
    splits: int


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Trees side by side: row = tree, column = node; leaves point at themselves; values are log-odds.

    At most 16 leaves a tree.
    """

    feature: NDArray[np.intp]
    threshold: Array
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    value: Array
    depth: int
    base: float
    _layout: _Layout = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Lay the splits out in rows."""
        object.__setattr__(self, "_layout", _laid_out(self))

    def score(self, features: Array) -> Array:
        """Sum of the reached leaves for each row of ``features``."""
        parts = [self._score(features[at : at + _ROWS_AT_ONCE]) for at in range(0, len(features), _ROWS_AT_ONCE)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _score(self, features: Array) -> Array:
        # Each split that sends a claim right strikes out the leaves to its left; of the leaves left standing the first
        # is the one reached (QuickScorer, Lucchese et al. 2015).
        layout = self._layout
        trees = layout.value.shape[0]
        masks = np.where(features[:, layout.feature] > layout.threshold, layout.mask, _ALL)
        standing = np.bitwise_and.reduce(masks.reshape(len(features), layout.splits, trees), axis=1)
        reached = layout.value[np.arange(trees), _LOWEST_BIT[standing]]
        # In one memory order, so that the last bits of a sum do not depend on how many rows there are.
        total: Array = self.base + np.ascontiguousarray(reached).sum(axis=1)
        return total


def _laid_out(forest: Forest) -> _Layout:
    trees = [_splits_and_leaves(forest, row) for row in range(forest.feature.shape[0])]
    splits = max((len(tree[0]) for tree in trees), default=0) or 1
    shape = (splits, len(trees))
    feature, threshold = np.zeros(shape, dtype=np.intp), np.full(shape, np.inf)
    mask, value = np.full(shape, _ALL), np.zeros((len(trees), _MOST_LEAVES))
    for row, (nodes, leaves) in enumerate(trees):
        for at, (node, remaining) in enumerate(nodes):
            feature[at, row], threshold[at, row] = forest.feature[row, node], forest.threshold[row, node]
            mask[at, row] = remaining
        value[row, : len(leaves)] = forest.value[row, leaves]
    return _Layout(feature.ravel(), threshold.ravel(), mask.ravel(), value, splits)


def _splits_and_leaves(forest: Forest, row: int) -> tuple[list[tuple[int, int]], list[int]]:
    """Splits with the mask of the leaves that stand when the claim goes right there, and leaves from left to right."""
    splits: list[tuple[int, int]] = []
    leaves: list[int] = []

    def visit(node: int) -> None:
        if forest.left[row, node] == node:
            leaves.append(node)
            return
        first = len(leaves)
        visit(int(forest.left[row, node]))
        struck = ((1 << len(leaves)) - 1) & ~((1 << first) - 1)
        splits.append((node, int(_ALL) & ~struck))
        visit(int(forest.right[row, node]))

    visit(0)
    if len(leaves) > _MOST_LEAVES:
        raise ValueError(f"tree {row} has {len(leaves)} leaves; at most {_MOST_LEAVES} can be evaluated")
    return splits, leaves


_ALL = np.uint16((1 << _MOST_LEAVES) - 1)
_LOWEST_BIT = np.array(
    [0, *((number & -number).bit_length() - 1 for number in range(1, 1 << _MOST_LEAVES))], dtype=np.uint8
)
