"""Programs that solve formulas, and where they are found.

====================  ==================================================  =====================
name                  what it is                                          prefixes
====================  ==================================================  =====================
abc                   reSSAT and erSSAT in ABC (NTU-ALComLab/ssatABC)     R∃, ∃R, ∃R∃, R, ∃
sharpssat             SharpSSAT (NTU-ALComLab/SharpSSAT)                  any
pyganak               the model counter Ganak (PyPI)                      R, R∃
d4                    the knowledge compiler d4 (d4solver on PyPI)        R, R∃ with defined ∃
a command of your own  ``--solver-command 'mysolver {file}'``             any
====================  ==================================================  =====================
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from justicia.errors import InputError, MissingDependencyError
from justicia.guarding import private_folder
from justicia.solvers.external.preparing import decimals, plain, prepared, quantifiers, single_precision
from justicia.solvers.external.recognising import Reply, compiled, recognise
from justicia.solvers.external.running import run_program
from justicia.ssat.sdimacs import to_sdimacs
from justicia.words import shown

if TYPE_CHECKING:
    from justicia.solvers.interruption import Interruption
    from justicia.ssat.clauses import ClauseFormula

__all__ = ["ABC", "SHARPSSAT", "Command", "Kind", "OutsideSolver", "Program", "locate"]

_FILE = "{file}"
_NAME = "problem.sdimacs"
"""Of the formula, in the program's folder; ABC splits its command at blanks, so that no path stands there."""
_CACHE_MEGABYTES = 2000
"""SharpSSAT would take most of the free memory."""
_COMMAND_DIGITS = 6
_ACCURACY = 1e-6
"""reSSAT and erSSAT compute in single precision: 4e-8 is the most that was seen to be lost. Nothing better is known of
other programs."""


class OutsideSolver(Protocol):
    """Something that is asked for the value of a formula, and may fail in any way."""

    name: str

    def refuses(self, formula: ClauseFormula) -> str | None:
        """Why the formula is not of a kind that it takes; None when it is."""
        ...

    def ask(
        self, formula: ClauseFormula, time_limit: float | None = None, interruption: Interruption | None = None
    ) -> Reply:
        """What it says; the rounding holds all that is lost on the way there and back.

        Raises
        ------
        InputError
            When it cannot be started.
        """
        ...


@dataclass(frozen=True)
class Kind:
    """A program that is known.

    Attributes
    ----------
    name : str
    variable : str
        Of the environment, where its place may stand.
    executables : tuple of str
        Its names on the PATH.
    words : tuple of str
        Arguments.
    written : callable
        Takes a probability and gives the one that the program makes of it.
    wanted : str
        Quantifiers without which it does not answer.
    prefixes : tuple of str, or None
        Quantifiers, one a level, that it takes; None for any.
    universal : str or None
        An argument more when there is a ∀.
    hint : str
        How it is had.
    """

    name: str
    variable: str
    executables: tuple[str, ...]
    words: tuple[str, ...]
    written: Callable[[Fraction], Fraction]
    wanted: str
    prefixes: tuple[str, ...] | None
    universal: str | None
    hint: str


# -p and -s switch off partial assignments and subsumption: with them, erSSAT at HEAD 7a45d5d printed values that were
# too small, of 8 of 28 random formulas of thirty variables and of formulas of this package as well.
ABC = Kind(
    "abc", "JUSTICIA_ABC", ("abc",), ("-c", f"ssat -v -p -s {_NAME}"), decimals(6), "re", ("re", "er", "ere"), None,
    "reSSAT and erSSAT are built from github.com/NTU-ALComLab/ssatABC",
)  # fmt: skip
SHARPSSAT = Kind(
    "sharpssat", "JUSTICIA_SHARPSSAT", ("SharpSSAT", "sharpssat"),
    ("-s", "-p", "-cs", str(_CACHE_MEGABYTES), _NAME), single_precision, "r", None, "-u",
    "SharpSSAT is built from github.com/NTU-ALComLab/SharpSSAT",
)  # fmt: skip


def locate(kind: Kind) -> str | None:
    """Where a known program is: what its variable of the environment says, else where the PATH has it.

    Raises
    ------
    InputError
        When the variable names something that is no program.
    """
    named = os.environ.get(kind.variable)
    if named:
        found = shutil.which(named)
        if found is None:
            raise InputError(f"{kind.variable}={shown(named, 200)} is no program: {kind.hint}; see docs")
        return str(Path(found).absolute())
    for executable in kind.executables:
        found = shutil.which(executable)
        if found is not None:
            return str(Path(found).absolute())
    return None


