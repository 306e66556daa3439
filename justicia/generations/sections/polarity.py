"""Polarity: whether the words of texts lean towards a pole, such as she or he, more for one group than for another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from justicia.generations.requiring import Quantity
from justicia.generations.sections import Json, Lack, Material, Section
from justicia.generations.sections.criteria import pair_columns
from justicia.generations.sections.score_parts import (
    comparison_measures,
    comparison_quantities,
    comparison_table,
    ends_text,
    histograms,
    name_of,
    score_details,
    score_part,
    signed,
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
    from justicia.generations.estimates import check_number
    from justicia.generations.polarity import text_polarity
    from justicia.report.language_json import scores_to_dict

    roles, settings = material.roles, dict(material.settings)
    settings.pop("vectors", None)
    paired = str(settings.pop("paired", "")).lower() in ("true", "yes", "1")
    if "alpha" in settings:
        settings["alpha"] = check_number(settings["alpha"], "settings: polarity: alpha", 0, 1)
    text = settings.pop("text", None) or roles["text"]
    report = text_polarity(
        material.generations.source.frame,
        str(text),
        roles.get("group"),
        vectors=_vectors(material),
        model=roles.get("model", "none"),
        pair=pair_columns(material) if paired else (),
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
        adjusted = one["test"]["adjusted"]
        found = adjusted is not None and adjusted <= held["alpha"]
        of = "" if one["model"] is None else f"{shown(one['model'])}: "
        d = "" if one["d"]["value"] is None else f", d {one['d']['value']:+.2f}"
        evidence = f"; a test finds it at {held['alpha']:g}" if found else "; no test finds a difference"
        lines.append(
            f"{of}texts about {shown(one['group'])} lean more towards “{toward}” than those about "
            f"{shown(one['other'])} by {abs(one['difference']['value']):.4f}{d}{evidence}."
        )
    return lines


def _blocks(held: Json) -> Sequence[Block]:
    first, other = _poles(held)
    intro = f"A score above 0 lies nearer to “{first}”, below 0 to “{other}”; “{first}” itself has {held['half']:.4f}."
    vectors = f"Vectors: {shown(held['vectors']['source'], 200)}, {held['vectors']['dimensions']} dimensions."
    rows = [
        (
            name_of(one, _EVERYONE),
            f"{one['texts']:,}",
            f"{one['missing']:,}",
            signed(one["mean"]),
            ends_text(one),
            signed(one["median"]),
            "–" if one["deviation"] is None else f"{one['deviation']:.4f}",
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
    formulas = [Formula(one.name.replace("_", " "), one.says, one.formula) for one in MEASURES]
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
