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

__all__ = ["DEEPEST", "XGBoostModel", "document_of", "read_xgboost"]

DEEPEST = 5000
"""Levels of a tree: the libraries go down by recursion, and run out of stack some way below."""

_LARGEST_CODE = 2**24
"""XGBoost takes no category code from here on."""
_MOST_CODES = 100_000_000
"""A node has a place for each code up to its largest, also for those that it does not name."""
_NO_PARENT = 2**31 - 1
_TYPES = ("c", "q", "i", "int", "float")
_KINDS = dict(zip(range(7, 17), "f4 f8 i1 u1 i2 u2 i4 u4 i8 u8".split(), strict=True))
"""XGBoost's numbers for types of arrays."""


@dataclass(frozen=True)
class ColumnCategories:
    """Categories of a column.

    Attributes
    ----------
    values : list
        In the order of their codes.
    kind : int or None
        XGBoost's number for the type of the array that holds them; None for texts.
    order : list of int
        Positions of the values, sorted.
    """

    values: list[Any]
    kind: int | None
    order: list[int]


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
    categories : dict of int to ColumnCategories
        Of each column that was a categorical column of a DataFrame.
    types : tuple of str
        Of the columns in XGBoost's words; empty when it holds none.
    """

    trees: list[dict[str, Any]]
    weights: np.ndarray
    ends: np.ndarray
    objective: str
    base_score: float
    n_columns: int
    names: tuple[str, ...] | None
    categories: dict[int, ColumnCategories]
    types: tuple[str, ...]


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
    told_apart = sum(int(codes.max()) + 1 for tree in trees for codes in tree["sets"].values())
    if told_apart > _MOST_CODES:
        raise UnsupportedModelError(
            f"an XGBoost model whose nodes tell apart {told_apart:,} categories is not supported"
        )
    # Since XGBoost 3.4 they stand in the model of trees, whatever the booster is called.
    dropped = booster["weight_drop"] if kind == "dart" and "weight_drop" in booster else held.get("weight_drop")
    weights = np.array(dropped or [1.0] * len(trees), dtype=np.float32)
    ends = np.array(held.get("iteration_indptr") or _ends(held, len(trees)), dtype=np.int64)
    _require(len(weights) == len(trees) and bool(np.isfinite(weights).all()), "weights of trees")
    _require(len(held["tree_info"]) == len(trees) and not any(held["tree_info"]), "groups of trees")
    _require(bool((np.diff(ends) >= 0).all()) and int(ends[0]) == 0 and int(ends[-1]) == len(trees), "iterations")
    base_score = np.array(str(parameters["base_score"]).strip("[]").split(","), dtype=np.float32)
    _require(base_score.shape == (1,) and bool(np.isfinite(base_score).all()), "base_score")
    names, types = learner.get("feature_names") or None, learner.get("feature_types") or []
    _require(names is None or len(names) == n_columns, "names of columns")
    _require(len(types) in (0, n_columns) and set(types) <= set(_TYPES), "types of columns")
    return XGBoostModel(
        trees,
        weights,
        ends,
        str(learner["objective"]["name"]),
        float(base_score[0]),
        n_columns,
        None if names is None else tuple(str(name) for name in names),
        _categories(held.get("cats") or {}, n_columns),
        tuple(str(kind) for kind in types),
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
    # Before anything of that size is made.
    _require(0 < size == len(left), "lengths of a tree's arrays")
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
    order, depth, seen = [0], np.zeros(size, dtype=np.int64), np.zeros(size, dtype=bool)
    for node in order:
        _require(not seen[node], "a tree with a node of two parents")
        _require(int(depth[node]) <= DEEPEST, "a tree too deep")
        seen[node] = True
        if inner[node]:
            depth[[left[node], right[node]]] = depth[node] + 1
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


def _categories(held: dict[str, Any], n_columns: int) -> dict[int, ColumnCategories]:
    """Categories of each categorical column of the DataFrame that the model was fitted on."""
    encodings = held.get("enc") or []
    if not encodings:
        return {}
    segments, order = np.array(held["feature_segments"], dtype=np.int64), np.array(held["sorted_idx"], dtype=np.int64)
    _require(len(encodings) == n_columns and len(segments) == n_columns + 1, "categories of columns")
    _require(int(segments[0]) == 0 and int(segments[-1]) == len(order), "categories of columns")
    found: dict[int, ColumnCategories] = {}
    for column, encoding in enumerate(encodings):
        kind = None if "offsets" in encoding else int(encoding["type"])
        values = _texts(encoding) if kind is None else _held_numbers(encoding["values"], kind)
        _require(int(segments[column + 1] - segments[column]) == len(values), "categories of columns")
        inside = order[segments[column] : segments[column + 1]]
        _require(bool((np.sort(inside) == np.arange(len(values))).all()), "the order of categories")
        if values:
            found[column] = ColumnCategories(values, kind, inside.tolist())
    return found


def _texts(encoding: dict[str, Any]) -> list[str]:
    raw, offsets = (np.array(encoding[key], dtype=np.int64) for key in ("values", "offsets"))
    _require(bool((np.diff(offsets) >= 0).all()), "texts of categories")
    _require(not len(offsets) or (int(offsets[0]), int(offsets[-1])) == (0, len(raw)), "texts of categories")
    text = (raw % 256).astype(np.uint8).tobytes()
    return [text[start:end].decode() for start, end in pairwise(offsets)]


def _held_numbers(values: list[Any], kind: int) -> list[Any]:
    _require(kind in _KINDS, "the type of categories")
    wanted = (int,) if "i" in _KINDS[kind] or "u" in _KINDS[kind] else (int, float)
    _require(all(type(value) in wanted for value in values), "numbers of categories")
    # Numbers beyond the type are an error here.
    return np.array(values, dtype=_KINDS[kind]).tolist()


def document_of(held: XGBoostModel, version: list[int]) -> dict[str, Any]:
    """A document for XGBoost that holds what was checked, and what predict needs; nothing is passed on unread.

    Returns
    -------
    dict
        For `json.dumps`.
    """
    n_trees = len(held.trees)
    model = {
        "cats": _written_categories(held) if held.categories else {"enc": [], "feature_segments": [], "sorted_idx": []},
        "gbtree_model_param": {
            "num_parallel_tree": str(int(np.diff(held.ends).max(initial=1))),
            "num_trees": str(n_trees),
        },
        "iteration_indptr": held.ends.tolist(),
        "tree_info": [0] * n_trees,
        "trees": [_written_tree(number, tree, held.n_columns) for number, tree in enumerate(held.trees)],
    }
    booster: dict[str, Any] = {"model": model, "name": "gbtree"}
    if (held.weights != 1).any():
        weights = [float(weight) for weight in held.weights]
        booster = {"gbtree": booster, "name": "dart", "weight_drop": weights}
    objective: dict[str, Any] = {"name": held.objective}
    if held.objective != "binary:hinge":
        objective["reg_loss_param"] = {"scale_pos_weight": "1"}
    return {
        "version": version,
        "learner": {
            "attributes": {},
            "feature_names": list(held.names or ()),
            "feature_types": list(held.types),
            "gradient_booster": booster,
            "learner_model_param": {
                "base_score": repr(held.base_score),
                "boost_from_average": "1",
                "num_class": "0",
                "num_feature": str(held.n_columns),
                "num_target": "1",
            },
            "objective": objective,
        },
    }


def _written_tree(number: int, tree: dict[str, Any], n_columns: int) -> dict[str, Any]:
    size = len(tree["left"])
    parents = np.full(size, _NO_PARENT)
    inner = np.flatnonzero(tree["left"] >= 0)
    parents[tree["left"][inner]] = parents[tree["right"][inner]] = inner
    nodes = sorted(tree["sets"])
    sizes = [len(tree["sets"][node]) for node in nodes]
    numbers = [float(value) for value in tree["condition"]]
    return {
        "base_weights": numbers,
        "categories": [int(code) for node in nodes for code in tree["sets"][node]],
        "categories_nodes": nodes,
        "categories_segments": (np.cumsum(sizes) - sizes).astype(int).tolist(),
        "categories_sizes": sizes,
        "default_left": tree["default_left"].astype(int).tolist(),
        "id": number,
        "left_children": tree["left"].tolist(),
        "loss_changes": [0.0] * size,
        "parents": parents.tolist(),
        "right_children": tree["right"].tolist(),
        "split_conditions": numbers,
        "split_indices": np.maximum(tree["column"], 0).tolist(),
        "split_type": [int(node in tree["sets"]) for node in range(size)],
        "sum_hessian": [1.0] * size,
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(n_columns),
            "num_nodes": str(size),
            "size_leaf_vector": "1",
        },
    }


def _written_categories(held: XGBoostModel) -> dict[str, Any]:
    encodings: list[dict[str, Any]] = []
    lengths, order = [0] * held.n_columns, []
    for column in range(held.n_columns):
        known = held.categories.get(column)
        if known is None:
            encodings.append({"offsets": [], "values": []})
            continue
        lengths[column] = len(known.values)
        order += known.order
        if known.kind is None:
            texts = [value.encode() for value in known.values]
            offsets = np.cumsum([0, *(len(text) for text in texts)]).tolist()
            signed = np.frombuffer(b"".join(texts), dtype=np.int8).tolist()
            encodings.append({"offsets": offsets, "values": signed})
        else:
            encodings.append({"type": known.kind, "values": known.values})
    return {"enc": encodings, "feature_segments": np.cumsum([0, *lengths]).tolist(), "sorted_idx": order}
