"""Numbers with what is known of their error: an interval, the range that unknown labels leave, a band of chance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from justicia.errors import InputError
from justicia.generations.spec import whole_number
from justicia.words import did_you_mean, shown

__all__ = [
    "Band",
    "Estimate",
    "band",
    "check_confidence",
    "check_number",
    "chosen",
    "corrected_interval",
    "draws",
    "judge",
]

_MOST_DRAWS = 1_000_000


@dataclass(frozen=True)
class Estimate:
    """A measure of a table.

    Attributes
    ----------
    value : float or None
        By its definition, of the labels that are known; None: not defined.
    lo, hi : float or None
        Confidence interval of what it would be for ever more outputs. Measures of finite tables are biased, and the
        interval reaches as far as that goes.
    possible : tuple of (float, float) or None
        Least and largest value, whatever the unknown labels are; None when there is none.
    undefined : str or None
        Why it has no value.
    """

    value: float | None
    lo: float | None = None
    hi: float | None = None
    possible: tuple[float, float] | None = None
    undefined: str | None = None


@dataclass(frozen=True)
class Band:
    """What a measure is by chance alone, when there is nothing to find.

    Attributes
    ----------
    mean : float
    lo, hi : float
        Below `lo`, and above `hi`, it is in one of twenty tables at most.
    """

    mean: float
    lo: float
    hi: float


def band(drawn: np.ndarray) -> Band | None:
    """Mean, 5 % and 95 % quantile of simulated values; None when one is not defined."""
    if not len(drawn) or np.isnan(drawn).any():
        return None
    lo = np.quantile(drawn, 0.05, method="lower")
    return Band(float(drawn.mean()), float(lo), float(np.quantile(drawn, 0.95, method="higher")))


def corrected_interval(
    value: float, drawn: np.ndarray, truth: float, confidence: float, limits: tuple[float, float] = (0.0, 1.0)
) -> tuple[float | None, float | None]:
    """An interval by the bootstrap for a biased measure.

    Replicates say by how much the measure of a table is off, `drawn - truth`. The interval is around the value, and
    around the value less the mean of that, from the lower end of the lower to the upper end of the upper: where there
    are few labels the mean is large and not well known, and a correction alone would end at the measure's limit.

    Parameters
    ----------
    value : float
        Of the table.
    drawn : float64 array of shape (n_replicates,)
    truth : float
        The measure of what replicates are drawn from.
    confidence : float
    limits : tuple of (float, float)
        Of the measure; the interval is cut there.
    """
    drawn = drawn[~np.isnan(drawn)]
    if math.isnan(value) or not len(drawn):
        return None, None
    tail = round((1 - confidence) / 2, 12)
    off = drawn - truth
    bias = float(off.mean())
    low, high = (
        float(np.quantile(off, share, method=method)) - bias  # type: ignore[call-overload]
        for share, method in ((tail, "lower"), (1 - tail, "higher"))
    )
    ends = min(value, value - bias) + min(low, 0.0), max(value, value - bias) + max(high, 0.0)
    return min(max(ends[0], limits[0]), limits[1]), max(min(ends[1], limits[1]), limits[0])


def judge(estimate: Estimate, limit: float, *, at_least: bool) -> str:
    """Whether a measure keeps a limit: "holds" or "fails" when its interval and its range lie on one side of it."""
    if estimate.value is None:
        return "undecided"
    ends = [estimate.value if end is None else end for end in (estimate.lo, estimate.hi)]
    ends += estimate.possible or ()
    kept = [end >= limit if at_least else end <= limit for end in ends]
    return "holds" if all(kept) else "undecided" if any(kept) else "fails"


def check_number(value: Any, what: str, low: float, high: float) -> float:
    """A number between two others, also when it is written as text.

    Raises
    ------
    InputError
    """
    number = value
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            number = math.nan
    if isinstance(number, bool) or not isinstance(number, (int, float, np.number)) or not low <= float(number) <= high:
        raise InputError(f"{what} is a number between {low:g} and {high:g}, not {value!r}")
    return float(number)


def check_confidence(value: Any, replicates: int) -> float:
    """A confidence that so many replicates can give; 95 means .95.

    Raises
    ------
    InputError
    """
    confidence = check_number(value, "confidence", 0, 100)
    confidence = confidence / 100 if confidence > 1 else confidence
    if not 0.5 <= confidence < 1:
        raise InputError(f"confidence is a number between 0.5 and 1, or 50 and 100 in percent, not {value!r}")
    least = math.ceil(2 / (1 - confidence) - 1e-9) - 1
    if 0 < replicates < least:
        raise InputError(f"{replicates} replicates are too few for a confidence of {confidence:g}: ask for {least:,}")
    return confidence


def chosen(known: Mapping[str, Any], word: str) -> Any:
    """What a word stands for.

    Raises
    ------
    InputError
    """
    if word not in known:
        raise InputError(f"there is no {shown(word)!r}{did_you_mean(word, known)}")
    return known[word]


def draws(value: Any, what: str) -> int:
    """A number of replicates or simulations: 0 for none, and no more than a machine gets through.

    Raises
    ------
    InputError
    """
    number = whole_number(value, what, 0)
    if number > _MOST_DRAWS:
        raise InputError(f"{what} are {_MOST_DRAWS:,} at most, not {number:,}")
    return number
