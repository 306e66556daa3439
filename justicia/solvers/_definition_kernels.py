"""Compiled search for variables that others define; `definitions.py` says what it does, and prepares the arrays."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["find_defined"]


@njit(cache=True)
def _gather(candidate, known, clause_start, clause_literal, occurrence_start, occurrence, stamps, stamp, place, local):
    """Clauses of the candidate over known variables, and other clauses over their variables.

    Returns the number of local clauses and of local variables; `place` numbers the variables, `local` lists clauses.
    """
    n_clauses, n_variables = 0, 0
    sides = 0
    for literal in (2 * candidate, 2 * candidate + 1):
        found = False
        for k in range(occurrence_start[literal], occurrence_start[literal + 1]):
            clause = occurrence[k]
            usable = True
            for j in range(clause_start[clause], clause_start[clause + 1]):
                variable = clause_literal[j] >> 1
                if variable != candidate and not known[variable]:
                    usable = False
                    break
            if not usable:
                continue
            found = True
            local[n_clauses] = clause
            n_clauses += 1
            for j in range(clause_start[clause], clause_start[clause + 1]):
                variable = clause_literal[j] >> 1
                if variable != candidate and stamps[variable] != stamp:
                    stamps[variable] = stamp
                    place[n_variables] = variable
                    n_variables += 1
        sides += found
    if sides < 2:
        return 0, 0
    for i in range(n_variables):
        for literal in (2 * place[i], 2 * place[i] + 1):
            for k in range(occurrence_start[literal], occurrence_start[literal + 1]):
                clause = occurrence[k]
                # Each clause once: when the variable is that of its first literal.
                if clause_literal[clause_start[clause]] != literal:
                    continue
                inside = True
                for j in range(clause_start[clause], clause_start[clause + 1]):
                    if stamps[clause_literal[j] >> 1] != stamp:
                        inside = False
                        break
                if inside:
                    local[n_clauses] = clause
                    n_clauses += 1
    return n_clauses, n_variables


@njit(cache=True)
def _refuted(candidate, n_clauses, local, clause_start, clause_literal, value, most):
    """Whether no values of the others allow both values of the candidate; False when `most` branches do not tell."""
    size = 0
    for i in range(n_clauses):
        size += clause_start[local[i] + 1] - clause_start[local[i]]
    trail = np.empty(size + 1, dtype=np.int32)
    decisions = np.empty(size + 1, dtype=np.int32)
    n_trail, n_decisions, branches = 0, 0, 0
    while True:
        conflict = False
        changed = True
        best, best_open = -1, 1 << 30
        while changed and not conflict:
            changed = False
            best, best_open = -1, 1 << 30
            for i in range(n_clauses):
                clause = local[i]
                n_open, last, satisfied = 0, -1, False
                for j in range(clause_start[clause], clause_start[clause + 1]):
                    literal = clause_literal[j]
                    if literal >> 1 == candidate:
                        continue
                    held = value[literal >> 1]
                    if held < 0:
                        n_open += 1
                        last = literal
                    elif held == 1 - (literal & 1):
                        satisfied = True
                        break
                if satisfied:
                    continue
                if n_open == 0:
                    conflict = True
                    break
                if n_open == 1:
                    value[last >> 1] = 1 - (last & 1)
                    trail[n_trail] = last
                    n_trail += 1
                    changed = True
                elif n_open < best_open:
                    best, best_open = last, n_open
        if not conflict:
            if best < 0 or branches >= most:
                for i in range(n_trail):
                    value[trail[i] >> 1] = -1
                return False
            branches += 1
            decisions[n_decisions] = n_trail
            n_decisions += 1
            trail[n_trail] = best
            n_trail += 1
            value[best >> 1] = 1 - (best & 1)
            continue
        if n_decisions == 0:
            for i in range(n_trail):
                value[trail[i] >> 1] = -1
            return True
        n_decisions -= 1
        begin = decisions[n_decisions]
        flipped = trail[begin] ^ 1
        for i in range(begin, n_trail):
            value[trail[i] >> 1] = -1
        trail[begin] = flipped
        n_trail = begin + 1
        value[flipped >> 1] = 1 - (flipped & 1)


@njit(cache=True)
def find_defined(candidates, known, clause_start, clause_literal, occurrence_start, occurrence, most):
    """Mark in `known` every candidate that known ones define; again until none is added.

    Parameters
    ----------
    candidates : int array
    known : bool array of shape (n_variables,)
        Changed in place.
    most : int
        Branches that one candidate may take.
    """
    n_variables = len(known)
    stamps = np.zeros(n_variables, dtype=np.int64)
    place = np.empty(n_variables, dtype=np.int32)
    local = np.empty(2 * len(clause_start), dtype=np.int32)
    value = np.full(n_variables, -1, dtype=np.int8)
    stamp = 0
    added = True
    while added:
        added = False
        for i in range(len(candidates)):
            candidate = candidates[i]
            if known[candidate]:
                continue
            stamp += 1
            n_clauses, n_local = _gather(
                candidate, known, clause_start, clause_literal, occurrence_start, occurrence, stamps, stamp, place,
                local,
            )  # fmt: skip
            if n_clauses and _refuted(candidate, n_clauses, local, clause_start, clause_literal, value, most):
                known[candidate] = True
                added = True
