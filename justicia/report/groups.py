"""The groups of a grouping as a table that fits the terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from justicia.report.wording import with_names
from justicia.words import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from justicia.comparison import GroupAudit, GroupingAudit
    from justicia.enclosure import Enclosure

__all__ = [
    "BOOTSTRAP",
    "MOST_GROUPS",
    "REMAINING",
    "SHIFTED",
    "STATISTICAL",
    "group_table",
    "interval_methods",
    "is_left_out",
    "middle",
    "number",
    "outside",
    "percent",
    "signed",
]

STATISTICAL = "statistical"
"""Heading of bounds that hold but for a small probability."""
BOOTSTRAP = "bootstrap"
"""Heading of bootstrap intervals."""
SHIFTED = "shifted"
"""Heading of ranges over shifts of the population."""
REMAINING = "remaining"
"""Heading of what remains with the mediators of the most favored group."""
LEFT_OUT = "†"
"""Beside the people of groups that enter no measure."""
MOST_GROUPS = 40
"""Longer tables show the groups at both ends, and the smallest."""
_ENDS = 10
_SMALLEST = 5
_BAR = 16
_LONGEST_NAME = 40


def group_table(grouping: GroupingAudit, confidence: float, width: int, all_groups: bool) -> Table:
    """Groups by verified rate, largest first; columns that do not fit are left out, the least needed first.

    Parameters
    ----------
    grouping : GroupingAudit
    confidence : float
        Of the intervals.
    width : int
        Characters that the table may take.
    all_groups : bool
        Show every group, however many there are.
    """
    held = [group for group in grouping.reported if group.selection_rate is not None]
    held.sort(key=lambda group: (-middle(group), tuple(group.group.values())))
    empty = [group for group in grouping.reported if group.selection_rate is None]
    largest = max((middle(group) for group in held), default=0.0)
    names = [[shown(value, _LONGEST_NAME) for value in group.group.values()] for group in (*held, *empty)]
    cells = [_cells(group, largest, confidence) for group in (*held, *empty)]
    _mark_left_out(cells, [*held, *empty])
    order = _shown_rows(held, empty, all_groups)
    columns = _columns(grouping, [row for row in order if isinstance(row, int)], names, cells, confidence, width)

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in grouping.sensitive:
        table.add_column(Text(shown(name, _LONGEST_NAME)), no_wrap=True)
    for column in columns:
        left = column in ("", percent(confidence))
        table.add_column(column, justify="left" if left else "right", no_wrap=True)
    for row in order:
        if isinstance(row, str):
            table.add_row(Text(row, style="dim"))
        else:
            chosen = (Text(cells[row][column], style="" if column else "cyan") for column in columns)
            table.add_row(*(Text(name) for name in names[row]), *chosen)
    return table


def _shown_rows(held: Sequence[GroupAudit], empty: Sequence[GroupAudit], all_groups: bool) -> list[int | str]:
    """Positions of the groups to show, with notes between them."""
    every: list[int | str] = list(range(len(held) + len(empty)))
    if all_groups or len(every) <= MOST_GROUPS:
        return every
    first_end = min(_ENDS, len(held))
    second_start = max(first_end, len(held) - _ENDS)
    smallest = sorted(range(len(held)), key=lambda position: held[position].n)[:_SMALLEST]
    rows = every[:first_end]
    if second_start > first_end:
        rows += [f"… {second_start - first_end:,} more"]
    rows += [*every[second_start : len(held)], "smallest groups", *smallest]
    if empty:
        rows += ["without people", *every[len(held) : len(held) + _SMALLEST]]
    if len(empty) > _SMALLEST:
        rows += [f"… {len(empty) - _SMALLEST:,} more"]
    return rows


def _columns(
    grouping: GroupingAudit,
    rows: Sequence[int],
    names: Sequence[Sequence[str]],
    cells: Sequence[dict[str, str]],
    confidence: float,
    width: int,
) -> list[str]:
    """Columns that fit beside the names."""
    inner = [STATISTICAL] if grouping.solution.interval is not None else []
    drawn = [BOOTSTRAP] if grouping.uncertainty.bootstrap is not None else []
    moved = [SHIFTED] if grouping.shift is not None else []
    moved += [REMAINING] if grouping.remaining is not None else []
    columns = ["people", "verified", *inner, *drawn, *moved, "", "rows", percent(confidence)]
    columns += ["TPR", "FPR"] if grouping.strata else []
    taken = sum(
        2 + max([len(shown(name, _LONGEST_NAME)), *(len(names[row][position]) for row in rows)])
        for position, name in enumerate(grouping.sensitive)
    )
    wide = {column: 2 + max([len(column), *(len(cells[row][column]) for row in rows)]) for column in columns}
    for column in (
        ("", "FPR", "TPR", percent(confidence), "rows") if drawn else ("", percent(confidence), "FPR", "TPR", "rows")
    ):
        if taken + sum(wide[held] for held in columns) <= width:
            break
        if column in columns:
            columns.remove(column)
    return columns


def _cells(group: GroupAudit, largest: float, confidence: float) -> dict[str, str]:
    rate, sample = group.selection_rate, group.sample_rate
    held = {
        "people": f"{group.n:,}",
        "verified": "-",
        "": "",
        "rows": "",
        percent(confidence): "",
        "TPR": _rate(group.narrowest("tpr")),
        "FPR": _rate(group.narrowest("fpr")),
        STATISTICAL: _rate(group.narrowest("selection_rate")),
        BOOTSTRAP: _rate(group.bootstrap.get("selection_rate")),
        SHIFTED: _rate(rate if group.shift else None),
        REMAINING: _rate(group.remaining_intervals.get("selection_rate", group.remaining.get("selection_rate"))),
    }
    if rate is not None and sample is not None:
        held["verified"] = _rate(group.unshifted("selection_rate")) + ("*" if outside(group) else " ")
        held[""] = "█" * (round(_BAR * middle(group) / largest) if largest else 0)
        held["rows"] = f"{float(sample.value):.4f}"
        held[percent(confidence)] = f"{sample.lo:.4f} to {sample.hi:.4f}"
    return held


def is_left_out(note: str | None, n: int) -> bool:
    """Whether a group with people has too few of them to enter a measure."""
    return bool(n) and "left out" in (note or "")


def _mark_left_out(cells: Sequence[dict[str, str]], groups: Sequence[GroupAudit]) -> None:
    """Mark the numbers of people of groups that enter no measure, and keep the others in line with them."""
    marked = [is_left_out(group.note, group.n) for group in groups]
    if any(marked):
        for cell, left_out in zip(cells, marked, strict=True):
            cell["people"] += LEFT_OUT if left_out else " " * len(LEFT_OUT)


def percent(confidence: float) -> str:
    """Heading of a column of intervals."""
    return f"{100 * confidence:.6g}% interval"


def middle(group: GroupAudit) -> float:
    """Middle of a group's verified rate, 0 without one; for sorting and bars."""
    rate = group.narrowest("selection_rate")
    return 0.0 if rate is None else rate.middle


