"""Audits under networks with densities: against quadrature, brute force and people that are drawn."""

from __future__ import annotations

import json
import pickle
from itertools import pairwise

import jsonschema
import numpy as np
import pandas as pd
import pytest
from scipy.integrate import dblquad, quad
from scipy.stats import norm
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia import stating_densities
from justicia.cli import main
from justicia.errors import PopulationFileError
from justicia.population.networks import network_from_text, network_to_json, ranges
from justicia.report.json import schema
from tests.density_cases import SEX, as_json, interval_masses, over_intervals, remembered, thresholds_of

X = {"name": "x", "parents": ["sex"], "normal": {"mean": [0, 1], "standard_deviation": [1, 0.5]}}
Y = {
    "name": "y",
    "parents": ["sex", "x"],
    "normal": {"mean": [0.5, -1], "variance": 0.25, "coefficients": {"x": [1, -2]}},
}
W = {"name": "w", "parents": ["x"], "normal": {"mean": 1, "variance": 0.5, "coefficients": {"x": -0.7}}}
U = {"name": "u", "parents": ["sex"], "uniform": {"from": [0, 1], "to": [2, 4]}}
S = {
    "name": "s",
    "parents": ["sex"],
    "steps": [{"from": 0, "to": 1, "density": [0.5, 0.2]}, {"from": 2, "to": 4, "density": [0.25, 0.4]}],
}
K = {"name": "k", "values": [0, 1, 3], "parents": ["sex"], "probabilities": [[0.5, 0.25, 0.25], [0.2, 0.3, 0.5]]}
MEAN, DEVIATION = {"F": 0.0, "M": 1.0}, {"F": 1.0, "M": 0.5}
"""Of x."""


def y_given(sex, x):
    """Mean and standard deviation of y."""
    return (0.5 + x if sex == "F" else -1 - 2 * x), 0.5


def density_x(sex):
    return lambda x: norm.pdf(x, MEAN[sex], DEVIATION[sex])


def ends_x(sex):
    return MEAN[sex] - 12 * DEVIATION[sex], MEAN[sex] + 12 * DEVIATION[sex]


def people_of(network, rows=600, seed=0, noise=0.5):
    """Rows with an outcome that goes with everything."""
    people = network.sample(rows, random_state=seed)
    numbers = people.select_dtypes("number")
    score = (numbers - numbers.mean()).sum(axis=1) + noise * np.random.default_rng(seed).normal(size=rows)
    return people.assign(y_true=(score > 0).astype(int))


def audited(model, network, columns, people=None, **options):
    people = people_of(network) if people is None else people
    model.fit(people[columns], people["y_true"])
    return justicia.verify(
        model, people, sensitive_features="sex", label="y_true", favorable=1, population=network, **options
    )


def rates_of(audit):
    return {group.group["sex"]: group.selection_rate for group in audit.groupings[0].groups}


def check_by_drawing(audit, model, columns, rows=40_000):
    """The rate is that of the model's predict on people drawn from the population."""
    solution = audit.groupings[0].solution
    for position, (sex,) in enumerate(audit.population.groups):
        drawn = audit.population.sample((sex,), rows, random_state=position)
        share = float(model.predict(drawn[columns]).mean())
        held = solution.intervals[position] or solution.enclosures[position]
        reach = 5 * np.sqrt(max(share * (1 - share), 1e-4) / rows)
        assert float(held.lo) - reach <= share <= float(held.hi) + reach


def test_tree_over_two_that_hang_together():
    network = network_from_text(as_json(SEX, X, Y))
    tree = DecisionTreeClassifier(max_depth=6, random_state=0)
    audit = audited(tree, network, ["x", "y"])
    assert audit.groupings[0].solution.guarantee == "exact"
    cuts, outcomes = thresholds_of(tree, 1), remembered(tree, ["x", "y"])
    for sex, rate in rates_of(audit).items():

        def inner(middle, x, sex=sex):
            numbers, masses = interval_masses(cuts, *y_given(sex, x))
            return float(masses @ outcomes(middle, numbers))

        expected = over_intervals(thresholds_of(tree, 0), *ends_x(sex), density_x(sex), inner)
        assert float(rate) == pytest.approx(expected, abs=1e-9)
    check_by_drawing(audit, tree, ["x", "y"])
    # Of y alone, x is averaged over: y is normal again.
    alone = DecisionTreeClassifier(max_depth=3, random_state=0)
    for sex, rate in rates_of(audited(alone, network, ["y"])).items():
        mean, spread = (0.5, np.sqrt(1.25)) if sex == "F" else (-3.0, np.sqrt(0.25 + 4 * 0.25))
        numbers, masses = interval_masses(thresholds_of(alone, 0), mean, spread)
        expected = masses @ alone.predict(pd.DataFrame({"y": numbers}))
        assert float(rate) == pytest.approx(expected, abs=1e-13)


