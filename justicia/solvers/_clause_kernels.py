"""Compiled search through a formula in clauses; `clause_search.py` says what it does, and prepares the arrays.

Literals of variable v are 2 v (true) and 2 v + 1 (false). Everything lives in arrays, so that the search can stop
anywhere and go on later: `search` returns why it stopped. Each component and each branch has an interval that holds its
value; both ends are equal when it is finished. A window (alpha, beta) says which values still matter: a component whose
interval lies at or below alpha, or at or above beta, is left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

__all__ = [
    "DONE",
    "MORE_CACHE",
    "MORE_COMPONENTS",
    "MORE_POOL",
    "RUNNING",
    "Problem",
    "State",
    "add_root",
    "descend",
    "first_frame",
    "rehash",
    "search",
]

SUM, MAX, MIN = 0, 1, 2
DONE, RUNNING, MORE_CACHE, MORE_POOL, MORE_COMPONENTS = 0, 1, 2, 3, 4

TRAIL, HEAD, FRAMES, COMPONENTS, POOL, CACHED, NODES, STAMP, SHORTENED = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""Positions in `State.registers`."""


class Problem(NamedTuple):
    """The formula.

    Attributes
    ----------
    clause_start, clause_literal : clauses, one after another
    occurrence_start, occurrence : clauses of each literal, one after another; the order in a list changes
    kind : int8 array of shape (n_variables,): SUM, MAX or MIN
    level : int32 array of shape (n_variables,): variables of smaller level come first
    weight : float64 array of shape (2 n_variables,), of each literal; 1 for those that are not random
    hash : uint64 array of shape (n_variables + n_clauses, 2)
    clause_score : float64 array of shape (n_clauses,): what a clause counts for each of its variables
    length_score : float64 array: times this, by the number of its open literals
    """

    clause_start: np.ndarray
    clause_literal: np.ndarray
    occurrence_start: np.ndarray
    occurrence: np.ndarray
    kind: np.ndarray
    level: np.ndarray
    weight: np.ndarray
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
    number : float64 array of shape (n, 9)
    keys : uint64 array of shape (n, 2); values : float64 array of shape (n, 2): the cache
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
    keys: np.ndarray
    values: np.ndarray
    best: np.ndarray


COMPONENT, LITERAL, STAGE, TRAIL_BEGIN, SUB_BEGIN, SUB_NEXT, POOL_BEGIN, CUT, SHORTENED_BEGIN, BEST = range(10)
"""Columns of `State.frame`."""
ALPHA, BETA, LOW, HIGH, WEIGHT, PRODUCT_LOW, PRODUCT_HIGH, BRANCH_ALPHA, BRANCH_BETA = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""Columns of `State.number`."""


@njit(cache=True)
def _propagate(p, s, literal):
    """Make a literal true, and all that follows from single clauses; False when that is impossible."""
    head = s.registers[TRAIL]
    tail = head + 1
    s.trail[head] = literal
    s.value[literal >> 1] = 1 - (literal & 1)
    possible = True
    while head < tail and possible:
        now = s.trail[head]
        head += 1
        for k in range(p.occurrence_start[now], s.occurrence_end[now]):
            s.true_literals[p.occurrence[k]] += 1
        against = now ^ 1
        for k in range(p.occurrence_start[against], s.occurrence_end[against]):
            clause = p.occurrence[k]
            s.open_literals[clause] -= 1
            if s.true_literals[clause] or s.open_literals[clause] > 1 or not possible:
                continue
            if s.open_literals[clause] == 0:
                possible = False
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
def _undo(p, s, begin):
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
def _split(p, s, parent):
    """Put the components of a component's open variables on the stack; variables without clauses are left out."""
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
def _begin(p, s, frame, literal):
    """Start a branch: assign, propagate, split."""
    trail = s.registers[TRAIL]
    parent = s.frame[frame, COMPONENT]
    s.frame[frame, LITERAL] = literal
    s.frame[frame, TRAIL_BEGIN] = trail
    s.frame[frame, SUB_BEGIN] = s.registers[COMPONENTS]
    s.frame[frame, POOL_BEGIN] = s.registers[POOL]
    s.frame[frame, CUT] = 0
    s.frame[frame, SHORTENED_BEGIN] = s.registers[SHORTENED]
    s.number[frame, PRODUCT_LOW] = 1.0
    s.number[frame, PRODUCT_HIGH] = 1.0
    weight = 0.0
    if _propagate(p, s, literal):
        weight = 1.0
        for i in range(trail, s.registers[TRAIL]):
            weight *= p.weight[s.trail[i]]
        if weight > 0.0:
            _split(p, s, parent)
    s.number[frame, WEIGHT] = weight
    s.frame[frame, SUB_NEXT] = s.registers[COMPONENTS]


