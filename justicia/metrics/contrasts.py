"""Rates of groups, precision from them, and how far a group is from all people together or from a reference group.

Distances from all people together take into account that the group is one of them: with the group's share w, the rate
of all is w s + (1 - w) r, where r is the rate of the others, so that bounds of the distance are no wider than need be.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from justicia.enclosure import Enclosure, Number
from justicia.words import counted

__all__ = [
    "Contrast",
    "IfDefined",
    "Measure",
    "Rates",
    "contrasts",
    "exact_share",
    "farthest_difference",
    "farthest_ratio",
    "halves_reason",
    "overall_rate",
    "precision_of",
    "split_defined",
    "too_few",
]

Undefinable = Sequence[Enclosure | None]


@dataclass(frozen=True)
class IfDefined(Enclosure):
    """Certainly holds the value if there is one; it is not sure that there is."""


@dataclass(frozen=True)
class Rates:
    """Rates of every group that has rows, None where a rate is undefined.

    Attributes
    ----------
    selection_rate : sequence of Enclosure
        Pr(selected | group).
    tpr, fpr : sequence of (Enclosure or None)
        Pr(selected | group, favorable true outcome) and Pr(selected | group, unfavorable true outcome).
    precision : sequence of (Enclosure or None)
        Pr(favorable true outcome | group, selected).
    weights : mapping of str to sequence of number
        By kind of rate, what each group's rate weighs in that of all people together: their numbers, or shares.
    reference : int, optional
        Position of the reference group.
    compared : collection of int, optional
        Positions of the groups that are compared; the others count among all people together, and may be the reference.
        All groups when left out.
    why : mapping of str to str
        Why there are no rates of some kind, or no "weights".
    """

    selection_rate: Undefinable = ()
    tpr: Undefinable = ()
    fpr: Undefinable = ()
    precision: Undefinable = ()
    weights: Mapping[str, Sequence[Number]] = field(default_factory=dict)
    reference: int | None = None
    compared: Collection[int] | None = None
    why: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def by_kind(
        cls,
        rates: Mapping[str, Undefinable],
        *,
        base_rate: Sequence[Number | None] | None = None,
        weights: Mapping[str, Sequence[Number]] | None = None,
        reference: int | None = None,
        why: Mapping[str, str] | None = None,
    ) -> Rates:
        """Rates by their kind; precision follows from the others where a base rate is given."""
        selection, tpr, fpr = (rates.get(kind, ()) for kind in ("selection_rate", "tpr", "fpr"))
        precision = rates.get("precision", ())
        if base_rate is not None and tpr and fpr:
            precision = precision_of(tpr, fpr, base_rate)
        return cls(selection, tpr, fpr, precision, weights or {}, reference, None, why or {})

    def of(self, kind: str) -> Undefinable:
        """The rates of one kind, one of "selection_rate", "tpr", "fpr" and "precision"."""
        held: Undefinable = getattr(self, kind)
        return held

    def in_question(self, kind: str) -> Undefinable:
        """The rates of the groups that are compared."""
        held = self.of(kind)
        return held if self.compared is None else [rate for i, rate in enumerate(held) if i in self.compared]


@dataclass(frozen=True)
class Measure:
    """A measure, or why it is undefined.

    When both attributes are set, the value is that of the groups whose rates are defined: the measure is incomplete.

    Attributes
    ----------
    value : Enclosure or None
    undefined : str or None
    """

    value: Enclosure | None
    undefined: str | None = None


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


_WITHOUT = {
    "selection_rate": "people in the population",
    "tpr": "positives",
    "fpr": "negatives",
    "precision": "selected people",
}


def split_defined(rates: Rates, kind: str) -> tuple[list[Enclosure], list[Enclosure], str | None]:
    """The rates that are surely defined, those that perhaps are, and how many are not."""
    held = rates.in_question(kind)
    sure = [rate for rate in held if rate is not None and not isinstance(rate, IfDefined)]
    perhaps: list[Enclosure] = [rate for rate in held if isinstance(rate, IfDefined)]
    missing = len(held) - len(sure) - len(perhaps)
    if kind in rates.why:
        return sure, perhaps, rates.why[kind]
    reasons = [f"{counted(missing, 'group')} without {_WITHOUT[kind]}"] if missing else []
    if perhaps:
        reasons.append(f"{counted(len(perhaps), 'group')} perhaps without {_WITHOUT[kind]}")
    return sure, perhaps, "; ".join(reasons) or None


def too_few(held: Sequence[Enclosure], reason: str | None) -> str:
    """Why fewer than two rates make no measure."""
    return reason or ("there is one group only, and nothing to compare it with" if held else "no group has rows")


def halves_reason(halves: Iterable[Measure]) -> str | None:
    """What two measures leave undefined, said once."""
    reasons = dict.fromkeys(half.undefined for half in halves if half.undefined)
    return "; ".join(reasons) or None


def precision_of(
    tpr: Undefinable, fpr: Undefinable, base_rate: Sequence[Number | None]
) -> tuple[Enclosure | None, ...]:
    r"""Precision of every group from its rates by true outcome and its base rate.

    .. math:: \frac{\pi \mathrm{TPR}}{\pi \mathrm{TPR} + (1 - \pi) \mathrm{FPR}}

    rises with TPR and falls with FPR, so its bounds are at their opposite ends. A group of whom certainly nobody is
    selected has none.

    Parameters
    ----------
    tpr, fpr : sequence of (Enclosure or None)
        None where there are no positives, or no negatives.
    base_rate : sequence of number
        Share of the people with favorable true outcome in each group; None where nobody's is known.

    >>> exact = [Enclosure(Fraction(1, 2), Fraction(1, 2))]
    >>> precision_of(exact, [Enclosure(Fraction(1, 4), Fraction(1, 4))], [Fraction(1, 3)])
    (Enclosure(lo=Fraction(1, 2), hi=Fraction(1, 2)),)
    """
    nothing = Enclosure(0, 0)
    found: list[Enclosure | None] = []
    for true, false, share in zip(tpr, fpr, base_rate, strict=True):
        if share is None or (true is None and share > 0) or (false is None and share < 1):
            found.append(None)
            continue
        good, bad = (true or nothing), (false or nothing)
        good, bad = _times(share, good), _times(1 - share, bad)
        if good.hi + bad.hi == 0:
            found.append(None)
            continue
        lo = _share(good.lo, bad.hi, 0)
        hi = _share(good.hi, bad.lo, 1)
        if good.lo + bad.lo == 0:
            # Nobody may be selected. Where one of the two is certainly 0, the other decides whenever somebody is.
            lo, hi = (1 if bad.hi == 0 else lo), (0 if good.hi == 0 else hi)
            found.append(IfDefined(lo, hi))
        else:
            found.append(Enclosure(lo, hi))
    return tuple(found)


def _times(factor: Number, rate: Enclosure) -> Enclosure:
    return Enclosure(factor * rate.lo, factor * rate.hi)


def _share(part: Number, rest: Number, empty: Number) -> Number:
    return part / (part + rest) if part + rest else empty


def overall_rate(rates: Rates, kind: str) -> Enclosure | None:
    """The rate of all people together; None where no group has it."""
    if kind == "precision":
        return _overall_precision(rates)
    held = _weighed(rates, kind)
    total = sum(weight for weight, _ in held)
    if not held or not total:
        return None
    lo, hi = (sum(weight * getattr(rate, end) for weight, rate in held) / total for end in ("lo", "hi"))
    return Enclosure(lo, hi)


def _weighed(rates: Rates, kind: str) -> list[tuple[Number, Enclosure]]:
    return [
        (weight, rate) for weight, rate in zip(rates.weights[kind], rates.of(kind), strict=True) if rate is not None
    ]


def _overall_precision(rates: Rates) -> Enclosure | None:
    """Of all people together, from their rates by true outcome."""
    if not rates.tpr or "tpr" not in rates.weights:
        return None
    true, false = overall_rate(rates, "tpr"), overall_rate(rates, "fpr")
    positives, negatives = (sum(rates.weights[kind]) for kind in ("tpr", "fpr"))
    if not positives + negatives:
        return None
    share = exact_share(positives, positives + negatives)
    return precision_of([true], [false], [share])[0]


def contrasts(rates: Rates, kind: str, comparison: str) -> list[Contrast | None]:
    """Every group's rate beside that of all people together ("to_overall"), or the reference group's ("to_reference").

    None for groups whose rate, or that beside it, is undefined; and for the reference group itself.
    """
    held = rates.of(kind)
    if comparison == "to_reference":
        if rates.reference is None:
            return [None] * len(held)
        other = held[rates.reference]
        return [
            None if rate is None or other is None or i == rates.reference else _apart(rate, other)
            for i, rate in enumerate(held)
        ]
    if kind == "precision":
        other = overall_rate(rates, kind)
        return [None if rate is None or other is None else _apart(rate, other) for rate in held]
    weights = rates.weights[kind]
    parts = _weighed(rates, kind)
    total = sum(weight for weight, _ in parts)
    if not total:
        return [None] * len(held)
    low, high = (sum(weight * getattr(rate, end) for weight, rate in parts) for end in ("lo", "hi"))
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


def _found(rates: Rates, kind: str, comparison: str) -> tuple[list[Contrast], Measure | None, str | None]:
    """Contrasts that are defined; a measure that says why there are none; and what they leave out."""
    sure, perhaps, reason = split_defined(rates, kind)
    if comparison == "to_reference":
        if rates.reference is None:
            return [], Measure(None, "no reference group is named: pass --reference column=value"), None
        if rates.of(kind) and rates.of(kind)[rates.reference] is None:
            return [], Measure(None, f"the reference group is without {_WITHOUT[kind]}"), None
    if comparison == "to_overall" and not rates.weights:
        return [], Measure(None, rates.why.get("weights", "it is not known how many people each group has")), None
    defined = [rate for rate in rates.of(kind) if rate is not None]
    if len(defined) < 2 or not (sure or perhaps):
        return [], Measure(None, too_few(defined, reason)), None
    compared = range(len(rates.of(kind))) if rates.compared is None else rates.compared
    held = [one for i, one in enumerate(contrasts(rates, kind, comparison)) if one is not None and i in compared]
    if not held:
        return [], Measure(None, "there is only the reference group, and nothing to compare it with"), None
    return held, None, reason


def farthest_difference(rates: Rates, kind: str, comparison: str) -> Measure:
    """The largest distance of a group's rate from that of all people together, or from the reference group's."""
    held, why, reason = _found(rates, kind, comparison)
    if why is not None:
        return why
    lo = max((max(0, one.difference.lo, -one.difference.hi) for one in held if not one.perhaps), default=0)
    hi = max(max(-one.difference.lo, one.difference.hi) for one in held)
    return Measure(Enclosure(lo, hi), reason)


def farthest_ratio(rates: Rates, kind: str, comparison: str) -> Measure:
    """The smallest of the ratios, smaller over larger rate, of a group and all people together, or the reference."""
    held, why, reason = _found(rates, kind, comparison)
    if why is not None:
        return why
    folded = [one.folded for one in held if one.folded is not None]
    if not folded:
        return Measure(None, "every rate that is compared is 0")
    lo = min(one.lo for one in folded)
    hi = min((one.folded.hi for one in held if one.folded is not None and not one.perhaps), default=1)
    return Measure(Enclosure(lo, hi), reason)


def exact_share(part: Number, whole: Number) -> Number:
    """A fraction of whole numbers; the quotient of floats, which rounding does not carry beyond 1."""
    if isinstance(part, int) and isinstance(whole, int):
        return Fraction(part, whole)
    return min(part / whole, 1.0)
