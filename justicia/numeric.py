"""Numbers of a column, whatever it holds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["floats_of", "numbers_of"]

_BEYOND = 2**1024
"""No float is as large."""


def numbers_of(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column in numbers, missing where a cell is empty or no number; an integer that no float holds is infinite.

    >>> import pandas as pd
    >>> numbers_of(pd.Series(["3", "x", 10**400], dtype=object)).tolist()
    [3.0, nan, inf]
    """
    import pandas as pd

    try:
        return pd.to_numeric(column, errors="coerce")
    except OverflowError:
        return pd.to_numeric(column.astype(object).map(_in_reach), errors="coerce")


def floats_of(column: pd.Series[Any]) -> np.ndarray:
    """The same as a float64 array, NaN where a number is missing."""
    return np.array(numbers_of(column).to_numpy(dtype=np.float64, na_value=np.nan))


def _in_reach(value: Any) -> Any:
    if type(value) is not int or abs(value) < _BEYOND:
        return value
    return math.inf if value > 0 else -math.inf
