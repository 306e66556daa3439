"""LightGBM's own description of a model, read and checked.

What `Booster.model_to_string` gives is the same as a file that `save_model` wrote. LightGBM's C++ code believes the
lengths and positions in it, and ends the process over some mistakes; so a model file is written anew from what was
checked before LightGBM sees it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from justicia.errors import ModelFileError, UnsupportedModelError
from justicia.models.xgboost_json import DEEPEST

__all__ = ["LightGBMModel", "read_lightgbm"]

_CATEGORICAL, _DEFAULT_LEFT = 1, 2
_MISSING_TYPES = ("none", "zero", "nan")
_NUMBERS = {
    "split_feature": np.int64,
    "threshold": np.float64,
    "decision_type": np.int64,
    "left_child": np.int64,
    "right_child": np.int64,
}
_KEPT = ("num_leaves", "num_cat", *_NUMBERS, "leaf_value", "cat_boundaries", "cat_threshold", "shrinkage")
_PLAIN = re.compile(r"(-?(\d+(\.\d+)?([eE][-+]?\d+)?|inf)( |$))*")
_OBJECTIVE = re.compile(r"[a-z_0-9]*( [a-z_]+(:\d+(\.\d+)?([eE][-+]?\d+)?)?)*")
_PANDAS = "pandas_categorical:"


@dataclass(frozen=True)
class LightGBMModel:
    """Boosted trees of one output.

    Attributes
    ----------
    trees : list of dict
        Arrays of one tree, inner nodes before leaves: `left`, `right` (-1 at leaves), `column`, `threshold`,
        `missing_type` ("none", "zero" or "nan"), `default_left`, `value`, and `sets`, which holds for a categorical
        node whether each code goes left.
    objective : str
        Name and parameters; empty for an objective of one's own.
    averaged : bool
        The score is the mean of the trees, not their sum.
    n_columns : int
    names : tuple of str
    categorical : tuple of bool
        Whether each column is split by categories.
    categories : list of list
        Categories of each categorical column of the DataFrame that the model was fitted on, in its order.
    text : str
        The model, written anew.
    """

    trees: list[dict[str, Any]]
    objective: str
    averaged: bool
    n_columns: int
    names: tuple[str, ...]
    categorical: tuple[bool, ...]
    categories: list[list[Any]]
    text: str


def read_lightgbm(text: str) -> LightGBMModel:
    """Read a model from its text.

    Raises
    ------
    ModelFileError
        When something is absent, of the wrong length, or points to what does not exist.
    UnsupportedModelError
        When its leaves hold linear models, or it has several outputs.
    """
    try:
        return _read(text)
    except (IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        if isinstance(error, (ModelFileError, UnsupportedModelError)):
            raise
        raise ModelFileError(
            f"the LightGBM model is malformed ({type(error).__name__}: {error}): save it again"
        ) from error


def _read(text: str) -> LightGBMModel:
    head, *blocks = text.replace("\r\n", "\n").partition("end of trees")[0].split("\nTree=")
    lines = head.strip().split("\n")
    _require(lines[0] == "tree", "it does not begin with the word tree")
    header = {key: value for key, separator, value in (line.partition("=") for line in lines[1:]) if separator}
    _require(header.get("version") in ("v2", "v3", "v4"), f"version {header.get('version')}")
    if int(header["num_class"]) != 1 or int(header["num_tree_per_iteration"]) != 1:
        raise UnsupportedModelError("a LightGBM model of several outputs is not supported: fit it on two classes")
    n_columns = int(header["max_feature_idx"]) + 1
    names, infos = header["feature_names"].split(" "), header["feature_infos"].split(" ")
    _require(0 < n_columns == len(names) == len(infos) and all(names) and all(infos), "columns")
    _require(_OBJECTIVE.fullmatch(header.get("objective", "")) is not None, "objective")
    # LightGBM says so itself, and on standard error besides.
    said = re.search(r" sigmoid:(\S+)", header["objective"])
    binary = header["objective"].split(" ")[0] == "binary"
    _require(not binary or (said is not None and 0 < float(said[1]) < np.inf), "sigmoid")
    averaged = "average_output" in lines
    trees, written = [], []
    for number, block in enumerate(blocks):
        _, *rows = block.strip().split("\n")
        held = dict(row.split("=", 1) for row in rows if row)
        trees.append(_tree(held, n_columns))
        written.append(f"Tree={number}\n" + "".join(f"{key}={value}\n" for key, value in _kept(held)) + "\n\n")
    categories = _pandas_categories(text)
    anew = ["tree", f"version={header['version']}", "num_class=1", "num_tree_per_iteration=1", "label_index=0"]
    anew += [f"max_feature_idx={n_columns - 1}"]
    anew += [f"{key}={header[key]}" for key in ("objective", "feature_names") if key in header]
    anew += ["average_output"] * averaged
    anew += [f"feature_infos={header['feature_infos']}", f"tree_sizes={' '.join(str(len(tree)) for tree in written)}"]
    end = f"end of trees\n\n{_PANDAS}{json.dumps(categories) if categories else 'null'}\n"
    return LightGBMModel(
        trees,
        header.get("objective", ""),
        averaged,
        n_columns,
        tuple(names),
        tuple(info != "none" and not info.startswith("[") for info in infos),
        categories,
        "\n".join(anew) + "\n\n" + "".join(written) + end,
    )


def _require(true: bool, what: str) -> None:
    if not true:
        raise ModelFileError(f"the LightGBM model is malformed ({what}): save it again")


def _kept(held: dict[str, str]) -> list[tuple[str, str]]:
    """What predict needs of a tree, in LightGBM's order; numbers that every parser reads alike."""
    kept = [(key, " ".join(held[key].split())) for key in _KEPT if key in held]
    _require(all(_PLAIN.fullmatch(value) for _, value in kept), "numbers of a tree")
    return kept


