"""How often intervals of rates hold what they claim to hold, when the population is known.

Each population is a known distribution of a few features in one to four groups of 30 to 5,000 people, some of its cells
rare or empty, with a random decision tree. A simulation draws the rows, fits a population and takes every interval at
confidence .95:

- `clopper_pearson`: of the people's own rates, simultaneous over the groups;
- `total_variation`, `confidence_box`: of the rates of the people's projection on the fitted structure;
- `given_structure`: of the people's own rates, counted where they follow the fitted structure;
- `bootstrap`: of the projection's rates, one by one; `bootstrap_impact`: of their disparate impact.

An interval of several groups holds when all of them do. One as wide as .99 or more says nothing, and is counted as
such. Under `independent`, the replicates of all simulations are drawn as counts and verified at once; under `tree`,
structures are learned anew in every simulation and replicate, and fewer simulations get a bootstrap.

    python -m experiments.coverage --out experiments/results
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np

from experiments.running import (
    Reporter,
    Rows,
    command,
    new_figure,
    of_one,
    read_rows,
    save_figure,
    table,
    wrapped,
)
from justicia import bootstrap, population, solvers
from justicia.bounding import TABLES_SHARE, bound_rates, projection_bounds
from justicia.encoders.decisions import Tree
from justicia.metrics import Rates, measure, simultaneous_clopper_pearson
from justicia.population import Counts, Domain, Feature, NetworkPopulation
from justicia.questions import Asked, Question
from justicia.ssat import Formula
from justicia.tallies import Tally as Counted
from justicia.words import counted

__all__ = ["CAPTION", "NAME", "TITLE", "known", "parts", "plot", "populations", "run", "section"]

NAME = "coverage"
TITLE = "How often do intervals hold?"
CAPTION = "Coverage, and width by that of Clopper and Pearson's interval; a mark a population"

CONFIDENCE = 0.95
NOTHING = 0.99
"""An interval of this width says nothing."""
LEAST = 0.05
"""Some group has a rate of at least this, and is as often rejected."""
_AT_ONCE = 250
"""Simulations that are bounded together."""
METHODS = {
    "clopper_pearson": "Clopper-Pearson, simultaneous",
    "total_variation": "total variation",
    "confidence_box": "confidence box",
    "given_structure": "given structure",
    "bootstrap": "bootstrap, one rate",
    "bootstrap_impact": "bootstrap, disparate impact",
}
CLAIMED = tuple(METHODS)[:4]
"""Intervals that claim to hold however many rows there are."""
KEY = ["population", "fitted", "simulations", "bootstrapped", "replicates", "seed"]
COLUMNS = [
    *KEY, "method", "counted", "coverage", "at_least", "says_nothing", "width", "width_to_clopper_pearson",
    "people_rates",
]  # fmt: skip


@dataclass(frozen=True)
class Known:
    """A known population with a decision.

    Attributes
    ----------
    name : str
    structure : str
        That is fitted.
    domain : Domain
    joint : float64 array of shape (n_groups, n_points)
        Probability of every domain point in each group, in the order of `points`.
    sizes : int array of shape (n_groups,)
        People drawn in each group.
    decision : Tree
    """

    name: str
    structure: str
    domain: Domain
    joint: np.ndarray
    sizes: np.ndarray
    decision: Tree

    @property
    def points(self) -> np.ndarray:
        """Every domain point, int array of shape (n_points, n_features)."""
        return np.stack([axis.ravel() for axis in np.indices(self.domain.sizes)], axis=1)

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """Names of the groups."""
        return tuple((f"g{i}",) for i in range(len(self.sizes)))

    def rates(self) -> np.ndarray:
        """Rates of the people."""
        return self.joint @ self.decision.evaluate(self.points)

    def projected(self, parents: tuple[int, ...]) -> np.ndarray:
        """Rates of the projection on a structure, given each feature's parent or -1."""
        cube = self.joint.reshape(len(self.sizes), *self.domain.sizes)
        every = range(len(parents))
        probability = np.ones_like(self.joint)
        for feature, parent in enumerate(parents):
            kept = {feature, parent}
            pair = cube.sum(axis=tuple(1 + i for i in every if i not in kept), keepdims=True)
            above = pair.sum(axis=1 + feature, keepdims=True)
            table = np.divide(pair, above, out=np.zeros_like(pair), where=above > 0)
            probability *= np.broadcast_to(table, cube.shape).reshape(self.joint.shape)
        return probability @ self.decision.evaluate(self.points)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Rows at each domain point, int array of shape (n_groups, n_points)."""
        return rng.multinomial(self.sizes, self.joint)


def random_tree(rng: np.random.Generator, sizes: tuple[int, ...], depth: int) -> Tree:
    """A random decision tree over the cells."""
    left, right, feature, goes, accepts = [], [], [], [], []

    def grow(level: int) -> int:
        node = len(left)
        for held, value in ((left, -1), (right, -1), (feature, -1), (goes, np.zeros(0, bool)), (accepts, False)):
            held.append(value)
        if level == depth or (level > 1 and rng.random() < 0.25):
            accepts[node] = bool(rng.random() < 0.5)
            return node
        feature[node] = int(rng.integers(len(sizes)))
        goes[node] = rng.permutation(sizes[feature[node]]) < rng.integers(1, sizes[feature[node]])
        left[node], right[node] = grow(level + 1), grow(level + 1)
        return node

    grow(0)
    return Tree(sizes, np.array(left), np.array(right), np.array(feature), tuple(goes), np.array(accepts))


def known(
    seed: int, structure: str, truth: str, sizes: tuple[int, ...], people: tuple[int, ...], steady: float
) -> Known:
    """A random population: `steady` is large for cells of like probability, small for rare ones.

    Parameters
    ----------
    seed : int
    structure : str
        That is fitted.
    truth : str
        "independent"; "chain": each feature depends on the one before it; "any": no structure.
    sizes : tuple of int
        Cells of each feature.
    people : tuple of int
        By group.
    steady : float
        Of the Dirichlet distribution that tables are drawn from; below 1 a fifth of the cells are empty.
    """
    rng = np.random.default_rng(seed)

    def tables(*shape: int) -> np.ndarray:
        drawn = rng.gamma(steady, size=shape) + 1e-9
        if steady < 1:
            drawn *= (rng.random(shape) > 0.2) | (drawn == drawn.max(axis=-1, keepdims=True))
        return drawn / drawn.sum(axis=-1, keepdims=True)

    n_groups = len(people)
    if truth == "any":
        joint = tables(n_groups, int(np.prod(sizes)))
    else:
        cube = tables(n_groups, sizes[0])
        for above, size in pairwise(sizes):
            table = tables(n_groups, above if truth == "chain" else 1, size)
            cube = cube[..., None] * np.broadcast_to(table, (n_groups, above, size)).reshape(
                n_groups, *[1] * (cube.ndim - 2), above, size
            )
        joint = cube.reshape(n_groups, -1)
    features = [
        Feature(f"x{i}", tuple(map(str, range(size))), tuple(range(size)), cells={v: v for v in range(size)})
        for i, size in enumerate(sizes)
    ]
    name = f"{truth} {'x'.join(map(str, sizes))}, {'/'.join(map(str, people))}" + (", skewed" if steady < 1 else "")
    while True:
        found = Known(
            name, structure, Domain(tuple(features)), joint, np.array(people), random_tree(rng, sizes, 4)
        )  # fmt: skip
        if ((found.rates() > LEAST) & (found.rates() < 1 - LEAST)).any():
            return found


def populations() -> list[Known]:
    """Those of the study."""
    fitted_independent = [
        ("independent", (2, 2), (30,), 1.0),
        ("independent", (2, 3), (30, 60), 0.4),
        ("independent", (3, 3, 2), (30, 200), 1.0),
        ("independent", (2, 2, 2), (50, 50, 50), 0.4),
        ("independent", (4, 3), (100, 400), 0.4),
        ("independent", (3, 2, 2), (120, 80, 1000), 5.0),
        ("independent", (5, 4), (300, 60, 900, 40), 1.0),
        ("independent", (2, 2, 2, 2), (500, 500), 0.4),
        ("independent", (6, 5, 3), (1000, 3000), 1.0),
        ("independent", (3, 3, 3, 2), (5000, 100), 0.4),
        ("chain", (3, 3), (60, 600), 1.0),
        ("chain", (2, 3, 2), (200, 2000), 0.4),
        ("any", (2, 2, 3), (100, 1000), 0.4),
        ("any", (4, 4), (5000, 30), 1.0),
    ]
    fitted_tree = [
        ("chain", (2, 2), (30,), 1.0),
        ("chain", (2, 2), (60, 200), 0.4),
        ("chain", (3, 2), (100, 100, 100), 1.0),
        ("chain", (3, 3), (500, 80), 0.4),
        ("chain", (2, 2, 2), (1000, 200), 1.0),
        ("chain", (2, 3, 2), (3000, 400), 0.4),
        ("chain", (3, 3, 3), (5000,), 1.0),
        ("independent", (2, 2, 2), (400, 400), 1.0),
        ("any", (2, 2, 2), (500, 1500), 0.4),
        ("any", (3, 3), (2000, 50), 1.0),
    ]
    return [known(100 + i, "independent", *given) for i, given in enumerate(fitted_independent)] + [
        known(200 + i, "tree", *given) for i, given in enumerate(fitted_tree)
    ]


@dataclass
class Tally:
    """What the simulations of one interval found."""

    held: list[np.ndarray]
    widths: list[np.ndarray]

    def row(self, method: str, reference: np.ndarray) -> dict[str, Any]:
        """A line of the table; `reference` are the widths of Clopper and Pearson's intervals."""
        held, widths = np.concatenate(self.held), np.concatenate(self.widths)
        coverage = float(held.mean())
        error = float(np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / len(held)))
        return {
            "method": method, "counted": len(held), "coverage": coverage, "at_least": CONFIDENCE - 3 * error,
            "says_nothing": float((widths >= NOTHING).mean()), "width": float(np.median(widths)),
            "width_to_clopper_pearson": float(np.median(widths) / np.median(reference)),
        }  # fmt: skip


