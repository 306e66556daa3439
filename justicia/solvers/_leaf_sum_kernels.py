"""Compiled loops that bound the sum of trees over a box, each tree being the set of its leaves that are within reach.

The plain bound adds up the least leaf of every tree, though these may lie at different cells. The finer one gives all
trees whose highest open test looks at the same feature the same cell of it: each of them is at least the least leaf on
that cell's side of its test. A tree belongs to one feature, so that the least sums of all features add up to a bound.

Arrays are those of `_leaf_set_kernels`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from justicia.solvers._box_kernels import OPEN, UNCOUNTED, outcome_of

__all__ = ["add_up", "bound", "lists"]

_NEAR = 0.25
"""How far inside of the plain bounds, in parts of their distance, the threshold may lie for finer ones to be tried."""


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
def add_up(sets, trees, values, low, high, base):
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


@njit(**UNCOUNTED)
def _ends(sets, begin, end, below, at, shift):
    """Places, among a tree's values, of the least and largest leaf within reach on one side of a node."""
    first, last = begin, end - 1
    while first < last and sets[first] & below[at + first - begin] == 0:
        first += 1
    while last > first and sets[last] & below[at + last - begin] == 0:
        last -= 1
    low = 64 * (first - begin) + _first_bit(sets[first] & below[at + first - begin]) - shift
    high = 64 * (last - begin) + 63 - _bits_above(sets[last] & below[at + last - begin]) - shift
    return low, high


@njit(**UNCOUNTED)
def _extremes_of(first, following, order, cells, words, shape, tests, masks, less, more):
    """Least and largest of what the tests of one feature add, over the cells of the box.

    first, following : its tests, one after another, until -1
    less, more : what each adds on its left to the least and largest score
    """
    feature = tests[first, 0]
    least, largest = np.inf, -np.inf
    if tests[first, 1] >= 0:
        # In order of their cuts: between two cuts those above add.
        n, test = 0, first
        while test >= 0:
            i = n
            while i > 0 and tests[order[i - 1], 1] > tests[test, 1]:
                order[i] = order[i - 1]
                i -= 1
            order[i] = test
            n += 1
            test = following[test]
        below = above = 0.0
        least, largest = 0.0, 0.0
        for i in range(n - 1, -1, -1):
            below += less[order[i]]
            above += more[order[i]]
            least, largest = min(least, below), max(largest, above)
        if cells[3 * feature + 2]:
            below = above = 0.0
            for i in range(n):
                if tests[order[i], 2]:
                    below += less[order[i]]
                    above += more[order[i]]
            least, largest = min(least, below), max(largest, above)
        return least, largest
    start = shape[feature, 3]
    for word in range(start, shape[feature, 4]):
        held = words[word]
        while held:
            bit = held & (~held + np.uint64(1))
            held ^= bit
            below = above = 0.0
            test = first
            while test >= 0:
                if masks[tests[test, 3] + word - start] & bit:
                    below += less[test]
                    above += more[test]
                test = following[test]
            least, largest = min(least, below), max(largest, above)
    return least, largest


@njit(cache=True, nogil=True)
def lists(n_tests, n_features, n_trees):
    """Room for `bound`, used again for every box.

    Returns
    -------
    low, high : float64 array of shape (n_trees,)
    score, less, more : float64 array of shape (n_tests,)
        Of the tests in use: ranges of their trees together; what they add on their left to the least and largest sum.
    following : int64 array of shape (n_tests,)
        The next test of the same feature, -1 after the last, -2 for tests not in use.
    head : int64 array of shape (n_features,)
        The first test of each feature, -1 for features not in use.
    order, used : int64 array
    """
    return (
        np.empty(n_trees), np.empty(n_trees), np.empty(n_tests), np.empty(n_tests), np.empty(n_tests),
        np.full(n_tests, -2), np.full(n_features, -1), np.empty(n_tests, np.int64), np.empty(n_features, np.int64),
    )  # fmt: skip


@njit(**UNCOUNTED)
def bound(sets, cells, words, held, tests, masks, shape, rule, room):
    """Bound the sum of all trees over a box, and find its best test.

    The sets are told where their trees are open.

    Returns
    -------
    least, largest : float
    n_open : int
        Trees that may give different values.
    best : int
        The test whose trees, of those that are open there, have the widest ranges together; -1 when the sum is known to
        lie on one side of the threshold.
    """
    nodes, _, _, _, _, trees, below, values, n_sets = held
    low, high, score, less, more, following, head, order, used = room
    plain_low, plain_high, n_open = add_up(sets, trees, values, low, high, rule[2])
    if outcome_of(plain_low, plain_high, n_open, rule) != OPEN:
        return plain_low, plain_high, n_open, -1
    # Far from both ends of what the trees may give, a finer bound would not settle it either.
    near = min(plain_high - rule[0], rule[0] - plain_low) < _NEAR * (plain_high - plain_low)
    least, largest, size, n_used = rule[2], rule[2], abs(rule[2]), 0
    for tree in range(len(trees)):
        if low[tree] == high[tree]:
            least += low[tree]
            largest += low[tree]
            size += abs(low[tree])
            continue
        place, shift = n_sets + (tree >> 2), np.uint64((tree & 3) << 4)
        root, begin, end, value = trees[tree, 0], trees[tree, 1], trees[tree, 2], trees[tree, 3]
        steps = np.int64((sets[place] >> shift) & np.uint64(0xFFFF))
        top = _top(root + steps, sets, begin, end, nodes, below)
        sets[place] = (sets[place] & ~(np.uint64(0xFFFF) << shift)) | (np.uint64(top - root) << shift)
        test, at = nodes[top, 2], nodes[top, 3]
        if following[test] == -2:
            feature = tests[test, 0]
            following[test] = head[feature]
            if head[feature] < 0:
                used[n_used] = feature
                n_used += 1
            head[feature] = test
            score[test] = less[test] = more[test] = 0.0
        score[test] += high[tree] - low[tree]
        if near:
            first, last = _ends(sets, begin, end, below, at, trees[tree, 4])
            left_low, left_high = values[value + first], values[value + last]
            first, last = _ends(sets, begin, end, below, at + end - begin, trees[tree, 4])
            right_low, right_high = values[value + first], values[value + last]
            least += right_low
            largest += right_high
            size += abs(left_low) + abs(left_high) + 2.0 * (abs(right_low) + abs(right_high))
            less[test] += left_low - right_low
            more[test] += left_high - right_high
    best = -1
    for i in range(n_used):
        feature = used[i]
        if near:
            lower, upper = _extremes_of(head[feature], following, order, cells, words, shape, tests, masks, less, more)
            least += lower
            largest += upper
        test = head[feature]
        head[feature] = -1
        while test >= 0:
            if best < 0 or score[test] > score[best]:
                best = test
            after = following[test]
            following[test] = -2
            test = after
    if not near:
        return plain_low, plain_high, n_open, best
    # Differences of leaves add roundings of their own.
    doubt = size * (4 * len(trees) + 16) * 2.0**-53
    return max(plain_low, least - doubt), min(plain_high, largest + doubt), n_open, best
