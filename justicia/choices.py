"""Choices and numbers that mean something."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from justicia.errors import InputError
from justicia.solvers import SEARCHES
from justicia.words import did_you_mean

__all__ = [
    "LAYOUTS",
    "MISSING_WAYS",
    "ROWS_MISSING_WAYS",
    "check_choices",
    "check_numbers",
    "check_rows",
    "check_seed",
]

_LARGEST_SEED = 2**32 - 1
"""That scikit-learn takes."""

MISSING_WAYS = ("error", "group", "drop")
"""What may happen to people without a value in a sensitive column."""
ROWS_MISSING_WAYS = (*MISSING_WAYS, "bounds")
"""The same where rates of the rows are reported."""
LAYOUTS = ("ll144",)


def check_choices(search: str, missing: str, ways: Sequence[str] = MISSING_WAYS) -> None:
    """Refuse words that name no choice."""
    for name, word, choices in (("search", search, SEARCHES), ("missing", missing, ways)):
        if word not in choices:
            raise InputError(f"{name} cannot be {word!r}{did_you_mean(word, choices)}")


def check_rows(missing: str, layout: str | None, min_group: Any, suppress_below: Any, *, weighted: bool) -> None:
    """Refuse choices about the rows' decisions that mean nothing, or that exclude each other."""
    check_choices(SEARCHES[0], missing, ROWS_MISSING_WAYS)
    if layout is not None and layout not in LAYOUTS:
        raise InputError(f"layout cannot be {layout!r}{did_you_mean(layout, LAYOUTS)}")
    for name, number in (("min_group", min_group), ("suppress_below", suppress_below)):
        if isinstance(number, bool) or not isinstance(number, Integral) or number < 0:
            raise InputError(f"{name} is a number of people, not {number!r}")
    if missing == "bounds" and suppress_below:
        raise InputError("ranges over people of unknown group give small groups away: leave one of the two options out")
    if missing == "bounds" and weighted:
        raise InputError(
            "ranges over people of unknown group count people: leave the weights out, or drop these people"
        )
    if layout is not None and weighted:
        raise InputError("the LL144 layout counts people: leave the weights out")
    if layout is not None and missing == "group":
        raise InputError("the LL144 layout counts people of unknown category apart: leave --missing group out")


def check_seed(seed: Any) -> None:
    """Refuse what starts no random numbers."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= int(seed) <= _LARGEST_SEED:
        raise InputError(f"seed is a whole number from 0 to {_LARGEST_SEED:,}, not {seed!r}")


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
