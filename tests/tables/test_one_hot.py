"""Frames that were one-hot encoded beforehand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.errors import TableError
from justicia.tables.one_hot import NONE, collapse, find_one_hot, settle_one_hot
from tests.test_brute_force import LARGEST_DOMAIN


def found(frame):
    return {feature.name: feature for feature in find_one_hot(frame, list(frame.columns))}


def test_names_are_told_apart():
    frame = pd.DataFrame(
        {
            "age": [30, 40, 50],
            "age_group": [1, 0, 1],
            "sex": [0, 1, 1],
            "marital_status_single": [1, 0, 0],
            "marital_status_married": [0, 1, 0],
            "Purpose_radio_or_TV": [1, 0, 0],
            "Purpose_car": [0, 0, 1],
            "juv_fel_0": [1, 0, 1],
            "juv_fel_1": [0, 1, 0],
            "juv_misd_0": [1, 1, 0],
            "juv_misd_1": [0, 0, 1],
            "score_1": [1, 1, 0],
            "score_2": [1, 0, 0],
            "amount_1": [10, 0, 0],
            "amount_2": [0, 20, 0],
        }
    )
    features = found(frame)
    assert set(features) == {"marital_status", "Purpose", "juv_fel", "juv_misd"}
    assert features["Purpose"].values == ("radio_or_TV", "car")
    assert features["marital_status"].aliases == ("marital",)
    assert features["juv_misd"].columns == ("juv_misd_0", "juv_misd_1")


def test_a_name_that_is_taken_is_not_given_again():
    frame = pd.DataFrame({"age": [1, 2], "age_young": [1, 0], "age_old": [0, 1]})
    assert found(frame) == {}
    frame = pd.DataFrame({"age": [1, 2], "age_group_young": [1, 0], "age_group_old": [0, 1]})
    assert set(found(frame)) == {"age_group"}


def test_values_of_the_collapsed_column():
    frame = pd.DataFrame({"race_A": [1.0, 0.0, 0.0], "race_B": [False, True, False]})
    feature = found(frame)["race"]
    assert collapse(frame, [feature])["race"].tolist() == ["A", "B", NONE]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"race": ["race_A", "race_C"]}, "did you mean race_[AB]"),
        ({"race": ["race_A", "n"]}, "other values than 0 and 1"),
        ({"race": ["race_A", "both"]}, "more than one of its columns is 1 in 1 row"),
        ({"n": ["race_A", "race_B"]}, "has a column of that name"),
        ({"race": ["race_A"]}, "fewer than two"),
    ],
)
def test_given_features_are_checked(given, says):
    frame = pd.DataFrame({"race_A": [1, 0], "race_B": [0, 1], "both": [1, 0], "n": [1, 2]})
    with pytest.raises(TableError, match=says):
        settle_one_hot(frame, given)


def random_frame(seed):
    """A frame with a one-hot sensitive column, one-hot and plain features, and a tree."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 150))
    race = rng.integers(0, int(rng.integers(2, 5)), n)
    city = rng.integers(-1, 3, n)
    kind = [np.int64, np.uint8, bool, float][int(rng.integers(4))]
    columns = {f"race_{i}": (race == i).astype(kind) for i in range(int(race.max()) + 1)}
    columns |= {f"city_of_{name}": (city == i).astype(kind) for i, name in enumerate(("a", "b_c", "d"))}
    columns["x"] = rng.integers(0, 4, n)
    columns["sex"] = rng.integers(0, 2, n)
    frame = pd.DataFrame(columns)
    frame = frame[rng.permutation(frame.columns)]
    used = list(frame.columns) if rng.random() < 0.6 else [c for c in frame.columns if not c.startswith("race")]
    label = rng.integers(0, 2, n)
    label[0] = 1 - label[-1]
    tree = DecisionTreeClassifier(max_depth=int(rng.integers(1, 7)), random_state=0)
    model = make_pipeline(StandardScaler(), tree) if rng.random() < 0.3 else tree
    return frame, used, label, model.fit(frame[used], label)


