"""Train a model on the table, on the spot: the same model every time for the same table and seed."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from justicia.errors import InputError, LabelError
from justicia.words import did_you_mean, value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

__all__ = ["TRAINABLE", "train"]

TRAINABLE = ("tree", "logistic", "forest", "boosting", "cnf")
"""Names that stand for a model trained on the spot."""

_MOST_CATEGORIES = 50


def train(
    name: str,
    frame: pd.DataFrame,
    features: Sequence[str],
    label: pd.Series[Any],
    *,
    random_state: int = 0,
    favorable: str | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Any:
    """Fit the default model called `name` on the columns `features` of `frame`.

    "tree": a tree of depth 6 with at least 20 rows a leaf; "logistic": logistic regression on standardised numbers;
    "forest": 100 trees of depth 6; "boosting": gradient boosting of 100 trees of depth 3. Text columns are one-hot
    encoded for these two, and numbered for the next two; "logistic" and "boosting" take medians for missing numbers.
    "cnf": a rule of three clauses at most, learned by MaxSAT (`justicia.learners.CNFClassifier`).

    Parameters
    ----------
    name : str
        One of `TRAINABLE`.
    frame : DataFrame
    features : sequence of str
    label : Series of shape (n_rows,)
    random_state : int
    favorable : str, optional
        What a rule is about: the class, as text, where it holds.
    progress : callable, optional
        Takes what is being done, and how much of the way is done, where that takes a while.

    Returns
    -------
    sklearn.pipeline.Pipeline or CNFClassifier

    Raises
    ------
    InputError
        When there is no model of that name, or no row or feature to learn from.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    if name not in TRAINABLE:
        raise InputError(f"no model {name!r} can be trained on the spot{did_you_mean(name, TRAINABLE)}")
    known = label.notna().to_numpy()
    if not known.any():
        raise LabelError(f"label column {label.name!r} is empty: there is nothing to learn")
    if not features:
        raise InputError("the table has no column to learn from beside the label")
    rows = frame.loc[known, list(features)]
    if name == "cnf":
        return _rule(rows, label[known], random_state, favorable, progress)
    text = [column for column in features if rows[column].dtype.kind not in "biuf"]
    numbers = [column for column in features if column not in set(text)]
    encoder, prepared, estimator = _FAMILIES[name](bool(rows[numbers].isna().to_numpy().any()), random_state)
    pipeline = Pipeline(
        [
            ("columns", ColumnTransformer([("text", encoder, text), ("numbers", prepared, numbers)])),
            (name, estimator),
        ]
    )
    try:
        with warnings.catch_warnings():
            # A fit that has not converged to the last digit is a model like any other.
            warnings.simplefilter("ignore")
            return pipeline.fit(rows, label[known])
    except ValueError as error:
        said = str(error).strip().splitlines()[0]
        raise LabelError(f"no model can be trained to predict column {label.name!r}: {said}") from error


def _rule(
    rows: pd.DataFrame,
    label: pd.Series[Any],
    random_state: int,
    favorable: str | None,
    progress: Callable[[str, float], None] | None,
) -> Any:
    from justicia.learners.cnf import CNFClassifier

    about = [value for value in label.unique().tolist() if value_text(value) == favorable]
    estimator = CNFClassifier(pos_label=about[0] if about else None, random_state=random_state)
    try:
        return estimator.fit(rows, label, progress=progress)
    except ValueError as error:
        said = str(error).strip().splitlines()[0]
        raise LabelError(f"no rule can be learned to predict column {label.name!r}: {said}") from error


def _one_hot() -> Any:
    from sklearn.preprocessing import OneHotEncoder

    return OneHotEncoder(handle_unknown="ignore", max_categories=_MOST_CATEGORIES, sparse_output=False)


def _numbered() -> Any:
    from sklearn.preprocessing import OrdinalEncoder

    return OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)


def _filled(holes: bool) -> Any:
    from sklearn.impute import SimpleImputer

    return SimpleImputer(strategy="median", keep_empty_features=True) if holes else "passthrough"


def _tree(holes: bool, random_state: int) -> tuple[Any, Any, Any]:
    from sklearn.tree import DecisionTreeClassifier

    estimator = DecisionTreeClassifier(max_depth=6, min_samples_leaf=20, random_state=random_state)
    return _one_hot(), "passthrough", estimator


def _logistic(holes: bool, random_state: int) -> tuple[Any, Any, Any]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    prepared = make_pipeline(_filled(holes), StandardScaler()) if holes else StandardScaler()
    return _one_hot(), prepared, LogisticRegression(max_iter=1000, random_state=random_state)


def _forest(holes: bool, random_state: int) -> tuple[Any, Any, Any]:
    from sklearn.ensemble import RandomForestClassifier

    estimator = RandomForestClassifier(100, max_depth=6, min_samples_leaf=5, random_state=random_state, n_jobs=-1)
    return _numbered(), "passthrough", estimator


def _boosting(holes: bool, random_state: int) -> tuple[Any, Any, Any]:
    from sklearn.ensemble import GradientBoostingClassifier

    return _numbered(), _filled(holes), GradientBoostingClassifier(random_state=random_state)


_FAMILIES = {"tree": _tree, "logistic": _logistic, "forest": _forest, "boosting": _boosting}
