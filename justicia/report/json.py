"""The audit as JSON, by the contract ``justicia.audit/1``; its schema is ``audit.schema.json`` beside this file."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from justicia._version import __version__
from justicia.bounding import CLAIMS, NOT_ASKED
from justicia.encoders.linear_threshold import LinearThreshold
from justicia.metrics import COMPARISONS, CONDITIONAL, MEASURES, RATES_OF
from justicia.models.rule_files import rule_json
from justicia.population.mixture import MixturePopulation
from justicia.report.comparisons import Reference, references
from justicia.report.impact import impact_to_dict, ranges_to_dict
from justicia.report.ll144 import layout_to_dict
from justicia.report.routes import cross_check_to_dict
from justicia.report.scores import favorable_of, stated_rule
from justicia.report.times import created, fixed_time
from justicia.schemas import read_schema
from justicia.shifting import METHODS, SUPPORT
from justicia.tables.weights import WEIGHT_KINDS
from justicia.writing import json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from justicia.audited import Audit
    from justicia.comparison import Extreme, GroupAudit, GroupingAudit, SampleRate
    from justicia.decision_groups import DecisionGrouping
    from justicia.enclosure import Enclosure
    from justicia.fitting import Fit
    from justicia.measuring import MeasureAudit
    from justicia.metrics import Measure, SampleMeasure
    from justicia.population.stored import PopulationFile
    from justicia.shifting import Change
    from justicia.tables.weights import Weights

__all__ = [
    "SCHEMA",
    "audit_to_dict",
    "audit_to_json",
    "group_to_dict",
    "measure_to_dict",
    "reference_to_dict",
    "schema",
    "weights_to_dict",
]

SCHEMA = "justicia.audit/1"

_METHODS = {
    "boxes": "statistical: student's interval of independent estimates of the multivariate normal distribution",
    "sampling": "statistical: clopper-pearson on people drawn from the population",
}
"""Of statistical bounds, by engine."""

_METHOD = "statistical: clopper-pearson on what branch and bound leaves open"

_SIMULTANEOUS = "clopper-pearson, simultaneous over groups (bonferroni)"
_SIMULTANEOUS_MEASURE = "clopper-pearson intervals, simultaneous over groups (bonferroni)"


def schema() -> dict[str, Any]:
    """The JSON Schema of an audit."""
    return read_schema("justicia.report", "audit")


def audit_to_json(audit: Audit) -> str:
    """The audit as JSON text.

    When the environment variable ``SOURCE_DATE_EPOCH`` is set, the time of the audit is taken from it and seconds are
    left out, so that equal inputs give equal bytes.
    """
    return json_text(audit_to_dict(audit))


def audit_to_dict(audit: Audit) -> dict[str, Any]:
    """The audit as plain lists, dicts, numbers and texts."""
    import sklearn

    fixed = fixed_time()
    solutions = [grouping.solution for grouping in audit.groupings]
    bounds = [solution for solution in solutions if solution.guarantee != "exact"]
    seconds = sum(solution.seconds for solution in solutions)
    label_seconds = sum(stratum.seconds for grouping in audit.groupings for stratum in grouping.strata.values())
    return {
        "schema": SCHEMA,
        "tool": {"name": "justicia", "version": __version__},
        "created": created(),
        "command": None if audit.command is None else list(audit.command),
        "decisions": None,
        "weight": weights_to_dict(audit.weights),
        "missing": audit.missing,
        "publishing": {"min_group": audit.min_group or None, "suppress_below": None},
        "layout": layout_to_dict(audit.layout),
        "model": {
            "source": audit.model.source,
            "sha256": audit.model.sha256,
            "class": audit.fitted.class_name,
            "sklearn": {"trained": audit.model.trained, "now": sklearn.__version__},
            "features": list(audit.features),
            "score": _score(audit),
            "rule": _rule(audit),
        },
        "data": {
            "source": audit.table.source,
            "sha256": audit.table.sha256,
            "rows": audit.table.n_read,
            "rows_used": audit.table.n_rows,
            "dropped": dict(audit.table.dropped),
            "unseen": audit.unseen,
        },
        "sensitive": list(audit.groupings[0].sensitive),
        "label": None if audit.roles.truth is None else audit.roles.truth.name,
        "favorable": audit.roles.favorable_text,
        "solver": {
            "engine": solutions[0].engine,
            "search": audit.search,
            "guarantee": (bounds or solutions)[0].guarantee,
            "tolerance": audit.tolerance,
            "seconds": round(seconds, 6) if fixed is None else None,
            "label_seconds": round(label_seconds, 6) if fixed is None and audit.roles.truth is not None else None,
        },
        "self_check": {
            "rows": audit.self_check.rows,
            "boundary_points": audit.self_check.boundary_points,
            "mismatches": 0,
            "ties": audit.self_check.ties,
        },
        "confidence": audit.confidence,
        "groupings": [_grouping(grouping, audit.confidence, audit.given_population) for grouping in audit.groupings],
        "requirements": [
            {"text": held.text, "status": held.status, "reason": held.reason} for held in audit.requirements
        ],
        "warnings": list(audit.warnings),
    }


def weights_to_dict(weights: Weights | None) -> dict[str, Any] | None:
    """Row weights; null when each row counts once."""
    if weights is None:
        return None
    return {"column": weights.name, "kind": weights.kind, "says": WEIGHT_KINDS[weights.kind]}


def _score(audit: Audit) -> dict[str, Any] | None:
    """The score of a linear or additive model."""
    decision = audit.decision
    if not isinstance(decision, LinearThreshold):
        return None
    return {
        "base": decision.base,
        "threshold": decision.threshold,
        "favorable": "above" if decision.accepts_above else "not above",
        "rounding": decision.slack,
        "contributions": [dataclasses.asdict(one) for one in audit.contributions],
    }


def _rule(audit: Audit) -> dict[str, Any] | None:
    """The rule of a model that is one: in words, and by the contract of rule files."""
    source = stated_rule(audit)
    if source is None:
        return None
    return {
        **rule_json(source),
        "favorable": "holds" if favorable_of(audit)[0] else "fails",
        "words": source.rule.lines() or [source.rule.text()],
        "text": source.rule.text(),
    }


def _grouping(grouping: GroupingAudit, confidence: float, given: PopulationFile | None) -> dict[str, Any]:
    measures = {
        name: measure_to_dict(grouping.measures[name], name, grouping, confidence)
        if name in grouping.measures
        else None
        for name in MEASURES
    }
    for name in CONDITIONAL:
        measures[name] = _conditional_measure(grouping, name)
    beside = {id(group): one for group, one in zip(grouping.groups, _beside(grouping), strict=True)}
    return {
        "sensitive": list(grouping.sensitive),
        "rule": None,
        "threshold": None,
        "sample_most_favored": None,
        "sample_least_favored": None,
        "adverse_impact": impact_to_dict(grouping.adverse_impact, grouping.group_names),
        "missing_bounds": ranges_to_dict(grouping.missing, grouping.possible),
        "groups_evaluated": grouping.solution.groups_evaluated,
        "population": {
            "structure": grouping.population.structure,
            "description": grouping.population.description,
            "classes": grouping.population.n_classes if isinstance(grouping.population, MixturePopulation) else None,
            "parents": grouping.population.parents,
            "file": None if given is None else {"name": given.name, "sha256": given.sha256},
            "fit": {
                **_fit(grouping, grouping.fit),
                "held_out": None
                if grouping.held_out is None
                else {"folds": grouping.held_out.folds, **_fit(grouping, grouping.held_out)},
            },
        },
        "errors": grouping.errors,
        "bounds": _claims(grouping, confidence),
        "bootstrap": _bootstrap(grouping),
        "shift": _shift(grouping),
        "cross_check": _cross_check(grouping),
        "mediators": _mediators(grouping),
        "reference": grouping.reference,
        "groups": [group_to_dict(group, grouping, confidence, beside[id(group)]) for group in grouping.reported],
        "most_favored": _extreme(grouping.most_favored),
        "least_favored": _extreme(grouping.least_favored),
        "measures": measures,
        "conditional": _conditional(grouping),
    }


def _beside(grouping: GroupingAudit) -> list[dict[str, Any] | None]:
    """Every group beside the reference group; null without one, and for the reference group itself."""
    if grouping.reference is None:
        return [None] * len(grouping.groups)
    verified = references(grouping.evidence.verified)
    found = reference_to_dict(verified, references(grouping.evidence.samples.rates))
    return [*found, *[None] * (len(grouping.groups) - len(found))]


def reference_to_dict(
    verified: Sequence[Reference | None], samples: Sequence[Reference | None]
) -> list[dict[str, Any] | None]:
    """Every group beside the reference group, by verified rates, of which there may be none, and those of the rows."""
    held: Sequence[Reference | None] = verified or [None] * len(samples)
    return [
        None
        if one is None and rows is None
        else {
            "ratio": None if one is None else _or_none(one.ratio),
            "difference": None if one is None else _bounds(one.difference),
            "average_odds": None if one is None else _or_none(one.average_odds),
            "sample_ratio": None if rows is None or rows.ratio is None else float(rows.ratio.lo),
            "sample_difference": None if rows is None else float(rows.difference.lo),
            "sample_average_odds": None if rows is None or rows.average_odds is None else float(rows.average_odds.lo),
        }
        for one, rows in zip(held, samples, strict=True)
    ]


def _conditional(grouping: GroupingAudit) -> dict[str, Any] | None:
    """The strata of lawful factors; null when none was named."""
    held = grouping.conditional
    if held is None:
        return None
    return {
        "given": list(held.factors),
        "strata": [
            {
                "stratum": stratum.stratum,
                "n": stratum.n,
                "groups": [
                    {
                        "group": group,
                        "n": int(stratum.evidence.samples.counts.n[i]),
                        "selected": int(stratum.evidence.samples.counts.selected[i]),
                        "selection_rate": None
                        if stratum.evidence.verified is None
                        else _or_none(stratum.evidence.verified.selection_rate[i]),
                    }
                    for i, group in enumerate(stratum.groups)
                ],
                **{name: _plain(stratum.verified(name), stratum.sample(name)) for name in CONDITIONAL.values()},
            }
            for stratum in held.strata
        ],
        "one_group_only": [dict(stratum) for stratum in held.alone],
    }


def _conditional_measure(grouping: GroupingAudit, name: str) -> dict[str, Any] | None:
    """The worst over all strata."""
    held = grouping.conditional
    if held is None:
        return None
    verified, sample, worst = held.verified(name), held.sample(name), held.worst(name)
    return {
        "lo": None if verified.value is None else float(verified.value.lo),
        "hi": None if verified.value is None else float(verified.value.hi),
        "undefined": verified.undefined,
        "sample": None if sample.value is None else float(sample.value.lo),
        "sample_undefined": sample.undefined,
        "stratum": None if worst is None else worst.stratum,
    }


def _plain(verified: Measure, held: SampleMeasure) -> dict[str, Any]:
    """A measure without what only measures of all groups have."""
    return {
        "lo": None if verified.value is None else float(verified.value.lo),
        "hi": None if verified.value is None else float(verified.value.hi),
        "undefined": verified.undefined,
        "sample": _sample_measure(held.measure, held.interval, held.method, held.simultaneous, held.confidence),
        "sample_undefined": held.measure.undefined,
    }


def _claims(grouping: GroupingAudit, confidence: float) -> dict[str, Any]:
    """What the bounds by the rows claim, and why some are null."""
    held = grouping.uncertainty.bounds
    reasons = {
        name: {
            kind: held[kind][name].reason if kind in held else None if held else NOT_ASKED
            for kind in ("selection_rate", "tpr", "fpr")
        }
        for name in CLAIMS
    }
    return {
        "confidence": confidence if held else None,
        **{name: {"claim": claim, "reason": reasons[name]} for name, claim in CLAIMS.items()},
    }


def _bootstrap(grouping: GroupingAudit) -> dict[str, Any] | None:
    held = grouping.uncertainty.bootstrap
    if held is None:
        return None
    return {"replicates": held.asked, "reached": held.reached, "stopped": held.stopped}


def _shift(grouping: GroupingAudit) -> dict[str, Any] | None:
    """What the ranges over shifts of the population are, and what moves the extreme groups' selection rates."""
    if grouping.shift is None:
        return None
    most, least = (grouping.shifted(end) for end in (grouping.most_favored, grouping.least_favored))
    return {
        "radius": grouping.shift.radius,
        "support": SUPPORT,
        "methods": {
            kind: {
                "name": held.method,
                "claim": METHODS[held.method],
                "stopped": "time" if held.stopped else None,
            }
            if (held := grouping.shifts.get(kind)) is not None
            else None
            for kind in ("selection_rate", "tpr", "fpr")
        },
        "most_favored_raised_by": None if most is None else _changes(most.highest),
        "least_favored_lowered_by": None if least is None else _changes(least.lowest),
    }


