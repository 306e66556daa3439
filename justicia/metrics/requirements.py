"""Requirements: limits that the user sets, met, breached or undecided."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from fractions import Fraction

from justicia.enclosure import EXACT, Enclosure
from justicia.errors import RequirementError
from justicia.metrics.disparities import ALIASES, MEASURES, RATIOS, Measure
from justicia.words import did_you_mean, shown

__all__ = ["REMAINING", "Requirement", "Verdict", "measure_name", "parse_requirement"]

logger = logging.getLogger(__name__)

REMAINING = "remaining_"
"""Before a measure's name: what remains of it when mediators are drawn as in the most favored group."""

_FORM = re.compile(r"\s*([A-Za-z_-]+)\s*(<=|>=|==|=|<|>)\s*([^\s<>=]+(?:\s*%)?)\s*", re.ASCII)
_NUMBER = re.compile(r"(\d{1,20}(\.\d{0,20})?|\.\d{1,20})(e[-+]?\d{1,2})?|\d{1,18}/\d{1,18}", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Verdict:
    """Whether a requirement is met.

    Attributes
    ----------
    status : str
        "met", "breached" or "undecided".
    reason : str
    """

    status: str
    reason: str


@dataclass(frozen=True)
class Requirement:
    """A limit on a measure, such as ``disparate_impact>=0.8``.

    With `remaining`, on what remains of it when mediators are drawn as in the most favored group.
    """

    text: str
    measure: str
    comparison: str
    limit: Fraction
    remaining: bool = False

    @property
    def name(self) -> str:
        """Name of the measure, as requirements write it."""
        return f"{REMAINING if self.remaining else ''}{self.measure}"

    def judge(self, measure: Measure) -> Verdict:
        """Compare a measure with the limit.

        Exact counts are compared as fractions. A float within 1e-12 of the limit counts as on it, and the limit itself
        meets ``>=`` and ``<=``. Where the rates of some groups are undefined, those of the others already bound the
        measure on one side: a further group makes a difference no smaller and a ratio no larger.
        """
        if measure.value is None:
            return Verdict("undecided", f"{self.name} is undefined: {measure.undefined}")
        value = measure.value
        says = f"{self.name} is {value}"
        if measure.undefined is not None:
            says += f" over the groups whose rates are defined ({measure.undefined})"
            value = Enclosure(0, value.hi) if self.measure in RATIOS else Enclosure(value.lo, 1)
        lo, hi = self._holds(value.lo), self._holds(value.hi)
        if lo and hi:
            return Verdict("met", says)
        if not lo and not hi:
            return Verdict("breached", says)
        return Verdict("undecided", says if measure.undefined else f"{says}, and the limit lies inside")

    def _holds(self, value: float | Fraction) -> bool:
        difference = Fraction(value) - self.limit
        if not isinstance(value, (Fraction, int)) and abs(difference) <= EXACT:
            difference = Fraction(0)
        return {
            ">=": difference >= 0,
            ">": difference > 0,
            "<=": difference <= 0,
            "<": difference < 0,
        }[self.comparison]


def measure_name(text: str) -> str:
    """The measure that `text` names: hyphens, capitals and Fairlearn's names are understood.

    Raises
    ------
    RequirementError
        When there is no such measure.
    """
    name = text.strip().lower().replace("-", "_")
    name = ALIASES.get(name, name)
    if name not in MEASURES:
        raise RequirementError(f"no measure is called {shown(text)!r}{did_you_mean(name, MEASURES)}")
    return name


def parse_requirement(text: str) -> Requirement:
    """Read a requirement such as ``disparate_impact>=0.8``.

    Raises
    ------
    RequirementError
        When the text has another form, names no measure, or its limit is no number that the measure can reach.

    >>> parse_requirement("disparate_impact >= 4/5").limit
    Fraction(4, 5)
    """
    if not isinstance(text, str):
        raise RequirementError(f"a requirement is a text such as 'disparate_impact>=0.8', not {text!r}")
    found = _FORM.fullmatch(text.replace("≥", ">=").replace("≤", "<="))
    if found is None:
        raise RequirementError(f"requirement {shown(text)!r} is not of the form 'measure>=number' or 'measure<=number'")
    name, comparison, number = found.groups()
    plain_name = name.lower().replace("-", "_").removeprefix(REMAINING)
    remaining = len(plain_name) < len(name)
    name = measure_name(plain_name if remaining else name)
    if comparison in ("=", "=="):
        raise RequirementError(f"requirement {shown(text)!r}: use >= or <=, a rate is never asked to equal a number")
    plain = number.removesuffix("%").strip()
    try:
        limit = Fraction(plain) if _NUMBER.fullmatch(plain) else None
    except ZeroDivisionError:
        limit = None
    if limit is None:
        raise RequirementError(f"requirement {shown(text)!r}: {shown(number)!r} is not a number between 0 and 1")
    limit = limit / 100 if number.endswith("%") else limit
    if not 0 <= limit <= 1:
        raise RequirementError(f"requirement {shown(text)!r}: {name} lies between 0 and 1")
    if (comparison[0] == "<") == (name in RATIOS):
        logger.warning("requirement %s is met by unequal rates: is %s meant?", text, _other_way(comparison))
    return Requirement(text.strip(), name, comparison, limit, remaining)


def _other_way(comparison: str) -> str:
    return comparison.translate(str.maketrans("<>", "><"))
