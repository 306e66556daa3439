"""Populations: a probability distribution over the domain for each group, estimated from counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from justicia.errors import InputError
from justicia.population.base import Node, Population
from justicia.population.counts import Counts
from justicia.population.domain import Domain, Feature
from justicia.population.empirical import EmpiricalPopulation, fit_empirical
from justicia.population.independent import fit_independent
from justicia.population.network import NetworkPopulation
from justicia.population.people import People
from justicia.population.tree import fit_tree
from justicia.words import did_you_mean

if TYPE_CHECKING:
    Fit = Callable[[Counts, Domain, tuple[str, ...], frozenset[str]], Population]

__all__ = [
    "STRUCTURES",
    "Counts",
    "Domain",
    "EmpiricalPopulation",
    "Feature",
    "NetworkPopulation",
    "Node",
    "People",
    "Population",
    "fit",
]

STRUCTURES: dict[str, Fit] = {
    "tree": fit_tree,
    "independent": fit_independent,
    "empirical": fit_empirical,
}
"""Every structure by name; the first is the default."""


def fit(
    structure: str,
    counts: Counts,
    domain: Domain,
    sensitive: tuple[str, ...],
    fixed: frozenset[str] | None = None,
) -> Population:
    """Fit the population of the named structure.

    Parameters
    ----------
    structure : str
        One of `STRUCTURES`.
    counts : Counts
        People by group and domain point; each group key holds one value a sensitive column.
    domain : Domain
    sensitive : tuple of str
    fixed : frozenset of str, optional
        Features that are sensitive columns, and so never shrunk; `sensitive` unless given.

    Raises
    ------
    InputError
        When there is no such structure.
    """
    if structure not in STRUCTURES:
        raise InputError(f"no population is called {structure!r}{did_you_mean(structure, STRUCTURES)}")
    return STRUCTURES[structure](counts, domain, sensitive, frozenset(sensitive) if fixed is None else fixed)
