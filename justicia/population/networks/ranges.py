"""Numeric variables of a stated network seen as ranges: what a model that compares numbers with thresholds needs.

The distribution of the ranges is exact: that of a variable that stands alone by its distribution function, that of two
normal variables that hang together by the probabilities of rectangles, as one given the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from justicia.population.networks.declared import Network, Variable
from justicia.population.networks.densities import uneven_grid
from justicia.population.networks.gaussians import Component, Single, one_by_one, pair_masses, states_of
from justicia.population.networks.states import Interval

if TYPE_CHECKING:
    from collections.abc import Collection

    from justicia.population.networks.states import State

__all__ = ["grids_of", "ranges_between", "with_ranges", "without_densities"]

_FINE = 8192
"""Numbers of a column that a model is asked about, where its score rises and falls with the column."""


def without_densities(network: Network) -> Network:
    """The network of the variables with states; none of them depends on another one."""
    return Network(network.variables, network.name, network.sha256)


_FEW = 33
"""Where what the score does between two numbers is known."""


def grids_of(network: Network, names: Collection[str], *, few: bool = False) -> dict[str, np.ndarray]:
    """Numbers that cover each numeric variable, rising, at least two; the ends of few are those of many."""
    found = {}
    most = min(_FEW, _FINE) if few else _FINE
    for name, one in zip(names, one_by_one(network, names), strict=True):
        if isinstance(one, Single):
            ends = np.unique(one.steps.edges)
            between = np.linspace(ends[0], ends[-1], max(most - len(ends), 2))
            found[name] = np.union1d(ends, between) if len(ends) < most else ends
        else:
            found[name] = uneven_grid(one.mean[:, 0], one.deviation[:, 0], most)
    return found


def ranges_between(cuts: np.ndarray, ends: tuple[float, float] = (-np.inf, np.inf)) -> list[State]:
    """The ranges that some numbers cut; an edge belongs to the range below it."""
    return [Interval(low, high) for low, high in pairwise([ends[0], *cuts.tolist(), ends[1]])]


def with_ranges(
    network: Network,
    cuts: Mapping[str, np.ndarray],
    components: Sequence[Component | Single],
    ends: Mapping[str, tuple[float, float]] | None = None,
) -> Network:
    """The network with some numeric variables as ranges, and none other.

    Parameters
    ----------
    network : Network
    cuts : mapping of str to float64 array
        Numbers at which each of them is cut.
    components : sequence of Component or Single
        They, one or two at a time.
    ends : mapping of str to (float, float), optional
        The lower end of the first range, and the upper one of the last; who is beyond, hardly anybody, counts there.
    """
    variables = dict(network.variables)
    ends = {} if ends is None else ends
    for one in components:
        shape = states_of(network, one.scope)
        states = [tuple(ranges_between(cuts[name], ends.get(name, (-np.inf, np.inf)))) for name in one.names]
        if isinstance(one, Single):
            (name,) = one.names
            variables[name] = Variable(name, states[0], one.scope, one.steps.between(cuts[name]))
            continue
        together = pair_masses(one, [cuts[name] for name in one.names])
        if len(one.names) == 1:
            table = together.reshape(*shape, len(states[0]))
            variables[one.names[0]] = Variable(one.names[0], states[0], one.scope, table)
            continue
        together = together.reshape(*shape, len(states[0]), len(states[1]))
        alone = together.sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            given = np.where(alone[..., None] > 0, together / alone[..., None], 1.0 / len(states[1]))
        first, second = one.names
        variables[first] = Variable(first, states[0], one.scope, alone)
        variables[second] = Variable(second, states[1], (*one.scope, first), given)
    return Network(variables, network.name, network.sha256)
