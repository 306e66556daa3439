"""Formulas: which groups, which random features, which decision.

The question "how often does the model say yes, and to whom most?" is a stochastic satisfiability problem (Ghosh, Basu
and Meel, AAAI 2021): exists a group, features at random given the group, the model says yes. Its matrix is the
decision itself, over cells; an engine that takes the decision's kind needs no clauses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.population.base import Population

__all__ = ["Formula"]


@dataclass(frozen=True)
class Formula:
    """∃ group, R features ~ population(group): decision(features).

    Attributes
    ----------
    population : Population
        The groups, and the distribution of the features in each.
    decision : Decision
        The matrix.
    """

    population: Population
    decision: Decision

    def __str__(self) -> str:
        groups = f"∃ {' × '.join(self.population.sensitive)} ({self.population.n_groups})"
        features = ", ".join(self.population.domain.names) or "nothing"
        return f"{groups}, R {features}: {type(self.decision).__name__}"
