"""Judge requirements by the verified measures of all groupings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from justicia.metrics import RATES_OF, Measure, Requirement, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from justicia.comparison import GroupingAudit, MeasureAudit

__all__ = ["RequirementAudit", "judge"]


_ABSENT = Measure(None, "it needs the true outcome: pass --label")


@dataclass(frozen=True)
class RequirementAudit:
    """A requirement with its status over all groupings: breached before undecided before met."""

    text: str
    status: str
    reason: str


def _straddles(requirement: Requirement, verdict: Verdict, held: MeasureAudit, grouping: GroupingAudit) -> str:
    """A clause that says so when finite rows leave the limit open, though the verified measure does not."""
    bootstrap = grouping.uncertainty.bootstrap
    interval, says = held.simultaneous, "the rows leave it anywhere in"
    if bootstrap is not None and held.bootstrap is not None:
        interval, says = held.bootstrap, "by the bootstrap it may be anywhere in"
    if verdict.status == "undecided" or interval is None:
        return ""
    if requirement.judge(Measure(interval)).status != "undecided":
        return ""
    return f"; {says} [{float(interval.lo):.4f}, {float(interval.hi):.4f}] (sampling), and the limit lies inside"


def _judge_remaining(requirement: Requirement, grouping: GroupingAudit) -> Verdict:
    """Judge what remains of a measure with the mediators of the most favored group."""
    remaining = grouping.remaining
    held = None if remaining is None else remaining.measures.get(requirement.measure)
    if remaining is None or held is None:
        return requirement.judge(_ABSENT)
    verdict = requirement.judge(held)
    statistical = remaining.statistical.get(requirement.measure)
    if statistical is not None and verdict.status == "undecided":
        inner = requirement.judge(statistical)
        if inner.status != "undecided":
            delta = sum(remaining.delta[kind] for kind in RATES_OF[requirement.measure])
            verdict = replace(inner, reason=f"{inner.reason}, statistically, at confidence {1 - delta:.9g}")
    if not remaining.certain:
        return replace(verdict, status="undecided", reason=f"{verdict.reason}, but another group may be most favored")
    return replace(verdict, reason=f"with {remaining.words}, {verdict.reason}")


def judge(requirement: Requirement, groupings: Sequence[GroupingAudit]) -> RequirementAudit:
    """Judge a requirement in every grouping; the gravest status stands, with the grouping that gives it."""
    verdicts = []
    for grouping in groupings:
        if requirement.remaining:
            verdicts.append((_judge_remaining(requirement, grouping), grouping))
            continue
        held = grouping.measures.get(requirement.measure)
        verdict = requirement.judge(_ABSENT if held is None else held.verified)
        if held is not None and held.statistical is not None and verdict.status == "undecided":
            inner = requirement.judge(held.statistical)
            if inner.status != "undecided":
                delta = grouping.delta(*RATES_OF[requirement.measure])
                verdict = replace(inner, reason=f"{inner.reason}, statistically, at confidence {1 - delta:.9g}")
        if held is not None and verdict.status != "undecided":
            rows = requirement.judge(held.sample)
            if rows.status != verdict.status:
                reason = f"{verdict.reason} (by the rows alone, {held.sample.value}, it is {rows.status})"
                verdict = replace(verdict, reason=reason)
        if held is not None and held.unshifted is not None and grouping.shift is not None:
            says = f"over all shifts of the population by {grouping.shift.radius:g} (unshifted {held.unshifted.value})"
            verdict = replace(verdict, reason=f"{says}, {verdict.reason}")
        if held is not None:
            verdict = replace(verdict, reason=verdict.reason + _straddles(requirement, verdict, held, grouping))
        verdicts.append((verdict, grouping))
    for status in ("breached", "undecided", "met"):
        chosen = [(verdict, grouping) for verdict, grouping in verdicts if verdict.status == status]
        if chosen:
            reasons = [f"{' x '.join(grouping.sensitive)}: {verdict.reason}" for verdict, grouping in chosen]
            if len({verdict.reason for verdict, _ in chosen}) == 1:
                reasons = [chosen[0][0].reason]
            return RequirementAudit(requirement.text, status, "; ".join(reasons))
    raise ValueError("there is no grouping to judge")