def test_tree_over_independent_densities():
    """Products of interval probabilities, summed over every cell between the thresholds."""
    network = network_from_text(as_json(SEX, X, U, S, K))
    columns = ["x", "u", "s", "k"]
    tree = DecisionTreeClassifier(max_depth=6, random_state=0)
    audit = audited(tree, network, columns)
    cuts = [thresholds_of(tree, place) for place in range(4)]
    for sex, rate in rates_of(audit).items():
        low, high = (0, 2) if sex == "F" else (1, 4)
        first, second = (0.5, 0.5) if sex == "F" else (0.2, 0.8)
        at = {
            "u": lambda v, low=low, high=high: np.clip((v - low) / (high - low), 0, 1),
            "s": lambda v, a=first, b=second: a * np.clip(v, 0, 1) + b * np.clip((v - 2) / 2, 0, 1),
        }
        numbers, masses = [], []
        for place, name in enumerate(columns[:3]):
            some, normal = interval_masses(cuts[place], MEAN[sex], DEVIATION[sex])
            ends = np.array([-1e9, *cuts[place], 1e9])
            numbers.append(some)
            masses.append(normal if name == "x" else np.diff(at[name](ends)))
        numbers.append(np.array([0, 1, 3]))
        masses.append(np.array(K["probabilities"][sex == "M"]))
        grid = np.stack([held.ravel() for held in np.meshgrid(*numbers, indexing="ij")], axis=1)
        together = np.einsum("a,b,c,d->abcd", *masses).ravel()
        expected = together @ tree.predict(pd.DataFrame(grid, columns=columns))
        assert rate.exact
        assert float(rate) == pytest.approx(expected, abs=1e-12)
    check_by_drawing(audit, tree, columns)


def test_tree_over_three_that_hang_together_is_estimated():
    """y and w are independent given x, so that quadrature over x is exact; the interval holds it, and is narrow."""
    network = network_from_text(as_json(SEX, X, Y, W))
    columns = ["x", "y", "w"]
    tree = DecisionTreeClassifier(max_depth=3, random_state=1)
    people = people_of(network)
    audit = audited(tree, network, columns, people)
    solution = audit.groupings[0].solution
    assert (solution.engine, solution.guarantee) == ("boxes", "statistical")
    cuts, outcomes = [thresholds_of(tree, place) for place in range(3)], remembered(tree, columns)
    for position, group in enumerate(audit.groupings[0].groups):
        sex = group.group["sex"]

        def inner(middle, x, sex=sex):
            y, of_y = interval_masses(cuts[1], *y_given(sex, x))
            w, of_w = interval_masses(cuts[2], 1 - 0.7 * x, np.sqrt(0.5))
            return float(np.outer(of_y, of_w).ravel() @ outcomes(middle, y, w))

        expected = over_intervals(cuts[0], *ends_x(sex),
                                  density_x(sex), inner)  # fmt: skip
        interval = solution.intervals[position]
        assert interval.lo - 1e-9 <= expected <= interval.hi + 1e-9
        assert interval.hi - interval.lo < 1e-4
        assert group.selection_rate.lo <= interval.lo <= interval.hi <= group.selection_rate.hi
        assert group.selection_rate.lo - 1e-10 <= expected <= group.selection_rate.hi + 1e-10
    check_by_drawing(audit, tree, columns)
    held = audit.to_dict()
    jsonschema.validate(held, schema())
    assert held["solver"]["guarantee"] == "statistical"
    assert "multivariate normal" in held["groupings"][0]["groups"][0]["selection_rate"]["statistical"]["method"]
    assert any("use the statistical intervals" in warning for warning in audit.warnings)
    late = audited(tree, network, columns, people, time_limit=1e-9)
    assert late.groupings[0].solution.guarantee == "bounds"
    with pytest.raises(PopulationFileError, match="solver paths takes cells"):
        audited(tree, network, columns, people, solver="paths")
    with pytest.raises(justicia.errors.InputError, match=r"leave shift=\.\.\. out"):
        audited(tree, network, columns, people, shift=0.1)


