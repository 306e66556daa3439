"""XGBoost's own description of a model, read and checked.

What `Booster.save_raw("json")` gives is the same as a file that `save_model` wrote. XGBoost's C++ code believes the
positions in it; a model file is handed on only after everything it points to was found to exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from justicia.errors import ModelFileError, UnsupportedModelError

__all__ = ["XGBoostModel", "read_xgboost"]

_LARGEST_CODE = 2**24
"""XGBoost takes no category code from here on."""


@dataclass(frozen=True)
class XGBoostModel:
    """Boosted trees of one output.

    Attributes
    ----------
    trees : list of dict
        Arrays of one tree: `left`, `right` (-1 at leaves), `column`, `condition` (float32; at a leaf its value),
        `default_left`, and `sets`, which holds for a categorical node the codes that go right.
    weights : float32 array of shape (n_trees,)
        Factor of each tree; 1 unless the booster is dart.
    ends : int array of shape (n_iterations + 1,)
        Number of trees before each boosting iteration, and in all.
    objective : str
    base_score : float
        As the objective's prediction, not as a margin.
    n_columns : int
    names : tuple of str, or None
    categories : dict of int to list
        For each column that was a categorical column of a DataFrame, its categories in the order of their codes.
    by_code : frozenset of int
        Columns whose numbers are codes of categories.
    """

    trees: list[dict[str, Any]]
    weights: np.ndarray
    ends: np.ndarray
    objective: str
    base_score: float
    n_columns: int
    names: tuple[str, ...] | None
    categories: dict[int, list[Any]]
    by_code: frozenset[int]


def read_xgboost(document: Any) -> XGBoostModel:
    """Read a model from its JSON document.

    Parameters
    ----------
    document : dict
        As `json.loads` gives it.

    Raises
    ------
    ModelFileError
        When something is absent, of the wrong length, or points to what does not exist.
    UnsupportedModelError
        When the booster is linear, or has several outputs.
    """
    try:
        return _read(document["learner"])
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        if isinstance(error, (ModelFileError, UnsupportedModelError)):
            raise
        raise ModelFileError(
            f"the XGBoost model is malformed ({type(error).__name__}: {error}): save it again"
        ) from error


def _read(learner: dict[str, Any]) -> XGBoostModel:
    booster, parameters = learner["gradient_booster"], learner["learner_model_param"]
    kind = booster["name"]
    if kind not in ("gbtree", "dart"):
        raise UnsupportedModelError(f"an XGBoost model of booster {kind!r} is not supported: gbtree and dart are")
    if int(parameters["num_class"]) > 1 or int(parameters.get("num_target", 1)) != 1:
        raise UnsupportedModelError("an XGBoost model of several outputs is not supported: fit it on two classes")
    n_columns = int(parameters["num_feature"])
    held = (booster["gbtree"] if kind == "dart" else booster)["model"]
    trees = [_tree(tree, n_columns) for tree in held["trees"]]
    weights = np.array(booster["weight_drop"] if kind == "dart" else [1.0] * len(trees), dtype=np.float32)
    ends = np.array(held.get("iteration_indptr") or _ends(held, len(trees)), dtype=np.int64)
    _require(len(weights) == len(trees) and bool(np.isfinite(weights).all()), "weights of trees")
    _require(len(held["tree_info"]) == len(trees) and not any(held["tree_info"]), "groups of trees")
    _require(bool((np.diff(ends) >= 0).all()) and int(ends[0]) == 0 and int(ends[-1]) == len(trees), "iterations")
    base_score = np.array(str(parameters["base_score"]).strip("[]").split(","), dtype=np.float32)
    _require(base_score.shape == (1,) and bool(np.isfinite(base_score).all()), "base_score")
    names, types = learner.get("feature_names") or None, learner.get("feature_types") or []
    _require(names is None or len(names) == n_columns, "names of columns")
    _require(len(types) in (0, n_columns), "types of columns")
    return XGBoostModel(
        trees,
        weights,
        ends,
        str(learner["objective"]["name"]),
        float(base_score[0]),
        n_columns,
        None if names is None else tuple(str(name) for name in names),
        _categories(held.get("cats") or {}, n_columns),
        frozenset(column for column, kind in enumerate(types) if kind == "c"),
    )


def _require(true: bool, what: str) -> None:
    if not true:
        raise ModelFileError(f"the XGBoost model is malformed ({what}): save it again")


def _ends(held: dict[str, Any], n_trees: int) -> list[int]:
    """Ends of iterations, as older versions leave them to be worked out."""
    step = max(int(held["gbtree_model_param"].get("num_parallel_tree", 1)), 1)
    return [*range(0, n_trees, step), n_trees]


def _tree(held: dict[str, Any], n_columns: int) -> dict[str, Any]:
    left, right, column = (
        np.array(held[key], dtype=np.int64) for key in ("left_children", "right_children", "split_indices")
    )
    size = int(held["tree_param"]["num_nodes"])
    with np.errstate(over="ignore"):
        condition = np.array(held["split_conditions"], dtype=np.float64).astype(np.float32)
    default_left = np.array(held["default_left"], dtype=np.int64) != 0
    kinds = np.array(held.get("split_type") or [0] * size, dtype=np.int64)
    beside = [np.array(held[key], dtype=np.float64) for key in ("base_weights", "loss_changes", "sum_hessian")]
    parents = np.array(held["parents"], dtype=np.int64)
    arrays = (left, right, column, condition, default_left, kinds, parents, *beside)
    _require(size > 0 and all(array.shape == (size,) for array in arrays), "lengths of a tree's arrays")
    _require(int(held["tree_param"].get("size_leaf_vector", 1)) <= 1, "a tree of several outputs")
    inner = left >= 0
    # XGBoost finds the right child beside the left one, and takes any negative child for none.
    _require(bool((right[inner] == left[inner] + 1).all() and (right[~inner] < 0).all()), "children of a tree")
    _require(bool((right < size).all() and ((column >= 0) & (column < n_columns))[inner].all()), "nodes of a tree")
    order, seen = [0], np.zeros(size, dtype=bool)
    for node in order:
        _require(not seen[node], "a tree with a node of two parents")
        seen[node] = True
        if inner[node]:
            order += [int(left[node]), int(right[node])]
    place = np.full(size, -1)
    place[order] = np.arange(len(order))
    reached = np.array(order)
    _require(not np.isnan(condition[reached]).any(), "a tree with a number that is none")
    _require(bool(np.isfinite(condition[reached][~inner[reached]]).all()), "a leaf that is no finite number")
    sets = _sets(held, size)
    _require(set(sets) == set(np.flatnonzero(inner & (kinds == 1)).tolist()), "categories of a tree")
    return {
        "left": np.where(inner, place[np.maximum(left, 0)], -1)[reached],
        "right": np.where(inner, place[np.maximum(right, 0)], -1)[reached],
        "column": np.where(inner, column, -1)[reached],
        "condition": condition[reached],
        "default_left": default_left[reached],
        "sets": {int(place[node]): codes for node, codes in sets.items() if place[node] >= 0},
    }


def _sets(held: dict[str, Any], size: int) -> dict[int, np.ndarray]:
    """Codes that go right, by categorical node."""
    nodes, starts, sizes, codes = (
        np.array(held.get(key) or [], dtype=np.int64)
        for key in ("categories_nodes", "categories_segments", "categories_sizes", "categories")
    )
    _require(len(nodes) == len(starts) == len(sizes) == len(np.unique(nodes)), "categories of a tree")
    _require(bool(((nodes >= 0) & (nodes < size)).all()), "categories of a tree")
    _require(bool(((starts >= 0) & (sizes > 0) & (starts + sizes <= len(codes))).all()), "categories of a tree")
    _require(bool(((codes >= 0) & (codes < _LARGEST_CODE)).all()), "categories of a tree")
    return {int(node): codes[start : start + length] for node, start, length in zip(nodes, starts, sizes, strict=True)}


def _categories(held: dict[str, Any], n_columns: int) -> dict[int, list[Any]]:
    """Categories of each categorical column of the DataFrame that the model was fitted on."""
    encodings = held.get("enc") or []
    if not encodings:
        return {}
    segments, order = np.array(held["feature_segments"], dtype=np.int64), np.array(held["sorted_idx"], dtype=np.int64)
    _require(len(encodings) == n_columns and len(segments) == n_columns + 1, "categories of columns")
    found: dict[int, list[Any]] = {}
    for column, encoding in enumerate(encodings):
        if "offsets" in encoding:
            raw = np.array(encoding["values"], dtype=np.int64)
            offsets = np.array(encoding["offsets"], dtype=np.int64)
            ends = np.diff(offsets)
            _require(
                bool((ends >= 0).all()) and (not len(offsets) or (offsets[0], offsets[-1]) == (0, len(raw))), "texts"
            )
            text = (raw % 256).astype(np.uint8).tobytes()
            values: list[Any] = [text[a:b].decode() for a, b in pairwise(offsets)]
        else:
            values = list(encoding["values"])
            _require(all(type(value) in (int, float) for value in values), "categories of columns")
        _require(int(segments[column + 1] - segments[column]) == len(values), "categories of columns")
        inside = np.sort(order[segments[column] : segments[column + 1]])
        _require(bool((inside == np.arange(len(values))).all()), "the order of categories")
        if values:
            found[column] = values
    _require(int(segments[0]) == 0 and int(segments[-1]) == len(order), "categories of columns")
    return found
