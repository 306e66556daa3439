"""``justicia population`` and the options of ``justicia verify`` that go with it, as a user runs them."""

from __future__ import annotations

import hashlib
import io
import json
import pickle

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from justicia.population.stored import schema
from justicia.report.json import schema as audit_schema
from tests.cli.test_cli import run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with people.csv and tree.pkl, and that folder as the current one."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"race": rng.choice(["A, B", "C"], 80), "sex": rng.choice(["f", "m"], 80)})
    frame["x"] = rng.integers(0, 30, 80)
    frame["hired"] = np.where(frame["x"] + rng.integers(0, 9, 80) > 18, "yes", "no")
    frame.to_csv(tmp_path / "people.csv", index=False)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(frame[["x"]], frame["hired"])
    (tmp_path / "tree.pkl").write_bytes(pickle.dumps(tree))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def verify(*more):
    return ("verify", "--model", "tree.pkl", "--data", "people.csv", *more)


def test_fit_show_verify_sample(capsys, folder):
    code, out, err = run(
        capsys, "population", "fit", "people.csv", "--sensitive", "race,sex", "--label", "hired", "--structure", "tree",
        "--out", "pop.json",
    )  # fmt: skip
    assert (code, out) == (0, "")
    assert "rows of people" not in err
    jsonschema.Draft202012Validator(schema()).validate(json.loads((folder / "pop.json").read_text()))

    code, out, _ = run(capsys, "population", "show", "pop.json")
    assert code == 0
    assert "structure     tree: each feature depends on the group" in out
    assert "race x sex: 4 groups" in out
    assert "hired: yes favorable, no not" in out
    assert "x: probability" not in out
    code, out, _ = run(capsys, "population", "show", "pop.json", "--feature", "x", "--group", "sex=f")
    assert "x: probability by group" in out
    assert "A, B, f" in out
    assert "A, B, m" not in out
    assert "A, B, m" in run(capsys, "population", "show", "pop.json", "--all")[1]
    assert run(capsys, "population", "show", "pop.json", "--of", "favorable", "--feature", "x")[0] == 0

    code, out, err = run(capsys, *verify("--population", "pop.json", "--json", "-"))
    assert code == 0
    audit = json.loads(out)
    assert [grouping["sensitive"] for grouping in audit["groupings"]] == [["race", "sex"]]
    assert audit["groupings"][0]["groups"][0]["tpr"] is not None
    assert "as in the population; override with --sensitive" in err

    code, out, _ = run(
        capsys, "population", "sample", "pop.json", "--rows", "5", "--group", "race=A, B,sex=f", "--out", "-"
    )
    drawn = pd.read_csv(io.StringIO(out))
    assert code == 0
    assert drawn.shape == (5, 3)
    assert set(drawn["race"]) == {"A, B"}
    again = ("population", "sample", "pop.json", "--rows", "5", "--seed", "0", "--group", "race=A, B,sex=f")
    assert run(capsys, *again, "--out", "drawn.csv")[0] == 0
    assert (folder / "drawn.csv").read_text() == out
    assert run(capsys, *again[:5], "--seed", "1", "--out", "-")[1] != out


def test_rows_of_people_are_called_so_at_writing_and_in_show(capsys, folder):
    for structure in ("auto", "empirical"):
        words = ("population", "fit", "people.csv", "--out", "pop.json", "--structure", structure, "--quiet")
        _, _, err = run(capsys, *words)
        assert "warning: pop.json contains rows of people" in err
        assert "rows of people" in run(capsys, "population", "show", "pop.json")[1]
    _, _, err = run(capsys, *verify("--population-out", "out.json"))
    assert "out.json contains rows of people" in err


def test_what_an_audit_wrote_gives_its_answer_again(capsys, folder):
    first = ("--sensitive", "race,sex", "--population", "tree", "--population-out", "tables.json", "--json", "-")
    code, one, _ = run(capsys, *verify(*first))
    assert code == 0
    _, other, _ = run(capsys, *verify("--population", "tables.json", "--json", "-"))
    one, other = json.loads(one), json.loads(other)
    jsonschema.Draft202012Validator(audit_schema()).validate(other)
    digest = hashlib.sha256((folder / "tables.json").read_bytes()).hexdigest()
    assert one["groupings"][0]["population"].pop("file") is None
    assert other["groupings"][0]["population"].pop("file") == {"name": "tables.json", "sha256": digest}
    assert "tables.json, tree: each feature" in run(capsys, *verify("--population", "tables.json"))[1]
    assert one["groupings"] == other["groupings"]
    _, text, _ = run(capsys, *verify("--sensitive", "sex", "--population", "tree", "--population-out", "-"))
    assert json.loads(text)["schema"] == "justicia.population/1"


def test_data_sets_by_name_and_parquet(capsys, folder):
    pd.read_csv("people.csv").to_parquet("people.parquet")
    for data in ("ricci", "people.parquet"):
        words = ("population", "fit", data, "--out", "pop.json", "--structure", "independent", "--quiet")
        assert run(capsys, *words)[0] == 0
    code, _, _ = run(capsys, *verify("--population", "pop.json"))
    assert code == 0


