"""Numeric variables given the states of all others: normal ones that hang together, and the rest one by one.

Given the states, a normal variable is a constant plus a sum of independent normal numbers, one of its own and those of
the normal variables above it. Variables that share none of them are independent, so what hangs together is a component.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.errors import PopulationFileError
from justicia.population.networks.densities import Normal, Steps, normal_masses
from justicia.words import listed

if TYPE_CHECKING:
    from justicia.population.networks.declared import Network

__all__ = ["Component", "Single", "components_of", "pair_masses", "scope_of", "states_of"]

_MOST_STATES = 1 << 16
"""Choices of states that one component's parameters are held for."""


@dataclass(frozen=True)
class Component:
    """Normal variables that hang together, or one alone.

    Attributes
    ----------
    names : tuple of str
    scope : tuple of str
        Variables whose states matter.
    mean : float64 array of shape (n_states, n_names)
        A row for every choice of these states, the last variable's changing fastest.
    loads : float64 array of shape (n_states, n_names, n_sources)
        What each variable has of independent normal numbers, whose standard deviation is 1.
    """

    names: tuple[str, ...]
    scope: tuple[str, ...]
    mean: np.ndarray
    loads: np.ndarray

    @property
    def covariance(self) -> np.ndarray:
        """Covariances, float64 array of shape (n_states, n_names, n_names)."""
        return np.asarray(self.loads @ self.loads.transpose(0, 2, 1))

    @property
    def deviation(self) -> np.ndarray:
        """Standard deviations, float64 array of shape (n_states, n_names)."""
        return np.asarray(np.linalg.norm(self.loads, axis=2))


@dataclass(frozen=True)
class Single:
    """A variable whose density is constant between some numbers; its scope are its parents."""

    steps: Steps

    @property
    def names(self) -> tuple[str, ...]:
        """Its name alone."""
        return (self.steps.name,)

    @property
    def scope(self) -> tuple[str, ...]:
        """Variables whose states matter."""
        return self.steps.given


@dataclass
class _Sum:
    """A normal variable as a sum; every array has the axes of the scope."""

    scope: tuple[str, ...]
    mean: np.ndarray
    loads: dict[str, np.ndarray]


def components_of(network: Network, wanted: Collection[str]) -> list[Component | Single]:
    """The wanted numeric variables, taken together where they hang together.

    Raises
    ------
    PopulationFileError
        When they depend on too many states together.
    """
    sums: dict[str, _Sum] = {}
    for name, variable in network.numeric.items():
        if isinstance(variable, Normal):
            sums[name] = _sum_of(network, variable, sums)
    found: list[Component | Single] = []
    left = [name for name in network.numeric if name in wanted]
    while left:
        first = left.pop(0)
        steps = network.numeric[first]
        if isinstance(steps, Steps):
            found.append(Single(steps))
            continue
        names, sources = [first], set(sums[first].loads)
        grown = True
        while grown:
            near = [name for name in left if name in sums and sources.intersection(sums[name].loads)]
            grown = bool(near)
            for name in near:
                left.remove(name)
                names.append(name)
                sources |= set(sums[name].loads)
        found.append(_component(network, names, sums))
    return found


def scope_of(components: Iterable[Component | Single]) -> list[str]:
    """Variables whose states matter to some components."""
    return list(dict.fromkeys(name for component in components for name in component.scope))


def states_of(network: Network, scope: Sequence[str]) -> tuple[int, ...]:
    """Number of states of some variables."""
    return tuple(len(network[name].states) for name in scope)


def _sum_of(network: Network, variable: Normal, above: dict[str, _Sum]) -> _Sum:
    held = {name: above[name] for name in variable.coefficients}
    scope = _joined(network, [variable.given, *(one.scope for one in held.values())], (variable.name,))
    mean = _spread(variable.mean, variable.given, scope)
    loads = {variable.name: np.sqrt(_spread(variable.variance, variable.given, scope))}
    for name, one in held.items():
        slope = _spread(variable.coefficients[name], variable.given, scope)
        mean = mean + slope * _spread(one.mean, one.scope, scope)
        for source, load in one.loads.items():
            loads[source] = loads.get(source, 0.0) + slope * _spread(load, one.scope, scope)
    return _Sum(scope, mean, loads)


def _joined(network: Network, scopes: Iterable[Sequence[str]], names: Sequence[str]) -> tuple[str, ...]:
    scope = tuple(dict.fromkeys(name for held in scopes for name in held))
    if math.prod(states_of(network, scope)) > _MOST_STATES:
        raise PopulationFileError(
            f"{listed(names)} would depend on the states of {listed(scope, 8)} together, more than {_MOST_STATES:,}: "
            "give the network fewer states or parents"
        )
    return scope


