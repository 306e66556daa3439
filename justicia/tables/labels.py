"""The column of the true outcome: the one asked for, or the one that holds the model's classes, in whatever words."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from justicia.errors import LabelError, TableError
from justicia.tables.plain import is_plain
from justicia.tables.yes_no import few_values, read_yes_no
from justicia.words import did_you_mean, listed, shown, value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    import pandas as pd

    from justicia.tables.reading import Table

__all__ = ["NO_LABEL", "check_label", "find_label", "folded"]

logger = logging.getLogger(__name__)

NO_LABEL = "none"
"""In place of a column's name: there is no true outcome, though a column looks like one."""


def check_label(label: str, columns: Collection[str]) -> str | None:
    """The column of the true outcome that was asked for; None when the answer is that there is none.

    Raises
    ------
    TableError
        When there is no such column.
    """
    if label in columns:
        return label
    if label == NO_LABEL:
        return None
    raise TableError(f"label column {label!r} is not in the table{did_you_mean(label, columns)}")


def find_label(
    table: Table, label: str | None, classes: Sequence[Any], model_columns: Sequence[str], sensitive: set[str]
) -> str | None:
    """The label's column: the one asked for, the description's, or the one column that holds the model's classes."""
    frame = table.people
    columns = [str(name) for name in frame.columns]
    if label is not None:
        return check_label(label, columns)
    if table.description is not None and table.description.label in columns:
        return table.description.label
    wanted = {value_text(value) for value in classes}
    taken = set(model_columns) | sensitive
    found = [name for name in columns if name not in taken and _holds_classes(frame[name], wanted)]
    if len(found) == 1:
        logger.info("label %s is found: the column that holds the model's classes; override with --label", found[0])
        return found[0]
    free = [name for name in columns if name not in taken]
    if not found:
        found = _other_words(frame, free, sorted(wanted))
        if len(found) == 1:
            return found[0]
    if not found:
        near = {folded(text) for text in wanted}
        for name in free:
            if _holds_classes(frame[name], near, folded):
                texts = [value_text(value) for value in frame[name].dropna().unique()]
                first = next((text for text in texts if text.strip() not in wanted), texts[0])
                raise LabelError(
                    f"column {name!r} holds {shown(first)!r}, which is no class of the model"
                    f"{did_you_mean(first, sorted(wanted))}; write the label as the model's classes are written"
                )
    reason = f"{listed(found)} could all be it" if found else "no other column holds the model's classes"
    if not found and len(wanted) == 2:
        two = [name for name in free if len(few_values(frame[name])) == 2]
        reason += f", {listed(two, 5)} {'has' if len(two) == 1 else 'have'} two values" if two else ""
    logger.info(
        "no label is found (%s): rates that need the true outcome are left out; pass --label COLUMN if one holds it",
        reason,
    )
    return None


def _other_words(frame: pd.DataFrame, names: Sequence[str], classes: list[str]) -> list[str]:
    """Columns that say yes and no in other words than two classes do; one alone is announced."""
    if read_yes_no(classes) is None:
        return []
    held = {name: few_values(frame[name]) for name in names}
    found = [name for name, values in held.items() if read_yes_no(values) is not None]
    if len(found) == 1:
        logger.info(
            "label %s is found: the one column that says yes and no (%s), as the model's classes do (%s); override "
            "with --label",
            *(found[0], ", ".join(sorted(held[found[0]])), ", ".join(classes)),
        )
    return found


def folded(text: str) -> str:
    """A value as near matches are found by."""
    return text.strip(" .").casefold()


_FIRST_ROWS = 1000


def _holds_classes(column: pd.Series[Any], wanted: set[str], fold: Callable[[str], str] = str.strip) -> bool:
    if column.dtype.kind == "f" and column.nunique() > len(wanted):
        return False
    # Most columns hold something else in their very first rows.
    for rows in (column.iloc[:_FIRST_ROWS], column):
        if not is_plain(rows):
            return False
        values = {fold(value_text(value)) for value in rows.dropna().unique()[: len(wanted) + 1]}
        if not values <= wanted:
            return False
    return bool(values) and values <= wanted and len(values) >= min(2, len(wanted))
