"""The decision of a tree ensemble: the leaves that a point reaches add up to a score, compared with a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.cells import Layout, cut_into_cells
from justicia.encoders.decisions import Tree
from justicia.encoders.preprocessing import trace
from justicia.errors import ModelFileError
from justicia.population.domain import Domain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from justicia.encoders.decisions import Decision
    from justicia.models import FittedModel

__all__ = ["AdditiveTrees", "RawTrees", "assemble", "constant", "layout_of", "stacked"]

_MOST_KEPT = 5_000_000
"""Cells of points whose scores are kept."""
_DEFAULTS: dict[str, Any] = {
    "column": -1,
    "threshold": 0.0,
    "missing_left": False,
    "value": 0.0,
    "missing_from": np.nan,
    "missing_to": np.nan,
}


def _next_below(numbers: np.ndarray) -> np.ndarray:
    return np.asarray(np.nextafter(numbers, -np.inf))


@dataclass(frozen=True)
class RawTrees:
    """Trees over the columns of an estimator's matrix, one after another.

    Attributes
    ----------
    roots : int array of shape (n_trees,)
    left, right : int array of shape (n_nodes,)
        Children; -1 at leaves.
    column : int array of shape (n_nodes,)
    threshold : float64 array of shape (n_nodes,)
        A value goes left when its `cast` is at most the threshold.
    missing_left : bool array of shape (n_nodes,)
        Where NaN goes.
    value : float64 array of shape (n_nodes,)
        What a leaf adds to the score.
    subset : int array of shape (n_nodes,)
        Position in `subsets` of the categories that go left; -1 where a threshold decides.
    subsets : tuple of bool arrays of shape (n_codes, 2)
        For each code whether it goes left, and whether it is known.
    unknown_left : bool array of shape (n_nodes,)
        Where codes go that a subset does not know; by default where NaN goes.
    missing_from, missing_to : float64 array of shape (n_nodes,)
        A value between them, both included, goes where NaN goes; NaN where there are none such.
    cast : float type
    before : callable
        Takes codes, float64 array; returns the largest numbers that the model does not take for these or larger ones.
    """

    roots: np.ndarray
    left: np.ndarray
    right: np.ndarray
    column: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    value: np.ndarray
    subset: np.ndarray
    unknown_left: np.ndarray
    missing_from: np.ndarray
    missing_to: np.ndarray
    subsets: tuple[np.ndarray, ...] = ()
    cast: type[np.floating[Any]] = np.float32
    before: Callable[[np.ndarray], np.ndarray] = _next_below


def stacked(
    trees: Sequence[dict[str, np.ndarray]],
    cast: type[np.floating[Any]] = np.float32,
    before: Callable[[np.ndarray], np.ndarray] = _next_below,
) -> RawTrees:
    """Trees given one by one, by the names of `RawTrees`, put one after another; what is left out is the default.

    Raises
    ------
    ModelFileError
        When a child is out of range, or reached twice.
    """
    sizes = [len(tree["left"]) for tree in trees]
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    held: dict[str, list[np.ndarray]] = {}
    subsets: list[np.ndarray] = []
    for tree, root, size in zip(trees, roots, sizes, strict=True):
        left, right = (np.asarray(tree[side], dtype=np.int64) for side in ("left", "right"))
        inner = left >= 0
        children = np.sort(np.concatenate([left[inner], right[inner]]))
        if (inner != (right >= 0)).any() or (children >= size).any() or (np.diff(children) == 0).any():
            raise ModelFileError("the arrays of a tree are malformed: a child is out of range or reached twice")
        if len(children) and (children[0] == 0 or (left[inner] <= np.flatnonzero(inner)).any()):
            raise ModelFileError("the arrays of a tree are malformed: a child comes before its parent")
        subset = np.asarray(tree.get("subset", np.full(size, -1)), dtype=np.int64)
        held.setdefault("left", []).append(np.where(inner, left + root, -1))
        held.setdefault("right", []).append(np.where(inner, right + root, -1))
        held.setdefault("subset", []).append(np.where(subset >= 0, subset + len(subsets), -1))
        subsets += list(tree.get("subsets", ()))
        for name, default in _DEFAULTS.items():
            held.setdefault(name, []).append(np.asarray(tree.get(name, np.full(size, default))))
        held.setdefault("unknown_left", []).append(np.asarray(tree.get("unknown_left", held["missing_left"][-1])))
    arrays = {name: np.concatenate(parts) for name, parts in held.items()}
    return RawTrees(roots=roots, subsets=tuple(subsets), cast=cast, before=before, **arrays)


@dataclass(frozen=True)
class AdditiveTrees:
    """Favorable when base + the leaves reached add up to more than the threshold, or when they do not.

    Cells of a feature are told apart by tests. Where the cells of a feature can be put into an order so that every test
    cuts it in two, those whose rank is below the cut go left; of any other feature, those of a set.

    Attributes
    ----------
    sizes : tuple of int
        Cells of each feature.
    roots : int32 array of shape (n_trees,)
    left, right : int32 array of shape (n_nodes,)
        Children; -1 at leaves.
    test : int32 array of shape (n_nodes,)
        Test of each node; -1 at leaves.
    value : float64 array of shape (n_nodes,)
        What a leaf adds.
    test_feature : int32 array of shape (n_tests,)
    test_cut : int32 array of shape (n_tests,)
        Ranks below it go left; -1 when a set decides.
    test_missing : bool array of shape (n_tests,)
        Whether the missing cell of a ranked feature goes left.
    test_cells : tuple of bool arrays
        Cells that go left, for tests of sets; empty for the others.
    base, threshold : float
    accepts_above : bool
    slack : float
        The model's own rounded sum and the sum taken here differ by at most this; scores within it of the threshold
        are undecided.
    ranks : tuple of (int array of shape (n_cells,), or None)
        Rank of each cell of a ranked feature; a missing one comes last. None for features told apart by sets.
    missing : tuple of (int or None)
        Missing cell of each ranked feature.
    """

    sizes: tuple[int, ...]
    roots: np.ndarray
    left: np.ndarray
    right: np.ndarray
    test: np.ndarray
    value: np.ndarray
    test_feature: np.ndarray
    test_cut: np.ndarray
    test_missing: np.ndarray
    test_cells: tuple[np.ndarray, ...]
    base: float
    threshold: float
    accepts_above: bool
    slack: float
    ranks: tuple[np.ndarray | None, ...]
    missing: tuple[int | None, ...]

    def scores(self, points: np.ndarray) -> np.ndarray:
        """Base and leaves added up, float64 array of shape (n,), not to be written to."""
        # What is decided of some points, and what is undecided, is asked one after the other.
        last = self._last
        if last and np.array_equal(last[0], points):
            return last[1]
        scores = self._scores(points)
        if points.size <= _MOST_KEPT:
            last[:] = [points.copy(), scores]
        return scores

    @cached_property
    def _last(self) -> list[np.ndarray]:
        """The last points that were asked about, and their scores; empty at first."""
        return []

    def __getstate__(self) -> dict[str, Any]:
        return {name: held for name, held in vars(self).items() if name != "_last"}

    def _scores(self, points: np.ndarray) -> np.ndarray:
        scores = np.full(len(points), self.base)
        offsets, cells = self._goes_left
        columns = np.ascontiguousarray(points.T)
        rows = np.arange(len(points))
        for root in self.roots:
            node = np.full(len(points), root, dtype=np.int64)
            active = rows if self.test[root] >= 0 else rows[:0]
            while len(active):
                here = node[active]
                test = self.test[here]
                goes = cells[offsets[test] + columns[self.test_feature[test], active]]
                node[active] = np.where(goes, self.left[here], self.right[here])
                active = active[self.test[node[active]] >= 0]
            scores += self.value[node]
        return scores

    @cached_property
    def _goes_left(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the cells of each test begin, and all of them: whether they go left."""
        held = [self.goes_left(test) for test in range(len(self.test_feature))]
        lengths = np.array([len(cells) for cells in held], dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64) if held else lengths
        return offsets, np.concatenate([*held, np.zeros(1, dtype=bool)])

    def evaluate(self, points: np.ndarray) -> np.ndarray:
        """Whether the outcome is favorable, bool array of shape (n,)."""
        return (self.scores(points) > self.threshold) == self.accepts_above

    def undecided(self, points: np.ndarray) -> np.ndarray:
        """Whether the order of a floating-point sum may flip the outcome, bool array of shape (n,)."""
        return np.asarray(np.abs(self.scores(points) - self.threshold) <= self.slack)

    def goes_left(self, test: int) -> np.ndarray:
        """Cells of the test's feature that go left, bool array of shape (n_cells,)."""
        feature = self.test_feature[test]
        ranks, missing = self.ranks[feature], self.missing[feature]
        if ranks is None:
            return self.test_cells[test]
        goes = ranks < self.test_cut[test]
        if missing is not None:
            goes[missing] = self.test_missing[test]
        return goes


