"""Questions in clauses: the formula's value is what the direct engines say, and what can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import justicia
from justicia import population
from justicia.encoders import LinearThreshold, Tree
from justicia.encoders.clauses import Clauses
from justicia.errors import FormulaError, InputError
from justicia.population import Counts, Domain, Feature
from justicia.solvers import ENGINES, Effort, solve_clauses
from justicia.ssat import Formula, from_sdimacs, to_sdimacs
from justicia.ssat.lowering import DUAL, LEAST_FAVORED, MOST_FAVORED, lower
from tests.formula_cases import by_enumeration
from tests.strategies import random_case

STRUCTURES = ("independent", "tree", "auto", "empirical")


def value(asked):
    return float(solve_clauses(asked.formula).value)


def check(formula):
    """Both searches, all questions, and a file between: every way gives the rates of the direct engines."""
    n_groups = formula.population.n_groups
    rates = ENGINES["paths" if isinstance(formula.decision, Tree) else "sums"].solve(formula, Effort())
    assert (rates.hi - rates.lo).max() <= 1e-9
    largest, smallest = rates.lo.max(), rates.lo.min()
    every = ENGINES["clauses"].solve(formula, Effort())
    assert every.guarantee == "exact"
    assert every.lo == pytest.approx(rates.lo, abs=1e-9)
    assert (every.lo == every.hi).all()
    learned = ENGINES["clauses"].solve(formula, Effort(search="learn"))
    assert learned.lo.max() == pytest.approx(largest, abs=1e-9)
    assert learned.hi.min() == pytest.approx(smallest, abs=1e-9)
    assert (learned.lo <= rates.lo + 1e-9).all()
    assert (learned.hi >= rates.lo - 1e-9).all()
    assert rates.lo[learned.best] == pytest.approx(largest, abs=1e-9)
    assert rates.lo[learned.worst] == pytest.approx(smallest, abs=1e-9)
    for question, expected in ((MOST_FAVORED, largest), (LEAST_FAVORED, smallest), (DUAL, 1 - smallest)):
        asked = lower(formula, question)
        again = from_sdimacs(to_sdimacs(asked.formula))
        assert again == asked.formula
        solution = solve_clauses(again)
        assert float(solution.value) == pytest.approx(expected, abs=1e-9)
        if n_groups > 1:
            group = asked.chosen(solution.assignment)
            assert group is not None or min(expected, 1 - expected) < 1e-9
            if group is not None:
                rate = 1 - expected if question == DUAL else expected
                assert rates.lo[group] == pytest.approx(rate, abs=1e-9)


def audited(seed, structure):
    case = random_case(seed)
    return justicia.verify(
        case.model, case.frame, sensitive_features=case.sensitive, favorable=case.favorable, population=structure,
        missing="group",
    )  # fmt: skip


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("seed", range(5))
def test_trees_have_the_rates_of_the_direct_engine(seed, structure):
    audit = audited(seed, structure)
    check(Formula(audit.population, audit.decision))


@pytest.mark.slow
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("seed", range(5, 58))
def test_many_trees_have_the_rates_of_the_direct_engine(seed, structure):
    audit = audited(seed, structure)
    check(Formula(audit.population, audit.decision))


YES, NO = np.array([False, True]), np.array([True, False])


def features(n, cells=2):
    return Domain(
        tuple(
            Feature(f"x{i}", tuple(f"cell {k}" for k in range(cells)), tuple(range(cells)),
                    cells={k: k for k in range(cells)})
            for i in range(n)
        )
    )  # fmt: skip


def random_population(rng, structure, n_features=4, cells=3, n_rows=200):
    groups = (("a", "p"), ("a", "q"), ("b", "q"), ("c", "p"))
    codes = np.concatenate([np.arange(4), rng.integers(0, 4, size=n_rows)])
    points = np.minimum(rng.integers(0, cells, size=(n_rows + 4, n_features)) + codes[:, None] // 2, cells - 1)
    points[:, -1] = np.where(rng.random(len(points)) < 0.7, points[:, 0], points[:, -1])
    counts = Counts(groups, (cells,) * n_features, codes, points.astype(np.int32))
    return population.fit(structure, counts, features(n_features, cells), ("r", "s"))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_small_linear_models_have_the_rates_of_the_direct_engine(structure):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        people = random_population(rng, structure)
        weights = rng.integers(-4, 5, size=(4, 3)) if seed % 2 else rng.normal(size=(4, 3)).round(2)
        decision = LinearThreshold(tuple(weights.astype(float)), 0.125, 0.5, bool(rng.random() < 0.5), 0.0)
        check(Formula(people, decision))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_many_small_linear_models_have_the_rates_of_the_direct_engine(seed):
    rng = np.random.default_rng(1000 + seed)
    people = random_population(rng, STRUCTURES[seed % 4], n_features=6, cells=2 + seed % 3)
    weights = tuple(rng.normal(size=people.domain.sizes[0]).round(2) for _ in range(6))
    check(Formula(people, LinearThreshold(weights, 0.0, 0.305, seed % 3 > 0, 1e-14)))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_rules_in_clauses_and_their_complement(structure):
    """(not x0 or x1 = 2 or x2 < 2) and (x0 or x3 = 1), by enumeration of the domain."""
    rng = np.random.default_rng(3)
    people = random_population(rng, structure)
    low, high, middle = np.array([True, True, False]), np.array([False, False, True]), np.array([False, True, False])
    rule = Clauses((3,) * 4, ({0: low, 1: high, 2: low}, {0: ~low, 3: middle}))
    points = np.stack(np.meshgrid(*[np.arange(3)] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    accepted = points[rule.evaluate(points)]
    boxes = [np.eye(3, dtype=bool)[accepted[:, i]] for i in range(4)]
    rates = people.masses(boxes, len(accepted)).sum(axis=0)
    found = ENGINES["clauses"].solve(Formula(people, rule), Effort())
    assert found.lo == pytest.approx(rates, abs=1e-12)
    formula = Formula(people, rule)
    assert value(lower(formula, MOST_FAVORED)) == pytest.approx(rates.max(), abs=1e-12)
    assert value(lower(formula, LEAST_FAVORED)) == pytest.approx(rates.min(), abs=1e-12)
    assert value(lower(formula, DUAL)) == pytest.approx(1 - rates.min(), abs=1e-12)


def one_group(table, domain):
    """Independent features whose cells have these numbers of people, in one group."""
    rows = [np.repeat(np.arange(len(column)), column) for column in table]
    points = np.stack(rows, axis=1).astype(np.int32)
    counts = Counts((("all",),), domain.sizes, np.zeros(len(points), dtype=np.int64), points)
    return population.fit("independent", counts, domain, ("g",))


def test_a_middle_interval_has_its_own_probability():
    """Ages 20 x 25, 30 x 25 and 50 x 50: 25.5 < age <= 40.5 has .25, and not the .375 of independent thresholds."""
    age = Feature("age", ("<= 25.5", "(25.5, 40.5]", "> 40.5"), (20, 30, 50), edges=np.array([25.5, 40.5]))
    people = one_group([[25, 25, 50]], Domain((age,)))
    left, right = np.array([1, -1, 3, -1, -1]), np.array([2, -1, 4, -1, -1])
    goes = (np.array([True, False, False]), np.zeros(0, bool), np.array([True, True, False]), *[np.zeros(0, bool)] * 2)
    tree = Tree((3,), left, right, np.array([0, -1, 0, -1, -1]), goes, np.array([0, 0, 0, 1, 0], dtype=bool))
    asked = lower(Formula(people, tree), 0)
    assert value(asked) == pytest.approx(0.25, abs=1e-15)
    assert by_enumeration(asked.formula) == pytest.approx(0.25, abs=1e-15)
    assert "age <= 25.5" in asked.formula.names.values()


def test_worked_classifier_of_the_justicia_paper():
    """(not F or I) and (F or J) with marginals .41, .93, .09."""
    people = one_group([[59, 41], [7, 93], [91, 9]], features(3))
    rule = Clauses((2,) * 3, ({0: NO, 1: YES}, {0: YES, 2: YES}))
    asked = lower(Formula(people, rule), 0)
    assert value(asked) == pytest.approx(0.4344, abs=1e-12)
    assert by_enumeration(asked.formula) == pytest.approx(0.4344, abs=1e-12)


def test_worked_threshold_with_a_chosen_column():
    """P + Q + R - S >= 2 with P .4, Q .5, S .3 by chance and R the sensitive column: .55 and .14."""
    columns = [np.repeat(np.arange(2), one) for one in ([60, 40], [50, 50], [70, 30])]
    points = np.stack(columns, axis=1)
    points = np.concatenate([np.column_stack([points[:, :2], np.full(100, r), points[:, 2]]) for r in (0, 1)])
    counts = Counts((("0",), ("1",)), (2,) * 4, np.repeat([0, 1], 100), points.astype(np.int32))
    people = population.fit("independent", counts, features(4), ("R",))
    weights = tuple(np.array([0.0, w]) for w in (1, 1, 1, -1))
    formula = Formula(people, LinearThreshold(weights, 0.0, 1.5, True, 0.0))
    assert value(lower(formula, MOST_FAVORED)) == pytest.approx(0.55, abs=1e-12)
    assert value(lower(formula, LEAST_FAVORED)) == pytest.approx(0.14, abs=1e-12)
    assert value(lower(formula, DUAL)) == pytest.approx(0.86, abs=1e-12)


@pytest.mark.parametrize("accepts", [False, True])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_trees_of_a_single_leaf(structure, accepts):
    people = random_population(np.random.default_rng(0), structure)
    one = np.array([-1])
    check(Formula(people, Tree((3,) * 4, one, one, one, (np.zeros(0, dtype=bool),), np.array([accepts]))))


def test_one_group_needs_no_choice():
    people = one_group([[1, 3]], features(1))
    rule = Clauses((2,), ({0: YES},))
    for question in (0, MOST_FAVORED, LEAST_FAVORED):
        asked = lower(Formula(people, rule), question)
        assert not asked.choices
        assert value(asked) == 0.75


def test_illegal_choices_change_nothing():
    """Groups without rows, and assignments of several values to a column, are neither a maximum nor a minimum."""
    people = random_population(np.random.default_rng(5), "independent", n_features=1, cells=2)
    for accepted in (YES, NO):
        formula = Formula(people, Clauses((2,), ({0: accepted},)))
        rates = ENGINES["clauses"].solve(formula, Effort()).lo
        for question, expected in ((MOST_FAVORED, rates.max()), (LEAST_FAVORED, rates.min()), (DUAL, 1 - rates.min())):
            asked = lower(formula, question).formula
            assert by_enumeration(asked) == pytest.approx(expected, abs=1e-12)


def test_ties_are_all_candidates_of_learn():
    codes = np.repeat([0, 1, 2], [4, 4, 4])
    points = np.array([[0], [1], [1], [1]] * 2 + [[0], [0], [1], [1]], dtype=np.int32)
    people = population.fit("independent", Counts((("a",), ("b",), ("c",)), (2,), codes, points), features(1), ("g",))
    found = ENGINES["clauses"].solve(Formula(people, Clauses((2,), ({0: YES},))), Effort(search="learn"))
    assert found.lo.tolist() == [0.75, 0.75, 0.5]
    assert found.hi.tolist() == [0.75, 0.75, 0.5]


def test_what_cannot_be_written_is_refused_in_words():
    people = random_population(np.random.default_rng(0), "tree")

    class Odd:
        sizes = (3,) * 4

    with pytest.raises(
        FormulaError, match=r"\(Odd\) is not written in clauses: decision trees, rules and small linear"
    ):
        lower(Formula(people, Odd()), 0)
    near = LinearThreshold(tuple(np.array([0.0, 0.1, 0.2]) for _ in range(4)), 0.0, 0.3, True, 1e-12)
    with pytest.raises(FormulaError, match="some score lies so near the threshold"):
        lower(Formula(people, near), 0)
    with pytest.raises(InputError, match="solver clauses does not take a AdditiveTrees"):
        justicia.verify("boosting", "ricci", solver="clauses")


def test_time_limit_gives_bounds():
    audit = justicia.verify("tree", "titanic", population="tree")
    found = ENGINES["clauses"].solve(Formula(audit.population, audit.decision), Effort(time_limit=0.0))
    exact = ENGINES["paths"].solve(Formula(audit.population, audit.decision), Effort())
    assert (found.lo <= exact.lo + 1e-12).all()
    assert (found.hi >= exact.hi - 1e-12).all()
    learned = ENGINES["clauses"].solve(
        Formula(audit.population, audit.decision), Effort(search="learn", time_limit=0.0)
    )
    assert (learned.lo <= exact.lo + 1e-12).all()
    assert (learned.hi >= exact.hi - 1e-12).all()


def test_illegal_choices_leave_the_legal_groups_their_definitions():
    """Under ∀, what an illegal choice leaves open is not tried for the legal ones, which took minutes."""
    rng = np.random.default_rng(1002)
    people = random_population(rng, STRUCTURES[2], n_features=6, cells=4)
    weights = tuple(rng.normal(size=4).round(2) for _ in range(6))
    formula = Formula(people, LinearThreshold(weights, 0.0, 0.305, True, 1e-14))
    nodes = {
        question: solve_clauses(lower(formula, question).formula).nodes for question in (MOST_FAVORED, LEAST_FAVORED)
    }
    assert nodes[LEAST_FAVORED] < 2 * nodes[MOST_FAVORED]
