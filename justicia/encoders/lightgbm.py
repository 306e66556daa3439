"""Encode LightGBM's classifiers: the leaves' values, added up in float64; the second class above 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.additive import Score, rule_of, two_classes
from justicia.encoders.additive_trees import RawTrees, assemble, constant, layout_of, stacked
from justicia.errors import ModelFileError, UnsupportedModelError
from justicia.models.lightgbm_text import LightGBMModel, read_lightgbm
from justicia.models.native_categories import with_native_categories

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from justicia.encoders.decisions import Decision
    from justicia.models import FittedModel
    from justicia.population.domain import Domain

__all__ = ["encode"]

_ZERO = float(np.float32(1e-35))
"""LightGBM takes numbers up to this size for 0 (kZeroThreshold)."""
_EPSILON = float(np.finfo(np.float64).eps)


def encode(model: FittedModel, frame: pd.DataFrame, favorable: Collection[Any]) -> tuple[Decision, Domain]:
    """Encode a fitted LGBMClassifier of two classes.

    Raises
    ------
    UnsupportedModelError
        When a step, the kind of tree or the objective is not supported, or there are more than two classes.
    ModelFileError
        When a tree's arrays are malformed.
    """
    estimator = model.estimator
    _refuse_options(model)
    if not two_classes(model):
        return constant(estimator.classes_.tolist()[0] in set(favorable))
    held = read_lightgbm(estimator.booster_.model_to_string(num_iteration=-1))
    sigma, error = _sigmoid(model, held)
    model = with_native_categories(model, frame)
    trees = _trees(held, int(estimator.booster_.best_iteration or -1))

    def response(method: str, scores: np.ndarray, of_second: bool) -> np.ndarray:
        if method == "decision_function" and hasattr(estimator, "decision_function"):
            return scores if of_second else -scores
        if method != "predict_proba":
            raise UnsupportedModelError(f"{model.class_name} has no {method}, which its threshold wrapper asks for")
        chances = 1.0 / (1.0 + np.exp(-sigma * scores))
        return chances if of_second else 1.0 - chances

    # The second class needs a probability above one half, to the last digit; whether exp is rounded up or down matters
    # in between.
    first, last = 2.0**-54 / sigma, 2.0**-51 / sigma
    score = Score.of_sum(response, (first + last) / 2, response_error=error)
    above, below, low, high = rule_of(model, favorable, score)
    if above == below:
        return constant(above)
    doubt = (high - low) / 2 if model.rule is not None or model.calibration is not None else (last - first) / 2
    layout = layout_of(model, frame, trees, allow_nan=True)
    size = sum(float(np.abs(part).max()) for part in np.split(trees.value, trees.roots[1:]))
    n_trees = len(trees.roots)
    # One tree's value is no sum, and nothing is rounded.
    rounded = size * max(1e-12, 3 * (n_trees + 2) * _EPSILON) if n_trees > 1 else 0.0
    return assemble(trees, layout, 0.0, (low + high) / 2, rounded + doubt, accepts_above=above)


def _refuse_options(model: FittedModel) -> None:
    estimator = model.estimator
    options = estimator.get_params() if hasattr(estimator, "get_params") else {}
    if callable(options.get("objective")):
        raise UnsupportedModelError(
            f"{model.class_name} with an objective of one's own is not supported: its predict gives raw scores"
        )
    if options.get("pred_early_stop"):
        raise UnsupportedModelError(
            f"{model.class_name} with pred_early_stop is not supported: its score is no sum of all trees"
        )


def _sigmoid(model: FittedModel, held: LightGBMModel) -> tuple[float, float]:
    """Factor of the score in the exponent, and the relative error of the response."""
    name, _, options = held.objective.partition(" ")
    if name == "cross_entropy":
        return 1.0, 16 * _EPSILON
    if name != "binary" or not options.startswith("sigmoid:"):
        said = repr(name) if name else "of one's own"
        raise UnsupportedModelError(
            f"{model.class_name} with objective {said} is not supported; supported are 'binary' and 'cross_entropy'"
        )
    text = options.removeprefix("sigmoid:").split(" ")[0]
    digits = len(text.lower().partition("e")[0].replace(".", "").lstrip("0"))
    # The text keeps six digits; where all are used there may have been more.
    return float(text), 16 * _EPSILON if digits < 6 else 2e-4


def _trees(held: LightGBMModel, best_iteration: int) -> RawTrees:
    used = held.trees[:best_iteration] if best_iteration > 0 else held.trees
    if not used:
        raise ModelFileError("the LightGBM model holds no tree: fit it with n_estimators of at least 1")
    trees = []
    for tree in used:
        size = len(tree["left"])
        subset = np.full(size, -1)
        subset[list(tree["sets"])] = np.arange(len(tree["sets"]))
        by_number = (tree["left"] >= 0) & (subset < 0)
        threshold = _widened(tree["threshold"])
        missing = np.array(tree["missing_type"])
        # Where nothing is missing, NaN is 0.
        left = np.where(missing == "none", threshold >= 0.0, tree["default_left"])
        ranged = by_number & (missing == "zero")
        trees.append(
            {
                "left": tree["left"],
                "right": tree["right"],
                "column": tree["column"],
                "threshold": np.where(by_number, threshold, 0.0),
                "missing_left": left & by_number,
                "missing_from": np.where(ranged, -_ZERO, np.nan),
                "missing_to": np.where(ranged, _ZERO, np.nan),
                "value": tree["value"] / len(used) if held.averaged else tree["value"],
                "subset": subset,
                "subsets": [np.stack([goes, goes], axis=1) for goes in tree["sets"].values()],
            }
        )
    return stacked(trees, np.float64, _before)


def _widened(threshold: np.ndarray) -> np.ndarray:
    """Thresholds of numbers, the small ones of which LightGBM takes for 0."""
    small = (threshold >= -_ZERO) & (threshold < _ZERO)
    return np.where(small, np.where(threshold >= 0, _ZERO, np.nextafter(-_ZERO, -1.0)), threshold)


def _before(codes: np.ndarray) -> np.ndarray:
    """The largest numbers below codes: LightGBM leaves fractions away, so that code 0 begins above -1."""
    return np.where(codes == 0, -1.0, np.nextafter(codes, -np.inf))
