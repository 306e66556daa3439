"""The extreme rates of a decision over all populations of a structure whose tables lie in given bounds.

The population's nodes are gone through, parents first (`justicia.solvers.situations`). Backwards from the last node,
each situation gets the least and the largest value that a row of the node's table can give it: probabilities start at
their lower bounds, and what is missing to 1 goes to the states of the best value first (a fractional knapsack, solved
by sorting; as in robust dynamic programming, Nilim and El Ghaoui 2005).

A table may be a different one in different situations here, so the answer encloses the extremes over single tables; it
is never wider than adding up the extreme masses of the leaves one by one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from justicia.encoders.clauses import Clauses
from justicia.encoders.decisions import Decision, Tree
from justicia.solvers.situations import Level, Situations, situations_of_clauses, situations_of_tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from justicia.population.base import Boxes
    from justicia.population.confidence import ConfidentNode

__all__ = ["best_mean", "extreme_rates"]

MOST_SITUATIONS = 20_000
"""With more of them before some node, a tree or rule is taken like other decisions."""
MOST_POINTS = 2_000_000
"""Points of the domain times groups; with more of them, a tree's leaves are added up, and others have no answer."""
_MOST_NUMBERS = 2_000_000
_ROUNDING = 1e-12


def extreme_rates(decision: Decision, confident: Sequence[ConfidentNode]) -> tuple[np.ndarray, np.ndarray] | None:
    """Bounds of the rates over all tables within the bounds.

    Parameters
    ----------
    decision : Decision
    confident : sequence of ConfidentNode
        Every feature once, parents first.

    Returns
    -------
    lo, hi : float64 array of shape (n_groups,)
        None when there are too many points, and the decision is no tree.
    """
    if not confident:
        raise ValueError("a population without features has no tables")
    nodes = [one.node for one in confident]
    held: Situations | None = None
    if isinstance(decision, Tree):
        held = situations_of_tree(decision, nodes, MOST_SITUATIONS)
    elif isinstance(decision, Clauses):
        held = situations_of_clauses(decision, nodes, MOST_SITUATIONS)
    found = None if held is None else _of_situations(held, confident)
    if found is None and math.prod(decision.sizes) * len(confident[0].lower) <= MOST_POINTS:
        found = _of_points(decision, confident)
    if found is None and isinstance(decision, Tree):
        found = _of_leaves(decision, confident)
    if found is None:
        return None
    return np.maximum(found[0] - _ROUNDING, 0.0), np.minimum(found[1] + _ROUNDING, 1.0)


def _of_leaves(decision: Tree, confident: Sequence[ConfidentNode]) -> tuple[np.ndarray, np.ndarray]:
    """Extreme masses of the leaves one by one, those of one outcome added up and taken from 1 for the other."""
    sums = {}
    for accepting in (True, False):
        sums[accepting] = np.zeros((2, len(confident[0].lower)))
        for boxes, n_boxes in decision.boxes(accepting, at_once=64):
            for end, largest in enumerate((False, True)):
                sums[accepting][end] += _masses(boxes, n_boxes, confident, largest).sum(axis=0)
    (least, most), (least_not, most_not) = sums[True], sums[False]
    return np.maximum(least, 1.0 - most_not), np.minimum(most, 1.0 - least_not)


def _masses(boxes: Boxes, n_boxes: int, confident: Sequence[ConfidentNode], largest: bool) -> np.ndarray:
    """The least or largest mass of each box over all tables, of shape (n_boxes, n_groups)."""
    n_groups = len(confident[0].lower)
    total = np.ones((n_boxes, n_groups))
    messages: dict[int, np.ndarray] = {}
    for one in reversed(confident):
        node, cells = one.node, boxes[one.node.feature]
        if cells is None and node.feature not in messages:
            continue
        values = messages.pop(node.feature, np.ones((n_boxes, one.lower.shape[2], n_groups)))
        if cells is not None:
            values = values * _kept(one, cells, largest)
        passed = np.stack(
            [best_mean(values, low.T[None], high.T[None], largest) for low, high in _rows(one)], axis=1
        )  # fmt: skip
        if not node.parents:
            total *= passed[:, 0]
        elif node.parents[0] in messages:
            messages[node.parents[0]] = messages[node.parents[0]] * passed
        else:
            messages[node.parents[0]] = passed
    return total


