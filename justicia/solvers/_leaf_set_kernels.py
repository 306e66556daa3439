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

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from justicia.solvers._box_kernels import (
    EMPTY,
    UNCOUNTED,
    choose,
    has_mass,
    outcome_of,
    place,
    reach,
    settle,
    split,
    workspace,
)  # fmt: skip

__all__ = ["expand", "prune", "starts"]


@intrinsic
def _first_bit(typing_context: Any, word: Any) -> Any:
    """Position of the lowest bit that is set."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), build


@intrinsic
def _bits_above(typing_context: Any, word: Any) -> Any:
    """Number of bits above the highest one that is set."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), build


@njit(**UNCOUNTED)
def _add_up(sets, trees, values, low, high, base):
    """Least and largest leaf within reach of each tree; returns the sums, and how many trees are open."""
    least, largest, n_open = base, base, 0
    for tree in range(len(trees)):
        first, last, at = trees[tree, 1], trees[tree, 2] - 1, trees[tree, 3]
        if first == last:
            leaves = (sets[first] >> np.uint64(trees[tree, 4])) & (~np.uint64(0) >> np.uint64(64 - trees[tree, 5]))
            a, b = values[at + _first_bit(leaves)], values[at + 63 - _bits_above(leaves)]
        else:
            begin = first
            while first < last and sets[first] == 0:
                first += 1
            while last > first and sets[last] == 0:
                last -= 1
            a = values[at + 64 * (first - begin) + _first_bit(sets[first])]
            b = values[at + 64 * (last - begin) + 63 - _bits_above(sets[last])]
        low[tree], high[tree] = a, b
        least += a
        largest += b
        n_open += a < b
    return least, largest, n_open


@njit(**UNCOUNTED)
def _top(node, sets, begin, end, nodes, below):
    """The highest node from this one on with leaves within reach on both of its sides; a leaf when there is none."""
    while nodes[node, 2] >= 0:
        left = right = False
        at, width = nodes[node, 3], end - begin
        for word in range(width):
            left = left or (sets[begin + word] & below[at + word]) != 0
            right = right or (sets[begin + word] & below[at + width + word]) != 0
        if left and right:
            break
        node = nodes[node, 0] if left else nodes[node, 1]
    return node


@njit(cache=True, nogil=True)
def starts(chosen, all_sets, held, base, out, settled):
    """Where the trees that are open in some boxes begin, -1 for others; what these and the base add up to."""
    trees, values = held[5], held[7]
    low, high = np.empty(len(trees)), np.empty(len(trees))
    for i in range(len(chosen)):
        _add_up(all_sets[chosen[i]], trees, values, low, high, 0.0)
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
def _halve(
    box, boxes, halves, held, tests, masks, population, rule, low, high, score, touched, room, active, mass
):  # fmt: skip
    """Split a box into the two rows of `halves`."""
    nodes, runs, at, sides, spans, trees, below, values, n_sets = held
    shape = population[0]
    cells, words, sets = boxes[0][box], boxes[1][box], boxes[5][box]
    halves[4][0, 2] = halves[4][1, 2] = EMPTY
    n_touched = 0
    total, _, n_open = _add_up(sets, trees, values, low, high, rule[2])
    if n_open == 0:
        settle(box, total, boxes, halves, rule)
        return
    for word in range(n_sets, len(sets)):
        halves[5][0, word] = 0
    for tree in range(len(trees)):
        place_of, shift = n_sets + (tree >> 2), np.uint64((tree & 3) << 4)
        steps = np.int64((sets[place_of] >> shift) & np.uint64(0xFFFF))
        if low[tree] < high[tree]:
            top = _top(trees[tree, 0] + steps, sets, trees[tree, 1], trees[tree, 2], nodes, below)
            steps, test = top - trees[tree, 0], nodes[top, 2]
            if score[test] == 0.0:
                touched[n_touched] = test
                n_touched += 1
            score[test] += high[tree] - low[tree]
        halves[5][0, place_of] |= np.uint64(steps) << shift
    best = choose(score, touched, n_touched)
    split(best, box, boxes, halves, tests, masks, population, room, active, mass)
    feature = tests[best, 0]
    opening, closing = spans[feature, 0], spans[feature, 1]
    if shape[feature, 0] and not cells[3 * feature + 2]:
        opening, closing = _between(cells[3 * feature], cells[3 * feature + 1], opening, closing, runs)
    for word in range(n_sets, len(sets)):
        halves[5][1, word] = halves[5][0, word]
    for half in range(2):
        if not has_mass(halves[2], half):
            continue
        inside = halves[5][half]
        for word in range(n_sets):
            inside[word] = sets[word]
        _prune_half(
            opening, closing, cells, words, halves[0][half], halves[1][half], inside, runs, at, sides, tests, masks
        )  # fmt: skip
        least, largest, n_open = _add_up(inside, trees, values, low, high, rule[2])
        halves[3][half, 0], halves[3][half, 1] = least, largest
        halves[4][half, 0], halves[4][half, 1] = n_open, boxes[4][box, 1] + 1
        halves[4][half, 2] = outcome_of(least, largest, n_open, rule)


@njit(cache=True, nogil=True)
def expand(
    begin, end, chosen, free, boxes, halves, held, tests, masks, population, rule, weights, priority, totals, gone
):  # fmt: skip
    """Split boxes chosen[begin:end]; an open half takes the place of its box, a second one the next free row.

    numbers : (n, 3) least and largest score
    counts : (n, 3) open trees, depth, outcome
    rule : threshold, slack, base
    gone : is set for boxes without open halves

    Returns
    -------
    Number of rows taken from `free` on.
    """
    trees, start = held[5], free
    low, high = np.empty(len(trees)), np.empty(len(trees))
    score, touched = np.zeros(len(tests)), np.empty(len(tests), np.int64)
    room = workspace(population)
    active, mass = np.empty(len(weights), np.int64), np.empty(len(weights))
    tree_words = np.full(2, boxes[5].shape[1])
    for i in range(begin, end):
        _halve(
            chosen[i], boxes, halves, held, tests, masks, population, rule, low, high, score, touched, room, active,
            mass,
        )  # fmt: skip
        placed = place(chosen[i], free, boxes, halves, tree_words, rule, weights, priority, totals)
        gone[i] = placed == 0
        free += placed == 2
    return free - start
