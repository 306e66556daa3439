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
_ALL = (1 << 64) - 1


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
        All leaves of all trees; then, four to a word, how far from its root each tree is open: at the root.
    arrays : tuple of arrays
        What `expand` takes besides boxes and population.
    """

    expand: Any = staticmethod(kernels.expand)

    def __init__(self, decision: AdditiveTrees, tests: np.ndarray) -> None:
        _, self.leaves, _ = static_ranges(decision, tests)
        self.n_trees = len(decision.roots)
        bounds = [*decision.roots.tolist(), len(decision.left)]
        trees = np.zeros((self.n_trees, 6), dtype=np.int64)
        inner, values, below = [], [np.zeros(0)], [np.zeros(0, dtype=np.uint64)]
        roots: list[int] = []
        used = 64
        n_values = n_below = 0
        nodes = np.stack([decision.left, decision.right, decision.test, np.zeros_like(decision.left)], axis=1)
        nodes = nodes.astype(np.int64)
        for tree, (begin, end) in enumerate(pairwise(bounds)):
            leaves = begin + np.flatnonzero(decision.test[begin:end] < 0)
            leaves = leaves[np.argsort(decision.value[leaves], kind="stable")]
            width = (len(leaves) + 63) // 64
            if used + len(leaves) > 64:
                # Small trees share a word; this one begins another.
                roots += [0] * width
                used = 0
            first, shift = len(roots) - width, used
            trees[tree] = begin, first, first + width, n_values, shift, len(leaves)
            here, sides = _leaves_below(decision, begin, end, leaves, width, shift)
            nodes[here, 3] = n_below + 2 * width * np.arange(len(here))
            inner += [(node, first, width) for node in here]
            values.append(decision.value[leaves])
            below.append(sides)
            for word in range(width):
                roots[first + word] |= ((1 << len(leaves)) - 1 << shift) >> 64 * word & _ALL
            used += len(leaves)
            n_values, n_below = n_values + len(leaves), n_below + len(sides)
        sets = np.array(roots, dtype=np.uint64)
        tops = np.zeros((self.n_trees + 3) // 4, dtype=np.uint64)
        self.root = np.concatenate([sets, tops])
        bits = np.concatenate(below)
        held = np.array(inner, dtype=np.int64).reshape(-1, 3)
        self.arrays: tuple[Any, ...] = (
            nodes, *_runs(decision, nodes, held, bits), trees, bits, np.concatenate(values), len(sets),
        )  # fmt: skip

    def prepare(
        self, boxes: Boxes, tests: np.ndarray, masks: np.ndarray, population: tuple[np.ndarray, ...], rule: np.ndarray
    ) -> None:
        """Take out of the first box's leaves those behind tests that tell no cells apart, and bound its score."""
        runs, at, sides = self.arrays[1:4]
        kernels.prune(boxes.cells[0], boxes.words[0], boxes.trees[0], runs, at, sides, tests, masks)
        kernels.evaluate(boxes.arrays, self.arrays, tests, masks, population, rule)

    def starts(self, boxes: Boxes, chosen: np.ndarray, base: float) -> tuple[np.ndarray, np.ndarray]:
        """Node at which each tree is open in some boxes, -1 where it is not; what the latter and the base add up to."""
        nodes, settled = np.empty((len(chosen), self.n_trees), dtype=np.int32), np.empty(len(chosen))
        kernels.starts(chosen, boxes.trees, self.arrays, base, nodes, settled)
        return nodes, settled

    @staticmethod
    def takes(decision: AdditiveTrees) -> bool:
        """Whether no tree has more leaves than a set is meant for."""
        leaves = np.concatenate([[0], np.cumsum(decision.test < 0)])
        return bool((np.diff(leaves[[*decision.roots, len(decision.left)]]) <= _MOST_LEAVES).all())


def _runs(
    decision: AdditiveTrees, nodes: np.ndarray, inner: np.ndarray, bits: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For every test the words of leaf sets that it cuts, with the leaves on the left and on the right.

    Parameters
    ----------
    nodes : int64 array of shape (n_nodes, 4)
    inner : int64 array of shape (n_inner, 3)
        Inner nodes, first word and number of words of their trees.
    bits : uint64 array of shape (n_below,)
        The leaves below nodes.

    Returns
    -------
    runs, at, sides, spans
        As `_leaf_set_kernels` has them.
    """
    node, first, width = (np.repeat(column, inner[:, 2]) for column in inner.T)
    word = np.arange(len(node)) - np.repeat(np.cumsum(inner[:, 2]) - inner[:, 2], inner[:, 2])
    at, begin = first + word, nodes[node, 3] + word
    test = decision.test[node].astype(np.int64)
    feature, cut, missing = decision.test_feature[test], decision.test_cut[test], decision.test_missing[test]
    order = np.lexsort([at, test, missing, cut, feature])
    test, at = test[order], at[order]
    sides = np.stack([bits[begin[order]], bits[begin[order] + width[order]]], axis=1)
    # Nodes with one test whose leaves share a word act together.
    firsts = np.flatnonzero((np.diff(test, prepend=-1) != 0) | (np.diff(at, prepend=-1) != 0))
    test, at = test[firsts], at[firsts]
    sides = np.bitwise_or.reduceat(sides, firsts, axis=0) if len(firsts) else sides
    begins = np.flatnonzero(np.diff(test, prepend=-1))
    ends, test = np.append(begins, len(test))[1:], test[begins]
    runs = np.stack([test, decision.test_cut[test], begins, ends], axis=1).astype(np.int64)
    features = np.arange(len(decision.sizes))
    spans = np.stack([np.searchsorted(decision.test_feature[test], features, side) for side in ("left", "right")], 1)
    return runs, np.ascontiguousarray(at), np.ascontiguousarray(sides), spans.astype(np.int64)


def _leaves_below(
    decision: AdditiveTrees, begin: int, end: int, leaves: np.ndarray, width: int, shift: int
) -> tuple[list[int], np.ndarray]:
    """Inner nodes of a tree, and for each the leaves on its left and on its right, in words one after another."""
    sets = {int(leaf): 1 << shift + position for position, leaf in enumerate(leaves.tolist())}
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
