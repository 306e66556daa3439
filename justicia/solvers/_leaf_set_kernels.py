"""Compiled loops over boxes that hold, for every tree, the set of leaves that are within reach.

The leaves of a tree are numbered by their values, so that the first and last bit of its set give the least and largest
value within reach. A test that no longer cuts the box takes the leaves of its other side out of the set, so that an
update touches only the tests of the feature that was split. The idea of leaf sets is that of QuickScorer (Lucchese et
al., SIGIR 2015), applied to boxes instead of points.

Columns of `nodes`: left, right, test (-1 at leaves), begin of what is `below`: leaves on the left, then those on the
right. Columns of `runs`, one row a test, in order of feature and cut: test, cut, begin and end of the words that it
cuts; `at` holds their places, and `sides` the leaves on the left and on the right. Columns of `spans`, one row a
feature: begin and end of its runs. Columns of `trees`: root, first word, end of the words, first value, first bit,
number of leaves; trees of few leaves share a word. After its leaf sets a box holds, four to a word, how far from its
root each tree was found open. Other arrays are those of `_box_kernels`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from justicia.solvers._box_kernels import (
    EMPTY,
    UNCOUNTED,
    has_mass,
    outcome_of,
    place,
    reach,
    settle,
    split,
    workspace,
)  # fmt: skip
from justicia.solvers._leaf_sum_kernels import add_up, bound, lists

__all__ = ["evaluate", "expand", "prune", "starts"]


@njit(cache=True, nogil=True)
def starts(chosen, all_sets, held, base, out, settled):
    """Where the trees that are open in some boxes begin, -1 for others; what these and the base add up to."""
    trees, values = held[5], held[7]
    low, high = np.empty(len(trees)), np.empty(len(trees))
    for i in range(len(chosen)):
        add_up(all_sets[chosen[i]], trees, values, low, high, 0.0)
        settled[i] = base
        for tree in range(len(trees)):
            # From its root on: the way to the top node would cost as much as it saves.
            out[i, tree] = trees[tree, 0] if low[tree] < high[tree] else -1
            if low[tree] == high[tree]:
                settled[i] += low[tree]


@njit(**UNCOUNTED)
def _between(low, high, begin, end, runs):
    """Runs whose cut lies between two numbers, both left out."""
    first, last = begin, end
    while first < last:
        middle = (first + last) >> 1
        if runs[middle, 1] <= low:
            first = middle + 1
        else:
            last = middle
    opening, last = first, end
    while first < last:
        middle = (first + last) >> 1
        if runs[middle, 1] < high:
            first = middle + 1
        else:
            last = middle
    return opening, first


@njit(**UNCOUNTED)
def _shut(run, goes, sets, runs, at, sides):
    """Take out the leaves on the right of a test's nodes when the box goes left there, or those on the left."""
    shut = 1 if goes == 1 else 0
    for entry in range(runs[run, 2], runs[run, 3]):
        sets[at[entry]] &= ~sides[entry, shut]


@njit(**UNCOUNTED)
def prune(cells, words, sets, runs, at, sides, tests, masks):
    """Take out of a box's leaves those that its cells rule out."""
    for run in range(len(runs)):
        goes = reach(runs[run, 0], cells, words, tests, masks)
        if goes == 1 or goes == 2:
            _shut(run, goes, sets, runs, at, sides)


@njit(**UNCOUNTED)
def _prune_half(begin, end, cells, words, half_cells, half_words, sets, runs, at, sides, tests, masks):
    """Take out of the leaves of half a box those that it rules out and the box did not."""
    for run in range(begin, end):
        goes = reach(runs[run, 0], half_cells, half_words, tests, masks)
        if (goes == 1 or goes == 2) and reach(runs[run, 0], cells, words, tests, masks) == 3:
            _shut(run, goes, sets, runs, at, sides)


@njit(**UNCOUNTED)
def _evaluate(half, boxes, held, tests, masks, shape, rule, room):
    """Find what is known of a box whose cells and leaves are set."""
    least, largest, n_open, best = bound(
        boxes[5][half], boxes[0][half], boxes[1][half], held, tests, masks, shape, rule, room
    )
    boxes[3][half, 0], boxes[3][half, 1] = least, largest
    boxes[4][half, 0], boxes[4][half, 3] = n_open, best
    boxes[4][half, 2] = outcome_of(least, largest, n_open, rule)


@njit(cache=True, nogil=True)
def evaluate(boxes, held, tests, masks, population, rule):
    """Find what is known of the first box."""
    _evaluate(0, boxes, held, tests, masks, population[0], rule, lists(len(tests), len(population[0]), len(held[5])))


@njit(**UNCOUNTED)
def _halve(box, boxes, halves, held, tests, masks, population, rule, room, loose, active, mass):
    """Split a box into the two rows of `halves`."""
    _, runs, at, sides, spans, _, _, _, _ = held
    shape = population[0]
    cells, words, sets, best = boxes[0][box], boxes[1][box], boxes[5][box], boxes[4][box, 3]
    halves[4][0, 2] = halves[4][1, 2] = EMPTY
    if best < 0:
        settle(box, boxes[3][box, 0], boxes, halves, rule)
        return
    split(best, box, boxes, halves, tests, masks, population, room, active, mass)
    feature = tests[best, 0]
    opening, closing = spans[feature, 0], spans[feature, 1]
    if shape[feature, 0] and not cells[3 * feature + 2]:
        opening, closing = _between(cells[3 * feature], cells[3 * feature + 1], opening, closing, runs)
    for half in range(2):
        if not has_mass(halves[2], half):
            continue
        inside = halves[5][half]
        for word in range(len(sets)):
            inside[word] = sets[word]
        _prune_half(
            opening, closing, cells, words, halves[0][half], halves[1][half], inside, runs, at, sides, tests, masks
        )  # fmt: skip
        _evaluate(half, halves, held, tests, masks, shape, rule, loose)
        halves[4][half, 1] = boxes[4][box, 1] + 1


@njit(cache=True, nogil=True)
def expand(
    begin, end, chosen, free, boxes, halves, held, tests, masks, population, rule, weights, priority, totals, gone
):  # fmt: skip
    """Split boxes chosen[begin:end]; an open half takes the place of its box, a second one the next free row.

    numbers : (n, 3) least and largest score
    counts : (n, 4) open trees, depth, outcome, best test
    rule : threshold, slack, base
    gone : is set for boxes without open halves

    Returns
    -------
    Number of rows taken from `free` on.
    """
    start = free
    room, loose = workspace(population), lists(len(tests), len(population[0]), len(held[5]))
    active, mass = np.empty(len(weights), np.int64), np.empty(len(weights))
    tree_words = np.full(2, boxes[5].shape[1])
    for i in range(begin, end):
        _halve(chosen[i], boxes, halves, held, tests, masks, population, rule, room, loose, active, mass)
        placed = place(chosen[i], free, boxes, halves, tree_words, rule, weights, priority, totals)
        gone[i] = placed == 0
        free += placed == 2
    return free - start