@pytest.mark.parametrize(
    "step",
    [
        None,
        StandardScaler(),
        *(pytest.param(step, marks=pytest.mark.slow) for step in (MinMaxScaler(), MaxAbsScaler(), RobustScaler())),
    ],
)
def test_linear_score_of_normals(step):
    """x and y hang together, w hangs on x: the score is normal given sex and k; quadrature over x and w."""
    network = network_from_text(as_json(SEX, X, Y, W, K))
    columns = ["x", "y", "w", "k"]
    linear = LogisticRegression()
    model = linear if step is None else make_pipeline(step, linear)
    audit = audited(model, network, columns)
    solution = audit.groupings[0].solution
    assert (solution.engine, solution.guarantee) == ("normal", "exact")
    frame = pd.DataFrame(np.vstack([np.zeros(4), np.eye(4)]), columns=columns)
    ends = model.decision_function(frame)
    base, (b_x, b_y, b_w, b_k) = ends[0], ends[1:] - ends[0]
    for sex, rate in rates_of(audit).items():

        def above(x, sex=sex):
            mean, spread = y_given(sex, x)
            total = base + b_x * x + b_y * mean + b_w * (1 - 0.7 * x) + b_k * np.array([0, 1, 3])
            sigma = np.hypot(b_y * spread, b_w * np.sqrt(0.5))
            return float(np.array(K["probabilities"][sex == "M"]) @ norm.cdf(total / sigma))

        low, high = ends_x(sex)
        expected = quad(lambda x, sex=sex: density_x(sex)(x) * above(x), low, high, epsabs=1e-12, limit=300)[0]
        assert float(rate) == pytest.approx(expected, abs=1e-10)
    check_by_drawing(audit, model, columns)


def test_linear_score_with_uniform_and_steps():
    """Bounds within the tolerance by the characteristic function; quadrature over u and s, x being normal."""
    network = network_from_text(as_json(SEX, X, U, S))
    columns = ["x", "u", "s"]
    model = make_pipeline(StandardScaler(), LogisticRegression())
    people = people_of(network)
    for tolerance in (1e-4, 1e-5):
        audit = audited(model, network, columns, people, tolerance=tolerance)
        ends = model.decision_function(pd.DataFrame(np.vstack([np.zeros(3), np.eye(3)]), columns=columns))
        held = ends[0], *(ends[1:] - ends[0])
        for sex, rate in rates_of(audit).items():
            low, high = (0, 2) if sex == "F" else (1, 4)
            pieces = [(0, 1, 0.5 if sex == "F" else 0.2), (2, 4, 0.25 if sex == "F" else 0.4)]

            def above(u, s, sex=sex, held=held):
                base, b_x, b_u, b_s = held
                return norm.cdf((base + b_x * MEAN[sex] + b_u * u + b_s * s) / (abs(b_x) * DEVIATION[sex]))

            expected = sum(
                density / (high - low) * dblquad(above, a, b, low, high, epsabs=1e-10)[0] for a, b, density in pieces
            )
            assert rate.lo <= expected <= rate.hi
            assert rate.hi - rate.lo <= tolerance
    check_by_drawing(audit, model, columns)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-5, pytest.param(1e-6, marks=pytest.mark.slow)])
def test_linear_score_of_uniform_alone(tolerance):
    """Above a line in a rectangle far from 0: an area by hand."""
    uniform = {"name": "u", "uniform": {"from": 1000, "to": 1002}}
    other = {"name": "v", "uniform": {"from": -1, "to": 1}}
    network = network_from_text(as_json(SEX, uniform, other))
    model = make_pipeline(StandardScaler(), LogisticRegression())
    audit = audited(model, network, ["u", "v"], tolerance=tolerance)
    ends = model.decision_function(pd.DataFrame({"u": [1000, 1001, 1000], "v": [0, 0, 1]}))
    base, b_u, b_v = ends[0], ends[1] - ends[0], ends[2] - ends[0]
    # v > -(base + b_u u) / b_v, b_v being above 0.
    assert b_v > 0
    area = quad(lambda u: np.clip(1 + (base + b_u * u) / b_v, 0, 2), 0, 2, limit=200, points=[-(base + b_v) / b_u])[0]
    for rate in rates_of(audit).values():
        assert rate.lo - 1e-11 <= area / 4 <= rate.hi + 1e-11
        assert rate.hi - rate.lo <= tolerance


