"""Tree ensembles that are too large for the time they get, as a user runs into them."""

from __future__ import annotations

import json
import pickle
import signal
import subprocess
import sys
import time

import jsonschema
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import justicia
from justicia import datasets
from justicia.report.json import schema
from justicia.solvers import branch_and_bound
from justicia.solvers.boxes import Boxes
from tests.cli.test_cli import run


@pytest.fixture(scope="module")
def boosted(tmp_path_factory):
    """A boosting on COMPAS that a few seconds do not suffice for, as a file."""
    people, described = datasets.load("compas")
    frame = people.drop(columns=[described.label, *described.not_features], errors="ignore")
    text = make_column_selector(dtype_exclude="number")
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = ColumnTransformer([("text", encoder, text)], remainder="passthrough")
    model = make_pipeline(columns, GradientBoostingClassifier(n_estimators=200, max_depth=8, random_state=0))
    model.fit(frame, people[described.label])
    path = tmp_path_factory.mktemp("models") / "boosting.pkl"
    path.write_bytes(pickle.dumps(model))
    return path


def audit(capsys, boosted, *words):
    code, out, err = run(
        capsys, "verify", "--model", boosted, "--data", "compas", "--population", "tree", "--json", "-", *words
    )
    held = json.loads(out)
    jsonschema.Draft202012Validator(schema()).validate(held)
    return code, held, err


def test_out_of_time_statistical_intervals_stand_beside_the_bounds(capsys, boosted):
    code, held, err = audit(
        capsys, boosted, "--time-limit", "4", "--tolerance", "1e-9", "--delta", "1e-7", "--sensitive", "sex"
    )
    assert code == 0
    assert "--time-limit" in err
    assert "statistical intervals" in err
    assert held["solver"]["guarantee"] == "statistical"
    for group in held["groupings"][0]["groups"]:
        for kind in ("selection_rate", "tpr", "fpr"):
            rate = group[kind]
            if rate is None or rate["interval"] is None:
                continue
            inner = rate["interval"]
            assert rate["lo"] <= inner["lo"] <= inner["hi"] <= rate["hi"]
            assert inner["confidence"] == 1 - 1e-7
            assert inner["method"].startswith("statistical")
    measure = held["groupings"][0]["measures"]["disparate_impact"]
    inner = measure["interval"]
    assert measure["lo"] <= inner["lo"] <= inner["hi"] <= measure["hi"]
    assert inner["hi"] - inner["lo"] < (measure["hi"] - measure["lo"]) / 2


@pytest.mark.slow
def test_a_requirement_may_be_settled_statistically(capsys, boosted):
    _, held, _ = audit(capsys, boosted, "--time-limit", "4", "--tolerance", "1e-9", "--sensitive", "sex")
    measure = held["groupings"][0]["measures"]["statistical_parity_difference"]
    limit = (measure["interval"]["hi"] + measure["hi"]) / 2
    assert measure["interval"]["hi"] < limit < measure["hi"]
    text = f"statistical_parity_difference<={limit}"
    audit_words = ("--time-limit", "4", "--tolerance", "1e-9", "--sensitive", "sex", "--require", text)
    code, held, _ = audit(capsys, boosted, *audit_words)
    (requirement,) = held["requirements"]
    assert code == 0
    assert requirement["status"] == "met"
    certain = held["groupings"][0]["measures"]["statistical_parity_difference"]["hi"] <= limit
    assert certain or "by drawing people, which misleads with probability" in requirement["reason"]


def test_the_report_shows_both(capsys, boosted):
    code, out, _ = run(
        capsys,
        "verify",
        "--model",
        boosted,
        "--data",
        "compas",
        "--population",
        "tree",
        "--sensitive",
        "sex",
        "--time-limit",
        "4",
        "--tolerance",
        "1e-9",
    )
    assert code == 0
    out = " ".join(out.split())
    assert "statistical bounds at most" in out
    assert "hold together but for a probability of" in out


@pytest.mark.slow
def test_settled_requirements_end_the_search(capsys, boosted, monkeypatch):
    monkeypatch.setattr(branch_and_bound, "_LOOK", 0.01)
    words = ("--tolerance", "1e-9", "--time-limit", "400", "--require", "disparate_impact<=1")
    code, _, err = audit(capsys, boosted, *words, "--require", "equal_opportunity_difference<=1")
    assert code == 0
    assert "every requirement is settled" in err


def test_an_interrupted_run_reports_what_it_has(boosted, tmp_path):
    words = ["verify", "--model", str(boosted), "--data", "compas", "--tolerance", "1e-12", "--time-limit", "300"]
    words += ["--population", "tree"]
    words += ["--require", "disparate_impact>=0.5", "--json", str(tmp_path / "audit.json")]
    for wait in (6.0, 15.0, 40.0, 90.0):
        process = subprocess.Popen(
            [sys.executable, "-m", "justicia", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120.0)
        if (tmp_path / "audit.json").exists():
            break
        # It came before the search began.
    assert process.returncode in (1, 3), err
    assert "interrupted" in err
    assert "disparate impact" in out
    assert "Traceback" not in err
    held = json.loads((tmp_path / "audit.json").read_text())
    assert held["requirements"][0]["status"] in ("undecided", "breached")


def test_want_of_memory_is_no_error(capsys, boosted, monkeypatch):
    def refuse(boxes, n):
        raise MemoryError

    monkeypatch.setattr(Boxes, "grown", refuse)
    code, held, err = audit(capsys, boosted, "--require", "disparate_impact>=0.7", "--sensitive", "sex")
    assert code == 3
    assert "memory ran out" in err
    assert held["requirements"][0]["status"] == "undecided"


def test_progress_is_told(boosted):
    told = []
    justicia.verify(
        boosted,
        "compas",
        population="tree",
        time_limit=1.0,
        tolerance=1e-9,
        progress=lambda text, done: told.append((text, done)),
    )
    texts = [text for text, _ in told]
    assert any("selection rates: bounds at most" in text for text in texts)
    assert any("disparate impact" in text for text in texts)
    assert all(0 <= done <= 1 for _, done in told)


@pytest.mark.parametrize("delta", ["0", "1", "-1e-6", "nan"])
def test_a_delta_that_is_no_probability(capsys, boosted, delta):
    code, _, err = run(capsys, "verify", "--model", boosted, "--data", "compas", "--delta", delta)
    assert code == 2
    assert "delta" in err
