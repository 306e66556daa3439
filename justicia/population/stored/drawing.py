"""Turn points of a stored population into people: rows of the table that it was fitted on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from justicia.population.domain import Feature
    from justicia.population.stored.file import PopulationFile, StoredGrouping

__all__ = ["StoredPeople", "drawn_values"]

_BEYOND = 1.0
_WHOLE = 2.0**63
"""Whole numbers from there on stay floats, which are whole anyway."""


class StoredPeople:
    """Draws values for the cells of a stored population.

    Parameters
    ----------
    file : PopulationFile
    grouping : StoredGrouping
    """

    def __init__(self, file: PopulationFile, grouping: StoredGrouping) -> None:
        self._file = file
        self._grouping = grouping

    def draw(self, points: np.ndarray, group: int, rng: np.random.Generator) -> pd.DataFrame:
        """One person a point, of the group at position `group`; columns as in the table."""
        import pandas as pd

        columns = self.features(points, group, rng)
        for feature in self._file.one_hot:
            if feature.name in columns:
                held = columns.pop(feature.name)
                for column, value in zip(feature.columns, feature.values, strict=True):
                    columns[column] = (held == value).astype(np.int64)
                for alias in feature.aliases:
                    columns.pop(alias, None)
        order = [name for name in self._file.columns if name in columns]
        return pd.DataFrame({name: columns[name] for name in (*order, *(set(columns) - set(order)))})

    def features(self, points: np.ndarray, group: int, rng: np.random.Generator) -> dict[str, pd.Series[Any]]:
        """Values of the features, and of the sensitive columns, by name."""
        features = self._grouping.everybody.domain.features[: points.shape[1]]
        columns = {
            feature.name: drawn_values(feature, points[:, position], rng) for position, feature in enumerate(features)
        }
        key = self._grouping.everybody.groups[group]
        for name, value in zip(self._grouping.sensitive, key, strict=True):
            if name not in columns and name not in self._file.bins:
                columns[name] = _series([_number_or_word(value)] * len(points))
        return columns


def drawn_values(feature: Feature, cells: np.ndarray, rng: np.random.Generator) -> pd.Series[Any]:
    """A value in each cell."""
    import pandas as pd

    if not feature.numeric:
        return _series(_words(feature, cells, rng))
    found = np.full(len(cells), np.nan)
    for cell in np.unique(cells).tolist():
        here = cells == cell
        if cell != feature.missing:
            found[here] = _numbers(feature, cell, int(here.sum()), rng)
    if feature.integers and feature.missing is None and np.abs(found).max(initial=0.0) < _WHOLE:
        return pd.Series(found.astype(np.int64))
    return pd.Series(found)


def _series(values: Any) -> pd.Series[Any]:
    """A column, of objects where its texts hold half of a surrogate pair, which no column of strings does."""
    import pandas as pd

    try:
        return pd.Series(values)
    except UnicodeEncodeError:
        return pd.Series(values, dtype=object)


def _numbers(feature: Feature, cell: int, n: int, rng: np.random.Generator) -> np.ndarray:
    if feature.members is not None:
        return rng.choice(np.array(feature.members[cell]), size=n)
    low, high = feature.ranges[cell] if feature.ranges is not None else (np.nan, np.nan)
    if np.isnan(low):
        # Of an interval that nobody was seen in, no more than its ends is known.
        edges = np.zeros(0) if feature.edges is None else feature.edges
        high = edges[cell] if cell < len(edges) else (edges[-1] + _BEYOND if len(edges) else 0.0)
        return np.full(n, high)
    if feature.integers and max(abs(low), abs(high)) < _WHOLE:
        return rng.integers(int(low), int(high), size=n, endpoint=True).astype(np.float64)
    return np.clip(low + (high - low) * rng.random(n), low, high)


def _words(feature: Feature, cells: np.ndarray, rng: np.random.Generator) -> Any:
    members: list[list[Any]] = [[] for _ in range(len(feature))]
    for value, cell in feature.cells.items():
        members[cell].append(value)
    found = np.empty(len(cells), dtype=object)
    for cell in np.unique(cells).tolist():
        here = np.flatnonzero(cells == cell)
        if cell == feature.missing:
            found[here] = np.nan
        else:
            held = members[cell] or [feature.labels[cell]]
            chosen = rng.integers(len(held), size=len(here))
            for row, value in zip(here.tolist(), chosen.tolist(), strict=True):
                found[row] = held[value]
    kinds = {type(value) for value in found}
    return found.astype(bool) if kinds == {bool} else found.astype(np.int64) if kinds == {int} else found


def _number_or_word(text: str) -> Any:
    """A sensitive value as the table has it: a number where it is written as one."""
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if np.isfinite(value) else text
    return text
