"""A model fitted once more, with weights of rows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import UnsupportedModelError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["refit"]

_REMEDY = "fit the second model with weights of justicia.mitigation.reweigh yourself, and compare the two"


def refit(model: Any, X: pd.DataFrame, y: Any, sample_weight: np.ndarray, *, random_state: int = 0) -> Any:
    """A clone of `model`, with the same parameters, fitted to rows with weights.

    The weights go to the last step of a pipeline, and through searches and fixed thresholds to what is inside of them.
    Steps before it are fitted to the rows as they are.

    Parameters
    ----------
    model : scikit-learn classifier
        Is left as it is.
    X : DataFrame of shape (n_rows, n_columns)
    y : array-like of shape (n_rows,)
    sample_weight : float64 array of shape (n_rows,)
    random_state : int
        In place of each `random_state` that is None.

    Returns
    -------
    classifier

    Raises
    ------
    UnsupportedModelError
        When it cannot be cloned, or takes no weights.
    """
    from sklearn.base import clone

    kind = type(model).__name__
    if type(model).__module__.startswith("justicia."):
        raise UnsupportedModelError(f"{kind} takes no weights of rows: {_REMEDY}")
    try:
        fresh = clone(model)
    except TypeError as error:
        raise UnsupportedModelError(f"{kind} cannot be fitted again: {error}; {_REMEDY}") from error
    open_seeds = {
        name: random_state
        for name, value in fresh.get_params(deep=True).items()
        if name.split("__")[-1] == "random_state" and value is None
    }
    fresh.set_params(**open_seeds)
    try:
        with warnings.catch_warnings():
            # A fit that has not converged to the last digit is a model like any other.
            warnings.simplefilter("ignore")
            return _fitted(fresh, X, y, sample_weight)
    except (TypeError, ValueError) as error:
        said = str(error).strip().splitlines()[0]
        raise UnsupportedModelError(f"{kind} cannot be fitted again with weights: {said}; {_REMEDY}") from error


def _fitted(fresh: Any, X: pd.DataFrame, y: Any, sample_weight: np.ndarray) -> Any:
    if type(fresh).__name__ == "FixedThresholdClassifier":
        from sklearn.frozen import FrozenEstimator

        # The wrapper passes no weights on.
        inner = _fitted(fresh.estimator, X, y, sample_weight)
        return fresh.set_params(estimator=FrozenEstimator(inner)).fit(X, y)
    return fresh.fit(X, y, **{_parameter(fresh): sample_weight})


def _parameter(estimator: Any) -> str:
    """By what name `fit` takes the weights of the estimator that decides."""
    from sklearn.utils.validation import has_fit_parameter

    if hasattr(estimator, "steps"):
        name, last = estimator.steps[-1]
        return f"{name}__{_parameter(last)}"
    if type(estimator).__name__.endswith("SearchCV"):
        return _parameter(estimator.estimator)
    if not has_fit_parameter(estimator, "sample_weight"):
        raise TypeError(f"{type(estimator).__name__} takes no weights of rows")
    return "sample_weight"
