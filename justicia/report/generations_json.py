"""Reports about generations as JSON; their schema is ``generations.schema.json`` beside this file.

Contracts: ``justicia.generations.check/1``, ``justicia.generations.sequences/1``, ``justicia.generations.coverage/1``,
``justicia.generations.simulation/1``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from justicia._version import __version__
from justicia.report.times import created
from justicia.schemas import read_schema
from justicia.writing import json_text, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from justicia.generations.asking import CheckReport
    from justicia.generations.covering import CoverageReport, CoverageResult
    from justicia.generations.results import Evidence, RunResult, SequenceReport
    from justicia.generations.simulation import Simulation
    from justicia.generations.table import Generations

__all__ = [
    "check_to_dict",
    "coverage_result",
    "coverage_to_dict",
    "data_of",
    "evidence_result",
    "head",
    "run_result",
    "schema",
    "sequences_to_dict",
    "simulation_to_dict",
    "to_json",
]


def schema() -> dict[str, Any]:
    """The JSON Schema of every report about generations."""
    return read_schema("justicia.report", "generations")


def to_json(held: dict[str, Any], path: Any = None) -> str | None:
    """JSON text, or None when it is written to `path`."""
    return written(json_text(held), path)


def head(kind: str, command: Sequence[str] | None) -> dict[str, Any]:
    """What every report begins with."""
    return {
        "schema": f"justicia.generations.{kind}/1",
        "tool": {"name": "justicia", "version": __version__},
        "created": created(),
        "command": None if command is None else list(command),
    }


def data_of(generations: Generations) -> dict[str, Any]:
    """The table, and what is declared of it."""
    spec, source = generations.spec, generations.source
    return {
        "source": source.name,
        "sha256": source.sha256,
        "rows": len(source.frame),
        "rows_used": len(generations),
        "runs": len(generations.runs),
        "run": spec.run,
        "step": spec.step,
        "where": {name: list(values) for name, values in spec.where.items()},
        "domains": {name: list(labels.values) for name, labels in generations.labels.items()},
    }


def check_to_dict(report: CheckReport) -> dict[str, Any]:
    """What a table holds."""
    generations = report.generations
    starts = generations.starts.tolist()
    return {
        **head("check", report.command),
        "data": data_of(generations),
        "verdict": "fails" if generations.faults else "holds",
        "runs": [
            {"run": name, "n": end - start}
            for name, start, end in zip(generations.runs, starts, starts[1:], strict=False)
        ],
        "findings": [
            {"kind": one.kind, "level": one.level, "column": one.column, "count": one.count, "text": one.text}
            for one in generations.findings
        ],
        "warnings": list(report.warnings),
    }


def sequences_to_dict(report: SequenceReport) -> dict[str, Any]:
    """Sequences of all runs."""
    return {
        **head("sequences", report.command),
        "data": data_of(report.generations),
        "verdict": report.verdict,
        "results": [run_result(one) for one in report.results],
        "evidence": [evidence_result(one) for one in report.evidence],
        "warnings": list(report.warnings),
    }


def run_result(one: RunResult) -> dict[str, Any]:
    """One question in one run."""
    witness, frequency = one.witness, one.frequency
    return {
        "attribute": list(one.attribute),
        "run": one.run,
        "n": one.n,
        "unknown": one.unknown,
        "infinite": one.infinite,
        "beta": one.beta,
        "beta_star": one.beta_star,
        "interval": {"lo": one.interval[0], "hi": one.interval[1]},
        "verdict": one.verdict,
        "reason": one.reason,
        "witness": None
        if witness is None
        else {
            "value": witness.value,
            "gap": witness.gap,
            "after": witness.after,
            "before": witness.before,
            "after_step": witness.after_step,
            "before_step": witness.before_step,
            "certain": witness.certain,
            "text": witness.text,
        },
        "eventual": {"verdict": one.eventual, "missing": list(one.missing)},
        "frequency": None
        if frequency is None
        else {
            "difference": {"lo": frequency.lo, "hi": frequency.hi},
            "beta": frequency.beta,
            "finite_bound": frequency.finite,
            "limit_bound": frequency.limit,
        },
    }


def evidence_result(one: Evidence) -> dict[str, Any]:
    """What runs under neutral prompts show of one question."""
    return {
        "attribute": list(one.attribute),
        "tag": one.tag,
        "rows": one.rows,
        "prompts": one.prompts,
        "verdicts": dict(one.verdicts),
        "statement": one.statement,
    }


def coverage_result(one: CoverageResult) -> dict[str, Any]:
    """Coverage of one run."""
    return {
        "run": one.run,
        "n": one.n,
        "unknown": one.unknown,
        "covered": {"lo": one.covered[0], "hi": one.covered[1]},
        "total": one.total,
        "coverage": {"lo": one.coverage[0], "hi": one.coverage[1]},
        "verdict": one.verdict,
        "reason": one.reason,
        "curve": [list(point) for point in one.curve],
        "missing": [dict(values) for values in one.missing],
        "suggestions": [{"values": dict(next_.values), "new": next_.new} for next_ in one.suggestions],
    }


def coverage_to_dict(report: CoverageReport) -> dict[str, Any]:
    """Coverage of all runs."""
    return {
        **head("coverage", report.command),
        "data": data_of(report.generations),
        "attributes": list(report.attributes),
        "t": report.t,
        "least": float(report.least),
        "verdict": report.verdict,
        "results": [coverage_result(one) for one in report.results],
        "warnings": list(report.warnings),
    }


def simulation_to_dict(report: Simulation) -> dict[str, Any]:
    """A simulation of a shield."""
    return {
        **head("simulation", report.command),
        "parameters": dict(report.parameters),
        "steps": report.steps,
        "enforced": report.enforced,
        "changed": report.changed,
        "failed": report.failed,
        "misses": report.misses,
        "interference": report.interference,
        "misses_per_1000": report.misses_per_1000,
        "beta_star": report.beta_star,
        "frequency": {"difference": report.difference, "limit_bound": report.limit_bound},
        "verdict": report.verdict,
    }
