"""What sections about scores share: their part of the JSON, comparisons of groups, histograms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from justicia.generations.estimates import check_number
from justicia.generations.requiring import Measured, Quantity
from justicia.generations.sections import Json, Material, is_yes
from justicia.generations.sections.answer_parts import p_text
from justicia.generations.sections.criteria import pair_columns
from justicia.report.document import Details, Paragraph, Table
from justicia.report.figures import Figure, Key, Row, Shape, circle, line, rect, whisker
from justicia.words import counted, shown

if TYPE_CHECKING:
    from justicia.report.document import Block

__all__ = [
    "comparison_measures",
    "comparison_quantities",
    "comparison_table",
    "ends_text",
    "found_text",
    "group_cells",
    "histograms",
    "name_of",
    "score_details",
    "score_part",
    "score_settings",
    "signed",
]

_BINS = 24
_MOST_SCORES = 20_000


def score_settings(material: Material, section: str) -> Json:
    """What the spec sets, as keywords: `pair` where it says `paired`, `alpha` as a number."""
    settings = dict(material.settings)
    paired = is_yes(settings.pop("paired", ""))
    if "alpha" in settings:
        settings["alpha"] = check_number(settings["alpha"], f"settings: {section}: alpha", 0, 1)
    return settings | {"pair": pair_columns(material) if paired else ()}


def group_cells(one: Json, everyone: str = "everyone") -> tuple[str, ...]:
    """A group's name, how many answers it has and how many without a score, mean, interval, median, deviation."""
    return (
        name_of(one, everyone),
        f"{one['texts']:,}",
        f"{one['missing']:,}",
        signed(one["mean"]),
        ends_text(one),
        signed(one["median"]),
        "–" if one["deviation"] is None else f"{one['deviation']:.4f}",
    )


def found_text(one: Json, alpha: float) -> tuple[str, str]:
    """Of which model a comparison is, before a sentence about it; and Cohen's d and what the test finds, after it."""
    adjusted = one["test"]["adjusted"]
    found = adjusted is not None and adjusted <= alpha
    of = "" if one["model"] is None else f"{shown(one['model'])}: "
    d = "" if one["d"]["value"] is None else f", d {one['d']['value']:+.2f}"
    return of, f"{d}; a test finds it at {alpha:g}" if found else f"{d}; no test finds a difference"


def comparison_measures(word: str, what: str) -> tuple[Measured, Measured]:
    """What requirements may limit: how far means are apart, and the same in standard deviations."""
    keys = ("model", "group", "other")
    return (
        Measured(
            f"{word}_difference",
            f"how far the means of two groups' {what} are apart, either way",
            "|mean of one group − mean of the other|",
            keys,
        ),
        Measured(
            f"{word}_d",
            f"Cohen's d of two groups' {what}, either way",
            "|difference of the means| ÷ pooled standard deviation",
            keys,
        ),
    )


def score_part(whole: Json, low: float, high: float) -> Json:
    """Groups, comparisons and scores of a report, with counts in bins from `low` to `high`."""
    left_out = len(whole["scores"]) > _MOST_SCORES
    comparisons = [
        {name: said for name, said in one.items() if name not in ("verdict", "reason")} for one in whole["comparisons"]
    ]
    return {
        "alpha": whole["alpha"],
        "groups": whole["groups"],
        "comparisons": comparisons,
        "scores": [] if left_out else whole["scores"],
        "scores_left_out": left_out,
        "bins": _bins(whole["scores"], low, high),
    }


def _bins(scores: Sequence[Json], low: float, high: float) -> Json:
    """Counts of scores in bins of one width, group by group."""
    counts: dict[tuple[str | None, str | None], list[int]] = {}
    for one in scores:
        held = counts.setdefault((one["model"], one["group"]), [0] * _BINS)
        if one["score"] is not None:
            held[min(_BINS - 1, math.floor((one["score"] - low) / (high - low) * _BINS))] += 1
    groups = [{"model": model, "group": group, "counts": held} for (model, group), held in counts.items()]
    return {"from": low, "to": high, "groups": groups}


def comparison_quantities(held: Json, word: str) -> list[Quantity]:
    """Values of `comparison_measures`."""
    made = []
    for one in held["comparisons"]:
        where = {"group": one["group"], "other": one["other"]}
        where |= {} if one["model"] is None else {"model": one["model"]}
        for name, key in ((f"{word}_difference", "difference"), (f"{word}_d", "d")):
            value, lo, hi = one[key]["value"], one[key]["lo"], one[key]["hi"]
            if value is None:
                why = one["test"]["undefined"] or "the scores of each group are all the same"
                made.append(Quantity(name, where, undefined=why))
                continue
            lo, hi = (value, value) if lo is None or hi is None else (lo, hi)
            made.append(Quantity(name, where, max(0.0, lo, -hi), max(abs(lo), abs(hi)), (abs(value), abs(value))))
    return made


