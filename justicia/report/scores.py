"""The score of a linear or additive model as a table: what each feature adds, so that a reader sees the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from justicia.encoders.linear_threshold import LinearThreshold
from justicia.words import shown

if TYPE_CHECKING:
    from justicia.audit import Audit

__all__ = ["rule_text", "score_table"]

MOST_FEATURES = 20
_LONGEST = 32


def rule_text(decision: LinearThreshold) -> str:
    """The decision rule in words."""
    if decision.threshold == float.fromhex("-0x0.0000000000001p-1022"):
        comparison = "at least 0" if decision.accepts_above else "below 0"
    else:
        comparison = f"{'above' if decision.accepts_above else 'not above'} {decision.threshold:.6g}"
    return f"favorable when the score is {comparison}; score = {decision.base:.6g} + what each feature adds"


def score_table(audit: Audit, *, every: bool) -> Table | None:
    """Features by the range of what they add, widest first; None for other models, and when nothing is added.

    Parameters
    ----------
    audit : Audit
    every : bool
        Show every feature, however many there are.
    """
    if not isinstance(audit.decision, LinearThreshold) or not audit.contributions:
        return None
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("feature", no_wrap=True)
    for heading in ("adds least", "most"):
        table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("at", style="dim", no_wrap=True)
    held = audit.contributions
    few = held if every or len(held) <= MOST_FEATURES else held[:MOST_FEATURES]
    for one in few:
        cells = (one.feature, f"{one.lo:+.4g}", one.lo_at, f"{one.hi:+.4g}", one.hi_at)
        table.add_row(*(Text(shown(cell, _LONGEST)) for cell in cells))
    if len(few) < len(held):
        table.add_row(Text(f"… {len(held) - len(few):,} more, each in a narrower range", style="dim"))
    return table