class Tallies:
    """Tallies by method."""

    def __init__(self) -> None:
        self._held: dict[str, Tally] = {}

    def add(self, method: str, low: np.ndarray, high: np.ndarray, truth: np.ndarray, alone: bool = False) -> None:
        """Count intervals of shape (n_simulations, n_groups) that hold together, or each alone."""
        tally = self._held.setdefault(method, Tally([], []))
        inside = (low <= truth + 1e-12) & (truth <= high + 1e-12)
        tally.held.append(inside.ravel() if alone else inside.all(axis=-1))
        tally.widths.append((high - low).ravel())

    def rows(self) -> list[dict[str, Any]]:
        """Lines of the table."""
        reference = np.concatenate(self._held["clopper_pearson"].widths)
        return [tally.row(method, reference) for method, tally in self._held.items()]


def simulate_independent(case: Known, simulations: int, replicates: int, seed: int) -> list[dict[str, Any]]:
    """All simulations of a population, many at once: each one's groups are groups of one large population."""
    rng, tallies, n_groups = np.random.default_rng(seed), Tallies(), len(case.sizes)
    points, engine = case.points.astype(np.int32), solvers.pick("auto", case.decision)
    projection = case.projected((-1,) * len(case.domain.sizes))
    follows = np.allclose(projection, case.rates(), atol=1e-12)
    for start in range(0, simulations, _AT_ONCE):
        size = min(_AT_ONCE, simulations - start)
        drawn = np.stack([case.draw(rng) for _ in range(size)]).reshape(size * n_groups, -1)
        rows, columns = np.nonzero(drawn)
        keys = tuple((str(i),) for i in range(len(drawn)))
        counts = Counts(keys, case.domain.sizes, rows, points[columns], drawn[rows, columns])
        fitted = population.fit("independent", counts, case.domain, ("g",))
        solution = engine.solve(Formula(fitted, case.decision), solvers.Effort())
        shape = (size, n_groups)
        k = (drawn @ case.decision.evaluate(points)).reshape(shape)
        low, high = np.stack(
            [np.stack(simultaneous_clopper_pearson(one, case.sizes, CONFIDENCE), axis=0) for one in k], axis=1
        )
        tallies.add("clopper_pearson", low, high, case.rates())
        error = TABLES_SHARE * (1 - CONFIDENCE)
        around, below, above = projection_bounds(
            fitted, counts, case.decision, solution, error, together=n_groups
        )  # fmt: skip
        rate = solution.lo
        sides = np.maximum(rate - around, 0).reshape(shape), np.minimum(rate + around, 1).reshape(shape)
        tallies.add("total_variation", *sides, projection)
        tallies.add("confidence_box", below.reshape(shape), above.reshape(shape), projection)
        if follows:
            inner = np.stack(
                [np.stack(simultaneous_clopper_pearson(one, case.sizes, CONFIDENCE + error)) for one in k], axis=1
            )
            narrowed = np.maximum(inner[0], below.reshape(shape)), np.minimum(inner[1], above.reshape(shape))
            tallies.add("given_structure", *narrowed, projection)
        again = _redrawn(case, fitted, replicates, rng)
        for one in range(size):
            mine = slice(one * n_groups, (one + 1) * n_groups)
            found = bootstrap.deviations(rate[mine], rate[mine], again[:, mine], again[:, mine])
            _add_bootstrap(
                tallies,
                bootstrap.alone(found, CONFIDENCE, case.sizes),
                bootstrap.together([found], CONFIDENCE, [case.sizes])[0],
                projection,
            )
    return tallies.rows()


