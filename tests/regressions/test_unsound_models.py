"""Models whose parts do not fit together, past which compiled code would read, or never end: refused on loading."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.interpolate import BSpline
from scipy.sparse import csr_matrix
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import Bunch

from justicia.errors import ModelFileError, UnsupportedModelError
from justicia.models import load_model, unwrap

RNG = np.random.default_rng(0)
X = pd.DataFrame({"age": RNG.integers(18, 70, 80), "pay": RNG.normal(50, 20, 80).round(2)})
Y = np.where(X["age"] + X["pay"] > 90, "yes", "no")


class Forged:
    """Is pickled as what a function makes of arguments and a state."""

    def __init__(self, function, arguments, state):
        self.rebuilt = function, arguments, state

    def __reduce__(self):
        return self.rebuilt


def forged_tree(tree, **changes):
    function, arguments, state = tree.__reduce__()
    state = {**state, "nodes": state["nodes"].copy()}
    for name, value in changes.items():
        if name in state:
            state[name] = value
        else:
            state["nodes"][name][0] = value
    return Forged(function, arguments, state)


def tree(**changes):
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)
    model.__dict__["tree_"] = forged_tree(model.tree_, **changes)
    return model


def saved(tmp_path, model):
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(model))
    return tmp_path / "m.pkl"


def refused(tmp_path, model, says):
    with pytest.raises(ModelFileError, match=says) as raised:
        load_model(saved(tmp_path, model))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"node_count": 10**9}, "a tree is malformed"),
        ({"node_count": 1}, "a tree is malformed"),
        ({"node_count": True}, "a tree is malformed"),
        ({"left_child": 0}, "comes before its parent"),
        ({"right_child": 0}, "comes before its parent"),
        ({"right_child": 10**6}, "does not exist"),
        ({"left_child": -7}, "does not exist, or comes before"),
        ({"feature": 2}, "asks for a column that the model does not take"),
        ({"feature": -3}, "asks for a column that the model does not take"),
    ],
)
def test_trees(tmp_path, changes, says):
    refused(tmp_path, tree(**changes), says)


def test_a_tree_as_it_was_fitted(tmp_path):
    held = load_model(saved(tmp_path, tree())).predictor
    assert held.predict(X).tolist() == DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y).predict(X).tolist()


def changed(model, **attributes):
    for name, value in attributes.items():
        model.__dict__[name] = value
    return model


def boosted(**changes):
    model = GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=0).fit(X, Y)
    for name, value in changes.items():
        model.estimators_[0, 0].__dict__[name] = value
    return model


def forest():
    model = RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, Y)
    wide = DecisionTreeClassifier(max_depth=2).fit(X.assign(other=X["pay"] ** 2), Y)
    model.estimators_[1] = wide
    return model


def fake():
    model = boosted()
    model.estimators_[0, 0] = Bunch(tree_=None, n_features_in_=2)
    return model


def test_what_stands_in_place_of_trees(tmp_path):
    refused(tmp_path, boosted(tree_=None), "a NoneType stands where a tree is to be")
    refused(tmp_path, boosted(tree_=Bunch(n_features=2)), "a Bunch stands where a tree is to be")
    refused(tmp_path, fake(), "a (Bunch|NoneType) stands where a tree is to be")
    refused(tmp_path, boosted(n_features_in_=3), "takes other columns than")
    refused(tmp_path, changed(tree(), n_features_in_=3), "a tree takes other columns than the model around it")
    refused(tmp_path, changed(boosted(), n_features_in_=1), "a tree of an ensemble takes other columns")
    refused(tmp_path, forest(), "a tree of an ensemble takes other columns")


def histogram(**changes):
    model = HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=4, min_samples_leaf=5).fit(X, Y)
    nodes = model._predictors[0][0].nodes
    for name, value in changes.items():
        nodes[name][0] = value
    return model


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"left": 0}, "comes before its parent"),
        ({"right": 4_000_000_000}, "does not exist"),
        ({"feature_idx": 2}, "asks for a column"),
        ({"feature_idx": -1}, "asks for a column"),
        ({"is_categorical": 1, "bitset_idx": 7}, "a set of categories that does not exist"),
    ],
)
def test_histogram_trees(tmp_path, changes, says):
    refused(tmp_path, histogram(**changes), says)


def test_histogram_trees_of_other_columns(tmp_path):
    refused(tmp_path, changed(histogram(), _n_features=50), "other columns")
    refused(tmp_path, changed(histogram(), _predictors=[[None]]), "absent or of another kind")


def support_vectors():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SVC(kernel="linear").fit(X, Y)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("_n_support", lambda held: held * 1000),
        ("_n_support", lambda held: -held),
        ("_dual_coef_", lambda held: held[:, :1]),
        ("support_vectors_", lambda held: held[:1]),
        ("_intercept_", lambda held: held[:0]),
        ("_probA", lambda held: np.zeros(5)),
    ],
)
def test_support_vectors(tmp_path, name, change):
    model = support_vectors()
    refused(tmp_path, changed(model, **{name: change(getattr(model, name))}), "support vectors")


def sparse(**changes):
    return changed(csr_matrix(np.eye(3)), **changes)


def test_sparse_matrices_and_splines(tmp_path):
    refused(tmp_path, tree_with(sparse(indices=np.array([0, 1, 10**6], dtype=np.int32))), "a csr_matrix")
    refused(tmp_path, tree_with(sparse(indptr=np.array([0, 1, 2, 10**6], dtype=np.int32))), "a csr_matrix")
    spline = BSpline(np.arange(8.0), np.ones(4), 3)
    # Since scipy 1.18 it is inside of another.
    spline = getattr(spline, "_delegate_to", spline)
    refused(tmp_path, tree_with(changed(spline, k=1000)), "do not fit together")
    knots = "_t" if "_t" in vars(spline) else "t"
    refused(tmp_path, tree_with(changed(spline, k=3, **{knots: np.arange(5.0)})), "do not fit together")


def tree_with(thing):
    return changed(DecisionTreeClassifier(max_depth=2).fit(X, Y), extra=thing)


def bomb():
    held = ["x"]
    for _ in range(60):
        held = [held, held]
    return held


def deep():
    held = []
    for _ in range(400):
        held = [held]
    return held


def circle():
    held = []
    held.append({"a": (held,)})
    return held


@pytest.mark.parametrize(
    ("make", "says"), [(bomb, "unfolds to more than"), (deep, "nested more than 250 deep"), (circle, "holds itself")]
)
def test_lists_in_lists(tmp_path, make, says):
    refused(tmp_path, tree_with(make()), says)
    inside = np.empty(1, dtype=object)
    inside[0] = make()
    refused(tmp_path, tree_with(inside), says)


def test_ranges_as_names(tmp_path):
    refused(tmp_path, tree_with(pd.RangeIndex(10**12)), "an index is malformed")
    assert len(load_model(saved(tmp_path, tree_with(pd.RangeIndex(5)))).predictor.extra) == 5


def test_a_method_that_is_something_else(tmp_path):
    refused(tmp_path, changed(tree(), _validate_X_predict=np.exp), "in place of its method _validate_X_predict")


def test_a_wrapper_without_what_fitting_leaves(tmp_path):
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator

    model = CalibratedClassifierCV(
        FrozenEstimator(DecisionTreeClassifier(max_depth=2).fit(X, Y)), method="sigmoid"
    ).fit(X, Y)
    del model.calibrated_classifiers_[0].calibrators
    with pytest.raises(ModelFileError, match="lacks what a fitted model has"):
        unwrap(model)
    with pytest.raises(UnsupportedModelError, match="is not fitted"):
        unwrap(CalibratedClassifierCV())


def test_an_archive_that_fills_the_memory(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "m.skops", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", b" " * 300_000_000)
    with pytest.raises(ModelFileError, match="grows beyond 286 MiB"):
        load_model(tmp_path / "m.skops")


def test_a_pipe_in_place_of_a_model(tmp_path):
    import os

    os.mkfifo(tmp_path / "m.pkl")
    with pytest.raises(ModelFileError, match="is not a file"):
        load_model(tmp_path / "m.pkl")


def test_bytes_without_end(tmp_path):
    """A byte array that says it is as long as any memory."""
    (tmp_path / "m.joblib").write_bytes(b"\x80\x05\x96" + b"\xff" * 7 + b"\x7f" + b"too short.")
    with pytest.raises(ModelFileError, match=r"^m.joblib cannot be loaded: it asks for more memory than there is$"):
        load_model(tmp_path / "m.joblib")


def test_names_of_two_lines_make_messages_of_one(tmp_path):
    (tmp_path / "m.pkl").write_bytes(b"\x80\x04\x8c\x03o\ns\x8c\x07sys\ntem\x93.")
    with pytest.raises(ModelFileError) as raised:
        load_model(tmp_path / "m.pkl")
    assert len(str(raised.value).splitlines()) == 1


def test_a_step_with_a_parameter_that_no_fit_has_checked(tmp_path):
    """`transform` of a QuantileTransformer believes its parameter, and fails with an UnboundLocalError."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import QuantileTransformer

    import justicia

    model = make_pipeline(QuantileTransformer(n_quantiles=20), LogisticRegression()).fit(X, Y)
    model[0].output_distribution = "triangular"
    with pytest.raises(UnsupportedModelError, match=r"QuantileTransformer cannot transform \(UnboundLocalError"):
        justicia.verify(model, X.assign(sex=RNG.choice(["f", "m"], len(X)), out=Y), sensitive_features="sex")


