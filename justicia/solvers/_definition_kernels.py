"""Compiled search for variables that others define; `definitions.py` says what it does, and prepares the arrays."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["find_defined"]


@njit(cache=True)
def _gather(candidate, known, clause_start, clause_literal, occurrence_start, occurrence, stamps, stamp, place, local):
    """Clauses of the candidate over known variables, and other clauses over their variables.

    Returns the number of local clauses, which `local` lists, and of those that were looked at.
    """
    n_clauses, n_variables, looked_at = 0, 0, 0
    for literal in (2 * candidate, 2 * candidate + 1):
        for k in range(occurrence_start[literal], occurrence_start[literal + 1]):
            clause = occurrence[k]
            looked_at += 1
            usable = True
            for j in range(clause_start[clause], clause_start[clause + 1]):
                variable = clause_literal[j] >> 1
                if variable != candidate and not known[variable]:
                    usable = False
                    break
            if not usable:
                continue
            local[n_clauses] = clause
            n_clauses += 1
            for j in range(clause_start[clause], clause_start[clause + 1]):
                variable = clause_literal[j] >> 1
                if variable != candidate and stamps[variable] != stamp:
                    stamps[variable] = stamp
                    place[n_variables] = variable
                    n_variables += 1
    if n_clauses == 0:
        return 0, looked_at
    for i in range(n_variables):
        for literal in (2 * place[i], 2 * place[i] + 1):
            for k in range(occurrence_start[literal], occurrence_start[literal + 1]):
                clause = occurrence[k]
                looked_at += 1
                # Each clause once: when the variable is that of its first literal.
                if clause_literal[clause_start[clause]] != literal:
                    continue
                inside = True
                for j in range(clause_start[clause], clause_start[clause + 1]):
                    if stamps[clause_literal[j] >> 1] != stamp:
                        inside = False
                        break
                if inside:
                    local[n_clauses] = clause
                    n_clauses += 1
    return n_clauses, looked_at


@njit(cache=True)
def _refuted(candidate, n_clauses, local, clause_start, clause_literal, random, index, most):
    """Whether no values of the others allow both values of the candidate; False when `most` branches do not tell.

    Returns also the number of branches that it took.
    """
    size, n_variables = 0, 0
    for i in range(n_clauses):
        size += clause_start[local[i] + 1] - clause_start[local[i]]
    starts = np.zeros(n_clauses + 1, dtype=np.int32)
    literals = np.empty(size, dtype=np.int32)
    variables = np.empty(size, dtype=np.int32)
    size = 0
    for i in range(n_clauses):
        for j in range(clause_start[local[i]], clause_start[local[i] + 1]):
            literal = clause_literal[j]
            variable = literal >> 1
            if variable == candidate:
                continue
            if index[variable] < 0:
                index[variable] = n_variables
                variables[n_variables] = variable
                n_variables += 1
            literals[size] = 2 * index[variable] + (literal & 1)
            size += 1
        starts[i + 1] = size
    for i in range(n_variables):
        index[variables[i]] = -1
    counts = np.zeros(2 * n_variables + 1, dtype=np.int32)
    for i in range(size):
        counts[literals[i] + 1] += 1
    of_variable = counts[1::2] + counts[2::2]
    for i in range(n_variables):
        if not random[variables[i]]:
            of_variable[i] += size
    prefers_false = counts[2::2] > counts[1::2]
    places = np.cumsum(counts)
    occurrences = np.empty(size, dtype=np.int32)
    filled = places.copy()
    for i in range(n_clauses):
        for j in range(starts[i], starts[i + 1]):
            occurrences[filled[literals[j]]] = i
            filled[literals[j]] += 1
    open_literals = starts[1:] - starts[:-1]
    true_literals = np.zeros(n_clauses, dtype=np.int32)
    value = np.full(n_variables, -1, dtype=np.int8)
    reason = np.full(n_variables, -1, dtype=np.int32)
    trail = np.empty(n_variables + 1, dtype=np.int32)
    decisions = np.empty(n_variables + 1, dtype=np.int32)
    level_of = np.zeros(n_variables, dtype=np.int32)
    flipped = np.zeros(n_variables + 1, dtype=np.bool_)
    blamed = np.zeros((16, n_variables + 1), dtype=np.bool_)
    involved = np.zeros(n_variables + 1, dtype=np.bool_)
    marked = np.zeros(n_variables, dtype=np.bool_)
    n_trail, head, depth, branches = 0, 0, 0, 0
    for i in range(n_clauses):
        if open_literals[i] == 0:
            return True, branches
        if open_literals[i] == 1:
            literal = literals[starts[i]]
            if value[literal >> 1] < 0:
                value[literal >> 1] = 1 - (literal & 1)
                reason[literal >> 1] = i
                trail[n_trail] = literal
                n_trail += 1
            elif value[literal >> 1] != 1 - (literal & 1):
                return True, branches
    while True:
        conflict = -1
        while head < n_trail and conflict < 0:
            literal = trail[head]
            head += 1
            for k in range(places[literal], places[literal + 1]):
                true_literals[occurrences[k]] += 1
            for k in range(places[literal ^ 1], places[(literal ^ 1) + 1]):
                clause = occurrences[k]
                open_literals[clause] -= 1
                if true_literals[clause] or open_literals[clause] > 1 or conflict >= 0:
                    continue
                if open_literals[clause] == 0:
                    conflict = clause
                    continue
                for j in range(starts[clause], starts[clause + 1]):
                    other = literals[j]
                    if value[other >> 1] < 0:
                        value[other >> 1] = 1 - (other & 1)
                        reason[other >> 1] = clause
                        trail[n_trail] = other
                        n_trail += 1
                        break
        if conflict < 0:
            # The shortest clause, so that one question is settled before the next one is opened.
            shortest, length = -1, n_variables + 1
            for i in range(n_clauses):
                if true_literals[i] == 0 and open_literals[i] < length:
                    shortest, length = i, open_literals[i]
                    if length == 2:
                        break
            if shortest < 0 or branches >= most:
                return False, branches
            chosen = -1
            for j in range(starts[shortest], starts[shortest + 1]):
                variable = literals[j] >> 1
                if value[variable] < 0 and (chosen < 0 or of_variable[variable] > of_variable[chosen]):
                    chosen = variable
            branches += 1
            if depth == len(blamed):
                larger = np.zeros((2 * depth, n_variables + 1), dtype=np.bool_)
                larger[:depth] = blamed
                blamed = larger
            decisions[depth] = n_trail
            flipped[depth] = False
            level_of[chosen] = depth
            depth += 1
            # What is denied most often is tried first: contradictions come soon.
            literal = 2 * chosen + (1 - prefers_false[chosen])
        else:
            # Which decisions the contradiction rests on; the others are skipped on the way back.
            involved[:depth] = False
            for j in range(starts[conflict], starts[conflict + 1]):
                marked[literals[j] >> 1] = True
            for i in range(n_trail - 1, -1, -1):
                variable = trail[i] >> 1
                if not marked[variable]:
                    continue
                marked[variable] = False
                because = reason[variable]
                if because >= 0:
                    for j in range(starts[because], starts[because + 1]):
                        if literals[j] >> 1 != variable:
                            marked[literals[j] >> 1] = True
                    continue
                level = level_of[variable]
                if flipped[level]:
                    for other in range(level):
                        involved[other] |= blamed[level, other]
                else:
                    involved[level] = True
            while depth > 0 and not involved[depth - 1]:
                depth -= 1
            if depth == 0:
                return True, branches
            depth -= 1
            begin = decisions[depth]
            literal = trail[begin] ^ 1
            for i in range(n_trail - 1, begin - 1, -1):
                undone = trail[i]
                value[undone >> 1] = -1
                reason[undone >> 1] = -1
                if i < head:
                    for k in range(places[undone], places[undone + 1]):
                        true_literals[occurrences[k]] -= 1
                    for k in range(places[undone ^ 1], places[(undone ^ 1) + 1]):
                        open_literals[occurrences[k]] += 1
            n_trail = begin
            head = begin
            flipped[depth] = True
            for other in range(depth):
                blamed[depth, other] = involved[other]
            depth += 1
        value[literal >> 1] = 1 - (literal & 1)
        trail[n_trail] = literal
        n_trail += 1


@njit(cache=True)
def find_defined(candidates, known, random, clause_start, clause_literal, occurrence_start, occurrence, most, effort):
    """Mark in `known` every candidate that known ones define; those that it may help are looked at once more.

    Parameters
    ----------
    candidates : int array
    known : bool array of shape (n_variables,)
        Changed in place.
    random : bool array of shape (n_variables,)
        Variables that are branched on last: those that choose among them come first.
    most : int
        Branches that one candidate may take.
    effort : int
        Clauses that may be looked at, all candidates together.
    """
    n_variables = len(known)
    stamps = np.zeros(n_variables, dtype=np.int64)
    place = np.empty(n_variables, dtype=np.int32)
    local = np.empty(2 * len(clause_start), dtype=np.int32)
    index = np.full(n_variables, -1, dtype=np.int32)
    waiting = np.zeros(n_variables, dtype=np.bool_)
    candidate_of = np.zeros(n_variables, dtype=np.bool_)
    queue = np.empty(n_variables + 1, dtype=np.int32)
    first, last = 0, 0
    for i in range(len(candidates)):
        candidate_of[candidates[i]] = True
        waiting[candidates[i]] = True
        queue[last] = candidates[i]
        last += 1
    stamp = 0
    while first != last and effort > 0:
        candidate = queue[first]
        first = (first + 1) % len(queue)
        waiting[candidate] = False
        stamp += 1
        n_clauses, looked_at = _gather(
            candidate, known, clause_start, clause_literal, occurrence_start, occurrence, stamps, stamp, place, local
        )
        effort -= looked_at
        if n_clauses == 0:
            continue
        refuted, branches = _refuted(
            candidate, n_clauses, local, clause_start, clause_literal, random, index, min(most, effort // n_clauses + 1)
        )
        effort -= n_clauses * branches
        if not refuted:
            continue
        known[candidate] = True
        for literal in (2 * candidate, 2 * candidate + 1):
            for k in range(occurrence_start[literal], occurrence_start[literal + 1]):
                for j in range(clause_start[occurrence[k]], clause_start[occurrence[k] + 1]):
                    other = clause_literal[j] >> 1
                    if candidate_of[other] and not known[other] and not waiting[other]:
                        waiting[other] = True
                        queue[last] = other
                        last = (last + 1) % len(queue)
