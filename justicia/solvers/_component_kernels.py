"""Compiled steps of the search through a formula: assign and propagate, split into components, remember these.

Literals of variable v are 2 v (true) and 2 v + 1 (false). A clause has a weight for each case, with which a case is
multiplied when none of its literals is true: 0 for one that has to hold, and then it is *hard* if it has to in every
case. The cases share variables and clauses; whatever has a value has one a case.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

__all__ = [
    "COMPONENTS",
    "MAX",
    "MIN",
    "NODES",
    "POOL",
    "SUM",
    "TRAIL",
    "Problem",
    "State",
    "assume",
    "find",
    "keep",
    "propagate",
    "rehash",
    "split",
    "undo",
]

SUM, MAX, MIN = 0, 1, 2

TRAIL, HEAD, FRAMES, COMPONENTS, POOL, CACHED, NODES, STAMP, SHORTENED = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""Positions in `State.registers`."""


class Problem(NamedTuple):
    """The formula.

    Attributes
    ----------
    clause_start, clause_literal : clauses, one after another
    occurrence_start, occurrence : clauses of each literal, one after another; the order in a list changes
    hard : bool array of shape (n_clauses,)
    clause_weight : float64 array of shape (n_clauses, n_cases): of a clause that is false
    kind : int8 array of shape (n_variables,): SUM, MAX or MIN
    level : int32 array of shape (n_variables,): variables of smaller level come first
    weight : float64 array of shape (2 n_variables, n_cases), of each literal that is true
    plain : bool array of shape (2 n_variables,): all these weights are 1
    free : float64 array of shape (n_variables, n_cases): value of a variable that is in no clause
    hash : uint64 array of shape (n_variables + n_clauses, 2)
    clause_score : float64 array of shape (n_clauses,): what a clause counts for each of its variables
    length_score : float64 array: times this, by the number of its open literals
    """

    clause_start: np.ndarray
    clause_literal: np.ndarray
    occurrence_start: np.ndarray
    occurrence: np.ndarray
    hard: np.ndarray
    clause_weight: np.ndarray
    kind: np.ndarray
    level: np.ndarray
    weight: np.ndarray
    plain: np.ndarray
    free: np.ndarray
    hash: np.ndarray
    clause_score: np.ndarray
    length_score: np.ndarray


class State(NamedTuple):
    """Where the search stands.

    Attributes
    ----------
    registers : int64 array
    value : int8 array of shape (n_variables,): 1 true, 0 false, -1 open
    true_literals, open_literals : int32 array of shape (n_clauses,)
    trail : int32 array of shape (n_variables,)
    mark, clause_mark : int64 arrays: stamp of the last visit
    pool : int32 array: variables of the components
    component : int64 array of shape (n, 3): first place in the pool, number of variables, variable to branch on
    component_hash : uint64 array of shape (n, 2)
    occurrence_end : int32 array: where the list of each literal ends; satisfied clauses may lie behind it
    shortened : int32 array of shape (n, 2): lists that were shortened, and where they ended before
    frame : int64 array of shape (n, 10)
    number : float64 array of shape (n, 9, n_cases)
    product : float64 array of shape (n_cases,): what was multiplied by since it was last set to 1
    keys : uint64 array of shape (n, 2); values : float64 array of shape (n, 2, n_cases): the cache
    best : int32 array of shape (n,): literal of the best branch of each component in the cache
    """

    registers: np.ndarray
    value: np.ndarray
    true_literals: np.ndarray
    open_literals: np.ndarray
    trail: np.ndarray
    mark: np.ndarray
    clause_mark: np.ndarray
    pool: np.ndarray
    component: np.ndarray
    component_hash: np.ndarray
    occurrence_end: np.ndarray
    shortened: np.ndarray
    frame: np.ndarray
    number: np.ndarray
    product: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    best: np.ndarray


@njit(cache=True)
def _multiply(product, factors):
    """Multiply in place; False when all are 0."""
    alive = False
    for case in range(len(product)):
        product[case] *= factors[case]
        alive = alive or product[case] > 0.0
    return alive


@njit(cache=True)
def propagate(p, s, literal):
    """Make a literal true, and all that follows from single clauses; False when no case is left.

    `State.product` is multiplied by the weights of literals and of clauses that became false.
    """
    head = s.registers[TRAIL]
    tail = head + 1
    s.trail[head] = literal
    s.value[literal >> 1] = 1 - (literal & 1)
    possible = True
    while head < tail and possible:
        now = s.trail[head]
        head += 1
        if not p.plain[now] and not _multiply(s.product, p.weight[now]):
            possible = False
        for k in range(p.occurrence_start[now], s.occurrence_end[now]):
            s.true_literals[p.occurrence[k]] += 1
        against = now ^ 1
        for k in range(p.occurrence_start[against], s.occurrence_end[against]):
            clause = p.occurrence[k]
            s.open_literals[clause] -= 1
            if s.true_literals[clause] or s.open_literals[clause] > 1 or not possible:
                continue
            if s.open_literals[clause] == 0:
                if p.hard[clause] or not _multiply(s.product, p.clause_weight[clause]):
                    possible = False
                continue
            if not p.hard[clause]:
                continue
            for j in range(p.clause_start[clause], p.clause_start[clause + 1]):
                other = p.clause_literal[j]
                if s.value[other >> 1] < 0:
                    if p.kind[other >> 1] == MIN:
                        possible = False
                    else:
                        s.trail[tail] = other
                        tail += 1
                        s.value[other >> 1] = 1 - (other & 1)
                    break
    s.registers[TRAIL] = tail
    s.registers[HEAD] = head
    return possible


