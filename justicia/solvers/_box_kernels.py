"""Compiled loops over boxes; `boxes.py` says what they do, and prepares the arrays.

A box is a set of cells per feature. Of a ranked feature it is an interval of ranks [lo, hi) and whether the missing
cell belongs to it, three numbers in `cells`; of any other a set of cells in 64-bit words. Arrays are plain and few, so
that calls are cheap; loops are compiled once and kept on disk, and release the interpreter's lock, so that two threads
share a batch.

`boxes` are the arrays of `Boxes`, `population` those of `Problem`; both come as tuples.

Columns of `tests`: feature, cut (-1 where a set decides), whether a missing cell goes left, first word of the set,
number of its words, first word of the feature in a box.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = [
    "EMPTY", "OPEN", "UNCOUNTED", "has_mass", "mass_of", "outcome_of", "place", "prioritize", "reach",
    "settle", "split", "workspace",
]  # fmt: skip

OPEN, YES, NO, TIED, EMPTY = 0, 1, 2, 3, 4

UNCOUNTED: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}
"""How loops are compiled that allocate nothing: without counts of references to their arrays, which would cost more
than what they do with them."""


@njit(**UNCOUNTED)
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


@njit(**UNCOUNTED)
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


@njit(**UNCOUNTED)
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


@njit(**UNCOUNTED)
def _inside(feature, cell, cells, words, shape):
    if shape[feature, 0]:
        at = 3 * feature
        if cell >= shape[feature, 1]:
            return cells[at + 2] != 0
        return cells[at] <= cell < cells[at + 1]
    return ((words[shape[feature, 3] + (cell >> 6)] >> np.uint64(cell & 63)) & np.uint64(1)) != 0


@njit(cache=True, nogil=True)
def workspace(population):
    """Room for one pass over the population's tree, used again for every box.

    Returns
    -------
    kinds : int8 array of shape (n_states,)
        What the box keeps of each state: 0 nothing, 1 everything, 2 some cells.
    lists : int64 array of shape (n_states, 2)
        Begin and end, in `held`, of the cells that are kept of a state of kind 2.
    held : int64 array of shape (2 * n_members,)
        Positions of members: all of them in order, then those that had to be picked out.
    touched : int8 array of shape (n_nodes,)
        1 when the box cuts a node's feature, plus 2 when it cuts some feature below.
    kept : int64 array of shape (n_nodes, 2)
        States outside of begin and end keep nothing.
    above : float64 array of shape (n_states,)
        What the box keeps of each state, times the messages of the children.
    message : float64 array
    """
    _, layout, states, members, _, _ = population
    most = 1
    for node in range(len(layout)):
        most = max(most, layout[node, 2], layout[node, 3])
    held = np.empty(2 * len(members), np.int64)
    for i in range(len(members)):
        held[i] = i
    return (
        np.empty(len(states), np.int8), np.empty((len(states), 2), np.int64), held, np.zeros(len(layout), np.int8),
        np.empty((len(layout), 2), np.int64), np.empty(len(states)), np.empty(most),
    )  # fmt: skip


@njit(**UNCOUNTED)
def _pick_out(state, feature, n, cells, words, shape, states, members, kinds, lists, held):
    """What the box keeps of a state whose cells have to be looked at one by one; end of what is used of `held`."""
    begin, end, first = states[state, 0], states[state, 1], n
    for member in range(begin, end):
        if _inside(feature, members[member], cells, words, shape):
            held[n] = member
            n += 1
    lists[state, 0], lists[state, 1] = first, n
    kinds[state] = 0 if n == first else 1 if n - first == end - begin else 2
    return n


@njit(**UNCOUNTED)
def _sort_states(cells, words, shape, layout, states, members, room):
    """Find what the box keeps of each state, and which nodes it cuts."""
    kinds, lists, held, touched, kept, _, _ = room
    n = len(members)
    for node in range(len(layout)):
        feature, begin, n_states = layout[node, 0], layout[node, 5], layout[node, 2]
        kept[node, 0], kept[node, 1] = 0, n_states
        touched[node] = _restricted(feature, cells, words, shape)
        if not touched[node]:
            continue
        ranked, n_ranks = shape[feature, 0], shape[feature, 1]
        a, b = cells[3 * feature], cells[3 * feature + 1]
        first, last = n_states, 0
        for state in range(begin, begin + n_states):
            least, largest = states[state, 2], states[state, 3]
            if not ranked or largest >= n_ranks:
                n = _pick_out(state, feature, n, cells, words, shape, states, members, kinds, lists, held)
            elif a <= least and largest < b:
                kinds[state] = 1
            elif largest < a or least >= b:
                kinds[state] = 0
            else:
                # Members are in order of their ranks, so that those within an interval lie beside each other.
                low, high = states[state, 0], states[state, 1]
                while members[low] < a:
                    low += 1
                while high > low and members[high - 1] >= b:
                    high -= 1
                lists[state, 0], lists[state, 1] = low, high
                kinds[state] = 2 if low < high else 0
            if kinds[state]:
                first, last = min(first, state - begin), state - begin + 1
        kept[node, 0], kept[node, 1] = min(first, last), last
    for node in range(len(layout)):
        if touched[node] and layout[node, 1] >= 0:
            touched[layout[node, 1]] |= 2


@njit(**UNCOUNTED)
def mass_of(cells, words, population, active, n_active, room, out):
    """Probability of the box in each active group, by one pass from the leaves of the population's tree to its roots.

    population : shape, layout, states, members, tables, within
    layout : (n_nodes, 6) with feature, parent, states, states of the parent, begin of the table, begin of the states
    states : (n_states, 4) with begin and end of their members, least and largest of these
    members : cells, those of one state beside each other
    tables : (n_groups, n_numbers) holds one table after another, of shape (states, states of the parent)
    within : (n_groups, n_members) with the probability of a cell in its state
    room : as from `workspace`
    """
    shape, layout, states, members, tables, within = population
    _sort_states(cells, words, shape, layout, states, members, room)
    kinds, lists, held, touched, kept, above, message = room
    for k in range(n_active):
        group = active[k]
        mass = 1.0
        for node in range(len(layout)):
            if not touched[node]:
                continue
            begin = layout[node, 5]
            for state in range(begin + kept[node, 0], begin + kept[node, 1]):
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
            # States of the parent of which the box keeps nothing need no message.
            first, last = (kept[up, 0], kept[up, 1]) if up >= 0 else (0, 1)
            for p in range(first, last):
                message[p] = 0.0
            for state in range(kept[node, 0], kept[node, 1]):
                share = above[here + state]
                if share != 0.0:
                    at = layout[node, 4] + state * width
                    for p in range(first, last):
                        message[p] += tables[group, at + p] * share
            if up < 0:
                mass *= message[0]
            else:
                at = layout[up, 5]
                for p in range(first, last):
                    above[at + p] *= message[p]
        out[k] = mass


@njit(**UNCOUNTED)
def split(test, box, boxes, halves, tests, masks, population, room, active, mass):
    """Put the cells and masses of a box's two sides into the two rows of `halves`, whose outcomes become EMPTY."""
    cells, words, masses = boxes[0], boxes[1], boxes[2]
    half_cells, half_words, half_masses = halves[0], halves[1], halves[2]
    n_active = 0
    for side in range(2):
        for i in range(cells.shape[1]):
            half_cells[side, i] = cells[box, i]
        for i in range(words.shape[1]):
            half_words[side, i] = words[box, i]
        _narrow(test, side == 0, half_cells[side], half_words[side], tests, masks)
    for g in range(masses.shape[1]):
        half_masses[0, g] = half_masses[1, g] = 0.0
        if masses[box, g] > 0.0:
            active[n_active] = g
            n_active += 1
    mass_of(half_cells[0], half_words[0], population, active, n_active, room, mass)
    for k in range(n_active):
        g = active[k]
        half_masses[0, g] = min(mass[k], masses[box, g])
        half_masses[1, g] = masses[box, g] - half_masses[0, g]


