"""Collect what the package announces while an audit runs."""

from __future__ import annotations

import logging
from types import TracebackType

from justicia.speaking import as_keywords, speaks_options

__all__ = ["Announcements"]


class Announcements(logging.Handler):
    """Context manager that keeps every message of the package's loggers.

    Attributes
    ----------
    announcements : tuple of str
        What was found or assumed, with the option, or the keyword, that overrides it.
    warnings : tuple of str
        What a reader of the audit must know.
    """

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one message."""
        self._records.append(record)

    def __enter__(self) -> Announcements:
        root = logging.getLogger("justicia")
        self._level = root.level
        if root.level == logging.NOTSET or root.level > logging.INFO:
            root.setLevel(logging.INFO)
        root.addHandler(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        root = logging.getLogger("justicia")
        root.removeHandler(self)
        root.setLevel(self._level)

    def _said(self, least: int, below: int) -> tuple[str, ...]:
        texts = [record.getMessage() for record in self._records if least <= record.levelno < below]
        if not speaks_options():
            texts = list(map(as_keywords, texts))
        return tuple(dict.fromkeys(texts))

    @property
    def announcements(self) -> tuple[str, ...]:
        """Messages of level INFO."""
        return self._said(logging.INFO, logging.WARNING)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Messages of level WARNING."""
        return self._said(logging.WARNING, logging.ERROR)
