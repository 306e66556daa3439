"""What a population file does not publish unasked, and populations in the columns and cells of one model."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.errors import TableError
from justicia.population import STRUCTURES
from justicia.population.fine_cells import number_of_values
from justicia.population.personal import why_personal


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    n = 600
    frame = pd.DataFrame(
        {
            "applicant_id": 70_000 + np.arange(n),
            "name": [f"Person {i}" for i in range(n)],
            "applied": (pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D")).strftime(
                "%Y-%m-%d"
            ),
            "remark": [f"came in {i % 90} minutes late and left early" for i in range(n)],
            "sex": rng.choice(["f", "m"], n),
            "experience": rng.integers(0, 30, n),
            "score": rng.normal(60, 10, n),
            "degree": rng.choice(["none", "ba", "ma"], n),
        }
    )
    chance = frame["experience"] / 20 + (frame["degree"] == "ma") - (frame["sex"] == "f") * 0.3
    frame["hired"] = np.where(chance + rng.normal(size=n) * 0.4 > 0.9, "yes", "no")
    return frame


def fitted(frame, columns=("experience", "score", "degree"), model=None):
    words = [name for name in columns if frame[name].dtype.kind not in "iuf"]
    before = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), words), remainder="passthrough")
    return make_pipeline(before, model or DecisionTreeClassifier(max_depth=4, random_state=0)).fit(
        frame[list(columns)], frame["hired"]
    )


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (np.arange(100), "100 of 100 people"),
        ([f"a{i}" for i in range(100)], "100 of 100 people"),
        # Two people share a name here and there: 96 of 104 have one of their own.
        ([f"a{i}" for i in [*range(100), 0, 1, 2, 3]], "96 of 104 people"),
        ([f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(1000)], "it holds dates"),
        ([f"{1 + i % 28}/{1 + i % 12}/24" for i in range(1000)], "it holds dates"),
        ([f"they were {i % 50} minutes late on the day" for i in range(1000)], "it holds free text"),
        # Measured numbers are everybody's own, and say no more than how much.
        (np.linspace(0.5, 1.25, 100), None),
        (np.arange(100) // 2, None),
        (np.arange(19), None),
        (["f", "m"] * 50, None),
        ([f"town {i % 40}" for i in range(200)], None),
        ([True, False] * 50, None),
        ([np.nan] * 50, None),
    ],
)
def test_what_tells_persons_apart(values, says):
    found = why_personal(number_of_values(pd.Series(values)), len(values))
    assert (found is None) if says is None else found.startswith(says), found


def test_ids_names_dates_and_texts_are_in_no_file_and_no_sample(people, caplog):
    with caplog.at_level("INFO", logger="justicia"):
        held = justicia.fit_population(people, sensitive_features="sex", label="hired")
    assert held.domain.names == ("sex", "experience", "score", "degree")
    for name in ("applicant_id", "name", "applied", "remark"):
        assert f"column {name} is left out, for it tells people apart" in caplog.text
    text = held.to_json()
    assert not any(word in text for word in ("70001", "Person 1", "2024-", "minutes"))
    assert set(held.sample(5, random_state=0).columns) == {"sex", "experience", "score", "degree"}


def test_columns_that_are_named_are_kept(people):
    held = justicia.fit_population(people, sensitive_features="sex", label="hired", keep="applied,name")
    assert {"applied", "name"} <= set(held.domain.names)
    with pytest.raises(TableError, match="keep nme: there is no such column; did you mean name"):
        justicia.fit_population(people, sensitive_features="sex", label="hired", keep="nme")


def test_what_looks_like_the_true_outcome_is_said(people, caplog):
    justicia.fit_population(people, sensitive_features="sex")
    assert "column hired is taken as a feature, and looks like the true outcome" in caplog.text
    caplog.clear()
    justicia.fit_population(people, sensitive_features="sex", leave_out="hired")
    justicia.fit_population(people.drop(columns="hired").assign(late=1), sensitive_features="sex")
    assert "looks like" not in caplog.text


@pytest.mark.parametrize(
    ("structure", "kind"),
    [
        *((structure, DecisionTreeClassifier(max_depth=4, random_state=0)) for structure in STRUCTURES),
        ("auto", LogisticRegression(max_iter=5000)),
    ],
)
def test_with_a_model_rates_are_those_without_a_file(people, structure, kind, tmp_path):
    model = fitted(people, model=kind)
    held = justicia.fit_population(people, sensitive_features="sex", model=model, structure=structure)
    assert (held.label.column, held.label.favorable) == ("hired", ("yes",))
    assert held.domain.names == justicia.verify(model, people, sensitive_features="sex").features
    held.to_json(tmp_path / "p.json")
    under = justicia.verify(model, people, sensitive_features="sex", population=tmp_path / "p.json")
    plain = justicia.verify(model, people, sensitive_features="sex", population=structure)
    for one, other in zip(under.groupings[0].groups, plain.groupings[0].groups, strict=True):
        for rate in ("selection_rate", "tpr", "fpr"):
            ends = [(float(held.lo), float(held.hi)) for held in (getattr(one, rate), getattr(other, rate))]
            assert ends[0] == pytest.approx(ends[1], abs=1e-12), rate


def test_with_a_model_a_column_of_persons_has_to_be_named(people):
    model = fitted(people, ("experience", "name"), LogisticRegression(max_iter=5000))
    options = {"sensitive_features": "sex", "model": model, "structure": "tree"}
    with pytest.raises(TableError, match=r"reads column 'name', which tells people apart.*name it with keep"):
        justicia.fit_population(people, **options)
    assert "name" in justicia.fit_population(people, **options, keep="name").domain.names
    # The cells of a tree hold many ids each, and publish none.
    tree = fitted(people, ("applicant_id", "degree"))
    text = justicia.fit_population(people, sensitive_features="sex", model=tree, structure="tree").to_json()
    cells = {one["name"]: one["cells"] for one in json.loads(text)["features"]}
    assert len(cells["applicant_id"]) < 20


def test_with_a_model_its_columns_and_cells_are_taken(people):
    with pytest.raises(justicia.InputError, match="own columns and cells are taken"):
        justicia.fit_population(people, sensitive_features="sex", model=fitted(people), leave_out="score")


def test_an_audit_that_publishes_values_of_persons_says_so(people, caplog):
    model = LogisticRegression(max_iter=5000).fit(people[["applicant_id", "experience"]] / 1000, people["hired"])
    frame = people.assign(applicant_id=people["applicant_id"] / 1000, experience=people["experience"] / 1000)
    whole = people.assign(applicant_id=people["applicant_id"] - 70_000)
    scaled = LogisticRegression(max_iter=5000).fit(whole[["applicant_id", "experience"]], people["hired"])
    justicia.verify(scaled, whole, sensitive_features="sex", population="tree").population_file()
    assert "cells of column applicant_id publish values of single persons: 600 of 600 people" in caplog.text
    caplog.clear()
    # The same as measured numbers are nobody's name.
    justicia.verify(model, frame, sensitive_features="sex", population="tree").population_file()
    assert "publish values" not in caplog.text
