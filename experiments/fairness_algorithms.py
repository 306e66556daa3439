"""What algorithms that are to make a classifier fairer do to people whom it has not seen.

Each classifier is fitted on seven tenths of the rows, as it is and after a mitigation of these rows, and audited on the
others: verified rates under the default population fitted to them, and their own rates. The mitigations:

- `reweighing`: row weights of Kamiran and Calders (2012), by `justicia.mitigation.reweigh`;
- `reweighing (AIF360)`: the same by `aif360.algorithms.preprocessing.Reweighing`; the largest difference of the weights
  is written down;
- `optimised`: optimised pre-processing of Calmon et al. (2017), by AIF360's `OptTools` with cvxpy. It changes features
  and labels of the training rows at random, by probabilities that it finds. The random draws are made here, for those
  of AIF360 0.6.1 need a method that pandas 3 has no more. A feature moves one level at most; probabilities of
  distortions are bounded by .1 and .05, the gap between groups by .05, as in AIF360's own example.

It works on tables of few values, so there are two versions of every table: all features, and two or three of them in
classes (`few`), the sensitive one beside them.

    python -m experiments.fairness_algorithms --out experiments/results
"""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import justicia
from experiments.running import Reporter, Rows, command, cpu_seconds, new_figure, read_rows, save_figure, table
from justicia import datasets, models
from justicia.errors import MissingDependencyError
from justicia.mitigation import refit, reweigh
from justicia.words import counted

__all__ = ["NAME", "TITLE", "run", "section"]

NAME = "fairness_algorithms"
TITLE = "Do fairness algorithms help?"
CAPTION = "Disparate impact before and after each algorithm"

KEY = ["data", "sensitive", "model", "features", "algorithm", "split"]
COLUMNS = [
    *KEY, "train_rows", "test_rows", "accuracy", "disparate_impact_lo", "disparate_impact_hi", "parity_difference_lo",
    "parity_difference_hi", "rows_disparate_impact", "rows_parity_difference", "seconds", "weights_apart", "status",
]  # fmt: skip
MODELS = ("tree", "logistic")
ALGORITHMS = {"all": ("none", "reweighing", "reweighing (AIF360)")}
ALGORITHMS["few"] = (*ALGORITHMS["all"], "optimised")
SPLITS = 3
TRAINING = 0.7

PAPER = {("adult", "race", "logistic"): ("Ghosh, Basu and Meel (2021)", (0.23, 0.09), (0.85, 0.01))}
"""Of the Justicia paper: disparate impact and statistical parity before reweighing, and after."""


def _classes(edges: list[float], words: list[str]) -> Callable[[Any], Any]:
    return lambda column: np.array(words, dtype=object)[np.searchsorted(edges, column.to_numpy(float), side="left")]


def _words(groups: dict[str, list[str]]) -> Callable[[Any], Any]:
    of = {value: name for name, values in groups.items() for value in values}
    return lambda column: np.array([of[value] for value in column], dtype=object)


@dataclass(frozen=True)
class Few:
    """Columns of a table in classes.

    Attributes
    ----------
    sensitive : dict of str to (str, callable)
        The column that each sensitive feature is made of, and two classes.
    features : dict of str to (str, callable, list of str)
        The same of other features, with their levels in order.
    """

    sensitive: dict[str, tuple[str, Callable[[Any], Any]]]
    features: dict[str, tuple[str, Callable[[Any], Any], list[str]]]


_EDUCATION = ["5 or less", *map(str, range(6, 13)), "13 or more"]
_DECADES = ["10s", "20s", "30s", "40s", "50s", "60s", "70 or more"]
_AGES = ["up to 25", "26 to 45", "over 45"]
_YOUNG = ("age", _classes([25], ["up to 25", "over 25"]))