@njit(cache=True)
def _window(p, s, frame):
    """Which values of the branch matter."""
    variable = s.frame[frame, LITERAL] >> 1
    alpha, beta = s.number[frame, ALPHA], s.number[frame, BETA]
    kind = p.kind[variable]
    if kind == SUM:
        beta -= s.number[frame, LOW]
        alpha -= s.number[frame, HIGH]
        if s.frame[frame, STAGE] == 0:
            alpha -= p.weight[s.frame[frame, LITERAL] ^ 1]
    elif kind == MAX:
        alpha = max(alpha, s.number[frame, LOW])
    else:
        beta = min(beta, s.number[frame, HIGH])
    s.number[frame, BRANCH_ALPHA] = alpha
    s.number[frame, BRANCH_BETA] = beta


@njit(cache=True)
def _find(s, component):
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
def _keep(s, component, low, high, best):
    """Remember a component's interval, and the literal of its best branch."""
    place = _find(s, component)
    if s.keys[place, 0] == 0 and s.keys[place, 1] == 0:
        s.keys[place, 0] = s.component_hash[component, 0]
        s.keys[place, 1] = s.component_hash[component, 1]
        s.registers[CACHED] += 1
        s.values[place, 0], s.values[place, 1] = low, high
        s.best[place] = best
    elif low == high:
        s.values[place, 0], s.values[place, 1] = low, high
        s.best[place] = best
    else:
        s.values[place, 0] = max(s.values[place, 0], low)
        s.values[place, 1] = min(s.values[place, 1], high)


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
def add_root(p, s, literal):
    """Make a literal true for good, before the search; False when that is impossible."""
    held = s.value[literal >> 1]
    if held >= 0:
        return held == 1 - (literal & 1)
    return _propagate(p, s, literal)


@njit(cache=True)
def first_frame(p, s, weight):
    """The frame of the whole formula: one branch without a variable, whose components are those of component 0."""
    _split(p, s, 0)
    s.frame[0, COMPONENT] = 0
    s.frame[0, SUB_BEGIN] = 1
    s.frame[0, SUB_NEXT] = s.registers[COMPONENTS]
    s.frame[0, CUT] = 0
    s.number[0, WEIGHT] = weight
    s.number[0, PRODUCT_LOW] = 1.0
    s.number[0, PRODUCT_HIGH] = 1.0
    s.number[0, BRANCH_ALPHA] = -1.0
    s.number[0, BRANCH_BETA] = 2.0


@njit(cache=True)
def _combine(p, s, frame, low, high):
    """Add the interval of a finished branch to those of its frame."""
    kind = p.kind[s.frame[frame, LITERAL] >> 1]
    if kind == SUM:
        s.number[frame, LOW] += low
        s.number[frame, HIGH] += high
    elif kind == MAX:
        if low > s.number[frame, LOW]:
            s.frame[frame, BEST] = s.frame[frame, LITERAL]
        s.number[frame, LOW] = max(s.number[frame, LOW], low)
        s.number[frame, HIGH] = max(s.number[frame, HIGH], high)
    else:
        if high < s.number[frame, HIGH]:
            s.frame[frame, BEST] = s.frame[frame, LITERAL]
        s.number[frame, LOW] = min(s.number[frame, LOW], low)
        s.number[frame, HIGH] = min(s.number[frame, HIGH], high)


@njit(cache=True)
def descend(p, s, level):
    """After a finished search, follow the best branches of variables of a level, whose values are then the best ones.

    False when that is not possible: a component is not remembered any more, or a minimum was settled by a clause.
    """
    component = s.frame[0, SUB_BEGIN]
    while component < s.registers[COMPONENTS]:
        if p.level[s.component[component, 2]] == level:
            place = _find(s, component)
            size = s.component[component, 1]
            if s.keys[place, 0] == 0 and s.keys[place, 1] == 0:
                return False
            if s.registers[POOL] + size > len(s.pool) or s.registers[COMPONENTS] + size > len(s.component):
                return False
            if not _propagate(p, s, s.best[place]):
                return False
            _split(p, s, component)
        component += 1
    return True


