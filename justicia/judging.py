"""Judge requirements by the measures and rates of all groupings; the command, Python and tests all do it here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from justicia.metrics import (
    CONDITIONAL,
    RATE_NAMES,
    Measure,
    Requirement,
    Verdict,
    check_filters,
    compared_kinds,
    matching,
    measured,
    worst_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from justicia.bootstrap import Bootstrap
    from justicia.comparison import GroupingAudit
    from justicia.measuring import Evidence
    from justicia.remaining import Remaining

__all__ = ["Judged", "RequirementAudit", "exit_code_of", "judge", "judge_all", "value_of"]


class Judged(Protocol):
    """What a requirement is judged by: a grouping of an audit, with a model or without."""

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Columns that tell the groups apart."""

    @property
    def group_names(self) -> Sequence[Mapping[str, str]]:
        """The groups, as the rates of the evidence have them."""

    @property
    def evidence(self) -> Evidence:
        """Their rates."""

    @property
    def conditional(self) -> Strata | None:
        """The strata of a lawful factor; None when none was named."""


class Strata(Protocol):
    """The strata of a lawful factor in a grouping."""

    @property
    def strata(self) -> Sequence[Judged]:
        """Each as a grouping of its own, whose groups have the stratum's values beside their own."""


@dataclass(frozen=True)
class RequirementAudit:
    """A requirement with its status over all groupings: breached before undecided before met."""

    text: str
    status: str
    reason: str


_NO_LABEL = "it needs the true outcome: pass --label"
_NO_FACTOR = "no lawful factor is named: pass --given column"
_NO_MEDIATORS = "no mediators are named: pass --mediators"
_NO_MODEL = "there is no model to verify: ask for sample."


def value_of(requirement: Requirement, grouping: Judged, source: str) -> Measure | None:
    """The value that a requirement limits in a grouping; None where the grouping has none from this source.

    Parameters
    ----------
    requirement : Requirement
    grouping : Judged
    source : str
        Of the rates, as `Evidence.rates` takes it.
    """
    if requirement.measure in CONDITIONAL:
        if grouping.conditional is None:
            return Measure(None, _NO_FACTOR)
        if source == "simultaneous":
            # Intervals of one stratum hold together, those of all strata do not.
            return None
        parts = []
        for stratum in grouping.conditional.strata:
            rates = stratum.evidence.rates(source)
            if rates is None:
                return None
            if _matches(requirement, stratum, one_suffices=False):
                parts.append(measured(requirement, stratum.group_names, rates))
        return worst_of(parts, smallest=requirement.shrinks)
    rates = grouping.evidence.rates(source, _interval_kinds(requirement), requirement.against)
    return None if rates is None else measured(requirement, grouping.group_names, rates)


def _interval_kinds(requirement: Requirement) -> tuple[str, ...]:
    """The rates whose intervals have to hold together."""
    if requirement.of_rate:
        return (RATE_NAMES[requirement.measure][0],)
    return compared_kinds(CONDITIONAL.get(requirement.measure, requirement.measure))


def _matches(requirement: Requirement, grouping: Judged, *, one_suffices: bool) -> bool:
    """Whether a grouping has enough of the groups that the requirement is about."""
    groups = grouping.group_names
    if requirement.against == "to_reference" and grouping.evidence.samples.reference is None:
        return False
    held = len(matching(requirement.where, groups))
    return held > (0 if one_suffices or requirement.of_rate or requirement.against != "between_groups" else 1)


def _concerned(requirement: Requirement, groupings: Sequence[Judged]) -> Sequence[Judged]:
    """The groupings that a requirement is judged in: those with groups of its filter, and the reference group."""
    if requirement.measure in CONDITIONAL:
        held = [
            grouping
            for grouping in groupings
            if grouping.conditional is not None
            and any(_matches(requirement, stratum, one_suffices=False) for stratum in grouping.conditional.strata)
        ]
        return held or groupings[:1]
    if not requirement.where and requirement.against != "to_reference":
        return groupings
    several = [grouping for grouping in groupings if _matches(requirement, grouping, one_suffices=False)]
    some = [grouping for grouping in groupings if _matches(requirement, grouping, one_suffices=True)]
    return several or some or groupings[:1]


