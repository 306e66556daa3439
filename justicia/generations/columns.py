"""Columns of a table as codes: labels by the declared domain, runs by their first row, steps as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import TableError
from justicia.generations.labels import Labels, label_text
from justicia.numeric import numbers_of
from justicia.words import counted, did_you_mean, shown

if TYPE_CHECKING:
    import pandas as pd

    from justicia.generations.spec import Attribute

__all__ = ["Finding", "coded", "label_codes", "step_numbers"]


@dataclass(frozen=True)
class Finding:
    """Something about a table that its reader must know.

    Attributes
    ----------
    kind : str
        Such as "off_domain" or "duplicate_step".
    level : {"fault", "warning", "note"}
        A fault has to be mended before any sequence is judged.
    column : str or None
    count : int
        Rows, or values, that it is about.
    text : str
        One line: what, where, and what to do.
    """

    kind: str
    level: str
    column: str | None
    count: int
    text: str


def coded(column: pd.Series[Any]) -> tuple[np.ndarray, list[Any]]:
    """Codes of a column's values, -1 for a blank, and the values in the order of their codes."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return np.asarray(column.cat.codes), list(column.cat.categories)
    if column.dtype == object and any(isinstance(value, (list, np.ndarray)) for value in column.head(1000)):
        held = [tuple(value) if isinstance(value, (list, np.ndarray)) else value for value in column]
        column = pd.Series(held, dtype=object, name=column.name)
    if column.dtype == object:
        # 1, 1.0 and True are the same to a hash table, and not to a reader.
        column = pd.Series([_text_of_odd(value) for value in column], dtype=object, name=column.name)
    try:
        codes, values = pd.factorize(column, use_na_sentinel=True)
    except TypeError:
        raise TableError(f"column {shown(column.name)} holds things that are no labels, such as mappings") from None
    return codes, list(values)


def _text_of_odd(value: Any) -> Any:
    """Truth values and numbers with a point as text; a number that is none stays a blank."""
    return label_text(value) if isinstance(value, (bool, float)) and not np.isnan(value) else value


def label_codes(
    column: pd.Series[Any], attribute: Attribute, off_domain: str, rows: np.ndarray | None
) -> tuple[Labels, list[Finding]]:
    """The labels of an attribute, and what is odd about them.

    Parameters
    ----------
    column : Series
        Of the rows that count.
    attribute : Attribute
    off_domain : {"error", "none", "unknown"}
    rows : int array or None
        The rows' places in the table; None when they are all there.
    """
    codes, values = coded(column)
    n = len(attribute.domain)
    place = {value: position for position, value in enumerate(attribute.domain)}
    shows = [np.eye(n, dtype=bool), np.zeros((2, n), dtype=bool)]
    may = [np.eye(n, dtype=bool), np.ones((1, n), dtype=bool), np.zeros((1, n), dtype=bool)]
    kinds: dict[tuple[frozenset[int], bool], int] = {(frozenset([value]), False): value for value in range(n)}
    kinds[frozenset(), True], kinds[frozenset(), False] = n, n + 1
    kind_of = np.full(len(values) + 1, n, dtype=np.int64)  # The last entry is the blank's, whose code is -1.
    wrong: dict[int, list[str]] = {}
    blank, unknown, rewritten = np.zeros((3, len(values) + 1), dtype=bool)
    blank[-1] = True
    for position, value in enumerate(values):
        parts = _parts(value, attribute.separator)
        shown_values: set[int] = set()
        for part in parts:
            text = "" if part is None else label_text(part)
            if text == "":
                blank[position] = True
            elif text in attribute.unknown:
                unknown[position] = True
            elif text in place:
                shown_values.add(place[text])
                rewritten[position] |= isinstance(part, str) and part != text
            else:
                wrong.setdefault(position, []).append(text)
        uncertain = bool(blank[position] or unknown[position] or (position in wrong and off_domain == "unknown"))
        key = (frozenset(shown_values), uncertain)
        if key not in kinds:
            kinds[key] = len(kinds)
            row = np.zeros((1, n), dtype=bool)
            row[0, list(shown_values)] = True
            shows.append(row)
            may.append(row | uncertain)
        kind_of[position] = kinds[key]
    counts = np.bincount(codes.astype(np.int64) + 1, minlength=len(values) + 1)
    counts = np.append(counts[1:], counts[0])
    small = np.int8 if len(kinds) < 127 else np.int32
    labels = Labels(attribute.domain, kind_of.astype(small)[codes], np.concatenate(shows), np.concatenate(may))
    findings = _findings(attribute, codes, counts, wrong, blank, unknown, rewritten, off_domain, rows)
    return labels, findings


