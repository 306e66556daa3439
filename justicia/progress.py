"""What a command is doing, on the terminal, when that takes a while."""

from __future__ import annotations

import logging
import sys
import threading
from types import TracebackType
from typing import Any

from justicia.words import shown

__all__ = ["Bar", "is_told", "stage", "stop_bar", "told"]

PATIENCE = 2.0
"""Seconds after which a stage is shown."""

logger = logging.getLogger("justicia.stages")
facts = logging.getLogger("justicia.facts")


def stage(text: str, *arguments: object) -> None:
    """Say what begins now: a terminal shows it after two seconds, a log of level DEBUG always has it.

    Parameters
    ----------
    text : str
        In the manner of `logging`, as in "fitting %s".
    *arguments : object
    """
    logger.debug(text, *arguments)


def told(what: str, **held: object) -> None:
    """Say a fact that the log of a run keeps: files that were written, rows that were read.

    Parameters
    ----------
    what : str
        In a word.
    **held : object
        By name, as JSON has it.
    """
    facts.debug(what, extra={"held": held})


def is_told() -> bool:
    """Whether somebody keeps facts."""
    return facts.isEnabledFor(logging.DEBUG)


class _Stages(logging.Handler):
    def __init__(self, bar: Bar) -> None:
        super().__init__(logging.DEBUG)
        self._bar = bar

    def emit(self, record: logging.LogRecord) -> None:
        self._bar.begin(record.getMessage())


class Bar:
    """Context manager that shows on a terminal what is being done, and how far it is where that is known.

    Stages are shown once the whole has taken two seconds; `show` from the first time that there is something to show.
    Before something else is written to standard output it is taken away, by `stop_bar`. Inside of another one it is
    the other one.

    Parameters
    ----------
    wanted : bool
        Nothing is shown otherwise, nor where standard error is no terminal.
    """

    _current: Bar | None = None

    def __init__(self, wanted: bool = True) -> None:
        self._outer: Bar | None = None
        self._wanted = wanted and sys.stderr is not None and sys.stderr.isatty()
        self._lock = threading.RLock()
        self._progress: Any = None
        self._measured = False
        self._text = "working"
        self._timer: threading.Timer | None = None
        self._handler = _Stages(self)
        self._level = logging.NOTSET

    def __enter__(self) -> Bar:
        self._outer = Bar._current
        if self._outer is not None:
            return self
        Bar._current = self
        if self._wanted:
            self._level = logger.level
            logger.setLevel(logging.DEBUG)
            logger.addHandler(self._handler)
            self._timer = threading.Timer(PATIENCE, self._open)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._outer is not None:
            return
        Bar._current = None
        if self._timer is not None:
            logger.removeHandler(self._handler)
            logger.setLevel(self._level)
        self.stop()

    def begin(self, text: str) -> None:
        """A stage of which it is not known how long it takes."""
        with self._lock:
            self._text = text
            if self._progress is not None:
                self._task_of(None)

    def show(self, text: str, done: float) -> None:
        """Move the bar."""
        if self._outer is not None:
            self._outer.show(text, done)
            return
        if not self._wanted:
            return
        with self._lock:
            self._text = text
            self._open()
            if not self._measured:
                self._task_of(1.0)
            self._progress.update(self._task, description=shown(text, 300), completed=done)

    def stop(self) -> None:
        """Take the bar away, for good."""
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            # A timer that has run out waits for the lock, and opens nothing then.
            self._wanted = False
            if self._progress is not None:
                self._progress.stop()
                self._progress = None

    def _open(self) -> None:
        with self._lock:
            if not self._wanted or self._progress is not None:
                return
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._progress.add_task(shown(self._text, 300), total=None)
            self._progress.start()

    def _task_of(self, total: float | None) -> None:
        self._progress.remove_task(self._task)
        self._task = self._progress.add_task(shown(self._text, 300), total=total)
        self._measured = total is not None


def stop_bar() -> None:
    """Take away the bar that is shown, for good: something is written now."""
    if Bar._current is not None:
        Bar._current.stop()
