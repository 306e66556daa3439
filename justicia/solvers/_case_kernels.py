"""Compiled loops over the cases of a formula; `clause_cases.py` and `weighted_clauses.py` say what they are for."""

from __future__ import annotations

import numpy as np
from numba import njit

from justicia.solvers._component_kernels import STAMP, SUM, TRAIL

__all__ = ["eliminated", "next_choice", "what_is_left"]


@njit(cache=True)
def next_choice(choices, p, s):
    """The first open variable of some that stands in a clause which is not satisfied; -1 when there is none."""
    for i in range(len(choices)):
        variable = choices[i]
        if s.value[variable] >= 0:
            continue
        for k in range(p.occurrence_start[2 * variable], p.occurrence_start[2 * variable + 2]):
            if s.true_literals[p.occurrence[k]] == 0:
                return variable
    return -1


@njit(cache=True)
def what_is_left(p, s):
    """A hash of the clauses that are not satisfied, of their open variables, and of random literals that are true."""
    s.registers[STAMP] += 1
    stamp = s.registers[STAMP]
    n_variables = len(p.kind)
    hash_0, hash_1 = np.uint64(0), np.uint64(0)
    for i in range(s.registers[TRAIL]):
        variable = s.trail[i] >> 1
        if p.kind[variable] == SUM:
            factor = np.uint64(3 + 2 * (s.trail[i] & 1))
            hash_0 += factor * p.hash[variable, 0]
            hash_1 += factor * p.hash[variable, 1]
    for clause in range(len(p.clause_start) - 1):
        if s.true_literals[clause]:
            continue
        hash_0 += p.hash[n_variables + clause, 0]
        hash_1 += p.hash[n_variables + clause, 1]
        for j in range(p.clause_start[clause], p.clause_start[clause + 1]):
            variable = p.clause_literal[j] >> 1
            if s.value[variable] < 0 and s.mark[variable] != stamp:
                s.mark[variable] = stamp
                hash_0 += p.hash[variable, 0]
                hash_1 += p.hash[variable, 1]
    return hash_0, hash_1


@njit(cache=True)
def _make_false(clause, but, start, literals, occurrence_start, occurrence, reason, held, trail):
    """Assume that all literals of a clause but one are false, and draw conclusions from some short clauses.

    Returns the number of assigned literals, which `trail` lists and `held` marks, or -1 when that is impossible.
    """
    n_trail, head = 0, 0
    for j in range(start[clause], start[clause + 1]):
        if literals[j] != but:
            held[literals[j] ^ 1] = True
            trail[n_trail] = literals[j] ^ 1
            n_trail += 1
    while head < n_trail:
        against = trail[head] ^ 1
        head += 1
        for k in range(occurrence_start[against], occurrence_start[against + 1]):
            other = occurrence[k]
            if not reason[other]:
                continue
            n_open, last, satisfied = 0, 0, False
            for j in range(start[other], start[other + 1]):
                if held[literals[j]]:
                    satisfied = True
                    break
                if not held[literals[j] ^ 1]:
                    n_open += 1
                    last = literals[j]
            if satisfied or n_open > 1:
                continue
            if n_open == 0:
                for i in range(n_trail):
                    held[trail[i]] = False
                return -1
            held[last] = True
            trail[n_trail] = last
            n_trail += 1
    return n_trail


@njit(cache=True)
def eliminated(candidates, level, start, literals, occurrence_start, occurrence, reason, most):
    """Which literal of each clause is summed out, or -1; int32 array of shape (n_clauses,).

    Parameters
    ----------
    candidates : int array
        Random variables, in the order in which they are tried.
    level : int array of shape (n_variables,)
    reason : bool array of shape (n_clauses,)
        Clauses without candidates, from which conclusions are drawn.
    most : int
        Clauses that a candidate may stand in.
    """
    n_variables = len(level)
    removed = np.full(len(start) - 1, -1, dtype=np.int32)
    held = np.zeros(2 * n_variables, dtype=np.bool_)
    trail = np.empty(n_variables + 1, dtype=np.int32)
    for at in range(len(candidates)):
        variable = candidates[at]
        first, last = occurrence_start[2 * variable], occurrence_start[2 * variable + 2]
        fits = last - first <= most
        for k in range(first, last):
            clause = occurrence[k]
            fits = fits and removed[clause] < 0
            for j in range(start[clause], start[clause + 1]):
                fits = fits and level[literals[j] >> 1] <= level[variable]
            if not fits:
                break
        if not fits:
            continue
        # At most one of the clauses may be false, the variable left out.
        for k in range(first, last - 1):
            literal = 2 * variable + (k >= occurrence_start[2 * variable + 1])
            n_trail = _make_false(
                occurrence[k], literal, start, literals, occurrence_start, occurrence, reason, held, trail
            )
            if n_trail < 0:
                continue
            for other in range(k + 1, last):
                clause, satisfied = occurrence[other], False
                for j in range(start[clause], start[clause + 1]):
                    if literals[j] >> 1 != variable and held[literals[j]]:
                        satisfied = True
                        break
                if not satisfied:
                    fits = False
                    break
            for i in range(n_trail):
                held[trail[i]] = False
            if not fits:
                break
        if fits:
            for k in range(first, last):
                removed[occurrence[k]] = 2 * variable + (k >= occurrence_start[2 * variable + 1])
    return removed
