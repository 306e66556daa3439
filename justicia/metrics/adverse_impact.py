"""Statistics of adverse impact: every group against the one with the highest selection rate.

For a group with k of n selected and the reference with K of N: the pooled two-sample z test; Fisher's exact test in
its place when the two have fewer than 30 people together or an expected count is below 5; Holm's correction over all
groups that are compared; impact ratio with an interval, odds ratio, shortfall, and what moving one selection changes.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist

from justicia.enclosure import Enclosure
from justicia.metrics.four_fifths import highest, meets_four_fifths, move_one_selection
from justicia.metrics.intervals import log_ratio

__all__ = [
    "FEWEST_EXPECTED",
    "FEWEST_PEOPLE",
    "AdverseImpact",
    "GroupImpact",
    "adverse_impact",
    "expected_least",
    "fisher_two_sided",
    "holm",
    "pooled_z",
    "ratio_interval",
    "shortfall",
]

FEWEST_PEOPLE = 30
"""With fewer people in the two groups together the test is Fisher's."""
FEWEST_EXPECTED = 5
"""The same when a count is expected to be less than this were the rates equal."""


@dataclass(frozen=True)
class GroupImpact:
    """A group against the one with the highest selection rate.

    Attributes
    ----------
    position : int
        Of the group among those given.
    impact_ratio : Fraction or None
        Its rate over the highest; None when nobody is selected.
    interval : Enclosure or None
        Of the impact ratio.
    interval_method : str or None
    test : str or None
        "pooled z" or "fisher"; None when there is nothing to test.
    z : float or None
        How many standard errors the group's rate is below the highest.
    p, p_holm : float or None
        Two-sided p-value, and the same by Holm's correction over all groups that are compared.
    odds_ratio : float or None
        Odds of the group over odds of the reference; None when both are 0 or infinite.
    shortfall : Fraction
        Selections by which the group is short of the pooled rate of the two.
    four_fifths : bool or None
        Whether the impact ratio is four fifths or more.
    reverses_order : bool or None
        One selection moved from the reference to the group puts the group's rate above the reference's.
    changes_four_fifths : bool or None
        One selection moved changes `four_fifths`.
    """

    position: int
    impact_ratio: Fraction | None
    interval: Enclosure | None
    interval_method: str | None
    test: str | None
    z: float | None
    p: float | None
    p_holm: float | None
    odds_ratio: float | None
    shortfall: Fraction
    four_fifths: bool | None
    reverses_order: bool | None
    changes_four_fifths: bool | None


@dataclass(frozen=True)
class AdverseImpact:
    """All groups against the one with the highest selection rate.

    Attributes
    ----------
    reference : int or None
        Position of that group, the largest of those with equal rates; None without two groups of people.
    groups : tuple of GroupImpact
        The others, in the order given; groups without people are left out.
    confidence : float
        Of each interval, alone.
    effective : bool
        Tests and intervals count people by the effective sample size of weighted rows: the test is always the z test,
        and no single selection has a fixed weight that could be moved.
    """

    reference: int | None
    groups: tuple[GroupImpact, ...]
    confidence: float
    effective: bool = False


