"""How narrow the bounds of tree ensembles are after how long, and how plain sampling of the same population compares.

Each model is fitted on a bundled table, all source columns that are features through an ordinal or a
one-hot encoder, and audited under the `tree` population for all compound groups at once. Widths are the largest over
the groups with at least 1 % of the rows. Bounds are certain; `hybrid` intervals, and those of plain sampling, hold for
all groups together but for a probability of 1e-6. Plain sampling gets the same people by the same compiled loops, the
whole time, and as many in each group as make its interval as wide as the others'.

Seconds are of the clock, and both processors are used: run it when little else runs. `cpu` is the share of both
processors that the certain search got.

    python -m experiments.ensembles --out experiments/results
    python -m experiments.ensembles --data adult --seconds 60 --out experiments/results
"""

from __future__ import annotations

import os
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click
import numpy as np

from experiments.running import Reporter, Rows, command, new_figure, of_one, read_rows, save_figure, table, wrapped
from justicia import datasets, encoders, models, population, solvers, tables
from justicia.solvers.boxes import Problem
from justicia.solvers.sampling import OpenBoxes
from justicia.ssat import Formula

__all__ = ["CAPTION", "NAME", "TITLE", "parts", "plot", "run"]

NAME = "ensembles"
TITLE = "How narrow are the bounds of ensembles, how soon?"
CAPTION = "Width of the bounds against time; line: certain, o: hybrid, x: plain sampling"

SMALLEST = 0.01
TOLERANCE = 1e-9
SECONDS = 10.0
CASES = (("adult", "ordinal"), ("adult", "one-hot"), ("compas", "ordinal"), ("german", "ordinal"))
"""Tables, with the encoding of their words."""
UNBOUNDED = "random forest, unbounded"
KEY = ["table", "encoding", "model", "seconds", "seed"]
COLUMNS = [*KEY, "groups", "certain", "certain_in_hybrid", "hybrid", "plain_sampling", "cpu", "tied", "undecided"]
CURVE_COLUMNS = [*KEY, "point", "after", "width"]
POINTS = 60
"""Of a curve that is kept."""
PROCESSORS = 2


def families(seed: int) -> dict[str, Any]:
    """Unfitted models by name."""
    from sklearn.ensemble import (
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )
    from xgboost import XGBClassifier

    return {
        "gradient boosting, 100 of depth 3": GradientBoostingClassifier(random_state=seed),
        "random forest, 100 of depth 6": RandomForestClassifier(100, max_depth=6, random_state=seed),
        "histogram boosting, 100 of 15 leaves": HistGradientBoostingClassifier(max_leaf_nodes=15, random_state=seed),
        "XGBoost, 100 of depth 4, rate .1": XGBClassifier(
            n_estimators=100, max_depth=4, learning_rate=0.1, random_state=seed, n_jobs=1
        ),
        "XGBoost, 100 of depth 4": XGBClassifier(n_estimators=100, max_depth=4, random_state=seed, n_jobs=1),
        UNBOUNDED: RandomForestClassifier(random_state=seed),
    }


def formula(name: str, estimator: Any, encoding: str) -> tuple[Formula, np.ndarray]:
    """A fitted model's decision over the population of a bundled table, and which groups count."""
    from sklearn.base import clone
    from sklearn.compose import ColumnTransformer, make_column_selector
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

    people, described = datasets.load(name)
    columns = [column for column in people.columns if column not in (described.label, *described.not_features)]
    frame, label = people[columns], (people[described.label].astype(str) == described.favorable).astype(int)
    encoder = (
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        if encoding == "ordinal"
        else OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    )
    text = make_column_selector(dtype_exclude="number")
    model = make_pipeline(ColumnTransformer([("text", encoder, text)], remainder="passthrough"), clone(estimator))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame, label)
    decision, domain = encoders.encode(models.unwrap(model), frame, [1])
    grouping = tables.group_rows(people, list(described.sensitive))
    counts = population.Counts(grouping.groups, domain.sizes, grouping.codes, domain.points(frame))
    fitted = population.fit("tree", counts, domain, described.sensitive)
    return Formula(fitted, decision), fitted.sizes >= SMALLEST * len(people)


def curve(asked: Formula, counted: np.ndarray, seconds: float) -> tuple[list[tuple[float, float]], float]:
    """Seconds, and width of the certain bounds by then; and the share of the processors that it got."""
    seen: list[tuple[float, float]] = []
    start = [0.0]

    def watch(low: np.ndarray, high: np.ndarray) -> bool:
        now = time.perf_counter()
        seen.append((now - start[0], float((high - low)[counted].max())))
        return now - start[0] > seconds

    engine = solvers.pick("branch_and_bound", asked.decision)
    engine.solve(asked, solvers.Effort(tolerance=0.9, time_limit=1.0))
    start[0] = time.perf_counter()
    used = time.process_time()
    # The clock ends it, so that all of the time goes into certain bounds.
    held = engine.solve(asked, solvers.Effort(tolerance=TOLERANCE, time_limit=100 * seconds, watch=watch))
    # A search that ends by itself may do so before anybody looks.
    seen.append((time.perf_counter() - start[0], float((held.hi - held.lo)[counted].max())))
    return seen, (time.process_time() - used) / (seen[-1][0] * min(PROCESSORS, os.cpu_count() or 1))


