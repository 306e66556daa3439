"""Answers: whether what a language model says depends on the group that it was asked about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from justicia.generations.requiring import Measured, Quantity
from justicia.generations.sections import Json, Lack, Material, Section, formulas_of, is_yes, plain_part
from justicia.generations.sections.answer_parts import ends_of, forest, of_model, p_text, rates_figure, stratum_name
from justicia.report.document import Cell, Details, Formula, Heading, Paragraph, Table
from justicia.words import listed, shown

if TYPE_CHECKING:
    from justicia.generations.language_results import LanguageReport
    from justicia.report.document import Block

__all__ = ["SECTION", "language_report", "pair_columns"]

_SETTINGS = ("strata", "cluster", "refusals", "unknown", "answered", "alpha")

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
            settings["answered"] = is_yes(settings["answered"])
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


def _worst(one: Json) -> Json | None:
    held = [stratum for stratum in one["strata"] if stratum["difference"] is not None]
    return max(held, key=lambda stratum: stratum["difference"]["value"], default=None)


def _says(held: Json) -> list[str]:
    lines, quiet = [], []
    for one in held["criteria"]:
        worst = _worst(one)
        if worst is None:
            quiet.append(f"{of_model(one['model'])}{one['criterion']}")
            continue
        effect = worst["difference"]
        where = "" if not worst["where"] else f" with {stratum_name(worst)}"
        found = any(
            stratum["test"]["adjusted"] is not None and stratum["test"]["adjusted"] <= held["alpha"]
            for stratum in one["strata"]
        )
        if not found and one["criterion"] != "independence":
            quiet.append(f"{of_model(one['model'])}{one['criterion']}")
            continue
        evidence = f"a test finds a dependence at {held['alpha']:g}" if found else "no test finds a dependence"
        lines.append(
            f"{of_model(one['model'])}{one['criterion']}: rates differ by {effect['value']:.3f} at most "
            f"({ends_of(effect)}), of {shown(effect['outcome'])} for {shown(effect['group'])} against "
            f"{shown(effect['other'])}{where}; {evidence}."
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
    drawn = forest(held)
    if drawn is not None:
        blocks.append(drawn)
    for one in held["criteria"]:
        if one["criterion"] == "independence":
            of = "" if one["model"] is None else f" of {shown(one['model'])}"
            blocks += [Heading(f"Rates by group{of}"), *(rates_figure(stratum, of) for stratum in one["strata"][:6])]
    blocks.append(_refusal_table(held))
    if held["models"]:
        blocks.append(_model_table(held))
    tables = [table for one in held["criteria"] for table in _counts(one)]
    blocks.append(Details("Counts, from which all of this is computed", tuple(tables)))
    formulas = formulas_of(one for one in MEASURES if one.name.endswith("nce"))
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
                stratum_name(stratum),
                Cell(who),
                f"{stratum['n']:,}",
                "–" if effect is None else f"{effect['value']:.4f}",
                "–" if effect is None else ends_of(effect),
                "–" if ratio is None else f"{ratio['value']:.3f}",
                "–" if stratum["cramers_v"] is None else f"{stratum['cramers_v']:.3f}",
                *p_text(stratum["test"]),
            )
            rows.append((row[0], shown(one["model"]), *row[1:]) if several else row)
        if one["pooled"] is not None:
            odds = one["pooled"]["odds_ratio"]
            text = "" if odds is None else f"odds ratio {odds:.3f} ({ends_of(one['pooled'])})"
            row = (one["criterion"], "all pooled", Cell(text), *["–"] * 5, *p_text(one["pooled"]["test"]))
            rows.append((row[0], shown(one["model"]), *row[1:]) if several else row)
    heads = ("among", "largest difference of", "answers", "difference", "interval", "ratio", "V", "p", "p, corrected")
    columns = ("criterion", "model", *heads) if several else ("criterion", *heads)
    brief = (0, 1, 2, 3, 5, 6, 10) if several else (0, 1, 2, 4, 5, 9)
    return Table(
        "Criteria, stratum by stratum", columns, tuple(rows), left=3 if several else 2, short=True, brief=brief
    )


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
                ends_of(one),
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
        cells = (f"{one['gap']:+.4f}", f"{one['other_gap']:+.4f}", f"{one['value']:+.4f}", ends_of(one))
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
        of = f"{of_model(one['model'])}{one['criterion']}, {stratum_name(stratum)}"
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
