"""Counts of people by group and domain point: all that a population is fitted from.

Counts merge: the counts of two parts of a table add up to the counts of the table, so any partitioned or streamed
source serves.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Counts"]


class Counts:
    """People by group and domain point.

    Parameters
    ----------
    group_keys : tuple of tuple of str
        Groups, each one value a sensitive column.
    sizes : tuple of int
        Cells of each feature.
    groups : int array of shape (n,)
        Group of each counted point.
    points : int array of shape (n, n_features)
    weights : int64 or float64 array of shape (n,), optional
        People at each counted point; each is one person unless given. Rows that stand for parts of people are float64,
        and so is whatever is counted of them.
    everybody : Counts, optional
        Counts of which these are a part: what is cut by numbers of people is cut by theirs.
    """

    def __init__(
        self,
        group_keys: tuple[tuple[str, ...], ...],
        sizes: tuple[int, ...],
        groups: np.ndarray,
        points: np.ndarray,
        weights: np.ndarray | None = None,
        everybody: Counts | None = None,
    ) -> None:
        self.group_keys = group_keys
        self.sizes = sizes
        self._groups = groups
        self._points = points
        self._weights = weights
        self._everybody = everybody
        self._columns: dict[tuple[int, bytes], tuple[np.ndarray, int]] = {}
        self._pairs: dict[tuple[int, int, bytes], np.ndarray] = {}

    @property
    def groups(self) -> np.ndarray:
        """Group of each counted point, int array of shape (n,)."""
        return self._groups

    @property
    def points(self) -> np.ndarray:
        """Counted points, int array of shape (n, n_features)."""
        return self._points

    @property
    def weights(self) -> np.ndarray | None:
        """People at each counted point, array of shape (n,); None when each is one person."""
        return self._weights

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
            np.concatenate([part.every_weight() for part in (self, other)]),
        ).merged()

    def every_weight(self) -> np.ndarray:
        """People at each counted point, int64 array of shape (n,)."""
        return np.ones(len(self.groups), dtype=np.int64) if self.weights is None else self.weights

    def merged(self) -> Counts:
        """The same counts with every (group, point) once."""
        table = np.column_stack([self.groups, self.points]).astype(np.int64)
        rows, inverse = np.unique(table, axis=0, return_inverse=True)
        weights = _like(self.weights, np.bincount(inverse.ravel(), weights=self.every_weight(), minlength=len(rows)))
        return Counts(self.group_keys, self.sizes, rows[:, 0], rows[:, 1:], weights)

    def regrouped(self, group_keys: tuple[tuple[str, ...], ...], target: np.ndarray) -> Counts:
        """The same people in other groups, each of which takes in some of these.

        Parameters
        ----------
        group_keys : tuple of tuple of str
            The other groups.
        target : int array of shape (n_groups,)
            Where each of these groups goes; -1 leaves it out.
        """
        return _Regrouped(self, group_keys, target)

    def rows(self) -> np.ndarray:
        """People of each group, int64 array of shape (n_groups,)."""
        return self._tally(self.groups, self.n_groups)

    def of_feature(self, feature: int, states: np.ndarray | None = None) -> np.ndarray:
        """People by group and cell of one feature, or by group and state when `states` maps cells to states.

        Returns
        -------
        int64 array of shape (n_groups, n_cells or n_states)
        """
        column, width = self._column(feature, np.arange(self.sizes[feature]) if states is None else states)
        return self._tally(self.groups * width + column, self.n_groups * width).reshape(self.n_groups, width)

    def totals(self, feature: int) -> np.ndarray:
        """People in each cell of a feature among everybody, int64 array of shape (n_cells,)."""
        if self._everybody is not None:
            return self._everybody.totals(feature)
        return self._tally(self.points[:, feature], self.sizes[feature])

    def of_pair(self, first: int, second: int, states: Sequence[np.ndarray]) -> np.ndarray:
        """People by group and states of two features.

        Returns
        -------
        int64 array of shape (n_groups, n_states of first, n_states of second)
        """
        key = (first, second, states[first].tobytes() + b"|" + states[second].tobytes())
        if key not in self._pairs:
            left, width = self._column(first, states[first])
            right, height = self._column(second, states[second])
            keys = (self.groups * width + left) * height + right
            tally = self._tally(keys, self.n_groups * width * height).reshape(self.n_groups, width, height)
            if tally.size > _MOST_KEPT:
                return tally
            self._pairs[key] = tally
        return self._pairs[key]

    def _column(self, feature: int, states: np.ndarray) -> tuple[np.ndarray, int]:
        """State of each counted point, and the number of states."""
        key = (feature, states.tobytes())
        if key not in self._columns:
            self._columns[key] = states.astype(np.int64)[self.points[:, feature]], int(states.max()) + 1
        return self._columns[key]

    def _tally(self, keys: np.ndarray, length: int) -> np.ndarray:
        if self.weights is None:
            return np.bincount(keys, minlength=length)
        return _like(self.weights, np.bincount(keys, weights=self.weights, minlength=length))


def _like(weights: np.ndarray | None, sums: np.ndarray) -> np.ndarray:
    """Sums of weights: whole numbers unless the weights are none."""
    return sums if weights is not None and weights.dtype.kind == "f" else np.rint(sums).astype(np.int64)


_MOST_KEPT = 200_000
"""Larger tallies are made anew from the rows whenever they are asked for."""


class _Regrouped(Counts):
    """Counts whose groups take in groups of other counts; small tallies are added up, large ones made from the rows."""

    def __init__(self, base: Counts, group_keys: tuple[tuple[str, ...], ...], target: np.ndarray) -> None:
        self._base = base
        self._target = target
        self._kept = target >= 0
        super().__init__(group_keys, base.sizes, base.groups[:0], base.points[:0])

    @cached_property
    def _rows(self) -> Counts:
        """The same people, counted from the rows."""
        base = self._base
        groups = self._target[base.groups]
        kept = groups >= 0
        weights = None if base.weights is None else base.weights[kept]
        return Counts(self.group_keys, self.sizes, groups[kept], base.points[kept], weights)

    @property
    def groups(self) -> np.ndarray:
        """Group of each counted point, int array of shape (n,)."""
        return self._rows.groups

    @property
    def points(self) -> np.ndarray:
        """Counted points, int array of shape (n, n_features)."""
        return self._rows.points

    @property
    def weights(self) -> np.ndarray | None:
        """People at each counted point, int64 array of shape (n,); None when each is one person."""
        return self._rows.weights

    def _summed(self, tally: np.ndarray) -> np.ndarray:
        summed = np.zeros((self.n_groups, *tally.shape[1:]), dtype=tally.dtype)
        np.add.at(summed, self._target[self._kept], tally[self._kept])
        return summed

    def rows(self) -> np.ndarray:
        """People of each group, int64 array of shape (n_groups,)."""
        return self._summed(self._base.rows())

    def of_feature(self, feature: int, states: np.ndarray | None = None) -> np.ndarray:
        """People by group and cell or state of one feature."""
        return self._summed(self._base.of_feature(feature, states))

    def totals(self, feature: int) -> np.ndarray:
        """People in each cell of a feature among all that were counted, so that states are the same everywhere."""
        return self._base.totals(feature)

    def of_pair(self, first: int, second: int, states: Sequence[np.ndarray]) -> np.ndarray:
        """People by group and states of two features."""
        size = self._base.n_groups * (int(states[first].max()) + 1) * (int(states[second].max()) + 1)
        if size > _MOST_KEPT:
            return self._rows.of_pair(first, second, states)
        return self._summed(self._base.of_pair(first, second, states))
