"""How wide ranges of rates over shifts of the population are, and how near found populations come to their ends.

For the default decision tree of each bundled data set under `--population tree`: the certain range of every rate of
every group, the range that populations found by search reach, and 1,000 random populations within the radius, half of
them with every row at its edge, all of which must lie in the certain range.

    python -m experiments.shifts --out experiments/results
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

import justicia
from experiments.running import Reporter, Rows, command, of_one, read_rows, table
from justicia.datasets import names
from justicia.population import NetworkPopulation
from justicia.population.shifts import supports
from justicia.solvers import Effort, pick
from justicia.ssat import Formula

__all__ = ["NAME", "TITLE", "parts", "run"]

NAME = "shifts"
TITLE = "How wide are ranges of rates over shifts?"

RADII = (0.05, 0.2)
KEY = ["data", "radius", "random", "seed"]
COLUMNS = [*KEY, "rates", "median_width", "median_excess", "largest_excess", "random_rates", "random_outside"]


def random_shift(population: NetworkPopulation, radius: float, rng: np.random.Generator) -> NetworkPopulation:
    """A random population within the radius; probability moves between states."""
    held = supports(population.nodes)
    edge = rng.random() < 0.5
    nodes = []
    for node in population.nodes:
        table = node.table
        support = np.zeros((len(table), table.shape[2]), dtype=bool)
        for state in range(table.shape[2]):
            support[:, state] = held[node.feature][:, node.states == state].any(axis=1)
        # Few states get most of it, so that many shifts are extreme.
        other = rng.gamma(0.1, size=table.shape) * support[:, None, :] + 1e-300 * support[:, None, :]
        other /= other.sum(axis=2, keepdims=True)
        apart = np.abs(other - table).sum(axis=2, keepdims=True) / 2
        step = np.minimum(1.0, radius / np.maximum(apart, 1e-300))
        step = step if edge else step * rng.random(step.shape)
        nodes.append(type(node)(node.feature, node.parents, table + step * (other - table), node.states, node.within))
    return NetworkPopulation(
        population.structure, population.domain, population.sensitive, population.groups, population.sizes, tuple(nodes)
    )


def study(data: str, radius: float, n_random: int, rng: np.random.Generator) -> dict[str, Any]:
    """Widths of one data set."""
    audit = justicia.verify("tree", data, population="tree", shift=radius)
    widths, excess, outside, drawn = [], [], 0, 0
    engine = pick("paths", audit.decision)
    for grouping in audit.groupings:
        for group in grouping.groups:
            for rate in group.shift.values():
                if rate.found is None:
                    raise ValueError(f"{data}: no population was looked for")
                reached = float(rate.found.hi) - float(rate.found.lo)
                certain = float(rate.within.hi) - float(rate.within.lo)
                widths.append(certain)
                if reached > 0:
                    excess.append(certain / reached - 1)
        population = grouping.population
        ranges = [grouping.groups[i].selection_rate for i in range(population.n_groups)]
        for _ in range(n_random):
            found = engine.solve(Formula(random_shift(population, radius, rng), audit.decision), Effort())
            for rate, held in zip(found.lo, ranges, strict=True):
                drawn += 1
                outside += not float(held.lo) - 1e-12 <= rate <= float(held.hi) + 1e-12
    return {
        "rates": len(widths),
        "median_width": float(np.median(widths)),
        # What rounding makes of two equal widths may be below 0.
        "median_excess": max(float(np.median(excess)), 0.0),
        "largest_excess": max(*excess, 0.0),
        "random_rates": drawn,
        "random_outside": outside,
    }


def run(
    out: Path,
    *,
    quick: bool,
    progress: Reporter,
    seed: int = 0,
    radius: tuple[float, ...] = RADII,
    draws: int = 1000,
) -> None:
    """Compute the rows that are not there yet."""
    data, draws = (("titanic",), 20) if quick else (names(), draws)
    rows = Rows(out / f"{NAME}.csv", COLUMNS, KEY)
    cases = [{"data": one, "radius": far, "random": draws, "seed": seed} for one in data for far in radius]
    for case in progress.track(rows.todo(cases, lambda case: case), TITLE):
        rng = np.random.default_rng([seed, names().index(case["data"]), round(1e6 * case["radius"])])
        rows.add({**case, **study(case["data"], case["radius"], draws, rng)})


def parts(folder: Path) -> dict[str, str]:
    """The table of the page on shifts."""
    header = [
        "data set", "radius", "rates", "median width of the range", "median excess", "largest excess",
        "rates of random populations outside",
    ]  # fmt: skip
    lines = [
        [
            row["data"],
            row["radius"].removeprefix("0"),
            row["rates"],
            of_one(float(row["median_width"]), 3),
            f"{100 * float(row['median_excess']):.1f} %",
            f"{100 * float(row['largest_excess']):.1f} %",
            f"{int(row['random_outside']):,} of {int(row['random_rates']):,}",
        ]
        for row in read_rows(folder / f"{NAME}.csv")
    ]
    return {"excess": table(header, lines)}


if __name__ == "__main__":
    command(
        NAME,
        run,
        __doc__,
        click.option(
            "--radius", multiple=True, type=click.FloatRange(0, 1), default=RADII, show_default=True, help="Repeatable."
        ),
        click.option(
            "--random", "draws", type=click.IntRange(min=1), default=1000, show_default=True, help="Random populations."
        ),
    )()