def filled(thing, **changes):
    """A frozen thing as unpickling fills it, without a look."""
    made = object.__new__(type(thing))
    made.__dict__.update({**vars(thing), **changes})
    return made


@pytest.mark.parametrize(
    ("part", "changes"),
    [
        ("rule", {"parts": [b"x"]}),
        ("rule", {"parts": 3}),
        ("rule", {"form": "XNF"}),
        ("condition", {"values": True}),
        ("condition", {"values": (1,)}),
        ("condition", {"test": float("nan")}),
        ("condition", {"number": float("nan"), "test": "<="}),
        ("condition", {"number": "age", "test": "<="}),
        ("condition", {"negated": "yes"}),
        ("condition", {"column": 3}),
    ],
)
def test_rules_that_were_filled_with_something_else(tmp_path, part, changes):
    from justicia.learners import CNFClassifier
    from justicia.learners.rules import Condition, Rule

    model = CNFClassifier(n_clauses=1).fit(X, Y)
    condition = Condition("age", "in", values=("3",))
    if part == "condition":
        condition = filled(condition, **changes)
    rule = filled(Rule("CNF", ()), parts=((condition,),))
    model.rule_ = filled(rule, **changes) if part == "rule" else rule
    refused(tmp_path, model, "is malformed")


@pytest.mark.parametrize("attribute", ["steps", "transformers_", "transformer_list"])
def test_steps_without_names(tmp_path, attribute):
    model = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    setattr(model, attribute, [("a",)])
    refused(tmp_path, model, f"{attribute} of a DecisionTreeClassifier are no steps with names")


