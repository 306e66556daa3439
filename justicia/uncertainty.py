"""What finite rows leave open about the verified rates and measures of a grouping."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from justicia.bootstrap import Bootstrap, resample
from justicia.bounding import Bound, bound_rates
from justicia.enclosure import Enclosure
from justicia.metrics import RATES_OF, Rates, measure

if TYPE_CHECKING:
    from justicia.comparison import GroupingAudit
    from justicia.questions import Asked, Question
    from justicia.tables import Grouping

__all__ = ["Uncertainty", "error_sizes", "uncertainty_of"]


@dataclass(frozen=True)
class Uncertainty:
    """Bounds by the rows, and the bootstrap.

    Attributes
    ----------
    bounds : dict of str to (dict of str to Bound)
        By kind of rate and by name, see `justicia.bounding.CLAIMS`; empty when they were not asked for. All bounds of
        one kind hold together.
    bootstrap : Bootstrap or None
        None when it was not asked for.
    """

    bounds: Mapping[str, Mapping[str, Bound]] = field(default_factory=dict)
    bootstrap: Bootstrap | None = None

    def bootstrap_of(self, position: int) -> dict[str, Enclosure]:
        """Bootstrap intervals of a group's rates."""
        if self.bootstrap is None:
            return {}
        held = {kind: values[position] for kind, values in self.bootstrap.rates.items()}
        return {kind: value for kind, value in held.items() if value is not None}

    def bounds_of(self, position: int) -> dict[str, dict[str, Enclosure | None]]:
        """Bounds of a group's rates."""
        return {
            kind: {name: bound.values[position] for name, bound in bounds.items()}
            for kind, bounds in self.bounds.items()
        }

    def bootstrap_of_measure(self, name: str) -> Enclosure | None:
        """Bootstrap interval of a measure."""
        return None if self.bootstrap is None else self.bootstrap.measures.get(name)

    def bounds_of_measure(
        self, name: str, compared: Collection[int] | None = None
    ) -> dict[str, Enclosure | None]:  # fmt: skip
        """What a measure of the compared groups can be while every rate is inside its bounds, by their names.

        Only measures of one kind of rates have any, for those of two kinds do not hold together; and none where a group
        that has the rate is without.
        """
        if len(RATES_OF[name]) > 1:
            return {}
        (kind,) = RATES_OF[name]
        found: dict[str, Enclosure | None] = {}
        for bound_name, bound in self.bounds.get(kind, {}).items():
            whole = all(
                value is not None or i in bound.absent or not (compared is None or i in compared)
                for i, value in enumerate(bound.values)
            )
            rates = replace(Rates.by_kind({kind: bound.values}), compared=compared)
            found[bound_name] = measure(name, rates).value if whole else None
        return found


def uncertainty_of(
    question: Question,
    grouping: Grouping,
    answers: Mapping[str, Asked],
    selected: np.ndarray,
    confidence: float,
    *,
    bounds: bool,
    replicates: int,
    seed: int,
    min_group: int = 0,
) -> Uncertainty:
    """What was asked for of a grouping.

    Parameters
    ----------
    question : Question
    grouping : Grouping
    answers : mapping of str to Asked
        By kind of rates.
    selected : bool array of shape (n_rows,)
        What `predict` says.
    confidence : float
    bounds : bool
        Whether bounds by the rows are wanted.
    replicates : int
        Of the bootstrap; 0 is none.
    seed : int
        Of the bootstrap.
    min_group : int
        Groups with fewer rows have intervals, and enter no measure's.
    """
    n_groups = len(grouping.groups)
    found: dict[str, dict[str, Bound]] = {}
    for kind, asked in answers.items() if bounds else ():
        rows = selected if kind == "selection_rate" else selected & question.strata[kind]
        k = grouping.tally(rows)[asked.kept]
        held = bound_rates(
            asked.people,
            asked.tally.counts,
            question.decision,
            asked.solution,
            k,
            confidence,
            question.determined(grouping),
        )
        found[kind] = {name: bound.spread(asked.kept, n_groups) for name, bound in held.items()}
    made = None
    if replicates:
        names = " x ".join(grouping.sensitive)
        made = resample(question, names, answers, n_groups, replicates, confidence, seed, grouping.compared(min_group))
    return Uncertainty(found, made)


def error_sizes(grouping: GroupingAudit) -> dict[str, dict[str, float | None]]:
    """Sizes of the three sources of error of a grouping, as `GroupingAudit.errors` has them."""
    places = {tuple(group.group.values()): position for position, group in enumerate(grouping.groups)}
    # Of the groups that are compared, as the disparate impact's.
    together = grouping.evidence.samples.intervals(("selection_rate",))[1].of("selection_rate")
    found: dict[str, dict[str, float | None]] = {"verification": {}, "sampling": {}, "structure": {}}
    for name, extreme in (("most_favored", grouping.most_favored), ("least_favored", grouping.least_favored)):
        place = places[tuple(extreme.group.values())]
        group = grouping.groups[place]
        sample = group.sample_rate
        rows = None if sample is None else Enclosure(sample.value, sample.value)
        _put_errors(found, name, group.unshifted("selection_rate"), rows, None if sample is None else together[place])
    impact = grouping.measures["disparate_impact"]
    verified = (impact.unshifted or impact.verified).value
    _put_errors(found, "disparate_impact", verified, impact.sample.value, impact.simultaneous)
    return found


def _put_errors(
    found: dict[str, dict[str, float | None]],
    name: str,
    verified: Enclosure | None,
    rows: Enclosure | None,
    interval: Enclosure | None,
) -> None:
    """Add the sizes of the errors of one value."""
    value = None if rows is None else rows.middle
    found["verification"][name] = None if verified is None else float(verified.hi) - float(verified.lo)
    found["sampling"][name] = (
        None if value is None or interval is None else max(value - float(interval.lo), float(interval.hi) - value)
    )
    found["structure"][name] = None if value is None or verified is None else abs(verified.middle - value)
