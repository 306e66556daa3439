"""The rule learner as a scikit-learn user meets it."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from justicia import datasets
from justicia.learners import CNF, DNF, CNFClassifier, Condition
from justicia.learners.literals import literals_of, thresholds
from justicia.models import load_model

QUICK = {"conflicts": 1000, "n_batches": 2}


@parametrize_with_checks([CNFClassifier(conflicts=200, n_batches=1)])
def test_scikit_learn_takes_it(estimator, check):
    if sklearn.__version__.startswith("1.6.") and "equivalence_on_dense_data" in str(check):
        pytest.skip("in this version the check makes other classes of the weighted and of the repeated rows")
    check(estimator)


def boolean_table() -> tuple[pd.DataFrame, np.ndarray]:
    """Every combination of four words, thrice."""
    codes = np.array(list(np.ndindex(2, 2, 2, 2)) * 3)
    frame = pd.DataFrame(np.array(["no", "yes"])[codes], columns=list("abcd"))
    return frame, codes.astype(bool)


def test_a_rule_without_errors_is_found():
    frame, held = boolean_table()
    y = (held[:, 0] | held[:, 1]) & (held[:, 2] | ~held[:, 3])
    model = CNFClassifier(2).fit(frame, y)
    assert sorted(model.get_rules()) == ["(a = yes or b = yes)", "(c = yes or d = no)"]
    assert (model.errors_, model.settled_) == (0.0, True)
    assert (model.predict(frame) == y).all()


def test_a_dnf_without_errors_is_found():
    frame, held = boolean_table()
    y = (held[:, 0] & held[:, 1]) | (held[:, 2] & ~held[:, 3])
    model = CNFClassifier(2, form=DNF).fit(frame, y)
    assert sorted(model.get_rules()) == ["(a = yes and b = yes)", "(c = yes and d = no)"]
    assert str(model.rule_) in (
        "(a = yes and b = yes) or (c = yes and d = no)",
        "(c = yes and d = no) or (a = yes and b = yes)",
    )


def test_conditions_that_do_not_pay_are_left_out():
    frame, held = boolean_table()
    y = held[:, 0].copy()
    # Of three equal people two are like the others: to mend them takes conditions, and they cost as much.
    y[[0, 16]] = ~y[[0, 16]]
    assert CNFClassifier(3, literal_cost=2).fit(frame, y).get_rules() == ["(a = yes)"]
    assert CNFClassifier(3, literal_cost=48).fit(frame, y).rule_.n_literals == 0
    assert CNFClassifier(3, literal_cost=0).fit(frame, y).errors_ == pytest.approx(1 / 48, abs=1e-12)


def test_equal_tables_give_equal_rules():
    frame, description = datasets.load("titanic")
    rows = frame.sample(200, random_state=1)
    X, y = rows[list(description.features)], rows[description.label].to_numpy()
    model = CNFClassifier(**QUICK).fit(X, y)
    order = np.random.default_rng(0).permutation(len(X))
    twice = np.concatenate([order, order[:50]])
    weights = np.ones(len(X))
    weights[order[:50]] = 2.0
    assert CNFClassifier(**QUICK).fit(X.iloc[order], y[order]).rule_ == model.rule_
    weighted = CNFClassifier(**QUICK).fit(X, y, sample_weight=weights)
    assert CNFClassifier(**QUICK).fit(X.iloc[twice], y[twice]).rule_ == weighted.rule_
    without = np.concatenate([np.ones(150), np.zeros(50)])
    assert CNFClassifier(**QUICK).fit(X[:150], y[:150]).rule_ == CNFClassifier(**QUICK).fit(X, y, without).rule_


def test_missing_values_and_new_categories():
    frame = pd.DataFrame(
        {
            "income": [10.0, np.nan, 30.0, np.nan, 50.0, 12.0] * 5,
            "job": pd.Series(["clerk", None, "cook", "clerk", np.nan, "cook"] * 5, dtype=object),
        }
    )
    y = frame["income"].isna()
    model = CNFClassifier(1).fit(frame, y)
    assert model.get_rules() == ["(income is missing)"]
    y = frame["job"] == "clerk"
    model = CNFClassifier(1).fit(frame, y)
    assert model.get_rules() == ["(job = clerk)"]
    strange = pd.DataFrame({"income": [np.nan, 1e300], "job": ["pilot", None]})
    assert model.predict(strange).tolist() == [False, False]
    opposite = CNFClassifier(1).fit(frame, ~y)
    assert opposite.get_rules() == ["(job != clerk)"]
    assert opposite.predict(strange).tolist() == [True, True]


def test_numbers_in_text_are_numbers_and_categories_are_not():
    words = pd.DataFrame(
        {"n": pd.Series(["9", "10", "2", " 30"] * 5, dtype=object), "m": pd.Categorical([3, 1, 2, 1] * 5)}
    )
    y = np.array([False, True, False, True] * 5)
    model = CNFClassifier(1).fit(words[["n"]], y)
    assert model.get_rules() == ["(n > 9.5)"]
    assert model.predict(pd.DataFrame({"n": [9.4, 9.6]})).tolist() == [False, True]
    with pytest.raises(ValueError, match="column 'n' holds many"):
        model.predict(pd.DataFrame({"n": ["many"]}))
    assert CNFClassifier(1).fit(words[["m"]], y).get_rules() == ["(m = 1)"]
    objects = np.array([["a", 1], ["b", 2], ["a", 3], ["b", 4]] * 5, dtype=object)
    assert CNFClassifier(1).fit(objects, y).get_rules() == ["(x0 = b)"]


@pytest.mark.parametrize("form", [CNF, DNF])
@pytest.mark.parametrize(("y", "says"), [([1] * 9 + [0], 1), ([0] * 9 + [1], 0)])
def test_columns_that_say_nothing(form, y, says):
    frame = pd.DataFrame({"constant": ["a"] * 10, "empty": [np.nan] * 10, "same": [7] * 10})
    model = CNFClassifier(form=form).fit(frame, y)
    assert model.rule_.n_literals == 0
    assert set(model.predict(frame)) == {says}
    assert model.errors_ == pytest.approx(0.1, abs=1e-12)
    assert model.get_rules() == ["true" if says else "false"]


def test_one_class():
    frame = pd.DataFrame({"a": [1, 2, 3]})
    model = CNFClassifier().fit(frame, ["yes"] * 3)
    assert model.predict(frame).tolist() == ["yes"] * 3
    assert model.classes_.tolist() == ["yes"]


def test_pos_label_is_what_the_rule_is_about():
    frame, held = boolean_table()
    y = np.where(held[:, 0] & held[:, 1], "good", "bad")
    model = CNFClassifier(2, pos_label="bad").fit(frame, y)
    assert model.get_rules() == ["(a = no or b = no)"]
    assert (model.predict(frame) == y).all()
    with pytest.raises(ValueError, match="is no class"):
        CNFClassifier(pos_label="fine").fit(frame, y)


def test_what_is_refused():
    frame = pd.DataFrame({"a": [1.0, np.inf, 3.0]})
    with pytest.raises(ValueError, match="infinity in column 'a'"):
        CNFClassifier().fit(frame, [0, 1, 1])
    with pytest.raises(ValueError, match="Only binary"):
        CNFClassifier().fit(frame[:1].loc[[0, 0, 0]], [0, 1, 2])
    with pytest.raises(ValueError, match="non-zero number"):
        CNFClassifier().fit([[1.0], [2.0]], [0, 1], [0.0, 0.0])
    with pytest.raises(ValueError, match="n_clauses"):
        CNFClassifier(0).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="unique column names"):
        CNFClassifier().fit(pd.DataFrame([[1, 2], [2, 1]], columns=["a", "a"]), [0, 1])
    model = CNFClassifier().fit(pd.DataFrame({"a": [1.0, 2.0]}), [0, 1])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame({"b": [1.0]}))


def test_budgets():
    frame, description = datasets.load("titanic")
    X, y = frame[list(description.features)], frame[description.label]
    late = CNFClassifier(time_limit=0.0).fit(X, y)
    assert (late.rule_.n_literals, late.settled_, late.steps_) == (0, False, 0)
    assert set(late.predict(X)) == {0}
    few = CNFClassifier(conflicts=30).fit(X, y)
    assert not few.settled_
    said = []
    CNFClassifier(**QUICK).fit(X, y, progress=lambda text, done: said.append((text, done)))
    assert said[0] == ("batch 1 of 2", 0.0)
    shares = [done for _, done in said]
    assert shares == sorted(shares)
    assert 0 <= shares[-1] <= 1


def test_as_many_distinct_rows_are_drawn():
    frame, held = boolean_table()
    y = held[:, 0] & held[:, 3]
    few = CNFClassifier(max_rows=1).fit(frame, y)
    assert few.rule_.n_literals <= 1
    assert few.errors_ == pytest.approx(np.mean(few.predict(frame) != y), abs=1e-12)
    assert CNFClassifier(max_rows=16).fit(frame, y).errors_ == 0.0


def test_dates_are_categories():
    days = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2021-05-05", None] * 5)})
    model = CNFClassifier(1).fit(days, [0, 1, 0] * 5)
    assert model.predict(days).tolist() == [0, 1, 0] * 5
    assert model.get_rules() == ['(day = "2021-05-05 00:00:00")']


def test_grid_search_and_cross_validation():
    frame, held = boolean_table()
    y = held[:, 0] | held[:, 2]
    search = GridSearchCV(CNFClassifier(), {"n_clauses": [1, 2], "form": [CNF, DNF]}, cv=2).fit(frame, y)
    assert search.best_score_ == 1.0
    assert cross_val_score(clone(search.best_estimator_), frame, y, cv=3).tolist() == [1.0] * 3


@pytest.mark.parametrize("kind", ["pkl", "joblib", "skops"])
def test_files_are_loaded_without_trust(tmp_path, kind):
    import joblib
    import skops.io

    frame, held = boolean_table()
    model = CNFClassifier(2).fit(frame, held[:, 0] & held[:, 1])
    path = tmp_path / f"rule.{kind}"
    {
        "pkl": lambda: path.write_bytes(pickle.dumps(model)),
        "joblib": lambda: joblib.dump(model, path),
        "skops": lambda: skops.io.dump(model, path),
    }[kind]()
    loaded = load_model(path).predictor
    assert loaded.rule_ == model.rule_
    assert (loaded.predict(frame) == model.predict(frame)).all()


def test_thresholds_by_hand():
    assert thresholds(np.array([1.0, 2, 3, 4]), np.ones(4), 1) == [2.5]
    assert thresholds(np.array([1.0, 2, 3, 4]), np.array([3.0, 1, 1, 1]), 1) == [1.5]
    assert thresholds(np.arange(12.0), np.ones(12), 3) == [2.5, 5.5, 8.5]
    assert thresholds(np.array([5.0, 5.0]), np.ones(2), 8) == []
    assert thresholds(np.zeros(0), np.zeros(0), 8) == []
    # Half of the people have 0, the others are spread.
    assert thresholds(np.concatenate([np.zeros(100), np.arange(1, 101)]), np.ones(200), 4) == [0.5, 25.5, 50.5, 75.5]
    near = np.array([1.0, np.nextafter(1.0, 2.0)])
    (cut,) = thresholds(near, np.ones(2), 8)
    assert near[0] <= cut < near[1]
    (cut,) = thresholds(np.array([-1.7e308, 1.7e308]), np.ones(2), 8)
    assert -1.7e308 <= cut < 1.7e308


def test_conditions_by_hand():
    columns = {
        "n": pd.Series([1.0, np.nan, 3.0]),
        "sex": pd.Series(["f", "m", "f"]),
        "job": pd.Series(["a", "b", "c"]),
    }
    held = literals_of(columns, np.full(3, 1 / 3), 8, 2)
    assert [condition.text() for condition in held.conditions] == [
        *("n <= 2", "n > 2", "n is missing", "n is not missing", "sex = f", "sex = m"),
        *("job = a", "job != a", "job = b", "job != b"),
    ]
    assert held.categories == {"sex": ("f", "m"), "job": ("a", "b", "c")}


def test_a_condition_and_its_opposite_part_every_column():
    columns = [
        pd.Series([1.0, np.nan, 40.5]),
        pd.Series(["a", None, "40.5"], dtype=object),
        pd.Series([True, False, True]),
        pd.Series(pd.array([1, None, 3], dtype="Int64")),
        pd.Series(pd.Categorical(["a", None, "b"])),
    ]
    conditions = [Condition("x", "in", values=("a", "1", "True")), Condition("x", "missing")]
    for column in columns:
        for condition in conditions:
            assert (condition.holds(column) != condition.opposite.holds(column)).all()
    assert conditions[0].holds(columns[0]).tolist() == [True, False, False]
    assert conditions[0].holds(columns[2]).tolist() == [True, False, True]
    assert conditions[0].holds(columns[4]).tolist() == [True, False, False]
    assert Condition("x", ">=", number=40.5).holds(columns[0]).tolist() == [False, False, True]
    assert Condition("x", ">=", number=40.5, negated=True).holds(columns[0]).tolist() == [True, True, False]
