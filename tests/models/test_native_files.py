"""XGBoost's and LightGBM's own files: what they write loads, what is malformed never reaches their C++ code."""

from __future__ import annotations

import copy
import json
import pickle
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skops import io as skops_io
from xgboost import XGBClassifier

import justicia
from justicia.errors import ModelFileError, UnsupportedModelError
from justicia.models import load_model


def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a b": rng.normal(size=300), "c": pd.Categorical(rng.choice(list("xyz"), 300))})
    return frame, ((frame["a b"] > 0) ^ (frame["c"] == "x")).to_numpy().astype(int)


@pytest.fixture(scope="module")
def models():
    frame, label = table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        boosted = XGBClassifier(n_estimators=4, enable_categorical=True, n_jobs=1).fit(frame, label)
        light = LGBMClassifier(n_estimators=4, verbose=-1, n_jobs=1).fit(frame, label)
    return {".json": boosted, ".txt": light}


def save(model, path):
    (model if isinstance(model, XGBClassifier) else model.booster_).save_model(path)


@pytest.mark.parametrize("suffix", [".json", ".txt"])
def test_what_the_libraries_save_loads(tmp_path, models, suffix):
    frame, label = table()
    path = tmp_path / f"m{suffix}"
    save(models[suffix], path)
    loaded = load_model(path)
    assert (loaded.predictor.predict(frame) == models[suffix].predict(frame)).all()
    assert loaded.predictor.predict_proba(frame) == pytest.approx(models[suffix].predict_proba(frame))
    assert loaded.trained is None
    # The table as a file would give it: categories are text.
    people = frame.astype({"c": object}).assign(sex=np.where(label, "f", "m"))
    options = {"sensitive_features": "sex", "favorable": 1, "population": "empirical"}
    audit = justicia.verify(path, people, **options)
    chosen = models[suffix].predict(frame)
    for group in audit.groupings[0].groups:
        assert group.selection_rate.lo == pytest.approx(chosen[people["sex"] == group.group["sex"]].mean(), abs=1e-12)


def test_early_stopping_and_darts_survive(tmp_path):
    frame, label = table()
    frame = frame[["a b"]]
    for options in ({"early_stopping_rounds": 1, "learning_rate": 1.0}, {"booster": "dart", "rate_drop": 0.5}):
        model = XGBClassifier(n_estimators=30, n_jobs=1, **options)
        model.fit(frame, label, eval_set=[(frame[:50], 1 - label[:50])], verbose=False)
        model.save_model(tmp_path / "m.json")
        loaded = load_model(tmp_path / "m.json").predictor
        assert (loaded.predict_proba(frame) == model.predict_proba(frame)).all()


def tree_of(document):
    return document["learner"]["gradient_booster"]["model"]["trees"][0]


def put(key, place, value):
    def change(document):
        tree_of(document)[key][place] = value

    return change


CHANGED = {
    "child out of range": put("right_children", 0, 10**6),
    "child of itself": put("left_children", 0, 0),
    "children apart": put("right_children", 0, 3),
    "column out of range": put("split_indices", 0, 2),
    "negative column": put("split_indices", 0, -1),
    "no number": put("split_conditions", 0, None),
    "text": put("split_conditions", 0, "x"),
    "short array": lambda document: tree_of(document)["sum_hessian"].pop(),
    "long array": lambda document: tree_of(document)["parents"].append(0),
    "number of nodes": lambda document: tree_of(document)["tree_param"].update(num_nodes="99999"),
    "categories behind the end": put("categories_sizes", 0, 10**6),
    "negative code": put("categories", 0, -5),
    "huge code": put("categories", 0, 2**40),
    "several outputs": lambda document: tree_of(document)["tree_param"].update(size_leaf_vector="3"),
    "group of a tree": lambda document: document["learner"]["gradient_booster"]["model"]["tree_info"].__setitem__(0, 7),
    "iterations": lambda document: document["learner"]["gradient_booster"]["model"].update(iteration_indptr=[0, 99]),
    "names": lambda document: document["learner"].update(feature_names=["a"]),
    "base": lambda document: document["learner"]["learner_model_param"].update(base_score="[nan]"),
    "texts behind the end": lambda document: document["learner"]["gradient_booster"]["model"]["cats"]["enc"][1].update(
        offsets=[0, 1, 2, 99]
    ),
    "negative version": lambda document: document.update(version=[-1, 0, 0]),
    "no version": lambda document: document.pop("version"),
    "no learner": lambda document: document.pop("learner"),
    "no trees": lambda document: document["learner"]["gradient_booster"]["model"].pop("trees"),
}


@pytest.mark.parametrize("case", CHANGED)
def test_malformed_json_is_refused_in_one_line(tmp_path, models, case):
    document = copy.deepcopy(json.loads(bytes(models[".json"].get_booster().save_raw("json"))))
    document.setdefault("version", [3, 2, 0])
    CHANGED[case](document)
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match=r"^m\.json") as caught:
        load_model(tmp_path / "m.json")
    assert "\n" not in str(caught.value)


REPLACED = {
    "child out of range": ("left_child=", "left_child=9999 "),
    "column out of range": ("split_feature=", "split_feature=7 "),
    "too few leaves": ("leaf_value=", "leaf_value=0.5\nold="),
    "leaves": ("num_leaves=", "num_leaves=9"),
    "no number": ("threshold=", "threshold=nan "),
    "underscore": ("leaf_value=", "leaf_value=1_"),
    "categories behind the end": ("cat_boundaries=0 ", "cat_boundaries=0 99999 "),
    "version": ("version=v", "version=w"),
    "columns": ("max_feature_idx=", "max_feature_idx=9"),
    "objective": ("objective=binary", "objective=binary;"),
    "a line without a sign": ("num_cat=", "num_cat"),
}


