"""What several commands do with their reports: files, and standard output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from justicia.progress import stage

__all__ = ["show_made", "write_reports"]


def write_reports(report: Any, targets: Mapping[str, str | None]) -> str | None:
    """Write a report as "json", "html" or "junit", each to its target; return what standard output gets in place of it.

    Parameters
    ----------
    report : object
        With methods such as `to_json`, which take a path and return the text without one.
    targets : mapping of str to (str or None)
        By kind; "-" is standard output, None is no target.
    """
    texts = []
    for kind, target in targets.items():
        if target is not None:
            stage("writing %s", kind)
            texts.append(getattr(report, f"to_{kind}")(None if target == "-" else target))
    return next((text for text in texts if text is not None), None)


def show_made(made: Any, width: int) -> None:
    """Print what rich can show; where standard output is no terminal, as text of some width."""
    from rich.console import Console

    from justicia.report.generations_text import printed

    console = Console()
    if console.is_terminal:
        console.print(made)
    else:
        click.echo(printed(made, width), nl=False)
