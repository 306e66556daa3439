"""Adverse impact, and ranges over people of unknown group: tables and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from justicia.metrics.four_fifths import FOUR_FIFTHS_SOURCE
from justicia.report.groups import MOST_GROUPS, number
from justicia.words import counted, shown

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

    from justicia.enclosure import Enclosure
    from justicia.metrics.adverse_impact import AdverseImpact, GroupImpact
    from justicia.metrics.assignments import Assignments

__all__ = ["impact_definitions", "impact_to_dict", "ranges_to_dict", "render_impact", "render_ranges"]

_LONGEST_NAME = 40
_EXPLAINED = {
    "ratio": "selection rate / the highest one; its interval is of that ratio alone: log-ratio, or score (Koopman) "
    "where nobody or everybody is selected",
    "p": "two-sided, equal selection rates: pooled z test, or Fisher's exact test (marked F) when the two groups have "
    "fewer than 30 people or an expected count is below 5; Holm: corrected for all groups that are compared",
    "short": "selections by which the group is short of the pooled rate of the two",
    "one person": "what moving one selection between the two changes: the order of their rates, or the screen",
}


def render_impact(
    held: AdverseImpact | None, groups: Sequence[Mapping[str, str]], confidence: float, all_groups: bool
) -> list[ConsoleRenderable]:
    """The table below its heading; nothing when tests were not asked for, or there is nothing to test."""
    if held is None or held.reference is None:
        return []
    highest = ", ".join(groups[held.reference].values())
    heading = Text(f"rows against the highest rate among them, that of {shown(highest, 200)}")
    return [Text(""), heading, impact_table(held, groups, confidence, all_groups)]


def render_ranges(
    held: Assignments | None, groups: Sequence[Mapping[str, str]], all_groups: bool
) -> list[ConsoleRenderable]:
    """The table of ranges below its heading; nothing when they were not asked for."""
    if held is None or not held.people:
        return []
    return [Text(""), Text(ranges_says(held)), ranges_table(held, groups, all_groups)]


def impact_table(
    held: AdverseImpact, groups: Sequence[Mapping[str, str]], confidence: float, all_groups: bool
) -> Table:
    """Every group against the one with the highest selection rate, the lowest impact ratio first."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in groups[0] if groups else ():
        table.add_column(Text(shown(name, _LONGEST_NAME)), no_wrap=True)
    for heading in (
        "ratio",
        f"{100 * confidence:.6g}%",
        "z",
        "p",
        "Holm",
        "odds",
        "short",
        "four fifths",
        "one person",
    ):
        table.add_column(heading, justify="left" if heading[-1] in "%sn" else "right", no_wrap=True)
    order = sorted(held.groups, key=lambda one: (2 if one.impact_ratio is None else one.impact_ratio, one.position))
    for one in order if all_groups else order[:MOST_GROUPS]:
        table.add_row(*(Text(shown(value, _LONGEST_NAME)) for value in groups[one.position].values()), *_cells(one))
    if len(order) > MOST_GROUPS and not all_groups:
        table.add_row(Text(f"… {len(order) - MOST_GROUPS:,} more", style="dim"))
    return table


def _cells(one: GroupImpact) -> list[Text]:
    screen = {True: "✓ meets", False: "✗ below", None: "-"}[one.four_fifths]
    turns = [words for words, said in (("order", one.reverses_order), ("four fifths", one.changes_four_fifths)) if said]
    cells = [
        "undefined" if one.impact_ratio is None else f"{float(one.impact_ratio):.4f}",
        "-" if one.interval is None else f"{float(one.interval.lo):.3f} to {float(one.interval.hi):.3f}",
        "-" if one.z is None else f"{one.z:.3f}",
        "-" if one.p is None else f"{_p(one.p)}{' F' if one.test == 'fisher' else ''}",
        "-" if one.p_holm is None else _p(one.p_holm),
        "-" if one.odds_ratio is None else f"{one.odds_ratio:.3f}",
        f"{float(one.shortfall):.1f}",
        screen,
        "-" if one.reverses_order is None else " and ".join(turns) or "nothing",
    ]
    return [Text(cell, style="bold red" if cell.startswith("✗") else "") for cell in cells]


