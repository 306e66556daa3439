"""Integers that are too long for any float."""

from __future__ import annotations

import contextlib
import math
import sys
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["with_finite_integers"]

_LARGEST = int(sys.float_info.max)


def with_finite_integers(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with integers that no float holds taken as infinite, as a parser takes ``1e400``.

    A column with one becomes a column of floats; one whose integers are merely longer than 64 bits stays as it is.

    Parameters
    ----------
    frame : DataFrame
        Is not changed.
    """
    found: dict[int, np.ndarray] = {}
    for place, dtype in enumerate(frame.dtypes):
        if dtype.kind != "O":
            continue
        column = frame.iloc[:, place]
        first = column.first_valid_index()
        # A parser gives a column of nothing else, or one of words.
        if first is None or type(column[first]) is not int:
            continue
        if any(type(value) is int and abs(value) > _LARGEST for value in column):
            numbers = [_as_float(value) if type(value) is int else value for value in column]
            with contextlib.suppress(TypeError, ValueError):  # words between them
                found[place] = np.array(numbers, dtype=np.float64)
    if found:
        frame = frame.copy(deep=False)
        for place, floats in found.items():
            frame.isetitem(place, floats)
    return frame


def _as_float(value: int) -> float:
    return float(value) if abs(value) <= _LARGEST else math.inf if value > 0 else -math.inf
