"""Encode scikit-learn's gradient boosting: a base and the leaves' values, in float64.

`GradientBoostingClassifier` casts values to float32 and takes the second class at 0; `HistGradientBoostingClassifier`
compares in float64, has categories of its own, and takes the first class at 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.additive import Score, rule_of, two_classes
from justicia.encoders.additive_trees import RawTrees, assemble, constant, layout_of, stacked
from justicia.encoders.forest import sklearn_tree
from justicia.errors import UnsupportedModelError

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from justicia.encoders.decisions import Decision
    from justicia.models import FittedModel
    from justicia.population.domain import Domain

__all__ = ["encode"]


def encode(model: FittedModel, frame: pd.DataFrame, favorable: Collection[Any]) -> tuple[Decision, Domain]:
    """Encode a fitted gradient boosting classifier of two classes.

    Raises
    ------
    UnsupportedModelError
        When a step or the initial estimator is not supported, or there are more than two classes.
    ModelFileError
        When a tree's arrays are malformed.
    """
    two_classes(model)
    estimator = model.estimator
    if type(estimator).__name__ == "GradientBoostingClassifier":
        trees, base, threshold, allow_nan = *_gradient(model), float(np.nextafter(0.0, -1.0)), False
    else:
        trees, base, threshold, allow_nan = *_histogram(estimator), 0.0, True
        if getattr(estimator, "_preprocessor", None) is not None:
            from dataclasses import replace

            model = replace(model, steps=(*model.steps, estimator._preprocessor))

    def response(method: str, scores: np.ndarray, of_second: bool) -> np.ndarray:
        if method == "decision_function":
            return scores if of_second else -scores
        return np.asarray(estimator._loss.predict_proba(scores.reshape(-1, 1)))[:, int(of_second)]

    score = Score.of_sum(response=response, threshold=threshold)
    above, below, low, high = rule_of(model, favorable, score)
    if above == below:
        return constant(above)
    layout = layout_of(model, frame, trees, allow_nan=allow_nan)
    leaves = trees.left < 0
    size = abs(base) + sum(
        float(np.abs(part).max(initial=0.0)) for part in np.split(np.where(leaves, trees.value, 0.0), trees.roots[1:])
    )
    slack = size * max(1e-12, 3 * (len(trees.roots) + 2) * float(np.finfo(np.float64).eps)) + (high - low) / 2
    return assemble(trees, layout, base, (low + high) / 2, slack, accepts_above=above)


def _gradient(model: FittedModel) -> tuple[RawTrees, float]:
    estimator = model.estimator
    if estimator.init_ == "zero":
        base = 0.0
    elif type(estimator.init_).__name__ == "DummyClassifier" and estimator.init_.strategy == "prior":
        # The very number that the model starts from, whatever the row.
        rows = np.zeros((1, estimator.n_features_in_), dtype=np.float32)
        base = float(np.ravel(estimator._raw_predict_init(rows))[0])
    else:
        raise UnsupportedModelError(
            f"{model.class_name} that starts from {type(estimator.init_).__name__} is not supported: its score is no "
            "sum of trees"
        )
    trees = []
    for member in np.ravel(estimator.estimators_):
        tree = sklearn_tree(member.tree_)
        tree["value"] = estimator.learning_rate * tree["value"][:, 0]
        trees.append(tree)
    return stacked(trees), base


def _histogram(estimator: Any) -> tuple[RawTrees, float]:
    known, position = estimator._bin_mapper.make_known_categories_bitsets()
    trees = []
    for (predictor,) in estimator._predictors:
        nodes = predictor.nodes
        leaf = nodes["is_leaf"].astype(bool)
        by_subset = nodes["is_categorical"].astype(bool) & ~leaf
        subset = np.full(len(nodes), -1)
        subset[by_subset] = np.arange(int(by_subset.sum()))
        tables = []
        for node in nodes[by_subset]:
            goes = _bits(predictor.raw_left_cat_bitsets[node["bitset_idx"]])
            tables.append(np.stack([goes, _bits(known[position[node["feature_idx"]]])], axis=1))
        trees.append(
            {
                "left": np.where(leaf, -1, nodes["left"].astype(np.int64)),
                "right": np.where(leaf, -1, nodes["right"].astype(np.int64)),
                "column": np.where(leaf, -1, nodes["feature_idx"]),
                "threshold": np.where(by_subset | leaf, 0.0, nodes["num_threshold"]),
                "missing_left": nodes["missing_go_to_left"].astype(bool),
                "value": nodes["value"].astype(np.float64),
                "subset": subset,
                "subsets": tables,
            }
        )
    return stacked(trees, np.float64), float(np.ravel(estimator._baseline_prediction)[0])


def _bits(words: np.ndarray) -> np.ndarray:
    """Bits of eight 32-bit words, lowest first."""
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little").astype(bool)