TABLES = {
    "adult": Few(
        {
            "race": ("race", lambda column: np.where(column == "White", "White", "other")),
            "sex": ("sex", lambda column: column.to_numpy(object)),
            "age": _YOUNG,
        },
        {
            "education": ("education-num", _classes([5.5, *np.arange(6.5, 13)], _EDUCATION), _EDUCATION),
            "decade": ("age", _classes([19.5, 29.5, 39.5, 49.5, 59.5, 69.5], _DECADES), _DECADES),
        },
    ),
    "compas": Few(
        {
            "race": ("race", lambda column: np.where(column == "Caucasian", "Caucasian", "other")),
            "sex": ("sex", lambda column: column.to_numpy(object)),
            "age": _YOUNG,
        },
        {
            "priors": ("priors_count", _classes([0.5, 3.5], ["0", "1 to 3", "more"]), ["0", "1 to 3", "more"]),
            "degree": ("c_charge_degree", lambda column: column.to_numpy(object), ["M", "F"]),
            "decade": ("age", _classes([25, 45], _AGES), _AGES),
        },
    ),
    "german": Few(
        {"sex": ("sex", lambda column: column.to_numpy(object)), "age": _YOUNG},
        {
            "history": (
                "credit_history",
                _words({
                    "paid": ["existing paid back so far", "all paid back at this bank", "no credits taken"],
                    "delays": ["delays in the past"],
                    "critical": ["critical account"],
                }),
                ["paid", "delays", "critical"],
            ),
            "employment": (
                "employment",
                _words({
                    "none": ["unemployed"],
                    "to 4 years": ["below 1 year", "1 to 4 years"],
                    "longer": ["4 to 7 years", "7 years or more"],
                }),
                ["none", "to 4 years", "longer"],
            ),
            "savings": (
                "savings",
                _words({
                    "unknown or none": ["unknown or none"],
                    "below 500": ["below 100 DM", "100 to 500 DM"],
                    "500 or more": ["500 to 1000 DM", "1000 DM or more"],
                }),
                ["unknown or none", "below 500", "500 or more"],
            ),
        },
    ),
}  # fmt: skip

_BAD = 3.0
CUTS, BOUNDS, GAP = [0.99, 1.99, 2.99], [0.1, 0.05, 0.0], 0.05
"""Distortions, what their probabilities are bounded by, and the gap between groups."""


@dataclass(frozen=True)
class Split:
    """A table cut in two, with a sensitive feature of two groups.

    Attributes
    ----------
    train, test : DataFrame
        Features, with columns "sensitive" and "outcome".
    levels : dict of str to list of str
        Of the few features; empty with all features.
    favorable : str
    """

    train: pd.DataFrame
    test: pd.DataFrame
    levels: dict[str, list[str]]
    favorable: str

    @property
    def features(self) -> list[str]:
        """Columns that a model takes."""
        return [name for name in self.train.columns if name != "outcome"]


def split_table(data: str, sensitive: str, features: str, split: int) -> Split:
    """The rows of a bundled table, cut in two at random, the same for every model and algorithm."""
    frame, description = datasets.load(data)
    few = TABLES[data]
    source, classes = few.sensitive[sensitive]
    levels: dict[str, list[str]] = {}
    if features == "all":
        held = frame[[name for name in description.features if name != source]].copy()
    else:
        # A feature made of the sensitive column would give it away.
        kept = {name: one for name, one in few.features.items() if one[0] != source}
        held = pd.DataFrame({name: cut(frame[column]) for name, (column, cut, _) in kept.items()})
        levels = {name: one[2] for name, one in kept.items()}
    held["sensitive"] = classes(frame[source])
    held["outcome"] = frame[description.label].astype(str)
    order = np.random.default_rng(split).permutation(len(held))
    cut_at = round(TRAINING * len(held))
    parts = [held.iloc[rows].reset_index(drop=True) for rows in (order[:cut_at], order[cut_at:])]
    return Split(parts[0], parts[1], levels, description.favorable)


def aif360_weights(split: Split) -> np.ndarray:
    """The weights by AIF360, which takes numbers."""
    with quiet():
        from aif360.algorithms.preprocessing import Reweighing
        from aif360.datasets import BinaryLabelDataset

        first = sorted(split.train["sensitive"].unique())[0]
        numbers = pd.DataFrame(
            {
                "sensitive": (split.train["sensitive"] == first).astype(float),
                "outcome": (split.train["outcome"] == split.favorable).astype(float),
            }
        )
        held = BinaryLabelDataset(df=numbers, label_names=["outcome"], protected_attribute_names=["sensitive"])
        sides = {"privileged_groups": [{"sensitive": 1.0}], "unprivileged_groups": [{"sensitive": 0.0}]}
        return np.asarray(Reweighing(**sides).fit_transform(held).instance_weights)


