"""Ctrl-C while bounds are being narrowed ends the work, not the program: what is known so far is the answer."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

__all__ = ["Interruption"]


class Interruption:
    """Whether the user has pressed Ctrl-C while somebody listened.

    Used as a context by work that can stop early. The first Ctrl-C inside is remembered, also for what comes later; the
    second one raises `KeyboardInterrupt` as ever. Outside of the main thread nothing is caught. Contexts may be nested.
    """

    def __init__(self) -> None:
        self.pressed = False
        self._before: Any = None
        self._depth = 0

    def __enter__(self) -> Interruption:
        self._depth += 1
        if threading.current_thread() is threading.main_thread() and self._before is None:
            self._before = signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *error: object) -> None:
        self._depth -= 1
        if self._before is not None and not self._depth:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def _hear(self, signal_number: int, frame: FrameType | None) -> None:  # noqa: ARG002 (the handler's signature)
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True
