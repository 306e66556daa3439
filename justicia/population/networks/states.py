"""States of a variable, and the feature that they make of a column of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import PopulationFileError
from justicia.population.domain import Feature
from justicia.words import shown, value_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Interval",
    "State",
    "as_interval",
    "check_states",
    "edges_of",
    "feature_of",
    "group_texts",
    "state_texts",
    "with_both_ends",
]

_ENDS = re.compile(r"(<=|>)\s*(\S+)|\(\s*([^,\s]+)\s*,\s*([^,\s\]]+)\s*\]")
_MISSING = "(missing)"


@dataclass(frozen=True)
class Interval:
    """Numbers in a range.

    Attributes
    ----------
    low, high : float
        Ends; the upper one belongs to the range.
    closed : bool
        The lower one does, too.
    """

    low: float
    high: float
    closed: bool = False

    def __str__(self) -> str:
        low, high = value_text(self.low), value_text(self.high)
        if self.closed:
            return low if self.low == self.high else f"{low} to {high}"
        if np.isinf(self.low):
            return f"<= {high}"
        return f"> {low}" if np.isinf(self.high) else f"({low}, {high}]"


State = str | bool | int | float | Interval | None
"""A value, a range of numbers, or None where the value is missing."""


def as_interval(text: str) -> Interval | None:
    """The range that a text like ``<= 25``, ``(25, 40]`` or ``> 40`` names; None for other texts."""
    match = _ENDS.fullmatch(text.strip())
    if match is None:
        return None
    try:
        if match[1] is not None:
            end = float(match[2])
            return Interval(-np.inf, end) if match[1] == "<=" else Interval(end, np.inf)
        return Interval(float(match[3]), float(match[4]))
    except ValueError:
        return None


def check_states(name: str, states: Sequence[State]) -> tuple[State, ...]:
    """States that exclude each other.

    Raises
    ------
    PopulationFileError
        When there are none, two are the same, or ranges overlap or do not rise.
    """
    if not states:
        raise PopulationFileError(f"variable {shown(repr(name))} has no state")
    texts = state_texts(states)
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise PopulationFileError(f"variable {shown(repr(name))} has the state {shown(repr(twice))} twice")
    ranges = [state for state in states if isinstance(state, Interval)]
    if ranges and any(not isinstance(state, Interval) and state is not None for state in states):
        raise PopulationFileError(f"variable {shown(repr(name))} has both ranges of numbers and other values")
    for one in ranges:
        if np.isnan([one.low, one.high]).any() or one.high < one.low or (one.high == one.low and not one.closed):
            raise PopulationFileError(f"variable {shown(repr(name))}: the range {one} is empty")
    for before, after in pairwise(ranges):
        if after.low < before.high or (after.closed and after.low == before.high):
            raise PopulationFileError(
                f"variable {shown(repr(name))}: the range {after} does not lie above the one before it, {before}"
            )
    return tuple(states)


def state_texts(states: Sequence[State]) -> list[str]:
    """States as text, as values of sensitive columns are named in groups."""
    return [
        _MISSING if state is None else str(state) if isinstance(state, Interval) else value_text(state)
        for state in states
    ]


def edges_of(states: Sequence[State]) -> list[float] | None:
    """Edges at which ranges that cover all numbers cut them; None for states of another kind."""
    ranges = [state for state in states if isinstance(state, Interval)]
    if len(ranges) < max(len(states), 2) or any(one.closed for one in ranges):
        return None
    whole = np.isneginf(ranges[0].low) and np.isposinf(ranges[-1].high)
    joined = all(before.high == after.low for before, after in pairwise(ranges))
    return [one.high for one in ranges[:-1]] if whole and joined else None


def with_both_ends(states: Sequence[State]) -> list[State]:
    """The same states; ranges that have two ends hold both."""
    return [
        Interval(state.low, state.high, bool(np.isfinite([state.low, state.high]).all()))
        if isinstance(state, Interval)
        else state
        for state in states
    ]


def feature_of(name: str, states: Sequence[State], column: pd.Series[Any] | None) -> tuple[Feature, np.ndarray]:
    """The feature of a column whose cells are the states, and the state of each cell.

    Values are those of the column with the same text; others are numbers where they are all written as numbers and
    the column, when there is one, holds numbers.

    Parameters
    ----------
    name : str
    states : sequence of State
    column : Series, optional
        Of the table.

    Returns
    -------
    feature : Feature
    states : int array of shape (n_cells,)
    """
    missing = next((place for place, state in enumerate(states) if state is None), None)
    there = [place for place in range(len(states)) if place != missing]
    if there and isinstance(states[there[0]], Interval):
        return _ranges(name, [(place, states[place]) for place in there], missing, column)
    known = _values_of(column)
    values = [known.get(value_text(states[place]), known.get(value_text(states[place]).casefold())) for place in there]
    numeric = column is None or (column.dtype.kind in "iuf")
    numbers = [_number(states[place]) for place in there]
    if numeric and None not in numbers:
        return _numbers(name, there, [float(number) for number in numbers if number is not None], missing, column)
    held = {}
    for place, value in zip(there, values, strict=True):
        # What the column never holds is what it is written as.
        held[states[place] if value is None else value] = place
    labels = state_texts(states)
    representatives: list[Any] = [None] * len(states)
    for value, place in held.items():
        representatives[place] = value
    if missing is not None:
        representatives[missing] = np.nan
    feature = Feature(name, tuple(labels), tuple(representatives), cells=held, missing=missing)
    return feature, np.arange(len(states))


def group_texts(name: str, states: Sequence[State], column: pd.Series[Any] | None) -> list[str]:
    """States as groups name them: as the column writes its values."""
    known = _values_of(column)
    texts = []
    for text in state_texts(states):
        value = known.get(text, known.get(text.casefold()))
        texts.append((text if value is None else value_text(value)).strip())
    if len(set(texts)) < len(texts):
        raise PopulationFileError(f"variable {shown(repr(name))} has two states for one value of the column")
    return texts


def _values_of(column: pd.Series[Any] | None) -> dict[str, Any]:
    """Values of a column by their text; truth values also by the text in small letters."""
    if column is None:
        return {}
    try:
        distinct = list(column.dropna().unique())
    except TypeError:
        return {}
    plain = [value.item() if isinstance(value, np.generic) else value for value in distinct]
    found = {value_text(value).casefold(): value for value in plain if isinstance(value, bool)}
    return found | {value_text(value): value for value in plain}


def _number(state: State) -> float | None:
    if isinstance(state, bool) or state is None or isinstance(state, Interval):
        return None
    try:
        number = float(state)
    except ValueError:
        return None
    return number + 0.0 if np.isfinite(number) else None


def _numbers(
    name: str, there: list[int], numbers: list[float], missing: int | None, column: pd.Series[Any] | None
) -> tuple[Feature, np.ndarray]:
    """One cell a number, in rising order."""
    order = np.argsort(numbers, kind="stable")
    values = np.array(numbers)[order]
    if (np.diff(values) == 0).any():
        twice = values[:-1][np.diff(values) == 0][0]
        raise PopulationFileError(f"variable {shown(repr(name))} has two states for the number {twice:g}")
    labels = [value_text(float(value)) for value in values]
    whole = bool((values == np.rint(values)).all()) and (column is None or column.dtype.kind in "iu")
    feature = _numeric(name, labels, values, np.stack([values, values], axis=1), missing, whole)
    return feature, np.array([*(there[place] for place in order), *([] if missing is None else [missing])])


def _ranges(
    name: str, held: list[tuple[int, Any]], missing: int | None, column: pd.Series[Any] | None
) -> tuple[Feature, np.ndarray]:
    intervals: list[Interval] = [one for _, one in held]
    ends = np.array([one.high for one in intervals])
    ranges = np.array([(one.low, one.high) if one.closed else (np.nan, np.nan) for one in intervals])
    ends_known = ranges[~np.isnan(ranges)]
    whole = column is not None and column.dtype.kind in "iu" and bool((ends_known == np.rint(ends_known)).all())
    feature = _numeric(name, [str(one) for one in intervals], ends, ranges, missing, whole)
    return feature, np.array([*(place for place, _ in held), *([] if missing is None else [missing])])


def _numeric(
    name: str, labels: list[str], ends: np.ndarray, ranges: np.ndarray, missing: int | None, whole: bool
) -> Feature:
    hole = missing is not None
    return Feature(
        name, (*labels, *([_MISSING] if hole else [])), (*ends.tolist(), *([np.nan] if hole else [])), ends[:-1],
        missing=len(labels) if hole else None, by_value=True, ranges=ranges, integers=whole,
    )  # fmt: skip
