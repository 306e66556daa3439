"""A comparison of models and tools as the JSON contract ``justicia.comparison/1``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from justicia._version import __version__
from justicia.report.json import audit_to_dict
from justicia.report.times import created, fixed_time
from justicia.schemas import read_schema

if TYPE_CHECKING:
    from justicia.changes import Change, GroupingChange
    from justicia.comparing import Comparison, Side
    from justicia.enclosure import Enclosure
    from justicia.peers import PeerAnswer, PeerNumber

__all__ = ["COMPARISON_SCHEMA", "comparison_schema", "comparison_to_dict"]

COMPARISON_SCHEMA = "justicia.comparison/1"


def comparison_schema() -> dict[str, Any]:
    """The JSON Schema of a comparison; what stands under `audit` follows that of an audit."""
    return read_schema("justicia.report", "comparison")


def comparison_to_dict(held: Comparison) -> dict[str, Any]:
    """The comparison as plain lists, dicts, numbers and texts."""
    return {
        "schema": COMPARISON_SCHEMA,
        "tool": {"name": "justicia", "version": __version__},
        "created": created(),
        "command": None if held.command is None else list(held.command),
        "tools": list(held.tools),
        "models": [_side(side) for side in held.sides],
        "changes": [_grouping_change(change) for change in held.changes] if held.changes else None,
        "warnings": list(held.warnings),
    }


def _side(side: Side) -> dict[str, Any]:
    timed = fixed_time() is None
    return {
        "name": side.name,
        "accuracy": side.accuracy,
        "cpu_seconds": side.seconds if timed else None,
        "memory": side.memory if timed else None,
        "unexplained": side.unexplained,
        "groupings": [
            {
                "sensitive": list(grouping.sensitive),
                "tools": [_answer(answer, [group.group for group in grouping.groups], timed) for answer in answers],
            }
            for grouping, answers in zip(side.audit.groupings, side.tools, strict=True)
        ],
        "audit": audit_to_dict(side.audit),
    }


def _answer(answer: PeerAnswer, groups: list[dict[str, str]], timed: bool) -> dict[str, Any]:
    return {
        "tool": answer.tool,
        "title": answer.title,
        "version": answer.version,
        "cpu_seconds": answer.seconds if timed else None,
        "memory": answer.memory if timed else None,
        "notes": list(answer.notes),
        "numbers": [_number(number, groups) for number in answer.numbers],
    }


def _number(number: PeerNumber, groups: list[dict[str, str]]) -> dict[str, Any]:
    return {
        "measure": number.measure,
        "function": number.function,
        "group": None if number.group is None else groups[number.group],
        "compared": number.compared or None,
        "value": _finite(number.value),
        "rows": _finite(number.ours),
        "agreement": number.agreement,
        "reasons": list(number.reasons) if number.agreement == "explained" else [],
        "problem": number.problem,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _grouping_change(change: GroupingChange) -> dict[str, Any]:
    return {
        "sensitive": list(change.sensitive),
        "groups": [
            {
                "group": group.group,
                "n": group.n,
                "gained": group.gained,
                "lost": group.lost,
                "verified": {kind: _change(one) for kind, one in group.verified.items()},
                "rows": {kind: _change(one) for kind, one in group.rows.items()},
            }
            for group in change.groups
        ],
        "measures": {
            name: {"verified": _change(change.verified[name]), "rows": _change(change.rows[name])}
            for name in change.verified
        },
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "before": _enclosure(change.before),
        "after": _enclosure(change.after),
        "difference": _enclosure(change.difference),
    }


def _enclosure(held: Enclosure | None) -> dict[str, float] | None:
    return None if held is None else {"lo": float(held.lo), "hi": float(held.hi)}
