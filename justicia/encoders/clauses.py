"""The decision of a rule over sets of cells: a conjunctive normal form, or its complement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

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
