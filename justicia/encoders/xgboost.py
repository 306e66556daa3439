"""Encode XGBoost's classifiers: a base and the leaves' values, added up in float32.

XGBoost compares float32 numbers: a value goes left when it is below the condition. Here the conditions are the float64
numbers at which rounding to float32 crosses them, so that nothing has to be rounded first.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.additive import Score, rule_of, two_classes
from justicia.encoders.additive_trees import RawTrees, assemble, constant, layout_of, stacked
from justicia.encoders.bisection import last_true
from justicia.encoders.preprocessing import gives_sparse
from justicia.errors import ModelFileError, UnsupportedModelError
from justicia.models.native_categories import with_native_categories
from justicia.models.xgboost_json import XGBoostModel, read_xgboost
from justicia.words import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import pandas as pd

    from justicia.encoders.decisions import Decision
    from justicia.models import FittedModel
    from justicia.population.domain import Domain

__all__ = ["encode"]

_OBJECTIVES = ("binary:logistic", "binary:logitraw", "binary:hinge", "reg:logistic")
_UNIT = float(np.finfo(np.float32).eps) / 2
_SELECTING = ("SelectKBest", "SelectPercentile", "VarianceThreshold")
_SPARSE = ("ColumnTransformer", "KBinsDiscretizer", "OneHotEncoder", "SplineTransformer")
_LARGEST = float(np.finfo(np.float32).max)


def encode(model: FittedModel, frame: pd.DataFrame, favorable: Collection[Any]) -> tuple[Decision, Domain]:
    """Encode a fitted XGBClassifier or XGBRFClassifier of two classes.

    Raises
    ------
    UnsupportedModelError
        When a step, the booster or the objective is not supported, or there are more than two classes.
    ModelFileError
        When a tree's arrays are malformed.
    """
    estimator = model.estimator
    if callable(estimator.objective):
        raise UnsupportedModelError(
            f"{model.class_name} with an objective of one's own is not supported: its predict compares no probability"
        )
    if not two_classes(model):
        return constant(model.estimator.classes_.tolist()[0] in set(favorable))
    held = read_xgboost(json.loads(bytes(estimator.get_booster().save_raw("json"))))
    if held.objective not in _OBJECTIVES:
        raise UnsupportedModelError(
            f"{model.class_name} with objective {held.objective!r} is not supported: {listed(_OBJECTIVES)} are"
        )
    model = with_native_categories(model, frame)
    probe = _Probe(held)
    trees, used, weights = _trees(held, _n_used(estimator, held), *_missing(model))

    def response(method: str, scores: np.ndarray, of_second: bool) -> np.ndarray:
        if method != "predict_proba":
            raise UnsupportedModelError(f"{model.class_name} has no {method}, which its threshold wrapper asks for")
        chances = probe.response(scores)
        return chances if of_second else 1.0 - chances

    first, last = _own_threshold(probe.response)
    score = Score.of_sum(response, (first + last) / 2, response_error=float(np.finfo(np.float32).eps))
    above, below, low, high = rule_of(model, favorable, score)
    if above == below:
        return constant(above)
    doubt = (high - low) / 2 if model.rule is not None or model.calibration is not None else (last - first) / 2
    layout = layout_of(model, frame, trees, allow_nan=True)
    base = probe.margin()
    return assemble(trees, layout, base, (low + high) / 2, _slack(base, used, weights) + doubt, accepts_above=above)


class _Probe:
    """XGBoost's own base and response, asked of a model without trees."""

    def __init__(self, held: XGBoostModel) -> None:
        import xgboost

        # What XGBoost prints of a float32 is read back as the same number.
        parameters = {"objective": held.objective, "base_score": repr(held.base_score), "nthread": 1, "verbosity": 0}
        self._rows = xgboost.DMatrix
        self._booster = xgboost.train(parameters, xgboost.DMatrix(np.zeros((1, 1)), label=[0.0]), 0)

    def margin(self) -> float:
        """What the score starts from."""
        return float(self._booster.predict(self._rows(np.zeros((1, 1))), output_margin=True)[0])

    def response(self, scores: np.ndarray) -> np.ndarray:
        """What XGBoost's predict makes of scores, float32 array."""
        rounded = np.clip(scores, -_LARGEST, _LARGEST).astype(np.float32)
        return np.asarray(self._booster.predict(self._rows(np.zeros((len(rounded), 1)), base_margin=rounded)))


def _own_threshold(response: Callable[[np.ndarray], np.ndarray]) -> tuple[float, float]:
    """Between which scores XGBoost's own rule, a response above one half, begins to hold."""
    found = float(last_true(lambda scores: (response(scores.ravel()) > 0.5).reshape(scores.shape), 1)[0])
    near = np.float32(found)
    # Neighbours in the order of float32 numbers: the response may step back and forth by its last digit.
    around = [near]
    for end in (-np.inf, np.inf):
        value = near
        for _ in range(64):
            value = np.nextafter(value, np.float32(end))
            around.append(value)
    scores = np.sort(np.array(around, dtype=np.float64))
    holds = response(scores) > 0.5
    first, last = int(np.argmax(holds)), len(holds) - 1 - int(np.argmax(~holds[::-1]))
    if first == last + 1:
        return found, found
    return float(scores[first - 1]), float(scores[last + 1])


