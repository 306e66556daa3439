"""The learned extremes of linear models are those of enumeration, and few groups are finished."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import justicia
from justicia.encoders import LinearThreshold
from justicia.population import NetworkPopulation
from justicia.solvers import Effort, Fourier
from justicia.solvers.sum_bounds import SumBounds
from justicia.ssat import Formula
from tests.solvers.test_fourier import chain, decision, independent


def compound(population: NetworkPopulation, columns: tuple[int, ...]) -> NetworkPopulation:
    """The same groups, named by several sensitive columns."""
    names = [tuple(map(str, code)) for code in np.ndindex(*columns)]
    return NetworkPopulation(
        population.structure,
        population.domain,
        tuple(f"s{i}" for i in range(len(columns))),
        tuple(names),
        population.sizes,
        population.nodes,
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("structure", ["independent", "tree"])
def test_bounds_of_sets_hold_for_every_group(seed, structure):
    rng = np.random.default_rng(seed)
    columns = (3, 2, 3)
    n_groups = int(np.prod(columns))
    if structure == "independent":
        shares = [rng.dirichlet(np.full(size, 8.0), size=n_groups) for size in (3, 5, 4)]
        population = compound(independent(shares), columns)
    else:
        population = compound(chain(rng, n_groups, [3, 5, 4], 3), columns)
        # Groups differ little, so that the bounds mean something.
        for node in population.nodes:
            node.table[:] = 0.9 * node.table.mean(axis=0) + 0.1 * node.table
            if node.within is not None:
                node.within[:] = node.within[:1]
    held = decision([rng.normal(size=size) for size in (3, 5, 4)], base=0.3)
    if seed % 2:
        held = LinearThreshold(held.contributions, held.base, 0.0, False, held.slack)
    every = Fourier().solve(Formula(population, held), Effort(tolerance=1e-5))
    bounds = SumBounds(held, population, 1e-5, None)
    narrower = 0
    for level, starts in enumerate(bounds.hierarchy.starts):
        low, high = bounds.bounds(level, np.arange(len(starts)))
        ends = np.append(starts[1:], n_groups)
        for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
            members = bounds.hierarchy.order[start:end]
            assert low[i] <= every.hi[members].min() + 1e-12
            assert every.lo[members].max() <= high[i] + 1e-12
            narrower += low[i] > 0 and high[i] < 1
    assert narrower > 0
    learned = Fourier().solve(Formula(population, held), Effort(search="learn", tolerance=1e-5))
    assert learned.search == "learn"
    assert learned.lo[learned.best] == pytest.approx(every.lo.max(), abs=2e-5)
    assert learned.hi[learned.worst] == pytest.approx(every.hi.min(), abs=2e-5)
    assert (learned.lo <= every.hi + 1e-12).all()
    assert (every.lo <= learned.hi + 1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("structure", ["independent", "tree"])
def test_a_structured_case_finishes_few_groups(structure):
    # 10,000 observed groups of 6 people; income and hours depend on two of the four sensitive columns.
    rng = np.random.default_rng(0)
    codes = np.indices((10, 10, 10, 10)).reshape(4, -1).T.repeat(6, axis=0)
    frame = pd.DataFrame(codes, columns=["s0", "s1", "s2", "s3"]).astype(str)
    frame["income"] = np.round(rng.normal(size=len(frame)) + 0.25 * codes[:, 0], 1)
    frame["hours"] = rng.integers(10, 60, size=len(frame)) + 2 * codes[:, 1]
    frame["label"] = (frame["income"] + frame["hours"] / 20 + rng.normal(size=len(frame)) > 4).astype(int)
    steps = make_column_transformer(
        (StandardScaler(), ["income", "hours"]), (OneHotEncoder(), ["s0", "s1"]), sparse_threshold=0.0
    )
    columns = ["income", "hours", "s0", "s1"]
    model = make_pipeline(steps, LogisticRegression(max_iter=500)).fit(frame[columns], frame["label"])
    sensitive = ["s0", "s1", "s2", "s3"]
    audits = [
        justicia.verify(
            model, frame[[*columns, "s2", "s3"]], sensitive_features=sensitive, population=structure, search=search,
            tolerance=1e-3, solver="fourier",
        )
        for search in ("enumerate", "learn")
    ]  # fmt: skip
    every, learned = (audit.groupings[0] for audit in audits)
    for name in ("most_favored", "least_favored"):
        one, other = getattr(every, name), getattr(learned, name)
        assert float(other.selection_rate.lo) == pytest.approx(float(one.selection_rate.lo), abs=2e-3)
        # Groups within the tolerance of each other may take turns; the extreme is among the learned candidates.
        assert one.group in other.candidates
    assert every.solution.groups_evaluated == 10_000
    assert learned.solution.groups_evaluated <= 1_000