def outside(group: GroupAudit) -> bool:
    """Whether the verified rate lies outside the interval of the rows' rate."""
    rate, sample = group.narrowest("selection_rate"), group.sample_rate
    return rate is not None and sample is not None and (float(rate.hi) < sample.lo or float(rate.lo) > sample.hi)


def _rate(rate: Enclosure | None) -> str:
    return "-" if rate is None else number(rate)


def number(enclosure: Enclosure) -> str:
    """An enclosure with four decimals, rounded outwards when it is a bound."""
    if enclosure.exact:
        return f"{float(enclosure.lo):.4f}"
    low, high = int(float(enclosure.lo) * 1e4) / 1e4, -int(-float(enclosure.hi) * 1e4 // 1) / 1e4
    return f"{low:.4f} to {high:.4f}"


def signed(enclosure: Enclosure) -> str:
    """The same with its sign."""
    if enclosure.exact:
        return f"{float(enclosure.lo):+.4f}"
    low, high = (math.floor(float(enclosure.lo) * 1e4) / 1e4, math.ceil(float(enclosure.hi) * 1e4) / 1e4)
    return f"{low:+.4f} to {high:+.4f}"


def interval_methods(groupings: Iterable[Any]) -> str:
    """How the intervals of the rows' rates and measures were found, in words.

    Parameters
    ----------
    groupings : iterable of GroupingAudit or DecisionGrouping
    """
    held = list(groupings)
    rates = [group.sample_rate.method for one in held for group in one.groups if group.sample_rate is not None]
    measures = [measure.method for one in held for measure in one.measures.values() if measure.interval is not None]
    parts = [
        f"{what}: {with_names('; '.join(dict.fromkeys(methods)))}{alone}"
        for what, methods, alone in (("of groups", rates, ", each alone"), ("of measures", measures, ""))
        if methods
    ]
    return "; ".join(parts)
