"""Put verified rates and rates of the rows side by side, group by group, and derive the measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.enclosure import Enclosure
from justicia.errors import GroupingError
from justicia.fitting import Fit, measure_fit
from justicia.measuring import Evidence, MeasureAudit, measures_of, verified_rates
from justicia.metrics import OutcomeCounts, sample_measures, simultaneous_clopper_pearson, wilson
from justicia.uncertainty import Uncertainty, error_sizes
from justicia.weighing import counts_of_groups, impact_of, people_counts
from justicia.words import counted

if TYPE_CHECKING:
    import pandas as pd

    from justicia.conditional import ConditionalAudit
    from justicia.cross_checking import CrossCheck
    from justicia.metrics.adverse_impact import AdverseImpact
    from justicia.metrics.assignments import Assignments
    from justicia.population import Population
    from justicia.questions import Asked
    from justicia.remaining import Remaining
    from justicia.shifting import Shift, ShiftedRate
    from justicia.solvers import Solution
    from justicia.tables import Grouping

__all__ = [
    "Extreme",
    "GroupAudit",
    "GroupingAudit",
    "SampleRate",
    "Stratum",
    "compare",
    "sample_rates",
]


@dataclass(frozen=True)
class SampleRate:
    """A rate of the rows, with its confidence interval.

    Attributes
    ----------
    value : Fraction
    lo, hi : float
    method : str
        Of the interval, which holds for this rate alone.
    simultaneous : Enclosure
        Clopper and Pearson's interval; those of all groups hold together.
    """

    value: Fraction
    lo: float
    hi: float
    method: str
    simultaneous: Enclosure


@dataclass(frozen=True)
class GroupAudit:
    """One group.

    Attributes
    ----------
    group : dict of str to str
        Value of each sensitive column.
    n : int
        Rows.
    selected : int
        Rows to which the model gives a favorable outcome.
    positives, negatives : int or None
        Rows whose true outcome is favorable, or is not; None without a label.
    selection_rate : Enclosure or None
        Verified under the population; None for a group without rows.
    sample_rate : SampleRate or None
    note : str or None
    tpr, fpr : Enclosure or None
        Verified under the populations of the rows with favorable, and with unfavorable true outcome; None where
        there are none.
    sample_tpr, sample_fpr : SampleRate or None
    intervals : dict of str to Enclosure
        Statistical bounds of "selection_rate", "tpr" and "fpr" inside the verified ones, where these are too wide.
    bootstrap : dict of str to Enclosure
        Bootstrap intervals of the same rates, where they were asked for.
    bounds : dict of str to (dict of str to (Enclosure or None))
        Bounds by the rows of the same rates, by their names in `justicia.bounding.CLAIMS`.
    shift : dict of str to ShiftedRate
        Of the same rates, where shifts of the population were asked for: the verified rates are ranges then.
    precision : Enclosure or None
        Share of people with favorable true outcome among the selected ones, by the verified rates and the group's base
        rate; None without a label, and where certainly nobody is selected.
    sample_precision : SampleRate or None
    weight : tuple of (float, float), or None
        Weights of all rows and of the selected ones; None when each row counts once.
    remaining : dict of str to Enclosure
        The same rates with the mediators of the most favored group, where mediators are named.
    remaining_intervals : dict of str to Enclosure
        Statistical bounds inside of them, where there are some.
    """

    group: dict[str, str]
    n: int
    selected: int
    positives: int | None
    negatives: int | None
    selection_rate: Enclosure | None
    sample_rate: SampleRate | None
    note: str | None = None
    tpr: Enclosure | None = None
    fpr: Enclosure | None = None
    sample_tpr: SampleRate | None = None
    sample_fpr: SampleRate | None = None
    intervals: dict[str, Enclosure] = field(default_factory=dict)
    bootstrap: dict[str, Enclosure] = field(default_factory=dict)
    bounds: dict[str, dict[str, Enclosure | None]] = field(default_factory=dict)
    shift: dict[str, ShiftedRate] = field(default_factory=dict)
    precision: Enclosure | None = None
    sample_precision: SampleRate | None = None
    weight: tuple[float, float] | None = None
    remaining: dict[str, Enclosure] = field(default_factory=dict)
    remaining_intervals: dict[str, Enclosure] = field(default_factory=dict)

    def unshifted(self, kind: str) -> Enclosure | None:
        """The verified rate under the population itself."""
        held: Enclosure | None = self.shift[kind].unshifted if kind in self.shift else getattr(self, kind)
        return held

    def narrowest(self, kind: str) -> Enclosure | None:
        """The statistical bounds of a rate under the population itself where there are some, else the certain ones."""
        if kind in self.shift:
            return self.shift[kind].statistical or self.shift[kind].unshifted
        return self.intervals.get(kind, self.unshifted(kind))


@dataclass(frozen=True)
class Extreme:
    """The most or least favored group, and all groups that may be it; `tied` when their rates are equal and exact."""

    group: dict[str, str]
    selection_rate: Enclosure
    candidates: tuple[dict[str, str], ...]
    tied: bool = False


@dataclass(frozen=True)
class GroupingAudit:
    """One grouping.

    Attributes
    ----------
    sensitive : tuple of str
    groups : tuple of GroupAudit
        Groups with rows first, in the order of their values; then the empty ones.
    population : Population
    solution : Solution
    strata : dict of str to Stratum
        Rows with favorable ("tpr") and with unfavorable ("fpr") true outcome; empty without a label.
    most_favored, least_favored : Extreme
    measures : dict of str to MeasureAudit
    fit : Fit
        Distance between verified and sample selection rates.
    held_out : Fit or None
        The same on rows held out; None when it was not asked for.
    uncertainty : Uncertainty
        Bounds by the rows, and the bootstrap.
    shifts : dict of str to Shift
        By kind of rate; empty when they were not asked for. `solution` and `strata` are of the population itself.
    evidence : Evidence
        Rates of all groups from every source, in the order of `groups`, without the empty ones.
    conditional : ConditionalAudit or None
        The same inside each stratum of a lawful factor; None when none was named.
    adverse_impact : AdverseImpact or None
        The rows' groups against the one with the highest rate; None when tests were not asked for.
    missing : Assignments or None
        Ranges of the rows' rates over people of unknown group; None when they were not asked for.
    possible : tuple of dict of str to str
        The groups that `missing` is about.
    remaining : Remaining or None
        Rates and measures with the mediators of the most favored group; None when there are none.
    cross_check : CrossCheck or None
        What second routes to the rates say; None when they were not asked for.
    """

    sensitive: tuple[str, ...]
    groups: tuple[GroupAudit, ...]
    population: Population
    solution: Solution
    strata: dict[str, Stratum]
    most_favored: Extreme
    least_favored: Extreme
    measures: dict[str, MeasureAudit]
    fit: Fit
    held_out: Fit | None
    uncertainty: Uncertainty
    shifts: Mapping[str, Shift]
    evidence: Evidence
    conditional: ConditionalAudit | None = None
    adverse_impact: AdverseImpact | None = None
    missing: Assignments | None = None
    possible: tuple[dict[str, str], ...] = ()
    remaining: Remaining | None = None
    cross_check: CrossCheck | None = None
    min_group: int = 0

    @property
    def problems(self) -> dict[str, dict[int, str]]:
        """By kind of rate, groups that an outside solver gave no answer for, and why; kinds without any left out."""
        held = {"selection_rate": dict(self.solution.problems)}
        for kind, part in self.strata.items():
            if part.asked is not None:
                kept = part.asked.kept.tolist()
                held[kind] = {kept[group]: why for group, why in part.asked.solution.problems.items()}
        return {kind: problems for kind, problems in held.items() if problems}

    @property
    def group_names(self) -> list[dict[str, str]]:
        """The groups that `evidence` is about."""
        return [group.group for group in self.groups[: len(self.evidence.samples.counts.n)]]

    @property
    def reference(self) -> dict[str, str] | None:
        """The reference group; None when none was named for this grouping."""
        position = self.evidence.samples.reference
        return None if position is None else self.groups[position].group

    @property
    def shift(self) -> Shift | None:
        """Of the selection rates; None when it was not asked for."""
        return self.shifts.get("selection_rate")

    def shifted(self, extreme: Extreme) -> ShiftedRate | None:
        """What shifts do to the selection rate of an extreme group."""
        by_values = {tuple(group.group.values()): group for group in self.groups}
        return by_values[tuple(extreme.group.values())].shift.get("selection_rate")

    @property
    def stopped(self) -> set[str]:
        """Why some of the verified rates are known less well than asked for."""
        return {one for one in (self.solution.stopped, *(part.stopped for part in self.strata.values())) if one}

    def delta(self, *kinds: str) -> float:
        """Probability that some statistical interval of these rates misses."""
        held = {"selection_rate": self.solution.delta, **{kind: part.delta for kind, part in self.strata.items()}}
        return sum(held.get(kind) or 0.0 for kind in kinds)

    @property
    def errors(self) -> dict[str, dict[str, float | None]]:
        """Sizes of the three sources of error, for both extreme groups and the disparate impact.

        verification: width of the enclosure. sampling: from the rows' value to the further end of its Clopper-Pearson
        interval, of all groups that are compared together. structure: from the verified value to the rows'.
        """
        return error_sizes(self)

    @property
    def reported(self) -> tuple[GroupAudit, ...]:
        """All groups; when the extremes were learned, those that may be an extreme."""
        if self.solution.search == "enumerate":
            return self.groups
        extremes = {
            tuple(group.values()) for end in (self.most_favored, self.least_favored) for group in end.candidates
        }
        return tuple(group for group in self.groups if tuple(group.group.values()) in extremes)

    @property
    def by_group(self) -> pd.DataFrame:
        """One row a group, indexed by the sensitive columns; a rate that is only bounded is NaN beside its bounds."""
        from justicia.frames import group_frame

        return group_frame(self)

    @property
    def by_stratum(self) -> pd.DataFrame:
        """One row a stratum of the lawful factors, with its people and its parity; empty when none was named."""
        from justicia.frames import stratum_frame

        return stratum_frame(self)


@dataclass(frozen=True)
class Stratum:
    """The rows with one true outcome.

    Attributes
    ----------
    rows : bool array of shape (n_rows,)
    population : Population or None
        Fitted on these rows; None when there are none.
    enclosures : tuple of (Enclosure or None)
        Verified rates of all groups of the grouping; None for those without such rows.
    seconds : float
    intervals : tuple of (Enclosure or None)
        Statistical bounds inside the enclosures, where there are some.
    stopped : str or None
        Why the enclosures are wider than asked for.
    delta : float or None
        Probability that some interval misses.
    asked : Asked or None
        What the enclosures are the answer to.
    """

    rows: np.ndarray
    population: Population | None
    enclosures: tuple[Enclosure | None, ...]
    seconds: float
    intervals: tuple[Enclosure | None, ...] = ()
    stopped: str | None = None
    delta: float | None = None
    asked: Asked | None = None

    def sizes(self, n_groups: int) -> np.ndarray:
        """People of each group in the population, int array of shape (n_groups,)."""
        if self.asked is None:
            return np.zeros(n_groups, dtype=np.int64)
        return _spread(self.asked.people, self.asked.kept, n_groups)


def compare(
    groups: Grouping,
    population: Population,
    solution: Solution,
    selected: np.ndarray,
    strata: dict[str, Stratum],
    confidence: float,
    held_out: Fit | None = None,
    uncertainty: Uncertainty | None = None,
    shifts: Mapping[str, Shift] | None = None,
    reference: int | None = None,
    conditional: ConditionalAudit | None = None,
    weights: np.ndarray | None = None,
    min_group: int = 0,
    tests: bool = False,
    remaining: Remaining | None = None,
) -> GroupingAudit:
    """Audit one grouping.

    Parameters
    ----------
    groups : Grouping
    population : Population
    solution : Solution
        Enclosures of the selection rates of the first groups; the population knows nothing of the others.
    selected : bool array of shape (n_rows,)
        What `predict` says.
    strata : dict of str to Stratum
        Empty without a label.
    confidence : float
        Of the intervals of the rows' rates.
    held_out : Fit, optional
        Of populations fitted without the rows that they are compared with.
    uncertainty : Uncertainty, optional
        Bounds by the rows, and the bootstrap.
    shifts : mapping of str to Shift, optional
        By kind of rate: their ranges are the verified rates then.
    reference : int, optional
        Position of the reference group.
    conditional : ConditionalAudit, optional
        Strata of a lawful factor.
    weights : float64 array of shape (n_rows,), optional
        Of the rows.
    min_group : int
        Groups with fewer rows are listed, and left out of extremes, measures and tests.
    tests : bool
        Whether the rows' groups are tested against the one with the highest rate.
    remaining : Remaining, optional
        Rates and measures with the mediators of the most favored group.

    Raises
    ------
    GroupingError
        When no group has that many rows.
    """
    uncertainty = Uncertainty() if uncertainty is None else uncertainty
    shifts = {} if shifts is None else shifts
    n_groups = len(groups.groups)
    n_known = len(solution.enclosures)
    unknown: tuple[None, ...] = (None,) * (n_groups - n_known)
    verified: dict[str, Sequence[Enclosure | None]] = {"selection_rate": (*solution.enclosures, *unknown)}
    inner = {"selection_rate": (*solution.intervals, *unknown)}
    for kind, stratum in strata.items():
        verified[kind], inner[kind] = stratum.enclosures, stratum.intervals
    sizes = {
        "selection_rate": _spread(population, np.arange(n_known), n_groups),
        **{kind: stratum.sizes(n_groups) for kind, stratum in strata.items()},
    }
    rests = _rests(population, strata)
    names = [", ".join(group) for group in groups.groups]
    unshifted = verified_rates(verified, sizes, reference, rests, names) if shifts else None
    for kind, shift in shifts.items():
        verified[kind] = [None if one is None else one.within for one in shift.rates]
        inner[kind] = tuple(None if one is None else one.interval for one in shift.rates)
    counts = _counts(groups, selected, strata, weights)
    rows = counts if weights is None else _counts(groups, selected, strata)
    kept = groups.compared(min_group)
    few = frozenset(range(n_groups)) - kept
    if few and not any(rows.n[i] for i in kept):
        raise GroupingError(f"no group of {' x '.join(groups.sensitive)} has {min_group:,} rows: lower --min-group")
    samples_of_all = sample_measures(counts, reference=reference, confidence=confidence, group_names=names)
    narrowed = _narrowed(verified, inner) if any(map(any, inner.values())) else None
    evidence = Evidence(
        verified_rates(verified, sizes, reference, rests, names),
        samples_of_all,
        None if narrowed is None else verified_rates(narrowed, sizes, reference, rests, names),
        unshifted,
    )
    if few:
        evidence = evidence.of_groups(kept)
    samples = {kind: sample_rates(counts, kind, confidence) for kind in counts.kinds}
    none: list[Any] = [None] * n_groups
    precision = (evidence.verified.precision if evidence.verified is not None else ()) or none
    k, n, positives, negatives = rows.selected, rows.n, rows.positives, rows.negatives
    audits = [
        GroupAudit(
            groups.named(group),
            int(n[i]),
            int(k[i]),
            None if positives is None else int(positives[i]),
            None if negatives is None else int(negatives[i]),
            verified["selection_rate"][i],
            samples["selection_rate"][i],
            _note(int(n[i]), i < n_known, min_group),
            verified.get("tpr", none)[i],
            verified.get("fpr", none)[i],
            samples.get("tpr", none)[i],
            samples.get("fpr", none)[i],
            {kind: one for kind, held in inner.items() if held and (one := held[i]) is not None},
            uncertainty.bootstrap_of(i),
            uncertainty.bounds_of(i),
            {kind: rate for kind, shift in shifts.items() if (rate := shift.rates[i]) is not None},
            precision[i],
            samples.get("precision", none)[i],
            None if weights is None else (float(counts.n[i]), float(counts.selected[i])),
            {} if remaining is None else remaining.of_group(remaining.rates, i),
            {} if remaining is None else remaining.of_group(remaining.intervals, i),
        )
        for i, group in enumerate(groups.groups)
    ]
    zero = 0 if strata else None
    empty = [GroupAudit(groups.named(group), 0, 0, zero, zero, None, None, "empty: no rows") for group in groups.empty]
    return GroupingAudit(
        groups.sensitive,
        (*audits, *empty),
        population,
        solution,
        strata,
        _extreme(audits, _end(solution, kept, n_known, largest=True), n_known, few),
        _extreme(audits, _end(solution, kept, n_known, largest=False), n_known, few),
        measures_of(evidence, uncertainty),
        measure_fit(groups, solution.enclosures, *counts.effective("selection_rate"), confidence, None, kept),
        held_out,
        uncertainty,
        shifts,
        evidence,
        conditional,
        _impact(counts, few, confidence) if tests else None,
        remaining=remaining,
        min_group=min_group,
    )


def _impact(counts: OutcomeCounts, few: frozenset[int], confidence: float) -> AdverseImpact:
    """Tests of the groups that are compared, at their positions among all."""
    kept = [i for i in range(len(counts.n)) if i not in few]
    held = impact_of(counts_of_groups(counts, kept), confidence)
    moved = tuple(replace(one, position=kept[one.position]) for one in held.groups)
    return replace(held, reference=None if held.reference is None else kept[held.reference], groups=moved)


def _end(solution: Solution, kept: frozenset[int], n_known: int, *, largest: bool) -> int:
    """Position of an extreme group among those that are compared."""
    if len(kept & set(range(n_known))) in (0, n_known):
        return solution.best if largest else solution.worst
    lo, hi = (solution.lo, solution.hi) if solution.interval is None else solution.interval
    known = sorted(i for i in kept if i < n_known)
    return max(known, key=lambda i: lo[i]) if largest else min(known, key=lambda i: hi[i])


def _spread(population: Population | None, kept: np.ndarray, n_groups: int) -> np.ndarray:
    """People of a population's groups, at their positions in the grouping."""
    held = np.zeros(n_groups, dtype=np.int64 if population is None else population.sizes.dtype)
    if population is not None:
        held[kept] = population.sizes
    return held


