"""Compiled loops over boxes; `boxes.py` says what they do, and prepares the arrays.

A box is a set of cells per feature. Of a ranked feature it is an interval of ranks [lo, hi) and whether the missing
cell belongs to it, three numbers in `cells`; of any other a set of cells in 64-bit words. Arrays are plain and few, so
that calls are cheap; loops are compiled once and kept on disk, and release the interpreter's lock, so that two threads
share a batch.

Columns of `tests`: feature, cut (-1 where a set decides), whether a missing cell goes left, first word of the set,
number of its words, first word of the feature in a box.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["EMPTY", "choose", "has_mass", "mass_of", "most_states", "outcome_of", "reach", "split"]

OPEN, YES, NO, TIED, EMPTY = 0, 1, 2, 3, 4


@njit(cache=True, nogil=True)
def reach(test, cells, words, tests, masks):
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
def _sort_states(cells, words, shape, layout, states, members, kinds, lists, held, touched):
    """What the box keeps of each state: 0 nothing, 1 everything, 2 the cells of a list; whether nodes are cut at all.

    lists : (n_states, 2) is set to begin and end in `held` of the members kept of a state.
    """
    n = 0
    for node in range(len(layout)):
        feature, begin = layout[node, 0], layout[node, 5]
        touched[node] = _restricted(feature, cells, words, shape)
        if not touched[node]:
            continue
        ranked = shape[feature, 0]
        a, b = cells[3 * feature], cells[3 * feature + 1]
        for state in range(begin, begin + layout[node, 2]):
            if ranked and states[state, 3] < shape[feature, 1]:
                if a <= states[state, 2] and states[state, 3] < b:
                    kinds[state] = 1
                    continue
                if states[state, 3] < a or states[state, 2] >= b:
                    kinds[state] = 0
                    continue
            lists[state, 0] = n
            for member in range(states[state, 0], states[state, 1]):
                if _inside(feature, members[member], cells, words, shape):
                    held[n] = member
                    n += 1
            lists[state, 1] = n
            kept = n - lists[state, 0]
            kinds[state] = 0 if kept == 0 else 1 if kept == states[state, 1] - states[state, 0] else 2
    for node in range(len(layout)):
        if touched[node] and layout[node, 1] >= 0:
            touched[layout[node, 1]] |= 2


@njit(cache=True, nogil=True)
def mass_of(
    cells, words, shape, layout, states, members, tables, within, active, n_active, kinds, lists, held, touched, above,
    message, out,
):  # fmt: skip
    """Probability of the box in each active group, by one pass from the leaves of the population's tree to its roots.

    layout : (n_nodes, 6) with feature, parent, states, states of the parent, begin of the table, begin of the states
    states : (n_states, 4) with begin and end of their members, least and largest of these
    members : cells, those of one state beside each other
    tables : (n_groups, n_numbers) holds one table after another, of shape (states, states of the parent)
    within : (n_groups, n_members) with the probability of a cell in its state
    above : (n_states,) holds what the box keeps of each state, times the messages of the children.
    """
    _sort_states(cells, words, shape, layout, states, members, kinds, lists, held, touched)
    for k in range(n_active):
        group = active[k]
        mass = 1.0
        for node in range(len(layout)):
            if not touched[node]:
                continue
            for state in range(layout[node, 5], layout[node, 5] + layout[node, 2]):
                share = 1.0
                if touched[node] & 1:
                    if kinds[state] == 2:
                        share = 0.0
                        for i in range(lists[state, 0], lists[state, 1]):
                            share += within[group, held[i]]
                    else:
                        share = float(kinds[state])
                above[state] = share
        for node in range(len(layout)):
            if not touched[node]:
                continue
            up, here, width = layout[node, 1], layout[node, 5], layout[node, 3]
            message[:width] = 0.0
            for state in range(layout[node, 2]):
                share = above[here + state]
                if share != 0.0:
                    at = layout[node, 4] + state * width
                    for p in range(width):
                        message[p] += tables[group, at + p] * share
            if up < 0:
                mass *= message[0]
            else:
                at = layout[up, 5]
                for p in range(width):
                    above[at + p] *= message[p]
        out[k] = mass


@njit(cache=True, nogil=True)
def most_states(layout):
    """States of the largest node, or of its parent."""
    most = 1
    for node in range(len(layout)):
        most = max(most, layout[node, 2], layout[node, 3])
    return most


@njit(cache=True, nogil=True)
def choose(score, touched, n_touched):
    """The test of largest score among those touched; their scores are set to 0 for the next box."""
    best = touched[0]
    for j in range(1, n_touched):
        if score[touched[j]] > score[best]:
            best = touched[j]
    for j in range(n_touched):
        score[touched[j]] = 0.0
    return best


@njit(cache=True, nogil=True)
def split(
    test, box, first, b_cells, b_words, b_mass, o_cells, o_words, o_mass, tests, masks, shape, layout, states, members,
    tables, within, active, kinds, lists, held, touched, above, message, mass,
):  # fmt: skip
    """Put the cells and masses of a box's two sides into rows `first` and `first` + 1 of the out arrays."""
    n_active = 0
    for side in range(2):
        o_cells[first + side], o_words[first + side] = b_cells[box], b_words[box]
        _narrow(test, side == 0, o_cells[first + side], o_words[first + side], tests, masks)
    for g in range(b_mass.shape[1]):
        o_mass[first, g] = o_mass[first + 1, g] = 0.0
        if b_mass[box, g] > 0.0:
            active[n_active] = g
            n_active += 1
    mass_of(
        o_cells[first], o_words[first], shape, layout, states, members, tables, within, active, n_active, kinds, lists,
        held, touched, above, message, mass,
    )  # fmt: skip
    for k in range(n_active):
        g = active[k]
        o_mass[first, g] = min(mass[k], b_mass[box, g])
        o_mass[first + 1, g] = b_mass[box, g] - o_mass[first, g]


@njit(cache=True, nogil=True)
def has_mass(mass, box):
    """Whether a box has any probability."""
    return mass[box].max() > 0.0


@njit(cache=True, nogil=True)
def outcome_of(low, high, n_open, rule):
    """What is known of a box whose score lies between two numbers."""
    if low > rule[0] + rule[1]:
        return YES
    if high < rule[0] - rule[1]:
        return NO
    return TIED if n_open == 0 else OPEN