@pytest.mark.parametrize("seed", [*range(40), *(pytest.param(s, marks=pytest.mark.slow) for s in range(40, 220))])
def test_rates_equal_enumeration(seed):
    frame, used, label, model = random_frame(seed)
    groupings = [["race", "sex"], ["race"], ["sex"]]
    positive = label == 1
    for structure in ("independent", "tree", "empirical"):
        audit = justicia.verify(model, frame, sensitive_features=groupings, y=label, population=structure, favorable=1)
        domain = audit.population.domain
        assert not any(name.startswith(("race_", "city_of_")) for name in domain.names)
        if np.prod([float(size) for size in domain.sizes]) > LARGEST_DOMAIN:
            pytest.skip("the domain is too large to enumerate")
        points = list(product(*(range(size) for size in domain.sizes)))
        selected = model.predict(expand(points, domain, frame, used)) == 1
        race = np.array(
            [next((c[5:] for c in frame if c.startswith("race_") and frame[c][i]), NONE) for i in frame.index]
        )
        keys = {"race": race, "sex": frame["sex"].astype(str).to_numpy()}
        for grouping in audit.groupings:
            for group in grouping.groups:
                member = np.logical_and.reduce([keys[name] == value for name, value in group.group.items()])
                assert group.n == member.sum()
                strata = {"selection_rate": member, "tpr": member & positive, "fpr": member & ~positive}
                for kind, rows in strata.items():
                    verified = getattr(group, kind)
                    if not rows.any():
                        assert verified is None
                        continue
                    if structure == "empirical":
                        expected = (model.predict(frame.loc[rows, used]) == 1).mean()
                    elif structure == "independent":
                        expected = independent(points, selected, domain, frame[rows])
                    else:
                        population = (
                            grouping.population if kind == "selection_rate" else grouping.strata[kind].population
                        )
                        expected = by_nodes(points, selected, population, population.index(group.group))
                    assert float(verified.lo) == pytest.approx(expected, abs=1e-12)


def raw_values(feature, cell, frame):
    """0/1 columns, or the number, that stand for a cell."""
    prefix = {"race": "race_", "city_of": "city_of_", "city": "city_"}.get(feature.name)
    if prefix is None:
        return {feature.name: feature.representatives[cell]}
    label = feature.labels[cell]
    return {c: float(c == f"{prefix}{label}") for c in frame.columns if c.startswith(prefix)}


def expand(points, domain, frame, used):
    rows = []
    for point in points:
        row = dict.fromkeys(used, 0.0)
        for feature, cell in zip(domain.features, point, strict=True):
            row |= {k: v for k, v in raw_values(feature, cell, frame).items() if k in used}
        rows.append(row)
    return pd.DataFrame(rows, columns=used)


def cell_masses(feature, rows):
    """Share of the rows in each cell, straight from the 0/1 columns."""
    if feature.numeric:
        cells = [sum(float(v) > edge for edge in feature.edges) for v in rows[feature.name]]
        return [cells.count(i) / len(rows) for i in range(len(feature))]
    shares = []
    for i, label in enumerate(feature.labels):
        if label == NONE:
            members = [c for c in rows.columns if c.startswith(f"{feature.name}_")]
            shares.append((rows[members].astype(float).sum(axis=1) == 0).mean())
        elif i == feature.unseen or i == feature.missing:
            shares.append(0.0)
        else:
            shares.append((rows[f"{feature.name}_{label}"] == 1).mean())
    return shares


def independent(points, selected, domain, rows):
    masses = [cell_masses(feature, rows) for feature in domain.features]
    return sum(
        np.prod([mass[cell] for mass, cell in zip(masses, point, strict=True)])
        for point, yes in zip(points, selected, strict=True)
        if yes
    )


def by_nodes(points, selected, population, group):
    from tests.test_brute_force import tree_probability

    probability = tree_probability(population, group)
    return sum(probability(point) for point, yes in zip(points, selected, strict=True) if yes)


def test_one_hot_columns_may_still_be_sensitive_one_by_one():
    frame, _, label, model = random_frame(3)
    audit = justicia.verify(model, frame, sensitive_features="race_0", y=label, favorable=1)
    chosen = pd.Series(model.predict(frame[list(model.feature_names_in_)]) == 1)
    for group in audit.groupings[0].groups:
        member = frame["race_0"].astype(float) == float(group.group["race_0"] in ("1", "True"))
        assert float(group.sample_rate.value) == pytest.approx(chosen[member].mean())


def test_people_are_drawn_as_the_model_takes_them():
    frame, used, _, model = random_frame(0)
    audit = justicia.verify(model, frame, sensitive_features="race", favorable=1)
    people = audit.population.sample(audit.most_favored, 50, random_state=0)
    assert list(people.columns) == used
    rate = (model.predict(people) == 1).mean()
    assert 0 <= rate <= 1


def test_the_search_can_be_switched_off():
    frame, _, _, model = random_frame(0)
    audit = justicia.verify(model, frame, sensitive_features="race_0", one_hot=False, favorable=1)
    assert "race" not in audit.population.domain.names
    with pytest.raises(TableError, match="'race' is not in the table"):
        justicia.verify(model, frame, sensitive_features="race", one_hot=False, favorable=1)
