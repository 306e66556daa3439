"""What the HTML report says, taken from an audit's JSON alone: texts and positions, ready for the template."""

from __future__ import annotations

from dataclasses import dataclass

from justicia.enclosure import EXACT
from justicia.metrics import RATIOS, compared_kinds
from justicia.metrics.definitions import DEFINITIONS
from justicia.report.answers import favored, title_of_grouping
from justicia.report.beside import ReferenceView, StrataView, reference_of, strata_of
from justicia.report.cells import Json, between, both_ends, enclosure, group_name, group_words, sample, text
from justicia.report.groups import is_left_out
from justicia.report.impact_views import TableView, impact_of, ranges_of
from justicia.report.pictures import Chart, Charted, Graph, chart, graph
from justicia.report.routes import disagreement_lines, open_lines, route_lines
from justicia.report.wording import method_words
from justicia.words import counted, shown

__all__ = ["GroupRow", "GroupingView", "MeasureRow", "groupings_of", "title_of"]


@dataclass(frozen=True)
class GroupRow:
    """A group as a row of the table.

    Attributes
    ----------
    values : list of str
        One a sensitive column.
    cells : dict of str to str
        Text by column of the table.
    mark : str
        "largest", "smallest" or empty.
    off : bool
        Whether the verified rate lies outside the interval of the rows.
    note : str
    """

    values: list[str]
    cells: dict[str, str]
    mark: str
    off: bool
    note: str


@dataclass(frozen=True)
class MeasureRow:
    """A measure, with what it is made of."""

    name: str
    definition: str
    formula: str
    worked: str
    verified: str
    statistical: str
    bootstrap: str
    shifted: str
    remaining: str
    bounds: dict[str, str]
    rows: str
    interval: str
    method: str
    note: str


@dataclass(frozen=True)
class GroupingView:
    """Everything that is said about one grouping."""

    title: str
    anchor: str
    sensitive: list[str]
    summary: str
    has_verified: bool
    ranked_by: str
    any_off: bool
    methods: str
    favored: list[str]
    columns: list[tuple[str, str]]
    label_columns: list[tuple[str, str]]
    groups: list[GroupRow]
    left_out: str
    chart: Chart | None
    drawn_statistically: bool
    measures: list[MeasureRow]
    measure_columns: list[tuple[str, str]]
    population: Json
    graph: Graph | None
    parents: list[tuple[str, str]]
    fit: str
    held_out: str
    off: list[str]
    errors: list[tuple[str, list[str]]]
    bounds: list[tuple[str, str, list[str], str]]
    bootstrap: str
    shift: Json | None
    moves: list[tuple[str, list[tuple[str, str]]]]
    mediators: str
    reference: ReferenceView | None
    strata: StrataView | None
    tables: list[TableView]
    routes: list[str]
    disagreements: list[str]


def title_of(held: Json) -> str:
    """The title: what was audited, on what."""
    model = held.get("model") or {}
    name = model.get("source") or model.get("class") or "decisions"
    data = (held.get("data") or {}).get("source")
    return f"Audit of {shown(name, 80)}" + (f" on {shown(data, 80)}" if data else "")


def groupings_of(held: Json) -> list[GroupingView]:
    """One view a grouping."""
    confidence = held.get("confidence") or 0.95
    search = (held.get("solver") or {}).get("search") or "enumerate"
    return [_view(grouping, position, confidence, search) for position, grouping in enumerate(held["groupings"])]


