"""Inputs that broke a command or made it say something wrong."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.errors import InputError
from justicia.report.reading import audit_from_json
from justicia.selftest import run_selftest
from justicia.solvers import external
from justicia.ssat import from_sdimacs
from justicia.tables.outcomes import parse_threshold


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 60), "age": rng.integers(18, 70, 60)})
    frame["good"] = (frame["age"] > 40).astype(int)
    return frame


@pytest.fixture
def tree(people):
    return DecisionTreeClassifier(max_depth=1).fit(people[["age"]], people["good"])


def test_d4_counts_where_definitions_settle_what_is_chosen():
    """3 = (1 or 2), random at .5 and .25: 3 holds with probability .625."""
    pytest.importorskip("py_d4")
    text = "p cnf 3 4\nr 0.5 1 0\nr 0.25 2 0\ne 3 0\n-1 3 0\n-2 3 0\n1 2 -3 0\n3 0\n"
    reply = external.outside_solver("d4").ask(from_sdimacs(text))
    assert reply.value == pytest.approx(0.625, abs=1e-12)
    free = "p cnf 2 1\nr 0.5 1 0\ne 2 0\n1 2 0\n"
    assert external.outside_solver("d4").ask(from_sdimacs(free)).value is None


def test_a_density_without_parents_leaves_a_whole_audit(people, tree, tmp_path):
    network = {
        "schema": "justicia.network/1",
        "variables": [
            {"name": "sex", "values": ["f", "m"], "probabilities": [0.5, 0.5]},
            {"name": "age", "uniform": {"from": 18, "to": 70}},
        ],
    }
    (tmp_path / "net.json").write_text(json.dumps(network))
    audit = justicia.verify(
        tree, people, sensitive_features=["sex"], favorable=1, population=str(tmp_path / "net.json"), label="good"
    )
    assert audit_from_json(audit.to_json())["groupings"][0]["population"]["parents"] == {}
    # The threshold is 40; what rounds to it in single precision, 2^-19 above it at most, is not above it.
    assert tree.tree_.threshold[0] == 40.0
    assert float(audit.groupings[0].most_favored.selection_rate) == pytest.approx((30 - 2**-19) / 52, abs=1e-12)


@pytest.mark.parametrize("seed", [-1, 2**32, 0.5, True, "1"])
def test_seeds_that_start_nothing(people, tree, seed):
    with pytest.raises(InputError, match="seed is a whole number from 0 to"):
        justicia.verify(tree, people, sensitive_features=["sex"], favorable=1, seed=seed, check_fit=True)
    with pytest.raises(InputError, match="seed is a whole number"):
        run_selftest(1.0, seed=seed)


@pytest.mark.parametrize("text", ["1e-400", "1e400", "-1e999", ">1e-999"])
def test_thresholds_that_no_float_holds(text):
    with pytest.raises(InputError, match="no score can be compared with"):
        parse_threshold(text)
    assert parse_threshold("0").threshold == 0.0
    assert parse_threshold("0.000").threshold == 0.0


def test_a_report_of_decisions_speaks_of_no_model():
    frame = pd.DataFrame({"group": ["a"] * 20 + ["b"] * 20, "hired": [1] * 12 + [0] * 8 + [1] * 6 + [0] * 14})
    text = justicia.audit_decisions(frame, decision="hired", favorable=1, sensitive_features=["group"]).to_html()
    shown = text.split("<script")[0]
    assert "the model says yes" not in shown
    assert "Computed from the model" not in shown


def test_strange_values_are_named_once(tmp_path):
    frame = pd.read_csv(io.StringIO("sex,good\n" + "Male,1\nFemale,0\n" * 10))
    (tmp_path / "who.rule").write_text("(sex > 3)")
    with pytest.raises(InputError, match="holds Male, Female in 20 rows"):
        justicia.verify(str(tmp_path / "who.rule"), frame, sensitive_features=["sex"], label="good")