def name_of(one: Json, everyone: str = "everyone") -> str:
    """A group, with its model."""
    of = "" if one["model"] is None else f"{shown(one['model'])}: "
    return f"{of}{everyone if one['group'] is None else shown(one['group'])}"


def signed(value: float | None) -> str:
    """A number with its sign."""
    return "–" if value is None else f"{value:+.4f}"


def ends_text(one: Json) -> str:
    """The ends of an interval."""
    return "–" if one["lo"] is None or one["hi"] is None else f"{one['lo']:+.3f} to {one['hi']:+.3f}"


def comparison_table(held: Json, label: str) -> Table:
    """Every two groups."""
    rows = [
        (
            f"{name_of(one)} and {shown(one['other'])}",
            f"{one['n']:,} and {one['n_other']:,}",
            signed(one["difference"]["value"]),
            ends_text(one["difference"]),
            "–" if one["d"]["value"] is None else f"{one['d']['value']:+.3f}",
            ends_text(one["d"]),
            "–" if one["larger"] is None else f"{one['larger']:.3f}",
            *p_text(one["test"]),
        )
        for one in held["comparisons"]
    ]
    heads = ("groups", "scores", "difference", "interval", "d", "interval of d", "above", "p", "p, corrected")
    caption = "Above: how often a score of the first is above one of the other, ties half."
    notes = dict.fromkeys(note for one in held["comparisons"] for note in one["notes"])
    caption += "".join(f" {note[0].upper()}{note[1:]}." for note in notes)
    return Table(label, heads, tuple(rows), caption, short=True)


def score_details(held: Json, summary: str, label: str) -> Block:
    """Every score."""
    if held["scores_left_out"]:
        return Details(summary, (Paragraph(f"More than {_MOST_SCORES:,} rows: the scores are left out here."),))
    rows = tuple(
        (f"{one['row']:,}", name_of(one), "none" if one["score"] is None else f"{one['score']:+.6g}")
        for one in held["scores"]
    )
    return Details(summary, (Table(label, ("row", "about", "score"), rows, left=2),))


def histograms(held: Json, title: str, axis: str, middle: float | None = None) -> Figure:
    """A row a group: how often scores are where, and their mean with its interval."""
    low, high = held["bins"]["from"], held["bins"]["to"]
    means = {(one["model"], one["group"]): one for one in held["groups"]}

    def place(value: float) -> float:
        return 100 * (min(max(value, low), high) - low) / (high - low)

    rows = []
    order = list(means)
    for one in sorted(held["bins"]["groups"], key=lambda one: order.index((one["model"], one["group"]))):
        counts, most = one["counts"], max([1, *one["counts"]])
        shapes: list[Shape] = [line("zero", 0, 100, 50, 50)]
        if middle is not None:
            shapes.append(line("middle", place(middle), place(middle), 0, 64))
        width = 100 / len(counts)
        shapes += [
            rect("bar", width * (bin_ + 0.06), width * (bin_ + 0.94), round(50 - 46 * count / most, 2), 50)
            for bin_, count in enumerate(counts)
            if count
        ]
        group = means[one["model"], one["group"]]
        if group["mean"] is not None:
            if group["lo"] is not None and group["hi"] is not None:
                shapes += whisker(place(group["lo"]), place(group["hi"]), 58, 4)
            shapes.append(circle("dot", place(group["mean"]), 58, 4.5))
        says = f"{counted(sum(counts), 'score')}, mean {signed(group['mean'])}, interval {ends_text(group)}"
        rows.append(Row(name_of(one), says, tuple(shapes), 66))
    ticks = tuple((25.0 * each, f"{low + each * (high - low) / 4:.4g}") for each in range(5))
    keys = (
        Key((rect("bar", 2, 10, 8, 15), rect("bar", 12, 20, 2, 15), rect("bar", 22, 30, 6, 15)), "scores"),
        Key((*whisker(2, 32, 8), circle("dot", 17, 8, 4.5)), "mean with its interval"),
    )
    return Figure(title, f"{title}; each row to its own height.", tuple(rows), ticks, axis, keys)