def _rests(population: Population, strata: Mapping[str, Stratum]) -> dict[str, Enclosure]:
    """Bounds of the rates of groups that a search has not reached, by kind of rate."""
    populations = {"selection_rate": population, **{kind: stratum.population for kind, stratum in strata.items()}}
    return {kind: one.rest for kind, one in populations.items() if one is not None and one.rest is not None}


def _narrowed(
    verified: Mapping[str, Sequence[Enclosure | None]], inner: Mapping[str, Sequence[Enclosure | None]]
) -> dict[str, Sequence[Enclosure | None]]:
    """Statistical bounds where there are some, the certain ones elsewhere."""
    return {
        kind: [b or a for a, b in zip(rates, inner[kind] or [None] * len(rates), strict=True)]
        for kind, rates in verified.items()
    }


def _note(n: int, known: bool, min_group: int) -> str | None:
    if 0 < n < min_group:
        return f"fewer than {counted(min_group, 'row')}: left out of every measure"
    if not known:
        return "unknown: the population has nobody of this group"
    return None if n else "no rows: the rate is that of the population alone"


def _counts(
    groups: Grouping, selected: np.ndarray, strata: Mapping[str, Stratum], weights: np.ndarray | None = None
) -> OutcomeCounts:
    """People of each group by decision and true outcome."""
    codes, n_groups = groups.codes, len(groups.groups)
    if not strata:
        return people_counts(codes, n_groups, selected, None, None, weights, groups.repeats)
    positive, negative = strata["tpr"].rows, strata["fpr"].rows
    return people_counts(codes, n_groups, selected, positive, positive | negative, weights, groups.repeats)