def hybrid(asked: Formula, counted: np.ndarray, seconds: float) -> tuple[float, float]:
    """Width of the certain, and of the statistical bounds."""
    engine = solvers.pick("branch_and_bound", asked.decision)
    held = engine.solve(asked, solvers.Effort(tolerance=TOLERANCE, time_limit=seconds))
    low, high = (held.lo, held.hi) if held.interval is None else held.interval
    return float((held.hi - held.lo)[counted].max()), float((high - low)[counted].max())


def sampled(asked: Formula, counted: np.ndarray, seconds: float) -> float:
    """Width of intervals when people are drawn from the whole population."""
    problem = Problem(asked.decision, asked.population, slice(0, asked.population.n_groups))
    everybody = OpenBoxes(problem, problem.root(), 1)
    groups = np.arange(asked.population.n_groups)
    with ThreadPoolExecutor(2) as pool:
        everybody.verdicts(0, 100, pool, 2)
        deadline = time.perf_counter() + seconds
        found = everybody.interval(groups, TOLERANCE, solvers.DELTA, deadline, pool, 2)
    return 1.0 if found is None else float((found[1] - found[0])[counted].max())


def near_the_threshold(asked: Formula, people: int, seed: int) -> tuple[float, float]:
    """Shares of the people of the population with a tied score, and of those whom rounding decides about.

    A forest's encoding moves the threshold a little above the score of a tie, so that it is decided as the forest does.
    """
    rng = np.random.default_rng(seed)
    held, decision = asked.population, asked.decision
    groups = rng.multinomial(people, held.sizes / held.sizes.sum())
    points = np.concatenate([held.sample_points(group, int(n), rng) for group, n in enumerate(groups) if n])
    apart = np.abs(decision.scores(points) - decision.threshold)
    return float((apart <= 2 * decision.slack).mean()), float(decision.undecided(points).mean())


