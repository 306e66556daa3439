"""What remains of gaps with the mediators of the most favored group: against plain enumeration."""

from __future__ import annotations

import json
import math
import pickle
from itertools import product

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia import remaining, stating
from justicia.cli import main
from justicia.errors import InputError, PopulationFileError, RequirementError
from justicia.population.networks import network_from_text, network_to_json
from justicia.report.json import schema
from justicia.solvers import extreme_groups
from tests.network_cases import joint, random_network, random_people
from tests.solvers.test_extreme_groups import audited, factored, people

FAMILIES = {
    "tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
    "logistic": lambda: LogisticRegression(C=10.0),
    "forest": lambda: RandomForestClassifier(4, max_depth=3, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=0),
}
STRUCTURES = ("independent", "tree", "auto", "empirical")
CASES = [
    pytest.param(seed, structure, marks=() if seed < 4 else pytest.mark.slow)
    for seed in range(30)
    for structure in STRUCTURES
]


def table(seed, n):
    """Columns that hang together and on the groups, one of them a sensitive one, and an outcome."""
    rng = np.random.default_rng(seed)
    sex, race = rng.choice(["f", "m"], n), rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    u = rng.integers(0, 7, n) + 2 * (sex == "m")
    w = np.clip(u // 2 + rng.integers(-1, 2, n) + (race == "a"), 0, 3)
    v = rng.choice(["p", "q", "r"], n)
    frame = pd.DataFrame({"sex": sex, "race": race, "u": u, "w": w, "v": np.where(w > 1, v, "p")})
    score = frame["u"] + frame["w"] + 2 * (frame["v"] == "q") + (sex == "m") + rng.normal(size=n)
    return frame, (score > np.median(score)).astype(int)


def fitted(family, frame, label, columns):
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    words = [name for name in columns if frame[name].dtype.kind not in "if"]
    encode = ColumnTransformer([("words", OneHotEncoder(), words)], remainder="passthrough")
    return make_pipeline(encode, FAMILIES[family]()).fit(frame[columns], label)


def density(population, features, own, favored, point, mediators):
    """Weight of each class and probability of a point in it, with the mediators of a group; from a population file."""
    place = {feature["name"]: i for i, feature in enumerate(features)}
    states = {held["feature"]: held["states"] for held in population["tables"]}
    mixed = "class_weights" in population
    found = []
    for k, weight in enumerate(population["class_weights"][own] if mixed else [1.0]):
        total = weight
        for held in population["tables"]:
            group = favored if held["feature"] in mediators else own
            cell = point[place[held["feature"]]]
            above = states[held["parents"][0]][point[place[held["parents"][0]]]] if held["parents"] else 0
            rows = held["probabilities"][group][k] if mixed else held["probabilities"][group]
            total *= rows[above][held["states"][cell]]
            if held["within"] is not None:
                total *= (held["within"][group][k] if mixed else held["within"][group])[cell]
        found.append(total)
    return sum(found)


def expected(population, features, decision, own, favored, mediators):
    """Bounds of a group's rate, added up point by point and row by row."""

    def accepts(point):
        return bool(decision.evaluate(np.array([point], dtype=np.int32))[0])

    place = {feature["name"]: i for i, feature in enumerate(features)}
    of_tables, of_rows, unknown = 0.0, 0.0, 0.0
    if "tables" in population:
        sizes = [len(feature["cells"]) for feature in features]
        of_tables = sum(
            density(population, features, own, favored, point, mediators)
            for point in product(*map(range, sizes))
            if accepts(point)
        )
    if "people" not in population:
        return of_tables, of_tables
    held = population["people"]
    rows = [
        (count, tuple(cells), group)
        for group, count, cells in zip(held["groups"], held["counts"], held["cells"], strict=True)
    ]
    weights = []
    if "tables" in population:
        for count, cells, group in rows:
            if group == own:
                after = density(population, features, own, favored, cells, mediators)
                weights.append((count * after / density(population, features, own, own, cells, mediators), cells))
    else:

        def together(cells):
            return tuple(cells[place[name]] for name in mediators)

        shares = {}
        for group in {own, favored}:
            total = sum(count for count, _, one in rows if one == group)
            for count, cells, one in rows:
                if one == group:
                    key = group, together(cells)
                    shares[key] = shares.get(key, 0.0) + count / total
        weights = [
            (count * shares.get((favored, together(cells)), 0.0) / shares[own, together(cells)], cells)
            for count, cells, one in rows
            if one == own
        ]
        unknown = sum(share for (one, key), share in shares.items() if one == favored and (own, key) not in shares)
    total = sum(weight for weight, _ in weights)
    of_rows = sum(weight for weight, cells in weights if accepts(cells)) / total if total else 0.0
    if "tables" not in population:
        return of_rows * (1 - unknown), of_rows * (1 - unknown) + unknown
    share = population["row_weights"][own]
    rate = share * of_rows + (1 - share) * of_tables
    return rate, rate


@pytest.mark.parametrize(("seed", "structure"), CASES)
def test_rates_equal_enumeration(seed, structure):
    """Trees, scores and ensembles; cells within states, latent classes, sensitive columns that are features."""
    family = list(FAMILIES)[(seed + STRUCTURES.index(structure)) % 4]
    frame, label = table(seed, 1200 if seed % 2 else 150)
    columns = ["u", "w", "v"] + (["sex"] if seed % 3 == 0 else [])
    model = fitted(family, frame, label, columns)
    mediators = [["u"], ["w", "v"], ["v"], ["u", "w", "v"]][seed % 4]
    sensitive = ["sex"] if seed % 2 else ["sex", "race"]
    audit = justicia.verify(
        model, frame, sensitive_features=sensitive, y=label, population=structure, mediators=mediators, tolerance=1e-9
    )
    grouping = audit.groupings[0]
    held = grouping.remaining
    written = json.loads(audit.population_file().to_json())
    features, populations = written["features"], written["groupings"][0]["populations"]
    if structure == "auto":
        assert len(populations["everybody"]["class_weights"][0]) == (2 if seed % 2 else 1)
    kinds = {"selection_rate": "everybody", "tpr": "favorable", "fpr": "unfavorable"}
    checked = 0
    for kind, name in kinds.items():
        population = populations[name]
        keys = [tuple(group["group"].values()) for group in population["groups"]] if population else []
        for position, group in enumerate(grouping.groups):
            key = tuple(group.group.values())
            if key not in keys or any(tuple(one.values()) not in keys for one in held.favored):
                assert held.rates[kind][position] is None
                continue
            ends = [
                expected(
                    population, features, audit.decision, keys.index(key), keys.index(tuple(one.values())), mediators
                )
                for one in held.favored
            ]
            rate = held.rates[kind][position]
            assert float(rate.lo) - 1e-9 <= min(low for low, _ in ends)
            assert max(high for _, high in ends) <= float(rate.hi) + 1e-9
            if family in ("tree", "logistic"):
                assert float(rate.lo) == pytest.approx(min(low for low, _ in ends), abs=1e-9)
                assert float(rate.hi) == pytest.approx(max(high for _, high in ends), abs=1e-9)
            if len(held.favored) == 1 and key == tuple(held.favored[0].values()):
                assert float(rate.lo) == pytest.approx(float(getattr(group, kind).lo), abs=1e-9)
            checked += 1
    assert checked >= 4
    rates = [rate for rate in held.rates["selection_rate"] if rate is not None]
    impact = held.measures["disparate_impact"].value
    if len(held.favored) == 1:
        assert float(impact.lo) == pytest.approx(min(one.lo for one in rates) / max(one.hi for one in rates))
    jsonschema.Draft202012Validator(schema()).validate(audit.to_dict())


def test_by_hand():
    """Independent features; women have the mediator at .2, men at .8; the model says yes to all who have it or are old.

    Of women 1 - .8 * .5 = .6 and of men 1 - .2 * .7 = .86 without, 1 - .2 * .5 = .9 of women with the men's mediator.
    """
    rows = []
    for sex, n_degree, n_old in (("f", 2, 5), ("m", 8, 3)):
        for i, j in product(range(10), range(10)):
            rows.append((sex, int(i < n_degree), int(j < n_old)))
    frame = pd.DataFrame(rows, columns=["sex", "degree", "old"])
    yes = (frame["degree"] | frame["old"]).to_numpy()
    model = DecisionTreeClassifier().fit(frame[["degree", "old"]], yes)
    for structure in ("independent", "tree", "empirical"):
        audit = justicia.verify(
            model, frame, sensitive_features="sex", favorable=1, population=structure, mediators="degree",
            require=["remaining_disparate_impact>=0.95", "remaining-statistical-parity-difference<=0.1"],
        )  # fmt: skip
        held = audit.groupings[0].remaining
        if structure != "tree":
            before = audit.groupings[0].measures["disparate_impact"].verified.value
            assert float(before.lo) == pytest.approx(0.6 / 0.86)
            assert [float(one.lo) for one in held.rates["selection_rate"]] == pytest.approx([0.9, 0.86])
            assert float(held.measures["disparate_impact"].value.lo) == pytest.approx(0.86 / 0.9)
        assert held.favored == ({"sex": "m"},)
        assert [one.status for one in audit.requirements] == ["met", "met"]
        assert audit.requirements[0].reason.startswith("with degree drawn as in m, remaining_disparate_impact is 0.95")
        rates = [float(one.lo) for one in held.rates["selection_rate"]]
        assert audit.by_group["remaining_lo"].tolist() == rates
        text = audit.to_text()
        assert "degree, drawn as in m" in text
        assert "remaining" in text


@pytest.mark.parametrize("structure", ["tree", "auto"])
def test_a_sensitive_column_above_a_mediator_is_left_out_of_account(structure):
    """Education depends on age inside of the classes of age; the young get that of all of the old."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 80, 2000)})
    frame["edu"] = np.clip(frame["age"] // 12 + rng.integers(-1, 2, 2000), 0, 6)
    model = DecisionTreeClassifier(max_depth=6, random_state=0)
    model.fit(frame, (frame["age"] / 20 + frame["edu"] + rng.normal(size=2000) > 6).astype(int))
    audit = justicia.verify(
        model, frame, sensitive_features="age", bins={"age": [40, 60]}, favorable=1, population=structure,
        mediators=["edu"],
    )  # fmt: skip
    people, held = audit.population, audit.groupings[0].remaining
    assert people.parents == {"edu": ["age"]}
    assert [group["age"] for group in held.favored] == ["> 60"]
    favored = people.groups.index(("> 60",))
    points = np.array(list(product(*map(range, people.domain.sizes))), dtype=np.int32)
    accepted = audit.decision.evaluate(points)
    network = people.network if structure == "auto" else people
    n_classes = people.n_classes if structure == "auto" else 1
    age, edu = (next(node for node in network.nodes if network.domain.names[node.feature] == one) for one in frame)
    for group in range(people.n_groups):
        rate = 0.0
        ratios = {}
        for point, yes in zip(points.tolist(), accepted, strict=True):
            cells = dict(zip(people.domain.names, point, strict=True))
            before = after = 0.0
            for k in range(n_classes):
                own, other = group * n_classes + k, favored * n_classes + k
                weight = people.class_weights[group, k] if structure == "auto" else 1.0
                u, s = age.states[cells["age"]], edu.states[cells["edu"]]
                share = age.table[own, 0, u] * (1.0 if age.within is None else age.within[own, cells["age"]])
                inside = [1.0 if edu.within is None else edu.within[one, cells["edu"]] for one in (own, other)]
                all_of_them = sum(age.table[other, 0, v] * edu.table[other, v, s] for v in range(age.table.shape[2]))
                mine = edu.table[other, u, s] if age.table[other, 0, u] > 0 else all_of_them
                before += weight * share * edu.table[own, u, s] * inside[0]
                after += weight * share * mine * inside[1]
            rate += after * yes
            ratios[tuple(point)] = after / before if before else 1.0
        if structure == "auto":
            groups, rows, _ = people.rows.support
            mine = rows[groups == group]
            weights = np.array([ratios[tuple(row)] for row in mine.tolist()])
            of_rows = (weights * audit.decision.evaluate(mine)).sum() / weights.sum()
            rate = people.row_weights[group] * of_rows + (1 - people.row_weights[group]) * rate
        found = held.rates["selection_rate"][group]
        assert float(found.lo) == pytest.approx(rate, abs=1e-9)
        if group == favored:
            assert float(found.lo) == pytest.approx(float(audit.groupings[0].groups[group].selection_rate.lo))
        else:
            assert float(found.lo) > float(audit.groupings[0].groups[group].selection_rate.lo) + 0.02


def test_html():
    frame, label = table(2, 150)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(frame[["u", "w"]], label)
    call = {"sensitive_features": "sex", "favorable": 1, "population": "tree"}
    audit = justicia.verify(model, frame, mediators=["w"], **call)
    page = audit.to_html()
    assert "What does not go through the mediators" in page
    rate = next(iter(audit.groupings[0].remaining.rates["selection_rate"]))
    assert f"{float(rate.lo):.4f}" in page
    assert "go through the mediators" not in justicia.verify(model, frame, **call).to_html()


def test_values_that_another_group_lacks_leave_bounds():
    """Of rows alone: half of the men have a value that no woman has, so half of what remains is unknown."""
    frame = pd.DataFrame({"sex": ["f"] * 4 + ["m"] * 4, "x": [0, 0, 1, 1, 1, 1, 2, 2], "z": [0, 1, 0, 1] * 2})
    model = DecisionTreeClassifier().fit(frame[["x", "z"]], ((frame["x"] == 2) | (frame["z"] == 1)).astype(int))
    audit = justicia.verify(
        model, frame, sensitive_features="sex", favorable=1, population="empirical", mediators=["x"],
        require="remaining_disparate_impact>=0.1",
    )  # fmt: skip
    held = audit.groupings[0].remaining
    assert [(float(one.lo), float(one.hi)) for one in held.rates["selection_rate"]] == [(0.25, 0.75), (0.75, 0.75)]
    assert any("1 other group has, up to 0.5 of its people" in text for text in audit.warnings)
    assert audit.exit_code == 0


def test_the_most_favored_group_is_one_of_several():
    """Two groups whose rates are equal; what remains holds with the mediators of either."""
    frame = pd.DataFrame({"g": ["a"] * 4 + ["b"] * 4 + ["c"] * 4, "x": [0, 0, 1, 1] + [1, 1, 1, 0] + [0] * 4})
    frame["z"] = [1, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0]
    model = DecisionTreeClassifier().fit(frame[["x", "z"]], (frame["x"] + frame["z"] > 0).astype(int))
    audit = justicia.verify(
        model, frame, sensitive_features="g", favorable=1, population="independent", mediators=["x"]
    )
    held = audit.groupings[0].remaining
    # By hand: 1 - P(x = 0) P(z = 0), of a and b 7/8; c with the mediators of a, and of b.
    assert {one["g"] for one in held.favored} == {"a", "b"}
    lo, hi = 1 - 0.5 * 0.75, 1 - 0.25 * 0.75
    assert (float(held.rates["selection_rate"][2].lo), float(held.rates["selection_rate"][2].hi)) == (lo, hi)
    impacts = [(1 - 0.5 * 0.75) / (1 - 0.5 * 0.25), (1 - 0.25 * 0.75) / (1 - 0.25 * 0.25)]
    impact = held.measures["disparate_impact"].value
    assert (float(impact.lo), float(impact.hi)) == pytest.approx((min(impacts), max(impacts)))
    assert any("one of a; b" in text for text in audit.warnings)


def test_too_many_that_may_be_the_most_favored(monkeypatch):
    monkeypatch.setattr(remaining, "MOST_FAVORED", 1)
    frame = pd.DataFrame({"g": ["a", "b"] * 4, "x": [0, 0, 1, 1] * 2})
    model = DecisionTreeClassifier().fit(frame[["x"]], frame["x"])
    audit = justicia.verify(
        model, frame, sensitive_features="g", favorable=1, population="tree", mediators=["x"],
        require="remaining_disparate_impact>=0.9",
    )  # fmt: skip
    held = audit.groupings[0].remaining
    assert not held.certain
    assert len(held.favored) == 1
    assert audit.requirements[0].status == "undecided"
    assert any("2 groups may be the most favored one" in text for text in audit.warnings)


def test_what_is_no_mediator():
    frame, label = table(0, 60)
    frame["label"] = label
    model = DecisionTreeClassifier(max_depth=2).fit(frame[["u", "w"]], label)

    def run(**options):
        return justicia.verify(
            model, frame, **{"sensitive_features": ["sex"], "label": "label", "population": "tree", **options}
        )

    for bad, says in (
        (["U1"], "mediator 'U1' is no column of the table; did you mean u"),
        (["sex"], "mediator 'sex' is a sensitive column"),
        (["label"], "mediator 'label' is the true outcome"),
        (["u", ""], "empty"),
        ([1], "mediators are a list of columns"),
        (3, "mediators are a list of columns"),
    ):
        with pytest.raises(InputError, match=says):
            run(mediators=bad)
    with pytest.raises(InputError, match="shift and mediators"):
        run(mediators=["u"], shift=0.1)
    with pytest.raises(InputError, match="needs mediators"):
        run(require="remaining_disparate_impact>=0.8")
    with pytest.raises(RequirementError, match="no measure"):
        run(require="remaining_disparity>=0.8")
    idle = run(mediators=["race"])
    assert any("does not hang on race" in text for text in idle.warnings)
    plain = idle.groupings[0].measures["disparate_impact"].verified
    assert idle.groupings[0].remaining.measures["disparate_impact"] == plain
    assert run().groupings[0].remaining is None
    assert run().to_dict()["groupings"][0]["mediators"] is None


def test_one_hot_columns_are_one_mediator():
    frame, label = table(1, 200)
    wide = pd.get_dummies(frame[["u", "v"]], columns=["v"], dtype=int).assign(sex=frame["sex"])
    columns = [name for name in wide.columns if name != "sex"]
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(wide[columns], label)
    audit = justicia.verify(model, wide, sensitive_features="sex", favorable=1, population="tree", mediators="v")
    assert audit.groupings[0].remaining.mediators == ("v",)
    with pytest.raises(InputError, match="'v_p' is one of the columns of the feature 'v'"):
        justicia.verify(model, wide, sensitive_features="sex", favorable=1, population="tree", mediators="v_p")


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_population_of_a_file_says_the_same(structure):
    frame, label = table(3, 400)
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(frame[["u", "w"]], label)
    call = {"sensitive_features": ["sex"], "y": label, "favorable": 1, "mediators": ["w"]}
    audit = justicia.verify(model, frame, population=structure, **call)
    again = justicia.verify(model, frame, population=audit.population_file(), **call)
    one, other = audit.groupings[0].remaining, again.groupings[0].remaining
    for kind, rates in one.rates.items():
        for rate, same in zip(rates, other.rates[kind], strict=True):
            assert (float(same.lo), float(same.hi)) == pytest.approx((float(rate.lo), float(rate.hi)), abs=1e-12)


@pytest.mark.parametrize("solver", ["paths", "clauses", "sums", "branch_and_bound"])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_every_engine_says_the_same(solver, structure):
    frame, label = table(5, 120)
    family = {"sums": "logistic", "branch_and_bound": "boosting"}.get(solver, "tree")
    columns = ["u", "w"]
    model = FAMILIES[family]().fit(frame[columns], label)
    call = {"sensitive_features": ["sex"], "favorable": 1, "population": structure, "mediators": ["u"]}
    rates = justicia.verify(model, frame, solver=solver, tolerance=1e-6, **call).groupings[0].remaining
    others = justicia.verify(model, frame, tolerance=1e-6, **call).groupings[0].remaining
    for rate, other in zip(rates.rates["selection_rate"], others.rates["selection_rate"], strict=True):
        assert (float(rate.lo), float(rate.hi)) == pytest.approx((float(other.lo), float(other.hi)), abs=2e-6)


def test_learned_extremes_are_those_of_enumeration():
    frame, label = table(7, 600)
    model = DecisionTreeClassifier(max_depth=5, random_state=0).fit(frame[["u", "w"]], label)
    call = {"sensitive_features": [["sex", "race"]], "favorable": 1, "mediators": ["w"]}
    for structure in ("tree", "auto"):
        learned = justicia.verify(model, frame, population=structure, search="learn", **call).groupings[0].remaining
        every = justicia.verify(model, frame, population=structure, **call).groupings[0].remaining
        assert learned.favored == every.favored
        for name, one in every.measures.items():
            assert float(learned.measures[name].value.lo) == pytest.approx(float(one.value.lo), abs=1e-9)
            assert float(learned.measures[name].value.hi) == pytest.approx(float(one.value.hi), abs=1e-9)


def joint_with_mediators(network, sensitive, favored, mediators):
    """Every combination of states, and its probability when mediators look at the favored group's values."""
    frame, _ = joint(network)
    masses = np.ones(len(frame))
    for name, variable in network.variables.items():
        seen = [
            np.full(len(frame), favored[parent])
            if name in mediators and parent in sensitive
            else frame[parent].to_numpy()
            for parent in variable.parents
        ]
        masses *= variable.table[(*seen, frame[name].to_numpy())]
    return frame, masses


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 80))])
def test_networks_equal_enumeration(seed):
    network = random_network(seed)
    rng = np.random.default_rng(seed)
    rows = random_people(network, rng)
    names = rng.permutation(list(network.variables)).tolist()
    sensitive, columns = names[: 1 + seed % 2], names[2:6]
    above = network.ancestors(sensitive)
    mediators = [name for name in columns[:2] + names[6:] if name not in above]
    model = FAMILIES["tree"]().fit(rows[columns], rows["y"])
    call = {"sensitive_features": [sensitive], "label": "y", "population": network}
    wrong = [name for name in columns if name in above]
    if wrong:
        with pytest.raises(PopulationFileError, match=r"sensitive columns .* depend on"):
            justicia.verify(model, rows, mediators=wrong, **call)
    if not mediators:
        return
    audit = justicia.verify(model, rows, mediators=mediators, **call)
    grouping = audit.groupings[0]
    wanted = int(audit.roles.favorable[0])
    for favored in grouping.remaining.favored if len(grouping.remaining.favored) == 1 else ():
        frame, masses = joint_with_mediators(
            network, sensitive, {name: int(value) for name, value in favored.items()}, mediators
        )
        yes = model.predict(frame[columns]) == wanted
        for group in grouping.groups:
            inside = (frame[sensitive] == [int(value) for value in group.group.values()]).all(axis=1).to_numpy()
            if masses[inside].sum() == 0:
                assert group.selection_rate is None
                continue
            rate = group.remaining["selection_rate"]
            assert float(rate.lo) == pytest.approx(masses[inside & yes].sum() / masses[inside].sum(), abs=1e-11)
            assert rate.exact


