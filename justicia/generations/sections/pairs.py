"""Paired prompts: two prompts that differ in the group alone, and whether the answer changes with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from justicia.generations.requiring import Measured, Quantity
from justicia.generations.sections import Json, Lack, Material, Section, formulas_of
from justicia.generations.sections.answer_parts import p_text
from justicia.generations.sections.criteria import language_report, pair_columns
from justicia.report.document import Cell, Details, Formula, Table
from justicia.report.figures import Figure, Key, Row, circle, share_ticks, whisker
from justicia.words import counted, listed, shown

if TYPE_CHECKING:
    from justicia.generations.pairing import PairDifference
    from justicia.report.document import Block

__all__ = ["SECTION"]

_KEYS = ("model", "group", "other")

MEASURES = (
    Measured(
        "flip_rate",
        "share of pairs whose answer changes when the group alone does",
        "pairs with two different responses ÷ complete pairs",
        _KEYS,
    ),
    Measured(
        "paired_difference",
        "how much more often one group's prompt of a pair has a response than the other's, the response that differs "
        "most",
        "|pairs in which only the first has it − pairs in which only the other has it| ÷ complete pairs",
        _KEYS,
    ),
)


def _lacks(material: Material) -> Lack | None:
    lacking = [role for role in ("group", "response") if role not in material.roles]
    lacking += [] if pair_columns(material) else ["pair"]
    if not lacking:
        return None
    words = {"pair": "pair (what two prompts share)", "group": "group", "response": "response"}
    return Lack(
        "prompts that differ in the group alone are compared",
        f"{'columns' if lacking[1:] else 'a column'} {', '.join(words[role] for role in lacking)}",
    )


def _compute(material: Material) -> tuple[Json, list[Quantity]]:
    from justicia.report.language_json import criteria_to_dict

    report = language_report(material)
    held = [dict(one) for one in criteria_to_dict(report)["pairs"]]
    for one in held:
        del one["verdict"], one["reason"]
    quantities = []
    for pair in report.pairs:
        where = {"group": pair.group, "other": pair.other} | ({} if pair.model is None else {"model": pair.model})
        rate, largest = pair.flip_rate, pair.largest
        if rate is None or largest is None:
            quantities += [Quantity(one.name, where, undefined="there is no complete pair") for one in MEASURES]
            continue
        quantities.append(Quantity("flip_rate", where, pair.changed_lo, pair.changed_hi, (rate, rate)))
        quantities.append(Quantity("paired_difference", where, *_size(pair.differences), (abs(largest.value),) * 2))
    return {"pairs": held, "columns": list(pair_columns(material)), "alpha": report.settings.alpha}, quantities


def _size(differences: Sequence[PairDifference]) -> tuple[float, float]:
    """Bounds of the largest difference, either way: none is smaller than the largest lower end."""
    lows, highs = [], []
    for one in differences:
        lo, hi = (one.value if end is None else end for end in (one.lo, one.hi))
        lows.append(max(0.0, lo, -hi))
        highs.append(max(abs(lo), abs(hi), abs(one.value)))
    return max(lows), max(highs)


def _name(one: Json) -> str:
    of = "" if one["model"] is None else f"{shown(one['model'])}: "
    return f"{of}{shown(one['group'])} and {shown(one['other'])}"


def _ends(one: Json) -> str:
    return "–" if one["lo"] is None or one["hi"] is None else f"{one['lo']:.3f} to {one['hi']:.3f}"


def _says(held: Json) -> list[str]:
    lines = []
    for one in held["pairs"]:
        if not one["pairs"]:
            lines.append(f"{_name(one)}: there is no complete pair.")
            continue
        lines.append(
            f"{_name(one)}: in {one['changed']:,} of {counted(one['pairs'], 'pair')} ({one['flip_rate']:.3f}) the "
            "answer changes with the group."
        )
    return lines


def _blocks(held: Json) -> Sequence[Block]:
    rows = []
    for one in held["pairs"]:
        largest = max(one["differences"], key=lambda each: abs(each["value"]), default=None)
        rows.append(
            (
                _name(one),
                f"{one['pairs']:,}",
                f"{one['incomplete']:,}",
                f"{one['changed']:,}",
                "–" if one["flip_rate"] is None else f"{one['flip_rate']:.4f}",
                _ends(one),
                Cell(
                    "–"
                    if largest is None
                    else f"{shown(largest['response'])} {largest['value']:+.4f} ({_ends(largest)})"
                ),
                *p_text(one["test"]),
            )
        )
    columns = (
        *("groups", "pairs", "without a partner", "changed", "flip rate", "interval"),
        *("largest difference", "p", "p, corrected"),
    )
    blocks: list[Block] = [
        Table(
            "Pairs and flips",
            columns,
            tuple(rows),
            f"Pairs by the columns {listed(held['columns'])}.",
            short=True,
            brief=(0, 1, 3, 4, 5, 6, 8),
        ),
        _figure(held),
    ]
    tables = []
    for one in held["pairs"]:
        most = max([1, *(count for row in one["counts"] for count in row)])
        cells: list[tuple[str | Cell, ...]] = [
            (shown(name), *(Cell(f"{count:,}", shade=count / most) for count in row))
            for name, row in zip(one["responses"], one["counts"], strict=True)
        ]
        label = f"Answers in pairs of {_name(one)}"
        heads = (f"{shown(one['group'])} \\ {shown(one['other'])}", *map(shown, one["responses"]))
        tables.append(Table(label, heads, tuple(cells), f"{label}. {one['test']['method']}."))
    blocks.append(Details("Answers of both prompts, from which all of this is computed", tuple(tables)))
    formulas = formulas_of(MEASURES)
    formulas.append(
        Formula(
            "test",
            "McNemar's for two responses, Bowker's for more: whether changes go one way more often than the other. A "
            "high flip rate whose changes go either way equally often is noise of the answers, not a bias",
        )
    )
    return [*blocks, Details("How these are computed", tuple(formulas))]


def _figure(held: Json) -> Figure:
    rows = []
    for one in held["pairs"]:
        if one["flip_rate"] is None:
            continue
        shapes = [circle("dot", 100 * one["flip_rate"], 12, 5)]
        if one["lo"] is not None and one["hi"] is not None:
            shapes = [*whisker(100 * one["lo"], 100 * one["hi"]), *shapes]
        rows.append(Row(_name(one), f"flip rate {one['flip_rate']:.4f}, interval {_ends(one)}", tuple(shapes)))
    keys = (
        Key((*whisker(2, 32, 8), circle("dot", 17, 8, 5)), "share of pairs whose answer changes, with its interval"),
    )
    title = "Flip rates of paired prompts"
    return Figure(title, f"{title}.", tuple(rows), share_ticks(), "", keys)


SECTION = Section(
    name="pairs",
    title="Paired prompts",
    about="Nothing but the group changes in the prompt: does the answer?",
    measures=MEASURES,
    settings=("by",),
    roles=("pair",),
    lacks=_lacks,
    compute=_compute,
    says=_says,
    blocks=_blocks,
)
