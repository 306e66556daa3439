"""Engines that answer formulas; each takes some kinds of matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from justicia.encoders.clauses import Clauses as Rules
from justicia.errors import InputError
from justicia.solvers import external
from justicia.solvers.base import DELTA, TOLERANCE, Effort, Solution, Solver, TooLargeError
from justicia.solvers.branch_and_bound import BranchAndBound
from justicia.solvers.clause_search import ClauseSolution, solve_clauses
from justicia.solvers.clauses import Clauses
from justicia.solvers.fourier import Fourier
from justicia.solvers.mixtures import WithMixtures
from justicia.solvers.paths import Paths
from justicia.solvers.satisfied_clauses import SatisfiedClauses
from justicia.solvers.sums import Sums
from justicia.words import did_you_mean

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.ssat import Formula

__all__ = [
    "DELTA",
    "ENGINES",
    "SEARCHES",
    "TOLERANCE",
    "ClauseSolution",
    "Effort",
    "Solution",
    "Solver",
    "TooLargeError",
    "names",
    "pick",
    "solve_clauses",
]

ENGINES: dict[str, Solver] = {
    **{
        engine.name: WithMixtures(engine)
        for engine in (Paths(), SatisfiedClauses(), Sums(), Fourier(), BranchAndBound())
    },
    Clauses.name: Clauses(),
}
"""Every engine by name, in the order in which they are tried."""

SEARCHES = ("enumerate", "learn")
"""Ways to look for the extreme groups."""


def names() -> list[str]:
    """What a solver may be called."""
    return ["auto", *ENGINES, external.EXTERNAL, *external.NAMES]


class _FirstThatCan:
    """Asks engines in turn until one can answer."""

    name = "auto"
    tolerance = TOLERANCE

    def __init__(self, engines: list[Solver]) -> None:
        self._engines = engines

    def takes(self, decision: Decision) -> bool:
        """Whether one of the engines takes the decision."""
        return any(engine.takes(decision) for engine in self._engines)

    def solve(self, formula: Formula, effort: Effort) -> Solution:
        """The answer of the first engine that can."""
        *others, last = self._engines
        for engine in others:
            try:
                return engine.solve(formula, effort)
            except TooLargeError:
                continue
        return last.solve(formula, effort)


def pick(
    name: str, decision: Decision, command: str | None = None, pattern: str | None = None, digits: int | None = None
) -> Solver:
    """The engine called `name`; when it is "auto", the first that takes the decision and can answer.

    Parameters
    ----------
    name : str
        "auto", an engine, or an outside solver.
    decision : Decision
    command, pattern, digits
        Of an outside solver that is not known; see `justicia.solvers.external.outside_solver`. A command implies
        "external".

    Raises
    ------
    InputError
        When there is no such engine, or it does not take the decision.
    MissingDependencyError
        When an outside solver is not installed.
    """
    if command is not None or pattern is not None or digits is not None or name in (external.EXTERNAL, *external.NAMES):
        engine = external.External(external.outside_solver(name, command, pattern, digits))
        if not engine.takes(decision):
            raise InputError(
                f"solver {engine.name} takes what can be written in clauses, and a {type(decision).__name__} cannot: "
                "pass --solver auto"
            )
        return engine
    if name == "auto":
        able = [engine for engine in ENGINES.values() if engine.takes(decision)]
        # The way by formulas is for decisions that nothing else takes, and for rules that are too large otherwise.
        if not isinstance(decision, Rules):
            able = [engine for engine in able if engine.name != Clauses.name] or able
        return able[0] if len(able) == 1 else _FirstThatCan(able)
    if name not in ENGINES:
        raise InputError(f"no solver is called {name!r}{did_you_mean(name, names())}")
    if not ENGINES[name].takes(decision):
        raise InputError(f"solver {name} does not take a {type(decision).__name__}: pass --solver auto")
    return ENGINES[name]