def adverse_impact(
    k: Sequence[int | Fraction],
    n: Sequence[int | Fraction],
    confidence: float = 0.95,
    effective: Sequence[float] | None = None,
) -> AdverseImpact:
    """Compare every group with the one with the highest selection rate.

    Parameters
    ----------
    k, n : sequence of int, or of Fraction for weighted rows
        Selected people and people of every group.
    confidence : float in (0, 1)
    effective : sequence of float, optional
        Effective sample sizes of weighted rows.

    >>> held = adverse_impact([48, 12], [80, 40])
    >>> group = held.groups[0]
    >>> group.impact_ratio, round(group.z, 3), round(group.p, 5), group.shortfall, group.four_fifths
    (Fraction(1, 2), 3.098, 0.00195, Fraction(8, 1), False)
    """
    top = highest(k, n)
    others = [i for i in range(len(k)) if n[i] and i != top]
    if top is None or not others:
        return AdverseImpact(None, (), confidence, effective is not None)
    sizes = [float(size) for size in (n if effective is None else effective)]
    counts = [float(k[i]) / float(n[i]) * sizes[i] if n[i] else 0.0 for i in range(len(k))]
    # Of many small groups most have the same counts as others.
    known: dict[tuple[int | Fraction, int | Fraction, float], GroupImpact] = {}
    for i in others:
        key = (k[i], n[i], sizes[i])
        if key not in known:
            ends = (counts[i], sizes[i], counts[top], sizes[top])
            known[key] = _against(i, (k[i], n[i], k[top], n[top]), ends, confidence, whole=effective is None)
    tested = [known[k[i], n[i], sizes[i]] for i in others]
    corrected = iter(holm([one.p for one in tested if one.p is not None]))
    leaders = heapq.nlargest(3, (i for i in range(len(k)) if n[i]), key=lambda i: Fraction(k[i]) / Fraction(n[i]))
    groups = []
    for i, one in zip(others, tested, strict=True):
        order: bool | None = None
        screen: bool | None = None
        if effective is None:
            # Whichever rate is the highest of those that stay is one of three.
            few = sorted({i, top, *leaders})
            left, size = [int(k[a]) for a in few], [int(n[a]) for a in few]
            order, screen = move_one_selection(left, size, few.index(i), few.index(top))
        groups.append(
            replace(
                one,
                position=i,
                p_holm=None if one.p is None else next(corrected),
                reverses_order=order,
                changes_four_fifths=screen,
            )
        )
    return AdverseImpact(top, tuple(groups), confidence, effective is not None)


def _against(
    position: int,
    counts: tuple[int | Fraction, int | Fraction, int | Fraction, int | Fraction],
    ends: tuple[float, float, float, float],
    confidence: float,
    *,
    whole: bool,
) -> GroupImpact:
    """What two groups say; not what depends on others."""
    k, n, k_top, n_top = counts
    fisher = whole and (n + n_top < FEWEST_PEOPLE or expected_least(*counts) < FEWEST_EXPECTED)
    z, p = pooled_z(*ends)
    if fisher and p is not None:
        p = fisher_two_sided(int(k), int(n), int(k_top), int(n_top))
    ratio = Fraction(k) / Fraction(n) / (Fraction(k_top) / Fraction(n_top)) if k_top else None
    interval, method = ratio_interval(*ends, confidence)
    test = None if p is None else "fisher" if fisher else "pooled z"
    return GroupImpact(
        position,
        ratio,
        interval,
        method,
        test,
        z,
        p,
        None,
        odds_ratio(*counts),
        shortfall(*counts),
        meets_four_fifths(*counts),
        None,
        None,
    )


def pooled_z(k: float, n: float, k_other: float, n_other: float) -> tuple[float | None, float | None]:
    """Two-sample z test of equal rates with the pooled variance: how far the other rate is above, and two-sided p.

    None and None when everybody or nobody is selected: there is nothing to test.

    >>> [round(value, 4) for value in pooled_z(12, 40, 48, 80)]
    [3.0984, 0.0019]
    """
    pooled = (k + k_other) / (n + n_other)
    if not 0 < pooled < 1:
        return None, None
    z = (k_other / n_other - k / n) / math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / n_other))
    return z, math.erfc(abs(z) / math.sqrt(2))


def expected_least(k: int | Fraction, n: int | Fraction, k_other: int | Fraction, n_other: int | Fraction) -> Fraction:
    """Smallest count of the 2 x 2 table that would be expected were the rates equal."""
    pooled = Fraction(k + k_other) / Fraction(n + n_other)
    return min(n, n_other) * min(pooled, 1 - pooled)


def fisher_two_sided(k: int, n: int, k_other: int, n_other: int) -> float:
    """Two-sided p-value of Fisher's exact test: all tables that are no more probable than this one.

    >>> round(fisher_two_sided(2, 10, 6, 10), 4)
    0.1698
    """
    from scipy.stats import fisher_exact

    return float(fisher_exact([[k, n - k], [k_other, n_other - k_other]])[1])


