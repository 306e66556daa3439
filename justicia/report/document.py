"""What a section of a report says, before anybody decides how it looks: texts, tables and pictures in their order.

A section makes blocks from its part of the audit's JSON; the terminal, the page and the notebook show the same blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from justicia.report.figures import Figure, Plane

__all__ = ["STATUS_OF", "SYMBOLS", "Block", "Cell", "Details", "Formula", "Heading", "Paragraph", "Table", "of_verdict"]

SYMBOLS = {"met": "✓", "breached": "✗", "undecided": "?"}

STATUS_OF = {"holds": "met", "fails": "breached", "too short": "undecided", "undecided": "undecided"}
"""Colours of verdicts are those of requirements."""


@dataclass(frozen=True)
class Cell:
    """A cell that is more than its text.

    Attributes
    ----------
    text : str
    status : {"", "met", "breached", "undecided"}
        Shown by symbol and colour.
    shade : float or None
        Between 0 and 1: how much of the cell is coloured, in tables that are pictures.
    """

    text: str
    status: str = ""
    shade: float | None = None


@dataclass(frozen=True)
class Heading:
    """A heading of the third order."""

    text: str


@dataclass(frozen=True)
class Paragraph:
    """A text; soft ones are remarks."""

    text: str
    soft: bool = False
    warning: bool = False


@dataclass(frozen=True)
class Formula:
    """How something is computed: a name, its definition in words, and the formula."""

    name: str
    says: str
    formula: str = ""


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    label : str
        Names the table for those who hear the page; of its own within the report.
    columns : tuple of str
    rows : tuple of tuples of str or Cell
    caption : str
    left : int
        Columns from the left that hold words: of the first is the row's header.
    short : bool
        Whether it belongs in the terminal and the notebook, too.
    brief : tuple of int
        Columns that are shown there; all when it is empty.
    """

    label: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | Cell, ...], ...]
    caption: str = ""
    left: int = 1
    short: bool = False
    brief: tuple[int, ...] = ()

    @property
    def shortened(self) -> Table:
        """The table as the terminal and the notebook show it."""
        if not self.brief:
            return self
        return replace(
            self,
            columns=tuple(self.columns[place] for place in self.brief),
            rows=tuple(tuple(row[place] for place in self.brief) for row in self.rows),
            left=sum(place < self.left for place in self.brief),
            brief=(),
        )


@dataclass(frozen=True)
class Details:
    """Blocks that open on demand."""

    summary: str
    blocks: tuple[Block, ...] = field(default=())


Block = Heading | Paragraph | Formula | Table | Figure | Plane | Details


def of_verdict(verdict: str) -> Cell:
    """A verdict as a cell.

    >>> of_verdict("too short")
    Cell(text='too short', status='undecided', shade=None)
    """
    return Cell(verdict, STATUS_OF[verdict])
