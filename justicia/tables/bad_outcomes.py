"""Outcomes that are bad for the person, told by the name of their column."""

from __future__ import annotations

import logging
import re

from justicia.words import shown

__all__ = ["sounds_bad", "warn_of_bad_outcome"]

logger = logging.getLogger(__name__)

_STEMS = (
    "arrear arrest attrition bad bankrupt chargeoff churn death declined default delinquen denial denied died dropout "
    "fail fraud mortality overdue readmi recid refus reject reoffend"
).split()
_YES = frozenset({"1", "1.0", "true", "yes", "y", "t"})


def sounds_bad(name: str) -> bool:
    """Whether to have what a column is called is bad for a person.

    >>> [sounds_bad(name) for name in ("default", "isFraud", "two_year_recid", "LOAN_DEFAULTED", "hired", "repaid")]
    [True, True, True, True, False, False]
    """
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
    return any(word.casefold().startswith(stem) for word in words for stem in _STEMS)


def warn_of_bad_outcome(name: str | None, favorable: str, other: str | None = None) -> None:
    """Warn where a favorable outcome that nobody named is to have something that sounds bad.

    Parameters
    ----------
    name : str or None
        Column of the outcome.
    favorable : str
    other : str, optional
        The outcome that may be meant.
    """
    if name is not None and favorable.casefold() in _YES and sounds_bad(name):
        logger.warning(
            "%s of %s counts as the favorable outcome, and sounds bad for the person: if it is, pass --favorable %s, "
            "for otherwise the most favored group is the worst off",
            *(favorable, shown(name), "with the other one" if other is None else other),
        )
