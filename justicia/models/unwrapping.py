"""Take a fitted model apart: steps before the estimator, the estimator, and the rule that turns scores into classes."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from justicia.errors import MALFORMED, JusticiaError, ModelFileError, UnsupportedModelError
from justicia.models.pyrulelearn import ImliClassifier, is_imli

__all__ = ["Calibration", "FittedModel", "ThresholdRule", "flattened", "full_name", "unwrap"]

_SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")


@dataclass(frozen=True)
class ThresholdRule:
    """A threshold wrapper's rule: `positive` when the score of class `positive` is at least `threshold`."""

    threshold: float
    positive: Any
    negative: Any
    response_method: str


@dataclass(frozen=True)
class Calibration:
    """A calibrator of one classifier of two classes: a monotone function of its response.

    Attributes
    ----------
    response_method : str
        Method of the classifier whose response is calibrated.
    calibrator : object
        Its `predict` gives the probability of the second class.
    """

    response_method: str
    calibrator: Any

    def chances(self, responses: np.ndarray) -> np.ndarray:
        """Calibrated probability of the second class, float64 array of shape (n,), from responses for that class."""
        chances = np.asarray(self.calibrator.predict(responses), dtype=np.float64)
        # As CalibratedClassifierCV settles probabilities beside 1.
        return np.where((chances > 1.0) & (chances <= 1.0 + 1e-5), 1.0, chances)


@dataclass(frozen=True)
class FittedModel:
    """A fitted classifier, taken apart.

    Attributes
    ----------
    predictor : object
        What the user fitted; its `predict` is the truth.
    steps : tuple
        Fitted transformers before the estimator, in order; columns go in, the estimator's matrix comes out.
    estimator : object
        The bare classifier.
    rule : ThresholdRule or None
        Set when a wrapper decides by a threshold of its own.
    classes : tuple
        Classes in the predictor's order.
    columns : tuple of str or None
        Names of the columns that `predict` takes; None when the model was fitted without names.
    n_columns : int
    class_name : str
        Public name of the estimator's class.
    calibration : Calibration or None
        Set when a wrapper calibrates the estimator; a threshold of a rule is then one of calibrated probabilities.
    """

    predictor: Any
    steps: tuple[Any, ...]
    estimator: Any
    rule: ThresholdRule | None
    classes: tuple[Any, ...]
    columns: tuple[str, ...] | None
    n_columns: int
    class_name: str = field(default="")
    calibration: Calibration | None = None


def full_name(thing: Any) -> str:
    """Public name of an object's class: private modules are left out.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> full_name(DecisionTreeClassifier())
    'sklearn.tree.DecisionTreeClassifier'
    """
    kind = type(thing)
    parts = kind.__module__.split(".")
    public = next((i for i, part in enumerate(parts) if part.startswith("_")), len(parts))
    if getattr(sys.modules.get(".".join(parts[:public])), kind.__name__, None) is kind:
        parts = parts[:public]
    return ".".join([*(part for part in parts if not part.startswith("_")), kind.__name__])


def unwrap(predictor: Any) -> FittedModel:
    """Take `predictor` apart.

    Pipelines, grid and randomized searches, threshold wrappers and a calibration are followed in any nesting.

    Raises
    ------
    UnsupportedModelError
        When it is no fitted classifier, or decides about several outputs.
    ModelFileError
        When fitted attributes are absent or malformed.
    """
    try:
        return _unwrapped(predictor)
    except JusticiaError:
        raise
    except MALFORMED as error:
        # An edited file, or another version's.
        raise ModelFileError(
            f"{full_name(predictor)}, or what is inside it, lacks what a fitted model has "
            f"({type(error).__name__}: {error}): fit and save it again with the installed scikit-learn"
        ) from error


