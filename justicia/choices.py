"""Choices and numbers that mean something."""

from __future__ import annotations

from typing import Any

from justicia.errors import InputError
from justicia.solvers import SEARCHES
from justicia.words import did_you_mean

__all__ = ["MISSING_WAYS", "check_choices", "check_numbers"]

MISSING_WAYS = ("error", "group", "drop")
"""What may happen to people without a value in a sensitive column."""


def check_choices(search: str, missing: str) -> None:
    """Refuse words that name no choice."""
    for name, word, choices in (("search", search, SEARCHES), ("missing", missing, MISSING_WAYS)):
        if word not in choices:
            raise InputError(f"{name} cannot be {word!r}{did_you_mean(word, choices)}")


def check_numbers(confidence: Any, time_limit: Any, tolerance: Any, delta: Any) -> None:
    """Refuse numbers that mean nothing."""
    given = {"confidence": confidence, "time_limit": time_limit, "tolerance": tolerance, "delta": delta}
    for name, value in given.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise InputError(f"{name} is a number, not {value!r}")
    if not 0 < confidence < 1:
        raise InputError(f"confidence {confidence:g} does not lie between 0 and 1")
    if not 0 < delta < 1:
        raise InputError(f"delta {delta:g} does not lie between 0 and 1: it is the probability that an interval misses")
    if time_limit is not None and not time_limit >= 0:
        raise InputError(f"time limit {time_limit:g} is no number of seconds")
    if tolerance is not None and not 0 < tolerance <= 1:
        raise InputError(f"tolerance {tolerance:g} does not lie between 0 and 1: it is a width of bounds of rates")
