"""Requirements: limits that the user sets, met, breached or undecided.

A requirement names a measure, or a rate that every group has to keep::

    disparate_impact>=0.8                       of all groups, under the population
    sample.disparate_impact>=4/5                of the rows
    selection_rate[race=Black]>=10%             of every group of these people
    disparate_impact_to_reference[sex=Female]>=0.8
    true_positive_rate["marital status"="Never, ever"]>=0.5
    conditional_parity_difference<=0.1          inside each stratum of a lawful factor

"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from fractions import Fraction

from justicia.enclosure import EXACT, Enclosure
from justicia.errors import RequirementError
from justicia.metrics.disparities import ALIASES, COMPARISONS, MEASURES, RATES_OF, RATIOS, Measure
from justicia.words import did_you_mean, shown

__all__ = [
    "CONDITIONAL",
    "RATE_NAMES",
    "REMAINABLE",
    "REMAINING",
    "SOURCES",
    "Requirement",
    "Verdict",
    "filter_pairs",
    "measure_name",
    "parse_requirement",
]

logger = logging.getLogger(__name__)

SOURCES = ("verified", "sample")
"""Where a value comes from: the population, or the rows."""

REMAINING = "remaining_"
"""Before a measure's name: what remains of it when mediators are drawn as in the most favored group."""

REMAINABLE = tuple(name for name in MEASURES if not name.startswith("predictive"))
"""Measures of which that is told: those of rates, whose people stay the same when mediators are drawn anew."""

CONDITIONAL = {
    "conditional_parity_difference": "statistical_parity_difference",
    "conditional_parity_ratio": "disparate_impact",
}
"""Measures inside each stratum of a lawful factor, and what they are there."""

RATE_NAMES = {
    "selection_rate": ("selection_rate", False),
    "true_positive_rate": ("tpr", False),
    "false_negative_rate": ("tpr", True),
    "false_positive_rate": ("fpr", False),
    "true_negative_rate": ("fpr", True),
    "precision": ("precision", False),
}
"""Rates of groups: their kind, as `Rates` names it, and whether they are what it lacks to 1."""

_RATE_ALIASES = {
    "tpr": "true_positive_rate",
    "fpr": "false_positive_rate",
    "tnr": "true_negative_rate",
    "fnr": "false_negative_rate",
    "recall": "true_positive_rate",
}

_CONDITIONAL_ALIASES = {
    "conditional_statistical_parity_difference": "conditional_parity_difference",
    "conditional_demographic_parity_difference": "conditional_parity_difference",
    "conditional_disparate_impact": "conditional_parity_ratio",
    "conditional_demographic_parity_ratio": "conditional_parity_ratio",
}

_SUFFIXES = {f"_{comparison}": comparison for comparison in COMPARISONS}

