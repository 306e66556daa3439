"""What sections about answers say of tests, intervals and strata, and the pictures of differences and rates."""

from __future__ import annotations

from justicia.generations.sections import Json
from justicia.report.figures import Figure, Key, Row, Shape, circle, line, scale, share_ticks, whisker
from justicia.words import shown

__all__ = ["ends_of", "forest", "of_model", "p_text", "rates_figure", "stratum_name"]

_MOST_ROWS = 60


def p_text(test: Json) -> tuple[str, str]:
    """A test's p-value, and the same corrected over all tests of the audit."""
    if test["p"] is None:
        return "–", "–"
    return _small(test["p"]), "–" if test["adjusted"] is None else _small(test["adjusted"])


def _small(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"


def ends_of(one: Json) -> str:
    """The ends of an interval."""
    return "–" if one["lo"] is None or one["hi"] is None else f"{one['lo']:.3f} to {one['hi']:.3f}"


def of_model(model: str | None) -> str:
    """A model's name before what is said of it."""
    return "" if model is None else f"{shown(model)}: "


def stratum_name(held: Json) -> str:
    """What the answers of a stratum share."""
    return ", ".join(f"{shown(name)}={shown(value)}" for name, value in held["where"].items()) or "all answers"


def forest(held: Json) -> Figure | None:
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
        name = f"{of_model(one['model'])}{one['criterion']}" + (
            "" if not stratum["where"] else f", {stratum_name(stratum)}"
        )
        says = f"{shown(effect['outcome'])}, {shown(effect['group'])} over {shown(effect['other'])}: "
        says += f"{effect['value']:.4f}, interval {ends_of(effect)}"
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


def rates_figure(stratum: Json, of: str) -> Figure:
    """How often each group has each response."""
    rows = []
    for outcome in stratum["outcomes"]:
        for rate in stratum["rates"]:
            if rate["outcome"] != outcome or rate["rate"] is None:
                continue
            shapes = [*whisker(100 * rate["lo"], 100 * rate["hi"]), circle("dot", 100 * rate["rate"], 12, 5)]
            says = f"{rate['k']:,} of {rate['n']:,}, {rate['rate']:.4f}, interval {ends_of(rate)}"
            rows.append(Row(f"{shown(outcome, 40)}: {shown(rate['group'], 40)}", says, tuple(shapes)))
    left_out = max(0, len(rows) - _MOST_ROWS)
    where = "" if not stratum["where"] else f", {stratum_name(stratum)}"
    title = f"Rates of responses{of}{where}"
    rest = f"{left_out:,} more are in the counts." if left_out else ""
    keys = (Key((*whisker(2, 32, 8), circle("dot", 17, 8, 5)), "share of the group's answers, with its interval"),)
    return Figure(title, f"{title}, group by group.", tuple(rows[:_MOST_ROWS]), share_ticks(), "", keys, rest)
