"""What each column is for: sensitive, label, favorable outcome.

Whatever the user leaves out is found (the description of a bundled data set first, names and values second),
announced with the option that overrides it, and never guessed when two answers are possible.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import GroupingError, LabelError, TableError
from justicia.words import counted, did_you_mean, listed, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from justicia.tables.reading import Table

__all__ = ["Roles", "Truth", "assign_roles", "find_groupings", "find_label"]

logger = logging.getLogger(__name__)

_SENSITIVE_NAMES = frozenset(
    "sex gender race ethnicity ethnic ethnic_group ethnic_origin race_ethnicity religion nationality disability "
    "disabled sexual_orientation gender_identity age_group".split()
)


@dataclass(frozen=True)
class Truth:
    """The true outcome of each person.

    Attributes
    ----------
    name : str
        The label's column.
    positive : bool array of shape (n_rows,)
        The label is a favorable one.
    known : bool array of shape (n_rows,)
        False where the label is missing.
    """

    name: str
    positive: np.ndarray
    known: np.ndarray

    @property
    def strata(self) -> dict[str, np.ndarray]:
        """Rows on which each label rate stands: favorable true outcome ("tpr"), unfavorable ("fpr")."""
        return {"tpr": self.known & self.positive, "fpr": self.known & ~self.positive}


@dataclass(frozen=True)
class Roles:
    """What each column is for.

    Attributes
    ----------
    groupings : tuple of tuple of str
        Sensitive columns of each grouping.
    favorable : tuple
        Favorable outcomes among the model's classes, as the model holds them; empty when the favorable outcome is
        one that a model of a single class never gives.
    favorable_text : str
    truth : Truth or None
    """

    groupings: tuple[tuple[str, ...], ...]
    favorable: tuple[Any, ...]
    favorable_text: str
    truth: Truth | None

    @property
    def strata(self) -> dict[str, np.ndarray]:
        """Rows on which each label rate stands; none without a label."""
        return {} if self.truth is None else self.truth.strata


def assign_roles(
    table: Table,
    *,
    sensitive: Sequence[Sequence[str]] | None,
    label: str | None,
    favorable: Sequence[Any] | None,
    classes: Sequence[Any],
    model_columns: Sequence[str],
) -> Roles:
    """Settle the groupings, the label and the favorable outcome.

    Parameters
    ----------
    table : Table
    sensitive : sequence of sequence of str, optional
        One sequence of columns a grouping.
    label : str, optional
        Column of the true outcome.
    favorable : sequence, optional
        Favorable outcomes: classes of the model, or values of the label when the model's classes are 0 and 1.
    classes : sequence
        The model's classes, in its order.
    model_columns : sequence of str
        Columns that the model takes.

    Raises
    ------
    GroupingError, LabelError, TableError
    """
    groupings = find_groupings(table, sensitive)
    name = find_label(table, label, classes, model_columns, {column for columns in groupings for column in columns})
    values = _label_values(table.frame, name)
    chosen, text, label_texts = _favorable(table, favorable, classes, values, name)
    truth = None
    if name is not None:
        asked = label is not None
        truth = _truth(table.frame[name], name, values, classes, label_texts, asked)
    return Roles(groupings, chosen, text, truth)


def find_groupings(table: Table, sensitive: Sequence[Sequence[str]] | None) -> tuple[tuple[str, ...], ...]:
    """The groupings asked for, or those found: compound first, then each column alone."""
    columns = [str(name) for name in table.frame.columns]
    if sensitive is not None:
        groupings = tuple(dict.fromkeys(tuple(names) for names in sensitive))
        for name in (name for names in groupings for name in names):
            if name not in columns:
                raise TableError(f"sensitive column {name!r} is not in the table{did_you_mean(name, columns)}")
        if not groupings or not all(groupings):
            raise GroupingError("no sensitive column is named: pass --sensitive column or --sensitive column,column")
        return groupings
    if table.description is not None:
        found, how = [name for name in table.description.sensitive if name in columns], "by the data set's description"
    else:
        found = [name for name in columns if _normalised(name) in _SENSITIVE_NAMES]
        how = "by name"
    if not found:
        raise GroupingError(
            "no sensitive column is found by name: pass --sensitive column or --sensitive column,column; "
            f"the columns are {listed(columns, 60)}"
        )
    logger.info("sensitive columns %s are found %s; override with --sensitive", ", ".join(found), how)
    return (tuple(found), *((name,) for name in found if len(found) > 1))


def _normalised(name: str) -> str:
    return re.sub(r"[^0-9a-z]+", "_", name.strip().casefold()).strip("_")


def find_label(
    table: Table, label: str | None, classes: Sequence[Any], model_columns: Sequence[str], sensitive: set[str]
) -> str | None:
    """The label's column: the one asked for, the description's, or the one column that holds the model's classes."""
    frame = table.frame
    columns = [str(name) for name in frame.columns]
    if label is not None:
        if label not in columns:
            raise TableError(f"label column {label!r} is not in the table{did_you_mean(label, columns)}")
        return label
    if table.description is not None and table.description.label in columns:
        return table.description.label
    wanted = {value_text(value) for value in classes}
    taken = set(model_columns) | sensitive
    found = [name for name in columns if name not in taken and _holds_classes(frame[name], wanted)]
    if len(found) == 1:
        logger.info("label %s is found: the column that holds the model's classes; override with --label", found[0])
        return found[0]
    reason = f"{listed(found)} could all be it" if found else "no other column holds the model's classes"
    logger.info("no label is found (%s): rates that need the true outcome are left out; pass --label", reason)
    return None


