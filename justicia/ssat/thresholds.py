"""Linear thresholds in clauses: a decision diagram over features, a level each.

A node says how much the features of its level and below have to add up to. What two nodes of a level ask is the same
when no sum of those features lies between, so nodes are told apart by the smallest sum that will do: the diagram is
reduced (Abío et al., A New Look at BDDs for Pseudo-Boolean Constraints, JAIR 2012), and knows that a feature has one
value, which a diagram of the single literals would not. A variable a node, a clause an edge: the node and the run of
values imply the node below. The implication goes one way, so these variables may have several values, and are under ∃.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from justicia.errors import FormulaError
from justicia.ssat.building import Builder, Literal, negated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from justicia.ssat.features import FeatureCode

__all__ = ["at_least"]

_MOST_EDGES = 200_000
_MOST_SUMS = 2**18
"""Sums of the features below that are listed; where there are more, nodes that ask the same may stay apart."""


def at_least(
    builder: Builder, features: Sequence[tuple[FeatureCode, np.ndarray]], bound: int
) -> list[tuple[Literal, ...]]:
    """Clauses of "the weights of the features' values add up to at least the bound".

    Parameters
    ----------
    builder : Builder
        Takes a variable for every node.
    features : sequence of (FeatureCode, int64 array of shape (n_positions,))
        Each with the weights of its positions, none below 0.
    bound : int

    Raises
    ------
    FormulaError
        When the diagram is too large.
    """
    # Where large weights come first, few sums are left open at the top, and few are possible at the bottom.
    order = sorted(features, key=lambda one: -int(one[1].max()))
    reach = np.cumsum([0, *(int(weights.max()) for _, weights in reversed(order))])[::-1]
    if bound <= 0:
        return []
    if bound > reach[0]:
        return [()]
    below = _sums_below([weights for _, weights in order])
    clauses: list[tuple[Literal, ...]] = []
    needs: dict[int, Literal] = {bound: True}
    for level, (code, weights) in enumerate(order):
        next_needs: dict[int, Literal] = {}
        for need, node in needs.items():
            asked = _least_that_does(need - weights, below[level + 1], int(reach[level + 1]))
            edges = np.flatnonzero(np.concatenate([[True], asked[1:] != asked[:-1], [True]])).tolist()
            for begin, end in pairwise(edges):
                left = int(asked[begin])
                if left == 0:
                    continue
                inside = (negated(code.below[begin - 1]) if begin else True, code.below[end - 1])
                clause = (negated(node), *map(negated, inside))
                if any(literal is True for literal in clause):
                    continue
                if left > 0:
                    if left not in next_needs:
                        next_needs[left] = builder.defined(f"the rest of the sum is {left} or more")
                    clause = (*clause, next_needs[left])
                clauses.append(clause)
            if len(clauses) > _MOST_EDGES:
                raise FormulaError(
                    f"the model's sums are so many that its diagram has more than {_MOST_EDGES:,} edges: "
                    "pass --solver fourier, or encode a smaller model"
                )
        needs = next_needs
    return clauses


def _sums_below(weights: Sequence[np.ndarray]) -> list[np.ndarray | None]:
    """For each level, the sums of its features and of those below in ascending order; None where they are too many."""
    found: list[np.ndarray | None] = [np.zeros(1, dtype=np.int64)]
    for one in reversed(weights):
        held, distinct = found[-1], np.unique(one)
        many = held is None or len(held) * len(distinct) > 4 * _MOST_SUMS
        sums = None if many or held is None else np.unique(np.add.outer(held, distinct))
        found.append(None if sums is None or len(sums) > _MOST_SUMS else sums)
    return found[::-1]


def _least_that_does(needs: np.ndarray, sums: np.ndarray | None, most: int) -> np.ndarray:
    """The smallest sum that is at least what is needed; 0 where all sums are, -1 where none is."""
    if sums is None:
        return np.where(needs <= 0, 0, np.where(needs > most, -1, needs))
    places = np.searchsorted(sums, needs)
    least = sums[np.minimum(places, len(sums) - 1)]
    return np.where(places == 0, 0, np.where(places == len(sums), -1, least))