def test_curved_steps_are_bounded_between_fine_ranges(monkeypatch):
    """Quantiles rise with their number: ranges of a fine grid bound the score; the rate by summing over a finer one."""
    monkeypatch.setattr(ranges, "_FINE", 1500)
    network = network_from_text(as_json(SEX, X, U))
    curve = make_pipeline(QuantileTransformer(n_quantiles=20, random_state=0), LogisticRegression())
    audit = audited(curve, network, ["x", "u"])
    grid = np.linspace(1e-6, 1 - 1e-6, 1001)
    for sex, rate in rates_of(audit).items():
        x = norm.ppf(grid, MEAN[sex], DEVIATION[sex])
        low, high = (0, 2) if sex == "F" else (1, 4)
        u = low + (high - low) * grid
        score = curve.decision_function(pd.DataFrame({"x": x, "u": np.full(1001, 1.0)}))
        step = curve.decision_function(pd.DataFrame({"x": np.full(1001, 0.0), "u": u}))
        corner = curve.decision_function(pd.DataFrame({"x": [0.0], "u": [1.0]}))
        expected = float(((score[:, None] + step[None, :] - corner) > 0).mean())
        assert rate.lo - 2e-3 <= expected <= rate.hi + 2e-3
        assert rate.hi - rate.lo < 1e-2
    assert any("between the numbers of a fine grid" in warning for warning in audit.warnings)
    check_by_drawing(audit, curve, ["x", "u"])
    # Together with what hangs on x, the sum is not known.
    network = network_from_text(as_json(SEX, X, Y))
    with pytest.raises(PopulationFileError, match=r"x, y hang together .* no straight line over x, y"):
        audited(curve, network, ["x", "y"])
    squares = make_pipeline(
        PolynomialFeatures(degree=(2, 2), include_bias=False, interaction_only=False), LogisticRegression()
    )
    with pytest.raises(PopulationFileError, match="rises and falls with column 'x'"):
        audited(squares, network, ["x"])


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0),
        pytest.param(RandomForestClassifier(5, max_depth=3, random_state=0), marks=pytest.mark.slow),
    ],
)
def test_ensembles_over_densities(model):
    """Two that hang together and a uniform one, cell by cell with quadrature over x."""
    network = network_from_text(as_json(SEX, X, Y, U))
    columns = ["x", "y", "u"]
    audit = audited(model, network, columns)
    cuts = [thresholds_of(model, place) for place in range(3)]
    nodes, weights = np.polynomial.legendre.leggauss(60)
    for sex, rate in rates_of(audit).items():
        low, high = (0, 2) if sex == "F" else (1, 4)
        ends = np.array([-1e9, *cuts[2], 1e9])
        of_u = np.diff(np.clip((ends - low) / (high - low), 0, 1))
        u = interval_masses(cuts[2], 0, 1)[0]
        y = interval_masses(cuts[1], 0, 1)[0]
        first, last = ends_x(sex)
        pieces = [first, *cuts[0][(cuts[0] > first) & (cuts[0] < last)], last]
        expected = 0.0
        for a, b in pairwise(pieces):
            x = (a + b) / 2 + (b - a) / 2 * nodes
            dx = weights * (b - a) / 2 * density_x(sex)(x)
            of_y = np.sum(
                [d * interval_masses(cuts[1], *y_given(sex, at))[1] for at, d in zip(x, dx, strict=True)], axis=0
            )
            grid = np.array([((a + b) / 2, one, other) for one in y for other in u])
            expected += np.outer(of_y, of_u).ravel() @ model.predict(pd.DataFrame(grid, columns=columns))
        assert rate.lo - 1e-9 <= expected <= rate.hi + 1e-9
        assert rate.hi - rate.lo <= 2e-3
    check_by_drawing(audit, model, columns, 10_000)