def _p(value: float) -> str:
    return f"{value:.4f}" if value >= 1e-4 else f"{value:.0e}"


def impact_definitions(effective: bool) -> dict[str, str]:
    """What the columns of the table are."""
    held = {
        "four fifths": f"{FOUR_FIFTHS_SOURCE}; of ratios, in whole numbers; four fifths exactly meets it",
        **_EXPLAINED,
    }
    if effective:
        held["p"] = (
            "two-sided, equal selection rates: pooled z test on Kish's effective sample sizes of the weighted rows"
        )
        del held["one person"]
    return held


def impact_to_dict(held: AdverseImpact | None, groups: Sequence[Mapping[str, str]]) -> dict[str, Any] | None:
    """Adverse impact as the JSON contract has it; null when it was not asked for."""
    if held is None:
        return None
    return {
        "reference": None if held.reference is None else dict(groups[held.reference]),
        "confidence": held.confidence,
        "four_fifths_source": FOUR_FIFTHS_SOURCE,
        "effective_sample_size": held.effective,
        "groups": [
            {
                "group": dict(groups[one.position]),
                "impact_ratio": None if one.impact_ratio is None else float(one.impact_ratio),
                "interval": None
                if one.interval is None
                else {"lo": float(one.interval.lo), "hi": float(one.interval.hi), "method": one.interval_method},
                "test": one.test,
                "z": one.z,
                "p": one.p,
                "p_holm": one.p_holm,
                "odds_ratio": one.odds_ratio,
                "shortfall": float(one.shortfall),
                "four_fifths": {True: "meets", False: "below", None: None}[one.four_fifths],
                "one_person": None
                if one.reverses_order is None
                else {"reverses_order": one.reverses_order, "changes_four_fifths": one.changes_four_fifths},
            }
            for one in held.groups
        ],
    }


def ranges_table(held: Assignments, groups: Sequence[Mapping[str, str]], all_groups: bool) -> Table:
    """What rates and ratios to the highest rate can be over all assignments of the people of unknown group."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in groups[0]:
        table.add_column(Text(shown(name, _LONGEST_NAME)), no_wrap=True)
    for heading in ("rate", "ratio to the highest"):
        table.add_column(heading, no_wrap=True)
    shown_groups = range(len(groups)) if all_groups else range(min(len(groups), MOST_GROUPS))
    for i in shown_groups:
        cells = ["-" if one is None else number(one) for one in (held.rates[i], held.ratios[i])]
        table.add_row(*(Text(shown(value, _LONGEST_NAME)) for value in groups[i].values()), *map(Text, cells))
    if len(groups) > len(shown_groups):
        table.add_row(Text(f"… {len(groups) - MOST_GROUPS:,} more", style="dim"))
    width = len(groups[0]) - 1
    for title, value in (
        ("disparate impact", held.disparate_impact),
        ("difference", held.statistical_parity_difference),
    ):
        says = "undefined" if value is None else number(value)
        table.add_row(Text(title, style="bold"), *[Text("")] * width, Text(says, style="bold"), Text(""))
    return table


def ranges_says(held: Assignments) -> str:
    """Whom the ranges are over."""
    people = counted(held.people, "person", "people")
    ends = (
        ""
        if held.exact
        else "; some upper ends of ratios and the lower end of the difference are bounds, with people in parts"
    )
    return f"over all groups that {people} of unknown group may be in ({held.selected:,} of them selected){ends}"


def ranges_to_dict(held: Assignments | None, groups: Sequence[Mapping[str, str]]) -> dict[str, Any] | None:
    """The same as the JSON contract has it; null when they were not asked for."""
    if held is None:
        return None
    return {
        "people": held.people,
        "selected": held.selected,
        "exact": held.exact,
        "groups": [
            {"group": dict(group), "selection_rate": _ends(rate), "ratio": _ends(ratio)}
            for group, rate, ratio in zip(groups, held.rates, held.ratios, strict=True)
        ],
        "disparate_impact": _ends(held.disparate_impact),
        "statistical_parity_difference": _ends(held.statistical_parity_difference),
    }


def _ends(value: Enclosure | None) -> dict[str, float] | None:
    return None if value is None else {"lo": float(value.lo), "hi": float(value.hi)}
