"""Requirements of an audit of generations: limits on what its sections measure.

::

    least_beta[attribute=gender]<=20        every value in every 20 generations in a row, in every run
    coverage>=40%                           of every run
    sample.mgbi>=0.6                        the value of the rows, without the interval around it
    independence_difference[response=yes]<=0.1

A requirement is about every value of that name whose filter fits: it is met when all are, and breached when one is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from justicia.enclosure import EXACT
from justicia.errors import RequirementError
from justicia.judging import RequirementAudit
from justicia.metrics.requirements import filter_pairs
from justicia.words import counted, did_you_mean, shown

__all__ = ["Limit", "Measured", "Quantity", "judge_limits", "limit_of_beta", "parse_limit"]

_FORM = re.compile(
    r"\s*(?P<sample>sample\.)?(?P<name>[A-Za-z][A-Za-z_-]*)\s*(?:\[(?P<where>(?:\"(?:[^\"\\]|\\.)*\"|"
    r"'(?:[^'\\]|\\.)*'|[^\[\]\"'])*)\])?\s*(?P<comparison><=|>=|[<>≤≥])\s*(?P<number>[-+]?[^\s<>=≤≥\[\]]+(?:\s*%)?)\s*"
)
_NUMBER = re.compile(
    r"[-+]?((\d{1,15}(\.\d{0,18})?|\.\d{1,18})(e[-+]?\d{1,2})?|\d{1,15}/\d{1,15})", re.ASCII | re.IGNORECASE
)
_MOST_REASONS = 3

Number = float | Fraction


@dataclass(frozen=True)
class Measured:
    """What a section measures, as a requirement names it.

    Attributes
    ----------
    name : str
    says : str
        What it tells, in a sentence without a stop.
    formula : str
    keys : tuple of str
        What a filter may name; "*": columns of the table besides.
    """

    name: str
    says: str
    formula: str = ""
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class Quantity:
    """One measured value.

    Attributes
    ----------
    name : str
    where : dict of str to str
        What it is of, such as its attribute and run.
    lo, hi : number or None
        Certainly hold it, or an interval does with the audit's confidence; None above: without bound.
    value : tuple of (number, number) or None
        The same of the rows alone, where `lo` and `hi` are an interval; else they are it.
    undefined : str or None
        Why there is no value.
    below : int or None
        A limit from above is not met from here on, for want of generations.
    """

    name: str
    where: Mapping[str, str] = field(default_factory=dict)
    lo: Number | None = None
    hi: Number | None = None
    value: tuple[Number, Number] | None = None
    undefined: str | None = None
    below: int | None = None

    @property
    def of(self) -> str:
        """What it is of, in words."""
        return ", ".join(f"{shown(key)} {shown(said)}" for key, said in self.where.items())


@dataclass(frozen=True)
class Limit:
    """A requirement that was read.

    Attributes
    ----------
    text, name, comparison : str
    limit : Fraction
    where : tuple of (str, str)
    sample : bool
        Whether it is about the value of the rows alone.
    """

    text: str
    name: str
    comparison: str
    limit: Fraction
    where: tuple[tuple[str, str], ...] = ()
    sample: bool = False

    def judge(self, held: Quantity) -> tuple[str, str]:
        """The status for one value, and the reason."""
        status = self.status(held)
        says = f"{self.name.replace('_', ' ')}" + (f" of {held.of}" if held.where else "")
        ends = self._ends(held)
        if ends is None:
            return status, f"{says} is undefined: {held.undefined}"
        interval = held.value is not None and not self.sample
        between = _between(*ends)
        if interval and held.value is not None:
            between = f"{_between(*held.value)}, interval {between}"
        says += f" is {between}"
        if status != "undecided":
            return status, says
        if self._holds(ends[0]) and self._holds(ends[1]):
            return status, f"{says}, and there are no more than {counted(held.below or 0, 'generation')}"
        return status, f"{says}: the limit lies {'inside the interval' if interval else 'between'}"

    def status(self, held: Quantity) -> str:
        """Whether one value is met, breached or undecided."""
        ends = self._ends(held)
        if ends is None:
            return "undecided"
        least, most = self._holds(ends[0]), self._holds(ends[1])
        if not least and not most:
            return "breached"
        too_short = held.below is not None and self.comparison[0] == "<" and self.limit >= held.below
        return "met" if least and most and not too_short else "undecided"

    def _ends(self, held: Quantity) -> tuple[Number, Number] | None:
        """What certainly holds the value that is judged; None where there is none."""
        if held.undefined is not None or held.lo is None:
            return None
        if self.sample and held.value is not None:
            return held.value
        return held.lo, math.inf if held.hi is None else held.hi

    def _holds(self, value: Number) -> bool:
        if value == math.inf:
            return self.comparison[0] == ">"
        difference = Fraction(value) - self.limit
        if not isinstance(value, (Fraction, int)) and abs(difference) <= EXACT:
            difference = Fraction(0)
        return {">=": difference >= 0, ">": difference > 0, "<=": difference <= 0, "<": difference < 0}[self.comparison]


def _between(lo: Number, hi: Number) -> str:
    if hi == math.inf:
        return f"{_number(lo)} or more"
    if float(hi) - float(lo) <= EXACT:
        return _number(lo)
    return f"{_number(lo)} to {_number(hi)}"


def _number(value: Number) -> str:
    return f"{int(value):,}" if isinstance(value, int) else f"{float(value):.4g}"


def limit_of_beta(attribute: str, beta: int) -> Limit:
    """The requirement that a spec states by an attribute's beta."""
    plain = re.fullmatch(r"[^\"'\[\],=\s]+", attribute) is not None
    name = attribute if plain else '"' + attribute.replace("\\", "\\\\").replace('"', '\\"') + '"'
    text = f"least_beta[attribute={name}]<={beta}"
    return Limit(text, "least_beta", "<=", Fraction(beta), (("attribute", attribute),))