def _redrawn(case: Known, fitted: population.Population, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """Rates of replicates under independent features, of shape (n_replicates, n_groups)."""
    engine, found = solvers.pick("auto", case.decision), []
    for _ in range(replicates):
        nodes = tuple(
            population.Node(
                node.feature, (),
                (rng.multinomial(fitted.sizes, node.table[:, 0]) / fitted.sizes[:, None])[:, None],
                node.states, None,
            )
            for node in fitted.nodes
        )  # fmt: skip
        again = NetworkPopulation("independent", case.domain, ("g",), fitted.groups, fitted.sizes, nodes)
        found.append(engine.solve(Formula(again, case.decision), solvers.Effort()).lo)
    return np.stack(found)


def _add_bootstrap(tallies: Tallies, rates: Any, bands: Any, truth: np.ndarray) -> None:
    ends = [np.array([[float(getattr(one, end)) for one in rates]]) for end in ("lo", "hi")]
    tallies.add("bootstrap", *ends, truth, alone=True)
    impact = measure("disparate_impact", Rates(bands)).value
    whole = truth.min() / truth.max() if truth.max() > 0 else None
    if impact is not None and whole is not None and len(truth) > 1:
        tallies.add(
            "bootstrap_impact", np.array([[float(impact.lo)]]), np.array([[float(impact.hi)]]), np.array([whole])
        )


def simulate_tree(case: Known, simulations: int, bootstrapped: int, replicates: int, seed: int) -> list[dict[str, Any]]:
    """All simulations of a population whose structure is learned, one by one."""
    rng, tallies, n_groups = np.random.default_rng(seed), Tallies(), len(case.sizes)
    points, engine = case.points.astype(np.int32), solvers.pick("auto", case.decision)
    selected, truth = case.decision.evaluate(points), case.rates()
    projections: dict[tuple[int, ...], np.ndarray] = {}
    for number in range(simulations):
        drawn = case.draw(rng)
        rows, columns = np.nonzero(drawn)
        counts = Counts(case.keys, case.domain.sizes, rows, points[columns], drawn[rows, columns])
        fitted = population.fit("tree", counts, case.domain, ("g",))
        solution = engine.solve(Formula(fitted, case.decision), solvers.Effort())
        parents = [-1] * len(case.domain.sizes)
        for node in fitted.nodes:
            parents[node.feature] = node.parents[0] if node.parents else -1
        projection = projections.setdefault(tuple(parents), case.projected(tuple(parents)))
        k = drawn @ selected
        low, high = simultaneous_clopper_pearson(k, case.sizes, CONFIDENCE)
        tallies.add("clopper_pearson", low[None], high[None], truth)
        held = bound_rates(fitted, counts, case.decision, solution, k, CONFIDENCE)
        follows = np.allclose(projection, truth, atol=1e-12)
        for name, bound in held.items():
            if name != "given_structure" or follows:
                # Where a bound says nothing, it is 0 to 1; where rows refute the structure, it holds nothing.
                empty = (2.0, 1.0) if "refuted" in (bound.reason or "") else (0.0, 1.0)
                ends = [empty if one is None else (float(one.lo), float(one.hi)) for one in bound.values]
                tallies.add(name, *np.array(ends).T[:, None], projection)
        if number < bootstrapped:
            everybody = np.arange(n_groups)
            counted = Counted(counts, everybody, np.repeat(everybody, case.sizes), frozenset())
            asked = Asked(fitted, solution, everybody, counted)
            question = Question(
                case.decision, case.domain, counts.points, None, (), {}, "tree", engine, solvers.Effort()
            )
            made = bootstrap.resample(
                question, case.name, {"selection_rate": asked}, n_groups, replicates, CONFIDENCE, number
            )
            impact = made.measures.get("disparate_impact")
            ends = np.array([[(float(one.lo), float(one.hi)) for one in made.rates["selection_rate"]]])
            tallies.add("bootstrap", ends[..., 0], ends[..., 1], projection, alone=True)
            if impact is not None and projection.max() > 0:
                whole = np.array([projection.min() / projection.max()])
                tallies.add("bootstrap_impact", np.array([[float(impact.lo)]]), np.array([[float(impact.hi)]]), whole)
    return tallies.rows()


def run(
    out: Path,
    *,
    quick: bool,
    progress: Reporter,
    seed: int = 0,
    simulations: int = 1000,
    bootstrapped: int = 100,
    replicates: int = 100,
    people: str = "",
) -> None:
    """Simulate the populations that are not there yet, and draw the figure."""
    cases = list(enumerate(populations()))
    if quick:
        cases, simulations, bootstrapped, replicates = [cases[0], cases[14]], 40, 3, 39
    rows = Rows(out / f"{NAME}.csv", COLUMNS, [*KEY, "method"])
    settings = {"simulations": simulations, "bootstrapped": bootstrapped, "replicates": replicates, "seed": seed}
    wanted = [(at, case, {"population": case.name, "fitted": case.structure, **settings}) for at, case in cases]
    todo = [
        (at, case, key)
        for at, case, key in wanted
        # The bootstrap's rows are the last ones to be written.
        if people in case.name and {**key, "method": "bootstrap"} not in rows
    ]
    for at, case, key in progress.track(todo, TITLE):
        stream = at + 1000 * seed
        found = (
            simulate_tree(case, simulations, bootstrapped, replicates, stream)
            if case.structure == "tree"
            else simulate_independent(case, simulations, replicates, stream)
        )
        rates = {"people_rates": " ".join(repr(float(rate)) for rate in case.rates())}
        # A run that was stopped between two of these has some already.
        for row in sorted(found, key=lambda row: row["method"] == "bootstrap"):
            if {**key, "method": row["method"]} not in rows:
                rows.add({**key, **row, **rates})
    plot(rows.held, out / f"{NAME}.svg")


Held = dict[tuple[str, str], dict[str, dict[str, str]]]


def _by_population(folder: Path) -> Held:
    """Rows by population and fitted structure, then by method."""
    held: Held = defaultdict(dict)
    for row in read_rows(folder / f"{NAME}.csv"):
        held[row["population"], row["fitted"]][row["method"]] = row
    return held


def parts(folder: Path) -> dict[str, str]:
    """The table of the page on bounds, and what it says."""
    held = _by_population(folder)
    lines, failing = [], {}
    for method, words in METHODS.items():
        mine = {key: one[method] for key, one in held.items() if method in one}
        if not mine:
            continue
        coverage = [float(row["coverage"]) for row in mine.values()]
        widths = [float(row["width_to_clopper_pearson"]) for row in mine.values()]
        nothing = [float(row["says_nothing"]) for row in mine.values() if float(row["says_nothing"]) > 0]
        failing[method] = [key for key, row in mine.items() if float(row["coverage"]) < float(row["at_least"])]
        lines.append(
            [
                words,
                f"{len(mine)}" + (" that follow it" if method == "given_structure" else ""),
                f"{of_one(min(coverage), 3)}, {of_one(median(coverage), 3)}",
                "1"
                if method == "clopper_pearson"
                else ", ".join(of_one(one, 2) for one in (min(widths), median(widths), max(widths))),
                f"in {counted(len(nothing), 'population')}, up to {100 * max(nothing):.0f} % of the times"
                if nothing
                else "never",
            ]
        )
    header = [
        "interval", "populations", "coverage: least, median", "width / Clopper-Pearson's: least, median, most",
        "says nothing",
    ]  # fmt: skip
    return {"intervals": table(header, lines), "in words": wrapped(_says(held, failing))}


def _says(held: Held, failing: dict[str, list[tuple[str, str]]]) -> str:
    """Which intervals covered as often as they claim."""
    claimed = [(METHODS[method], key) for method in CLAIMED for key in failing.get(method, [])]
    least = min(float(one["clopper_pearson"]["at_least"]) for one in held.values())
    says = (
        f"Each of the first four covered at least .95 less three standard errors ({of_one(least, 3)}) in "
        "every population."
        if not claimed
        else "Less than .95 less three standard errors was covered by "
        + "; ".join(f"{method} in `{population}` under `{fitted}`" for method, (population, fitted) in claimed)
        + "."
    )
    missed = failing.get("bootstrap", [])
    n = sum("bootstrap" in one for one in held.values())
    says += f" The bootstrap of one rate did so in {n - len(missed)} of {n}"
    cases = []
    for key in missed:
        row = held[key]["bootstrap"]
        rates = [float(one) for one in row["people_rates"].split()]
        certain = [f"one group's rate is exactly {one:.0f}" for one in rates if min(one, 1 - one) < 1e-12]
        cases.append(
            f"it covered {of_one(float(row['coverage']), 3)} in `{key[0]}` under `{key[1]}`"
            + (f", where {certain[0]}" if certain else "")
        )
    return f"{says}: {'; '.join(cases)}." if cases else f"{says}."


def section(folder: Path) -> str:
    """A line a population."""
    held = _by_population(folder)
    methods = [method for method in METHODS if method != "bootstrap_impact"]
    lines = []
    for (people, fitted), one in held.items():
        cells = []
        for method in methods:
            row = one.get(method)
            width = (
                ""
                if row is None or method == "clopper_pearson"
                else f" ({of_one(float(row['width_to_clopper_pearson']), 2)})"
            )
            cells.append("-" if row is None else of_one(float(row["coverage"]), 3) + width)
        lines.append([people, fitted, *cells, of_one(float(one["total_variation"]["says_nothing"]), 2)])
    settings = [next(iter(one.values())) for one in held.values()]
    simulations, bootstrapped, replicates = (
        max(int(row[name]) for row in settings) for name in ("simulations", "bootstrapped", "replicates")
    )
    return "\n\n".join(
        [
            f"{len(held)} known populations (`independent`: each feature for itself; `chain`: each depends on the one "
            f"before it; `any`: no structure), {simulations:,} simulations each at confidence .95; the bootstrap with "
            f"{replicates} replicates, under learned trees in {bootstrapped} simulations. Intervals of all groups hold "
            "together but for the bootstrap's, which hold one by one. Share of simulations in which they held, and in "
            "brackets their width by that of Clopper and Pearson's intervals (medians); `-`: the people do not follow "
            "the fitted structure. How often a total variation bound says nothing (is as wide as .99) stands last. "
            "[Bounds](bounds.md) says what each interval is.",
            table(
                [
                    "people: cells, group sizes", "fitted",
                    *(METHODS[method].split(",")[0] for method in methods), "says nothing",
                ],
                lines,
            ),
        ]
    )  # fmt: skip


def plot(rows: list[dict[str, str]], path: Path) -> None:
    """Coverage, and width in units of Clopper and Pearson's, of every interval; one mark a population."""
    methods = [method for method in METHODS if any(row["method"] == method for row in rows)]
    figure, axes = new_figure(1, 2, figsize=(10, 4))
    for place, method in enumerate(methods):
        mine = [row for row in rows if row["method"] == method]
        spread = place + np.linspace(-0.3, 0.3, len(mine))
        axes[0].plot(spread, [float(row["coverage"]) for row in mine], "o", ms=4)
        axes[1].semilogy(spread, [max(float(row["width_to_clopper_pearson"]), 1e-2) for row in mine], "o", ms=4)
    axes[0].axhline(CONFIDENCE, color="gray", lw=1)
    axes[1].axhline(1.0, color="gray", lw=1)
    axes[0].set_ylabel("coverage")
    axes[1].set_ylabel("median width / Clopper and Pearson's")
    for axis in axes:
        axis.set_xticks(range(len(methods)), [method.replace("_", "\n") for method in methods], fontsize=8)
    save_figure(figure, path)


if __name__ == "__main__":
    command(
        NAME,
        run,
        __doc__,
        click.option("--simulations", type=click.IntRange(min=1), default=1000, show_default=True),
        click.option(
            "--bootstrapped",
            type=click.IntRange(min=1),
            default=100,
            show_default=True,
            help="Simulations of learned trees with a bootstrap.",
        ),
        click.option("--replicates", type=click.IntRange(min=39), default=100, show_default=True),
        click.option("--population", "people", default="", help="Only populations whose name holds this text."),
    )()