def _numbers(text: str, kind: Any, length: int) -> np.ndarray:
    values = np.array(text.split(), dtype=kind)
    _require(values.shape == (length,), "lengths of a tree's arrays")
    return values


def _tree(held: dict[str, str], n_columns: int) -> dict[str, Any]:
    if int(held.get("is_linear", 0)):
        raise UnsupportedModelError(
            "a LightGBM model with linear_tree is not supported: its leaves hold linear models, not numbers"
        )
    n_leaves, n_sets = int(held["num_leaves"]), int(held["num_cat"])
    _require(n_leaves > 0 and n_sets >= 0, "a tree without leaves")
    value = _numbers(held["leaf_value"], np.float64, n_leaves)
    _require(bool(np.isfinite(value).all()), "a leaf that is no finite number")
    n_inner = n_leaves - 1
    inner = {key: _numbers(held[key] if n_inner else "", kind, n_inner) for key, kind in _NUMBERS.items()}
    left, right, kinds = inner["left_child"], inner["right_child"], inner["decision_type"]
    children = np.concatenate([left, right])
    # Each node but the first is a child once; leaves are counted down from -1.
    expected = np.concatenate([np.arange(1, n_inner), -1 - np.arange(n_leaves)]) if n_inner else children
    _require(np.array_equal(np.sort(children), np.sort(expected)), "children of a tree")
    nodes = np.arange(n_inner)
    _require(not (((left >= 0) & (left <= nodes)) | ((right >= 0) & (right <= nodes))).any(), "children of a tree")
    depth = np.zeros(n_inner, dtype=np.int64)
    for node in range(n_inner):
        below = [int(child) for child in (left[node], right[node]) if child > 0]
        depth[below] = depth[node] + 1
    _require(int(depth.max(initial=0)) <= DEEPEST, "a tree too deep")
    column = inner["split_feature"]
    _require(bool(((column >= 0) & (column < n_columns)).all()), "nodes of a tree")
    _require(bool(((kinds >= 0) & (kinds >> 2 < len(_MISSING_TYPES))).all()), "decisions of a tree")
    _require(not np.isnan(inner["threshold"]).any(), "a tree with a number that is none")
    by_set = (kinds & _CATEGORICAL) != 0
    leaves = np.full(n_leaves, -1)
    return {
        "left": np.concatenate([np.where(left < 0, n_inner + ~left, left), leaves]),
        "right": np.concatenate([np.where(right < 0, n_inner + ~right, right), leaves]),
        "column": np.concatenate([column, leaves]),
        "threshold": np.concatenate([inner["threshold"], np.zeros(n_leaves)]),
        "missing_type": [_MISSING_TYPES[kind] for kind in kinds >> 2] + ["none"] * n_leaves,
        "default_left": np.concatenate([(kinds & _DEFAULT_LEFT) != 0, np.zeros(n_leaves, dtype=bool)]),
        "value": np.concatenate([np.zeros(n_inner), value]),
        "sets": _sets(held, inner["threshold"], np.flatnonzero(by_set), n_sets),
    }


def _sets(held: dict[str, str], threshold: np.ndarray, nodes: np.ndarray, n_sets: int) -> dict[int, np.ndarray]:
    """Whether each code goes left, by categorical node."""
    if not n_sets:
        _require(not len(nodes), "categories of a tree")
        return {}
    bounds = _numbers(held["cat_boundaries"], np.int64, n_sets + 1)
    _require(int(bounds[0]) == 0 and bool((np.diff(bounds) >= 0).all()), "categories of a tree")
    words = _numbers(held["cat_threshold"], np.int64, int(bounds[-1]))
    _require(bool(((words >= 0) & (words < 2**32)).all()), "categories of a tree")
    which = threshold[nodes]
    _require(bool(((which >= 0) & (which < n_sets) & (which % 1 == 0)).all()), "categories of a tree")
    sets = {}
    for node, number in zip(nodes.tolist(), which.astype(np.int64), strict=True):
        chosen = words[bounds[number] : bounds[number + 1]].astype("<u4")
        goes = np.unpackbits(chosen.view(np.uint8), bitorder="little").astype(bool)
        sets[node] = goes[: int(np.flatnonzero(goes).max(initial=-1)) + 1]
    return sets


def _pandas_categories(text: str) -> list[list[Any]]:
    line = next((line for line in reversed(text.rstrip().split("\n")[-2:]) if line.startswith(_PANDAS)), None)
    held = json.loads(line.removeprefix(_PANDAS)) if line is not None else None
    if held is None:
        return []
    kinds = (str, int, float, bool)
    _require(isinstance(held, list) and all(isinstance(values, list) for values in held), "categories of columns")
    _require(all(isinstance(value, kinds) for values in held for value in values), "categories of columns")
    return [list(values) for values in held]
