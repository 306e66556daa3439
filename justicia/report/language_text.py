"""Reports about answers of language models as tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from justicia.generations.language_results import LanguageReport
from justicia.generations.polarity_results import PolarityReport
from justicia.report.generations_text import _table, _verdict, printed, render_facts
from justicia.words import counted, listed, shown

if TYPE_CHECKING:
    from rich.console import RenderableType

    from justicia.generations.contingency import Test
    from justicia.generations.language_results import Criterion, ModelContrast, Refusals
    from justicia.generations.pairing import PairedResult
    from justicia.generations.polarity_results import PolarityComparison, ScoreReport
    from justicia.generations.strata import Stratum

__all__ = ["language_to_text", "render_language"]

_MOST_ROWS = 40


def language_to_text(report: LanguageReport | ScoreReport, width: int = 120) -> str:
    """A report as plain text."""
    return printed(render_language(report), width)


def render_language(report: LanguageReport | ScoreReport, *, every: bool = False) -> RenderableType:
    """A report as something that a rich console prints; of many strata, those with the smallest p unless `every`."""
    return _criteria(report, every) if isinstance(report, LanguageReport) else _scores(report)


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "<.0001" if value < 0.0001 else f"{value:.4f}"


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _interval(lo: float | None, hi: float | None, digits: int = 3) -> str:
    return "-" if lo is None or hi is None else f"{lo:.{digits}f} to {hi:.{digits}f}"


def _method(test: Test) -> str:
    return test.undefined or test.method


def _criteria(report: LanguageReport, every: bool) -> RenderableType:
    asked = report.settings
    used = counted(report.rows_used, "answer") + (f" of {report.rows:,}" if report.rows_used < report.rows else "")
    facts = [
        ("table", f"{shown(report.source or 'in memory', 200)}, {used}"),
        (shown(asked.group), f"groups: {listed(report.groups, 20)}"),
        (shown(asked.response), f"responses: {listed(report.responses, 20)}"),
    ]
    if report.models != (None,):
        facts.append((shown(asked.model or "model"), f"models: {listed(report.models, 20)}"))
    if asked.where:
        said = ", ".join(f"{shown(name)}={'|'.join(map(shown, held))}" for name, held in asked.where.items())
        facts.append(("where", said))
    facts.append(("asked", asked.requirement))
    parts: list[RenderableType] = [Text("Answers of a language model by justicia", style="bold"), render_facts(facts)]
    for one in report.criteria:
        parts += [Text(""), _title(one), *_strata(one, every)]
    parts += _refusals(report.refusals, asked.refusals)
    if report.pairs:
        parts += _pairs(report.pairs)
    if report.contrasts:
        parts += _contrasts(report.contrasts)
    parts += [Text(""), Text.assemble("all together: ", _verdict(report.verdict))]
    return Group(*parts)


def _title(one: Criterion) -> Text:
    model = "" if one.model is None else f"{shown(one.model)}: "
    return Text.assemble((f"{model}{one.name}", "bold"), f": {one.means}: ", _verdict(one.verdict), f" ({one.reason})")


def _strata(one: Criterion, every: bool) -> list[RenderableType]:
    table = _table(
        "stratum", "n", "largest difference", "", "interval", "ratio", "V", "p", "Holm", "test",
        right=("n", "", "ratio", "V", "p", "Holm"),
    )  # fmt: skip
    held = list(one.strata)
    if len(held) > _MOST_ROWS and not every:
        held = sorted(held, key=lambda stratum: 2.0 if stratum.test.p is None else stratum.test.p)[:_MOST_ROWS]
    for stratum in held:
        table.add_row(*_row(stratum))
    parts: list[RenderableType] = []
    if one.pooled is not None:
        test = one.pooled.test
        odds = "" if one.pooled.odds_ratio is None else f"odds ratio {one.pooled.odds_ratio:.3f}"
        ends = "" if one.pooled.lo is None else _interval(one.pooled.lo, one.pooled.hi)
        table.add_row("pooled", "", odds, "", ends, "", "", _p(test.p), _p(test.adjusted), Text(_method(test)))
    parts.append(Padding(table, (0, 0, 0, 2)))
    rest = len(one.strata) - len(held)
    if rest:
        parts.append(Text(f"  and {counted(rest, 'other stratum', 'other strata')} with larger p", style="dim"))
    notes: dict[str, list[str]] = {}
    for stratum in held:
        for note in stratum.notes:
            notes.setdefault(note, []).append(stratum.name)
    if one.pooled is not None and one.pooled.note:
        notes.setdefault(one.pooled.note, []).append("pooled")
    lines = [f"  {listed(names, 3)}: {shown(note, 300)}" for note, names in notes.items()]
    parts += [Text(line, style="dim") for line in lines[:8]]
    if len(lines) > 8:
        parts.append(Text(f"  and {counted(len(lines) - 8, 'other note')}", style="dim"))
    return parts


def _row(stratum: Stratum) -> tuple[str | Text, ...]:
    effect, test = stratum.difference, stratum.test
    said = (
        "-" if effect is None else f"{shown(effect.outcome, 24)}: {shown(effect.group, 20)} - {shown(effect.other, 20)}"
    )
    return (
        Text(shown(stratum.name, 60)),
        f"{stratum.n:,}",
        Text(said),
        "-" if effect is None else _number(effect.value),
        "-" if effect is None else _interval(effect.lo, effect.hi),
        _number(None if stratum.ratio is None else stratum.ratio.value),
        _number(stratum.cramers_v),
        _p(test.p),
        _p(test.adjusted),
        Text(_method(test)),
    )


def _refusals(refusals: tuple[Refusals, ...], words: tuple[str, ...]) -> list[RenderableType]:
    if not any(sum(one.refused) + sum(one.unknown) for one in refusals):
        return [Text(""), Text(f"no refusal ({listed(words)}) and no unknown response", style="dim")]
    table = _table("model", "group", "n", "refused", "share", "interval", "unknown", right=("n", "refused", "unknown"))
    for one in refusals:
        for group, n, refused, unknown, rate, lo, hi in zip(
            one.groups, one.n, one.refused, one.unknown, one.rates, one.lo, one.hi, strict=True
        ):
            model = "-" if one.model is None else shown(one.model)
            table.add_row(
                Text(model),
                Text(shown(group)),
                f"{n:,}",
                f"{refused:,}",
                _number(rate),
                _interval(lo, hi),
                f"{unknown:,}",
            )
    return [Text(""), Text("left unanswered", style="bold"), Padding(table, (0, 0, 0, 2))]


def _pairs(pairs: tuple[PairedResult, ...]) -> list[RenderableType]:
    table = _table(
        "model", "groups", "pairs", "change", "share", "largest difference", "", "interval", "p", "Holm", "verdict",
        "test",
        right=("pairs", "change", "share", "", "p", "Holm"),
    )  # fmt: skip
    for one in pairs:
        largest = one.largest
        table.add_row(
            Text("-" if one.model is None else shown(one.model)),
            Text(f"{shown(one.group, 20)} - {shown(one.other, 20)}"),
            f"{one.pairs:,}",
            f"{one.changed:,}",
            _number(one.flip_rate),
            Text("-" if largest is None else shown(largest.response, 24)),
            "-" if largest is None else _number(largest.value),
            "-" if largest is None else _interval(largest.lo, largest.hi),
            _p(one.test.p),
            _p(one.test.adjusted),
            _verdict(one.verdict),
            Text(_method(one.test)),
        )
    title = Text.assemble(("pairs", "bold"), ": whether the response changes when the group cue alone does")
    return [Text(""), title, Padding(table, (0, 0, 0, 2))]


def _contrasts(contrasts: tuple[ModelContrast, ...]) -> list[RenderableType]:
    table = _table("models", "outcome", "gap", "other's", "apart", "interval", "", right=("gap", "other's", "apart"))
    for one in contrasts:
        differs = {True: "differ", False: "may be equal", None: "-"}[one.differs]
        table.add_row(
            Text(f"{shown(one.model, 24)} - {shown(one.other, 24)}"),
            Text(f"{shown(one.outcome, 20)}: {shown(one.group, 16)} - {shown(one.other_group, 16)}"),
            _number(one.gap),
            _number(one.other_gap),
            _number(one.value),
            _interval(one.lo, one.hi),
            differs,
        )
    title = Text.assemble(("models beside each other", "bold"), ": where their differences between groups differ most")
    return [Text(""), title, Padding(table, (0, 0, 0, 2))]


def _scores(report: ScoreReport) -> RenderableType:
    scale = report if isinstance(report, PolarityReport) else None
    noun = "text" if scale is not None else "score"
    facts = [("table", f"{shown(report.source or 'in memory', 200)}, {counted(len(report.rows), noun)}")]
    drawing: list[str] = []
    if scale is not None:
        first, second = ("|".join(pole) for pole in scale.poles)
        facts.append(("vectors", f"{shown(scale.vectors, 100)}, {scale.dimensions} dimensions"))
        facts.append(("poles", f"{shown(first)} {scale.half:+.5f}, {shown(second)} {-scale.half:+.5f}"))
        drawing = [f"towards {shown(first, 16)}", f"towards {shown(second, 16)}"]
    if report.group is not None:
        facts.append(("asked", report.requirement))
    title = "Scores of answers by justicia" if scale is None else "Polarity of texts by justicia"
    parts: list[RenderableType] = [Text(title, style="bold"), render_facts(facts), Text("")]
    right = ("n", "missing", "mean", "median")
    table = _table("model", "group", "n", "missing", "mean", "interval", "median", *drawing, right=right)
    for one in report.groups:
        drawn = [", ".join(shown(word, 20) for word, _, _ in held[:3]) or "-" for held in (one.first, one.second)]
        table.add_row(
            Text("-" if one.model is None else shown(one.model)),
            Text("all" if one.group is None else shown(one.group)),
            f"{one.texts:,}",
            f"{one.missing:,}",
            "-" if one.mean is None else f"{one.mean:+.5g}",
            "-" if one.lo is None or one.hi is None else f"{one.lo:+.4g} to {one.hi:+.4g}",
            "-" if one.median is None else f"{one.median:+.5g}",
            *(Text(words) for words in drawn[: len(drawing)]),
        )
    parts.append(Padding(table, (0, 0, 0, 2)))
    if report.group is None:
        return Group(*parts)
    parts += [Text(""), _compared(report.comparisons)]
    notes = dict.fromkeys(note for one in report.comparisons for note in one.notes)
    parts += [Text(f"  {shown(note, 300)}", style="dim") for note in notes]
    parts += [Text(""), Text.assemble("all together: ", _verdict(report.verdict))]
    return Group(*parts)


def _compared(comparisons: tuple[PolarityComparison, ...]) -> RenderableType:
    table = _table(
        "model", "groups", "n", "difference", "Cohen's d", "interval", "larger", "p", "Holm", "verdict", "test",
        right=("n", "difference", "Cohen's d", "larger", "p", "Holm"),
    )  # fmt: skip
    for one in comparisons:
        table.add_row(
            Text("-" if one.model is None else shown(one.model)),
            Text(f"{shown(one.group, 20)} - {shown(one.other, 20)}"),
            f"{one.n:,}, {one.n_other:,}",
            "-" if one.difference is None else f"{one.difference:+.4g}",
            _number(one.d),
            _interval(one.d_lo, one.d_hi),
            _number(one.larger),
            _p(one.test.p),
            _p(one.test.adjusted),
            _verdict(one.verdict),
            Text(_method(one.test)),
        )
    return Padding(table, (0, 0, 0, 2))
