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
from justicia.tables.bad_outcomes import warn_of_bad_outcome
from justicia.tables.groups import MOST_NUMERIC_VALUES, bins_hint, says_age
from justicia.tables.labels import find_label
from justicia.tables.repeats import correlation, number_of, of_rows
from justicia.tables.yes_no import read_yes_no, same_words
from justicia.words import counted, did_you_mean, listed, shown, value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from justicia.tables.reading import Table

__all__ = ["Roles", "Truth", "assign_roles", "find_groupings"]

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
    words : str
        The label's favorable values.
    """

    name: str
    positive: np.ndarray
    known: np.ndarray
    words: str

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
    classify: Callable[[], np.ndarray],
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
        Favorable outcomes: classes of the model, or values of the label.
    classes : sequence
        The model's classes, in its order.
    model_columns : sequence of str
        Columns that the model takes.
    classify : callable
        Gives the model's class of each row; asked only when the label is written in other words than the classes.

    Raises
    ------
    GroupingError, LabelError, TableError
    """
    groupings = find_groupings(table, sensitive)
    name = find_label(table, label, classes, model_columns, {column for columns in groupings for column in columns})
    if name is not None and any(name in names for names in groupings):
        raise GroupingError(
            f"column {name!r} is the label, and a sensitive column is none: name others with --sensitive"
        )
    meaning = None if name is None else _meaning(table, name, classes, classify, label is not None)
    if meaning is None:
        name = None
    chosen, text = _favorable(table, favorable, classes, meaning or {}, name)
    truth = None
    if name is not None and meaning is not None:
        indices = {position for position, value in enumerate(classes) if value in chosen}
        good = {value for value, position in meaning.items() if position in indices or (not chosen and value == text)}
        truth = _truth(table.people[name], name, good, table.repeats)
    return Roles(groupings, chosen, text, truth)


def find_groupings(table: Table, sensitive: Sequence[Sequence[str]] | None) -> tuple[tuple[str, ...], ...]:
    """The groupings asked for, or those found: compound first, then each column alone."""
    columns = [str(name) for name in table.people.columns]
    if sensitive is not None:
        groupings = tuple(dict.fromkeys(tuple(names) for names in sensitive))
        for name in (name for names in groupings for name in names):
            if name not in columns:
                members = [column for column in columns if column.startswith(f"{name}_")]
                near = f"; did you mean {listed(members, 5)}?" if members else did_you_mean(name, columns)
                raise TableError(f"sensitive column {name!r} is not in the table{near}")
        if not groupings or not all(groupings):
            raise GroupingError("no sensitive column is named: pass --sensitive COLUMN or --sensitive COLUMN,COLUMN")
        return groupings
    if table.description is not None:
        found, how = [name for name in table.description.sensitive if name in columns], "by the data set's description"
    else:
        found = [name for name in columns if _normalised(name) in _SENSITIVE_NAMES]
        how = "by name"
    if not found:
        raise GroupingError(
            "no sensitive column is found by name: pass --sensitive COLUMN or --sensitive COLUMN,COLUMN; "
            f"the columns are {listed(columns, 60)}{_ages_offered(table, columns, '; ')}"
        )
    offer = _ages_offered(table, columns, "; ") if table.description is None else ""
    logger.info("sensitive: %s, found %s; override with --sensitive%s", ", ".join(found), how, offer)
    return (tuple(found), *((name,) for name in found if len(found) > 1))


def _ages_offered(table: Table, columns: Sequence[str], before: str) -> str:
    """How ages are made a grouping, where the table has a column of them that are numbers."""
    frame = table.people
    for name in columns:
        column = frame[name]
        if says_age(name) and column.dtype.kind in "iuf" and column.nunique() > MOST_NUMERIC_VALUES:
            return f"{before}{name} can be one in classes: --sensitive {name} {bins_hint(name, column)}"
    return ""