def optimised(split: Split, seed: int) -> pd.DataFrame:
    """The training rows after optimised pre-processing by AIF360's `OptTools`.

    Raises
    ------
    RuntimeError
        When the optimisation does not converge.
    """
    levels, features = split.levels, list(split.levels)
    place = {name: {value: i for i, value in enumerate(values)} for name, values in levels.items()}

    def distortion(old: dict[str, str], new: dict[str, str]) -> float:
        moved = [abs(place[name][old[name]] - place[name][new[name]]) for name in features]
        if max(moved) > 1:
            return _BAD
        if any(moved):
            return 2.0
        return 1.0 if old["outcome"] == split.favorable != new["outcome"] else 0.0

    with quiet():
        from aif360.algorithms.preprocessing.optim_preproc_helpers.opt_tools import OptTools

        tools = OptTools(df=split.train, features=[*features, "outcome", "sensitive"])
        tools.set_features(D=["sensitive"], X=features, Y=["outcome"])
        tools.set_distortion(distortion, clist=CUTS)
        tools.optimize(epsilon=GAP, dlist=BOUNDS, verbose=False)
    chances = np.where(tools.dfP.to_numpy(float) < 1e-8, 0.0, tools.dfP.to_numpy(float))
    sums = chances.cumsum(axis=1)
    row_of = {key: i for i, key in enumerate(tools.dfP.index.tolist())}
    rows = np.array([row_of[key] for key in split.train[["sensitive", *features, "outcome"]].itertuples(index=False)])
    draws = np.random.default_rng(seed).random(len(rows)) * sums[rows, -1]
    chosen = (sums[rows] <= draws[:, None]).sum(axis=1)
    values = pd.DataFrame(tools.dfP.columns.tolist(), columns=[*features, "outcome"]).iloc[chosen]
    held = values.reset_index(drop=True)
    held["sensitive"] = split.train["sensitive"]
    return held[[*features, "sensitive", "outcome"]]


@contextlib.contextmanager
def quiet() -> Any:
    """Without what other packages print and warn of."""
    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


def fitted(split: Split, model: str, algorithm: str, seed: int) -> tuple[Any, float, float | None]:
    """A classifier, the seconds that its mitigation took, and how far AIF360's weights are from ours."""
    train, features = split.train, split.features
    start = cpu_seconds()
    apart = None
    if algorithm == "optimised":
        train = optimised(split, seed)
        return models.train(model, train, features, train["outcome"]), cpu_seconds() - start, None
    plain = models.train(model, train, features, train["outcome"])
    if algorithm == "none":
        return plain, 0.0, None
    if algorithm != "reweighing":
        # What the first call imports is nobody's price.
        aif360_weights(split)
    start = cpu_seconds()
    weights = reweigh(train["outcome"], train["sensitive"]) if algorithm == "reweighing" else aif360_weights(split)
    seconds = cpu_seconds() - start
    if algorithm != "reweighing":
        apart = float(np.abs(weights - reweigh(train["outcome"], train["sensitive"])).max())
    return refit(plain, train[features], train["outcome"], weights), seconds, apart


def one(case: dict[str, Any], seed: int) -> dict[str, Any]:
    """The row of a case."""
    split = split_table(case["data"], case["sensitive"], case["features"], seed + case["split"])
    empty = dict.fromkeys(COLUMNS[len(KEY) :])
    sizes = {"train_rows": len(split.train), "test_rows": len(split.test)}
    try:
        model, seconds, apart = fitted(split, case["model"], case["algorithm"], seed + case["split"])
    except ImportError as error:
        raise MissingDependencyError(f"{error}: pip install 'justicia-verifier[compare]' cvxpy") from error
    except RuntimeError as error:
        return {**case, **empty, **sizes, "status": str(error)}
    audit = justicia.verify(
        model, split.test, sensitive_features=["sensitive"], label="outcome", favorable=split.favorable
    )
    impact, difference = audit.disparate_impact, audit.statistical_parity_difference
    right = model.predict(split.test[split.features]) == split.test["outcome"]
    of_rows = {name: held.sample.value for name, held in audit.groupings[0].measures.items()}
    rows = {name: None if held is None else float(held.lo) for name, held in of_rows.items()}
    return {
        **case,
        **sizes,
        "accuracy": float(right.mean()),
        "disparate_impact_lo": None if impact is None else float(impact.lo),
        "disparate_impact_hi": None if impact is None else float(impact.hi),
        "parity_difference_lo": None if difference is None else float(difference.lo),
        "parity_difference_hi": None if difference is None else float(difference.hi),
        "rows_disparate_impact": rows["disparate_impact"],
        "rows_parity_difference": rows["statistical_parity_difference"],
        "seconds": seconds,
        "weights_apart": apart,
        "status": "done",
    }