def test_ensemble_over_three_that_hang_together_is_asked_about_people():
    network = network_from_text(as_json(SEX, X, Y, W))
    model = RandomForestClassifier(3, max_depth=2, random_state=0)
    audit = audited(model, network, ["x", "y", "w"], tolerance=0.02, delta=1e-4)
    solution = audit.groupings[0].solution
    assert (solution.engine, solution.guarantee) == ("sampling", "statistical")
    for interval in solution.intervals:
        assert interval.hi - interval.lo < 0.03
    jsonschema.validate(audit.to_dict(), schema())
    check_by_drawing(audit, model, ["x", "y", "w"], 20_000)


def test_rates_by_true_outcome():
    """The label is a variable that x depends on: those of one outcome have one normal distribution."""
    label = {"name": "y_true", "values": [0, 1], "parents": ["sex"], "probabilities": [[0.7, 0.3], [0.4, 0.6]]}
    x = {"name": "x", "parents": ["sex", "y_true"], "normal": {"mean": [[0, 1], [0.5, 2]], "standard_deviation": 0.8}}
    network = network_from_text(as_json(SEX, label, x))
    people = network.sample(400, random_state=3)
    for model in (LogisticRegression(), DecisionTreeClassifier(max_depth=1)):
        audit = audited(model, network, ["x"], people)
        cut = -model.intercept_[0] / model.coef_[0, 0] if hasattr(model, "coef_") else thresholds_of(model, 0)[0]
        for group in audit.groupings[0].groups:
            means = x["normal"]["mean"][group.group["sex"] == "M"]
            shares = label["probabilities"][group.group["sex"] == "M"]
            low, high = norm.sf(cut, means, 0.8)
            assert float(group.fpr) == pytest.approx(low, abs=1e-10)
            assert float(group.tpr) == pytest.approx(high, abs=1e-10)
            assert float(group.selection_rate) == pytest.approx(shares[0] * low + shares[1] * high, abs=1e-10)


def test_many_columns_with_states_beside_densities(monkeypatch):
    """More choices of states than are looked at one by one: ranges of a grid, and the same rate within their bounds."""
    monkeypatch.setattr(ranges, "_FINE", 1500)
    network = network_from_text(as_json(SEX, X, K))
    model = make_pipeline(StandardScaler(), LogisticRegression())
    people = people_of(network)
    exact = rates_of(audited(model, network, ["x", "k"], people))
    monkeypatch.setattr(stating_densities, "_MOST_TOGETHER", 2)
    bounds = audited(model, network, ["x", "k"], people)
    assert bounds.groupings[0].solution.engine in ("fourier", "sums")
    for sex, rate in rates_of(bounds).items():
        assert rate.lo <= float(exact[sex]) <= rate.hi
        assert rate.hi - rate.lo < 1e-2
    with pytest.raises(PopulationFileError, match="more than 2 choices of other variables' states matter"):
        audited(model, network_from_text(as_json(SEX, X, Y, K)), ["x", "y", "k"])


def test_imputer_with_indicator():
    """Missing values of the table have a column of their own, which is 0 for every number."""
    network = network_from_text(as_json(SEX, X, Y))
    people = people_of(network)
    people.loc[::7, "x"] = np.nan
    model = make_pipeline(SimpleImputer(add_indicator=True), LogisticRegression())
    audit = audited(model, network, ["x", "y"], people)
    assert audit.groupings[0].solution.guarantee == "exact"
    base, b_x, b_y = model[-1].intercept_[0], *model[-1].coef_[0, :2]
    for sex, rate in rates_of(audit).items():
        start, slope = (0.5, 1) if sex == "F" else (-1, -2)
        mean = base + (b_x + b_y * slope) * MEAN[sex] + b_y * start
        spread = np.hypot((b_x + b_y * slope) * DEVIATION[sex], b_y * 0.5)
        assert float(rate) == pytest.approx(norm.cdf(mean / spread), abs=1e-10)


def test_what_is_no_column_is_averaged_over():
    """x is not in the table: y alone is normal, and people are drawn without x."""
    network = network_from_text(as_json(SEX, X, Y))
    people = people_of(network).drop(columns="x")
    model = LogisticRegression()
    audit = audited(model, network, ["y"], people)
    cut = -model.intercept_[0] / model.coef_[0, 0]
    for sex, rate in rates_of(audit).items():
        mean, spread = (0.5, np.sqrt(1.25)) if sex == "F" else (-3.0, np.sqrt(1.25))
        assert float(rate) == pytest.approx(norm.sf(cut, mean, spread), abs=1e-10)
    check_by_drawing(audit, model, ["y"])


