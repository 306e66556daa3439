"""Random formulas in clauses, and their values by enumeration."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

from justicia.ssat import EXISTS, RANDOM, Block, ClauseFormula


def truth_table(formula: ClauseFormula) -> np.ndarray:
    """Whether each assignment satisfies the matrix; one axis a variable in the prefix's order, false before true."""
    order = [variable for block in formula.prefix for variable in block.variables]
    axis = {variable: position for position, variable in enumerate(order)}
    table = np.ones((2,) * len(order), dtype=bool)
    for clause in formula.clauses:
        held = np.zeros((1,) * len(order), dtype=bool)
        for literal in clause:
            shape = [1] * len(order)
            shape[axis[abs(literal)]] = 2
            held = held | np.array([literal < 0, literal > 0]).reshape(shape)
        table = table & held
    return table


def by_enumeration(formula: ClauseFormula, fixed: dict[int, bool] | None = None) -> float:
    """The value of a formula, some of its outermost variables fixed."""
    values = truth_table(formula).astype(np.float64)
    for block in reversed(formula.prefix):
        for variable in reversed(block.variables):
            false, true = values[..., 0], values[..., 1]
            if fixed is not None and variable in fixed:
                values = true if fixed[variable] else false
            elif block.quantifier == RANDOM:
                p = float(block.probability)
                values = p * true + (1 - p) * false
            else:
                values = (np.maximum if block.quantifier == EXISTS else np.minimum)(false, true)
    return float(values)


def random_formula(seed: int, most: int = 14) -> ClauseFormula:
    """Any prefix; one part or several; sometimes a defined variable, an empty clause, or none at all."""
    rng = random.Random(seed)
    n = rng.randint(0, most)
    variables = list(range(1, n + 1))
    rng.shuffle(variables)
    prefix, at = [], 0
    quantifiers = rng.choice(["ear", "er", "re", "era", "r", "e", "a", "rrre", "ar"])
    while at < n:
        size, quantifier = rng.randint(1, 5), rng.choice(quantifiers)
        probability = Fraction(rng.randint(0, 20), 20) if quantifier == RANDOM else None
        prefix.append(Block(quantifier, tuple(variables[at : at + size]), probability))
        at += size
    clauses: list[tuple[int, ...]] = []
    parts = rng.randint(1, 4)
    for _ in range(rng.randint(0, int(1.6 * n) + 1)):
        part = rng.randrange(parts)
        pool = [variable for variable in variables if variable % parts == part] or variables
        if not pool:
            clauses += [()] * (rng.random() < 0.3)
            continue
        length = rng.choice([*([0] if rng.random() < 0.03 else []), 1, 2, 2, 3, 3, 3, 3, 4, 4, 6])
        clauses.append(tuple(rng.choice(pool) * rng.choice([1, -1]) for _ in range(length)))
    if n >= 4 and rng.random() < 0.5:
        defined = prefix[-1].variables[-1]
        first, second = [variable for variable in variables if variable != defined][:2]
        clauses += [(-defined, first), (-defined, second), (defined, -first, -second)]
    return ClauseFormula(tuple(prefix), tuple(clauses))


def random_3cnf(n_variables: int, n_clauses: int, seed: int) -> ClauseFormula:
    """Random variables alone, clauses of three of them."""
    rng = random.Random(seed)
    prefix = tuple(Block(RANDOM, (v,), Fraction(rng.randint(1, 99), 100)) for v in range(1, n_variables + 1))
    clauses = tuple(
        tuple(v * rng.choice([1, -1]) for v in rng.sample(range(1, n_variables + 1), 3)) for _ in range(n_clauses)
    )
    return ClauseFormula(prefix, clauses)
