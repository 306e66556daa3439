"""Compiled search through a formula in clauses; `weighted_search.py` says what it does, and prepares the arrays.

Everything lives in arrays, so that the search can stop anywhere and go on later: `search` returns why it stopped. Each
component and each branch has, for every case, an interval that holds its value; both ends are equal when it is
finished. A window (alpha, beta) says which values still matter: where the interval lies at or below alpha, or at or
above beta, in every case, a component is left.
"""

from __future__ import annotations

from numba import njit

from justicia.solvers._component_kernels import (
    CACHED,
    COMPONENTS,
    FRAMES,
    MAX,
    MIN,
    NODES,
    POOL,
    SHORTENED,
    SUM,
    TRAIL,
    find,
    keep,
    propagate,
    split,
    undo,
)

__all__ = ["DONE", "MORE_CACHE", "MORE_COMPONENTS", "MORE_POOL", "RUNNING", "descend", "first_frame", "search"]

DONE, RUNNING, MORE_CACHE, MORE_POOL, MORE_COMPONENTS = 0, 1, 2, 3, 4

COMPONENT, LITERAL, STAGE, TRAIL_BEGIN, SUB_BEGIN, SUB_NEXT, POOL_BEGIN, CUT, SHORTENED_BEGIN, BEST = range(10)
"""Columns of `State.frame`."""
ALPHA, BETA, LOW, HIGH, WEIGHT, PRODUCT_LOW, PRODUCT_HIGH, BRANCH_ALPHA, BRANCH_BETA = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""Second axis of `State.number`."""
_NOTHING = 2.0
"""An alpha that no value exceeds; a beta that none reaches."""


@njit(cache=True)
def _begin(p, s, frame, literal):
    """Start a branch: assign, propagate, split."""
    s.frame[frame, LITERAL] = literal
    s.frame[frame, TRAIL_BEGIN] = s.registers[TRAIL]
    s.frame[frame, SUB_BEGIN] = s.registers[COMPONENTS]
    s.frame[frame, POOL_BEGIN] = s.registers[POOL]
    s.frame[frame, CUT] = 0
    s.frame[frame, SHORTENED_BEGIN] = s.registers[SHORTENED]
    s.product[:] = 1.0
    if propagate(p, s, literal):
        split(p, s, s.frame[frame, COMPONENT])
    else:
        s.product[:] = 0.0
    s.number[frame, WEIGHT] = s.product
    s.number[frame, PRODUCT_LOW] = 1.0
    s.number[frame, PRODUCT_HIGH] = 1.0
    s.frame[frame, SUB_NEXT] = s.registers[COMPONENTS]


@njit(cache=True)
def _window(p, s, frame):
    """Which values of the branch matter."""
    literal, number = s.frame[frame, LITERAL], s.number[frame]
    kind = p.kind[literal >> 1]
    for case in range(number.shape[1]):
        alpha, beta = number[ALPHA, case], number[BETA, case]
        if kind == SUM:
            beta -= number[LOW, case]
            alpha -= number[HIGH, case]
            if s.frame[frame, STAGE] == 0:
                alpha -= p.weight[literal ^ 1, case]
        elif kind == MAX:
            alpha = max(alpha, number[LOW, case])
        else:
            beta = min(beta, number[HIGH, case])
        number[BRANCH_ALPHA, case] = alpha
        number[BRANCH_BETA, case] = beta


@njit(cache=True)
def _matters(s, frame):
    """Whether the components of a branch that are left can still make a difference in some case."""
    number = s.number[frame]
    for case in range(number.shape[1]):
        scale = number[WEIGHT, case] * number[PRODUCT_HIGH, case]
        if scale > 0.0 and scale > number[BRANCH_ALPHA, case]:
            return True
    return False


@njit(cache=True)
def _open_window(s, frame, last):
    """Which values of the branch's next component matter, to the frame after it; `last` when no other is left."""
    number, inner = s.number[frame], s.number[frame + 1]
    for case in range(number.shape[1]):
        scale = number[WEIGHT, case] * number[PRODUCT_HIGH, case]
        inner[ALPHA, case] = inner[BETA, case] = _NOTHING
        if scale > 0.0 and scale > number[BRANCH_ALPHA, case]:
            inner[ALPHA, case] = number[BRANCH_ALPHA, case] / scale
            least = number[WEIGHT, case] * number[PRODUCT_LOW, case]
            if last and least > 0.0:
                inner[BETA, case] = number[BRANCH_BETA, case] / least


