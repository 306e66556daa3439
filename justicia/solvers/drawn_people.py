"""Decisions that no other engine takes over a stated population with densities: people are drawn, and the model asked.

Their number is settled by a pilot whose answers are not counted, so that Clopper and Pearson's interval holds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from justicia.binomial import clopper_pearson
from justicia.solvers.base import Effort, Solution

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.ssat import Formula

__all__ = ["DrawnPeople"]

_PILOT = 2_000
_ROUND = 10_000
_MOST = 1 << 21
_PATIENCE = 20.0
"""Seconds for all groups together, when there is no time limit."""


class DrawnPeople:
    """Draws people.

    Parameters
    ----------
    order : sequence of int, optional
        Where the decision's features are in the population; left out, they are the same.
    """

    name = "sampling"
    tolerance = 2e-3

    def __init__(self, order: Sequence[int] | None = None) -> None:
        self._order = order

    def takes(self, decision: Decision) -> bool:  # noqa: ARG002 (every decision says what it makes of a point)
        """Any decision."""
        return True

    def solve(self, formula: Formula, effort: Effort) -> Solution:
        """Statistical intervals of every group's rate."""
        start = time.perf_counter()
        _population, n_groups = formula.population, formula.population.n_groups
        rng = np.random.default_rng(0)
        lo, hi = np.zeros(n_groups), np.ones(n_groups)
        spread = np.zeros(n_groups)
        for group in range(n_groups):
            _, above, near = self._asked(formula, group, _PILOT, rng)
            share = (above + near / 2 + 1) / (_PILOT + 2)
            spread[group] = share * (1.0 - share)
        each = (time.perf_counter() - start) / (_PILOT * n_groups)
        time_left = (_PATIENCE if effort.time_limit is None else effort.time_limit) - (time.perf_counter() - start)
        wanted = 8.0 * spread * math.log(2.0 * n_groups / effort.delta) / max(effort.tolerance, 1e-9) ** 2
        able = max(time_left / each, 0.0) / n_groups
        sizes = np.clip(np.minimum(wanted, able), _PILOT, _MOST).astype(np.int64)
        deadline = time.perf_counter() + time_left
        late = False
        for group, size in enumerate(sizes.tolist()):
            # Time may end a group's draws, whatever the answers are.
            now = time.perf_counter()
            n, above, near = self._asked(formula, group, size, rng, now + max(deadline - now, 0.0) / (n_groups - group))
            late |= n < size
            # Those within rounding of the threshold count for neither end.
            ends = clopper_pearson(np.array([above, above + near]), np.full(2, n), effort.delta / n_groups)
            lo[group], hi[group] = ends[0][0], ends[1][1]
        stopped = "time" if late or (sizes < wanted).any() else "estimated"
        return Solution(
            np.zeros(n_groups), np.ones(n_groups), self.name, time.perf_counter() - start, "statistical", n_groups,
            interval=(lo, hi), delta=effort.delta, stopped=stopped,
        )  # fmt: skip

    def _asked(
        self, formula: Formula, group: int, n: int, rng: np.random.Generator, deadline: float = math.inf
    ) -> tuple[int, int, int]:
        """People, those with a favorable outcome, and those whose outcome rounding may flip."""
        above = near = 0
        for start in range(0, n, _ROUND):
            if start and time.perf_counter() > deadline:
                return start, above, near
            points = formula.population.sample_points(group, min(_ROUND, n - start), rng)
            points = points if self._order is None else points[:, list(self._order)]
            doubt = formula.decision.undecided(points)
            above += int((formula.decision.evaluate(points) & ~doubt).sum())
            near += int(doubt.sum())
        return n, above, near
