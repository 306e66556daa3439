"""Compiled loops over boxes that hold, for every tree, the highest node whose test still cuts the box.

For trees of any size: what lies below a node is searched with a budget, and taken as a whole beyond it.

Columns of `nodes`: left, right, test (-1 at leaves). Columns of `leaves`: value, least and largest leaf below. Other
arrays are those of `_box_kernels`.
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

__all__ = ["expand", "starts", "static_ranges"]


@njit(cache=True, nogil=True)
def static_ranges(nodes, value, tests):
    """Least and largest leaf below each node, and a bit for each of the first 63 features tested there."""
    n = len(nodes)
    least, most, used = value.copy(), value.copy(), np.zeros(n, dtype=np.int64)
    for node in range(n - 1, -1, -1):
        if nodes[node, 2] >= 0:
            a, b = nodes[node, 0], nodes[node, 1]
            least[node] = min(least[a], least[b])
            most[node] = max(most[a], most[b])
            used[node] = used[a] | used[b] | (1 << min(tests[nodes[node, 2], 0], 63))
    return least, most, used


@njit(**UNCOUNTED)
def _range(root, cells, words, tests, masks, nodes, leaves, stack, budget):
    """Least and largest leaf that the box reaches below a node; static ranges once the budget is used up."""
    low, high = np.inf, -np.inf
    stack[0] = root
    n = 1
    while n:
        n -= 1
        node = stack[n]
        least, most = leaves[node, 1], leaves[node, 2]
        if least >= low and most <= high:
            continue
        test = nodes[node, 2]
        if test < 0 or budget <= 0:
            low, high = min(low, least), max(high, most)
            continue
        budget -= 1
        goes = reach(test, cells, words, tests, masks)
        if goes & 2:
            stack[n] = nodes[node, 1]
            n += 1
        if goes & 1:
            stack[n] = nodes[node, 0]
            n += 1
    return low, high


@njit(**UNCOUNTED)
def _choose(score, touched, n_touched):
    """The test of largest score among those touched; their scores are set to 0 for the next box."""
    best = touched[0]
    for j in range(1, n_touched):
        if score[touched[j]] > score[best]:
            best = touched[j]
    for j in range(n_touched):
        score[touched[j]] = 0.0
    return best


@njit(**UNCOUNTED)
def _halve(
    box, boxes, halves, held, tests, masks, population, rule, node_of, low_of, high_of, score, touched, stack, room,
    active, mass,
):  # fmt: skip
    """Split a box into the two rows of `halves`."""
    nodes, leaves, used, budget, _ = held
    cells, words, settled = boxes[0][box], boxes[1][box], boxes[3][box, 2]
    halves[4][0, 2] = halves[4][1, 2] = EMPTY
    n_open = n_touched = 0
    for j in range(boxes[4][box, 0]):
        node = boxes[5][box, j]
        at = nodes[node, 2]
        if leaves[node, 1] == leaves[node, 2]:
            settled += leaves[node, 1]
            continue
        node_of[n_open] = node
        n_open += 1
        if score[at] == 0.0:
            touched[n_touched] = at
            n_touched += 1
        # What lies below as a whole tells nearly as much as what the box reaches of it, and costs nothing.
        score[at] += leaves[node, 2] - leaves[node, 1]
    if n_open == 0:
        settle(box, settled, boxes, halves, rule)
        return
    best = _choose(score, touched, n_touched)
    split(best, box, boxes, halves, tests, masks, population, room, active, mass)
    changed = tests[best, 0]
    bit = 1 << min(changed, 63)
    for j in range(n_open):
        if not used[node_of[j]] & bit:
            low_of[j], high_of[j] = _range(node_of[j], cells, words, tests, masks, nodes, leaves, stack, budget)
    for half in range(2):
        if not has_mass(halves[2], half):
            continue
        half_cells, half_words = halves[0][half], halves[1][half]
        sure, low, high, n = settled, 0.0, 0.0, 0
        for j in range(n_open):
            node = node_of[j]
            if used[node] & bit:
                while nodes[node, 2] >= 0:
                    goes = reach(nodes[node, 2], half_cells, half_words, tests, masks)
                    if goes == 3:
                        break
                    node = nodes[node, 0] if goes == 1 else nodes[node, 1]
                a, b = _range(node, half_cells, half_words, tests, masks, nodes, leaves, stack, budget)
            else:
                a, b = low_of[j], high_of[j]
            if a == b:
                sure += a
                continue
            low += a
            high += b
            halves[5][half, n] = node
            n += 1
        low, high = sure + low, sure + high
        halves[3][half, 0] = max(low, boxes[3][box, 0])
        halves[3][half, 1] = min(high, boxes[3][box, 1])
        halves[3][half, 2] = sure
        halves[4][half, 0], halves[4][half, 1] = n, boxes[4][box, 1] + 1
        halves[4][half, 2] = outcome_of(low, high, n, rule)


@njit(cache=True, nogil=True)
def expand(
    begin, end, chosen, free, boxes, halves, held, tests, masks, population, rule, weights, priority, totals, gone
):  # fmt: skip
    """Split boxes chosen[begin:end]; an open half takes the place of its box, a second one the next free row.

    numbers : (n, 3) least and largest score, sum of what is settled
    counts : (n, 4) open trees, depth, outcome; the last is not used
    rule : threshold, slack, base
    gone : is set for boxes without open halves

    Returns
    -------
    Number of rows taken from `free` on.
    """
    n_trees, deepest, start = boxes[5].shape[1], held[4], free
    node_of, low_of, high_of = np.empty(n_trees, np.int64), np.empty(n_trees), np.empty(n_trees)
    score, touched = np.zeros(len(tests)), np.empty(len(tests), np.int64)
    stack = np.empty(deepest + 8, np.int64)
    room = workspace(population)
    active, mass = np.empty(len(weights), np.int64), np.empty(len(weights))
    for i in range(begin, end):
        _halve(
            chosen[i], boxes, halves, held, tests, masks, population, rule, node_of, low_of, high_of, score, touched,
            stack, room, active, mass,
        )  # fmt: skip
        placed = place(chosen[i], free, boxes, halves, halves[4][:, 0], rule, weights, priority, totals)
        gone[i] = placed == 0
        free += placed == 2
    return free - start


@njit(cache=True, nogil=True)
def starts(chosen, all_nodes, counts, tree_of, out):
    """Node at which each tree is open in some boxes; `out` holds -1 before."""
    for i in range(len(chosen)):
        for j in range(counts[chosen[i], 0]):
            node = all_nodes[chosen[i], j]
            out[i, tree_of[node]] = node