def layout_of(model: FittedModel, frame: pd.DataFrame, trees: RawTrees, *, allow_nan: bool) -> Layout:
    """Cut the source columns into the cells that the trees tell apart.

    Raises
    ------
    ModelFileError
        When the steps before the model do not give the columns that it takes.
    """
    inner = trees.left >= 0
    width = int(model.estimator.n_features_in_)
    column, threshold = trees.column[inner], trees.threshold[inner]
    by_threshold = trees.subset[inner] < 0
    if len(column) and (column.min() < 0 or column.max() >= width or np.isnan(threshold[by_threshold]).any()):
        raise ModelFileError("the arrays of a tree are malformed: a node tests no column or compares with NaN")
    blocks = trace(model.steps, list(frame.columns))
    if sum(len(block.outputs) for block in blocks) != width:
        raise ModelFileError(f"the steps before the model do not give the {width} columns that it takes")
    tests = {int(c): np.unique(threshold[by_threshold & (column == c)]) for c in np.unique(column)}
    _add_cuts(trees, tests)
    return cut_into_cells(blocks, frame, tests, cast=trees.cast, allow_nan=allow_nan)


def constant(accepts: bool) -> tuple[Tree, Domain]:
    """A decision that depends on nothing."""
    leaf = np.full(1, -1)
    return Tree((), leaf, leaf, leaf, (np.zeros(0, dtype=bool),), np.array([accepts])), Domain(())


