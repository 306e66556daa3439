"""The search for a rule: batch after batch, then clause after clause.

First the rows are taken in batches, and all clauses are learned from each batch, where keeping the rule of the batch
before is an incentive (Ghosh and Meel 2019). Then the best rule found is improved on all rows at once: one clause, or
two together, are learned anew from a few literals that promise most, the others kept. Rows that these literals do not
tell apart are one weighted row then, so that the MaxSAT problem is small however many rows there are, and it is solved
to the end more often than not. Weights are whole numbers, and so is everything that is compared: no rounding of some
machine's arithmetic decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from justicia.learners.maxsat import Patterns, accepted, cost, least_cost

__all__ = ["Budget", "Found", "search_rule"]

_CHUNK = 1 << 22
_MOST_NUMBERS = 1 << 24
"""Rows times literals that are held as numbers as well, for sums."""
_PER_STEP = 1000
"""Conflicts of one MaxSAT problem, at most."""
_FEW, _PAIR = 14, 8
"""Literals that one clause, and each of two, is learned from."""


@dataclass
class Budget:
    """What is left.

    Attributes
    ----------
    conflicts : int
    expired : callable or None
        True when there is no time left.
    """

    conflicts: int
    expired: Callable[[], bool] | None = None

    @property
    def spent(self) -> bool:
        """Whether the search has to end."""
        return self.conflicts <= 0 or (self.expired is not None and self.expired())


@dataclass(frozen=True)
class Found:
    """A rule, and how it was found.

    Attributes
    ----------
    rule : bool array of shape (n_clauses, n_literals)
    cost : int
    steps : int
        MaxSAT problems.
    settled : bool
        False when conflicts or time ran out before a whole round brought nothing.
    """

    rule: np.ndarray
    cost: int
    steps: int
    settled: bool


class _Search:
    def __init__(
        self,
        patterns: Patterns,
        n_clauses: int,
        literal: int,
        budget: Budget,
        rng: np.random.Generator,
        report: Callable[[str, float], None] | None,
    ) -> None:
        self.patterns = patterns
        self.literal = literal
        self.budget = budget
        self.rng = rng
        self.report = report
        self.steps = 0
        self._all = budget.conflicts
        held = patterns.true
        self._numbers = np.asfortranarray(held, dtype=np.float64) if held.size <= _MOST_NUMBERS else None
        self.rule = np.zeros((n_clauses, patterns.true.shape[1]), dtype=bool)
        self.cost = cost(patterns, self.rule, literal)

    def step(self, patterns: Patterns, costs: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Solve one MaxSAT problem on the budget."""
        rule, spent, _ = least_cost(patterns, costs, start, min(_PER_STEP, self.budget.conflicts), self.budget.expired)
        # A problem without conflicts costs something, too, so that a budget is always spent some time.
        self.budget.conflicts -= max(spent, 20)
        self.steps += 1
        return rule

    def offer(self, rule: np.ndarray) -> bool:
        """Keep a rule if it costs less than the best one so far."""
        found = cost(self.patterns, rule, self.literal)
        if found >= self.cost:
            return False
        self.rule, self.cost = rule, found
        return True

    def say(self, what: str) -> None:
        if self.report is not None:
            self.report(what, 1.0 - max(self.budget.conflicts, 0) / self._all)

    def batches(self, size: int, most: int) -> None:
        """Learn all clauses from each batch, the rule before it kept where nothing speaks against it."""
        n = len(self.patterns.true)
        order = self.rng.permutation(n)
        n_batches = min(most, -(-n // size))
        rule = self.rule
        for number in range(n_batches):
            if self.budget.spent:
                return
            self.say(f"batch {number + 1} of {n_batches}")
            rows = np.sort(order[number * size : (number + 1) * size])
            batch = Patterns(self.patterns.true[rows], self.patterns.gain[rows])
            # A literal costs the same share of a batch as of all rows.
            share = int(np.abs(batch.gain).sum()) / max(int(np.abs(self.patterns.gain).sum()), 1)
            price = max(int(self.literal * share), 1) if self.literal else 0
            chosen = self._promising(batch, rule)
            small = batch.only(chosen)
            costs = np.where(rule[:, chosen], -price, price)
            learned = np.zeros_like(rule)
            learned[:, chosen] = self.step(small, costs, rule[:, chosen])
            self.offer(learned)
            rule = learned

    def _promising(self, batch: Patterns, rule: np.ndarray) -> np.ndarray:
        """Literals that a batch is learned from: those of the rule, and those that separate it best."""
        alone = np.abs(_sums(batch.true, batch.gain) * 2 - int(batch.gain.sum()))
        chosen = np.array(rule.any(axis=0))
        for literal in np.argsort(-alone, kind="stable"):
            if chosen.sum() >= _FEW:
                break
            chosen[literal] = True
        return np.flatnonzero(chosen)

    def restart(self, best: np.ndarray, number: int) -> None:
        """Begin again: without any clause first, then without one of the best rule's clauses after the other."""
        self.rule = np.zeros_like(best)
        if number > 1:
            left = np.arange(len(best)) != (number - 2) % len(best)
            self.rule = best & left[:, None]
        self.cost = cost(self.patterns, self.rule, self.literal)

    def improve(self) -> bool:
        """One round over all clauses and pairs of them; whether it brought something."""
        n_clauses = len(self.rule)
        better = False
        for clauses in [[one] for one in range(n_clauses)] + list(map(list, combinations(range(n_clauses), 2))):
            if self.budget.spent:
                return better
            self.say(f"clause {' and '.join(str(one + 1) for one in clauses)}")
            better |= self._again(clauses)
        return better

    def _again(self, clauses: list[int]) -> bool:
        """Learn some clauses anew, the others kept."""
        others = self.rule.copy()
        others[clauses] = False
        rows = accepted(self.patterns.true, others)
        left = Patterns(self.patterns.true[rows], self.patterns.gain[rows])
        chosen = np.asarray(self.rule[clauses].any(axis=0))
        each = _FEW if len(clauses) == 1 else _PAIR
        most = max(each * len(clauses), int(chosen.sum()) + each // 2)
        for clause in clauses:
            rest = self.rule.copy()
            rest[clause] = False
            wanted = (most - int(chosen.sum())) // (2 if clause != clauses[-1] else 1)
            chosen[[one for one in self._candidates(rest, self.rule[clause]) if not chosen[one]][:wanted]] = True
        kept = np.flatnonzero(chosen)
        costs = np.full((len(clauses), len(kept)), self.literal, dtype=np.int64)
        held = np.ix_(np.array(clauses), kept)
        others[held] = self.step(left.only(kept), costs, self.rule[held])
        return self.offer(others)

    def _candidates(self, others: np.ndarray, clause: np.ndarray) -> list[int]:
        """Literals by what they bring to a clause beside the others: alone, added to it, and in place of one of its."""
        rows = accepted(self.patterns.true, others)
        orders = [np.argsort(-self._sums(rows), kind="stable")]
        held = np.flatnonzero(clause)
        if len(held):
            counts = self.patterns.true[:, held].sum(axis=1)
            orders.append(np.argsort(-self._sums(rows & (counts == 0)), kind="stable"))
            left = counts - self.patterns.true[:, self.rng.choice(held)] == 0
            orders.append(np.argsort(-self._sums(rows & left), kind="stable"))
        orders.append(self.rng.permutation(len(clause)))
        together = np.stack(orders, axis=1).ravel()
        return list(dict.fromkeys(together.tolist()))

    def _sums(self, rows: np.ndarray) -> np.ndarray:
        """Gain of some rows in which each literal holds."""
        if self._numbers is None:
            return _sums(self.patterns.true[rows], self.patterns.gain[rows])
        # As in `_sums`, whatever the order.
        return np.asarray(np.where(rows, self.patterns.gain, 0).astype(np.float64) @ self._numbers).astype(np.int64)


def _sums(true: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Gain of the rows in which each literal holds, int64 array of shape (n_literals,)."""
    total = np.zeros(true.shape[1])
    step = max(1, _CHUNK // max(true.shape[1], 1))
    for start in range(0, len(true), step):
        # Whole numbers below 2**53: the sums are exact in whatever order they are taken.
        total += gain[start : start + step].astype(np.float64) @ true[start : start + step].astype(np.float64)
    return total.astype(np.int64)


def search_rule(
    patterns: Patterns,
    n_clauses: int,
    literal: int,
    budget: Budget,
    rng: np.random.Generator,
    *,
    batch_size: int,
    n_batches: int,
    patience: int = 1,
    restarts: int = 4,
    report: Callable[[str, float], None] | None = None,
) -> Found:
    """Search for a rule of small cost.

    Parameters
    ----------
    patterns : Patterns
        All weights together are less than 2**52.
    n_clauses : int
        At most as many.
    literal : int
        Cost of each literal.
    budget : Budget
    rng : Generator
    batch_size, n_batches : int
    patience : int
        Rounds that may bring nothing.
    restarts : int
        Times that the search begins again, first without any clause, then without one of the best rule's.
    report : callable, optional
        Takes what is being done, and the share of the budget that is spent.
    """
    search = _Search(patterns, n_clauses, literal, budget, rng, report)
    if not len(patterns.true) or not patterns.true.shape[1]:
        return Found(search.rule, search.cost, 0, True)
    search.batches(batch_size, n_batches)
    best = search.rule, search.cost
    settled = False
    for start in range(1 + restarts):
        if start:
            search.restart(best[0], start)
        idle = 0
        while idle < patience and not budget.spent:
            idle = 0 if search.improve() else idle + 1
        settled = idle >= patience
        if search.cost < best[1]:
            best = search.rule, search.cost
    return Found(*best, search.steps, settled)
