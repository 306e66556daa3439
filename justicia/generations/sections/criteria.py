"""Answers: whether what a language model says depends on the group that it was asked about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from justicia.generations.requiring import Measured, Quantity
from justicia.generations.sections import Json, Lack, Material, Section, plain_part
from justicia.report.document import Cell, Details, Formula, Heading, Paragraph, Table
from justicia.report.figures import Figure, Key, Row, Shape, circle, line, scale, share_ticks, whisker
from justicia.words import listed, shown

if TYPE_CHECKING:
    from justicia.generations.language_results import LanguageReport
    from justicia.report.document import Block

__all__ = ["SECTION", "language_report", "p_text", "pair_columns"]

_SETTINGS = ("strata", "cluster", "refusals", "unknown", "answered", "alpha")
_MOST_ROWS = 60

_OF = {
    "independence": ("Pr(R = r | A = a), over all responses r and pairs of groups a", "independence"),
    "separation": ("Pr(R = r | Y = y, A = a), over all truths y as well", "separation"),
    "sufficiency": ("Pr(Y = y | R = r, A = a), over all responses r as well", "sufficiency"),
    "accuracy": ("Pr(R = Y | A = a)", "accuracy"),
    "refusals": ("Pr(R is a refusal | A = a)", "refusal"),
}

MEASURES = (
    *(
        Measured(
            f"{word}_difference",
            f"largest difference between two groups' rates of one outcome, for {name}",
            f"largest rate − smallest, of {formula}",
            ("model", "*"),
        )
        for name, (formula, word) in _OF.items()
    ),
    *(
        Measured(
            f"{word}_ratio",
            f"smallest ratio of two groups' rates of one outcome, for {name}",
            f"smallest rate ÷ largest, of {formula}",
            ("model", "*"),
        )
        for name, (formula, word) in _OF.items()
    ),
    Measured("refusal_rate", "share of a group's answers that are refusals", "refusals ÷ answers", ("model", "group")),
)


def _lacks(material: Material) -> Lack | None:
    needs = []
    if "group" not in material.roles:
        needs.append("group (who the question was about)")
    if "response" not in material.roles:
        needs.append("response (the answer's label)")
    return (
        Lack("answers are compared by group", f"{'columns' if needs[1:] else 'a column'} {' and '.join(needs)}")
        if needs
        else None
    )


def language_report(material: Material) -> LanguageReport:
    """Criteria and paired prompts in one, so that tests are corrected together; made once an audit."""
    if "language" not in material.shared:
        from justicia.generations.language import criteria

        roles = material.roles
        settings = dict(material.spec.settings.get("criteria", {}))
        if "alpha" in settings:
            settings["alpha"] = _number(settings["alpha"], "alpha")
        if "answered" in settings:
            settings["answered"] = str(settings["answered"]).lower() in ("true", "yes", "1")
        material.shared["language"] = criteria(
            material.generations.source.frame,
            roles["group"],
            roles["response"],
            roles.get("truth"),
            model=roles.get("model", "none"),
            pair=pair_columns(material),
            where=material.spec.where or None,
            confidence=material.options.confidence,
            seed=material.options.seed,
            **settings,
        )
    report: LanguageReport = material.shared["language"]
    return report


def pair_columns(material: Material) -> tuple[str, ...]:
    """Columns that two prompts of a pair share; of samples, that of one belongs to that of the other."""
    said = material.spec.settings.get("pairs", {}).get("by")
    if said is not None:
        return (str(said),) if isinstance(said, (str, int)) else tuple(str(one) for one in said)
    if "pair" not in material.roles:
        return ()
    sample = ("sample",) if "sample" in material.generations.source.columns else ()
    return (material.roles["pair"], *sample)


def _number(value: Any, what: str) -> float:
    from justicia.generations.estimates import check_number

    return check_number(value, f"settings: criteria: {what}", 0, 1)


def _compute(material: Material) -> tuple[Json, list[Quantity]]:
    from justicia.report.language_json import criteria_to_dict

    report = language_report(material)
    held = criteria_to_dict(report)
    columns = {name: held["data"][name] for name in ("group", "response", "truth", "model", "cluster", "strata")}
    labels = {name: held["data"][name] for name in ("groups", "responses", "unknown", "answered")}
    content = {
        "columns": columns,
        **labels,
        "rows_used": held["data"]["rows_used"],
        "alpha": held["alpha"],
        **{name: plain_part(held)[name] for name in ("criteria", "refusals", "models")},
        "refusal_words": held["data"]["refusals"],
        "lacks": [],
    }
    for one in content["criteria"]:
        del one["verdict"], one["reason"]
    if report.settings.truth is None:
        content["lacks"] = [
            {
                "what": "separation, sufficiency and accuracy",
                "reason": "the right answers are not known",
                "remedy": "a column truth",
            }
        ]
    return content, list(_quantities(report))


def _quantities(report: LanguageReport) -> Iterator[Quantity]:
    for one in report.criteria:
        word = _OF[one.name][1]
        for stratum in one.strata:
            where = {**({} if one.model is None else {"model": one.model}), **stratum.where}
            effect, ratio = stratum.difference, stratum.ratio
            if effect is None:
                why = stratum.undefined or "fewer than two groups have rows"
                yield Quantity(f"{word}_difference", where, undefined=why)
            else:
                lo, hi = stratum.largest or (effect.lo, effect.hi)
                ends = [effect.value if end is None else max(0.0, end) for end in (lo, hi)]
                yield Quantity(
                    f"{word}_difference", where, min(*ends, effect.value), max(*ends, effect.value),
                    (effect.value, effect.value),
                )  # fmt: skip
            if ratio is None:
                why = "no two groups have a rate above 0 to divide by" if effect else "fewer than two groups have rows"
                yield Quantity(f"{word}_ratio", where, undefined=why)
            else:
                ends = [ratio.value if end is None else min(1.0, end) for end in (ratio.lo, ratio.hi)]
                yield Quantity(
                    f"{word}_ratio", where, min(*ends, ratio.value), max(*ends, ratio.value), (ratio.value, ratio.value)
                )
    for held in report.refusals:
        for place, group in enumerate(held.groups):
            where = {**({} if held.model is None else {"model": held.model}), "group": group}
            rate, lo, hi = held.rates[place], held.lo[place], held.hi[place]
            if rate is None:
                yield Quantity("refusal_rate", where, undefined="no question was about this group")
            else:
                yield Quantity("refusal_rate", where, lo, hi, (rate, rate))


def p_text(test: Json) -> tuple[str, str]:
    """A test's p-value, and the same corrected over all tests of the audit."""
    if test["p"] is None:
        return "–", "–"
    return _small(test["p"]), "–" if test["adjusted"] is None else _small(test["adjusted"])


