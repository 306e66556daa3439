"""Encode scikit-learn's naive Bayes classifiers: the difference of two joint log likelihoods is a sum over columns.

The first class wins a tie.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.additive import Score, encode_additive, matrix_type, two_classes
from justicia.encoders.linear_threshold import LinearThreshold
from justicia.errors import ModelFileError, UnsupportedModelError
from justicia.population.domain import Domain

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import pandas as pd

    from justicia.models import FittedModel

    Likelihoods = Callable[[int, np.ndarray], np.ndarray]

__all__ = ["encode"]


def encode(model: FittedModel, frame: pd.DataFrame, favorable: Collection[Any]) -> tuple[LinearThreshold, Domain]:
    """Encode a fitted `GaussianNB`, `BernoulliNB` or `CategoricalNB` as a decision over source columns.

    Raises
    ------
    UnsupportedModelError
        When a step is not supported or there are more than two classes.
    ModelFileError
        When fitted arrays are malformed.
    """
    if not two_classes(model):
        accepts = set(model.estimator.classes_.tolist()) <= set(favorable)
        return LinearThreshold((), 0.0, 0.0, not accepts, 0.0), Domain(())
    base, likelihoods = _FAMILIES[type(model.estimator).__name__](model.estimator, matrix_type(model, frame))
    n_columns = int(model.estimator.n_features_in_)
    if base.shape != (2,):
        raise ModelFileError(f"the fitted {model.class_name} is malformed: it holds no likelihoods of two classes")
    if not np.isfinite(base).all():
        raise UnsupportedModelError(
            f"the fitted {model.class_name} has likelihoods whose logarithm is no finite number: fit it with smoothing "
            "(alpha, var_smoothing), on numbers that are not so large"
        )

    def terms(column: int, values: np.ndarray) -> np.ndarray:
        first, second = likelihoods(column, values)
        return np.asarray(second - first)

    def sizes(column: int, values: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs(likelihoods(column, values)).sum(axis=0))

    score = Score(
        base=float(base[1] - base[0]),
        columns=range(n_columns),
        terms=terms,
        sizes=sizes,
        base_size=float(np.abs(base).sum()) * 2,
        operations=2 * n_columns + 16,
        response=_response,
        response_error=16 * float(np.finfo(np.float64).eps),
        response_scale=4 * float(np.finfo(np.float64).eps),
    )
    return encode_additive(model, frame, favorable, score)


def _response(method: str, scores: np.ndarray, of_second: bool) -> np.ndarray:
    from scipy.special import expit

    if method != "predict_proba":
        raise UnsupportedModelError(f"a naive Bayes classifier has no {method}, which its threshold wrapper asks for")
    return np.asarray(expit(scores if of_second else -scores))


def _gaussian(estimator: Any, dtype: np.dtype[Any]) -> tuple[np.ndarray, Likelihoods]:
    mean, variance = np.asarray(estimator.theta_), np.asarray(estimator.var_)
    base = np.log(np.asarray(estimator.class_prior_)) - 0.5 * np.log(2.0 * np.pi * variance).sum(axis=1)

    def likelihoods(column: int, values: np.ndarray) -> np.ndarray:
        return np.asarray(-0.5 * (values - mean[:, column, None]) ** 2 / variance[:, column, None])

    return base, likelihoods


def _bernoulli(estimator: Any, dtype: np.dtype[Any]) -> tuple[np.ndarray, Likelihoods]:
    of_one = np.asarray(estimator.feature_log_prob_)
    of_zero = np.log(1 - np.exp(of_one))
    base = np.asarray(estimator.class_log_prior_) + of_zero.sum(axis=1)
    cut = estimator.binarize

    def likelihoods(column: int, values: np.ndarray) -> np.ndarray:
        # Compared in the type of the matrix, as scikit-learn does.
        taken = values if cut is None else np.where(np.isnan(values), np.nan, values.astype(dtype) > dtype.type(cut))
        return np.asarray((of_one - of_zero)[:, column, None] * taken)

    return base, likelihoods


def _categorical(estimator: Any, dtype: np.dtype[Any]) -> tuple[np.ndarray, Likelihoods]:
    def likelihoods(column: int, values: np.ndarray) -> np.ndarray:
        table = np.asarray(estimator.feature_log_prob_[column])
        codes = np.where(np.isnan(values), -1, values).astype(np.int64)
        known = (codes >= 0) & (codes < table.shape[1])
        return np.where(known, table[:, np.where(known, codes, 0)], np.nan)

    return np.asarray(estimator.class_log_prior_, dtype=np.float64), likelihoods


_FAMILIES = {"BernoulliNB": _bernoulli, "CategoricalNB": _categorical, "GaussianNB": _gaussian}
