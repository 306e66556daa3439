"""A decision over cells that are not the model's own: what is certain, and what is possible.

Each cell of another domain holds one or several cells of the model's. Two decisions over it enclose the model's:
`least` says yes where the outcome is favorable for all people who may be in the cells, `most` where it is for some.
Of a sum they are exact; of trees, every tree takes its smallest and its largest leaf on its own, and where a cell is
divided many times over, leaves below count as a whole: the two are then farther apart than need be, and enclose still.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from justicia.encoders.additive_trees import AdditiveTrees
from justicia.encoders.clauses import Clauses
from justicia.encoders.decisions import Tree
from justicia.encoders.linear_threshold import LinearThreshold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from justicia.encoders.clauses import Clauses
from justicia.encoders.decisions import Decision

__all__ = ["Lifted", "lift"]

_MOST_TIMES = 4
_MOST_MORE = 64
"""A tree may grow to so many times its nodes, and so many more."""


@dataclass(frozen=True)
class Lifted:
    """Two decisions over the same domain that enclose the model's; one and the same where nothing is in doubt.

    Attributes
    ----------
    least, most : Decision
    """

    least: Decision
    most: Decision


@dataclass(frozen=True)
class _Cells:
    """The other domain.

    Attributes
    ----------
    sizes : tuple of int
        Cells of its features.
    position : dict of int to int
        Where each feature of the model is in it.
    reach : dict of int to bool array of shape (n_cells, n_model_cells)
        By the model's features.
    """

    sizes: tuple[int, ...]
    position: dict[int, int]
    reach: dict[int, np.ndarray]

    @property
    def certain(self) -> bool:
        """Whether every cell lies inside one of the model's."""
        return all(bool((held.sum(axis=1) == 1).all()) for held in self.reach.values())


def lift(decision: Decision, sizes: Sequence[int], position: dict[int, int], reach: dict[int, np.ndarray]) -> Lifted:
    """Enclose a decision by two over another domain.

    Parameters
    ----------
    decision : Decision
    sizes : sequence of int
        Cells of the other domain's features.
    position : dict of int to int
        For each feature of the model, its place in the other domain.
    reach : dict of int to bool array of shape (n_cells, n_model_cells)
        For each feature of the model, which of its cells people in each cell may be in; at least one in each row.
    """
    cells = _Cells(tuple(sizes), position, reach)
    low = _extreme(decision, cells, largest=False)
    if cells.certain:
        return Lifted(low, low)
    high = _extreme(decision, cells, largest=True)
    above = True
    if isinstance(decision, (LinearThreshold, AdditiveTrees)):
        above = decision.accepts_above
    elif isinstance(decision, Clauses):
        above = decision.accepts
    return Lifted(low, high) if above else Lifted(high, low)


def _extreme(decision: Decision, cells: _Cells, *, largest: bool) -> Decision:
    """The decision by the smallest, or the largest, score that is possible."""
    if isinstance(decision, LinearThreshold):
        return _sum(decision, cells, largest)
    if isinstance(decision, Tree):
        return _tree(decision, cells, largest)
    if isinstance(decision, Clauses):
        return _clauses(decision, cells, largest)
    if isinstance(decision, AdditiveTrees):
        return _trees(decision, cells, largest)
    raise TypeError(f"a {type(decision).__name__} cannot be seen over other cells")


def _clauses(decision: Clauses, cells: _Cells, largest: bool) -> Clauses:
    """A cell is in a clause's set when some person in it may be, or when every one is."""
    made = []
    for clause in decision.clauses:
        sets: dict[int, np.ndarray] = {}
        for feature, inside in clause.items():
            touched = cells.reach[feature]
            sets[cells.position[feature]] = (
                (touched & inside).any(axis=1) if largest else (~touched | inside).all(axis=1)
            )
        made.append(sets)
    return replace(decision, sizes=cells.sizes, clauses=tuple(made))


def _sum(decision: LinearThreshold, cells: _Cells, largest: bool) -> LinearThreshold:
    contributions = [np.zeros(size) for size in cells.sizes]
    for feature, values in enumerate(decision.contributions):
        touched = cells.reach[feature]
        if largest:
            found = np.where(touched, values, -np.inf).max(axis=1)
        else:
            found = np.where(touched, values, np.inf).min(axis=1)
        contributions[cells.position[feature]] = found
    return replace(decision, contributions=tuple(contributions))


@dataclass
class _Grown:
    """A tree while it is made anew: nodes in the order of their numbers, children after parents.

    Attributes
    ----------
    left, right : list of int
        -1 at leaves.
    test : list of (int, bool)
        Test of the model; whether cells that may go either way go left here.
    value : list of float
    """

    left: list[int]
    right: list[int]
    test: list[tuple[int, bool]]
    value: list[float]