@njit(**UNCOUNTED)
def settle(box, total, boxes, halves, rule):
    """Put a box without open trees into the first row of `halves`."""
    for g in range(boxes[2].shape[1]):
        halves[2][0, g] = boxes[2][box, g]
    halves[4][0, 2] = outcome_of(total, total, 0, rule)


@njit(**UNCOUNTED)
def place(box, free, boxes, halves, tree_words, rule, weights, priority, totals):
    """Put the halves that are open where their box was, and into the row that is free; add up the others' masses.

    weights : (n_groups,) what a group's mass counts in the priority, 0 when it needs no more work
    totals : (3, n_groups) mass above the threshold, below it, and within rounding of it

    Returns
    -------
    Number of halves that are open.
    """
    placed = 0
    for half in range(2):
        outcome = halves[4][half, 2]
        if outcome == EMPTY:
            continue
        if outcome != OPEN:
            for g in range(len(weights)):
                totals[outcome - 1, g] += halves[2][half, g]
            continue
        row = free if placed else box
        placed += 1
        for i in range(boxes[0].shape[1]):
            boxes[0][row, i] = halves[0][half, i]
        for i in range(boxes[1].shape[1]):
            boxes[1][row, i] = halves[1][half, i]
        for i in range(boxes[2].shape[1]):
            boxes[2][row, i] = halves[2][half, i]
        for i in range(3):
            boxes[3][row, i] = halves[3][half, i]
        for i in range(4):
            boxes[4][row, i] = halves[4][half, i]
        for i in range(tree_words[half]):
            boxes[5][row, i] = halves[5][half, i]
        priority[row] = priority_of(row, boxes, rule, weights)
    return placed


@njit(**UNCOUNTED)
def priority_of(box, boxes, rule, weights):
    """Largest weighted mass in a group, times how far the threshold is off the middle, squared, per open tree."""
    most = 0.0
    for g in range(len(weights)):
        most = max(most, boxes[2][box, g] * weights[g])
    low, high = boxes[3][box, 0] - rule[0], boxes[3][box, 1] - rule[0]
    central = abs(low + high) / max(high - low, 1e-300) if high - low < np.inf else 0.0
    return most * (0.1 + central * central) / max(boxes[4][box, 0], 1)


@njit(cache=True, nogil=True)
def prioritize(n, boxes, rule, weights, priority):
    """Set the priority of the first `n` boxes."""
    for box in range(n):
        priority[box] = priority_of(box, boxes, rule, weights)


@njit(**UNCOUNTED)
def has_mass(mass, box):
    """Whether a box has any probability."""
    largest = 0.0
    for group in range(mass.shape[1]):
        largest = max(largest, mass[box, group])
    return largest > 0.0


@njit(**UNCOUNTED)
def outcome_of(low, high, n_open, rule):
    """What is known of a box whose score lies between two numbers."""
    if low > rule[0] + rule[1]:
        return YES
    if high < rule[0] - rule[1]:
        return NO
    return TIED if n_open == 0 else OPEN
