"""Formulas of populations that come from a file."""

from __future__ import annotations

from itertools import product

import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.errors import InputError
from justicia.solvers import solve_clauses
from justicia.ssat import from_sdimacs

NETWORK = """
network people { }
variable sex { type discrete [ 2 ] { Female, Male }; }
variable age { type discrete [ 3 ] { young, middle, old }; }
variable income { type discrete [ 2 ] { low, high }; }
probability ( sex ) { table 0.4, 0.6; }
probability ( age | sex ) { (Female) 0.2, 0.3, 0.5; (Male) 0.5, 0.25, 0.25; }
probability ( income | sex, age ) {
  (Female, young) 0.9, 0.1; (Female, middle) 0.7, 0.3; (Female, old) 0.5, 0.5;
  (Male, young) 0.8, 0.2; (Male, middle) 0.4, 0.6; (Male, old) 0.3, 0.7;
}
"""


def value(encoded):
    return float(solve_clauses(from_sdimacs(encoded.to_sdimacs())).value)


def test_a_network_with_tables_that_depend_on_the_group(tmp_path):
    """Yes to the middle-aged with a high income, and to old men: .3 x .3 of women, .25 x .6 + .25 of men."""
    rows = pd.DataFrame(
        list(product(["Female", "Male"], ["young", "middle", "old"], ["low", "high"])),
        columns=["sex", "age", "income"],
    )
    yes = ((rows.age == "middle") & (rows.income == "high")) | ((rows.age == "old") & (rows.sex == "Male"))
    model = make_pipeline(OneHotEncoder(), DecisionTreeClassifier(random_state=0))
    model.fit(rows, yes.map({True: "y", False: "n"}))
    file = tmp_path / "people.bif"
    file.write_text(NETWORK)
    options = {"sensitive_features": ["sex"], "favorable": "y", "population": str(file)}
    assert value(justicia.encode(model, rows, **options)) == pytest.approx(0.4, abs=1e-12)
    assert value(justicia.encode(model, rows, question="least favored", **options)) == pytest.approx(0.09, abs=1e-12)
    assert value(justicia.encode(model, rows, question="dual", **options)) == pytest.approx(0.91, abs=1e-12)
    assert value(justicia.encode(model, rows, group={"sex": "Female"}, **options)) == pytest.approx(0.09, abs=1e-12)


@pytest.mark.parametrize("structure", ["tree", "auto", "empirical"])
def test_a_stored_population_has_the_rates_of_the_audit(structure, tmp_path):
    audit = justicia.verify("tree", "german", population=structure)
    rates = audit.groupings[0].solution.lo
    file = tmp_path / "german.json"
    audit.population_file().to_json(file)
    encoded = justicia.encode("tree", "german", population=str(file))
    assert value(encoded) == pytest.approx(float(max(rates)), abs=1e-9)
    encoded = justicia.encode("tree", "german", population=str(file), question="least favored")
    assert value(encoded) == pytest.approx(float(min(rates)), abs=1e-9)


def test_cells_that_the_model_divides_are_refused():
    """Two halves of a number's cell have other outcomes: the rate has bounds, and no formula has those."""
    rows = pd.DataFrame({"sex": ["f", "m"] * 500, "score": range(1000)})
    model = DecisionTreeClassifier(max_depth=1).fit(rows[["score"]], rows.score > 433)
    held = justicia.fit_population(rows, sensitive_features=["sex"], cells=4, keep=["score"])
    with pytest.raises(InputError, match="tells apart"):
        justicia.encode(model, rows, sensitive_features=["sex"], favorable=True, population=held)