@njit(cache=True)
def _suffices(low, high, alpha, beta):
    """Whether intervals say all that matters."""
    for case in range(len(low)):
        if low[case] < high[case] and high[case] > alpha[case] and low[case] < beta[case]:
            return False
    return True


@njit(cache=True)
def _multiply_branch(s, frame, low, high):
    """Multiply the intervals of a branch by those of a component of it."""
    number = s.number[frame]
    for case in range(number.shape[1]):
        number[PRODUCT_LOW, case] *= low[case]
        number[PRODUCT_HIGH, case] *= high[case]


@njit(cache=True)
def first_frame(p, s):
    """The frame of the whole formula: one branch without a variable, whose components are those of component 0."""
    s.frame[0, COMPONENT] = 0
    split(p, s, s.frame[0, COMPONENT])
    s.frame[0, SUB_BEGIN] = 1
    s.frame[0, SUB_NEXT] = s.registers[COMPONENTS]
    s.frame[0, CUT] = 0
    s.number[0, WEIGHT] = s.product
    s.number[0, PRODUCT_LOW] = 1.0
    s.number[0, PRODUCT_HIGH] = 1.0
    s.number[0, BRANCH_ALPHA] = -1.0
    s.number[0, BRANCH_BETA] = 2.0


@njit(cache=True)
def _combine(p, s, frame, finished):
    """Add the intervals of a finished branch to those of its frame; `finished` when all its components are."""
    literal, number = s.frame[frame, LITERAL], s.number[frame]
    kind = p.kind[literal >> 1]
    for case in range(number.shape[1]):
        low = number[WEIGHT, case] * number[PRODUCT_LOW, case] if finished else 0.0
        high = number[WEIGHT, case] * number[PRODUCT_HIGH, case]
        if kind == SUM:
            number[LOW, case] += low
            number[HIGH, case] += high
        elif kind == MAX:
            if low > number[LOW, case]:
                s.frame[frame, BEST] = literal
            number[LOW, case] = max(number[LOW, case], low)
            number[HIGH, case] = max(number[HIGH, case], high)
        else:
            if high < number[HIGH, case]:
                s.frame[frame, BEST] = literal
            number[LOW, case] = min(number[LOW, case], low)
            number[HIGH, case] = min(number[HIGH, case], high)


@njit(cache=True)
def _other_branch_matters(p, s, frame):
    """After the first branch: widen the frame's intervals by what the other may be, and say whether that matters."""
    number, other = s.number[frame], s.frame[frame, LITERAL] ^ 1
    kind = p.kind[other >> 1]
    matters = False
    for case in range(number.shape[1]):
        low, high = number[LOW, case], number[HIGH, case]
        if kind == SUM:
            high += p.weight[other, case]
        elif kind == MAX:
            high = max(high, p.weight[other, case])
        else:
            low = 0.0
        matters = matters or (low < high and low < number[BETA, case] and high > number[ALPHA, case])
    if matters:
        return True
    for case in range(number.shape[1]):
        if kind == SUM:
            number[HIGH, case] += p.weight[other, case]
        elif kind == MAX:
            number[HIGH, case] = max(number[HIGH, case], p.weight[other, case])
        else:
            number[LOW, case] = 0.0
    return False