def _view(grouping: Json, position: int, confidence: float, search: str) -> GroupingView:
    groups = sorted(grouping["groups"], key=lambda group: (-_middle(group), group_name(group["group"])))
    most, least = grouping.get("most_favored"), grouping.get("least_favored")
    marks = {}
    for held, mark in ((least, "smallest"), (most, "largest")):
        if held is not None:
            marks[group_name(held["group"])] = mark
    for key, mark in (("sample_least_favored", "smallest"), ("sample_most_favored", "largest")):
        if most is None and grouping.get(key) is not None:
            marks[group_name(grouping[key])] = mark
    parents = (grouping.get("population") or {}).get("parents") or {}
    first, left_out, last = both_ends(groups)
    rows = [_row(group, marks) for group in (*first, *last)]
    checked = grouping.get("cross_check")
    unconditional = [(name, held) for name, held in grouping["measures"].items() if not name.startswith("conditional_")]
    measures = [_measure(name, held, grouping) for name, held in unconditional if held is not None]
    return GroupingView(
        title=title_of_grouping(grouping),
        anchor=f"grouping-{position + 1}",
        sensitive=[shown(name, 60) for name in grouping["sensitive"]],
        has_verified=any(group.get("selection_rate") is not None for group in groups),
        ranked_by="rows" if most is None else "verified",
        any_off=any(row.off for row in rows),
        methods="; ".join(dict.fromkeys(method_words(row.method) for row in measures if row.method)),
        summary=_counted(grouping, search),
        favored=favored(grouping),
        columns=_columns(rows, confidence),
        label_columns=_label_columns(rows),
        groups=rows,
        left_out=between(left_out) if left_out else "",
        chart=chart([_bar(group, marks) for group in groups]),
        drawn_statistically=any(_drawn(group) is not None for group in groups),
        measures=measures,
        measure_columns=_measure_columns(grouping, measures, confidence),
        population=grouping.get("population") or {},
        graph=graph(parents),
        parents=[(shown(name, 80), ", ".join(shown(one, 80) for one in held)) for name, held in parents.items()],
        fit=_fit((grouping.get("population") or {}).get("fit")),
        held_out=_held_out(((grouping.get("population") or {}).get("fit") or {}).get("held_out")),
        off=_off((grouping.get("population") or {}).get("fit")),
        errors=[
            (kind, ["–" if size is None else _size(size) for size in sizes.values()])
            for kind, sizes in (grouping.get("errors") or {}).items()
        ],
        bounds=_bounds(grouping),
        bootstrap=_bootstrap(grouping.get("bootstrap")),
        shift=grouping.get("shift"),
        moves=_moves(grouping.get("shift")),
        mediators=_mediators(grouping.get("mediators")),
        reference=reference_of(grouping),
        strata=strata_of(grouping),
        tables=[table for table in (impact_of(grouping), ranges_of(grouping)) if table is not None],
        routes=[] if checked is None else [*route_lines(checked), *open_lines(checked)],
        disagreements=[] if checked is None else disagreement_lines(checked),
    )


def _counted(grouping: Json, search: str) -> str:
    held, evaluated = grouping["groups"], grouping.get("groups_evaluated")
    if search == "learn":
        says = f"{counted(len(held), 'group')} shown: the extremes, learned by evaluating {evaluated or 0:,}"
        return f"{says} of the groups"
    without = sum(group["n"] == 0 for group in held)
    says = counted(len(held) - without, "group")
    return f"{says} with people, {without:,} without" if without else says


def _certain(group: Json) -> Json | None:
    """Certain bounds of a group's selection rate under the population itself."""
    rate: Json | None = group.get("selection_rate")
    return None if rate is None else (rate.get("shift") or {}).get("unshifted") or rate


def _drawn(group: Json) -> Json | None:
    """Statistical bounds of the same, where they are narrower."""
    rate: Json | None = group.get("selection_rate")
    return None if rate is None else rate.get("statistical")


def _rate(group: Json) -> Json | None:
    """The narrowest that is known of a group's verified selection rate."""
    return _drawn(group) or _certain(group)


def _middle(group: Json) -> float:
    """For sorting: groups without a rate last."""
    found = enclosure(_rate(group))
    if found is not None:
        return found.middle
    sample = group.get("sample_rate")
    return -1.0 if sample is None else float(sample["value"])


def _row(group: Json, marks: dict[str, str]) -> GroupRow:
    rate, rows, name = group.get("selection_rate"), group.get("sample_rate"), group_name(group["group"])
    shift = None if rate is None else rate.get("shift")
    n, selected, weight = group.get("n"), group.get("selected"), group.get("weight")
    cells = {
        "people": "–" if n is None else f"{n:,}",
        "selected": "–" if selected is None else f"{selected:,}",
        "weight": "–" if weight is None else f"{weight['people']:,.6g}",
        "selected_weight": "–" if weight is None else f"{weight['selected']:,.6g}",
        "verified": text(rate if shift is None else shift.get("unshifted")),
        "statistical": text(None if rate is None else rate.get("statistical")),
        "bootstrap": text(_of_bootstrap(rate)),
        "shifted": text(rate if shift is not None else None),
        "remaining": text(_narrowest(rate)),
        "rows": sample(rows),
        "interval": _ends_of(rows),
        "positives": "–" if group.get("positives") is None else f"{group['positives']:,}",
        "negatives": "–" if group.get("negatives") is None else f"{group['negatives']:,}",
        "tpr": text(group.get("tpr")),
        "fpr": text(group.get("fpr")),
        "statistical_tpr": text((group.get("tpr") or {}).get("statistical")),
        "statistical_fpr": text((group.get("fpr") or {}).get("statistical")),
        "rows_tpr": sample(group.get("sample_tpr")),
        "rows_fpr": sample(group.get("sample_fpr")),
        "precision": text(group.get("precision")),
        "rows_precision": sample(group.get("sample_precision")),
    }
    found = enclosure(_rate(group))
    ends = enclosure(rows)
    off = found is not None and ends is not None and (found.hi < ends.lo or found.lo > ends.hi)
    values = [shown(value, 60) for value in group["group"].values()]
    return GroupRow(values, cells, marks.get(name, ""), off, group.get("note") or "")


