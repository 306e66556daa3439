"""How wide ranges of rates over shifts of the population are, and how near found populations come to their ends.

For the default decision tree of each bundled data set under `--population tree`: the certain range of every rate of
every group, the range that populations found by search reach, and 1,000 random populations within the radius, half of
them with every row at its edge, all of which must lie in the certain range.

    python -m experiments.shifts --out experiments/results
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

import justicia
from justicia.datasets import names
from justicia.population import NetworkPopulation
from justicia.population.shifts import supports
from justicia.solvers import Effort, pick
from justicia.ssat import Formula


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


def study(data: str, radius: float, n_random: int, rng: np.random.Generator) -> dict[str, object]:
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
        "data": data, "radius": radius, "rates": len(widths), "median_width": round(float(np.median(widths)), 4),
        "median_excess": round(float(np.median(excess)), 4), "largest_excess": round(max(excess), 4),
        "random_rates": drawn, "random_outside": outside,
    }  # fmt: skip


def main() -> None:
    """Run the study and write its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--radius", type=float, nargs="+", default=[0.05, 0.2])
    parser.add_argument("--random", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("experiments/results"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(options.seed)
    rows = [study(data, radius, options.random, rng) for data in names() for radius in options.radius]
    with (options.out / "shifts.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        print(*row.values())


if __name__ == "__main__":
    main()
