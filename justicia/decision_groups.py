"""Groups of people by decisions that a table holds: rates and measures of the rows, without a model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.comparison import GroupAudit, sample_rates
from justicia.measuring import ComparedMeasure, Evidence, MeasureAudit
from justicia.metrics import (
    COMPARISONS,
    Measure,
    SampleMeasure,
    sample_measures,
)
from justicia.metrics.adverse_impact import AdverseImpact
from justicia.metrics.assignments import Assignments, Unknown, assignment_ranges
from justicia.tables.repeats import number_of, of_rows
from justicia.uncertainty import Uncertainty
from justicia.weighing import counts_of_groups, impact_of, people_counts
from justicia.words import counted

if TYPE_CHECKING:
    import pandas as pd

    from justicia.tables.outcomes import Outcomes
    from justicia.tables.roles import Truth
    from justicia.tables.unknown import PartialGrouping

__all__ = ["NO_MODEL", "SUPPRESSED", "DecisionGrouping", "audit_groups", "ranges_of"]

NO_MODEL = "there is no model to verify"
SUPPRESSED = "suppressed"
"""Note of a group whose numbers are not published."""


@dataclass(frozen=True)
class DecisionGrouping:
    """One grouping, under one rule of decision.

    Attributes
    ----------
    sensitive : tuple of str
    rule : str
        When the outcome is favorable, in words.
    threshold : float or None
        Of the score.
    groups : tuple of GroupAudit
        Groups with rows first; then those left out of every measure, then the empty ones. Nothing is verified.
    evidence : Evidence
        Rates of the groups that are compared, in the order of `groups`.
    measures : dict of str to MeasureAudit
        From the rows alone.
    most_favored, least_favored : dict of str to str, or None
        The groups with the highest and the lowest rate; None where nobody is compared.
    adverse_impact : AdverseImpact or None
        Tests against the highest rate; None when they were not asked for.
    missing : Assignments or None
        Ranges over people of unknown group; None when they were not asked for.
    possible : tuple of dict of str to str
        The groups that `missing` is about.
    unknown : int
        People whose group is not known, and who are in none.
    """

    sensitive: tuple[str, ...]
    rule: str
    threshold: float | None
    groups: tuple[GroupAudit, ...]
    evidence: Evidence
    measures: dict[str, MeasureAudit]
    most_favored: dict[str, str] | None
    least_favored: dict[str, str] | None
    adverse_impact: AdverseImpact | None = None
    missing: Assignments | None = None
    possible: tuple[dict[str, str], ...] = ()
    unknown: int = 0
    uncertainty: Uncertainty = field(default_factory=Uncertainty)
    conditional: None = None
    remaining: None = None

    @property
    def group_names(self) -> list[dict[str, str]]:
        """The groups that `evidence` is about."""
        return [group.group for group in self.compared]

    @property
    def compared(self) -> tuple[GroupAudit, ...]:
        """The groups that enter measures."""
        return self.groups[: len(self.evidence.samples.counts.n)]

    @property
    def left_out(self) -> tuple[GroupAudit, ...]:
        """The groups that have rows and enter none."""
        return tuple(group for group in self.groups[len(self.compared) :] if group.n)

    @property
    def reference(self) -> dict[str, str] | None:
        """The reference group; None when none was named for this grouping."""
        position = self.evidence.samples.reference
        return None if position is None else self.groups[position].group

    def delta(self, *kinds: str) -> float:  # noqa: ARG002 (as in an audit of a model)
        """Probability that a statistical interval of verified rates misses: there are none."""
        return 0.0

    @property
    def by_group(self) -> pd.DataFrame:
        """One row a group, indexed by the sensitive columns."""
        from justicia.frames import decision_frame

        return decision_frame(self)


def audit_groups(
    partial: PartialGrouping,
    outcomes: Outcomes,
    truth: Truth | None,
    weights: np.ndarray | None,
    confidence: float,
    *,
    reference: Mapping[str, str] | None = None,
    min_group: int = 0,
    hidden: Collection[int] = (),
    tests: bool = False,
    bounds: bool = False,
    repeats: np.ndarray | None = None,
) -> DecisionGrouping:
    """Audit one grouping under one rule of decision.

    Parameters
    ----------
    partial : PartialGrouping
    outcomes : Outcomes
        Of all rows.
    truth : Truth or None
        Of all rows.
    weights : float64 array of shape (n_rows,), or None
    confidence : float
        Of the intervals of rates and measures.
    reference : mapping of str to str, optional
        A reference group.
    min_group : int
        Groups with fewer rows are listed and left out of every measure.
    hidden : collection of int
        Positions of groups whose numbers are not published.
    tests, bounds : bool
        Whether tests of adverse impact, and ranges over people of unknown group, are asked for.
    repeats : int64 array of shape (n_rows,), optional
        Equal rows that each row stands for.
    """
    grouping, known = partial.grouping, partial.known
    codes, selected = grouping.codes, outcomes.selected[known]
    positive, label_known = (None, None) if truth is None else (truth.positive[known], truth.known[known])
    own = None if weights is None else weights[known]
    n_groups = len(grouping.groups)
    counts = people_counts(codes, n_groups, selected, positive, label_known, own, grouping.repeats)
    rows = grouping.tally()
    enough = (rows > 0) & (rows >= min_group)
    enough[list(hidden)] = False
    kept, few = np.flatnonzero(enough).tolist(), np.flatnonzero((rows > 0) & ~enough).tolist()
    order = [*kept, *few]
    compared = counts_of_groups(counts, kept)
    place = None
    if reference is not None and set(reference) >= set(grouping.sensitive):
        wanted = tuple(reference[name] for name in grouping.sensitive)
        place = next((i for i, group in enumerate(kept) if grouping.groups[group] == wanted), None)
    names = [", ".join(grouping.groups[i]) for i in kept]
    samples = sample_measures(compared, reference=place, confidence=confidence, group_names=names)
    rates = {kind: sample_rates(counts, kind, confidence) for kind in counts.kinds}
    raw = people_counts(codes, n_groups, selected, positive, label_known, None, grouping.repeats)
    none: list[None] = [None] * n_groups
    groups = []
    for i in order:
        note = None
        if i in hidden:
            note = SUPPRESSED
        elif not enough[i]:
            note = f"fewer than {counted(min_group, 'row')}: left out of every measure"
        groups.append(
            GroupAudit(
                grouping.named(grouping.groups[i]),
                int(rows[i]),
                int(raw.selected[i]),
                None if raw.positives is None else int(raw.positives[i]),
                None if raw.negatives is None else int(raw.negatives[i]),
                None,
                rates["selection_rate"][i],
                note,
                sample_tpr=rates.get("tpr", none)[i],
                sample_fpr=rates.get("fpr", none)[i],
                sample_precision=rates.get("precision", none)[i],
                weight=None if own is None else (float(counts.n[i]), float(counts.selected[i])),
            )
        )
    zero = None if truth is None else 0
    unused = [grouping.groups[i] for i in range(n_groups) if not rows[i]]
    empty = [
        GroupAudit(grouping.named(group), 0, 0, zero, zero, None, None, "empty: no rows")
        for group in (*unused, *grouping.empty)
    ]
    evidence = Evidence(None, samples)
    found: dict[str, MeasureAudit] = {}
    for name in samples.names:
        one = samples.of(name)
        against = COMPARISONS[1:] if place is not None else COMPARISONS[1:2]
        compared_to = {comparison: samples.of(name, comparison) for comparison in against}
        found[name] = MeasureAudit(
            Measure(None, NO_MODEL),
            one.measure,
            one.interval,
            one.method,
            simultaneous=one.simultaneous,
            compared={comparison: _compared(held) for comparison, held in compared_to.items()},
        )
    shares = [rate.lo for rate in samples.rates.selection_rate if rate is not None]
    top, low = _extremes(shares, compared.n)
    missing = ranges_of(partial, outcomes.selected, kept, repeats) if bounds else None
    return DecisionGrouping(
        grouping.sensitive,
        outcomes.rule,
        outcomes.threshold,
        (*groups, *empty),
        evidence,
        found,
        None if top is None else groups[top].group,
        None if low is None else groups[low].group,
        impact_of(compared, confidence) if tests else None,
        missing,
        tuple(grouping.named(group) for group in grouping.groups) if missing is not None else (),
        number_of(~known, repeats),
    )


def _compared(held: SampleMeasure) -> ComparedMeasure:
    return ComparedMeasure(Measure(None, NO_MODEL), held.measure, held.interval, held.method, held.simultaneous)


def _extremes(rates: Sequence[Any], n: np.ndarray) -> tuple[int | None, int | None]:
    """Positions of the highest and the lowest rate, the larger group of equal ones."""
    if not rates:
        return None, None
    # Rounding keeps the order, so only rates that are rounded to the same need a second look.
    rounded = np.array([float(rate) for rate in rates])
    highest, lowest = np.flatnonzero(rounded == rounded.max()), np.flatnonzero(rounded == rounded.min())
    top = max(highest.tolist(), key=lambda i: (rates[i], n[i], i))
    low = min(lowest.tolist(), key=lambda i: (rates[i], -n[i], i))
    return top, low


def ranges_of(
    partial: PartialGrouping, selected: np.ndarray, kept: Sequence[int], repeats: np.ndarray | None = None
) -> Assignments:
    """Ranges over the groups that people of unknown group may be in.

    Parameters
    ----------
    partial : PartialGrouping
    selected : bool array of shape (n_rows,)
        Of all rows.
    kept : sequence of int
        Positions of the groups that are compared; those that have no rows yet are, too.
    repeats : int64 array of shape (n_rows,), optional
        Equal rows that each row stands for.
    """
    grouping = partial.grouping
    n_groups = len(grouping.groups)
    rows = grouping.tally()
    k = grouping.tally(selected[partial.known])
    unknown = []
    for one in partial.unknown:
        chosen, each = selected[one.rows], of_rows(repeats, one.rows)
        unknown.append(Unknown(one.groups, number_of(chosen, each), number_of(~chosen, each)))
    compared = [*kept, *(i for i in range(n_groups) if not rows[i])]
    return assignment_ranges(k.tolist(), rows.tolist(), unknown, compared)