def _ends_of(rows: Json | None) -> str:
    """The interval of a rate among the rows."""
    ends = enclosure(rows)
    return "–" if ends is None else f"{float(ends.lo):.4f} to {float(ends.hi):.4f}"


def _of_bootstrap(held: Json | None) -> Json | None:
    """The bootstrap interval of a rate or measure; statistical bounds of an engine stand in its place without one."""
    interval: Json | None = None if held is None else held.get("interval")
    return None if not interval or str(interval.get("method")).startswith("statistical") else interval


def _narrowest(held: Json | None) -> Json | None:
    """What remains of a rate or measure with the mediators of the most favored group."""
    remaining: Json | None = None if held is None else held.get("remaining")
    return None if remaining is None else remaining.get("statistical") or remaining


def _columns(rows: list[GroupRow], confidence: float) -> list[tuple[str, str]]:
    """Keys and headings of the columns that say something here."""
    headings = {
        "people": "people",
        "selected": "selected",
        "weight": "weight",
        "selected_weight": "weight, selected",
        "verified": "verified",
        "statistical": "statistical",
        "bootstrap": "bootstrap",
        "shifted": "shifted",
        "remaining": "remaining",
        "rows": "rows",
        "interval": f"{100 * confidence:.6g} % interval",
    }
    return _telling(headings, rows)


def _label_columns(rows: list[GroupRow]) -> list[tuple[str, str]]:
    """The columns of rates by true outcome; none when no rate is known."""
    headings = {
        "positives": "favorable",
        "tpr": "TPR",
        "statistical_tpr": "TPR, statistical",
        "rows_tpr": "TPR, rows",
        "negatives": "others",
        "fpr": "FPR",
        "statistical_fpr": "FPR, statistical",
        "rows_fpr": "FPR, rows",
        "precision": "precision",
        "rows_precision": "precision, rows",
    }
    held = _telling(headings, rows)
    return held if any(key not in ("positives", "negatives") for key, _ in held) else []


def _telling(headings: dict[str, str], rows: list[GroupRow]) -> list[tuple[str, str]]:
    return [(key, heading) for key, heading in headings.items() if any(row.cells[key] != "–" for row in rows)]


def _bar(group: Json, marks: dict[str, str]) -> Charted:
    name = group_name(group["group"])
    mark = marks.get(name, "") or ("left out" if is_left_out(group.get("note"), group["n"]) else "")
    return Charted(name, mark, enclosure(_certain(group)), enclosure(_drawn(group)), group.get("sample_rate"))


def _measure(name: str, held: Json, grouping: Json) -> MeasureRow:
    sample = held.get("sample") or {}
    moved = "unshifted" in held and held["unshifted"] is not None
    definition, formula = DEFINITIONS.get(name, (name.replace("_", " "), ""))
    lo, hi = sample.get("lo"), sample.get("hi")
    note = held.get("undefined") or ""
    of_rows = held.get("sample_undefined") or ""
    if grouping.get("population") is None:
        # There is no model, so nothing is verified, which the report says once.
        note = ""
    incomplete = note and enclosure(held) is not None
    value = "undefined" if enclosure(held) is None else text(held["unshifted"] if moved else held)
    return MeasureRow(
        name=name.replace("_", " "),
        definition=definition,
        formula=formula,
        worked=_worked(name, grouping),
        verified=value,
        statistical=text(held.get("statistical")),
        bootstrap=text(_of_bootstrap(held)),
        shifted=text(held) if moved else "–",
        remaining=text(_narrowest(held)),
        bounds={key: text(held.get(key)) for key in ("total_variation", "confidence_box", "given_structure")},
        rows="undefined" if sample.get("value") is None else f"{sample['value']:.4f}",
        interval="–" if lo is None or hi is None else f"{lo:.4f} to {hi:.4f}",
        method=sample.get("method") or "",
        note=_notes(f"incomplete: {note}" if incomplete else note, of_rows, sample.get("value") is not None),
    )


def _notes(verified: str, of_rows: str, known: bool) -> str:
    """What a measure leaves out, of the verified rates and of the rows', said once where both leave out the same."""
    if not of_rows or verified.removeprefix("incomplete: ") == of_rows:
        return verified
    held = f"rows {'incomplete' if known else 'undefined'}: {of_rows}"
    return f"{verified}; {held}" if verified else held