@dataclass(frozen=True)
class _Source:
    """Trees of the model: each inner node tests a feature, by one of the `sides`.

    Attributes
    ----------
    left, right, test : int arrays of shape (n_nodes,)
        -1 at leaves.
    value : float64 array of shape (n_nodes,)
    feature : int array of shape (n_tests,)
        In the other domain.
    sides : list of (bool array, bool array), each of shape (n_cells,)
        For each test, cells that may go left, and that may go right.
    """

    left: np.ndarray
    right: np.ndarray
    test: np.ndarray
    value: np.ndarray
    feature: np.ndarray
    sides: list[tuple[np.ndarray, np.ndarray]]

    def grown(self, root: int, size: int, largest: bool) -> _Grown:
        """The tree that takes the largest, or the smallest, of all leaves that a person may reach.

        A node of it stands for several nodes of the model's tree, those where a person may be.
        """
        pick = max if largest else min
        room = _MOST_TIMES * size + _MOST_MORE
        made = _Grown([-1], [-1], [(-1, False)], [0.0])
        stack: list[tuple[int, tuple[int, ...], dict[int, np.ndarray]]] = [(0, (root,), {})]
        while stack:
            here, at, box = stack.pop()
            at, branch = self._settled(at, box)
            if branch is None or len(made.left) + 2 * len(stack) > room:
                made.value[here] = pick(self._extreme(node, box, largest) for node in at)
                continue
            test, feature = int(self.test[branch]), int(self.feature[self.test[branch]])
            goes, comes = self.sides[test]
            inside = box[feature] if feature in box else np.ones(len(goes), dtype=bool)
            others = tuple(node for node in at if node != branch)
            left, right = int(self.left[branch]), int(self.right[branch])
            either = inside & goes & comes
            parts = [
                (inside & goes & ~comes, (*others, left)),
                (inside & comes & ~goes, (*others, right)),
                (either, (*others, left, right)),
            ]
            held = [(cells, nodes) for cells, nodes in parts if cells.any()]
            if len(held) == 3:
                # First those who surely go left, then, of the rest, those who may.
                self._split(made, here, (test, False))
                below = made.right[here]
                self._split(made, below, (test, True))
                places = [made.left[here], made.right[below], made.left[below]]
            elif len(held) == 2:
                # Those who may go either way are left of those who surely go right, and right of the others.
                sure_left = held[0][0] is parts[0][0]
                self._split(made, here, (test, not sure_left or held[1][0] is parts[1][0]))
                first, second = made.left[here], made.right[here]
                places = [first, second] if sure_left else [second, first]
            else:
                places = [here]
            stack += [
                (place, nodes, {**box, feature: cells}) for place, (cells, nodes) in zip(places, held, strict=True)
            ]
        return made

    def _settled(self, at: tuple[int, ...], box: dict[int, np.ndarray]) -> tuple[tuple[int, ...], int | None]:
        """The same nodes, each followed down as far as the box decides, and one of them that it does not decide."""
        found: dict[int, None] = {}
        stack, branch = list(at), None
        while stack:
            node = stack.pop()
            if self.test[node] < 0:
                found[node] = None
                continue
            feature = int(self.feature[self.test[node]])
            goes, comes = self.sides[int(self.test[node])]
            inside = box.get(feature)
            lefts, rights = (goes, comes) if inside is None else (goes & inside, comes & inside)
            if not (lefts & ~rights).any() and not (rights & ~lefts).any():
                stack += [int(self.left[node]), int(self.right[node])]
            elif not rights.any():
                stack.append(int(self.left[node]))
            elif not lefts.any():
                stack.append(int(self.right[node]))
            else:
                found[node] = None
                branch = node
        return tuple(found), branch

    def _extreme(self, node: int, box: dict[int, np.ndarray], largest: bool) -> float:
        """The largest, or the smallest, leaf below a node that somebody in the box may reach."""
        found, stack = [], [node]
        while stack:
            node = stack.pop()
            if self.test[node] < 0:
                found.append(float(self.value[node]))
                continue
            goes, comes = self.sides[int(self.test[node])]
            inside = box.get(int(self.feature[self.test[node]]))
            if inside is None or (goes & inside).any():
                stack.append(int(self.left[node]))
            if inside is None or (comes & inside).any():
                stack.append(int(self.right[node]))
        return max(found) if largest else min(found)

    @staticmethod
    def _split(made: _Grown, node: int, test: tuple[int, bool]) -> None:
        made.test[node] = test
        made.left[node], made.right[node] = len(made.left), len(made.left) + 1
        for _ in range(2):
            made.left.append(-1)
            made.right.append(-1)
            made.test.append((-1, False))
            made.value.append(0.0)


