"""Populations: a probability distribution over the domain for each group, estimated from counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from justicia.errors import InputError
from justicia.population.auto import fit_auto
from justicia.population.base import Node, Population
from justicia.population.counts import Counts
from justicia.population.domain import Domain, Feature
from justicia.population.empirical import EmpiricalPopulation, fit_empirical
from justicia.population.independent import fit_independent
from justicia.population.mixture import MixturePopulation
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
    "MixturePopulation",
    "NetworkPopulation",
    "Node",
    "People",
    "Population",
    "fit",
    "fit_empirical",
]

STRUCTURES: dict[str, Fit] = {
    "auto": fit_auto,
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
    if structure != "empirical":
        _check_size(structure, counts, domain)
    return STRUCTURES[structure](counts, domain, sensitive, frozenset(sensitive) if fixed is None else fixed)


_MOST_NUMBERS = 400_000_000
"""Probabilities in the tables of a population: 3 GB."""


def _check_size(structure: str, counts: Counts, domain: Domain) -> None:
    """Refuse tables that would fill the memory."""
    size = counts.n_groups * sum(domain.sizes)
    if size > _MOST_NUMBERS:
        widest = domain.features[max(range(len(domain.sizes)), key=lambda i: domain.sizes[i])]
        raise InputError(
            f"a {structure} population of {counts.n_groups:,} groups and {sum(domain.sizes):,} values of features "
            f"({len(widest):,} of them of {widest.name!r}) would take {size * 8 / 1e9:.0f} GB: ask for fewer groups, "
            "round the numbers, or pass --population empirical"
        )
