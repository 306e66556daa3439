"""How far a group is from all people together, or from a reference group.

Distances from all people together take into account that the group is one of them: with the group's share w, the rate
of all is w s + (1 - w) r, where r is the rate of the others, so that bounds of the distance are no wider than need be.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from justicia.enclosure import Enclosure, Number
from justicia.metrics.rates import WITHOUT, IfDefined, Measure, Rates, overall_rate

__all__ = ["Contrast", "contrasts", "farthest_difference", "farthest_ratio", "halves_reason", "too_few"]


@dataclass(frozen=True)
class Contrast:
    """A group's rate beside another rate.

    Attributes
    ----------
    difference : Enclosure
        Signed: the group's rate minus the other; its ends lie between -1 and 1.
    ratio : Enclosure or None
        The group's rate over the other, above 1 where it is larger; None where the other may be 0.
    folded : Enclosure or None
        The smaller of the two rates over the larger; None where both are 0.
    perhaps : bool
        Whether it is not sure that both rates are defined.
    """

    difference: Enclosure
    ratio: Enclosure | None
    folded: Enclosure | None
    perhaps: bool = False


def too_few(defined: int, reason: str | None) -> str:
    """Why fewer than two rates make no measure."""
    return reason or ("there is one group only, and nothing to compare it with" if defined else "no group has rows")


def halves_reason(halves: Iterable[Measure]) -> str | None:
    """What two measures leave undefined, said once."""
    reasons = dict.fromkeys(half.undefined for half in halves if half.undefined)
    return "; ".join(reasons) or None


def contrasts(rates: Rates, kind: str, comparison: str, only: Collection[int] | None = None) -> list[Contrast | None]:
    """Every group's rate beside that of all people together ("to_overall"), or the reference group's ("to_reference").

    None for groups whose rate, or that beside it, is undefined; for the reference group itself; and for groups beside
    those at the positions `only`.
    """
    held = rates.of(kind)
    if only is not None:
        held = [rate if i in only else None for i, rate in enumerate(held)]
    if comparison == "to_reference":
        if rates.reference is None:
            return [None] * len(held)
        other = rates.of(kind)[rates.reference]
        return [
            None if rate is None or other is None or i == rates.reference else _apart(rate, other)
            for i, rate in enumerate(held)
        ]
    if kind not in rates.weights:
        other = overall_rate(rates, kind)
        return [None if rate is None or other is None else _apart(rate, other) for rate in held]
    weights = rates.weights[kind]
    total, low, high = rates.sums(kind)
    if not total:
        return [None] * len(held)
    return [
        None if rate is None else _within(rate, weights[i], total, low, high) for i, rate in enumerate(held)
    ]  # fmt: skip


def _within(rate: Enclosure, weight: Number, total: Number, low: Number, high: Number) -> Contrast:
    """A group beside all people, whose weighted sum of rates lies between `low` and `high`."""
    rest_lo, rest_hi = max(low - weight * rate.lo, 0), max(high - weight * rate.hi, 0)
    difference = Enclosure(
        ((total - weight) * rate.lo - rest_hi) / total, ((total - weight) * rate.hi - rest_lo) / total
    )
    if weight * rate.hi + rest_hi == 0:
        return Contrast(difference, None, None)
    lo = rate.lo * total / (weight * rate.lo + rest_hi) if rate.lo else 0
    below = weight * rate.hi + rest_lo
    if rate.hi == 0:
        hi: Number | None = 0
    else:
        hi = rate.hi * total / below if below else None
    if hi is None:
        return Contrast(difference, None, Enclosure(0, 1))
    ratio = Enclosure(lo, hi)
    return Contrast(difference, ratio if weight * rate.lo + rest_lo else None, _folded(ratio))


def _apart(rate: Enclosure, other: Enclosure) -> Contrast:
    """Two rates of which neither depends on the other."""
    difference = Enclosure(rate.lo - other.hi, rate.hi - other.lo)
    ratio = Enclosure(rate.lo / other.hi, rate.hi / other.lo) if other.lo else None
    perhaps = isinstance(rate, IfDefined) or isinstance(other, IfDefined)
    smallest = Enclosure(min(rate.lo, other.lo), min(rate.hi, other.hi))
    largest = Enclosure(max(rate.lo, other.lo), max(rate.hi, other.hi))
    if largest.hi == 0:
        return Contrast(difference, ratio, None, perhaps)
    if ratio is not None:
        return Contrast(difference, ratio, _folded(ratio), perhaps)
    folded = Enclosure(smallest.lo / largest.hi, min(1, smallest.hi / largest.lo) if largest.lo else 1)
    return Contrast(difference, ratio, folded, perhaps)


def _folded(ratio: Enclosure) -> Enclosure:
    """The smaller over the larger, from one over the other."""
    if ratio.hi <= 1:
        return ratio
    if ratio.lo >= 1:
        return Enclosure(1 / ratio.hi, 1 / ratio.lo)
    return Enclosure(min(ratio.lo, 1 / ratio.hi), 1)


def _farthest(rates: Rates, kind: str, comparison: str) -> list[Contrast]:
    """Groups that are compared beside another rate; of exact rates those that are farthest from it."""
    key = kind, comparison
    if key not in rates.found:
        # The farthest of exact rates is the highest or the lowest.
        compared = rates.spread(kind).ends or rates.compared
        rates.found[key] = [one for one in contrasts(rates, kind, comparison, compared) if one is not None]
    return rates.found[key]


def _found(rates: Rates, kind: str, comparison: str) -> tuple[list[Contrast], Measure | None, str | None]:
    """Contrasts that are defined; a measure that says why there are none; and what they leave out."""
    spread = rates.spread(kind)
    if comparison == "to_reference":
        if rates.reference is None:
            return [], Measure(None, "no reference group is named: pass --reference column=value"), None
        if rates.of(kind) and rates.of(kind)[rates.reference] is None:
            return [], Measure(None, f"the reference group is without {WITHOUT[kind]}"), None
    if comparison == "to_overall" and not rates.weights:
        return [], Measure(None, rates.why.get("weights", "it is not known how many people each group has")), None
    defined = sum(rate is not None for rate in rates.of(kind))
    if defined < 2 or not (spread.sure or spread.perhaps):
        return [], Measure(None, too_few(defined, spread.reason)), None
    if comparison == "to_overall" and kind in rates.weights and not rates.sums(kind)[0]:
        return [], Measure(None, "it is not known how many people each group has"), None
    if _bounded(rates, kind, comparison):
        return [], None, spread.reason
    held = _farthest(rates, kind, comparison)
    if not held:
        return [], Measure(None, "there is only the reference group, and nothing to compare it with"), None
    return held, None, spread.reason


def _ranges(rates: Rates, kind: str) -> list[np.ndarray]:
    """Bounds of the distances from all people together and of the ratios, as `_within` has them, for bounded rates."""
    key = kind, "ranges"
    if key not in rates.found:
        rates.found[key] = list(_ranges_of(rates, kind))
    return rates.found[key]


def _ranges_of(rates: Rates, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    held = [
        (weight, rate.lo, rate.hi)
        for i, (weight, rate) in enumerate(zip(rates.weights[kind], rates.of(kind), strict=True))
        if rate is not None and (rates.compared is None or i in rates.compared)
    ]
    total, low, high = map(float, rates.sums(kind))
    weight, lo, hi = np.array(held, dtype=np.float64).T
    rest_lo, rest_hi = np.maximum(low - weight * lo, 0.0), np.maximum(high - weight * hi, 0.0)
    below, above = ((total - weight) * lo - rest_hi) / total, ((total - weight) * hi - rest_lo) / total
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(lo > 0, lo * total / (weight * lo + rest_hi), 0.0)
        most = np.where(hi > 0, hi * total / (weight * hi + rest_lo), 0.0)
        folded_hi = np.where(most <= 1, most, np.where(least >= 1, 1 / least, 1.0))
        folded_lo = np.where(most <= 1, least, np.minimum(least, 1 / most))
    defined = weight * hi + rest_hi > 0
    return np.maximum(0.0, np.maximum(below, -above)), np.maximum(-below, above), folded_lo[defined], folded_hi[defined]


def _bounded(rates: Rates, kind: str, comparison: str) -> bool:
    """Whether the rates are bounds, so that all groups have to be looked at, beside all people together."""
    return comparison == "to_overall" and kind in rates.weights and not rates.spread(kind).ends


def farthest_difference(rates: Rates, kind: str, comparison: str) -> Measure:
    """The largest distance of a group's rate from that of all people together, or from the reference group's."""
    held, why, reason = _found(rates, kind, comparison)
    if why is not None:
        return why
    if _bounded(rates, kind, comparison):
        nearest, farthest, _, _ = _ranges(rates, kind)
        return Measure(Enclosure(float(nearest.max()), float(farthest.max())), reason)
    lo = max((max(0, one.difference.lo, -one.difference.hi) for one in held if not one.perhaps), default=0)
    hi = max(max(-one.difference.lo, one.difference.hi) for one in held)
    return Measure(Enclosure(lo, hi), reason)


def farthest_ratio(rates: Rates, kind: str, comparison: str) -> Measure:
    """The smallest of the ratios, smaller over larger rate, of a group and all people together, or the reference."""
    held, why, reason = _found(rates, kind, comparison)
    if why is not None:
        return why
    if _bounded(rates, kind, comparison):
        _, _, least, most = _ranges(rates, kind)
        if not len(least):
            return Measure(None, "every rate that is compared is 0")
        return Measure(Enclosure(float(least.min()), float(most.min())), reason)
    folded = [one.folded for one in held if one.folded is not None]
    if not folded:
        return Measure(None, "every rate that is compared is 0")
    lo = min(one.lo for one in folded)
    hi = min((one.folded.hi for one in held if one.folded is not None and not one.perhaps), default=1)
    return Measure(Enclosure(lo, hi), reason)
