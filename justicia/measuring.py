"""Measures of an audit: verified ones and those of the rows side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from justicia.enclosure import Enclosure
from justicia.metrics import COMPARISONS, RATES_OF, Measure, Rates, SampleMeasures, exact_share, measure

if TYPE_CHECKING:
    from justicia.uncertainty import Uncertainty

__all__ = ["NOT_STATED", "ComparedMeasure", "Evidence", "MeasureAudit", "measures_of", "verified_rates"]

NOT_STATED = "the population does not say how many people each group has"


def _note(verified: Measure, sample: Measure) -> str:
    """What the two values of a measure leave out, and why one is undefined; said once where both are alike."""
    says = {
        source: held.undefined if held.value is None else f"incomplete: {held.undefined}"
        for source, held in (("verified", verified), ("rows", sample))
        if held.undefined is not None
    }
    if len(says) == 2 and len(set(says.values())) == 1:
        return str(says["rows"])
    return "; ".join(f"{source} {words}" for source, words in says.items())


@dataclass(frozen=True)
class ComparedMeasure:
    """A measure whose groups are compared with all people together, or with a reference group.

    Attributes
    ----------
    verified, sample : Measure
    interval : Enclosure or None
        Confidence interval of the rows' value.
    method : str
    simultaneous : Enclosure or None
        From Clopper and Pearson's intervals of the rows' rates, which hold together.
    """

    verified: Measure
    sample: Measure
    interval: Enclosure | None
    method: str
    simultaneous: Enclosure | None

    @property
    def note(self) -> str:
        """Which groups the values leave out, or why they are undefined; empty where there is nothing to say."""
        return _note(self.verified, self.sample)


@dataclass(frozen=True)
class MeasureAudit:
    """A measure, verified and from the rows.

    Attributes
    ----------
    verified : Measure
    sample : Measure
        From the rows.
    interval : Enclosure or None
        Confidence interval of the rows' value.
    method : str
    statistical : Measure or None
        From the statistical bounds of the rates; None when there are none.
    simultaneous : Enclosure or None
        From Clopper and Pearson's intervals of the rows' rates, which hold together.
    bootstrap : Enclosure or None
        Bootstrap interval of the verified value, where it was asked for.
    bounds : dict of str to (Enclosure or None)
        From the groups' bounds by the rows, by name.
    unshifted : Measure or None
        Under the population itself, where `verified` is a range over its shifts.
    compared : dict of str to ComparedMeasure
        The same measure "to_overall", and "to_reference" where there is a reference group.
    """

    verified: Measure
    sample: Measure
    interval: Enclosure | None
    method: str
    statistical: Measure | None = None
    simultaneous: Enclosure | None = None
    bootstrap: Enclosure | None = None
    bounds: dict[str, Enclosure | None] = field(default_factory=dict)
    unshifted: Measure | None = None
    compared: dict[str, ComparedMeasure] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """Which groups the values leave out, or why they are undefined; empty where there is nothing to say."""
        return _note(self.verified if self.unshifted is None else self.unshifted, self.sample)


@dataclass(frozen=True)
class Evidence:
    """Rates of all groups of a grouping, from every source.

    Attributes
    ----------
    verified : Rates or None
        Under the population, or over all its shifts; None where there is no model.
    samples : SampleMeasures
        The rows'.
    statistical : Rates or None
        Inside the verified ones, where these are wide.
    unshifted : Rates or None
        Under the population itself, where `verified` is a range over its shifts.
    """

    verified: Rates | None
    samples: SampleMeasures
    statistical: Rates | None = None
    unshifted: Rates | None = None

    def of_groups(self, kept: frozenset[int]) -> Evidence:
        """The same, with comparisons of some groups alone."""

        def alone(rates: Rates | None) -> Rates | None:
            return None if rates is None else replace(rates, compared=kept)

        samples = replace(self.samples, compared=kept)
        return Evidence(alone(self.verified), samples, alone(self.statistical), alone(self.unshifted))

    def rates(
        self, source: str, kinds: tuple[str, ...] = ("selection_rate",), comparison: str = COMPARISONS[0]
    ) -> Rates | None:
        """The rates of a source: an attribute, "sample", or "simultaneous" for intervals of the rows' of some kinds."""
        if source == "sample":
            return self.samples.rates
        if source == "simultaneous":
            return self.samples.intervals(kinds, comparison)[1]
        held: Rates | None = getattr(self, source)
        return held


def verified_rates(
    rates: Mapping[str, Sequence[Enclosure | None]],
    sizes: Mapping[str, np.ndarray],
    reference: int | None,
    rest: Mapping[str, Enclosure] | None = None,
    names: Sequence[str] = (),
) -> Rates:
    """Verified rates with what they weigh, and precision from them.

    Parameters
    ----------
    rates : mapping of str to sequence of (Enclosure or None)
        Of all groups, by kind.
    sizes : mapping of str to int array of shape (n_groups,)
        People of the population whom each kind is about; all 0 where it does not say.
    reference : int or None
        Position of the reference group.
    rest : mapping of str to Enclosure, optional
        By kind, what the rates of further groups lie between that no search has reached.
    names : sequence of str
        Of the groups.
    """
    weights = {kind: held.tolist() for kind, held in sizes.items()}
    why = {} if sum(weights["selection_rate"]) else {"weights": NOT_STATED, "precision": NOT_STATED}
    base_rate = None
    if "tpr" in rates and not why:
        pairs = zip(weights["tpr"], weights["fpr"], strict=True)
        base_rate = [exact_share(good, good + bad) if good + bad else None for good, bad in pairs]
    found = Rates.by_kind(
        rates, base_rate=base_rate, weights={} if why else weights, reference=reference, why=why, rest=rest
    )
    return replace(found, names=names)


def measures_of(evidence: Evidence, uncertainty: Uncertainty) -> dict[str, MeasureAudit]:
    """All measures that the evidence has, by name."""
    samples, verified = evidence.samples, evidence.verified
    if verified is None:
        raise ValueError("there are no verified rates")
    audits = {}
    for name in samples.names:
        sample = samples.of(name)
        against = COMPARISONS[1:] if samples.reference is not None else COMPARISONS[1:2]
        audits[name] = MeasureAudit(
            measure(name, verified),
            sample.measure,
            sample.interval,
            sample.method,
            _statistical(name, evidence),
            sample.simultaneous,
            uncertainty.bootstrap_of_measure(name),
            uncertainty.bounds_of_measure(name, verified.compared),
            None if evidence.unshifted is None else measure(name, evidence.unshifted),
            {comparison: _compared(name, comparison, verified, samples) for comparison in against},
        )
    return audits


def _statistical(name: str, evidence: Evidence) -> Measure | None:
    """From statistical bounds, where a rate that the measure needs has some."""
    inner, verified = evidence.statistical, evidence.verified
    if inner is None or verified is None or all(inner.of(kind) == verified.of(kind) for kind in RATES_OF[name]):
        return None
    return measure(name, inner)


def _compared(name: str, comparison: str, verified: Rates, samples: SampleMeasures) -> ComparedMeasure:
    sample = samples.of(name, comparison)
    return ComparedMeasure(
        measure(name, verified, comparison), sample.measure, sample.interval, sample.method, sample.simultaneous
    )  # fmt: skip
