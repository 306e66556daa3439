"""``justicia compare`` on the command line."""

from __future__ import annotations

import json
import pickle

import pytest

from justicia import datasets, models
from justicia.cli import main

pytest.importorskip("fairlearn.metrics")
pytest.importorskip("aif360.sklearn.metrics")


def run(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main(["compare", *words])
    held = capsys.readouterr()
    return ended.value.code, held.out, held.err


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    frame, description = datasets.load("ricci")
    frame.to_csv(folder / "ricci.csv", index=False)
    for name in ("tree", "logistic"):
        held = models.train(name, frame, description.features, frame[description.label])
        (folder / f"{name}.pkl").write_bytes(pickle.dumps(held))
    return folder


def test_one_model_and_two_tools(capsys, saved):
    code, out, err = run(capsys, "--model", str(saved / "tree.pkl"), "--data", str(saved / "ricci.csv"))
    assert code == 0
    assert "demographic_parity_ratio" in out
    assert "disparate_impact_ratio" in out
    assert "note: sensitive: race, found" in err
    assert "aif360" not in err


def test_two_models_as_json_and_html(capsys, saved, tmp_path):
    words = ["--model", str(saved / "tree.pkl"), "--model", str(saved / "logistic.pkl"), "--data", "ricci"]
    target = tmp_path / "c.html"
    code, out, _ = run(capsys, *words, "--tool", "none", "--json", "-", "--html", str(target), "--quiet")
    assert code == 0
    held = json.loads(out)
    assert held["schema"] == "justicia.comparison/1"
    assert len(held["models"]) == 2
    assert held["changes"][0]["groups"][0]["gained"] >= 0
    assert held["command"][:2] == ["justicia", "compare"]
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_mitigation(capsys):
    code, out, _ = run(capsys, "--model", "tree", "--data", "ricci", "--mitigate", "reweigh", "--tool", "none")
    assert code == 0
    assert "from tree to tree, reweighed" in out
    assert "gained" in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--data", "ricci"], "--model"),
        (["--model", "tree"], "--data"),
        (["--model", "tree", "--model", "logistic", "--model", "cnf", "--data", "ricci"], "given 3 times"),
        (["--model", "tree", "--data", "ricci", "--tool", "fairlern"], "did you mean fairlearn"),
        (["--model", "tree", "--data", "ricci", "--mitigate", "x"], "mitigate cannot be"),
        (["--model", "tree", "--data", "ricci", "--json", "no/such/c.json"], "no folder"),
        (["--model", "cnf", "--data", "ricci", "--mitigate", "reweigh"], "takes no weights of rows"),
        (["--model", "none.pkl", "--data", "ricci"], "no such file"),
        (["--model", "tree", "--data", "ricci", "--sensitive", "rcae"], "did you mean race"),
    ],
)
def test_bad_calls_are_one_line_and_exit_code_two(capsys, words, says):
    code, out, err = run(capsys, *words)
    assert code == 2
    assert out == ""
    last = err.strip().splitlines()[-1]
    assert last.startswith("justicia: ")
    assert says in last


def test_help_says_that_before_and_after_are_two_models(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    words = " ".join(out.split())
    assert "before and after mitigation" in words
    assert "What is compared" in out
