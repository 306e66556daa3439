"""Encodings of rules: behind other steps, over one-hot tables, and said again in the table's own columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia import datasets
from justicia.encoders.rule_words import rule_over
from justicia.errors import ModelFileError, UnsupportedModelError
from justicia.learners import CNF, DNF, CNFClassifier, Condition, Rule
from justicia.models import RuleClassifier
from justicia.models.rule_files import source_of
from justicia.population.domain import Domain, Feature
from tests.rule_cases import random_rule_case

QUICK = {"conflicts": 2000, "n_batches": 1, "literal_cost": 2}


def titanic(n: int = 300):
    frame, description = datasets.load("titanic")
    rows = frame.sample(n, random_state=2).reset_index(drop=True)
    return rows[list(description.features)], rows["survived"]


@pytest.mark.parametrize("form", [CNF, DNF])
@pytest.mark.parametrize("number", [StandardScaler(), make_pipeline(SimpleImputer(), StandardScaler())])
def test_behind_a_pipeline_the_words_are_of_the_table(form, number):
    X, y = titanic()
    X.loc[::7, "age"] = np.nan
    words = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer((words, ["gender", "class", "embarked"]), (number, ["age", "fare", "sibsp"]))
    model = make_pipeline(columns, CNFClassifier(3, form=form, **QUICK)).fit(X, y)
    audit = justicia.verify(model, X, sensitive_features="gender", y=y, favorable=1, population="tree")
    held = audit.to_dict()["model"]["rule"]
    rule = source_of({key: held[key] for key in ("schema", "form", "parts", "holds", "fails")}).rule
    assert set(rule.columns) <= set(X.columns)
    assert "x0" not in held["text"]
    stated = RuleClassifier(rule, 1, 0)
    strange = X.assign(gender="?", embarked=None, age=np.nan)
    for table in (X, strange):
        assert stated.predict(table).tolist() == model.predict(table).tolist()
    again = justicia.verify(stated, X, sensitive_features="gender", y=y, favorable=1, population="empirical")
    assert again.by_group["selection_rate"].to_numpy() == pytest.approx(
        [np.mean(model.predict(X)[X["gender"] == name]) for name in again.by_group.index], abs=1e-12
    )


def test_a_table_that_was_one_hot_encoded():
    X, y = titanic()
    table = pd.get_dummies(X[["gender", "class"]]).astype(int).assign(age=X["age"].fillna(30), survived=y)
    model = CNFClassifier(2, **QUICK).fit(table.drop(columns="survived"), y)
    audit = justicia.verify(model, table, sensitive_features="gender", label="survived", favorable=1)
    said = model.predict(table.drop(columns="survived"))
    for group in audit.groupings[0].groups:
        assert group.selected == said[X["gender"] == group.group["gender"]].sum()
    assert audit.groupings[0].solution.engine == "satisfied_clauses"


def test_a_model_fitted_on_an_array_is_said_in_the_table_s_names():
    frame = pd.DataFrame({"age": [20.0, 30, 40, 50] * 6, "pay": [1.0, 5, 2, 6] * 6})
    y = (frame["pay"] > 3).astype(int)
    model = CNFClassifier(1).fit(frame.to_numpy(), y)
    assert model.get_rules() == ["(x1 > 3.5)"]
    sex = pd.Series(["f", "m", "m", "f"] * 6, name="sex")
    audit = justicia.verify(model, frame, sensitive_features=sex, y=y.to_numpy(), favorable=1)
    assert audit.to_dict()["model"]["rule"]["words"] == ["(pay > 3.5)"]


@pytest.mark.parametrize("seed", range(40))
def test_a_decision_read_back_is_the_rule(seed):
    case = random_rule_case(seed)
    audit = justicia.verify(
        case.model, case.frame, sensitive_features=case.sensitive, favorable=["yes"], population="empirical"
    )
    form = case.model.rule_.form
    again = rule_over(audit.decision, audit.domain, form)
    if again is not None:
        assert again.form == form
        assert (RuleClassifier(again, "yes", "no").predict(case.frame) == case.model.predict(case.frame)).all()


def test_sets_that_are_no_condition():
    numbers = Feature("n", ("a", "b", "c", "(missing)"), (1.0, 2.0, 3.0, np.nan), np.array([1.0, 2.0]), missing=3)
    from justicia.encoders.clauses import Clauses

    def said(cells, form=CNF):
        return rule_over(Clauses((4,), ({0: np.array(cells)},)), Domain((numbers,)), form)

    assert said([False, True, False, False]) is None
    assert said([True, False, True, False]).text() == "(n <= 1 or n > 2)"
    assert said([True, True, False, True]).text() == "(not n > 2)"
    assert said([True, True, True, False]).text() == "(n is not missing)"
    assert said([False, False, True, False], DNF).text() == "(not n > 2)"
    assert said([True, False, False, True], DNF).text() == "(n > 1)"
    assert said([False, False, False, True]).text() == "(n is missing)"


def test_categories_behind_a_step_are_refused():
    frame = pd.DataFrame({"job": ["a", "b", np.nan, "a"] * 5, "sex": ["f", "m", "m", "f"] * 5})
    filled = make_pipeline(SimpleImputer(strategy="most_frequent"), CNFClassifier(1))
    filled.fit(frame[["job"]], [0, 1, 0, 0] * 5)
    with pytest.raises(UnsupportedModelError, match="a category that comes out of another step"):
        justicia.verify(filled, frame, sensitive_features="sex", favorable=1)
    coded = make_pipeline(OrdinalEncoder(encoded_missing_value=-1), CNFClassifier(1))
    coded.fit(frame[["job"]], [0, 1, 0, 0] * 5)
    audit = justicia.verify(coded, frame, sensitive_features="sex", favorable=1, population="empirical")
    assert audit.by_group["selection_rate"].to_dict() == {"f": 0.0, "m": 0.5}


def test_malformed_attributes_are_refused():
    frame = pd.DataFrame({"age": [1.0, 2, 3, 4] * 5, "sex": ["f", "m"] * 10})
    model = CNFClassifier(1).fit(frame[["age"]], [0, 0, 1, 1] * 5)
    model.rule_ = "age > 2"
    with pytest.raises((ModelFileError, UnsupportedModelError, justicia.errors.TableError)):
        justicia.verify(model, frame, sensitive_features="sex", favorable=1)
    broken = RuleClassifier(Rule(CNF, ((Condition("age", ">", number=2.0),),)))
    object.__setattr__(broken.rule_.parts[0][0], "test", "??")
    with pytest.raises(justicia.errors.InputError):
        justicia.verify(broken, frame, sensitive_features="sex", favorable=True)


def test_a_sensitive_column_may_be_a_feature():
    frame = pd.DataFrame({"sex": ["f", "f", "m", "m"] * 5, "x": [0, 1, 0, 1] * 5})
    model = RuleClassifier("sex = f or x > 0", "yes", "no")
    audit = justicia.verify(model, frame, sensitive_features="sex", favorable="yes", population="tree")
    assert audit.by_group["selection_rate"].to_dict() == {"f": 1.0, "m": pytest.approx(0.5, abs=1e-12)}
    tree = DecisionTreeClassifier().fit((frame == "f").assign(x=frame["x"]), model.predict(frame))
    assert tree.get_n_leaves() == 3