def _cross_check(grouping: GroupingAudit) -> dict[str, Any] | None:
    held = grouping.cross_check
    return None if held is None else cross_check_to_dict(held, timed=fixed_time() is None)


def _mediators(grouping: GroupingAudit) -> dict[str, Any] | None:
    """Mediators, and the groups as in which they are drawn."""
    held = grouping.remaining
    if held is None:
        return None
    return {
        "names": list(held.mediators),
        "parents": {name: list(above) for name, above in held.parents.items()},
        "drawn_as_in": [dict(group) for group in held.favored],
        "certain": held.certain,
    }


def _remaining(group: GroupAudit, kind: str, grouping: GroupingAudit | DecisionGrouping) -> dict[str, Any] | None:
    """A rate with the mediators of the most favored group."""
    rate = group.remaining.get(kind)
    if grouping.remaining is None or rate is None:
        return None
    interval = group.remaining_intervals.get(kind)
    return {**_bounds(rate), "statistical": _statistical(interval, grouping.remaining.delta[kind], grouping)}


def _remaining_measure(name: str, grouping: GroupingAudit | DecisionGrouping) -> dict[str, Any] | None:
    """A measure of those rates; null ends where it is undefined."""
    remaining = grouping.remaining
    if remaining is None or name not in remaining.measures:
        return None
    held, narrow = remaining.measures[name], remaining.statistical.get(name)
    delta = sum(remaining.delta[kind] for kind in RATES_OF[name])
    return {
        "lo": None if held.value is None else float(held.value.lo),
        "hi": None if held.value is None else float(held.value.hi),
        "statistical": _statistical(None if narrow is None else narrow.value, delta, grouping),
        "undefined": held.undefined,
    }