def _rows(one: ConfidentNode) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Bounds of each row of a table, arrays of shape (n_groups, n_states)."""
    return zip(one.lower.transpose(1, 0, 2), one.upper.transpose(1, 0, 2), strict=True)


def _kept(one: ConfidentNode, cells: np.ndarray, largest: bool) -> np.ndarray:
    """The least or largest share of each state that boxes keep, of shape (n_boxes, n_states, n_groups)."""
    inside = (one.node.states == np.arange(one.lower.shape[2])[:, None]).astype(np.float64)
    held = cells[:, None, :] * inside
    if one.within_lower is None or one.within_upper is None:
        return np.repeat(held.sum(axis=2)[:, :, None], len(one.lower), axis=2)
    within = (one.within_upper, one.within_lower) if largest else (one.within_lower, one.within_upper)
    own = held @ within[0].T
    rest = 1.0 - (inside - held) @ within[1].T
    # A state without cells has no share.
    share = np.minimum(own, rest) if largest else np.maximum(own, rest)
    return np.asarray(np.where(inside.any(axis=1)[:, None], np.clip(share, 0.0, 1.0), 0.0))


def _of_points(decision: Decision, confident: Sequence[ConfidentNode]) -> tuple[np.ndarray, np.ndarray]:
    """Every point of the domain is a situation; one whose outcome rounding may flip has either."""
    order = [one.node.feature for one in confident]
    axes = np.indices([decision.sizes[feature] for feature in order]).reshape(len(order), -1)
    points = np.empty((axes.shape[1], len(order)), dtype=np.int32)
    points[:, order] = axes.T
    accepted, undecided = decision.evaluate(points), decision.undecided(points)
    ends = []
    for largest, outcome in ((False, accepted & ~undecided), (True, accepted | undecided)):
        values = np.repeat(outcome.astype(np.float64)[:, None], len(confident[0].lower), axis=1)
        for one in reversed(confident):
            values = values.reshape(-1, len(one.node.states), values.shape[1])
            before = points[:: len(points) // len(values)]
            above = np.zeros(len(values), dtype=np.int64)
            if one.node.parents:
                (parent,) = one.node.parents
                above = confident[order.index(parent)].node.states[before[:, parent]]
            values = _passed(one, above, values, largest)
        ends.append(values[0])
    return ends[0], ends[1]


def _passed(one: ConfidentNode, above: np.ndarray, values: np.ndarray, largest: bool) -> np.ndarray:
    """Values before a node from those of its cells, of shape (n_situations, n_cells, n_groups)."""
    states = one.node.states
    held = [np.flatnonzero(states == state) for state in range(one.lower.shape[2])]
    of_states = [
        _of_state(one, state, np.arange(len(cells)), values[:, cells], largest) for state, cells in enumerate(held)
    ]
    lower, upper = (bound.transpose(1, 2, 0)[above] for bound in (one.lower, one.upper))
    return best_mean(np.stack(of_states, axis=1), lower, upper, largest)


def _of_situations(held: Situations, confident: Sequence[ConfidentNode]) -> tuple[np.ndarray, np.ndarray]:
    """Backwards through all situations."""
    by_feature = {one.node.feature: one for one in confident}
    ends = []
    for largest in (False, True):
        values = np.zeros((2, len(confident[0].lower)))
        values[1] = 1.0
        for level in reversed(held.levels):
            values = np.concatenate([values[:2], _stepped(level, by_feature[level.node.feature], values, largest)])
        ends.append(values[held.start])
    return ends[0], ends[1]


def _stepped(level: Level, one: ConfidentNode, values: np.ndarray, largest: bool) -> np.ndarray:
    """Values of the situations before a node from those after it, of shape (n_situations, n_groups)."""
    n_groups = values.shape[1]
    found = np.empty((len(level.above), n_groups))
    n_states = len(level.following)
    part = max(1, _MOST_NUMBERS // max(n_states * n_groups, 1))
    lower, upper = (bound.transpose(1, 2, 0) for bound in (one.lower, one.upper))
    for start in range(0, len(found), part):
        rows = slice(start, start + part)
        of_states = [
            _of_state(one, state, level.kinds[state], values[level.following[state][rows]], largest)
            for state in range(n_states)
        ]
        above = level.above[rows]
        found[rows] = best_mean(np.stack(of_states, axis=1), lower[above], upper[above], largest)
    return found


def _of_state(one: ConfidentNode, state: int, kinds: np.ndarray, values: np.ndarray, largest: bool) -> np.ndarray:
    """Value of a state from those of its kinds of cells, `values` of shape (n_situations, n_kinds, n_groups)."""
    if values.shape[1] == 0:
        # A state without cells has no probability.
        return np.zeros((len(values), values.shape[2]))
    if values.shape[1] == 1:
        return np.asarray(values[:, 0])
    if one.within_lower is None or one.within_upper is None:
        raise ValueError("a state of several cells without probabilities within")
    inside = (kinds == np.arange(values.shape[1])[:, None]).astype(np.float64)
    cells = one.node.states == state
    lower, upper = (inside @ bound[:, cells].T for bound in (one.within_lower, one.within_upper))
    return best_mean(values, lower[None], np.minimum(upper, 1.0)[None], largest)


def best_mean(values: np.ndarray, lower: np.ndarray, upper: np.ndarray, largest: bool) -> np.ndarray:
    """The least or largest mean of values over all distributions between the bounds.

    Parameters
    ----------
    values : float64 array of shape (n, n_states, n_groups)
    lower, upper : float64 array of shape (n or 1, n_states, n_groups)
        Sums over the states at most 1, and at least 1.
    largest : bool

    Returns
    -------
    float64 array of shape (n, n_groups)
    """
    order = np.argsort(-values if largest else values, axis=1, kind="stable")
    room = np.take_along_axis(np.broadcast_to(upper - lower, values.shape), order, axis=1)
    taken = np.cumsum(room, axis=1) - room
    rest = (1.0 - lower.sum(axis=1))[:, None]
    given = np.clip(rest - taken, 0.0, room)
    sorted_values = np.take_along_axis(values, order, axis=1)
    return np.asarray((lower * values).sum(axis=1) + (given * sorted_values).sum(axis=1))
