"""Engines that answer formulas; each takes some kinds of matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from justicia.errors import InputError
from justicia.solvers.base import Solution, Solver
from justicia.solvers.paths import Paths
from justicia.words import did_you_mean

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision

__all__ = ["ENGINES", "SEARCHES", "Solution", "Solver", "pick"]

ENGINES: dict[str, Solver] = {engine.name: engine for engine in (Paths(),)}
"""Every engine by name, in the order in which they are tried."""

SEARCHES = ("enumerate", "learn")
"""Ways to look for the extreme groups."""


def pick(name: str, decision: Decision) -> Solver:
    """The engine called `name`, or the first that takes the decision when it is "auto".

    Raises
    ------
    InputError
        When there is no such engine, or it does not take the decision.
    """
    if name == "auto":
        return next(engine for engine in ENGINES.values() if engine.takes(decision))
    if name not in ENGINES:
        raise InputError(f"no solver is called {name!r}{did_you_mean(name, ['auto', *ENGINES])}")
    if not ENGINES[name].takes(decision):
        raise InputError(f"solver {name} does not take a {type(decision).__name__}: pass --solver auto")
    return ENGINES[name]
