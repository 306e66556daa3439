"""Compiled loops over boxes that hold, for every tree, the highest node whose test still cuts the box.

For trees of any size: what lies below a node is searched with a budget, and taken as a whole beyond it.

Columns of `nodes`: left, right, test (-1 at leaves). Columns of `leaves`: value, least and largest leaf below. Other
arrays are those of `_box_kernels`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from justicia.solvers._box_kernels import EMPTY, choose, has_mass, most_states, outcome_of, reach, split

__all__ = ["expand", "static_ranges"]


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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def expand(
    begin, end, chosen, b_cells, b_words, b_mass, b_numbers, b_counts, b_nodes, o_cells, o_words, o_mass, o_numbers,
    o_counts, o_nodes, tests, masks, nodes, leaves, used, budget, deepest, shape, layout, states, members,
    tables, within, rule,
):  # fmt: skip
    """Split some boxes; children 2 i and 2 i + 1 of the out arrays are those of chosen[i].

    numbers : (n, 3) least and largest score, sum of what is settled
    counts : (n, 3) open trees, depth, outcome
    rule : threshold, slack, base
    """
    n_groups, n_trees, n_tests = b_mass.shape[1], b_nodes.shape[1], len(tests)
    node_of, low_of, high_of = np.empty(n_trees, np.int64), np.empty(n_trees), np.empty(n_trees)
    score, touched = np.zeros(n_tests), np.empty(n_tests, np.int64)
    stack = np.empty(deepest + 8, np.int64)
    kinds, lists, held = np.empty(len(states), np.int8), np.empty((len(states), 2), np.int64), np.empty_like(members)
    touched_nodes, above, message = np.zeros(len(layout), np.int8), np.empty(len(states)), np.empty(most_states(layout))
    mass = np.empty(n_groups)
    active = np.empty(n_groups, np.int64)
    for i in range(begin, end):
        box = chosen[i]
        cells, words = b_cells[box], b_words[box]
        first, second = 2 * i, 2 * i + 1
        o_counts[first, 2] = o_counts[second, 2] = EMPTY
        settled, n_open, n_touched = b_numbers[box, 2], 0, 0
        for j in range(b_counts[box, 0]):
            node = b_nodes[box, j]
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
            o_mass[first] = b_mass[box]
            o_counts[first, 2] = outcome_of(settled, settled, 0, rule)
            continue
        best = choose(score, touched, n_touched)
        split(
            best, box, first, b_cells, b_words, b_mass, o_cells, o_words, o_mass, tests, masks, shape, layout, states,
            members, tables, within, active, kinds, lists, held, touched_nodes, above, message, mass,
        )  # fmt: skip
        changed = tests[best, 0]
        bit = 1 << min(changed, 63)
        for j in range(n_open):
            if not used[node_of[j]] & bit:
                low_of[j], high_of[j] = _range(node_of[j], cells, words, tests, masks, nodes, leaves, stack, budget)
        for child in range(first, second + 1):
            if not has_mass(o_mass, child):
                continue
            c_cells, c_words = o_cells[child], o_words[child]
            sure, low, high, n = settled, 0.0, 0.0, 0
            for j in range(n_open):
                node = node_of[j]
                if used[node] & bit:
                    while nodes[node, 2] >= 0:
                        goes = reach(nodes[node, 2], c_cells, c_words, tests, masks)
                        if goes == 3:
                            break
                        node = nodes[node, 0] if goes == 1 else nodes[node, 1]
                    a, b = _range(node, c_cells, c_words, tests, masks, nodes, leaves, stack, budget)
                else:
                    a, b = low_of[j], high_of[j]
                if a == b:
                    sure += a
                    continue
                low += a
                high += b
                o_nodes[child, n] = node
                n += 1
            low, high = sure + low, sure + high
            o_numbers[child, 0], o_numbers[child, 1] = max(low, b_numbers[box, 0]), min(high, b_numbers[box, 1])
            o_numbers[child, 2] = sure
            o_counts[child, 0], o_counts[child, 1] = n, b_counts[box, 1] + 1
            o_counts[child, 2] = outcome_of(low, high, n, rule)
