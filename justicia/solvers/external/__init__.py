"""Programs outside of this package that solve formulas: found, run, and not believed without a reason."""

from __future__ import annotations

from justicia.errors import InputError, MissingDependencyError
from justicia.solvers.external.counters import D4, Ganak, installed
from justicia.solvers.external.engine import LONGEST, External, enclosed
from justicia.solvers.external.programs import ABC, SHARPSSAT, Command, Kind, OutsideSolver, Program, locate
from justicia.solvers.external.recognising import ANSWER, STATUSES, Reply
from justicia.words import did_you_mean

__all__ = [
    "ANSWER",
    "EXTERNAL",
    "LONGEST",
    "NAMES",
    "STATUSES",
    "External",
    "OutsideSolver",
    "Reply",
    "available",
    "enclosed",
    "outside_solver",
]

EXTERNAL = "external"
"""Whichever there is, or the command that is given."""

_PROGRAMS: dict[str, Kind] = {SHARPSSAT.name: SHARPSSAT, ABC.name: ABC}
_COUNTERS: dict[str, type[D4] | type[Ganak]] = {D4.name: D4, Ganak.name: Ganak}

NAMES = (*_PROGRAMS, *_COUNTERS)
"""Outside solvers that are known, in the order in which they are tried."""


def available() -> tuple[str, ...]:
    """Names of the known solvers that this machine has."""
    return tuple(name for name in NAMES if (locate(_PROGRAMS[name]) if name in _PROGRAMS else installed(name)))


def outside_solver(
    name: str, command: str | None = None, pattern: str | None = None, digits: int | None = None
) -> OutsideSolver:
    """The outside solver of this name.

    Parameters
    ----------
    name : str
        One of `NAMES`, or "external": the command, or the first of them that this machine has.
    command, pattern, digits
        Of a program that is not known; see `Command`.

    Raises
    ------
    InputError
        When there is no such solver, or the command is none.
    MissingDependencyError
        When it is not installed.
    """
    if command is not None:
        if name not in ("auto", EXTERNAL):
            raise InputError(f"a solver command and solver {name} exclude each other: leave one out")
        return Command(command, pattern, digits)
    if pattern is not None or digits is not None:
        raise InputError("pattern and digits of a solver say how a command is read: name the command as well")
    if name == EXTERNAL:
        found = available()
        if not found:
            raise MissingDependencyError(
                "no outside solver is found: install one of "
                f"{', '.join(NAMES)} (docs/outside-solvers.md says how), or pass --solver-command 'mysolver {{file}}'"
            )
        name = found[0]
    if name in _PROGRAMS:
        return Program(_PROGRAMS[name])
    if name in _COUNTERS:
        return _COUNTERS[name]()
    raise InputError(f"no outside solver is called {name!r}{did_you_mean(name, [EXTERNAL, *NAMES])}")
