"""The domain: the cells of every feature, in a fixed order.

A cell is a set of values of one feature that the model cannot tell apart: an interval between two thresholds, a
category, "missing", or "unseen category". A point of the domain is one cell a feature.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import TableError
from justicia.numeric import floats_of
from justicia.tables.repeats import number_of, of_rows, value_counts
from justicia.words import comma_hint, counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

__all__ = ["Domain", "Feature"]


@dataclass(frozen=True)
class Feature:
    """A source column that the model depends on, cut into cells.

    Attributes
    ----------
    name : str
    labels : tuple of str
        Text of each cell.
    representatives : tuple
        One raw value of each cell, as `predict` takes it.
    edges : float64 array of shape (n_intervals - 1,), or None
        A numeric feature's largest value in each interval but the last: interval i is (edges[i-1], edges[i]].
    cells : dict
        A categorical feature's cell of each known category.
    unseen : int or None
        Cell of categories that are not known; None when the model takes none.
    missing : int or None
        Cell of missing values; None when the model takes none.
    by_value : bool
        A numeric feature's cells are runs of the table's own values: nothing is known of numbers between them.
    ranges : float64 array of shape (n_intervals, 2), or None
        Smallest and largest value that people in each interval have, NaN where no more is known than the edges.
    members : tuple of tuple of float, or None
        All values in each interval, where numbers between two of them may be unlike both.
    integers : bool
        A numeric feature's values are whole numbers.
    affine : bool
        What a numeric feature adds to the model's score is a multiple of its value plus a constant.
    """

    name: str
    labels: tuple[str, ...]
    representatives: tuple[Any, ...]
    edges: np.ndarray | None = None
    cells: dict[Any, int] = field(default_factory=dict)
    unseen: int | None = None
    missing: int | None = None
    by_value: bool = False
    ranges: np.ndarray | None = None
    members: tuple[tuple[float, ...], ...] | None = None
    integers: bool = False
    affine: bool = False

    @property
    def numeric(self) -> bool:
        """Whether cells are intervals."""
        return self.edges is not None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def n_intervals(self) -> int:
        """Number of intervals of a numeric feature, 0 for others."""
        return 0 if self.edges is None else len(self.edges) + 1

    def cells_of(self, values: pd.Series[Any], repeats: np.ndarray | None = None) -> np.ndarray:
        """Cell index of each value, int32 array of shape (n_rows,).

        Parameters
        ----------
        values : Series of shape (n_rows,)
        repeats : int64 array of shape (n_rows,), optional
            Equal rows that each row stands for.

        Raises
        ------
        TableError
            When a value has no cell: the model's `predict` does not take it either.
        """
        cells = self.cells_or_none(values, repeats)
        if len(cells) and cells.min() < 0:
            self._refuse(values, cells < 0, repeats)
        return cells

    def cells_or_none(self, values: pd.Series[Any], repeats: np.ndarray | None = None) -> np.ndarray:
        """The same, -1 for values without a cell.

        Raises
        ------
        TableError
            When a numeric feature's values are no numbers.
        """
        return self._numeric_cells(values, repeats) if self.numeric else self._categorical_cells(values)

    def _numeric_cells(self, values: pd.Series[Any], repeats: np.ndarray | None) -> np.ndarray:

        try:
            numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
        except (OverflowError, TypeError, ValueError):
            numbers = floats_of(values)
            strange = np.isnan(numbers) & ~values.isna().to_numpy()
            if strange.any():
                words = values[strange].unique()
                few = [repr(word) if "," in str(word) else word for word in words[:3]]
                hint = comma_hint(words[:100]) or "; if such words mean missing, name them with --na"
                raise TableError(
                    f"column {self.name!r} holds {listed(few)} in "
                    f"{counted(number_of(strange, repeats), 'row')}, and the model takes it as a number{hint}"
                ) from None
        edges = np.zeros(0) if self.edges is None else self.edges
        cells = np.searchsorted(edges, numbers, side="left").astype(np.int32)
        empty = np.isnan(numbers)
        if empty.any():
            cells[empty] = -1 if self.missing is None else self.missing
        return cells

    def _categorical_cells(self, values: pd.Series[Any]) -> np.ndarray:
        import pandas as pd

        codes, uniques = pd.factorize(values)
        unseen = -1 if self.unseen is None else self.unseen
        missing = -1 if self.missing is None else self.missing
        table = np.array([*(self.cells.get(value, unseen) for value in uniques), missing], dtype=np.int32)
        return table[codes]

    def _refuse(self, values: pd.Series[Any], bad: np.ndarray, repeats: np.ndarray | None) -> None:
        empty = values.isna().to_numpy() & bad
        if empty.any():
            raise TableError(
                f"column {self.name!r} has no value in {counted(number_of(empty, repeats), 'row')}, and the model "
                "takes none there: remove these rows, or fit the model with an imputer"
            )
        strange = values[bad]
        words = strange.unique()
        hint = ""
        if set(map(str, words)) <= _USUAL_NA:
            hint = f" (if such words mean missing, pass {' '.join(f'--na {word}' for word in words)})"
        raise TableError(
            f"column {self.name!r} holds {listed(words, 5)} in {counted(number_of(bad, repeats), 'row')}; the model "
            f"was not fitted on such values and refuses them{hint}: remove these rows, or fit with "
            "handle_unknown='ignore'"
        )


_USUAL_NA = frozenset(
    "#N/A #NA -1.#IND -1.#QNAN -NaN -nan 1.#IND 1.#QNAN <NA> N/A NA NULL NaN None n/a nan null".split()
)


@dataclass(frozen=True)
class Domain:
    """The cells of all features, in a fixed order."""

    features: tuple[Feature, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(feature.name for feature in self.features)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of cells of each feature."""
        return tuple(len(feature) for feature in self.features)

    def points(self, frame: pd.DataFrame, repeats: np.ndarray | None = None) -> np.ndarray:
        """The domain point of each row, int32 array of shape (n_rows, n_features) in Fortran order.

        Parameters
        ----------
        frame : DataFrame of shape (n_rows, n_columns)
        repeats : int64 array of shape (n_rows,), optional
            Equal rows that each row stands for.
        """
        points = np.empty((len(frame), len(self.features)), dtype=np.int32, order="F")
        for position, feature in enumerate(self.features):
            points[:, position] = feature.cells_of(frame[feature.name], repeats)
        return points

    def unseen(
        self, frame: pd.DataFrame, points: np.ndarray, repeats: np.ndarray | None = None
    ) -> dict[str, dict[str, int]]:
        """Values that the model was not fitted on, by column, with the number of rows of each."""
        found = {}
        for feature, cells in zip(self.features, points.T, strict=True):
            rows = np.flatnonzero(cells == (-1 if feature.unseen is None else feature.unseen))
            if len(rows):
                counts = value_counts(frame[feature.name].iloc[rows], of_rows(repeats, rows))
                found[feature.name] = {str(value): int(n) for value, n in counts.items() if n}
        return found

    def describe(self, point: Sequence[int]) -> dict[str, str]:
        """A point as text, by feature."""
        return {feature.name: feature.labels[cell] for feature, cell in zip(self.features, point, strict=True)}
