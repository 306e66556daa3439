"""Trees: the selection rate is the sum of the masses of the boxes of the accepting leaves, for all groups at once.

The leaves' boxes are disjoint and cover the domain, so the sum is exact; float rounding stays below 1e-12. Where the
population is a list of people, they are sent down the tree and counted instead, in integers.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from justicia.encoders.decisions import Decision, Tree
from justicia.population.network import NetworkPopulation
from justicia.solvers.base import TOLERANCE, Effort, Solution
from justicia.solvers.counting import counted
from justicia.solvers.leaf_bounds import LeafBounds
from justicia.solvers.learn import learn

if TYPE_CHECKING:
    from justicia.population.base import Population
    from justicia.solvers.learn import Hierarchy, Oracle
    from justicia.ssat import Formula

__all__ = ["Paths"]

_SMALL = 1e-3


class Paths:
    """Sums leaf boxes."""

    name = "paths"
    tolerance = TOLERANCE

    def takes(self, decision: Decision) -> bool:
        """Whether the decision is a tree."""
        return isinstance(decision, Tree)

    def solve(self, formula: Formula, effort: Effort) -> Solution:
        """Exact rates of every group (of the extreme ones when `search` is "learn"), or bounds when time runs out."""
        start = time.perf_counter()
        decision, population = formula.decision, formula.population
        if not isinstance(decision, Tree):
            raise TypeError(f"paths takes a tree, not {type(decision).__name__}")
        if not isinstance(population, NetworkPopulation):
            return counted(decision, population, self.name, effort.search, start)
        if effort.search == "learn":
            oracle = self.oracle(decision, population, effort.tolerance, None, None)
            return learn(oracle, population.n_groups, self.name, effort.time_limit, start)
        deadline = None if effort.time_limit is None else start + effort.time_limit
        low, high, finished = _summed(decision, population, deadline)
        seconds = time.perf_counter() - start
        guarantee = "exact" if finished else "bounds"
        return Solution(low, high, self.name, seconds, guarantee, population.n_groups)

    def oracle(
        self,
        decision: Decision,
        population: NetworkPopulation,
        tolerance: float,  # noqa: ARG002 (this engine does not approach its answer)
        deadline: float | None,  # noqa: ARG002 (it is exact at once)
        hierarchy: Hierarchy | None,
    ) -> Oracle:
        """What is known about sets of groups."""
        if not isinstance(decision, Tree):
            raise TypeError(f"paths takes a tree, not {type(decision).__name__}")
        return LeafBounds(decision, population, hierarchy)


def _summed(decision: Tree, population: Population, deadline: float | None) -> tuple[np.ndarray, np.ndarray, bool]:
    """Sum the smaller half of the leaves; when time runs out, what is left lies between 0 and the rest."""
    low, high, finished = _sum_leaves(decision, population, deadline, decision.accepts_fewer)
    if finished and not decision.accepts_fewer and low.min() < _SMALL:
        # A small rate found as 1 minus a sum would have few correct digits.
        return _sum_leaves(decision, population, deadline, True)
    return low, high, finished


def _sum_leaves(
    decision: Tree, population: Population, deadline: float | None, accepting: bool
) -> tuple[np.ndarray, np.ndarray, bool]:
    total = np.zeros(population.n_groups)
    finished = True
    for boxes, n_boxes in decision.boxes(accepting, at_once=64 if deadline is not None else 512):
        if deadline is not None and time.perf_counter() > deadline:
            finished = False
            break
        total += population.masses(boxes, n_boxes).sum(axis=0)
    total = np.minimum(total, 1.0)
    upper = total if finished else np.ones_like(total)
    low, high = (total, upper) if accepting else (1.0 - upper, 1.0 - total)
    return low, high, finished
