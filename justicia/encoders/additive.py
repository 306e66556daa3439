"""Encode models whose score is a sum over the columns of their matrix: what all such families share.

A family says what one column adds (`Score`); this module takes the columns back to source columns, joins what belongs
to the same one, carries the decision rule to the score, and bounds the rounding of the model's own sum.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.bisection import LARGEST, last_true
from justicia.encoders.cells import Layout, cut_into_cells
from justicia.encoders.check import predict
from justicia.encoders.linear_threshold import LinearThreshold
from justicia.encoders.preprocessing import trace
from justicia.errors import ModelFileError, UnsupportedModelError
from justicia.models.unwrapping import ThresholdRule
from justicia.population.domain import Domain

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    import pandas as pd

    from justicia.models import FittedModel

__all__ = ["Score", "encode_additive", "matrix_type", "rule_of", "two_classes"]

_TIE = 1e-12
"""Relative size of a score that counts as a tie, at least."""
_NEIGHBOURS = 64


@dataclass(frozen=True)
class Score:
    """The score of a model with two classes: the larger, the more it is for the second.

    Attributes
    ----------
    base : float
        What is added once.
    columns : iterable of int
        Columns of the matrix that may add something.
    terms : callable
        Takes a column and float64 values of it, returns what they add; NaN where the model takes none.
    sizes : callable
        The same, returns at least the absolute value of everything that the model adds up on the way.
    base_size : float
        The same for the base.
    operations : int
        Floating-point operations on the way to the score, at most.
    response : callable
        Takes the name of a response method, scores, and whether the second class is meant or the first; returns the
        response for that class as the model computes it; raises `UnsupportedModelError` when it has none.
    threshold : float
        The model is for the second class when its score is above this.
    response_error : float
        Relative error of `response` against what the model computes.
    response_scale : float
        The same for each unit of what the model adds up.
    exact : callable or None
        Takes a column and values, returns whether every term is the exact product of two short numbers; None when the
        terms are rounded anyway.
    monotone : bool
        Whether every term never falls, or never rises, as its value grows.
    """

    base: float
    columns: Iterable[int]
    terms: Callable[[int, np.ndarray], np.ndarray]
    sizes: Callable[[int, np.ndarray], np.ndarray]
    base_size: float
    operations: int
    response: Callable[[str, np.ndarray, bool], np.ndarray]
    threshold: float = 0.0
    response_error: float = 0.0
    response_scale: float = 0.0
    exact: Callable[[int, np.ndarray], bool] | None = None
    monotone: bool = False

    @classmethod
    def of_sum(
        cls,
        response: Callable[[str, np.ndarray, bool], np.ndarray],
        threshold: float = 0.0,
        response_error: float = 0.0,
    ) -> Score:
        """The rule of a score that is no sum over columns."""

        def none(column: int, values: np.ndarray) -> np.ndarray:
            raise TypeError("this score is no sum over columns")

        return cls(0.0, (), none, none, 0.0, 0, response, threshold, response_error)


def two_classes(model: FittedModel) -> bool:
    """Whether the model tells two classes apart; False when it knows one only.

    Raises
    ------
    UnsupportedModelError
        When it knows more.
    """
    n_classes = len(model.estimator.classes_)
    if n_classes > 2:
        raise UnsupportedModelError(
            f"{model.class_name} with {n_classes} classes is not supported: a linear threshold tells two classes "
            "apart; fit it on favorable against all others"
        )
    return n_classes == 2


def encode_additive(
    model: FittedModel, frame: pd.DataFrame, favorable: Collection[Any], score: Score
) -> tuple[LinearThreshold, Domain]:
    """Encode a model with an additive score as a decision over source columns.

    Parameters
    ----------
    model : FittedModel
        With two classes.
    frame : DataFrame
        The columns that the model takes.
    favorable : collection
        Favorable classes.
    score : Score

    Returns
    -------
    decision : LinearThreshold
    domain : Domain
        Of the features that move the score.
    """
    dtype = _computed_in(model, frame)
    blocks = trace(model.steps, list(frame.columns))
    width = int(model.estimator.n_features_in_)
    if sum(len(block.outputs) for block in blocks) != width:
        raise ModelFileError(f"the steps before the model do not give the {width} columns that it takes")
    wanted = {int(column): np.zeros(0) for column in score.columns}
    layout = cut_into_cells(blocks, frame, wanted, allow_nan=False, terms=score.terms, monotone=score.monotone)

    sizes = layout.domain.sizes
    contributions = [np.zeros(size) for size in sizes]
    magnitudes = [np.zeros(size) for size in sizes]
    for column, feature in layout.feature_of.items():
        contributions[feature] += score.terms(column, layout.values_of[column])
        magnitudes[feature] += score.sizes(column, layout.values_of[column])
    if not all(np.isfinite(values).all() for values in contributions):
        predict(model, frame)
        raise ModelFileError(f"the fitted {model.class_name} gives values of the table no finite score")

    total = score.base_size + sum(float(values.max(initial=0.0)) for values in magnitudes)
    above, below, low, high = rule_of(model, favorable, score, dtype, total)
    if above == below:
        return LinearThreshold((), 0.0, 0.0, not above, 0.0), Domain(())
    # No score lies farther out, and so no doubt about it.
    low, high = (float(np.clip(cut, -2.0 * total - 1.0, 2.0 * total + 1.0)) for cut in (low, high))
    exact = low == high and dtype is np.float64
    step = _step(score, layout, contributions) if exact else 0.0
    moving = [feature for feature, values in enumerate(contributions) if np.ptp(values) > 0]
    base = score.base + sum(
        float(values[0]) for feature, values in enumerate(contributions) if feature not in set(moving)
    )
    decision = LinearThreshold(
        tuple(contributions[feature] for feature in moving),
        base,
        (low + high) / 2 if step == 0 else low,
        above,
        0.0 if step > 0 else max(_TIE * total, _rounding(score, total, dtype)) + (high - low) / 2,
        step,
        _rounding(score, total, dtype) + (high - low) / 2,
    )
    return decision, Domain(tuple(layout.domain.features[feature] for feature in moving))


def _rounding(score: Score, total: float, dtype: type[np.floating[Any]]) -> float:
    """How far the model's rounded sum and ours may lie apart (Higham 2002, section 3.1), each against the true sum."""
    unit = float(np.finfo(dtype).eps) / 2
    rounded = score.operations * unit / (1 - score.operations * unit)
    return 3 * rounded * total


