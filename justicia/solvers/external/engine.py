"""An outside program as an engine: every group's question is written down and handed to it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from justicia.enclosure import EXACT
from justicia.solvers.base import Effort, Solution
from justicia.solvers.clauses import Clauses
from justicia.ssat.lowering import lower

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.solvers.external.programs import OutsideSolver
    from justicia.solvers.external.recognising import Reply
    from justicia.ssat import Formula

__all__ = ["LONGEST", "External", "enclosed"]

LONGEST = 600.0
"""Seconds that a program gets for one formula when no limit was asked for."""


class External:
    """Asks a program for one group after another.

    Parameters
    ----------
    program : OutsideSolver

    Attributes
    ----------
    unanswered : int
        Questions that it gave no answer to so far.
    """

    tolerance = 1e-3
    """What programs that round probabilities to six decimals leave open in formulas with thousands of them."""

    def __init__(self, program: OutsideSolver) -> None:
        self.name = program.name
        self.unanswered = 0
        self._program = program

    def takes(self, decision: Decision) -> bool:
        """Whether the decision can be written in clauses, if its numbers allow it."""
        return Clauses().takes(decision)

    def solve(self, formula: Formula, effort: Effort) -> Solution:
        """What the program says of every group; groups that it does not answer are bounded by 0 and 1.

        Raises
        ------
        FormulaError
            When decision or population cannot be written in clauses.
        InputError
            When the program cannot be started.
        """
        start = time.perf_counter()
        deadline = None if effort.time_limit is None else start + effort.time_limit
        n_groups = formula.population.n_groups
        low, high = np.zeros(n_groups), np.ones(n_groups)
        problems: dict[int, str] = {}
        with effort.interruption:
            for group in range(n_groups):
                limit = LONGEST if deadline is None else deadline - time.perf_counter()
                if effort.interruption.pressed:
                    problems[group] = "interrupted: it was not asked"
                    continue
                if limit <= 0:
                    problems[group] = "time: it was not asked any more"
                    continue
                reply = self._program.ask(lower(formula, group).formula, limit, effort.interruption)
                if reply.answered:
                    low[group], high[group] = enclosed(reply)
                else:
                    problems[group] = f"{reply.status}: {reply.message}"
        self.unanswered += len(problems)
        return Solution(
            low,
            high,
            self.name,
            time.perf_counter() - start,
            "exact" if float((high - low).max(initial=0.0)) <= EXACT else "bounds",
            n_groups - len(problems),
            stopped=None if not problems else "interrupted" if effort.interruption.pressed else "program",
            problems=problems,
        )


def enclosed(reply: Reply) -> tuple[float, float]:
    """Bounds of the value that an answer leaves open by its digits."""
    if reply.value is None:
        return 0.0, 1.0
    return max(reply.value - reply.rounding, 0.0), min(reply.value + reply.rounding, 1.0)
