"""Second routes: which one is taken, what it finds, and what is wrong is found."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia import cross_checking
from justicia.cli import main
from justicia.report.json import schema
from justicia.solvers import ENGINES, TooLargeError, external
from justicia.solvers.external.programs import Command
from tests.solvers.external.misbehaving import script
from tests.solvers.shifted_engine import ShiftedEngine


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch):
    """The same on every machine."""
    monkeypatch.setattr(external, "available", lambda: ())


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], size=n)
    a = rng.integers(0, 4, size=n) + (sex == "m")
    b = rng.integers(0, 3, size=n) + a // 2
    noise = rng.random(n)
    return pd.DataFrame({"sex": sex, "a": a, "b": b}), np.where(a + b + 2 * noise > 4, "yes", "no")


def audit(model, *, label=True, **options):
    table, label_values = people()
    fitted = model.fit(table[["a", "b"]], label_values)
    options.setdefault("sensitive_features", ["sex"])
    if label:
        options["y"] = label_values
    return justicia.verify(fitted, table, favorable="yes", cross_check=True, features=["a", "b"], **options)


MODELS = {
    "tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
    "logistic": lambda: LogisticRegression(),
    "forest": lambda: RandomForestClassifier(5, max_depth=3, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=0),
}


@pytest.mark.parametrize(
    ("family", "structure", "route", "name"),
    [
        ("tree", "auto", "formula", "clauses"),
        ("tree", "independent", "formula", "clauses"),
        ("tree", "empirical", "rows", "predict on every row"),
        ("logistic", "tree", "engine", "fourier"),
        ("forest", "empirical", "rows", "predict on every row"),
        ("forest", "tree", "monte carlo", "people drawn"),
        ("boosting", "auto", "monte carlo", "people drawn"),
    ],
)
def test_which_route_is_taken(family, structure, route, name):
    made = audit(MODELS[family](), population=structure)
    check = made.groupings[0].cross_check
    assert (check.status, made.exit_code) == ("agrees", 0)
    assert [(one.kind, one.route, one.name) for one in check.routes] == [
        (kind, route, name) for kind in ("selection_rate", "tpr", "fpr")
    ]
    for one in check.routes:
        assert (one.groups, one.agreed) == (2, 2)
        assert one.largest_difference < (0.01 if route == "monte carlo" else 1e-3 if family == "logistic" else 1e-9)
        assert (one.error_probability == 0) == (route != "monte carlo")
        assert one.error_probability <= 1e-6
    jsonschema.validate(made.to_dict(), schema())


def test_no_label_no_label_rates():
    check = audit(MODELS["tree"](), label=False).groupings[0].cross_check
    assert [one.kind for one in check.routes] == ["selection_rate"]


def test_without_the_option_there_is_none():
    table, label = people()
    fitted = MODELS["tree"]().fit(table[["a", "b"]], label)
    made = justicia.verify(fitted, table, sensitive_features=["sex"], favorable="yes", features=["a", "b"])
    assert made.groupings[0].cross_check is None
    assert json.loads(made.to_json())["groupings"][0]["cross_check"] is None


@pytest.mark.parametrize(
    ("family", "structure", "engine"),
    [
        ("tree", "auto", "paths"), ("tree", "empirical", "paths"), ("logistic", "tree", "sums"),
        ("forest", "tree", "branch_and_bound"), ("boosting", "auto", "branch_and_bound"),
    ],
)  # fmt: skip
def test_an_engine_that_is_wrong_by_a_hundredth_is_found(family, structure, engine, monkeypatch):
    monkeypatch.setitem(ENGINES, engine, ShiftedEngine(ENGINES[engine], 0.01))
    made = audit(MODELS[family](), population=structure, label=False)
    check = made.groupings[0].cross_check
    assert (check.status, made.exit_code) == ("disagrees", 4)
    assert made.groupings[0].solution.engine == engine
    assert "DISAGREES" in made.to_text()
    assert any("CROSS-CHECK DISAGREES" in warning for warning in made.warnings)
    held = json.loads(made.to_json())
    jsonschema.validate(held, schema())
    assert held["groupings"][0]["cross_check"]["disagreements"]


def test_a_second_route_that_is_wrong_is_found_too(monkeypatch):
    monkeypatch.setitem(ENGINES, "clauses", ShiftedEngine(ENGINES["clauses"], -0.01))
    assert audit(MODELS["tree"](), label=False).exit_code == 4


def test_a_disagreement_outweighs_a_breached_requirement(monkeypatch):
    monkeypatch.setitem(ENGINES, "paths", ShiftedEngine(ENGINES["paths"], 0.01))
    assert audit(MODELS["tree"](), label=False, require="disparate_impact>=0.999").exit_code == 4


def test_exit_code_of_the_command(monkeypatch, capsys):
    monkeypatch.setitem(ENGINES, "paths", ShiftedEngine(ENGINES["paths"], 0.01))
    with pytest.raises(SystemExit) as ended:
        main(["verify", "--model", "tree", "--data", "ricci", "--cross-check", "--quiet"])
    assert ended.value.code == 4
    out, err = capsys.readouterr()
    assert "CROSS-CHECK DISAGREES" in err
    assert "DISAGREES: selection_rate of White" in out


class HalfWay:
    """Bounds of the first group, nothing about the others, or a refusal."""

    name, tolerance = "clauses", 1e-4

    def __init__(self, engine, *, refuses):
        self._engine, self._refuses = engine, refuses

    def takes(self, decision):
        return True

    def solve(self, formula, effort):
        if self._refuses:
            raise TooLargeError("too large")
        solution = self._engine.solve(formula, effort)
        return replace(solution, lo=np.append(solution.lo[:1], 0.0), hi=np.append(solution.hi[:1], 1.0), stopped="time")


@pytest.mark.parametrize(("refuses", "counts"), [(True, [2]), (False, [1, 1])])
def test_what_one_route_leaves_open_the_next_one_takes(refuses, counts, monkeypatch):
    monkeypatch.setitem(ENGINES, "clauses", HalfWay(ENGINES["clauses"], refuses=refuses))
    check = audit(MODELS["tree"](), label=False).groupings[0].cross_check
    assert check.status == "agrees"
    assert [one.groups for one in check.routes] == counts
    assert check.routes[-1].route == "monte carlo"


def test_an_outside_solver_is_asked_before_people_are_drawn(monkeypatch, tmp_path):
    command = Command(f"{sys.executable} -m justicia solve --compatible {{file}}")
    monkeypatch.setattr(external, "available", lambda: ("mine",))
    monkeypatch.setattr(external, "outside_solver", lambda name: command)
    made = audit(MODELS["tree"](), label=False, solver="clauses")
    assert [one.route for one in made.groupings[0].cross_check.routes] == ["engine"]
    monkeypatch.setattr(cross_checking.solvers, "ENGINES", {"clauses": ENGINES["clauses"]})
    made = audit(MODELS["tree"](), label=False, solver="clauses")
    assert [one.route for one in made.groupings[0].cross_check.routes] == ["outside"]
    assert made.exit_code == 0
    wrong = Command(script(tmp_path, "print('# satisfying probability = 0.987654')"))
    monkeypatch.setattr(external, "outside_solver", lambda name: wrong)
    assert audit(MODELS["tree"](), label=False, solver="clauses").exit_code == 4
    broken = Command(script(tmp_path, "import os; os.abort()", "broken.py"))
    monkeypatch.setattr(external, "outside_solver", lambda name: broken)
    check = audit(MODELS["tree"](), label=False, solver="clauses").groupings[0].cross_check
    assert [one.route for one in check.routes if one.groups] == ["monte carlo"]


def test_without_any_route_the_audit_is_undecided(monkeypatch):
    def refused(self):
        return None

    monkeypatch.setattr(cross_checking._Check, "_by_drawing", refused)
    made = audit(MODELS["forest"](), label=False, population="tree")
    assert made.groupings[0].cross_check.status == "incomplete"
    assert made.groupings[0].cross_check.unchecked == {"selection_rate": 2}
    assert made.exit_code == 3
    assert any("no second route" in warning for warning in made.warnings)
    assert "no second route to 2 groups" in made.to_text()


def test_the_same_seed_draws_the_same_people(monkeypatch):
    monkeypatch.setattr(cross_checking, "_PEOPLE", 4000)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    texts = {audit(MODELS["forest"](), label=False, population="tree", time_limit=30, seed=s).to_json() for s in (1, 1)}
    assert len(texts) == 1


def test_learned_extremes_are_checked():
    check = audit(MODELS["tree"](), label=False, search="learn", population="tree").groupings[0].cross_check
    assert check.status == "agrees"


def test_populations_of_files_and_shifts_are_checked(tmp_path):
    table, label = people()
    fitted = MODELS["tree"]().fit(table[["a", "b"]], label)
    options = {"sensitive_features": ["sex"], "favorable": "yes", "features": ["a", "b"]}
    first = justicia.verify(fitted, table, **options)
    held = first.population_file()
    for more in ({"population": held}, {"shift": 0.05}, {"population": held, "shift": 0.05}):
        made = justicia.verify(fitted, table, cross_check=True, **options, **more)
        assert made.groupings[0].cross_check.status == "agrees"


def test_the_html_report_has_it(monkeypatch, tmp_path):
    target = tmp_path / "a.html"
    audit(MODELS["tree"](), label=False).to_html(target)
    assert "selection rates by the formula and engine clauses: 2 of 2 groups agree" in target.read_text()
    monkeypatch.setitem(ENGINES, "paths", ShiftedEngine(ENGINES["paths"], 0.01))
    audit(MODELS["tree"](), label=False).to_html(target)
    assert "DISAGREES: selection_rate of f" in target.read_text()
