"""Variables that others define: whatever the values of the others, the clauses leave one value at most.

Such a variable under ∃ needs no search of its own. At most one of its values has a value other than 0, so that the sum
over both is the larger of the two, and it may be counted like a random variable of weight 1, together with the random
variables before it. Encodings are full of them: they name parts of a formula.

A candidate x is defined by known variables when the clauses over x and them, x removed, are contradictory together:
then x cannot be free to take both values (Beth; Padoa's method, Lagniez and Marquis 2017). Only clauses close to x are
looked at, and few branches are taken; what is not found is left under ∃, which is right as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from justicia.solvers.clause_tables import ClauseTables

__all__ = ["defined_by"]

_MOST_BRANCHES = 20_000
_MOST_LOOKED_AT = 300_000_000
"""Clauses, some seconds."""


def defined_by(tables: ClauseTables, known: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Which variables are known in the end, bool array of shape (n_variables,).

    Parameters
    ----------
    tables : ClauseTables
    known : bool array of shape (n_variables,)
        Variables that may define others.
    candidates : int array
        In the order in which they are tried; the order does not matter but for time.
    """
    from justicia.solvers._definition_kernels import find_defined

    found = known.copy()
    if len(candidates):
        find_defined(
            candidates, found, tables.weight[::2] < 1.0, tables.clause_start, tables.clause_literal,
            tables.occurrence_start, tables.occurrence, _MOST_BRANCHES, _MOST_LOOKED_AT,
        )  # fmt: skip
    return found
