"""What the value is that a requirement limits, given the rates of the groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from justicia.enclosure import Enclosure
from justicia.errors import GroupingError, RequirementError
from justicia.metrics.contrasts import too_few
from justicia.metrics.disparities import measure
from justicia.metrics.rates import Measure, Rates
from justicia.metrics.requirements import CONDITIONAL, RATE_NAMES, Requirement, filter_pairs
from justicia.words import did_you_mean, shown, value_text

__all__ = [
    "check_filters",
    "matching",
    "measured",
    "parse_reference",
    "reference_position",
    "reference_positions",
    "worst_of",
]


def matching(where: Iterable[tuple[str, str]], groups: Sequence[Mapping[str, str]]) -> list[int]:
    """Positions of the groups that have the values of a filter; none where they lack one of its columns."""
    return [i for i, group in enumerate(groups) if all(group.get(column) == value for column, value in where)]


def measured(requirement: Requirement, groups: Sequence[Mapping[str, str]], rates: Rates) -> Measure:
    """The value that a requirement limits, among the groups that its filter names.

    Parameters
    ----------
    requirement : Requirement
        About a rate, or about a measure between groups.
    groups : sequence of mapping of str to str
        The groups, as `rates` has them.
    rates : Rates

    >>> from fractions import Fraction
    >>> from justicia.metrics import parse_requirement
    >>> rates = Rates([Enclosure(Fraction(3, 4), Fraction(3, 4)), Enclosure(Fraction(3, 5), Fraction(3, 5))])
    >>> measured(parse_requirement("disparate_impact>=0.8"), [{"sex": "f"}, {"sex": "m"}], rates).value
    Enclosure(lo=Fraction(4, 5), hi=Fraction(4, 5))
    """
    compared = rates
    if requirement.where:
        named = frozenset(matching(requirement.where, groups))
        compared = replace(rates, compared=named if rates.compared is None else named & frozenset(rates.compared))
    if not requirement.of_rate:
        name = CONDITIONAL.get(requirement.measure, requirement.measure)
        return measure(name, compared, requirement.against)
    kind, lacking = RATE_NAMES[requirement.measure]
    held = compared.spread(kind)
    if not held.sure + held.perhaps:
        return Measure(None, too_few(0, held.reason))
    smallest, largest = Enclosure(held.lowest_lo, held.lowest_hi), Enclosure(held.highest_lo, held.highest_hi)
    if lacking:
        smallest, largest = (Enclosure(1 - one.hi, 1 - one.lo) for one in (largest, smallest))
    return Measure(smallest if requirement.shrinks else largest, held.reason)


def worst_of(parts: Sequence[Measure], *, smallest: bool, where: str = "strata") -> Measure:
    """The smallest, or the largest, of several measures; incomplete where one is undefined."""
    held = [part.value for part in parts if part.value is not None]
    reasons = dict.fromkeys(part.undefined for part in parts if part.undefined)
    undefined = sum(part.undefined is not None for part in parts)
    reason = f"{'; '.join(reasons)}, in {undefined} of {len(parts)} {where}" if reasons else None
    if not held:
        return Measure(None, reason or f"there are no {where}")
    choose = min if smallest else max
    return Measure(Enclosure(choose(one.lo for one in held), choose(one.hi for one in held)), reason)


def check_filters(requirements: Iterable[Requirement], groupings: Sequence[Sequence[Mapping[str, str]]]) -> None:
    """Refuse a requirement on groups that there are none of.

    Parameters
    ----------
    requirements : iterable of Requirement
    groupings : sequence of sequence of mapping of str to str
        The groups of each grouping, strata of a lawful factor among their columns where there is one.

    Raises
    ------
    RequirementError
        The message proposes the nearest column or value.
    """
    for requirement in requirements:
        if any(matching(requirement.where, groups) for groups in groupings):
            continue
        says = f"requirement {shown(requirement.text)!r}:"
        columns = list(dict.fromkeys(column for groups in groupings for group in groups[:1] for column in group))
        for column, value in requirement.where:
            if column not in columns:
                raise RequirementError(
                    f"{says} {shown(column)!r} is not among the sensitive columns{did_you_mean(column, columns)}"
                )
            values = list(dict.fromkeys(group[column] for groups in groupings for group in groups if column in group))
            if value not in values:
                raise RequirementError(
                    f"{says} nobody has {shown(value)!r} in {shown(column)!r}{did_you_mean(value, values)}"
                )
        raise RequirementError(
            f"{says} no group has all of these values: its columns have to stand together in one --sensitive, and "
            "people with these values among the rows"
        )


def parse_reference(reference: object) -> dict[str, str] | None:
    """A reference group from a text such as ``race=White,sex=Male``, or a mapping; None stays None.

    Raises
    ------
    GroupingError
        When it has another form.
    """
    if reference is None:
        return None
    if isinstance(reference, Mapping):
        held = {str(column): value_text(value) for column, value in reference.items()}
    elif isinstance(reference, str):
        try:
            held = dict(filter_pairs(reference))
        except RequirementError as error:
            raise GroupingError(f"reference {shown(reference)!r}: {error}") from None
    else:
        raise GroupingError(
            f"a reference group is a text such as 'race=White,sex=Male' or a mapping, not {reference!r}"
        )
    if not held:
        raise GroupingError("the reference group names no column: write column=value,column=value")
    return held


def reference_position(
    reference: Mapping[str, str] | None, sensitive: Sequence[str], groups: Sequence[Sequence[str]]
) -> int | None:
    """Position of the reference group among the groups of a grouping; None where it does not name all its columns.

    Raises
    ------
    GroupingError
        When it names them, and nobody is in that group.
    """
    if reference is None or any(name not in reference for name in sensitive):
        return None
    wanted = tuple(reference[name] for name in sensitive)
    for position, group in enumerate(groups):
        if tuple(group) == wanted:
            return position
    for place, name in enumerate(sensitive):
        values = list(dict.fromkeys(group[place] for group in groups))
        if reference[name] not in values:
            raise GroupingError(
                f"reference group: nobody has {shown(reference[name])!r} in {shown(name)!r}"
                f"{did_you_mean(reference[name], values)}"
            )
    raise GroupingError(f"reference group: nobody is {', '.join(map(shown, wanted))}: name a group that has people")


def reference_positions(
    reference: Mapping[str, str] | None, groupings: Sequence[tuple[Sequence[str], Sequence[Sequence[str]]]]
) -> list[int | None]:
    """The same in several groupings, each by its sensitive columns and its groups.

    Raises
    ------
    GroupingError
        When the reference group is in none of them.
    """
    columns = list(dict.fromkeys(name for sensitive, _ in groupings for name in sensitive))
    strange = [name for name in reference or () if name not in columns]
    if strange:
        raise GroupingError(
            f"reference group: {shown(strange[0])!r} is not among the sensitive columns"
            f"{did_you_mean(strange[0], columns)}"
        )
    found = [reference_position(reference, sensitive, groups) for sensitive, groups in groupings]
    if reference is not None and all(position is None for position in found):
        lacking = [name for name in groupings[0][0] if name not in reference]
        raise GroupingError(f"the reference group has no value of {', '.join(map(shown, lacking))}: name one of each")
    return found
