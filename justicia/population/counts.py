"""Counts of people by group and domain point: all that a population is fitted from.

Counts merge: the counts of two parts of a table add up to the counts of the table, so any partitioned or streamed
source serves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Counts"]


@dataclass(frozen=True)
class Counts:
    """People by group and domain point.

    Attributes
    ----------
    group_keys : tuple of tuple of str
        Groups, each one value a sensitive column.
    sizes : tuple of int
        Cells of each feature.
    groups : int array of shape (n,)
        Group of each counted point.
    points : int array of shape (n, n_features)
    weights : int64 array of shape (n,) or None
        People at each counted point; None when each is one person.
    """

    group_keys: tuple[tuple[str, ...], ...]
    sizes: tuple[int, ...]
    groups: np.ndarray
    points: np.ndarray
    weights: np.ndarray | None = None

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.group_keys)

    def __add__(self, other: Counts) -> Counts:
        """Counts of the two tables together; groups of either stay, in sorted order when they differ."""
        if self.sizes != other.sizes:
            raise ValueError(f"counts over different domains: {self.sizes} and {other.sizes} cells")
        keys = self.group_keys
        if keys != other.group_keys:
            keys = tuple(sorted(set(keys) | set(other.group_keys)))
        index = {key: position for position, key in enumerate(keys)}
        groups = [
            np.array([index[key] for key in part.group_keys], dtype=np.int64)[part.groups] for part in (self, other)
        ]
        return Counts(
            keys,
            self.sizes,
            np.concatenate(groups),
            np.concatenate([self.points, other.points]),
            np.concatenate([part._every_weight() for part in (self, other)]),
        ).merged()

    def _every_weight(self) -> np.ndarray:
        return np.ones(len(self.groups), dtype=np.int64) if self.weights is None else self.weights

    def merged(self) -> Counts:
        """The same counts with every (group, point) once."""
        table = np.column_stack([self.groups, self.points]).astype(np.int64)
        rows, inverse = np.unique(table, axis=0, return_inverse=True)
        weights = np.bincount(inverse.ravel(), weights=self._every_weight(), minlength=len(rows)).astype(np.int64)
        return Counts(self.group_keys, self.sizes, rows[:, 0], rows[:, 1:], weights)

    def rows(self) -> np.ndarray:
        """People of each group, int64 array of shape (n_groups,)."""
        return self._tally(self.groups, self.n_groups)

    def of_feature(self, feature: int, states: np.ndarray | None = None) -> np.ndarray:
        """People by group and cell of one feature, or by group and state when `states` maps cells to states.

        Returns
        -------
        int64 array of shape (n_groups, n_cells or n_states)
        """
        column, width = self._column(feature, states)
        return self._tally(self.groups * width + column, self.n_groups * width).reshape(self.n_groups, width)

    def of_pair(self, first: int, second: int, states: Sequence[np.ndarray]) -> np.ndarray:
        """People by group and states of two features.

        Returns
        -------
        int64 array of shape (n_groups, n_states of first, n_states of second)
        """
        left, width = self._column(first, states[first])
        right, height = self._column(second, states[second])
        keys = (self.groups * width + left) * height + right
        return self._tally(keys, self.n_groups * width * height).reshape(self.n_groups, width, height)

    def _column(self, feature: int, states: np.ndarray | None) -> tuple[np.ndarray, int]:
        column = self.points[:, feature]
        if states is None:
            return column, self.sizes[feature]
        return states[column], int(states.max()) + 1

    def _tally(self, keys: np.ndarray, length: int) -> np.ndarray:
        if self.weights is None:
            return np.bincount(keys, minlength=length)
        return np.rint(np.bincount(keys, weights=self.weights, minlength=length)).astype(np.int64)
