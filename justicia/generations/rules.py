r"""When a shield forces a value, and which: a function of how long each value may still wait.

Let c be the generations within which each value is due; a generation that shows a value resets its counter to beta and
lowers the others by 1, and a counter at 0 is a miss. In ascending order :math:`c_{(1)} \le \dots \le c_{(N)}`, the
condition :math:`c_{(j)} \ge j` for all j (Hall's) is necessary, as the values due within t generations need t places. A
level k is *tight* when k values are due within k. From a state under Hall's condition, an output keeps it iff it is in
every tight set; tight sets are nested, so the outputs allowed are exactly those of the smallest one, and all when none
is tight. So Hall's condition is the winning region, and the rule `maximal` below forbids no output that could be let
through. Its level N matters where a label may be unknown: then a place can be wasted.

The other rules are there to be compared, and to be shown unsafe by `verify_shield`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from justicia.errors import ShieldError
from justicia.words import did_you_mean

__all__ = ["CHOICES", "RULES", "Rule", "relaxed", "rule_named", "tight_level"]

CHOICES = ("edf", "random")
"""Of the values allowed, the one due first, or any."""

Rule = Callable[[Sequence[int], int, int], list[int] | None]
"""From counters, beta and the largest level to the values that are allowed; None: all, and nothing is forced."""


def tight_level(ascending: Sequence[int], most: int, now: int = 0) -> int:
    """The smallest k up to `most` with k values due within k of now; 0 when there is none.

    >>> tight_level([2, 2, 5], 3), tight_level([2, 3, 5], 3), tight_level([1, 3, 5], 3), tight_level([-4, 3, 5], 3)
    (2, 0, 1, 1)
    """
    for k, counter in enumerate(ascending, start=1):
        if k > most:
            break
        if counter - now <= k:
            return k
    return 0


def _maximal(counters: Sequence[int], beta: int, most: int) -> list[int] | None:
    level = tight_level(sorted(counters), most)
    return [value for value, counter in enumerate(counters) if counter <= level] if level else None


def _printed(counters: Sequence[int], beta: int, most: int) -> list[int] | None:
    """Algorithm 1 as it is printed: from N - 1 down, k counters equal to k; one of these."""
    for k in range(len(counters) - 1, 0, -1):
        members = [value for value, counter in enumerate(counters) if counter == k]
        if len(members) >= k:
            return members
    return None


def _printed_upward(counters: Sequence[int], beta: int, most: int) -> list[int] | None:
    for k in range(1, len(counters)):
        members = [value for value, counter in enumerate(counters) if counter == k]
        if len(members) >= k:
            return members
    return None


def _released(counters: Sequence[int], beta: int, most: int) -> list[int] | None:
    """The published program: from beta down, exactly k counters equal to k."""
    for k in range(beta, 0, -1):
        members = [value for value, counter in enumerate(counters) if counter == k]
        if len(members) == k:
            return members
    return None


def _last_moment(counters: Sequence[int], beta: int, most: int) -> list[int] | None:
    members = [value for value, counter in enumerate(counters) if counter == 1]
    return members or None


def _largest(counters: Sequence[int], beta: int, most: int) -> list[int] | None:
    """Tight sets as in `maximal`, below that of all values, but any value of the largest."""
    ascending = sorted(counters)
    for k in range(len(counters) - 1, 0, -1):
        if ascending[k - 1] <= k:
            return [value for value, counter in enumerate(counters) if counter <= k]
    return None


RULES: dict[str, Rule] = {
    "maximal": _maximal,
    "printed": _printed,
    "printed_upward": _printed_upward,
    "released": _released,
    "last_moment": _last_moment,
    "largest": _largest,
}
"""Rules by name; `maximal` is safe in every setting of `verify_shield`, each other is unsafe in some."""


def rule_named(name: str) -> Rule:
    """A rule by its name.

    Raises
    ------
    ShieldError
    """
    if name not in RULES:
        raise ShieldError(f"there is no rule {name!r}{did_you_mean(name, RULES)}")
    return RULES[name]


def relaxed(counters: Sequence[int]) -> list[int]:
    """The smallest relaxation of counters under which no value has to be missed: the j-th due waits j at least.

    >>> relaxed([1, 5, 1, -2])
    [2, 5, 3, 1]
    """
    order = sorted(range(len(counters)), key=lambda value: counters[value])
    made = list(counters)
    for place, value in enumerate(order, start=1):
        made[value] = max(counters[value], place)
    return made