def _parts(value: Any, separator: str | None) -> tuple[Any, ...]:
    if isinstance(value, tuple):
        return value
    if separator is not None and isinstance(value, str) and separator in value:
        return tuple(value.split(separator))
    return (value,)


def _findings(
    attribute: Attribute,
    codes: np.ndarray,
    counts: np.ndarray,
    wrong: dict[int, list[str]],
    blank: np.ndarray,
    unknown: np.ndarray,
    rewritten: np.ndarray,
    off_domain: str,
    rows: np.ndarray | None,
) -> list[Finding]:
    name, found = attribute.name, []

    def first_row(position: int) -> int:
        code = position if position < len(counts) - 1 else -1
        place = int(np.argmax(codes == code))
        return (place if rows is None else int(rows[place])) + 1

    held = [position for position in wrong if counts[position]]
    if held:
        total = int(counts[held].sum())
        examples = [f"{shown(wrong[one][0])!r} (row {first_row(one)}{_times(int(counts[one]))})" for one in held[:5]]
        more = f" and {len(held) - 5} more" if len(held) > 5 else ""
        hint = did_you_mean(wrong[held[0]][0], attribute.domain)
        way = {
            "error": "; correct the label, declare the value, name it as --unknown, or pass --off-domain none|unknown",
            "none": "; taken as showing none of the values",
            "unknown": "; taken as unknown",
        }[off_domain]
        found.append(
            Finding(
                "off_domain",
                "fault" if off_domain == "error" else "warning",
                name,
                total,
                f"{counted(total, 'label')} of {shown(name)} outside its domain: "
                f"{', '.join(examples)}{more}{hint}{way}",
            )
        )
    for kind, mask, word in (("blank", blank, "blank"), ("unknown", unknown, "unknown")):
        held = [int(position) for position in np.flatnonzero(mask & (counts > 0))]
        total = int(counts[held].sum())
        if total:
            row = min(first_row(position) for position in held[:100])
            taken = " and taken as unknown" if kind == "blank" else ""
            are = "is" if total == 1 else "are"
            text = f"{counted(total, 'label')} of {shown(name)} {are} {word}{taken}, first in row {row}: "
            found.append(Finding(kind, "warning", name, total, text + "answers are intervals where that matters"))
    total = int(counts[rewritten].sum())
    if total:
        text = f"{counted(total, 'label')} of {shown(name)} read without outer blanks and in composed Unicode letters"
        found.append(Finding("unicode", "note", name, total, text))
    return found


def _times(count: int) -> str:
    return "" if count == 1 else f", {count:,} times"


def step_numbers(column: pd.Series[Any], name: str, rows: np.ndarray | None) -> tuple[np.ndarray, list[Finding]]:
    """Steps as numbers, and a fault when one is blank or no number; the order of moments in time counts, too."""
    import pandas as pd

    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu":
        return _wide(column.to_numpy()), []
    if column.dtype.kind in "mM":
        numbers = column.astype("int64").to_numpy()
        bad = column.isna().to_numpy()
    else:
        if isinstance(column.dtype, pd.CategoricalDtype):
            column = column.astype(object)
        held = numbers_of(column)
        if isinstance(held.dtype, np.dtype) and held.dtype.kind in "iu":
            return _wide(held.to_numpy()), []
        numbers = held.to_numpy(dtype=np.float64, na_value=np.nan)
        bad = ~np.isfinite(numbers)
        if not bad.any() and np.array_equal(numbers, np.trunc(numbers)) and np.abs(numbers).max(initial=0) < 2**53:
            numbers = numbers.astype(np.int64)
    if not bad.any():
        return numbers, []
    first = int(np.argmax(bad))
    row = (first if rows is None else int(rows[first])) + 1
    value = column.iloc[first]
    said = "is blank" if value is None or pd.isna(value) or shown(value) == "" else f"is no number: {shown(value)!r}"
    total = int(bad.sum())
    text = f"the step ({shown(name)}) of row {row} {said}; {counted(total, 'such row')}"
    return numbers, [Finding("step", "fault", name, total, f"{text}: number the generations of a run in their order")]


def _wide(numbers: np.ndarray) -> np.ndarray:
    """Whole numbers whose differences do not overflow."""
    return numbers if numbers.dtype.itemsize == 8 else numbers.astype(np.int64)
