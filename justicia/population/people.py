"""Turn domain points into people: rows of the frame that the model's `predict` takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import InputError
from justicia.population.domain import Domain
from justicia.words import listed

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from justicia.population.domain import Feature

__all__ = ["People"]


class People:
    """Draws raw values for domain points.

    A feature's value is drawn from the rows that lie in the same cell, those of the group when it has any there; the
    model cannot tell them apart. A column that the model takes and does not depend on is drawn from the group's rows.

    Parameters
    ----------
    frame : DataFrame of shape (n_rows, n_columns)
    domain : Domain
    points : int array of shape (n_rows, n_features)
    members : callable
        Gives the rows of the group at a position, int array.
    finish : object, optional
        Its method `transform` turns the result into the columns that the model takes.
    repeats : int64 array of shape (n_rows,), optional
        Rows of the table that each row stands for.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        domain: Domain,
        points: np.ndarray,
        members: Callable[[int], np.ndarray],
        finish: Any = None,
        repeats: np.ndarray | None = None,
    ) -> None:
        self._frame = frame
        self._domain = domain
        self._points = points
        self._members = members
        self._finish = finish
        self._repeats = repeats

    def observed(self) -> Domain:
        """The domain, with the smallest and largest number and the unseen values that people have in each cell.

        Raises
        ------
        InputError
            When rows stand for others whose numbers are not the same.
        """
        cut = [one.name for one in self._domain.features if one.numeric and one.ranges is None and not one.by_value]
        if self._repeats is not None and cut:
            raise InputError(
                f"the table was read in batches, so the smallest and largest {listed(cut, 3)} of each cell are not "
                "known: read it whole, with --no-stream, to write its population"
            )
        return Domain(
            tuple(
                _observed(feature, self._frame[feature.name], self._points[:, position])
                for position, feature in enumerate(self._domain.features)
            )
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the people."""
        held = self._frame.columns if self._finish is None else self._finish.outputs
        return tuple(str(name) for name in held)

    def draw(self, points: np.ndarray, group: int, rng: np.random.Generator) -> pd.DataFrame:
        """One person a point, of the group at position `group`.

        Parameters
        ----------
        points : int array of shape (n, n_features)
        group : int
        rng : Generator

        Returns
        -------
        DataFrame of shape (n, n_columns)
        """
        import pandas as pd

        members = self._members(group)
        position = {name: index for index, name in enumerate(self._domain.names)}
        columns = {}
        for name in self._frame.columns:
            if name in position:
                columns[name] = self._values(position[name], points[:, position[name]], members, rng)
            else:
                columns[name] = self._frame[name].iloc[self._chosen(members, len(points), rng)].reset_index(drop=True)
        people = pd.DataFrame(columns)
        return people if self._finish is None else self._finish.transform(people)

    def _values(
        self, position: int, cells: np.ndarray, members: np.ndarray, rng: np.random.Generator
    ) -> pd.Series[Any]:
        import pandas as pd

        feature = self._domain.features[position]
        column = self._frame[feature.name]
        own = self._points[:, position]
        rows = np.empty(len(cells), dtype=np.int64)
        extra: list[Any] = []
        for cell in np.unique(cells):
            wanted = cells == cell
            source = members[own[members] == cell]
            if not len(source):
                source = np.flatnonzero(own == cell)
            if len(source):
                rows[wanted] = self._chosen(source, int(wanted.sum()), rng)
            else:
                rows[wanted] = len(column) + len(extra)
                extra.append(feature.representatives[cell])
        if extra:
            column = pd.concat([column.astype(object), pd.Series(extra, dtype=object)]).infer_objects()
        return column.iloc[rows].reset_index(drop=True)

    def _chosen(self, rows: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        """Some of the rows, each as often as it occurs."""
        if self._repeats is None:
            return rng.choice(rows, size=n)
        here = self._repeats[rows]
        return rng.choice(rows, size=n, p=here / here.sum())


def _observed(feature: Feature, column: pd.Series[Any], cells: np.ndarray) -> Feature:
    if feature.numeric:
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        known = ~np.isnan(numbers)
        integers = bool((numbers[known] == np.rint(numbers[known])).all())
        if feature.ranges is not None:
            return replace(feature, integers=integers)
        ranges = np.full((feature.n_intervals, 2), np.nan)
        for cell in np.unique(cells[known]).tolist():
            held = numbers[known & (cells == cell)]
            ranges[cell] = held.min() + 0.0, held.max() + 0.0
        return replace(feature, ranges=ranges, integers=integers)
    if feature.unseen is None:
        return feature
    strange = column[cells == feature.unseen].unique().tolist()
    return replace(feature, cells={**feature.cells, **dict.fromkeys(strange, feature.unseen)})
