"""Scores: a number that every answer has, such as a toxicity or a salary, compared by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from justicia.generations.requiring import Quantity
from justicia.generations.sections import Json, Lack, Material, Section, formulas_of
from justicia.generations.sections.score_parts import (
    comparison_measures,
    comparison_quantities,
    comparison_table,
    found_text,
    group_cells,
    histograms,
    score_details,
    score_part,
    score_settings,
)
from justicia.report.document import Details, Table
from justicia.words import shown

if TYPE_CHECKING:
    from justicia.report.document import Block

__all__ = ["SECTION"]

MEASURES = comparison_measures("score", "scores")


def _lacks(material: Material) -> Lack | None:
    words = {"score": "score (a number of the answer)", "group": "group (who the question was about)"}
    needs = [said for role, said in words.items() if role not in material.roles]
    if not needs:
        return None
    return Lack("scores are compared by group", f"{'columns' if needs[1:] else 'a column'} {' and '.join(needs)}")


def _compute(material: Material) -> tuple[Json, list[Quantity]]:
    from justicia.generations.scores import group_scores
    from justicia.report.language_json import scores_to_dict

    roles = material.roles
    report = group_scores(
        material.generations.source.frame,
        roles["score"],
        roles["group"],
        model=roles.get("model", "none"),
        where=material.spec.where or None,
        confidence=material.options.confidence,
        seed=material.options.seed,
        **score_settings(material, "scores"),
    )
    whole = scores_to_dict(report)
    known = [one["score"] for one in whole["scores"] if one["score"] is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if low == high:
        # Half of one is nothing beside large numbers.
        beside = max(0.5, abs(low) / 1000)
        low, high = low - beside, high + beside
    columns = {name: whole["data"][name] for name in ("score", "group", "model", "cluster", "pair")}
    held: Json = {"columns": columns, **score_part(whole, float(low), float(high))}
    return held, comparison_quantities(held, "score")


def _says(held: Json) -> list[str]:
    lines = []
    for one in held["comparisons"]:
        value = one["difference"]["value"]
        if value is None:
            continue
        of, evidence = found_text(one, held["alpha"])
        lines.append(
            f"{of}{shown(held['columns']['score'])} of {shown(one['group'])} less that of {shown(one['other'])} is "
            f"{value:+.4g} on average{evidence}."
        )
    return lines


def _blocks(held: Json) -> Sequence[Block]:
    columns = ("group", "answers", "without score", "mean", "interval", "median", "deviation")
    score = shown(held["columns"]["score"], 60)
    return [
        Table(
            "Scores of groups",
            columns,
            tuple(map(group_cells, held["groups"])),
            f"Scores are in the column {score}.",
            short=True,
        ),
        histograms(held, f"Scores by group, {score}", score),
        comparison_table(held, "Scores of groups beside each other"),
        score_details(held, "Every answer's score", "Scores of answers"),
        Details("How these are computed", tuple(formulas_of(MEASURES))),
    ]


SECTION = Section(
    name="scores",
    title="Scores of answers",
    about="Is a number that every answer has, such as its toxicity or a salary, the same for all groups?",
    measures=MEASURES,
    settings=("cluster", "alpha", "paired"),
    roles=("score",),
    lacks=_lacks,
    compute=_compute,
    says=_says,
    blocks=_blocks,
)
