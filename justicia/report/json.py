"""The audit as JSON, by the contract ``justicia.audit/1``; its schema is ``audit.schema.json`` beside this file."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from datetime import UTC, datetime
from importlib import resources
from typing import TYPE_CHECKING, Any

from justicia._version import __version__
from justicia.encoders.linear_threshold import LinearThreshold
from justicia.errors import InputError
from justicia.metrics import RATES_OF
from justicia.population.mixture import MixturePopulation

if TYPE_CHECKING:
    from justicia.audit import Audit
    from justicia.comparison import Extreme, GroupAudit, GroupingAudit, MeasureAudit, SampleRate
    from justicia.enclosure import Enclosure
    from justicia.fitting import Fit
    from justicia.population.stored import PopulationFile

__all__ = ["SCHEMA", "audit_to_dict", "audit_to_json", "fixed_time", "schema"]

SCHEMA = "justicia.audit/1"

_LAST_SECOND = 253_402_300_799
"""Of the year 9999."""

_METHOD = "statistical: clopper-pearson on what branch and bound leaves open"

_ALL_MEASURES = (
    "disparate_impact",
    "statistical_parity_difference",
    "equal_opportunity_difference",
    "equalized_odds_difference",
    "equalized_odds_ratio",
    "average_odds_difference",
    "predictive_parity_difference",
)


def schema() -> dict[str, Any]:
    """The JSON Schema of an audit."""
    text = (resources.files(__package__) / "audit.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def audit_to_json(audit: Audit) -> str:
    """The audit as JSON text.

    When the environment variable ``SOURCE_DATE_EPOCH`` is set, the time of the audit is taken from it and seconds are
    left out, so that equal inputs give equal bytes.
    """
    held = audit_to_dict(audit)
    text = json.dumps(held, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        # Half of a surrogate pair has no UTF-8 form; JSON can write it as an escape.
        text = json.dumps(held, indent=1, allow_nan=False) + "\n"
    return text


def fixed_time() -> datetime | None:
    """The time in ``SOURCE_DATE_EPOCH``; None when it is not set.

    Raises
    ------
    InputError
        When it is not a number of seconds before the year 10000.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if not epoch:
        return None
    if not re.fullmatch(r"[0-9]{1,12}", epoch) or int(epoch) > _LAST_SECOND:
        raise InputError(f"SOURCE_DATE_EPOCH={epoch[:40]} is not a number of seconds since 1970")
    return datetime.fromtimestamp(int(epoch), UTC)


def audit_to_dict(audit: Audit) -> dict[str, Any]:
    """The audit as plain lists, dicts, numbers and texts."""
    import sklearn

    fixed = fixed_time()
    created = datetime.now(UTC).replace(microsecond=0) if fixed is None else fixed
    solutions = [grouping.solution for grouping in audit.groupings]
    bounds = [solution for solution in solutions if solution.guarantee != "exact"]
    seconds = sum(solution.seconds for solution in solutions)
    label_seconds = sum(stratum.seconds for grouping in audit.groupings for stratum in grouping.strata.values())
    return {
        "schema": SCHEMA,
        "tool": {"name": "justicia", "version": __version__},
        "created": created.isoformat().replace("+00:00", "Z"),
        "command": None if audit.command is None else list(audit.command),
        "model": {
            "source": audit.model.source,
            "sha256": audit.model.sha256,
            "class": audit.fitted.class_name,
            "sklearn": {"trained": audit.model.trained, "now": sklearn.__version__},
            "features": list(audit.features),
            "score": _score(audit),
        },
        "data": {
            "source": audit.table.source,
            "sha256": audit.table.sha256,
            "rows": len(audit.table.frame) + sum(audit.table.dropped.values()),
            "rows_used": len(audit.table.frame),
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
        "groupings": [_grouping(grouping, audit.given_population) for grouping in audit.groupings],
        "requirements": [
            {"text": held.text, "status": held.status, "reason": held.reason} for held in audit.requirements
        ],
        "warnings": list(audit.warnings),
    }


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


def _grouping(grouping: GroupingAudit, given: PopulationFile | None) -> dict[str, Any]:
    measures = {
        name: _measure(grouping.measures[name], grouping.delta(*RATES_OF[name])) if name in grouping.measures else None
        for name in _ALL_MEASURES
    }
    return {
        "sensitive": list(grouping.sensitive),
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
        "groups": [_group(group, grouping) for group in grouping.reported],
        "most_favored": _extreme(grouping.most_favored),
        "least_favored": _extreme(grouping.least_favored),
        "measures": measures,
    }


def _fit(grouping: GroupingAudit, fit: Fit) -> dict[str, Any]:
    reported = {tuple(group.group.values()) for group in grouping.reported}
    return {
        "max_abs_error": fit.max_abs_error,
        "mean_abs_error": fit.mean_abs_error,
        "groups": [dataclasses.asdict(one) for one in fit.groups if tuple(one.group.values()) in reported],
    }


def _bounds(enclosure: Enclosure) -> dict[str, float]:
    return {"lo": float(enclosure.lo), "hi": float(enclosure.hi)}


def _verified(rate: Enclosure | None, interval: Enclosure | None, delta: float) -> dict[str, Any] | None:
    return None if rate is None else {**_bounds(rate), "interval": _interval(interval, delta)}


def _interval(interval: Enclosure | None, delta: float) -> dict[str, Any] | None:
    """Statistical bounds; all of one answer hold together with this confidence."""
    if interval is None:
        return None
    return {**_bounds(interval), "confidence": 1 - delta, "method": _METHOD}


def _sample(rate: SampleRate | None) -> dict[str, Any] | None:
    return None if rate is None else {"value": float(rate.value), "lo": rate.lo, "hi": rate.hi, "method": rate.method}


def _group(group: GroupAudit, grouping: GroupingAudit) -> dict[str, Any]:
    rates = {"selection_rate": group.selection_rate, "tpr": group.tpr, "fpr": group.fpr}
    verified = {kind: _verified(rate, group.intervals.get(kind), grouping.delta(kind)) for kind, rate in rates.items()}
    return {
        "group": group.group,
        "n": group.n,
        "selected": group.selected,
        "positives": group.positives,
        "negatives": group.negatives,
        "selection_rate": verified["selection_rate"],
        "sample_rate": _sample(group.sample_rate),
        "tpr": verified["tpr"],
        "fpr": verified["fpr"],
        "sample_tpr": _sample(group.sample_tpr),
        "sample_fpr": _sample(group.sample_fpr),
        "note": group.note,
    }


def _extreme(extreme: Extreme) -> dict[str, Any]:
    return {
        "group": extreme.group,
        "selection_rate": _bounds(extreme.selection_rate),
        "candidates": [dict(group) for group in extreme.candidates],
    }


def _measure(measure: MeasureAudit, delta: float) -> dict[str, Any]:
    verified, sample, interval = measure.verified, measure.sample, measure.interval
    return {
        "lo": None if verified.value is None else float(verified.value.lo),
        "hi": None if verified.value is None else float(verified.value.hi),
        "interval": _interval(None if measure.statistical is None else measure.statistical.value, delta),
        "sample": None
        if sample.value is None
        else {
            "value": float(sample.value.lo),
            "lo": None if interval is None else float(interval.lo),
            "hi": None if interval is None else float(interval.hi),
            "method": measure.method,
        },
        "undefined": verified.undefined,
    }
