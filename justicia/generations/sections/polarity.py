"""Polarity: whether the words of texts lean towards a pole, such as she or he, more for one group than for another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from justicia.generations.requiring import Quantity
from justicia.generations.sections import Json, Lack, Material, Section, formulas_of
from justicia.generations.sections.score_parts import (
    comparison_measures,
    comparison_quantities,
    comparison_table,
    found_text,
    group_cells,
    histograms,
    name_of,
    score_details,
    score_part,
    score_settings,
)
from justicia.report.document import Details, Formula, Paragraph, Table
from justicia.words import shown

if TYPE_CHECKING:
    from justicia.report.document import Block

__all__ = ["SECTION"]

_SETTINGS = ("text", "vectors", "poles", "names", "name_column", "cluster", "stopwords", "alpha", "paired")
_EVERYONE = "all texts"

MEASURES = comparison_measures("polarity", "scores")


def _vectors(material: Material) -> Any:
    return material.options.vectors if material.options.vectors is not None else material.settings.get("vectors")


def _lacks(material: Material) -> Lack | None:
    needs = []
    if "text" not in material.roles and "text" not in material.settings:
        needs.append("a column text (what the model wrote)")
    if _vectors(material) is None:
        needs.append("word vectors (the option vectors, or vectors under settings: polarity in the spec)")
    return Lack("texts are scored by word vectors", " and ".join(needs)) if needs else None


def _compute(material: Material) -> tuple[Json, list[Quantity]]:
    from justicia.generations.polarity import text_polarity
    from justicia.report.language_json import scores_to_dict

    roles, settings = material.roles, score_settings(material, "polarity")
    settings.pop("vectors", None)
    text = settings.pop("text", None) or roles["text"]
    report = text_polarity(
        material.generations.source.frame,
        str(text),
        roles.get("group"),
        vectors=_vectors(material),
        model=roles.get("model", "none"),
        where=material.spec.where or None,
        confidence=material.options.confidence,
        seed=material.options.seed,
        **settings,
    )
    whole = scores_to_dict(report)
    held: Json = {"columns": {name: whole["data"][name] for name in ("text", "group", "model", "cluster", "pair")}}
    held |= {name: whole[name] for name in ("vectors", "poles", "half")}
    known = [abs(one["score"]) for one in whole["scores"] if one["score"] is not None]
    top = max(known, default=1.0) or 1.0
    held |= score_part(whole, -top, top)
    held["lacks"] = []
    if report.group is None:
        held["lacks"] = [
            {
                "what": "groups beside each other",
                "reason": "nothing says whom a text is about",
                "remedy": "a column group",
            }
        ]
    return held, comparison_quantities(held, "polarity")


def _poles(held: Json) -> tuple[str, str]:
    first, other = ("/".join(shown(word) for word in pole) for pole in held["poles"])
    return first, other


def _says(held: Json) -> list[str]:
    lines = []
    for one in held["comparisons"]:
        if one["difference"]["value"] is None:
            continue
        first, other = _poles(held)
        toward = first if one["difference"]["value"] > 0 else other
        of, evidence = found_text(one, held["alpha"])
        lines.append(
            f"{of}texts about {shown(one['group'])} lean more towards “{toward}” than those about "
            f"{shown(one['other'])} by {abs(one['difference']['value']):.4f}{evidence}."
        )
    return lines


def _blocks(held: Json) -> Sequence[Block]:
    first, other = _poles(held)
    intro = f"A score above 0 lies nearer to “{first}”, below 0 to “{other}”; “{first}” itself has {held['half']:.4f}."
    vectors = f"Vectors: {shown(held['vectors']['source'], 200)}, {held['vectors']['dimensions']} dimensions."
    rows = [
        (
            *group_cells(one, _EVERYONE),
            f"{one['words']:,}",
            f"{one['without_vector']:,}",
        )
        for one in held["groups"]
    ]
    columns = ("texts about", "texts", "without score", "mean", "interval", "median", "deviation", "words", "no vector")
    blocks: list[Block] = [
        Paragraph(f"{intro} {vectors}"),
        Table("Scores by group", columns, tuple(rows), short=True),
        histograms(held, "Polarity of texts by group", f"towards “{other}” ← score → towards “{first}”", middle=0.0),
    ]
    if held["comparisons"]:
        blocks.append(comparison_table(held, "Polarity of groups beside each other"))
    words = [
        (name_of(one, _EVERYONE), toward, shown(each["word"]), f"{each['times']:,}", f"{each['score']:+.4f}")
        for one in held["groups"]
        for toward, drawn in ((first, one["first"]), (other, one["second"]))
        for each in drawn
    ]
    if words:
        table = Table(
            "Words that lean most", ("texts about", "towards", "word", "times", "score"), tuple(words), left=3
        )
        blocks.append(Details("Words that lean most", (table,)))
    blocks.append(score_details(held, "Every text's score", "Scores of texts"))
    formulas = formulas_of(MEASURES)
    formulas.append(
        Formula(
            "score",
            "of a word w with poles f and m: how far it lies along the line between them; of a text the mean over its "
            "words that count and have a vector",
            "(w − (f + m)/2) · a/|a|, a = f − (f + m)/2",
        )
    )
    return [*blocks, Details("How these are computed", tuple(formulas))]


SECTION = Section(
    name="polarity",
    title="Polarity of texts",
    about="Do the words that the model chooses lean one way for one group, and the other way for another?",
    measures=MEASURES,
    settings=_SETTINGS,
    roles=("text",),
    lacks=_lacks,
    compute=_compute,
    says=_says,
    blocks=_blocks,
)
