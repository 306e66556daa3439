"""Encode `SVC` with a linear kernel: libsvm is for the second class when the score is at least 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.additive import Score, encode_additive, two_classes
from justicia.encoders.linear import weights
from justicia.errors import UnsupportedModelError

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from justicia.encoders.linear_threshold import LinearThreshold
    from justicia.models import FittedModel
    from justicia.population.domain import Domain

__all__ = ["encode"]


def encode(model: FittedModel, frame: pd.DataFrame, favorable: Collection[Any]) -> tuple[LinearThreshold, Domain]:
    """Encode a fitted `SVC(kernel="linear")` as a decision over source columns.

    libsvm adds up one product a support vector, so that its rounding grows with their number and size.

    Raises
    ------
    UnsupportedModelError
        When the kernel is not linear, a step is not supported, or there are more than two classes.
    ModelFileError
        When the weights are malformed.
    """
    estimator = model.estimator
    if estimator.kernel != "linear":
        raise UnsupportedModelError(
            f"{model.class_name} with kernel {estimator.kernel!r} is not supported: its score is no sum over columns; "
            "kernel='linear' is"
        )
    two_classes(model)
    weight, intercept = weights(model)
    dual, vectors = (
        np.abs(part.toarray() if hasattr(part, "toarray") else np.asarray(part))
        for part in (estimator.dual_coef_, estimator.support_vectors_)
    )
    size = (dual @ vectors).ravel()

    def response(method: str, scores: np.ndarray, of_second: bool) -> np.ndarray:
        if method != "decision_function":
            raise UnsupportedModelError(
                f"{model.class_name} behind a threshold on {method} is not supported: libsvm finds its probabilities "
                "by iteration; a threshold on decision_function is"
            )
        return scores if of_second else -scores

    score = Score(
        base=intercept,
        columns=np.flatnonzero(size),
        terms=lambda column, values: values * weight[column],
        sizes=lambda column, values: np.abs(values) * size[column],
        base_size=abs(intercept),
        operations=len(weight) + dual.size + 2,
        response=response,
        threshold=float(np.nextafter(0.0, -1.0)),
        monotone=True,
    )
    return encode_additive(model, frame, favorable, score)