@njit(cache=True)
def undo(p, s, begin):
    """Take literals back, down to a place of the trail."""
    for i in range(s.registers[TRAIL] - 1, begin - 1, -1):
        literal = s.trail[i]
        s.value[literal >> 1] = -1
        if i < s.registers[HEAD]:
            for k in range(p.occurrence_start[literal], s.occurrence_end[literal]):
                s.true_literals[p.occurrence[k]] -= 1
            against = literal ^ 1
            for k in range(p.occurrence_start[against], s.occurrence_end[against]):
                s.open_literals[p.occurrence[k]] += 1
    s.registers[TRAIL] = begin
    s.registers[HEAD] = begin


@njit(cache=True)
def split(p, s, parent):
    """Put the components of a component's open variables on the stack; those in no clause are multiplied."""
    s.registers[STAMP] += 1
    stamp = s.registers[STAMP]
    n_variables = len(p.kind)
    first = s.component[parent, 0]
    for at in range(first, first + s.component[parent, 1]):
        seed = s.pool[at]
        if s.value[seed] >= 0 or s.mark[seed] == stamp:
            continue
        begin = s.registers[POOL]
        end = begin + 1
        s.pool[begin] = seed
        s.mark[seed] = stamp
        hash_0, hash_1 = np.uint64(0), np.uint64(0)
        place = begin
        best, best_level, best_score = -1, 0, 0.0
        while place < end:
            variable = s.pool[place]
            place += 1
            score = 0.0
            for literal in (2 * variable, 2 * variable + 1):
                k, last = p.occurrence_start[literal], s.occurrence_end[literal]
                while k < last:
                    clause = p.occurrence[k]
                    if s.true_literals[clause]:
                        # Satisfied clauses go to the end of the list.
                        last -= 1
                        p.occurrence[k] = p.occurrence[last]
                        p.occurrence[last] = clause
                        continue
                    k += 1
                    score += p.clause_score[clause] * p.length_score[s.open_literals[clause]]
                    if s.clause_mark[clause] == stamp:
                        continue
                    s.clause_mark[clause] = stamp
                    hash_0 += p.hash[n_variables + clause, 0]
                    hash_1 += p.hash[n_variables + clause, 1]
                    for j in range(p.clause_start[clause], p.clause_start[clause + 1]):
                        other = p.clause_literal[j] >> 1
                        if s.value[other] < 0 and s.mark[other] != stamp:
                            s.mark[other] = stamp
                            s.pool[end] = other
                            end += 1
                shortened = s.registers[SHORTENED]
                if s.occurrence_end[literal] - last > 2 and shortened < len(s.shortened):
                    s.shortened[shortened, 0] = literal
                    s.shortened[shortened, 1] = s.occurrence_end[literal]
                    s.registers[SHORTENED] = shortened + 1
                    s.occurrence_end[literal] = last
            hash_0 += p.hash[variable, 0]
            hash_1 += p.hash[variable, 1]
            level = p.level[variable]
            if best < 0 or level < best_level or (level == best_level and score > best_score):
                best, best_level, best_score = variable, level, score
        if best_score == 0.0 and end == begin + 1:
            if not (p.plain[2 * seed] and p.plain[2 * seed + 1]):
                _multiply(s.product, p.free[seed])
            continue
        made = s.registers[COMPONENTS]
        s.component[made, 0] = begin
        s.component[made, 1] = end - begin
        s.component[made, 2] = best
        s.component_hash[made, 0] = hash_0
        s.component_hash[made, 1] = hash_1
        s.registers[COMPONENTS] = made + 1
        s.registers[POOL] = end


@njit(cache=True)
def find(s, component):
    """Place of a component in the cache, or the free place where it belongs."""
    key_0, key_1 = s.component_hash[component, 0], s.component_hash[component, 1]
    mask = len(s.keys) - 1
    place = np.int64(key_0 & np.uint64(mask))
    while s.keys[place, 0] != 0 or s.keys[place, 1] != 0:
        if s.keys[place, 0] == key_0 and s.keys[place, 1] == key_1:
            return place
        place = (place + 1) & mask
    return place


@njit(cache=True)
def keep(s, component, low, high, best):
    """Remember a component's intervals, and the literal of its best branch."""
    place = find(s, component)
    if s.keys[place, 0] == 0 and s.keys[place, 1] == 0:
        s.keys[place, 0] = s.component_hash[component, 0]
        s.keys[place, 1] = s.component_hash[component, 1]
        s.registers[CACHED] += 1
        s.values[place, 0], s.values[place, 1] = low, high
        s.best[place] = best
        return
    exact = True
    for case in range(len(low)):
        if low[case] == high[case]:
            s.values[place, 0, case], s.values[place, 1, case] = low[case], high[case]
        else:
            exact = False
            s.values[place, 0, case] = max(s.values[place, 0, case], low[case])
            s.values[place, 1, case] = min(s.values[place, 1, case], high[case])
    if exact:
        s.best[place] = best


@njit(cache=True)
def rehash(old_keys, old_values, old_best, keys, values, best):
    """Move the cache into larger arrays."""
    mask = len(keys) - 1
    for i in range(len(old_keys)):
        if old_keys[i, 0] == 0 and old_keys[i, 1] == 0:
            continue
        place = np.int64(old_keys[i, 0] & np.uint64(mask))
        while keys[place, 0] != 0 or keys[place, 1] != 0:
            place = (place + 1) & mask
        keys[place] = old_keys[i]
        values[place] = old_values[i]
        best[place] = old_best[i]


@njit(cache=True)
def assume(p, s, literal):
    """Make a literal true until it is taken back; False when that is impossible."""
    held = s.value[literal >> 1]
    if held >= 0:
        return held == 1 - (literal & 1)
    return propagate(p, s, literal)
