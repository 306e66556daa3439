"""How near to the truth rates come when only a sample of the people is known.

A model is trained on a table; its own decisions on all rows are the truth. From random subsamples of n rows
the selection rate of every group is estimated in four ways:

- `sample`: the rate of the group's rows in the subsample, as AIF360 and Fairlearn compute it;
- `no population`: a logistic regression of the decisions on the sensitive columns and the group, with scikit-learn's
  default ridge penalty;
- `independent`: verified under features independent given the group;
- `auto`: verified under the default population.

The errors of all groups with a row in the subsample are pooled over draws: root of the mean square, divided by the same
of the sample rate as expected under drawing without replacement, in closed form. With all rows there is one fit, and
the root of the mean square stands as it is. Rates of linear models and trees come from the engines; those of boosted
trees are the share of people drawn from the populations to whom the model says yes, and the variance of that drawing
is taken off the squares.

    python -m experiments.robustness --draws 40 --out experiments/results
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from experiments.running import Reporter, Rows, command, new_figure, read_rows, save_figure, table
from justicia import datasets, encoders, models, population, solvers, tables
from justicia.encoders.additive_trees import AdditiveTrees
from justicia.ssat import Formula

NAME = "robustness"
TITLE = "How much do rates depend on the number of rows?"
CAPTION = "Error of each way to estimate rates, against the number of rows"

METHODS = ("sample", "no population", "independent", "auto")
MODELS = ("logistic", "tree", "boosting")
TOLERANCE = 2e-3
LARGE = 500
GROUPINGS = {
    "adult": {"race x sex": ("race", "sex"), "race x sex x age": ("race", "sex", "age")},
    "compas": {"sex x race": ("sex", "race")},
    "german": {"sex x age": ("sex", "age")},
}
SIZES = {"adult": (500, 2_000, 8_000, 32_561), "compas": (500, 2_000, 7_214), "german": (250, 500, 1_000)}
BINS = {"adult": [29, 44], "german": [25]}


class Case:
    """A model with its decisions on all rows of a table.

    Parameters
    ----------
    data, model : str
        Names of a bundled data set and of a model that is trained on it.
    seed : int
        Of the model: 0 is trained on all rows, any other on as many rows drawn with replacement.
    """

    def __init__(self, data: str, model: str, seed: int) -> None:
        frame, description = datasets.load(data)
        drawn = frame if seed == 0 else frame.sample(frac=1.0, replace=True, random_state=seed)
        trained = models.train(model, drawn, description.features, drawn[description.label], random_state=seed)
        fitted = models.unwrap(trained)
        people = frame[list(description.features)]
        favorable = [one for one in fitted.classes if str(one) == description.favorable]
        self.frame = frame
        self.decision, self.domain = encoders.encode(fitted, people, favorable)
        self.points = self.domain.points(people)
        self.selected = self.decision.evaluate(self.points)


def expected_square(sizes: np.ndarray, rates: np.ndarray, n: int) -> float:
    """Mean square error of the sample rate over groups with a row among `n` rows drawn without replacement."""
    total, groups = 0.0, 0.0
    for size, rate in zip(sizes, rates, strict=True):
        drawn = np.arange(1, min(int(size), n) + 1)
        chance = hypergeom.pmf(drawn, int(sizes.sum()), int(size), n)
        variance = rate * (1 - rate) / drawn * (size - drawn) / max(int(size) - 1, 1)
        total += float(chance @ variance)
        groups += float(chance.sum())
    return total / groups


def ridge_rates(selected: np.ndarray, n: np.ndarray, keys: list[tuple[str, ...]]) -> np.ndarray:
    """Rates by a logistic regression on sensitive columns and groups: the mode of the penalised likelihood."""
    from sklearn.linear_model import LogisticRegression

    if selected.sum() in (0, n.sum()):
        return np.full(len(n), selected.sum() / n.sum())
    parts = [pd.get_dummies(pd.Series(list(column))).to_numpy(float) for column in zip(*keys, strict=True)]
    x = np.concatenate([*parts, np.eye(len(n))], axis=1)
    model = LogisticRegression(max_iter=1000)
    model.fit(np.concatenate([x, x]), np.repeat([1, 0], len(n)), sample_weight=np.concatenate([selected, n - selected]))
    return np.asarray(model.predict_proba(x)[:, 1])


def verified_rates(people: Any, decision: Any, draws: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Selection rate of each group, and the variance of its estimate where people are drawn."""
    if not isinstance(decision, AdditiveTrees):
        solution = solvers.pick("auto", decision).solve(Formula(people, decision), solvers.Effort(tolerance=TOLERANCE))
        return (solution.lo + solution.hi) / 2, np.zeros(people.n_groups)
    rates, variances = np.zeros(people.n_groups), np.zeros(people.n_groups)
    for part, weights in _parts(people, decision):
        if isinstance(part, np.ndarray):
            rates += weights * part
            continue
        drawn = [part.sample_points(group, draws, rng) for group in range(part.n_groups)]
        share = decision.evaluate(np.concatenate(drawn)).reshape(part.n_groups, draws).mean(axis=1)
        split = share.reshape(people.n_groups, -1)
        rates += (weights * split).sum(axis=1)
        variances += (weights**2 * split * (1 - split) / (draws - 1)).sum(axis=1)
    return rates, variances


