"""The decision of a rule over sets of cells: a conjunctive normal form, or its complement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.encoders.decisions import Tree

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Clauses"]


@dataclass(frozen=True)
class Clauses:
    """Favorable when every clause is satisfied, which it is when some feature lies in its set of cells.

    Attributes
    ----------
    sizes : tuple of int
        Cells of each feature.
    clauses : tuple of mappings from feature to bool array of shape (n_cells,)
    accepts : bool
        The outcome is favorable when every clause is satisfied; unless that is set, when some clause is not.

    Examples
    --------
    (x0 or not x1) and x1:

    >>> yes, no = np.array([False, True]), np.array([True, False])
    >>> Clauses((2, 2), ({0: yes, 1: no}, {1: yes})).evaluate(np.array([[0, 0], [0, 1], [1, 1]]))
    array([False, False,  True])
    """

    sizes: tuple[int, ...]
    clauses: tuple[Mapping[int, np.ndarray], ...]
    accepts: bool = True

    def evaluate(self, points: np.ndarray) -> np.ndarray:
        """Whether the outcome is favorable, bool array of shape (n,)."""
        satisfied = np.ones(len(points), dtype=bool)
        for clause in self.clauses:
            held = np.zeros(len(points), dtype=bool)
            for feature, cells in clause.items():
                held |= cells[points[:, feature]]
            satisfied &= held
        return satisfied == self.accepts

    def undecided(self, points: np.ndarray) -> np.ndarray:
        """False everywhere: clauses add nothing up."""
        return np.zeros(len(points), dtype=bool)

    def as_tree(self, most_nodes: int) -> Tree | None:
        """A decision tree of the same outcomes; None when it would have more nodes than that."""
        left, right, feature = [-1], [-1], [-1]
        goes_left, accepts = [np.zeros(0, dtype=bool)], [False]
        stack: list[tuple[int, tuple[int, ...], dict[int, np.ndarray]]] = [(0, tuple(range(len(self.clauses))), {})]
        while stack:
            node, pending, box = stack.pop()
            held = {number: self._inside(number, box) for number in pending}
            pending = tuple(number for number in pending if held[number] is not True)
            if not pending or any(held[number] == {} for number in pending):
                accepts[node] = self.accepts == (not pending)
                continue
            # The clause with the fewest ways to be satisfied settles most.
            number = min(pending, key=lambda one: len(held[one]))  # type: ignore[arg-type]
            asked, cells = next(iter(held[number].items()))  # type: ignore[union-attr]
            inside = box.get(asked, np.ones(len(cells), dtype=bool))
            if len(left) + 2 > most_nodes:
                return None
            left[node], right[node] = len(left), len(left) + 1
            feature[node], goes_left[node] = asked, cells
            for kept in (inside & cells, inside & ~cells):
                stack.append((len(left), pending, {**box, asked: kept}))
                left.append(-1)
                right.append(-1)
                feature.append(-1)
                goes_left.append(np.zeros(0, dtype=bool))
                accepts.append(False)
        return Tree(self.sizes, np.array(left), np.array(right), np.array(feature), tuple(goes_left), np.array(accepts))

    def _inside(self, number: int, box: Mapping[int, np.ndarray]) -> dict[int, np.ndarray] | bool:
        """The features that may still satisfy a clause in a box, with their cells; True when it is satisfied."""
        possible = {}
        for feature, cells in self.clauses[number].items():
            inside = box.get(feature, np.ones(len(cells), dtype=bool))
            if not (inside & ~cells).any():
                return True
            if (inside & cells).any():
                possible[feature] = cells
        return possible
