"""What becomes of measures, and of the time that they take, as sensitive columns are taken together.

A tree and a logistic regression, trained on Adult, are audited for ever more compound groups, from 2 to 10,000 that
have rows: verified under the default population and under independent features, and by the rows.

    python -m experiments.compound_groups --out experiments/results
"""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import justicia
from experiments.running import Reporter, Rows, command, cpu_seconds, new_figure, read_rows, save_figure, table
from justicia import datasets, models

__all__ = ["GROUPINGS", "MODELS", "MOST", "NAME", "TITLE", "grouping_name", "run", "section", "trained"]

NAME = "compound_groups"
TITLE = "From 2 to 10,000 compound groups"
CAPTION = "Disparate impact and seconds of the processor against the number of groups"

KEY = ["model", "grouping", "population", "seed"]
COLUMNS = [
    *KEY, "groups", "smallest", "disparate_impact_lo", "disparate_impact_hi", "parity_difference_lo",
    "parity_difference_hi", "rows_disparate_impact", "engine", "seconds",
]  # fmt: skip

HALVES, QUARTERS = {"age": [40]}, {"age": [29, 39, 49]}

_COLUMNS = ("race", "sex", "age", "education", "occupation", "marital-status", "workclass")
GROUPINGS: list[tuple[tuple[str, ...], dict[str, list[int]]]] = [
    (("sex",), {}),
    (("race",), {}),
    (("race", "sex"), {}),
    (("race", "sex", "age"), HALVES),
    (("race", "sex", "age"), QUARTERS),
    (("race", "sex", "education"), {}),
    *((_COLUMNS[:n], QUARTERS) for n in range(4, 8)),
    ((*_COLUMNS, "relationship"), QUARTERS),
]
"""Sensitive columns taken together, and edges of the numeric one."""

MODELS = ("tree", "logistic")
MOST = {"tree": len(GROUPINGS), "logistic": 5}
"""How many of the groupings each model is asked about: a logistic regression takes seconds a hundred groups."""
POPULATIONS = ("auto", "independent")

PAPER = {5: 0.934, 10: 0.581, 20: 0.440, 40: 0.276}
"""Disparate impact of a decision tree on Adult by number of compound groups (Ghosh, Basu and Meel 2021)."""


def trained(model: str, seed: int = 0) -> tuple[Any, Any]:
    """A model of Adult and its table."""
    frame, description = datasets.load("adult")
    held = models.train(model, frame, description.features, frame[description.label], random_state=seed)
    return held, frame


def grouping_name(columns: tuple[str, ...], bins: dict[str, list[int]]) -> str:
    """A grouping in words."""
    return " x ".join(f"{column} in {len(bins[column]) + 1}" if column in bins else column for column in columns)


def run(out: Path, *, quick: bool, progress: Reporter, seed: int = 0) -> None:
    """Compute the rows that are not there yet, and draw the figure."""
    rows = Rows(out / f"{NAME}.csv", COLUMNS, KEY)
    asked = [
        {"model": model, "grouping": at, "population": population, "seed": seed}
        for at in range(4 if quick else len(GROUPINGS))
        for model in (MODELS[:1] if quick else MODELS)
        for population in POPULATIONS
        if at < MOST[model]
    ]
    todo = rows.todo(asked, lambda case: {**case, "grouping": grouping_name(*GROUPINGS[case["grouping"]])})
    held = {model: trained(model, seed) for model in sorted({case["model"] for case in todo})}
    for model in held:
        # What a first audit loads is nobody's price.
        one(*held[model], *GROUPINGS[0], {"population": POPULATIONS[0]})
    for case in progress.track(todo, TITLE):
        columns, bins = GROUPINGS[case["grouping"]]
        rows.add({**case, "grouping": grouping_name(columns, bins), **one(*held[case["model"]], columns, bins, case)})
    plot(rows.held, out / f"{NAME}.svg")


def one(
    model: Any, frame: Any, columns: tuple[str, ...], bins: dict[str, list[int]], case: dict[str, Any]
) -> dict[str, Any]:
    """An audit's numbers."""
    start = cpu_seconds()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        audit = justicia.verify(
            model, frame, sensitive_features=[list(columns)], bins=bins, population=case["population"], label="income",
            favorable=">50K",
        )  # fmt: skip
    seconds = cpu_seconds() - start
    grouping = audit.groupings[0]
    impact, difference = audit.disparate_impact, audit.statistical_parity_difference
    of_rows = grouping.measures["disparate_impact"].sample.value
    sizes = [group.n for group in grouping.groups if group.n]
    return {
        "groups": len(sizes),
        "smallest": min(sizes),
        "disparate_impact_lo": None if impact is None else float(impact.lo),
        "disparate_impact_hi": None if impact is None else float(impact.hi),
        "parity_difference_lo": None if difference is None else float(difference.lo),
        "parity_difference_hi": None if difference is None else float(difference.hi),
        "rows_disparate_impact": None if of_rows is None else float(of_rows.lo),
        "engine": grouping.solution.engine,
        "seconds": seconds,
    }


