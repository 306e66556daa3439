"""The answer of the HTML report in plain words, from an audit's JSON alone."""

from __future__ import annotations

from justicia.enclosure import EXACT, Enclosure
from justicia.report.cells import Json, enclosure, group_name, group_words
from justicia.words import counted, shown

__all__ = ["favored", "further_headlines", "headline", "percentage", "title_of_grouping"]

_MOST_SUMMARIES = 12
"""Groupings that the answer speaks of; the others have parts of their own."""


def headline(held: Json) -> str:
    """The answer in one sentence, of the first grouping."""
    groupings = held["groupings"]
    says = _summary(groupings[0]) if groupings else ""
    favorable = held.get("favorable")
    if not (says and favorable and held.get("model")) or str(favorable).casefold() == "yes":
        return says
    return f"{says} “Yes” is the outcome {shown(favorable, 80)}."


def further_headlines(held: Json) -> list[tuple[str, str]]:
    """The same of the other groupings: title and sentence."""
    found = [(title_of_grouping(grouping), _summary(grouping)) for grouping in held["groupings"][1:_MOST_SUMMARIES]]
    return [(title, says) for title, says in found if says]


def title_of_grouping(grouping: Json) -> str:
    """The sensitive columns of a grouping."""
    return " × ".join(shown(name, 60) for name in grouping["sensitive"]) or "everyone"


def favored(grouping: Json) -> list[str]:
    """The most and the least favored group in plain words."""
    says = []
    for key, word in (("most_favored", "most"), ("least_favored", "least")):
        held = grouping.get(key)
        found = None if held is None else enclosure(held["selection_rate"])
        if held is None or found is None:
            continue
        people = _people(grouping, held["group"])
        line = (
            f"Favored {word}: {group_words(held['group'])}{people}. The model says yes to {percentage(found)} of them."
        )
        others = len(held["candidates"]) - 1
        if others > 0:
            names = [group_words(one) for one in held["candidates"] if one != held["group"]]
            few = "; ".join(names[:5]) + (f"; and {len(names) - 5:,} more" if len(names) > 5 else "")
            why = f"Its bounds do not tell it from {counted(others, 'other group')}, which may be {word} favored too"
            why = "Not told apart from it" if found.exact else why
            line += f" {why}: {few}."
        says.append(line)
    return says


def _summary(grouping: Json) -> str:
    most, least = grouping.get("most_favored"), grouping.get("least_favored")
    if most is None or least is None:
        return _summary_of_rows(grouping)
    high, low = enclosure(most["selection_rate"]), enclosure(least["selection_rate"])
    if high is None or low is None:
        return ""
    if group_name(most["group"]) == group_name(least["group"]):
        return (
            f"There is one group with people, {group_words(most['group'])}: the model says yes to {percentage(high)}."
        )
    line = (
        f"The model says yes to {percentage(high)} of the most favored group ({_named(grouping, most)}) "
        f"and to {percentage(low)} of the least favored ({_named(grouping, least)})."
    )
    held = grouping["measures"].get("disparate_impact") or {}
    impact = enclosure(held)
    if impact is None:
        return line
    line += (
        f" For every 100 people it selects in the most favored group, it selects {_per_hundred(impact)} among as many "
        "of the least favored."
    )
    drawn = enclosure(held.get("statistical"))
    if drawn is not None:
        line += f" By drawing people at random it is {_per_hundred(drawn)}, though without the same certainty."
    return line


def _named(grouping: Json, extreme: Json) -> str:
    held = _group_of(grouping, extreme["group"])
    n, selected = held.get("n"), held.get("selected")
    counts = "" if not n or selected is None or held.get("weight") else f"; in the table {selected:,} of {n:,}"
    return f"{group_words(extreme['group'])}{counts}"


def _people(grouping: Json, group: Json, form: str = " ({})") -> str:
    """How many people of the rows are in a group; empty where nothing is known of it."""
    n = _group_of(grouping, group).get("n")
    return "" if n is None else form.format(counted(n, "person", "people"))


def _group_of(grouping: Json, group: Json) -> Json:
    """What is said of a group; nothing where it is not shown."""
    return next((one for one in grouping["groups"] if one["group"] == group), {})


def _summary_of_rows(grouping: Json) -> str:
    """The same where decisions are audited without a model."""
    ends = [grouping.get(key) for key in ("sample_most_favored", "sample_least_favored")]
    rates = {
        group_name(group["group"]): group["sample_rate"]["value"]
        for group in grouping["groups"]
        if group.get("sample_rate") is not None
    }
    names = [group_name(end) for end in ends if end is not None]
    if len(names) < len(ends) or any(name not in rates for name in names) or names[0] == names[1]:
        return ""
    first, last = (f"{group_words(end)}{_people(grouping, end, '; {}')}" for end in ends if end is not None)
    return (
        f"Among the rows, {100 * rates[names[0]]:.1f} % of the group selected most ({first}) get the favorable "
        f"outcome, and {100 * rates[names[1]]:.1f} % of the one selected least ({last})."
    )


def _per_hundred(impact: Enclosure) -> str:
    lo, hi = 100 * float(impact.lo), 100 * float(impact.hi)
    if hi - lo < 0.05:
        return f"{(lo + hi) / 2:.1f}".removesuffix(".0")
    return f"between {int(lo * 10) / 10:.1f} and {-int(-hi * 10 // 1) / 10:.1f}"


def percentage(held: Enclosure) -> str:
    """A rate as a share in words, rounded outwards when it is a bound.

    >>> percentage(Enclosure(0.25, 0.25)), percentage(Enclosure(0.2501, 0.3009))
    ('25.0 %', 'between 25.0 % and 30.1 %')
    """
    lo, hi = float(held.lo), float(held.hi)
    if hi - lo <= EXACT:
        return f"{100 * lo:.1f} %"
    low, high = int(1000 * lo) / 10, -int(-1000 * hi // 1) / 10
    first, last = f"{low:.1f} %", f"{high:.1f} %"
    return first if low == high else f"between {first} and {last}"