def _small(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"


def _ends(one: Json) -> str:
    return "–" if one["lo"] is None or one["hi"] is None else f"{one['lo']:.3f} to {one['hi']:.3f}"


def _of(model: str | None) -> str:
    return "" if model is None else f"{shown(model)}: "


def _stratum(held: Json) -> str:
    return ", ".join(f"{shown(name)}={shown(value)}" for name, value in held["where"].items()) or "all answers"


def _worst(one: Json) -> Json | None:
    held = [stratum for stratum in one["strata"] if stratum["difference"] is not None]
    return max(held, key=lambda stratum: stratum["difference"]["value"], default=None)


def _says(held: Json) -> list[str]:
    lines, quiet = [], []
    for one in held["criteria"]:
        worst = _worst(one)
        if worst is None:
            quiet.append(f"{_of(one['model'])}{one['criterion']}")
            continue
        effect = worst["difference"]
        where = "" if not worst["where"] else f" with {_stratum(worst)}"
        found = any(
            stratum["test"]["adjusted"] is not None and stratum["test"]["adjusted"] <= held["alpha"]
            for stratum in one["strata"]
        )
        if not found and one["criterion"] != "independence":
            quiet.append(f"{_of(one['model'])}{one['criterion']}")
            continue
        evidence = f"a test finds a dependence at {held['alpha']:g}" if found else "no test finds a dependence"
        lines.append(
            f"{_of(one['model'])}{one['criterion']}: rates differ by {effect['value']:.3f} at most ({_ends(effect)}), "
            f"of {shown(effect['outcome'])} for {shown(effect['group'])} against {shown(effect['other'])}{where}; "
            f"{evidence}."
        )
    if quiet:
        lines.append(f"No test finds a dependence in {listed(quiet, 20)}.")
    return lines


def _blocks(held: Json) -> Sequence[Block]:
    columns = held["columns"]
    named = f"the group is in {shown(columns['group'])}, the response in {shown(columns['response'])}"
    named += "" if columns["truth"] is None else f", the truth in {shown(columns['truth'])}"
    left = " Refusals and unknown answers are left out of the criteria." if held["answered"] else ""
    intro = f"Of the columns, {named}. Responses: {listed(map(shown, held['responses']), 20)}.{left}"
    blocks: list[Block] = [Paragraph(intro, soft=True), _criteria_table(held)]
    forest = _forest(held)
    if forest is not None:
        blocks.append(forest)
    for one in held["criteria"]:
        if one["criterion"] == "independence":
            of = "" if one["model"] is None else f" of {shown(one['model'])}"
            blocks += [Heading(f"Rates by group{of}"), *(_rates(stratum, of) for stratum in one["strata"][:6])]
    blocks.append(_refusal_table(held))
    if held["models"]:
        blocks.append(_model_table(held))
    tables = [table for one in held["criteria"] for table in _counts(one)]
    blocks.append(Details("Counts, from which all of this is computed", tuple(tables)))
    formulas = [
        Formula(one.name.replace("_", " "), one.says, one.formula) for one in MEASURES if one.name.endswith("nce")
    ]
    formulas += [
        Formula("intervals", "of a rate Wilson's, of a difference Newcombe's, for all pairs and outcomes together"),
        Formula("p, corrected", "by Holm's method over all tests of answers and of paired prompts"),
    ]
    blocks.append(Details("How these are computed", tuple(formulas)))
    return blocks


def _criteria_table(held: Json) -> Table:
    several = held["columns"]["model"] is not None
    rows = []
    for one in held["criteria"]:
        for stratum in one["strata"]:
            effect, ratio = stratum["difference"], stratum["ratio"]
            who = "–"
            if effect is not None:
                who = f"{shown(effect['outcome'])}: {shown(effect['group'])} over {shown(effect['other'])}"
            row = (
                one["criterion"],
                _stratum(stratum),
                Cell(who),
                f"{stratum['n']:,}",
                "–" if effect is None else f"{effect['value']:.4f}",
                "–" if effect is None else _ends(effect),
                "–" if ratio is None else f"{ratio['value']:.3f}",
                "–" if stratum["cramers_v"] is None else f"{stratum['cramers_v']:.3f}",
                *p_text(stratum["test"]),
            )
            rows.append((row[0], shown(one["model"]), *row[1:]) if several else row)
        if one["pooled"] is not None:
            odds = one["pooled"]["odds_ratio"]
            text = "" if odds is None else f"odds ratio {odds:.3f} ({_ends(one['pooled'])})"
            row = (one["criterion"], "all pooled", Cell(text), *["–"] * 5, *p_text(one["pooled"]["test"]))
            rows.append((row[0], shown(one["model"]), *row[1:]) if several else row)
    heads = ("among", "largest difference of", "answers", "difference", "interval", "ratio", "V", "p", "p, corrected")
    columns = ("criterion", "model", *heads) if several else ("criterion", *heads)
    brief = (0, 1, 2, 3, 5, 6, 10) if several else (0, 1, 2, 4, 5, 9)
    return Table(
        "Criteria, stratum by stratum", columns, tuple(rows), left=3 if several else 2, short=True, brief=brief
    )


def _forest(held: Json) -> Figure | None:
    """The largest difference of every stratum with its interval."""
    drawn = [
        (one, stratum, stratum["difference"])
        for one in held["criteria"]
        for stratum in one["strata"]
        if stratum["difference"] is not None
    ]
    if not drawn:
        return None
    left_out = max(0, len(drawn) - _MOST_ROWS)
    drawn = sorted(drawn, key=lambda one: -one[2]["value"])[:_MOST_ROWS] if left_out else drawn
    ends = [
        abs(end) for _, _, effect in drawn for end in (effect["lo"], effect["hi"], effect["value"]) if end is not None
    ]
    step, top = scale(min(1.0, max(ends)))
    low = min([effect["lo"] for _, _, effect in drawn if effect["lo"] is not None] + [0.0])
    below = 0 if low >= 0 else min(top, step * -(low // step))
    width = top + below

    def place(value: float) -> float:
        return 100 * (min(max(value, -below), top) + below) / width

    rows = []
    for one, stratum, effect in drawn:
        shapes: list[Shape] = [line("middle", place(0), place(0), 0, 24)]
        if effect["lo"] is not None and effect["hi"] is not None:
            shapes += whisker(place(effect["lo"]), place(effect["hi"]))
        shapes.append(circle("dot", place(effect["value"]), 12, 5))
        adjusted = stratum["test"]["adjusted"]
        found = adjusted is not None and adjusted <= held["alpha"]
        name = f"{_of(one['model'])}{one['criterion']}" + ("" if not stratum["where"] else f", {_stratum(stratum)}")
        says = f"{shown(effect['outcome'])}, {shown(effect['group'])} over {shown(effect['other'])}: "
        says += f"{effect['value']:.4f}, interval {_ends(effect)}"
        rows.append(Row(name, says, tuple(shapes), mark="dependent" if found else ""))
    count = round(width / step)
    ticks = tuple((100 * each / count, f"{100 * (each * step - below):g}") for each in range(count + 1))
    keys = (
        Key(
            (*whisker(2, 32, 8), circle("dot", 17, 8, 5)), "largest difference of two groups' rates, with its interval"
        ),
        Key((line("middle", 17, 17, 0, 16),), "no difference"),
    )
    rest = f"{left_out:,} smaller differences are in the table." if left_out else ""
    caption = f"How far groups are apart; “dependent” where a test finds so at {held['alpha']:g}, corrected."
    return Figure("Differences between groups", caption, tuple(rows), ticks, "percentage points", keys, rest)


def _rates(stratum: Json, of: str) -> Figure:
    rows = []
    for outcome in stratum["outcomes"]:
        for rate in stratum["rates"]:
            if rate["outcome"] != outcome or rate["rate"] is None:
                continue
            shapes = [*whisker(100 * rate["lo"], 100 * rate["hi"]), circle("dot", 100 * rate["rate"], 12, 5)]
            says = f"{rate['k']:,} of {rate['n']:,}, {rate['rate']:.4f}, interval {_ends(rate)}"
            rows.append(Row(f"{shown(outcome, 40)}: {shown(rate['group'], 40)}", says, tuple(shapes)))
    left_out = max(0, len(rows) - _MOST_ROWS)
    where = "" if not stratum["where"] else f", {_stratum(stratum)}"
    title = f"Rates of responses{of}{where}"
    rest = f"{left_out:,} more are in the counts." if left_out else ""
    keys = (Key((*whisker(2, 32, 8), circle("dot", 17, 8, 5)), "share of the group's answers, with its interval"),)
    return Figure(title, f"{title}, group by group.", tuple(rows[:_MOST_ROWS]), share_ticks(), "", keys, rest)


def _refusal_table(held: Json) -> Table:
    several = held["columns"]["model"] is not None
    rows = []
    for model in held["refusals"]:
        for one in model["groups"]:
            row = (
                shown(one["group"]),
                f"{one['n']:,}",
                f"{one['refused']:,}",
                "–" if one["rate"] is None else f"{one['rate']:.4f}",
                _ends(one),
                f"{one['unknown']:,}",
            )
            rows.append((row[0], shown(model["model"]), *row[1:]) if several else row)
    heads = ("answers", "refusals", "rate", "interval", "unknown")
    columns = ("group", "model", *heads) if several else ("group", *heads)
    caption = f"Refusals: {listed(map(shown, held['refusal_words']))}; unknown: {shown(held['unknown'])} and blanks."
    return Table("Refusals and unknown answers", columns, tuple(rows), caption, left=2 if several else 1, short=True)


def _model_table(held: Json) -> Table:
    rows = []
    for one in held["models"]:
        who = f"{shown(one['outcome'])}: {shown(one['group'])} over {shown(one['other_group'])}"
        cells = (f"{one['gap']:+.4f}", f"{one['other_gap']:+.4f}", f"{one['value']:+.4f}", _ends(one))
        rows.append((f"{shown(one['model'])} and {shown(one['other'])}", Cell(who), *cells))
    columns = ("models", "where they differ most", "gap of the first", "of the other", "difference", "interval")
    return Table("Models beside each other", columns, tuple(rows), "A gap is one group's rate minus another's.")


def _counts(one: Json) -> list[Table]:
    tables = []
    for stratum in one["strata"]:
        rows = []
        for group, counts in zip(stratum["groups"], stratum["counts"], strict=True):
            n = sum(counts)
            cells: list[str | Cell] = [
                Cell(f"{k:,} ({k / n:.3f})" if n else "0", shade=k / n if n else 0.0) for k in counts
            ]
            rows.append((shown(group), f"{n:,}", *cells))
        of = f"{_of(one['model'])}{one['criterion']}, {_stratum(stratum)}"
        columns = ("group", "answers", *map(shown, stratum["outcomes"]))
        test = stratum["test"]
        said = test["method"] if test["p"] is not None else f"no test: {test['undefined']}"
        if test["statistic"] is not None:
            said += f", statistic {test['statistic']:.4f}" + ("" if test["df"] is None else f", df {test['df']}")
        if stratum["largest"] is not None:
            largest = f"{stratum['largest']['lo']:.4f} to {stratum['largest']['hi']:.4f}"
            said += f". The largest difference with confidence over all strata together: {largest}"
        notes = "".join(f" {note[0].upper()}{note[1:]}." for note in stratum["notes"])
        tables.append(Table(f"Counts of {of}", columns, tuple(rows), f"{of}. {said}.{notes}"))
    return tables


SECTION = Section(
    name="criteria",
    title="Answers",
    about="Does what the model says, or whether it refuses, depend on whom the question is about?",
    measures=MEASURES,
    settings=_SETTINGS,
    roles=("group", "response", "truth"),
    lacks=_lacks,
    compute=_compute,
    says=_says,
    blocks=_blocks,
)
