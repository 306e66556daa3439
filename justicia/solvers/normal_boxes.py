"""Trees over numeric variables that have densities: the sum of the probabilities of the accepting leaves' boxes.

A box of independent variables is a product of probabilities of intervals, one of two normal variables that hang
together is found by Owen's function: both exact but for rounding. Of three and more, scipy's multivariate normal
estimates the probability by randomized lattices; several independent estimates of the rate give Student's interval,
inside of bounds that need no estimate.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from justicia.encoders.decisions import Decision, Tree
from justicia.population.networks.mixed import MixedNetwork
from justicia.solvers.base import TOLERANCE, Effort, Solution

if TYPE_CHECKING:
    from justicia.ssat import Formula

__all__ = ["NormalBoxes"]

_ESTIMATES = 8
_ROUNDING = 1e-12
"""Estimates that agree to the last digit are no better than this."""


class NormalBoxes:
    """Sums boxes of densities."""

    name = "boxes"
    tolerance = TOLERANCE

    def takes(self, decision: Decision) -> bool:
        """Whether the decision is a tree."""
        return isinstance(decision, Tree)

    def solve(self, formula: Formula, effort: Effort) -> Solution:
        """Rates of every group: exact, or statistical where three or more normal variables hang together."""
        start = time.perf_counter()
        deadline = math.inf if effort.time_limit is None else start + effort.time_limit
        tree, population = formula.decision, formula.population
        if not isinstance(tree, Tree) or not isinstance(population, MixedNetwork):
            raise TypeError("boxes takes a tree over a stated population with densities")
        accepting = tree.accepts_fewer
        exact = np.zeros(population.n_groups)
        open_boxes = []
        for box in _boxes(tree, accepting):
            if population.estimated(box):
                open_boxes.append(box)
            else:
                exact += population.mass_of(box)
            if time.perf_counter() > deadline:
                return self._answer(exact, np.ones_like(exact), accepting, start, "time")
        if not open_boxes:
            return self._answer(exact, exact, accepting, start, None)
        high = exact + sum(population.mass_of(box, outer=True) for box in open_boxes)
        low = np.maximum(exact, 1.0 - sum(population.mass_of(box, outer=True) for box in _boxes(tree, not accepting)))
        estimates = np.zeros((_ESTIMATES, population.n_groups))
        for number in range(_ESTIMATES):
            for box in open_boxes:
                if time.perf_counter() > deadline:
                    return self._answer(low, high, accepting, start, "time")
                estimates[number] += population.mass_of(box, number)
        interval = _student(exact + estimates, effort.delta / population.n_groups)
        return self._answer(low, high, accepting, start, "estimated", interval, effort.delta)

    def _answer(
        self,
        low: np.ndarray,
        high: np.ndarray,
        accepting: bool,
        start: float,
        stopped: str | None,
        interval: tuple[np.ndarray, np.ndarray] | None = None,
        delta: float | None = None,
    ) -> Solution:
        low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
        low = np.minimum(low, high)
        if interval is not None:
            interval = np.clip(interval[0], low, high), np.clip(interval[1], low, high)
        if not accepting:
            low, high = 1.0 - high, 1.0 - low
            interval = None if interval is None else (1.0 - interval[1], 1.0 - interval[0])
        guarantee = (
            "statistical" if interval is not None else "exact" if low is high or (low == high).all() else "bounds"
        )
        seconds = time.perf_counter() - start
        return Solution(
            low, high, self.name, seconds, guarantee, len(low), interval=interval, delta=delta, stopped=stopped
        )


def _boxes(tree: Tree, accepting: bool) -> Iterator[list[np.ndarray | None]]:
    for boxes, n_boxes in tree.boxes(accepting):
        for i in range(n_boxes):
            yield [None if held is None else held[i] for held in boxes]


def _student(estimates: np.ndarray, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """Interval of the mean of independent estimates, one a row, that misses with a probability of `delta`."""
    from scipy.stats import t

    n = len(estimates)
    mean, spread = estimates.mean(axis=0), estimates.std(axis=0, ddof=1)
    reach = float(t.isf(delta / 2, n - 1)) * spread / math.sqrt(n) + _ROUNDING
    return mean - reach, mean + reach
