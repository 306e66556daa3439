"""Requirements on the rows where people of unknown group leave rates and measures a range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from justicia.enclosure import Enclosure
from justicia.judging import Judged, RequirementAudit, judge, judge_all
from justicia.metrics import Measure, Rates, check_filters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from justicia.metrics import OutcomeCounts, Requirement, SampleMeasures
    from justicia.metrics.assignments import Assignments

__all__ = ["Ranged", "judge_with_ranges"]

_MEASURES = ("disparate_impact", "statistical_parity_difference")
"""Measures whose range is known itself, not by way of the rates'."""
_BY_OUTCOME = "people of unknown group leave rates by true outcome open: pass --missing drop"
_RANGE = "(range over people of unknown group)"


class Ranged(Judged, Protocol):
    """A grouping whose rates may have ranges."""

    @property
    def missing(self) -> Assignments | None:
        """The ranges; None when they were not asked for."""

    @property
    def possible(self) -> Sequence[Mapping[str, str]]:
        """The groups that they are of."""


class _RangedSamples:
    """Selection rates as ranges in place of those of the rows."""

    def __init__(self, samples: SampleMeasures, rates: Sequence[Enclosure | None]) -> None:
        self.counts: OutcomeCounts = samples.counts
        self.reference = samples.reference
        why = {"weights": "people of unknown group may be in any"}
        held = Rates.by_kind({"selection_rate": rates}, weights={}, reference=samples.reference, why=why)
        self.rates = replace(held, compared=samples.compared)

    def intervals(self, kinds: tuple[str, ...], comparison: str = "") -> tuple[None, None]:  # noqa: ARG002 (the same)
        """None: what the rows leave open here is not sampling."""
        return None, None


def judge_with_ranges(requirements: Sequence[Requirement], groupings: Sequence[Ranged]) -> tuple[RequirementAudit, ...]:
    """Judge requirements; those on the rows by ranges, where people of unknown group leave some.

    The range of a disparate impact or a difference of selection rates is exact; that of whatever else selection rates
    give is found from the rates' own ranges, and may be too wide.

    Raises
    ------
    RequirementError
        When one is on groups that there are none of.
    """
    if not any(grouping.missing is not None and grouping.missing.people for grouping in groupings):
        return judge_all(requirements, groupings)
    check_filters(requirements, [grouping.group_names for grouping in groupings])
    return tuple(
        judge(requirement, groupings) if requirement.source != "sample" else _judged(requirement, groupings)
        for requirement in requirements
    )


def _judged(requirement: Requirement, groupings: Sequence[Ranged]) -> RequirementAudit:
    if "selection_rate" not in requirement.kinds:
        verdict = requirement.judge(Measure(None, _BY_OUTCOME))
        return RequirementAudit(requirement.text, verdict.status, verdict.reason)
    if requirement.where or requirement.against != "between_groups" or requirement.measure not in _MEASURES:
        held = judge(requirement, [_ranged(grouping) for grouping in groupings])
        return replace(held, reason=f"{held.reason} {_RANGE}")
    verdicts = []
    for grouping in groupings:
        value: Enclosure | None = None if grouping.missing is None else getattr(grouping.missing, requirement.measure)
        why = None if value is not None else "nobody is selected, or there is one group only"
        verdicts.append((requirement.judge(Measure(value, why)), " x ".join(grouping.sensitive)))
    for status in ("breached", "undecided", "met"):
        reasons = [f"{names}: {held.reason}" for held, names in verdicts if held.status == status]
        if reasons:
            return RequirementAudit(requirement.text, status, f"{'; '.join(dict.fromkeys(reasons))} {_RANGE}")
    raise ValueError("there is no grouping to judge")


def _ranged(grouping: Ranged) -> Any:
    """The grouping with ranges in place of the rows' rates."""
    held = grouping.missing
    if held is None:
        return grouping
    place = {tuple(group.values()): i for i, group in enumerate(grouping.possible)}
    rates = [held.rates[place[tuple(group.values())]] for group in grouping.group_names]
    evidence: Any = grouping.evidence
    changed: Any = grouping
    return replace(changed, evidence=replace(evidence, samples=_RangedSamples(evidence.samples, rates)))
