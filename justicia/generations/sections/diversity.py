"""Diversity: how evenly outputs spread over the values, when neutrally asked and in every other context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from justicia.generations.requiring import Measured, Quantity
from justicia.generations.sections import Json, Lack, Material, Section, formulas_of, plain_part, quantity_of
from justicia.report.document import Cell, Details, Formula, Heading, Paragraph, Table
from justicia.report.figures import Curve, Figure, Key, Plane, Row, circle, line, rect, share_ticks, whisker, word
from justicia.words import counted, listed, shown

if TYPE_CHECKING:
    from justicia.generations.diversity_results import DiversityReport
    from justicia.report.document import Block

__all__ = ["SECTION"]

_SETTINGS = ("q", "quantile", "epsilon", "correction", "triggers", "cluster", "simulations")
_MOST_CONTEXTS = 60
_INDICES = (
    ("intrinsic_diversity", "ID", "neutral outputs"),
    ("conditional_diversity", "CA", "the worst contexts"),
    ("mgbi", "MGBI", "both together"),
)

MEASURES = (
    Measured(
        "entropy",
        "how evenly the outputs of a context spread over the values of an attribute, 1 for equal shares",
        "h = −Σ p log p ÷ log N over the N values",
        ("attribute", "context", "model"),
    ),
    Measured(
        "intrinsic_diversity",
        "ID, the geometric mean of the attributes' entropies among neutral outputs",
        "(Π max(ε, h))^(1/K) over the K attributes",
        ("model",),
    ),
    Measured(
        "conditional_diversity",
        "CA, the quantile q over the other contexts of that geometric mean: what the worst of them come to",
        "quantile q of (Π max(ε, h))^(1/K)",
        ("model",),
    ),
    Measured(
        "mgbi",
        "the index of both: high only where neutral outputs are diverse and no other context takes that away",
        "√(ID · CA)",
        ("model",),
    ),
)


def _names(material: Material) -> list[str]:
    """Attributes with one label a generation and more than one value."""
    held = material.generations.labels
    return [name for name, labels in held.items() if labels.single and len(labels.values) > 1]


def _lacks(material: Material) -> Lack | None:
    if _names(material):
        return None
    return Lack(
        "no attribute has one label a generation and two values or more",
        "a column of labels, its values under attributes in the spec",
    )


def _compute(material: Material) -> tuple[Json, list[Quantity]]:
    from justicia.generations.diversities import diversity
    from justicia.report.generations_diversity import diversity_to_dict

    names, spec, options = _names(material), material.spec, material.options
    context = material.roles.get("context")
    if context is None and spec.neutral:
        context = next(iter(spec.neutral))
    models: list[str | None] = [None]
    if "model" in material.roles:
        models = list(material.words("model"))
    made: list[Json] = []
    quantities: list[Quantity] = []
    for model in models:
        where = dict(spec.where)
        if model is not None:
            where[material.roles["model"]] = (model,)
        report = diversity(
            material.generations.source.frame,
            names,
            spec=spec.changed(where=where),
            context=context or "none",
            replicates=options.replicates,
            confidence=options.confidence,
            seed=options.seed,
            **dict(material.settings),
        )
        made.append({"model": model, **plain_part(diversity_to_dict(report))})
        quantities += _quantities(report, model)
    left = [name for name in material.generations.labels if name not in names]
    lacks = []
    if context is None:
        lacks = [
            {
                "what": "CA and MGBI",
                "reason": "nothing says in which context an output was asked for",
                "remedy": "a column context (neutral, or the word that may trigger a bias)",
            }
        ]
    held = {"attributes": names, "left_out": left, "context": context, "models": made, "lacks": lacks}
    return held, quantities


def _quantities(report: DiversityReport, model: str | None) -> list[Quantity]:
    of = {} if model is None else {"model": model}
    held = [
        quantity_of(name, of, one)
        for name, one in (
            ("intrinsic_diversity", report.intrinsic),
            ("conditional_diversity", report.conditional),
            ("mgbi", report.mgbi),
        )
    ]
    for context in report.contexts:
        held += [
            quantity_of("entropy", {"attribute": one.attribute, "context": context.name, **of}, one.entropy)
            for one in context.attributes
        ]
    return held


def _value(one: Json) -> str:
    return "undefined" if one["value"] is None else f"{one['value']:.4f}"


def _interval(one: Json) -> str:
    held = one["interval"]
    return "–" if held is None else f"{held['lo']:.3f} to {held['hi']:.3f}"


def _context(one: Json) -> str:
    name = shown(one["context"])
    return f"{name} (neutral)" if one["neutral"] and name != "neutral" else name


def _lacking(entropy: float | None) -> float:
    return 0.0 if entropy is None else 1 - entropy


def _of_model(one: Json) -> str:
    return "" if one["model"] is None else f" of {shown(one['model'])}"


def _says(held: Json) -> list[str]:
    lines = []
    for one in held["models"]:
        named = [(short, one[name]) for name, short, _ in _INDICES if one[name]["value"] is not None]
        if not named:
            continue
        says = ", ".join(f"{short} {_value(value)} ({_interval(value)})" for short, value in named)
        of = "" if one["model"] is None else f"{shown(one['model'])}: "
        floor = one["noise_floor"]
        lines.append(f"{of}{says}.")
        if floor is not None and floor["within"]:
            lines.append(f"{of}an even generator may score as low with so few labels.")
    return lines


def _blocks(held: Json) -> Sequence[Block]:
    blocks: list[Block] = []
    if held["context"] is None:
        blocks.append(
            Paragraph(
                "No column says in which context an output was asked for: all are taken as neutral, and ID is all "
                "there is.",
                soft=True,
            )
        )
    if held["left_out"]:
        blocks.append(Paragraph(f"Left out, as a generation shows several values of it: {listed(held['left_out'])}."))
    blocks.append(_index_table(held))
    plane = _plane(held)
    if plane is not None:
        blocks.append(plane)
    for one in held["models"]:
        blocks += _model_blocks(held, one)
    formulas = formulas_of(MEASURES)
    formulas.append(
        Formula(
            "by chance",
            "what a generator that draws every value equally often scores with as many labels: mean, 5 % and 95 % "
            "quantile of simulations; entropies of few labels are too low, and quantiles over contexts, too",
        )
    )
    formulas.append(
        Formula(
            "interval",
            "by the bootstrap, generations of each context drawn anew, corrected for the bias that replicates have",
        )
    )
    parameters = held["models"][0]["parameters"] if held["models"] else {}
    said = ", ".join(f"{name} {value}" for name, value in parameters.items())
    return [*blocks, Details("How these are computed", (*formulas, Paragraph(f"Here: {said}.", soft=True)))]


def _index_table(held: Json) -> Table:
    several = any(one["model"] is not None for one in held["models"])
    rows = []
    for one in held["models"]:
        floor = one["noise_floor"] or {}
        for name, short, about in _INDICES:
            value = one[name]
            if value["value"] is None and held["context"] is None:
                continue
            chance = floor.get(name)
            possible = value["possible"]
            row = (
                f"{short}, {about}",
                _value(value),
                _interval(value),
                "–" if possible is None else f"{possible['lo']:.3f} to {possible['hi']:.3f}",
                "–" if chance is None else f"{chance['mean']:.3f} ({chance['lo']:.3f} to {chance['hi']:.3f})",
            )
            rows.append((shown(one["model"]), *row) if several else row)
    heads = ("index", "value", "interval", "whatever unknown labels are", "an even generator by chance")
    columns = ("model", *heads) if several else heads
    return Table("Indices of diversity", columns, tuple(rows), left=2 if several else 1, short=True)


def _plane(held: Json) -> Plane | None:
    """ID across and CA up, a dot a model, with lines of equal MGBI."""
    points = [
        (one, one["intrinsic_diversity"]["value"], one["conditional_diversity"]["value"]) for one in held["models"]
    ]
    drawn = [(one, x, y) for one, x, y in points if x is not None and y is not None]
    if not drawn:
        return None
    curves = []
    for place, (one, x, y) in enumerate(drawn):
        name = "this table" if one["model"] is None else shown(one["model"], 30)
        says = f"ID {x:.3f}, CA {y:.3f}, MGBI {_value(one['mgbi'])}"
        curves.append(Curve(name, says, f"hue{place % 8 + 1}", ((100 * x, 100 * y),), False, (name,)))
    floor = drawn[0][0]["noise_floor"]
    if floor is not None and floor["conditional_diversity"] is not None:
        x, y = floor["intrinsic_diversity"]["mean"], floor["conditional_diversity"]["mean"]
        says = f"ID {x:.3f}, CA {y:.3f} on average"
        curves.append(Curve("an even generator, by chance", says, "hue8", ((100 * x, 100 * y),), False))
    lines = []
    for level in (0.2, 0.4, 0.6, 0.8):
        steps = [level**2 + (1 - level**2) * one / 40 for one in range(41)]
        lines.append(Curve("", "", "", tuple((100 * x, 100 * level**2 / x) for x in steps), True, (f"MGBI {level:g}",)))
    ticks = tuple((20.0 * one, f"{one / 5:g}") for one in range(6))
    caption = "Diversity of neutral outputs (ID) and of the worst other contexts (CA); lines join points of equal MGBI."
    return Plane("ID and CA", caption, tuple(curves), ticks, ticks, "ID", "CA", 300, tuple(lines))


def _model_blocks(held: Json, one: Json) -> list[Block]:
    of = _of_model(one)
    blocks: list[Block] = [Heading(f"Shares of neutral outputs{of}"), _bars(one, of), *_counts(one, of)]
    contexts = one["contexts"]
    if len(contexts) > 1:
        rows = []
        for context in contexts[:_MOST_CONTEXTS]:
            name = _context(context)
            cells: list[str | Cell] = [
                Cell(_value(part["entropy"]), shade=_lacking(part["entropy"]["value"]))
                for part in context["attributes"]
            ]
            rows.append((name, f"{context['rows']:,}", *cells, _value(context["score"]), _interval(context["score"])))
        left = len(contexts) - _MOST_CONTEXTS
        rest = f" {counted(left, 'other context')} in the JSON." if left > 0 else ""
        names = [shown(part["attribute"]) for part in contexts[0]["attributes"]]
        blocks += [
            Heading(f"Entropies by context{of}"),
            Table(
                f"Entropies by context{of}",
                ("context", "outputs", *names, "score", "interval"),
                tuple(rows),
                f"1 for equal shares; the darker, the less even. The score is their geometric mean.{rest}",
                short=True,
            ),
            _score_figure(one, of),
        ]
    return blocks


def _bars(one: Json, of: str) -> Figure:
    rows = []
    neutral = one["contexts"][0]
    for part in neutral["attributes"]:
        even = 100 / len(part["counts"])
        for value, count in part["counts"].items():
            share = count / part["n"] if part["n"] else 0.0
            x = 100 * share
            shapes = [rect("barback", 0, 100, 5, 19), rect("bar", 0, x, 5, 19), line("target", even, even, 1, 23)]
            shapes.append(word("barnumber onbar" if x > 93 else "barnumber", 99.4, 16, f"{x:.1f} %", "end"))
            says = f"{count:,} of {part['n']:,}, {x:.1f} %; equal shares would be {even:.1f} %"
            rows.append(Row(f"{shown(part['attribute'], 30)}: {shown(value, 40)}", says, tuple(shapes)))
    keys = (
        Key((rect("bar", 2, 32, 3, 13),), "share of the outputs whose label is known"),
        Key((line("target", 17, 17, 0, 16),), "equal shares"),
    )
    title = f"Shares of values among neutral outputs{of}"
    return Figure(title, f"{title}, and equal shares.", tuple(rows), share_ticks(), "", keys)


def _counts(one: Json, of: str) -> list[Block]:
    tables = []
    for part in one["contexts"][0]["attributes"]:
        rows = []
        for context in one["contexts"][:_MOST_CONTEXTS]:
            held = next(each for each in context["attributes"] if each["attribute"] == part["attribute"])
            most = max(1, *held["counts"].values())
            name = _context(context)
            cells: list[str | Cell] = [Cell(f"{count:,}", shade=count / most) for count in held["counts"].values()]
            rows.append((name, *cells, f"{held['unknown']:,}", _value(held["entropy"]), _interval(held["entropy"])))
        columns = ("context", *(shown(value) for value in part["counts"]), "unknown", "entropy", "interval")
        label = f"Counts of {shown(part['attribute'])}{of}"
        tables.append(Table(label, columns, tuple(rows), label))
    return [Details(f"Counts, from which all of this is computed{of}", tuple(tables))]


def _score_figure(one: Json, of: str) -> Figure:
    rows = []
    for context in one["contexts"][:_MOST_CONTEXTS]:
        score = context["score"]
        if score["value"] is None:
            continue
        x = 100 * score["value"]
        shapes = [circle("dot", x, 12, 5)]
        if score["interval"] is not None:
            lo, hi = 100 * score["interval"]["lo"], 100 * score["interval"]["hi"]
            shapes = [*whisker(lo, hi), *shapes]
        name = shown(context["context"], 60)
        is_neutral = context["neutral"] and name != "neutral"
        says = f"{_value(score)}, interval {_interval(score)}"
        rows.append(Row(name, says, tuple(shapes), mark="neutral" if is_neutral else ""))
    quantile = one["conditional_diversity"]["value"]
    if quantile is not None:
        x = 100 * quantile
        rows = [Row(r.name, r.says, (line("target", x, x, 0, 24), *r.shapes), r.height, r.mark) for r in rows]
    keys = (
        Key((*whisker(2, 32, 8), circle("dot", 17, 8, 5)), "score with its interval"),
        Key((line("target", 17, 17, 0, 16),), "CA, the quantile over the contexts that are not neutral"),
    )
    ticks = tuple((20.0 * each, f"{each / 5:g}") for each in range(6))
    title = f"Scores by context{of}"
    return Figure(title, f"{title}: the geometric mean of the attributes' entropies.", tuple(rows), ticks, "", keys)


SECTION = Section(
    name="diversity",
    title="Diversity",
    about="How evenly do outputs spread over the values, and does an innocent word take that away?",
    measures=MEASURES,
    settings=_SETTINGS,
    roles=("context",),
    lacks=_lacks,
    compute=_compute,
    says=_says,
    blocks=_blocks,
)
