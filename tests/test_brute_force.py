"""Every rate recomputed by enumerating every point of the domain with the model's own predict."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

import justicia
from justicia.population import auto
from justicia.solvers import ENGINES, Effort
from justicia.ssat import Formula
from tests.strategies import Case, random_case

SEEDS = [*range(30), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(30, 330))]
LARGEST_DOMAIN = 30_000


def predict(case: Case, frame: pd.DataFrame) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classes = case.model.predict(frame)
    return np.isin(classes, case.favorable)


def cell_by_hand(feature, value) -> int:
    """The cell of one value, by the definition of a cell."""
    if value is None or value != value:
        return feature.missing
    if feature.numeric:
        return sum(float(value) > edge for edge in feature.edges)
    matches = [i for i, known in enumerate(feature.cells) if known == value]
    return matches[0] if matches else feature.unseen


def people_at(points, domain, case: Case) -> pd.DataFrame:
    """One person a domain point, with the representatives of the cells."""
    columns = {}
    names = list(domain.names)
    for name in case.columns:
        if name in names:
            position = names.index(name)
            values = [domain.features[position].representatives[point[position]] for point in points]
            text = any(isinstance(value, str) for value in domain.features[position].representatives)
            kind = case.frame[name].dtype
            columns[name] = pd.Series(values, dtype=object if text else kind if kind == np.float32 else None)
        else:
            columns[name] = pd.Series([case.frame[name].iloc[0]] * len(points), dtype=case.frame[name].dtype)
    return pd.DataFrame(columns)


def independent_probability(case: Case, domain, rows: pd.DataFrame):
    """Product of the frequencies of each feature's cells among the rows of a group."""
    shares = []
    for feature in domain.features:
        cells = pd.Series([cell_by_hand(feature, value) for value in rows[feature.name].tolist()])
        shares.append(cells.value_counts(normalize=True).to_dict())
    return lambda point: np.prod([share.get(cell, 0.0) for share, cell in zip(shares, point, strict=True)])


def empirical_probability(case: Case, domain, rows: pd.DataFrame):
    cells = [[cell_by_hand(f, value) for value in rows[f.name].tolist()] for f in domain.features]
    counts = pd.Series(list(zip(*cells, strict=True)) if cells else [()] * len(rows)).value_counts().to_dict()
    return lambda point: counts.get(tuple(point), 0) / len(rows)


def tree_probability(population, group: int):
    """Product over the nodes of table entries, in plain loops."""
    nodes = population.nodes
    state = {node.feature: node.states for node in nodes}

    def probability(point):
        total = 1.0
        for node in nodes:
            cell = point[node.feature]
            above = state[node.parents[0]][point[node.parents[0]]] if node.parents else 0
            total *= node.table[group, above, node.states[cell]]
            if node.within is not None:
                total *= node.within[group, cell]
        return total

    return probability


