from __future__ import annotations

import pytest

import justicia
from justicia import solvers
from justicia.errors import InputError
from justicia.ssat import Formula
from tests.conftest import adult_pipeline


def test_a_time_limit_gives_bounds_that_hold_the_rate(adult):
    model = adult_pipeline(adult, max_depth=14)
    exact = justicia.verify(model, adult, sensitive_features=["race", "sex"], population="tree")
    limited = justicia.verify(
        model,
        adult,
        sensitive_features=["race", "sex"],
        population="tree",
        time_limit=0,
        require="disparate_impact>=0.8",
    )
    solution = limited.groupings[0].solution
    assert solution.guarantee == "bounds"
    for bound, rate in zip(solution.enclosures, exact.groupings[0].solution.enclosures, strict=True):
        assert bound.lo <= rate.lo <= bound.hi
    assert limited.exit_code == 3
    assert limited.to_dict()["solver"]["guarantee"] == "bounds"
    assert len(limited.groupings[0].most_favored.candidates) == 10
    assert "to 1.0000" in limited.to_text()


def test_formula_says_what_is_asked(adult, adult_tree):
    audit = justicia.verify(adult_tree, adult, sensitive_features=["race", "sex"])
    text = str(Formula(audit.population, None))
    assert text.startswith("∃ race × sex (10), R age")


def test_unknown_solver(adult, adult_tree):
    with pytest.raises(InputError, match="did you mean paths"):
        justicia.verify(adult_tree, adult, solver="path")
    assert solvers.ENGINES["paths"].takes(None) is False
