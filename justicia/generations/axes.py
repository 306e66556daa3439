"""Axes of counterfactuals of a table: which rows are the prompt's own images, and which are of each counterfactual."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.errors import TableError
from justicia.generations.columns import coded
from justicia.generations.labels import label_text
from justicia.words import counted, did_you_mean, shown

if TYPE_CHECKING:
    from justicia.generations.table import Generations

__all__ = ["Axis", "axes_of"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Axis:
    """Rows of one axis.

    Attributes
    ----------
    by : str or None
    axis : str
    initial : int array
        Places of the prompt's own images among the rows that count.
    counterfactuals : dict of str to int array
    """

    by: str | None
    axis: str
    initial: np.ndarray
    counterfactuals: dict[str, np.ndarray]


def axes_of(
    generations: Generations, axis: str | None, counterfactual: str | None, by: str | None, initial: str | None,
    wanted: Sequence[str] | None,
) -> list[Axis]:  # fmt: skip
    """The axes, in the order of their first rows; of each value of `by`.

    Raises
    ------
    TableError
        When a column is missing, a counterfactual has no axis, or a prompt has no images of its own or no
        counterfactual.
    """
    source, rows = generations.source, generations.rows
    where = source.name or "the table"
    changed = _texts(generations, counterfactual or "counterfactual", "column of counterfactuals")
    if initial is not None:
        changed[changed == label_text(initial)] = ""
    one_axis = axis is None and "axis" not in source.columns
    if one_axis:
        of_axis = np.full(len(rows), counterfactual or "counterfactual", dtype=object)
        of_axis[changed == ""] = ""
    else:
        of_axis = _texts(generations, axis or "axis", "column of axes")
    lost = (of_axis == "") & (changed != "")
    if lost.any():
        row = int(rows[int(np.argmax(lost))]) + 1
        raise TableError(
            f"{where}: row {row} has the counterfactual {shown(changed[np.argmax(lost)])!r} and no axis; "
            f"{counted(int(lost.sum()), 'such row')}: name the axis of each"
        )
    names = list(dict.fromkeys(text for text in of_axis.tolist() if text))
    if wanted is not None:
        wanted = list(dict.fromkeys(label_text(one) for one in wanted))
        for one in wanted:
            if one not in names:
                raise TableError(f"{where} has no axis {shown(one)!r}{did_you_mean(one, names)}")
        names = wanted
    groups: list[str | None] = [None]
    of_group = None
    if by is not None:
        of_group = _texts(generations, by, "column")
        blank = int((of_group == "").sum())
        if blank:
            row = int(rows[int(np.argmax(of_group == ""))]) + 1
            are = "is" if blank == 1 else "are"
            logger.warning("%s with a blank %s %s left out, first row %d", counted(blank, "image"), shown(by), are, row)
        groups = list(dict.fromkeys(text for text in of_group.tolist() if text))
    found = []
    for group in groups:
        here = np.ones(len(rows), dtype=bool) if of_group is None else of_group == group
        of_which = "" if group is None else f" of {shown(group)}"
        for name in names:
            own = here & ((of_axis == "") | (of_axis == name)) & (changed == "")
            others = here & (of_axis == name) & (changed != "")
            if not others.any() and group is not None:
                # Prompts need not have all axes.
                continue
            if not own.any():
                raise TableError(
                    f"{where}: no image{of_which} of axis {shown(name)} is the prompt's own: leave its counterfactual "
                    "blank, or name the word that stands there (--initial)"
                )
            if not others.any():
                raise TableError(f"{where}: no image{of_which} of axis {shown(name)} has a counterfactual")
            values = list(dict.fromkeys(changed[others].tolist()))
            found.append(
                Axis(
                    group,
                    name,
                    np.flatnonzero(own),
                    {value: np.flatnonzero(others & (changed == value)) for value in values},
                )
            )
    if not found:
        raise TableError(f"{where}: no row has a counterfactual ({shown(counterfactual or 'counterfactual')})")
    return found


def _texts(generations: Generations, name: str, what: str) -> np.ndarray:
    """A column as texts, blank where it is."""
    codes, values = coded(generations.source.column(name, what).iloc[generations.rows])
    texts = np.array([*("" if value is None else label_text(value) for value in values), ""], dtype=object)
    return np.asarray(texts[codes], dtype=object)
