"""Populations that mix others: each part is answered by the engine as it is, and the answers are added up.

The rate of a group is the sum of its parts' rates times their weights, so bounds of the parts give bounds of the group,
the narrower the less the engine's part weighs: the engine is asked for no more than that. The rows' part is counted.
Sets of groups are bounded, for the search for the extreme groups, in the same way: every class by the engine's own
bounds of the set, every group of the set by its own weights and rows.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from justicia.enclosure import EXACT
from justicia.population.mixture import MixturePopulation
from justicia.solvers.base import Effort, Solution, Solver
from justicia.solvers.counting import counted
from justicia.solvers.learn import Hierarchy, Oracle, learn
from justicia.ssat import Formula

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.population.network import NetworkPopulation

__all__ = ["WithMixtures"]

_LEAST_WEIGHT = 1e-3
"""The engine is never asked for bounds wider than the tolerance over this."""
_ROUNDING = 1e-15


@runtime_checkable
class _Searches(Protocol):
    """An engine that knows about sets of groups."""

    def oracle(
        self,
        decision: Decision,
        population: NetworkPopulation,
        tolerance: float,
        deadline: float | None,
        hierarchy: Hierarchy | None,
    ) -> Oracle: ...


class WithMixtures:
    """An engine that answers mixtures too.

    Parameters
    ----------
    engine : Solver
        Answers their parts.
    """

    def __init__(self, engine: Solver) -> None:
        self._engine = engine
        self.name = engine.name
        self.tolerance = engine.tolerance

    def takes(self, decision: Decision) -> bool:
        """Whether the engine takes the decision."""
        return self._engine.takes(decision)

    def solve(self, formula: Formula, effort: Effort) -> Solution:
        """Bounds of every group's rate (of the extreme ones when `search` is "learn")."""
        mixture, engine = formula.population, self._engine
        if not isinstance(mixture, MixturePopulation):
            return engine.solve(formula, effort)
        start = time.perf_counter()
        rows = counted(formula.decision, mixture.rows, self.name, "enumerate", start)
        shares = mixture.weights.sum(axis=1)
        most = max(float(shares.max()), _LEAST_WEIGHT)
        wanted = effort.tolerance / most
        if effort.search == "learn" and isinstance(engine, _Searches):
            deadline = None if effort.time_limit is None else start + effort.time_limit
            classes: list[Oracle] = []
            hierarchy: Hierarchy | None = None
            for one in range(mixture.n_classes):
                classes.append(engine.oracle(formula.decision, mixture.of_class(one), wanted, deadline, hierarchy))
                hierarchy = classes[0].hierarchy
            mixed = _MixedBounds(mixture, rows, classes)
            learned = learn(mixed, mixture.n_groups, self.name, effort.time_limit, start)
            exact = learned.guarantee == "exact" and rows.guarantee == "exact"
            return replace(learned, guarantee="exact" if exact else "bounds")

        def mix(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return _outwards(mixture.combined(low, rows.lo), mixture.combined(high, rows.hi))

        watch = effort.watch
        asked = replace(
            effort,
            search="enumerate",
            tolerance=wanted,
            weights=np.repeat(shares / most, mixture.n_classes),
            watch=None if watch is None else lambda low, high: watch(*mix(low, high)),
        )
        took = time.perf_counter() - start
        if effort.time_limit is not None:
            # Of a thousand trees, counting the rows takes seconds.
            asked = replace(asked, time_limit=max(effort.time_limit - took, effort.time_limit / 2))
        parts = engine.solve(Formula(mixture.network, formula.decision), asked)
        low, high = mix(parts.lo, parts.hi)
        exact = float((high - low).max()) <= EXACT
        return replace(
            parts,
            lo=low,
            hi=high,
            seconds=took + parts.seconds,
            guarantee="exact" if exact else "bounds" if parts.guarantee == "exact" else parts.guarantee,
            groups_evaluated=mixture.n_groups,
            counts=None,
            interval=None if parts.interval is None else mix(*parts.interval),
        )


def _outwards(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bounds that hold whatever the rounding of the sums; those that are equal stay one number."""
    apart = high - low > 4 * _ROUNDING
    low = np.where(apart, np.maximum(low - _ROUNDING, 0.0), low)
    high = np.where(apart, np.minimum(high + _ROUNDING, 1.0), np.maximum(low, high))
    return low, high


class _MixedBounds:
    """What is known about sets of groups of a mixture.

    Parameters
    ----------
    mixture : MixturePopulation
    rows : Solution
        Of the rows.
    classes : list of Oracle
        One a class, all with the same sets.
    """

    def __init__(self, mixture: MixturePopulation, rows: Solution, classes: list[Oracle]) -> None:
        self.hierarchy = classes[0].hierarchy
        self.finished = classes[0].finished if rows.guarantee == "exact" else "bounds"
        self._classes = classes
        order = self.hierarchy.order
        self._weights = mixture.weights[order]
        self._row_rates = [(mixture.row_weights * rate)[order] for rate in (rows.lo, rows.hi)]

    def bounds(self, level: int, sets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the rates of all groups in some sets of a level, float64 arrays of shape (n_sets,)."""
        starts = self.hierarchy.starts[level]
        ends = np.append(starts[1:], len(self.hierarchy.order))
        spans = ends[sets] - starts[sets]
        firsts = np.concatenate([[0], np.cumsum(spans)[:-1]])
        # The groups of the sets side by side.
        groups = np.arange(int(spans.sum())) - np.repeat(firsts - starts[sets], spans)
        low, high = self._mixed([oracle.bounds(level, sets) for oracle in self._classes], groups, spans)
        return np.minimum.reduceat(low, firsts), np.maximum.reduceat(high, firsts)

    def finish(self, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of single groups, sets of the last level."""
        return self._mixed([oracle.finish(groups) for oracle in self._classes], groups, np.ones(len(groups), np.int64))

    def _mixed(
        self, of_classes: list[tuple[np.ndarray, np.ndarray]], groups: np.ndarray, spans: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        sums = []
        for end in (0, 1):
            total = self._row_rates[end][groups].copy()
            for one, bounds in enumerate(of_classes):
                total += self._weights[groups, one] * np.repeat(bounds[end], spans)
            sums.append(np.minimum(total, 1.0))
        return _outwards(sums[0], sums[1])
