"""Which module stores which structure, and what such a module is given to build a population again."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from justicia.population.domain import Domain

__all__ = ["FORMS", "Skeleton", "form_of"]

FORMS = {
    "auto": "justicia.population.stored.mixtures",
    "tree": "justicia.population.stored.networks",
    "independent": "justicia.population.stored.networks",
    "empirical": "justicia.population.stored.rows",
}
"""For each structure, the module that stores it."""


@dataclass(frozen=True)
class Skeleton:
    """What every structure has.

    Attributes
    ----------
    structure : str
    domain : Domain
    sensitive : tuple of str
    groups : tuple of tuple of str
    sizes : int array of shape (n_groups,)
        Rows of each group.
    """

    structure: str
    domain: Domain
    sensitive: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    sizes: np.ndarray


def form_of(structure: str) -> Any:
    """The module that stores a structure."""
    return import_module(FORMS[structure])
