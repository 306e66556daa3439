"""Random questions that are small enough to be answered by enumeration, and their answers.

Everything is enumerated by the definitions, in plain loops: neither the arithmetic of the engines nor that of the
populations and decisions is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia import population
from justicia.encoders.additive_trees import AdditiveTrees
from justicia.encoders.clauses import Clauses
from justicia.encoders.decisions import Tree
from justicia.encoders.linear_threshold import LinearThreshold
from justicia.population import Counts, Domain, EmpiricalPopulation, Feature, MixturePopulation
from justicia.ssat.clauses import EXISTS, RANDOM, Block, ClauseFormula

if TYPE_CHECKING:
    from collections.abc import Callable

    from justicia.encoders.decisions import Decision
    from justicia.population import Population

__all__ = ["FAMILIES", "Case", "enumerated", "random_case", "random_formula", "true_rates", "value_by_enumeration"]

FAMILIES = ("tree", "linear", "sum of trees", "rules")
_STRUCTURES = ("independent", "tree", "auto", "empirical")


@dataclass(frozen=True)
class Case:
    """A question with its answer.

    Attributes
    ----------
    name : str
    population : Population
    decision : Decision
    rates : float64 array of shape (n_groups,)
        By enumeration.
    """

    name: str
    population: Population
    decision: Decision
    rates: np.ndarray


def random_case(family: str, seed: list[int]) -> Case:
    """A population fitted to random people, and a random decision.

    Parameters
    ----------
    family : str
        One of `FAMILIES`.
    seed : list of int
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 6, size=int(rng.integers(2, 5))).tolist()
    structure = _STRUCTURES[int(rng.integers(len(_STRUCTURES)))]
    people = _population(rng, sizes, structure)
    decision = _DECISIONS[family](rng, sizes)
    return Case(f"{family}, {structure}", people, decision, true_rates(people, decision))


def true_rates(people: Population, decision: Decision) -> np.ndarray:
    """Probability of a favorable outcome in every group, by enumeration, float64 array of shape (n_groups,)."""
    points = [point for point in product(*map(range, decision.sizes)) if enumerated(decision, point)]
    return np.array([sum(_probability(people, group, point) for point in points) for group in range(people.n_groups)])


def _population(rng: np.random.Generator, sizes: list[int], structure: str) -> Population:
    n_groups = int(rng.integers(1, 5))
    numbers = np.append(np.arange(n_groups), rng.integers(n_groups, size=int(rng.integers(20, 400))))
    columns: list[np.ndarray] = []
    before = numbers
    for size in sizes:
        # Most people follow the column before, or their group.
        drawn = rng.integers(size, size=len(numbers))
        before = np.where(rng.random(len(numbers)) < rng.random(), before % size, drawn)
        columns.append(before)
    features = []
    for i, size in enumerate(sizes):
        labels = tuple(f"value {cell}" for cell in range(size))
        features.append(
            Feature(f"feature {i}", labels, labels, cells={label: cell for cell, label in enumerate(labels)})
        )
    keys = tuple((f"group {group}",) for group in range(n_groups))
    counts = Counts(keys, tuple(sizes), numbers, np.stack(columns, axis=1).astype(np.int32))
    return population.fit(structure, counts, Domain(tuple(features)), ("group",))


def _probability(people: Population, group: int, point: tuple[int, ...]) -> float:
    if isinstance(people, MixturePopulation):
        total = float(people.row_weights[group]) * _probability(people.rows, group, point)
        for one in range(people.n_classes):
            weight = float(people.weights[group, one])
            total += weight * _of_nodes(people.network.nodes, group * people.n_classes + one, point)
        return total
    if isinstance(people, EmpiricalPopulation):
        groups, points, numbers = people.support
        rows = [
            (tuple(cells), int(number))
            for of, cells, number in zip(groups.tolist(), points.tolist(), numbers.tolist(), strict=True)
            if of == group
        ]
        return sum(number for cells, number in rows if cells == point) / sum(number for _, number in rows)
    return _of_nodes(people.nodes, group, point)


def _of_nodes(nodes: tuple[Any, ...], group: int, point: tuple[int, ...]) -> float:
    """The product of the tables' entries."""
    states = {node.feature: node.states for node in nodes}
    total = 1.0
    for node in nodes:
        cell = point[node.feature]
        above = 0
        for parent in node.parents:
            above = above * (int(states[parent].max()) + 1) + int(states[parent][point[parent]])
        total *= float(node.table[group, above, node.states[cell]])
        if node.within is not None:
            total *= float(node.within[group, cell])
    return total


def enumerated(decision: Decision, point: tuple[int, ...]) -> bool:
    """The outcome of one point, by the definition of each kind of decision."""
    if isinstance(decision, Tree):
        node = 0
        while decision.feature[node] >= 0:
            goes_left = decision.goes_left[node][point[decision.feature[node]]]
            node = int(decision.left[node] if goes_left else decision.right[node])
        return bool(decision.accepts[node])
    if isinstance(decision, LinearThreshold):
        score = decision.base + sum(float(one[cell]) for one, cell in zip(decision.contributions, point, strict=True))
        return (score > decision.threshold) == decision.accepts_above
    if isinstance(decision, Clauses):
        return all(any(cells[point[feature]] for feature, cells in one.items()) for one in decision.clauses)
    if isinstance(decision, AdditiveTrees):
        score = decision.base
        for root in decision.roots.tolist():
            node = root
            while decision.test[node] >= 0:
                test = int(decision.test[node])
                goes_left = decision.test_cells[test][point[decision.test_feature[test]]]
                node = int(decision.left[node] if goes_left else decision.right[node])
            score += float(decision.value[node])
        return (score > decision.threshold) == decision.accepts_above
    raise TypeError(f"no enumeration of a {type(decision).__name__}")


