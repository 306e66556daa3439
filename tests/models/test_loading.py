"""Model files: what real users save loads, what attackers save is refused and runs nothing."""

from __future__ import annotations

import builtins
import functools
import operator
import os
import pickle
import shutil
import struct

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier
from skops import io as skops_io

from justicia.collecting import Announcements
from justicia.errors import ModelFileError
from justicia.models import load_model


def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.normal(size=90), "b": rng.choice(["x", "y"], 90), "c": rng.choice(["p", "q"], 90)})


def models():
    table = frame()
    text = ["b", "c"]
    columns = {
        "list": text,
        "index": table.columns[1:],
        "object index": pd.Index(text, dtype=object),
        "array": np.array(text),
        "selector": make_column_selector(dtype_exclude="number"),
        "slice": slice("b", "c"),
    }
    for name, selection in columns.items():
        step = ColumnTransformer([("t", OneHotEncoder(), selection)], remainder=MinMaxScaler())
        yield name, make_pipeline(step, DecisionTreeClassifier(max_depth=3))
    for name, selector in {
        "numbers": make_column_selector(dtype_include=np.number),
        "objects": make_column_selector(dtype_exclude=[np.number, bool]),
    }.items():
        step = ColumnTransformer(
            [("n", MinMaxScaler(), ["a"]), ("o", OneHotEncoder(dtype=int), text), ("d", "drop", selector)]
        )
        yield name, make_pipeline(step, DecisionTreeClassifier(max_depth=3))
    step = ColumnTransformer([("t", OrdinalEncoder(), text), ("k", KBinsDiscretizer(3), ["a"])])
    pipeline = make_pipeline(
        step.set_output(transform="default"), DecisionTreeClassifier(random_state=np.random.RandomState(1))
    )
    yield "state", pipeline
    grid = {"decisiontreeclassifier__max_depth": [2, 3]}
    for scoring in (None, "accuracy", "roc_auc", "f1_macro"):
        yield f"grid {scoring}", GridSearchCV(pipeline, grid, scoring=scoring, cv=StratifiedKFold(3))
    splits = list(StratifiedKFold(3).split(table, np.where(table["a"] > 0, "yes", "no")))
    yield "grid of splits", GridSearchCV(pipeline, grid, cv=splits)
    yield "random", RandomizedSearchCV(pipeline, grid, n_iter=2, cv=3, random_state=0)
    yield "fixed", FixedThresholdClassifier(pipeline, threshold=0.4, pos_label="yes")
    yield "tuned", TunedThresholdClassifierCV(pipeline, cv=3)


def saved():
    table = frame()
    y = np.where(table["a"] > 0, "yes", "no")
    for name, model in models():
        yield name, model.fit(table, y), table
    bare = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2))
    yield "bare", bare.fit(table[["a"]], y), table[["a"]]


SAVED = {name: (model, table) for name, model, table in saved()}


@pytest.mark.parametrize("name", SAVED)
@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_what_users_pickle_loads(tmp_path, name, protocol):
    model, table = SAVED[name]
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(model, protocol))
    loaded = load_model(tmp_path / "m.pkl")
    assert (loaded.predictor.predict(table) == model.predict(table)).all()
    assert loaded.trained == sklearn.__version__
    assert len(loaded.sha256) == 64


@pytest.mark.parametrize("name", SAVED)
@pytest.mark.parametrize("compress", [0, ("zlib", 3), ("gzip", 3), ("bz2", 3), ("lzma", 3), ("xz", 3)])
def test_what_users_save_with_joblib_loads(tmp_path, name, compress):
    model, table = SAVED[name]
    joblib.dump(model, tmp_path / "m.joblib", compress=compress)
    assert (load_model(tmp_path / "m.joblib").predictor.predict(table) == model.predict(table)).all()


@pytest.mark.parametrize("name", ["list", "grid accuracy", "fixed", "bare"])
def test_what_users_save_with_skops_loads(tmp_path, name):
    model, table = SAVED[name]
    skops_io.dump(model, tmp_path / "m.skops")
    assert (load_model(tmp_path / "m.skops").predictor.predict(table) == model.predict(table)).all()


class Call:
    """Pickles as a call of `function` with `arguments`."""

    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


