"""Find the most and the least favored of very many groups of a network, without listing them.

Where each feature depends on few sensitive columns, the features fall into parts that are independent given the group,
and each part knows a few columns only. So

- columns that no part of the model's features knows do not matter;
- of a sum of contributions, a part that is larger in distribution makes the sum larger: a column's value that makes
  every part that knows it at least as large as any other value does, whatever the other columns, belongs to the most
  favored group;
- of a tree, the best that a set of groups can do is at most what it could do if the columns were chosen anew at every
  test, which one walk through the tree finds; sets are split, best first, until no other can hold the extreme group.

When time runs out, what is found by then is the answer, with bounds of the rates of all groups that are left.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from justicia.enclosure import Enclosure
from justicia.encoders.decisions import Tree
from justicia.encoders.linear_threshold import LinearThreshold
from justicia.population.networks.population import population_of
from justicia.solvers.base import TooLargeError
from justicia.solvers.group_search import EQUAL, TreeSearch
from justicia.words import counted, listed

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.population.domain import Feature
    from justicia.population.networks.elimination import Conditionals
    from justicia.population.networks.population import GivenNetwork

__all__ = ["MOST_CANDIDATES", "Part", "Searched", "extreme_groups"]

MOST_CANDIDATES = 1 << 12
"""Groups that may be the extreme ones, and are then looked at one by one."""
_MOST_CHOICES = 1 << 12
"""Choices of the sensitive columns that one part knows."""
_MOST_POINTS = 20_000
"""Points of the features of one part."""


class _TimeError(Exception):
    """Raised when time has run out."""


@dataclass(frozen=True)
class Searched:
    """What a search among groups has found.

    Attributes
    ----------
    groups : int array of shape (n_groups, n_sensitive)
        States of the sensitive columns of groups among which the most and the least favored are.
    rest : Enclosure or None
        When time ran out: holds the rates of all groups that are not among these. None: the extremes are.
    """

    groups: np.ndarray
    rest: Enclosure | None = None


def extreme_groups(
    conditionals: Conditionals,
    columns: Mapping[str, tuple[Feature, np.ndarray]],
    sensitive: Sequence[str],
    decision: Decision,
    time_limit: float | None = None,
) -> Searched:
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
    time_limit : float, optional
        Seconds.

    Returns
    -------
    Searched

    Raises
    ------
    TooLargeError
        When too many groups may be the extreme ones.
    """
    deadline = math.inf if time_limit is None else time.perf_counter() + time_limit
    parts = _parts(conditionals, columns, sensitive)
    known = {name for part in parts for name in part.sensitive}
    # Columns of which some values exclude each other are never chosen one by one.
    tied = {name for names, factor in conditionals.prior if (factor <= 0).any() for name in names}
    matter = [name for name in sensitive if name in known | tied]
    sizes = conditionals.sizes
    rest = None
    if math.prod(sizes[name] for name in matter) <= MOST_CANDIDATES:
        chosen = [_every({name: range(sizes[name]) for name in matter})]
    elif isinstance(decision, LinearThreshold):
        try:
            chosen = [_dominating(parts, decision, matter, tied, sizes, largest, deadline) for largest in (True, False)]
        except _TimeError:
            chosen, rest = [np.zeros((0, len(matter)), dtype=np.int64)], Enclosure(0.0, 1.0)
    elif isinstance(decision, Tree):
        chosen, rest = _searched_tree(conditionals, parts, decision, matter, deadline)
    else:
        raise TooLargeError(
            f"the model's outcome hangs on {counted(len(matter), 'sensitive column')}, and the groups of so many are "
            "searched for trees and linear models alone: name fewer with --sensitive"
        )
    found = np.zeros((sum(map(len, chosen)), len(sensitive)), dtype=np.int64)
    found[:, [list(sensitive).index(name) for name in matter]] = np.concatenate(chosen)
    found = np.unique(found, axis=0)
    codes = {name: found[:, place] for place, name in enumerate(sensitive)}
    return Searched(found[conditionals.shares(codes, len(found)) > 0], rest)


def _searched_tree(
    conditionals: Conditionals, parts: Sequence[Part], decision: Tree, matter: Sequence[str], deadline: float
) -> tuple[list[np.ndarray], Enclosure | None]:
    search = TreeSearch(conditionals, parts, decision, matter)
    half = deadline - (deadline - time.perf_counter()) / 2 if math.isfinite(deadline) else deadline
    highest = search.run(largest=True, deadline=half)
    lowest = search.run(largest=False, deadline=deadline)
    rest = None
    if not (highest.finished and lowest.finished):
        rest = Enclosure(max(lowest.bound - EQUAL, 0.0), min(highest.bound + EQUAL, 1.0))
    return [highest.groups, lowest.groups], rest


def _every(states: Mapping[str, Sequence[int]]) -> np.ndarray:
    return np.array(list(product(*states.values())), dtype=np.int64).reshape(math.prod(map(len, states.values())), -1)


@dataclass(frozen=True)
class Part:
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
) -> list[Part]:
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
) -> Part:
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
    return Part(tuple(position[name] for name in held), known, choices, population)


def _dominating(
    parts: Sequence[Part],
    decision: LinearThreshold,
    matter: Sequence[str],
    tied: set[str],
    sizes: Mapping[str, int],
    largest: bool,
    deadline: float,
) -> np.ndarray:
    """States of the columns that matter, of groups that may have the largest (or smallest) rate."""
    upwards = largest == decision.accepts_above
    below = []
    for part in parts:
        _check_time(deadline)
        below.append(_cumulated(part, decision))
    left: dict[str, Sequence[int]] = {name: range(sizes[name]) for name in matter}
    for name in matter:
        _check_time(deadline)
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


def _check_time(deadline: float) -> None:
    if time.perf_counter() > deadline:
        raise _TimeError


def _cumulated(part: Part, decision: LinearThreshold) -> np.ndarray | None:
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


def _dominates(part: Part, cumulated: np.ndarray, name: str, state: int, upwards: bool) -> bool:
    """Whether a column's state makes the part's sum as large (or small) as any other, whatever the other columns."""
    place = part.sensitive.index(name)
    code = np.zeros(len(part.choices), dtype=np.int64)
    for other in range(part.choices.shape[1]):
        code = code * (int(part.choices[:, other].max()) + 1) + np.where(other == place, 0, part.choices[:, other])
    mine = part.choices[:, place] == state
    at = {value: row for row, value in zip(np.flatnonzero(mine).tolist(), code[mine].tolist(), strict=True)}
    best = cumulated[:, [at[value] for value in code.tolist()]]
    return bool((best <= cumulated + EQUAL).all() if upwards else (best >= cumulated - EQUAL).all())
