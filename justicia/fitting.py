"""How near a population's selection rates are to those of the rows, in sample and on rows held out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from justicia.enclosure import Enclosure
from justicia.errors import InputError
from justicia.metrics import simultaneous_wilson
from justicia.tables import Grouping
from justicia.tables.repeats import tally

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from justicia.questions import Question

__all__ = ["FOLDS", "Fit", "GroupFit", "held_out_fit", "measure_fit"]

FOLDS = 5
_MOST_DIVIDED = 1_000_000_000


@dataclass(frozen=True)
class GroupFit:
    """One group.

    Attributes
    ----------
    group : dict of str to str
    n : int
        Rows that are compared with.
    population : float
        Selection rate under the population: the middle of its bounds.
    rows : float
        Selection rate of the rows.
    lo, hi : float
        Wilson interval of the latter; such intervals hold for all groups together.
    off : bool
        All of the population's bounds lie outside that interval.
    """

    group: dict[str, str]
    n: int
    population: float
    rows: float
    lo: float
    hi: float
    off: bool


@dataclass(frozen=True)
class Fit:
    """Distance between the selection rates under a population and among rows.

    Attributes
    ----------
    folds : int or None
        Rows are compared with populations fitted on the other folds; None: with the population fitted on them all.
    max_abs_error, mean_abs_error : float
        Over the groups whose rate is exact, or over all where none is.
    groups : tuple of GroupFit
    """

    folds: int | None
    max_abs_error: float
    mean_abs_error: float
    groups: tuple[GroupFit, ...]

    @property
    def off(self) -> tuple[GroupFit, ...]:
        """Groups that are off by more than the sampling error of the rows."""
        return tuple(group for group in self.groups if group.off)


def measure_fit(
    grouping: Grouping,
    enclosures: Sequence[Enclosure],
    k: np.ndarray,
    n: np.ndarray,
    confidence: float,
    folds: int | None = None,
    compared: Collection[int] | None = None,
) -> Fit:
    """Compare enclosures of the groups' rates with rows.

    Parameters
    ----------
    grouping : Grouping
    enclosures : sequence of Enclosure
        Of the first groups; others are left out.
    k, n : int arrays of shape (n_groups,)
        Selected rows and rows of each group; groups without rows are left out.
    confidence : float
    folds : int, optional
    compared : collection of int, optional
        Positions of the groups that are compared; all of them when left out.
    """
    held = np.array([i for i in np.flatnonzero(n > 0).tolist() if compared is None or i in compared], dtype=np.int64)
    held = held[held < len(enclosures)]
    lo, hi = simultaneous_wilson(k[held], n[held], confidence)
    groups = []
    for i, low, high in zip(held.tolist(), lo.tolist(), hi.tolist(), strict=True):
        rate = enclosures[i]
        off = float(rate.hi) < low - 1e-12 or float(rate.lo) > high + 1e-12
        groups.append(
            GroupFit(grouping.named(grouping.groups[i]), int(n[i]), rate.middle, float(k[i] / n[i]), low, high, off)
        )
    exact = np.array([enclosures[i].exact for i in held.tolist()], dtype=bool)
    errors = np.abs(np.array([group.population - group.rows for group in groups]))
    errors = errors[exact] if exact.any() else errors
    return Fit(folds, float(errors.max(initial=0.0)), float(errors.mean() if len(errors) else 0.0), tuple(groups))


def held_out_fit(
    question: Question,
    grouping: Grouping,
    selected: np.ndarray,
    confidence: float,
    seed: int,
    folds: int = FOLDS,
    min_group: int = 0,
) -> Fit:
    """Compare the rows of each fold with a population fitted on the other folds.

    A group's rate is the mean over its rows of the rate under the population that was fitted without them. Rows whose
    group has no row in the other folds are left out.

    Parameters
    ----------
    question : Question
    grouping : Grouping
    selected : bool array of shape (n_rows,)
        What `predict` says.
    confidence : float
    seed : int
        Of the assignment of rows to folds.
    folds : int
    min_group : int
        Groups with fewer rows are fitted like the others, and not compared.

    Raises
    ------
    InputError
        When there are fewer rows than folds.
    """
    if question.sampled is not None or question.paired is not None:
        raise InputError("people were counted by decision, which leaves none to hold out: leave --check-fit out")
    n_rows = int(grouping.sizes.sum())
    if n_rows < folds:
        raise InputError(f"{n_rows} rows cannot be held out in {folds} folds: leave --check-fit out")
    parts = _folds(len(grouping.codes), question.repeats, folds, np.random.default_rng(seed))
    size = len(grouping.groups)
    k, n = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    low, high = np.zeros(size), np.zeros(size)
    for left in parts:
        # Rows that stand for several may be in the fold with some of them.
        rest = None if question.repeats is None else question.repeats - left
        kept = left == 0 if rest is None else rest > 0
        inside = None if rest is None else rest[kept]
        part = Grouping(grouping.sensitive, grouping.groups, grouping.codes[kept], repeats=inside)
        asked = replace(
            question,
            points=question.points[kept],
            frame=question.frame[kept],
            groupings=[part],
            strata={},
            effort=replace(question.effort, search="enumerate"),
            requirements=(),
            repeats=inside,
            weights=inside if question.weights is None or inside is not None else question.weights[kept],
        )
        answer = asked.ask(part, np.ones(int(kept.sum()), dtype=bool))
        solution, known = answer.solution, answer.kept
        out = tally(grouping.codes, size, left)[known]
        n[known] += out
        k[known] += tally(grouping.codes, size, left, selected)[known]
        low[known] += out * solution.lo
        high[known] += out * solution.hi
    rows = np.maximum(n, 1)
    rates = list(map(Enclosure, low / rows, high / rows))
    return measure_fit(grouping, rates, k, n, confidence, folds, grouping.compared(min_group))


def _folds(n: int, repeats: np.ndarray | None, folds: int, rng: np.random.Generator) -> list[np.ndarray]:
    """How many of the rows that each row stands for are in each fold, int64 arrays of shape (n,); as if drawn."""
    if repeats is None:
        fold = rng.permutation(np.arange(n) % folds)
        return [(fold == number).astype(np.int64) for number in range(folds)]
    rest, total = repeats.copy(), int(repeats.sum())
    if total >= _MOST_DIVIDED:
        raise InputError(f"{total:,} rows are too many to be divided into folds: leave --check-fit out")
    found = []
    for number in range(folds):
        wanted = total // folds + (number < total % folds)
        drawn = rng.multivariate_hypergeometric(rest, wanted, method="marginals")
        found.append(drawn)
        rest -= drawn
    return found