def test_texts_of_characters_that_there_are_not(tmp_path):
    model = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    model.classes_ = np.array([0x110000, 1], dtype=np.uint32).view("<U1")
    refused(tmp_path, model, "an array of texts holds characters that there are not")
    model.classes_ = np.array(["ü", "\U0010ffff"]).astype(">U1")
    assert load_model(saved(tmp_path, model)).predictor.classes_.tolist() == ["ü", "\U0010ffff"]


@pytest.mark.parametrize("classes", [np.array([b"ab", b"cd"]).view("V2"), np.array([(1,), (2, 3)], dtype=object)])
def test_classes_that_are_no_values(classes):
    model = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    model.classes_ = classes
    with pytest.raises(ModelFileError, match="has malformed classes_"):
        unwrap(model)


def test_a_parameter_that_an_encoder_meets():
    """The constant model that boosting starts from believes its parameter, and fails with an UnboundLocalError."""
    from justicia import encoders

    model = GradientBoostingClassifier(n_estimators=2).fit(X, Y)
    model.init_._strategy = "guess"
    with pytest.raises(ModelFileError, match=r"lacks what an encoding needs \(UnboundLocalError"):
        encoders.encode(unwrap(model), X, ["yes"])


def test_models_from_files_do_not_report_on_themselves(tmp_path, capfd):
    model = RandomForestClassifier(n_estimators=3, max_depth=2, verbose=2, random_state=0).fit(X, Y)
    capfd.readouterr()
    loaded = load_model(saved(tmp_path, model)).predictor
    assert (loaded.predict(X) == model.predict(X)).all()
    model.predict(X)
    said = capfd.readouterr()
    assert said.out.count("Done") + said.err.count("Done") > 0
    capfd.readouterr()
    loaded.predict(X)
    assert capfd.readouterr() == ("", "")


