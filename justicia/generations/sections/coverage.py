"""Coverage: which combinations of values of several attributes have occurred, and how fast they came."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import SpecError
from justicia.generations.covering import cover_runs
from justicia.generations.labels import product
from justicia.generations.requiring import Measured, Quantity
from justicia.generations.sections import Json, Lack, Material, Section, formulas_of
from justicia.generations.spec import whole_number
from justicia.report.document import Cell, Details, Table
from justicia.report.figures import Curve, Plane, scale
from justicia.report.generations_json import coverage_result
from justicia.words import counted, shown

if TYPE_CHECKING:
    from justicia.report.document import Block

__all__ = ["SECTION"]

_MOST_RUNS = 500
_MOST_CURVES = 8
_MOST_MISSING = 200
_MOST_CELLS = 2500

MEASURES = (
    Measured(
        "coverage",
        "share of the value combinations of t attributes that have occurred",
        "combinations that occur ÷ Σ over sets of t attributes of the product of their numbers of values",
        ("run",),
    ),
)


def _lacks(material: Material) -> Lack | None:
    if len(material.generations.labels) >= 2:
        return None
    return Lack(
        "combinations need two attributes", "columns of labels for two attributes or more, declared in the spec"
    )


def _compute(material: Material) -> tuple[Json, list[Quantity]]:
    generations, settings = material.generations, material.settings
    names = list(generations.labels)
    t = whole_number(settings.get("t", 2), "settings: coverage: t")
    if t > len(names):
        raise SpecError(f"settings: coverage: t is {t}, and {counted(len(names), 'attribute')} are declared")
    suggestions = whole_number(settings.get("suggest", 3), "settings: coverage: suggest", 0)
    results = cover_runs(generations, names, t, Fraction(0), suggestions)
    quantities = []
    for one in results:
        lo, hi = (Fraction(count, one.total) for count in one.covered)
        quantities.append(Quantity("coverage", {} if one.run is None else {"run": one.run}, lo, hi))
    kept = sorted(range(len(results)), key=lambda place: results[place].covered)[:_MOST_RUNS]
    runs = []
    for place in sorted(kept):
        said = coverage_result(results[place])
        # What is asked for is a requirement of the audit here.
        del said["verdict"], said["reason"]
        runs.append({**said, "missing": said["missing"][:_MOST_MISSING], "missing_count": len(said["missing"])})
    held = {
        "attributes": names,
        "sizes": {name: len(labels.values) for name, labels in generations.labels.items()},
        "t": t,
        "runs": runs,
        "runs_left_out": len(results) - len(kept),
        "pairs": _pairs(material) if t == 2 else [],
    }
    return held, quantities


def _pairs(material: Material) -> list[Json]:
    """How many generations show each pair of values, all runs together."""
    held = material.generations.labels
    found = []
    for one, other in combinations(held, 2):
        size = len(held[one].values) * len(held[other].values)
        if size > _MOST_CELLS:
            continue
        labels = product([held[one], held[other]])
        kinds = np.bincount(labels.codes, minlength=len(labels.shows))
        counts = (labels.shows * kinds[:, None]).sum(axis=0)
        shape = (len(held[one].values), len(held[other].values))
        found.append(
            {
                "attributes": [one, other],
                "values": [list(held[one].values), list(held[other].values)],
                "counts": counts.reshape(shape).tolist(),
                "unknown": int(labels.unknown().sum()),
            }
        )
    return found


def _says(held: Json) -> list[str]:
    shares = [(one["coverage"]["lo"], one) for one in held["runs"]]
    if not shares:
        return []
    what = {1: "values", 2: "pairs of values"}.get(held["t"], f"combinations of {held['t']} values")
    least, most = min(shares, key=lambda one: one[0]), max(shares, key=lambda one: one[0])
    total = least[1]["total"]
    if least[0] == most[0]:
        where = "" if len(shares) == 1 else f" in each of {counted(len(shares), 'run')}"
        return [f"{_covered(least[1])} of {total} {what} occur{where}."]
    return [
        f"Of {total} {what}, {_covered(least[1])} occur in run {shown(least[1]['run'])}, the fewest, and "
        f"{_covered(most[1])} in run {shown(most[1]['run'])}, the most."
    ]


def _covered(one: Json) -> str:
    lo, hi = one["covered"]["lo"], one["covered"]["hi"]
    return f"{lo:,}" if lo == hi else f"{lo:,} to {hi:,}"


def _run(name: str | None) -> str:
    return "the table" if name is None else shown(name)


def _blocks(held: Json) -> Sequence[Block]:
    sizes = " × ".join(f"{shown(name)} ({size})" for name, size in held["sizes"].items())
    total = held["runs"][0]["total"] if held["runs"] else 0
    sets = f"Sets of {held['t']} out of {sizes}: {total:,} combinations in all."
    rest = held["runs_left_out"]
    rows = []
    for one in held["runs"]:
        lo, hi = one["coverage"]["lo"], one["coverage"]["hi"]
        share = f"{lo:.3f}" if lo == hi else f"{lo:.3f} to {hi:.3f}"
        last = f"{one['curve'][-1][0]:,}" if one["curve"] else "–"
        rows.append(
            (_run(one["run"]), f"{one['n']:,}", f"{one['unknown']:,}", _covered(one), f"{one['total']:,}", share, last)
        )
    caption = sets + (f" {counted(rest, 'other run')} of no smaller coverage left out." if rest else "")
    blocks: list[Block] = [
        Table(
            "Coverage of every run",
            ("run", "generations", "unknown", "occur", "of", "coverage", "last new at"),
            tuple(rows),
            caption,
            short=True,
        )
    ]
    plane = _plane(held)
    if plane is not None:
        blocks.append(plane)
        points = [
            (_run(one["run"]), ", ".join(f"{place:,}: {count:,}" for place, count in one["curve"]))
            for one in held["runs"][:_MOST_CURVES]
        ]
        blocks.append(
            Details(
                "The curves as numbers",
                (Table("Curves of coverage", ("run", "generation: combinations by then"), tuple(points), left=2),),
            )
        )
    asked = [
        (
            _run(one["run"]),
            ", ".join(f"{shown(name)}={shown(value)}" for name, value in each["values"].items()),
            str(each["new"]),
        )
        for one in held["runs"]
        for each in one["suggestions"]
    ]
    if asked:
        table = Table(
            "What to ask for next",
            ("run", "a generation that shows", "new combinations"),
            tuple(asked),
            "Each has as many combinations that have not occurred as one generation can.",
            left=2,
        )
        blocks.append(Details("What to ask for next", (table,)))
    missing = [
        (_run(one["run"]), _combination(each))
        for one in held["runs"]
        if one["missing_count"]
        for each in one["missing"]
    ]
    if missing:
        cut = any(one["missing_count"] > len(one["missing"]) for one in held["runs"])
        says = f"The first {_MOST_MISSING} of each run." if cut else ""
        label = "Combinations that never occurred"
        blocks.append(Details(label, (Table(label, ("run", "combination"), tuple(missing), says, left=2),)))
    if held["pairs"]:
        heat = [_heat(pair) for pair in held["pairs"]]
        blocks.append(Details("How often each pair occurs, all runs together", tuple(heat)))
    blocks.append(
        Details(
            "How these are computed",
            tuple(formulas_of(MEASURES)),
        )
    )
    return blocks


def _combination(values: dict[str, Any]) -> str:
    return ", ".join(f"{shown(name)}={shown(value)}" for name, value in values.items())


def _heat(pair: Json) -> Block:
    one, other = (shown(name) for name in pair["attributes"])
    most = max(1, *(count for row in pair["counts"] for count in row))
    rows: list[tuple[str | Cell, ...]] = [
        (shown(value), *(Cell(f"{count:,}", shade=count / most) for count in counts))
        for value, counts in zip(pair["values"][0], pair["counts"], strict=True)
    ]
    unknown = f" {counted(pair['unknown'], 'generation')} with an unknown label." if pair["unknown"] else ""
    columns = (f"{one} \\ {other}", *(shown(value) for value in pair["values"][1]))
    return Table(f"{one} and {other}", columns, tuple(rows), f"{one} and {other}: generations.{unknown}")


def _plane(held: Json) -> Plane | None:
    runs = [one for one in held["runs"] if one["curve"]]
    if not runs:
        return None
    drawn = runs[:_MOST_CURVES]
    step, top = scale(max(one["n"] for one in drawn))
    highest = max(one["coverage"]["lo"] for one in drawn)
    rise, peak = scale(highest)
    curves = []
    for place, one in enumerate(drawn):
        points: list[tuple[float, float]] = [(0.0, 0.0)]
        for position, count in one["curve"]:
            points += [(position, points[-1][1]), (position, count / one["total"])]
        points.append((one["n"], points[-1][1]))
        stretched = tuple((100 * x / top, 100 * y / peak) for x, y in points)
        says = f"{one['covered']['lo']:,} of {one['total']:,} after {counted(one['n'], 'generation')}"
        curves.append(Curve(_run(one["run"]), says, f"hue{place + 1}", stretched))
    rest = len(runs) - len(drawn)
    left = f" {counted(rest, 'run')} more in the table." if rest else ""
    return Plane(
        "Coverage by generation",
        f"Share of the combinations that have occurred by then: a line a run.{left}",
        tuple(curves),
        tuple((100 * one * step / top, f"{one * step:g}") for one in range(round(top / step) + 1)),
        tuple((100 * one * rise / peak, f"{100 * one * rise:g} %") for one in range(round(peak / rise) + 1)),
        "generations",
        "combinations that occurred",
    )


SECTION = Section(
    name="coverage",
    title="Coverage",
    about="Which combinations of values were never generated?",
    measures=MEASURES,
    settings=("t", "suggest"),
    roles=(),
    lacks=_lacks,
    compute=_compute,
    says=_says,
    blocks=_blocks,
)
