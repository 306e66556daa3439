"""Trees of any size by the nodes where they are still open, for branch and bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.solvers import _node_kernels as kernels

if TYPE_CHECKING:
    from justicia.encoders.additive_trees import AdditiveTrees

__all__ = ["TopNodes"]

_MANY_NODES = 200_000
_BUDGETS = (100_000, 64)
"""Nodes searched for one range, in ensembles of few and of many nodes."""


class TopNodes:
    """For every tree that is open, the highest node whose test still cuts the box.

    Parameters
    ----------
    decision : AdditiveTrees
    tests : int64 array of shape (n_tests, 6)

    Attributes
    ----------
    n_trees : int
    root : int32 array of shape (n_trees,)
        The trees' roots.
    arrays : tuple of arrays and numbers
        What `expand` takes besides boxes and population.
    """

    expand: Any = staticmethod(kernels.expand)

    def __init__(self, decision: AdditiveTrees, tests: np.ndarray) -> None:
        self.n_trees = len(decision.roots)
        self.root = decision.roots
        nodes = np.stack([decision.left, decision.right, decision.test], axis=1).astype(np.int32)
        least, most, used = kernels.static_ranges(nodes, decision.value, tests)
        leaves = np.stack([decision.value, least, most], axis=1)
        self.arrays: tuple[Any, ...] = nodes, leaves, used, _BUDGETS[len(nodes) > _MANY_NODES], _depth(decision)


def _depth(decision: AdditiveTrees) -> int:
    """The longest way from a root to a leaf."""
    level, depth = decision.roots[decision.test[decision.roots] >= 0], 0
    while len(level):
        below = np.concatenate([decision.left[level], decision.right[level]])
        level = below[decision.test[below] >= 0]
        depth += 1
    return depth
