"""Find the most and the least favored of very many groups of a network, without listing them.

Where each feature depends on few sensitive columns, the features fall into parts that are independent given the group,
and each part knows a few columns only. So

- columns that no part of the model's features knows do not matter;
- of a sum of contributions, a part that is larger in distribution makes the sum larger: a column's value that makes
  every part that knows it at least as large as any other value does, whatever the other columns, belongs to the most
  favored group;
- of a tree, the best that a set of groups can do is at most what it could do if the columns were chosen anew at every
  test, which one walk through the tree finds; sets are split, best first, until no other can hold the extreme group.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from justicia.encoders.clauses import Clauses
from justicia.encoders.decisions import Tree
from justicia.encoders.linear_threshold import LinearThreshold
from justicia.population.networks.population import population_of
from justicia.solvers.base import TooLargeError
from justicia.words import counted, listed

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.population.domain import Feature
    from justicia.population.networks.elimination import Conditionals
    from justicia.population.networks.population import GivenNetwork

__all__ = ["MOST_CANDIDATES", "extreme_groups"]

MOST_CANDIDATES = 1 << 12
"""Groups that may be the extreme ones, and are then looked at one by one."""
_MOST_CHOICES = 1 << 12
"""Choices of the sensitive columns that one part knows."""
_MOST_POINTS = 20_000
"""Points of the features of one part."""
_MOST_NODES = 20_000
"""Of the tree that a rule is turned into."""
_MOST_SETS = 1_000_000
_AT_ONCE = 256
_EQUAL = 1e-12


def extreme_groups(
    conditionals: Conditionals,
    columns: Mapping[str, tuple[Feature, np.ndarray]],
    sensitive: Sequence[str],
    decision: Decision,
) -> np.ndarray:
    """States of the sensitive columns of groups among which the most and the least favored are.

    Parameters
    ----------
    conditionals : Conditionals
        Of the columns.
    columns : mapping of str to (Feature, int array of shape (n_cells,))
        The decision's features, in its order, and the state of each cell.
    sensitive : sequence of str
    decision : Decision
        Over the cells of the columns.

    Returns
    -------
    int array of shape (n_groups, n_sensitive)

    Raises
    ------
    TooLargeError
        When too many groups may be the extreme ones.
    """
    tree = decision.as_tree(_MOST_NODES) if isinstance(decision, Clauses) else decision
    parts = _parts(conditionals, columns, sensitive)
    known = {name for part in parts for name in part.sensitive}
    # Columns of which some values exclude each other are never chosen one by one.
    tied = {name for names, factor in conditionals.prior if (factor <= 0).any() for name in names}
    matter = [name for name in sensitive if name in known | tied]
    sizes = conditionals.sizes
    if math.prod(sizes[name] for name in matter) <= MOST_CANDIDATES:
        chosen = [_every({name: range(sizes[name]) for name in matter})]
    elif isinstance(decision, LinearThreshold):
        chosen = [_dominating(parts, decision, matter, tied, sizes, largest) for largest in (True, False)]
    elif isinstance(tree, Tree):
        search = _TreeSearch(conditionals, parts, tree, matter)
        chosen = [search.run(largest=largest) for largest in (True, False)]
    else:
        raise TooLargeError(
            f"the model's outcome hangs on {counted(len(matter), 'sensitive column')}, and the groups of so many are "
            "searched for trees, rules and linear models alone: name fewer with --sensitive"
        )
    found = np.zeros((sum(map(len, chosen)), len(sensitive)), dtype=np.int64)
    found[:, [list(sensitive).index(name) for name in matter]] = np.concatenate(chosen)
    found = np.unique(found, axis=0)
    codes = {name: found[:, place] for place, name in enumerate(sensitive)}
    return found[conditionals.shares(codes, len(found)) > 0]


def _every(states: Mapping[str, Sequence[int]]) -> np.ndarray:
    return np.array(list(product(*states.values())), dtype=np.int64).reshape(-1, len(states))


@dataclass(frozen=True)
class _Part:
    """Features that are independent of all others given the group.

    Attributes
    ----------
    features : tuple of int
        Positions in the decision.
    sensitive : tuple of str
        Columns that they depend on.
    choices : int array of shape (n_choices, n_sensitive)
        Every choice of their states.
    population : GivenNetwork
        Of the features, with one group a choice.
    """

    features: tuple[int, ...]
    sensitive: tuple[str, ...]
    choices: np.ndarray
    population: GivenNetwork

    def masses(self, boxes: Sequence[Mapping[int, np.ndarray]]) -> np.ndarray:
        """Probability of some boxes under each choice, of shape (n_boxes, n_choices)."""
        held: list[np.ndarray | None] = [None] * len(self.population.domain.features)
        for place, feature in enumerate(self.features):
            every = np.ones(self.population.domain.sizes[place], dtype=bool)
            held[place] = np.stack([box.get(feature, every) for box in boxes])
        return self.population.masses(held, len(boxes))


def _parts(
    conditionals: Conditionals, columns: Mapping[str, tuple[Feature, np.ndarray]], sensitive: Sequence[str]
) -> list[_Part]:
    by_name = {variable.name: variable for variable in conditionals.variables}
    needed: set[str] = set()
    for variable in reversed(conditionals.variables):
        if variable.name in columns or variable.name in needed:
            needed |= {variable.name, *variable.above}
    of: dict[str, set[str]] = {}
    for name in needed:
        together = {name}.union(*(of.get(one, {one}) for one in (name, *by_name[name].above)))
        for one in together:
            of[one] = together
    position = {name: place for place, name in enumerate(columns)}
    parts = []
    for names in {id(held): held for held in of.values()}.values():
        inside = tuple(variable for variable in conditionals.variables if variable.name in names)
        knows = {name for variable in inside for name in variable.sensitive}
        parts.append(_part(replace(conditionals, variables=inside), columns, names, position, sensitive, knows))
    alone = replace(conditionals, variables=())
    fixed = [name for name in columns if name in sensitive]
    return parts + [_part(alone, columns, {name}, position, sensitive, {name}) for name in fixed]


def _part(
    conditionals: Conditionals,
    columns: Mapping[str, tuple[Feature, np.ndarray]],
    names: set[str],
    position: Mapping[str, int],
    sensitive: Sequence[str],
    knows: set[str],
) -> _Part:
    held = {name: column for name, column in columns.items() if name in names}
    known = tuple(name for name in sensitive if name in knows)
    sizes = [conditionals.sizes[name] for name in known]
    if math.prod(sizes) > _MOST_CHOICES:
        raise TooLargeError(
            f"{listed(held, 5)} depend on one another, and together on {counted(len(known), 'sensitive column')} with "
            f"{counted(math.prod(sizes), 'group')}: more than {_MOST_CHOICES:,}; name fewer with --sensitive"
        )
    choices = _every({name: range(size) for name, size in zip(known, sizes, strict=True)})
    codes = {name: choices[:, place] for place, name in enumerate(known)}
    groups = tuple(tuple(map(str, choice)) for choice in choices.tolist())
    population = population_of(replace(conditionals, prior=()), held, known, groups, codes, {})
    return _Part(tuple(position[name] for name in held), known, choices, population)


def _dominating(
    parts: Sequence[_Part],
    decision: LinearThreshold,
    matter: Sequence[str],
    tied: set[str],
    sizes: Mapping[str, int],
    largest: bool,
) -> np.ndarray:
    """States of the columns that matter, of groups that may have the largest (or smallest) rate."""
    upwards = largest == decision.accepts_above
    below = [_cumulated(part, decision) for part in parts]
    left: dict[str, Sequence[int]] = {name: range(sizes[name]) for name in matter}
    for name in matter:
        if name in tied:
            continue
        knowing = [(part, held) for part, held in zip(parts, below, strict=True) if name in part.sensitive]
        for state in range(sizes[name]):
            if all(held is not None and _dominates(part, held, name, state, upwards) for part, held in knowing):
                left[name] = (state,)
                break
    if math.prod(map(len, left.values())) > MOST_CANDIDATES:
        open_columns = [name for name, states in left.items() if len(states) > 1]
        raise TooLargeError(
            f"of {listed(open_columns, 8)} no value is best whatever the others, and there are "
            f"{counted(math.prod(map(len, left.values())), 'choice')} of them, more than {MOST_CANDIDATES:,}: name "
            "fewer sensitive columns"
        )
    return _every(left)


def _cumulated(part: _Part, decision: LinearThreshold) -> np.ndarray | None:
    """Distribution function of the part's sum at each value it may take, of shape (n_values, n_choices)."""
    sizes = part.population.domain.sizes[: len(part.features)]
    if math.prod(sizes) > _MOST_POINTS:
        return None
    points = _every({str(place): range(size) for place, size in enumerate(sizes)})
    sums = np.zeros(len(points))
    for place, feature in enumerate(part.features):
        sums += decision.contributions[feature][points[:, place]]
    boxes = [
        {feature: np.arange(sizes[place]) == point[place] for place, feature in enumerate(part.features)}
        for point in points
    ]
    masses = part.masses(boxes)
    order = np.argsort(sums, kind="stable")
    cumulated = masses[order].cumsum(axis=0)
    # Sums that differ by no more than rounding are one value.
    last = np.append(np.diff(sums[order]) > decision.slack, True)
    return np.asarray(cumulated[last])