def runstring():
    from numpy.testing._private import utils

    return utils.runstring


ATTACKS = {
    "os.system": lambda mark: Call(os.system, f"touch {mark}"),
    "builtins.eval": lambda mark: Call(builtins.eval, f"open({str(mark)!r}, 'w')"),
    "builtins.exec": lambda mark: Call(builtins.exec, f"open({str(mark)!r}, 'w')"),
    "builtins.getattr": lambda mark: Call(builtins.getattr, "a", "upper"),
    "builtins.open": lambda mark: Call(builtins.open, str(mark), "w"),
    "runstring": lambda mark: Call(runstring(), f"open({str(mark)!r}, 'w')", {}),
    "pandas": lambda mark: Call(pd.read_pickle, str(mark)),
    "pandas.eval": lambda mark: Call(pd.eval, f"open({str(mark)!r}, 'w')"),
    "numpy.load": lambda mark: Call(np.load, str(mark), None, True),
    "partial": lambda mark: functools.partial(os.system, f"touch {mark}"),
    "attrgetter": lambda mark: operator.attrgetter("a.b"),
    "joblib.load": lambda mark: Call(joblib.load, str(mark)),
    "memory": lambda mark: joblib.Memory(str(mark), verbose=0),
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("wrap", ["bare", "inside a tree", "inside an array", "joblib", "joblib array"])
def test_hostile_files_are_refused_and_run_nothing(tmp_path, attack, wrap):
    mark = tmp_path / "mark"
    payload = ATTACKS[attack](mark)
    path = tmp_path / "m.pkl"
    tree = DecisionTreeClassifier(max_depth=1).fit([[0], [1]], [0, 1])
    if wrap == "inside a tree":
        tree.hidden = payload
        payload = tree
    elif wrap == "inside an array":
        payload = np.array([payload, 1], dtype=object)
    elif wrap == "joblib array":
        tree.hidden = np.array([payload, 1], dtype=object)
        payload = tree
    if wrap.startswith("joblib"):
        joblib.dump(payload, path)
    else:
        path.write_bytes(pickle.dumps(payload))
    shutil.rmtree(mark, ignore_errors=True)  # joblib.Memory makes its folder when it is built
    with pytest.raises(ModelFileError, match=r"m\.pkl holds .*--trust-model"):
        load_model(path)
    assert not mark.exists()


def global_call(module: str, name: str, argument: str) -> bytes:
    """A pickle of protocol 4 that calls a dotted name."""

    def text(value: str) -> bytes:
        return b"\x8c" + struct.pack("<B", len(value)) + value.encode()

    return b"\x80\x04" + text(module) + text(name) + b"\x93" + text(argument) + b"\x85R."


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("sklearn.tree._classes", "DecisionTreeClassifier.__init__"),
        ("numpy", "testing._private.utils.runstring"),
        ("sklearn.utils._bunch", "Bunch.__reduce__"),
        ("numpy.testing", "runstring"),
        ("sklearn", "os.system"),
    ],
)
def test_dotted_and_foreign_names_are_refused(tmp_path, module, name):
    (tmp_path / "m.pkl").write_bytes(global_call(module, name, "x"))
    with pytest.raises(ModelFileError, match="--trust-model"):
        load_model(tmp_path / "m.pkl")


def test_state_is_not_set_on_classes(tmp_path):
    # Global, then BUILD with a slot state: would set DecisionTreeClassifier.predict for the whole process.
    def text(value: str) -> bytes:
        return b"\x8c" + struct.pack("<B", len(value)) + value.encode()

    body = text("sklearn.tree._classes") + text("DecisionTreeClassifier") + b"\x93"
    body += b"N}" + text("predict") + text("x") + b"s\x86b."
    (tmp_path / "m.pkl").write_bytes(b"\x80\x04" + body)
    before = DecisionTreeClassifier.predict
    with pytest.raises(ModelFileError, match="while it loads"):
        load_model(tmp_path / "m.pkl")
    assert DecisionTreeClassifier.predict is before


class Foreign(DecisionTreeClassifier):
    """A class of the user's own."""