def _normalised(name: str) -> str:
    return re.sub(r"[^0-9a-z]+", "_", name.strip().casefold()).strip("_")


_ZERO_ONE = {"0": 0, "0.0": 0, "False": 0, "false": 0, "1": 1, "1.0": 1, "True": 1, "true": 1}


def _class_index(value: Any, classes: Sequence[Any]) -> int | None:
    """Position of the class that a value means: the same text, but for blanks, or another way to say 0 or 1."""
    text = value_text(value)
    texts = [value_text(held) for held in classes]
    if text in texts:
        return texts.index(text)
    stripped = [position for position, held in enumerate(texts) if held.strip() == text.strip()]
    if len(stripped) == 1:
        return stripped[0]
    if set(texts) <= set(_ZERO_ONE) and text.strip() in _ZERO_ONE:
        same = [position for position, held in enumerate(texts) if _ZERO_ONE[held] == _ZERO_ONE[text.strip()]]
        return same[0] if len(same) == 1 else None
    return None


_YES_NO = {("no", "yes"), ("No", "Yes"), ("NO", "YES"), ("n", "y"), ("N", "Y"), ("<=50K", ">50K"), ("bad", "good")}

_LEAST_ASSOCIATION = 0.2
"""A label in other words than the classes is read by its association (phi) with `predict`; less is no evidence."""


def _meaning(
    table: Table, name: str, classes: Sequence[Any], classify: Callable[[], np.ndarray], asked: bool
) -> dict[str, int | None] | None:
    """The class that each value of the label means, None for one that the model never gives; None when unknown."""
    column = table.people[name]
    values = [value_text(value) for value in column.dropna().unique()[:1000]]
    meaning = {value: _class_index(value, classes) for value in values}
    strange = [value for value, position in meaning.items() if position is None]
    if not strange or len(classes) == 1:
        return meaning
    texts = [value_text(held) for held in classes]
    said = _said(values, texts) if len(strange) == len(values) else None
    if said is not None and same_words(values, texts):
        return dict(said)
    near = did_you_mean(strange[0], texts)
    problem = f"label column {name!r} holds {shown(strange[0])!r}, which is no class of the model{near}"
    if "did you mean" in near and said is None:
        raise LabelError(f"{problem}; write the label as the model's classes are written")
    if len(values) == len(classes) == 2 and len(strange) == 2:
        found = _by_association(column, values, classes, classify(), table.repeats)
        if said is not None and (found == said or (found is None and asked)):
            logger.info("label %s: %s", name, _taken_as(said, texts))
            return dict(said)
        if said is not None and not asked:
            logger.info(
                "label %s is not taken after all: read as yes and no, it %s the model's predict; rates that need the "
                "true outcome are left out; pass --label %r if it holds it",
                *(name, "hardly goes with" if found is None else "goes against", name),
            )
            return None
        if found is not None:
            logger.log(
                logging.INFO if said is None else logging.WARNING,
                "label %s is written in other words than the model's classes: by its association with predict, %s",
                *(name, _taken_as(found, texts)),
            )
            return dict(found)
        problem += ", and its association with predict is too weak to tell which is which"
    if asked:
        raise LabelError(f"{problem}; write the label as the model's classes are written")
    logger.info("%s: rates that need the true outcome are left out; pass --label", problem)
    return None


def _said(values: Sequence[str], texts: Sequence[str]) -> dict[str, int] | None:
    """The class that each of two values means when both say yes and no; else None."""
    said, meant = read_yes_no(values), read_yes_no(texts)
    if said is None or meant is None:
        return None
    position = {yes: texts.index(text) for text, yes in meant.items()}
    return {value: position[yes] for value, yes in said.items()}


def _taken_as(found: dict[str, int], texts: Sequence[str]) -> str:
    return " and ".join(f"{value} is taken as {texts[position]}" for value, position in found.items())


