"""Networks with densities: the JSON form, what is refused, and the numbers that come out of the parameters."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, multivariate_normal, norm

from justicia.errors import PopulationFileError
from justicia.population.networks import network_from_text, network_to_json
from justicia.population.networks.densities import REACH, normal_masses, uneven_grid
from justicia.population.networks.gaussians import Component, components_of, pair_masses
from tests.density_cases import SEX, as_json

NORMAL = {"mean": 0, "variance": 1}
X = {"name": "x", "parents": ["sex"], "normal": {"mean": [0, 1], "variance": [1, 2]}}
K = {"name": "k", "values": [0, 1, 3], "probabilities": [0.5, 0.25, 0.25]}
Y = {"name": "y", "parents": ["k", "x", "sex"],
     "normal": {"mean": [0, 2], "variance": [0.1, 0.2], "coefficients": {"x": [1, 3], "k": 0.5}}}  # fmt: skip
U = {"name": "u", "uniform": {"from": 0, "to": 2}}
S = {"name": "s", "parents": ["sex"],
     "steps": [{"from": 0, "to": 1, "density": [0.5, 0.2]}, {"from": 2, "to": 3, "density": [0.5, 0.8]}]}  # fmt: skip


def steps(*held, parents=()):
    return {
        "name": "s",
        "parents": list(parents),
        "steps": [dict(zip(("from", "to", "density"), one, strict=True)) for one in held],
    }


def normal(parents=(), **held):
    return {"name": "z", "parents": list(parents), "normal": NORMAL | held}


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ([SEX, normal(variance=-1)], "variance of normal of variable 'z' is -1, and has to be above 0"),
        ([SEX, normal(variance=0)], "a number that is the same for everybody is a variable with one value"),
        ([SEX, normal(["sex"], variance=[1, -2])], "is -2 given sex M"),
        ([SEX, normal(standard_deviation=1)], "by one of variance and standard_deviation"),
        ([SEX, {"name": "z", "normal": {"mean": 0}}], "by one of variance and standard_deviation"),
        ([SEX, {"name": "z", "normal": {"variance": 1}}], "normal of variable 'z' lacks mean"),
        ([SEX, {"name": "z", "normal": [0, 1]}], "normal of variable 'z' is no JSON object"),
        ([SEX, normal(mean="high")], "mean of normal of variable 'z' is no number"),
        ([SEX, normal(mean=True)], "is no number"),
        ([SEX, normal(mean=None)], "is no number"),
        ([SEX, normal(sigma=1)], "holds 'sigma', which means nothing here"),
        ([SEX, normal(mean=1e200)], "too large or too small to be reckoned with"),
        ([SEX, normal(variance=1e-200)], "too large or too small to be reckoned with"),
        ([SEX, normal(["sex"], mean=[1])], "has 1 for the 2 states of 'sex', which are F, M: one number for each"),
        ([SEX, normal(["sex"], mean=[1, 2, 3])], "has 3 for the 2 states of 'sex'"),
        ([SEX, normal(mean=[1, 2])], "has more levels of lists than there are parents with states"),
        ([SEX, K, normal(["sex", "k"], mean=[[1, 2, 3], [1, 2]])], "given sex M has 2 for the 3 states of 'k'"),
        ([SEX, normal(["age"])], "has the parent 'age', which is no variable"),
        ([SEX, X, normal(["x"])], "has the parent 'x', which has a density, and no coefficient on it"),
        ([SEX, normal(coefficients={"sex": 1})], "has a coefficient on 'sex', which is no parent"),
        ([SEX, normal(["sex"], coefficients={"sex": 1})], "has a coefficient on 'sex', whose states are no numbers"),
        ([SEX, U, normal(["u"], coefficients={"u": 1})], "has a coefficient on 'u', which is uniform"),
        ([SEX, S, normal(["s"], coefficients={"s": 1})], "has a coefficient on 's', which is steps"),
        ([SEX, X, normal(["x"], coefficients={"x": "much"})], "x of coefficients of normal of variable 'z' is no"),
        ([SEX, normal(["z"], coefficients={"z": 1})], "variable 'z' depends on itself in a circle: z -> z"),
        ([SEX, X | {"parents": ["z"], "normal": NORMAL | {"coefficients": {"z": 1}}},
          normal(["x"], coefficients={"x": 1})], "depends on itself in a circle"),
        ([SEX, X, X], "variable 'x' is given twice"),
        ([SEX, X | {"name": "sex"}], "variable 'sex' is given twice"),
        ([X | {"parents": [], "normal": NORMAL}], "and groups are told apart by such a one"),
        ([SEX | {"parents": ["u"], "probabilities": [[0.5, 0.5]]}, U], "has the parent 'u', which has a density"),
        ([SEX, X | {"probabilities": [1]}], "holds 'probabilities', which means nothing here"),
        ([SEX, X | {"uniform": {"from": 0, "to": 1}}], "holds 'uniform', which means nothing here"),
        ([SEX, {"name": "z"}], "lacks probabilities"),
        ([SEX, {"name": "u", "uniform": {"from": 2, "to": 2}}], "does not end above its beginning"),
        ([SEX, {"name": "u", "parents": ["sex"], "uniform": {"from": 1, "to": [2, 0]}}], "its beginning given sex M"),
        ([SEX, {"name": "u", "uniform": {"from": 0}}], "lacks to"),
        ([SEX, U, U | {"name": "v", "parents": ["u"]}], "only a normal variable depends on such a one"),
        ([SEX, steps()], "needs 1 or more steps"),
        ([SEX, steps((0, 1, 0.5), (1, 2, 0.4))], "do not integrate to 1: they integrate to 0.9"),
        ([SEX, steps((0, 1, [1, 0.5]), parents=["sex"])], "do not integrate to 1 given sex M: they integrate to 0.5"),
        ([SEX, steps((0, 2, 0.25), (1, 3, 0.25))], "begins at 1, below the end of the one before it, 2"),
        ([SEX, steps((2, 3, 0.5), (0, 1, 0.5))], "begins at 0, below the end of the one before it, 3"),
        ([SEX, steps((1, 1, 1))], "does not end above its beginning, 1"),
        ([SEX, steps((0, 1, 1.5), (1, 2, -0.5))], "density of step 2 of steps of variable 's' is below 0"),
        ([SEX, {"name": "s", "steps": [{"from": 0, "to": 1, "density": 0.5},
                                      {"from": 1, "to": 2, "probability": 0.5}]}],
         "gives some steps a density and others a probability"),
        ([SEX, {"name": "s", "steps": [{"from": 0, "to": 1}]}], "lacks density"),
        ([SEX, {"name": "s", "steps": {"from": 0, "to": 1, "density": 1}}], "is no list"),
    ],
)  # fmt: skip
def test_bad_densities_are_refused_in_one_line(variables, problem):
    with pytest.raises(PopulationFileError) as error:
        network_from_text(as_json(*variables))
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1" + "0" * 400])
def test_numbers_that_are_none(number):
    text = as_json(SEX, normal(mean="#")).replace('"#"', number)
    with pytest.raises(PopulationFileError, match=r"no number|no finite number"):
        network_from_text(text)


@settings(max_examples=60, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=3) | st.integers(),
                    lambda held: st.lists(held, max_size=3) | st.dictionaries(
                        st.sampled_from(["mean", "variance", "from", "to", "density", "coefficients", "x"]), held),
                    max_leaves=8), st.sampled_from(["normal", "uniform", "steps"]))  # fmt: skip
def test_any_density_is_read_or_refused(value, kind):
    text = json.dumps({"schema": "justicia.network/1",
                       "variables": [SEX, X, {"name": "z", "parents": ["sex", "x"], kind: value}]})  # fmt: skip
    try:
        read = list(network_from_text(text).numeric)
    except PopulationFileError as error:
        read = str(error).splitlines()
    assert len(read) in (1, 2)
    assert len(read) == 1 or read == ["x", "z"]


def test_written_and_read_again():
    network = network_from_text(as_json(SEX, K, S, Y, X, U))
    text = network_to_json(network)
    again = network_from_text(text)
    assert network_to_json(again) == text
    assert list(again.numeric) == list(network.numeric)
    assert again.numeric["y"].mean.shape == (2, 3)
    # Means of y where x is 0: by k, half a unit each, and by sex.
    assert again.numeric["y"].mean.tolist() == [[0, 0.5, 1.5], [2, 2.5, 3.5]]
    assert again.numeric["s"].masses.tolist() == [[0.5, 0, 0.5], [0.2, 0, 0.8]]


def test_moments_through_coefficients():
    """By hand: Var y = b^2 Var x + v, Cov = b Var x, E y = a + k / 2 + b E x."""
    network = network_from_text(as_json(SEX, K, X, Y))
    (one,) = components_of(network, ["x", "y"])
    assert one.names == ("x", "y")
    for state, (sex, k) in enumerate([(sex, k) for sex in (0, 1) for k in (0, 1, 3)]):
        at = state if one.scope == ("sex", "k") else None
        assert at is not None
        b, v, mean = (1, 0.1, k / 2) if sex == 0 else (3, 0.2, 2 + k / 2 + 3)
        var_x = 1 + sex
        assert one.mean[at] == pytest.approx([sex, mean])
        assert one.covariance[at] == pytest.approx(np.array([[var_x, b * var_x], [b * var_x, b * b * var_x + v]]))
    # Two that share no cause stand alone, two with a common cause do not.
    z = {"name": "z", "parents": ["x"], "normal": NORMAL | {"coefficients": {"x": 0.5}}}
    other = {"name": "o", "normal": NORMAL}
    network = network_from_text(as_json(SEX, K, X, Y, z, other))
    assert sorted(len(one.names) for one in components_of(network, ["y", "z", "o"])) == [1, 2]
    assert len(components_of(network, ["y", "o"])) == 2


@settings(max_examples=40, deadline=None)
@given(st.floats(-0.999, 0.999), st.lists(st.floats(-4, 4), min_size=1, max_size=4, unique=True),
       st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 3.0]), min_size=1, max_size=4, unique=True))  # fmt: skip
def test_rectangles_of_two(correlation, first, second):
    """Owen's function against scipy's bivariate normal, signs and zeros included."""
    covariance = np.array([[4.0, correlation * 2 * 0.5], [correlation * 2 * 0.5, 0.25]])
    one = Component(("x", "y"), (), np.array([[1.0, -1.0]]), np.linalg.cholesky(covariance)[None])
    cuts = [1 + 2 * np.sort(first), -1 + 0.5 * np.sort(second)]
    found = pair_masses(one, cuts).reshape(len(first) + 1, len(second) + 1)
    below = found.cumsum(axis=0).cumsum(axis=1)[:-1, :-1]
    points = np.stack([held.ravel() for held in np.meshgrid(*cuts, indexing="ij")], axis=1)
    expected = np.atleast_1d(multivariate_normal.cdf(points, [1, -1], covariance)).reshape(below.shape)
    np.testing.assert_allclose(below, expected, atol=2e-12)
    assert found.sum() == pytest.approx(1, abs=1e-14)
    assert (found >= 0).all()


def test_two_that_are_the_same_are_refused():
    one = Component(("x", "y"), (), np.zeros((1, 2)), np.array([[[1.0, 0.0], [1.0, 1e-6]]]))
    with pytest.raises(PopulationFileError, match="x and y are as good as the same"):
        pair_masses(one, [np.zeros(1), np.zeros(1)])


def test_tails_keep_their_digits():
    found = normal_masses(np.zeros(1), np.ones(1), np.array([-30.0, -10.0, 8.0, 9.0, 30.0]))[0]
    expected = [norm.cdf(-30), norm.cdf(-10), norm.cdf(8), norm.sf(8) - norm.sf(9), norm.sf(9), norm.sf(30)]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_steps_are_cut_anywhere():
    """By hand: half of the people lie evenly between 0 and 1, half between 2 and 3."""
    held = network_from_text(as_json(SEX, S)).numeric["s"]
    cuts = np.array([-1, 0.25, 1.5, 2.5, 9])
    expected = [[0, 0.125, 0.375, 0.25, 0.25, 0], [0, 0.05, 0.15, 0.4, 0.4, 0]]
    np.testing.assert_allclose(held.between(cuts), expected, atol=1e-16)


def test_grid_covers_distributions_of_all_sizes():
    grid = uneven_grid(np.array([0.0, 100.0]), np.array([0.01, 10.0]), 2000)
    assert grid[0] == pytest.approx(-REACH * 0.01) or grid[0] == pytest.approx(100 - REACH * 10)
    assert ((grid > -0.02) & (grid < 0.02)).sum() > 200
    assert grid[-1] == pytest.approx(190)
    many = uneven_grid(np.arange(500.0), np.ones(500), 2000)
    assert len(many) == 2000
    assert many[0] == -REACH
    assert many[-1] == 499 + REACH


def test_people_follow_the_densities():
    """Kolmogorov's test of each number, and the regression of y on x, in samples that are the same every time."""
    network = network_from_text(as_json(SEX, K, X, Y, U, S))
    people = network.sample(20_000, {"sex": "M"}, random_state=1)
    assert (people["sex"] == "M").all()
    assert kstest(people["x"], norm(1, np.sqrt(2)).cdf).pvalue > 1e-4
    assert kstest((people["u"]) / 2, "uniform").pvalue > 1e-4
    left = people["y"] - 2 - people["k"] / 2 - 3 * people["x"]
    assert kstest(left, norm(0, np.sqrt(0.2)).cdf).pvalue > 1e-4
    share = (people["s"] <= 1).mean()
    assert share == pytest.approx(0.2, abs=0.015)
    assert not ((people["s"] > 1) & (people["s"] < 2)).any()
    again = network.sample(20_000, {"sex": "M"}, random_state=1)
    assert people.equals(again)
    everybody = network.sample(2_000, random_state=0)
    assert (everybody["sex"] == "F").mean() == pytest.approx(0.5, abs=0.06)


def test_example_of_the_documentation():
    text = (Path(__file__).parents[2] / "docs" / "populations.md").read_text(encoding="utf-8")
    example = text[text.index("### Densities") :].split("```json\n")[1].split("```")[0]
    network = network_from_text(example)
    assert {name: variable.kind for name, variable in network.numeric.items()} == {
        "income": "normal", "debt": "normal", "age": "uniform", "hours": "steps"
    }  # fmt: skip
    people = network.sample(4_000, {"sex": "Male"}, random_state=0)
    assert list(people.columns) == network.names
    expected = 1000 + 0.25 * people["income"] + 1500 * people["dependents"]
    assert (people["debt"] - expected).std() == pytest.approx(3000, rel=0.05)
    with pytest.raises(PopulationFileError, match="has no state 'Mal'"):
        network.sample(3, {"sex": "Mal"})
