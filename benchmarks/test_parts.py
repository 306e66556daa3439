"""Parts of an audit inside one process: python -m pytest benchmarks --benchmark-only."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia import encoders, models, population, solvers
from justicia.ssat import Formula


@pytest.fixture(scope="module", params=[10, 10_000])
def audited(request):
    """A tree audited on 100,000 people in 10 or 10,000 groups."""
    rng = np.random.default_rng(0)
    n = 100_000
    frame = pd.DataFrame({f"s{i}": rng.integers(0, 10, n).astype(str) for i in range(4)})
    for i in range(6):
        frame[f"x{i}"] = rng.normal(size=n) + frame[f"s{i % 4}"].astype(int) / 10
    columns = [f"x{i}" for i in range(6)]
    label = (frame[columns].sum(axis=1) + rng.normal(size=n) > 2).astype(int)
    model = DecisionTreeClassifier(max_depth=6, random_state=0).fit(frame[columns], label)
    sensitive = ["s0"] if request.param == 10 else ["s0", "s1", "s2", "s3"]
    return frame[columns], model, justicia.verify(model, frame, sensitive_features=sensitive)


def test_encode(benchmark, audited):
    frame, model, _ = audited
    benchmark(encoders.encode, models.unwrap(model), frame, [1])


@pytest.mark.parametrize("search", ["enumerate", "learn"])
def test_solve(benchmark, audited, search):
    frame, model, audit = audited
    decision, _ = encoders.encode(models.unwrap(model), frame, [1])
    formula = Formula(audit.population, decision)
    benchmark(solvers.ENGINES["paths"].solve, formula, solvers.Effort(search))


@pytest.mark.parametrize("structure", list(population.STRUCTURES))
def test_fit(benchmark, audited, structure):
    frame, model, audit = audited
    _, domain = encoders.encode(models.unwrap(model), frame, [1])
    held = audit.population
    groups = np.random.default_rng(0).integers(0, held.n_groups, len(frame))
    counts = population.Counts(held.groups, domain.sizes, groups, domain.points(frame))
    benchmark(population.fit, structure, counts, domain, held.sensitive)
