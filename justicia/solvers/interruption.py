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

    Parameters
    ----------
    terminate : bool
        Whether a request to terminate (SIGTERM), by which programs stop others, is heard like Ctrl-C.
    """

    def __init__(self, *, terminate: bool = False) -> None:
        self.pressed = False
        self._signals = (signal.SIGINT, signal.SIGTERM) if terminate else (signal.SIGINT,)
        self._before: list[Any] = []
        self._depth = 0

    def __enter__(self) -> Interruption:
        self._depth += 1
        if threading.current_thread() is threading.main_thread() and not self._before:
            self._before = [signal.signal(one, self._hear) for one in self._signals]
        return self

    def __exit__(self, *error: object) -> None:
        self._depth -= 1
        if not self._depth:
            for one, before in zip(self._signals, self._before, strict=False):
                signal.signal(one, before)
            self._before = []

    def _hear(self, signal_number: int, frame: FrameType | None) -> None:  # noqa: ARG002 (the handler's signature)
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True
