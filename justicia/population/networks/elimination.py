"""The distribution of a network's variables given its sensitive ones, variable by variable.

Variables that are not sensitive are eliminated one by one. The factors that hold the variable, multiplied, say how
likely its states are given those variables that are eliminated later and the sensitive ones; summed over its states
they are a factor among these (bucket elimination; Dechter 1999). Read backwards, that is a network of its own: each
variable given some of those before it, and few of the sensitive columns. What is left in the end is the probability of
the groups. Sensitive variables may stand anywhere: what they say about their causes is in the tables.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from justicia.errors import PopulationFileError
from justicia.words import counted, listed

if TYPE_CHECKING:
    from justicia.population.networks.declared import Network

__all__ = ["MOST_JOINT", "Conditional", "Conditionals", "given_sensitive"]

MOST_JOINT = 1 << 22
"""States together of the variables that one table joins."""
_ROUNDING = 1e-14


@dataclass(frozen=True)
class Conditional:
    """One variable given some that come before it, and some sensitive ones.

    Attributes
    ----------
    name : str
    above : tuple of str
        Variables that come before it and that it is joined with; those of `given` that are not sensitive among them.
    given : tuple of str
        Variables that the table has an axis for, not sensitive ones first.
    sensitive : tuple of str
        Those of them that are sensitive.
    table : float64 array of shape (n_states of each given, ..., n_states)
    """

    name: str
    above: tuple[str, ...]
    given: tuple[str, ...]
    sensitive: tuple[str, ...]
    table: np.ndarray

    def of_groups(self, codes: Mapping[str, np.ndarray], n_groups: int) -> np.ndarray:
        """The table of each group, of shape (n_groups, n_states of each other given, ..., n_states).

        Parameters
        ----------
        codes : mapping of str to int array of shape (n_groups,)
            State of each sensitive variable.
        n_groups : int
        """
        if not self.sensitive:
            return np.broadcast_to(self.table, (n_groups, *self.table.shape))
        n_plain = len(self.given) - len(self.sensitive)
        moved = np.moveaxis(self.table, range(n_plain, len(self.given)), range(len(self.sensitive)))
        return np.asarray(moved[tuple(codes[name] for name in self.sensitive)])

    def where(self, name: str, state: int) -> Conditional:
        """The table of people who have one state of a sensitive variable."""
        if name not in self.sensitive:
            return self
        return replace(
            self,
            given=tuple(one for one in self.given if one != name),
            sensitive=tuple(one for one in self.sensitive if one != name),
            table=np.take(self.table, state, axis=self.given.index(name)),
        )


@dataclass(frozen=True)
class Conditionals:
    """All of them, and what is left: factors of the probability of the groups.

    Attributes
    ----------
    variables : tuple of Conditional
        In topological order.
    prior : tuple of (tuple of str, float64 array)
        Sensitive variables and their factor; all of them multiplied are the probability of a group.
    sizes : dict of str to int
        States of each variable.
    """

    variables: tuple[Conditional, ...]
    prior: tuple[tuple[tuple[str, ...], np.ndarray], ...]
    sizes: Mapping[str, int]

    def where(self, name: str, state: int) -> Conditionals:
        """The same of people who have one state of a sensitive variable; probabilities of groups are joint with it."""
        prior = tuple(
            (tuple(one for one in names if one != name), np.take(factor, state, axis=names.index(name)))
            if name in names
            else (names, factor)
            for names, factor in self.prior
        )
        return replace(self, variables=tuple(one.where(name, state) for one in self.variables), prior=prior)

    def shares(self, codes: Mapping[str, np.ndarray], n_groups: int) -> np.ndarray:
        """Probability of each group, float64 array of shape (n_groups,)."""
        found = np.ones(n_groups)
        for names, factor in self.prior:
            found *= factor[tuple(codes[name] for name in names)] if names else factor
        return found


@dataclass(frozen=True)
class _Factor:
    """A function of some variables; `of` names the one whose own table it is."""

    names: tuple[str, ...]
    values: np.ndarray
    of: str | None = None


def given_sensitive(network: Network, sensitive: Sequence[str], wanted: Collection[str]) -> Conditionals:
    """Tables of the wanted variables, and of those that they need, given the sensitive ones.

    Parameters
    ----------
    network : Network
    sensitive : sequence of str
    wanted : collection of str

    Raises
    ------
    PopulationFileError
        When variables hang together so closely that a table would join too many states.
    """
    held = network.ancestors([*sensitive, *wanted])
    sizes = {name: len(network[name].states) for name in held}
    factors = [
        _Factor((*network[name].parents, name), network[name].table, name) for name in network.variables if name in held
    ]
    plain = [name for name in network.variables if name in held and name not in sensitive]
    near = _neighbours(factors, set(plain))
    fill = {name: _fill(near, name) for name in plain}
    made: list[tuple[str, tuple[str, ...], _Factor]] = []
    while near:
        name = min(near, key=lambda one: (fill[one], not _barren(factors, one), _joint(near, sizes, one), one))
        around = near.pop(name)
        mine = [factor for factor in factors if name in factor.names]
        factors = [factor for factor in factors if name not in factor.names]
        product = _product(mine, name, sizes, set(sensitive))
        total = product.values.sum(axis=-1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            table = np.where(total > 0, product.values / total, 1.0 / sizes[name])
        made.append((name, tuple(around), _Factor(product.names, table)))
        if not (len(mine) == 1 and mine[0].of == name):
            factors.append(_without_constants(_Factor(product.names[:-1], total[..., 0])))
        for one in around:
            near[one] |= around - {one}
            near[one].discard(name)
        for one in set(around).union(*(near[other] for other in around)) if around else ():
            fill[one] = _fill(near, one)
    position = {name: place for place, (name, _, _) in enumerate(reversed(made))}
    variables = tuple(
        Conditional(
            name,
            tuple(sorted(around, key=position.__getitem__)),
            factor.names[:-1],
            tuple(one for one in factor.names if one in sensitive),
            factor.values,
        )
        for name, around, factor in reversed(made)
    )
    return Conditionals(variables, tuple((factor.names, factor.values) for factor in factors), sizes)


def _neighbours(factors: Sequence[_Factor], plain: set[str]) -> dict[str, set[str]]:
    near: dict[str, set[str]] = {name: set() for name in plain}
    for factor in factors:
        inside = plain.intersection(factor.names)
        for name in inside:
            near[name] |= inside - {name}
    return near


def _fill(near: Mapping[str, set[str]], name: str) -> int:
    """Pairs of neighbours that eliminating a variable would join."""
    around = near[name]
    return sum(len(around - near[one]) - 1 for one in around) // 2


def _barren(factors: Sequence[_Factor], name: str) -> bool:
    """Whether nothing is known of what depends on a variable."""
    return all(factor.of == name for factor in factors if name in factor.names)


def _joint(near: Mapping[str, set[str]], sizes: Mapping[str, int], name: str) -> int:
    return math.prod(sizes[one] for one in near[name]) * sizes[name]


def _product(factors: Sequence[_Factor], last: str, sizes: Mapping[str, int], sensitive: set[str]) -> _Factor:
    """All factors multiplied; the variable's own axis last, those of sensitive ones before it."""
    names = {name for factor in factors for name in factor.names} - {last}
    order = (*sorted(names - sensitive), *sorted(names & sensitive), last)
    shape = tuple(sizes[name] for name in order)
    if math.prod(shape) > MOST_JOINT:
        raise PopulationFileError(
            f"the network's variables hang together too closely for an exact answer: {listed(order, 8)} have "
            f"{counted(math.prod(shape), 'state')} together, and at most {MOST_JOINT:,} can be joined; name fewer "
            "sensitive columns, or give the network fewer states or parents"
        )
    place = {name: at for at, name in enumerate(order)}
    values = np.ones(shape)
    for factor in factors:
        axes = [place[name] for name in factor.names]
        arranged = np.transpose(factor.values, np.argsort(axes))
        values *= arranged.reshape([sizes[name] if name in factor.names else 1 for name in order])
    return _Factor(order, values)


def _without_constants(factor: _Factor) -> _Factor:
    """The same factor without the axes along which it does not change."""
    names, values = list(factor.names), factor.values
    for name in factor.names:
        axis = names.index(name)
        if float(np.ptp(values, axis=axis).max(initial=0.0)) <= _ROUNDING * float(values.max(initial=0.0)):
            values = np.take(values, 0, axis=axis)
            names.remove(name)
    return _Factor(tuple(names), values)