def test_trust_loads_what_the_user_trusts(tmp_path):
    model = Foreign(max_depth=1).fit([[0], [1]], [0, 1])
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(model))
    with pytest.raises(ModelFileError, match=r"holds .*test_loading\.Foreign"):
        load_model(tmp_path / "m.pkl")
    assert load_model(tmp_path / "m.pkl", trust=True).predictor.predict([[1]]) == [1]


def test_foreign_types_in_skops_are_refused(tmp_path):
    skops_io.dump(Foreign(max_depth=1).fit([[0], [1]], [0, 1]), tmp_path / "m.skops")
    with pytest.raises(ModelFileError, match=r"Foreign.*--trust-model"):
        load_model(tmp_path / "m.skops")


@pytest.mark.parametrize(
    "content", [b"", b"garbage", b"\x80\x04", pickle.dumps([1] * 50)[:20], b"\x1f\x8bbroken", b"x\x9cbroken"]
)
@pytest.mark.parametrize("suffix", [".pkl", ".joblib", ".skops"])
def test_broken_files_give_one_line(tmp_path, content, suffix):
    path = tmp_path / f"m{suffix}"
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        load_model(path)
    assert "\n" not in str(caught.value)


def test_other_suffixes_and_missing_files(tmp_path):
    (tmp_path / "m.onnx").write_bytes(b"")
    with pytest.raises(ModelFileError, match=r"\.pkl, \.pickle, \.joblib, \.skops"):
        load_model(tmp_path / "m.onnx")
    with pytest.raises(ModelFileError, match="no such file"):
        load_model(tmp_path / "m.pkl")


def test_another_version_is_announced_with_both_versions(tmp_path):
    model = DecisionTreeClassifier(max_depth=1).fit([[0], [1]], [0, 1])
    data = pickle.dumps(model).replace(sklearn.__version__.encode(), b"1.0.2")
    (tmp_path / "m.pkl").write_bytes(data)
    with Announcements() as said:
        assert load_model(tmp_path / "m.pkl").trained == "1.0.2"
    assert "scikit-learn 1.0.2 and is audited with " + sklearn.__version__ in said.warnings[0]
    assert "pip install scikit-learn==1.0.2" in said.warnings[0]


def test_another_version_that_cannot_be_loaded_names_both_versions(tmp_path):
    model = DecisionTreeClassifier(max_depth=1).fit([[0], [1]], [0, 1])
    data = pickle.dumps(model).replace(sklearn.__version__.encode(), b"1.0.2")
    # Node arrays had other fields then.
    (tmp_path / "m.pkl").write_bytes(data.replace(b"missing_go_to_left", b"missing_go_to_lefs"))
    with pytest.raises(ModelFileError, match=r"made with scikit-learn 1\.0\.2 and this is .*: pip install"):
        load_model(tmp_path / "m.pkl")


UFUNCS = "numpy.{}._multiarray_umath"


@pytest.mark.parametrize(
    ("model", "name", "older"),
    [
        # scikit-learn 1.6
        (GradientBoostingClassifier(n_estimators=2), "sklearn._loss._loss\nCyHalfBinomialLoss", "_loss"),
        # numpy 2.0, and 1
        (
            make_pipeline(FunctionTransformer(np.log1p), LogisticRegression()),
            "numpy\nlog1p",
            UFUNCS.format("_core"),
        ),
        (make_pipeline(FunctionTransformer(np.log1p), LogisticRegression()), "numpy\nlog1p", UFUNCS.format("core")),
    ],
    ids=["loss", "ufunc", "ufunc of numpy 1"],
)
def test_names_of_older_versions(tmp_path, model, name, older):
    X = np.arange(40.0).reshape(-1, 1)
    model.fit(X, X[:, 0] > 20)
    module, _, attribute = name.partition("\n")
    content = pickle.dumps(model, protocol=2)
    wanted = f"c{older}\n{attribute}\n".encode()
    if wanted not in content:
        # As this version of numpy has it, or numpy 2.0.
        known = [f"c{one}\n{attribute}\n".encode() for one in (module, UFUNCS.format("_core"))]
        (held,) = (one for one in known if one in content)
        content = content.replace(held, wanted)
    (tmp_path / "older.pkl").write_bytes(content)
    loaded = load_model(tmp_path / "older.pkl").predictor
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
