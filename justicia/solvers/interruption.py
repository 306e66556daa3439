"""Ctrl-C while bounds are being narrowed ends the work, not the program: what is known so far is the answer."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["INTERRUPTED", "Interruption", "heard_elsewhere", "is_listening", "press"]

INTERRUPTED = "interrupted"

_LISTENING: list[Interruption] = []
"""Those who listen in the main thread, the innermost last."""
_ELSEWHERE = False
"""Whether a whole command hears signals, and passes them on."""


class Interruption:
    """Whether the user has pressed Ctrl-C while somebody listened.

    Used as a context by work that can stop early. The first Ctrl-C inside is remembered, also for what comes later; the
    second one raises `KeyboardInterrupt` as ever. Outside of the main thread nothing is caught. Contexts may be nested.

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
            _LISTENING.append(self)
            if not self._before and not _ELSEWHERE:
                self._before = [signal.signal(signal.SIGINT, self._hear)]
        return self

    def __exit__(self, *error: object) -> None:
        self._depth -= 1
        if threading.current_thread() is threading.main_thread():
            # The last of several equal ones.
            _LISTENING.reverse()
            _LISTENING.remove(self)
            _LISTENING.reverse()
        if not self._depth:
            for before in self._before:
                signal.signal(signal.SIGINT, before)
            self._before = []

    def _hear(self, signal_number: int, frame: FrameType | None) -> None:  # noqa: ARG002 (the handler's signature)
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True


def press(reason: str = INTERRUPTED) -> bool:
    """Tell the innermost who listens; false when nobody does, or has been told before."""
    if not is_listening():
        return False
    _LISTENING[-1].reason = reason
    _LISTENING[-1].pressed = True
    return True


def is_listening() -> bool:
    """Whether somebody listens who has not been told."""
    return bool(_LISTENING) and not _LISTENING[-1].pressed


@contextmanager
def heard_elsewhere() -> Iterator[None]:
    """Leave signals alone meanwhile: whoever hears them calls `press`."""
    global _ELSEWHERE
    before, _ELSEWHERE = _ELSEWHERE, True
    try:
        yield
    finally:
        _ELSEWHERE = before