@njit(cache=True)
def descend(p, s, level, active, stopped):
    """Follow the best branches of variables of a level, whose values are then the best ones.

    False when that is not possible: a component is not remembered any more, or a minimum was settled by a clause. After
    a search that was stopped, components that are `active` have a variable assigned already; those that were not
    looked at are left as they are, and it is not possible either where only bounds of one are known.
    """
    component = s.frame[0, SUB_BEGIN]
    while component < s.registers[COMPONENTS]:
        if p.level[s.component[component, 2]] == level and not active[component]:
            place = find(s, component)
            size = s.component[component, 1]
            if s.keys[place, 0] == 0 and s.keys[place, 1] == 0:
                if not stopped:
                    return False
                component += 1
                continue
            if stopped and s.values[place, 0, 0] < s.values[place, 1, 0]:
                return False
            if s.registers[POOL] + size > len(s.pool) or s.registers[COMPONENTS] + size > len(s.component):
                return False
            if not propagate(p, s, s.best[place]):
                return False
            split(p, s, component)
        component += 1
    return True


@njit(cache=True)
def _first_literal(p, s, variable):
    """The literal of the branch to begin with: the one that satisfies more clauses, or under ∀ the other."""
    literal = 2 * variable
    true, false = 0, 0
    for k in range(p.occurrence_start[literal], s.occurrence_end[literal]):
        true += s.true_literals[p.occurrence[k]] == 0
    for k in range(p.occurrence_start[literal + 1], s.occurrence_end[literal + 1]):
        false += s.true_literals[p.occurrence[k]] == 0
    return literal + ((false > true) == (p.kind[variable] != MIN))


@njit(cache=True)
def search(p, s, budget):
    """Go on until the values of the first frame are known, or a number of nodes is spent, or arrays are full.

    Frame 0 is the formula after all that is settled before the search: one branch without a variable.
    """
    stop = s.registers[NODES] + budget
    while True:
        frame = s.registers[FRAMES] - 1
        begin, upto = s.frame[frame, SUB_BEGIN], s.frame[frame, SUB_NEXT]
        if upto > begin and not s.frame[frame, CUT]:
            if not _matters(s, frame):
                s.frame[frame, CUT] = 1
                continue
            component = upto - 1
            _open_window(s, frame, component == begin)
            place = find(s, component)
            if s.keys[place, 0] != 0 or s.keys[place, 1] != 0:
                low, high = s.values[place, 0], s.values[place, 1]
                if _suffices(low, high, s.number[frame + 1, ALPHA], s.number[frame + 1, BETA]):
                    _multiply_branch(s, frame, low, high)
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
            s.number[frame, LOW : HIGH + 1] = 1.0 if p.kind[variable] == MIN else 0.0
            literal = _first_literal(p, s, variable)
            s.frame[frame, BEST] = literal
            _begin(p, s, frame, literal)
            _window(p, s, frame)
            continue
        if frame == 0:
            s.number[0, LOW] = s.number[0, WEIGHT] * s.number[0, PRODUCT_LOW] * (upto == begin)
            s.number[0, HIGH] = s.number[0, WEIGHT] * s.number[0, PRODUCT_HIGH]
            return DONE
        for i in range(s.registers[SHORTENED] - 1, s.frame[frame, SHORTENED_BEGIN] - 1, -1):
            s.occurrence_end[s.shortened[i, 0]] = s.shortened[i, 1]
        s.registers[SHORTENED] = s.frame[frame, SHORTENED_BEGIN]
        undo(p, s, s.frame[frame, TRAIL_BEGIN])
        s.registers[COMPONENTS] = begin
        s.registers[POOL] = s.frame[frame, POOL_BEGIN]
        _combine(p, s, frame, upto == begin)
        if s.frame[frame, STAGE] == 0 and _other_branch_matters(p, s, frame):
            s.frame[frame, STAGE] = 1
            _begin(p, s, frame, s.frame[frame, LITERAL] ^ 1)
            _window(p, s, frame)
            continue
        low, high = s.number[frame, LOW], s.number[frame, HIGH]
        keep(s, s.frame[frame, COMPONENT], low, high, s.frame[frame, BEST])
        s.registers[FRAMES] = frame
        _multiply_branch(s, frame - 1, low, high)