def _sides(goes: np.ndarray, touched: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cells that may go left, and that may go right, of a test over the model's cells."""
    return (touched & goes).any(axis=1), (touched & ~goes).any(axis=1)


def _tree(decision: Tree, cells: _Cells, largest: bool) -> Tree:
    nodes = np.arange(len(decision.left))
    inner = decision.feature >= 0
    sides = [
        _sides(decision.goes_left[node], cells.reach[int(decision.feature[node])]) if inner[node] else (_NONE, _NONE)
        for node in nodes
    ]
    feature = np.array([cells.position.get(int(held), -1) for held in decision.feature], dtype=np.int64)
    test = np.where(inner, nodes, -1)
    source = _Source(decision.left, decision.right, test, decision.accepts.astype(np.float64), feature, sides)
    made = source.grown(0, len(nodes), largest)
    tests = tuple(_left_of(source, test) for test in made.test)
    tested = np.array([-1 if one < 0 else feature[one] for one, _ in made.test], dtype=np.int64)
    left, right = np.array(made.left, dtype=np.int64), np.array(made.right, dtype=np.int64)
    return Tree(cells.sizes, left, right, tested, tests, np.array(made.value) > 0.5)


_NONE = np.zeros(0, dtype=bool)


def _left_of(source: _Source, test: tuple[int, bool]) -> np.ndarray:
    """Cells that go left in a tree made anew."""
    if test[0] < 0:
        return _NONE
    goes, comes = source.sides[test[0]]
    return goes if test[1] else goes & ~comes


def _trees(decision: AdditiveTrees, cells: _Cells, largest: bool) -> AdditiveTrees:
    n_tests = len(decision.test_feature)
    sides = [_sides(decision.goes_left(test), cells.reach[int(decision.test_feature[test])]) for test in range(n_tests)]
    feature = np.array([cells.position[int(held)] for held in decision.test_feature], dtype=np.int64)
    source = _Source(decision.left, decision.right, decision.test, decision.value, feature, sides)
    divided = np.array([bool((goes & comes).any()) for goes, comes in sides] + [False])
    ends = [*decision.roots.tolist(), len(decision.left)]
    numbers: dict[tuple[int, bool], int] = {}
    roots: list[int] = []
    left: list[int] = []
    right: list[int] = []
    test: list[int] = []
    value: list[float] = []
    for begin, end in pairwise(ends):
        if divided[decision.test[begin:end]].any():
            made = source.grown(begin, end - begin, largest)
        else:
            made = _Grown(
                [one - begin if one >= 0 else -1 for one in decision.left[begin:end].tolist()],
                [one - begin if one >= 0 else -1 for one in decision.right[begin:end].tolist()],
                [(one, False) for one in decision.test[begin:end].tolist()],
                decision.value[begin:end].tolist(),
            )
        root = len(left)
        roots.append(root)
        left += [one + root if one >= 0 else -1 for one in made.left]
        right += [one + root if one >= 0 else -1 for one in made.right]
        test += [-1 if one[0] < 0 else numbers.setdefault(one, len(numbers)) for one in made.test]
        value += [held if one < 0 else 0.0 for held, one in zip(made.value, made.left, strict=True)]
    return _assembled(decision, cells, source, list(numbers), (roots, left, right, test), value)


def _assembled(
    decision: AdditiveTrees,
    cells: _Cells,
    source: _Source,
    tests: list[tuple[int, bool]],
    nodes: tuple[list[int], list[int], list[int], list[int]],
    value: list[float],
) -> AdditiveTrees:
    """Trees over the other domain; its cells are ranked where the model's are and no cell stands in the way."""
    ranks: list[np.ndarray | None] = [None] * len(cells.sizes)
    missing: list[int | None] = [None] * len(cells.sizes)
    for feature, place in cells.position.items():
        ranks[place], missing[place] = _ranked(decision, feature, cells.reach[feature])
    lefts = [_left_of(source, test) for test in tests]
    places = [int(source.feature[test]) for test, _ in tests]
    cuts, goes_missing = np.full(len(tests), -1), np.zeros(len(tests), dtype=bool)
    for i, (place, goes) in enumerate(zip(places, lefts, strict=True)):
        gap = missing[place]
        if ranks[place] is not None:
            cuts[i] = goes.sum() if gap is None else np.delete(goes, gap).sum()
            goes_missing[i] = gap is not None and goes[gap]
    roots, left, right, test = (np.array(held, dtype=np.int32) for held in nodes)
    return replace(
        decision, sizes=cells.sizes, roots=roots, left=left, right=right, test=test, value=np.array(value),
        test_feature=np.array(places, dtype=np.int32), test_cut=cuts.astype(np.int32), test_missing=goes_missing,
        test_cells=tuple(
            goes if ranks[place] is None else _NONE for goes, place in zip(lefts, places, strict=True)
        ),
        ranks=tuple(ranks), missing=tuple(missing),
    )  # fmt: skip


def _ranked(decision: AdditiveTrees, feature: int, touched: np.ndarray) -> tuple[np.ndarray | None, int | None]:
    """Ranks of cells such that every test cuts them in two, wherever those in doubt go, and the missing cell."""
    ranks, gap = decision.ranks[feature], decision.missing[feature]
    if ranks is None:
        return None, None
    absent = np.zeros(len(touched), dtype=bool) if gap is None else touched[:, gap]
    if absent.sum() > 1 or (absent & (touched.sum(axis=1) > 1)).any():
        return None, None
    low = np.where(touched, ranks, len(ranks) + 1).min(axis=1)
    high = np.where(touched, ranks, -1).max(axis=1)
    order = np.lexsort([high, low, absent])
    kept = order[: len(order) - int(absent.sum())]
    if (np.diff(high[kept]) < 0).any():
        return None, None
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.arange(len(order))
    return found, int(np.flatnonzero(absent)[0]) if absent.any() else None
