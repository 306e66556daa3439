"""The winning region of a shield by exhaustive iteration: states from which no value ever has to be missed.

With deadlines of its own for each value the problem is pinwheel scheduling, and Hall's condition is necessary but not
sufficient; the greatest fixpoint over all states is what decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from justicia.errors import ShieldError
from justicia.words import listed

__all__ = ["MOST_STATES", "allowed_outputs", "may_waste", "nearest_winning", "winning_region"]

MOST_STATES = 2_000_000


def winning_region(betas: Sequence[int]) -> np.ndarray:
    """States from which outputs can be chosen for ever without a miss.

    Parameters
    ----------
    betas : sequence of int
        The deadline of each value.

    Returns
    -------
    bool array of shape `betas`
        At (c_1 - 1, …, c_N - 1), whether the state with these counters wins: some output leads to a winning state, and
        every other value's counter is 2 or more.

    Raises
    ------
    ShieldError
        When there are more than 2,000,000 states.
    """
    if math.prod(betas) > MOST_STATES:
        raise ShieldError(
            f"deadlines {listed(betas)} have {math.prod(betas):,} states, more than the {MOST_STATES:,} that are "
            "searched: use one beta for all values, or shorter deadlines"
        )
    wins = np.ones(tuple(betas), dtype=bool)
    while True:
        some = np.zeros_like(wins)
        for value in range(len(betas)):
            some |= np.expand_dims(_after(wins, value), value)
        some &= wins
        if np.array_equal(some, wins):
            return wins
        wins = some


def _after(wins: np.ndarray, value: int) -> np.ndarray:
    """For the counters of the other values: whether the output `value` leads to a winning state."""
    reset = wins.take(wins.shape[value] - 1, axis=value)
    moved = np.zeros_like(reset)
    if moved.ndim == 0:
        return reset
    moved[(slice(1, None),) * moved.ndim] = reset[(slice(None, -1),) * moved.ndim]
    return moved


def allowed_outputs(wins: np.ndarray, counters: Sequence[int]) -> list[int]:
    """Values that, put out in this state, lead to a winning one."""
    found = []
    for value in range(len(counters)):
        after = [counter - 2 for counter in counters]
        after[value] = wins.shape[value] - 1
        if min(after) >= 0 and wins[tuple(after)]:
            found.append(value)
    return found


def may_waste(wins: np.ndarray, counters: Sequence[int]) -> bool:
    """Whether a generation that shows none of the values leads to a winning state."""
    after = [counter - 2 for counter in counters]
    return min(after) >= 0 and bool(wins[tuple(after)])


def nearest_winning(wins: np.ndarray, counters: Sequence[int]) -> list[int] | None:
    """The winning state that raises the counters least in sum; None when the region is empty."""
    if not wins.any():
        return None
    states = np.argwhere(wins) + 1
    states = states[(states >= np.maximum(counters, 1)).all(axis=1)]
    if not len(states):
        return None
    return [int(counter) for counter in states[int(np.argmin(states.sum(axis=1)))]]
