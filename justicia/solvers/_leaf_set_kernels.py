"""Compiled loops over boxes that hold, for every tree, the set of leaves that are within reach.

The leaves of a tree are numbered by their values, so that the first and last bit of its set give the least and largest
value within reach. A test that no longer cuts the box takes the leaves of its other side out of the set, so that an
update touches only the tests of the feature that was split. The idea of leaf sets is that of QuickScorer (Lucchese et
al., SIGIR 2015), applied to boxes instead of points.

Columns of `nodes`: left, right, test (-1 at leaves), begin of what is `below`: leaves on the left, then those on the
right. Columns of `entries`, one row an inner node, in order of feature, cut and side of the missing cell: test, cut,
tree, begin of what is below. Columns of `trees`: root, first word, end of the words, first value. Other arrays are
those of `_box_kernels`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from justicia.solvers._box_kernels import EMPTY, choose, has_mass, most_states, outcome_of, reach, split

__all__ = ["expand", "open_nodes", "prune"]


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


@njit(cache=True, nogil=True)
def _add_up(sets, trees, values, low, high, base):
    """Least and largest leaf within reach of each tree; returns the sums, and how many trees are open."""
    least, largest, n_open = base, base, 0
    for tree in range(len(trees)):
        first, last, at = trees[tree, 1], trees[tree, 2] - 1, trees[tree, 3]
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


@njit(cache=True, nogil=True)
def _top(root, sets, begin, end, nodes, below):
    """The highest node with leaves within reach on both of its sides; a leaf when there is none."""
    node = root
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
def open_nodes(chosen, b_sets, nodes, entries, spans, trees, below, values, base, out, n_open, settled):
    """Top nodes of the open trees of some boxes, and what all others add up to."""
    low, high = np.empty(len(trees)), np.empty(len(trees))
    for i in range(len(chosen)):
        sets = b_sets[chosen[i]]
        _add_up(sets, trees, values, low, high, 0.0)
        settled[i], n_open[i] = base, 0
        for tree in range(len(trees)):
            if low[tree] == high[tree]:
                settled[i] += low[tree]
            else:
                out[i, n_open[i]] = _top(trees[tree, 0], sets, trees[tree, 1], trees[tree, 2], nodes, below)
                n_open[i] += 1


@njit(cache=True, nogil=True)
def _between(low, high, begin, end, entries):
    """Entries whose cut lies between two numbers, both left out."""
    first, last = begin, end
    while first < last:
        middle = (first + last) >> 1
        if entries[middle, 1] <= low:
            first = middle + 1
        else:
            last = middle
    opening, last = first, end
    while first < last:
        middle = (first + last) >> 1
        if entries[middle, 1] < high:
            first = middle + 1
        else:
            last = middle
    return opening, first


@njit(cache=True, nogil=True)
def prune(begin, end, cells, words, sets, entries, trees, below, tests, masks):
    """Take out of a box's leaves those that its cells rule out at some nodes."""
    before, goes = -1, 3
    for entry in range(begin, end):
        if entries[entry, 0] != before:
            before = entries[entry, 0]
            goes = reach(before, cells, words, tests, masks)
        if goes == 1 or goes == 2:
            tree = entries[entry, 2]
            first, last = trees[tree, 1], trees[tree, 2]
            at = entries[entry, 3] + ((last - first) if goes == 1 else 0)
            for word in range(last - first):
                sets[first + word] &= ~below[at + word]


@njit(cache=True, nogil=True)
def expand(
    begin, end, chosen, b_cells, b_words, b_mass, b_numbers, b_counts, b_sets, o_cells, o_words, o_mass, o_numbers,
    o_counts, o_sets, tests, masks, nodes, entries, spans, trees, below, values, shape, layout, states, members,
    tables, within, rule,
):  # fmt: skip
    """Split some boxes; children 2 i and 2 i + 1 of the out arrays are those of chosen[i].

    numbers : (n, 3) least and largest score
    counts : (n, 3) open trees, depth, outcome
    rule : threshold, slack, base
    """
    n_groups, n_trees = b_mass.shape[1], len(trees)
    low, high = np.empty(n_trees), np.empty(n_trees)
    score, touched = np.zeros(len(tests)), np.empty(len(tests), np.int64)
    kinds, lists, held = np.empty(len(states), np.int8), np.empty((len(states), 2), np.int64), np.empty_like(members)
    touched_nodes, above, message = np.zeros(len(layout), np.int8), np.empty(len(states)), np.empty(most_states(layout))
    mass = np.empty(n_groups)
    active = np.empty(n_groups, np.int64)
    for i in range(begin, end):
        box = chosen[i]
        cells, sets = b_cells[box], b_sets[box]
        first, second = 2 * i, 2 * i + 1
        o_counts[first, 2] = o_counts[second, 2] = EMPTY
        n_touched = 0
        total, _, n_open = _add_up(sets, trees, values, low, high, rule[2])
        if n_open == 0:
            o_mass[first] = b_mass[box]
            o_counts[first, 2] = outcome_of(total, total, 0, rule)
            continue
        for tree in range(n_trees):
            if low[tree] < high[tree]:
                test = nodes[_top(trees[tree, 0], sets, trees[tree, 1], trees[tree, 2], nodes, below), 2]
                if score[test] == 0.0:
                    touched[n_touched] = test
                    n_touched += 1
                score[test] += high[tree] - low[tree]
        best = choose(score, touched, n_touched)
        split(
            best, box, first, b_cells, b_words, b_mass, o_cells, o_words, o_mass, tests, masks, shape, layout, states,
            members, tables, within, active, kinds, lists, held, touched_nodes, above, message, mass,
        )  # fmt: skip
        feature = tests[best, 0]
        opening, closing = spans[feature, 0], spans[feature, 1]
        if shape[feature, 0] and not cells[3 * feature + 2]:
            opening, closing = _between(cells[3 * feature], cells[3 * feature + 1], opening, closing, entries)
        for child in range(first, second + 1):
            if not has_mass(o_mass, child):
                continue
            inside = o_sets[child]
            inside[:] = sets
            prune(opening, closing, o_cells[child], o_words[child], inside, entries, trees, below, tests, masks)
            least, largest, n_open = _add_up(inside, trees, values, low, high, rule[2])
            o_numbers[child, 0], o_numbers[child, 1] = least, largest
            o_counts[child, 0], o_counts[child, 1] = n_open, b_counts[box, 1] + 1
            o_counts[child, 2] = outcome_of(least, largest, n_open, rule)