def test_equal_inputs_give_equal_files(capsys, folder, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    texts = [run(capsys, "population", "fit", "people.csv", "--out", "-", "--quiet")[1] for _ in range(2)]
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["created"] == "1970-01-01T00:00:00Z"


BAD = {
    "no table": (("fit", "none.csv", "--out", "p.json"), "none.csv: there is no such file"),
    "out is the table": (("fit", "people.csv", "--out", "people.csv"), "is read as an input"),
    "out nowhere": (("fit", "people.csv", "--out", "no/where.json"), "there is no folder"),
    "structure": (("fit", "people.csv", "--out", "p.json", "--structure", "tre"), "did you mean tree"),
    "sensitive": (("fit", "people.csv", "--out", "p.json", "--sensitive", "sx"), "did you mean sex"),
    "cells": (("fit", "people.csv", "--out", "p.json", "--cells", "1"), "2 or more"),
    "missing": (("fit", "people.csv", "--out", "p.json", "--missing", "gone"), "missing cannot be"),
    "leave out": (("fit", "people.csv", "--out", "p.json", "--leave-out", "y"), "there is no such column"),
    "bins": (("fit", "people.csv", "--out", "p.json", "--bins", "x"), "name=one,two"),
    "label": (("fit", "people.csv", "--out", "p.json", "--label", "hird"), "did you mean hired"),
    "no file": (("show", "none.json"), "there is no such population file"),
    "no json": (("show", "people.csv"), "people.csv: the file is no JSON"),
    "feature": (("show", "pop.json", "--feature", "xx"), "no feature 'xx'"),
    "group": (("show", "pop.json", "--group", "sex=q"), "no group is sex q"),
    "group form": (("show", "pop.json", "--group", "f"), "column=value"),
    "of": (("show", "pop.json", "--of", "women"), "there is no population of 'women'"),
    "rows": (("sample", "pop.json", "--rows", "-1", "--out", "-"), "-1 rows cannot be drawn"),
    "many rows": (("sample", "pop.json", "--rows", "9" * 30, "--out", "-"), "rows cannot be drawn"),
    "sampled group": (("sample", "pop.json", "--rows", "1", "--out", "-", "--group", "sx=f"), "did you mean sex"),
    "sampled value": (("sample", "pop.json", "--rows", "1", "--out", "-", "--group", "sex=F"), "no group has sex 'F'"),
    "over itself": (("sample", "pop.json", "--rows", "1", "--out", "pop.json"), "is read as an input"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_calls_give_one_line_and_exit_code_two(capsys, folder, kind):
    words = ("population", "fit", "people.csv", "--sensitive", "sex", "--structure", "tree", "--quiet")
    run(capsys, *words, "--out", "pop.json")
    before = sorted(path.name for path in folder.iterdir())
    options, says = BAD[kind]
    code, out, err = run(capsys, "population", *options)
    assert code == 2
    assert out == ""
    errors = [line for line in err.splitlines() if line.startswith("justicia: ")]
    assert len(errors) == 1
    assert says in errors[0]
    assert "Traceback" not in err
    assert sorted(path.name for path in folder.iterdir()) == before


BAD_VERIFY = {
    "other schema": (lambda read: read.update(schema="justicia.population/9"), "reads justicia.population/1"),
    "edited": (lambda read: table(read)["probabilities"][0][0].__setitem__(0, 0.7), "does not sum to 1 in group f"),
    "lacks a feature": (lambda read: rename(read, "x", "z"), "lacks x, which the model depends on"),
    "other sensitive": (lambda read: regroup(read, "sex", "gender"), "groups by 'gender', and the table has no such"),
}


def table(read):
    tables = read["groupings"][0]["populations"]["everybody"]["tables"]
    return next(held for held in tables if held["feature"] == "x")


def rename(read, old, new):
    for held in read["features"]:
        held["name"] = new if held["name"] == old else held["name"]
    for held in read["groupings"][0]["populations"]["everybody"]["tables"]:
        held["feature"] = new if held["feature"] == old else held["feature"]
        held["parents"] = [new if name == old else name for name in held["parents"]]


def regroup(read, old, new):
    read["groupings"][0]["sensitive"] = [new]
    for held in read["groupings"][0]["populations"]["everybody"]["groups"]:
        held["group"] = {new: held["group"][old]}


@pytest.mark.parametrize("kind", BAD_VERIFY)
def test_files_that_do_not_fit_are_refused(capsys, folder, kind):
    words = ("population", "fit", "people.csv", "--sensitive", "sex", "--structure", "tree", "--quiet")
    run(capsys, *words, "--out", "pop.json")
    change, says = BAD_VERIFY[kind]
    read = json.loads((folder / "pop.json").read_text())
    change(read)
    (folder / "pop.json").write_text(json.dumps(read))
    code, out, err = run(capsys, *verify("--population", "pop.json", "--json", "audit.json"))
    assert code == 2
    assert out == ""
    assert says in err
    assert "Traceback" not in err
    assert not (folder / "audit.json").exists()


def test_two_outputs_with_one_name_are_refused(capsys, folder):
    for target in ("same.json", "-"):
        code, _, err = run(capsys, *verify("--json", target, "--population-out", target))
        assert code == 2
        assert "two outputs are written to" in err
    code, _, err = run(capsys, *verify("--population-out", "people.csv"))
    assert code == 2
    assert "is read as an input" in err
