"""Audits under a stated network: all families of decisions against every combination of states."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.cli import main
from justicia.errors import PopulationFileError
from justicia.population.networks import network_from_text, network_to_json
from justicia.report.json import schema
from tests.network_cases import joint, random_network, random_people

FAMILIES = {
    "tree": lambda: DecisionTreeClassifier(max_depth=5, random_state=0),
    "logistic": lambda: LogisticRegression(C=100.0),
    "forest": lambda: RandomForestClassifier(4, max_depth=3, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=0),
}
SEEDS = [*range(12), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(12, 200))]


def model_on(people, columns, family):
    model = FAMILIES[family]()
    return model.fit(people[columns], people["y"])


@pytest.mark.parametrize("seed", SEEDS)
def test_rates_equal_enumeration(seed):
    """Groups without rows, sensitive columns that are features, hidden variables and effects of the sensitive ones."""
    network = random_network(seed)
    rng = np.random.default_rng(seed)
    people = random_people(network, rng)
    names = rng.permutation(list(network.variables)).tolist()
    sensitive, columns = names[: 1 + seed % 2], names[1:5]
    frame, masses = joint(network)
    hidden = names[5:6]
    for family in list(FAMILIES) if seed < 2 else [list(FAMILIES)[seed % 4]]:
        model = model_on(people, columns, family)
        audit = justicia.verify(
            model, people.drop(columns=hidden), sensitive_features=sensitive, label="y", population=network
        )
        yes = model.predict(frame[columns]) == int(audit.roles.favorable[0])
        # Votes that rounding may flip either way.
        ties = np.abs(model.predict_proba(frame[columns])[:, 1] - 0.5) < 1e-9
        solved = 0
        for group in audit.groupings[0].groups:
            inside = (frame[sensitive] == [int(value) for value in group.group.values()]).all(axis=1)
            if masses[inside].sum() == 0:
                assert group.selection_rate is None
                continue
            expected = masses[inside & yes].sum() / masses[inside].sum()
            assert float(group.selection_rate.lo) - 1e-11 <= expected <= float(group.selection_rate.hi) + 1e-11
            tied = masses[inside & ties].sum() / masses[inside].sum()
            assert float(group.selection_rate.hi) - float(group.selection_rate.lo) <= tied + 2e-3
            if family == "tree":
                assert group.selection_rate.exact
            solved += 1
        assert solved >= 1


def worked(**ages):
    """The classifier (not F or I) and (F or J), and its marginals by age."""
    states = [">=40", "<40"]
    variables = [{"name": "age", "values": states, "probabilities": [0.4, 0.6]}]
    for name in "FIJ":
        rows = [[1 - ages[age][name], ages[age][name]] for age in ("old", "young")]
        variables.append({"name": name, "values": [0, 1], "parents": ["age"], "probabilities": rows})
    return network_from_text(json.dumps({"schema": "justicia.network/1", "variables": variables}))


def test_worked_values():
    """By hand: .1881 of those of 40 and more, .7234 of others; with equal marginals .4344 of both."""
    points = pd.DataFrame([(f, i, j) for f in (0, 1) for i in (0, 1) for j in (0, 1)], columns=list("FIJ"))
    points["y"] = ((1 - points.F | points.I) & (points.F | points.J)).astype(int)
    model = DecisionTreeClassifier(random_state=0).fit(points[list("FIJ")], points["y"])
    table = points.assign(age=[">=40", "<40"] * 4)
    old, young = {"F": 0.01, "I": 0.99, "J": 0.18}, {"F": 0.82, "I": 0.88, "J": 0.01}
    audit = justicia.verify(model, table, sensitive_features="age", label="y", population=worked(old=old, young=young))
    rates = {group.group["age"]: float(group.selection_rate.lo) for group in audit.groupings[0].groups}
    assert rates[">=40"] == pytest.approx(0.1881, abs=1e-12)
    assert rates["<40"] == pytest.approx(0.7234, abs=5e-5)
    assert float(audit.disparate_impact) == pytest.approx(0.260, abs=5e-4)
    assert float(audit.statistical_parity_difference) == pytest.approx(0.535, abs=5e-4)
    same = {"F": 0.41, "I": 0.93, "J": 0.09}
    audit = justicia.verify(model, table, sensitive_features="age", label="y", population=worked(old=same, young=same))
    assert audit.by_group["selection_rate"].tolist() == pytest.approx([0.4344, 0.4344], abs=1e-12)


@pytest.mark.parametrize("r", [0, 1])
def test_worked_threshold(r):
    """P + Q + R - S >= 2 with P .4, Q .5, S .3: .55 where R = 1, .14 where R = 0."""
    points = pd.DataFrame(
        [(p, q, r, s) for p in (0, 1) for q in (0, 1) for r in (0, 1) for s in (0, 1)], columns=list("PQRS")
    )
    points["y"] = (points.P + points.Q + points.R - points.S >= 2).astype(int)
    model = LogisticRegression(C=1e6).fit(points[list("PQRS")], points["y"])
    assert (model.predict(points[list("PQRS")]) == points["y"]).all()
    chances = {"P": 0.4, "Q": 0.5, "R": 0.5, "S": 0.3}
    variables = [{"name": name, "values": [0, 1], "probabilities": [1 - p, p]} for name, p in chances.items()]
    network = network_from_text(json.dumps({"schema": "justicia.network/1", "variables": variables}))
    audit = justicia.verify(model, points, sensitive_features="R", label="y", population=network)
    assert audit.by_group["selection_rate"][str(r)] == pytest.approx(0.55 if r else 0.14, abs=1e-12)


def test_rates_by_true_outcome():
    """Where the network has the label, people with one true outcome are those given that state."""
    network = random_network(5)
    people = random_people(network, np.random.default_rng(5)).drop(columns="y")
    label = next(name for name in network.variables if len(network[name].states) == 2)
    others = [name for name in network.variables if name != label]
    sensitive, columns = others[:1], others[1:5]
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(people[columns], people[label])
    audit = justicia.verify(model, people, sensitive_features=sensitive, label=label, favorable=1, population=network)
    frame, masses = joint(network)
    yes = model.predict(frame[columns]) == 1
    for group in audit.groupings[0].groups:
        here = (frame[sensitive] == [int(value) for value in group.group.values()]).all(axis=1)
        for kind, outcome in (("tpr", 1), ("fpr", 0)):
            inside = here & (frame[label] == outcome)
            if masses[inside].sum() > 0:
                expected = masses[inside & yes].sum() / masses[inside].sum()
                assert float(getattr(group, kind).lo) == pytest.approx(expected, abs=1e-11)


def test_ranges_give_bounds_where_a_threshold_cuts_them():
    """Of ages up to 25, and above; the model's threshold is 30.5, so all or none of those above may be below it."""
    table = pd.DataFrame(
        {"age": [20, 22, 28, 30, 31, 40, 50, 60], "sex": ["F", "M"] * 4, "y": [0, 0, 0, 0, 1, 1, 1, 1]}
    )
    model = DecisionTreeClassifier().fit(table[["age"]], table["y"])
    age = {"name": "age", "edges": [25], "parents": ["sex"], "probabilities": [[0.25, 0.75], [0.5, 0.5]]}
    sex = {"name": "sex", "values": ["F", "M"], "probabilities": [0.5, 0.5]}
    text = json.dumps({"schema": "justicia.network/1", "variables": [age, sex]})
    audit = justicia.verify(model, table, sensitive_features="sex", label="y", population=network_from_text(text))
    bounds = [(float(one.lo), float(one.hi)) for one in audit.groupings[0].solution.enclosures]
    assert bounds == [(0.0, 0.75), (0.0, 0.5)]
    narrower = text.replace("[25]", "[30.5]")
    audit = justicia.verify(model, table, sensitive_features="sex", label="y", population=network_from_text(narrower))
    assert audit.by_group["selection_rate"].tolist() == [0.75, 0.5]
    # Ranges of a sensitive column are its classes.
    audit = justicia.verify(model, table, sensitive_features="age", label="y", population=network_from_text(narrower))
    assert audit.by_group["selection_rate"].to_dict() == {"<= 30.5": 0.0, "> 30.5": 1.0}
    assert audit.by_group["n"].to_dict() == {"<= 30.5": 4, "> 30.5": 4}