def test_extreme_ones_of_many_groups():
    """Twenty sensitive columns, of which x depends on two: a tree is searched, a score of x is refused."""
    columns = [{"name": f"a{i}", "values": [0, 1], "probabilities": [0.5, 0.5]} for i in range(20)]
    x = {"name": "x", "parents": ["a0", "a1"], "normal": {"mean": [[0, 1], [2, 4]], "variance": 1}}
    network = network_from_text(as_json(*columns, x))
    people = network.sample(200, random_state=0)
    people = people.assign(y_true=(people["x"] > 2).astype(int))
    names = [f"a{i}" for i in range(20)]
    tree = DecisionTreeClassifier(max_depth=1).fit(people[["x"]], people["y_true"])
    call = {"sensitive_features": names, "label": "y_true", "favorable": 1, "population": network}
    audit = justicia.verify(tree, people, search="learn", **call)
    cut = thresholds_of(tree, 0)[0]
    assert (audit.most_favored["a0"], audit.most_favored["a1"]) == ("1", "1")
    assert (audit.least_favored["a0"], audit.least_favored["a1"]) == ("0", "0")
    first = audit.groupings[0]
    assert float(first.most_favored.selection_rate) == pytest.approx(norm.sf(cut, 4, 1), abs=1e-12)
    assert float(first.least_favored.selection_rate) == pytest.approx(norm.sf(cut, 0, 1), abs=1e-12)
    model = LogisticRegression().fit(people[["x"]], people["y_true"])
    with pytest.raises(PopulationFileError, match=r"1,048,576 groups .* too many to look at one by one"):
        justicia.verify(model, people, search="learn", **call)


def test_synthetic_example_of_the_paper():
    """Ghosh, Basu and Meel (AAAI 2021) report .262 and .521: .1 is the standard deviation.

    Income and fitness are normal given the age; the tree asks for fitness of .61 and more, then for an income of .29 or
    of .69 and more. By hand: Phi(-3.1) Phi(3.1) + Phi(3.1) Phi(-.9) of the old, Phi(.9) Phi(1.1) + Phi(-.9) Phi(-2.9)
    of the young.
    """
    age = {"name": "age", "values": [">=40", "<40"], "probabilities": [0.5, 0.5]}
    income = {"name": "income", "parents": ["age"], "normal": {"mean": [0.6, 0.4], "standard_deviation": 0.1}}
    fitness = {"name": "fitness", "parents": ["age"], "normal": {"mean": [0.3, 0.7], "standard_deviation": 0.1}}
    network = network_from_text(as_json(age, income, fitness))
    rows = [(i, f) for i in (0.28, 0.30, 0.68, 0.70) for f in (0.60, 0.62)]
    table = pd.DataFrame(rows, columns=["income", "fitness"])
    wanted = np.where(table["fitness"] > 0.61, table["income"] > 0.29, table["income"] > 0.69)
    table = table.assign(age=["<40", ">=40"] * 4, y_true=wanted.astype(int))
    tree = DecisionTreeClassifier(random_state=0).fit(table[["income", "fitness"]], table["y_true"])
    assert np.allclose(thresholds_of(tree, 0), [0.29, 0.69], atol=1e-7)
    assert np.allclose(thresholds_of(tree, 1), [0.61], atol=1e-7)
    audit = justicia.verify(tree, table, sensitive_features="age", label="y_true", favorable=1, population=network)
    rates = {group.group["age"]: float(group.selection_rate) for group in audit.groupings[0].groups}
    phi = norm.cdf
    old = phi(-3.1) * phi(3.1) + phi(3.1) * phi(-0.9)
    young = phi(0.9) * phi(1.1) + phi(-0.9) * phi(-2.9)
    # The model looks at single precision, which moves thresholds by 3e-8.
    assert rates[">=40"] == pytest.approx(old, abs=5e-7)
    assert rates["<40"] == pytest.approx(young, abs=5e-7)
    assert float(audit.disparate_impact) == pytest.approx(0.262, abs=5e-4)
    assert float(audit.statistical_parity_difference) == pytest.approx(0.521, abs=5e-4)