@njit(cache=True)
def search(p, s, budget):
    """Go on until the value of the first frame is known, or a number of nodes is spent, or arrays are full.

    Frame 0 is the formula after all that is settled before the search: one branch without a variable.
    """
    stop = s.registers[NODES] + budget
    while True:
        frame = s.registers[FRAMES] - 1
        begin, upto = s.frame[frame, SUB_BEGIN], s.frame[frame, SUB_NEXT]
        weight, product_low, product_high = (
            s.number[frame, WEIGHT],
            s.number[frame, PRODUCT_LOW],
            s.number[frame, PRODUCT_HIGH],
        )
        if upto > begin and not s.frame[frame, CUT]:
            scale = weight * product_high
            if scale <= 0.0 or scale <= s.number[frame, BRANCH_ALPHA]:
                s.frame[frame, CUT] = 1
                continue
            component = upto - 1
            alpha = s.number[frame, BRANCH_ALPHA] / scale
            beta = 2.0
            if component == begin and weight * product_low > 0.0:
                beta = s.number[frame, BRANCH_BETA] / (weight * product_low)
            place = _find(s, component)
            if s.keys[place, 0] != 0 or s.keys[place, 1] != 0:
                low, high = s.values[place, 0], s.values[place, 1]
                if low == high or high <= alpha or low >= beta:
                    s.number[frame, PRODUCT_LOW] = product_low * low
                    s.number[frame, PRODUCT_HIGH] = product_high * high
                    s.frame[frame, SUB_NEXT] = component
                    continue
            if s.registers[NODES] >= stop:
                return RUNNING
            if 2 * s.registers[CACHED] > len(s.keys):
                return MORE_CACHE
            size = s.component[component, 1]
            if s.registers[POOL] + size > len(s.pool):
                return MORE_POOL
            if s.registers[COMPONENTS] + size > len(s.component):
                return MORE_COMPONENTS
            s.frame[frame, SUB_NEXT] = component
            s.registers[NODES] += 1
            frame += 1
            s.registers[FRAMES] = frame + 1
            variable = s.component[component, 2]
            s.frame[frame, COMPONENT] = component
            s.frame[frame, STAGE] = 0
            s.number[frame, ALPHA] = alpha
            s.number[frame, BETA] = beta
            s.number[frame, LOW] = 1.0 if p.kind[variable] == MIN else 0.0
            s.number[frame, HIGH] = s.number[frame, LOW]
            literal = 2 * variable
            true, false = 0, 0
            for k in range(p.occurrence_start[literal], s.occurrence_end[literal]):
                true += s.true_literals[p.occurrence[k]] == 0
            for k in range(p.occurrence_start[literal + 1], s.occurrence_end[literal + 1]):
                false += s.true_literals[p.occurrence[k]] == 0
            if (false > true) == (p.kind[variable] != MIN):
                literal += 1
            s.frame[frame, BEST] = literal
            _begin(p, s, frame, literal)
            _window(p, s, frame)
            continue
        low = weight * product_low if upto == begin else 0.0
        high = weight * product_high
        if frame == 0:
            s.number[0, LOW], s.number[0, HIGH] = low, high
            return DONE
        for i in range(s.registers[SHORTENED] - 1, s.frame[frame, SHORTENED_BEGIN] - 1, -1):
            s.occurrence_end[s.shortened[i, 0]] = s.shortened[i, 1]
        s.registers[SHORTENED] = s.frame[frame, SHORTENED_BEGIN]
        _undo(p, s, s.frame[frame, TRAIL_BEGIN])
        s.registers[COMPONENTS] = begin
        s.registers[POOL] = s.frame[frame, POOL_BEGIN]
        _combine(p, s, frame, low, high)
        low, high = s.number[frame, LOW], s.number[frame, HIGH]
        literal = s.frame[frame, LITERAL]
        if s.frame[frame, STAGE] == 0:
            kind = p.kind[literal >> 1]
            if kind == SUM:
                high += p.weight[literal ^ 1]
            elif kind == MAX:
                high = max(high, 1.0)
            else:
                low = 0.0
            if low < high and low < s.number[frame, BETA] and high > s.number[frame, ALPHA]:
                s.frame[frame, STAGE] = 1
                _begin(p, s, frame, literal ^ 1)
                _window(p, s, frame)
                continue
        component = s.frame[frame, COMPONENT]
        _keep(s, component, low, high, s.frame[frame, BEST])
        s.registers[FRAMES] = frame
        frame -= 1
        s.number[frame, PRODUCT_LOW] *= low
        s.number[frame, PRODUCT_HIGH] *= high
