"""A decorator that puts a shield around any generator and labeller."""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable
from typing import Any

from justicia.errors import ShieldError
from justicia.generations.shield import Shield
from justicia.generations.simulation import MODES
from justicia.generations.spec import whole_number
from justicia.words import did_you_mean, listed

__all__ = ["shielded"]

logger = logging.getLogger(__name__)


def shielded(
    shield: Shield,
    *,
    label: Callable[[Any], Any],
    ask: Callable[..., Any] | None = None,
    mode: str = "ahead",
    retries: int = 0,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Put a shield around a generator.

    Parameters
    ----------
    shield : Shield
    label : callable
        From what was generated to its label: a value, several, or None when it is unknown.
    ask : callable, optional
        ``ask(value, *args, **kwargs)`` generates something that shows `value`. By default the generator itself is
        called with the keyword argument ``value``.
    mode : {"ahead", "draft"}
        Force before the generation; or generate first, and regenerate only what is not allowed.
    retries : int
        Forced generations to try again when the label, which is always looked at, is not allowed.

    Returns
    -------
    decorator
        The wrapped generator returns what it generated last, and has the attribute `shield`. When it or `label` raises,
        the shield has observed nothing. Calls are taken one after another.

    >>> shield = Shield(["a", "b"], 2)
    >>> @shielded(shield, label=str.lower)
    ... def write(prompt, *, value="a"):
    ...     return value.upper()
    >>> [write("a letter") for _ in range(6)]
    ['A', 'B', 'A', 'B', 'A', 'B']
    """
    if mode not in MODES:
        raise ShieldError(f"mode cannot be {mode!r}{did_you_mean(mode, MODES)}")
    more = whole_number(retries, "retries", 0)
    lock = threading.RLock()

    def wrap(generate: Callable[..., Any]) -> Callable[..., Any]:
        def forced(value: str, *args: Any, **kwargs: Any) -> Any:
            return generate(*args, value=value, **kwargs) if ask is None else ask(value, *args, **kwargs)

        @functools.wraps(generate)
        def shielded_generate(*args: Any, **kwargs: Any) -> Any:
            with lock:
                decision = shield.next()
                left = more
                if decision is None or mode == "draft":
                    made = generate(*args, **kwargs)
                    left += 1
                else:
                    made = forced(decision.value, *args, **kwargs)
                shows = label(made)
                while decision is not None and left and not shield.admits(shows):
                    made = forced(decision.value, *args, **kwargs)
                    shows = label(made)
                    left -= 1
                missed = shield.observe(shows)
                if missed:
                    logger.warning("generation %d: missed %s within beta", shield.step, listed(missed))
                return made

        shielded_generate.shield = shield  # type: ignore[attr-defined]
        return shielded_generate

    return wrap