def test_thresholds_between_the_same_whole_numbers():
    """In a column of whole numbers a density lies between them too: thresholds there are not taken for one another."""
    age = {"name": "age", "normal": {"mean": 40, "standard_deviation": 3}}
    network = network_from_text(as_json(SEX, age))
    frame = pd.DataFrame({"age": [38.0, 40.2, 40.4, 40.8, 42.0, 37.0]})
    tree = DecisionTreeClassifier().fit(frame, [0, 0, 1, 0, 1, 0])
    people = pd.DataFrame({"age": [38, 40, 41, 44], "sex": ["F", "M"] * 2, "y_true": [0, 1, 0, 1]})
    audit = justicia.verify(tree, people, sensitive_features="sex", label="y_true", favorable=1, population=network)
    numbers, masses = interval_masses(thresholds_of(tree, 0), 40, 3)
    expected = masses @ tree.predict(pd.DataFrame({"age": numbers}))
    for rate in rates_of(audit).values():
        assert float(rate) == pytest.approx(expected, abs=1e-6)


def test_what_a_density_says_nothing_about():
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    network = network_from_text(as_json(SEX, X))
    people = pd.DataFrame({"x": [0, 1, 2, 3], "sex": ["F", "M"] * 2, "y_true": [0, 1, 0, 1]})
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["x"])), DecisionTreeClassifier()
    )
    with pytest.raises(PopulationFileError, match="as categories, and a density gives none of them any people"):
        audited(model, network, ["x"], people)
    tree = DecisionTreeClassifier().fit(people[["x"]], people["y_true"])
    with pytest.raises(PopulationFileError, match="sensitive column 'x' has a density"):
        justicia.verify(tree, people, sensitive_features="x", label="y_true", population=network)
    with pytest.raises(PopulationFileError, match="lacks z, which the model depends on"):
        audited(DecisionTreeClassifier(), network, ["z"], people.assign(z=people["y_true"]))


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as exit_:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return exit_.value.code or 0, captured.out, captured.err


def test_commands(tmp_path, capsys):
    network = network_from_text(as_json(SEX, X, Y, U, S, K))
    people = people_of(network, 200)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(people[["x", "y", "u", "k"]], people["y_true"])
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(tree))
    people.to_csv(tmp_path / "people.csv", index=False)
    text = network_to_json(network)
    (tmp_path / "net.json").write_text(text)
    call = ["verify", "--model", tmp_path / "model.pkl", "--data", tmp_path / "people.csv", "--label", "y_true",
            "--sensitive", "sex", "--population", tmp_path / "net.json", "--quiet"]  # fmt: skip
    code, out, _ = run(capsys, *call, "--json", "-")
    assert code == 0
    held = json.loads(out)
    jsonschema.validate(held, schema())
    population = held["groupings"][0]["population"]
    assert population["structure"] == "network"
    assert "normal: x, y; uniform: u; steps: s" in population["description"]
    assert population["parents"]["y"] == ["sex", "x"]
    assert run(capsys, *call, "--population-out", "-")[1] == text
    code, out, _ = run(capsys, *call)
    assert code == 0
    assert "network: stated, not fitted on rows; normal: x, y" in " ".join(out.split())
    code, out, _ = run(capsys, "population", "show", tmp_path / "net.json")
    assert "6 variables" in out
    assert "normal" in out
    code, out, _ = run(capsys, "population", "show", tmp_path / "net.json", "--feature", "y")
    assert code == 0
    assert "variance" in out
    assert "0.25" in out
    code, out, _ = run(capsys, "population", "show", tmp_path / "net.json", "--feature", "s")
    assert "0 to 1" in out
    assert run(capsys, "population", "show", tmp_path / "net.json", "--all")[0] == 0
    assert run(capsys, "population", "show", tmp_path / "net.json", "--sensitive", "sex", "--all")[0] == 0
    code, out, _ = run(
        capsys, "population", "sample", tmp_path / "net.json", "--rows", "7", "--group", "sex=M", "--out", "-"
    )
    assert code == 0
    assert out.splitlines()[0] == "sex,k,x,u,s,y"
    assert len(out.splitlines()) == 8
