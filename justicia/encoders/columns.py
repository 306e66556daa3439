"""Source columns while they are cut: which values they have, and as what they are sent through transformers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import UnsupportedModelError
from justicia.population.domain import Feature

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import pandas as pd

    from justicia.encoders.preprocessing import Block

__all__ = [
    "Column",
    "as_column",
    "fills_of",
    "number_column",
    "outputs_of",
    "probe_frame",
    "settle_values",
    "value_column",
    "wires_of",
]

_LARGEST_WHOLE = 2**53
_LARGEST_INPUT = 1e30
"""Larger float32 numbers would become infinite in a scaler, and the next step refuses infinity."""


@dataclass
class Column:
    """A source column while it is cut.

    Attributes
    ----------
    name : str
    outputs : list of (Block, int, int)
        Block, position in it, and position in the estimator's matrix, of everything that depends on the column.
    values : list
        One value of each cell, special cells apart.
    edges : float64 array, or None
        Of a numeric column.
    missing, unseen : object
        What stands for them.
    takes_missing, takes_unseen : bool
    whole : bool
        Integers that floats cannot tell apart.
    by_value : bool
        Every value of the table is a cell.
    """

    name: str
    outputs: list[tuple[Block, int, int]]
    values: list[Any]
    edges: np.ndarray | None
    missing: Any = None
    unseen: Any = None
    takes_missing: bool = False
    takes_unseen: bool = False
    whole: bool = False
    by_value: bool = False

    def candidates(self) -> list[Any]:
        """One value of each cell."""
        extra = [self.unseen] if self.takes_unseen else []
        return [*self.values, *extra, *([self.missing] if self.takes_missing else [])]


def settle_values(column: Column, series: pd.Series[Any]) -> None:
    """Categories of an encoded column; other columns are numbers, cut later."""
    held = [block.categories[column.name] for block, _, _ in column.outputs if column.name in block.categories]
    missing = series.isna()
    # scikit-learn sees the NA of a nullable column of numbers as NaN.
    text = series.dtype.kind not in "biuf"
    column.missing = series[missing].iloc[0] if missing.any() and text else np.nan
    if text and missing.any():
        kinds = {type(value).__name__ for value in series[missing]}
        if len(kinds) > 1 or (not held and "NoneType" in kinds):
            raise UnsupportedModelError(
                f"column {column.name!r} marks empty cells with {' and '.join(sorted(kinds))}, which scikit-learn "
                "treats apart: use NaN alone, in fit and here"
            )
    if not held:
        column.missing = np.nan
        column.edges = np.zeros(0)
        if column.by_value and _is_whole(series):
            # As floats such numbers would run together: each is a category.
            column.edges, column.whole = None, True
            column.values = series.drop_duplicates().dropna().tolist()
        elif column.by_value:
            column.values = _numbers(series)
            column.edges = np.array(column.values[:-1], dtype=np.float64)
        return
    known: dict[Any, None] = {}
    for array in (array for arrays in held for array in arrays):
        known.update(dict.fromkeys(value for value in array.tolist() if not _is_missing(value)))
    if any(not wire.stepped for wire in wires_of(column)) or not any(held):
        # The number itself reaches the model as well: every number of the table is a category of its own.
        known.update(dict.fromkeys(series[~missing].unique().tolist()))
    else:
        column.unseen = _fresh(list(known))
    column.values = list(known)
    # Beside NaN such numbers would become floats and run together; a column of integers has no empty cells.
    column.whole = not text and any(isinstance(value, int) and abs(value) > _LARGEST_WHOLE for value in known)


def _is_whole(series: pd.Series[Any]) -> bool:
    """Whether a column holds integers that floats cannot tell apart."""
    if not str(series.dtype).lower().lstrip("u").startswith("int"):
        return False
    held = series.dropna()
    return bool(len(held) and max(abs(int(held.max())), abs(int(held.min()))) > _LARGEST_WHOLE)


def _numbers(series: pd.Series[Any]) -> list[float]:
    """Distinct numbers of a column, ascending; one that the column may hold when it is empty."""
    try:
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        # Text is refused in the words in which the domain refuses it.
        Feature(str(series.name), ("any number",), (0.0,), np.zeros(0)).cells_of(series)
        numbers = series.astype(object).where(series.notna(), np.nan).to_numpy(dtype=np.float64)
    numbers = np.unique(numbers)
    held: list[float] = numbers[~np.isnan(numbers)].tolist()
    return held or [0.0]


def wires_of(column: Column) -> list[Any]:
    """The wires of a column's outputs."""
    return [block.wires[position] for block, position, _ in column.outputs]


def _is_missing(value: Any) -> bool:
    import pandas as pd

    return bool(pd.isna(value))


def _fresh(known: list[Any]) -> Any:
    """A value of the same kind that is not in `known`; None when there is none."""
    if all(isinstance(value, bool) for value in known):
        return None
    if all(isinstance(value, (int, float)) for value in known):
        largest, least = max(known), min(known)
        for value in (
            largest + 1,
            least - 1,
            float(np.nextafter(largest, np.inf)),
            float(np.nextafter(least, -np.inf)),
        ):
            if np.isfinite(value) and value not in known:
                return value
        return None
    name = "(unseen)"
    while name in known:
        name += "'"
    return name