def auto_probability(case: Case, population, domain, rows: pd.DataFrame, group: int):
    """Weighted sum of the rows and of the classes, each class by its tables."""
    rows_alone = empirical_probability(case, domain, rows)
    classes = [
        tree_probability(population.network, group * population.n_classes + c) for c in range(population.n_classes)
    ]
    weights = population.weights[group]
    share = len(rows) / (len(rows) + auto.CONCENTRATION)
    assert weights.sum() + share == pytest.approx(1.0, abs=1e-12)
    return lambda point: share * rows_alone(point) + sum(w * p(point) for w, p in zip(weights, classes, strict=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_rates_equal_enumeration(seed, monkeypatch):
    case = random_case(seed)
    if seed % 3:
        monkeypatch.setattr(auto, "LARGE_GROUP", 0)
    if seed % 2:
        monkeypatch.setattr(auto, "MANY_STATES", 3)
    for structure in ("auto", "independent", "tree", "empirical"):
        audit = justicia.verify(
            case.model,
            case.frame,
            sensitive_features=case.sensitive,
            favorable=case.favorable,
            population=structure,
        )
        population = audit.population
        domain = population.domain
        if np.prod([float(size) for size in domain.sizes]) > LARGEST_DOMAIN:
            pytest.skip("the domain is too large to enumerate")
        points = list(product(*(range(size) for size in domain.sizes)))
        selected = predict(case, people_at(points, domain, case))
        truth = {}
        keys = [case.frame[name].astype(str) for name in case.sensitive]
        for i, key in enumerate(population.groups):
            member = np.logical_and.reduce([column == value for column, value in zip(keys, key, strict=True)])
            rows = case.frame[member]
            assert len(rows) == population.sizes[i]
            if structure == "independent":
                probability = independent_probability(case, domain, rows)
            elif structure == "empirical":
                probability = empirical_probability(case, domain, rows)
                assert predict(case, rows[case.columns]).mean() == pytest.approx(
                    float(audit.groupings[0].groups[i].selection_rate.lo), abs=1e-12
                )
            elif structure == "auto":
                probability = auto_probability(case, population, domain, rows, i)
            else:
                probability = tree_probability(population, i)
            masses = np.array([probability(point) for point in points])
            assert masses.sum() == pytest.approx(1.0, abs=1e-9)
            truth[key] = masses[selected].sum()
        rates = {tuple(g.group.values()): g.selection_rate for g in audit.groupings[0].groups if g.n}
        assert rates.keys() == truth.keys()
        for key, rate in rates.items():
            assert rate.exact
            assert float(rate.lo) == pytest.approx(truth[key], abs=1e-12)
        by_formula = ENGINES["clauses"].solve(Formula(population, audit.decision), Effort())
        assert by_formula.lo == pytest.approx([truth[key] for key in population.groups], abs=1e-12)
        best, worst = max(truth.values()), min(truth.values())
        assert truth[tuple(audit.most_favored.values())] == pytest.approx(best, abs=1e-12)
        assert truth[tuple(audit.least_favored.values())] == pytest.approx(worst, abs=1e-12)
        top = {key for key, rate in truth.items() if rate >= best - 1e-12}
        found = {tuple(group.values()) for group in audit.groupings[0].most_favored.candidates}
        assert found == top


@pytest.mark.parametrize("seed", [3, 8, 14, 21])
@pytest.mark.parametrize("structure", ["auto", "independent", "tree", "empirical"])
def test_sample_agrees_with_mass(seed, structure, monkeypatch):
    case = random_case(seed)
    monkeypatch.setattr(auto, "LARGE_GROUP", 0)
    audit = justicia.verify(
        case.model, case.frame, sensitive_features=case.sensitive, favorable=case.favorable, population=structure
    )
    population, domain = audit.population, audit.population.domain
    group = int(np.argmax(population.sizes))
    drawn = population.sample(population.groups[group], 4000, random_state=seed)
    assert list(drawn.columns) == case.columns
    points = domain.points(drawn)
    keys, counts = np.unique(points, axis=0, return_counts=True)
    every = list(product(*(range(size) for size in domain.sizes)))
    if len(every) > 3000:
        pytest.skip("the domain is too large to enumerate")
    observed = dict(zip(map(tuple, keys.tolist()), counts, strict=True))
    expected = {}
    for point in every:
        box = [np.arange(size) == cell for size, cell in zip(domain.sizes, point, strict=True)]
        lo, hi = population.mass(box)
        assert lo[group] == hi[group]
        expected[point] = lo[group] * 4000
    assert sum(expected.values()) == pytest.approx(4000)
    assert all(expected[point] > 0 for point in observed)
    common = [point for point in every if expected[point] >= 5]
    rest = 4000 - sum(expected[point] for point in common)
    seen = [observed.get(point, 0) for point in common]
    if rest > 1e-6:
        seen.append(4000 - sum(seen))
    else:
        assert sum(seen) == 4000
    wanted = [expected[point] for point in common] + ([rest] if rest > 1e-6 else [])
    if len(wanted) > 1:
        assert chisquare(seen, np.array(wanted) * 4000 / sum(wanted)).pvalue > 1e-4
    rate = audit.groupings[0].groups[group].selection_rate
    share = predict(case, drawn).mean()
    assert abs(share - float(rate.lo)) < 5 * np.sqrt(0.25 / 4000)


@pytest.mark.parametrize("seed", SEEDS[:40] + SEEDS[60:240])
def test_label_rates_equal_enumeration(seed):
    case = random_case(seed)
    positive = np.isin(case.label, case.favorable)
    chosen = predict(case, case.frame[case.columns])
    for structure in ("independent", "tree", "empirical"):
        audit = justicia.verify(
            case.model,
            case.frame,
            sensitive_features=case.sensitive,
            favorable=case.favorable,
            population=structure,
            y=case.label,
        )
        grouping = audit.groupings[0]
        domain = audit.population.domain
        if np.prod([float(size) for size in domain.sizes]) > LARGEST_DOMAIN:
            pytest.skip("the domain is too large to enumerate")
        points = list(product(*(range(size) for size in domain.sizes)))
        selected = predict(case, people_at(points, domain, case))
        keys = [case.frame[name].astype(str) for name in case.sensitive]
        truth = {"tpr": [], "fpr": []}
        for group in grouping.groups:
            if group.n == 0:
                assert (group.tpr, group.fpr) == (None, None)
                continue
            member = np.logical_and.reduce(
                [column == value for column, value in zip(keys, group.group.values(), strict=True)]
            )
            assert group.positives == (member & positive).sum()
            assert group.negatives == (member & ~positive).sum()
            for kind, stratum in (("tpr", positive), ("fpr", ~positive)):
                rows = member & stratum
                verified, sample = getattr(group, kind), getattr(group, f"sample_{kind}")
                if not rows.any():
                    assert (verified, sample) == (None, None)
                    continue
                assert float(sample.value) == pytest.approx(chosen[rows].mean(), abs=1e-12)
                if structure == "empirical":
                    probability = None
                    expected = chosen[rows].mean()
                elif structure == "independent":
                    probability = independent_probability(case, domain, case.frame[rows])
                else:
                    population = grouping.strata[kind].population
                    probability = tree_probability(population, population.index(group.group))
                if probability is not None:
                    expected = sum(probability(point) for point, yes in zip(points, selected, strict=True) if yes)
                assert float(verified.lo) == pytest.approx(expected, abs=1e-12)
                truth[kind].append(expected)
        differences = [max(rates) - min(rates) if rates else None for rates in truth.values()]
        measured = grouping.measures["equalized_odds_difference"].verified.value
        held = [difference for difference in differences if difference is not None]
        assert float(measured) == pytest.approx(max(held), abs=1e-12)