def _changes(changes: tuple[Change, ...] | None) -> list[dict[str, Any]] | None:
    return None if changes is None else [dataclasses.asdict(one) for one in changes]


def _shifted(group: GroupAudit, kind: str) -> dict[str, Any] | None:
    held = group.shift.get(kind)
    return None if held is None else {"unshifted": _bounds(held.unshifted), "found": _or_none(held.found)}


def _fit(grouping: GroupingAudit, fit: Fit) -> dict[str, Any]:
    reported = {tuple(group.group.values()) for group in grouping.reported}
    return {
        "max_abs_error": fit.max_abs_error,
        "mean_abs_error": fit.mean_abs_error,
        # Not `dataclasses.asdict`, which takes five seconds for a hundred thousand groups.
        "groups": [dict(vars(one)) for one in fit.groups if tuple(one.group.values()) in reported],
    }


def _bounds(enclosure: Enclosure) -> dict[str, float]:
    return {"lo": float(enclosure.lo), "hi": float(enclosure.hi)}


def _or_none(enclosure: Enclosure | None) -> dict[str, float] | None:
    return None if enclosure is None else _bounds(enclosure)


def _verified(group: GroupAudit, kind: str, grouping: GroupingAudit | DecisionGrouping) -> dict[str, Any] | None:
    rate: Enclosure | None = getattr(group, kind)
    if rate is None:
        return None
    statistical = _statistical(group.intervals.get(kind), grouping.delta(kind), grouping)
    bounds = group.bounds.get(kind, {})
    return {
        **_bounds(rate),
        "interval": _sampling(group.bootstrap.get(kind), statistical, grouping),
        "statistical": statistical,
        **{name: _or_none(bounds.get(name)) for name in CLAIMS},
        "shift": _shifted(group, kind),
        "remaining": _remaining(group, kind, grouping),
    }


