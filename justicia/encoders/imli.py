"""Encode the rules of pyrulelearn's imli.

Its columns are 0 or 1, and it refuses other values, so the table's own values are the cells of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.cells import cut_into_cells
from justicia.encoders.preprocessing import trace
from justicia.encoders.rules import clauses_over, outcome
from justicia.errors import ModelFileError
from justicia.learners.rules import CNF
from justicia.population.domain import Domain

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from justicia.encoders.clauses import Clauses
    from justicia.models import FittedModel

__all__ = ["encode"]


def encode(model: FittedModel, frame: pd.DataFrame, favorable: Collection[Any]) -> tuple[Clauses, Domain]:
    """Encode a fitted imli as a decision over source columns.

    Raises
    ------
    UnsupportedModelError
        When a step is not supported.
    ModelFileError
        When the steps before it give other columns than it takes.
    """
    rule = model.estimator.rule_
    holds, fails = outcome(model, favorable)
    cnf, accepts = (rule, holds) if rule.form == CNF else (rule.opposite, fails)
    blocks = trace(model.steps, list(frame.columns))
    if sum(len(block.outputs) for block in blocks) != model.estimator.n_features_in_:
        raise ModelFileError(
            f"the steps before the imli do not give the {model.estimator.n_features_in_} columns of it"
        )
    tests = {int(name): np.array([0.5]) for name in cnf.columns}
    layout = cut_into_cells(blocks, frame, tests, cast=np.float64, allow_nan=False, terms=_terms)
    clauses = [
        [
            (layout.feature_of[place], condition.of_numbers(layout.values_of[place]))
            for condition in part
            for place in (int(condition.column),)
        ]
        for part in cnf.parts
    ]
    return clauses_over(layout.domain.features, clauses, accepts)


def _terms(column: int, values: np.ndarray) -> np.ndarray:
    """What the rule sees of a value; NaN where it takes none."""
    return np.where(np.isin(values, (0.0, 1.0)), values, np.nan)
