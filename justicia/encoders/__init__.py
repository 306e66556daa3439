"""Encoders: from a fitted model to a decision over source columns.

One module a model family, one line in `REGISTRY`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.additive_trees import AdditiveTrees
from justicia.encoders.check import SelfCheck, check_encoding, compare_rows, predict, predictions
from justicia.encoders.clauses import Clauses
from justicia.encoders.decisions import Decision, Tree
from justicia.encoders.linear_threshold import Contribution, LinearThreshold, contributions
from justicia.errors import MALFORMED, JusticiaError, ModelFileError, UnsupportedModelError
from justicia.words import listed

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from justicia.models import FittedModel
    from justicia.population.domain import Domain

__all__ = [
    "REGISTRY",
    "AdditiveTrees",
    "Clauses",
    "Contribution",
    "Decision",
    "LinearThreshold",
    "SelfCheck",
    "Tree",
    "check_encoding",
    "compare_rows",
    "contributions",
    "encode",
    "predict",
    "predictions",
]

REGISTRY = {
    "sklearn.tree.DecisionTreeClassifier": "justicia.encoders.decision_tree",
    "sklearn.tree.ExtraTreeClassifier": "justicia.encoders.decision_tree",
    "sklearn.ensemble.AdaBoostClassifier": "justicia.encoders.forest",
    "sklearn.ensemble.BaggingClassifier": "justicia.encoders.forest",
    "sklearn.ensemble.ExtraTreesClassifier": "justicia.encoders.forest",
    "sklearn.ensemble.RandomForestClassifier": "justicia.encoders.forest",
    "sklearn.ensemble.GradientBoostingClassifier": "justicia.encoders.boosting",
    "sklearn.ensemble.HistGradientBoostingClassifier": "justicia.encoders.boosting",
    "xgboost.sklearn.XGBClassifier": "justicia.encoders.xgboost",
    "xgboost.sklearn.XGBRFClassifier": "justicia.encoders.xgboost",
    "lightgbm.sklearn.LGBMClassifier": "justicia.encoders.lightgbm",
    "justicia.models.native_files.LightGBMBooster": "justicia.encoders.lightgbm",
    "sklearn.linear_model.LogisticRegression": "justicia.encoders.linear",
    "sklearn.linear_model.LogisticRegressionCV": "justicia.encoders.linear",
    "sklearn.linear_model.Perceptron": "justicia.encoders.linear",
    "sklearn.linear_model.RidgeClassifier": "justicia.encoders.linear",
    "sklearn.linear_model.RidgeClassifierCV": "justicia.encoders.linear",
    "sklearn.linear_model.SGDClassifier": "justicia.encoders.linear",
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": "justicia.encoders.linear",
    "sklearn.svm.LinearSVC": "justicia.encoders.linear",
    "sklearn.svm.SVC": "justicia.encoders.support_vectors",
    "sklearn.naive_bayes.BernoulliNB": "justicia.encoders.naive_bayes",
    "sklearn.naive_bayes.CategoricalNB": "justicia.encoders.naive_bayes",
    "sklearn.naive_bayes.GaussianNB": "justicia.encoders.naive_bayes",
    "justicia.learners.cnf.CNFClassifier": "justicia.encoders.rules",
    "justicia.models.pyrulelearn.ImliClassifier": "justicia.encoders.imli",
    "justicia.models.rule_files.RuleClassifier": "justicia.encoders.rules",
}
"""For each supported class, the module whose `encode` takes it."""


def encode(model: FittedModel, frame: pd.DataFrame, favorable: Collection[Any]) -> tuple[Decision, Domain]:
    """Encode `model` as a decision over the source columns in `frame`.

    Parameters
    ----------
    model : FittedModel
    frame : DataFrame
        The columns that the model takes, in its order.
    favorable : collection
        Favorable classes.

    Returns
    -------
    decision : Decision
    domain : Domain
        The features that the decision depends on, cut into cells.

    Raises
    ------
    UnsupportedModelError
        When no encoder takes the model's class, or a step before it is not supported.
    ModelFileError
        When fitted attributes are absent or malformed.
    """
    if model.class_name not in REGISTRY:
        raise UnsupportedModelError(
            f"{model.class_name} is not supported; supported are "
            f"{listed((name.rpartition('.')[2] for name in REGISTRY), 40)}, alone or in a Pipeline, a grid "
            "or randomized search, a CalibratedClassifierCV, a FixedThresholdClassifier or a TunedThresholdClassifierCV"
        )
    encoder = import_module(REGISTRY[model.class_name])
    try:
        with np.errstate(all="ignore"):
            decision, domain = encoder.encode(model, frame, favorable)
    except JusticiaError:
        raise
    except MALFORMED as error:
        # Fitted attributes that are absent or of another shape: an edited file, or another version's.
        raise ModelFileError(
            f"the fitted {model.class_name}, or a step before it, lacks what an encoding needs "
            f"({type(error).__name__}: {error}): fit and save it again with the installed scikit-learn"
        ) from error
    return decision, domain
