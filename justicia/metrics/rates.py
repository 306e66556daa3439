"""Rates of groups, verified or of the rows, and what follows from them: precision, and the rates of all people."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from justicia.enclosure import Enclosure, Number
from justicia.words import counted, groups_listed

__all__ = [
    "WITHOUT",
    "IfDefined",
    "Measure",
    "Rates",
    "Spread",
    "exact_share",
    "overall_rate",
    "precision_of",
    "split_defined",
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
    rest : mapping of str to Enclosure
        By kind, what the rates of further groups lie between; they are compared with the others.
    names : sequence of str
        Of the groups, for what is said of them; empty where they are told by their number alone.
    """

    selection_rate: Undefinable = ()
    tpr: Undefinable = ()
    fpr: Undefinable = ()
    precision: Undefinable = ()
    weights: Mapping[str, Sequence[Number]] = field(default_factory=dict)
    reference: int | None = None
    compared: Collection[int] | None = None
    why: Mapping[str, str] = field(default_factory=dict)
    rest: Mapping[str, Enclosure] = field(default_factory=dict)
    names: Sequence[str] = ()

    @classmethod
    def by_kind(
        cls,
        rates: Mapping[str, Undefinable],
        *,
        base_rate: Sequence[Number | None] | None = None,
        weights: Mapping[str, Sequence[Number]] | None = None,
        reference: int | None = None,
        why: Mapping[str, str] | None = None,
        rest: Mapping[str, Enclosure] | None = None,
    ) -> Rates:
        """Rates by their kind; precision follows from the others where a base rate is given."""
        selection, tpr, fpr = (rates.get(kind, ()) for kind in ("selection_rate", "tpr", "fpr"))
        precision = rates.get("precision", ())
        if base_rate is not None and tpr and fpr:
            precision = precision_of(tpr, fpr, base_rate)
        return cls(selection, tpr, fpr, precision, weights or {}, reference, None, why or {}, rest or {})

    def lacking(self, kind: str) -> list[int]:
        """Positions of the compared groups that have no rate of a kind."""
        compared = range(len(self.of(kind))) if self.compared is None else self.compared
        return sorted(i for i in compared if self.of(kind)[i] is None)

    def named(self, positions: Iterable[int]) -> str:
        """The groups at some positions in words, in parentheses; empty where they have no names."""
        return f" ({groups_listed(self.names[i] for i in positions)})" if self.names else ""

    def of(self, kind: str) -> Undefinable:
        """The rates of one kind, one of "selection_rate", "tpr", "fpr" and "precision"."""
        held: Undefinable = getattr(self, kind)
        return held

    @cached_property
    def _known(self) -> dict[str, Spread]:
        return {}

    @cached_property
    def _sums(self) -> dict[str, tuple[Number, Number, Number]]:
        return {}

    def spread(self, kind: str) -> Spread:
        """The ends of the rates that are compared; found once, for several measures need them."""
        if kind not in self._known:
            self._known[kind] = _spread(self, kind)
        return self._known[kind]

    @cached_property
    def found(self) -> dict[tuple[str, str], list[Any]]:
        """What has been found out about the rates, for several measures need it."""
        return {}

    def sums(self, kind: str) -> tuple[Number, Number, Number]:
        """Sum of the weights, and bounds of the sum of weighted rates."""
        if kind not in self._sums:
            parts = [
                (weight, rate)
                for weight, rate in zip(self.weights[kind], self.of(kind), strict=True)
                if rate is not None
            ]
            low = _total(_weighed(weight, rate.lo) for weight, rate in parts)
            exact = all(rate.lo is rate.hi for _, rate in parts)
            high = low if exact else _total(_weighed(weight, rate.hi) for weight, rate in parts)
            self._sums[kind] = sum(weight for weight, _ in parts), low, high
        return self._sums[kind]

    def in_question(self, kind: str) -> Undefinable:
        """The rates of the groups that are compared."""
        held = self.of(kind)
        compared = held if self.compared is None else [rate for i, rate in enumerate(held) if i in self.compared]
        return [*compared, self.rest[kind]] if kind in self.rest else compared


