"""Logistic regression on raw Adult: certified rates against a million people drawn from the population."""

from __future__ import annotations

import numpy as np
import pytest

import justicia
from benchmarks.linear import adult

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("structure", ["independent", "tree"])
def test_monte_carlo_agrees(structure):
    model, people = adult()
    audit = justicia.verify(
        model, people.drop(columns="income"), sensitive_features=["race", "sex"], population=structure, favorable=">50K"
    )
    grouping = audit.groupings[0]
    assert grouping.solution.engine == "fourier"
    assert audit.self_check.rows == len(people)
    n, part = 1_000_000, 250_000
    for group in grouping.groups:
        lo, hi = float(group.selection_rate.lo), float(group.selection_rate.hi)
        assert hi - lo <= 1e-4
        rng = np.random.default_rng(group.n)
        selected = 0
        for _ in range(n // part):
            drawn = audit.population.sample(group.group, part, random_state=rng)
            selected += int((model.predict(drawn) == ">50K").sum())
        rate = selected / n
        error = np.sqrt(rate * (1 - rate) / n)
        assert lo - 4 * error <= rate <= hi + 4 * error
