"""Association: what outputs have in common with those of a changed prompt, and how unevenly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from justicia.generations.requiring import Measured, Quantity
from justicia.generations.sections import Json, Lack, Material, Section, formulas_of, plain_part, quantity_of
from justicia.report.document import Cell, Details, Formula, Heading, Paragraph, Table
from justicia.report.figures import Figure, Key, Row, circle, rect, whisker
from justicia.words import counted, shown

if TYPE_CHECKING:
    from justicia.report.document import Block

__all__ = ["SECTION"]

_SETTINGS = (
    *("text", "concepts", "counts", "by", "initial", "axes", "similarity", "normalise", "rare", "stop_words"),
    *("synonyms", "separator", "human", "human_mad", "simulations"),
)
_MOST_CELLS = 12

MEASURES = (
    Measured(
        "cas",
        "concept association score: how much the concepts of a counterfactual's outputs have in common with those of "
        "the prompt as it was",
        "Σ min(w, w′) ÷ Σ max(w, w′) over concepts, of weights that sum to 1 (or the cosine of the weights)",
        ("axis", "counterfactual", "by"),
    ),
    Measured(
        "mad_normalised",
        "how unevenly an axis is associated, 0 when all its counterfactuals score the same and 1 when one alone has "
        "anything in common",
        "√(MAD ÷ (2(K−1)/K²)), MAD the mean absolute deviation of the K scores, divided by their sum before",
        ("axis", "by"),
    ),
)


def _lacks(material: Material) -> Lack | None:
    needs = []
    if "counterfactual" not in material.roles:
        needs.append("counterfactual (what the prompt was changed to, blank for the prompt as it was)")
    if "text" not in material.roles and not {"text", "concepts", "counts"} & set(material.settings):
        needs.append("text (a caption, or words about the output)")
    if not needs:
        return None
    return Lack(
        "outputs of changed prompts, with words about them, are compared",
        f"{'columns' if needs[1:] else 'a column'} {' and '.join(needs)}",
    )


def _compute(material: Material) -> tuple[Json, list[Quantity]]:
    from justicia.generations.associations import association
    from justicia.report.generations_association import association_to_dict

    options, settings = material.options, dict(material.settings)
    if not {"text", "concepts", "counts"} & set(settings):
        settings["text"] = material.roles["text"]
    report = association(
        material.generations.source.frame,
        axis=material.roles.get("axis"),
        counterfactual=material.roles["counterfactual"],
        spec=material.spec,
        replicates=options.replicates,
        confidence=options.confidence,
        seed=options.seed,
        **settings,
    )
    quantities = []
    for one in report.axes:
        of = {"axis": one.axis or "all"} | ({} if one.by is None else {"by": one.by})
        quantities.append(quantity_of("mad_normalised", of, one.mad_normalised))
        quantities += [
            quantity_of("cas", {**of, "counterfactual": held.name}, held.cas) for held in one.counterfactuals
        ]
    held = plain_part(association_to_dict(report))
    for one in held["axes"]:
        del one["verdict"]
    return held, quantities


def _name(one: Json) -> str:
    axis = shown(one["axis"] or "all", 40)
    return axis if one["by"] is None else f"{shown(one['by'], 40)}: {axis}"


def _value(one: Json) -> str:
    return "undefined" if one["value"] is None else f"{one['value']:.4f}"


def _interval(one: Json) -> str:
    held = one["interval"]
    return "–" if held is None else f"{held['lo']:.3f} to {held['hi']:.3f}"


def _says(held: Json) -> list[str]:
    lines = []
    for one in sorted(held["axes"], key=lambda one: -(one["mad_normalised"]["value"] or 0.0))[:5]:
        mad = one["mad_normalised"]
        if mad["value"] is None:
            lines.append(f"{_name(one)}: MAD is not defined, as {mad['undefined']}.")
            continue
        scores = [each for each in one["counterfactuals"] if each["cas"]["value"] is not None]
        most = max(scores, key=lambda each: each["cas"]["value"])
        least = min(scores, key=lambda each: each["cas"]["value"])
        chance = "" if not one["within_null"] else "; chance alone gives as much with so few outputs"
        near = f"nearest to {shown(most['counterfactual'])} ({_value(most['cas'])}), "
        far = f"farthest from {shown(least['counterfactual'])} ({_value(least['cas'])})"
        lines.append(f"{_name(one)}: {near}{far}, normalised MAD {_value(mad)}{chance}.")
    return lines


def _blocks(held: Json) -> Sequence[Block]:
    rows = []
    for one in held["axes"]:
        mad, null = one["mad_normalised"], one["null"]
        rows.append(
            (
                _name(one),
                f"{len(one['counterfactuals']):,}",
                _value(mad),
                _interval(mad),
                "–" if null is None else f"{null['mean']:.3f} ({null['lo']:.3f} to {null['hi']:.3f})",
                "–" if one["p_value"] is None else f"{one['p_value']:.4f}",
            )
        )
    blocks: list[Block] = [
        Table(
            "Unevenness of every axis",
            ("axis", "counterfactuals", "normalised MAD", "interval", "by chance, 5 to 95 %", "p"),
            tuple(rows),
            "By chance: of even mixtures of the counterfactuals' outputs, of as many outputs; p is the share of such "
            "mixtures that are as uneven.",
            short=True,
        ),
        _mad_figure(held),
        Heading("Scores of every counterfactual"),
        _heat(held),
    ]
    blocks.append(Details("Scores with intervals, and their shares", (_intervals(held),)))
    blocks += [Details(f"Concepts along {_name(one)}", (_concept_table(one),)) for one in held["axes"]]
    for name, correlation in held["human"].items():
        if correlation is not None and correlation["spearman"] is not None:
            says = f"rank correlation {correlation['spearman']:.3f} (p {correlation['p_value']:.4f})"
            what = {"cas": "scores", "mad": "unevenness"}[name]
            column = shown(correlation["column"])
            blocks.append(Paragraph(f"People's {what} in {column}: {says} over {correlation['n']:,} pairs."))
    said = ", ".join(f"{name} {value}" for name, value in held["parameters"].items())
    formulas = formulas_of(MEASURES)
    formulas.append(
        Formula(
            "weight",
            "of a concept: the share of outputs whose words name it, lower-case, without stop words and those below "
            "the share that counts as rare",
        )
    )
    blocks.append(Details("How these are computed", (*formulas, Paragraph(f"Here: {said}.", soft=True))))
    return blocks


def _mad_figure(held: Json) -> Figure:
    rows = []
    for one in held["axes"]:
        mad, null = one["mad_normalised"], one["null"]
        if mad["value"] is None:
            continue
        shapes = []
        if null is not None:
            shapes.append(rect("null", 100 * null["lo"], 100 * null["hi"], 3, 21))
        shapes.append(rect("bar", 0, 100 * min(1.0, mad["value"]), 9, 15))
        if mad["interval"] is not None:
            shapes += whisker(100 * min(1.0, mad["interval"]["lo"]), 100 * min(1.0, mad["interval"]["hi"]))
        shapes.append(circle("dot", 100 * min(1.0, mad["value"]), 12, 4.5))
        says = f"{_value(mad)}, interval {_interval(mad)}"
        says += "" if null is None else f"; by chance {null['lo']:.3f} to {null['hi']:.3f}"
        rows.append(Row(_name(one), says, tuple(shapes), mark="within chance" if one["within_null"] else ""))
    keys = (
        Key((rect("bar", 2, 22, 6, 10), circle("dot", 22, 8, 4.5)), "normalised MAD"),
        Key(whisker(2, 32, 8), "its interval"),
        Key((rect("null", 2, 32, 1, 15),), "what chance alone gives, 5 to 95 %"),
    )
    ticks = tuple((20.0 * each, f"{each / 5:g}") for each in range(6))
    title = "Normalised MAD of every axis"
    return Figure(title, f"{title}, on the whole scale from even (0) to one-sided (1).", tuple(rows), ticks, "", keys)


def _heat(held: Json) -> Table:
    """An axis a row, a counterfactual a cell, as dark as its score."""
    widest = max((len(one["counterfactuals"]) for one in held["axes"]), default=0)
    rows = []
    for one in held["axes"]:
        cells: list[str | Cell] = [
            Cell(f"{shown(each['counterfactual'], 30)} {_value(each['cas'])}", shade=each["cas"]["value"] or 0.0)
            for each in one["counterfactuals"][:_MOST_CELLS]
        ]
        cells += ["–"] * (min(widest, _MOST_CELLS) - len(cells))
        rows.append((_name(one), f"{one['initial']['images']:,}", *cells))
    columns = ("axis", "outputs of the prompt itself", *(f"{place + 1}." for place in range(min(widest, _MOST_CELLS))))
    rest = f" The first {_MOST_CELLS} of each axis." if widest > _MOST_CELLS else ""
    caption = f"CAS; the darker, the more the outputs have in common with those of the prompt itself.{rest}"
    return Table("CAS of every counterfactual", columns, tuple(rows), caption)


def _intervals(held: Json) -> Table:
    rows = tuple(
        (
            _name(one),
            shown(each["counterfactual"]),
            f"{each['images']:,}",
            _value(each["cas"]),
            _interval(each["cas"]),
            "–" if each["share"] is None else f"{each['share']:.4f}",
        )
        for one in held["axes"]
        for each in one["counterfactuals"]
    )
    columns = ("axis", "counterfactual", "outputs", "CAS", "interval", "share of the axis")
    return Table("CAS with intervals", columns, rows, "MAD is taken of the shares.", left=2)


def _concept_table(one: Json) -> Table:
    names = list(dict.fromkeys([*one["initial"]["concepts"], *_all_concepts(one)]))
    sets: list[tuple[str, Json]] = [
        ("the prompt itself", one["initial"]),
        *((each["counterfactual"], each) for each in one["counterfactuals"]),
    ]
    rows: list[tuple[str | Cell, ...]] = [
        (
            shown(name),
            *(Cell(f"{held['concepts'].get(name, 0):.3f}", shade=held["concepts"].get(name, 0)) for _, held in sets),
        )
        for name in names
    ]
    cut = [held["distinct"] - len(held["concepts"]) for _, held in sets]
    rest = f" {counted(max(cut), 'other concept')} of less weight at most are not listed." if max(cut) else ""
    columns = ("concept", *(f"{shown(name)} ({held['images']:,})" for name, held in sets))
    caption = f"Weights of concepts; CAS compares a column with that of the prompt itself.{rest}"
    return Table(f"Concepts along {_name(one)}", columns, tuple(rows), caption)


def _all_concepts(one: Json) -> list[str]:
    return [name for each in one["counterfactuals"] for name in each["concepts"]]


SECTION = Section(
    name="association",
    title="Association",
    about="When nobody says who, whom does the model show? Outputs of a prompt beside those of its counterfactuals.",
    measures=MEASURES,
    settings=_SETTINGS,
    roles=("axis", "counterfactual"),
    lacks=_lacks,
    compute=_compute,
    says=_says,
    blocks=_blocks,
)
