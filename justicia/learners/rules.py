"""Rules that people can read: conditions on columns, joined by "and" and "or" on two levels.

A rule in conjunctive normal form (CNF) holds when some condition of every clause holds, one in disjunctive normal form
(DNF) when every condition of some term does. What a condition says about a missing value is fixed here: a comparison
with a number and an equality are false of it, and "not" turns a condition into its exact opposite.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import TableError
from justicia.numeric import floats_of
from justicia.words import counted, did_you_mean, listed, shown, value_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CNF", "DNF", "KEYWORDS", "Condition", "Rule", "as_numbers", "is_numeric", "number_text", "quoted"]

CNF, DNF = "CNF", "DNF"

_COMPARISONS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "<=": np.less_equal,
    "<": np.less,
    ">": np.greater,
    ">=": np.greater_equal,
}

KEYWORDS = frozenset("and or not in is missing true false if then else".split())
"""Words that a name is quoted for, in a rule's text."""

_BARE = re.compile(r"[^\s()<>=!,\"'#]+")


def quoted(name: str) -> str:
    """A name or value as a rule's text has it: in quotes where it would be read as something else.

    >>> quoted("age"), quoted("capital gain"), quoted(">50K"), quoted("not")
    ('age', '"capital gain"', '">50K"', '"not"')
    """
    if _BARE.fullmatch(name) and name.casefold() not in KEYWORDS and name.isprintable():
        return name
    return json.dumps(name, ensure_ascii=not name.isprintable())


def number_text(number: float) -> str:
    """A number with all its digits, and no more.

    >>> number_text(40.0), number_text(0.1), number_text(1e300)
    ('40', '0.1', '1e+300')
    """
    number = float(number)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def is_numeric(column: pd.Series[Any]) -> bool:
    """Whether a column is compared by its numbers: its type is one of numbers or truth values."""
    import pandas as pd

    return bool(pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype))


def as_numbers(column: pd.Series[Any]) -> np.ndarray:
    """Numbers of a column, NaN where it is empty, float64 array of shape (n_rows,).

    Raises
    ------
    TableError
        When it holds words.
    """
    try:
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    except (OverflowError, TypeError, ValueError):
        values = column.astype(object)
        numbers = floats_of(values)
        strange = values[np.isnan(numbers) & ~values.isna().to_numpy()]
        if len(strange):
            raise TableError(
                f"column {str(column.name)!r} holds {listed(map(str, strange.unique()[:3]), 3)} in "
                f"{counted(len(strange), 'row')}, and the rule compares it with numbers"
            ) from None
        return np.asarray(numbers)


def _as_truth(text: str) -> float:
    """The number that a text means beside a column of numbers; NaN when it means none."""
    try:
        return float(text)
    except ValueError:
        return {"true": 1.0, "false": 0.0}.get(text.casefold(), np.nan)


@dataclass(frozen=True)
class Condition:
    """What is asked of one column.

    Attributes
    ----------
    column : str
    test : str
        "<=", "<", ">", ">=" compare with `number`; "in" asks whether the value is one of `values`; "missing".
    number : float
    values : tuple of str
        Values as text (`justicia.words.value_text`); a column of numbers is compared by the numbers that they mean.
    negated : bool
        The condition holds exactly where the test fails.

    Examples
    --------
    >>> Condition("age", ">", 40.5).text(), Condition("sex", "in", values=("Male",), negated=True).text()
    ('age > 40.5', 'sex != Male')
    """

    column: str
    test: str
    number: float = 0.0
    values: tuple[str, ...] = ()
    negated: bool = False

    def __post_init__(self) -> None:
        # Out of a file, they may be anything.
        words = isinstance(self.values, tuple) and all(isinstance(value, str) for value in (self.column, *self.values))
        if not words or not isinstance(self.test, str) or not isinstance(self.negated, (bool, np.bool_)):
            raise TypeError("a condition is made of words, a number, and whether it is negated")
        if self.test not in (*_COMPARISONS, "in", "missing"):
            raise ValueError(
                f"no test is called {self.test!r}{did_you_mean(self.test, (*_COMPARISONS, 'in', 'missing'))}"
            )
        if self.test in _COMPARISONS and not np.isfinite(self.number):
            raise ValueError(f"{self.column!r} cannot be compared with {self.number}")

    @property
    def opposite(self) -> Condition:
        """Holds exactly where this one does not."""
        return replace(self, negated=not self.negated)

    @property
    def compares(self) -> bool:
        """Whether the column is compared with a number."""
        return self.test in _COMPARISONS

    def of_numbers(self, numbers: np.ndarray) -> np.ndarray:
        """Where the condition holds among numbers, NaN for missing; bool array of shape (n,)."""
        if self.test == "missing":
            held = np.isnan(numbers)
        elif self.test == "in":
            held = np.isin(numbers, [_as_truth(text) for text in self.values]) & ~np.isnan(numbers)
        else:
            with np.errstate(invalid="ignore"):
                held = _COMPARISONS[self.test](numbers, self.number)
        return ~held if self.negated else held

    def of_text(self, text: str | None) -> bool:
        """Whether the condition holds of a value in words, None for missing."""
        held = text is None if self.test == "missing" else text in self.values
        return held != self.negated

    def holds(self, column: pd.Series[Any]) -> np.ndarray:
        """Where the condition holds, bool array of shape (n_rows,).

        Raises
        ------
        TableError
            When a column of words is compared with a number.
        """
        if self.compares or is_numeric(column):
            return self.of_numbers(as_numbers(column))
        import pandas as pd

        codes, uniques = pd.factorize(column)
        held = [self.of_text(value_text(value)) for value in uniques]
        return np.array([*held, self.of_text(None)], dtype=bool)[codes]

    @property
    def cuts(self) -> tuple[float, ...]:
        """Largest numbers before each place where the condition changes."""
        if self.test == "missing":
            return ()
        if self.test in ("<=", ">"):
            return (self.number,)
        if self.test in ("<", ">="):
            return (float(np.nextafter(self.number, -np.inf)),)
        numbers = [number for number in map(_as_truth, self.values) if np.isfinite(number)]
        return tuple(edge for number in numbers for edge in (float(np.nextafter(number, -np.inf)), number))

    def text(self) -> str:
        """The condition in words that `justicia.models.rule_files` reads back, all digits kept."""
        name = quoted(self.column)
        if self.test == "missing":
            return f"{name} is {'not ' if self.negated else ''}missing"
        if self.test == "in" and len(self.values) == 1:
            return f"{name} {'!=' if self.negated else '='} {quoted(self.values[0])}"
        if self.test == "in":
            return f"{name} {'not in' if self.negated else 'in'} ({', '.join(map(quoted, self.values))})"
        return f"{'not ' if self.negated else ''}{name} {self.test} {number_text(self.number)}"


