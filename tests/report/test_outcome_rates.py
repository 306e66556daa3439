"""Rates by true outcome beside the selection rate: fitted apart, they do not add up, and the report says so."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import justicia

_SAYS = "each under a population fitted to these people alone"


@pytest.fixture(scope="module")
def case():
    cells = {(1, 1, 1): 45, (1, 1, 0): 15, (0, 0, 1): 30, (0, 0, 0): 30}
    table = pd.DataFrame([cell for cell, n in cells.items() for _ in range(n)], columns=["x", "z", "outcome"])
    grid = pd.DataFrame([(0, 0), (0, 1), (1, 0), (1, 1)], columns=["x", "z"])
    return DecisionTreeClassifier().fit(grid, grid["x"] & grid["z"]), table.assign(sex="f")


def test_the_example_of_the_documentation(case):
    audit = justicia.verify(*case, sensitive_features="sex", label="outcome", population="independent")
    (group,) = audit.groupings[0].groups
    rates = [float(getattr(group, kind).lo) for kind in ("selection_rate", "tpr", "fpr")]
    assert rates == pytest.approx([1 / 4, 0.6**2, 1 / 9])
    share = Fraction(75, 120)
    assert float(share) * rates[1] + float(1 - share) * rates[2] == pytest.approx(0.2667, abs=5e-5)
    assert _SAYS in " ".join(audit.to_text().split())


def test_the_rows_themselves_add_up(case):
    audit = justicia.verify(*case, sensitive_features="sex", label="outcome", population="empirical")
    (group,) = audit.groupings[0].groups
    assert Fraction(75, 120) * group.tpr.lo + Fraction(45, 120) * group.fpr.lo == pytest.approx(0.5)
    assert group.selection_rate.lo == pytest.approx(0.5)
    assert _SAYS not in " ".join(audit.to_text().split())
