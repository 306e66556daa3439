"""Which cells of a model the people in a cell of a population may be in.

A population that was fitted before the model is known has cells of its own. Where such a cell lies inside one cell of
the model, nothing is lost; where the model tells people inside of it apart, their outcome is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import InputError
from justicia.words import shown

if TYPE_CHECKING:
    from justicia.population.domain import Feature

__all__ = ["known_values", "reach"]


def known_values(feature: Feature) -> list[Any]:
    """Values that bound the feature's cells, or are all that there is in them; missing ones apart."""
    if not feature.numeric:
        return list(feature.cells)
    found: set[float] = {float(edge) for edge in feature.edges}  # type: ignore[union-attr]
    if feature.ranges is not None:
        found |= set(feature.ranges[~np.isnan(feature.ranges)].tolist())
    for run in feature.members or ():
        found |= set(run)
    return sorted(found)


def reach(fine: Feature, model: Feature, possible: np.ndarray) -> np.ndarray:
    """For each cell of the population, the model's cells that its people may be in.

    Parameters
    ----------
    fine : Feature
        Of the population.
    model : Feature
        Of the model, by the same name. Where its cells are known by value, `known_values` of the population's feature
        are among the values.
    possible : bool array of shape (n_cells,)
        Cells of the population that have people in some group; it does not matter where others are.

    Returns
    -------
    bool array of shape (n_cells, n_model_cells), with at least one cell in each row

    Raises
    ------
    InputError
        When the model refuses values of the population, or does not say what it makes of values inside a cell.
    """
    touched = np.zeros((len(fine), len(model)), dtype=bool)
    for cell in range(len(fine)):
        try:
            _touch(touched[cell], fine, model, cell)
        except InputError:
            if possible[cell]:
                raise
            touched[cell] = False
        if not possible[cell]:
            # Nobody is there: one place is as good as another.
            touched[cell] = np.arange(len(model)) == int(np.argmax(touched[cell]))
    return touched


def _touch(row: np.ndarray, fine: Feature, model: Feature, cell: int) -> None:
    if cell == fine.missing:
        _one(row, model, np.nan, model.missing, "(missing)")
    elif cell == fine.unseen and not _values_of(fine, cell):
        known = {held for value, held in model.cells.items() if value not in fine.cells}
        row[list(known | ({model.unseen} if model.unseen is not None else set()))] = True
        if model.numeric or not row.any():
            row[:] = True
    elif not fine.numeric:
        for value in _values_of(fine, cell):
            _value(row, model, value)
    elif fine.members is not None:
        for value in fine.members[cell]:
            _value(row, model, value)
    else:
        _interval(row, fine, model, cell)


def _values_of(fine: Feature, cell: int) -> list[Any]:
    return [value for value, held in fine.cells.items() if held == cell]


def _value(row: np.ndarray, model: Feature, value: Any) -> None:
    if not model.numeric:
        _one(row, model, value, model.cells.get(value, model.unseen), value)
        return
    try:
        number = float(value)
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise InputError(
            f"column {model.name!r} holds {shown(repr(value))} in the population, and the model takes it as a number"
        )
    row[_cell(model, number)] = True


def _cell(model: Feature, number: float) -> int:
    """The model's cell of a number; one that it knows, where it knows single values only."""
    cell = int(np.searchsorted(model.edges, number, side="left"))  # type: ignore[call-overload]
    if model.by_value and model.ranges is not None:
        low, high = model.ranges[cell]
        known = low <= number <= high if model.members is None else number in model.members[cell]
        if not known:
            raise InputError(
                f"column {model.name!r} holds {number:g} in the population, and nothing is known of what the model "
                "makes of it: the table's column has a type that cannot hold it"
            )
    return cell


def _one(row: np.ndarray, model: Feature, value: Any, cell: int | None, text: object) -> None:
    if cell is None:
        raise InputError(
            f"column {model.name!r} holds {shown(text)} in the population, and the model refuses such values: fit the "
            "population on rows that it takes"
        )
    row[cell] = True


def _interval(row: np.ndarray, fine: Feature, model: Feature, cell: int) -> None:
    """People between two numbers, of which no more is known."""
    edges = fine.edges
    if edges is None:
        raise TypeError(f"{fine.name} is no feature of numbers")
    low, high = fine.ranges[cell] if fine.ranges is not None else (np.nan, np.nan)
    closed = not np.isnan(low)
    if not closed:
        low = edges[cell - 1] if cell else -np.inf
        high = edges[cell] if cell < len(edges) else np.inf
    if closed and low == high:
        _value(row, model, float(low))
        return
    if not model.numeric:
        inside = [held for value, held in model.cells.items() if _between(value, low, high, closed)]
        row[inside] = True
        if model.unseen is not None:
            row[model.unseen] = True
        elif not inside:
            raise InputError(
                f"column {model.name!r} holds numbers between {low:g} and {high:g} in the population, and the model "
                "refuses such values: fit the population on rows that it takes"
            )
        return
    if model.members is not None or (model.by_value and not closed):
        raise InputError(
            f"the score rises and falls with column {model.name!r}, so that nothing is known of it between {low:g} and "
            f"{high:g}, which share a cell of the population: fit the population with more --cells, or --list-numbers"
        )
    if closed:
        row[_cell(model, float(low)) : _cell(model, float(high)) + 1] = True
        return
    first = int(np.searchsorted(model.edges, low, side="right"))  # type: ignore[call-overload]
    last = int(np.searchsorted(model.edges, high, side="left"))  # type: ignore[call-overload]
    row[first : last + 1] = True


def _between(value: Any, low: float, high: float, closed: bool) -> bool:
    if isinstance(value, str):
        return False
    return bool(low <= value <= high if closed else low < value <= high)