def _shape(rng: np.random.Generator, most_leaves: int) -> tuple[list[int], list[int]]:
    """Children of the nodes of a random tree, -1 at leaves."""
    left, right, leaves = [-1], [-1], [0]
    for _ in range(int(rng.integers(0, most_leaves))):
        node = leaves.pop(int(rng.integers(len(leaves))))
        left[node], right[node] = len(left), len(left) + 1
        leaves += [len(left), len(left) + 1]
        left += [-1, -1]
        right += [-1, -1]
    return left, right


def _tree(rng: np.random.Generator, sizes: list[int]) -> Tree:
    left, right = _shape(rng, 10)
    inner = np.array(left) >= 0
    feature = np.where(inner, rng.integers(len(sizes), size=len(left)), -1)
    goes = tuple(rng.random(sizes[one]) < 0.5 if one >= 0 else np.zeros(0, dtype=bool) for one in feature.tolist())
    return Tree(tuple(sizes), np.array(left), np.array(right), feature, goes, rng.random(len(left)) < 0.5)


def _linear(rng: np.random.Generator, sizes: list[int]) -> LinearThreshold:
    # No sum of thousandths is the threshold.
    parts = tuple(np.round(rng.normal(size=size), 3) for size in sizes)
    base = float(np.round(rng.normal(), 3)) + 0.0005
    return LinearThreshold(parts, base, 0.0, bool(rng.random() < 0.5), 1e-12)


def _rules(rng: np.random.Generator, sizes: list[int]) -> Clauses:
    clauses = []
    for _ in range(int(rng.integers(1, 5))):
        chosen = rng.choice(len(sizes), size=int(rng.integers(1, len(sizes) + 1)), replace=False)
        clauses.append({int(one): rng.random(sizes[one]) < 0.5 for one in chosen})
    return Clauses(tuple(sizes), tuple(clauses))


def _sum_of_trees(rng: np.random.Generator, sizes: list[int]) -> AdditiveTrees:
    roots: list[int] = []
    left: list[int] = []
    right: list[int] = []
    test: list[int] = []
    value: list[float] = []
    features: list[int] = []
    cells: list[np.ndarray] = []
    for _ in range(int(rng.integers(1, 6))):
        lower, upper = _shape(rng, 6)
        roots.append(len(left))
        for node, child in enumerate(lower):
            left.append(child + roots[-1] if child >= 0 else -1)
            right.append(upper[node] + roots[-1] if child >= 0 else -1)
            test.append(len(features) if child >= 0 else -1)
            value.append(0.0 if child >= 0 else float(np.round(rng.normal(), 3)))
            if child >= 0:
                features.append(int(rng.integers(len(sizes))))
                cells.append(rng.random(sizes[features[-1]]) < 0.5)
    n_tests = len(features)
    return AdditiveTrees(
        tuple(sizes), np.array(roots, dtype=np.int32), np.array(left, dtype=np.int32), np.array(right, dtype=np.int32),
        np.array(test, dtype=np.int32), np.array(value), np.array(features, dtype=np.int32),
        np.full(n_tests, -1, dtype=np.int32), np.zeros(n_tests, dtype=bool), tuple(cells),
        float(np.round(rng.normal(), 3)) + 0.0005, 0.0, bool(rng.random() < 0.5), 1e-9,
        (None,) * len(sizes), (None,) * len(sizes),
    )  # fmt: skip


_DECISIONS: dict[str, Callable[[np.random.Generator, list[int]], Decision]] = {
    "tree": _tree,
    "linear": _linear,
    "sum of trees": _sum_of_trees,
    "rules": _rules,
}


def random_formula(seed: list[int]) -> ClauseFormula:
    """A formula with any prefix, of a dozen variables at most."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    variables = (rng.permutation(n) + 1).tolist()
    letters = ("ear", "er", "re", "r", "ar")[int(rng.integers(5))]
    prefix: list[Block] = []
    while variables:
        quantifier = letters[int(rng.integers(len(letters)))]
        size = int(rng.integers(1, 5))
        chance = Fraction(int(rng.integers(0, 21)), 20) if quantifier == RANDOM else None
        prefix.append(Block(quantifier, tuple(variables[:size]), chance))
        variables = variables[size:]
    clauses = []
    for _ in range(int(rng.integers(0, 2 * n))):
        chosen = rng.choice(n, size=min(n, int(rng.integers(1, 5))), replace=False) + 1
        clauses.append(tuple(int(one) * (1 if rng.random() < 0.5 else -1) for one in chosen))
    return ClauseFormula(tuple(prefix), tuple(clauses))


def value_by_enumeration(formula: ClauseFormula) -> float:
    """The value of a formula, by its definition."""
    order = [(variable, block) for block in formula.prefix for variable in block.variables]

    def value(position: int, held: dict[int, bool]) -> float:
        if position == len(order):
            return float(all(any(held[abs(one)] == (one > 0) for one in clause) for clause in formula.clauses))
        variable, block = order[position]
        both = [value(position + 1, {**held, variable: truth}) for truth in (False, True)]
        if block.probability is not None:
            return float(block.probability) * both[1] + float(1 - block.probability) * both[0]
        return max(both) if block.quantifier == EXISTS else min(both)

    return value(0, {})
