"""Rules of least cost, against every rule there is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from justicia.learners.maxsat import Patterns, accepted, cost, least_cost
from justicia.learners.search import Budget, search_rule


def random_patterns(seed: int, n_literals: int, n_rows: int = 30) -> Patterns:
    rng = np.random.default_rng(seed)
    true = rng.random((n_rows, n_literals)) < 0.5
    return Patterns.of(true, rng.integers(-9, 10, size=n_rows))


def by_hand(patterns: Patterns, rule) -> int:
    """Less the gain of the rows that satisfy each clause with literals, plus 2 a literal."""
    total = 2 * sum(sum(clause) for clause in rule)
    for true, gain in zip(patterns.true.tolist(), patterns.gain.tolist(), strict=True):
        clauses = [[one for one, kept in zip(true, clause, strict=True) if kept] for clause in rule]
        if all(any(clause) for clause in clauses if clause):
            total -= gain
    return total


def every_rule(n_clauses: int, n_literals: int):
    clauses = list(product([False, True], repeat=n_literals))
    return product(clauses, repeat=n_clauses)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("n_clauses", "n_literals"), [(1, 6), (2, 4)])
def test_least_cost_is_the_least_of_all_rules(seed, n_clauses, n_literals):
    patterns = random_patterns(seed, n_literals)
    least = min(by_hand(patterns, rule) for rule in every_rule(n_clauses, n_literals))
    start = np.zeros((n_clauses, n_literals), dtype=bool)
    rule, _, is_least = least_cost(patterns, np.full(start.shape, 2), start, 100_000)
    assert is_least
    assert by_hand(patterns, rule.tolist()) == cost(patterns, rule, 2) == least


@pytest.mark.parametrize("seed", range(8))
def test_the_search_finds_the_least_of_small_problems(seed):
    patterns = random_patterns(seed, 5)
    least = min(by_hand(patterns, rule) for rule in every_rule(2, 5))
    found = search_rule(patterns, 2, 2, Budget(100_000), np.random.default_rng(0), batch_size=8, n_batches=3)
    assert found.settled
    assert by_hand(patterns, found.rule.tolist()) == found.cost == least


def test_a_rule_that_is_kept_costs_nothing():
    # One row speaks for neither literal; the second one was there before.
    patterns = Patterns(np.array([[True, True]]), np.array([5]))
    costs = np.array([[2, -2]])
    rule, _, _ = least_cost(patterns, costs, np.array([[False, False]]), 1000)
    assert rule.tolist() == [[False, True]]


def test_without_conflicts_the_start_is_the_answer():
    patterns = random_patterns(0, 6)
    start = np.zeros((2, 6), dtype=bool)
    start[0, 3] = True
    rule, spent, least = least_cost(patterns, np.full((2, 6), 2), start, 0)
    assert (rule.tolist(), spent, least) == (start.tolist(), 0, False)
    rule, _, least = least_cost(patterns, np.full((2, 6), 2), start, 1000, lambda: True)
    assert (rule.tolist(), least) == (start.tolist(), False)


def test_patterns_join_equal_rows_and_drop_those_that_cancel():
    true = np.array([[True, False], [False, True], [True, False], [False, True]])
    patterns = Patterns.of(true, np.array([3, 1, 4, -1]))
    assert patterns.true.tolist() == [[True, False]]
    assert patterns.gain.tolist() == [7]
    nothing = Patterns.of(np.zeros((3, 0), dtype=bool), np.array([1, 2, -5]))
    assert nothing.gain.tolist() == [-2]


def test_clauses_without_literals_hold():
    true = np.array([[True, False], [False, False]])
    assert accepted(true, np.array([[False, False], [True, False]])).tolist() == [True, False]
