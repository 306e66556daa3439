"""The four-fifths screen, and what moving one selection does to it: counts compared as whole numbers.

"A selection rate for any race, sex, or ethnic group which is less than four-fifths (4/5) (or eighty percent) of the
rate for the group with the highest rate will generally be regarded [...] as evidence of adverse impact" (Uniform
Guidelines on Employee Selection Procedures, 29 CFR 1607.4 D). The boundary meets the screen, so rates are never
divided: 3 of 4 beside 3 of 5 is four fifths exactly, and float division puts many such pairs below.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["FOUR_FIFTHS_SOURCE", "highest", "meets_four_fifths", "move_one_selection"]

FOUR_FIFTHS_SOURCE = "four fifths: Uniform Guidelines on Employee Selection Procedures, 29 CFR 1607.4 D"
"""Who chose the threshold of the screen."""

Count = int | Fraction


def meets_four_fifths(k: Count, n: Count, k_highest: Count, n_highest: Count) -> bool | None:
    """Whether k of n are at least four fifths of the highest rate; None when nobody is selected, or a group is empty.

    Parameters
    ----------
    k, n : int or Fraction
        Selected people and people of a group.
    k_highest, n_highest : int or Fraction
        The same of the group with the highest rate.

    >>> meets_four_fifths(3, 5, 3, 4), 3 / 5 / (3 / 4) >= 0.8
    (True, False)
    """
    if not n or not n_highest or not k_highest:
        return None
    return bool(5 * k * n_highest >= 4 * k_highest * n)


def highest(k: Sequence[Count], n: Sequence[Count]) -> int | None:
    """Position of the group with the highest rate, the largest of those that are equal; None without people.

    >>> highest([1, 2, 5], [2, 4, 20])
    1
    """
    held = [i for i in range(len(k)) if n[i]]
    return max(held, key=lambda i: (Fraction(k[i]) / Fraction(n[i]), n[i], -i)) if held else None


def move_one_selection(k: Sequence[int], n: Sequence[int], group: int, reference: int) -> tuple[bool, bool | None]:
    """What changes when one selection moves between a group and the one with the highest rate.

    Parameters
    ----------
    k, n : sequence of int
        Selected people and people of every group.
    group, reference : int
        Positions of the two.

    Returns
    -------
    order : bool
        One selection more in the group and one fewer in the reference puts the group's rate above the reference's.
    screen : bool or None
        One selection moved, to the group when it is below four fifths of the highest rate and from it when it is not,
        changes that. None when the screen is undefined, or no selection can be moved.

    >>> move_one_selection([6, 2], [10, 10], 1, 0)
    (False, False)
    >>> move_one_selection([5, 4], [10, 9], 1, 0)
    (True, True)
    """
    up = _moved(k, n, reference, group)
    order = up is not None and up[group] * n[reference] > up[reference] * n[group]
    meets = meets_four_fifths(k[group], n[group], k[reference], n[reference])
    moved = _moved(k, n, group, reference) if meets else up
    if meets is None or moved is None:
        return order, None
    top = highest(moved, n)
    after = None if top is None else meets_four_fifths(moved[group], n[group], moved[top], n[top])
    return order, after is not None and after != meets


def _moved(k: Sequence[int], n: Sequence[int], source: int, target: int) -> list[int] | None:
    """Selections after one has moved; None when there is none, or everybody is selected where it would go."""
    if k[source] < 1 or k[target] >= n[target]:
        return None
    moved = list(k)
    moved[source] -= 1
    moved[target] += 1
    return moved
