"""What the HTML report says of adverse impact, of people of unknown group, and in the layout of a law."""

from __future__ import annotations

from dataclasses import dataclass

from justicia.report.cells import NOTHING, Json, between, both_ends, enclosure, group_name, group_words, rate, text
from justicia.report.wording import method_words
from justicia.words import counted, shown

__all__ = ["TableView", "impact_of", "layout_of", "ranges_of"]


@dataclass(frozen=True)
class TableView:
    """A table with its heading.

    Attributes
    ----------
    title : str
    says : list of str
        Paragraphs above the table.
    columns : list of str
        Headings; the first is of the names of the rows.
    rows : list of list of str
    """

    title: str
    says: list[str]
    columns: list[str]
    rows: list[list[str]]


def impact_of(grouping: Json) -> TableView | None:
    """Every group of the rows against the one with the highest rate; None when tests were not asked for."""
    held = grouping.get("adverse_impact")
    if held is None or held["reference"] is None:
        return None
    rows = []
    first, left_out, last = both_ends(held["groups"])
    for group in (*first, *last):
        moved = group["one_person"] or {}
        changes = [words for key, words in _MOVED.items() if moved.get(key)]
        rows.append(
            [
                _name(group["group"]),
                rate(group["impact_ratio"]),
                _range(group["interval"]),
                group["four_fifths"] or "–",
                group["test"] or "–",
                _p(group["p"]),
                _p(group["p_holm"]),
                rate(group["odds_ratio"]),
                "–" if group["shortfall"] is None else f"{group['shortfall']:.1f}",
                "changes " + " and ".join(changes)
                if changes
                else "–"
                if group["one_person"] is None
                else "changes neither",
            ]
        )
    methods = dict.fromkeys(method_words((group["interval"] or {}).get("method") or "") for group in held["groups"])
    says = [
        f"Each group of the rows against the one with the highest selection rate, {group_words(held['reference'])}. "
        f"Interval of the ratio, one group at a time: {', '.join(filter(None, methods)) or 'none'}. p: "
        "two-sided, for equal selection rates; Holm: corrected for all groups that are compared. Shortfall: selections "
        "by which the group is short of the pooled rate of the two. One person: what moving one selection between the "
        "two groups changes.",
        f"The screen, {held['four_fifths_source']}.",
    ]
    columns = [", ".join(shown(name, 60) for name in grouping["sensitive"]), "impact ratio"]
    columns += [f"{100 * held['confidence']:.6g} % interval", "four fifths", "test", "p"]
    columns += ["p, Holm", "odds ratio", "shortfall", "one person"]
    return TableView("Adverse impact among the rows", says, columns, _with_gap(rows, left_out))


_MOVED = {"reverses_order": "the order", "changes_four_fifths": "the screen"}


def ranges_of(grouping: Json) -> TableView | None:
    """Ranges of the rows' rates over people of unknown group; None when they were not asked for."""
    held = grouping.get("missing_bounds")
    if held is None or not held["people"]:
        return None
    first, left_out, last = both_ends(held["groups"])
    rows = [[_name(one["group"]), _range(one["selection_rate"]), _range(one["ratio"])] for one in (*first, *last)]
    says = [
        f"The group of {counted(held['people'], 'person', 'people')} is not known, of whom {held['selected']:,} are "
        "selected. Over all groups that they may be in, the rates of the rows and their ratios to the highest rate lie "
        f"between these ends{'' if held['exact'] else ', some of them outer bounds'}.",
        f"Disparate impact {_range(held['disparate_impact'])}; statistical parity difference "
        f"{_range(held['statistical_parity_difference'])}.",
    ]
    columns = [", ".join(shown(name, 60) for name in grouping["sensitive"]), "selection rate", "ratio"]
    return TableView("People of unknown group", says, columns, _with_gap(rows, left_out))


def layout_of(held: Json) -> list[TableView]:
    """The tables of a layout that was asked for."""
    layout = held.get("layout")
    if layout is None:
        return []
    tables = []
    for table in layout["tables"]:
        scored = layout["median"] is not None
        says = [f"{table['people']:,} people, {table['unknown']:,} of unknown category. {shown(table['rule'], 200)}."]
        columns = ["category", "people", "above the median" if scored else "selected"]
        columns += ["scoring rate" if scored else "selection rate", "impact ratio", "left out"]
        first, left_out, last = both_ends(table["categories"])
        rows = [
            [
                _name(one["group"]),
                _count(one["n"]),
                _count(one["selected"]),
                rate(one["rate"]),
                rate(one["impact_ratio"]),
                shown(one["left_out"] or "", 200),
            ]
            for one in (*first, *last)
        ]
        tables.append(TableView(shown(table["title"], 100), says, columns, _with_gap(rows, left_out)))
    return tables


def _with_gap(rows: list[list[str]], left_out: int) -> list[list[str]]:
    """Both ends of a table with a word on what is between them."""
    half = len(rows) // 2
    return [*rows[:half], [between(left_out), *[""] * (len(rows[0]) - 1)], *rows[half:]] if left_out else rows


def _name(group: Json | None) -> str:
    return group_name(group, NOTHING)


def _count(value: float | None) -> str:
    return "–" if value is None else f"{value:,.10g}"


def _p(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}" if value >= 1e-4 else f"{value:.1e}"


def _range(held: Json | None) -> str:
    if enclosure(held) is not None and held is not None and (held["hi"] > 1 or "method" in held):
        return f"{held['lo']:.4f} to {held['hi']:.4f}"
    return text(held)
