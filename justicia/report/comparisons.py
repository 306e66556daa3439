"""Measures to all people together and to a reference group, and strata of lawful factors: tables that are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from justicia.enclosure import Enclosure
from justicia.metrics import CONDITIONAL, Rates, contrasts
from justicia.report.groups import MOST_GROUPS, middle, number, signed
from justicia.words import shown

if TYPE_CHECKING:
    from justicia.comparison import GroupingAudit
    from justicia.metrics import Contrast, Measure

__all__ = ["Reference", "reference_table", "references", "strata_table", "undefined_or"]

_LONGEST_NAME = 40


@dataclass(frozen=True)
class Reference:
    """A group beside the reference group, by rates of one source.

    Attributes
    ----------
    ratio : Enclosure or None
        Its selection rate over the reference group's, which may exceed 1; None where the latter may be 0.
    difference : Enclosure
        Its selection rate minus the reference group's, signed.
    average_odds : Enclosure or None
        Mean of the signed differences of true and of false positive rate, which may cancel each other out.
    """

    ratio: Enclosure | None
    difference: Enclosure
    average_odds: Enclosure | None


def references(rates: Rates | None) -> list[Reference | None]:
    """Every group beside the reference group; None for the reference group itself, and undefined rates."""
    if rates is None:
        return []
    selection = contrasts(rates, "selection_rate", "to_reference")
    true, false = (
        contrasts(rates, kind, "to_reference") if rates.of(kind) else [None] * len(selection) for kind in ("tpr", "fpr")
    )
    return [
        None if one is None else Reference(one.ratio, one.difference, _mean(a, b))
        for one, a, b in zip(selection, true, false, strict=True)
    ]


def _mean(one: Contrast | None, other: Contrast | None) -> Enclosure | None:
    if one is None or other is None:
        return None
    return Enclosure((one.difference.lo + other.difference.lo) / 2, (one.difference.hi + other.difference.hi) / 2)


def undefined_or(measure: Measure) -> str:
    """A measure as a number with four decimals, or a word that it has none."""
    return "undefined" if measure.value is None else number(measure.value)


def _or_none(value: Enclosure | None, form: Any = number) -> str:
    return "-" if value is None else str(form(value))


def reference_table(grouping: GroupingAudit, all_groups: bool) -> Table | None:
    """Every group beside the reference group, largest verified rate first; None without one."""
    if grouping.reference is None:
        return None
    verified = references(grouping.evidence.verified)
    samples = references(grouping.evidence.samples.rates)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in grouping.sensitive:
        table.add_column(Text(shown(name, _LONGEST_NAME)), no_wrap=True)
    headings = ["ratio", "difference", "rows' ratio", "rows' difference"]
    if grouping.strata:
        headings.append("signed average odds")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    order = sorted(range(len(verified)), key=lambda i: (-middle(grouping.groups[i]), i))
    held = [i for i in order if verified[i] is not None]
    for i in held if all_groups else held[:MOST_GROUPS]:
        one, rows = verified[i], samples[i]
        if one is None:
            continue
        cells = [
            _or_none(one.ratio),
            signed(one.difference),
            "-" if rows is None else _or_none(rows.ratio),
            "-" if rows is None else signed(rows.difference),
        ]
        if grouping.strata:
            cells.append(_or_none(one.average_odds, signed))
        names = [Text(shown(value, _LONGEST_NAME)) for value in grouping.groups[i].group.values()]
        table.add_row(*names, *map(Text, cells))
    if len(held) > MOST_GROUPS and not all_groups:
        table.add_row(Text(f"… {len(held) - MOST_GROUPS:,} more", style="dim"))
    return table


def strata_table(grouping: GroupingAudit, all_groups: bool) -> Table | None:
    """Parity of selection rates inside each stratum, and the worst; None where no lawful factor was named."""
    held = grouping.conditional
    if held is None:
        return None
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in held.factors:
        table.add_column(Text(shown(name, _LONGEST_NAME)), no_wrap=True)
    for heading in ("people", "groups", "ratio", "difference", "rows' ratio", "rows' difference"):
        table.add_column(heading, justify="right", no_wrap=True)
    shown_strata = held.strata if all_groups else held.strata[:MOST_GROUPS]
    for stratum in shown_strata:
        cells = [f"{stratum.n:,}", f"{len(stratum.groups):,}"]
        cells += [undefined_or(stratum.verified(name)) for name in _NAMES]
        cells += [undefined_or(stratum.sample(name).measure) for name in _NAMES]
        table.add_row(*_words(tuple(stratum.stratum.values())), *map(Text, cells))
    if len(held.strata) > len(shown_strata):
        table.add_row(Text(f"… {len(held.strata) - len(shown_strata):,} more", style="dim"))
    cells = ["", ""]
    cells += [undefined_or(held.verified(name)) for name in _CONDITIONAL_NAMES]
    cells += [undefined_or(held.sample(name)) for name in _CONDITIONAL_NAMES]
    label = Text("worst", style="bold")
    table.add_row(label, *[Text("")] * (len(held.factors) - 1), *(Text(cell, style="bold") for cell in cells))
    return table


_CONDITIONAL_NAMES = ("conditional_parity_ratio", "conditional_parity_difference")
_NAMES = tuple(CONDITIONAL[name] for name in _CONDITIONAL_NAMES)


def _words(values: Sequence[str]) -> list[Text]:
    return [Text(shown(value, _LONGEST_NAME)) for value in values]
