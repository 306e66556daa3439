"""What finite rows say about a verified rate, for certain but for a probability that is set.

- `total_variation` and `confidence_box` hold the rate of the *projection*: the people's true conditional probabilities
  in the structure's tables (`justicia.population.confidence`). How far the projection is from the people is the error
  of the structure, which these two leave out.
- `given_structure` holds the rate of the people if they follow the structure, for then they are their own projection:
  what `confidence_box` and Clopper and Pearson's interval of the rows leave together. Where the two do not meet, the
  structure is refuted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.enclosure import Enclosure
from justicia.metrics import simultaneous_clopper_pearson
from justicia.population.confidence import confident_nodes, distance
from justicia.population.network import NetworkPopulation
from justicia.solvers.confidence_box import extreme_rates

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.population import Counts, Population
    from justicia.solvers import Solution

__all__ = ["CLAIMS", "NOT_ASKED", "TABLES_SHARE", "Bound", "bound_rates", "projection_bounds"]

NOT_ASKED = "not asked for: pass --bounds"

TABLES_SHARE = 0.25
"""Share of the error that tables may have; the rates of the rows need more of it."""

CLAIMS = {
    "total_variation": "rate of the people's projection on the structure, by distances of the fitted tables",
    "confidence_box": "rate of the people's projection on the structure, by clopper-pearson bounds of its tables",
    "given_structure": "rate of the people if they follow the structure, by confidence_box and the rows' rate",
}
"""What each bound is of, and how it is found."""


@dataclass(frozen=True)
class Bound:
    """One bound of every group's rate.

    Attributes
    ----------
    values : tuple of (Enclosure or None)
        None for groups that it says nothing about.
    reason : str or None
        Why there are groups without.
    absent : frozenset of int
        Groups that have no such rate.
    """

    values: tuple[Enclosure | None, ...]
    reason: str | None = None
    absent: frozenset[int] = frozenset()

    def spread(self, kept: np.ndarray, n_groups: int) -> Bound:
        """The same when its groups stand at the positions `kept` among others that have no rows."""
        values: list[Enclosure | None] = [None] * n_groups
        for position, value in zip(kept.tolist(), self.values, strict=True):
            values[position] = value
        return Bound(tuple(values), self.reason, frozenset(range(n_groups)) - set(kept.tolist()))


def bound_rates(
    population: Population,
    counts: Counts,
    decision: Decision,
    solution: Solution,
    k: np.ndarray,
    confidence: float,
    determined: frozenset[str] = frozenset(),
) -> dict[str, Bound]:
    """Bounds of the rates of all groups, one a name of `CLAIMS`.

    All bounds of all groups hold together with probability `confidence`: `TABLES_SHARE` of what is missing to 1 goes to
    the tables, the rest to the decisions of the rows.

    Parameters
    ----------
    population : Population
    counts : Counts
        What it was fitted from.
    decision : Decision
    solution : Solution
        The verified rates.
    k : int array of shape (n_groups,)
        Rows with a favorable decision.
    confidence : float
    determined : frozenset of str
        Features that the group determines.
    """
    why = _inapplicable(population)
    if why is not None:
        return dict.fromkeys(CLAIMS, Bound((None,) * population.n_groups, why))
    if not isinstance(population, NetworkPopulation):
        raise TypeError(f"a {population.structure} population has no tables")
    error = TABLES_SHARE * (1.0 - confidence)
    around, low, high = projection_bounds(population, counts, decision, solution, error, determined)
    rows = simultaneous_clopper_pearson(k, population.sizes, confidence + error)
    return {
        "total_variation": _bound(solution.lo - around, solution.hi + around),
        "confidence_box": _bound(low, high),
        "given_structure": _bound(np.maximum(low, rows[0]), np.minimum(high, rows[1])),
    }


def projection_bounds(
    population: NetworkPopulation,
    counts: Counts,
    decision: Decision,
    solution: Solution,
    error: float,
    determined: frozenset[str] = frozenset(),
    together: int | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How far the verified rates may be from the projection's by their tables' distance, and the box's bounds of these.

    Parameters
    ----------
    error : float
        Probability that some of them misses.
    together : int, optional
        Number of groups that hold together, when these are not all groups.

    Returns
    -------
    around, lo, hi : float64 arrays of shape (n_groups,)
    """
    confident = confident_nodes(population, counts, error, determined, together)
    if not confident:
        return np.zeros(population.n_groups), solution.lo, solution.hi
    around = distance(confident)
    low, high = np.maximum(solution.lo - around, 0.0), np.minimum(solution.hi + around, 1.0)
    found = extreme_rates(decision, confident)
    if found is not None:
        low, high = np.maximum(low, found[0]), np.minimum(high, found[1])
    return around, low, high


def _inapplicable(population: Population) -> str | None:
    """Why there is no projection."""
    if population.structure == "auto":
        return "bounds by the rows are for --population tree and independent"
    if not isinstance(population, NetworkPopulation):
        return "the population is the rows themselves, and has no structure: their interval is the bound"
    by_value = [feature.name for feature in population.domain.features if feature.by_value]
    if by_value:
        return f"of {by_value[0]} the model is known at the table's own values alone, and other people have others"
    return None


def _bound(low: np.ndarray, high: np.ndarray) -> Bound:
    values: list[Enclosure | None] = []
    reasons = set()
    for a, b in zip(low.tolist(), high.tolist(), strict=True):
        if a > b:
            reasons.add("tables and rows do not meet: the structure is refuted")
        elif a <= 0.0 and b >= 1.0:
            reasons.add("between 0 and 1: too few rows for so many tables")
        values.append(None if a > b or (a <= 0.0 and b >= 1.0) else Enclosure(max(a, 0.0), min(b, 1.0)))
    return Bound(tuple(values), "; ".join(sorted(reasons)) or None)
