"""Which groups' numbers are left out of a publication, so that no small number of people can be told from the rest.

A group is suppressed when one of its counts (people, selected, rejected; with a true outcome, the same among people of
either outcome) is above 0 and below the limit. That alone is not enough: what is shown of other groups, with the total,
may give the number away. So more groups are suppressed, the smallest first, until for every small count

- no weighted sum of shown counts equals it (it is outside their linear span), and
- counts of at least 0 that agree with all that is shown leave it a range as wide as the limit.

Counts of different kinds (people, selected, ...) are looked at one by one, each as if its total were known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from justicia.errors import InputError
from justicia.tables.repeats import number_of, of_rows, tally

__all__ = ["suppressed_groups"]

_MOST_CELLS = 20_000_000


@dataclass(frozen=True)
class _Table:
    """Counts of people who are in the same groups of all groupings.

    Attributes
    ----------
    inside : float64 array of shape (n_groups, n_atoms)
        1 where the people are in the group; the groups of all groupings one after the other.
    layers : list of int array of shape (n_atoms,)
        One a kind of count.
    """

    inside: np.ndarray
    layers: list[np.ndarray]


def suppressed_groups(
    codes: Sequence[np.ndarray], kinds: Sequence[np.ndarray], least: int, repeats: np.ndarray | None = None
) -> list[frozenset[int]]:
    """Positions of the groups of each grouping that are suppressed.

    Parameters
    ----------
    codes : sequence of int array of shape (n_rows,)
        One a grouping: each person's group; -1 for a person who is in none.
    kinds : sequence of bool array of shape (n_rows,)
        Which people each kind of count is of.
    least : int
        The smallest count, besides 0, that is published.
    repeats : int64 array of shape (n_rows,), optional
        Equal rows that each row stands for.
    """
    if len(codes) == 1:
        return [_of_one_grouping(codes[0], kinds, least, repeats)]
    return _of_several(codes, kinds, least, repeats)


def _of_one_grouping(
    codes: np.ndarray, kinds: Sequence[np.ndarray], least: int, repeats: np.ndarray | None
) -> frozenset[int]:
    """The same where nobody is in two groups, so that all that is known of hidden groups is their sum.

    A count is given away when there is one group, or the sum is below the limit: otherwise it may be anything between
    0 and the sum. People who are in no group are as those of a hidden one.
    """
    n_groups = int(codes.max(initial=-1)) + 1
    layers = [tally(codes[codes >= 0], n_groups, of_rows(repeats, codes >= 0), kind[codes >= 0]) for kind in kinds]
    others = [number_of((codes < 0) & kind, repeats) for kind in kinds]
    outside = int((codes < 0).any())
    small = [(counts > 0) & (counts < least) for counts in layers]
    hidden = np.logical_or.reduce(small)
    primary = hidden.copy()

    def given_away(layer: int) -> bool:
        return int(hidden.sum()) + outside < 2 or int(layers[layer][hidden].sum()) + others[layer] < least

    sizes = layers[0]
    order = np.argsort(sizes, kind="stable")
    watched = [layer for layer, groups in enumerate(small) if groups.any()]
    for layer in watched:
        while given_away(layer):
            rest = order[~hidden[order] & (sizes[order] > 0)]
            if not len(rest):
                break
            hidden[rest[0]] = True
    more = np.flatnonzero(hidden & ~primary)
    for group in more[np.argsort(-sizes[more], kind="stable")]:
        hidden[group] = False
        if any(given_away(layer) for layer in watched):
            hidden[group] = True
    return frozenset(np.flatnonzero(hidden).tolist())


def _of_several(
    codes: Sequence[np.ndarray], kinds: Sequence[np.ndarray], least: int, repeats: np.ndarray | None
) -> list[frozenset[int]]:
    """The same where groups of one grouping overlap with those of another: by linear algebra and linear programs."""
    table, offsets = _table(codes, kinds, repeats)
    sizes = table.inside @ table.layers[0]
    held = [table.inside @ layer for layer in table.layers]
    small = [np.flatnonzero((counts > 0) & (counts < least)).tolist() for counts in held]
    hidden = {group for groups in small for group in groups}
    place = np.repeat(np.arange(len(codes)), np.diff(offsets))
    primary = set(hidden)
    # Whatever else is hidden later, a count that is protected stays so.
    for layer, groups in enumerate(small):
        for group in groups:
            while _given_away(table, layer, group, hidden, least):
                # Where the group's own grouping has another one to show, that is the next to go.
                rest = [one for one in range(len(sizes)) if one not in hidden and sizes[one]]
                if not rest:
                    break
                own = [one for one in rest if place[one] == place[group]]
                hidden.add(min(own or rest, key=lambda one: (sizes[one], one)))
    for group in sorted(hidden - primary, key=lambda one: (-sizes[one], one)):
        # What the others protect by now is shown again.
        without = hidden - {group}
        if not any(
            _given_away(table, layer, one, without, least) for layer, groups in enumerate(small) for one in groups
        ):
            hidden = without
    return [
        frozenset(group - int(start) for group in hidden if start <= group < stop)
        for start, stop in pairwise(offsets.tolist())
    ]


def _table(
    codes: Sequence[np.ndarray], kinds: Sequence[np.ndarray], repeats: np.ndarray | None
) -> tuple[_Table, np.ndarray]:
    patterns, inverse = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
    inverse = inverse.ravel()
    widths = [int(one.max()) + 1 for one in codes]
    offsets = np.concatenate([[0], np.cumsum(widths)])
    if int(offsets[-1]) * len(patterns) > _MOST_CELLS:
        raise InputError(
            f"{int(offsets[-1]):,} groups of {len(codes)} groupings are too many to find out which numbers would give "
            "a small one away: name one grouping, or fewer columns"
        )
    inside = np.zeros((int(offsets[-1]), len(patterns)))
    for position, start in enumerate(offsets[:-1]):
        atoms = np.flatnonzero(patterns[:, position] >= 0)
        inside[start + patterns[atoms, position], atoms] = 1
    layers = [tally(inverse, len(patterns), repeats, kind) for kind in kinds]
    return _Table(inside, layers), offsets


def _given_away(table: _Table, layer: int, group: int, hidden: set[int], least: int) -> bool:
    """Whether what is shown gives a count away."""
    shown = [one for one in range(len(table.inside)) if one not in hidden]
    known = np.vstack([table.inside[shown], np.ones(table.inside.shape[1])])
    row = table.inside[group]
    left = row - known.T @ np.linalg.lstsq(known.T, row, rcond=None)[0]
    return bool(np.abs(left).max() < 1e-7) or _range(known, table.layers[layer], row) < least


def _range(known: np.ndarray, layer: np.ndarray, row: np.ndarray) -> float:
    """Width of the range of a count, given sums of counts of at least 0."""
    from scipy.optimize import linprog

    ends = []
    for sign in (1.0, -1.0):
        answer = linprog(sign * row, A_eq=known, b_eq=known @ layer, bounds=(0, None), method="highs")
        if not answer.success:
            return 0.0
        ends.append(sign * float(answer.fun))
    return ends[1] - ends[0] + 1e-6
