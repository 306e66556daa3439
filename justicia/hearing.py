"""Who listens for Ctrl-C, and who hears it: what narrows bounds, and the command that it is part of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

__all__ = [
    "INTERRUPTED",
    "Listener",
    "heard_elsewhere",
    "is_heard_elsewhere",
    "is_listening",
    "listen",
    "press",
    "rest",
]

INTERRUPTED = "interrupted"


class Listener(Protocol):
    """Work that stops early when it is told.

    Attributes
    ----------
    pressed : bool
    reason : str
        Why, as it stands in a warning.
    """

    pressed: bool
    reason: str


_LISTENING: list[Listener] = []
"""Those who listen in the main thread, the innermost last."""
_ELSEWHERE = False
"""Whether a whole command hears signals, and passes them on."""


def listen(listener: Listener) -> None:
    """Begin to listen."""
    _LISTENING.append(listener)


def rest(listener: Listener) -> None:
    """End what `listen` began last."""
    for position in range(len(_LISTENING) - 1, -1, -1):
        if _LISTENING[position] is listener:
            del _LISTENING[position]
            return


def is_listening() -> bool:
    """Whether somebody listens who has not been told."""
    return bool(_LISTENING) and not _LISTENING[-1].pressed


def press(reason: str = INTERRUPTED) -> bool:
    """Tell the innermost who listens; false when nobody does, or has been told before."""
    if not is_listening():
        return False
    _LISTENING[-1].reason = reason
    _LISTENING[-1].pressed = True
    return True


@contextmanager
def heard_elsewhere() -> Iterator[None]:
    """Leave signals alone meanwhile: whoever hears them calls `press`."""
    global _ELSEWHERE
    before, _ELSEWHERE = _ELSEWHERE, True
    try:
        yield
    finally:
        _ELSEWHERE = before


def is_heard_elsewhere() -> bool:
    """Whether signals are heard by a whole command."""
    return _ELSEWHERE
