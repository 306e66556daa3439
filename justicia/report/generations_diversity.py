"""Diversity across contexts as JSON (``justicia.generations.diversity/1``) and as tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from justicia.report.generations_json import data_of, head
from justicia.report.generations_text import printed, render_facts, render_head
from justicia.words import counted, shown

if TYPE_CHECKING:
    from rich.console import RenderableType

    from justicia.generations.diversity_results import DiversityReport
    from justicia.generations.estimates import Band, Estimate

__all__ = ["band_to_dict", "diversity_to_dict", "diversity_to_text", "estimate_to_dict", "render_diversity", "said"]

_STYLES = {"holds": "green", "fails": "bold red", "undecided": "yellow"}
_MOST_CONTEXTS = 60


def estimate_to_dict(one: Estimate) -> dict[str, Any]:
    """A measure with its interval and its range."""
    return {
        "value": one.value,
        "interval": None if one.lo is None or one.hi is None else {"lo": one.lo, "hi": one.hi},
        "possible": None if one.possible is None else {"lo": one.possible[0], "hi": one.possible[1]},
        "undefined": one.undefined,
    }


def band_to_dict(one: Band | None) -> dict[str, float] | None:
    """What a measure is by chance alone."""
    return None if one is None else {"mean": one.mean, "lo": one.lo, "hi": one.hi}


def diversity_to_dict(report: DiversityReport) -> dict[str, Any]:
    """Diversity of a table."""
    rule, floor = report.rule, report.floor
    return {
        **head("diversity", report.command),
        "data": data_of(report.generations),
        "attributes": list(report.attributes),
        "context": report.context,
        "parameters": {
            "q": rule.q,
            "quantile": rule.quantile,
            "epsilon": rule.epsilon,
            "correction": rule.correction,
            "confidence": report.confidence,
            "replicates": report.replicates,
            "seed": report.seed,
        },
        "intrinsic_diversity": estimate_to_dict(report.intrinsic),
        "conditional_diversity": estimate_to_dict(report.conditional),
        "conditional_diversity_mean": estimate_to_dict(report.conditional_mean),
        "mgbi": estimate_to_dict(report.mgbi),
        "noise_floor": None
        if floor is None
        else {
            "simulations": floor.simulations,
            "intrinsic_diversity": band_to_dict(floor.intrinsic),
            "conditional_diversity": band_to_dict(floor.conditional),
            "mgbi": band_to_dict(floor.mgbi),
            "within": report.within_floor,
        },
        "least": report.least,
        "verdict": report.verdict,
        "contexts": [
            {
                "context": held.name,
                "neutral": held.neutral,
                "rows": held.rows,
                "score": estimate_to_dict(held.score),
                "attributes": [
                    {
                        "attribute": one.attribute,
                        "n": one.n,
                        "unknown": one.unknown,
                        "counts": dict(one.counts),
                        "entropy": estimate_to_dict(one.entropy),
                    }
                    for one in held.attributes
                ],
            }
            for held in report.contexts
        ],
        "warnings": list(report.warnings),
    }


def diversity_to_text(report: DiversityReport, width: int = 100) -> str:
    """Diversity of a table as plain text."""
    return printed(render_diversity(report), width)


def said(one: Estimate, confidence: float) -> str:
    """A measure in words."""
    if one.value is None:
        text = f"not defined: {one.undefined}"
    else:
        text = f"{one.value:.4f}"
        if one.lo is not None and one.hi is not None:
            text += f"  {100 * confidence:g} %: {one.lo:.3f} to {one.hi:.3f}"
    if one.possible is not None:
        lo, hi = one.possible
        text += f"  ({lo:.3f} to {hi:.3f} whatever the unknown labels are)"
    return text


def render_diversity(report: DiversityReport) -> RenderableType:
    """Diversity of a table as something that a rich console prints."""
    names = [shown(name, 30) for name in report.attributes]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("context" if report.context is None else shown(report.context, 30), overflow="fold")
    for column in ("n", "unknown", *names, "score"):
        table.add_column(Text(column), justify="right")
    for held in report.contexts[:_MOST_CONTEXTS]:
        unknown = sum(one.unknown for one in held.attributes)
        entropies = [_number(one.entropy) for one in held.attributes]
        name = shown(held.name) + (" (neutral)" if held.neutral and report.context else "")
        table.add_row(Text(name), f"{held.rows:,}", f"{unknown:,}", *entropies, _number(held.score))
    q = f"{report.rule.q:g}".removeprefix("0")
    facts = [
        ("ID", said(report.intrinsic, report.confidence)),
        (f"CA {q}", said(report.conditional, report.confidence)),
        ("CA mean", said(report.conditional_mean, report.confidence)),
        ("MGBI", said(report.mgbi, report.confidence)),
    ]
    parts: list[RenderableType] = [
        render_head("Diversity", report.generations),
        Text(""),
        Text("normalised entropies, 1 for equal shares, and their geometric mean", style="bold"),
        Padding(table, (0, 0, 0, 2)),
    ]
    if len(report.contexts) > _MOST_CONTEXTS:
        rest = counted(len(report.contexts) - _MOST_CONTEXTS, "other context")
        parts.append(Text(f"  and {rest} (the JSON has them)", style="dim"))
    parts += [Text(""), render_facts(facts), Text("")]
    parts += _floor(report)
    if report.verdict is not None:
        parts.append(
            Text.assemble(
                f"MGBI of at least {report.least:g}: ", (report.verdict, _STYLES.get(report.verdict, "yellow"))
            )
        )
    return Group(*parts)


def _number(one: Estimate) -> str:
    return "-" if one.value is None else f"{one.value:.3f}"


def _floor(report: DiversityReport) -> list[RenderableType]:
    floor = report.floor
    if floor is None:
        return []
    name, held = ("ID", floor.intrinsic) if floor.mgbi is None else ("MGBI", floor.mgbi)
    text = (
        f"noise floor: with as many labels, a generator without any preference scores {name} {held.mean:.3f} on "
        f"average, and {held.lo:.3f} or more in 95 % of tables"
    )
    if report.within_floor is None:
        return [Text(text)]
    within = "is not below: chance alone explains it" if report.within_floor else "is below: more than chance"
    return [Text(text), Text(f"this {name} {within}")]