def parse_limit(text: str, measured: Sequence[Measured]) -> Limit:
    """Read a requirement.

    Raises
    ------
    RequirementError
        When it has another form, names nothing that is measured, or a filter that means nothing there.

    >>> parse_limit("coverage >= 40%", [Measured("coverage", "share of combinations")]).limit
    Fraction(2, 5)
    """
    if not isinstance(text, str):
        raise RequirementError(f"a requirement is a text such as 'coverage>=0.4', not {text!r}")
    found = _FORM.fullmatch(text)
    if found is None:
        raise RequirementError(f"requirement {shown(text)!r} is not of the form 'measure>=number' or 'measure<=number'")
    name = found["name"].lower().replace("-", "_")
    by_name = {one.name: one for one in measured}
    if name not in by_name:
        raise RequirementError(f"requirement {shown(text)!r}: nothing is called {name}{did_you_mean(name, by_name)}")
    where: tuple[tuple[str, str], ...] = ()
    if found["where"] is not None:
        try:
            where = filter_pairs(found["where"])
        except RequirementError as error:
            raise RequirementError(f"requirement {shown(text)!r}: {error}") from None
    keys = by_name[name].keys
    for key, _ in where:
        if key not in keys and "*" not in keys:
            choices = did_you_mean(key, keys) if keys else f": {name} has no filter"
            raise RequirementError(f"requirement {shown(text)!r}: {name} cannot be filtered by {shown(key)}{choices}")
    plain = found["number"].removesuffix("%").strip()
    try:
        limit = Fraction(plain) if _NUMBER.fullmatch(plain) else None
    except ZeroDivisionError:
        limit = None
    if limit is None:
        raise RequirementError(f"requirement {shown(text)!r}: {shown(found['number'])!r} is not a number")
    limit = limit / 100 if found["number"].endswith("%") else limit
    comparison = {"≥": ">=", "≤": "<="}.get(found["comparison"], found["comparison"])
    return Limit(text.strip(), name, comparison, limit, where, found["sample"] is not None)


def judge_limits(
    limits: Iterable[Limit], quantities: Sequence[Quantity], lacking: Mapping[str, str]
) -> tuple[RequirementAudit, ...]:
    """Judge requirements.

    Parameters
    ----------
    limits : iterable of Limit
    quantities : sequence of Quantity
    lacking : mapping of str to str
        Why measures could not be computed, by their names.

    Raises
    ------
    RequirementError
        When a filter fits nothing that was measured.
    """
    return tuple(_judged(limit, quantities, lacking) for limit in limits)


def _judged(limit: Limit, quantities: Sequence[Quantity], lacking: Mapping[str, str]) -> RequirementAudit:
    named = [one for one in quantities if one.name == limit.name]
    if not named:
        why = lacking.get(limit.name, "nothing of that kind was measured")
        return RequirementAudit(limit.text, "undecided", f"{limit.name.replace('_', ' ')} was not computed: {why}")
    held = [one for one in named if all(one.where.get(key) == said for key, said in limit.where)]
    if not held:
        known = dict.fromkeys(key for one in named for key in one.where)
        for key, said in limit.where:
            if key not in known:
                raise RequirementError(
                    f"requirement {shown(limit.text)!r}: {limit.name} cannot be filtered by {shown(key)}"
                    f"{did_you_mean(key, known)}"
                )
            there = dict.fromkeys(one.where[key] for one in named if key in one.where)
            if said not in there:
                raise RequirementError(
                    f"requirement {shown(limit.text)!r}: no {shown(key)} is called {shown(said)}"
                    f"{did_you_mean(said, there)}"
                )
        raise RequirementError(f"requirement {shown(limit.text)!r}: nothing measured fits all of its filter at once")
    by_status: dict[str, list[Quantity]] = {}
    for one in held:
        by_status.setdefault(limit.status(one), []).append(one)
    for status in ("breached", "undecided", "met"):
        found = by_status.get(status, [])
        if not found:
            continue
        if status == "met" and len(found) > 1:
            return RequirementAudit(limit.text, status, f"all {len(found):,} values keep the limit")
        some = [limit.judge(one)[1] for one in found[:_MOST_REASONS]]
        if len(held) > 1:
            some[0] = f"{len(found):,} of {len(held):,} values: {some[0]}"
        if len(found) > _MOST_REASONS:
            some.append(f"and {len(found) - _MOST_REASONS:,} more")
        return RequirementAudit(limit.text, status, "; ".join(some))
    raise ValueError("there is nothing to judge")
