"""Bounds of a tree's rate over a set of groups.

They come from the tables of those groups, taken entry by entry at their largest and smallest: the mass of a box is a
sum of products of entries, all of them at least 0, so the largest entries give at least the mass in every group of the
set, and the smallest at most. Summed over the accepting leaves they enclose the rate; summed over the rejecting leaves
they enclose its complement, and the tighter of the two counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from justicia.population.network import Step, evaluate_plan, make_plan
from justicia.solvers.learn import Hierarchy

if TYPE_CHECKING:
    from justicia.encoders.decisions import Tree
    from justicia.population.network import NetworkPopulation

__all__ = ["LeafBounds", "extreme_tables"]


def extreme_tables(
    hierarchy: Hierarchy, tables: dict[int, np.ndarray]
) -> list[tuple[dict[int, np.ndarray], dict[int, np.ndarray]]]:
    """Smallest and largest tables of the sets of every level, level 0 first.

    Parameters
    ----------
    hierarchy : Hierarchy
    tables : dict of int to float64 array of shape (..., n_groups)
    """
    single = {feature: table[..., hierarchy.order] for feature, table in tables.items()}
    levels = [(single, single)]
    for first in reversed(hierarchy.first_child):
        low, high = levels[0]
        low = {feature: np.minimum.reduceat(table, first, axis=-1) for feature, table in low.items()}
        high = {feature: np.maximum.reduceat(table, first, axis=-1) for feature, table in high.items()}
        levels.insert(0, (low, high))
    return levels


class LeafBounds:
    """What is known about sets of groups under a tree.

    Parameters
    ----------
    decision : Tree
    population : NetworkPopulation
    hierarchy : Hierarchy, optional
        Of its groups; the columns that tell most come first unless it is given.
    """

    finished = "exact"

    def __init__(self, decision: Tree, population: NetworkPopulation, hierarchy: Hierarchy | None = None) -> None:
        telling = np.concatenate(
            [table.reshape(-1, population.n_groups) for table in population.tables.values()]
            or [np.zeros((1, population.n_groups))]
        )
        self.hierarchy = Hierarchy.of(population, telling) if hierarchy is None else hierarchy
        self._plans = {
            accepting: [
                (make_plan(population.nodes, boxes, n_boxes), n_boxes) for boxes, n_boxes in decision.boxes(accepting)
            ]
            for accepting in (True, False)
        }
        self._tables = extreme_tables(self.hierarchy, population.tables)
        self._within = extreme_tables(self.hierarchy, population.within)

    def _masses(self, accepting: bool, level: int, sets: np.ndarray, largest: bool) -> np.ndarray:
        chosen = {feature: table[:, :, sets] for feature, table in self._tables[level][largest].items()}
        shares = {feature: share[:, sets] for feature, share in self._within[level][largest].items()}
        total = np.zeros(len(sets))
        for plan, n_boxes in self._plans[accepting]:
            total += _evaluate(plan, chosen, shares, n_boxes, len(sets))
        return total

    def bounds(self, level: int, sets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the rates of all groups in some sets of a level; exact on the last."""
        if level == len(self.hierarchy.starts) - 1:
            return self.finish(sets)
        lo = np.maximum(self._masses(True, level, sets, False), 1 - self._masses(False, level, sets, True))
        hi = np.minimum(self._masses(True, level, sets, True), 1 - self._masses(False, level, sets, False))
        lo, hi = np.clip(lo, 0.0, 1.0), np.clip(hi, 0.0, 1.0)
        return np.minimum(lo, hi), hi

    def finish(self, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rates of single groups."""
        rates = np.minimum(self._masses(True, len(self.hierarchy.starts) - 1, groups, True), 1.0)
        return rates, rates


def _evaluate(
    plan: list[Step], tables: dict[int, np.ndarray], within: dict[int, np.ndarray], n_boxes: int, n_sets: int
) -> np.ndarray:
    return evaluate_plan(plan, tables, within, n_boxes, n_sets).sum(axis=0)
