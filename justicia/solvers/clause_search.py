"""Exact values of formulas in clauses, whatever their prefix, and optimal assignments.

Where the outermost block is under ∃ or ∀ and leaves few different formulas, all of them are solved together, and the
largest or smallest value is the answer (`clause_cases.py`); otherwise the search branches on its variables as well
(`weighted_search.py`).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from justicia.enclosure import EXACT, Enclosure
from justicia.solvers.clause_cases import Cases, cases_of
from justicia.solvers.clause_tables import MAX, OUTERMOST, SUM, tables_of
from justicia.solvers.definitions import defined_by
from justicia.solvers.interruption import Interruption
from justicia.solvers.weighted_clauses import weighted, weighted_by_definitions
from justicia.solvers.weighted_search import WeightedSearch
from justicia.ssat.clauses import EXISTS, RANDOM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from justicia.ssat.clauses import ClauseFormula

__all__ = ["Case", "ClauseSearch", "ClauseSolution", "solve_clauses"]

_AT_ONCE = 64
"""Cases that are searched together: each holds two numbers for every component that is remembered."""
_MOST_STRANGE = 2.0
"""Cases are searched one by one when all together have so many times the clauses of the largest one."""


@dataclass(frozen=True)
class ClauseSolution:
    """The value of a formula.

    Attributes
    ----------
    value : Enclosure
        Exact, or the bounds that were reached.
    assignment : dict of int to bool, or None
        Best values of the outermost variables under ∃ or ∀; None when the outermost block is random, or when there is
        no prefix. When the search was stopped, the best values known so far: the formula has at least the lower bound
        with them under ∃, at most the upper bound under ∀; None when these say nothing.
    nodes : int
        Branching points of the search.
    seconds : float
    stopped : str or None
        Why there are only bounds: "time" or "interrupted".
    """

    value: Enclosure
    assignment: dict[int, bool] | None
    nodes: int
    seconds: float
    stopped: str | None = None


@dataclass(frozen=True)
class Case:
    """One combination of the outermost choices.

    Attributes
    ----------
    assignment : mapping of int to bool
        Values of the outermost variables.
    value : Enclosure
        Of the formula with these.
    """

    assignment: Mapping[int, bool]
    value: Enclosure


def solve_clauses(
    formula: ClauseFormula,
    time_limit: float | None = None,
    interruption: Interruption | None = None,
    *,
    assignment: bool = True,
) -> ClauseSolution:
    """The value of a formula, and an optimal assignment of its outermost block.

    Parameters
    ----------
    formula : ClauseFormula
    time_limit : float, optional
        Seconds; then the bounds reached so far are the answer.
    interruption : Interruption, optional
        Looked at as often as the clock.
    assignment : bool
        Whether an assignment is wanted.

    Raises
    ------
    TooLargeError
        When the formula does not fit into the memory that the search allows itself.

    Examples
    --------
    >>> from justicia.ssat import from_sdimacs
    >>> lines = ("p cnf 3 2", "e 1 0", "r 0.3 2 0", "r 0.6 3 0", "1 2 0", "-1 3 0")
    >>> solution = solve_clauses(from_sdimacs(chr(10).join(lines)))
    >>> float(solution.value), solution.assignment
    (0.6, {1: True})
    """
    start = time.perf_counter()
    search = ClauseSearch(formula, interruption)
    deadline = None if time_limit is None else start + time_limit
    value, best = search.solve({}, deadline) if assignment else (search.value({}, deadline), None)
    return ClauseSolution(value, best, search.nodes, time.perf_counter() - start, search.stopped)


class ClauseSearch:
    """Searches one formula, and remembers its components from one question to the next.

    Parameters
    ----------
    formula : ClauseFormula
    interruption : Interruption, optional

    Attributes
    ----------
    nodes : int
        Branching points so far.
    stopped : str or None
        Why the last answer is not exact: "time" or "interrupted".
    """

    def __init__(self, formula: ClauseFormula, interruption: Interruption | None = None) -> None:
        self._tables = tables_of(formula)
        self._outermost = formula.outermost
        self._interruption = interruption
        self._position = {int(number): position for position, number in enumerate(self._tables.numbers)}
        self.nodes = 0
        self.stopped: str | None = None

    @cached_property
    def _cases(self) -> Cases | None:
        """The cases of the outermost choices; None when it is random, or when they are too many."""
        if self._tables.contradiction or self._outermost[0] in ("", RANDOM):
            return None
        choices = [self._position[variable] for variable in self._outermost[1] if variable in self._position]
        return cases_of(self._tables, np.array(choices, dtype=np.int64))

    @cached_property
    def _search(self) -> WeightedSearch:
        """Of the formula as one case, with branches on the outermost choices as well."""
        tables = self._tables
        nothing = np.zeros(tables.n_variables, dtype=bool)
        chosen = (tables.level == OUTERMOST) & (tables.kind != SUM)
        tables.settled[:] = defined_by(
            tables, chosen, np.flatnonzero((tables.level > OUTERMOST) & (tables.kind == MAX))
        )
        whole = Cases(nothing, np.full((1, tables.n_variables), -1, dtype=np.int8), [])
        return WeightedSearch(weighted(tables, whole), self._interruption)

    def cases(self, deadline: float | None = None) -> list[Case] | None:
        """Every combination of the outermost choices that makes a difference, but those under ∃ with value 0.

        None when they are too many to be looked at one by one, or when the outermost block is random.
        """
        cases = self._cases
        if cases is None:
            return None
        n_cases = len(cases.values)
        low, high = np.zeros(n_cases), np.ones(n_cases)
        self.stopped = None
        for at, clauses in weighted_by_definitions(self._tables, cases) if n_cases else ():
            at_once = _AT_ONCE if clauses.alike(_MOST_STRANGE) else 1
            for first in range(0, len(at), at_once):
                if self.stopped:
                    break
                part = slice(first, first + at_once)
                search = WeightedSearch(clauses.part(part), self._interruption)
                low[at[part]], high[at[part]] = search.values([], deadline)
                self.nodes += search.nodes
                self.stopped = search.stopped
        return [
            Case(
                {
                    variable: variable in self._position and bool(values[self._position[variable]] == 1)
                    for variable in self._outermost[1]
                },
                Enclosure(float(low[case]), float(high[case])) if case >= 0 else Enclosure(0.0, 0.0),
            )
            for values, case in cases.chosen
        ]

    def solve(self, fixed: dict[int, bool], deadline: float | None = None) -> tuple[Enclosure, dict[int, bool] | None]:
        """Value of the formula with some variables fixed, and best values of its outermost variables.

        There is no assignment where the outermost block is random, or when time did not suffice to find one.
        """
        quantifier, variables = self._outermost
        if self._tables.contradiction and quantifier not in ("", RANDOM):
            return Enclosure(0.0, 0.0), dict.fromkeys(variables, False) | fixed
        cases = None if fixed else self.cases(deadline)
        if cases is not None:
            return self._extreme(cases)
        value = self.value(fixed, deadline)
        if quantifier in ("", RANDOM):
            return value, None
        if self.stopped:
            return value, self._so_far(fixed, value)
        settled = {variable: False for variable in variables if variable not in self._position} | fixed
        wanted, most = float(value.lo), quantifier == EXISTS
        if wanted != (0.0 if most else 1.0):
            found = self._followed(wanted, settled, deadline) or self._one_by_one(wanted, most, settled, deadline)
            if found is None:
                return value, None
            settled = found
        return value, {variable: settled.get(variable, False) for variable in variables}

    def _so_far(self, fixed: dict[int, bool], value: Enclosure) -> dict[int, bool] | None:
        """The best values known after a search that was stopped; None when the bound that they reach says nothing."""
        quantifier, variables = self._outermost
        if value.lo == 0.0 if quantifier == EXISTS else value.hi == 1.0:
            return None
        values = self._search.followed()
        if values is None:
            return None
        return {
            variable: fixed.get(variable, values.get(self._position.get(variable, -1), False)) for variable in variables
        }

    def _extreme(self, cases: list[Case]) -> tuple[Enclosure, dict[int, bool] | None]:
        """The largest or smallest value of a case, and how to choose it."""
        variables = self._outermost[1]
        if not cases:
            return Enclosure(0.0, 0.0), dict.fromkeys(variables, False)
        if self._outermost[0] == EXISTS:
            best = max(cases, key=lambda case: case.value.lo)
            value = Enclosure(best.value.lo, max(case.value.hi for case in cases))
            says_nothing = value.lo == 0.0
        else:
            best = min(cases, key=lambda case: case.value.hi)
            value = Enclosure(min(case.value.lo for case in cases), best.value.hi)
            says_nothing = value.hi == 1.0
        return value, None if self.stopped and says_nothing else dict(best.assignment)

    def _followed(self, wanted: float, settled: dict[int, bool], deadline: float | None) -> dict[int, bool] | None:
        """The outermost variables by the best branches that the search remembers; None when that is not enough."""
        values = self._search.followed()
        if values is None:
            return None
        everything = settled | {
            variable: settled.get(variable, values.get(self._position.get(variable, -1), False))
            for variable in self._outermost[1]
        }
        reached = self.value(everything, deadline)
        if self.stopped or not math.isclose(float(reached.lo), wanted, rel_tol=EXACT):
            self.stopped = None
            return None
        return everything

    def _one_by_one(
        self, wanted: float, most: bool, settled: dict[int, bool], deadline: float | None
    ) -> dict[int, bool] | None:
        """The outermost variables settled one by one so that the value stays; None when time does not suffice."""
        for variable in self._outermost[1]:
            if variable in settled:
                continue
            if deadline is not None and time.perf_counter() > deadline:
                return None
            found: dict[bool, float] = {}
            for choice in (True, False):
                found[choice] = float(self.value({**settled, variable: choice}, deadline).lo)
                if self.stopped:
                    self.stopped = None
                    return None
                if math.isclose(found[choice], wanted, rel_tol=EXACT):
                    break
            settled = settled | {variable: (max if most else min)(found, key=found.__getitem__)}
        return settled

    def value(self, fixed: dict[int, bool], deadline: float | None = None) -> Enclosure:
        """Value of the formula with some of its variables under ∃ or ∀ fixed.

        Parameters
        ----------
        fixed : dict of int to bool
        deadline : float, optional
            Of `time.perf_counter`.
        """
        self.stopped = None
        if self._tables.contradiction:
            return Enclosure(0.0, 0.0)
        if not fixed:
            cases = self.cases(deadline)
            if cases is not None:
                return self._extreme(cases)[0]
        search = self._search
        places = {int(number): place for place, number in enumerate(search.numbers)}
        positions = {self._position[one]: held for one, held in fixed.items() if one in self._position}
        given = [2 * places[one] + (not held) for one, held in positions.items() if one in places]
        before = search.nodes
        low, high = search.values(given, deadline)
        self.nodes += search.nodes - before
        self.stopped = search.stopped
        return Enclosure(float(low[0]), float(high[0]))