def matrix_type(model: FittedModel, frame: pd.DataFrame) -> np.dtype[Any]:
    """Type of the numbers that the estimator gets; float64 when the steps refuse the table."""
    matrix: Any = frame.iloc[:1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for step in model.steps:
                matrix = step.transform(matrix)
            held = [matrix.dtype] if not hasattr(matrix, "dtypes") else [np.asarray(matrix).dtype]
        except Exception:
            return np.dtype(np.float64)
    return held[0] if held[0].kind == "f" else np.dtype(np.float64)


def _computed_in(model: FittedModel, frame: pd.DataFrame) -> type[np.floating[Any]]:
    """The float type in which the model computes its score: that of its matrix, or of its weights when wider."""
    weights = getattr(model.estimator, "coef_", None)
    of_weights = np.dtype(np.float64) if weights is None else weights.dtype
    small = all(kind.kind == "f" and kind.itemsize < 8 for kind in (matrix_type(model, frame), of_weights))
    return np.float32 if small else np.float64


def rule_of(
    model: FittedModel,
    favorable: Collection[Any],
    score: Score,
    dtype: type[np.floating[Any]] = np.float64,
    total: float = 0.0,
) -> tuple[bool, bool, float, float]:
    """Whether the outcome is favorable above and below the threshold of the score, and between what that lies.

    A threshold of a wrapper is found in the score by bisection through the model's own response.
    """
    classes = model.estimator.classes_.tolist()
    wanted = set(favorable)
    rule, calibration = model.rule, model.calibration
    if rule is None and calibration is None:
        return classes[1] in wanted, classes[0] in wanted, score.threshold, score.threshold
    if rule is None:
        # The more probable class; the first one on a tie.
        rule = ThresholdRule(0.5, classes[1], classes[0], "predict_proba")
    elif calibration is not None and rule.response_method != "predict_proba":
        raise UnsupportedModelError(
            f"a calibrated {model.class_name} has no {rule.response_method} to set a threshold on"
        )
    method, of_second = rule.response_method, bool(rule.positive == classes[1])
    chosen, other = rule.positive in wanted, rule.negative in wanted
    error = max(
        score.response_error + total * score.response_scale,
        0.0 if dtype is np.float64 else 8 * float(np.finfo(dtype).eps),
    )

    def positive(scores: np.ndarray, factor: float) -> np.ndarray:
        """Whether the rule holds, when what it looks at first is multiplied by `factor`."""
        if calibration is None:
            held = score.response(method, scores.ravel(), of_second)
            return np.asarray(held.reshape(scores.shape) >= rule.threshold * factor)
        held = calibration.chances(score.response(calibration.response_method, scores.ravel(), True) * factor)
        held = (held if of_second else 1.0 - held).reshape(scores.shape)
        return np.asarray(held > 1.0 - held if model.rule is None else held >= rule.threshold)

    ends = np.array([-LARGEST, LARGEST])
    at_ends = positive(ends, 1.0)
    if at_ends[0] == at_ends[1]:
        outcome = chosen if at_ends[0] else other
        return outcome, outcome, 0.0, 0.0
    above, below = (chosen, other) if at_ends[1] else (other, chosen)
    found = {}
    for factor in (1.0, 1.0 - error, 1.0 + error):
        if factor in found:
            continue
        cut = float(last_true(lambda scores, factor=factor: positive(scores, factor), 1)[0])  # type: ignore[misc]
        if np.isnan(cut):
            # Always reached, or never: the uncertainty extends to that end.
            reached = bool(positive(np.zeros(1), factor)[0])
            cut = float(ends[0] if reached == bool(at_ends[1]) else ends[1])
        found[factor] = cut
    cut, cuts = found[1.0], list(found.values())
    # Where the response is not monotone to the last digit, everything between is undecided.
    for scale in (0.0, 1e-16, 1e-15, 1e-14, 1e-13):
        reach = np.arange(1, _NEIGHBOURS + 1) * max(abs(cut) * float(np.finfo(np.float64).eps), scale)
        for side, end in ((cut - reach, 0), (cut + reach, 1)):
            wrong = (positive(side, 1.0) != at_ends[end]) & (side != cut)
            cuts += side[wrong].tolist()
    return above, below, min(cuts), max(cuts)


def _step(score: Score, layout: Layout, contributions: list[np.ndarray]) -> float:
    """What every difference of scores is a multiple of, when every order of summing gives the same number; else 0."""
    columns = layout.values_of.items()
    if score.exact is None or not all(score.exact(column, values) for column, values in columns):
        return 0.0
    numbers = np.concatenate([[score.base], *contributions])
    numbers = numbers[numbers != 0]
    mantissas, exponents = np.frexp(numbers)
    whole = np.rint(mantissas * 2.0**53).astype(np.int64)
    zeros = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)
    unit = int((exponents - 53 + zeros).min(initial=0))
    total = abs(score.base) + sum(
        float(np.abs(score.terms(column, values)).max(initial=0.0)) for column, values in columns
    )
    if unit < -900 or total >= 2.0 ** (unit + 53):
        return 0.0
    # Multiples of a power of two that stay below 2**53 of it: every sum of them is exact, in any order.
    multiples = [np.rint(np.ldexp(values - values[0], -unit)).astype(np.int64) for values in contributions]
    step = int(np.gcd.reduce(np.concatenate(multiples))) if multiples else 0
    return float(np.ldexp(float(max(step, 1)), unit))


def significant_bits(numbers: np.ndarray) -> np.ndarray:
    """Bits from the first to the last 1 of each number's binary digits; 0 for 0."""
    mantissas, _ = np.frexp(numbers)
    whole = np.rint(np.abs(mantissas) * 2.0**53).astype(np.int64)
    zeros = np.log2(np.maximum(whole & -whole, 1).astype(np.float64)).astype(np.int64)
    return np.where(whole == 0, 0, 53 - zeros)