def holm(p: Sequence[float]) -> list[float]:
    """p-values by Holm's step-down correction (Scandinavian Journal of Statistics 1979), in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p)), key=lambda i: p[i])
    corrected = [0.0] * len(p)
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        corrected[i] = largest
    return corrected


def odds_ratio(k: int | Fraction, n: int | Fraction, k_other: int | Fraction, n_other: int | Fraction) -> float | None:
    """Odds of selection of a group over those of another; None when it is 0 / 0 or infinite.

    >>> odds_ratio(12, 40, 48, 80), odds_ratio(0, 10, 10, 10), odds_ratio(0, 10, 0, 10)
    (0.2857142857142857, 0.0, None)
    """
    above, below = k * (n_other - k_other), (n - k) * k_other
    return float(Fraction(above) / Fraction(below)) if below else None


def shortfall(k: int | Fraction, n: int | Fraction, k_other: int | Fraction, n_other: int | Fraction) -> Fraction:
    """Selections by which a group is short of the pooled rate of the two, n (k + K) / (n + N) - k.

    >>> shortfall(12, 40, 48, 80)
    Fraction(8, 1)
    """
    return Fraction(n) * Fraction(k + k_other) / Fraction(n + n_other) - Fraction(k)


def ratio_interval(
    k: float, n: float, k_other: float, n_other: float, confidence: float = 0.95
) -> tuple[Enclosure | None, str | None]:
    """Interval of the ratio of two rates, k / n over k_other / n_other, and its name.

    On the logarithm of the ratio (`log_ratio`); the score interval (Koopman, Biometrics 1984) when
    nobody is selected in the first group, for the logarithm of 0 has no error, and when everybody is in either one, for
    a rate of 1 would have none. None when nobody is selected in the other, or weights leave hardly anybody, so that the
    interval has no end that is a number.

    >>> held, method = ratio_interval(12, 40, 48, 80)
    >>> round(held.lo, 3), round(held.hi, 3), method
    (0.301, 0.829, 'log-ratio')
    """
    if not k_other or not n or not n_other:
        return None, None
    if not k or k == n or k_other == n_other:
        z = NormalDist().inv_cdf(0.5 + confidence / 2)
        return _score_interval(k, n, k_other, n_other, z), "score (Koopman)"
    lo, hi = (float(end) for end in log_ratio(k, n, k_other, n_other, confidence))
    return (Enclosure(lo, hi), "log-ratio") if lo > 0 and math.isfinite(hi) else (None, None)


def _score_interval(k: float, n: float, k_other: float, n_other: float, z: float) -> Enclosure:
    """Ratios that the score test does not reject.

    Were the ratio r, the likeliest rate p of the other group solves
    (n + n_other) r p^2 - (r (n + k_other) + k + n_other) p + k + k_other = 0, and the score statistic is
    (k - n r p)^2 / (n r p (1 - r p)) + (k_other - n_other p)^2 / (n_other p (1 - p)).
    """

    def part(count: float, people: float, rate: float) -> float:
        away = (count - people * rate) ** 2
        # At a rate of 0 or 1 only that very share is likely.
        return away / (people * rate * (1 - rate)) if 0 < rate < 1 else math.inf if away > 1e-18 * people else 0.0

    def rejected(ratio: float) -> bool:
        a, b, c = (n + n_other) * ratio, -(ratio * (n + k_other) + k + n_other), k + k_other
        p = 2 * c / (-b + math.sqrt(max(0.0, b * b - 4 * a * c)))
        p = min(p, 1.0, 1 / ratio)
        return part(k, n, min(1.0, ratio * p)) + part(k_other, n_other, p) >= z * z

    middle = (k / n) / (k_other / n_other)
    high = max(1.0, 2 * middle)
    while not rejected(high):
        high *= 2
    lo, hi = 0.0, _boundary(rejected, middle, high)
    if k:
        lo = _boundary(rejected, middle, 0.0)
    return Enclosure(lo, hi)


def _boundary(rejected: Callable[[float], bool], inside: float, outside: float) -> float:
    """The farthest ratio that is not rejected, between one that is not and one that is (or 0)."""
    for _ in range(200):
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            break
        inside, outside = (inside, middle) if rejected(middle) else (middle, outside)
    return outside