_QUOTED = r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\''
_PLAIN = r"[^\"'\[\],=][^\"'\[\],=]*"
_WORD = rf"(?:{_QUOTED}|{_PLAIN})"
_PAIR = re.compile(rf"\s*(?P<column>{_WORD})\s*=\s*(?P<value>{_WORD})\s*(?P<comma>,|$)")
_FORM = re.compile(
    rf"\s*(?P<name>[A-Za-z][A-Za-z_.-]*)\s*(?:\[(?P<where>(?:{_QUOTED}|[^\[\]\"'])*)\])?\s*"
    r"(?P<comparison><=|>=|==|[=<>≤≥])\s*(?P<number>[^\s<>=≤≥\[\]]+(?:\s*%)?)\s*"
)
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

    Attributes
    ----------
    text : str
        As it was written.
    measure : str
        One of `MEASURES`, `CONDITIONAL` or `RATE_NAMES`.
    comparison : str
        One of >=, >, <= and <.
    limit : Fraction
    against : str
        What groups are compared with, one of `COMPARISONS`.
    source : str
        One of `SOURCES`.
    where : tuple of (str, str)
        Columns and values of the groups that it is about; all groups when it is empty.
    remaining : bool
        On what remains of the measure when mediators are drawn as in the most favored group.
    """

    text: str
    measure: str
    comparison: str
    limit: Fraction
    against: str = "between_groups"
    source: str = "verified"
    where: tuple[tuple[str, str], ...] = ()
    remaining: bool = False

    @property
    def of_rate(self) -> bool:
        """Whether it limits a rate of every group, not a measure between them."""
        return self.measure in RATE_NAMES

    @property
    def kinds(self) -> tuple[str, ...]:
        """The verified rates that decide it, as `Rates` names them."""
        if self.of_rate:
            kind = RATE_NAMES[self.measure][0]
            return ("tpr", "fpr") if kind == "precision" else (kind,)
        return RATES_OF[CONDITIONAL.get(self.measure, self.measure)]

    @property
    def plain(self) -> bool:
        """Whether it is about a verified measure between all groups, as audits list them."""
        return (
            self.source == "verified"
            and self.against == "between_groups"
            and not self.where
            and not self.remaining
            and self.measure in MEASURES
        )

    @property
    def says(self) -> str:
        """What is limited, in words."""
        name = self.measure
        if self.of_rate:
            name = f"{'smallest' if self.comparison[0] == '>' else 'largest'} {self.measure}"
        if self.against != "between_groups":
            name += f"_{self.against}"
        if self.remaining:
            name = f"{REMAINING}{name}"
        if self.source == "sample":
            name = f"sample {name}"
        groups = ", ".join(f"{column} {shown(value)}" for column, value in self.where)
        return f"{name} of {groups}" if groups else name

    @property
    def shrinks(self) -> bool:
        """Whether a further group can only make the value smaller; else it can only make it larger."""
        if self.of_rate:
            return self.comparison[0] == ">"
        return CONDITIONAL.get(self.measure, self.measure) in RATIOS

    def judge(self, measure: Measure) -> Verdict:
        """Compare a measure with the limit.

        Exact counts are compared as fractions. A float within 1e-12 of the limit counts as on it, and the limit itself
        meets ``>=`` and ``<=``. Where the rates of some groups are undefined, those of the others already bound the
        measure on one side: a further group makes a difference no smaller and a ratio no larger.
        """
        if measure.value is None:
            return Verdict("undecided", f"{self.says} is undefined: {measure.undefined}")
        value = measure.value
        says = f"{self.says} is {value}"
        if measure.undefined is not None:
            says += f" over the groups whose rates are defined ({measure.undefined})"
            value = Enclosure(0, value.hi) if self.shrinks else Enclosure(value.lo, 1)
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


def _limited(text: str) -> tuple[str, str, str, bool]:
    """Source, name and comparison of what a requirement limits, and whether it is what remains with mediators."""
    name = text.strip().lower().replace("-", "_")
    source, dot, rest = name.partition(".")
    if not dot:
        source, rest = "verified", name
    elif source not in SOURCES:
        raise RequirementError(f"{shown(text)!r}: before the dot stands {' or '.join(SOURCES)}, not {shown(source)!r}")
    remaining = rest.startswith(REMAINING)
    rest = rest.removeprefix(REMAINING)
    against = "between_groups"
    for suffix, comparison in _SUFFIXES.items():
        if rest.endswith(suffix):
            rest, against = rest.removesuffix(suffix), comparison
    rest = {**ALIASES, **_RATE_ALIASES, **_CONDITIONAL_ALIASES}.get(rest, rest)
    every = [*MEASURES, *CONDITIONAL, *RATE_NAMES]
    if rest not in every:
        raise RequirementError(f"no measure is called {shown(text)!r}{did_you_mean(rest, every)}")
    if remaining and (rest not in REMAINABLE or against != "between_groups" or source != "verified"):
        raise RequirementError(
            f"{shown(text)!r}: what remains with mediators is told of verified measures between groups: "
            f"{', '.join(REMAINABLE)}"
        )
    if rest in RATE_NAMES and against != "between_groups":
        raise RequirementError(
            f"{shown(text)!r}: a rate is compared with nothing; a measure is, as disparate_impact_{against}"
        )
    return source, rest, against, remaining


def _unquoted(word: str) -> str:
    word = word.strip()
    if word[:1] in ("'", '"'):
        return re.sub(r"\\(.)", r"\1", word[1:-1])
    return word


def filter_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Columns and values in a text such as ``race=Black,sex=Female``; quotes around names with odd characters.

    Raises
    ------
    RequirementError

    >>> filter_pairs('race="Asian, other", sex=Female')
    (('race', 'Asian, other'), ('sex', 'Female'))
    """
    found: dict[str, str] = {}
    place = 0
    while True:
        pair = _PAIR.match(text, place)
        if pair is None:
            raise RequirementError(
                f"{shown(text)!r} is not of the form column=value,column=value; put names with odd characters between "
                "quotes"
            )
        column, value = _unquoted(pair["column"]), _unquoted(pair["value"])
        if column in found:
            raise RequirementError(f"the column {shown(column)!r} is named twice")
        found[column] = value
        place = pair.end()
        if not pair["comma"]:
            return tuple(found.items())


def _where(text: str | None, whole: str) -> tuple[tuple[str, str], ...]:
    """Columns and values of a group filter."""
    if text is None:
        return ()
    try:
        return filter_pairs(text)
    except RequirementError as error:
        raise RequirementError(f"requirement {shown(whole)!r}: {error}") from None


def parse_requirement(text: str) -> Requirement:
    """Read a requirement such as ``disparate_impact>=0.8``; the docstring of this module has all forms.

    Raises
    ------
    RequirementError
        When the text has another form, names no measure, or its limit is no number that the measure can reach.

    >>> parse_requirement("disparate_impact >= 4/5").limit
    Fraction(4, 5)
    >>> parse_requirement("sample.selection_rate[race=Black]>=0.1").where
    (('race', 'Black'),)
    """
    if not isinstance(text, str):
        raise RequirementError(f"a requirement is a text such as 'disparate_impact>=0.8', not {text!r}")
    found = _FORM.fullmatch(text)
    if found is None:
        raise RequirementError(
            f"requirement {shown(text)!r} is not of the form 'measure>=number' or 'measure<=number', as in "
            "'disparate_impact>=0.8'"
        )
    source, name, against, remaining = _limited(found["name"])
    comparison, number = {"≥": ">=", "≤": "<="}.get(found["comparison"], found["comparison"]), found["number"]
    if comparison in ("=", "=="):
        raise RequirementError(f"requirement {shown(text)!r}: use >= or <=, a rate is never asked to equal a number")
    where = _where(found["where"], text)
    if where and remaining:
        raise RequirementError(
            f"requirement {shown(text)!r}: what remains with mediators is told of all groups together"
        )
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
    requirement = Requirement(text.strip(), name, comparison, limit, against, source, where, remaining)
    if not requirement.of_rate and (comparison[0] == "<") == requirement.shrinks:
        logger.warning("requirement %s is met by unequal rates: is %s meant?", text, _other_way(comparison))
    return requirement


def _other_way(comparison: str) -> str:
    return comparison.translate(str.maketrans("<>", "><"))