def _unwrapped(predictor: Any) -> FittedModel:
    if isinstance(predictor, type):
        raise UnsupportedModelError(f"the model is the class {predictor.__name__}, not a fitted object")
    if not hasattr(predictor, "predict"):
        raise UnsupportedModelError(f"{full_name(predictor)} has no predict: it is no classifier")
    steps: list[Any] = []
    rule: ThresholdRule | None = None
    calibration: Calibration | None = None
    if is_imli(predictor):
        predictor = ImliClassifier(predictor)
    inner = predictor
    while True:
        kind = type(inner).__name__
        if kind == "Pipeline" and hasattr(inner, "steps"):
            steps += flattened(step for _, step in inner.steps[:-1])
            inner = inner.steps[-1][1]
        elif kind in _SEARCHES:
            inner = _fitted(inner, "best_estimator_")
        elif kind == "FrozenEstimator":
            inner = inner.estimator
        elif kind == "CalibratedClassifierCV":
            if calibration is not None:
                raise UnsupportedModelError(f"{full_name(inner)} inside another one is not supported")
            calibration, inner = _calibration(inner)
        elif kind in ("FixedThresholdClassifier", "TunedThresholdClassifierCV"):
            if calibration is not None:
                # A calibration asks for probabilities, which a threshold wrapper passes on.
                inner = getattr(inner, "estimator_", inner.estimator)
                continue
            if rule is not None:
                raise UnsupportedModelError(f"{full_name(inner)} inside another threshold wrapper is not supported")
            rule = _rule(inner)
            inner = getattr(inner, "estimator_", inner.estimator)
        else:
            break
    if is_imli(inner):
        inner = ImliClassifier(inner)
    classes = getattr(predictor, "classes_", getattr(inner, "classes_", None))
    if classes is None:
        unfitted = hasattr(inner, "fit") and not hasattr(inner, "n_features_in_")
        problem = "is not fitted" if unfitted else "is no classifier"
        raise UnsupportedModelError(f"{full_name(inner)} {problem}: an audit needs a fitted classifier")
    if isinstance(classes, list):
        raise UnsupportedModelError(f"{full_name(inner)} has several outputs: audit one output at a time")
    plain = isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) > 0 and classes.dtype.kind != "V"
    if not plain or not all(isinstance(one, (str, bytes, int, float)) for one in classes.tolist()):
        raise ModelFileError(f"{full_name(inner)} has malformed classes_: fit and save it again")
    names = _first_attribute([predictor, *steps, inner], "feature_names_in_")
    if names is not None and np.ndim(names) != 1:
        raise ModelFileError(f"{full_name(predictor)} has malformed column names: fit and save it again")
    columns = tuple(str(name) for name in names) if names is not None else None
    number = len(columns) if columns is not None else _first_attribute([predictor, *steps, inner], "n_features_in_")
    if number is None:
        raise UnsupportedModelError(f"{full_name(predictor)} does not say how many columns it takes")
    if not isinstance(number, (int, np.integer)) or (columns is not None and len(set(columns)) != len(columns)):
        raise ModelFileError(f"{full_name(predictor)} has malformed column names: fit and save it again")
    return FittedModel(
        predictor,
        tuple(steps),
        inner,
        rule,
        tuple(classes.tolist()),
        columns,
        int(number),
        full_name(inner),
        calibration,
    )


def flattened(steps: Iterable[Any]) -> list[Any]:
    """Steps one after another, those of pipelines among them in their place, without what passes through."""
    flat: list[Any] = []
    for step in steps:
        if type(step).__name__ == "Pipeline":
            flat += flattened(inner for _, inner in step.steps)
        elif step is not None and not isinstance(step, str):
            flat.append(step)
    return flat


def _fitted(wrapper: Any, attribute: str) -> Any:
    if not hasattr(wrapper, attribute):
        raise UnsupportedModelError(f"{full_name(wrapper)} has no {attribute}: it is not fitted, or was not refitted")
    return getattr(wrapper, attribute)


def _first_attribute(things: list[Any], attribute: str) -> Any:
    """The attribute of the outermost thing that has it; a search or pipeline passes on what its first step knows."""
    for thing in things:
        value = getattr(thing, attribute, None)
        if value is not None:
            return value
    return None


def _calibration(wrapper: Any) -> tuple[Calibration, Any]:
    """The calibration of a wrapper, and what it calibrates."""
    members = _fitted(wrapper, "calibrated_classifiers_")
    name, n_classes = full_name(wrapper), len(wrapper.classes_)
    if n_classes != 2:
        raise UnsupportedModelError(f"{name} has {n_classes} classes: supported are two")
    if len(members) != 1:
        raise UnsupportedModelError(
            f"{name} averages {len(members)} classifiers, each calibrated by a function of its own, which is no sum to "
            "compare with a threshold: fit it with ensemble=False, or around a FrozenEstimator"
        )
    if members[0].method not in ("sigmoid", "isotonic"):
        raise UnsupportedModelError(
            f"{name} with method={members[0].method!r} is not supported: sigmoid and isotonic are"
        )
    inner = members[0].estimator
    method = "decision_function" if hasattr(inner, "decision_function") else "predict_proba"
    return Calibration(method, members[0].calibrators[0]), inner


def _rule(wrapper: Any) -> ThresholdRule:
    classes = list(_fitted(wrapper, "classes_"))
    if len(classes) != 2:
        raise UnsupportedModelError(f"{full_name(wrapper)} has {len(classes)} classes: a threshold needs two")
    inner = getattr(wrapper, "estimator_", wrapper.estimator)
    method = wrapper.response_method
    if method == "auto":
        method = "predict_proba" if hasattr(inner, "predict_proba") else "decision_function"
    if type(wrapper).__name__ == "FixedThresholdClassifier":
        threshold, positive = wrapper.threshold, wrapper.pos_label
        if threshold == "auto":
            threshold = 0.5 if method == "predict_proba" else 0.0
    else:
        threshold, positive = _fitted(wrapper, "best_threshold_"), wrapper._curve_scorer._get_pos_label()
    if positive is None:
        positive = classes[1]
    negative = classes[0] if positive == classes[1] else classes[1]
    return ThresholdRule(float(threshold), positive, negative, method)
