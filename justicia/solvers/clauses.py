"""The general case: the question is written in clauses, and the formula is solved.

What the other engines answer from the structure of a decision, this one answers from the formula alone. Under
"enumerate" there is one formula a group; under "learn" two: ∃ a group for the most favored one, and its dual for the
least favored one, both with all groups' tables inside of them, so that both searches give the same values.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from justicia.enclosure import EXACT
from justicia.encoders.clauses import Clauses as ClausesDecision
from justicia.encoders.decisions import Tree
from justicia.encoders.linear_threshold import LinearThreshold
from justicia.solvers.base import TOLERANCE, Effort, Solution
from justicia.solvers.clause_search import ClauseSearch
from justicia.ssat.lowering import DUAL, MOST_FAVORED, lower

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.ssat import Formula

__all__ = ["Clauses"]


class Clauses:
    """Solves formulas in clauses."""

    name = "clauses"
    tolerance = TOLERANCE

    def takes(self, decision: Decision) -> bool:
        """Whether the decision can be written in clauses, if its numbers allow it."""
        return isinstance(decision, (Tree, LinearThreshold, ClausesDecision))

    def solve(self, formula: Formula, effort: Effort) -> Solution:
        """Exact rates of every group (of the extreme ones when `search` is "learn"), or bounds when time runs out.

        Raises
        ------
        FormulaError
            When decision or population cannot be written in clauses.
        """
        start = time.perf_counter()
        deadline = None if effort.time_limit is None else start + effort.time_limit
        n_groups = formula.population.n_groups
        learned = effort.search == "learn" and n_groups > 1
        low, high = np.zeros(n_groups), np.ones(n_groups)
        with effort.interruption:
            run = self._extremes if learned else self._all
            evaluated, stopped = run(formula, effort, deadline, low, high)
        return Solution(
            low,
            high,
            self.name,
            time.perf_counter() - start,
            "bounds" if stopped else "exact",
            evaluated,
            search=effort.search,
            stopped=stopped,
        )

    def _all(
        self, formula: Formula, effort: Effort, deadline: float | None, low: np.ndarray, high: np.ndarray
    ) -> tuple[int, str | None]:
        """One formula a group; returns the number of finished groups, and why there are not more."""
        finished, stopped = 0, None
        for group in range(len(low)):
            if effort.interruption.pressed:
                return finished, "interrupted"
            if deadline is not None and time.perf_counter() > deadline:
                return finished, "time"
            search = ClauseSearch(lower(formula, group).formula, effort.interruption)
            value = search.value({}, deadline)
            low[group], high[group] = float(value.lo), float(value.hi)
            finished += search.stopped is None
            stopped = stopped or search.stopped
        return finished, stopped

    def _extremes(
        self, formula: Formula, effort: Effort, deadline: float | None, low: np.ndarray, high: np.ndarray
    ) -> tuple[int, str | None]:
        """Two formulas; the rates of the extreme groups, and of those next to them, are known in the end."""
        known: set[int] = set()
        for question in (MOST_FAVORED, DUAL):
            asked = lower(formula, question)
            search = ClauseSearch(asked.formula, effort.interruption)
            excluded: dict[int, bool] = {}
            most = None
            while len(excluded) < len(low):
                value, assignment = search.solve(excluded, deadline)
                others = [i for i in range(len(low)) if i not in known]
                if question == MOST_FAVORED:
                    high[others] = np.minimum(high[others], float(value.hi))
                else:
                    low[others] = np.maximum(low[others], 1.0 - float(value.hi))
                if assignment is None:
                    return len(known), search.stopped or "time"
                most = float(value.lo) if most is None else most
                group = asked.chosen(assignment)
                if group is None:
                    # The value is 0, and so are those of all groups that are left: the bounds say it already.
                    break
                if group not in known:
                    low[group] = high[group] = value.lo if question == MOST_FAVORED else 1.0 - float(value.lo)
                    known.add(group)
                if float(value.lo) < most - EXACT:
                    break
                # Whether another group is as extreme.
                excluded[abs(asked.selectors[group])] = asked.selectors[group] < 0
        return len(known), None