@pytest.mark.parametrize("seed", [3, 5, *(pytest.param(one, marks=pytest.mark.slow) for one in range(12, 40))])
def test_true_outcomes_of_a_network_are_those_after_the_change(seed):
    network = random_network(seed)
    rows = random_people(network, np.random.default_rng(seed)).drop(columns="y")
    label = next(name for name in network.variables if len(network[name].states) == 2)
    others = [name for name in network.variables if name != label]
    sensitive = others[:1]
    columns = others[1:5]
    mediators = [name for name in others[1:] if name not in network.ancestors(sensitive)]
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(rows[columns], rows[label])
    audit = justicia.verify(
        model, rows, sensitive_features=sensitive, label=label, favorable=1, population=network, mediators=mediators
    )
    held = audit.groupings[0].remaining
    if len(held.favored) > 1:
        return
    favored = held.favored[0]
    frame, masses = joint_with_mediators(
        network, sensitive, {name: int(value) for name, value in favored.items()}, mediators
    )
    yes = model.predict(frame[columns]) == 1
    checked = 0
    for group in audit.groupings[0].groups:
        here = (frame[sensitive] == [int(value) for value in group.group.values()]).all(axis=1)
        for kind, outcome in (("tpr", 1), ("fpr", 0)):
            inside = here & (frame[label] == outcome)
            # Where nobody has an outcome before the change, its rates are not asked for.
            if masses[inside].sum() > 0 and kind in held.rates:
                expected = masses[inside & yes].sum() / masses[inside].sum()
                assert float(group.remaining[kind].lo) == pytest.approx(expected, abs=1e-11)
                checked += 1
    assert checked or set(held.rates) == {"selection_rate"}
    for name, measure in held.measures.items():
        assert audit.measure(f"remaining-{name}") == measure.value


