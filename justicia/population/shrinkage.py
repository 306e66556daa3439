"""Tables of small groups, steadied by what their sensitive columns say one by one.

A table of counts starts from the table of all people, P(x | u). Each value v of a sensitive column has a factor for
each state x, the same in every row u of the table, that brings the expected number of people in x to the observed one:

    P(x | u, group)  proportional to  P(x | u) * factor[race of the group](x) * factor[sex of the group](x)

A factor is (observed + `STEADY`) / (expected + `STEADY`), found in a few sweeps over the columns (iterative
proportional fitting; Deming and Stephan 1940), so that a value of few people keeps close to everybody. Those
probabilities count as `PRIOR` people in every row of the group's own table: what the columns say one by one is shrunk
little, and what is said by the group alone is shrunk much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PRIOR", "STEADY", "divided", "frequencies", "margins_of", "shrunk", "shrunk_within", "summed"]

PRIOR = 50.0
"""People that the probabilities given the sensitive columns stand for, in each row of a group's table."""
STEADY = 5.0
"""People added to observed and expected numbers before they are compared."""
SWEEPS = 3


def margins_of(group_keys: tuple[tuple[str, ...], ...]) -> list[np.ndarray]:
    """For each sensitive column, the code of its value in each group, int arrays of shape (n_groups,)."""
    columns = np.array(group_keys, dtype=object).reshape(len(group_keys), -1).T
    return [np.unique(column.astype(str), return_inverse=True)[1] for column in columns]


def summed(counts: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Counts of groups added up by code, along the first axis."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(int(codes.max()) + 1))
    return np.add.reduceat(counts[order], starts, axis=0)


def shrunk(counts: np.ndarray, margins: list[np.ndarray], *, sweeps: int = SWEEPS) -> np.ndarray:
    """Conditional probabilities of each group.

    Parameters
    ----------
    counts : array of shape (n_groups, n_parent_states, n_states)
        Numbers of people, whole or not.
    margins : list of int arrays of shape (n_groups,)
    sweeps : int

    Returns
    -------
    float64 array of shape (n_groups, n_parent_states, n_states)
        Rows sum to 1. A state that no group holds has probability 0.
    """

    def normalised(table: np.ndarray) -> np.ndarray:
        return np.asarray(table / table.sum(axis=-1, keepdims=True))

    of_all = counts.sum(axis=0).astype(np.float64)
    overall = of_all.sum(axis=0)
    overall = overall / overall.sum() if overall.sum() > 0 else np.full(counts.shape[-1], 1 / counts.shape[-1])
    # A row without people follows all rows.
    pooled = normalised(of_all + overall)
    people = counts.sum(axis=-1, keepdims=True)
    prior = _followed(counts, people, pooled, margins, normalised, sweeps)
    return normalised(counts + PRIOR * prior)


def shrunk_within(counts: np.ndarray, states: np.ndarray, margins: list[np.ndarray]) -> np.ndarray:
    """Probability of each cell given its state and group, in the same way.

    Parameters
    ----------
    counts : int array of shape (n_groups, n_cells)
    states : int array of shape (n_cells,)
        State of each cell.

    Returns
    -------
    float64 array of shape (n_groups, n_cells)
    """
    inside = (states[:, None] == np.arange(int(states.max()) + 1)).astype(np.float64)
    sizes = inside.sum(axis=0)[states]

    def of_state(cells: np.ndarray) -> np.ndarray:
        return np.asarray((cells @ inside)[..., states])

    def normalised(cells: np.ndarray) -> np.ndarray:
        sums = of_state(cells)
        return np.where(sums > 0, cells / np.where(sums > 0, sums, 1.0), 1 / sizes)

    pooled = normalised(counts.sum(axis=0, keepdims=True).astype(np.float64))
    stacked = counts[:, None, :]
    prior = _followed(stacked, of_state(stacked), pooled, margins, normalised, SWEEPS)
    return normalised(stacked + PRIOR * prior)[:, 0]


def _followed(
    counts: np.ndarray,
    people: np.ndarray,
    pooled: np.ndarray,
    margins: list[np.ndarray],
    normalised: Callable[[np.ndarray], np.ndarray],
    sweeps: int,
) -> np.ndarray:
    """Probabilities given the sensitive columns one by one, of the shape of `counts`.

    Parameters
    ----------
    counts : array of shape (n_groups, n_rows, n_states)
    people : array of shape (n_groups, n_rows, 1 or n_states)
        People whose state the probabilities distribute.
    pooled : float64 array of shape (n_rows, n_states)
    """
    prior = np.broadcast_to(pooled, counts.shape)
    observed = [summed(counts.sum(axis=1), codes) for codes in margins]
    for _ in range(sweeps):
        for codes, seen in zip(margins, observed, strict=True):
            expected = summed((people * prior).sum(axis=1), codes)
            factor = (seen + STEADY) / (expected + STEADY)
            prior = normalised(prior * factor[codes][:, None, :])
    return prior


def frequencies(counts: np.ndarray) -> np.ndarray:
    """Plain frequencies of shape (n_groups, n_parent_states, n_states).

    Where a group has no row in a parent state, its own frequencies in all of them.
    """
    own = counts.sum(axis=1, keepdims=True).astype(np.float64)
    return divided(counts.astype(np.float64), divided(own, np.full(counts.shape[-1], 1 / counts.shape[-1])))


def divided(table: np.ndarray, fallback: np.ndarray) -> np.ndarray:
    """Rows of `table` divided by their sums; a row without mass becomes `fallback`."""
    sums = table.sum(axis=-1, keepdims=True)
    return np.where(sums > 0, table / np.where(sums > 0, sums, 1.0), fallback)
