"""A comparison of models and tools as one HTML file that needs nothing else: the tables of the terminal, in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from justicia.report.html import write_page
from justicia.report.side_by_side import sections_of
from justicia.report.side_by_side_json import comparison_to_dict
from justicia.words import shown

if TYPE_CHECKING:
    from rich.table import Table

    from justicia.comparing import Comparison

__all__ = ["comparison_to_html"]


def comparison_to_html(held: Comparison) -> str:
    """The comparison as the text of an HTML file."""
    found = comparison_to_dict(held)
    parts = [
        {
            "title": section.title,
            "facts": section.facts,
            "tables": [_plain(caption or section.title, table) for caption, table in section.tables],
            "says": section.says,
        }
        for section in sections_of(held, all_groups=True)
    ]
    names = " and ".join(side.name for side in held.sides)
    return write_page(
        "comparison.html",
        found,
        kind="comparison",
        comparison=found,
        title=f"{shown(names, 200)}, compared",
        sections=parts,
    )


def _plain(caption: str, table: Table) -> dict[str, Any]:
    """The cells of a table as text, and which columns are words."""
    columns = list(table.columns)
    cells = [[getattr(cell, "plain", cell) for cell in column.cells] for column in columns]
    return {
        "caption": caption,
        "columns": [(getattr(column.header, "plain", column.header), column.justify == "left") for column in columns],
        "rows": list(zip(*cells, strict=True)),
    }