def _n_used(estimator: Any, held: XGBoostModel) -> int:
    """Number of trees that predict adds up: those to the best iteration, when fitting was stopped early."""
    try:
        best = int(estimator.best_iteration)
    except AttributeError:
        return len(held.trees)
    return int(held.ends[min(best + 1, len(held.ends) - 1)])


def _missing(model: FittedModel) -> tuple[float, float]:
    """Between which float64 numbers a value counts as missing; NaN when NaN alone does."""
    declared = model.estimator.missing
    marker = np.float32(np.nan if declared is None else declared)
    ends = (np.nan, np.nan)
    if not np.isnan(marker):
        above = np.nextafter(marker, np.float32(np.inf))
        highest = float(_before(np.array([above]))[0]) if above > marker else np.inf
        ends = float(np.nextafter(_before(np.array([marker]))[0], np.inf)), highest
    if gives_sparse(model.steps):
        # What a sparse matrix leaves out is missing to XGBoost. A later step could make a zero that is not left out.
        last = next(step for step in reversed(model.steps) if type(step).__name__ not in _SELECTING)
        if (not np.isnan(marker) and marker != 0) or type(last).__name__ not in _SPARSE:
            raise UnsupportedModelError(
                f"{model.class_name} behind steps that give a sparse matrix, in which zeros are missing, is supported "
                "without a value of its own for missing, and without a scaler in between: let the steps give a dense "
                "matrix (sparse_threshold=0, sparse_output=False)"
            )
        ends = (0.0, 0.0) if np.isnan(marker) else ends
    return ends


def _before(numbers: np.ndarray) -> np.ndarray:
    """The largest float64 numbers that are below float32 numbers after rounding to float32."""
    above = numbers.astype(np.float32)
    below = np.nextafter(above, np.float32(-np.inf))
    # Half the way to the neighbour, where rounding turns; beyond the largest number that is where infinity begins.
    lower, upper = (np.clip(part.astype(np.float64), -(2.0**128), 2.0**128) for part in (below, above))
    middle = (lower + upper) / 2
    with np.errstate(over="ignore"):
        rounds_down = middle.astype(np.float32) < above
    return np.where(rounds_down, middle, np.nextafter(middle, -np.inf))


def _trees(
    held: XGBoostModel, n_used: int, missing_from: float, missing_to: float
) -> tuple[RawTrees, list[np.ndarray], np.ndarray]:
    """Trees, the values of each one's leaves, and their weights."""
    trees, leaves = [], []
    weights = held.weights[:n_used].astype(np.float64)
    for tree, weight in zip(held.trees[:n_used], weights, strict=True):
        leaf = tree["left"] < 0
        subset = np.full(len(leaf), -1)
        subset[list(tree["sets"])] = np.arange(len(tree["sets"]))
        by_set = subset >= 0
        value = np.where(leaf, tree["condition"].astype(np.float64) * weight, 0.0)
        leaves.append(value[leaf])
        trees.append(
            {
                "left": tree["left"],
                "right": tree["right"],
                "column": tree["column"],
                "threshold": np.where(leaf | by_set, 0.0, _before(tree["condition"])),
                "missing_left": tree["default_left"],
                "unknown_left": np.ones(len(leaf), dtype=bool),
                "missing_from": np.full(len(leaf), missing_from),
                "missing_to": np.full(len(leaf), missing_to),
                "value": value,
                "subset": subset,
                "subsets": [_table(codes) for codes in tree["sets"].values()],
            }
        )
    if not trees:
        raise ModelFileError("the XGBoost model holds no tree: fit it with n_estimators of at least 1")
    return stacked(trees, np.float64, _before), leaves, weights


def _table(codes: np.ndarray) -> np.ndarray:
    """For each code whether it goes left, and whether it is known: XGBoost names those that go right."""
    goes_right = np.zeros(int(codes.max()) + 1, dtype=bool)
    goes_right[codes] = True
    return np.stack([~goes_right, np.ones(len(goes_right), dtype=bool)], axis=1)


def _slack(base: float, leaves: list[np.ndarray], weights: np.ndarray) -> float:
    """How far XGBoost's score may lie from the true sum: it adds tree by tree, and rounds each sum to float32.

    The error of a sum is at most half a unit of it (Higham 2002, section 4.2). A dart adds up (base + leaf - base)
    times the weight in some versions: four roundings more of each term.
    """
    low = base + np.cumsum([values.min() for values in leaves])
    high = base + np.cumsum([values.max() for values in leaves])
    partial = np.maximum(np.abs(low), np.abs(high))
    terms = np.array([np.abs(values).max() for values in leaves])
    # The first sum is exact when there is nothing to add to, and the later ones are rounded sums of rounded sums.
    rounded = partial[1:].sum() if base == 0 else partial.sum()
    scaled = 4 * (terms + abs(base) * weights) if (weights != 1).any() else np.zeros(1)
    growth = 1 + 4 * len(leaves) * _UNIT
    return float((rounded + scaled.sum()) * _UNIT * growth * 1.001)
