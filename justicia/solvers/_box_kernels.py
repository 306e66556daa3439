"""Compiled loops over boxes; `boxes.py` says what they do, and prepares the arrays.

A box is a set of cells per feature. Of a ranked feature it is an interval of ranks [lo, hi) and whether the missing
cell belongs to it, three numbers in `cells`; of any other a set of cells in 64-bit words. Arrays are plain and few, so
that calls are cheap; loops are compiled once and kept on disk, and release the interpreter's lock, so that two threads
share a batch.

Columns of `nodes`: left, right, test (-1 at leaves). Columns of `leaves`: value, least and largest leaf below. Columns
of `tests`: feature, cut (-1 where a set decides), whether a missing cell goes left, first word of the set, number of
its words, first word of the feature in a box.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["EMPTY", "NO", "OPEN", "TIED", "YES", "expand", "static_ranges"]

OPEN, YES, NO, TIED, EMPTY = 0, 1, 2, 3, 4


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
def _reach(test, cells, words, tests, masks):
    """1 when some cell of the box goes left, plus 2 when some goes right."""
    goes = 0
    cut = tests[test, 1]
    if cut >= 0:
        at = 3 * tests[test, 0]
        a, b = cells[at], cells[at + 1]
        if a < b:
            if a < cut:
                goes |= 1
            if b > cut:
                goes |= 2
        if cells[at + 2]:
            goes |= 1 if tests[test, 2] else 2
        return goes
    at, start = tests[test, 3], tests[test, 5]
    for i in range(tests[test, 4]):
        held = words[start + i]
        if held & masks[at + i]:
            goes |= 1
        if held & ~masks[at + i]:
            goes |= 2
    return goes


@njit(cache=True, nogil=True)
def _narrow(test, left_side, cells, words, tests, masks):
    """Keep the cells of the box that go left, or right."""
    cut = tests[test, 1]
    if cut >= 0:
        at = 3 * tests[test, 0]
        if left_side:
            cells[at + 1] = max(min(cells[at + 1], cut), cells[at])
        else:
            cells[at] = min(max(cells[at], cut), cells[at + 1])
        if (tests[test, 2] != 0) != left_side:
            cells[at + 2] = 0
        return
    at, start = tests[test, 3], tests[test, 5]
    for i in range(tests[test, 4]):
        if left_side:
            words[start + i] &= masks[at + i]
        else:
            words[start + i] &= ~masks[at + i]


@njit(cache=True, nogil=True)
def _goes(test, changed, stamp, code, cells, words, tests, masks):
    """`_reach` of a child, whose box differs from its parent's in one feature; codes of other tests are remembered.

    code : (n_tests, 2) holds the number of a box, and what was found for it.
    """
    if tests[test, 0] == changed:
        return _reach(test, cells, words, tests, masks)
    if code[test, 0] != stamp:
        code[test, 0] = stamp
        code[test, 1] = _reach(test, cells, words, tests, masks)
    return code[test, 1]


@njit(cache=True, nogil=True)
def _range(root, changed, stamp, code, cells, words, tests, masks, nodes, leaves, stack, budget):
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
        goes = _goes(test, changed, stamp, code, cells, words, tests, masks)
        if goes & 2:
            stack[n] = nodes[node, 1]
            n += 1
        if goes & 1:
            stack[n] = nodes[node, 0]
            n += 1
    return low, high


@njit(cache=True, nogil=True)
def _restricted(feature, cells, words, shape):
    """Shape columns: ranked, number of ranks, has a missing cell, first word, end of the words."""
    if shape[feature, 0]:
        at = 3 * feature
        return cells[at] > 0 or cells[at + 1] < shape[feature, 1] or (shape[feature, 2] and not cells[at + 2])
    n_cells = shape[feature, 1]
    for i in range(shape[feature, 3], shape[feature, 4]):
        width = min(n_cells - 64 * (i - shape[feature, 3]), 64)
        full = ~np.uint64(0) if width == 64 else (np.uint64(1) << np.uint64(width)) - np.uint64(1)
        if words[i] != full:
            return True
    return False


@njit(cache=True, nogil=True)
def _inside(feature, cell, cells, words, shape):
    if shape[feature, 0]:
        at = 3 * feature
        if cell >= shape[feature, 1]:
            return cells[at + 2] != 0
        return cells[at] <= cell < cells[at + 1]
    return ((words[shape[feature, 3] + (cell >> 6)] >> np.uint64(cell & 63)) & np.uint64(1)) != 0


@njit(cache=True, nogil=True)
def _mass_of(cells, words, shape, layout, tables, state_of, within, n_groups, active, n_active, above, alive, has, out):
    """Probability of the box in each active group, by one pass from the leaves of the population's tree to its roots.

    layout : (n_nodes, 8) with feature, parent, states, states of the parent, begin of the table, begin of the cells,
        number of cells, and whether cells have probabilities of their own within their state
    above : (n_nodes, n_states, n_groups) holds, for each state, the cells kept times the messages of the children.
    alive : (n_nodes, n_states) tells which states the box keeps in part at least.
    """
    n_nodes = len(layout)
    for k in range(n_active):
        out[k] = 1.0
    for node in range(n_nodes):
        feature, states, begin, n_cells = layout[node, 0], layout[node, 2], layout[node, 5], layout[node, 6]
        has[node] = 0
        if not _restricted(feature, cells, words, shape):
            for s in range(states):
                alive[node, s] = 1
                for k in range(n_active):
                    above[node, s, k] = 1.0
            continue
        has[node] = 1
        for s in range(states):
            alive[node, s] = 0
            for k in range(n_active):
                above[node, s, k] = 0.0
        for cell in range(n_cells):
            if not _inside(feature, cell, cells, words, shape):
                continue
            s, at = state_of[begin + cell], (begin + cell) * n_groups
            alive[node, s] = 1
            if layout[node, 7]:
                for k in range(n_active):
                    above[node, s, k] += within[at + active[k]]
            else:
                for k in range(n_active):
                    above[node, s, k] = 1.0
    total = np.empty(n_active)
    for node in range(n_nodes):
        if not has[node]:
            continue
        up, states = layout[node, 1], layout[node, 2]
        for p in range(layout[node, 3]):
            if up >= 0 and not alive[up, p]:
                continue
            for k in range(n_active):
                total[k] = 0.0
            for s in range(states):
                if alive[node, s]:
                    at = layout[node, 4] + (p * states + s) * n_groups
                    if n_active == n_groups:
                        for k in range(n_groups):
                            total[k] += tables[at + k] * above[node, s, k]
                    else:
                        for k in range(n_active):
                            total[k] += tables[at + active[k]] * above[node, s, k]
            if up < 0:
                for k in range(n_active):
                    out[k] *= total[k]
            else:
                for k in range(n_active):
                    above[up, p, k] *= total[k]
        if up >= 0:
            has[up] = 1


@njit(cache=True, nogil=True)
def _most_states(layout):
    most = 1
    for node in range(len(layout)):
        most = max(most, layout[node, 2], layout[node, 3])
    return most


@njit(cache=True, nogil=True)
def expand(
    begin, end, chosen, b_cells, b_words, b_mass, b_numbers, b_counts, b_nodes, o_cells, o_words, o_mass, o_numbers,
    o_counts, o_nodes, tests, masks, nodes, leaves, used, shape, layout, tables, state_of, within, rule, lookahead,
    budget, deepest,
):  # fmt: skip
    """Split some boxes; children 2 i and 2 i + 1 of the out arrays are those of chosen[i].

    numbers : (n, 3) least and largest score, sum of what is settled
    counts : (n, 3) open trees, depth, outcome
    rule : threshold, slack
    """
    n_groups, n_trees, n_tests, n_nodes = b_mass.shape[1], b_nodes.shape[1], len(tests), len(layout)
    node_of, low_of, high_of = np.empty(n_trees, np.int64), np.empty(n_trees), np.empty(n_trees)
    score, touched = np.zeros(n_tests), np.empty(n_tests, np.int64)
    code = np.full((n_tests, 2), -1, np.int64)
    stack = np.empty(deepest + 8, np.int64)
    most_states = _most_states(layout)
    above, has = np.empty((n_nodes, most_states, n_groups)), np.zeros(n_nodes, np.int8)
    alive, mass = np.empty((n_nodes, most_states), np.int8), np.empty(n_groups)
    active = np.empty(n_groups, np.int64)
    above_threshold, below_threshold = rule[0] + rule[1], rule[0] - rule[1]
    for i in range(begin, end):
        box = chosen[i]
        cells, words = b_cells[box], b_words[box]
        first, second = 2 * i, 2 * i + 1
        o_counts[first, 2] = o_counts[second, 2] = EMPTY
        # Which trees are still open, where, and how far apart their leaves are.
        settled, n_open, n_touched = b_numbers[box, 2], 0, 0
        for j in range(b_counts[box, 0]):
            node = b_nodes[box, j]
            a, b = _range(node, -1, box, code, cells, words, tests, masks, nodes, leaves, stack, budget)
            if a == b:
                settled += a
                continue
            node_of[n_open], low_of[n_open], high_of[n_open] = node, a, b
            n_open += 1
            at = nodes[node, 2]
            # What the test at the top takes away from the tree's range, on average over its sides.
            gain = b - a
            if lookahead >= 0:
                c, d = _range(nodes[node, 0], -1, box, code, cells, words, tests, masks, nodes, leaves, stack, budget)
                e, f = _range(nodes[node, 1], -1, box, code, cells, words, tests, masks, nodes, leaves, stack, budget)
                gain -= 0.5 * max(d - c, 0.0) + 0.5 * max(f - e, 0.0) - 1e-9 * (b - a)
            if score[at] == 0.0:
                touched[n_touched] = at
                n_touched += 1
            score[at] += gain
        if n_open == 0:
            o_mass[first] = b_mass[box]
            o_counts[first, 2] = YES if settled > above_threshold else NO if settled < below_threshold else TIED
            continue
        # The test whose two sides leave the least in doubt, of the most promising few.
        best, best_doubt = -1, np.inf
        for _ in range(max(1, min(lookahead, n_touched))):
            candidate, top = -1, 0.0
            for j in range(n_touched):
                if score[touched[j]] > top:
                    candidate, top = touched[j], score[touched[j]]
            if candidate < 0:
                break
            score[candidate] = 0.0
            if lookahead <= 1:
                best = candidate
                break
            doubt = 0.0
            changed = tests[candidate, 0]
            bit = 1 << min(changed, 63)
            for side in range(2):
                child = first + side
                o_cells[child], o_words[child] = cells, words
                _narrow(candidate, side == 0, o_cells[child], o_words[child], tests, masks)
                low = high = settled
                for j in range(n_open):
                    a, b = low_of[j], high_of[j]
                    if used[node_of[j]] & bit:
                        c, d = _range(
                            node_of[j], changed, box, code, o_cells[child], o_words[child], tests, masks, nodes, leaves,
                            stack, budget,
                        )  # fmt: skip
                        a, b = max(a, c), min(b, d)
                    low += a
                    high += b
                if low <= above_threshold and high >= below_threshold:
                    doubt += high - low
            if doubt < best_doubt:
                best, best_doubt = candidate, doubt
        for j in range(n_touched):
            score[touched[j]] = 0.0
        n_active = 0
        for g in range(n_groups):
            if b_mass[box, g] > 0.0:
                active[n_active] = g
                n_active += 1
        for side in range(2):
            o_cells[first + side], o_words[first + side] = cells, words
            _narrow(best, side == 0, o_cells[first + side], o_words[first + side], tests, masks)
        _mass_of(
            o_cells[first], o_words[first], shape, layout, tables, state_of, within, n_groups, active, n_active, above,
            alive, has, mass,
        )  # fmt: skip
        for g in range(n_groups):
            o_mass[first, g] = o_mass[second, g] = 0.0
        for k in range(n_active):
            g = active[k]
            kept = min(mass[k], b_mass[box, g])
            o_mass[first, g] = kept
            o_mass[second, g] = b_mass[box, g] - kept
        changed = tests[best, 0]
        bit = 1 << min(changed, 63)
        for child in range(first, second + 1):
            some = False
            for g in range(n_groups):
                some = some or o_mass[child, g] > 0.0
            if not some:
                continue
            c_cells, c_words = o_cells[child], o_words[child]
            sure, low, high, n = settled, 0.0, 0.0, 0
            for j in range(n_open):
                node, a, b = node_of[j], low_of[j], high_of[j]
                if used[node] & bit:
                    while nodes[node, 2] >= 0:
                        goes = _goes(nodes[node, 2], changed, box, code, c_cells, c_words, tests, masks)
                        if goes == 3:
                            break
                        node = nodes[node, 0] if goes == 1 else nodes[node, 1]
                    c, d = _range(
                        node, changed, box, code, c_cells, c_words, tests, masks, nodes, leaves, stack, budget
                    )
                    a, b = max(a, c), min(b, d)
                    if c == d:
                        sure += c
                        continue
                low += a
                high += b
                o_nodes[child, n] = node
                n += 1
            low, high = sure + low, sure + high
            o_numbers[child, 0], o_numbers[child, 1] = max(low, b_numbers[box, 0]), min(high, b_numbers[box, 1])
            o_numbers[child, 2] = sure
            o_counts[child, 0], o_counts[child, 1] = n, b_counts[box, 1] + 1
            if low > above_threshold:
                o_counts[child, 2] = YES
            elif high < below_threshold:
                o_counts[child, 2] = NO
            else:
                o_counts[child, 2] = TIED if n == 0 else OPEN
