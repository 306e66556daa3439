"""Decisions that a table holds: a column of outcomes, or a score beside a threshold; and true outcomes beside them."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import InputError, LabelError, TableError
from justicia.numeric import floats_of
from justicia.tables.bad_outcomes import warn_of_bad_outcome
from justicia.tables.repeats import number_of
from justicia.tables.roles import Truth
from justicia.tables.yes_no import few_values, read_yes_no
from justicia.words import comma_hint, counted, did_you_mean, listed, shown, value_text

if TYPE_CHECKING:
    import pandas as pd

    from justicia.tables.reading import Table

__all__ = [
    "Cut",
    "Outcomes",
    "cut_scores",
    "parse_threshold",
    "possible_labels",
    "read_decisions",
    "read_scores",
    "read_truth",
]

logger = logging.getLogger(__name__)

_MOST_DECISIONS = 10
"""A column of more numbers is hardly one of decisions."""
_ONE, _ZERO = {"1", "1.0", "true", "True"}, {"0", "0.0", "false", "False"}
_YES, _NO = {"yes", "y", "true", "1"}, {"no", "n", "false", "0"}
_THRESHOLD = re.compile(r"\s*(>=|<=|>|<|≥|≤)?\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Outcomes:
    """Who got the favorable outcome.

    Attributes
    ----------
    name : str
        Column of the decisions, or of the score.
    rule : str
        When the outcome is favorable, in words.
    selected : bool array of shape (n_rows,)
    threshold : float or None
        Of the score.
    words : tuple of str
        Favorable values of a column of decisions.
    """

    name: str
    rule: str
    selected: np.ndarray
    threshold: float | None = None
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cut:
    """A threshold of a score; the outcome is favorable where `score comparison threshold` holds."""

    comparison: str
    threshold: float
    text: str


def _column(table: Table, name: str, what: str) -> pd.Series[Any]:
    """A column without empty cells."""
    people = table.people
    if name not in people.columns:
        raise TableError(f"{what} column {name!r} is not in the table{did_you_mean(name, people.columns)}")
    column = people[name]
    empty = number_of(column.isna().to_numpy(), table.repeats)
    if empty:
        raise TableError(
            f"{what} column {name!r} has no value in {counted(empty, 'row')} of {table.n_rows:,}: fill them in, or "
            "take these rows out"
        )
    return column


def _wanted(favorable: Sequence[Any] | None, texts: Sequence[str]) -> list[str] | None:
    """Favorable values as text; one text with commas is several unless a value is written so."""
    if favorable is None:
        return None
    words = [value_text(value).strip() for value in favorable]
    if len(words) == 1 and "," in words[0] and words[0] not in texts:
        words = [word.strip() for word in words[0].split(",")]
    if not words or not all(words):
        raise LabelError(f"no favorable outcome is named: pass one or more of {listed(texts, 40)}")
    return words


def _matching(word: str, texts: Sequence[str]) -> list[str]:
    """Values that a word means: the same text, or another way to write 0 or 1."""
    if word in texts:
        return [word]
    for way in (_ONE, _ZERO):
        if word in way:
            return [text for text in texts if text in way]
    return []


def _zero_one(texts: Sequence[str]) -> bool:
    return set(texts) <= _ONE | _ZERO


def read_decisions(
    table: Table, name: str, favorable: Sequence[Any] | None, label_words: Sequence[str] = ()
) -> Outcomes:
    """Who got a favorable outcome by a column of decisions.

    Parameters
    ----------
    table : Table
    name : str
        The column.
    favorable : sequence, optional
        Favorable values. Left out, they are the description's of a bundled data set, or 1, True or yes of two values.
    label_words : sequence of str
        Values of the true outcome, which may be among the favorable ones.

    Raises
    ------
    TableError, LabelError
        When the column is not there or has empty cells; when no value, or no known one, is called favorable. A column
        of 0 and 1 in which the favorable one is absent is no error: nobody was selected.
    """
    import pandas as pd

    codes, uniques = pd.factorize(_column(table, name, "decision"))
    values = [value_text(value).strip() for value in uniques]
    texts = sorted(dict.fromkeys(values))
    wanted = _wanted(favorable, texts)
    if wanted is None:
        wanted = [_favorable_found(table, name, texts)]
        if table.description is None or table.description.label != name:
            others = [text for text in texts if text not in wanted]
            warn_of_bad_outcome(name, wanted[0], others[0] if len(others) == 1 else None)
    chosen: dict[str, None] = {}
    for word in wanted:
        found = _matching(word, texts)
        if not found and word not in label_words:
            if not (_zero_one(texts) and word in _ONE | _ZERO):
                raise LabelError(
                    f"favorable outcome {shown(word)!r} is not in the decision column {name!r}"
                    f"{did_you_mean(word, texts)}"
                )
            logger.info("decision column %s holds %s alone: nobody has the outcome %s", name, listed(texts), word)
        chosen.update(dict.fromkeys(found))
    if len(texts) > 1 and set(chosen) == set(texts):
        raise LabelError(f"every outcome in the decision column {name!r} is called favorable: {listed(texts)}")
    if not chosen and set(wanted) <= set(label_words) and not _zero_one(texts):
        raise LabelError(f"none of {listed(texts)} in the decision column {name!r} is called favorable")
    held = np.array([value in chosen for value in values])
    words = tuple(chosen) or tuple(wanted)
    return Outcomes(name, f"{name} is {' or '.join(words)}", held[codes], words=words)


def _favorable_found(table: Table, name: str, texts: Sequence[str]) -> str:
    """The favorable one of two values that can be told by themselves."""
    described = table.description
    if described is not None and described.label == name and described.favorable in texts:
        logger.info(
            "favorable outcome %s is the data set description's; override with --favorable", described.favorable
        )
        return described.favorable
    if _zero_one(texts):
        found = [text for text in texts if text in _ONE]
        favorable = found[0] if found else "True" if set(texts) <= {"False"} else "1"
    else:
        found = [text for text in texts if text.casefold() in _YES]
        if len(found) != 1 or not all(text.casefold() in _YES | _NO for text in texts):
            if len(texts) > _MOST_DECISIONS and table.people[name].dtype.kind in "iuf":
                raise LabelError(
                    f"the decision column {name!r} holds {len(texts):,} numbers: if it is a score, pass --score {name} "
                    "and --threshold in place of --decision; else name favorable ones with --favorable"
                )
            raise LabelError(
                f"which outcome in the decision column {name!r} is favorable? pass --favorable with one or more of "
                f"{listed(texts, 40)}"
            )
        favorable = found[0]
    logger.info("favorable outcome %s of the decision column %s is found; override with --favorable", favorable, name)
    return favorable


def read_truth(table: Table, name: str, favorable: Sequence[str] | None) -> Truth:
    """The true outcomes beside decisions.

    Parameters
    ----------
    table : Table
    name : str
        The column; rows without a value are left out of rates that need it.
    favorable : sequence of str, optional
        Words that may be its favorable values. Where none of them is, 1, True or yes of two values are.

    Raises
    ------
    TableError, LabelError
    """
    import pandas as pd

    people = table.people
    if name not in people.columns:
        raise TableError(f"label column {name!r} is not in the table{did_you_mean(name, people.columns)}")
    codes, uniques = pd.factorize(people[name])
    values = [value_text(value).strip() for value in uniques]
    texts = sorted(dict.fromkeys(values))
    good = {text for word in favorable or () for text in _matching(word, texts)}
    if not good:
        if not (_zero_one(texts) or all(text.casefold() in _YES | _NO for text in texts)):
            near = did_you_mean(favorable[0], texts) if favorable else f" (there are: {listed(texts, 40)})"
            raise LabelError(
                f"which outcome in the label column {name!r} is favorable? name it, too, with --favorable{near}"
            )
        good = {text for text in texts if text.casefold() in _YES or text in _ONE}
        if favorable:
            words = " or ".join(sorted(good)) or "1"
            logger.info("label %s is written in other words than the decisions: %s is taken as favorable", name, words)
    if len(texts) > 1 and good == set(texts):
        raise LabelError(f"every outcome in the label column {name!r} is called favorable: {listed(texts)}")
    positive = np.array([*(value in good for value in values), False])
    known = codes >= 0
    if not known.all():
        logger.info("label %s is missing in %s", name, counted(number_of(~known, table.repeats), "row"))
    return Truth(name, positive[codes], known, ", ".join(sorted(good)) or "1")


def possible_labels(
    table: Table, found: Sequence[Sequence[str]], taken: Collection[str | None], outcomes: Outcomes
) -> None:
    """Announce the columns that may be the true outcome beside decisions.

    None is taken: nothing says which columns of a table of decisions are about the outcome.

    Parameters
    ----------
    table : Table
    found : sequence of sequence of str
        Sensitive columns of each grouping.
    taken : collection of str or None
        Columns that are something else.
    outcomes : Outcomes
    """
    sensitive = {name for names in found for name in names}
    decided = set(few_values(table.people[outcomes.name])) if outcomes.threshold is None else set()
    possible = [
        str(name)
        for name in table.people.columns
        if name not in sensitive and name not in taken and len(texts := few_values(table.people[name])) > 1
        and (set(texts) == decided or read_yes_no(texts) is not None)
    ]  # fmt: skip
    if possible:
        one = repr(possible[0]) if len(possible) == 1 else "COLUMN"
        logger.info(
            "no label is named: if %s%s holds the true outcome, pass --label %s for true and false positive rates",
            *("one of " if len(possible) > 1 else "", listed(possible, 5), one),
        )


def read_scores(table: Table, name: str) -> np.ndarray:
    """A score as numbers, float64 array of shape (n_rows,).

    Raises
    ------
    TableError
        When the column is not there, has empty cells, or holds something else.
    """
    column = _column(table, name, "score")
    numbers = floats_of(column)
    strange = column[np.isnan(numbers)]
    if len(strange):
        hint = comma_hint(strange.unique()[:100])
        raise TableError(f"score column {name!r} holds {shown(strange.iloc[0])!r}, which is no number{hint}")
    return numbers


def parse_threshold(text: Any) -> Cut:
    """A threshold such as ``0.3`` or ``>=0.3`` (a score at or above it), ``>0.3``, ``<5`` or ``<=5``.

    Raises
    ------
    InputError

    >>> parse_threshold(".5").comparison, parse_threshold("< 5").comparison
    ('>=', '<')
    """
    found = _THRESHOLD.fullmatch(value_text(text))
    if found is None:
        raise InputError(f"threshold {shown(text)!r} is no number, nor one after >=, >, <= or <")
    comparison = {"≥": ">=", "≤": "<=", None: ">="}.get(found[1], found[1])
    number = float(found[2])
    if not math.isfinite(number) or (number == 0) != (Fraction(found[2]) == 0):
        raise InputError(f"threshold {shown(text)!r} is a number that no score can be compared with")
    return Cut(comparison, number, found[2])


def cut_scores(scores: np.ndarray, name: str, cut: Cut) -> Outcomes:
    """Who has a favorable score by a threshold."""
    held = {
        ">=": scores >= cut.threshold,
        ">": scores > cut.threshold,
        "<=": scores <= cut.threshold,
        "<": scores < cut.threshold,
    }[cut.comparison]
    return Outcomes(name, f"{name} {cut.comparison} {cut.text}", held, cut.threshold)