def _statistical(
    interval: Enclosure | None, delta: float, grouping: GroupingAudit | DecisionGrouping
) -> dict[str, Any] | None:
    """Statistical bounds of an engine; all of one answer hold together with this confidence."""
    solution = getattr(grouping, "solution", None)
    if interval is None or solution is None:
        return None
    return {**_bounds(interval), "confidence": 1 - delta, "method": _METHODS.get(solution.engine, _METHOD)}


def _sampling(
    interval: Enclosure | None, statistical: dict[str, Any] | None, grouping: GroupingAudit | DecisionGrouping
) -> dict[str, Any] | None:
    """The bootstrap interval; without one, statistical bounds of the engine."""
    held = grouping.uncertainty.bootstrap
    if held is None or interval is None:
        return statistical
    return {**_bounds(interval), "confidence": held.confidence, "method": held.method}


def _sample(rate: SampleRate | None, confidence: float) -> dict[str, Any] | None:
    if rate is None:
        return None
    return {
        "value": float(rate.value),
        "lo": rate.lo,
        "hi": rate.hi,
        "method": rate.method,
        "simultaneous": {**_bounds(rate.simultaneous), "confidence": confidence, "method": _SIMULTANEOUS},
    }


def group_to_dict(
    group: GroupAudit, grouping: GroupingAudit | DecisionGrouping, confidence: float, beside: dict[str, Any] | None
) -> dict[str, Any]:
    """One group."""
    return {
        "group": group.group,
        "n": group.n,
        "selected": group.selected,
        "weight": None if group.weight is None else {"people": group.weight[0], "selected": group.weight[1]},
        "positives": group.positives,
        "negatives": group.negatives,
        "selection_rate": _verified(group, "selection_rate", grouping),
        "sample_rate": _sample(group.sample_rate, confidence),
        "tpr": _verified(group, "tpr", grouping),
        "fpr": _verified(group, "fpr", grouping),
        "sample_tpr": _sample(group.sample_tpr, confidence),
        "sample_fpr": _sample(group.sample_fpr, confidence),
        "precision": _or_none(group.precision),
        "sample_precision": _sample(group.sample_precision, confidence),
        "to_reference": beside,
        "note": group.note,
    }


