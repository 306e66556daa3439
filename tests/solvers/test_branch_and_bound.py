"""Branch and bound against enumeration, its statistical intervals, and every way in which it may end early."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from justicia.encoders import AdditiveTrees
from justicia.population import NetworkPopulation
from justicia.solvers import BranchAndBound, Effort, branch_and_bound, leaf_sets
from justicia.solvers.boxes import Boxes, Problem
from justicia.solvers.branch_and_bound import Search
from justicia.solvers.interruption import Interruption
from justicia.solvers.sampling import OpenBoxes
from justicia.ssat import Formula
from tests.ensemble_cases import points_and_masses, random_case, random_trees
from tests.linear_cases import every_point
from tests.solvers.test_fourier import chain

SEEDS = [*range(40), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(40, 300))]
HELD_AS = pytest.mark.parametrize("most_leaves", [1024, 0], ids=["leaf sets", "top nodes"])


def solve(decision: AdditiveTrees, population: NetworkPopulation, **options):
    return BranchAndBound().solve(Formula(population, decision), Effort(**options))


def large(seed: int = 0) -> tuple[AdditiveTrees, NetworkPopulation, np.ndarray]:
    """A case that takes some hundred splits."""
    return random_case(seed, n_trees=12, most_leaves=25)


def searched(decision: AdditiveTrees, population: NetworkPopulation, rounds: int) -> Search:
    search = Search(Problem(decision, population, slice(0, population.n_groups)), 1e-12)
    with ThreadPoolExecutor(1) as pool:
        for _ in range(rounds):
            search.step(pool)
    return search


@HELD_AS
@pytest.mark.parametrize("seed", SEEDS)
def test_run_to_the_end_is_exact(monkeypatch, seed, most_leaves):
    monkeypatch.setattr(leaf_sets, "_MOST_LEAVES", most_leaves)
    # Every fourth case has trees whose leaves take several words.
    leaves = (8, 8, 30, 150)[seed % 4]
    decision, population, truth = random_case(seed, n_trees=5, most_leaves=leaves, pure=seed % 3 == 0)
    held = solve(decision, population, tolerance=1e-13, time_limit=60.0)
    if seed % 3 == 0:
        assert held.stopped is None
    assert (held.lo <= truth + 1e-12).all()
    assert (truth <= held.hi + 1e-12).all()
    assert (held.hi - held.lo <= 1e-12).all()


@HELD_AS
@pytest.mark.parametrize("seed", range(30))
def test_bounds_hold_after_every_round(monkeypatch, seed, most_leaves):
    monkeypatch.setattr(leaf_sets, "_MOST_LEAVES", most_leaves)
    decision, population, truth = random_case(seed, n_trees=8, most_leaves=20)
    truth = truth if decision.accepts_above else 1.0 - truth
    before = np.full(population.n_groups, 1.0)
    for rounds in (1, 3, 8, 20):
        search = searched(decision, population, rounds)
        low, high = search.bounds()
        assert (low <= truth + 1e-12).all()
        assert (truth <= high + 1e-12).all()
        assert (high - low <= before + 1e-12).all()
        assert np.allclose(
            search.yes + search.no + search.tied + search.boxes.mass[: search.n_boxes].sum(axis=0), 1.0, atol=1e-12
        )
        before = high - low


@HELD_AS
def test_tied_probability_is_undecided(monkeypatch, most_leaves):
    monkeypatch.setattr(leaf_sets, "_MOST_LEAVES", most_leaves)
    found = 0
    for seed in range(20):
        decision, population, _ = random_case(seed, n_trees=4, most_leaves=6, pure=True)
        decision = replace(decision, base=0.0, threshold=0.0, slack=1e-9)
        points, masses = points_and_masses(population)
        tied = masses[decision.undecided(points)].sum(axis=0)
        held = solve(decision, population, tolerance=1e-13, time_limit=60.0)
        assert np.allclose(held.hi - held.lo, tied, atol=1e-12)
        found += bool(tied.any())
    assert found > 5


@HELD_AS
@pytest.mark.parametrize("rounds", [0, 3, 8])
def test_drawn_people_are_those_of_the_open_boxes(monkeypatch, most_leaves, rounds):
    monkeypatch.setattr(leaf_sets, "_MOST_LEAVES", most_leaves)
    for seed in range(6):
        decision, population, truth = random_case(seed, n_trees=8, most_leaves=20)
        truth = truth if decision.accepts_above else 1.0 - truth
        search = searched(decision, population, rounds)
        held = OpenBoxes(search.problem, search.boxes, search.n_boxes, seed)
        n = 40_000
        with ThreadPoolExecutor(2) as pool:
            for group in np.flatnonzero(held.open > 1e-6):
                below, above, tied = held.verdicts(int(group), n, pool, 2)
                assert below + above + tied == n
                assert tied == 0
                share = (truth[group] - search.yes[group]) / held.open[group]
                assert abs(above / n - share) < 5 * np.sqrt(max(share * (1 - share), 1e-4) / n)


@pytest.mark.slow
def test_statistical_bounds_cover_as_promised():
    """All groups together, at delta .05, in 1,000 runs of two cases: .95 less three standard errors."""
    for seed in (3, 5):
        decision, population, truth = random_case(seed, n_trees=8, most_leaves=20)
        truth = truth if decision.accepts_above else 1.0 - truth
        search = searched(decision, population, 2)
        covered, runs = 0, 1_000
        groups = np.flatnonzero(OpenBoxes(search.problem, search.boxes, search.n_boxes).open > 1e-9)
        assert len(groups) > 1
        with ThreadPoolExecutor(1) as pool:
            for run in range(runs):
                held = OpenBoxes(search.problem, search.boxes, search.n_boxes, run)
                found = held.interval(groups, 0.1, 0.05, time.perf_counter() + 60.0, pool, 1)
                lo, hi = (search.yes[groups] + held.open[groups] * end for end in found)
                covered += bool(((lo <= truth[groups]) & (truth[groups] <= hi)).all())
        assert covered / runs >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / runs)


def test_out_of_time_gives_statistical_bounds_inside_the_certain_ones(monkeypatch):
    monkeypatch.setattr(branch_and_bound._Pace, "time_is_up", lambda *_: True)
    decision, population, truth = large()
    held = solve(decision, population, tolerance=1e-9, time_limit=1.0)
    assert held.guarantee == "statistical"
    assert held.stopped == "time"
    assert held.delta == 1e-6
    low, high = held.interval
    assert (held.lo <= low).all()
    assert (high <= held.hi).all()
    assert (high - low < 0.5 * (held.hi - held.lo)).all()
    assert (low <= truth).all()
    assert (truth <= high).all()
    assert held.intervals[0].lo == low[0]


def test_no_time_at_all_gives_no_interval():
    decision, population, truth = large()
    held = solve(decision, population, tolerance=1e-9, time_limit=0.0)
    assert held.interval is None
    assert held.guarantee == "bounds"
    assert held.stopped == "time"
    assert (held.lo <= truth).all()
    assert (truth <= held.hi).all()


def test_requirements_that_are_settled_end_the_search(monkeypatch):
    monkeypatch.setattr(branch_and_bound, "_LOOK", 0.0)
    decision, population, truth = large()
    seen = []

    def watch(low, high):
        seen.append((low.copy(), high.copy()))
        return len(seen) == 3

    held = solve(decision, population, tolerance=1e-9, watch=watch)
    assert held.stopped == "settled"
    assert len(seen) == 3
    assert all((low <= truth + 1e-12).all() and (truth <= high + 1e-12).all() for low, high in seen)


@pytest.mark.parametrize("seed", range(6))
def test_learn_drops_groups_that_cannot_be_extreme(monkeypatch, seed):
    monkeypatch.setattr(branch_and_bound, "_LOOK", 0.0)
    decision, population, truth = large(seed)
    held = solve(decision, population, tolerance=1e-12, search="learn", time_limit=60.0)
    assert held.search == "learn"
    assert held.lo[np.argmax(truth)] == pytest.approx(truth.max(), abs=1e-11)
    assert held.hi[np.argmin(truth)] == pytest.approx(truth.min(), abs=1e-11)
    assert (held.lo <= truth + 1e-12).all()
    assert (truth <= held.hi + 1e-12).all()


def test_one_interrupt_ends_all_searches_that_share_it():
    decision, population, truth = large()
    interruption = Interruption()
    with interruption:
        press()
    assert interruption.pressed
    for _ in range(2):
        held = solve(decision, population, tolerance=1e-12, interruption=interruption)
        assert held.stopped == "interrupted"
        assert (held.lo <= truth).all()
        assert (truth <= held.hi).all()


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)


@pytest.fixture
def _heard():
    """Interrupts are heard as usual, also where whoever started the tests lets programs ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_heard")
