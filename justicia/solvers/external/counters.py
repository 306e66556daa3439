"""Model counters from PyPI: pyganak, which counts, and d4, which compiles a circuit that is evaluated here.

They take plain counting problems: random variables, then perhaps ones under ∃. pyganak sums over the random variables
alone. A circuit knows nothing of quantifiers, so that d4 takes only formulas whose variables under ∃ are settled by the
others. Its own weighted counts are not asked for: those of d4solver 1.0.0 are wrong under conditions.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from justicia.errors import FormulaError, MissingDependencyError
from justicia.guarding import private_folder
from justicia.solvers.clause_tables import MAX, definitions_of, tables_of
from justicia.solvers.external.circuits import Circuit, from_nnf
from justicia.solvers.external.preparing import plain, prepared, quantifiers
from justicia.solvers.external.recognising import ANSWER, Reply, recognise
from justicia.solvers.external.running import MOST_WRITTEN, run_program
from justicia.ssat.clauses import EXISTS, RANDOM, Block, ClauseFormula
from justicia.ssat.sdimacs import to_sdimacs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from justicia.solvers.interruption import Interruption

__all__ = ["D4", "Ganak", "installed", "weights_of"]

_SCRIPT = Path(__file__).with_name("_counting.py")
_MODULES = {"pyganak": "pyganak", "d4": "py_d4"}
_ROUNDING = 1e-14
"""Of sums and products of floats between 0 and 1."""


def installed(name: str) -> bool:
    """Whether a counter's library is there."""
    return importlib.util.find_spec(_MODULES[name]) is not None


def _check(name: str) -> None:
    if not installed(name):
        raise MissingDependencyError(
            f"the solver {name} is not installed: pip install 'justicia-verifier[counters]', or name another solver"
        )


def _arguments(name: str, file: Path) -> list[str]:
    return [sys.executable, "-I", str(_SCRIPT), name, str(file)]


class Ganak:
    """The model counter Ganak.

    Raises
    ------
    MissingDependencyError
        When it is not installed.
    """

    name = "pyganak"

    def __init__(self) -> None:
        _check(self.name)

    def refuses(self, formula: ClauseFormula) -> str | None:
        """Why the formula is no counting problem."""
        return _no_count(formula, self.name)

    def ask(
        self, formula: ClauseFormula, time_limit: float | None = None, interruption: Interruption | None = None
    ) -> Reply:
        """The count, or why there is none."""
        refused = self.refuses(formula)
        if refused is not None:
            return Reply("unsupported", message=refused)
        made = prepared(plain(formula), wanted="r")
        with private_folder() as folder:
            file = folder / "problem.sdimacs"
            file.write_text(to_sdimacs(made.formula), encoding="utf-8")
            reply = recognise(run_program(_arguments(self.name, file), folder, time_limit, interruption))
        return replace(reply, rounding=_ROUNDING) if reply.answered else reply


class D4:
    """The knowledge compiler d4.

    Raises
    ------
    MissingDependencyError
        When it is not installed.
    """

    name = "d4"

    def __init__(self) -> None:
        _check(self.name)

    def refuses(self, formula: ClauseFormula) -> str | None:
        """Why the models of the formula cannot be counted in its place."""
        refused = _no_count(formula, self.name)
        if refused is not None:
            return refused
        tables = tables_of(formula)
        if ((tables.kind == MAX) & ~definitions_of(tables)).any():
            return "d4 takes formulas whose variables under ∃ are settled by the others, and some of these are not"
        return None

    def ask(
        self, formula: ClauseFormula, time_limit: float | None = None, interruption: Interruption | None = None
    ) -> Reply:
        """The count, or why there is none."""
        refused = self.refuses(formula)
        if refused is not None:
            return Reply("unsupported", message=refused)
        circuit = self.compiled(formula, time_limit, interruption)
        if isinstance(circuit, Reply):
            return circuit
        value = circuit.count(weights_of(formula))
        if not -_ROUNDING <= value <= 1 + _ROUNDING:
            return Reply("outside", message=f"its circuit has the value {value:g}, which does not lie between 0 and 1")
        return Reply(ANSWER, float(np.clip(value, 0.0, 1.0)), _ROUNDING)

    def compiled(
        self, formula: ClauseFormula, time_limit: float | None = None, interruption: Interruption | None = None
    ) -> Circuit | Reply:
        """A circuit with the models of the clauses, or why there is none."""
        made = prepared(plain(formula)).formula
        # d4 is not asked about nothing: one more variable, which is true, changes no count.
        more = made.n_variables + 1
        made = ClauseFormula((*made.prefix, Block(EXISTS, (more,))), (*made.clauses, (more,)))
        with private_folder() as folder:
            file, circuit = folder / "problem.sdimacs", folder / "problem.nnf"
            file.write_text(to_sdimacs(made), encoding="utf-8")
            run = run_program(_arguments(self.name, file), folder, time_limit, interruption)
            reply = recognise(run)
            if reply.status in ("time", "interrupted", "flooded", "failed"):
                return reply
            if not circuit.is_file() or circuit.stat().st_size > MOST_WRITTEN:
                return replace(reply, status="empty", message="it wrote no circuit")
            text = circuit.read_text(encoding="utf-8", errors="replace")
        try:
            return from_nnf(text)
        except FormulaError as error:
            return replace(reply, status="unreadable", message=str(error))


def weights_of(formula: ClauseFormula) -> Mapping[int, float]:
    """Weights of the literals of random variables."""
    weights = {}
    for block in formula.prefix:
        if block.quantifier == RANDOM and block.probability is not None:
            for variable in block.variables:
                weights[variable] = float(block.probability)
                weights[-variable] = float(1 - block.probability)
    return weights


def _no_count(formula: ClauseFormula, name: str) -> str | None:
    made = quantifiers(formula)
    if made in ("", "r", "re"):
        return None
    return f"{name} counts: it takes prefixes R and R∃, and not {made.translate(str.maketrans('era', '∃R∀'))}"
