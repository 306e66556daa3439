"""Rules of pyrulelearn's `imli`, as classifiers of two classes.

An imli holds a row of 0/1 for each clause or term over its columns and their complements, how many of them have to
hold, and in how many clauses; its `predict` takes a table of 0/1 and gives 0 or 1 (pyrulelearn 1.1.1).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from justicia.errors import ModelFileError, TableError, UnsupportedModelError
from justicia.learners.rules import CNF, DNF, Condition, Rule

__all__ = ["ImliClassifier", "is_imli"]

_ATTRIBUTES = ("ruleType", "numClause", "numFeatures", "_xhat", "threshold_literal_learned", "threshold_clause_learned")


def is_imli(model: Any) -> bool:
    """Whether a model is one of pyrulelearn's; the package need not be there."""
    kind = type(model)
    return kind.__name__ == "imli" and kind.__module__.partition(".")[0] == "pyrulelearn"


class ImliClassifier:
    """An imli with what a scikit-learn classifier has.

    Parameters
    ----------
    model : pyrulelearn.imli.imli
        A fitted one, of type CNF or DNF.

    Attributes
    ----------
    model : pyrulelearn.imli.imli
    rule_ : Rule
    classes_ : int array of shape (2,)
    positive_ : int
    n_features_in_ : int
    column_names_ : tuple of str
        Positions of the columns, as text.
    """

    def __init__(self, model: Any) -> None:
        absent = [name for name in _ATTRIBUTES if not hasattr(model, name)]
        if absent:
            raise UnsupportedModelError(f"the imli of pyrulelearn lacks {absent[0]}: an audit needs a fitted model")
        self.model = model
        self.classes_ = np.array([0, 1])
        self.positive_ = 1
        self.n_features_in_ = int(model.numFeatures) // 2
        self.column_names_ = tuple(map(str, range(self.n_features_in_)))
        self.rule_ = _rule(model, self.n_features_in_)

    def predict(self, X: Any) -> np.ndarray:
        """The imli's own class of each row, int array of shape (n_rows,).

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Of 0 and 1.
        """
        values = np.asarray(X)
        known = np.isin(values.astype(object), (0, 1))
        if not known.all():
            row, column = np.argwhere(~known)[0].tolist()
            raise TableError(
                f"row {row + 1} holds {values[row, column]!s} in column {column + 1}, and an imli takes 0 and 1 alone"
            )
        return np.asarray(self.model.predict(values.astype(np.float64).astype(np.int64)), dtype=np.int64)

    def get_rules(self) -> list[str]:
        """The rule in words, one clause or term each."""
        return self.rule_.lines() or [self.rule_.text()]


def _rule(model: Any, n_columns: int) -> Rule:
    """The rule that the thresholds state, where it is a CNF or a DNF."""
    if model.ruleType not in (CNF, DNF):
        raise UnsupportedModelError(f"an imli of type {model.ruleType!r} is not supported: CNF and DNF are")
    try:
        held = np.asarray(model._xhat, dtype=np.float64).reshape(-1, 2 * n_columns)
        literals = np.asarray(model.threshold_literal_learned, dtype=np.float64).ravel()
        clauses = float(model.threshold_clause_learned)
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"the imli of pyrulelearn is malformed ({error}): fit it again") from error
    if len(literals) != len(held) or not np.isin(held, (0.0, 1.0)).all():
        raise ModelFileError("the imli of pyrulelearn is malformed: its clauses are no rows of 0 and 1; fit it again")
    conditions = [[_condition(literal, n_columns) for literal in np.flatnonzero(row).tolist()] for row in held]
    if model.ruleType == CNF and (literals == 1).all() and clauses == len(held):
        return Rule(CNF, tuple(map(tuple, conditions)))
    if model.ruleType == DNF and (literals == held.sum(axis=1)).all() and clauses == 1:
        return Rule(DNF, tuple(map(tuple, conditions)))
    raise UnsupportedModelError(
        f"this imli asks for {literals.tolist()} conditions in {clauses:g} of {len(held)} clauses, which is no "
        f"{model.ruleType}: fit it again"
    )


def _condition(literal: int, n_columns: int) -> Condition:
    """A column is 1, or, in the second half, 0."""
    return Condition(str(literal % n_columns), "in", values=("1" if literal < n_columns else "0",))