def _holds_classes(column: pd.Series[Any], wanted: set[str]) -> bool:
    if column.dtype.kind == "f" and column.nunique() > len(wanted):
        return False
    values = {value_text(value).strip() for value in column.dropna().unique()[: len(wanted) + 1]}
    return bool(values) and values <= wanted and len(values) >= min(2, len(wanted))


def _label_values(frame: pd.DataFrame, name: str | None) -> list[str]:
    if name is None:
        return []
    return [value_text(value).strip() for value in frame[name].dropna().unique()]


def _favorable(
    table: Table, favorable: Sequence[Any] | None, classes: Sequence[Any], values: list[str], label: str | None
) -> tuple[tuple[Any, ...], str, set[str]]:
    """Favorable classes of the model, their text, and the label values that are favorable."""
    by_text = {value_text(value).strip(): value for value in classes}
    if favorable is None:
        favorable = _favorable_found(table, by_text, values)
        if favorable[0] not in by_text and list(by_text) in (["0"], ["False"]):
            return (), favorable[0], set(favorable)
    texts = [value_text(value).strip() for value in favorable]
    if len(texts) == 1 and texts[0] not in by_text and texts[0] not in values:
        texts = [text.strip() for text in texts[0].split(",")]
    if all(text in by_text for text in texts):
        chosen = tuple(by_text[text] for text in dict.fromkeys(texts))
        if len(chosen) == len(by_text) > 1:
            raise LabelError(f"every class of the model is called favorable: {listed(by_text)}")
        return chosen, ",".join(texts), set(texts)
    if all(text in values for text in texts):
        if _is_zero_one(classes) and len(values) == 2:
            one = max(classes)
            logger.info(
                "favorable outcome %s of column %s is taken as the model's class %s; override with --favorable",
                *(texts[0], label, value_text(one)),
            )
            return (one,), texts[0], set(texts)
        if len(by_text) == 1:
            logger.info("the model's only class is %s: it never gives %s", listed(by_text), ",".join(texts))
            return (), ",".join(texts), set(texts)
    absent = next(text for text in texts if text not in by_text)
    raise LabelError(f"favorable outcome {absent!r} is no class of the model{did_you_mean(absent, by_text)}")


def _is_zero_one(classes: Sequence[Any]) -> bool:
    return sorted(value_text(value) for value in classes) in (["0", "1"], ["False", "True"])


def _favorable_found(table: Table, by_text: dict[str, Any], values: list[str]) -> list[Any]:
    described = table.description.favorable if table.description is not None else None
    if described is not None and (described in by_text or described in values):
        logger.info("favorable outcome %s is the data set description's; override with --favorable", described)
        return [described]
    texts = list(by_text)
    if len(texts) == 2:
        logger.info("favorable outcome %s is the model's second class; override with --favorable", texts[1])
        return [texts[1]]
    for one, zero in (("1", "0"), ("True", "False")):
        if texts in ([one], [zero]):
            logger.info("the model's only class is %s; favorable is %s; override with --favorable", texts[0], one)
            return [one]
    raise LabelError(f"which outcome is favorable? pass --favorable with one or more of {listed(texts, 40)}")


def _truth(
    column: pd.Series[Any], name: str, values: list[str], classes: Sequence[Any], favorable: set[str], asked: bool
) -> Truth | None:
    wanted = {value_text(value).strip() for value in classes} | favorable
    strange = [value for value in values if value not in wanted]
    if strange and not (_is_zero_one(classes) and len(values) == 2 and favorable & set(values)):
        near = did_you_mean(strange[0], sorted(wanted))
        problem = f"label column {name!r} holds {strange[0]!r}, which is no class of the model{near}"
        if asked or "did you mean" in near:
            raise LabelError(f"{problem}; make the label and the model's classes alike")
        logger.info("%s: rates that need the true outcome are left out; pass --label and --favorable", problem)
        return None
    import pandas as pd

    codes, uniques = pd.factorize(column)
    positive = np.array([value_text(value).strip() in favorable for value in uniques] + [False])
    known = codes >= 0
    if not known.all():
        logger.info("label %s is missing in %s", name, counted(int((~known).sum()), "row"))
    return Truth(name, positive[codes], known)