def test_a_second_interrupt_is_an_interrupt():
    with Interruption():
        press()
        with pytest.raises(KeyboardInterrupt):
            press()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("_heard")
def test_threads_of_others_leave_the_handler_alone():
    def work():
        with Interruption():
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_no_memory_keeps_the_bounds_reached(monkeypatch):
    decision, population, truth = large()

    def refuse(boxes, n):
        raise MemoryError

    monkeypatch.setattr(Boxes, "grown", refuse)
    held = solve(decision, population, tolerance=1e-12)
    assert held.stopped == "memory"
    assert held.guarantee == "bounds"
    assert (held.lo <= truth).all()
    assert (truth <= held.hi).all()


def test_full_memory_goes_on_with_the_deepest(monkeypatch):
    monkeypatch.setattr(branch_and_bound, "_MOST_BYTES", 20_000)
    decision, population, truth = large()
    held = solve(decision, population, tolerance=1e-13, time_limit=60.0)
    assert held.guarantee == "exact"
    assert held.lo == pytest.approx(truth, abs=1e-12)


def test_many_groups_are_answered_some_at_a_time(monkeypatch):
    monkeypatch.setattr(branch_and_bound, "_GROUPS_AT_ONCE", 2)
    decision, population, truth = random_case(3)
    held = solve(decision, population, tolerance=1e-13)
    assert held.lo == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_bounds_of_a_box_hold_for_every_point_inside(seed):
    rng = np.random.default_rng(seed)
    # Sets of more than 64 cells take two words.
    sizes = [int(rng.integers(2, 6)), 70 if seed % 5 == 0 else 5, 4]
    population = chain(rng, 2, sizes, 4)
    decision = random_trees(rng, sizes, 10, (4, 12, 90)[seed % 3])
    search = searched(decision, population, 12)
    boxes, shape = search.boxes, search.problem.shape
    points = every_point(population.domain)
    scores = decision.scores(points)
    for box in range(search.n_boxes):
        inside = np.ones(len(points), dtype=bool)
        for feature, (ranked, n_ranks, _, start, _) in enumerate(shape.tolist()):
            cells = points[:, feature]
            if ranked:
                rank = decision.ranks[feature][cells]
                low, high, missing = boxes.cells[box, 3 * feature : 3 * feature + 3]
                inside &= np.where(rank >= n_ranks, missing != 0, (low <= rank) & (rank < high))
            else:
                words = boxes.words[box, start + cells // 64]
                inside &= (words >> (cells % 64).astype(np.uint64)) & np.uint64(1) == 1
        assert inside.any()
        assert boxes.numbers[box, 0] <= scores[inside].min() + 1e-9
        assert boxes.numbers[box, 1] >= scores[inside].max() - 1e-9


def test_trees_of_one_feature_are_bounded_together():
    rng = np.random.default_rng(0)
    population = chain(rng, 1, [4, 2], 4)
    # Two trees that are the opposite of each other: each may be 1, their sum is always 0.
    one = random_trees(rng, [4, 2], 2, 1)
    decision = replace(
        one,
        roots=np.array([0, 3], dtype=np.int32),
        left=np.array([1, -1, -1, 4, -1, -1], dtype=np.int32),
        right=np.array([2, -1, -1, 5, -1, -1], dtype=np.int32),
        test=np.array([0, -1, -1, 0, -1, -1], dtype=np.int32),
        value=np.array([0.0, 1.0, -1.0, 0.0, -1.0, 1.0]),
        test_feature=np.array([0], dtype=np.int32),
        test_cut=np.array([2], dtype=np.int32),
        test_missing=np.array([False]),
        test_cells=(np.zeros(0, dtype=bool),),
        ranks=(np.arange(4), np.arange(2)),
        missing=(None, None),
        base=0.0,
        threshold=1.5,
        slack=1e-9,
    )
    root = Problem(decision, population, slice(0, 1)).root()
    assert abs(root.numbers[0, 0]) < 1e-12
    assert abs(root.numbers[0, 1]) < 1e-12


def test_the_largest_of_many_are_nearly_the_largest():
    values = np.random.default_rng(0).random(200_000)
    for n in (1, 100, 4_000, 60_000):
        held = branch_and_bound._largest(values, n)
        assert len(held) == n if n <= 511 else 0.7 * n < len(held) <= 2 * n
        assert values[held].min() > np.sort(values)[-2 * n]
