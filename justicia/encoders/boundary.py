"""Points next to the boundary of a decision, as rows that the model's own `predict` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.additive_trees import AdditiveTrees
from justicia.encoders.clauses import Clauses
from justicia.encoders.columns import number_column, value_column
from justicia.encoders.decisions import Tree
from justicia.encoders.linear_threshold import LinearThreshold

if TYPE_CHECKING:
    import pandas as pd

    from justicia.encoders.decisions import Decision
    from justicia.population.domain import Domain, Feature

__all__ = ["boundary_frame"]

_MOST_NUMBERS = 2_000_000
"""Points times columns that are compared, about."""
_MOST_ROWS, _MOST_BASES = 20_000, 300
"""Rows that are looked at for ones in which a feature of a rule decides, and those that are tried."""


def boundary_frame(decision: Decision, domain: Domain, frame: pd.DataFrame, points: np.ndarray) -> pd.DataFrame:
    """Rows next to every boundary of the model.

    Of a tree: for each edge between two cells of a numeric feature the largest value below, the smallest above, and
    the float32 neighbours of the edge; for every feature each category, the missing value and the unseen category,
    where the model takes them. Each row otherwise follows the path to a node that tests the feature, so that the value
    matters. Of a rule the same, each row one in which the feature decides, where one is found. Of many trees the same
    with rows of the table, as many of the tests as there is time for. Of a sum: rows
    close to the threshold, with one feature changed so as to step over it, and with missing values and unseen
    categories.

    Parameters
    ----------
    points : int array of shape (n_rows, n_features)
        The domain point of each row.

    Returns
    -------
    DataFrame of shape (n_points, n_columns), columns and order of `frame`
    """
    changed: list[tuple[int, float]] = []
    if isinstance(decision, Tree):
        cells, changed = _of_tree(decision, domain)
    elif isinstance(decision, LinearThreshold):
        most = int(np.clip(_MOST_NUMBERS // max(len(frame.columns), 1), 50, 2000))
        cells = decision.near_boundary(points, [_special(feature) for feature in domain.features], most)
    elif isinstance(decision, AdditiveTrees):
        cells, changed = _of_trees(decision, domain, points, _MOST_NUMBERS // max(len(frame.columns), 1))
    elif isinstance(decision, Clauses):
        cells, changed = _of_clauses(decision, domain, points)
    else:
        raise TypeError(f"no boundary is known of a {type(decision).__name__}")
    return _rows(cells, changed, domain, frame)


def _special(feature: Feature) -> list[int]:
    return [cell for cell in (feature.unseen, feature.missing) if cell is not None]


def _of_tree(decision: Tree, domain: Domain) -> tuple[np.ndarray, list[tuple[int, float]]]:
    """Points, and for each the feature whose number is changed to what; -1 where none is."""
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
        n_intervals = len(held.edges) + 1 if held.edges is not None and not held.by_value else 0
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
    return np.array(cells, dtype=np.int64).reshape(len(cells), len(domain.sizes)), changed


def _of_trees(
    decision: AdditiveTrees, domain: Domain, points: np.ndarray, most: int
) -> tuple[np.ndarray, list[tuple[int, float]]]:
    """Rows of the table with one feature put next to a test; special cells of every feature."""
    cells: list[np.ndarray] = []
    changed: list[tuple[int, float]] = []

    def add(feature: int, cell: int, value: float | None = None) -> None:
        base = points[len(cells) * 7919 % len(points)].copy()
        base[feature] = cell
        cells.append(base)
        changed.append((-1, 0.0) if value is None else (feature, value))

    for feature, held in enumerate(domain.features):
        for cell in _special(held):
            add(feature, cell)
    n_tests = len(decision.test_feature)
    for test in np.unique(
        np.linspace(0, n_tests - 1, min(n_tests, int(np.clip(most, 50, 2000)) // 5)).astype(np.int64)
    ):
        feature = int(decision.test_feature[test])
        held = domain.features[feature]
        goes = decision.goes_left(int(test))
        if held.edges is not None and not held.by_value:
            n_intervals = len(held.edges) + 1
            for i in np.flatnonzero(goes[: n_intervals - 1] != goes[1:n_intervals])[:1]:
                for value in _neighbours(float(held.edges[i])):
                    add(feature, int(i), value)
        else:
            for side in (goes, ~goes):
                if side.any():
                    add(feature, int(np.argmax(side)))
    return np.array(cells, dtype=np.int64).reshape(len(cells), len(domain.sizes)), changed


def _of_clauses(decision: Clauses, domain: Domain, points: np.ndarray) -> tuple[np.ndarray, list[tuple[int, float]]]:
    """Every cell of every feature, and both sides of its edges, in a row in which the feature decides."""
    cells: list[np.ndarray] = []
    changed: list[tuple[int, float]] = []
    _, first = np.unique(points[:_MOST_ROWS], axis=0, return_index=True)
    rows = points[np.sort(first)][:_MOST_BASES].astype(np.int64)
    for feature, held in enumerate(domain.features):
        bases = np.concatenate([rows, _where_it_decides(decision, feature, rows)])

        def base(cell: int, bases: np.ndarray = bases, feature: int = feature, size: int = len(held)) -> np.ndarray:
            """A row in which another cell of the feature changes the outcome; the first one where there is none."""
            here, differs = bases.copy(), np.zeros(len(bases), dtype=bool)
            here[:, feature] = cell
            outcome = decision.evaluate(here)
            for other in (cell + 1, cell - 1, *range(size)):
                if 0 <= other < size and not differs.any():
                    there = here.copy()
                    there[:, feature] = other
                    differs = decision.evaluate(there) != outcome
            return here[int(np.argmax(differs))]

        for cell in range(len(held)):
            cells.append(base(cell))
            changed.append((-1, 0.0))
        if held.edges is None or held.by_value:
            continue
        for cell, edge in enumerate(held.edges.tolist()):
            for value in _neighbours(edge):
                cells.append(base(cell))
                changed.append((feature, value))
    return np.array(cells, dtype=np.int64).reshape(len(cells), len(domain.sizes)), changed


def _where_it_decides(decision: Clauses, feature: int, rows: np.ndarray) -> np.ndarray:
    """For each clause with the feature, a row that no other feature of it satisfies, and that satisfies the others."""
    made = []
    for number, clause in enumerate(decision.clauses):
        if feature not in clause:
            continue
        row = rows[0].copy() if len(rows) else np.zeros(len(decision.sizes), dtype=np.int64)
        for other, cells in clause.items():
            if other != feature and not cells.all():
                row[other] = int(np.argmin(cells))
        for place, others in enumerate(decision.clauses):
            if place == number or any(cells[row[other]] for other, cells in others.items() if other != feature):
                continue
            free = [other for other in others if other != feature and other not in clause] or list(others)
            row[free[0]] = int(np.argmax(others[free[0]]))
        made.append(row)
    return np.array(made, dtype=np.int64).reshape(len(made), len(decision.sizes))


def _rows(points: np.ndarray, changed: list[tuple[int, float]], domain: Domain, frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of the frame at some points, single numbers of which are changed."""
    import pandas as pd

    if not len(points):
        return frame.iloc[:0]
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
            columns[name] = number_column(values, frame[name], of_table=held.by_value)
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