def sample_rates(counts: OutcomeCounts, kind: str, confidence: float) -> list[SampleRate | None]:
    """Rates of the rows with their intervals; those of weighted rows count people by their effective number."""
    k, n = counts.of(kind)
    few, size = counts.effective(kind)
    lo, hi = wilson(few, size, confidence)
    together = map(Enclosure, *(end.tolist() for end in simultaneous_clopper_pearson(few, size, confidence)))
    method = "wilson" if counts.squares is None else "wilson, effective sample size"
    return [
        SampleRate(Fraction(a) / Fraction(b), float(lo[i]), float(hi[i]), method, held) if b else None
        for i, (a, b, held) in enumerate(zip(k.tolist(), n.tolist(), together, strict=True))
    ]


def _extreme(audits: Sequence[GroupAudit], index: int, n_known: int, few: frozenset[int]) -> Extreme:
    """The group at a position, among the first ones, whose rates are known."""
    enclosures = [rate for audit in audits[:n_known] if (rate := audit.selection_rate) is not None]
    own = enclosures[index]
    rest = [i for i in range(len(enclosures)) if i not in few and i != index and enclosures[i].overlaps(own)]
    tied = bool(rest) and all(enclosures[i].exact for i in (index, *rest))
    return Extreme(audits[index].group, own, tuple(audits[i].group for i in (index, *rest)), tied)