def _add_cuts(trees: RawTrees, tests: dict[int, np.ndarray]) -> None:
    """Add to the thresholds of each column where subsets and ranges of missing values begin and end."""
    for node in np.flatnonzero((trees.left >= 0) & (trees.subset >= 0)):
        goes = _coded(trees, int(node))
        starts = np.flatnonzero(goes[1:] != goes[:-1])
        column = int(trees.column[node])
        tests[column] = np.union1d(tests[column], trees.before(starts.astype(np.float64)))
    ranged = np.flatnonzero((trees.left >= 0) & ~np.isnan(trees.missing_from))
    for column in np.unique(trees.column[ranged]).tolist():
        here = ranged[trees.column[ranged] == column]
        cuts = [np.nextafter(trees.missing_from[here], -np.inf), trees.missing_to[here], tests[column]]
        tests[column] = np.unique(np.concatenate(cuts))


def _coded(trees: RawTrees, node: int) -> np.ndarray:
    """Whether numbers below code 0, the codes 0, 1, ... and those behind a subset's last go left at a node."""
    goes, known = trees.subsets[trees.subset[node]].T
    unknown = bool(trees.unknown_left[node])
    return np.concatenate([[unknown], np.where(goes | known, goes, unknown), [unknown]])


def assemble(
    trees: RawTrees, layout: Layout, base: float, threshold: float, slack: float, *, accepts_above: bool
) -> tuple[Decision, Domain]:
    """Trees over cells, from trees over columns; `constant` when they test nothing and the outcome is certain."""
    domain = layout.domain
    test = np.full(len(trees.left), -1, dtype=np.int64)
    swapped = np.zeros(len(trees.left), dtype=bool)
    inner = np.flatnonzero(trees.left >= 0)
    above = base + float(trees.value[trees.roots].sum()) - threshold
    if not len(inner) and abs(above) > slack:
        return constant((above > 0) == accepts_above)
    columns = np.unique(trees.column[inner]).tolist()
    with np.errstate(over="ignore"):
        compared = {column: layout.values_of[column].astype(trees.cast).astype(np.float64) for column in columns}
    of_feature: dict[int, list[int]] = {}
    for column in columns:
        of_feature.setdefault(layout.feature_of[column], []).append(column)
    by_set = (trees.subset[inner] >= 0) | ~np.isnan(trees.missing_from[inner])
    by_subset = set(trees.column[inner][by_set].tolist())
    ranks: list[np.ndarray | None] = [None] * len(domain.features)
    missing: list[int | None] = [None] * len(domain.features)
    for feature, held in of_feature.items():
        if not by_subset & set(held):
            ranks[feature], missing[feature] = _ranked([compared[column] for column in held])
    features: list[int] = []
    cuts: list[int] = []
    missing_left: list[bool] = []
    sets: list[np.ndarray] = []
    for column, values in compared.items():
        here = inner[trees.column[inner] == column]
        feature = layout.feature_of[column]
        rank = ranks[feature]
        if rank is None:
            keys = np.stack([trees.threshold[here], trees.missing_left[here], trees.subset[here]], axis=1)
            keys = np.append(keys, np.nan_to_num(trees.missing_from[here], nan=-np.inf)[:, None], axis=1)
            unique, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
            cuts += [-1] * len(unique)
            missing_left += [False] * len(unique)
            sets += [_set(trees, int(node), values) for node in here[first]]
        else:
            numbers = values[np.argsort(rank)]
            numbers = numbers[~np.isnan(numbers)]
            falls = len(numbers) > 1 and numbers[0] > numbers[-1]
            cut = np.searchsorted(np.sort(numbers), trees.threshold[here], side="right")
            goes = trees.missing_left[here]
            if falls:
                # The cells that go left are the last ones: seen from the other side, those below a cut go right.
                cut, goes = len(numbers) - cut, ~goes
                swapped[here] = True
            unique, which = np.unique(cut * 2 + goes, return_inverse=True)
            cuts += (unique // 2).tolist()
            missing_left += (unique % 2 == 1).tolist()
            sets += [np.zeros(0, dtype=bool)] * len(unique)
        test[here] = len(features) + which.ravel()
        features += [feature] * len(unique)
    left, right = np.where(swapped, trees.right, trees.left), np.where(swapped, trees.left, trees.right)
    decision = AdditiveTrees(
        domain.sizes,
        trees.roots.astype(np.int32),
        left.astype(np.int32),
        right.astype(np.int32),
        test.astype(np.int32),
        np.where(trees.left < 0, trees.value, 0.0),
        np.array(features, dtype=np.int32),
        np.array(cuts, dtype=np.int32),
        np.array(missing_left, dtype=bool),
        tuple(sets),
        base,
        threshold,
        accepts_above,
        slack,
        tuple(ranks),
        tuple(missing),
    )
    return decision, domain


def _ranked(columns: list[np.ndarray]) -> tuple[np.ndarray | None, int | None]:
    """Ranks of cells in whose order every column rises or falls, and the missing cell; None when there are none."""
    gaps = [np.flatnonzero(np.isnan(values)).tolist() for values in columns]
    if any(gap != gaps[0] or len(gap) > 1 for gap in gaps):
        return None, None
    # NaN is sorted last.
    order = np.lexsort(columns[::-1])
    kept = order[: len(order) - len(gaps[0])]
    for values in columns:
        steps = np.diff(values[kept])
        if not ((steps >= 0).all() or (steps <= 0).all()):
            return None, None
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks, gaps[0][0] if gaps[0] else None


def _set(trees: RawTrees, node: int, values: np.ndarray) -> np.ndarray:
    """Cells that go left at a node."""
    missing = np.isnan(values)
    if not np.isnan(trees.missing_from[node]):
        missing = missing | ((values >= trees.missing_from[node]) & (values <= trees.missing_to[node]))
    if trees.subset[node] < 0:
        goes = values <= trees.threshold[node]
    else:
        coded = _coded(trees, node)
        goes = coded[np.searchsorted(trees.before(np.arange(len(coded) - 1.0)), values, side="left")]
    return np.where(missing, trees.missing_left[node], goes)
