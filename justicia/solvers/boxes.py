"""Tree ensembles over a population as plain arrays, and the boxes that branch and bound holds open."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from justicia.solvers import _sampling_kernels as kernels
from justicia.solvers._box_kernels import prioritize
from justicia.solvers.leaf_sets import LeafSets
from justicia.solvers.top_nodes import TopNodes

if TYPE_CHECKING:
    from justicia.encoders.additive_trees import AdditiveTrees
    from justicia.population.network import NetworkPopulation

__all__ = ["Boxes", "Problem"]

_SAMPLED_AT_ONCE = 4096
"""Boxes whose open trees are looked up together."""
_MOST_WORDS = 1 << 15
"""Of sets in place of cuts."""


@dataclass
class Boxes:
    """Boxes, one a row of every array.

    Attributes
    ----------
    cells : int32 array of shape (n, 3 * n_features)
        First rank, end of the ranks, and whether the missing cell is inside, of ranked features.
    words : uint64 array of shape (n, n_words)
        Cells of the other features.
    mass : float64 array of shape (n, n_groups)
    numbers : float64 array of shape (n, 3)
        Least score, largest score, sum of what is settled and no longer held.
    counts : int32 array of shape (n, 4)
        Trees that are open, splits so far, outcome; the test to split at, where `LeafSets` have found it.
    trees : array of shape (n, width)
        What each tree has within reach, as `LeafSets` or `TopNodes` have it.
    """

    cells: np.ndarray
    words: np.ndarray
    mass: np.ndarray
    numbers: np.ndarray
    counts: np.ndarray
    trees: np.ndarray

    @classmethod
    def empty(cls, n: int, n_features: int, n_words: int, n_groups: int, trees: np.ndarray) -> Boxes:
        """Room for `n` boxes, whose trees are held like the row given."""
        return cls(
            np.zeros((n, 3 * n_features), np.int32),
            np.zeros((n, n_words), np.uint64),
            np.zeros((n, n_groups)),
            np.zeros((n, 3)),
            np.zeros((n, 4), np.int32),
            np.zeros((n, len(trees)), trees.dtype),
        )

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """All arrays, in the order in which the loops take them."""
        return self.cells, self.words, self.mass, self.numbers, self.counts, self.trees

    @property
    def outcome(self) -> np.ndarray:
        """Outcome of each box."""
        return self.counts[:, 2]

    def __len__(self) -> int:
        return len(self.mass)

    @property
    def bytes_a_box(self) -> int:
        """Memory of one box."""
        return sum(array[:1].nbytes for array in self.arrays)

    def grown(self, n: int) -> Boxes:
        """The same with room for `n` boxes."""
        held = []
        for array in self.arrays:
            wider = np.zeros((n, *array.shape[1:]), array.dtype)
            wider[: len(array)] = array
            held.append(wider)
        return Boxes(*held)

    def move(self, which: np.ndarray, rows: np.ndarray) -> None:
        """Put some boxes into other rows."""
        for array in self.arrays:
            array[rows] = array[which]


class Problem:
    """An ensemble and some groups of a population, ready for the loops.

    Parameters
    ----------
    decision : AdditiveTrees
    population : NetworkPopulation
    groups : slice
        Which of its groups.
    """

    def __init__(self, decision: AdditiveTrees, population: NetworkPopulation, groups: slice) -> None:
        self.n_groups = len(range(*groups.indices(population.n_groups)))
        rows = float(population.sizes.sum())
        # Of a population that was not fitted on rows, every group counts in full.
        self.shares = population.sizes[groups] / rows if rows > 0 else np.ones(self.n_groups)
        self.rule = np.array([decision.threshold, decision.slack, decision.base])
        ranked = np.array([ranks is not None for ranks in decision.ranks], dtype=np.int64)
        missing = np.array([cell is not None for cell in decision.missing], dtype=np.int64)
        sizes = np.array(decision.sizes, dtype=np.int64)
        ends = np.cumsum(np.where(ranked == 1, 0, (sizes + 63) // 64))
        starts = np.concatenate([[0], ends])[:-1].astype(np.int64)
        self.n_words = int(ends[-1]) if len(ends) else 0
        self.shape = np.stack([ranked, sizes - missing, missing, starts, ends], axis=1).astype(np.int64)
        # Cells by rank, where there are ranks.
        self._order = [
            np.arange(size) if ranks is None else np.argsort(ranks)
            for size, ranks in zip(decision.sizes, decision.ranks, strict=True)
        ]
        self.tests, self.masks = _tests(decision, starts)
        self.trees = LeafSets(decision, self.tests) if LeafSets.takes(decision) else TopNodes(decision, self.tests)
        self._leaves = self.trees.leaves
        self._steps, self._sets = _steps(decision, self.tests, self.masks, self.shape)
        self._population(population, groups)

    def _population(self, population: NetworkPopulation, groups: slice) -> None:
        nodes = list(reversed(population.nodes))
        position = {node.feature: i for i, node in enumerate(nodes)}
        has_children = {parent for node in nodes for parent in node.parents}
        layout = np.zeros((len(nodes), 6), dtype=np.int64)
        tables = [np.zeros((self.n_groups, 0))]
        states, members, withins = [np.zeros((0, 4), np.int64)], [np.zeros(0, np.int64)], [np.zeros((self.n_groups, 0))]
        n_numbers = n_states = n_members = 0
        for i, node in enumerate(nodes):
            table, state = node.table[groups], node.states
            share = None if node.within is None else node.within[groups]
            if not node.parents and node.feature not in has_children:
                # One state, whose cells have the probabilities of the feature itself.
                share = table[:, 0, state] if share is None else table[:, 0, state] * share
                table, state = np.ones((self.n_groups, 1, 1)), np.zeros(len(state), dtype=np.int64)
            rank = np.empty(len(state), dtype=np.int64)
            rank[self._order[node.feature]] = np.arange(len(state))
            order = np.lexsort([rank, state])
            ends = np.searchsorted(state[order], np.arange(table.shape[2] + 1))
            held = rank[order]
            layout[i] = (
                node.feature, position[node.parents[0]] if node.parents else -1, table.shape[2], table.shape[1],
                n_numbers, n_states,
            )  # fmt: skip
            # A state without cells keeps nothing, wherever the box lies.
            extremes = [(held[a], held[b - 1]) if a < b else (-1, -1) for a, b in pairwise(ends.tolist())]
            states.append(np.column_stack([n_members + ends[:-1], n_members + ends[1:], extremes]))
            members.append(held)
            tables.append(table.transpose(0, 2, 1).reshape(self.n_groups, -1))
            withins.append(np.ones((self.n_groups, len(state))) if share is None else share[:, order])
            n_numbers, n_states, n_members = (
                n_numbers + tables[-1].shape[1],
                n_states + len(extremes),
                n_members + len(held),
            )
        self.population = (
            self.shape, layout, np.concatenate(states), np.concatenate(members),
            np.concatenate(tables, axis=1), np.concatenate(withins, axis=1),
        )  # fmt: skip

    def _empty(self, n: int) -> Boxes:
        return Boxes.empty(n, len(self.shape), self.n_words, self.n_groups, self.trees.root)

    def root(self) -> Boxes:
        """The box of everything."""
        boxes = self._empty(1)
        for feature, (ranked, size, missing, start, end) in enumerate(self.shape):
            if ranked:
                boxes.cells[0, 3 * feature : 3 * feature + 3] = 0, size, missing
            else:
                boxes.words[0, start:end] = _words(np.ones(size, dtype=bool))
        boxes.mass[0] = 1.0
        boxes.numbers[0] = -np.inf, np.inf, self.rule[2]
        boxes.counts[0, 0] = self.trees.n_trees
        boxes.trees[0] = self.trees.root
        self.trees.prepare(boxes, self.tests, self.masks, self.population, self.rule)
        return boxes

    def expand(
        self,
        boxes: Boxes,
        priority: np.ndarray,
        n_boxes: int,
        chosen: np.ndarray,
        weights: np.ndarray,
        pool: ThreadPoolExecutor,
        n_threads: int,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Split boxes; an open half takes the place of its box, a second one a row after the first `n_boxes`.

        Parameters
        ----------
        boxes : Boxes
            With room for as many more as are chosen.
        priority : float64 array of shape (len(boxes),)
            Is set for every open half.
        n_boxes : int
        chosen : int array of shape (n,)
        weights : float64 array of shape (n_groups,)
            What the mass of a group counts in the priority.

        Returns
        -------
        totals : float64 array of shape (3, n_groups)
            Mass found above the threshold, below it, and within rounding of it.
        alive : bool array of shape (n_boxes + n,)
            Which rows hold open boxes now.
        """
        rows = np.ascontiguousarray(chosen, dtype=np.int64)
        gone = np.zeros(len(rows), dtype=np.bool_)
        alive = np.ones(n_boxes + len(rows), dtype=bool)

        def run(part: np.ndarray) -> np.ndarray:
            totals = np.zeros((3, self.n_groups))
            begin, end = int(part[0]), int(part[-1]) + 1
            taken = self.trees.expand(
                begin, end, rows, n_boxes + begin, boxes.arrays, self._empty(2).arrays, self.trees.arrays,
                self.tests, self.masks, self.population, self.rule, weights, priority, totals, gone,
            )  # fmt: skip
            alive[n_boxes + begin + taken : n_boxes + end] = False
            return totals

        parts = [part for part in np.array_split(np.arange(len(rows)), n_threads) if len(part)]
        totals = np.sum(list(pool.map(run, parts)), axis=0)
        alive[rows[gone]] = False
        return totals, alive

    def prioritize(self, boxes: Boxes, n_boxes: int, weights: np.ndarray, priority: np.ndarray) -> None:
        """Set the priority of the first boxes anew."""
        prioritize(n_boxes, boxes.arrays, self.rule, weights, priority)

    def sample(
        self, boxes: Boxes, chosen: np.ndarray, counts: np.ndarray, group: int, rng: np.random.Generator
    ) -> np.ndarray:
        """Outcomes of people drawn inside boxes: 1 above the threshold, 0 below, 2 within rounding of it.

        Parameters
        ----------
        chosen, counts : int array of shape (n,)
            Boxes, and how many people to draw in each.
        """
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        uniforms = rng.random((int(first[-1]), 2 * len(self.population[1])))
        verdict = np.zeros(int(first[-1]), dtype=np.int8)
        for begin in range(0, len(chosen), _SAMPLED_AT_ONCE):
            some = np.ascontiguousarray(chosen[begin : begin + _SAMPLED_AT_ONCE], dtype=np.int64)
            kernels.sample(
                some, first[begin : begin + len(some) + 1], uniforms, group, boxes.arrays,
                *self.trees.starts(boxes, some, self.rule[2]), self._steps, self._leaves, self._sets, self.population,
                self.rule, verdict,
            )  # fmt: skip
        return verdict