def _verdict(requirement: Requirement, grouping: Judged) -> Verdict:
    """Judge a requirement in one grouping."""
    if requirement.remaining:
        return _judge_remaining(requirement, grouping)
    samples = grouping.evidence.samples
    if "selection_rate" not in requirement.kinds and len(samples.counts.kinds) == 1:
        return requirement.judge(Measure(None, _NO_LABEL))
    if requirement.source == "sample":
        verdict = requirement.judge(value_of(requirement, grouping, "sample") or Measure(None, "there are no rows"))
        return replace(verdict, reason=verdict.reason + _straddles(requirement, verdict, grouping))
    value = value_of(requirement, grouping, "verified")
    if value is None:
        return requirement.judge(Measure(None, f"{_NO_MODEL}{requirement.measure}"))
    verdict = requirement.judge(value)
    statistical = value_of(requirement, grouping, "statistical")
    if statistical is not None and verdict.status == "undecided":
        inner = requirement.judge(statistical)
        if inner.status != "undecided":
            delta = _delta(requirement, grouping)
            verdict = replace(
                inner, reason=f"{inner.reason}, by drawing people, which misleads with probability {delta:.1g} at most"
            )
    sample = value_of(requirement, grouping, "sample")
    if sample is not None and verdict.status != "undecided":
        rows = requirement.judge(sample)
        if rows.status != verdict.status:
            reason = f"{verdict.reason} (by the rows alone, {sample.value}, it is {rows.status})"
            verdict = replace(verdict, reason=reason)
    shift, unshifted = getattr(grouping, "shift", None), value_of(requirement, grouping, "unshifted")
    if shift is not None and unshifted is not None:
        says = f"over all shifts of the population by {shift.radius:g} (unshifted {unshifted.value})"
        verdict = replace(verdict, reason=f"{says}, {verdict.reason}")
    return replace(verdict, reason=verdict.reason + _straddles(requirement, verdict, grouping))


def _delta(requirement: Requirement, grouping: Judged) -> float:
    """Probability that a statistical interval of the rates misses."""
    if requirement.measure in CONDITIONAL:
        return float(getattr(grouping.conditional, "delta", 0.0))
    held: GroupingAudit = grouping  # type: ignore[assignment]
    return held.delta(*requirement.kinds)


def _straddles(requirement: Requirement, verdict: Verdict, grouping: Judged) -> str:
    """A clause that says so when finite rows leave the limit open, though the value itself does not."""
    if verdict.status == "undecided":
        return ""
    found = value_of(requirement, grouping, "simultaneous")
    interval, says = None if found is None else found.value, "but the rows are a sample: for all people it may be"
    how = " (Clopper-Pearson, all groups together)"
    bootstrap: Bootstrap | None = getattr(getattr(grouping, "uncertainty", None), "bootstrap", None)
    drawn = None if bootstrap is None else bootstrap.measures.get(requirement.measure)
    if drawn is not None and requirement.plain:
        interval, says, how = drawn, "but the rows are a sample: by the bootstrap it may be", ""
    if interval is None or requirement.judge(Measure(interval)).status != "undecided":
        return ""
    ends = f"{float(interval.lo):.4f} to {float(interval.hi):.4f}"
    return f"; {says} {ends}{how}, on both sides of the limit"


def _judge_remaining(requirement: Requirement, grouping: Judged) -> Verdict:
    """Judge what remains of a measure with the mediators of the most favored group."""
    remaining: Remaining | None = getattr(grouping, "remaining", None)
    held = None if remaining is None else remaining.measures.get(requirement.measure)
    if remaining is None or held is None:
        return requirement.judge(Measure(None, _NO_LABEL if remaining is not None else _NO_MEDIATORS))
    verdict = requirement.judge(held)
    statistical = remaining.statistical.get(requirement.measure)
    if statistical is not None and verdict.status == "undecided":
        inner = requirement.judge(statistical)
        if inner.status != "undecided":
            delta = sum(remaining.delta[kind] for kind in requirement.kinds)
            verdict = replace(
                inner, reason=f"{inner.reason}, by drawing people, which misleads with probability {delta:.1g} at most"
            )
    if not remaining.certain:
        return replace(verdict, status="undecided", reason=f"{verdict.reason}, but another group may be most favored")
    return replace(verdict, reason=f"with {remaining.words}, {verdict.reason}")


def judge(requirement: Requirement, groupings: Sequence[Judged]) -> RequirementAudit:
    """Judge a requirement in every grouping that it concerns; the gravest status stands, with where it is so."""
    verdicts = [(_verdict(requirement, grouping), grouping) for grouping in _concerned(requirement, groupings)]
    for status in ("breached", "undecided", "met"):
        chosen = [(verdict, grouping) for verdict, grouping in verdicts if verdict.status == status]
        if chosen:
            reasons = [f"{' x '.join(grouping.sensitive)}: {verdict.reason}" for verdict, grouping in chosen]
            if len(verdicts) == 1 or (len(chosen) == len(verdicts) and len({held.reason for held, _ in chosen}) == 1):
                reasons = [chosen[0][0].reason]
            return RequirementAudit(requirement.text, status, "; ".join(reasons))
    raise ValueError("there is no grouping to judge")


def judge_all(requirements: Sequence[Requirement], groupings: Sequence[Judged]) -> tuple[RequirementAudit, ...]:
    """Judge requirements, each in all groupings.

    Raises
    ------
    RequirementError
        When one is on groups that there are none of.
    """
    names = [grouping.group_names for grouping in groupings]
    names += [
        stratum.group_names
        for grouping in groupings
        if grouping.conditional is not None
        for stratum in grouping.conditional.strata
    ]
    check_filters(requirements, names)
    return tuple(judge(requirement, groupings) for requirement in requirements)


def exit_code_of(requirements: Sequence[RequirementAudit]) -> int:
    """0 when every requirement is met, 1 when one is breached, 3 when one is undecided."""
    statuses = {requirement.status for requirement in requirements}
    return 1 if "breached" in statuses else 3 if "undecided" in statuses else 0
