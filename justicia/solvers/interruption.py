"""Ctrl-C while bounds are being narrowed ends the work, not the program: what is known so far is the answer."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

from justicia.hearing import INTERRUPTED, is_heard_elsewhere, listen, rest

__all__ = ["Interruption"]


class Interruption:
    """Whether the user has pressed Ctrl-C while somebody listened.

    Used as a context by work that can stop early. The first Ctrl-C inside is remembered, also for what comes later; the
    second one raises `KeyboardInterrupt` as ever. Outside of the main thread nothing is caught. Contexts may be nested.
    Under a command, which hears signals itself, SIGTERM and SIGHUP are heard like Ctrl-C.

    Attributes
    ----------
    pressed : bool
    reason : str
        Why, as it stands in a warning.
    """

    def __init__(self) -> None:
        self.pressed = False
        self.reason = INTERRUPTED
        self._before: list[Any] = []
        self._depth = 0

    def __enter__(self) -> Interruption:
        self._depth += 1
        if threading.current_thread() is threading.main_thread():
            listen(self)
            if not self._before and not is_heard_elsewhere():
                self._before = [signal.signal(signal.SIGINT, self._hear)]
        return self

    def __exit__(self, *error: object) -> None:
        self._depth -= 1
        if threading.current_thread() is threading.main_thread():
            rest(self)
        if not self._depth:
            for before in self._before:
                signal.signal(signal.SIGINT, before)
            self._before = []

    def _hear(self, signal_number: int, frame: FrameType | None) -> None:  # noqa: ARG002 (the handler's signature)
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True
