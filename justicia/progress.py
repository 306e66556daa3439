"""A bar on the terminal for work that takes a while."""

from __future__ import annotations

import sys
from typing import Any

from justicia.words import shown

__all__ = ["Bar"]


class Bar:
    """Shows on a terminal how far the work is, from the first time that there is something to show.

    Parameters
    ----------
    wanted : bool
        Nothing is shown otherwise, nor where standard error is no terminal.
    """

    def __init__(self, wanted: bool = True) -> None:
        self._wanted = wanted and sys.stderr is not None and sys.stderr.isatty()
        self._progress: Any = None

    def show(self, text: str, done: float) -> None:
        """Move the bar."""
        if not self._wanted:
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        if self._progress is None:
            columns = (BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._progress.add_task("", total=1.0)
            self._progress.start()
        self._progress.update(self._task, description=shown(text, 300), completed=done)

    def stop(self) -> None:
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
