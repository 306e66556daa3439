"""Counts of people of whom there are too many different ones: by feature, and by pairs of features.

That is all that features independent given the group and a tree are fitted from. Cells of a feature are counted one by
one; in pairs they are joined to the states that a tree has of them (`justicia.population.tree.all_states`), which are
known once the features alone are counted. Parts of a table add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from justicia.errors import InputError
from justicia.population.counts import Counts

__all__ = ["PairCounter", "PairCounts"]

_MOST_TALLIED = 200_000_000
"""Numbers that are held, at most."""


class PairCounts(Counts):
    """People by group and cell of each feature, and by group and states of each pair.

    Parameters
    ----------
    group_keys : tuple of tuple of str
    cells : sequence of int64 arrays of shape (n_groups, n_cells)
        One a feature.
    pairs : sequence of (sequence of int array, dict of (int, int) to int64 array)
        For each way to join cells to states: the state of each cell of each feature, and by pair of features the people
        by group and states, of shape (n_groups, n_states of first, n_states of second).
    totals : sequence of int64 arrays of shape (n_cells,), optional
        People in each cell among everybody; the sums over these groups when left out.
    """

    def __init__(
        self,
        group_keys: tuple[tuple[str, ...], ...],
        cells: Sequence[np.ndarray],
        pairs: Sequence[tuple[Sequence[np.ndarray], dict[tuple[int, int], np.ndarray]]],
        totals: Sequence[np.ndarray] | None = None,
    ) -> None:
        sizes = tuple(held.shape[1] for held in cells)
        none = np.zeros(0, dtype=np.int64)
        super().__init__(group_keys, sizes, none, np.zeros((0, len(sizes)), dtype=np.int32))
        self._cells = list(cells)
        self._of_pairs = list(pairs)
        self._totals = [held.sum(axis=0) for held in cells] if totals is None else list(totals)

    def rows(self) -> np.ndarray:
        """People of each group, int64 array of shape (n_groups,)."""
        return np.asarray(self._cells[0].sum(axis=1))

    def of_feature(self, feature: int, states: np.ndarray | None = None) -> np.ndarray:
        """People by group and cell or state of one feature."""
        held = self._cells[feature]
        if states is None:
            return held
        found = np.zeros((self.n_groups, int(states.max()) + 1), dtype=np.int64)
        np.add.at(found.T, states, held.T)
        return found

    def totals(self, feature: int) -> np.ndarray:
        """People in each cell of a feature among everybody."""
        return self._totals[feature]

    def of_pair(self, first: int, second: int, states: Sequence[np.ndarray]) -> np.ndarray:
        """People by group and states of two features.

        Raises
        ------
        ValueError
            When cells were not joined to these states.
        """
        for joined, held in self._of_pairs:
            if all(np.array_equal(joined[at], states[at]) for at in (first, second)):
                if (first, second) in held:
                    return held[first, second]
                return held[second, first].transpose(0, 2, 1)
        raise ValueError("pairs were counted by other states")

    def regrouped(self, group_keys: tuple[tuple[str, ...], ...], target: np.ndarray) -> PairCounts:
        """The same people in other groups, each of which takes in some of these."""
        kept = target >= 0

        def summed(held: np.ndarray) -> np.ndarray:
            found = np.zeros((len(group_keys), *held.shape[1:]), dtype=np.int64)
            np.add.at(found, target[kept], held[kept])
            return found

        pairs = [(joined, {pair: summed(one) for pair, one in held.items()}) for joined, held in self._of_pairs]
        return PairCounts(group_keys, [summed(held) for held in self._cells], pairs, self._totals)


class PairCounter:
    """Adds up counts of a table, part by part.

    Parameters
    ----------
    sizes : tuple of int
        Cells of each feature.
    ways : sequence of sequence of int array
        State of each cell of each feature, for each way to join cells; none where features are counted alone.
    """

    def __init__(self, sizes: tuple[int, ...], ways: Sequence[Sequence[np.ndarray]] = ()) -> None:
        self._ways = [[states.astype(np.int64) for states in way] for way in ways]
        self._widths = [[int(states.max()) + 1 for states in way] for way in self._ways]
        self._numbers = sum(sizes) + sum(a * b for widths in self._widths for a, b in combinations(widths, 2))
        self._cells = [np.zeros((0, size), dtype=np.int64) for size in sizes]
        self._pairs: list[dict[tuple[int, int], np.ndarray]] = [
            {(a, b): np.zeros((0, widths[a], widths[b]), dtype=np.int64) for a, b in combinations(range(len(sizes)), 2)}
            for widths in self._widths
        ]

    def add(self, groups: np.ndarray, n_groups: int, points: np.ndarray) -> None:
        """Count some people.

        Parameters
        ----------
        groups : int array of shape (n,)
            Group of each; groups may be more than before.
        n_groups : int
            Groups so far.
        points : int array of shape (n, n_features)

        Raises
        ------
        InputError
            When so many groups and pairs of features cannot be held.
        """
        if n_groups * self._numbers > _MOST_TALLIED:
            raise InputError(
                f"pairs of so many columns in {n_groups:,} groups of people are more than are counted at once: leave "
                "columns or groupings out, or ask for independent features"
            )
        self._cells = [
            _grown(held, n_groups, np.bincount(groups * held.shape[1] + cells, minlength=n_groups * held.shape[1]))
            for held, cells in zip(self._cells, points.T, strict=True)
        ]
        for way, widths, held in zip(self._ways, self._widths, self._pairs, strict=True):
            states = [joined[cells] for joined, cells in zip(way, points.T, strict=True)]
            for a, b in held:
                keys = (groups * widths[a] + states[a]) * widths[b] + states[b]
                found = np.bincount(keys, minlength=n_groups * widths[a] * widths[b])
                held[a, b] = _grown(held[a, b], n_groups, found)

    def result(self) -> PairCounts:
        """All that was counted, by groups that are called by their numbers."""
        names = tuple((str(group),) for group in range(len(self._cells[0])))
        return PairCounts(names, self._cells, list(zip(self._ways, self._pairs, strict=True)))


def _grown(held: np.ndarray, n_groups: int, more: np.ndarray) -> np.ndarray:
    """Earlier numbers, with room for further groups, and later ones."""
    found = more.reshape(n_groups, *held.shape[1:]).astype(np.int64)
    found[: len(held)] += held
    return found