def _weighed(weight: Number, rate: Number) -> Number:
    """The product, which is a whole number where the rate is a share of so many people: those add up much faster."""
    if isinstance(weight, int) and isinstance(rate, Fraction):
        whole, rest = divmod(weight * rate.numerator, rate.denominator)
        if not rest:
            return whole
    return weight * rate


def _total(numbers: Iterable[Number]) -> Number:
    found = sum(numbers)
    return Fraction(found) if isinstance(found, int) else found


@dataclass(frozen=True)
class Spread:
    """The ends of some rates.

    Attributes
    ----------
    sure, perhaps : int
        Rates that are surely defined, and that perhaps are.
    reason : str or None
        What is left out.
    highest_lo, lowest_hi : number
        Of the surely defined ones; 0 and 1 when there are none.
    highest_hi, lowest_lo : number
        Of both.
    ends : tuple of int
        Positions of the highest and the lowest rate, where all are exact.
    """

    sure: int
    perhaps: int
    reason: str | None
    highest_lo: Number = 0
    lowest_hi: Number = 1
    highest_hi: Number = 0
    lowest_lo: Number = 1
    ends: tuple[int, ...] = ()


def _spread(rates: Rates, kind: str) -> Spread:
    sure, perhaps, reason = split_defined(rates, kind)
    if not sure and not perhaps:
        return Spread(0, 0, reason)
    if not perhaps and kind not in rates.rest and all(rate.lo is rate.hi for rate in sure):
        held = [
            (float(rate.lo), rate.lo, i)
            for i, rate in enumerate(rates.of(kind))
            if rate is not None and (rates.compared is None or i in rates.compared)
        ]
        # Rounding keeps the order, so that fractions are compared only where their floats are equal.
        (_, high, at), (_, low, other) = max(held), min(held)
        return Spread(len(sure), 0, reason, high, low, high, low, (at, other))
    every = [*sure, *perhaps]
    return Spread(
        len(sure),
        len(perhaps),
        reason,
        max((rate.lo for rate in sure), default=0),
        min((rate.hi for rate in sure), default=1),
        max(rate.hi for rate in every),
        min(rate.lo for rate in every),
    )


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


WITHOUT = {
    "selection_rate": "people in the population",
    "tpr": "positives",
    "fpr": "negatives",
    "precision": "selected people",
}
"""What a group lacks whose rate is undefined, by kind of rate."""


def split_defined(rates: Rates, kind: str) -> tuple[list[Enclosure], list[Enclosure], str | None]:
    """The rates that are surely defined, those that perhaps are, and which groups have none."""
    held = rates.in_question(kind)
    sure = [rate for rate in held if rate is not None and not isinstance(rate, IfDefined)]
    perhaps: list[Enclosure] = [rate for rate in held if isinstance(rate, IfDefined)]
    if kind in rates.why:
        return sure, perhaps, rates.why[kind]
    missing = rates.lacking(kind)
    reasons = [f"{counted(len(missing), 'group')} without {WITHOUT[kind]}{rates.named(missing)}"] if missing else []
    if perhaps:
        unsure = [
            i
            for i, rate in enumerate(rates.of(kind))
            if isinstance(rate, IfDefined) and (rates.compared is None or i in rates.compared)
        ]
        reasons.append(f"{counted(len(perhaps), 'group')} perhaps without {WITHOUT[kind]}{rates.named(unsure)}")
    return sure, perhaps, "; ".join(reasons) or None


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
    if kind not in rates.weights and kind != "precision":
        return None
    if kind not in rates.weights:
        return _overall_precision(rates)
    total, low, high = rates.sums(kind)
    return Enclosure(low / total, high / total) if total else None


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


def exact_share(part: Number, whole: Number) -> Number:
    """A fraction of whole numbers; the quotient of floats, which rounding does not carry beyond 1."""
    if isinstance(part, int) and isinstance(whole, int):
        return Fraction(part, whole)
    return min(part / whole, 1.0)
