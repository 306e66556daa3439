"""Encode scikit-learn's forests, bagged trees and AdaBoost over trees.

A forest adds up its trees' shares of each class; the first class wins a tie. AdaBoost adds up its trees' weighted
votes. The order in which scikit-learn adds depends on threads, so that scores within rounding of a tie are undecided,
unless all shares on the way are binary fractions, as those of pure leaves are: their sums are exact in any order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.additive import Score, rule_of, two_classes
from justicia.encoders.additive_trees import assemble, constant, layout_of, stacked
from justicia.encoders.preprocessing import gives_sparse
from justicia.errors import ModelFileError, UnsupportedModelError

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from justicia.encoders.decisions import Decision
    from justicia.models import FittedModel
    from justicia.population.domain import Domain

__all__ = ["encode", "sklearn_tree"]


def encode(model: FittedModel, frame: pd.DataFrame, favorable: Collection[Any]) -> tuple[Decision, Domain]:
    """Encode a fitted forest, a bagging of trees or an AdaBoost over trees, of two classes.

    Raises
    ------
    UnsupportedModelError
        When a step or a base estimator is not supported, or there are more than two classes.
    ModelFileError
        When a tree's arrays are malformed.
    """
    two_classes(model)
    estimator = model.estimator
    name = type(estimator).__name__
    boosted = name == "AdaBoostClassifier"
    subsets = getattr(estimator, "estimators_features_", [None] * len(estimator.estimators_))
    weights = np.asarray(estimator.estimator_weights_) if boosted else np.ones(len(estimator.estimators_))
    total = float(weights[: len(estimator.estimators_)].sum())
    scale = weights / total if boosted else weights
    # The first class wins a tie, where the model compares the sums of shares with each other.
    exact_ties = not boosted and model.rule is None and model.calibration is None
    error = (1e-12 + 8 * len(weights) * float(np.finfo(np.float64).eps)) * (1.0 if boosted else len(weights))
    trees = []
    for member, columns, factor in zip(estimator.estimators_, subsets, scale, strict=False):
        if type(member).__name__ not in ("DecisionTreeClassifier", "ExtraTreeClassifier"):
            raise UnsupportedModelError(
                f"{model.class_name} over {type(member).__name__} is not supported: over decision trees it is"
            )
        tree = sklearn_tree(member.tree_)
        if columns is not None:
            tree["column"] = np.where(tree["left"] >= 0, np.asarray(columns)[np.maximum(tree["column"], 0)], -1)
        shares = tree["value"]
        tree["value"] = _votes(member, shares, boosted) * factor
        if exact_ties:
            # See below.
            tree["value"] = np.where(_binary_fractions(shares), tree["value"], tree["value"] + 4 * error)
        trees.append(tree)
    raw = stacked(trees)

    def response(method: str, scores: np.ndarray, of_second: bool) -> np.ndarray:
        scores = scores if of_second else -scores
        if boosted:
            return scores if method == "decision_function" else 1.0 / (1.0 + np.exp(-scores))
        if method != "predict_proba":
            raise UnsupportedModelError(f"{model.class_name} has no {method}, which its threshold wrapper asks for")
        return (1.0 + scores / len(trees)) / 2.0

    score = Score.of_sum(response=response, response_error=16 * float(np.finfo(np.float64).eps))
    above, below, low, high = rule_of(model, favorable, score)
    if above == below:
        return constant(above)
    # In sparse matrices scikit-learn's trees take no NaN.
    allow_nan = _takes_nan(estimator, boosted) and not gives_sparse(model.steps)
    layout = layout_of(model, frame, raw, allow_nan=allow_nan)
    slack = error + (high - low) / 2
    threshold = (low + high) / 2
    if exact_ties:
        # A tie of binary fractions has a score of 0, and is for the first class. Any other leaf was raised by more than
        # what rounding can do, so that the scores of ties with such leaves, and theirs alone, are undecided.
        slack = 2 * len(trees) * error
        threshold += slack + 2 * error
    return assemble(raw, layout, 0.0, threshold, slack, accepts_above=above)


def sklearn_tree(arrays: Any) -> dict[str, np.ndarray]:
    """A fitted scikit-learn tree by the names of `RawTrees`; `value` of shape (n_nodes, n_values)."""
    left = np.asarray(arrays.children_left)
    missing = getattr(arrays, "missing_go_to_left", None)
    if arrays.n_outputs != 1:
        raise UnsupportedModelError("trees of several outputs are not supported")
    return {
        "left": left,
        "right": np.asarray(arrays.children_right),
        "column": np.asarray(arrays.feature),
        "threshold": np.asarray(arrays.threshold),
        "missing_left": np.zeros(len(left), dtype=bool) if missing is None else np.asarray(missing, dtype=bool),
        "value": np.asarray(arrays.value)[:, 0, :],
    }


def _votes(member: Any, value: np.ndarray, boosted: bool) -> np.ndarray:
    """What each node says for the second class against the first, between -1 and 1."""
    classes = [int(one) if isinstance(one, (int, float, np.number)) else one for one in member.classes_.tolist()]
    if value.shape[1] != len(classes):
        raise ModelFileError("a tree's arrays are malformed: its values are not those of its classes")
    if boosted:
        if len(classes) == 1:
            raise UnsupportedModelError("AdaBoost with a tree that saw one class only is not supported")
        return np.where(np.argmax(value, axis=1) == 1, 1.0, -1.0) * 2.0
    totals = value.sum(axis=1)
    share = value / np.where(totals == 0, 1.0, totals)[:, None]
    if len(classes) == 1:
        return np.full(len(value), 1.0 if classes[0] == 1 else -1.0)
    return share[:, 1] - share[:, 0]


def _binary_fractions(shares: np.ndarray) -> np.ndarray:
    """Which rows of shares are multiples of 2 ** -20 that add up to 1, bool array of shape (n_nodes,)."""
    scaled = shares * 2.0**20
    return np.asarray((scaled == np.round(scaled)).all(axis=1) & (shares.sum(axis=1) == 1.0))


def _takes_nan(estimator: Any, boosted: bool) -> bool:
    from sklearn.utils import get_tags

    return bool(not boosted and get_tags(estimator).input_tags.allow_nan)
