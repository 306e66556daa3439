"""The general case: the question is written in clauses, and the formula is solved.

What the other engines answer from the structure of a decision, this one answers from the formula alone: ∃ a group. Its
cases are the groups, and each has its value, so that one formula gives all rates. Where groups are too many for that,
"enumerate" takes one formula a group, and "learn" two: ∃ a group for the most favored one, and the dual for the least
favored one. All groups' tables are inside of each, so that both searches give the same values.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from justicia.enclosure import EXACT
from justicia.encoders.clauses import Clauses as ClausesDecision
from justicia.encoders.decisions import Tree
from justicia.encoders.linear_threshold import LinearThreshold
from justicia.errors import FormulaError
from justicia.solvers.base import TOLERANCE, Effort, Solution
from justicia.solvers.clause_search import ClauseSearch
from justicia.ssat.lowering import DUAL, MOST_FAVORED, lower

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.ssat import Formula
    from justicia.ssat.lowering import GroupFormula

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
        """Every group, by one formula or by one formula each; returns how many are known, and why not more."""
        if len(low) > 1:
            try:
                asked = lower(formula, MOST_FAVORED)
            except FormulaError:
                # Too many probabilities for one formula; what cannot be written at all is refused below.
                asked = None
            search = None if asked is None else ClauseSearch(asked.formula, effort.interruption)
            if asked is not None and search is not None and _by_case(asked, search, deadline, low, high):
                return int((low == high).sum()), search.stopped
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
        stopped = None
        for question in (MOST_FAVORED, DUAL):
            asked = lower(formula, question)
            search = ClauseSearch(asked.formula, effort.interruption)
            found_low, found_high = np.zeros(len(low)), np.ones(len(low))
            if not _by_case(asked, search, deadline, found_low, found_high):
                stopped = self._extreme(asked, search, question, deadline, known, low, high)
                if stopped:
                    return len(known), stopped
                continue
            if question == DUAL:
                found_low, found_high = 1.0 - found_high, 1.0 - found_low
            # What is known already stays: another way of adding up may differ in the last digit.
            others = low < high
            low[others] = np.maximum(low[others], found_low[others])
            high[others] = np.maximum(low[others], np.minimum(high[others], found_high[others]))
            known.update(np.flatnonzero(low == high).tolist())
            stopped = search.stopped
            if stopped is None:
                break
        return len(known), stopped

    def _extreme(
        self,
        asked: GroupFormula,
        search: ClauseSearch,
        question: str,
        deadline: float | None,
        known: set[int],
        low: np.ndarray,
        high: np.ndarray,
    ) -> str | None:
        """The most extreme group, and whether others are as extreme, where groups are too many to look at each."""
        excluded: dict[int, bool] = {}
        most = None
        while len(excluded) < len(low):
            value, assignment = search.solve(excluded, deadline)
            others = [i for i in range(len(low)) if i not in known]
            if question == MOST_FAVORED:
                high[others] = np.minimum(high[others], float(value.hi))
            else:
                low[others] = np.maximum(low[others], 1.0 - float(value.hi))
            if assignment is None or search.stopped:
                return search.stopped or "time"
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
        return None


def _by_case(
    asked: GroupFormula, search: ClauseSearch, deadline: float | None, low: np.ndarray, high: np.ndarray
) -> bool:
    """Values of all groups of an ∃ formula, in place; False when they are too many."""
    if len(low) == 1:
        value = search.value({}, deadline)
        low[0], high[0] = float(value.lo), float(value.hi)
        return True
    cases = search.cases(deadline)
    if cases is None:
        return False
    # Groups that no case chooses cannot satisfy the clauses.
    high[:] = 0.0
    for case in cases:
        group = asked.chosen(case.assignment)
        if group is not None:
            low[group], high[group] = float(case.value.lo), float(case.value.hi)
    return True
