"""Trees of moderate size as sets of leaves, for branch and bound."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.solvers import _leaf_set_kernels as kernels
from justicia.solvers.top_nodes import static_ranges

if TYPE_CHECKING:
    from justicia.encoders.additive_trees import AdditiveTrees
    from justicia.solvers.boxes import Boxes

__all__ = ["LeafSets"]

_MOST_LEAVES = 1024
"""Of one tree: a set of them is 128 bytes."""


class LeafSets:
    """For every tree the leaves within reach, as bits in order of their values.

    Parameters
    ----------
    decision : AdditiveTrees
    tests : int64 array of shape (n_tests, 6)

    Attributes
    ----------
    n_trees : int
    leaves : float64 array of shape (n_nodes, 3)
        Value of each node, least and largest leaf below.
    root : uint64 array of shape (n_words,)
        All leaves of all trees.
    arrays : tuple of arrays
        What `expand` takes besides boxes and population.
    """

    expand: Any = staticmethod(kernels.expand)

    def __init__(self, decision: AdditiveTrees, tests: np.ndarray) -> None:
        _, self.leaves, _ = static_ranges(decision, tests)
        self.n_trees = len(decision.roots)
        bounds = [*decision.roots.tolist(), len(decision.left)]
        trees = np.zeros((self.n_trees, 4), dtype=np.int64)
        entries: list[tuple[int, int, int]] = []
        values, below, roots = [np.zeros(0)], [np.zeros(0, dtype=np.uint64)], [np.zeros(0, dtype=np.uint64)]
        n_words = n_values = n_below = 0
        for tree, (begin, end) in enumerate(pairwise(bounds)):
            leaves = begin + np.flatnonzero(decision.test[begin:end] < 0)
            leaves = leaves[np.argsort(decision.value[leaves], kind="stable")]
            width = (len(leaves) + 63) // 64
            trees[tree] = begin, n_words, n_words + width, n_values
            inner, sides = _leaves_below(decision, begin, end, leaves, width)
            entries += [(node, tree, n_below + 2 * width * i) for i, node in enumerate(inner)]
            values.append(decision.value[leaves])
            below.append(sides)
            roots.append(_words((1 << len(leaves)) - 1, width))
            n_words, n_values, n_below = n_words + width, n_values + len(leaves), n_below + len(sides)
        held = np.array(entries, dtype=np.int64).reshape(-1, 3)
        test = decision.test[held[:, 0]].astype(np.int64)
        feature, cut, missing = decision.test_feature[test], decision.test_cut[test], decision.test_missing[test]
        table = np.stack([test, cut, held[:, 1], held[:, 2]], axis=1).astype(np.int64)
        nodes = np.stack([decision.left, decision.right, decision.test, np.zeros_like(decision.left)], axis=1)
        nodes = nodes.astype(np.int64)
        nodes[held[:, 0], 3] = held[:, 2]
        order = np.lexsort([test, missing, cut, feature])
        features = np.arange(len(decision.sizes))
        spans = np.stack([np.searchsorted(feature[order], features, side) for side in ("left", "right")], axis=1)
        self.root = np.concatenate(roots)
        self.arrays: tuple[Any, ...] = (
            nodes, np.ascontiguousarray(table[order]), spans.astype(np.int64), trees, np.concatenate(below),
            np.concatenate(values),
        )  # fmt: skip

    def prune(self, boxes: Boxes, tests: np.ndarray, masks: np.ndarray) -> None:
        """Take out of the first box's leaves those behind tests that tell no cells apart."""
        _, entries, _, trees, below, _ = self.arrays
        kernels.prune(
            0, len(entries), boxes.cells[0], boxes.words[0], boxes.trees[0], entries, trees, below, tests, masks
        )

    def open_nodes(self, boxes: Boxes, chosen: np.ndarray, base: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the trees are open in some boxes, how many are, and what the others and the base add up to."""
        nodes = np.empty((len(chosen), self.n_trees), dtype=np.int32)
        n_open, settled = np.empty(len(chosen), dtype=np.int64), np.empty(len(chosen))
        kernels.open_nodes(chosen, boxes.trees, *self.arrays, base, nodes, n_open, settled)  # type: ignore[call-arg]
        return nodes, n_open, settled

    @staticmethod
    def takes(decision: AdditiveTrees) -> bool:
        """Whether no tree has more leaves than a set is meant for."""
        leaves = np.concatenate([[0], np.cumsum(decision.test < 0)])
        return bool((np.diff(leaves[[*decision.roots, len(decision.left)]]) <= _MOST_LEAVES).all())


def _leaves_below(
    decision: AdditiveTrees, begin: int, end: int, leaves: np.ndarray, width: int
) -> tuple[list[int], np.ndarray]:
    """Inner nodes of a tree, and for each the leaves on its left and on its right, in words one after another."""
    sets = {int(leaf): 1 << position for position, leaf in enumerate(leaves.tolist())}
    inner, sides = [], []
    for node in range(end - 1, begin - 1, -1):
        if decision.test[node] >= 0:
            left, right = sets[int(decision.left[node])], sets[int(decision.right[node])]
            sets[node] = left | right
            inner.append(node)
            sides += [_words(left, width), _words(right, width)]
    return inner, np.concatenate([np.zeros(0, dtype=np.uint64), *sides])


def _words(bits: int, width: int) -> np.ndarray:
    return np.frombuffer(bits.to_bytes(8 * width, "little"), dtype="<u8").astype(np.uint64)
