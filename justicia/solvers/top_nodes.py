"""Trees of any size by the nodes where they are still open, for branch and bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.solvers import _node_kernels as kernels

if TYPE_CHECKING:
    from justicia.encoders.additive_trees import AdditiveTrees
    from justicia.solvers.boxes import Boxes

__all__ = ["TopNodes", "static_ranges"]

_BUDGET = 100_000
"""Nodes searched for one range, then what is left counts as a whole."""


class TopNodes:
    """For every tree that is open, the highest node whose test still cuts the box.

    Parameters
    ----------
    decision : AdditiveTrees
    tests : int64 array of shape (n_tests, 6)

    Attributes
    ----------
    n_trees : int
    leaves : float64 array of shape (n_nodes, 3)
        Value of each node, least and largest leaf below.
    root : int32 array of shape (n_trees,)
        The trees' roots.
    arrays : tuple of arrays and numbers
        What `expand` takes besides boxes and population.
    """

    expand: Any = staticmethod(kernels.expand)

    def __init__(self, decision: AdditiveTrees, tests: np.ndarray) -> None:
        self.n_trees = len(decision.roots)
        self.root = decision.roots
        nodes, self.leaves, used = static_ranges(decision, tests)
        self._tree_of = np.repeat(np.arange(self.n_trees), np.diff([*decision.roots, len(decision.left)]))
        self.arrays: tuple[Any, ...] = nodes, self.leaves, used, _BUDGET, _depth(decision)

    def prepare(
        self, boxes: Boxes, tests: np.ndarray, masks: np.ndarray, population: tuple[np.ndarray, ...], rule: np.ndarray
    ) -> None:
        """Nothing: a test that tells no cells apart is passed on the first split."""

    def starts(self, boxes: Boxes, chosen: np.ndarray, base: float) -> tuple[np.ndarray, np.ndarray]:  # noqa: ARG002 (the base is part of what is settled)
        """Node at which each tree is open in some boxes, -1 where it is not; what the latter and the base add up to."""
        nodes = np.full((len(chosen), self.n_trees), -1, dtype=np.int32)
        kernels.starts(chosen, boxes.trees, boxes.counts, self._tree_of, nodes)
        return nodes, boxes.numbers[chosen, 2]


def static_ranges(decision: AdditiveTrees, tests: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the loops need to know of each node, whatever the box.

    Returns
    -------
    nodes : int32 array of shape (n_nodes, 3)
        Left, right, test.
    leaves : float64 array of shape (n_nodes, 3)
        Value, least and largest leaf below.
    used : int64 array of shape (n_nodes,)
        A bit for each of the first 63 features tested below.
    """
    nodes = np.stack([decision.left, decision.right, decision.test], axis=1).astype(np.int32)
    least, most, used = kernels.static_ranges(nodes, decision.value, tests)
    return nodes, np.stack([decision.value, least, most], axis=1), used


def _depth(decision: AdditiveTrees) -> int:
    """The longest way from a root to a leaf."""
    level, depth = decision.roots[decision.test[decision.roots] >= 0], 0
    while len(level):
        below = np.concatenate([decision.left[level], decision.right[level]])
        level = below[decision.test[below] >= 0]
        depth += 1
    return depth
