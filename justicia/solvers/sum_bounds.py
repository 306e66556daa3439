"""Bounds of a linear threshold's rate over a set of groups.

Where features are independent given the group, each feature gets the distribution whose tails are, at every value, the
largest (smallest) of the groups in the set: it is stochastically at least (most) as large as each of theirs, so the sum
of independent features is, and the chance to exceed the threshold. Under other structures the tables are taken entry by
entry at their largest and smallest: measures that are at least, and at most, those of every group.

Bounds of sets, and first bounds of single groups, are asked for with a coarse tolerance: few frequencies decide which
groups can be an extreme at all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from justicia.solvers.fourier import enclose
from justicia.solvers.leaf_bounds import extreme_tables
from justicia.solvers.learn import Hierarchy
from justicia.solvers.parts import Part, means, parts_of, upward

if TYPE_CHECKING:
    from justicia.encoders.linear_threshold import LinearThreshold
    from justicia.population.network import NetworkPopulation

__all__ = ["SumBounds"]

_COARSE = 0.01


class SumBounds:
    """What is known about sets of groups under a linear threshold.

    Parameters
    ----------
    decision : LinearThreshold
    population : NetworkPopulation
    tolerance : float
        Of finished groups.
    deadline : float or None
    hierarchy : Hierarchy, optional
        Of its groups; the columns that tell most come first unless it is given.
    """

    finished = "bounds"

    def __init__(
        self,
        decision: LinearThreshold,
        population: NetworkPopulation,
        tolerance: float,
        deadline: float | None,
        hierarchy: Hierarchy | None = None,
    ) -> None:
        self._decision = decision
        self._tolerance = tolerance
        self._deadline = deadline
        parts = parts_of(population, decision.contributions, join=False)
        mean, _ = means(parts, population.n_groups)
        self.hierarchy = Hierarchy.of(population, mean[None]) if hierarchy is None else hierarchy
        self._last = len(self.hierarchy.starts) - 1
        self._parts = [part.of(self.hierarchy.order) for part in parts]
        self._independent = all(part.n_states == 1 and part.parent < 0 for part in parts)
        if self._independent:
            self._tails = extreme_tables(self.hierarchy, {i: _tails(part) for i, part in enumerate(parts)})
        else:
            tables = {i: part.table.transpose(1, 2, 0) for i, part in enumerate(parts)}
            within = {i: part.within.T for i, part in enumerate(parts) if part.within is not None}
            self._tables = extreme_tables(self.hierarchy, tables)
            self._within = extreme_tables(self.hierarchy, within)

    def bounds(self, level: int, sets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the rates of all groups in some sets of a level."""
        coarse = max(_COARSE, self._tolerance)
        if level == self._last:
            return self._rates([part.of(sets) for part in self._parts], len(sets), coarse)
        if self._independent:
            low, high = self._dominated(level, sets, coarse)
        else:
            low, high = self._measured(level, sets, coarse)
        return self._as_rates(low, high)

    def finish(self, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of single groups within the tolerance."""
        return self._rates([part.of(groups) for part in self._parts], len(groups), self._tolerance)

    def _rates(self, parts: list[Part], n_groups: int, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
        return self._as_rates(*enclose(parts, n_groups, self._decision, tolerance, self._deadline))

    def _as_rates(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (low, high) if self._decision.accepts_above else (1.0 - high, 1.0 - low)

    def _dominated(self, level: int, sets: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the chance to be above, from features that are as small, and as large, as any group has them."""
        least, most = (
            [self._dominating(level, sets, i, largest) for i in range(len(self._parts))] for largest in (False, True)
        )
        low, _ = enclose(least, len(sets), self._decision, tolerance, self._deadline)
        _, high = enclose(most, len(sets), self._decision, tolerance, self._deadline)
        return low, high

    def _dominating(self, level: int, sets: np.ndarray, position: int, largest: bool) -> Part:
        """A feature's distribution that is at least, or at most, as large as in every group of each set."""
        tails = self._tails[level][largest][position][:, sets].T
        shares = np.maximum(tails - np.append(tails[:, 1:], np.zeros((len(tails), 1)), axis=1), 0.0)
        part = self._parts[position]
        return replace(part, table=np.ones((len(sets), 1, 1)), within=np.ascontiguousarray(shares))

    def _measured(self, level: int, sets: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the chance to be above, from measures of being above and of not being above."""
        bounds = []
        for largest in (False, True):
            parts = [self._extreme(level, sets, i, largest) for i in range(len(self._parts))]
            mass = _mass(parts, len(sets))
            wanted = tolerance * (1.0 + float(mass.max()))
            bounds.append((*enclose(parts, len(sets), self._decision, wanted, self._deadline, mass), mass))
        (low_least, high_least, mass_least), (low_most, high_most, mass_most) = bounds
        # Not above: the mass of everything less that above.
        low = np.maximum(low_least, 1.0 - (mass_most - low_most) - 1e-12 * mass_most)
        high = np.minimum(high_most, 1.0 - (mass_least - high_least) + 1e-12)
        low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
        return np.minimum(low, high), high

    def _extreme(self, level: int, sets: np.ndarray, position: int, largest: bool) -> Part:
        part = self._parts[position]
        table = self._tables[level][largest][position][..., sets].transpose(2, 0, 1)
        within = self._within[level][largest].get(position)
        return replace(
            part,
            table=np.ascontiguousarray(table),
            within=None if within is None else np.ascontiguousarray(within[:, sets].T),
        )


def _mass(parts: list[Part], n_sets: int) -> np.ndarray:
    """Mass of everything, of shape (n_sets,)."""

    def averaged(_: int, part: Part) -> np.ndarray:
        return part.averaged(np.ones((len(part.values), 1)))

    return upward(parts, averaged, np.ones((n_sets, 1)))[:, 0]


def _tails(part: Part) -> np.ndarray:
    """Probability of each value or a larger one, of shape (n_cells, n_groups)."""
    if part.within is None:
        raise ValueError("a part that stands alone has its cells in one state")
    return np.ascontiguousarray(part.within[:, ::-1].cumsum(axis=1)[:, ::-1].T)
