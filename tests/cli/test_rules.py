"""Rules from the command line: learned on the spot, or stated in a file."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest

import justicia
from justicia import datasets
from justicia.models import load_model, save_rule
from justicia.report.json import schema
from justicia.ssat import from_sdimacs
from tests.cli.test_cli import run

TABLE = """sex,age,"capital gain",income
Male,25,0,<=50K
Male,40,0,>50K
Male,40.5,2000,>50K
Female,30,1500,>50K
Female,41,0,<=50K
Female,,3000,<=50K
"""
RULE = """# who is accepted
if (sex = Male or "capital gain" >= 1000) and age > 40
then ">50K"
else "<=50K"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(TABLE)
    (tmp_path / "who.rule").write_text(RULE)
    return tmp_path


def test_a_rule_in_a_file(folder, capsys):
    code, out, err = run(
        capsys, "verify", "--model", "who.rule", "--data", "people.csv", "--population", "empirical", "--json", "a.json"
    )
    assert code == 0
    lines = out.splitlines()
    at = lines.index("rule        favorable (>50K) when all of these hold, otherwise <=50K:")
    assert lines[at + 1].strip() == '(sex = Male or "capital gain" >= 1000)'
    assert lines[at + 2].strip() == "(age > 40)"
    # Male: 40.5 alone is above 40; Female: 41 has no gain, and the one with a gain has no age.
    held = json.loads((folder / "a.json").read_text())
    jsonschema.Draft202012Validator(schema()).validate(held)
    rates = {row["group"]["sex"]: row["selection_rate"]["lo"] for row in held["groupings"][0]["groups"]}
    assert rates == {"Male": pytest.approx(1 / 3, abs=1e-15), "Female": 0.0}
    rule = held["model"]["rule"]
    assert rule["text"] == '(sex = Male or "capital gain" >= 1000) and (age > 40)'
    assert (rule["holds"], rule["fails"], rule["favorable"], rule["form"]) == (">50K", "<=50K", "holds", "CNF")
    assert rule["parts"][1] == [{"column": "age", "test": ">", "number": 40.0}]
    assert "no row has" not in err


@pytest.mark.parametrize("name", ["who.json", "who.txt"])
def test_other_forms_of_the_file_give_the_same(folder, capsys, name):
    save_rule(load_model(folder / "who.rule").predictor, folder / name)
    options = ("--data", "people.csv", "--population", "tree", "--quiet")
    first = run(capsys, "verify", "--model", "who.rule", *options)
    again = run(capsys, "verify", "--model", name, *options)
    assert again[0] == first[0] == 0
    assert again[1].replace(name, "who.rule") == first[1]


def test_the_other_class_may_be_the_favorable_one(folder, capsys):
    out = run(capsys, "verify", "--model", "who.rule", "--data", "people.csv", "--favorable", "<=50K", "--quiet")[1]
    assert "unfavorable (>50K) when all of these hold, otherwise <=50K:" in out


def test_a_value_that_no_row_has_is_named(folder, capsys):
    (folder / "typo.rule").write_text("sex = Mael or age > 40")
    code, _, err = run(capsys, "verify", "--model", "typo.rule", "--data", "people.csv")
    assert code == 0
    assert "warning: no row has sex = Mael, which the rule asks for; did you mean Male?" in err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("age > forty", "bad.rule: line 1, column 7: forty stands where a number is expected"),
        ("(age > 40", "bad.rule: line 1, column 10: the rule ends where ) is expected"),
        ("agee > 40", "the table lacks agee, which the model was fitted on; did you mean age?"),
        ("sex > 40", "column 'sex' holds Male, Female in 6 rows, and the rule compares it with numbers"),
    ],
)
def test_errors_are_one_line(folder, capsys, text, says):
    (folder / "bad.rule").write_text(text)
    code, out, err = run(capsys, "verify", "--model", "bad.rule", "--data", "people.csv", "--quiet")
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.strip().splitlines()) == 1


def test_a_rule_is_written_in_clauses_as_it_is(folder, capsys):
    options = ("--model", "who.rule", "--data", "people.csv", "--population", "independent", "--group", "sex=Male")
    code, out, _ = run(capsys, "encode", *options)
    assert code == 0
    formula = from_sdimacs(out)
    (folder / "q.sdimacs").write_text(out)
    # 40.5 alone of three ages; sex is Male for sure, so that clause is none.
    assert run(capsys, "solve", "q.sdimacs")[1].splitlines()[0] == "value       0.333333333333"
    assert formula.clauses[-1] == (-3,)
    options = (*options[:-1], "sex=Female")
    out = run(capsys, "encode", *options)[1]
    # Her rule: a gain, and an age; both are clauses of one literal, and all other variables are the population's.
    assert "c variable 1: capital gain in {< 1000, (missing)}" in out
    assert "c variable 3: age in {<= 40, (missing)}" in out
    assert out.splitlines()[-2:] == ["-1 0", "-3 0"]
    dual = run(capsys, "encode", *options, "--favorable", "<=50K")[1]
    assert dual.splitlines()[-1] == "1 3 0"
    audit = justicia.verify("who.rule", "people.csv", population="independent")
    assert float(audit.by_group["selection_rate"].loc["Male"]) == pytest.approx(1 / 3, abs=1e-15)


OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in ("adult", "compas", "german", "titanic")]


@pytest.mark.parametrize("name", ["ricci", *OTHERS])
def test_a_learned_rule_is_printed_beside_the_audit(capsys, name):
    code, out, err = run(capsys, "verify", "--data", name, "--model", "cnf")
    assert code == 0
    description = datasets.describe(name)
    lines = out.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("rule "))
    assert f"favorable ({description.favorable}) when all of these hold, otherwise " in lines[first]
    assert lines[first + 1].strip().startswith("(")
    assert any(line.startswith("engine      satisfied_clauses, exact") for line in lines)
    again = run(capsys, "verify", "--data", name, "--model", "cnf", "--json", "-", "--quiet")[1]
    held = json.loads(again)
    jsonschema.Draft202012Validator(schema()).validate(held)
    assert held["model"]["class"] == "justicia.learners.cnf.CNFClassifier"
    words = held["model"]["rule"]["words"]
    printed = " ".join(line.strip() for line in lines[first + 1 :])
    assert all(word in printed for word in words)
    assert not any("was not fitted on" in line for line in err.splitlines())


def test_a_model_without_a_rule_has_none_in_the_json(folder):
    frame = pd.DataFrame({"sex": ["f", "m"] * 20, "x": np.arange(40), "y": [0, 1, 1, 0] * 10})
    held = justicia.verify("tree", frame, sensitive_features="sex", label="y").to_dict()
    assert held["model"]["rule"] is None
    held = justicia.verify("cnf", frame, sensitive_features="sex", label="y").to_dict()
    assert held["model"]["rule"]["schema"] == "justicia.rule/1"
    constant = justicia.verify("cnf", frame.assign(y=1), sensitive_features="sex", label="y")
    assert constant.to_dict()["model"]["rule"]["holds"] is None
    assert "everybody gets a favorable outcome" in constant.to_text()
    jsonschema.Draft202012Validator(schema()).validate(constant.to_dict())
