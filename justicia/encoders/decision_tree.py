"""Encode scikit-learn's decision tree classifiers.

scikit-learn casts a value to float32 and compares it with a float64 threshold: left when it is at most the threshold.
NaN goes where `missing_go_to_left` says. A leaf gives the first class of largest value; a threshold wrapper compares
the leaf's probability instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.cells import cut_into_cells
from justicia.encoders.decisions import Tree
from justicia.encoders.preprocessing import gives_sparse, trace
from justicia.errors import ModelFileError, UnsupportedModelError

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from justicia.models import FittedModel
    from justicia.population.domain import Domain

__all__ = ["encode"]


def encode(model: FittedModel, frame: pd.DataFrame, favorable: Collection[Any]) -> tuple[Tree, Domain]:
    """Encode a fitted tree as a decision over source columns.

    Parameters
    ----------
    model : FittedModel
        With a `DecisionTreeClassifier` or `ExtraTreeClassifier` inside.
    frame : DataFrame
        The columns that the model takes.
    favorable : collection
        Favorable classes.

    Raises
    ------
    UnsupportedModelError
        When a step is not supported or the tree has several outputs.
    ModelFileError
        When the tree's arrays are malformed.
    """
    from sklearn.utils import get_tags

    arrays = model.estimator.tree_
    left, right = np.asarray(arrays.children_left), np.asarray(arrays.children_right)
    if arrays.n_outputs != 1:
        raise UnsupportedModelError(f"{model.class_name} has {arrays.n_outputs} outputs: audit one output at a time")
    reached = _reachable(left, right)
    inner = reached[left[reached] >= 0]
    column, threshold = np.asarray(arrays.feature), np.asarray(arrays.threshold)
    width = int(model.estimator.n_features_in_)
    if np.asarray(arrays.value).shape[2] != len(model.estimator.classes_):
        raise ModelFileError("the tree's arrays are malformed: its values are not those of its classes")
    if len(inner) and (column[inner].min() < 0 or column[inner].max() >= width or np.isnan(threshold[inner]).any()):
        raise ModelFileError("the tree's arrays are malformed: a node tests no column or compares with NaN")
    tests = {int(c): np.unique(threshold[inner][column[inner] == c]) for c in np.unique(column[inner])}
    allow_nan = (
        get_tags(model.estimator).input_tags.allow_nan
        and getattr(model.estimator, "monotonic_cst", None) is None
        and not gives_sparse(model.steps)
    )
    blocks = trace(model.steps, list(frame.columns))
    if sum(len(block.outputs) for block in blocks) != width:
        raise ModelFileError(f"the steps before the tree do not give the {width} columns that it takes")
    layout = cut_into_cells(blocks, frame, tests, allow_nan=allow_nan)

    missing_left = getattr(arrays, "missing_go_to_left", None)
    missing_left = np.zeros(len(left), dtype=bool) if missing_left is None else np.asarray(missing_left, dtype=bool)
    feature = np.full(len(left), -1)
    goes_left = [np.zeros(0, dtype=bool)] * len(left)
    with np.errstate(over="ignore"):
        compared = {c: values.astype(np.float32).astype(np.float64) for c, values in layout.values_of.items()}
    for node in inner:
        values = compared[int(column[node])]
        feature[node] = layout.feature_of[int(column[node])]
        goes_left[node] = np.where(np.isnan(values), missing_left[node], values <= threshold[node])
    accepts = _accepts(model, np.asarray(arrays.value)[:, 0, :], favorable)
    return Tree(layout.domain.sizes, left, right, feature, tuple(goes_left), accepts), layout.domain


def _reachable(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Nodes below the root, each once, or a refusal: a file may hold any numbers."""
    seen = np.zeros(len(left), dtype=bool)
    stack = [0]
    while stack:
        node = stack.pop()
        if not 0 <= node < len(left) or seen[node] or (left[node] == -1) != (right[node] == -1):
            raise ModelFileError("the tree's arrays are malformed: a child is out of range or reached twice")
        seen[node] = True
        if left[node] != -1:
            stack += [int(right[node]), int(left[node])]
    return np.flatnonzero(seen)


def _accepts(model: FittedModel, values: np.ndarray, favorable: Collection[Any]) -> np.ndarray:
    """Whether each node's own value gives a favorable class, bool array of shape (n_nodes,)."""
    classes = model.estimator.classes_.tolist()
    wanted = set(favorable)
    rule = model.rule
    if model.calibration is not None:
        return _calibrated(model, _shares(values)[:, 1], wanted)
    if rule is None:
        good = np.array([value in wanted for value in classes])
        return good[np.argmax(values, axis=1)]
    if rule.response_method != "predict_proba":
        raise UnsupportedModelError(f"{model.class_name} behind a threshold on {rule.response_method} is not supported")
    position = [bool(value == rule.positive) for value in classes].index(True)
    share = _shares(values)[:, position]
    return np.where(share >= rule.threshold, rule.positive in wanted, rule.negative in wanted)


def _shares(values: np.ndarray) -> np.ndarray:
    """Probabilities of the classes by node."""
    totals = values.sum(axis=1)
    if np.allclose(totals, 1.0):
        return values
    # Before scikit-learn 1.3 a node's values were weighted counts.
    return np.asarray(values / np.where(totals == 0, 1.0, totals)[:, None])


def _calibrated(model: FittedModel, share: np.ndarray, wanted: set[Any]) -> np.ndarray:
    """Whether each node gives a favorable class, from the probability of the second class."""
    first, second = model.estimator.classes_.tolist()
    chances = model.calibration.chances(share)  # type: ignore[union-attr]
    rule = model.rule
    if rule is None:
        return np.where(chances > 1.0 - chances, second in wanted, first in wanted)
    if rule.response_method != "predict_proba":
        raise UnsupportedModelError(
            f"a calibrated {model.class_name} has no {rule.response_method} to set a threshold on"
        )
    held = chances if rule.positive == second else 1.0 - chances
    return np.where(held >= rule.threshold, rule.positive in wanted, rule.negative in wanted)
