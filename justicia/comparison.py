"""Put verified rates and rates of the rows side by side, group by group, and derive the measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.enclosure import Enclosure
from justicia.metrics import MEASURES, Measure, Requirement, measure, simultaneous_wilson, wilson

if TYPE_CHECKING:
    import pandas as pd

    from justicia.population import Population
    from justicia.solvers import Solution
    from justicia.tables import Grouping
    from justicia.tables.roles import Truth

__all__ = [
    "Extreme",
    "GroupAudit",
    "GroupingAudit",
    "MeasureAudit",
    "RequirementAudit",
    "SampleRate",
    "compare",
    "judge",
]


@dataclass(frozen=True)
class SampleRate:
    """A rate of the rows, with its confidence interval."""

    value: Fraction
    lo: float
    hi: float
    method: str


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
    """

    group: dict[str, str]
    n: int
    selected: int
    positives: int | None
    negatives: int | None
    selection_rate: Enclosure | None
    sample_rate: SampleRate | None
    note: str | None = None


@dataclass(frozen=True)
class Extreme:
    """The most or least favored group, and all groups that may be it."""

    group: dict[str, str]
    selection_rate: Enclosure
    candidates: tuple[dict[str, str], ...]


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
    """

    verified: Measure
    sample: Measure
    interval: Enclosure | None
    method: str


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
    most_favored, least_favored : Extreme
    measures : dict of str to MeasureAudit
    fit : dict of str to float
        Largest and mean distance between verified and sample selection rate over the groups with rows.
    """

    sensitive: tuple[str, ...]
    groups: tuple[GroupAudit, ...]
    population: Population
    solution: Solution
    most_favored: Extreme
    least_favored: Extreme
    measures: dict[str, MeasureAudit]
    fit: dict[str, float]

    @property
    def by_group(self) -> pd.DataFrame:
        """One row a group, indexed by the sensitive columns."""
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for group in self.groups:
            verified, sample = group.selection_rate, group.sample_rate
            rows.append(
                {
                    **group.group,
                    "n": group.n,
                    "selected": group.selected,
                    "selection_rate": np.nan if verified is None else float(verified.lo + verified.hi) / 2,
                    "selection_rate_lo": np.nan if verified is None else float(verified.lo),
                    "selection_rate_hi": np.nan if verified is None else float(verified.hi),
                    "sample_rate": np.nan if sample is None else float(sample.value),
                    "sample_lo": np.nan if sample is None else sample.lo,
                    "sample_hi": np.nan if sample is None else sample.hi,
                }
            )
        return pd.DataFrame(rows).set_index(list(self.sensitive))


@dataclass(frozen=True)
class RequirementAudit:
    """A requirement with its status over all groupings: breached before undecided before met."""

    text: str
    status: str
    reason: str


def compare(
    groups: Grouping,
    population: Population,
    solution: Solution,
    selected: np.ndarray,
    truth: Truth | None,
    confidence: float,
) -> GroupingAudit:
    """Audit one grouping.

    Parameters
    ----------
    groups : Grouping
    population : Population
    solution : Solution
        Enclosures of the selection rates.
    selected : bool array of shape (n_rows,)
        What `predict` says.
    truth : Truth or None
    confidence : float
        Of the intervals of the rows' rates.
    """
    n = groups.sizes
    k = np.bincount(groups.codes[selected], minlength=len(n))
    lo, hi = wilson(k, n, confidence)
    positives = negatives = None
    if truth is not None:
        positives = np.bincount(groups.codes[truth.known & truth.positive], minlength=len(n))
        negatives = np.bincount(groups.codes[truth.known & ~truth.positive], minlength=len(n))
    audits = [
        GroupAudit(
            groups.named(group),
            int(n[i]),
            int(k[i]),
            None if positives is None else int(positives[i]),
            None if negatives is None else int(negatives[i]),
            solution.enclosures[i],
            SampleRate(Fraction(int(k[i]), int(n[i])), float(lo[i]), float(hi[i]), "wilson"),
        )
        for i, group in enumerate(groups.groups)
    ]
    none = None if truth is None else 0
    empty = [GroupAudit(groups.named(group), 0, 0, none, none, None, None, "empty: no rows") for group in groups.empty]
    return GroupingAudit(
        groups.sensitive,
        (*audits, *empty),
        population,
        solution,
        _extreme(audits, solution.best, solution.enclosures),
        _extreme(audits, solution.worst, solution.enclosures),
        _measures(solution.enclosures, k, n, confidence),
        _fit(solution.enclosures, k / n),
    )


def _extreme(audits: Sequence[GroupAudit], index: int, enclosures: Sequence[Enclosure]) -> Extreme:
    own = enclosures[index]
    rest = [i for i in range(len(enclosures)) if i != index and enclosures[i].overlaps(own)]
    return Extreme(audits[index].group, own, tuple(audits[i].group for i in (index, *rest)))


def _measures(
    enclosures: Sequence[Enclosure], k: np.ndarray, n: np.ndarray, confidence: float
) -> dict[str, MeasureAudit]:
    rates = [Fraction(int(a), int(b)) for a, b in zip(k, n, strict=True)]
    lo, hi = simultaneous_wilson(k, n, confidence)
    intervals = [Enclosure(float(a), float(b)) for a, b in zip(lo, hi, strict=True)]
    method = "wilson intervals, simultaneous over groups (bonferroni)"
    audits = {}
    for name in MEASURES:
        sample = measure(name, [Enclosure(rate, rate) for rate in rates])
        interval = measure(name, intervals).value if sample.value is not None else None
        audits[name] = MeasureAudit(measure(name, enclosures), sample, interval, method)
    return audits


def _fit(enclosures: Sequence[Enclosure], sample: np.ndarray) -> dict[str, float]:
    middle = np.array([float(enclosure.lo + enclosure.hi) / 2 for enclosure in enclosures])
    errors = np.abs(middle - sample)
    return {"max_abs_error": float(errors.max()), "mean_abs_error": float(errors.mean())}


def judge(requirement: Requirement, groupings: Sequence[GroupingAudit]) -> RequirementAudit:
    """Judge a requirement in every grouping; the gravest status stands, with the grouping that gives it."""
    verdicts = [
        (requirement.judge(grouping.measures[requirement.measure].verified), grouping) for grouping in groupings
    ]
    for status in ("breached", "undecided", "met"):
        held = [(verdict, grouping) for verdict, grouping in verdicts if verdict.status == status]
        if held:
            reasons = [f"{' x '.join(grouping.sensitive)}: {verdict.reason}" for verdict, grouping in held]
            return RequirementAudit(requirement.text, status, "; ".join(reasons))
    raise ValueError("there is no grouping to judge")