def fills_of(blocks: list[Block], columns: Mapping[str, Column], frame: pd.DataFrame) -> dict[str, Any]:
    """A value of each column that its encoders know, for rows where the column does not matter."""
    fills: dict[str, Any] = {}
    for block in blocks:
        for name in block.columns:
            arrays = [array for array in block.categories.get(name, []) if len(array)]
            if arrays:
                fills[name] = arrays[0].tolist()[0]
            elif name in columns and columns[name].values:
                fills[name] = columns[name].values[0]
            else:
                fills.setdefault(name, _some_number(frame[name]))
    return fills


def _some_number(series: pd.Series[Any]) -> float:
    """A number of the column, so that no step refuses it; 0 when there is none."""
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iuf":
        numbers = series.to_numpy()
        known = numbers[:1] if series.dtype.kind != "f" else numbers[~np.isnan(numbers)][:1]
        return float(known[0]) if len(known) else 0.0
    first = series.first_valid_index()
    value = None if first is None else series.loc[first]
    return float(value) if isinstance(value, (bool, int, float, np.number, np.bool_)) else 0.0


def probe_frame(
    block: Block,
    candidates: Mapping[str, Any],
    fills: Mapping[str, Any],
    frame: pd.DataFrame,
    n_rows: int,
    by_value: Collection[str] = (),
) -> pd.DataFrame:
    """Rows for `block` that hold the candidates of each column, padded with its fill."""
    import pandas as pd

    built = {}
    for name in block.columns:
        values = candidates.get(name, [])
        fill = fills[name]
        if not len(values) and frame[name].dtype.kind == "f":
            # A wider type than the table's would change the arithmetic of the whole block.
            built[name] = pd.Series(np.full(n_rows, float(fill))).astype(frame[name].dtype)
        elif isinstance(values, np.ndarray):
            padded = np.full(n_rows, values[0])
            padded[: len(values)] = values
            built[name] = number_column(padded, frame[name], of_table=name in by_value)
        else:
            listed = [*values, *([fill] * (n_rows - len(values)))]
            built[name] = value_column(listed, frame[name], [fill, *listed])
    return pd.DataFrame(built)


def outputs_of(
    block: Block,
    candidates: Mapping[str, Any],
    fills: Mapping[str, Any],
    frame: pd.DataFrame,
    n_rows: int,
    by_value: Collection[str] = (),
) -> np.ndarray:
    """What `block` makes of the candidates of each column, padded with its fill.

    Returns
    -------
    float64 array of shape (n_rows, n_outputs)

    Raises
    ------
    ValueError, TypeError
        When a transformer refuses a value.
    """
    plain = _plain_numbers(block, candidates, fills, frame, n_rows)
    return block.apply(probe_frame(block, candidates, fills, frame, n_rows, by_value)) if plain is None else plain


def _plain_numbers(
    block: Block, candidates: Mapping[str, Any], fills: Mapping[str, Any], frame: pd.DataFrame, n_rows: int
) -> np.ndarray | None:
    """The same where columns of numbers go through no step, which needs no table; None elsewhere."""
    if block.steps or block.weight != 1.0:
        return None
    made = np.empty((n_rows, len(block.columns)))
    for position, name in enumerate(block.columns):
        column, values, fill = frame[name], candidates.get(name, []), fills[name]
        if not isinstance(column.dtype, np.dtype) or column.dtype.kind not in "iuf":
            return None
        padding = values[0] if isinstance(values, np.ndarray) and len(values) else fill
        if not all(isinstance(value, (int, float, np.number)) for value in (padding, *values)):
            return None
        held = np.full(n_rows, float(padding))
        held[: len(values)] = values
        made[:, position] = as_column(held, column) if isinstance(values, np.ndarray) or not len(values) else held
    return made


def value_column(values: Sequence[Any], like: pd.Series[Any], known: Sequence[Any]) -> pd.Series[Any]:
    """Values in the type in which an encoder gets them: objects when the column `like` or any `known` value is text."""
    import pandas as pd

    text = like.dtype == object or any(isinstance(value, str) for value in known)
    return pd.Series(values, dtype=object) if text else pd.Series(values)


def number_column(values: np.ndarray, like: pd.Series[Any], *, of_table: bool) -> pd.Series[Any]:
    """Numbers in the type in which a transformer gets them; those of the table in the very type of its column.

    A function of one's own may take integers and booleans for something else than the same numbers as floats.
    """
    import pandas as pd

    kind = str(like.dtype).lower()
    if of_table and (like.dtype.kind in "iub" or kind in ("boolean", "float64", "float32")):
        held = pd.Series(values)
        if pd.api.types.is_extension_array_dtype(like.dtype):
            return held.where(held.notna(), None).astype(like.dtype)
        if not np.isnan(values).any():
            return held.astype(like.dtype)
    return pd.Series(as_column(values, like))


def as_column(values: np.ndarray, like: pd.Series[Any]) -> np.ndarray:
    """Numbers in the type in which a transformer gets them from the column `like`."""
    for small in (np.float32, np.float16):
        if like.dtype == small:
            limit = min(float(np.finfo(small).max), _LARGEST_INPUT)
            return np.clip(values, -limit, limit).astype(small)
    return values