def _parts(people: Any, decision: Any) -> list[tuple[Any, np.ndarray]]:
    """A network with the weights of its groups; of a mixture also the rates of the rows, which need no drawing."""
    if not isinstance(people, population.MixturePopulation):
        return [(people, np.ones((people.n_groups, 1)))]
    rows = solvers.pick("auto", decision).solve(Formula(people.rows, decision), solvers.Effort())
    return [(rows.lo, people.row_weights), (people.network, people.weights)]


def squares(case: Case, grouping: tables.Grouping, rows: np.ndarray, drawn: int, seed: list[int]) -> dict[str, Any]:
    """Squared errors of the groups with a row among `rows`, by method, and which groups those are."""
    n = np.bincount(grouping.codes[rows], minlength=len(grouping.groups))
    held = np.flatnonzero(n)
    keys = [grouping.groups[group] for group in held]
    codes = (np.cumsum(n > 0) - 1)[grouping.codes[rows]]
    counts = population.Counts(tuple(keys), case.domain.sizes, codes, case.points[rows])
    truth = (np.bincount(grouping.codes[case.selected], minlength=len(n)) / grouping.sizes)[held]
    selected = np.bincount(codes[case.selected[rows]], minlength=len(held))
    found: dict[str, Any] = {"held": held}
    found["sample"] = (selected / n[held] - truth) ** 2
    found["no population"] = (ridge_rates(selected, n[held], keys) - truth) ** 2
    for structure in ("independent", "auto"):
        people = population.fit(structure, counts, case.domain, grouping.sensitive)
        rates, variance = verified_rates(people, case.decision, drawn, np.random.default_rng(seed))
        found[structure] = (rates - truth) ** 2 - variance
    return found


KEY = ["data", "grouping", "rows", "model", "model_seed", "method", "draws", "seed"]
COLUMNS = [*KEY, "relative", "error", "error_large_groups"]
QUICK = {"data": ("german",), "draws": 4, "model_seed": (0,)}


def study(
    data: str, draws: int, seed: int, model_seed: int, drawn: int = 1000, rows_held: Rows | None = None
) -> list[dict[str, Any]]:
    """One row a grouping, number of rows, model and method; those that are held already are left out."""
    results = []
    for model in MODELS:
        case = None
        for name, sensitive in GROUPINGS[data].items():
            for n in SIZES[data]:
                named = {
                    "data": data, "grouping": name, "rows": n, "model": model, "model_seed": model_seed, "seed": seed,
                }  # fmt: skip
                case = Case(data, model, model_seed) if case is None else case
                whole = n >= len(case.frame)
                key = {**named, "method": METHODS[-1], "draws": 1 if whole else draws}
                if rows_held is not None and key in rows_held:
                    continue
                bins = {"age": BINS[data]} if "age" in sensitive else None
                grouping = tables.group_rows(case.frame, sensitive, bins=bins)
                rates = np.bincount(grouping.codes[case.selected], minlength=len(grouping.groups)) / grouping.sizes
                found = []
                for draw in range(1 if whole else draws):
                    rng = np.random.default_rng([seed, n, draw])
                    rows = np.sort(rng.choice(len(case.frame), n, replace=False))
                    found.append(squares(case, grouping, rows, drawn * (20 if whole else 1), [seed, n, draw, 1]))
                expected = 1.0 if whole else expected_square(grouping.sizes, rates, n)
                large = grouping.sizes >= LARGE
                part = []
                for method in METHODS:
                    pooled = np.concatenate([one[method] for one in found])
                    of_large = np.concatenate([one[method][large[one["held"]]] for one in found])
                    row = {
                        **named, "method": method, "draws": len(found), "relative": not whole,
                        "error": float(np.sqrt(max(pooled.mean() / expected, 0.0))),
                        "error_large_groups": float(np.sqrt(max(of_large.mean(), 0.0))) if len(of_large) else None,
                    }  # fmt: skip
                    part.append(row)
                    if rows_held is not None:
                        rows_held.add(row)
                results += part
    return results


