"""Tables of more different people than can be held: how many there are of each kind, and in pairs of features.

A kind is a group with a true outcome. Features independent given the group, and trees, are fitted from these counts
alone (`justicia.population.pair_counts`), so the numbers are those of the whole table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.errors import InputError
from justicia.population.pair_counts import PairCounter, PairCounts
from justicia.population.tree import FEW_STATES, MANY_FEATURES, MOST_STATES, all_states
from justicia.tables.condensing import Condition, kinds_of_rows
from justicia.words import counted

if TYPE_CHECKING:
    import pandas as pd

    from justicia.population.domain import Domain

__all__ = ["Paired", "PairsOfKinds", "cell_totals"]


@dataclass(frozen=True)
class Paired:
    """People who were counted.

    Attributes
    ----------
    people : DataFrame of shape (n_kinds, n_columns)
        A row of each kind.
    repeats : int64 array of shape (n_kinds,)
        How many they are.
    counts : PairCounts
        With a group for each kind.
    condition : Condition
        When two rows are of one kind.
    """

    people: pd.DataFrame
    repeats: np.ndarray
    counts: PairCounts
    condition: Condition

    def kinds(self, frame: pd.DataFrame) -> np.ndarray:
        """The kind of each row, int64 array of shape (n_rows,); -1 where nobody of it was counted."""
        codes, _ = _kinds_of(frame, self.condition, self.people)
        return np.where(codes < len(self.people), codes, -1)


class PairsOfKinds:
    """Counts people batch by batch.

    Parameters
    ----------
    structure : str
        "tree", which needs pairs, or "independent".
    domain : Domain
    totals : sequence of int64 arrays of shape (n_cells,)
        People in each cell of each feature; not needed where features are independent.
    condition : Condition
        When two rows are of one kind.
    restore : callable, optional
        Gives rows of a batch the types that they have in the whole table.

    Raises
    ------
    InputError
        When there would be too many pairs.
    """

    def __init__(
        self,
        structure: str,
        domain: Domain,
        totals: Sequence[np.ndarray],
        condition: Condition,
        restore: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
    ) -> None:
        if structure == "tree" and len(domain.features) > MANY_FEATURES:
            raise InputError(
                f"{counted(len(domain.features), 'column')} have too many pairs to be counted: leave columns out, or "
                "fit the structure independent"
            )
        ways = []
        if structure == "tree":
            held = _Totals(totals)
            ways = [all_states(held, domain, most) for most in (MOST_STATES, FEW_STATES)]
        self._counter = PairCounter(domain.sizes, ways)
        self._condition = condition
        self._restore = restore
        self._known: pd.DataFrame | None = None
        self._repeats = np.zeros(0, dtype=np.int64)

    def add(self, frame: pd.DataFrame, points: np.ndarray) -> None:
        """Count some rows.

        Parameters
        ----------
        frame : DataFrame of shape (n_rows, n_columns)
        points : int array of shape (n_rows, n_features)
        """
        if not len(frame):
            return
        codes, self._known = _kinds_of(frame, self._condition, self._known, self._restore)
        n_kinds = len(self._known)
        earlier = np.pad(self._repeats, (0, n_kinds - len(self._repeats)))
        self._repeats = np.bincount(codes, minlength=n_kinds) + earlier
        self._counter.add(codes, n_kinds, points)

    def result(self) -> Paired | None:
        """All that was counted; None when that is nobody."""
        if self._known is None:
            return None
        return Paired(self._known, self._repeats, self._counter.result(), self._condition)


def cell_totals(domain: Domain, points: Iterable[np.ndarray]) -> list[np.ndarray]:
    """People in each cell of each feature, int64 arrays of shape (n_cells,), from the points of each batch."""
    found = [np.zeros(size, dtype=np.int64) for size in domain.sizes]
    for batch in points:
        for held, cells in zip(found, batch.T, strict=True):
            held += np.bincount(cells, minlength=len(held))
    return found


def _kinds_of(
    frame: pd.DataFrame,
    condition: Condition,
    known: pd.DataFrame | None,
    restore: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
) -> tuple[np.ndarray, pd.DataFrame]:
    """A number for each row's kind of people, the same in all batches, and a row of each kind so far."""
    import pandas as pd

    kinds, first = kinds_of_rows(frame, condition)
    held, n_known = frame.iloc[first], 0
    held = held if restore is None else restore(held)
    if known is not None:
        held, n_known = pd.concat([known, held], ignore_index=True), len(known)
    # Known kinds come first, and so keep their numbers.
    joined, first = kinds_of_rows(held, condition)
    return joined[n_known:][kinds], held.iloc[first].reset_index(drop=True)


class _Totals:
    """What `all_states` asks of counts."""

    def __init__(self, totals: Sequence[np.ndarray]) -> None:
        self._totals = totals

    def totals(self, feature: int) -> np.ndarray:
        return self._totals[feature]