def _measure_columns(grouping: Json, rows: list[MeasureRow], confidence: float) -> list[tuple[str, str]]:
    columns = [("verified", "verified")] if any(enclosure(held) for held in grouping["measures"].values()) else []
    optional = (
        ("statistical", "statistical"),
        ("bootstrap", "bootstrap"),
        ("shifted", "shifted"),
        ("remaining", "remaining"),
    )
    columns += [(key, heading) for key, heading in optional if any(getattr(row, key) != "–" for row in rows)]
    return [*columns, ("rows", "rows"), ("interval", f"{100 * confidence:.6g} % interval")]


def _worked(name: str, grouping: Json) -> str:
    """The verified measure written out with the rates that it is made of; empty where they are bounds."""
    parts = []
    for kind in compared_kinds(name):
        compared = [group for group in grouping["groups"] if not is_left_out(group.get("note"), group["n"])]
        held = [(enclosure(group.get(kind)), group_words(group["group"])) for group in compared]
        rates = [(float(found.lo), who) for found, who in held if found is not None and found.exact]
        if len(rates) < 2 or len(rates) < sum(found is not None for found, _ in held):
            return ""
        (low, lowest), (high, highest) = min(rates), max(rates)
        if name in RATIOS:
            parts.append(f"{low:.6f} ({lowest}) ÷ {high:.6f} ({highest})" + ("" if high else ": undefined"))
        else:
            parts.append(f"{high:.6f} ({highest}) − {low:.6f} ({lowest})")
    return "; ".join(parts)


def _fit(fit: Json | None) -> str:
    if not fit or fit.get("max_abs_error") is None:
        return ""
    return (
        f"Verified rates differ from those of the rows by {fit['max_abs_error']:.4f} at most and "
        f"{fit['mean_abs_error']:.4f} on average over the groups."
    )


def _held_out(fit: Json | None) -> str:
    if not fit:
        return ""
    return (
        f"From the rates of rows held out of the population ({fit['folds']} folds) they differ by "
        f"{fit['max_abs_error']:.4f} at most and {fit['mean_abs_error']:.4f} on average."
    )


def _off(fit: Json | None) -> list[str]:
    return [group_words(group["group"]) for group in (fit or {}).get("groups", ()) if group.get("off")]


def _size(size: float) -> str:
    return "0" if size <= EXACT else f"{size:.4f}" if size >= 1e-4 else f"{size:.0e}"


def _bounds(grouping: Json) -> list[tuple[str, str, list[str], str]]:
    """Bounds by the rows: name, claim, values for the most and least favored group and the disparate impact, reason."""
    held = grouping.get("bounds")
    if not held or held.get("confidence") is None:
        return []
    by_name = {group_name(group["group"]): group for group in grouping["groups"]}
    found = []
    for name in ("total_variation", "confidence_box", "given_structure"):
        cells = []
        for end in ("most_favored", "least_favored"):
            group = by_name.get(group_name((grouping.get(end) or {}).get("group")))
            cells.append(text(((group or {}).get("selection_rate") or {}).get(name)))
        cells.append(text((grouping["measures"].get("disparate_impact") or {}).get(name)))
        claim = held[name]["claim"] or ""
        reason = (held[name].get("reason") or {}).get("selection_rate") or ""
        found.append((name.replace("_", " "), claim, cells, reason))
    return found


def _bootstrap(held: Json | None) -> str:
    if not held:
        return ""
    line = f"{held['reached']:,} of {held['replicates']:,} replicates drawn from the population and fitted again"
    return f"{line}; {held['stopped']}" if held.get("stopped") else line


def _mediators(held: Json | None) -> str:
    """How the mediators are drawn; empty without any."""
    if held is None:
        return ""
    names = [
        f"{shown(name, 60)} (given {', '.join(shown(one, 60) for one in held['parents'][name])})"
        if name in held["parents"]
        else shown(name, 60)
        for name in held["names"]
    ]
    groups = " or ".join(group_words(group) for group in held["drawn_as_in"])
    return f"{', '.join(names)}, drawn as in {groups}" + ("" if held["certain"] else ", which may not be the one")


def _moves(shift: Json | None) -> list[tuple[str, list[tuple[str, str]]]]:
    """What the worst populations move, with the effect of each part."""
    names = {"rows": "the rows", "weights": "shares of the rows and of each class"}
    found = []
    for key, title in (
        ("most_favored_raised_by", "The most favored group's rate is raised most by"),
        ("least_favored_lowered_by", "The least favored group's rate is lowered most by"),
    ):
        changes = (shift or {}).get(key)
        if changes:
            found.append(
                (
                    title,
                    [
                        (shown(one["feature"] or names.get(one["part"], one["part"]), 80), f"{one['change']:+.4f}")
                        for one in changes
                    ],
                )
            )
    return found