def _dominates(part: _Part, cumulated: np.ndarray, name: str, state: int, upwards: bool) -> bool:
    """Whether a column's state makes the part's sum as large (or small) as any other, whatever the other columns."""
    place = part.sensitive.index(name)
    code = np.zeros(len(part.choices), dtype=np.int64)
    for other in range(part.choices.shape[1]):
        code = code * (int(part.choices[:, other].max()) + 1) + np.where(other == place, 0, part.choices[:, other])
    mine = part.choices[:, place] == state
    at = {value: row for row, value in zip(np.flatnonzero(mine).tolist(), code[mine].tolist(), strict=True)}
    best = cumulated[:, [at[value] for value in code.tolist()]]
    return bool((best <= cumulated + _EQUAL).all() if upwards else (best >= cumulated - _EQUAL).all())


@dataclass(frozen=True)
class _Test:
    """An inner node of a tree: which part it asks, and the chance of going left under each choice of its columns."""

    part: int
    left: int
    right: int
    chance: np.ndarray
    """NaN where nobody comes here."""


class _TreeSearch:
    """Best-first search over choices of the sensitive columns."""

    def __init__(
        self, conditionals: Conditionals, parts: Sequence[_Part], decision: Tree, matter: Sequence[str]
    ) -> None:
        self._parts = parts
        self._conditionals = conditionals
        self._sizes = [conditionals.sizes[name] for name in matter]
        self._matter = list(matter)
        self._nodes: list[_Test | bool] = []
        self._walk(decision)
        self._columns = [[self._matter.index(name) for name in part.sensitive] for part in parts]

    def _walk(self, decision: Tree) -> None:
        """Nodes, children before parents."""
        part_of = {feature: place for place, part in enumerate(self._parts) for feature in part.features}
        asked: dict[int, tuple[int, list[dict[int, np.ndarray]]]] = {}
        links: list[tuple[int, int]] = []
        kinds: list[bool | None] = []

        stack: list[tuple[int, dict[int, np.ndarray], int, bool]] = [(0, {}, -1, True)]
        while stack:
            node, box, parent, is_left = stack.pop()
            number = len(kinds)
            links.append((-1, -1))
            if parent >= 0:
                left, right = links[parent]
                links[parent] = (number, right) if is_left else (left, number)
            if decision.outcomes[node] >= 0:
                kinds.append(bool(decision.outcomes[node]))
                continue
            kinds.append(None)
            feature = int(decision.feature[node])
            goes = decision.goes_left[node]
            inside = set(self._parts[part_of[feature]].features)
            here = {one: cells for one, cells in box.items() if one in inside}
            kept = goes & box[feature] if feature in box else goes
            asked[number] = part_of[feature], [here, {**here, feature: kept}]
            for child, cells, left_side in ((decision.right[node], ~goes, False), (decision.left[node], goes, True)):
                both = cells & box[feature] if feature in box else cells
                if both.any():
                    stack.append((int(child), {**box, feature: both}, number, left_side))
        chances = self._chances(asked)
        # Children were numbered after their parents.
        for number in range(len(kinds)):
            outcome = kinds[number]
            if outcome is not None:
                self._nodes.append(outcome)
            else:
                self._nodes.append(_Test(asked[number][0], *links[number], chances[number]))

    def _chances(self, asked: Mapping[int, tuple[int, list[dict[int, np.ndarray]]]]) -> dict[int, np.ndarray]:
        found: dict[int, np.ndarray] = {}
        for place, part in enumerate(self._parts):
            mine = [number for number, (of, _) in asked.items() if of == place]
            if not mine:
                continue
            masses = part.masses([box for number in mine for box in asked[number][1]]).reshape(len(mine), 2, -1)
            with np.errstate(invalid="ignore", divide="ignore"):
                chance = np.where(masses[:, 0] > 0, np.minimum(masses[:, 1] / masses[:, 0], 1.0), np.nan)
            found |= dict(zip(mine, chance, strict=True))
        return found

    def bounds(self, sets: np.ndarray, largest: bool) -> np.ndarray:
        """At least the largest (at most the smallest) rate of the groups in each set, exact where all is chosen.

        Parameters
        ----------
        sets : int array of shape (n_sets, n_columns)
            States of the columns; -1 where any may be chosen.
        largest : bool
        """
        fitting = [
            ((sets[:, None, columns] < 0) | (sets[:, None, columns] == part.choices[None])).all(axis=2)
            for part, columns in zip(self._parts, self._columns, strict=True)
        ]
        values: list[np.ndarray] = [np.zeros(0)] * len(self._nodes)
        nowhere = np.full(len(sets), 0.0 if largest else 1.0)
        for number in reversed(range(len(self._nodes))):
            node = self._nodes[number]
            if isinstance(node, bool):
                values[number] = np.full(len(sets), float(node))
                continue
            left = values[node.left] if node.left >= 0 else nowhere
            right = values[node.right] if node.right >= 0 else nowhere
            mixed = node.chance * left[:, None] + (1.0 - node.chance) * right[:, None]
            possible = fitting[node.part] & ~np.isnan(node.chance)
            if largest:
                values[number] = np.where(possible, mixed, 0.0).max(axis=1)
            else:
                values[number] = np.where(possible, mixed, 1.0).min(axis=1)
        return values[0]

    def run(self, *, largest: bool) -> np.ndarray:
        """States of the columns of the groups with the largest (or smallest) rate.

        Of groups whose rates are equal, some.
        """
        sign = -1.0 if largest else 1.0
        order = self._order(largest)
        root = np.full(len(self._matter), -1)
        heap: list[tuple[float, int, tuple[int, ...]]] = [
            (float(sign * self.bounds(root[None], largest)[0]), 0, tuple(root.tolist()))
        ]
        best, found, n_sets = math.inf, [], 0
        while heap and heap[0][0] < best - _EQUAL:
            # Of equally promising sets those of which most is chosen first.
            picked = [heapq.heappop(heap) for _ in range(min(_AT_ONCE, len(heap)))]
            picked = [one for one in picked if one[0] < best - _EQUAL]
            children = []
            for _, chosen, states in picked:
                place = order[-chosen]
                for state in range(self._sizes[place]):
                    child = list(states)
                    child[place] = state
                    children.append((chosen - 1, tuple(child)))
            n_sets += len(children)
            if n_sets > _MOST_SETS:
                raise TooLargeError(
                    f"the search among the groups has looked at {n_sets:,} sets of them without an end: name fewer "
                    "sensitive columns"
                )
            keys = sign * self.bounds(np.array([states for _, states in children]), largest)
            for key, (chosen, states) in zip(keys.tolist(), children, strict=True):
                if -chosen < len(order):
                    heapq.heappush(heap, (key, chosen, states))
                elif key < best and self._possible(states):
                    best, found = key, [states]
        return np.array(found, dtype=np.int64).reshape(-1, len(self._matter))

    def _order(self, largest: bool) -> list[int]:
        """Columns, those first of which a choice narrows the bound most."""
        narrowed = []
        for place, size in enumerate(self._sizes):
            sets = np.full((size, len(self._sizes)), -1)
            sets[:, place] = np.arange(size)
            held = self.bounds(sets, largest)
            narrowed.append(float(np.ptp(held)))
        return np.argsort(-np.array(narrowed), kind="stable").tolist()

    def _possible(self, states: Sequence[int]) -> bool:
        """Whether a group with these states has people."""
        chosen = dict(zip(self._matter, states, strict=True))
        codes = {name: np.array([chosen.get(name, 0)]) for names, _ in self._conditionals.prior for name in names}
        return bool(self._conditionals.shares(codes, 1)[0] > 0)
