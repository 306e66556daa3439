"""XGBoost's and LightGBM's own model files.

Both are data, not programs. The libraries' C++ code believes what they say, though, so it gets what `xgboost_json` and
`lightgbm_text` have checked, written anew.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import ModelFileError, UnsupportedModelError
from justicia.models.lightgbm_text import read_lightgbm
from justicia.models.xgboost_json import document_of, read_xgboost

if TYPE_CHECKING:
    from justicia.models.lightgbm_text import LightGBMModel

__all__ = ["INSTALL", "LightGBMBooster", "load_lightgbm", "load_xgboost"]

INSTALL = "pip install 'justicia-verifier[boosting]'"


class LightGBMBooster:
    """A LightGBM model of two classes without scikit-learn's wrapper around it: classes are 0 and 1.

    Attributes
    ----------
    booster_ : lightgbm.Booster
    classes_ : int array of shape (2,)
    n_features_in_ : int
    feature_names_in_ : str array of shape (n_features_in_,)
        Absent when the model was fitted without names.
    """

    def __init__(self, held: LightGBMModel) -> None:
        import lightgbm

        self.booster_ = lightgbm.Booster(model_str=held.text, params={"verbosity": -1})
        self.classes_ = np.array([0, 1])
        self.n_features_in_ = held.n_columns
        if held.names != tuple(f"Column_{column}" for column in range(held.n_columns)):
            self.feature_names_in_ = np.array(held.names, dtype=object)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of both classes, float64 array of shape (n_rows, 2)."""
        chances = np.asarray(self.booster_.predict(X))
        return np.stack([1.0 - chances, chances], axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """The more probable class of each row, as LGBMClassifier has it; int array of shape (n_rows,)."""
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


def load_xgboost(content: bytes, name: str) -> Any:
    """An XGBClassifier from the bytes of a JSON file.

    Raises
    ------
    ModelFileError
        When the file is no XGBoost model, or a malformed one, or xgboost is not installed.
    UnsupportedModelError
        When the model is no classifier of two classes.
    """
    try:
        document = json.loads(content)
    except (RecursionError, UnicodeDecodeError, ValueError) as error:
        raise ModelFileError(f"{name} is not JSON, as XGBoost's save_model writes it: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("learner"), dict):
        raise ModelFileError(f"{name} is neither a model that XGBoost's save_model wrote nor a rule by justicia.rule/1")
    held = _named(name, read_xgboost, document)
    if not held.objective.startswith("binary:"):
        raise UnsupportedModelError(
            f"{name} has objective {held.objective!r}: supported are classifiers of two classes"
        )
    version = document.get("version")
    if not isinstance(version, list) or [type(part) for part in version] != [int] * 3 or not 1 <= version[0] < 100:
        raise ModelFileError(f"{name} does not say which version of XGBoost wrote it: save it again")
    anew = document_of(held, version)
    attributes = document["learner"].get("attributes")
    best = attributes.get("best_iteration") if isinstance(attributes, dict) else None
    if isinstance(best, str) and best.isascii() and best.isdecimal() and int(best) < len(held.ends) - 1:
        anew["learner"]["attributes"]["best_iteration"] = best
    try:
        from xgboost import XGBClassifier
    except ImportError as error:
        raise ModelFileError(f"{name} is an XGBoost model, and xgboost is not installed: {INSTALL}") from error
    model = XGBClassifier()
    try:
        model.load_model(bytearray(json.dumps(anew).encode()))
    except Exception as error:  # XGBoost raises what it finds
        said = str(error).strip().splitlines()
        raise ModelFileError(f"{name} is refused by XGBoost: {said[0] if said else type(error).__name__}") from error
    return model


def load_lightgbm(content: bytes, name: str) -> LightGBMBooster:
    """A classifier from the bytes of a text file.

    Raises
    ------
    ModelFileError
        When the file is no LightGBM model, or a malformed one, or lightgbm is not installed.
    UnsupportedModelError
        When the model is no classifier of two classes.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise ModelFileError(f"{name} is not text, as LightGBM's save_model writes it") from error
    if not text.startswith("tree"):
        raise ModelFileError(f"{name} is not a model that LightGBM's save_model wrote")
    held = _named(name, read_lightgbm, text)
    if held.objective.split(" ")[0] not in ("binary", "cross_entropy"):
        raise UnsupportedModelError(
            f"{name} has objective {held.objective!r}: supported are classifiers of two classes"
        )
    try:
        return LightGBMBooster(held)
    except ImportError as error:
        raise ModelFileError(f"{name} is a LightGBM model, and lightgbm is not installed: {INSTALL}") from error
    except Exception as error:  # LightGBM raises what it finds
        raise ModelFileError(f"{name} is refused by LightGBM: {error}") from error


def _named(name: str, read: Any, content: Any) -> Any:
    """What `read` makes of the content; the file's name stands in what it raises."""
    try:
        return read(content)
    except (ModelFileError, UnsupportedModelError) as error:
        raise type(error)(f"{name}: {error}") from error
