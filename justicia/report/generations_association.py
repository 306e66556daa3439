"""Concept association as JSON (``justicia.generations.association/1``) and as tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from justicia.report.generations_diversity import band_to_dict, estimate_to_dict, said
from justicia.report.generations_json import data_of, head
from justicia.report.generations_text import printed, render_facts, render_head
from justicia.words import counted, listed, shown

if TYPE_CHECKING:
    from rich.console import RenderableType

    from justicia.generations.association_results import AssociationReport, AxisAssociation, ConceptSet
    from justicia.generations.correlations import Correlation

__all__ = ["association_to_dict", "association_to_text", "render_association"]

_STYLES = {"holds": "green", "fails": "bold red", "undecided": "yellow"}
_MOST_AXES = 40


def association_to_dict(report: AssociationReport) -> dict[str, Any]:
    """Concept association of a table."""
    return {
        **head("association", report.command),
        "data": data_of(report.generations),
        "parameters": {
            "similarity": report.similarity,
            "normalise": report.normalise,
            "rare": report.rare,
            "confidence": report.confidence,
            "replicates": report.replicates,
            "simulations": report.simulations,
            "seed": report.seed,
        },
        "most": report.most,
        "verdict": report.verdict,
        "axes": [_axis(report, one) for one in report.axes],
        "human": {"cas": _correlation(report.human_cas), "mad": _correlation(report.human_mad)},
        "warnings": list(report.warnings),
    }


def _axis(report: AssociationReport, one: AxisAssociation) -> dict[str, Any]:
    return {
        "by": one.by,
        "axis": one.axis,
        "initial": _set(one.initial),
        "counterfactuals": [
            {
                "counterfactual": held.name,
                **_set(held.set),
                "cas": estimate_to_dict(held.cas),
                "share": held.share,
                "human": held.human,
            }
            for held in one.counterfactuals
        ],
        "mad": estimate_to_dict(one.mad),
        "mad_normalised": estimate_to_dict(one.mad_normalised),
        "null": band_to_dict(one.null),
        "within_null": one.within_null,
        "p_value": one.p_value,
        "human": one.human,
        "verdict": report.verdict_of(one),
    }


def _set(one: ConceptSet) -> dict[str, Any]:
    return {"images": one.images, "distinct": one.distinct, "concepts": dict(one.concepts)}


def _correlation(one: Correlation | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "column": one.column,
        "n": one.n,
        "spearman": one.rho,
        "p_value": one.p_value,
        "undefined": one.undefined,
    }


def association_to_text(report: AssociationReport, width: int = 100) -> str:
    """Concept association of a table as plain text."""
    return printed(render_association(report), width)


def render_association(report: AssociationReport) -> RenderableType:
    """Concept association of a table as something that a rich console prints."""
    kind = {"iou": "intersection over union", "cosine": "cosine"}[report.similarity]
    parts: list[RenderableType] = [
        render_head("Concept association", report.generations),
        render_facts([("CAS", f"{kind} of the weights of concepts with those of the prompt's own images")]),
    ]
    # The most uneven first, when not all are shown.
    axes = list(report.axes)
    if len(axes) > _MOST_AXES:
        axes.sort(key=lambda one: -(one.mad_normalised.value or 0.0))
    for one in axes[:_MOST_AXES]:
        parts += [Text(""), *_axis_parts(report, one)]
    if len(axes) > _MOST_AXES:
        rest = counted(len(axes) - _MOST_AXES, "other axis", "other axes")
        parts += [Text(""), Text(f"and {rest} of less MAD (the JSON has them)", style="dim")]
    for held in (report.human_cas, report.human_mad):
        if held is not None:
            parts += [Text(""), Text(_correlated(held))]
    if report.verdict is not None:
        parts += [
            Text(""),
            Text.assemble(
                f"normalised MAD of at most {report.most:g}, all together: ",
                (report.verdict, _STYLES.get(report.verdict, "yellow")),
            ),
        ]
    return Group(*parts)


def _axis_parts(report: AssociationReport, one: AxisAssociation) -> list[RenderableType]:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    human = any(held.human is not None for held in one.counterfactuals)
    table.add_column("")
    for name in ("images", "CAS", f"{100 * report.confidence:g} %", "share", *(["people"] if human else [])):
        table.add_column(name, justify="right")
    table.add_column("commonest concepts", overflow="fold")
    row = [f"{one.initial.images:,}", "", "", "", *([""] if human else [])]
    table.add_row(Text("(the prompt itself)"), *row, Text(_commonest(one.initial)))
    for held in one.counterfactuals:
        ends = "" if held.cas.lo is None or held.cas.hi is None else f"{held.cas.lo:.3f} to {held.cas.hi:.3f}"
        people = [] if not human else ["-" if held.human is None else f"{held.human:.3g}"]
        table.add_row(
            Text(shown(held.name)),
            f"{held.set.images:,}",
            "-" if held.cas.value is None else f"{held.cas.value:.3f}",
            ends,
            "-" if held.share is None else f"{held.share:.3f}",
            *people,
            Text(_commonest(held.set)),
        )
    facts = [("MAD", said(one.mad, report.confidence)), ("normalised", said(one.mad_normalised, report.confidence))]
    parts: list[RenderableType] = [
        Text(shown(one.name, 200), style="bold"),
        Padding(table, (0, 0, 0, 2)),
        Padding(render_facts(facts), (0, 0, 0, 2)),
    ]
    if one.null is not None:
        within = "chance alone explains it" if one.within_null else "more than chance"
        text = (
            f"  null band: an even mixture of the counterfactuals has {one.null.mean:.3f} on average, and at most "
            f"{one.null.hi:.3f} in 95 % of tables: {within} (p = {one.p_value:.3g})"
        )
        parts.append(Text(text))
    verdict = report.verdict_of(one)
    if verdict is not None and len(report.axes) > 1:
        parts.append(
            Text.assemble(f"  normalised MAD of at most {report.most:g}: ", (verdict, _STYLES.get(verdict, "yellow")))
        )
    return parts


def _commonest(one: ConceptSet) -> str:
    return listed([f"{shown(name, 30)} {weight:.2f}" for name, weight in list(one.concepts.items())[:4]], 4)


def _correlated(one: Correlation) -> str:
    what = f"{one.column} (people) and {one.measure}: "
    if one.rho is None or one.p_value is None:
        return f"{what}no rank correlation: {one.undefined}"
    return f"{what}rank correlation {one.rho:.3f}, p = {one.p_value:.3g}, {one.n} pairs"
