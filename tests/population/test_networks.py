"""Stated networks: reading, elimination, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from justicia.errors import PopulationFileError
from justicia.population.networks import file_of_network, for_columns, network_from_text, network_to_json, read_given
from tests.network_cases import joint, random_network

BIF = """// what a regulator states
network people { property "made by hand"; }
variable sex { type discrete [ 2 ] { Female, Male }; property p = 1; }
variable age { type discrete[3] { "<= 25", "(25, 40]", "> 40" }; }
variable degree { type discrete [2] { no, yes }; }
probability ( sex ) { table 0.4, 0.6; }
/* nobody below 25
   among men */
probability ( age | sex ) { (Female) 0.2 0.3 0.5; (Male) 0, 0.25, 0.75; }
probability ( degree | sex, age ) { default 0.7, 0.3; (Male, "> 40") 0.1, 0.9; }
"""
SEX = {"name": "sex", "values": ["Female", "Male"], "probabilities": [0.4, 0.6]}
AGE = {"name": "age", "edges": [25, 40], "parents": ["sex"], "probabilities": [[0.2, 0.3, 0.5], [0, 0.25, 0.75]]}


def as_json(*variables, **more):
    return json.dumps({"schema": "justicia.network/1", "variables": list(variables), **more})


def test_bif_by_hand():
    network = network_from_text(BIF, bif=True)
    assert network["age"].texts == ("<= 25", "(25, 40]", "> 40")
    assert network["degree"].parents == ("sex", "age")
    assert network["degree"].table[1].tolist() == [[0.7, 0.3], [0.7, 0.3], [0.1, 0.9]]
    assert network["sex"].table.tolist() == [0.4, 0.6]


def test_bif_one_run_has_own_states_slowest():
    text = BIF.replace(
        '{ default 0.7, 0.3; (Male, "> 40") 0.1, 0.9; }', "{ table .1 .2 .3 .4 .5 .6 .9 .8 .7 .6 .5 .4; }"
    )
    table = network_from_text(text, bif=True)["degree"].table
    assert table[..., 0].tolist() == [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]


def test_json_and_bif_say_the_same():
    degree = {
        "name": "degree", "values": ["no", "yes"], "parents": ["sex", "age"],
        "probabilities": [[[0.7, 0.3]] * 3, [[0.7, 0.3], [0.7, 0.3], [0.1, 0.9]]],
    }  # fmt: skip
    first, second = network_from_text(as_json(degree, AGE, SEX)), network_from_text(BIF, bif=True)
    for name in ("sex", "age", "degree"):
        assert first[name].states == second[name].states
        assert np.array_equal(first[name].table, second[name].table)


@pytest.mark.parametrize("seed", range(10))
def test_written_networks_read_the_same(seed):
    network = random_network(seed)
    again = network_from_text(network_to_json(network))
    assert list(again.variables) == list(network.variables)
    for name, variable in network.variables.items():
        assert again[name].states == variable.states
        assert again[name].parents == variable.parents
        assert np.array_equal(again[name].table, variable.table)


@pytest.mark.parametrize("seed", [*range(60), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(60, 200))])
def test_distribution_of_every_group_equals_enumeration(seed):
    """Sensitive variables anywhere, hidden ones, and up to three parents: cells of the columns, all at once."""
    network = random_network(seed, most_parents=3)
    rng = np.random.default_rng(1000 + seed)
    names = rng.permutation(list(network.variables)).tolist()
    sensitive, columns = names[: 1 + seed % 3], names[2:5]
    file = for_columns(file_of_network(network, [sensitive]), columns)
    population = file.groupings[0].everybody
    frame, masses = joint(network)
    shares = frame.assign(p=masses).groupby(sensitive)["p"].sum()
    possible = {key if isinstance(key, tuple) else (key,) for key, share in shares.items() if share > 0}
    assert {tuple(map(int, group)) for group in population.groups} == possible
    position = {feature.name: i for i, feature in enumerate(population.domain.features)}
    points = frame[columns].drop_duplicates()
    boxes = [None] * len(position)
    for name in columns:
        boxes[position[name]] = np.eye(len(network[name].states), dtype=bool)[points[name]]
    found = population.masses(boxes, len(points))
    for place, group in enumerate(population.groups):
        inside = (frame[sensitive] == list(map(int, group))).all(axis=1)
        expected = frame.assign(p=np.where(inside, masses, 0.0)).groupby(columns)["p"].sum()
        expected = np.array([expected[tuple(point)] for point in points.to_numpy()]) / masses[inside].sum()
        np.testing.assert_allclose(found[:, place], expected, atol=1e-12)
        assert population.shares[place] == pytest.approx(masses[inside].sum(), abs=1e-12)


def test_drawn_people_follow_the_network():
    network = random_network(3)
    file = for_columns(file_of_network(network, [["v1"]]), list(network.variables))
    people = file.sample(20_000, random_state=0)
    frame, masses = joint(network)
    assert sorted(people.columns) == sorted(network.variables)
    for first, second in (("v0", "v1"), ("v1", "v2"), ("v5", "v6")):
        expected = frame.assign(p=masses).groupby([first, second])["p"].sum()
        drawn = people.groupby([first, second]).size() / len(people)
        for key, share in expected.items():
            assert drawn.get(key, 0.0) == pytest.approx(share, abs=5 * np.sqrt(0.25 / len(people)))


def test_small_tables_are_exact_where_the_network_is_a_tree():
    """Group tables are those that were stated, not what rounding makes of them."""
    network = network_from_text(BIF, bif=True)
    population = for_columns(file_of_network(network, [["sex"]]), ["age"]).groupings[0].everybody
    assert population.nodes[0].table.tolist() == [[[0.2, 0.3, 0.5]], [[0, 0.25, 0.75]]]


def test_numbers_follow_the_column():
    """A column of words has the words '0' and '1', one of numbers the numbers, one of truth values False and True."""
    text = as_json(SEX, {"name": "a", "values": ["1", "0"], "probabilities": [0.25, 0.75]})
    network = network_from_text(text)
    for values, cells in (([0, 1], None), (["0", "1"], {"1": 0, "0": 1}), ([0.0, 1.0], None)):
        people = pd.DataFrame({"sex": ["Female", "Male"], "a": values})
        feature = file_of_network(network, [["sex"]], people).domain.features[1]
        assert feature.numeric == (cells is None)
        assert (feature.cells or None) == cells
    flags = network_from_text(text.replace('["1", "0"]', '["true", "false"]'))
    people = pd.DataFrame({"sex": ["Female", "Male"], "a": [True, False]})
    assert file_of_network(flags, [["a"]], people).groupings[0].everybody.groups == (("True",), ("False",))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("{ table 0.4, 0.6; }", "{ table 0.4, 0.7; }"), "the table of 'sex' does not sum to 1: it sums to 1.1"),
        (("(Male) 0, 0.25, 0.75", "(Male) 0, 0.5, 0.75"), "'age' does not sum to 1 given sex Male: it sums to 1.25"),
        (("(Male) 0, 0.25", "(Mal) 0, 0.25"), "line 9: 'sex' has no state 'Mal'; did you mean Male?"),
        (("degree | sex, age", "degree | sex, agee"), "has the parent 'agee', which is no variable; did you mean age?"),
        (("default 0.7, 0.3;", ""), "the probabilities of 'degree' are not given for sex Female, age <= 25"),
        (("probability ( sex ) { table 0.4, 0.6; }", ""), "variable 'sex' has no probabilities"),
        (("( sex )", "( age )"), "gives the probabilities of 'age' twice"),
        (("[ 2 ] { Female", "[ 3 ] { Female"), "line 3 says 3 states of 'sex', and lists 2"),
        (("{ Female, Male }", "{ Male, Male }"), "variable 'sex' has the state 'Male' twice"),
        (("(25, 40]", "(20, 40]"), "the range (20, 40] does not lie above the one before it, <= 25"),
        (("type discrete [ 2 ]", "type continuous [ 2 ]"), "of type continuous, and discrete is read"),
        (("0.4, 0.6", "0.4, nan"), "has 'nan' where a number is expected"),
        (("0.4, 0.6", "1.4, -0.4"), "the table of 'sex' holds a number that is no probability"),
        (("(Female) 0.2 0.3 0.5;", "(Female) 0.2 0.8;"), "line 9 has 2 numbers for 3 states of 'age'"),
        (("( sex ) { table 0.4, 0.6; }", "( sex | degree ) { default .5 .5; }"), "in a circle"),
        (('"> 40") 0.1, 0.9; }', '"> 40") 0.1, 0.9;'), "ends the file in the middle of a block"),
        (('"made by hand"', '"made by hand'), "that nothing ends"),
        (("network people", "nonsense people"), "has 'nonsense' where network, variable or probability is expected"),
    ],
)  # fmt: skip
def test_bad_bif_is_refused_in_one_line(change, problem):
    text = BIF.replace(*change)
    assert text != BIF
    with pytest.raises(PopulationFileError) as error:
        network_from_text(text, bif=True)
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ([], "needs 1 or more variables"),
        ([SEX, SEX], "variable 'sex' is given twice"),
        ([AGE], "variable 'age' has the parent 'sex', which is no variable"),
        ([SEX | {"probabilities": [0.4, 0.5]}], "the table of 'sex' does not sum to 1"),
        ([SEX | {"probabilities": [[0.4, 0.6]]}], "has the shape 1 x 2, and 2 is expected"),
        ([SEX | {"values": []}], "needs 1 or more values"),
        ([SEX | {"edges": [1]}], "names its states by one of values, edges and ranges"),
        ([SEX, AGE | {"edges": [40, 25]}], "does not rise"),
        ([SEX | {"tables": 1}], "holds 'tables', which means nothing here"),
        ([SEX | {"parents": ["age"], "probabilities": [[0.4, 0.6]] * 3}, AGE], "in a circle: "),
        ([{"name": "x", "ranges": [{"from": 2, "to": 1}], "probabilities": [1]}], "is empty"),
        ([{"name": "x", "values": [1, "1"], "probabilities": [0.5, 0.5]}], "has the state '1' twice"),
    ],
)
def test_bad_json_is_refused_in_one_line(variables, problem):
    with pytest.raises(PopulationFileError) as error:
        network_from_text(as_json(*variables))
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


@given(st.text(alphabet='{}()[],;|"/*\n 0.5ab<', max_size=60))
def test_any_text_is_read_or_refused(text):
    text = f"variable a {{ type discrete [1] {{ x }}; }} probability (a) {{ table 1; }} {text}"
    try:
        read = list(network_from_text(text, bif=True).variables)
    except PopulationFileError as error:
        read = str(error).splitlines()
    assert len(read) == 1


def test_variables_that_hang_together_too_closely_are_refused():
    rng = np.random.default_rng(0)
    roots = [{"name": f"r{i}", "values": list(range(8)), "probabilities": [0.125] * 8} for i in range(9)]
    children = [
        {"name": f"c{i}{j}", "values": [0, 1], "parents": [f"r{i}", f"r{j}"],
         "probabilities": rng.dirichlet([1, 1], size=(8, 8)).tolist()}
        for i in range(9) for j in range(i)
    ]  # fmt: skip
    network = network_from_text(as_json(*roots, *children))
    names = [child["name"] for child in children]
    with pytest.raises(PopulationFileError, match=r"too closely|would hold more than") as error:
        for_columns(file_of_network(network, [["r0"]]), names)
    assert "\n" not in str(error.value)
    # Few of the columns need few of the others.
    few = for_columns(file_of_network(network, [["r0"]]), ["c10", "c21"]).groupings[0].everybody
    assert few.n_groups == 8


def test_files_are_told_apart(tmp_path):
    (tmp_path / "people.BIF").write_text(BIF)
    network = read_given(tmp_path / "people.BIF")
    assert network.name == "people.BIF"
    (tmp_path / "bad.bif").write_bytes(b"\xff\xfe")
    with pytest.raises(PopulationFileError, match=r"bad\.bif: the file is no text in UTF-8"):
        read_given(tmp_path / "bad.bif")
    (tmp_path / "other.json").write_text(as_json(SEX).replace("justicia.network/1", "justicia.network/9"))
    with pytest.raises(PopulationFileError, match="schema"):
        read_given(tmp_path / "other.json")


def test_rates_of_another_reader(tmp_path):
    """pyAgrum writes a network as BIF, and finds the same probabilities given the evidence."""
    pyagrum = pytest.importorskip("pyagrum")
    network = random_network(11)
    model = pyagrum.BayesNet("n")
    for name, variable in network.variables.items():
        model.add(pyagrum.LabelizedVariable(name, name, [str(state) for state in variable.states]))
    for name, variable in network.variables.items():
        for parent in variable.parents:
            model.addArc(parent, name)
    for name, variable in network.variables.items():
        order = [at for at in model.cpt(name).names if at != name][::-1]
        axes = [variable.parents.index(parent) for parent in order]
        model.cpt(name)[:] = np.ascontiguousarray(np.transpose(variable.table, [*axes, len(axes)]))
    model.saveBIF(str(tmp_path / "n.bif"))
    again = read_given(tmp_path / "n.bif")
    file = for_columns(file_of_network(again, [["v6", "v2"]]), ["v0", "v4"])
    population = file.groupings[0].everybody
    inference = pyagrum.LazyPropagation(model)
    place = [feature.name for feature in population.domain.features].index("v4")
    for position, (v6, v2) in enumerate(population.groups):
        inference.setEvidence({"v6": v6, "v2": v2})
        inference.makeInference()
        boxes = [None] * len(population.domain.features)
        boxes[place] = np.eye(len(network["v4"].states), dtype=bool)
        found = population.masses(boxes, len(network["v4"].states))[:, position]
        np.testing.assert_allclose(found, inference.posterior("v4").toarray(), atol=1e-6)


def test_numbers_beyond_64_bits_are_drawn_as_floats():
    from justicia.population.domain import Feature
    from justicia.population.stored.drawing import drawn_values

    feature = Feature("n", True, ("a",), edges=np.zeros(0), ranges=np.array([[1e19, 3e19]]), integers=True)
    drawn = drawn_values(feature, np.zeros(50, dtype=np.int64), np.random.default_rng(0))
    assert drawn.dtype == np.float64
    assert drawn.between(1e19, 3e19).all()
