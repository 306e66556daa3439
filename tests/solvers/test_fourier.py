"""The certified inversion: its polynomials, its rounding, its windows, its limits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from justicia.encoders import LinearThreshold
from justicia.population import Domain, Feature, NetworkPopulation, Node
from justicia.solvers import Effort, Fourier, Sums
from justicia.solvers.characteristic import BLOCK, INTERPOLATION, NEGLIGIBLE, Spectrum, turns
from justicia.solvers.parts import extremes, parts_of
from justicia.solvers.vaaler import arc_bounds, rounding, weights
from justicia.solvers.windows import saturated, tails
from justicia.ssat import Formula


def feature(name: str, size: int) -> Feature:
    return Feature(name, tuple(map(str, range(size))), tuple(range(size)), np.arange(size - 1.0))


def independent(shares: list[np.ndarray]) -> NetworkPopulation:
    """A population of independent features, each with shares of shape (n_groups, n_cells)."""
    n_groups = len(shares[0])
    domain = Domain(tuple(feature(f"x{i}", share.shape[1]) for i, share in enumerate(shares)))
    nodes = tuple(Node(i, (), share[:, None, :], np.arange(share.shape[1]), None) for i, share in enumerate(shares))
    groups = tuple((str(i),) for i in range(n_groups))
    return NetworkPopulation("independent", domain, ("g",), groups, np.full(n_groups, 10), nodes)


def chain(rng: np.random.Generator, n_groups: int, sizes: list[int], most: int) -> NetworkPopulation:
    """A chain of features, each with at most `most` states of neighbouring cells."""
    nodes = []
    above = 1
    for i, size in enumerate(sizes):
        n_states = min(size, most)
        states = np.sort(np.append(np.arange(n_states), rng.integers(0, n_states, size=size - n_states)))
        table = rng.dirichlet(np.ones(n_states), size=(n_groups, above))
        within = None
        if n_states < size:
            within = rng.uniform(0.1, 1.0, size=(n_groups, size))
            for state in range(n_states):
                within[:, states == state] /= within[:, states == state].sum(axis=1, keepdims=True)
        nodes.append(Node(i, (i - 1,) if i else (), table, states, within))
        above = n_states
    domain = Domain(tuple(feature(f"x{i}", size) for i, size in enumerate(sizes)))
    groups = tuple((str(i),) for i in range(n_groups))
    return NetworkPopulation("tree", domain, ("g",), groups, np.full(n_groups, 10), tuple(nodes))


def decision(contributions: list[np.ndarray], base: float = 0.0, slack: float = 1e-12) -> LinearThreshold:
    return LinearThreshold(tuple(contributions), base, 0.0, True, slack)


def solve(engine, population, held, **options):
    return engine.solve(Formula(population, held), Effort(**options))


@pytest.mark.parametrize("degree", [1, 7, 40])
def test_the_polynomials_enclose_the_sawtooth(degree):
    # Vaaler's bound, point by point: |psi* - psi| <= Fejer / (2K + 2), equality nearly reached beside the jump.
    k = np.arange(1, degree + 1)
    sawtooth, fejer = weights(k.astype(float), float(degree))
    x = np.linspace(0.0005, 0.9995, 2000)
    polynomial = -(sawtooth * np.sin(2 * np.pi * x[:, None] * k)).sum(axis=1)
    kernel = 1 + 2 * (fejer * np.cos(2 * np.pi * x[:, None] * k)).sum(axis=1)
    error = np.abs(polynomial - (x - 0.5))
    assert (error <= kernel / (2 * degree + 2) + 1e-12).all()
    assert (error >= 0.9 * kernel / (2 * degree + 2)).any()


@pytest.mark.parametrize("seed", range(8))
def test_bounds_of_an_arc_hold_for_atoms(seed):
    rng = np.random.default_rng(seed)
    atoms, mass = rng.random(5), rng.dirichlet(np.ones(5))
    a, b = np.sort(rng.random(2))
    degree = int(rng.integers(3, 200))
    k = np.arange(1.0, degree + 1)
    phi = (mass * np.exp(2j * np.pi * k[:, None] * atoms)).sum(axis=1)
    sawtooth, fejer = weights(k, float(degree))
    sums = [((sawtooth * (phi * np.exp(-2j * np.pi * k * end)).imag).sum(),
             (fejer * (phi * np.exp(-2j * np.pi * k * end)).real).sum()) for end in (a, b)]  # fmt: skip
    low, high = arc_bounds(b - a, (sums[0][0], sums[1][0]), (sums[0][1], sums[1][1]), np.array(float(degree)))
    truth = mass[(atoms >= a) & (atoms < b)].sum()
    assert low - 1e-12 <= truth <= high + 1e-12


@pytest.mark.parametrize("k", [1, 255, 256, 99_991, 2**22 - 1, 2**23 + 1])
def test_turns_are_accurate_however_many(k):
    x = np.random.default_rng(0).uniform(-3, 3, size=50)
    mpmath.mp.dps = 50
    exact = [mpmath.expjpi(2 * k * (mpmath.mpf(float(value)))) for value in x - np.floor(x)]
    error = max(abs(complex(one) - complex(other)) for one, other in zip(exact, turns(float(k), x), strict=True))
    assert error < 24 * 2.0**-53


def exact_phi(parts, ways, group: int, k: int):
    """phi(k) of one group with 50 digits, from the very numbers that the spectrum holds."""
    messages: dict[int, list] = {}
    total = mpmath.mpf(1)
    for part, way in zip(parts, ways, strict=True):
        turned = [mpmath.expjpi(2 * k * mpmath.mpf(float(x))) for x in way.x]
        own = []
        for state in range(part.n_states):
            cells = range(part.starts[state], part.starts[state + 1])
            share = part.within
            own.append(
                mpmath.fsum(turned[c] * (1 if share is None else mpmath.mpf(float(share[group, c]))) for c in cells)
            )
        for message in messages.get(part.feature, []):
            own = [one * other for one, other in zip(own, message, strict=True)]
        passed = [
            mpmath.fsum(mpmath.mpf(float(p)) * one for p, one in zip(row, own, strict=True))
            for row in part.table[group]
        ]
        if part.parent < 0:
            total *= passed[0]
        else:
            messages.setdefault(part.parent, []).append(passed)
    return total


def cases():
    rng = np.random.default_rng(5)
    many = np.sort(rng.normal(scale=0.02, size=400))
    yield (
        independent([rng.dirichlet(np.ones(size), size=2) for size in (2, 3, 5, 400)]),
        [*(rng.normal(size=size) for size in (2, 3, 5)), many],
        1,
    )
    sizes = [4, 9, 400, 3]
    yield chain(rng, 2, sizes, 3), [rng.normal(size=4), rng.normal(size=9), many, rng.normal(size=3)], 1


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1])
def test_rounding_stays_below_its_formula(which):
    mpmath.mp.dps = 50
    population, contributions, interpolated = list(cases())[which]
    parts = parts_of(population, contributions)
    spectrum = Spectrum(parts, 11.7)
    assert spectrum.n_interpolated == interpolated
    cells, states = sum(len(part.values) for part in parts), sum(part.n_states for part in parts)
    # phi itself, at the first block and at a far one.
    allowed = (cells + states + 40 * len(parts)) * 2.0**-53 + interpolated * INTERPOLATION + NEGLIGIBLE
    for start in (1, 1 + BLOCK * 4000):
        phi = next(iter(spectrum.blocks(np.array([float(start)]), 2)))
        for offset in (0, 1, 130, BLOCK - 1):
            exact = complex(exact_phi(parts, spectrum._ways, 1, start + offset))
            assert abs(exact - phi[1, offset]) <= allowed
    # The bounds of an arc from K = 512, against the same sums with 50 digits.
    degree, a, b = 512, 0.3, 0.71
    phi = np.concatenate(list(spectrum.blocks(np.array([1.0, 1.0 + BLOCK]), 2)), axis=1)[1]
    k = np.arange(1.0, degree + 1)
    sawtooth, fejer = weights(k, float(degree))
    sums = [(sawtooth @ (phi * turns(k, np.array(-end))).imag, fejer @ (phi * turns(k, np.array(-end))).real)
            for end in (a, b)]  # fmt: skip
    held = arc_bounds(b - a, (sums[0][0], sums[1][0]), (sums[0][1], sums[1][1]), np.array(float(degree)))
    exact = _exact_bounds(parts, spectrum._ways, degree, a, b)
    own = rounding(degree, len(parts), cells, states, interpolated * INTERPOLATION + NEGLIGIBLE)
    assert own < 1e-11
    for one, other in zip(held, exact, strict=True):
        assert abs(float(one) - float(other)) <= own


def _exact_bounds(parts, ways, degree, a, b):
    a, b, size = mpmath.mpf(a), mpmath.mpf(b), degree + 1
    sines, cosines = [mpmath.mpf(0)] * 2, [mpmath.mpf(0)] * 2
    for k in range(1, degree + 1):
        t = mpmath.mpf(k) / size
        phi = exact_phi(parts, ways, 1, k)
        for i, end in enumerate((a, b)):
            turned = phi * mpmath.expjpi(-2 * k * end)
            sines[i] += ((1 - t) * mpmath.cot(mpmath.pi * t) + 1 / mpmath.pi) / size * turned.imag
            cosines[i] += (1 - t) * turned.real
    middle, reach = b - a + sines[0] - sines[1], (1 + sum(cosines)) / size
    return middle - reach, middle + reach


@pytest.mark.parametrize("seed", range(12))
def test_windows_hold_all_but_delta(seed):
    rng = np.random.default_rng(seed)
    population = chain(rng, 3, [3, 5, 4], 4)
    contributions = [rng.normal(size=3), rng.normal(scale=4, size=5), rng.normal(size=4)]
    parts = parts_of(population, contributions)
    points = np.indices((3, 5, 4)).reshape(3, -1).T
    sums = sum(contributions[i][points[:, i]] for i in range(3))
    mass = np.ones((3, len(points)))
    for node in population.nodes:
        above = points[:, node.parents[0]] if node.parents else None
        state = node.states[points[:, node.feature]]
        if above is not None:
            above = population.nodes[node.parents[0]].states[above]
        for group in range(3):
            share = 1.0 if node.within is None else node.within[group][points[:, node.feature]]
            mass[group] *= node.table[group][0 if above is None else above, state] * share
    for delta in (0.3, 0.05, 1e-4):
        held = tails(parts, 3, delta)
        for group in range(3):
            assert mass[group][sums < held.low[group] - 1e-12].sum() <= delta
            assert mass[group][sums > held.high[group] + 1e-12].sum() <= delta
    low, high = extremes(parts, 3)
    assert low.min() <= sums.min() + 1e-12
    assert high.max() >= sums.max() - 1e-12
    # Pulled-in contributions leave every decision as it was, but for delta a side.
    for target in (-3.0, 0.1, 2.5):
        pulled, times = saturated(parts, 3, target, 1e-9, 0.01)
        by_feature = {part.feature: part for part in pulled}
        again = np.zeros(len(points))
        for part in parts:
            order = {value: by_feature[part.feature].values[i] for i, value in enumerate(part.values)}
            again += np.array([order[value] for value in contributions[part.feature]])[points[:, part.feature]]
        for group in range(3):
            assert mass[group][(again > target) != (sums > target)].sum() <= 0.01 * times


def test_a_value_far_beyond_all_others_costs_nothing():
    # As capital-gain in Adult: without pulling it in, the circle would be a thousand times as long.
    rng = np.random.default_rng(0)
    shares = [rng.dirichlet(np.ones(6), size=3) for _ in range(8)]
    contributions = [rng.normal(size=6) for _ in range(8)]
    contributions[3] = contributions[3] + np.array([0, 0, 0, 0, 0, 4000.0])
    population = independent(shares)
    held = decision(contributions, base=-1.0)
    solution = solve(Fourier(), population, held, tolerance=1e-4)
    assert (solution.hi - solution.lo <= 1e-4).all()
    plain = decision([*contributions[:3], np.minimum(contributions[3], 100.0), *contributions[4:]], base=-1.0)
    same = solve(Fourier(), population, plain, tolerance=1e-4)
    assert (np.abs(solution.lo - same.lo) <= 2e-4).all()


def test_mass_at_the_threshold_is_undecided():
    # 0.1 + 0.2 - 0.3 is 0 or not, by the order in which it is summed.
    half = np.array([[0.5, 0.5]])
    population = independent([half, half, half])
    held = decision([np.array([0.0, 0.1]), np.array([0.0, 0.2]), np.array([0.0, -0.3])], slack=1e-13)
    exact = solve(Sums(), population, held)
    # Sums: 0 (nothing and all), .1, .2, .3 above; -.3, -.2, -.1 below.
    assert exact.lo[0] == pytest.approx(3 / 8, abs=1e-15)
    assert exact.hi[0] == pytest.approx(5 / 8, abs=1e-15)
    assert exact.guarantee == "bounds"
    near = solve(Fourier(), population, held, tolerance=1e-3)
    assert near.lo[0] <= 3 / 8
    assert near.hi[0] >= 5 / 8
    assert near.hi[0] - near.lo[0] <= 0.25 + 2e-3


def test_a_step_moves_the_comparison_between_two_sums():
    # +-1 weights: many sums are exactly 0, and "above 0" is certain all the same.
    half = np.array([[0.5, 0.5]])
    population = independent([half] * 10)
    held = LinearThreshold((np.array([-1.0, 1.0]),) * 10, 0.0, 0.0, True, 0.0, 2.0)
    # P(B(10, 1/2) >= 6) = 386 / 1024.
    near = solve(Fourier(), population, held, tolerance=1e-6)
    assert near.lo[0] <= 386 / 1024 <= near.hi[0]
    assert near.hi[0] - near.lo[0] <= 1e-6
    exact = solve(Sums(), population, held)
    assert exact.guarantee == "exact"
    assert exact.lo[0] == exact.hi[0] == pytest.approx(386 / 1024, abs=1e-14)


def test_time_out_keeps_true_bounds():
    rng = np.random.default_rng(1)
    shares = [rng.dirichlet(np.ones(7), size=30) for _ in range(12)]
    contributions = [rng.normal(size=7) for _ in range(12)]
    population, held = independent(shares), decision(contributions)
    good = solve(Fourier(), population, held, tolerance=1e-4)
    for limit in (0.0, 0.01, 0.1):
        some = solve(Fourier(), population, held, tolerance=1e-6, time_limit=limit)
        assert some.guarantee == "bounds"
        assert (some.lo <= good.hi).all()
        assert (good.lo <= some.hi).all()


def test_groups_without_doubt_are_exact():
    rng = np.random.default_rng(2)
    never = np.array([[1.0, 0.0], [0.5, 0.5]])
    population = independent([never, rng.dirichlet(np.ones(3), size=2)])
    held = decision([np.array([-9.0, 9.0]), np.array([0.1, 0.2, 0.3])])
    solution = solve(Fourier(), population, held)
    assert (solution.lo[0], solution.hi[0]) == (0.0, 0.0)
    assert solution.lo[1] == pytest.approx(0.5, abs=1e-4)


def test_the_complement_is_the_complement():
    rng = np.random.default_rng(3)
    population = independent([rng.dirichlet(np.ones(5), size=4) for _ in range(5)])
    contributions = [rng.normal(size=5) for _ in range(5)]
    above = solve(Fourier(), population, decision(contributions))
    below = solve(Fourier(), population, LinearThreshold(tuple(contributions), 0.0, 0.0, False, 1e-12))
    np.testing.assert_allclose(above.lo, 1 - below.hi, atol=1e-12)
    np.testing.assert_allclose(above.hi, 1 - below.lo, atol=1e-12)