def run(
    out: Path,
    *,
    quick: bool,
    progress: Reporter,
    seed: int = 1,
    data: tuple[str, ...] = (),
    draws: int = 40,
    model_seed: tuple[int, ...] = (0, 1),
) -> None:
    """Compute what is not there yet, and draw the figure."""
    data = data or tuple(GROUPINGS)
    if quick:
        data, draws, model_seed = QUICK["data"], QUICK["draws"], QUICK["model_seed"]
    rows = Rows(out / f"{NAME}.csv", COLUMNS, KEY)
    todo = [(one, which) for one in data for which in model_seed]
    for one, which in progress.track(todo, TITLE):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            study(one, draws, seed, which, rows_held=rows)
    plot(read_rows(out / f"{NAME}.csv"), out / f"{NAME}.svg")


def _numbers(rows: list[dict[str, str]]) -> pd.DataFrame:
    """The rows of the CSV file with their types; of each case those of the most draws."""
    held = pd.DataFrame(rows)
    held = held.astype({"rows": int, "draws": int, "error": float})
    held["relative"] = held["relative"] == "True"
    most = held.groupby(["data", "grouping", "rows", "model", "model_seed"])["draws"].transform("max")
    return held[held["draws"] == most]


def section(folder: Path) -> str:
    """What the CSV file says."""
    held = _numbers(read_rows(folder / f"{NAME}.csv"))
    lines, better = [], []
    for (data, grouping, n), part in held.groupby(["data", "grouping", "rows"], sort=False):
        means = part.groupby("method")["error"].mean()
        relative = bool(part["relative"].iloc[0])
        digits = 2 if relative else 4
        lines.append([f"{data}, {grouping}", f"{n:,}", *(f"{means[method]:.{digits}f}" for method in METHODS)])
        if relative:
            better.append(means["auto"] < means["sample"])
    draws = sorted(set(held.loc[held["relative"], "draws"]))
    models = held[["model", "model_seed"]].drop_duplicates()
    return "\n\n".join(
        [
            "How near to the rates of all rows come rates from part of the rows? Error relative to the expected error "
            f"of the sample rate, mean of {len(models)} models and {' or '.join(map(str, draws))} draws; with all "
            "rows, the root of the mean square itself. `sample`: as AIF360 and Fairlearn compute it; "
            "`no population`: a logistic regression of the decisions on the sensitive columns; `independent` and "
            "`auto`: verified under these populations.",
            table(["", "rows", *METHODS], lines),
            f"`auto` is nearer to the truth than the sample in {sum(better)} of {len(better)} cases with part of the "
            "rows. With all rows the sample rate is the truth, by definition; `auto` is off where groups have a "
            "handful of people, whose rates lean on those of other groups.",
        ]
    )


def plot(rows: list[dict[str, str]], path: Path) -> None:
    """Error relative to the expected one of the sample rate, against the number of rows, mean of the models."""
    results = _numbers(rows)
    held = results[results["relative"]]
    panels = list(held.groupby(["data", "grouping"], sort=False))
    figure, axes = new_figure(1, len(panels), figsize=(3.2 * len(panels), 3.2), sharey=True, squeeze=False)
    for axis, ((data, grouping), part) in zip(axes[0], panels, strict=True):
        means = part.groupby(["method", "rows"])["error"].mean()
        for method in METHODS:
            line = means[method]
            axis.plot(line.index, line, marker="o", label=method)
        axis.axhline(1.0, color="0.7", linewidth=0.8)
        axis.set(xscale="log", xlabel="rows", title=f"{data}, {grouping}", ylim=0)
        axis.minorticks_off()
        axis.set_xticks(line.index, [f"{n:,}" for n in line.index])
    axes[0][0].set_ylabel("error / that of the sample rate")
    axes[0][0].legend(frameon=False, fontsize="small")
    save_figure(figure, path)


if __name__ == "__main__":
    command(
        NAME,
        run,
        __doc__,
        click.option("--data", multiple=True, type=click.Choice(list(GROUPINGS)), help="Repeatable.  [default: all]"),
        click.option("--draws", type=click.IntRange(min=1), default=40, show_default=True),
        click.option("--model-seed", type=click.IntRange(min=0), multiple=True, default=(0, 1), show_default=True),
    )()
