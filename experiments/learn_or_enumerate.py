"""What it costs to learn the most and the least favored group, and to evaluate all groups.

The groupings of `experiments.compound_groups`, a tree and a logistic regression of Adult, under independent features.

    python -m experiments.learn_or_enumerate --out experiments/results
"""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import justicia
from experiments.compound_groups import GROUPINGS, MODELS, MOST, grouping_name, trained
from experiments.running import Reporter, Rows, command, cpu_seconds, new_figure, read_rows, save_figure, table

__all__ = ["NAME", "TITLE", "run", "section"]

NAME = "learn_or_enumerate"
TITLE = "Learn the extremes, or enumerate the groups"
CAPTION = "Seconds of the processor of learning and of enumerating, against the number of groups"

KEY = ["model", "grouping", "search", "seed"]
COLUMNS = [
    *KEY, "groups", "evaluated", "disparate_impact_lo", "disparate_impact_hi", "most_favored", "least_favored",
    "candidates", "seconds",
]  # fmt: skip
SEARCHES = ("enumerate", "learn")
NEAR = 1e-9


def run(out: Path, *, quick: bool, progress: Reporter, seed: int = 0) -> None:
    """Compute the rows that are not there yet, and draw the figure."""
    rows = Rows(out / f"{NAME}.csv", COLUMNS, KEY)
    asked = [
        {"model": model, "grouping": at, "search": search, "seed": seed}
        for at in range(2, 5 if quick else len(GROUPINGS))
        for model in MODELS
        for search in SEARCHES
        if at < MOST[model]
    ]
    todo = rows.todo(asked, lambda case: {**case, "grouping": grouping_name(*GROUPINGS[case["grouping"]])})
    held = {model: trained(model, seed) for model in sorted({case["model"] for case in todo})}
    for model in held:
        # What a first audit loads is nobody's price.
        for search in SEARCHES:
            one(*held[model], *GROUPINGS[0], {"search": search})
    for case in progress.track(todo, TITLE):
        columns, bins = GROUPINGS[case["grouping"]]
        rows.add({**case, "grouping": grouping_name(columns, bins), **one(*held[case["model"]], columns, bins, case)})
    plot(rows.held, out / f"{NAME}.svg")


def one(
    model: Any, frame: Any, columns: tuple[str, ...], bins: dict[str, list[int]], case: dict[str, Any]
) -> dict[str, Any]:
    """An audit's numbers; without the true outcome, so that there is one question alone."""
    start = cpu_seconds()
    people = frame.drop(columns="income")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        audit = justicia.verify(
            model, people, sensitive_features=[list(columns)], bins=bins, population="independent", favorable=">50K",
            search=case["search"],
        )  # fmt: skip
    seconds = cpu_seconds() - start
    grouping, impact = audit.groupings[0], audit.disparate_impact
    return {
        "groups": sum(group.n > 0 for group in grouping.groups),
        "evaluated": grouping.solution.groups_evaluated,
        "disparate_impact_lo": None if impact is None else float(impact.lo),
        "disparate_impact_hi": None if impact is None else float(impact.hi),
        "most_favored": ", ".join(grouping.most_favored.group.values()),
        "least_favored": ", ".join(grouping.least_favored.group.values()),
        "candidates": f"{len(grouping.most_favored.candidates)} and {len(grouping.least_favored.candidates)}",
        "seconds": seconds,
    }


def plot(rows: list[dict[str, str]], path: Path) -> None:
    """Seconds of the engine against the number of groups."""
    figure, axis = new_figure(figsize=(5, 3.4))
    for at, model in enumerate(MODELS):
        for search, style in zip(SEARCHES, ("-", "--"), strict=True):
            part = [row for row in rows if row["model"] == model and row["search"] == search]
            part.sort(key=lambda row: int(row["groups"]))
            x = [int(row["groups"]) for row in part]
            seconds = [float(row["seconds"]) for row in part]
            axis.plot(x, seconds, style, marker="o", markersize=3, color=f"C{at}", label=f"{model}, {search}")
    axis.set(xscale="log", yscale="log", xlabel="groups", ylabel="seconds of the processor, whole audit")
    axis.legend(frameon=False, fontsize="small")
    save_figure(figure, path)


def agrees(one: dict[str, str], other: dict[str, str]) -> bool:
    """Whether two bounds of a disparate impact may hold the same value."""
    ends = [[row["disparate_impact_lo"], row["disparate_impact_hi"]] for row in (one, other)]
    if "" in ends[0] + ends[1]:
        return ends[0] == ends[1]
    (lo, hi), (low, high) = ([float(end) for end in pair] for pair in ends)
    return lo <= high + NEAR and low <= hi + NEAR


def section(folder: Path) -> str:
    """What the CSV file says."""
    rows = read_rows(folder / f"{NAME}.csv")
    by_case: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for row in rows:
        by_case.setdefault((row["model"], row["grouping"]), {})[row["search"]] = row
    pairs = {key: held for key, held in by_case.items() if set(held) == set(SEARCHES)}
    lines = [
        [
            model,
            grouping,
            f"{int(held['enumerate']['groups']):,}",
            f"{int(held['learn']['evaluated']):,}",
            *(f"{float(held[search]['seconds']):.3g}" for search in SEARCHES),
            "yes" if agrees(held["enumerate"], held["learn"]) else "no",
        ]
        for (model, grouping), held in sorted(pairs.items(), key=lambda pair: MODELS.index(pair[0][0]))
    ]
    header = ["model", "sensitive", "groups", "learn evaluates", "enumerate, s", "learn, s"]
    same = sum(agrees(*held.values()) for held in pairs.values())
    faster = {
        model: [
            int(held["enumerate"]["groups"])
            for (of, _), held in pairs.items()
            if of == model and float(held["learn"]["seconds"]) < float(held["enumerate"]["seconds"])
        ]
        for model in MODELS
    }
    says = "; ".join(
        f"{model}: the search takes less with {', '.join(f'{one:,}' for one in sorted(held))} groups"
        if held
        else f"{model}: evaluating all groups takes less throughout"
        for model, held in faster.items()
    )
    return "\n\n".join(
        [
            "Adult under independent features, selection rates alone; seconds of the whole audit.",
            table([*header, "same disparate impact"], lines),
            f"Both give the same disparate impact in {same} of {len(pairs)} cases. {says.capitalize()}.",
        ]
    )


if __name__ == "__main__":
    logging.getLogger("justicia").setLevel(logging.ERROR)
    command(NAME, run, __doc__)()