def test_ranges_bound_a_score():
    """Over a range the score lies between those at its ends; over one without an end it has no bound."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(18, 70, 80), "sex": ["F", "M"] * 40})
    table["y"] = (table["age"] > 40).astype(int)
    model = LogisticRegression().fit(table[["age"]], table["y"])
    assert model.predict(pd.DataFrame({"age": [30, 41, 55]})).tolist() == [0, 1, 1]
    sex = {"name": "sex", "values": ["F", "M"], "probabilities": [0.5, 0.5]}
    ranges = [{"from": 18, "to": 30}, {"above": 30, "to": 55}, {"above": 55, "to": 90}]
    age = {"name": "age", "ranges": ranges, "parents": ["sex"], "probabilities": [[0.2, 0.3, 0.5], [0.3, 0.3, 0.4]]}
    network = network_from_text(json.dumps({"schema": "justicia.network/1", "variables": [sex, age]}))
    audit = justicia.verify(model, table, sensitive_features="sex", label="y", population=network)
    bounds = [(float(one.lo), float(one.hi)) for one in audit.groupings[0].solution.enclosures]
    assert bounds == [pytest.approx((0.5, 0.8)), pytest.approx((0.4, 0.7))]
    del age["ranges"]
    open_ended = network_from_text(
        json.dumps({"schema": "justicia.network/1", "variables": [sex, age | {"edges": [30, 55]}]})
    )
    with pytest.raises(PopulationFileError, match="no bound over the range <= 30 of column 'age'"):
        justicia.verify(model, table, sensitive_features="sex", label="y", population=open_ended)


@pytest.fixture
def case(tmp_path):
    import pickle

    network = random_network(2)
    people = random_people(network, np.random.default_rng(2))
    model = model_on(people, ["v1", "v2", "v3"], "tree")
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "net.json").write_text(network_to_json(network))
    return tmp_path, network


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as exit_:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return exit_.value.code or 0, captured.out, captured.err


def test_command(case, capsys):
    folder, _ = case
    call = ["verify", "--model", folder / "model.pkl", "--data", folder / "people.csv", "--label", "y", "--population"]
    code, out, _ = run(capsys, *call, folder / "net.json", "--sensitive", "v0", "--json", "-", "--quiet")
    assert code == 0
    jsonschema.validate(json.loads(out), schema())
    held = json.loads(out)["groupings"][0]["population"]
    assert held["structure"] == "network"
    assert held["file"]["name"] == "net.json"
    code, out, _ = run(capsys, *call, folder / "net.json", "--sensitive", "v0", "--population-out", "-", "--quiet")
    assert out == (folder / "net.json").read_text()
    code, _, err = run(capsys, *call, folder / "net.json", "--sensitive", "y", "--quiet")
    assert code == 2
    assert len(err.strip().splitlines()) == 1
    assert "no variable for the sensitive column 'y'" in err


def test_missing_column_is_named(case):
    _, network = case
    people = random_people(network, np.random.default_rng(2)).assign(extra=np.arange(150) % 7)
    model = model_on(people.assign(y=people["extra"] > 3), ["v1", "extra"], "tree")
    with pytest.raises(PopulationFileError, match="lacks extra, which the model depends on"):
        justicia.verify(model, people, sensitive_features="v0", label="y", population=network)


def test_show_and_sample(case, capsys):
    folder, network = case
    file = folder / "net.json"
    code, out, _ = run(capsys, "population", "show", file)
    assert code == 0
    assert "7 variables" in out
    code, out, _ = run(capsys, "population", "show", file, "--feature", "v3")
    assert f"{network['v3'].table.reshape(-1)[0]:.6f}" in out
    code, out, _ = run(capsys, "population", "show", file, "--sensitive", "v0,v1")
    assert "v0 x v1" in out
    code, out, _ = run(capsys, "population", "sample", file, "--rows", "5", "--group", "v0=1", "--out", "-")
    assert code == 0
    assert len(out.splitlines()) == 6


def test_group_of_probability_0_is_refused(tmp_path, capsys):
    sex = {"name": "sex", "values": ["F", "M"], "probabilities": [0.5, 0.5]}
    pregnant = {"name": "p", "values": ["no", "yes"], "parents": ["sex"], "probabilities": [[0.9, 0.1], [1, 0]]}
    (tmp_path / "n.json").write_text(json.dumps({"schema": "justicia.network/1", "variables": [sex, pregnant]}))
    for call in (["show"], ["sample", "--rows", "1", "--out", "-"]):
        code, _, err = run(capsys, "population", call[0], tmp_path / "n.json", "--group", "sex=M,p=yes", *call[1:])
        assert code == 2
        assert "the group sex M, p yes has probability 0 in the network n.json" in err
    code, _, err = run(capsys, "population", "show", tmp_path / "n.json", "--group", "sex=W")
    assert code == 2
    assert "variable 'sex' has no state 'W'" in err