WORDS = pd.DataFrame({"job": RNG.choice(["x", "y", "z"], 80), "city": RNG.choice(["a", "b"], 80)})


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("changes", [{"_n_features_outs": [1, 1]}, {"_drop_idx_after_grouping": [0, 7]}])
def test_one_hot_columns_beyond_the_table(tmp_path, changes, sparse):
    """The sparse table of a OneHotEncoder would be written beyond its memory."""
    from sklearn.preprocessing import OneHotEncoder

    encoder = OneHotEncoder(drop="first" if "_drop_idx_after_grouping" in changes else None, sparse_output=sparse)
    encoder.fit(WORDS)
    assert load_model(saved(tmp_path, encoder)).predictor.transform(WORDS).shape[0] == 80
    for name, value in changes.items():
        setattr(encoder, name, np.array(value, dtype=object))
    refused(tmp_path, encoder, "columns of a OneHotEncoder do not go with its categories")


def test_one_hot_columns_of_rare_categories(tmp_path):
    from sklearn.preprocessing import OneHotEncoder

    encoder = OneHotEncoder(min_frequency=30, handle_unknown="infrequent_if_exist").fit(WORDS)
    load_model(saved(tmp_path, encoder))
    encoder._default_to_infrequent_mappings = [np.array([0, 1, 2, 9]), None]
    refused(tmp_path, encoder, "of a OneHotEncoder do not go with its categories")


@pytest.mark.parametrize("encode", ["onehot", "ordinal"])
def test_bins_without_edges(tmp_path, encode):
    """A width of 10^12 columns is made before anything is looked at."""
    from sklearn.preprocessing import KBinsDiscretizer

    step = KBinsDiscretizer(3, encode=encode, quantile_method="averaged_inverted_cdf").fit(X)
    load_model(saved(tmp_path, step))
    step.n_bins_ = np.array([10**12, 3])
    refused(tmp_path, step, "numbers of bins of a KBinsDiscretizer do not go with their edges")


@pytest.mark.parametrize("width", [10**12, -1, 2.5, True, "many"])
def test_splines_of_any_width(tmp_path, width):
    from sklearn.preprocessing import SplineTransformer

    step = SplineTransformer(n_knots=4).fit(X)
    load_model(saved(tmp_path, step))
    step.n_features_out_ = width
    if width is not True:
        refused(tmp_path, step, "says that it gives")


@pytest.mark.parametrize("held", [3, [3], [np.zeros((2, 2))], [np.array([[1], 2], dtype=object)], None])
def test_categories_that_are_no_lists(tmp_path, held):
    from sklearn.preprocessing import OrdinalEncoder

    step = OrdinalEncoder().fit(WORDS)
    step.categories_ = held
    refused(tmp_path, step, "categories_ of a OrdinalEncoder are no lists of values")


def test_more_classes_than_rows():
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import FixedThresholdClassifier

    import justicia

    model = FixedThresholdClassifier(LogisticRegression().fit(X, Y)).fit(X, Y)

    class Doubling(FixedThresholdClassifier):
        def predict(self, X):
            return np.repeat(super().predict(X), 2)

    model.__class__ = Doubling
    model.__class__.__module__ = "sklearn.model_selection"
    model.__class__.__name__ = "FixedThresholdClassifier"
    with pytest.raises(ModelFileError, match="predict gives 160 classes for 80 rows"):
        justicia.verify(model, X.assign(sex=RNG.choice(["f", "m"], 80), out=Y), sensitive_features="sex", label="out")
