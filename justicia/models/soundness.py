"""Whether a model from a file is sound enough to be asked: compiled code believes its arrays, and Python its sizes.

What scikit-learn's compiled code reads without a look (nodes of trees, support vectors, sparse matrices, splines) is
looked at here, right after loading and before anything is predicted: a child that does not exist would be memory of
something else, and a child that is its own ancestor would never end. Lists that hold one another many times over, or
themselves, are refused, too: a file of a kilobyte can stand for more than any memory.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np

from justicia.errors import JusticiaError, ModelFileError
from justicia.learners.rules import Condition, Rule
from justicia.numeric import are_characters

__all__ = ["check_sound", "silence"]

_MOST_PARTS = 5_000_000
"""Objects that a model may unfold to, beside 100 for each byte of the file."""
_DEEPEST = 250
"""Objects inside objects."""
_BITS = 8
"""Words of 32 bits that say which categories go left."""

_ATOMS = (
    str, bytes, bytearray, int, float, complex, bool, type(None), type, np.generic, np.dtype, slice, ModuleType,
)  # fmt: skip


def check_sound(model: Any, name: str, size: int) -> list[Any]:
    """Look at everything that a model holds.

    Parameters
    ----------
    model : object
        As it was loaded.
    name : str
        Of the file, for messages.
    size : int
        Bytes of the file.

    Returns
    -------
    list of object
        All of it, each thing once.

    Raises
    ------
    ModelFileError
        When something does not fit together; the message says what.
    """
    things = _unfolded(model, name, _MOST_PARTS + 100 * size)
    for thing in things:
        try:
            fault = _fault_of(thing)
        except JusticiaError:
            raise
        except Exception as error:  # absent or of another type: whatever the file made of it
            said = f"{type(error).__name__}: {error}"
            fault = f"of a {type(thing).__name__} something is absent or of another kind ({said})"
        if fault is not None:
            raise ModelFileError(f"{name} is malformed: {fault}; fit and save the model again")
    return things


def silence(things: Iterable[Any]) -> None:
    """Let nothing that a sound model holds report on what it does."""
    for thing in things:
        held = getattr(thing, "__dict__", None)
        if isinstance(held, dict) and "verbose" in held and hasattr(thing, "get_params"):
            thing.verbose = 0


def _unfolded(model: Any, name: str, most: int) -> list[Any]:
    """All that a model holds, each once; refused when it is too deep, holds itself, or unfolds to too much."""
    parts: dict[int, int] = {}
    depths: dict[int, int] = {}
    found: list[Any] = []
    open_: set[int] = set()
    stack: list[tuple[Any, list[Any] | None]] = [(model, None)]
    while stack:
        thing, inner = stack.pop()
        place = id(thing)
        if inner is None:
            if place in parts:
                continue
            if place in open_:
                raise ModelFileError(f"{name} is malformed: a {type(thing).__name__} holds itself")
            inner = list(_held_by(thing))
            found.append(thing)
            open_.add(place)
            stack.append((thing, inner))
            for part in inner:
                if id(part) in open_:
                    raise ModelFileError(f"{name} is malformed: a {type(part).__name__} holds itself")
            stack += [(part, None) for part in inner if id(part) not in parts]
            continue
        open_.discard(place)
        parts[place] = 1 + sum(parts[id(part)] for part in inner)
        depths[place] = 1 + max((depths[id(part)] for part in inner), default=0)
        if parts[place] > most:
            raise ModelFileError(f"{name} is malformed: it unfolds to more than {most:,} parts")
        if depths[place] > _DEEPEST:
            raise ModelFileError(f"{name} is malformed: its parts are nested more than {_DEEPEST} deep")
    return found


def _held_by(thing: Any) -> Iterable[Any]:
    """What a thing holds directly, without numbers and texts."""
    inner: Iterable[Any] = ()
    if isinstance(thing, dict):
        inner = [*thing.keys(), *thing.values()]
    elif isinstance(thing, (list, tuple, set, frozenset)):
        inner = list(thing)
    elif isinstance(thing, np.ndarray):
        inner = thing.ravel().tolist() if thing.dtype == object else ()
    held = getattr(thing, "__dict__", None)
    if isinstance(held, dict) and not callable(getattr(thing, "__get__", None)):
        inner = [*inner, *held.values()]
    return [part for part in inner if not isinstance(part, _ATOMS)]


def _fault_of(thing: Any) -> str | None:
    """What is wrong with a thing; None when nothing is, or nobody would be harmed."""
    kind = type(thing)
    name = f"{kind.__module__}.{kind.__name__}"
    if isinstance(thing, np.ndarray):
        if thing.dtype.itemsize == 0 and thing.size > 0:
            return "an array has elements without a size"
        broken = thing.dtype.kind == "U" and not are_characters(thing)
        return "an array of texts holds characters that there are not" if broken else None
    if name == "sklearn.tree._tree.Tree":
        return _of_tree(thing)
    if kind.__module__.startswith("scipy.sparse"):
        thing.check_format(full_check=True)
        return None
    if name in ("scipy.interpolate._bsplines.BSpline", "scipy.interpolate._bsplines._BSpline"):
        return _of_spline(thing)
    if name == "pandas.core.indexes.range.RangeIndex" or name == "pandas.RangeIndex":
        return "an index is too long" if len(thing) > _MOST_PARTS else None
    if kind in (Condition, Rule):
        # Loading has not made it, but filled it.
        thing.__post_init__()
        return None
    held = thing if kind.__name__ == "Bunch" else getattr(thing, "__dict__", None)
    if not isinstance(held, dict):
        return None
    fault = _of_estimator(kind, held)
    return _of_one_hot(thing) if fault is None and kind.__name__ == "OneHotEncoder" else fault


def _of_tree(tree: Any) -> str | None:
    if not 0 < tree.node_count <= tree.capacity:
        return f"a tree says that it has {tree.node_count:,} nodes and holds {tree.capacity:,}"
    left, right, feature = (np.asarray(part) for part in (tree.children_left, tree.children_right, tree.feature))
    # Compiled code takes -1 on the left for a leaf, and nothing else.
    inner = np.flatnonzero(left != -1)
    return _of_nodes(inner, left[inner], right[inner], feature[inner], tree.node_count, tree.n_features)


def _of_nodes(
    inner: np.ndarray, left: np.ndarray, right: np.ndarray, feature: np.ndarray, n_nodes: int, n_features: int
) -> str | None:
    """What is wrong with nodes that have children; a child's number is above its parent's in every fitted tree."""
    for children in (left, right):
        if ((children <= inner) | (children >= n_nodes)).any():
            return "a child of a tree's node does not exist, or comes before its parent"
    if ((feature < 0) | (feature >= n_features)).any():
        return "a node of a tree asks for a column that the model does not take"
    return None


def _of_spline(spline: Any) -> str | None:
    knots, weights, degree = np.asarray(spline.t), np.asarray(spline.c), spline.k
    if knots.dtype.kind not in "fiu" or weights.dtype.kind not in "fiu" or type(degree) is not int:
        return "a spline has no numbers"
    rising = knots.ndim == 1 and np.isfinite(knots).all() and (np.diff(knots) >= 0).all()
    if not rising or degree < 0 or weights.ndim < 1 or len(knots) < len(weights) + degree + 1 or len(weights) <= degree:
        return "knots, weights and degree of a spline do not fit together"
    return None


_OF_TREES = ("ExtraTreesClassifier", "GradientBoostingClassifier", "RandomForestClassifier")
"""Classes that pass a table on to their trees' compiled code without another look at its width."""


