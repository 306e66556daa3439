"""A stated network whose numeric variables stay what they are: densities given the states of the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.population.base import Boxes, Node, Population
from justicia.population.coarsening import possible_cells
from justicia.population.domain import Domain, Feature
from justicia.population.networks.gaussians import Component, Single, pair_masses, scope_of
from justicia.population.networks.people import choices, drawn_numbers

if TYPE_CHECKING:
    from justicia.population.networks.declared import Network
    from justicia.population.networks.population import GivenNetwork

__all__ = ["MixedNetwork", "spelled"]

_AT_ONCE = 1 << 13
_ACCURACY = 1e-5
"""Error that is asked of scipy's multivariate normal."""


def spelled(network: Network) -> str | None:
    """The densities of a network in words; None when it has none."""
    kinds: dict[str, list[str]] = {}
    for name, variable in network.numeric.items():
        kinds.setdefault(variable.kind, []).append(name)
    return "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items()) or None


def _seeded(function: Callable[..., Any], seed: list[int]) -> dict[str, Any]:
    """The generator for an integral by sampling, where this version of scipy takes one (1.16)."""
    return {"rng": np.random.default_rng(seed)} if "rng" in signature(function).parameters else {}


class MixedNetwork(Population):
    """A population that somebody states, with densities.

    Parameters
    ----------
    base : GivenNetwork
        Of the variables with states that matter.
    network : Network
    components : sequence of Component or Single
        The numeric variables that matter.
    features : mapping of str to Feature
        Of these, as a model cuts them.
    columns : mapping of str to (Feature, int array of shape (n_cells,))
        Of the base, with the state of each cell.
    """

    structure = "network"

    def __init__(
        self,
        base: GivenNetwork,
        network: Network,
        components: Sequence[Component | Single],
        features: Mapping[str, Feature],
        columns: Mapping[str, tuple[Feature, np.ndarray]],
    ) -> None:
        self.base, self.network, self.components = base, network, tuple(components)
        names = [name for one in components for name in one.names]
        self.numeric = tuple(features[name] for name in names)
        self.domain = Domain((*base.domain.features[: base.n_columns], *self.numeric))
        self.sensitive, self.groups, self.sizes = base.sensitive, base.groups, base.sizes
        self.fixed = base.fixed
        self._columns = columns
        self._place = {name: place for place, name in enumerate(self.domain.names)}
        self._tables: dict[tuple[str, ...], np.ndarray] = {}
        self._found: dict[tuple[tuple[str, ...], bytes, int], np.ndarray] = {}

    @property
    def description(self) -> str:
        """What was given, in words."""
        return f"{self.base.description}; {spelled(self.network)}"

    @property
    def shares(self) -> np.ndarray:
        """Probability of each group among the groups."""
        return self.base.shares

    @property
    def parents(self) -> dict[str, list[str]]:
        """Parents of the columns, as the network states them."""
        held = {feature.name: list(self.network.numeric[feature.name].parents) for feature in self.numeric}
        return self.base.parents | {name: parents for name, parents in held.items() if parents}

    @property
    def nodes(self) -> tuple[Node, ...]:
        """None: densities are no tables."""
        return ()

    def possible(self) -> list[np.ndarray]:
        """For each feature, which cells have people in some group."""
        held = possible_cells(self.base)[: self.base.n_columns]
        return [*held, *(np.ones(len(feature), dtype=bool) for feature in self.numeric)]

    def together(self, places: Sequence[int], boxes: Boxes | None = None) -> tuple[np.ndarray, np.ndarray]:
        """How likely cells of some features of the base are together.

        Parameters
        ----------
        places : sequence of int
            Features.
        boxes : sequence of (bool array of shape (1, n_cells), or None), optional
            Conditions on features of the domain; those on numeric ones are not looked at.

        Returns
        -------
        cells : int array of shape (n, n_places)
            Those that are possible in some group.
        masses : float64 array of shape (n, n_groups)
        """
        sizes = [len(self.domain.features[place]) for place in places]
        n_base = len(self.base.domain.features)
        held = [None] * n_base if boxes is None else list(boxes[: self.base.n_columns])
        held += [None] * (n_base - len(held))
        every = np.array(np.unravel_index(np.arange(math.prod(sizes)), sizes)).T if places else np.zeros((1, 0), int)
        kept, masses = [], []
        for start in range(0, len(every), _AT_ONCE):
            part = every[start : start + _AT_ONCE]
            asked: list[np.ndarray | None] = [
                None if one is None else np.repeat(one, len(part), axis=0) for one in held
            ]
            for at, place in enumerate(places):
                chosen = part[:, at, None] == np.arange(sizes[at])
                old = asked[place]
                asked[place] = chosen if old is None else chosen & old
            found = self.base.masses(asked, len(part))
            some = found.any(axis=1)
            kept.append(part[some])
            masses.append(found[some])
        return np.concatenate(kept), np.concatenate(masses)

    @property
    def scope(self) -> list[int]:
        """Features of the base whose states numeric variables depend on."""
        return [self._place[name] for name in scope_of(self.components)]

    def choice(self, one: Component | Single, places: Sequence[int], cells: np.ndarray) -> np.ndarray:
        """Which choice of a component's states goes with each row of cells of some features."""
        at = {self.domain.names[place]: column for column, place in enumerate(places)}
        states = {name: self._columns[name][1][cells[:, at[name]]] for name in one.scope}
        return choices(self.network, one, states, len(cells))

    def masses(self, boxes: Boxes, n_boxes: int) -> np.ndarray:
        """Probability of each box in each group, float64 array of shape (n_boxes, n_groups)."""
        return np.stack([self.mass_of([None if b is None else b[i] for b in boxes]) for i in range(n_boxes)])

    def mass_of(self, box: Sequence[np.ndarray | None], seed: int = 0, *, outer: bool = False) -> np.ndarray:
        """Probability of one box in each group, float64 array of shape (n_groups,).

        Parameters
        ----------
        box : sequence of (bool array of shape (n_cells,), or None)
        seed : int
            Of the estimate of three and more normal variables that hang together.
        outer : bool
            Certainly no less, without an estimate.
        """
        held = [None if one is None else one[None] for one in box]
        places = self.scope
        cells, masses = self.together(places, held)
        share = np.ones(len(cells))
        for one in self.components:
            masks = self._conditions(one, box)
            if masks:
                choice = self.choice(one, places, cells)
                share *= self._inside(one, masks, seed, outer, np.unique(choice))[choice]
        return np.asarray(share @ masses)

    def estimated(self, box: Sequence[np.ndarray | None]) -> bool:
        """Whether the probability of a box is an estimate: three normal variables or more have a condition together."""
        return any(len(self._conditions(one, box)) > 2 for one in self.components)

    def _conditions(self, one: Component | Single, box: Sequence[np.ndarray | None]) -> dict[str, np.ndarray]:
        """Conditions on numbers of a component."""
        held = {name: box[self._place[name]] for name in one.names}
        return {name: mask for name, mask in held.items() if mask is not None and not mask.all()}

    def _inside(
        self, one: Component | Single, masks: Mapping[str, np.ndarray], seed: int, outer: bool, wanted: np.ndarray
    ) -> np.ndarray:
        """Probability that a component's numbers are in some cells, for every choice of its scope's states."""
        names = tuple(masks)
        if isinstance(one, Single):
            return np.asarray(self._table(one, names) @ masks[names[0]])
        if len(names) <= 2:
            table = self._table(_of(one, names), names)
            for name in reversed(names):
                table = table @ masks[name]
            return table
        if outer:
            pairs = [{name: masks[name] for name in pair} for pair in combinations(names, 2)]
            return np.asarray(np.min([self._inside(one, pair, seed, outer, wanted) for pair in pairs], axis=0))
        key = names, b"".join(mask.tobytes() for mask in masks.values()) + wanted.tobytes(), seed
        if key not in self._found:
            self._found[key] = self._estimate(_of(one, names), masks, seed, wanted)
        return self._found[key]

    def _table(self, one: Component | Single, names: tuple[str, ...]) -> np.ndarray:
        if names not in self._tables:
            cuts = [self._edges(name) for name in names]
            sizes = [len(self.domain.features[self._place[name]]) for name in names]
            if isinstance(one, Single):
                table = one.steps.between(cuts[0]).reshape(-1, len(cuts[0]) + 1)
            else:
                table = pair_masses(one, cuts).reshape(-1, *(len(held) + 1 for held in cuts))
            # Nobody's number is missing.
            whole = np.zeros((len(table), *sizes))
            whole[(slice(None), *(slice(0, n) for n in table.shape[1:]))] = table
            self._tables[names] = whole
        return self._tables[names]

    def _edges(self, name: str) -> np.ndarray:
        edges = self.domain.features[self._place[name]].edges
        if edges is None:
            raise TypeError(f"{name} is no feature of numbers")
        return edges

    def _estimate(self, one: Component, masks: Mapping[str, np.ndarray], seed: int, wanted: np.ndarray) -> np.ndarray:
        from scipy.stats import multivariate_normal

        runs = [_runs(masks[name], self._edges(name)) for name in one.names]
        found = np.zeros(len(one.mean))
        for state in wanted.tolist():
            for box in product(*runs):
                low, high = np.array(box).T
                found[state] += multivariate_normal.cdf(
                    high, one.mean[state], one.covariance[state], allow_singular=True, lower_limit=low,
                    abseps=_ACCURACY, releps=0.0, **_seeded(multivariate_normal.cdf, [seed, state]),
                )  # fmt: skip
        return found

    def sample_points(self, group: int, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw `n` points of a group, int array of shape (n, n_features)."""
        points = self.base.sample_points(group, n, rng)
        held = [points]
        places = self.scope
        for one in self.components:
            numbers = drawn_numbers(one, self.choice(one, places, points[:, places]), rng)
            cells = [np.searchsorted(self._edges(name), numbers[:, at]) for at, name in enumerate(one.names)]
            held.append(np.stack(cells, axis=1).astype(points.dtype))
        return np.concatenate(held, axis=1)


def _of(one: Component, names: Sequence[str]) -> Component:
    """Some of the variables of a component."""
    at = [one.names.index(name) for name in names]
    return replace(one, names=tuple(names), mean=one.mean[:, at], loads=one.loads[:, at])


def _runs(mask: np.ndarray, edges: np.ndarray) -> list[tuple[float, float]]:
    """The ranges that some cells are."""
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    inside = np.concatenate([[0], mask[: len(edges) + 1].astype(np.int64), [0]])
    starts, stops = np.flatnonzero(np.diff(inside) == 1), np.flatnonzero(np.diff(inside) == -1)
    return [(float(ends[start]), float(ends[stop])) for start, stop in zip(starts, stops, strict=True)]
