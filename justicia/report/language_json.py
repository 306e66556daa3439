"""Reports about answers of language models as JSON; their schema is ``language.schema.json`` beside this file.

Contracts: ``justicia.generations.criteria/1``, ``justicia.generations.polarity/1``, ``justicia.generations.scores/1``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.report.generations_json import head
from justicia.schemas import read_schema

if TYPE_CHECKING:
    from justicia.generations.contingency import Pooled, Test
    from justicia.generations.language_results import Criterion, LanguageReport, ModelContrast, Refusals
    from justicia.generations.pairing import PairedResult
    from justicia.generations.polarity_results import PolarityComparison, PolarityGroup, ScoreReport
    from justicia.generations.strata import Effect, Stratum

__all__ = ["criteria_to_dict", "schema", "scores_to_dict"]


def schema() -> dict[str, Any]:
    """The JSON Schema of these reports."""
    return read_schema("justicia.report", "language")


def criteria_to_dict(report: LanguageReport) -> dict[str, Any]:
    """Criteria of all models."""
    asked = report.settings
    return {
        **head("criteria", report.command),
        "data": {
            "source": report.source,
            "sha256": report.sha256,
            "rows": report.rows,
            "rows_used": report.rows_used,
            "group": asked.group,
            "response": asked.response,
            "truth": asked.truth,
            "model": asked.model,
            "cluster": asked.cluster,
            "strata": list(asked.strata),
            "pair": list(asked.pair),
            "where": {name: list(values) for name, values in asked.where.items()},
            "groups": list(report.groups),
            "responses": list(report.responses),
            "refusals": list(asked.refusals),
            "unknown": asked.unknown,
            "answered": asked.answered,
        },
        "confidence": asked.confidence,
        "alpha": asked.alpha,
        "at_most": asked.at_most,
        "seed": asked.seed,
        "requirement": asked.requirement,
        "verdict": report.verdict,
        "criteria": [_criterion(one) for one in report.criteria],
        "refusals": [_refusals(one) for one in report.refusals],
        "pairs": [_pairs(one) for one in report.pairs],
        "models": [_contrast(one) for one in report.contrasts],
        "warnings": list(report.warnings),
    }


def _test(test: Test) -> dict[str, Any]:
    return {
        "method": test.method,
        "statistic": test.statistic,
        "df": test.df,
        "p": test.p,
        "adjusted": test.adjusted,
        "undefined": test.undefined,
    }


def _effect(effect: Effect | None) -> dict[str, Any] | None:
    return (
        None
        if effect is None
        else {
            "value": effect.value,
            "lo": effect.lo,
            "hi": effect.hi,
            "outcome": effect.outcome,
            "group": effect.group,
            "other": effect.other,
            "method": effect.method,
        }
    )


def _criterion(one: Criterion) -> dict[str, Any]:
    return {
        "criterion": one.name,
        "means": one.means,
        "model": one.model,
        "verdict": one.verdict,
        "reason": one.reason,
        "strata": [_stratum(held) for held in one.strata],
        "pooled": None if one.pooled is None else _pooled(one.pooled),
    }


def _stratum(held: Stratum) -> dict[str, Any]:
    return {
        "where": dict(held.where),
        "n": held.n,
        "clusters": held.clusters,
        "groups": list(held.groups),
        "outcomes": list(held.outcomes),
        "counts": [list(row) for row in held.counts],
        "rates": [
            {
                "group": rate.group,
                "outcome": rate.outcome,
                "k": rate.k,
                "n": rate.n,
                "rate": rate.rate,
                "lo": rate.lo,
                "hi": rate.hi,
            }
            for rate in held.rates
        ],
        "difference": _effect(held.difference),
        "ratio": _effect(held.ratio),
        "largest": None if held.largest is None else {"lo": held.largest[0], "hi": held.largest[1]},
        "cramers_v": held.cramers_v,
        "corrected_v": held.corrected_v,
        "test": _test(held.test),
        "notes": list(held.notes),
    }


def _pooled(pooled: Pooled) -> dict[str, Any]:
    return {
        "test": _test(pooled.test),
        "strata": pooled.strata,
        "odds_ratio": pooled.odds_ratio,
        "lo": pooled.lo,
        "hi": pooled.hi,
        "groups": list(pooled.groups),
        "outcomes": list(pooled.responses),
        "note": pooled.note,
    }


def _refusals(held: Refusals) -> dict[str, Any]:
    return {
        "model": held.model,
        "groups": [
            {"group": group, "n": n, "refused": refused, "unknown": unknown, "rate": rate, "lo": lo, "hi": hi}
            for group, n, refused, unknown, rate, lo, hi in zip(
                held.groups, held.n, held.refused, held.unknown, held.rates, held.lo, held.hi, strict=True
            )
        ],
    }


def _pairs(pair: PairedResult) -> dict[str, Any]:
    return {
        "model": pair.model,
        "group": pair.group,
        "other": pair.other,
        "responses": list(pair.responses),
        "counts": [list(row) for row in pair.counts],
        "pairs": pair.pairs,
        "incomplete": pair.incomplete,
        "changed": pair.changed,
        "flip_rate": pair.flip_rate,
        "lo": pair.changed_lo,
        "hi": pair.changed_hi,
        "differences": [
            {
                "response": one.response,
                "first_only": one.first_only,
                "other_only": one.other_only,
                "value": one.value,
                "lo": one.lo,
                "hi": one.hi,
                "method": one.method,
            }
            for one in pair.differences
        ],
        "test": _test(pair.test),
        "verdict": pair.verdict,
        "reason": pair.reason,
    }


def _contrast(one: ModelContrast) -> dict[str, Any]:
    return {
        "model": one.model,
        "other": one.other,
        "outcome": one.outcome,
        "group": one.group,
        "other_group": one.other_group,
        "gap": one.gap,
        "other_gap": one.other_gap,
        "value": one.value,
        "lo": one.lo,
        "hi": one.hi,
        "method": one.method,
        "differs": one.differs,
    }


def scores_to_dict(report: ScoreReport) -> dict[str, Any]:
    """Scores by group, every one of them; with their scale when they are polarities."""
    from justicia.generations.polarity_results import PolarityReport

    scale: dict[str, Any] = {}
    if isinstance(report, PolarityReport):
        scale = {
            "vectors": {"source": report.vectors, "dimensions": report.dimensions},
            "poles": [list(pole) for pole in report.poles],
            "half": report.half,
        }
    return {
        **head("polarity" if scale else "scores", report.command),
        "data": {
            "source": report.source,
            "sha256": report.sha256,
            "rows_used": len(report.rows),
            "text" if scale else "score": report.column,
            "group": report.group,
            "model": report.model,
            "cluster": report.cluster,
            "pair": list(report.pair),
            "where": {name: list(values) for name, values in report.where.items()},
        },
        **scale,
        "confidence": report.confidence,
        "alpha": report.alpha,
        "at_most": report.at_most,
        "seed": report.seed,
        "requirement": report.requirement,
        "verdict": report.verdict if report.group is not None else None,
        "groups": [_polarity_group(one) for one in report.groups],
        "comparisons": [_comparison(one) for one in report.comparisons],
        "scores": [
            {"row": row + 1, "model": model, "group": group, "score": None if np.isnan(score) else score}
            for row, model, group, score in zip(
                report.rows.tolist(), report.models_of, report.groups_of, report.scores.tolist(), strict=True
            )
        ],
        "warnings": list(report.warnings),
    }


def _polarity_group(one: PolarityGroup) -> dict[str, Any]:
    return {
        "model": one.model,
        "group": one.group,
        "texts": one.texts,
        "missing": one.missing,
        "mean": one.mean,
        "lo": one.lo,
        "hi": one.hi,
        "median": one.median,
        "deviation": one.deviation,
        "words": one.words,
        "without_vector": one.without_vector,
        "first": [{"word": word, "times": times, "score": score} for word, times, score in one.first],
        "second": [{"word": word, "times": times, "score": score} for word, times, score in one.second],
    }


def _comparison(one: PolarityComparison) -> dict[str, Any]:
    return {
        "model": one.model,
        "group": one.group,
        "other": one.other,
        "n": one.n,
        "n_other": one.n_other,
        "difference": {"value": one.difference, "lo": one.lo, "hi": one.hi},
        "d": {"value": one.d, "lo": one.d_lo, "hi": one.d_hi},
        "larger": one.larger,
        "test": _test(one.test),
        "verdict": one.verdict,
        "reason": one.reason,
        "notes": list(one.notes),
    }
