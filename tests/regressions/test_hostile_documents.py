"""YAML, JSON, TOML and model documents that unfold, nest or count beyond measure."""

from __future__ import annotations

import json

import pytest

from justicia.configuration import requirements_of
from justicia.errors import InputError, ModelFileError, SpecError, UnsupportedModelError
from justicia.generations import read_spec
from justicia.generations.answer_rules import read_rules
from justicia.generations.vectors import load_vectors
from justicia.models.lightgbm_text import read_lightgbm
from justicia.models.xgboost_json import read_xgboost

LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
)


def test_names_of_lists_of_names(tmp_path):
    pytest.importorskip("yaml")
    (tmp_path / "s.yml").write_text(f"{LAUGHS}attributes: *a11\n")
    with pytest.raises(SpecError, match="unfolds to more than 20,000,000"):
        read_spec(tmp_path / "s.yml")
    (tmp_path / "s.yml").write_text("attributes: {first: &values [a, b], second: *values}\n")
    spec = read_spec(tmp_path / "s.yml")
    assert {name: held.domain for name, held in spec.attributes.items()} == {"first": ("a", "b"), "second": ("a", "b")}
    (tmp_path / "s.yml").write_text("attributes: &a {first: *a}\n")
    with pytest.raises(SpecError):
        read_spec(tmp_path / "s.yml")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"attributes": ' + "9" * 5000 + "}", "a number in it is too long"),
        ('{"run": "a", "run": "b"}', "stands there twice"),
    ],
)
def test_json_specs(tmp_path, text, says):
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(SpecError, match=says):
        read_spec(tmp_path / "s.json")


def test_a_spec_of_a_hundred_thousand_keys(tmp_path):
    # Looking for each among all others would take minutes.
    (tmp_path / "s.json").write_text(json.dumps({f"k{i}": i for i in range(100_000)}))
    with pytest.raises(SpecError, match="has no key k0"):
        read_spec(tmp_path / "s.json")


@pytest.mark.parametrize("text", ["a = " + "[" * 100_000, "a = " + "9" * 5000, "a = \x00", "require = 3"])
def test_configurations(tmp_path, text):
    (tmp_path / "j.toml").write_text(text)
    with pytest.raises(InputError, match=r"j\.toml"):
        requirements_of(str(tmp_path / "j.toml"))


@pytest.mark.parametrize("name", ["j.toml", "pyproject.toml"])
def test_tools_that_are_no_table(tmp_path, name):
    (tmp_path / name).write_text("tool = 3\n")
    with pytest.raises(InputError, match=r"has no table \[tool.justicia\]"):
        requirements_of(str(tmp_path / name))


@pytest.mark.parametrize("pattern", ["/a{99999999999999999999}/", "/" + "(" * 5000 + ")" * 5000 + "/", "/[/"])
def test_patterns_that_are_none(pattern):
    with pytest.raises(SpecError, match="no regular expression"):
        read_rules([("yes", [pattern]), ("no", ["no"])])


def xgboost_tree(**changes):
    tree = {
        "left_children": [-1], "right_children": [-1], "split_indices": [0], "split_conditions": [0.5],
        "default_left": [0], "parents": [2147483647], "base_weights": [0.5], "loss_changes": [0.0],
        "sum_hessian": [1.0], "tree_param": {"num_nodes": "1"},
    }  # fmt: skip
    model = {"trees": [{**tree, **changes}], "tree_info": [0], "iteration_indptr": [0, 1]}
    parameters = {"num_class": "0", "num_feature": "1", "base_score": "0.5"}
    return {
        "learner": {
            "gradient_booster": {"name": "gbtree", "model": model},
            "learner_model_param": parameters,
            "objective": {"name": "binary:logistic"},
        }
    }


def test_a_tree_that_says_it_is_huge():
    assert len(read_xgboost(xgboost_tree()).trees) == 1
    with pytest.raises(ModelFileError, match="lengths of a tree's arrays"):
        read_xgboost(xgboost_tree(tree_param={"num_nodes": "100000000000"}))


def test_nodes_of_many_categories():
    """Each node names one category, and would get a place for sixteen million."""
    inner = 7
    size = 2 * inner + 1
    left = [2 * i + 1 if i < inner else -1 for i in range(size)]
    held = {
        "left_children": left, "right_children": [child + 1 if child > 0 else -1 for child in left],
        "parents": [2147483647, *[(i - 1) // 2 for i in range(1, size)]], "tree_param": {"num_nodes": str(size)},
        "split_type": [int(i < inner) for i in range(size)], "categories_nodes": list(range(inner)),
        "categories_segments": list(range(inner)), "categories_sizes": [1] * inner,
    }  # fmt: skip
    zeros = ("split_indices", "split_conditions", "default_left", "base_weights", "loss_changes", "sum_hessian")
    held |= {name: [0] * size for name in zeros}
    assert len(read_xgboost(xgboost_tree(**held, categories=[3] * inner)).trees[0]["sets"]) == inner
    with pytest.raises(UnsupportedModelError, match="117,440,512 categories"):
        read_xgboost(xgboost_tree(**held, categories=[2**24 - 1] * inner))


def test_categories_nested_without_end():
    head = "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=0\nfeature_names=a\n"
    head += "feature_infos=none\n"
    with pytest.raises(ModelFileError, match="malformed"):
        read_lightgbm(f"{head}objective=binary\n\nend of trees\n\npandas_categorical:{'[' * 100_000}\n")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("v.npz", b"PK\x03\x04" + b"x" * 50),
        ("v.npz", b"x"),
        ("v.npy", b"\x93NUMPY\x01\x00\x10\x00((((((((((((((((("),
        ("v.txt.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + b"\xff" * 30),
        ("v.txt.xz", b"\xfd7zXZ\x00" + b"\xff" * 30),
        ("v.bin", b"9 9\n"),
        ("v.bin", b"1 " + b"9" * 900 + b"\n"),
    ],
)
def test_broken_word_vectors(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=r"v\.") as raised:
        load_vectors(tmp_path / name)
    assert len(str(raised.value).splitlines()) == 1


def test_words_beside_vectors_that_are_no_text(tmp_path):
    import numpy as np

    np.save(tmp_path / "v.npy", np.ones((1, 2)))
    (tmp_path / "v.txt").write_bytes(b"\xff\n")
    with pytest.raises(InputError, match="UnicodeDecodeError"):
        load_vectors(tmp_path / "v.npy")
    (tmp_path / "v.txt").unlink()
    (tmp_path / "v.json").write_text('{"a": 1, "b": "x"}')
    with pytest.raises(InputError, match="TypeError"):
        load_vectors(tmp_path / "v.npy")


@pytest.mark.parametrize("depth", [500, 900, 940, 980, 5000])
def test_audits_that_are_nested_deeply(tmp_path, depth):
    from justicia.report.reading import read_audit

    (tmp_path / "a.json").write_text('{"schema": "justicia.audit/1", "tool": ' + "[" * depth + "]" * depth + "}")
    with pytest.raises(InputError, match=r"a\.json: no (whole )?audit"):
        read_audit(tmp_path / "a.json")
