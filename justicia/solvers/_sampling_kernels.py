"""Compiled loops that draw people inside boxes and ask the trees that are still open there.

Columns of `steps`, one row a node of the ensemble: left, right, feature (-1 at leaves), cut (-1 where a set decides),
and whether a missing cell goes left, or where the set begins. Columns of `leaves`: value, least and largest leaf below.
Other arrays are those of `_box_kernels`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from justicia.solvers._box_kernels import UNCOUNTED, mass_of, workspace

__all__ = ["sample"]

_AT_ONCE = 16_384
"""Points that go through a tree together, so that it stays in the cache."""


@njit(**UNCOUNTED)
def _draw(
    point, uniforms, group, population, room, weights, drawn, place
):  # fmt: skip
    """Draw one point of a group inside a box, from the roots of the population's tree to its leaves.

    False when the box has no probability, but for rounding.
    """
    _, layout, states, _, tables, within = population
    kinds, lists, held, touched, kept, above, _ = room
    for node in range(len(layout) - 1, -1, -1):
        up, begin, parents = layout[node, 1], layout[node, 5], layout[node, 3]
        at = layout[node, 4] + (drawn[up] if up >= 0 else 0)
        total, first, last = 0.0, kept[node, 0], kept[node, 1]
        for s in range(first, last):
            weights[s] = tables[group, at + s * parents]
            if touched[node]:
                weights[s] *= above[begin + s]
            total += weights[s]
        wanted, picked = uniforms[point, 2 * node] * total, -1
        for s in range(first, last):
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


@njit(**UNCOUNTED)
def _walk(n_moving, moving, where, place, score, steps, leaves, masks, shape):
    """Add the leaf that each moving point comes to."""
    # All points take one step before any takes the next: their ways through memory overlap.
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


@njit(**UNCOUNTED)
def _evaluate(n_waiting, waiting, box_of, starts, low, high, place, score, verdict, steps, leaves, masks, shape, rule,
    moving, where):  # fmt: skip
    """Ask the open trees about points, until those that are left cannot turn the verdict.

    box_of : which row of `starts` a point belongs to
    low, high : least and largest sum of each row's open trees
    """
    above, below = rule[0] + rule[1], rule[0] - rule[1]
    for tree in range(starts.shape[1]):
        for row in range(len(low)):
            top = starts[row, tree]
            if top >= 0:
                low[row] -= leaves[top, 1]
                high[row] -= leaves[top, 2]
        n_moving = 0
        for w in range(n_waiting):
            point = waiting[w]
            top = starts[box_of[point], tree]
            if top >= 0:
                moving[n_moving], where[n_moving] = point, top
                if steps[top, 2] >= 0:
                    n_moving += 1
                else:
                    score[point] += leaves[top, 0]
        if n_moving == 0:
            continue
        _walk(n_moving, moving, where, place, score, steps, leaves, masks, shape)
        kept = 0
        for w in range(n_waiting):
            point = waiting[w]
            row = box_of[point]
            if score[point] + low[row] > above:
                verdict[point] = 1
            elif score[point] + high[row] < below:
                verdict[point] = 0
            else:
                waiting[kept] = point
                kept += 1
        n_waiting = kept
        if n_waiting == 0:
            break


@njit(cache=True, nogil=True)
def sample(chosen, first, uniforms, group, boxes, starts, settled, steps, leaves, masks, population, rule, verdict):
    """Draw points inside boxes and evaluate the open trees there.

    Points first[i] to first[i + 1] lie in box chosen[i].

    starts : (n_chosen, n_trees) node at which a tree is open, -1 where it is not
    settled : (n_chosen,) base and sum of all other trees
    verdict : is set to 1 above the threshold, 0 below, 2 within rounding of it
    """
    shape, layout, _, members, _, _ = population
    room = workspace(population)
    weights = np.empty_like(room[-1])
    mass, active, drawn = np.empty(1), np.empty(1, np.int64), np.zeros(len(layout), np.int64)
    active[0] = group
    place, score = np.zeros((_AT_ONCE, len(shape)), np.int32), np.empty(_AT_ONCE)
    box_of, waiting = np.empty(_AT_ONCE, np.int32), np.empty(_AT_ONCE, np.int32)
    moving, where = np.empty(_AT_ONCE, np.int32), np.empty(_AT_ONCE, np.int32)
    box = 0
    for start in range(first[0], first[-1], _AT_ONCE):
        end = min(start + _AT_ONCE, first[-1])
        some, answers = uniforms[start:end], verdict[start:end]
        while first[box + 1] <= start:
            box += 1
        from_box = box
        n_waiting = 0
        for point in range(end - start):
            while first[box + 1] <= start + point:
                box += 1
            if point == 0 or first[box] == start + point:
                mass_of(boxes[0][chosen[box]], boxes[1][chosen[box]], population, active, 1, room, mass)
            answers[point] = 2
            if _draw(point, some, group, population, room, weights, drawn, place):
                for feature in range(len(shape)):
                    place[point, feature] = members[place[point, feature]]
                score[point], box_of[point], waiting[n_waiting] = settled[box], box - from_box, point
                n_waiting += 1
        here = starts[from_box : box + 1]
        low, high = np.zeros(len(here)), np.zeros(len(here))
        for row in range(len(here)):
            for top in here[row]:
                if top >= 0:
                    low[row] += leaves[top, 1]
                    high[row] += leaves[top, 2]
        _evaluate(
            n_waiting, waiting, box_of, here, low, high, place, score, answers, steps, leaves, masks, shape, rule,
            moving, where,
        )  # fmt: skip