def cases(*, quick: bool) -> list[dict[str, Any]]:
    """Every case, split by split."""
    return [
        {"data": data, "sensitive": sensitive, "model": model, "features": features, "algorithm": algorithm, "split": n}
        for n in range(1 if quick else SPLITS)
        for data in (["german"] if quick else TABLES)
        for sensitive in TABLES[data].sensitive
        for features, algorithms in ALGORITHMS.items()
        for model in MODELS
        for algorithm in algorithms
        if not quick or (sensitive == "sex" and (model == "tree") == (algorithm == "optimised"))
    ]


def run(out: Path, *, quick: bool, progress: Reporter, seed: int = 0) -> None:
    """Compute the rows that are not there yet, and draw the figure."""
    rows = Rows(out / f"{NAME}.csv", COLUMNS, KEY)
    for case in progress.track(rows.todo(cases(quick=quick), lambda case: case), TITLE):
        with quiet():
            rows.add(one(case, seed))
    plot(rows.held, out / f"{NAME}.svg")


def _means(rows: list[dict[str, str]]) -> dict[tuple[str, ...], dict[str, float]]:
    """Means over the splits, by case."""
    held: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        if row["status"] == "done":
            held.setdefault(tuple(row[name] for name in KEY[:-1]), []).append(row)
    found = {}
    for key, several in held.items():
        numbers: dict[str, list[float]] = {name: [] for name in ("di", "spd", "rows_di", "rows_spd", "accuracy")}
        for row in several:
            for name, cells in (
                ("di", ("disparate_impact_lo", "disparate_impact_hi")),
                ("spd", ("parity_difference_lo", "parity_difference_hi")),
                ("rows_di", ("rows_disparate_impact",)),
                ("rows_spd", ("rows_parity_difference",)),
                ("accuracy", ("accuracy",)),
            ):
                known = [float(row[cell]) for cell in cells if row[cell] != ""]
                if known:
                    numbers[name].append(sum(known) / len(known))
        found[key] = {name: float(np.mean(several)) if several else np.nan for name, several in numbers.items()}
        found[key]["splits"] = len(several)
    return found


def plot(rows: list[dict[str, str]], path: Path) -> None:
    """Verified disparate impact before and after each algorithm."""
    means = {key: held for key, held in _means(rows).items() if "AIF360" not in key[4]}
    subjects = list(dict.fromkeys((key[0], key[1], key[2], key[3]) for key in means))
    figure, axis = new_figure(figsize=(7, 0.28 * len(subjects) + 1.2))
    for y, subject in enumerate(reversed(subjects)):
        before = means.get((*subject, "none"), {}).get("di")
        for algorithm, mark in (("reweighing", "o"), ("optimised", "s")):
            after = means.get((*subject, algorithm), {}).get("di")
            if before is not None and after is not None:
                shift = 0.15 if algorithm == "optimised" else 0
                axis.annotate(
                    "", (after, y + shift), (before, y + shift), arrowprops={"arrowstyle": "->", "color": "0.6"}
                )
                axis.plot(after, y + shift, mark, color="C0" if mark == "o" else "C1", markersize=4)
        if before is not None:
            axis.plot(before, y, "x", color="0.3", markersize=5)
    words = [f"{data}, {sensitive}, {model}, {features} features" for data, sensitive, model, features in subjects]
    axis.set_yticks(range(len(subjects)), list(reversed(words)), fontsize="x-small")
    axis.set(xlim=(0, 1.02), xlabel="verified disparate impact: before (x), reweighed (o), optimised (square)")
    save_figure(figure, path)


