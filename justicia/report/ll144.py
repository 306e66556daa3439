"""The layout of Local Law 144: text and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from justicia.ll144 import STATEMENT
from justicia.words import shown

if TYPE_CHECKING:
    from rich.console import RenderableType

    from justicia.ll144 import Category, Layout, LayoutTable

__all__ = ["layout_to_dict", "render_layout"]

_LONGEST_NAME = 60
_NOTE = (
    "Each table has its own highest rate. People of unknown category are in no rate of the table. The law sets no pass "
    "mark; this is a calculation, and says nothing about what anybody has to do."
)


def render_layout(layout: Layout) -> RenderableType:
    """The tables as something that a rich console prints."""
    parts: list[RenderableType] = [Text(""), Text(f"Impact ratios: {STATEMENT}", style="bold")]
    for table in layout.tables:
        parts += [Text(""), _title(table), Padding(_table(table, layout.median is not None), (0, 0, 0, 2))]
    reasons = {one.left_out for table in layout.tables for one in table.categories if one.left_out}
    parts.append(Text(""))
    parts += [Text(f"* {reason}", style="dim") for reason in sorted(reasons)]
    parts.append(Text(_NOTE, style="dim"))
    return Group(*parts)


def _title(table: LayoutTable) -> Text:
    unknown = "a number that is suppressed" if table.unknown is None else f"{table.unknown:,}"
    return Text.assemble(
        (table.title, "bold"),
        f" ({shown(' x '.join(table.sensitive), 200)}): {shown(table.rule, 300)}; of unknown category: {unknown}",
    )


def _table(table: LayoutTable, scored: bool) -> Table:
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in table.sensitive:
        grid.add_column(Text(shown(name, _LONGEST_NAME)), no_wrap=True)
    words = ("above median", "scoring rate") if scored else ("selected", "selection rate")
    for heading in ("people", *words, "impact ratio"):
        grid.add_column(heading, justify="right", no_wrap=True)
    for one in table.categories:
        names = (Text(shown(value, _LONGEST_NAME)) for value in one.group.values())
        grid.add_row(*names, *map(Text, _cells(one)))
    return grid


def _cells(one: Category) -> list[str]:
    if one.n is None or one.selected is None or one.rate is None:
        return ["suppressed", "-", "-", "-"]
    ratio = "*" if one.left_out else "undefined" if one.impact_ratio is None else f"{float(one.impact_ratio):.4f}"
    return [f"{one.n:,}", f"{one.selected:,}", f"{float(one.rate):.4f}", ratio]


def layout_to_dict(layout: Layout | None) -> dict[str, Any] | None:
    """The tables as the JSON contract has them; null when the layout was not asked for."""
    if layout is None:
        return None
    return {
        "name": "ll144",
        "statement": STATEMENT,
        "median": layout.median,
        "median_of": None if layout.scored is None else layout.scored,
        "tables": [
            {
                "title": table.title,
                "sensitive": list(table.sensitive),
                "rule": table.rule,
                "people": table.people,
                "unknown": table.unknown,
                "highest": table.highest,
                "categories": [
                    {
                        "group": one.group,
                        "n": one.n,
                        "selected": one.selected,
                        "rate": None if one.rate is None else float(one.rate),
                        "impact_ratio": None if one.impact_ratio is None else float(one.impact_ratio),
                        "left_out": one.left_out,
                    }
                    for one in table.categories
                ],
            }
            for table in layout.tables
        ],
    }
