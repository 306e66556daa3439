"""Columns whose cells are single words or numbers; Parquet files and frames may hold lists and records beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import TableError
from justicia.words import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

__all__ = ["check_plain", "is_plain"]

_SEVERAL = (list, tuple, dict, set, frozenset, np.ndarray)


def _strange(column: pd.Series[Any]) -> Any:
    """The first cell that is no single value; None when there is none."""
    import pandas as pd

    if isinstance(column.dtype, (np.dtype, pd.StringDtype)) and column.dtype != object:
        return None
    values = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else column
    if pd.api.types.infer_dtype(values, skipna=True) in ("string", "boolean", "integer", "floating"):
        return None
    return next((value for value in values if isinstance(value, _SEVERAL)), None)


def is_plain(column: pd.Series[Any]) -> bool:
    """Whether every cell of a column is a single value, or empty.

    >>> import pandas as pd
    >>> is_plain(pd.Series(["a", None, 1])), is_plain(pd.Series(["a", ["b", "c"]]))
    (True, False)
    """
    return _strange(column) is None


def check_plain(frame: pd.DataFrame, names: Iterable[str | None]) -> None:
    """Refuse columns that are used and hold lists or the like.

    Parameters
    ----------
    frame : DataFrame
    names : iterable of (str or None)
        Columns that are used; those that are not in the frame are passed over.

    Raises
    ------
    TableError
        The message names the column and a cell of it.
    """
    for name in dict.fromkeys(names):
        if name is None or name not in frame.columns:
            continue
        found = _strange(frame[name])
        if found is not None:
            kind = {dict: "a record", np.ndarray: "a list"}.get(type(found), f"a {type(found).__name__}")
            words = shown(found.tolist() if isinstance(found, np.ndarray) else found, 40)
            raise TableError(
                f"column {name!r} holds values that are no single words or numbers, such as {words}, which is {kind}: "
                "make a column of each part of it that is used"
            )