def section(folder: Path) -> str:
    """What the CSV file says."""
    rows = read_rows(folder / f"{NAME}.csv")
    means = _means(rows)
    subjects = list(dict.fromkeys(tuple(row[name] for name in KEY[:4]) for row in rows))

    def cell(subject: tuple[str, ...], algorithm: str, *names: str) -> str:
        held = means.get((*subject, algorithm))
        return "-" if held is None else " / ".join("-" if np.isnan(held[one]) else f"{held[one]:.3f}" for one in names)

    header = ["data", "sensitive", "model", "features", "before", "reweighed", "optimised", "accuracy"]
    lines = [
        [
            *subject,
            *(cell(subject, algorithm, "di", "rows_di") for algorithm in ("none", "reweighing", "optimised")),
            ", ".join(cell(subject, algorithm, "accuracy") for algorithm in ("none", "reweighing", "optimised")),
        ]
        for subject in subjects
    ]
    splits = sorted({int(held["splits"]) for held in means.values()})
    apart = [float(row["weights_apart"]) for row in rows if row["weights_apart"]]
    failed = sorted({(row["data"], row["sensitive"], row["status"]) for row in rows if row["status"] != "done"})
    parts = [
        "Seven tenths of the rows train, the others are audited. Disparate impact, verified under the default "
        f"population / of the rows; mean of {' or '.join(counted(one, 'split') for one in splits)}; `few`: two "
        "or three features in classes, which is what optimised pre-processing works on; accuracies before, reweighed "
        "and optimised. `-`: not asked, or undefined, for nobody is selected.",
        table(header, lines),
        _tally(means),
    ]
    if apart:
        parts.append(
            f"AIF360's `Reweighing` gives the same weights as `justicia.mitigation.reweigh`: over {len(apart)} fits "
            f"they are {max(apart):.1e} apart at most. {_times(rows)}"
        )
    if failed:
        parts.append("Not converged: " + "; ".join(f"{data}, {sensitive}: {says}" for data, sensitive, says in failed))
    for (data, sensitive, model), (source, before, after) in PAPER.items():
        beside = [
            [source, "-", f"{before[0]:g}", f"{after[0]:g}", f"{before[1]:g}", f"{after[1]:g}"],
            *(
                ["here", subject[3], *(cell(subject, algorithm, "di") for algorithm in ("none", "reweighing")),
                 *(cell(subject, algorithm, "spd") for algorithm in ("none", "reweighing"))]
                for subject in subjects
                if subject[:3] == (data, sensitive, model)
            ),
        ]  # fmt: skip
        parts += [
            f"Published, beside ours ({data}, {sensitive}, {model} regression, reweighing):",
            table(
                ["", "features", "disparate impact", "reweighed", "statistical parity difference", "reweighed"], beside
            ),
        ]
    return "\n\n".join(parts)


def _tally(means: dict[tuple[str, ...], dict[str, float]]) -> str:
    """How often an algorithm raised the verified disparate impact."""
    says = []
    for algorithm in ("reweighing", "optimised"):
        pairs = [
            (means[*key[:4], "none"]["di"], held["di"])
            for key, held in means.items()
            if key[4] == algorithm and (*key[:4], "none") in means
        ]
        known = [(before, after) for before, after in pairs if not np.isnan(before) and not np.isnan(after)]
        raised = sum(after > before for before, after in known)
        above = sum(after >= 0.8 for _, after in known)
        was = sum(before >= 0.8 for before, _ in known)
        says.append(
            f"{algorithm} raises the verified disparate impact in {raised} of {len(known)} cases, and to .8 or more in "
            f"{above}, where {was} had that before"
        )
    return f"{'; '.join(says).capitalize()}."


def _times(rows: list[dict[str, str]]) -> str:
    """Seconds of the algorithms."""
    parts = []
    for algorithm in ("reweighing", "reweighing (AIF360)", "optimised"):
        took = [float(row["seconds"]) for row in rows if row["algorithm"] == algorithm and row["seconds"]]
        if took:
            parts.append(f"{algorithm} {np.median(took):.3g} s")
    return f"Median time of the processor: {', '.join(parts)}."


if __name__ == "__main__":
    command(NAME, run, __doc__)()