def plot(rows: list[dict[str, str]], path: Path) -> None:
    """Disparate impact and seconds against the number of groups."""
    figure, (left, right) = new_figure(1, 2, figsize=(9, 3.4))
    for at, model in enumerate(MODELS):
        for population, style in zip(POPULATIONS, ("-", "--"), strict=True):
            part = [row for row in rows if row["model"] == model and row["population"] == population]
            part.sort(key=lambda row: int(row["groups"]))
            x = [int(row["groups"]) for row in part]
            y = [float(row["disparate_impact_lo"] or "nan") for row in part]
            left.plot(x, y, style, marker="o", markersize=3, color=f"C{at}", label=f"{model}, {population}")
            seconds = [float(row["seconds"]) for row in part]
            right.plot(x, seconds, style, marker="o", markersize=3, color=f"C{at}", label=f"{model}, {population}")
    left.plot(list(PAPER), list(PAPER.values()), "k^", markersize=5, label="published, tree")
    left.set(xscale="log", ylim=0, xlabel="groups", ylabel="disparate impact")
    right.set(xscale="log", yscale="log", xlabel="groups", ylabel="seconds of the processor, whole audit")
    left.legend(frameon=False, fontsize="x-small")
    save_figure(figure, path)


def section(folder: Path) -> str:
    """What the CSV file says."""
    rows = read_rows(folder / f"{NAME}.csv")
    cases = {(row["model"], row["grouping"], row["population"]): row for row in rows}
    groupings = dict.fromkeys(row["grouping"] for row in sorted(rows, key=lambda row: int(row["groups"])))

    def impact(model: str, grouping: str, population: str) -> str:
        row = cases.get((model, grouping, population))
        if row is None or not row["disparate_impact_lo"]:
            return "-"
        lo, hi = float(row["disparate_impact_lo"]), float(row["disparate_impact_hi"])
        return _short((lo + hi) / 2) if hi - lo < 1e-3 else f"{_short(lo)} to {_short(hi)}"

    lines = []
    for grouping in groupings:
        first = next(row for row in rows if row["grouping"] == grouping)
        groups = int(first["groups"])
        cells = []
        for model in MODELS:
            row = cases.get((model, grouping, "auto"))
            of_rows = "-" if row is None or not row["rows_disparate_impact"] else row["rows_disparate_impact"]
            cells += [
                *(impact(model, grouping, population) for population in POPULATIONS),
                "-" if of_rows == "-" else _short(float(of_rows)),
                "-" if row is None else f"{float(row['seconds']):.1f}",
            ]
        published = f"{PAPER[groups]:g}" if groups in PAPER else "-"
        lines.append([grouping, f"{groups:,}", first["smallest"], *cells[:4], published, *cells[4:]])
    header = ["sensitive", "groups", "smallest"]
    header += [f"tree: {one}" for one in (*POPULATIONS, "rows", "s")] + ["published, tree"]
    header += [f"logistic: {one}" for one in (*POPULATIONS, "rows", "s")]
    return "\n\n".join(
        [
            "Adult: disparate impact of a tree of depth 6 and of a logistic regression, verified under the default "
            "population and under independent features, and of the rows; groups that have rows, people of the "
            "smallest; seconds of the whole audit under the default population. Published: Ghosh, Basu and Meel "
            "(2021); their tree and features are others, and their features are independent of the group, too, so "
            "that only what a tree asks about sensitive columns tells groups apart. `-`: not asked.",
            table(header, lines),
            _says(rows),
        ]
    )


def _short(value: float) -> str:
    """Three decimals, or as many as a smaller number needs."""
    return "0" if value == 0 else f"{value:.3f}" if value >= 1e-3 else f"{value:.1e}"


def _says(rows: list[dict[str, str]]) -> str:
    """What the rows' own rates come to with many groups."""
    held = [row for row in rows if row["population"] == "auto"]
    zero = [row for row in held if row["rows_disparate_impact"] and float(row["rows_disparate_impact"]) == 0]
    above = [row for row in zero if row["disparate_impact_lo"] and float(row["disparate_impact_lo"]) > 0]
    return (
        f"The rows' disparate impact is 0 in {len(zero)} of {len(held)} cases, for some small group has nobody who is "
        f"selected; the verified one is above 0 in {len(above)} of these."
    )


if __name__ == "__main__":
    logging.getLogger("justicia").setLevel(logging.ERROR)
    command(NAME, run, __doc__)()
