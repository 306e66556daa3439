"""Columns that name persons, not kinds of people: a population file does not publish their values unasked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.words import counted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["why_personal"]

_FEWEST = 20
"""With fewer distinct values nothing is said of a column."""
_WORDS, _NUMBERS = 0.5, 0.99
"""Share of the people who have a word, or a whole number, that nobody else has."""
_LONG = 6
"""Words of a free text."""
_MANY, _SHARED = 100, 3
"""Words that more than so many different ones are, and that most people share with so few, are those of persons."""
_NAMES = frozenset(
    {
        *("name", "names", "fullname", "firstname", "middlename", "lastname", "surname", "forename", "givenname"),
        *("familyname", "maidenname", "applicantname", "customername", "employeename", "patientname", "studentname"),
        *("personname", "email", "emailaddress", "phone", "phonenumber", "telephone", "telephonenumber", "mobile"),
        *("mobilenumber", "address", "homeaddress", "streetaddress", "postaladdress", "ssn", "socialsecuritynumber"),
    }
)
"""Names of columns, small letters alone."""
_DATE = re.compile(r"\s*(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3(\d{4}|\d{2}))(\D|$)")
_DATES = 0.95


def why_personal(counts: pd.Series[int], rows: int, most: int | None = None, name: str | None = None) -> str | None:
    """Why the values of a column are those of single persons; None where they are not, or it cannot be told.

    Whole numbers, words: nearly everybody has one of their own, as ids and names are; besides, dates and free text.
    Numbers with decimals are measured, and everybody may have one of their own.

    Parameters
    ----------
    counts : Series
        How often each value occurs, by the values.
    rows : int
        Of the table, with those whose cell is empty.
    most : int, optional
        More distinct words than this, and than half the rows, are those of persons, too; so are many words that most
        people share with few others.
    name : str, optional
        Of the column, which may say that it holds names or addresses.

    >>> import pandas as pd
    >>> why_personal(pd.Series([f"A-{number}" for number in range(1000)]).value_counts(), 1000)
    '1,000 of 1,000 people have a value that nobody else has'
    >>> why_personal(pd.Series(["f", "m"] * 500).value_counts(), 1000) is None
    True
    """
    values = counts.index
    kind = values.dtype.kind
    if len(counts) < _FEWEST or kind == "b" or (kind == "f" and not _whole(values)):
        return None
    alone, people = int((counts == 1).sum()), int(counts.sum())
    words = kind not in "iuf"
    if name is not None and re.sub(r"[\W\d_]", "", name).lower() in _NAMES:
        return (
            f"by its name it holds names, addresses or numbers of persons ({counted(len(counts), 'different value')})"
        )
    if alone >= (_WORDS if words else _NUMBERS) * people:
        return f"{alone:,} of {counted(people, 'person', 'people')} have a value that nobody else has"
    if not words:
        return None
    if most is not None and len(counts) > max(most, _WORDS * rows):
        return f"it has {counted(len(counts), 'different value')} in {counted(rows, 'row')}"
    if most is not None and len(counts) > _MANY:
        # How many people have the value that a person has, over the people.
        held = np.sort(counts.to_numpy())
        half = int(held[np.searchsorted(np.cumsum(held), people / 2)])
        if half <= _SHARED:
            return f"most people share their value with {counted(half - 1, 'other')} at most"
    texts = [str(value) for value in values[:2000]]
    if np.mean([_DATE.match(text) is not None for text in texts]) >= _DATES:
        return "it holds dates"
    if np.median([len(text.split()) for text in texts]) >= _LONG:
        return "it holds free text"
    return None


def _whole(values: pd.Index[Any]) -> bool:
    numbers = values.to_numpy(dtype=np.float64)
    return bool(np.isfinite(numbers).all()) and bool((numbers == np.rint(numbers)).all())
