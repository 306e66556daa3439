"""The encoded decision against the model, at the boundaries and in odd models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import justicia
from justicia import encoders, models
from justicia.encoders.boundary import boundary_frame
from justicia.errors import EncodingMismatchError, ModelFileError, TableError, UnsupportedModelError


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], n), "age": rng.integers(18, 80, n), "pay": rng.normal(size=n).round(2)}
    )
    label = ((frame["age"] > 40) & (frame["pay"] > 0)).astype(int).to_numpy() ^ (rng.random(n) < 0.1)
    return frame, label


def fitted(**options):
    frame, label = table()
    return frame, DecisionTreeClassifier(max_depth=4, random_state=0, **options).fit(frame[["age", "pay"]], label)


def rates(audit):
    return {tuple(g.group.values()): float(g.selection_rate.lo) for g in audit.groupings[0].groups}


def sample_rates(frame, chosen):
    return {(key,): value for key, value in pd.Series(chosen).groupby(frame["sex"].to_numpy()).mean().items()}


def test_cells_are_cut_at_the_float32_boundary():
    frame = pd.DataFrame({"x": [0.0, 1.0] * 20, "g": ["a", "b"] * 20})
    model = DecisionTreeClassifier().fit(frame[["x"]], [0, 1] * 20)
    threshold = model.tree_.threshold[0]
    _, domain = encoders.encode(models.unwrap(model), frame[["x"]], [1])
    edge = domain.features[0].edges[0]
    assert np.float64(np.float32(edge)) <= threshold < np.float64(np.float32(np.nextafter(edge, np.inf)))
    between = np.nextafter(threshold, np.inf)
    # float32 rounding sends some numbers above the threshold left.
    assert edge > threshold
    assert domain.features[0].cells_of(pd.Series([threshold, between, edge])).tolist() == [0, 0, 0]


def test_boundary_points_reach_every_threshold():
    frame, model = fitted()
    unwrapped = models.unwrap(model)
    decision, domain = encoders.encode(unwrapped, frame[["age", "pay"]], [1])
    boundary = boundary_frame(decision, domain, frame[["age", "pay"]], domain.points(frame[["age", "pay"]]))
    n_edges = sum(len(feature.edges) for feature in domain.features)
    assert len(boundary) >= 3 * n_edges
    flipped = set()
    reached = model.decision_path(boundary).toarray().astype(bool)
    for node in np.flatnonzero(model.tree_.children_left >= 0):
        sides = {
            bool(reached[row, model.tree_.children_left[node]]) for row in range(len(boundary)) if reached[row, node]
        }
        if sides == {True, False}:
            flipped.add(node)
    thresholds = {(model.tree_.feature[n], model.tree_.threshold[n]) for n in flipped}
    every = {(f, t) for f, t in zip(model.tree_.feature, model.tree_.threshold, strict=True) if f >= 0}
    assert thresholds == every


def test_a_sabotaged_tree_is_found(monkeypatch):
    frame, model = fitted()
    original = encoders.encode

    def sabotage(fitted_model, columns, favorable):
        decision, domain = original(fitted_model, columns, favorable)
        leaf = int(decision.leaves(domain.points(columns))[0])
        decision.accepts[leaf] = not decision.accepts[leaf]
        return decision, domain

    monkeypatch.setattr(encoders, "encode", sabotage)
    with pytest.raises(EncodingMismatchError, match=r"rows differ; the first is row \d+ \(") as caught:
        justicia.verify(model, frame, sensitive_features="sex")
    assert caught.value.exit_code == 4


def test_a_sabotaged_edge_is_found_by_boundary_points_alone(monkeypatch):
    frame, model = fitted()
    original = encoders.encode

    def sabotage(fitted_model, columns, favorable):
        decision, domain = original(fitted_model, columns, favorable)
        domain.features[1].edges[0] = np.nextafter(domain.features[1].edges[0], -np.inf)
        return decision, domain

    monkeypatch.setattr(encoders, "encode", sabotage)
    with pytest.raises(EncodingMismatchError, match="boundary point"):
        justicia.verify(model, frame, sensitive_features="sex")


def test_a_split_at_minus_two_is_no_leaf():
    frame = pd.DataFrame({"x": [-3.0, -1.0] * 10, "sex": ["f", "m"] * 10})
    model = DecisionTreeClassifier().fit(frame[["x"]], [0, 1] * 10)
    assert model.tree_.threshold[0] == -2.0
    audit = justicia.verify(model, frame, sensitive_features="sex", population="independent")
    assert rates(audit) == {("f",): 0.0, ("m",): 1.0}


def test_a_tie_in_a_leaf_takes_the_first_class():
    frame = pd.DataFrame({"x": [0.0, 0.0, 1.0, 1.0], "sex": ["f", "m", "f", "m"]})
    model = DecisionTreeClassifier(max_depth=1).fit(frame[["x"]], ["no", "yes", "no", "yes"])
    audit = justicia.verify(model, frame, sensitive_features="sex", favorable="yes")
    assert set(rates(audit).values()) == {0.0}
    audit = justicia.verify(model, frame, sensitive_features="sex", favorable="no")
    assert set(rates(audit).values()) == {1.0}


def test_class_weights_are_no_population_shares():
    frame, label = table()
    model = DecisionTreeClassifier(max_depth=3, class_weight={0: 1, 1: 20}).fit(frame[["age", "pay"]], label)
    audit = justicia.verify(model, frame, sensitive_features="sex", population="empirical")
    assert rates(audit) == pytest.approx(sample_rates(frame, model.predict(frame[["age", "pay"]]) == 1))


def test_missing_numbers_go_where_the_tree_sends_them():
    frame, label = table()
    frame.loc[::7, "pay"] = np.nan
    model = DecisionTreeClassifier(max_depth=4, random_state=1).fit(frame[["age", "pay"]], label)
    audit = justicia.verify(model, frame, sensitive_features="sex", population="empirical")
    assert rates(audit) == pytest.approx(sample_rates(frame, model.predict(frame[["age", "pay"]]) == 1))
    assert "(missing)" in audit.population.domain.features[1].labels


@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.9])
def test_threshold_wrappers(threshold, positive):
    frame, label = table()
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = FixedThresholdClassifier(tree, threshold=threshold, pos_label=positive).fit(frame[["age", "pay"]], label)
    audit = justicia.verify(model, frame, sensitive_features="sex", population="empirical", favorable=1)
    assert rates(audit) == pytest.approx(sample_rates(frame, model.predict(frame[["age", "pay"]]) == 1))


def test_a_threshold_that_a_leaf_hits_exactly():
    frame = pd.DataFrame({"x": [0.0] * 4 + [1.0] * 4, "sex": ["f", "m"] * 4})
    tree = DecisionTreeClassifier(max_depth=1)
    model = FixedThresholdClassifier(tree, threshold=0.25).fit(frame[["x"]], [0, 0, 0, 1, 1, 1, 1, 1])
    audit = justicia.verify(model, frame, sensitive_features="sex", population="empirical")
    assert set(rates(audit).values()) == {1.0}


def test_searches_and_tuned_thresholds_are_unwrapped():
    frame, label = table()
    search = GridSearchCV(
        make_pipeline(StandardScaler(), DecisionTreeClassifier()), {"decisiontreeclassifier__max_depth": [2, 3]}
    )
    for model in (search, TunedThresholdClassifierCV(search, random_state=0)):
        model.fit(frame[["age", "pay"]], label)
        audit = justicia.verify(model, frame, sensitive_features="sex", population="empirical")
        assert rates(audit) == pytest.approx(sample_rates(frame, model.predict(frame[["age", "pay"]]) == 1))
        assert audit.fitted.class_name == "sklearn.tree.DecisionTreeClassifier"


def test_extra_tree():
    frame, label = table()
    model = ExtraTreeClassifier(random_state=0).fit(frame[["age", "pay"]], label)
    audit = justicia.verify(model, frame, sensitive_features="sex", population="empirical")
    assert rates(audit) == pytest.approx(sample_rates(frame, model.predict(frame[["age", "pay"]]) == 1))


def test_several_classes():
    frame, _ = table()
    label = np.where(frame["age"] < 30, "low", np.where(frame["pay"] > 0, "high", "mid"))
    model = DecisionTreeClassifier(max_depth=3).fit(frame[["age", "pay"]], label)
    with pytest.raises(ValueError, match="high, low, mid"):
        justicia.verify(model, frame, sensitive_features="sex")
    audit = justicia.verify(model, frame, sensitive_features="sex", favorable=["high", "mid"], population="empirical")
    assert rates(audit) == pytest.approx(
        sample_rates(frame, np.isin(model.predict(frame[["age", "pay"]]), ["high", "mid"]))
    )
    with pytest.raises(ValueError, match="every class"):
        justicia.verify(model, frame, sensitive_features="sex", favorable=["high", "low", "mid"])


@pytest.mark.parametrize(("only", "rate"), [(0, 0.0), (1, 1.0)])
def test_a_single_class(only, rate):
    frame, _ = table()
    model = DecisionTreeClassifier().fit(frame[["age", "pay"]], np.full(len(frame), only))
    audit = justicia.verify(model, frame, sensitive_features="sex")
    assert set(rates(audit).values()) == {rate}
    assert (audit.disparate_impact is None) == (rate == 0.0)


def test_a_single_text_class_that_is_not_the_favorable_one():
    frame, label = table()
    frame["outcome"] = np.where(label == 1, "yes", "no")
    model = DecisionTreeClassifier().fit(frame[["age", "pay"]], ["no"] * len(frame))
    audit = justicia.verify(model, frame, sensitive_features="sex", label="outcome", favorable="yes")
    assert set(rates(audit).values()) == {0.0}


def test_unknown_categories_have_a_cell_and_are_counted():
    frame, label = table()
    frame["town"] = np.where(frame["pay"] > 0, "north", "south")
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier()).fit(frame[["town"]], label)
    frame.loc[:4, "town"] = "east"
    audit = justicia.verify(model, frame, sensitive_features="sex", population="empirical")
    assert audit.unseen == {"town": {"east": 5}}
    assert "(unseen)" in audit.population.domain.features[0].labels
    assert any("east (5)" in warning for warning in audit.warnings)
    assert rates(audit) == pytest.approx(sample_rates(frame, model.predict(frame[["town"]]) == 1))


def test_values_that_the_model_refuses_are_named():
    frame, label = table()
    frame["town"] = np.where(frame["pay"] > 0, "north", "south")
    model = make_pipeline(OneHotEncoder(), DecisionTreeClassifier()).fit(frame[["town"]], label)
    frame.loc[:4, "town"] = "NA"
    with pytest.raises(TableError, match=r"'town' holds NA in 5 rows.*na=\['NA'\]"):
        justicia.verify(model, frame, sensitive_features="sex")
    frame.loc[:4, "town"] = None
    with pytest.raises(TableError, match=r"'town' has no value in 5 rows"):
        justicia.verify(model, frame, sensitive_features="sex")


def test_a_column_that_predict_refuses_is_named_even_when_it_is_no_feature():
    frame, label = table()
    frame["town"] = "north"
    model = make_pipeline(OneHotEncoder(sparse_output=False), DecisionTreeClassifier()).fit(
        frame[["town", "age"]], label
    )
    frame.loc[:2, "town"] = "east"
    with pytest.raises(TableError, match=r"'town' holds east in 3 rows"):
        justicia.verify(model, frame, sensitive_features="sex")


def test_a_word_in_a_number_column_is_named():
    frame, model = fitted()
    frame["pay"] = frame["pay"].astype(object)
    frame.loc[3, "pay"] = "none"
    with pytest.raises(TableError, match=r"'pay' holds none in 1 row, .*na=\.\.\."):
        justicia.verify(model, frame, sensitive_features="sex")


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (DummyClassifier(), "sklearn.dummy.DummyClassifier is not supported"),
        (KNeighborsClassifier(), "supported are DecisionTreeClassifier, .*LogisticRegression, .*GaussianNB"),
        (make_pipeline(PCA(1), DecisionTreeClassifier()), "PCA before the classifier .*mixes all columns"),
        (make_pipeline(PolynomialFeatures(), RidgeClassifier()), "cross terms .age, pay multiplied"),
        (SVC(), "kernel 'rbf' is not supported"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(model, says):
    frame, label = table()
    with pytest.raises(UnsupportedModelError, match=says):
        justicia.verify(model.fit(frame[["age", "pay"]], label), frame, sensitive_features="sex")


def test_an_unfitted_model_is_refused():
    frame, _ = table()
    with pytest.raises(UnsupportedModelError, match="not fitted"):
        justicia.verify(DecisionTreeClassifier(), frame, sensitive_features="sex")
    with pytest.raises(UnsupportedModelError, match="has no predict"):
        justicia.verify({"model": 1}, frame, sensitive_features="sex")


@pytest.mark.parametrize("damage", ["cycle", "range", "nan", "column"])
def test_malformed_tree_arrays_are_refused_before_use(damage):
    frame, model = fitted()
    state = model.tree_.__getstate__()
    nodes = state["nodes"].copy()
    if damage == "cycle":
        nodes["left_child"][1] = 0
    elif damage == "range":
        nodes["right_child"][0] = 10_000
    elif damage == "nan":
        nodes["threshold"][0] = np.nan
    else:
        nodes["feature"][0] = 77
    model.tree_.__setstate__({**state, "nodes": nodes})
    with pytest.raises(ModelFileError, match="malformed"):
        justicia.verify(model, frame, sensitive_features="sex")


def test_columns_in_another_order_are_aligned():
    frame, model = fitted()
    again = frame[["pay", "sex", "age"]]
    assert rates(justicia.verify(model, again, sensitive_features="sex")) == rates(
        justicia.verify(model, frame, sensitive_features="sex")
    )


def test_a_model_fitted_without_names_takes_columns_by_position():
    frame, label = table()
    model = DecisionTreeClassifier(max_depth=3).fit(frame[["age", "pay"]].to_numpy(), label)
    audit = justicia.verify(model, frame, sensitive_features="sex", features=["age", "pay"], population="empirical")
    assert rates(audit) == pytest.approx(sample_rates(frame, model.predict(frame[["age", "pay"]].to_numpy()) == 1))
    with pytest.raises(TableError, match=r"features=\.\.\."):
        justicia.verify(model, frame, sensitive_features="sex")
    with pytest.raises(TableError, match="lacks wage"):
        justicia.verify(model, frame, sensitive_features="sex", features=["age", "wage"])