def _by_association(
    column: pd.Series[Any],
    values: list[str],
    classes: Sequence[Any],
    given: np.ndarray,
    repeats: np.ndarray | None,
) -> dict[str, int] | None:
    """Which of two label values goes with which of two classes; None when predict hardly tells."""
    known = column.notna().to_numpy()
    second = np.array([value_text(value) == values[1] for value in column[known]], dtype=np.float64)
    one = (np.asarray(given)[known] == classes[1]).astype(np.float64)
    if second.std() == 0 or one.std() == 0:
        return None
    phi = correlation(second, one, of_rows(repeats, known))
    if abs(phi) < _LEAST_ASSOCIATION:
        return None
    return {values[0]: 0, values[1]: 1} if phi > 0 else {values[0]: 1, values[1]: 0}


def _favorable(
    table: Table,
    favorable: Sequence[Any] | None,
    classes: Sequence[Any],
    meaning: dict[str, int | None],
    name: str | None,
) -> tuple[tuple[Any, ...], str]:
    """Favorable classes of the model, and their text."""
    texts = [value_text(value) for value in classes]
    if favorable is None:
        favorable = [_favorable_found(table, texts, meaning)]
        described = table.description is not None and table.description.favorable == favorable[0]
        if len(texts) == 2 and not described:
            warn_of_bad_outcome(name, favorable[0], texts[0])
    if not favorable:
        raise LabelError(f"no favorable outcome is named: pass one or more of {listed(texts, 40)}")
    if len(favorable) == 1 and isinstance(favorable[0], str) and "," in favorable[0]:
        whole = favorable[0]
        if _class_index(whole, classes) is None and whole.strip() not in meaning:
            favorable = [part.strip() for part in whole.split(",")]
    chosen: dict[int, None] = {}
    for value in favorable:
        text = value_text(value)
        position = _class_index(value, classes)
        if position is None and text in meaning:
            position = meaning[text]
            if position is None:
                logger.info("the model's only class is %s: it never gives %s", texts[0], text)
                return (), text
            logger.info("favorable outcome %s is the model's class %s", text, texts[position])
        if position is None and texts in (["0"], ["False"]) and _ZERO_ONE.get(text) == 1:
            return (), text
        if position is None:
            raise LabelError(f"favorable outcome {shown(text)!r} is no class of the model{did_you_mean(text, texts)}")
        chosen[position] = None
    if len(chosen) == len(classes) > 1:
        raise LabelError(f"every class of the model is called favorable: {listed(texts)}")
    return tuple(classes[position] for position in chosen), ",".join(value_text(value) for value in favorable)


def _favorable_found(table: Table, texts: list[str], meaning: dict[str, int | None]) -> str:
    described = table.description.favorable if table.description is not None else None
    if described is not None and (described in texts or described in meaning):
        logger.info("favorable outcome %s is the data set description's; override with --favorable", described)
        return described
    if len(texts) == 2:
        # The second class is the larger in sort order; where that means nothing, the reader must look.
        level = logging.INFO if set(texts) <= set(_ZERO_ONE) or tuple(texts) in _YES_NO else logging.WARNING
        logger.log(level, "favorable outcome %s is the model's second class; override with --favorable", texts[1])
        return texts[1]
    for one, zero in (("1", "0"), ("True", "False")):
        if texts in ([one], [zero]):
            logger.info("the model's only class is %s; favorable is %s; override with --favorable", texts[0], one)
            return one
    raise LabelError(f"which outcome is favorable? pass --favorable with one or more of {listed(texts, 40)}")


def _truth(column: pd.Series[Any], name: str, good: set[str], repeats: np.ndarray | None) -> Truth:
    import pandas as pd

    codes, uniques = pd.factorize(column)
    positive = np.array([value_text(value) in good for value in uniques] + [False])
    known = codes >= 0
    if not known.all():
        logger.info("label %s is missing in %s", name, counted(number_of(~known, repeats), "row"))
    return Truth(name, positive[codes], known, ", ".join(sorted(good)))
