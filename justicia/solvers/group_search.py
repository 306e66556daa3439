"""Best-first search among very many groups for the one in which a tree says yes most or least often."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.solvers.base import TooLargeError

if TYPE_CHECKING:
    from justicia.encoders.decisions import Tree
    from justicia.population.networks.elimination import Conditionals
    from justicia.solvers.extreme_groups import Part

__all__ = ["EQUAL", "End", "TreeSearch"]

_MOST_SETS = 1_000_000
_AT_ONCE = 256
EQUAL = 1e-12
"""Rates that are no further apart are equal."""


@dataclass(frozen=True)
class _Test:
    """An inner node of a tree: which part it asks, and the chance of going left under each choice of its columns."""

    part: int
    left: int
    right: int
    chance: np.ndarray
    """NaN where nobody comes here."""


@dataclass(frozen=True)
class End:
    """What the search for one of the two extremes has found.

    Attributes
    ----------
    groups : int array of shape (n_groups, n_columns)
    bound : float
        No other group has a more extreme rate.
    finished : bool
        The extreme one is among the groups.
    """

    groups: np.ndarray
    bound: float
    finished: bool


class TreeSearch:
    """Best-first search over choices of the sensitive columns."""

    def __init__(
        self, conditionals: Conditionals, parts: Sequence[Part], decision: Tree, matter: Sequence[str]
    ) -> None:
        self._parts = parts
        self._conditionals = conditionals
        self._sizes = [conditionals.sizes[name] for name in matter]
        self._matter = list(matter)
        self._nodes: list[_Test | bool] = []
        self._walk(decision)
        self._columns = [[self._matter.index(name) for name in part.sensitive] for part in parts]

    def _walk(self, decision: Tree) -> None:
        """Nodes, children before parents."""
        part_of = {feature: place for place, part in enumerate(self._parts) for feature in part.features}
        asked: dict[int, tuple[int, list[dict[int, np.ndarray]]]] = {}
        links: list[tuple[int, int]] = []
        kinds: list[bool | None] = []

        stack: list[tuple[int, dict[int, np.ndarray], int, bool]] = [(0, {}, -1, True)]
        while stack:
            node, box, parent, is_left = stack.pop()
            number = len(kinds)
            links.append((-1, -1))
            if parent >= 0:
                left, right = links[parent]
                links[parent] = (number, right) if is_left else (left, number)
            if decision.outcomes[node] >= 0:
                kinds.append(bool(decision.outcomes[node]))
                continue
            kinds.append(None)
            feature = int(decision.feature[node])
            goes = decision.goes_left[node]
            inside = set(self._parts[part_of[feature]].features)
            here = {one: cells for one, cells in box.items() if one in inside}
            kept = goes & box[feature] if feature in box else goes
            asked[number] = part_of[feature], [here, {**here, feature: kept}]
            for child, cells, left_side in ((decision.right[node], ~goes, False), (decision.left[node], goes, True)):
                both = cells & box[feature] if feature in box else cells
                if both.any():
                    stack.append((int(child), {**box, feature: both}, number, left_side))
        chances = self._chances(asked)
        # Children were numbered after their parents.
        for number in range(len(kinds)):
            outcome = kinds[number]
            if outcome is not None:
                self._nodes.append(outcome)
            else:
                self._nodes.append(_Test(asked[number][0], *links[number], chances[number]))

    def _chances(self, asked: Mapping[int, tuple[int, list[dict[int, np.ndarray]]]]) -> dict[int, np.ndarray]:
        found: dict[int, np.ndarray] = {}
        for place, part in enumerate(self._parts):
            mine = [number for number, (of, _) in asked.items() if of == place]
            if not mine:
                continue
            masses = part.masses([box for number in mine for box in asked[number][1]]).reshape(len(mine), 2, -1)
            with np.errstate(invalid="ignore", divide="ignore"):
                chance = np.where(masses[:, 0] > 0, np.minimum(masses[:, 1] / masses[:, 0], 1.0), np.nan)
            found |= dict(zip(mine, chance, strict=True))
        return found

    def bounds(self, sets: np.ndarray, largest: bool) -> np.ndarray:
        """At least the largest (at most the smallest) rate of the groups in each set, exact where all is chosen.

        Parameters
        ----------
        sets : int array of shape (n_sets, n_columns)
            States of the columns; -1 where any may be chosen.
        largest : bool
        """
        fitting = [
            ((sets[:, None, columns] < 0) | (sets[:, None, columns] == part.choices[None])).all(axis=2)
            for part, columns in zip(self._parts, self._columns, strict=True)
        ]
        values: list[np.ndarray] = [np.zeros(0)] * len(self._nodes)
        nowhere = np.full(len(sets), 0.0 if largest else 1.0)
        for number in reversed(range(len(self._nodes))):
            node = self._nodes[number]
            if isinstance(node, bool):
                values[number] = np.full(len(sets), float(node))
                continue
            left = values[node.left] if node.left >= 0 else nowhere
            right = values[node.right] if node.right >= 0 else nowhere
            mixed = node.chance * left[:, None] + (1.0 - node.chance) * right[:, None]
            possible = fitting[node.part] & ~np.isnan(node.chance)
            if largest:
                values[number] = np.where(possible, mixed, 0.0).max(axis=1)
            else:
                values[number] = np.where(possible, mixed, 1.0).min(axis=1)
        return values[0]

    def run(self, *, largest: bool, deadline: float) -> End:
        """States of the columns of the groups with the largest (or smallest) rate.

        Of groups whose rates are equal, some.
        """
        sign = -1.0 if largest else 1.0
        order = self._order(largest)
        root = np.full(len(self._matter), -1)
        heap: list[tuple[float, int, tuple[int, ...]]] = [
            (float(sign * self.bounds(root[None], largest)[0]), 0, tuple(root.tolist()))
        ]
        best, found = self._dive(order, sign, largest)
        n_sets, finished = 0, True
        while heap and heap[0][0] < best - EQUAL:
            if time.perf_counter() > deadline:
                finished = False
                break
            # Of equally promising sets those of which most is chosen first.
            picked = [heapq.heappop(heap) for _ in range(min(_AT_ONCE, len(heap)))]
            picked = [one for one in picked if one[0] < best - EQUAL]
            children = []
            for _, chosen, states in picked:
                place = order[-chosen]
                for state in range(self._sizes[place]):
                    child = list(states)
                    child[place] = state
                    children.append((chosen - 1, tuple(child)))
            n_sets += len(children)
            if n_sets > _MOST_SETS:
                raise TooLargeError(
                    f"the search among the groups has looked at {n_sets:,} sets of them without an end: name fewer "
                    "sensitive columns"
                )
            keys = sign * self.bounds(np.array([states for _, states in children]), largest)
            for key, (chosen, states) in zip(keys.tolist(), children, strict=True):
                if -chosen < len(order):
                    heapq.heappush(heap, (key, chosen, states))
                elif key < best and self._possible(states):
                    best, found = key, [states]
        groups = np.array(found, dtype=np.int64).reshape(-1, len(self._matter))
        return End(groups, sign * (best if finished else min(best, heap[0][0])), finished)

    def _dive(self, order: Sequence[int], sign: float, largest: bool) -> tuple[float, list[tuple[int, ...]]]:
        """A group to begin with: column by column the most promising value."""
        states = np.full(len(self._matter), -1)
        key = math.inf
        for place in order:
            children = np.repeat(states[None], self._sizes[place], axis=0)
            children[:, place] = np.arange(self._sizes[place])
            keys = sign * self.bounds(children, largest)
            states, key = children[int(np.argmin(keys))], float(keys.min())
        chosen = tuple(states.tolist())
        return (key, [chosen]) if self._possible(chosen) else (math.inf, [])

    def _order(self, largest: bool) -> list[int]:
        """Columns, those first of which a choice narrows the bound most."""
        narrowed = []
        for place, size in enumerate(self._sizes):
            sets = np.full((size, len(self._sizes)), -1)
            sets[:, place] = np.arange(size)
            held = self.bounds(sets, largest)
            narrowed.append(float(np.ptp(held)))
        return np.argsort(-np.array(narrowed), kind="stable").tolist()

    def _possible(self, states: Sequence[int]) -> bool:
        """Whether a group with these states has people."""
        chosen = dict(zip(self._matter, states, strict=True))
        codes = {name: np.array([chosen.get(name, 0)]) for names, _ in self._conditionals.prior for name in names}
        return bool(self._conditionals.shares(codes, 1)[0] > 0)
