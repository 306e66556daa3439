"""Decisions: encoded models, Boolean functions on the domain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from justicia.population.base import Boxes

__all__ = ["Decision", "Tree"]


class Decision(Protocol):
    """A Boolean function on the domain."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Cells of each feature."""
        ...

    def evaluate(self, points: np.ndarray) -> np.ndarray:
        """Whether the model gives a favorable outcome, bool array of shape (n,).

        Parameters
        ----------
        points : int array of shape (n, n_features)
            Cell indices.
        """
        ...

    def undecided(self, points: np.ndarray) -> np.ndarray:
        """Whether the rounding of the model's own arithmetic may flip the outcome, bool array of shape (n,)."""
        ...


@dataclass(frozen=True)
class Tree:
    """A decision tree whose every test sends each cell of one feature left or right.

    Attributes
    ----------
    sizes : tuple of int
        Cells of each feature.
    left, right : int array of shape (n_nodes,)
        Children; -1 at leaves. Node 0 is the root.
    feature : int array of shape (n_nodes,)
        Feature tested; -1 at leaves.
    goes_left : tuple of bool arrays
        For each node, which cells of its feature go left; empty at leaves.
    accepts : bool array of shape (n_nodes,)
        At leaves, whether the outcome is favorable.
    """

    sizes: tuple[int, ...]
    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    goes_left: tuple[np.ndarray, ...]
    accepts: np.ndarray

    def evaluate(self, points: np.ndarray) -> np.ndarray:
        """Whether the outcome is favorable, bool array of shape (n,)."""
        return self.accepts[self.leaves(points)]

    def undecided(self, points: np.ndarray) -> np.ndarray:
        """False everywhere: a tree adds nothing up."""
        return np.zeros(len(points), dtype=bool)

    @cached_property
    def accepts_fewer(self) -> bool:
        """Whether fewer boxes accept than reject."""
        counts = [0, 0]
        stack = [0]
        while stack:
            node = stack.pop()
            if self.outcomes[node] >= 0:
                counts[self.outcomes[node]] += 1
            else:
                stack += [int(self.left[node]), int(self.right[node])]
        return counts[1] <= counts[0]

    @cached_property
    def _tests(self) -> tuple[np.ndarray, np.ndarray]:
        """All tests in one array, and where each node's begins."""
        lengths = [len(cells) for cells in self.goes_left]
        begins = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
        return np.concatenate(self.goes_left), begins

    def leaves(self, points: np.ndarray) -> np.ndarray:
        """Leaf that each point reaches, int array of shape (n,)."""
        tests, begins = self._tests
        node = np.zeros(len(points), dtype=np.int64)
        if not len(tests):
            return node
        active = np.arange(len(points))
        while len(active):
            here = node[active]
            goes = tests[begins[here] + points[active, self.feature[here]]]
            below = np.where(goes, self.left[here], self.right[here])
            node[active] = below
            active = active[self.feature[below] >= 0]
        return node

    def boxes(self, accepting: bool = True, at_once: int = 512) -> Iterator[tuple[Boxes, int]]:
        """Disjoint boxes that cover the points whose outcome is favorable, or is not; empty boxes are left out.

        A subtree whose leaves all have the same outcome is one box.

        Yields
        ------
        boxes : per feature a bool array of shape (n_boxes, n_cells), or None where no box has a condition
        n_boxes : int, at most `at_once`
        """
        pending: list[dict[int, np.ndarray]] = []
        for node, box in self.walk(whole=True):
            if self.outcomes[node] == accepting:
                pending.append(box)
                if len(pending) == at_once:
                    yield self._together(pending)
                    pending = []
        if pending:
            yield self._together(pending)

    def _together(self, boxes: list[dict[int, np.ndarray]]) -> tuple[Boxes, int]:
        together: list[np.ndarray | None] = []
        for feature, size in enumerate(self.sizes):
            every = np.ones(size, dtype=bool)
            together.append(
                np.stack([box.get(feature, every) for box in boxes]) if any(feature in box for box in boxes) else None
            )
        return together, len(boxes)

    @cached_property
    def outcomes(self) -> np.ndarray:
        """For each node, 1 when all leaves below it accept, 0 when all reject, -1 when they differ."""
        outcomes = np.where(self.feature < 0, self.accepts, -1).astype(np.int8)
        inner = [node for node in self._preorder() if self.feature[node] >= 0]
        for node in reversed(inner):
            left, right = outcomes[self.left[node]], outcomes[self.right[node]]
            outcomes[node] = left if left == right else -1
        return outcomes

    def _preorder(self) -> Iterator[int]:
        """Every node below the root, parents first."""
        stack = [0]
        while stack:
            node = stack.pop()
            yield node
            if self.feature[node] >= 0:
                stack += [int(self.right[node]), int(self.left[node])]

    def walk(self, *, whole: bool = False) -> Iterator[tuple[int, dict[int, np.ndarray]]]:
        """Every node that some point reaches, parents first, with the box of the points that reach it.

        Parameters
        ----------
        whole : bool
            Do not go below a node whose leaves all have the same outcome.

        Yields
        ------
        node : int
        box : dict of int to bool array of shape (n_cells,)
            Cells that are left of each feature tested on the way.
        """
        stack: list[tuple[int, dict[int, np.ndarray]]] = [(0, {})]
        while stack:
            node, box = stack.pop()
            yield node, box
            feature = int(self.feature[node])
            if feature < 0 or (whole and self.outcomes[node] >= 0):
                continue
            goes = self.goes_left[node]
            for child, cells in ((self.right[node], ~goes), (self.left[node], goes)):
                kept = cells & box[feature] if feature in box else cells
                if kept.any():
                    stack.append((int(child), {**box, feature: kept}))
