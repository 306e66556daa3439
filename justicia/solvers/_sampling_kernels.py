"""Compiled loops that draw people inside boxes and ask the trees that are still open there.

Columns of `steps`, one row a node of the ensemble: left, right, feature (-1 at leaves), cut (-1 where a set decides),
and whether a missing cell goes left, or where the set begins. Columns of `leaves`: value, least and largest leaf below.
Other arrays are those of `_box_kernels`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from justicia.solvers._box_kernels import mass_of, most_states

__all__ = ["sample"]

_AT_ONCE = 512
"""Points of one box that go through a tree together, so that the tree stays in the cache."""


@njit(cache=True, nogil=True)
def _draw(
    point, uniforms, group, layout, states, tables, within, kinds, lists, held, touched, above, weights, drawn, place,
):  # fmt: skip
    """Draw one point of a group inside a box, from the roots of the population's tree to its leaves.

    False when the box has no probability, but for rounding.
    """
    for node in range(len(layout) - 1, -1, -1):
        up, n_states, begin, parents = layout[node, 1], layout[node, 2], layout[node, 5], layout[node, 3]
        at = layout[node, 4] + (drawn[up] if up >= 0 else 0)
        total = 0.0
        for s in range(n_states):
            weights[s] = tables[group, at + s * parents]
            if touched[node]:
                weights[s] *= above[begin + s]
            total += weights[s]
        wanted, picked = uniforms[point, 2 * node] * total, -1
        for s in range(n_states):
            if weights[s] > 0.0:
                picked = s
                if wanted < weights[s]:
                    break
                wanted -= weights[s]
        if picked < 0:
            return False
        drawn[node] = picked
        state = begin + picked
        listed = (touched[node] & 1) and kinds[state] == 2
        first = lists[state, 0] if listed else states[state, 0]
        last = lists[state, 1] if listed else states[state, 1]
        if last - first == 1:
            place[point, layout[node, 0]] = held[first] if listed else first
            continue
        total = 0.0
        for i in range(first, last):
            total += within[group, held[i] if listed else i]
        wanted = uniforms[point, 2 * node + 1] * total
        for i in range(first, last):
            member = held[i] if listed else i
            one = within[group, member]
            if one > 0.0:
                place[point, layout[node, 0]] = member
                if wanted < one:
                    break
                wanted -= one
    return True


@njit(cache=True, nogil=True)
def sample(
    begin, end, chosen, first, uniforms, group, b_cells, b_words, open_nodes, n_open, settled, steps, leaves, masks,
    shape, layout, states, members, tables, within, rule, verdict,
):  # fmt: skip
    """Draw points inside boxes and evaluate the open trees there.

    Points first[i] to first[i + 1] lie in box chosen[i]; begin <= i < end.

    open_nodes : (n_chosen, n_trees) nodes at which trees are open, n_open of them
    settled : (n_chosen,) base and sum of all other trees
    verdict : is set to 1 above the threshold, 0 below, 2 within rounding of it
    """
    kinds, lists, held = np.empty(len(states), np.int8), np.empty((len(states), 2), np.int64), np.empty_like(members)
    touched, above = np.zeros(len(layout), np.int8), np.empty(len(states))
    message, weights = np.empty(most_states(layout)), np.empty(most_states(layout))
    mass, active, drawn = np.empty(1), np.empty(1, np.int64), np.zeros(len(layout), np.int64)
    active[0] = group
    place = np.zeros((_AT_ONCE, len(shape)), np.int32)
    moving, where = np.empty(_AT_ONCE, np.int32), np.empty(_AT_ONCE, np.int32)
    some, score, waiting = np.empty((_AT_ONCE, uniforms.shape[1])), np.empty(_AT_ONCE), np.empty(_AT_ONCE, np.int32)
    above_rule, below_rule = rule[0] + rule[1], rule[0] - rule[1]
    for i in range(begin, end):
        box = chosen[i]
        mass_of(
            b_cells[box], b_words[box], shape, layout, states, members, tables, within, active, 1, kinds, lists, held,
            touched, above, message, mass,
        )  # fmt: skip
        for start in range(first[i], first[i + 1], _AT_ONCE):
            n = min(first[i + 1] - start, _AT_ONCE)
            some[:n] = uniforms[start : start + n]
            n_waiting = 0
            for point in range(n):
                verdict[start + point] = 2
                found = _draw(
                    point, some, group, layout, states, tables, within, kinds, lists, held, touched, above, weights,
                    drawn, place,
                )  # fmt: skip
                if found:
                    for feature in range(len(shape)):
                        place[point, feature] = members[place[point, feature]]
                    score[point], waiting[n_waiting] = settled[i], point
                    n_waiting += 1
            low, high = 0.0, 0.0
            for j in range(n_open[i]):
                low += leaves[open_nodes[i, j], 1]
                high += leaves[open_nodes[i, j], 2]
            for j in range(n_open[i]):
                top = open_nodes[i, j]
                low -= leaves[top, 1]
                high -= leaves[top, 2]
                # All points take one step before any takes the next: their ways through memory overlap.
                n_moving = n_waiting if steps[top, 2] >= 0 else 0
                for w in range(n_waiting):
                    moving[w], where[w] = waiting[w], top
                    if n_moving == 0:
                        score[waiting[w]] += leaves[top, 0]
                while n_moving:
                    kept = 0
                    for w in range(n_moving):
                        point, node = moving[w], where[w]
                        feature, cut, other = steps[node, 2], steps[node, 3], steps[node, 4]
                        cell = place[point, feature]
                        # Which child is arithmetic: the outcome of a test is hard to foresee for a processor.
                        if cut >= 0 and cell < shape[feature, 1]:
                            right = np.int64(cell >= cut)
                        elif cut >= 0:
                            right = np.int64(other == 0)
                        else:
                            right = 1 - np.int64((masks[other + (cell >> 6)] >> np.uint64(cell & 63)) & np.uint64(1))
                        node = steps[node, right]
                        moving[kept], where[kept] = point, node
                        if steps[node, 2] >= 0:
                            kept += 1
                        else:
                            score[point] += leaves[node, 0]
                    n_moving = kept
                kept = 0
                for w in range(n_waiting):
                    # The trees that are left may not turn it any more.
                    point = waiting[w]
                    if score[point] + low > above_rule:
                        verdict[start + point] = 1
                    elif score[point] + high < below_rule:
                        verdict[start + point] = 0
                    else:
                        waiting[kept] = point
                        kept += 1
                n_waiting = kept
                if n_waiting == 0:
                    break