def thinned(seen: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points of a curve that are kept, evenly on the logarithm of time; the last one among them."""
    after = np.array([max(when, 1e-4) for when, _ in seen])
    wanted = np.geomspace(after[0], after[-1], POINTS)
    places = sorted({int(np.searchsorted(after, when).clip(0, len(seen) - 1)) for when in wanted} | {len(seen) - 1})
    return [seen[place] for place in places]


def run(
    out: Path,
    *,
    quick: bool,
    progress: Reporter,
    seed: int = 0,
    data: tuple[str, ...] = (),
    model: str = "",
    seconds: float = SECONDS,
) -> None:
    """Compute the rows that are not there yet, with their curves, and draw the figure."""
    if quick:
        data, model, seconds = ("german",), "boosting", 1.0
    rows = Rows(out / f"{NAME}.csv", COLUMNS, KEY)
    curves = Rows(out / f"{NAME}_curves.csv", CURVE_COLUMNS, [*KEY, "point"])
    held = families(seed)
    cases = [
        {"table": name, "encoding": encoding, "model": title, "seconds": seconds, "seed": seed}
        for name, encoding in CASES
        for title in held
        if name in (data or {name}) and model in title
    ]
    for case in progress.track(rows.todo(cases, lambda case: case), TITLE):
        asked, counted = formula(case["table"], held[case["model"]], case["encoding"])
        seen, share = curve(asked, counted, seconds)
        certain, inner = hybrid(asked, counted, seconds)
        plain = sampled(asked, counted, seconds)
        tied, undecided = near_the_threshold(asked, 200_000, seed) if case["model"] == UNBOUNDED else (None, None)
        for point, (after, width) in enumerate(thinned(seen)):
            # A run that was stopped between the two files has these already.
            if {**case, "point": point} not in curves:
                curves.add({**case, "point": point, "after": after, "width": width})
        rows.add(
            {
                **case, "groups": int(counted.sum()), "certain": seen[-1][1], "certain_in_hybrid": certain,
                "hybrid": inner, "plain_sampling": plain, "cpu": share, "tied": tied, "undecided": undecided,
            }
        )  # fmt: skip
    plot(rows.held, out / f"{NAME}.svg")


def _width(text: str) -> str:
    """A width with two digits."""
    value = float(text)
    return f"{value:.1e}" if value < 1e-3 else of_one(value, 4)


def parts(folder: Path) -> dict[str, str]:
    """Tables of the page on ensembles, and what they say."""
    rows = read_rows(folder / f"{NAME}.csv")
    # Of a short and a long run, the first table has the short one.
    least = min(float(row["seconds"]) for row in rows)
    short = [row for row in rows if float(row["seconds"]) == least]
    long = [row for row in rows if float(row["seconds"]) > least]
    columns = ["certain", "hybrid", "plain_sampling"]
    header = ["table", "encoding", "model", *(name.replace("_", " ") for name in columns)]

    def lines(part: list[dict[str, str]]) -> list[list[str]]:
        return [[row["table"], row["encoding"], row["model"], *(_width(row[name]) for name in columns)] for row in part]

    shares = [float(row["cpu"]) for row in short if float(row["certain"]) > TOLERANCE]
    taken = f"Each of the three had {least:g} seconds of the clock."
    if shares:
        taken += (
            " The machine had other work: where the time ran out, the certain search got "
            f"{100 * min(shares):.0f} to {100 * max(shares):.0f} % of its two processors."
        )
    found = {"widths": f"{wrapped(taken)}\n\n{table(header, lines(short))}"}
    if long:
        most = max(float(row["seconds"]) for row in long)
        part = [row for row in long if float(row["seconds"]) == most]
        found["longer"] = f"With {most:g} seconds:\n\n{table(header, lines(part))}"
    found["what makes it hard"] = _reasons(short)
    return found


def _reasons(rows: list[dict[str, str]]) -> str:
    """Ratios of widths between models and encodings, and ties."""
    held = {(row["table"], row["encoding"], row["model"]): row for row in rows}
    says = []

    def ratios(pairs: list[tuple[tuple[str, str, str], tuple[str, str, str]]]) -> list[float]:
        both = [(held[a], held[b]) for a, b in pairs if a in held and b in held]
        return [float(a["certain"]) / float(b["certain"]) for a, b in both if float(b["certain"]) > TOLERANCE]

    rates = ratios(
        [
            ((name, encoding, "XGBoost, 100 of depth 4"), (name, encoding, "XGBoost, 100 of depth 4, rate .1"))
            for name, encoding in CASES
            if name == "adult"
        ]
    )
    if rates:
        says.append(
            "On Adult, XGBoost's default learning rate of .3 gives leaves three times as large as .1, and certain "
            f"bounds {min(rates):.0f} to {max(rates):.0f} times as wide."
        )
    wider = ratios([(("adult", "one-hot", m), ("adult", "ordinal", m)) for _, _, m in held])
    if wider:
        says.append(
            f"One-hot columns give bounds {min(wider):.1f} to {max(wider):.0f} times as wide as ordinal ones there, "
            "because each split parts one category from the others."
        )
    german = [float(row["hybrid"]) / float(row["plain_sampling"]) for row in rows if row["table"] == "german"]
    if german:
        says.append(
            "On German credit, where bounds hardly close in this time, the hybrid is "
            f"{of_one(min(german), 2)} to {of_one(max(german), 2)} times as wide as plain sampling."
        )
    ties = [row for row in rows if row["tied"] and row["table"] == "adult"]
    if ties:
        tied, undecided = (max(float(row[name]) for row in ties) for name in ("tied", "undecided"))
        says.append(
            f"Of the people of Adult's population, {100 * tied:.2f} % at most have a tied score under the unbounded "
            f"forest, and {100 * undecided:.3f} % at most one that stays undecided (200,000 people drawn)."
        )
    return wrapped(" ".join(says))


def plot(rows: list[dict[str, str]], path: Path) -> None:
    """Width against time, one panel a table and encoding; the curves stand in a file beside."""
    curves = read_rows(path.with_name(f"{NAME}_curves.csv"))
    panels = list(dict.fromkeys((row["table"], row["encoding"]) for row in rows))
    figure, axes = new_figure(
        (len(panels) + 1) // 2, 2, figsize=(9, 3.6 * ((len(panels) + 1) // 2)), sharey=True, squeeze=False
    )
    names = list(dict.fromkeys(row["model"] for row in rows))
    for axis, panel in zip(axes.flat, panels, strict=False):
        mine = [row for row in rows if (row["table"], row["encoding"]) == panel]
        for row in mine:
            color = f"C{names.index(row['model'])}"
            longest = max(float(one["seconds"]) for one in mine if one["model"] == row["model"])
            if float(row["seconds"]) == longest:
                key = [row[name] for name in KEY]
                seen = np.array(
                    [
                        (float(one["after"]), max(float(one["width"]), 1e-7))
                        for one in curves
                        if [one[name] for name in KEY] == key
                    ]
                )
                axis.loglog(*seen.T, color=color, label=row["model"])
            for name, mark in (("hybrid", "o"), ("plain_sampling", "x")):
                axis.plot(float(row["seconds"]), max(float(row[name]), 1e-7), mark, color=color)
        axis.set(title=f"{panel[0]}, {panel[1]}", xlabel="seconds", ylabel="largest width, groups of 1 % and more")
    for axis in list(axes.flat)[len(panels) :]:
        axis.set_axis_off()
    axes[0][0].legend(fontsize=7, title="line: certain, o: hybrid, x: plain sampling", title_fontsize=7)
    save_figure(figure, path)


if __name__ == "__main__":
    command(
        NAME,
        run,
        __doc__,
        click.option(
            "--data",
            multiple=True,
            type=click.Choice(list(dict.fromkeys(name for name, _ in CASES))),
            help="Repeatable.  [default: all]",
        ),
        click.option("--model", default="", help="Only models whose name holds this text."),
        click.option("--seconds", type=click.FloatRange(min=0, min_open=True), default=SECONDS, show_default=True),
    )()