@pytest.mark.parametrize("case", REPLACED)
def test_malformed_text_is_refused_in_one_line(tmp_path, models, case):
    text = models[".txt"].booster_.model_to_string()
    old, new = REPLACED[case]
    assert old in text
    (tmp_path / "m.txt").write_text(text.replace(old, new, 1))
    with pytest.raises(ModelFileError, match=r"^m\.txt") as caught:
        load_model(tmp_path / "m.txt")
    assert "\n" not in str(caught.value)


def test_trees_too_deep_for_a_stack_are_refused(tmp_path, models):
    document = json.loads(bytes(models[".json"].get_booster().save_raw("json")))
    document["version"] = [3, 2, 0]
    levels, tree = 20_000, tree_of(document)
    size = 2 * levels + 1
    inner = [node == 0 or node % 2 == 1 for node in range(size - 2)] + [False, False]
    left = [(1 if node == 0 else node + 2) if inner[node] else -1 for node in range(size)]
    tree.update(left_children=left, right_children=[child + 1 if child >= 0 else -1 for child in left])
    for key in ("split_indices", "split_conditions", "default_left", "split_type", "parents"):
        tree[key] = [0] * size
    for key in ("base_weights", "loss_changes", "sum_hessian"):
        tree[key] = [0.0] * size
    for key in ("categories", "categories_nodes", "categories_segments", "categories_sizes"):
        tree[key] = []
    tree["tree_param"]["num_nodes"] = str(size)
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match="too deep"):
        load_model(tmp_path / "m.json")


def test_wrong_sizes_of_trees_are_worked_out_anew(tmp_path, models):
    # LightGBM itself ends the process over them.
    text = models[".txt"].booster_.model_to_string().replace("tree_sizes=", "tree_sizes=9")
    (tmp_path / "m.txt").write_text(text)
    frame, _ = table()
    assert (load_model(tmp_path / "m.txt").predictor.predict(frame) == models[".txt"].predict(frame)).all()


@pytest.mark.parametrize("name", ["m.json", "m.txt"])
@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 10**5, b"tree\n", b"\xff\xfe", b'{"learner": {}}'])
def test_other_content_is_refused_in_one_line(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        load_model(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_regressors_are_no_classifiers(tmp_path):
    from lightgbm import LGBMRegressor
    from xgboost import XGBRegressor

    frame, label = table()
    XGBRegressor(n_estimators=1).fit(frame[["a b"]], label).save_model(tmp_path / "m.json")
    LGBMRegressor(n_estimators=1, verbose=-1).fit(frame[["a b"]], label).booster_.save_model(tmp_path / "m.txt")
    for name in ("m.json", "m.txt"):
        with pytest.raises(UnsupportedModelError, match=f"^{name} has objective .*supported are classifiers"):
            load_model(tmp_path / name)


def test_binary_files_of_xgboost_name_the_remedy(tmp_path, models):
    models[".json"].save_model(tmp_path / "m.ubj")
    with pytest.raises(ModelFileError, match=r"m\.ubj: .*save_model with a name in \.json"):
        load_model(tmp_path / "m.ubj")


@pytest.mark.parametrize("suffix", [".json", ".txt"])
def test_pickles_need_trust_and_name_the_remedy(tmp_path, models, suffix):
    frame, label = table()
    library = type(models[suffix]).__module__.partition(".")[0]
    model = make_pipeline(StandardScaler(), type(models[suffix])(n_estimators=2)).fit(frame[["a b"]], label)
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(model))
    with pytest.raises(ModelFileError, match=rf"holds {library}\..*unchecked.*'model\{suffix}'.*--trust-model"):
        load_model(tmp_path / "m.pkl")
    loaded = load_model(tmp_path / "m.pkl", trust=True).predictor
    assert (loaded.predict(frame[["a b"]]) == model.predict(frame[["a b"]])).all()


def test_skops_files_need_trust(tmp_path, models):
    skops_io.dump(models[".txt"], tmp_path / "m.skops")
    with pytest.raises(ModelFileError, match="--trust-model"):
        load_model(tmp_path / "m.skops")


@pytest.mark.parametrize("suffix", [".json", ".txt"])
def test_a_missing_library_is_named(tmp_path, models, suffix, monkeypatch):
    path, library = tmp_path / f"m{suffix}", {".json": "xgboost", ".txt": "lightgbm"}[suffix]
    save(models[suffix], path)
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(models[suffix]))
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        ModelFileError, match=rf"{library} is not installed: pip install 'justicia-verifier\[boosting\]'"
    ):
        load_model(path)
    with pytest.raises(ModelFileError, match=r"which is not installed: pip install"):
        load_model(tmp_path / "m.pkl", trust=True)


@pytest.mark.parametrize("objective", ["binary", "binary sigmoid:0", "binary sigmoid:-1"])
def test_a_sigmoid_that_lightgbm_refuses_on_standard_error(tmp_path, capfd, objective):
    from lightgbm import LGBMClassifier

    frame, label = table()
    model = LGBMClassifier(n_estimators=2, verbose=-1).fit(frame[["a b"]].to_numpy(), label)
    text = model.booster_.model_to_string().replace("objective=binary sigmoid:1", f"objective={objective}")
    (tmp_path / "m.txt").write_text(text)
    capfd.readouterr()
    with pytest.raises(ModelFileError, match=r"sigmoid|objective"):
        load_model(tmp_path / "m.txt")
    assert capfd.readouterr() == ("", "")