def _steps(
    decision: AdditiveTrees, tests: np.ndarray, masks: np.ndarray, shape: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What a person needs to know at each node, see `_sampling_kernels`, and the sets that decide there.

    Cuts become sets as well, unless there are too many cells: what is the same at every node is soon foreseen.
    """
    ranked = np.flatnonzero(tests[:, 1] >= 0)
    sizes = shape[tests[ranked, 0], 1] + shape[tests[ranked, 0], 2]
    tests, sets = tests[:, :4].copy(), [masks]
    if ((sizes + 63) // 64).sum() <= _MOST_WORDS:
        begin = len(masks)
        for test, size in zip(ranked.tolist(), sizes.tolist(), strict=True):
            feature, cut, missing_left = tests[test, :3]
            cells = np.arange(size) < cut
            if shape[feature, 2]:
                cells[-1] = missing_left
            sets.append(_words(cells))
            tests[test, 1], tests[test, 3] = -1, begin
            begin += len(sets[-1])
    inner = decision.test >= 0
    feature, cut, missing, begin_of = tests[np.where(inner, decision.test, 0)].T
    other = np.where(cut < 0, begin_of, missing)
    steps = np.stack([decision.left, decision.right, np.where(inner, feature, -1), cut, other], axis=1)
    return steps.astype(np.int32), np.concatenate(sets)


def _tests(decision: AdditiveTrees, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    tests = np.zeros((max(len(decision.test_feature), 1), 6), dtype=np.int64)
    masks = [np.zeros(1, dtype=np.uint64)]
    begin = 1
    for test, feature in enumerate(decision.test_feature.tolist()):
        tests[test, :3] = feature, decision.test_cut[test], decision.test_missing[test]
        if decision.ranks[feature] is None:
            masks.append(_words(decision.test_cells[test]))
            tests[test, 3:] = begin, len(masks[-1]), starts[feature]
            begin += len(masks[-1])
    return tests, np.concatenate(masks)


def _words(cells: np.ndarray) -> np.ndarray:
    """A set of cells as 64-bit words, lowest bit first."""
    padded = np.zeros((len(cells) + 63) // 64 * 64, dtype=bool)
    padded[: len(cells)] = cells
    return np.packbits(padded, bitorder="little").view(np.uint64)
