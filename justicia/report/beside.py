"""What the HTML report says beside the groups themselves: the reference group, and strata of lawful factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from justicia.report.cells import NOTHING, Json, between, both_ends, group_name, group_words, rate, sample, text
from justicia.words import counted, shown

__all__ = ["ReferenceView", "StrataView", "reference_of", "strata_of"]

_UNDEFINED = "undefined"


@dataclass(frozen=True)
class ReferenceView:
    """Groups beside the reference group.

    Attributes
    ----------
    name : str
        Of the reference group.
    groups : list of (str, list of str)
        Name, verified ratio and difference, those of the rows.
    measures : list of (str, str, str)
        Name, verified and rows.
    """

    name: str
    groups: list[tuple[str, list[str]]]
    measures: list[tuple[str, str, str]]


@dataclass(frozen=True)
class StrataView:
    """Groups inside each stratum of lawful factors.

    Attributes
    ----------
    factors : str
    strata : list of (str, str, list of str)
        Name, people, and verified and rows' ratio and difference.
    worst : list of (str, str, str)
        Measure, value over all strata, and where it is worst.
    alone : str
        Strata of one group only, where there is nothing to compare; empty when there are none.
    """

    factors: str
    strata: list[tuple[str, str, list[str]]]
    worst: list[tuple[str, str, str]]
    alone: str


def reference_of(grouping: Json) -> ReferenceView | None:
    """The groups beside the reference group; None where none was named."""
    if not grouping.get("reference"):
        return None
    keys = ("ratio", "difference", "sample_ratio", "sample_difference")
    first, left_out, last = both_ends([group for group in grouping["groups"] if group.get("to_reference") is not None])
    groups = [
        (_name(group["group"]), [_value(group["to_reference"].get(key)) for key in keys]) for group in (*first, *last)
    ]
    if left_out:
        groups.insert(len(first), (between(left_out), [""] * len(keys)))
    measures = [
        (name.replace("_", " "), _value(held), _sample(held))
        for name, measure in grouping["measures"].items()
        if measure is not None and (held := measure.get("to_reference")) is not None
    ]
    return ReferenceView(group_words(grouping["reference"]), groups, measures)


def strata_of(grouping: Json) -> StrataView | None:
    """The strata of lawful factors; None where none was named."""
    conditional = grouping.get("conditional")
    if conditional is None:
        return None
    strata = []
    first, left_out, last = both_ends(conditional["strata"])
    for stratum in (*first, *last):
        ratio, difference = stratum["disparate_impact"], stratum["statistical_parity_difference"]
        cells = [_value(ratio), _sample(ratio), _value(difference), _sample(difference)]
        strata.append((_name(stratum["stratum"]), f"{stratum['n']:,}", cells))
    if left_out:
        strata.insert(len(first), (between(left_out), "", [""] * 4))
    worst = [
        (name.replace("_", " "), _value(held), _name(held.get("stratum")))
        for name, held in grouping["measures"].items()
        if held is not None and name.startswith("conditional_")
    ]
    alone = conditional["one_group_only"]
    says = f"{counted(len(alone), 'stratum', 'strata')} with people of one group only" if alone else ""
    return StrataView(" × ".join(shown(name, 60) for name in conditional["given"]), strata, worst, says)


def _name(group: Json | None) -> str:
    return group_name(group, NOTHING)


def _value(held: Any) -> str:
    """A number, or the ends of a range; undefined where there is none."""
    return rate(held) if isinstance(held, (int, float)) else text(held, _UNDEFINED)


def _sample(held: Json | None) -> str:
    return sample((held or {}).get("sample"), _UNDEFINED)