def _spread(values: np.ndarray, given: Sequence[str], scope: Sequence[str]) -> np.ndarray:
    """Parameters with an axis, of length 1 where nothing changes, for each variable of a scope."""
    order = sorted(range(len(given)), key=lambda at: scope.index(given[at]))
    arranged = np.transpose(values, order) if values.ndim else values
    shape = dict(zip((given[at] for at in order), arranged.shape, strict=False))
    return arranged.reshape([shape.get(name, 1) for name in scope])


def _component(network: Network, names: Sequence[str], sums: dict[str, _Sum]) -> Component:
    scope = _joined(network, [sums[name].scope for name in names], names)
    shape = states_of(network, scope)
    sources = list(dict.fromkeys(source for name in names for source in sums[name].loads))
    n_states = math.prod(shape)
    if n_states * len(names) * len(sources) > 64 * _MOST_STATES:
        raise PopulationFileError(f"{listed(names)} are too many to hang together: give the network fewer of them")

    def flat(values: np.ndarray, own: Sequence[str]) -> np.ndarray:
        return np.broadcast_to(_spread(values, own, scope), shape).reshape(n_states)

    mean = np.stack([flat(sums[name].mean, sums[name].scope) for name in names], axis=1)
    loads = np.zeros((n_states, len(names), len(sources)))
    for row, name in enumerate(names):
        for column, source in enumerate(sources):
            if source in sums[name].loads:
                loads[:, row, column] = flat(sums[name].loads[source], sums[name].scope)
    return Component(tuple(names), scope, mean, loads)


def pair_masses(component: Component, cuts: Sequence[np.ndarray]) -> np.ndarray:
    """Probabilities of the rectangles that some numbers cut, of one or two normal variables.

    The distribution function of two is found by Owen's function T, without an error beyond rounding (D. B. Owen,
    Tables for computing bivariate normal probabilities, Ann. Math. Statist. 27, 1956).

    Parameters
    ----------
    component : Component
        Of one or two variables.
    cuts : sequence of float64 array of shape (n_cuts,)
        Of each variable.

    Returns
    -------
    float64 array of shape (n_states, n_rectangles), the last variable's intervals changing fastest; sums are 1
    """
    first = normal_masses(component.mean[:, 0], component.deviation[:, 0], cuts[0])
    if len(component.names) == 1:
        return first / first.sum(axis=1, keepdims=True)
    second = normal_masses(component.mean[:, 1], component.deviation[:, 1], cuts[1])
    found = np.empty((len(first), first.shape[1] * second.shape[1]))
    deviation = component.deviation
    for state in range(len(first)):
        one, other = component.loads[state] / deviation[state, :, None]
        if one @ other == 0.0:
            together = np.outer(first[state], second[state])
        else:
            h, k = ((cuts[at] - component.mean[state, at]) / deviation[state, at] for at in (0, 1))
            together = _rectangles(h, k, float(one @ other), _apart(one, other), component.names)
        found[state] = np.maximum(together, 0.0).ravel()
    return np.asarray(found / found.sum(axis=1, keepdims=True))


_CLOSEST = 1e-5
"""Below, too few digits are left of what is between two numbers that are as good as the same."""


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    """The root of 1 less the square of a correlation, for two vectors of length 1.

    It is the area between them, which Lagrange's identity gives to the last digit however near they are: no difference
    of two numbers near 1 is taken.
    """
    areas = np.outer(one, other) - np.outer(other, one)
    return float(np.linalg.norm(areas[np.triu_indices(len(one), 1)]))


def _rectangles(h: np.ndarray, k: np.ndarray, correlation: float, side: float, names: Sequence[str]) -> np.ndarray:
    from scipy.special import ndtr, owens_t

    if side < _CLOSEST:
        raise PopulationFileError(
            f"{names[0]} and {names[1]} are as good as the same: their correlation is {correlation:.12g}"
        )
    whole = np.zeros((len(h) + 2, len(k) + 2))
    whole[-1, 1:-1], whole[1:-1, -1], whole[-1, -1] = ndtr(k), ndtr(h), 1.0
    across, down = np.meshgrid(h, k, indexing="ij")
    # What is between a number and the other's share of it, without the correlation that is rounded to 1.
    sign = math.copysign(1.0, correlation)
    rest = sign * side**2 / (1.0 + abs(correlation))
    with np.errstate(divide="ignore", invalid="ignore"):
        slope_h = ((down - sign * across) / across + rest) / side
        slope_k = ((across - sign * down) / down + rest) / side
    half = np.where((across * down < 0) | ((across * down == 0) & (across + down < 0)), 0.5, 0.0)
    inner = (ndtr(across) + ndtr(down)) / 2 - owens_t(across, slope_h) - owens_t(down, slope_k) - half
    centre = 0.25 + math.atan2(correlation, side) / (2 * math.pi)
    whole[1:-1, 1:-1] = np.where((across == 0) & (down == 0), centre, inner)
    return np.diff(np.diff(whole, axis=0), axis=1)