@dataclass(frozen=True)
class Rule:
    """A rule over the columns of a table.

    Attributes
    ----------
    form : str
        "CNF": a condition of every part holds; "DNF": every condition of some part holds.
    parts : tuple of tuple of Condition
        Clauses, or terms.

    Examples
    --------
    >>> rule = Rule(CNF, ((Condition("sex", "in", values=("Male",)), Condition("age", ">", 40)),))
    >>> rule.text()
    '(sex = Male or age > 40)'
    >>> rule.opposite.text()
    '(sex != Male and not age > 40)'
    """

    form: str
    parts: tuple[tuple[Condition, ...], ...]

    def __post_init__(self) -> None:
        if self.form not in (CNF, DNF):
            raise ValueError(f"a rule is in {CNF} or {DNF}, not {self.form!r}")
        whole = isinstance(self.parts, tuple) and all(isinstance(part, tuple) for part in self.parts)
        if not whole or not all(isinstance(one, Condition) for part in self.parts for one in part):
            raise TypeError("the parts of a rule are tuples of conditions")

    @property
    def opposite(self) -> Rule:
        """Holds exactly where this one does not."""
        parts = tuple(tuple(condition.opposite for condition in part) for part in self.parts)
        return Rule(DNF if self.form == CNF else CNF, parts)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Columns that are asked about, by their first appearance."""
        return tuple(dict.fromkeys(condition.column for part in self.parts for condition in part))

    def renamed(self, names: Mapping[str, str]) -> Rule:
        """The same rule over columns of other names."""
        parts = tuple(tuple(replace(one, column=names[one.column]) for one in part) for part in self.parts)
        return Rule(self.form, parts)

    @property
    def n_literals(self) -> int:
        """Number of conditions."""
        return sum(map(len, self.parts))

    def holds(self, column: Callable[[str], pd.Series[Any]], n_rows: int) -> np.ndarray:
        """Where the rule holds, bool array of shape (n_rows,).

        Parameters
        ----------
        column : callable
            Gives each column by its name.
        n_rows : int
        """
        inner, outer = (np.logical_or, np.logical_and) if self.form == CNF else (np.logical_and, np.logical_or)
        held = np.full(n_rows, self.form == CNF)
        for part in self.parts:
            of_part = np.full(n_rows, self.form == DNF)
            for condition in part:
                inner(of_part, condition.holds(column(condition.column)), out=of_part)
            outer(held, of_part, out=held)
        return held

    def lines(self) -> list[str]:
        """Each part in words; none where the rule always, or never, holds."""
        word = " or " if self.form == CNF else " and "
        empty = "false" if self.form == CNF else "true"
        return [f"({word.join(condition.text() for condition in part)})" if part else empty for part in self.parts]

    def text(self) -> str:
        """The rule in words that `justicia.models.rule_files` reads back, all digits kept."""
        if not self.parts:
            return "true" if self.form == CNF else "false"
        return (" and " if self.form == CNF else " or ").join(self.lines())

    def __str__(self) -> str:
        return shown(self.text(), 10_000)