class Program:
    """A known program at its place.

    Parameters
    ----------
    kind : Kind
    place : str, optional
        Left out, it is looked for.

    Raises
    ------
    MissingDependencyError
        When it is not found.
    """

    def __init__(self, kind: Kind, place: str | None = None) -> None:
        place = locate(kind) if place is None else place
        if place is None:
            raise MissingDependencyError(
                f"the solver {kind.name} is not on the PATH: {kind.hint}; then set {kind.variable} to the program"
            )
        self.name = kind.name
        self._kind = kind
        self._place = place

    def refuses(self, formula: ClauseFormula) -> str | None:
        """Why the prefix is none that the program takes."""
        if self._kind.prefixes is None:
            return None
        made = quantifiers(prepared(formula, wanted=self._kind.wanted).formula)
        if made in self._kind.prefixes:
            return None
        taken = ", ".join(map(_symbols, self._kind.prefixes))
        return f"{self.name} takes prefixes {taken} and not {_symbols(quantifiers(formula))}"

    def ask(
        self, formula: ClauseFormula, time_limit: float | None = None, interruption: Interruption | None = None
    ) -> Reply:
        """The program's answer, or why there is none."""
        refused = self.refuses(formula)
        if refused is not None:
            return Reply("unsupported", message=refused)
        kind = self._kind
        made = prepared(formula, written=kind.written, wanted=kind.wanted)
        words = list(kind.words)
        if kind.universal is not None and "a" in quantifiers(formula):
            words.insert(0, kind.universal)
        reply = _asked([self._place, *words], to_sdimacs(made.formula), None, time_limit, interruption)
        known = {variable for block in formula.prefix for variable in block.variables}
        assignment = reply.assignment
        if assignment is not None:
            assignment = {variable: held for variable, held in assignment.items() if variable in known}
        return replace(reply, rounding=reply.rounding + made.shift + _ACCURACY, assignment=assignment)


class Command:
    """A program by a template.

    Parameters
    ----------
    template : str
        Words as a shell would split them, one of which holds ``{file}``.
    pattern : str, optional
        A regular expression with the value in its group `value`, or its first one, looked for line by line. Without
        it the closing lines of reSSAT, erSSAT and SharpSSAT are looked for.
    digits : int, optional
        Decimals of a probability that the program reads; with 0, all are written.

    Raises
    ------
    InputError
        When the template names no file, or no program.
    """

    name = "external"

    def __init__(self, template: str, pattern: str | None = None, digits: int | None = None) -> None:
        try:
            words = shlex.split(template)
        except ValueError as error:
            raise InputError(f"solver command {shown(template, 200)!r} cannot be split into words: {error}") from error
        if not words:
            raise InputError("the solver command is empty: it is of the form 'mysolver {file}'")
        if not any(_FILE in word for word in words[1:]):
            raise InputError(
                f"solver command {shown(template, 200)!r} does not say where the formula goes: write {_FILE}, as in "
                f"'mysolver {_FILE}'"
            )
        found = shutil.which(words[0])
        if found is None:
            raise InputError(f"the solver {shown(words[0], 200)} is not found, or is no program")
        self._words = [str(Path(found).absolute()), *words[1:]]
        self._pattern = None if pattern is None else compiled(pattern)
        kept = _COMMAND_DIGITS if digits is None else digits
        self._written = decimals(kept) if kept else None

    def refuses(self, formula: ClauseFormula) -> str | None:  # noqa: ARG002 (the signature of all solvers)
        """Nothing is known about it."""
        return None

    def ask(
        self, formula: ClauseFormula, time_limit: float | None = None, interruption: Interruption | None = None
    ) -> Reply:
        """The program's answer, or why there is none."""
        made = prepared(plain(formula), written=self._written)
        reply = _asked(self._words, to_sdimacs(made.formula), self._pattern, time_limit, interruption)
        return replace(reply, rounding=reply.rounding + made.shift + _ACCURACY)


def _asked(
    words: list[str],
    text: str,
    pattern: re.Pattern[str] | None,
    time_limit: float | None,
    interruption: Interruption | None,
) -> Reply:
    """Write a formula into a folder of its own, and run a program there."""
    start = time.perf_counter()
    with private_folder() as folder:
        file = folder / _NAME
        file.write_text(text, encoding="utf-8")
        arguments = [words[0], *(word.replace(_FILE, str(file)) for word in words[1:])]
        left = None if time_limit is None else max(time_limit - (time.perf_counter() - start), 0.0)
        return recognise(run_program(arguments, folder, left, interruption), pattern)


def _symbols(letters: str) -> str:
    return letters.translate(str.maketrans("era", "∃R∀")) or "without variables"