def test_extremes_of_a_network_are_searched_anew(monkeypatch):
    network, rows = factored(2, 6), people(2, 6)
    names = [f"x{i}" for i in range(6)]
    model = DecisionTreeClassifier(max_depth=5, random_state=0).fit(rows[names], rows["y"])
    every = audited(model, rows, network, 6, mediators=["x0", "x3"]).groupings[0].remaining
    monkeypatch.setattr(stating, "MOST_GROUPS", 16)
    monkeypatch.setattr(extreme_groups, "MOST_CANDIDATES", 8)
    found = audited(model, rows, network, 6, mediators=["x0", "x3"], search="learn").groupings[0].remaining
    assert len(found.rates["selection_rate"]) < 64
    assert len(every.rates["selection_rate"]) == 64
    for name, one in every.measures.items():
        if math.isfinite(float(one.value.lo)) and name in ("disparate_impact", "statistical_parity_difference"):
            assert float(found.measures[name].value.lo) == pytest.approx(float(one.value.lo), abs=1e-9)
            assert found.measures[name].undefined is None


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as exit_:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return exit_.value.code or 0, captured.out, captured.err


def test_command(tmp_path, capsys):
    call = ["verify", "--model", "tree", "--data", "ricci", "--quiet"]
    code, out, _ = run(capsys, *call, "--mediators", "combine,oral", "--json", "-")
    assert code == 0
    held = json.loads(out)["groupings"][0]
    jsonschema.validate(json.loads(out), schema())
    assert held["mediators"]["names"] == ["combine", "oral"]
    assert held["measures"]["disparate_impact"]["remaining"]["lo"] is not None
    code, _, err = run(capsys, *call, "--mediators", "combin")
    assert code == 2
    assert len(err.strip().splitlines()) == 1
    assert "did you mean combine?" in err
    sex = {"name": "sex", "values": ["F", "M"], "probabilities": [0.5, 0.5]}
    degree = {"name": "degree", "values": [0, 1], "parents": ["sex"], "probabilities": [[0.8, 0.2], [0.3, 0.7]]}
    network = network_from_text(json.dumps({"schema": "justicia.network/1", "variables": [sex, degree]}))
    (tmp_path / "net.json").write_text(network_to_json(network))
    rows = pd.DataFrame({"sex": ["F", "M"] * 4, "degree": [0, 0, 1, 1] * 2, "y": [0, 0, 1, 1] * 2})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(DecisionTreeClassifier().fit(rows[["degree"]], rows["y"])))
    call = [
        "verify",
        "--model",
        tmp_path / "m.pkl",
        "--data",
        tmp_path / "rows.csv",
        "--label",
        "y",
        "--favorable",
        "1",
    ]
    call += ["--sensitive", "sex", "--population", tmp_path / "net.json", "--mediators", "degree", "--quiet"]
    code, out, _ = run(capsys, *call, "--json", "-")
    assert code == 0
    held = json.loads(out)["groupings"][0]
    assert held["measures"]["disparate_impact"]["lo"] == pytest.approx(0.2 / 0.7)
    assert held["measures"]["disparate_impact"]["remaining"]["lo"] == pytest.approx(1.0)
