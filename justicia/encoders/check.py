"""Prove that an encoded decision is the model: compare with its own `predict`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.cells import as_column, value_column
from justicia.encoders.preprocessing import trace
from justicia.errors import EncodingMismatchError, TableError
from justicia.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from justicia.encoders.decisions import Tree
    from justicia.models import FittedModel
    from justicia.population.domain import Domain

__all__ = ["SelfCheck", "boundary_frame", "check_encoding", "predict", "predictions"]


@dataclass(frozen=True)
class SelfCheck:
    """What the self-check covered.

    Attributes
    ----------
    rows : int
        Rows of the table compared with `predict`.
    boundary_points : int
        Further points compared: next to every threshold, unseen categories, missing values.
    selected : bool array of shape (n_rows,)
        What `predict` says about each row: a favorable outcome.
    """

    rows: int
    boundary_points: int
    selected: np.ndarray


def predict(model: FittedModel, frame: pd.DataFrame) -> np.ndarray:
    """The model's own class of each row, array of shape (n_rows,).

    Raises
    ------
    TableError
        When `predict` refuses the table.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(model.predictor.predict(frame)).ravel()
        except (ValueError, TypeError, KeyError) as error:
            raise TableError(_why_refused(model, frame, error)) from error


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
    decision: Tree,
    domain: Domain,
    frame: pd.DataFrame,
    points: np.ndarray,
    favorable: Collection[Any],
) -> SelfCheck:
    """Compare the decision with `predict` on every row and on boundary points.

    Parameters
    ----------
    model : FittedModel
    decision : Tree
    domain : Domain
    frame : DataFrame of shape (n_rows, n_columns)
        The columns that the model takes.
    points : int array of shape (n_rows, n_features)
        The domain point of each row.
    favorable : collection
        Favorable classes.

    Raises
    ------
    EncodingMismatchError
        With the first counterexample.
    """
    selected = predictions(model, frame, favorable)
    _compare(decision.evaluate(points), selected, domain, points, "row")
    boundary = boundary_frame(decision, domain, frame)
    if len(boundary):
        points = domain.points(boundary)
        try:
            truth = predictions(model, boundary, favorable)
        except TableError as error:
            raise EncodingMismatchError(
                f"the encoding takes points that predict refuses ({error.__cause__}): please report this model"
            ) from error
        _compare(decision.evaluate(points), truth, domain, points, "boundary point")
    return SelfCheck(len(frame), len(boundary), selected)


def _compare(encoded: np.ndarray, truth: np.ndarray, domain: Domain, points: np.ndarray, what: str) -> None:
    wrong = np.flatnonzero(encoded != truth)
    if len(wrong):
        row = int(wrong[0])
        cells = ", ".join(f"{name} {cell}" for name, cell in domain.describe(points[row]).items())
        says = ("rejects", "selects")
        raise EncodingMismatchError(
            f"the encoding does not reproduce predict: {len(wrong):,} of {len(truth):,} {what}s differ; the first is "
            f"{what} {row + 1} ({cells}), which the model {says[int(truth[row])]} and the encoding "
            f"{says[int(encoded[row])]}: please report this model"
        )


def boundary_frame(decision: Tree, domain: Domain, frame: pd.DataFrame) -> pd.DataFrame:
    """Rows next to every boundary of the model.

    For each edge between two cells of a numeric feature: the largest value below, the smallest above, and the float32
    neighbours of the edge. For every feature: each category, the missing value and the unseen category, where the
    model takes them. Each row otherwise follows the path to a node that tests the feature, so that the value matters.

    Returns
    -------
    DataFrame of shape (n_points, n_columns), columns and order of `frame`
    """
    import pandas as pd

    cells: list[np.ndarray] = []
    changed: list[tuple[int, float]] = []
    done: set[tuple[int, int]] = set()
    for node, box in decision.walk():
        if decision.feature[node] < 0:
            continue
        base = np.array([int(np.argmax(box[i])) if i in box else 0 for i in range(len(domain.sizes))])
        feature = int(decision.feature[node])
        held = domain.features[feature]
        goes = decision.goes_left[node]
        n_intervals = len(held.edges) + 1 if held.edges is not None else 0
        for cell in range(n_intervals, len(held)):
            if (feature, cell) not in done:
                done.add((feature, cell))
                cells.append(np.where(np.arange(len(base)) == feature, cell, base))
                changed.append((-1, 0.0))
        for i in np.flatnonzero(goes[: n_intervals - 1] != goes[1:n_intervals]) if n_intervals else ():
            if (feature, int(i)) not in done and held.edges is not None:
                done.add((feature, int(i)))
                for value in _neighbours(float(held.edges[i])):
                    cells.append(base)
                    changed.append((feature, value))
    if not cells:
        return frame.iloc[:0]
    points = np.stack(cells)
    position = {name: index for index, name in enumerate(domain.names)}
    columns: dict[str, Any] = {}
    for name in frame.columns:
        if name not in position:
            columns[name] = _some_rows(frame[name], len(points))
            continue
        feature = position[name]
        held = domain.features[feature]
        if held.edges is not None:
            values = np.array(held.representatives, dtype=np.float64)[points[:, feature]]
            at = np.flatnonzero([where == feature for where, _ in changed])
            values[at] = [changed[i][1] for i in at]
            columns[name] = as_column(values, frame[name])
        else:
            chosen = [held.representatives[cell] for cell in points[:, feature]]
            columns[name] = value_column(chosen, frame[name], held.representatives)
    return pd.DataFrame(columns)


def _some_rows(column: pd.Series[Any], n: int) -> pd.Series[Any]:
    """`n` values of a column that does not matter, an empty cell among them when it has any."""
    rows = np.arange(n) % len(column)
    empty = np.flatnonzero(column.isna())
    if len(empty):
        rows[0] = empty[0]
    return column.iloc[rows].reset_index(drop=True)


def _neighbours(edge: float) -> list[float]:
    """The edge, the next float64 above it, and the float32 numbers around it."""
    near = np.float32(edge)
    around = {
        float(near),
        float(np.nextafter(near, np.float32(np.inf))),
        float(np.nextafter(near, np.float32(-np.inf))),
    }
    finite = [value for value in around if np.isfinite(value)]
    return sorted({edge, float(np.nextafter(edge, np.inf)), *finite})
