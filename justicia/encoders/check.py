"""Prove that an encoded decision is the model: compare with its own `predict`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.boundary import boundary_frame
from justicia.encoders.preprocessing import trace
from justicia.errors import EncodingMismatchError, ModelFileError, TableError
from justicia.tables.repeats import number_of
from justicia.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from justicia.encoders.decisions import Decision
    from justicia.models import FittedModel
    from justicia.population.domain import Domain

__all__ = ["SelfCheck", "check_encoding", "compare_rows", "predict", "predictions"]


@dataclass(frozen=True)
class SelfCheck:
    """What the self-check covered.

    Attributes
    ----------
    rows : int
        Rows of the table compared with `predict`.
    boundary_points : int
        Further points compared: next to every threshold, unseen categories, missing values.
    ties : int
        Rows and points whose score is so near the threshold that the order of a floating-point sum may flip the
        outcome; they count as no mismatch.
    selected : bool array of shape (n_rows,)
        What `predict` says about each row: a favorable outcome.
    """

    rows: int
    boundary_points: int
    ties: int
    selected: np.ndarray


def predict(model: FittedModel, frame: pd.DataFrame) -> np.ndarray:
    """The model's own class of each row, array of shape (n_rows,).

    Raises
    ------
    TableError
        When `predict` refuses the table.
    ModelFileError
        When it gives more or fewer classes than there are rows.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            predicted = np.asarray(model.predictor.predict(frame)).ravel()
        except Exception as error:
            # A step may raise anything.
            raise TableError(_why_refused(model, frame, error)) from error
    if len(predicted) != len(frame):
        raise ModelFileError(
            f"predict gives {counted(len(predicted), 'class', 'classes')} for {counted(len(frame), 'row')}: fit the "
            "model and save it again"
        )
    return predicted


def predictions(model: FittedModel, frame: pd.DataFrame, favorable: Collection[Any]) -> np.ndarray:
    """Whether the model's own `predict` gives a favorable outcome, bool array of shape (n_rows,)."""
    classes = predict(model, frame)
    selected = np.zeros(len(classes), dtype=bool)
    for value in favorable:
        selected |= classes == value
    return selected


def _why_refused(model: FittedModel, frame: pd.DataFrame, error: Exception) -> str:
    """Say which column `predict` stumbles over: one that an encoder takes, or what scikit-learn says."""
    for block in trace(model.steps, list(frame.columns)):
        for name, arrays in block.categories.items():
            known = {value for array in arrays for value in array.tolist()}
            strange = frame[name][~frame[name].isin(known)]
            if len(strange):
                values = "missing values" if strange.isna().all() else listed(strange.dropna().unique(), 5)
                return (
                    f"column {name!r} holds {values} in {counted(len(strange), 'row')}; the model was not fitted on "
                    "such values and its predict refuses them: remove these rows, or fit with handle_unknown='ignore'"
                )
    said = str(error).strip().splitlines()
    return f"the model's predict refuses the table: {said[0] if said else type(error).__name__}"


def check_encoding(
    model: FittedModel,
    decision: Decision,
    domain: Domain,
    frame: pd.DataFrame,
    points: np.ndarray,
    favorable: Collection[Any],
    repeats: np.ndarray | None = None,
    checked: int | None = None,
) -> SelfCheck:
    """Compare the decision with `predict` on every row and on boundary points.

    Parameters
    ----------
    model : FittedModel
    decision : Decision
    domain : Domain
    frame : DataFrame of shape (n_rows, n_columns)
        The columns that the model takes.
    points : int array of shape (n_rows, n_features)
        The domain point of each row.
    favorable : collection
        Favorable classes.
    repeats : int64 array of shape (n_rows,), optional
        Rows of the table that each row stands for.
    checked : int, optional
        Rows of the table that were compared; all that are given unless given.

    Raises
    ------
    EncodingMismatchError
        With the first counterexample.
    """
    selected = predictions(model, frame, favorable)
    ties = number_of(compare_rows(decision, selected, domain, points, "row"), repeats)
    boundary = boundary_frame(decision, domain, frame, points)
    if len(boundary):
        points = domain.points(boundary)
        try:
            truth = predictions(model, boundary, favorable)
        except TableError as error:
            raise EncodingMismatchError(
                f"the encoding takes points that predict refuses ({error.__cause__}): please report this model"
            ) from error
        ties += int(compare_rows(decision, truth, domain, points, "boundary point").sum())
    return SelfCheck(len(frame) if checked is None else checked, len(boundary), ties, selected)


def compare_rows(decision: Decision, truth: np.ndarray, domain: Domain, points: np.ndarray, what: str) -> np.ndarray:
    """Which of some rows are ties, bool array of shape (n,); anything else that differs is raised.

    Parameters
    ----------
    decision : Decision
    truth : bool array of shape (n,)
        What `predict` says.
    domain : Domain
    points : int array of shape (n, n_features)
    what : str
        The rows, in a word.

    Raises
    ------
    EncodingMismatchError
    """
    encoded, ties = decision.evaluate(points), decision.undecided(points)
    wrong = np.flatnonzero((encoded != truth) & ~ties)
    if len(wrong):
        row = int(wrong[0])
        cells = ", ".join(f"{name} {cell}" for name, cell in domain.describe(points[row]).items())
        says = ("rejects", "selects")
        raise EncodingMismatchError(
            f"the encoding does not reproduce predict: {len(wrong):,} of {len(truth):,} {what}s differ; the first is "
            f"{what} {row + 1} ({cells}), which the model {says[int(truth[row])]} and the encoding "
            f"{says[int(encoded[row])]}: please report this model"
        )
    return np.asarray(ties, dtype=bool)
