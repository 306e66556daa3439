"""Numbers of a column, whatever it holds; and whether the numbers of an array of texts are characters."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["are_characters", "floats_of", "numbers_of"]

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


def are_characters(texts: np.ndarray) -> bool:
    """Whether an array of texts, 32 bits a character, holds characters alone; others end Python's own functions.

    >>> are_characters(np.array(["a", "ü"])), are_characters(np.array([0x110000], dtype=np.uint32).view("<U1"))
    (True, False)
    """
    numbers = np.frombuffer(texts.tobytes(), dtype=np.dtype(np.uint32).newbyteorder(texts.dtype.byteorder))
    return not (numbers > sys.maxunicode).any()
