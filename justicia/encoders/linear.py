"""Encode scikit-learn's linear classifiers: score = X @ coef_ + intercept_, second class when it is above 0."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.additive import Score, encode_additive, significant_bits, two_classes
from justicia.errors import ModelFileError, UnsupportedModelError

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from justicia.encoders.linear_threshold import LinearThreshold
    from justicia.models import FittedModel
    from justicia.population.domain import Domain

__all__ = ["encode", "weights"]


def encode(model: FittedModel, frame: pd.DataFrame, favorable: Collection[Any]) -> tuple[LinearThreshold, Domain]:
    """Encode a fitted linear classifier as a decision over source columns.

    Parameters
    ----------
    model : FittedModel
        With a classifier inside that has `coef_` and `intercept_`.
    frame : DataFrame
        The columns that the model takes.
    favorable : collection
        Favorable classes.

    Raises
    ------
    UnsupportedModelError
        When a step is not supported or there are more than two classes.
    ModelFileError
        When the weights are malformed.
    """
    two_classes(model)
    estimator = model.estimator
    weight, intercept = weights(model)
    wide = weight.astype(np.float64)

    def terms(column: int, values: np.ndarray) -> np.ndarray:
        return values * wide[column]

    def exact(column: int, values: np.ndarray) -> bool:
        return bool((significant_bits(values) + significant_bits(wide[[column]]) <= 53).all())

    score = Score(
        base=intercept,
        columns=np.flatnonzero(weight),
        terms=terms,
        sizes=lambda column, values: np.abs(terms(column, values)),
        base_size=abs(intercept),
        operations=len(weight) + 2,
        response=lambda method, scores, of_second: _response(estimator, method, scores, of_second),
        exact=exact,
        monotone=True,
    )
    return encode_additive(model, frame, favorable, score)


def weights(model: FittedModel) -> tuple[np.ndarray, float]:
    """Weights of shape (n_columns,), in the type in which they were fitted, and the intercept."""
    coefficients = model.estimator.coef_
    if hasattr(coefficients, "toarray"):
        coefficients = coefficients.toarray()
    weight = np.asarray(coefficients).ravel()
    weight = weight.astype(np.float64) if weight.dtype.kind in "iub" else weight
    intercept = np.asarray(model.estimator.intercept_, dtype=np.float64).ravel()
    if len(weight) != int(model.estimator.n_features_in_) or len(intercept) != 1:
        raise ModelFileError(f"the fitted {model.class_name} has malformed weights: fit and save it again")
    if weight.dtype.kind != "f" or not (np.isfinite(weight).all() and np.isfinite(intercept).all()):
        raise ModelFileError(f"the fitted {model.class_name} has weights that are no finite numbers")
    return weight, float(intercept[0])


def _response(estimator: Any, method: str, scores: np.ndarray, of_second: bool) -> np.ndarray:
    """What the classifier's own method makes of scores: asked of a copy with one column of weight 1."""
    if not hasattr(estimator, method):
        raise UnsupportedModelError(f"{type(estimator).__name__} has no {method}, which its threshold wrapper asks for")
    probe = copy.copy(estimator)
    probe.coef_, probe.intercept_, probe.n_features_in_ = np.ones((1, 1)), np.zeros(1), 1
    if hasattr(probe, "feature_names_in_"):
        del probe.feature_names_in_
    response = np.asarray(getattr(probe, method)(scores.reshape(-1, 1)))
    if response.ndim == 2:
        return response[:, int(of_second)]
    return response if of_second else -response
