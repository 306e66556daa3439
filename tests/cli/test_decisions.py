"""``justicia verify --decisions`` as a user runs it, and the options about rows beside a model."""

from __future__ import annotations

import json
import pickle

import jsonschema
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from justicia.report.json import schema
from tests.cli.test_cli import run
from tests.decision_cases import INTERSECTION, decided


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with d.csv, people of two groups whose ratio is four fifths exactly, as the current one."""
    decided({"f": (3, 5), "m": (3, 4)}).to_csv(tmp_path / "d.csv", index=False)
    decided(INTERSECTION, ("race", "sex"), "yes", "no").to_csv(tmp_path / "i.csv", index=False)
    decided({"f": (0, 5), "m": (0, 4)}).to_csv(tmp_path / "nobody.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def verify(capsys, table, *words, decision="hired"):
    return run(capsys, "verify", "--decisions", table, "--decision", decision, *words)


def test_gates_in_the_command_and_in_junit(capsys, folder):
    gate = ("--require", "sample.disparate_impact>=0.8", "--junit", "gate.xml")
    code, out, _ = verify(capsys, "d.csv", *gate)
    assert code == 0
    assert "✓ met" in out
    assert 'failures="0" errors="0"' in (folder / "gate.xml").read_text()
    code, out, _ = verify(capsys, "i.csv", *gate)
    assert code == 1
    assert "✗ breached" in out
    assert 'failures="1"' in (folder / "gate.xml").read_text()
    code, out, _ = verify(capsys, "nobody.csv", *gate)
    assert code == 3
    assert "every selection rate is 0" in out
    assert 'errors="1"' in (folder / "gate.xml").read_text()


def test_json_on_standard_output_and_in_a_file(capsys, folder):
    code, out, _ = verify(capsys, "i.csv", "--tests", "--json", "-", "--sensitive", "race,sex")
    audit = json.loads(out)
    jsonschema.Draft202012Validator(schema()).validate(audit)
    assert code == 0
    assert audit["command"][:3] == ["justicia", "verify", "--decisions"]
    assert audit["data"]["source"] == "i.csv"
    assert len(audit["groupings"]) == 1
    assert audit["groupings"][0]["adverse_impact"]["reference"] == {"race": "W", "sex": "f"}
    code, out, _ = verify(capsys, "i.csv", "--json", "a.json")
    assert "Audit of decisions" in out
    jsonschema.Draft202012Validator(schema()).validate(json.loads((folder / "a.json").read_text()))


def test_equal_inputs_give_equal_bytes(capsys, folder, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    first = verify(capsys, "i.csv", "--json", "-", "--tests")[1]
    assert verify(capsys, "i.csv", "--json", "-", "--tests")[1] == first


BAD = {
    "verified": (("--require", "disparate_impact>=0.8"), "write sample.disparate_impact>=0.8"),
    "population": (("--population", "tree"), "decisions have no model, so --population says nothing"),
    "model": (("--model", "tree"), "--model says nothing"),
    "data": (("--data", "adult"), "--data says nothing"),
    "seed": (("--seed", "1"), "--seed says nothing"),
    "json over input": (("--json", "d.csv"), "would be written over"),
    "no such value": (("--favorable", "hired"), "favorable outcome 'hired' is not in the decision column"),
    "weight": (("--weight", "hird"), "weight column 'hird' is not in the table"),
    "reference": (("--reference", "sex=x"), "nobody has 'x'"),
    "missing": (("--missing", "bound"), "did you mean bounds"),
    "layout": (("--layout", "ll144"), "one column of sex and one of race"),
    "few": (("--min-group", "-1"), "min-group"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_calls_give_one_line_and_exit_code_two(capsys, folder, kind):
    words, says = BAD[kind]
    code, out, err = verify(capsys, "d.csv", *words)
    last = [line for line in err.splitlines() if line.startswith("justicia: ")]
    assert code == 2
    assert len(last) == 1
    assert says in last[0]
    assert "Traceback" not in err
    assert out == ""


def test_options_of_decisions_need_decisions(capsys, folder):
    code, _, err = run(capsys, "verify", "--model", "tree", "--data", "titanic", "--score", "fare")
    assert code == 2
    assert "name it with --decisions" in err
    code, _, err = run(capsys, "verify", "--model", "tree")
    assert code == 2
    assert "--data is missing" in err
    code, _, err = run(capsys, "verify", "--decisions", "none.csv", "--decision", "x")
    assert code == 2
    assert "there is no such file" in err


def test_thresholds_layout_and_small_groups(capsys, folder):
    table = pd.read_csv("i.csv").assign(s=[i / 290 for i in range(290)])
    table.to_csv("s.csv", index=False)
    code, out, _ = run(
        capsys, "verify", "--decisions", "s.csv", "--score", "s", "--threshold", ".3,>.5", "--sensitive", "sex"
    )
    assert code == 0
    assert "s >= .3" in out
    assert "s > .5" in out
    code, out, _ = run(capsys, "verify", "--decisions", "s.csv", "--score", "s", "--layout", "ll144", "--json", "-")
    assert code == 0
    assert json.loads(out)["layout"]["median_of"] == 290
    code, out, _ = verify(capsys, "i.csv", "--min-group", "50", "--sensitive", "race,sex")
    assert "left out of every measure" in out
    code, out, _ = verify(capsys, "i.csv", "--suppress-below", "11")
    assert code == 0
    assert "suppressed" in out


def test_rows_beside_a_model(capsys, folder):
    table = pd.read_csv("i.csv").assign(w=[1 + i % 3 for i in range(290)])
    table["x"] = (table["hired"] == "yes") ^ (table.index % 5 == 0)
    table.loc[::30, "race"] = None
    table.to_csv("p.csv", index=False)
    model = DecisionTreeClassifier(max_depth=2).fit(table[["x"]], table["hired"])
    (folder / "tree.pkl").write_bytes(pickle.dumps(model))
    base = ("verify", "--model", "tree.pkl", "--data", "p.csv", "--label", "hired", "--json", "-")
    code, out, _ = run(capsys, *base, "--missing", "bounds", "--tests")
    audit = json.loads(out)
    jsonschema.Draft202012Validator(schema()).validate(audit)
    assert code == 0
    assert audit["groupings"][0]["missing_bounds"]["people"] == 10
    assert audit["groupings"][0]["adverse_impact"] is not None
    assert audit["data"]["rows_used"] == 280
    low = audit["groupings"][0]["missing_bounds"]["disparate_impact"]
    assert low["lo"] <= audit["groupings"][0]["measures"]["disparate_impact"]["sample"]["value"] <= low["hi"]
    code, out, _ = run(capsys, *base, "--missing", "drop", "--weight", "w", "--min-group", "40")
    audit = json.loads(out)
    jsonschema.Draft202012Validator(schema()).validate(audit)
    assert audit["weight"] == {"column": "w", "kind": "sampling", "says": audit["weight"]["says"]}
    assert audit["publishing"]["min_group"] == 40
    code, out, _ = run(capsys, *base[:-2], "--missing", "drop", "--tests", "--min-group", "40", "--weight", "w")
    assert "rows against the highest rate" in out
    assert "in no extreme, measure or test" in out
    code, _, err = run(capsys, *base, "--missing", "drop", "--suppress-below", "10")
    assert code == 2
    assert "--decisions" in err


def test_a_requirement_on_rows_is_judged_by_the_range_beside_a_model(capsys, folder):
    table = pd.concat(
        [decided({"f": (45, 100), "m": (50, 100)}), pd.DataFrame({"sex": [None] * 20, "hired": [1, 0] * 10})]
    )
    table = table.assign(x=table["hired"])
    table.to_csv("p.csv", index=False)
    (folder / "tree.pkl").write_bytes(pickle.dumps(DecisionTreeClassifier().fit(table[["x"]], table["hired"])))
    base = ("verify", "--model", "tree.pkl", "--data", "p.csv", "--missing", "bounds", "--population", "empirical")
    assert run(capsys, *base, "--require", "sample.disparate_impact>=0.75")[0] == 0
    assert run(capsys, *base, "--require", "sample.disparate_impact>=0.76")[0] == 3
    assert run(capsys, *base, "--require", "disparate_impact>=0.9")[0] == 0  # verified, of those whose group is known