def _extreme(extreme: Extreme) -> dict[str, Any]:
    return {
        "group": extreme.group,
        "selection_rate": _bounds(extreme.selection_rate),
        "candidates": [dict(group) for group in extreme.candidates],
    }


def measure_to_dict(
    measure: MeasureAudit, name: str, grouping: GroupingAudit | DecisionGrouping, confidence: float
) -> dict[str, Any]:
    """One measure."""
    verified = measure.verified
    delta = grouping.delta(*RATES_OF[name])
    statistical = _statistical(None if measure.statistical is None else measure.statistical.value, delta, grouping)
    return {
        "lo": None if verified.value is None else float(verified.value.lo),
        "hi": None if verified.value is None else float(verified.value.hi),
        "interval": _sampling(measure.bootstrap, statistical, grouping),
        "statistical": statistical,
        **{bound: _or_none(measure.bounds.get(bound)) for bound in CLAIMS},
        "unshifted": None if measure.unshifted is None else _or_none(measure.unshifted.value),
        "sample": _sample_measure(measure.sample, measure.interval, measure.method, measure.simultaneous, confidence),
        "undefined": verified.undefined,
        "sample_undefined": measure.sample.undefined,
        "remaining": _remaining_measure(name, grouping),
        **{
            comparison: None
            if (held := measure.compared.get(comparison)) is None
            else {
                "lo": None if held.verified.value is None else float(held.verified.value.lo),
                "hi": None if held.verified.value is None else float(held.verified.value.hi),
                "undefined": held.verified.undefined,
                "sample": _sample_measure(held.sample, held.interval, held.method, held.simultaneous, confidence),
                "sample_undefined": held.sample.undefined,
            }
            for comparison in COMPARISONS[1:]
        },
    }


def _sample_measure(
    sample: Measure, interval: Enclosure | None, method: str, together: Enclosure | None, confidence: float
) -> dict[str, Any] | None:
    """A measure of the rows with its interval."""
    if sample.value is None:
        return None
    return {
        "value": float(sample.value.lo),
        "lo": None if interval is None else float(interval.lo),
        "hi": None if interval is None else float(interval.hi),
        "method": method,
        "simultaneous": None
        if together is None
        else {**_bounds(together), "confidence": confidence, "method": _SIMULTANEOUS_MEASURE},
    }
