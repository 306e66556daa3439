"""What a decision still has to learn of a person when the features of a population are seen one by one.

The nodes of a tree-shaped population are gone through, parents first. Of a decision tree, what matters of the states
seen so far is which leaves are still within reach, and the states on which later tables depend; of other decisions,
every point of a small domain is a situation of its own. Backwards from the last node, each situation gets a value from
those of the situations that follow: its probability of a favorable outcome, or a bound of it.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from justicia.encoders.decisions import Tree
    from justicia.population.base import Node

__all__ = [
    "Level",
    "OutOfTimeError",
    "Situations",
    "check_time",
    "shuffled",
    "situations_of_points",
    "situations_of_tree",
]


class OutOfTimeError(Exception):
    """Raised when time has run out before there is an answer; never leaves the package."""


def check_time(deadline: float) -> None:
    """Go on before the deadline, a value of `time.perf_counter()`.

    Raises
    ------
    OutOfTimeError
    """
    if time.perf_counter() > deadline:
        raise OutOfTimeError


@dataclass(frozen=True)
class Level:
    """One node, in every situation before it.

    Attributes
    ----------
    node : Node
    above : int array of shape (n_situations,)
        State of the parent.
    kinds : list of int arrays
        For each state, cells that the decision cannot tell apart have one number.
    following : list of int arrays of shape (n_situations, n_kinds)
        For each state, the situation after each kind of cells; 0 and 1 are rejected and accepted for good.
    """

    node: Node
    above: np.ndarray
    kinds: list[np.ndarray]
    following: list[np.ndarray]


@dataclass(frozen=True)
class Situations:
    """All situations.

    Attributes
    ----------
    start : int
        Before the first node: 2, or the outcome (0 or 1) when it is the same for everybody.
    levels : list of Level
        Situation s of a level is the number s + 2 that the level before it refers to.
    """

    start: int
    levels: list[Level]


def situations_of_tree(
    decision: Tree, nodes: Sequence[Node], most: int, deadline: float = math.inf, seed: int | None = None
) -> Situations | None:
    """Situations are the leaves within reach; None when there are more than `most` before some node.

    Parameters
    ----------
    decision : Tree
    nodes : sequence of Node
        Every feature once, parents first.
    most : int
    deadline : float
        `time.perf_counter()` after which it is given up.
    seed : int, optional
        Of another order of the nodes, parents first; left out, depth first.

    Raises
    ------
    OutOfTimeError
    """
    reached = [(node, box) for node, box in decision.walk(whole=True) if decision.outcomes[node] >= 0]
    accepted = sum(1 << i for i, (node, _) in enumerate(reached) if decision.outcomes[node] == 1)
    boxes = [box for _, box in reached]
    if accepted in (0, (1 << len(boxes)) - 1):
        return Situations(int(accepted != 0), [])
    order = _relevant(nodes, boxes)
    levels = _levels(boxes, accepted, order if seed is None else shuffled(order, seed), most, deadline)
    return None if levels is None else Situations(2, levels)


def situations_of_points(outcomes: np.ndarray, sizes: Sequence[int], nodes: Sequence[Node]) -> Situations:
    """Every point is a situation.

    Parameters
    ----------
    outcomes : bool array of shape (n_points,)
        Of all points, the last feature changing fastest.
    sizes : sequence of int
        Cells of each feature.
    nodes : sequence of Node
        Every feature once, parents first.
    """
    if outcomes.all() or not outcomes.any():
        return Situations(int(outcomes[0]), [])
    order = [node.feature for node in nodes]
    last = outcomes.reshape(tuple(sizes)).transpose(order).reshape(-1, sizes[order[-1]]).astype(np.int64)
    levels = []
    n_before = 1
    for position, node in enumerate(nodes):
        size = sizes[node.feature]
        following = np.arange(n_before * size).reshape(n_before, size) + 2
        if position == len(order) - 1:
            following = last
        above = np.zeros(n_before, dtype=np.int64)
        if node.parents:
            (parent,) = node.parents
            place = order.index(parent)
            after = int(np.prod([sizes[feature] for feature in order[place + 1 : position]], dtype=np.int64))
            above = nodes[place].states[np.arange(n_before) // after % sizes[parent]]
        held = [np.flatnonzero(node.states == state) for state in range(node.table.shape[-1])]
        kinds = [np.arange(len(cells)) for cells in held]
        levels.append(Level(node, above, kinds, [following[:, cells] for cells in held]))
        n_before *= size
    return Situations(2, levels)


def shuffled(nodes: Sequence[Node], seed: int) -> list[Node]:
    """Nodes in another order, parents first."""
    rng = np.random.default_rng(seed)
    inside = {node.feature for node in nodes}
    left, order = list(nodes), []
    seen: set[int] = set()
    while left:
        ready = [node for node in left if not (inside & set(node.parents)) - seen]
        node = ready[int(rng.integers(len(ready)))]
        order.append(node)
        seen.add(node.feature)
        left.remove(node)
    return order


def _relevant(nodes: Sequence[Node], boxes: Sequence[dict[int, np.ndarray]]) -> list[Node]:
    """Nodes with a condition at or below them, depth first, so that few states have to be remembered."""
    tested = {feature for box in boxes for feature in box}
    below: dict[int, list[Node]] = {}
    size: dict[int, int] = {}
    for node in reversed(nodes):
        children = below.get(node.feature, [])
        if node.feature in tested or children:
            size[node.feature] = 1 + sum(size[child.feature] for child in children)
            below.setdefault(node.parents[0] if node.parents else -1, []).append(node)
    order: list[Node] = []
    stack = sorted(below.get(-1, []), key=lambda node: -size[node.feature])
    while stack:
        node = stack.pop()
        order.append(node)
        stack += sorted(below.get(node.feature, []), key=lambda child: -size[child.feature])
    return order


def _levels(
    boxes: Sequence[dict[int, np.ndarray]], accepted: int, order: Sequence[Node], most: int, deadline: float
) -> list[Level] | None:
    """Situations before each node: which boxes are within reach, and the states that are still needed."""
    # Features whose state is needed at or after each position.
    needed: list[list[int]] = [[] for _ in range(len(order) + 1)]
    for position in reversed(range(len(order))):
        later = set(needed[position + 1]) - {order[position].feature}
        needed[position] = sorted(later | set(order[position].parents))
    levels = []
    situations: dict[tuple[int, tuple[int, ...]], int] = {((1 << len(boxes)) - 1, ()): 2}
    for position, node in enumerate(order):
        patterns = _patterns(node, boxes)
        kinds = [np.unique(held, return_inverse=True) for held in patterns]
        after: dict[tuple[int, tuple[int, ...]], int] = {}
        following = [np.zeros((len(situations), len(distinct)), dtype=np.int64) for distinct, _ in kinds]
        above = np.zeros(len(situations), dtype=np.int64)
        here = needed[position]
        sources = [-1 if feature == node.feature else here.index(feature) for feature in needed[position + 1]]
        for row, (alive, kept) in enumerate(situations):
            check_time(deadline)
            if node.parents:
                above[row] = kept[here.index(node.parents[0])]
            for state, (distinct, _) in enumerate(kinds):
                remembered = tuple(state if source < 0 else kept[source] for source in sources)
                for number, pattern in enumerate(distinct):
                    left = alive & pattern
                    if not left & accepted:
                        following[state][row, number] = 0
                    elif not left & ~accepted:
                        following[state][row, number] = 1
                    else:
                        following[state][row, number] = after.setdefault((left, remembered), len(after) + 2)
            if len(after) > most:
                return None
        levels.append(Level(node, above, [inverse for _, inverse in kinds], following))
        situations = after
    return levels


def _patterns(node: Node, boxes: Sequence[dict[int, np.ndarray]]) -> list[np.ndarray]:
    """For each state, the boxes that each of its cells is in, as integers of any size."""
    by_cell = np.zeros(len(node.states), dtype=object)
    for number, box in enumerate(boxes):
        cells = box.get(node.feature)
        bit = 1 << number
        for cell in range(len(by_cell)) if cells is None else np.flatnonzero(cells).tolist():
            by_cell[cell] |= bit
    return [by_cell[node.states == state] for state in range(node.table.shape[-1])]
