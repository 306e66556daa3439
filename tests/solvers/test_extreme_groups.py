"""The extreme ones of very many groups: against all of them, one by one."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia import stating
from justicia.errors import InputError
from justicia.population.networks import Variable, checked_network, network_from_text
from justicia.solvers import extreme_groups

SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 60))]


def factored(seed, n_columns, *, linked=False, exclusive=False):
    """Sensitive columns s0, s1, … and features x0, x1, … that each depend on one or two of them."""
    rng = np.random.default_rng(seed)
    variables = []
    for i in range(n_columns):
        parents, table = [], [0.5, 0.5]
        if exclusive and i == 1:
            # Nobody has s0 = 1 and s1 = 1.
            parents, table = ["s0"], [[0.5, 0.5], [1.0, 0.0]]
        variables.append({"name": f"s{i}", "values": [0, 1], "parents": parents, "probabilities": table})
    for i in range(n_columns):
        parents = [f"s{i}", *([f"s{int(rng.integers(n_columns))}"] if rng.random() < 0.4 else [])]
        parents = [*dict.fromkeys(parents), *([f"x{i - 1}"] if linked and i % 3 == 1 else [])]
        table = rng.uniform(0.05, 0.95, size=(2,) * len(parents))
        table = np.stack([1 - table, table], axis=-1).tolist()
        variables.append({"name": f"x{i}", "values": [0, 1], "parents": parents, "probabilities": table})
    return network_from_text(json.dumps({"schema": "justicia.network/1", "variables": variables}))


def people(seed, n_columns, n=400):
    rng = np.random.default_rng(seed)
    names = [f"{letter}{i}" for letter in "sx" for i in range(n_columns)]
    frame = pd.DataFrame(rng.integers(0, 2, size=(n, len(names))), columns=names)
    score = frame @ rng.normal(size=len(names)) + rng.normal(size=n)
    return frame.assign(y=(score > score.median()).astype(int))


def audited(model, table, network, n_columns, rows=30, **options):
    names = [f"s{i}" for i in range(n_columns)]
    return justicia.verify(
        model, table.iloc[:rows], sensitive_features=[names], label="y", favorable=1, population=network, **options
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_searched_groups_hold_the_extremes(seed, monkeypatch):
    network = factored(seed, 10, linked=seed % 2 == 1, exclusive=seed % 3 == 2)
    table = people(seed, 10)
    names = [f"x{i}" for i in range(10)] + (["s2"] if seed % 4 == 0 else [])
    kinds = (DecisionTreeClassifier(max_depth=6, random_state=0), LogisticRegression(C=10.0))
    for model in kinds:
        model.fit(table[names], table["y"])
        enumerated = audited(model, table, network, 10).groupings[0]
        with monkeypatch.context() as few:
            few.setattr(stating, "MOST_GROUPS", 16)
            few.setattr(extreme_groups, "MOST_CANDIDATES", 512)
            searched = audited(model, table, network, 10, search="learn").groupings[0]
        for end in ("most_favored", "least_favored"):
            one, other = getattr(searched, end), getattr(enumerated, end)
            assert float(one.selection_rate.lo) == pytest.approx(float(other.selection_rate.lo), abs=2e-4)
            if isinstance(model, DecisionTreeClassifier):
                assert float(one.selection_rate.lo) == pytest.approx(float(other.selection_rate.lo), abs=1e-11)
                assert searched.solution.guarantee == "exact"
                assert searched.population.n_groups <= 2 + 30 < enumerated.population.n_groups


@pytest.mark.parametrize("model", [DecisionTreeClassifier(max_depth=6, random_state=0), LogisticRegression()])
def test_a_million_groups(model):
    """Groups of 20 columns; the group that is found has the largest rate of all that differ from it in one column."""
    network, table = factored(5, 20), people(5, 20, 2000)
    features = [f"x{i}" for i in range(20)]
    model.fit(table[features], table["y"])
    audit = audited(model, table, network, 20, rows=100, search="learn")
    assert any("1,048,576 groups" in text for text in audit.announcements)
    assert "of 1,048,576 groups" in audit.population.description
    grouping = audit.groupings[0]
    assert len(grouping.groups) < 10_000
    best, worst = grouping.most_favored, grouping.least_favored
    for extreme, sign in ((best, 1), (worst, -1)):
        group = {name: int(value) for name, value in extreme.group.items()}
        neighbours = [group, *({**group, name: 1 - value} for name, value in group.items())]
        rows = pd.concat([pd.DataFrame(neighbours), pd.DataFrame(0, index=range(21), columns=[*features, "y"])], axis=1)
        near = audited(model, rows, network, 20, search="learn").groupings[0]
        rates = {tuple(one.group.values()): one.selection_rate for one in near.groups}
        own = rates[tuple(extreme.group.values())]
        others = [rates[tuple(map(str, other.values()))] for other in neighbours[1:]]
        assert all(sign * (float(own.middle) - float(other.middle)) >= -2e-4 for other in others)


def test_too_many_groups_are_refused_in_one_line():
    network, table = factored(5, 20), people(5, 20)
    features = [f"x{i}" for i in range(20)]
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(table[features], table["y"])
    with pytest.raises(InputError, match=r"1,048,576 groups of .* are too many .*pass search='learn'"):
        audited(model, table, network, 20)
    forest = RandomForestClassifier(3, random_state=0).fit(table[features], table["y"])
    with pytest.raises(InputError, match="searched for trees, rules and linear models alone"):
        audited(forest, table, network, 20, search="learn")


def with_outcome(network, *, of=("x0", "s1"), loose="x5"):
    """An outcome that depends on a feature and a sensitive column, and a feature that depends on no sensitive one."""
    rng = np.random.default_rng(1)
    share = rng.uniform(0.2, 0.8, size=(2,) * len(of))
    label = Variable("y", (0, 1), tuple(of), np.stack([1 - share, share], axis=-1))
    free = Variable(loose, (0, 1), (), np.array([0.3, 0.7]))
    return checked_network([*(one for one in network.variables.values() if one.name != loose), free, label])


@pytest.mark.parametrize("model", [DecisionTreeClassifier(max_depth=6, random_state=0), LogisticRegression(C=10.0)])
def test_rates_by_true_outcome_are_searched_too(model, monkeypatch):
    network, table = with_outcome(factored(3, 7)), people(3, 7)
    names = [f"x{i}" for i in range(7)]
    model.fit(table[names], table["y"])
    enumerated = audited(model, table, network, 7).groupings[0]
    monkeypatch.setattr(stating, "MOST_GROUPS", 16)
    monkeypatch.setattr(extreme_groups, "MOST_CANDIDATES", 32)
    searched = audited(model, table, network, 7, search="learn").groupings[0]
    assert searched.population.n_groups < 100 < enumerated.population.n_groups
    assert len(enumerated.measures) > 6
    for name, measure in enumerated.measures.items():
        found = searched.measures[name].verified
        if name.startswith("predictive"):
            # A network does not say how many people each group has, and so no base rate.
            assert found.value is None
            continue
        assert found.undefined is None
        assert float(found.value.lo) == pytest.approx(float(measure.verified.value.lo), abs=2e-4)


def test_an_outcome_that_joins_too_much_is_left_out():
    """The outcome depends on a feature of each of 14 columns: given it, all hang together."""
    network, table = factored(3, 16), people(3, 16)
    network = with_outcome(network, of=tuple(f"x{i}" for i in range(14)), loose="x15")
    names = [f"x{i}" for i in range(14)]
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(table[names], table["y"])
    audit = audited(model, table, network, 16, search="learn")
    assert any("true and false positive rates are left out: " in text for text in audit.warnings)
    assert "equalized_odds_difference" not in audit.groupings[0].measures


@pytest.mark.parametrize("kind", ["tree", "linear"])
def test_time_that_runs_out_leaves_bounds(kind, monkeypatch):
    network, table = factored(5, 10), people(5, 10)
    names = [f"x{i}" for i in range(10)]
    model = DecisionTreeClassifier(max_depth=6, random_state=0) if kind == "tree" else LogisticRegression()
    model.fit(table[names], table["y"])
    true = audited(model, table, network, 10).groupings[0]
    monkeypatch.setattr(stating, "MOST_GROUPS", 16)
    monkeypatch.setattr(extreme_groups, "MOST_CANDIDATES", 32)
    search = stating.extreme_groups
    monkeypatch.setattr(stating, "extreme_groups", lambda *call: search(*call[:4], 0.0))
    audit = audited(model, table, network, 10, search="learn", require="statistical_parity_difference<=0.01")
    found = audit.groupings[0]
    assert found.stopped == {"time"}
    assert found.solution.guarantee == "bounds"
    assert any("time ran out in the search among 1,024 groups" in text for text in audit.warnings)
    for name in ("disparate_impact", "statistical_parity_difference"):
        held, exact = found.measures[name].verified.value, true.measures[name].verified.value
        assert float(held.lo) - 1e-4 <= float(exact.lo) <= float(exact.hi) <= float(held.hi) + 1e-4
        assert float(held.hi) - float(held.lo) > 1e-3
    rest = found.population.rest
    rates = [float(one.middle) for one in true.solution.enclosures]
    assert float(rest.lo) <= min(rates) <= max(rates) <= float(rest.hi)
    if kind == "tree":
        assert float(rest.hi) - float(rest.lo) < 1
    # The groups that were looked at are far enough apart all the same.
    assert audit.requirements[0].status == "breached"