def _of_one_hot(encoder: Any) -> str | None:
    """What is wrong with the columns of an encoder: those of its own categories lie inside of its table.

    The table is sparse, and compiled code believes its positions.
    """
    import pandas as pd

    categories = getattr(encoder, "categories_", ())
    if not categories or not all(map(len, categories)):
        return None
    rows = np.arange(max(map(len, categories)))
    frame = pd.DataFrame({position: held[rows % len(held)] for position, held in enumerate(categories)})
    names = getattr(encoder, "feature_names_in_", None)
    asked = copy.copy(encoder)
    asked.sparse_output = True
    vars(asked).pop("_sklearn_output_config", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = asked.transform(frame if names is None else frame.set_axis(list(names), axis=1))
        except Exception:  # refuses, as it will when the model is asked
            return None
    try:
        made.check_format(full_check=True)
    except ValueError as error:
        return f"columns of a {type(encoder).__name__} do not go with its categories ({error})"
    grouped = getattr(encoder, "_default_to_infrequent_mappings", None) or ()
    if any(held is not None and len(held) != len(own) for held, own in zip(grouped, categories, strict=False)):
        return f"rare categories of a {type(encoder).__name__} do not go with its categories"
    return None


_STEPS = {"steps": 2, "transformer_list": 2, "transformers": 3, "transformers_": 3}
"""Attributes that hold steps with names, and of how many things each is made."""


def _are_tuples(held: Any, size: int) -> bool:
    return isinstance(held, (list, tuple)) and all(
        isinstance(one, (list, tuple)) and len(one) == size and isinstance(one[0], str) for one in held
    )


def _are_lists_of_values(held: Any) -> bool:
    return isinstance(held, (list, tuple)) and all(
        isinstance(array, np.ndarray)
        and array.ndim == 1
        and (array.dtype != object or all(isinstance(value, _ATOMS) for value in array.tolist()))
        for array in held
    )


def _of_estimator(kind: type, held: dict[str, Any]) -> str | None:
    """What is wrong with a fitted object, whose parts have been looked at or will be."""
    name = kind.__name__
    for attribute in held:
        if isinstance(attribute, str) and callable(getattr(kind, attribute, None)) and name != "Bunch":
            return f"a {name} has something else in place of its method {attribute}"
    for attribute, size in _STEPS.items():
        if attribute in held and not _are_tuples(held[attribute], size):
            return f"{attribute} of a {name} are no steps with names"
    if (
        "categories_" in held
        and kind.__module__.startswith("sklearn.")
        and not _are_lists_of_values(held["categories_"])
    ):
        return f"categories_ of a {name} are no lists of values"
    if "n_features_out_" in held and "bsplines_" in held:
        # So many columns are made without a look.
        most = sum(len(spline.t) for spline in held["bsplines_"])
        if not isinstance(held["n_features_out_"], (int, np.integer)) or not 0 <= held["n_features_out_"] <= most:
            return f"a {name} says that it gives {held['n_features_out_']!r} columns"
    if "bin_edges_" in held and "n_bins_" in held:
        bins = [len(edges) - 1 for edges in held["bin_edges_"]]
        if bins != np.asarray(held["n_bins_"]).tolist():
            return f"numbers of bins of a {name} do not go with their edges"
    if "tree_" in held:
        return _of_one_tree(held)
    if "_predictors" in held:
        return _of_histograms(held)
    if name in ("SVC", "NuSVC") and "support_vectors_" in held:
        return _of_support_vectors(held)
    if name in _OF_TREES and "estimators_" in held:
        for member in np.ravel(np.asarray(held["estimators_"], dtype=object)).tolist():
            if type(member).__module__ != "sklearn.tree._classes" or "tree_" not in vars(member):
                return f"a {type(member).__name__} stands where a tree is to be"
            if vars(member).get("n_features_in_") != held["n_features_in_"]:
                return "a tree of an ensemble takes other columns than the ensemble"
    return None


def _of_one_tree(held: dict[str, Any]) -> str | None:
    from sklearn.tree._tree import Tree

    if type(held["tree_"]) is not Tree:
        return f"a {type(held['tree_']).__name__} stands where a tree is to be"
    if held.get("n_features_in_") != held["tree_"].n_features:
        return "a tree takes other columns than the model around it"
    return None


def _of_histograms(held: dict[str, Any]) -> str | None:
    """Trees of HistGradientBoostingClassifier, whose nodes are plain records."""
    n_features, bins = held["_n_features"], held["_bin_mapper"]
    if type(n_features) is not int or held.get("n_features_in_") != n_features:
        return "trees take other columns than the model around them"
    flags, known = np.asarray(bins.is_categorical_), bins.bin_thresholds_
    if flags.shape != (n_features,) or len(known) != n_features:
        return "bins are not those of the model's columns"
    position = np.cumsum(flags != 0) - 1
    for (predictor,) in held["_predictors"]:
        nodes, sets = predictor.nodes, predictor.raw_left_cat_bitsets
        if not isinstance(nodes, np.ndarray) or nodes.ndim != 1 or not len(nodes):
            return "a tree has no nodes"
        inner = np.flatnonzero(nodes["is_leaf"] == 0)
        left, right, feature = (nodes[part][inner].astype(np.int64) for part in ("left", "right", "feature_idx"))
        fault = _of_nodes(inner, left, right, feature, len(nodes), n_features)
        if fault is not None:
            return fault
        by_set = nodes["is_categorical"][inner] != 0
        if not by_set.any():
            continue
        if sets.ndim != 2 or sets.shape[1] != _BITS or (nodes["bitset_idx"][inner][by_set] >= len(sets)).any():
            return "a node of a tree asks for a set of categories that does not exist"
        if not flags[feature[by_set]].all() or position[feature[by_set]].max() < 0:
            return "a node of a tree asks for categories of a column that has none"
    return None


def _of_support_vectors(held: dict[str, Any]) -> str | None:
    """What libsvm reads: numbers of support vectors, their weights, and constants of each pair of classes."""
    if held.get("_sparse"):
        return None if held["shape_fit_"][1] == held["n_features_in_"] else "support vectors have other columns"
    n_classes = len(held["classes_"])
    n_pairs = n_classes * (n_classes - 1) // 2
    vectors, counts = np.asarray(held["support_vectors_"]), np.asarray(held["_n_support"])
    if counts.shape != (n_classes,) or counts.dtype.kind not in "iu" or (counts < 0).any():
        return "numbers of support vectors are not those of the classes"
    n_vectors = int(counts.sum())
    weights, constants = np.asarray(held["_dual_coef_"]), np.asarray(held["_intercept_"])
    fits = vectors.shape == (n_vectors, held["n_features_in_"]) and n_vectors > 0
    fits = fits and weights.shape == (n_classes - 1, n_vectors) and constants.shape == (n_pairs,)
    fits = fits and np.asarray(held["support_"]).shape == (n_vectors,)
    fits = fits and all(np.asarray(held[part]).shape in ((0,), (n_pairs,)) for part in ("_probA", "_probB"))
    return None if fits else "support vectors, their weights and constants do not fit together"
