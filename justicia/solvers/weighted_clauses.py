"""Clauses with weights: a formula of one case or several, ready for the search.

Each case is worked on by itself. Choices and what they settle are left out of its clauses. Variables that others define
are counted like random ones. A random bit of which every clause speaks of variables that come no later is summed out
when, whatever those are, at most one of its clauses, the bit left out, is false: if none is, the bit counts 1; if one
is, the bit has to satisfy it, and counts the probability of that. So its clauses become weighted ones: a clause that is
false multiplies by its weight. Encodings are full of such bits, one for each group and state, and the clauses
that are left are the same ones for all groups: only their weights differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from justicia.solvers.clause_cases import random_hash
from justicia.solvers.clause_tables import MAX, SUM, ClauseTables, count_defined, definitions_of, occurrences_of

if TYPE_CHECKING:
    from justicia.solvers.clause_cases import Cases

__all__ = ["WeightedClauses", "weighted", "weighted_by_definitions"]

_MOST_OF_BIT = 400
"""Clauses that a bit may stand in to be summed out."""
_SHORT = 3
"""Longest clauses from which is concluded that two others cannot both be false."""


@dataclass(frozen=True)
class WeightedClauses:
    """Clauses that several cases share.

    Attributes
    ----------
    tables : ClauseTables
        Clauses over the variables that are left; `numbers` are positions in the tables that it was made from, `weight`
        is not used.
    clause_weight : float64 array of shape (n_clauses, n_cases)
        Of clauses that are false; 0 for those that have to hold, 1 where a case has no such clause.
    weight : float64 array of shape (2 n_variables, n_cases)
        Of literals that are true.
    root : float64 array of shape (n_cases,)
        What the value of each case is multiplied with.
    """

    tables: ClauseTables
    clause_weight: np.ndarray
    weight: np.ndarray
    root: np.ndarray

    def alike(self, most: float) -> bool:
        """Whether all cases together have at most so many times the clauses of the largest one."""
        largest = int((self.clause_weight != 1.0).sum(axis=0).max(initial=0))
        return self.tables.n_clauses <= most * largest

    def part(self, cases: slice) -> WeightedClauses:
        """Some of the cases."""
        weights = self.clause_weight[:, cases]
        kept = (weights != 1.0).any(axis=1)
        lengths = np.diff(self.tables.clause_start)
        start = np.concatenate([[0], np.cumsum(lengths[kept])]).astype(np.int32)
        literals = self.tables.clause_literal[np.repeat(kept, lengths)]
        occurrence_start, occurrence = occurrences_of(start, literals, self.tables.n_variables)
        tables = replace(
            self.tables,
            clause_start=start,
            clause_literal=literals,
            occurrence_start=occurrence_start,
            occurrence=occurrence,
        )
        return WeightedClauses(tables, weights[kept], self.weight[:, cases], self.root[cases])


def weighted(tables: ClauseTables, cases: Cases) -> WeightedClauses:
    """The cases of a formula, with the clauses that they share.

    Parameters
    ----------
    tables : ClauseTables
        Without definitions.
    cases : Cases
    """
    parts = [_of_case(tables, cases.settled, values) for values in cases.values]
    return _together(tables, parts, [definitions_of(part) for part in parts])


def weighted_by_definitions(tables: ClauseTables, cases: Cases) -> list[tuple[np.ndarray, WeightedClauses]]:
    """The cases whose variables under ∃ are all defined, and the others, each with their positions.

    A variable that one case leaves open is open for all that are searched together, and has to be tried.
    """
    parts = [_of_case(tables, cases.settled, values) for values in cases.values]
    definitions = [definitions_of(part) for part in parts]
    loose = np.array(
        [bool(((part.kind == MAX) & ~defined).any()) for part, defined in zip(parts, definitions, strict=True)]
    )
    return [
        (at, _together(tables, [parts[case] for case in at], [definitions[case] for case in at]))
        for at in (np.flatnonzero(~loose), np.flatnonzero(loose))
        if len(at)
    ]


def _together(tables: ClauseTables, parts: list[ClauseTables], definitions: list[np.ndarray]) -> WeightedClauses:
    """Cases that are searched together."""
    n_cases = len(parts)
    random = tables.kind == SUM
    present = np.zeros((n_cases, tables.n_variables), dtype=bool)
    defined = np.ones(tables.n_variables, dtype=bool)
    for case, part in enumerate(parts):
        present[case, part.numbers] = True
        defined[part.numbers] &= definitions[case]
    kind, level = tables.kind.copy(), tables.level.copy()
    used = np.flatnonzero(present.any(axis=0))
    of_used, level_of_used = kind[used], level[used]
    count_defined(of_used, level_of_used, defined[used])
    kind[used], level[used] = of_used, level_of_used
    return _joined(tables, kind, level, random, parts, present)


def _of_case(tables: ClauseTables, settled: np.ndarray, values: np.ndarray) -> ClauseTables:
    """The clauses of one case; `numbers` are positions in the tables of the formula."""
    literal = tables.clause_literal
    open_literal = ~settled[literal >> 1]
    lengths = np.diff(tables.clause_start)
    if tables.n_clauses:
        true = ~open_literal & (values[literal >> 1] == 1 - (literal & 1))
        left = np.add.reduceat(true, tables.clause_start[:-1], dtype=np.int64) == 0
    else:
        left = np.zeros(0, dtype=bool)
    kept = open_literal & np.repeat(left, lengths)
    lengths = np.diff(np.concatenate([[0], np.cumsum(kept)])[tables.clause_start])[left]
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    numbers, index = np.unique(literal[kept] >> 1, return_inverse=True)
    literals = (2 * index + (literal[kept] & 1)).astype(np.int32)
    both = np.stack([2 * numbers, 2 * numbers + 1], axis=1).ravel()
    return ClauseTables(
        numbers, start, literals, *occurrences_of(start, literals, len(numbers)), tables.kind[numbers],
        tables.level[numbers], tables.weight[both], False, np.zeros(len(numbers), dtype=bool),
    )  # fmt: skip


def _summed_out(part: ClauseTables, level: np.ndarray, random: np.ndarray) -> np.ndarray:
    """Which literal of each clause is summed out, -1 for none."""
    from justicia.solvers._case_kernels import eliminated

    has_random = np.zeros(part.n_clauses, dtype=bool)
    has_random[np.repeat(np.arange(part.n_clauses), np.diff(part.clause_start))[random[part.clause_literal >> 1]]] = (
        True
    )
    reason = ~has_random & (np.diff(part.clause_start) <= _SHORT)
    candidates = np.flatnonzero(random)
    n_occurrences = part.occurrence_start[2::2] - part.occurrence_start[:-2:2]
    candidates = candidates[np.argsort(n_occurrences[candidates], kind="stable")]
    return eliminated(
        candidates, level, part.clause_start, part.clause_literal, part.occurrence_start, part.occurrence, reason,
        _MOST_OF_BIT,
    )  # fmt: skip


def _joined(
    tables: ClauseTables,
    kind: np.ndarray,
    level: np.ndarray,
    random: np.ndarray,
    parts: list[ClauseTables],
    present: np.ndarray,
) -> WeightedClauses:
    """Clauses of all cases, those with the same literals once."""
    hashes = random_hash(2 * tables.n_variables)
    keys, owners, falses, starts, flats, n_before = [], [], [], [np.zeros(1, dtype=np.int64)], [], 0
    for case, part in enumerate(parts):
        removed = _summed_out(part, level[part.numbers], random[part.numbers])
        lengths = np.diff(part.clause_start)
        kept = part.clause_literal != np.repeat(removed, lengths)
        places = np.concatenate([[0], np.cumsum(kept)])[part.clause_start]
        literals = 2 * part.numbers[part.clause_literal[kept] >> 1] + (part.clause_literal[kept] & 1)
        sums = np.concatenate([np.zeros((1, 2), dtype=np.uint64), np.cumsum(hashes[literals], axis=0)])
        keys.append(sums[places[1:]] - sums[places[:-1]])
        owners.append(np.full(part.n_clauses, case))
        # The literal that was summed out has to be true: -1 is none, and the clause has to hold.
        falses.append(np.where(removed < 0, 0.0, part.weight[removed]))
        starts.append(places[1:] + n_before)
        n_before += len(literals)
        flats.append(literals)
    start, flat = np.concatenate(starts), np.concatenate([*flats, np.zeros(0, dtype=np.int64)])
    key = np.concatenate([*keys, np.zeros((0, 2), dtype=np.uint64)])
    _, first, inverse = np.unique(
        np.ascontiguousarray(key).view([("a", np.uint64), ("b", np.uint64)]).ravel(),
        return_index=True,
        return_inverse=True,
    )
    clause_weight = np.ones((len(first), len(parts)))
    np.multiply.at(clause_weight, (inverse, np.concatenate([*owners, np.zeros(0, dtype=np.int64)]).astype(np.int64)),
                   np.concatenate([*falses, np.zeros(0)]))  # fmt: skip
    lengths = start[first + 1] - start[first]
    literals = [flat[start[one] : start[one + 1]] for one in first]
    weight = np.repeat(tables.weight[:, None], len(parts), axis=1)
    # A defined variable of other cases would be counted twice.
    counted = np.flatnonzero((kind == SUM) & ~random)
    weight[2 * counted] = present[:, counted].T
    root = clause_weight[lengths == 0].prod(axis=0)
    for one in np.flatnonzero(lengths == 1):
        weight[literals[one][0] ^ 1] *= clause_weight[one]
    longer = np.flatnonzero(lengths > 1)
    numbers = np.unique(np.concatenate([*literals, np.zeros(0, dtype=np.int64)]) >> 1)
    index = np.zeros(tables.n_variables, dtype=np.int64)
    index[numbers] = np.arange(len(numbers))
    rest = np.concatenate([*(literals[one] for one in longer), np.zeros(0, dtype=np.int64)])
    clause_start = np.concatenate([[0], np.cumsum(lengths[longer])]).astype(np.int32)
    clause_literal = (2 * index[rest >> 1] + (rest & 1)).astype(np.int32)
    both = np.stack([2 * numbers, 2 * numbers + 1], axis=1).ravel()
    shared = ClauseTables(
        numbers, clause_start, clause_literal, *occurrences_of(clause_start, clause_literal, len(numbers)),
        kind[numbers], level[numbers], tables.weight[both], False, tables.settled[numbers],
    )  # fmt: skip
    return WeightedClauses(shared, clause_weight[longer], weight[both], root)
