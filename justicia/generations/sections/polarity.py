"""Polarity: whether the words of texts lean towards a pole, such as she or he, more for one group than for another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from justicia.generations.requiring import Measured, Quantity
from justicia.generations.sections import Json, Lack, Material, Section, plain_part
from justicia.generations.sections.criteria import p_text, pair_columns
from justicia.report.document import Details, Formula, Paragraph, Table
from justicia.report.figures import Figure, Key, Row, Shape, circle, line, rect, whisker
from justicia.words import counted, shown

if TYPE_CHECKING:
    from justicia.report.document import Block

__all__ = ["SECTION"]

_SETTINGS = ("text", "vectors", "poles", "names", "name_column", "cluster", "stopwords", "alpha", "paired")
_KEYS = ("model", "group", "other")
_BINS = 24
_MOST_SCORES = 20_000

MEASURES = (
    Measured(
        "polarity_difference",
        "how far the mean scores of two groups' texts are apart, either way",
        "|mean score of one group − mean score of the other|",
        _KEYS,
    ),
    Measured(
        "polarity_d",
        "Cohen's d of two groups' scores, either way",
        "|difference of the means| ÷ pooled standard deviation",
        _KEYS,
    ),
)


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
    held |= {name: plain_part(whole)[name] for name in ("vectors", "poles", "half", "alpha", "groups", "comparisons")}
    held["scores_left_out"] = len(whole["scores"]) > _MOST_SCORES
    held["scores"] = [] if held["scores_left_out"] else whole["scores"]
    held["bins"] = _bins(whole["scores"])
    for one in held["comparisons"]:
        del one["verdict"], one["reason"]
    held["lacks"] = []
    if report.group is None:
        held["lacks"] = [
            {
                "what": "groups beside each other",
                "reason": "nothing says whom a text is about",
                "remedy": "a column group",
            }
        ]
    return held, _quantities(held)


def _quantities(held: Json) -> list[Quantity]:
    made = []
    for one in held["comparisons"]:
        where = {"group": one["group"], "other": one["other"]}
        where |= {} if one["model"] is None else {"model": one["model"]}
        for name, key in (("polarity_difference", "difference"), ("polarity_d", "d")):
            value = one[key]["value"]
            if value is None:
                why = one["test"]["undefined"] or "the scores of each group are all the same"
                made.append(Quantity(name, where, undefined=why))
                continue
            lo, hi = one[key]["lo"], one[key]["hi"]
            if lo is None or hi is None:
                made.append(Quantity(name, where, abs(value), abs(value), (abs(value), abs(value))))
                continue
            made.append(Quantity(name, where, max(0.0, lo, -hi), max(abs(lo), abs(hi)), (abs(value), abs(value))))
    return made


def _bins(scores: Sequence[Json]) -> Json:
    """Counts of scores in bins of one width, group by group; the bins are symmetric around 0."""
    known = [one["score"] for one in scores if one["score"] is not None]
    top = max((abs(score) for score in known), default=1.0) or 1.0
    counts: dict[tuple[str | None, str | None], list[int]] = {}
    for one in scores:
        held = counts.setdefault((one["model"], one["group"]), [0] * _BINS)
        if one["score"] is not None:
            held[min(_BINS - 1, math.floor((one["score"] + top) / (2 * top) * _BINS))] += 1
    groups = [{"model": model, "group": group, "counts": held} for (model, group), held in counts.items()]
    return {"from": -top, "to": top, "groups": groups}


def _name(one: Json) -> str:
    of = "" if one["model"] is None else f"{shown(one['model'])}: "
    return f"{of}{'all texts' if one['group'] is None else shown(one['group'])}"


def _poles(held: Json) -> tuple[str, str]:
    first, other = ("/".join(shown(word) for word in pole) for pole in held["poles"])
    return first, other


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.4f}"


def _ends(one: Json) -> str:
    return "–" if one["lo"] is None or one["hi"] is None else f"{one['lo']:+.3f} to {one['hi']:+.3f}"


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
            _name(one),
            f"{one['texts']:,}",
            f"{one['missing']:,}",
            _signed(one["mean"]),
            _ends(one),
            _signed(one["median"]),
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
        _histograms(held),
    ]
    if held["comparisons"]:
        compared = [
            (
                _name(one) + f" and {shown(one['other'])}",
                f"{one['n']:,} and {one['n_other']:,}",
                _signed(one["difference"]["value"]),
                _ends(one["difference"]),
                "–" if one["d"]["value"] is None else f"{one['d']['value']:+.3f}",
                _ends(one["d"]),
                "–" if one["larger"] is None else f"{one['larger']:.3f}",
                *p_text(one["test"]),
            )
            for one in held["comparisons"]
        ]
        heads = ("groups", "texts", "difference", "interval", "d", "interval of d", "above", "p", "p, corrected")
        caption = "Above: how often a text of the first scores above one of the other, ties half."
        notes = dict.fromkeys(note for one in held["comparisons"] for note in one["notes"])
        caption += "".join(f" {note[0].upper()}{note[1:]}." for note in notes)
        blocks.append(Table("Groups beside each other", heads, tuple(compared), caption, short=True))
    words = [
        (_name(one), toward, shown(each["word"]), f"{each['times']:,}", f"{each['score']:+.4f}")
        for one in held["groups"]
        for toward, drawn in ((first, one["first"]), (other, one["second"]))
        for each in drawn
    ]
    if words:
        table = Table(
            "Words that lean most", ("texts about", "towards", "word", "times", "score"), tuple(words), left=3
        )
        blocks.append(Details("Words that lean most", (table,)))
    blocks.append(_score_details(held))
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


def _score_details(held: Json) -> Block:
    summary = "Every text's score"
    if held["scores_left_out"]:
        return Details(summary, (Paragraph(f"More than {_MOST_SCORES:,} texts: the scores are left out here."),))
    rows = tuple(
        (f"{one['row']:,}", _name(one), "none" if one["score"] is None else f"{one['score']:+.6f}")
        for one in held["scores"]
    )
    return Details(summary, (Table("Scores of texts", ("row", "about", "score"), rows, left=2),))


def _histograms(held: Json) -> Figure:
    low, high = held["bins"]["from"], held["bins"]["to"]
    means = {(one["model"], one["group"]): one for one in held["groups"]}

    def place(value: float) -> float:
        return 100 * (min(max(value, low), high) - low) / (high - low)

    rows = []
    for one in held["bins"]["groups"]:
        counts, most = one["counts"], max([1, *one["counts"]])
        shapes: list[Shape] = [line("middle", 50, 50, 0, 64), line("zero", 0, 100, 50, 50)]
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
        says = f"{counted(sum(counts), 'score')}, mean {_signed(group['mean'])}, interval {_ends(group)}"
        rows.append(Row(_name(one), says, tuple(shapes), 66))
    first, other = _poles(held)
    ticks = tuple((25.0 * each, f"{low + each * (high - low) / 4:+.2f}") for each in range(5))
    keys = (
        Key((rect("bar", 2, 10, 8, 15), rect("bar", 12, 20, 2, 15), rect("bar", 22, 30, 6, 15)), "scores"),
        Key((*whisker(2, 32, 8), circle("dot", 17, 8, 4.5)), "mean with its interval"),
    )
    axis = f"towards “{other}” ← score → towards “{first}”"
    title = "Scores of texts by group"
    return Figure(title, f"{title}; each row to its own height.", tuple(rows), ticks, axis, keys)


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
