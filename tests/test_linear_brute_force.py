"""Rates of linear and additive models against enumeration of every point with the model's own predict."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import justicia
from justicia import encoders, models
from justicia.population import auto
from tests.linear_cases import every_point, masses, people_at, random_linear_case

SEEDS = [*range(20), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(20, 340))]
LARGEST_DOMAIN = 60_000


@pytest.mark.parametrize("seed", SEEDS)
def test_enclosures_hold_the_enumerated_rate(seed, monkeypatch):
    case = random_linear_case(seed)
    if seed % 3:
        monkeypatch.setattr(auto, "LARGE_GROUP", 0)
    if seed % 2:
        monkeypatch.setattr(auto, "MANY_STATES", 3)
    tolerance = [1e-3, 1e-4][seed % 2]
    for structure in ("auto", "independent", "tree", "empirical"):
        audits = {}
        for solver, search in (("sums", "enumerate"), ("fourier", "enumerate"), ("fourier", "learn")):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                audits[solver, search] = justicia.verify(
                    case.model,
                    case.frame,
                    sensitive_features=case.sensitive,
                    favorable=case.favorable,
                    population=structure,
                    solver=solver,
                    search=search,
                    tolerance=tolerance,
                )
        population = audits["sums", "enumerate"].population
        domain = population.domain
        if np.prod([float(size) for size in domain.sizes]) > LARGEST_DOMAIN:
            pytest.skip("the domain is too large to enumerate")
        points = every_point(domain)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selected = np.isin(case.model.predict(people_at(points, domain, case)), case.favorable)
        keys = [case.frame[name].astype(str) for name in case.sensitive]
        decision, _ = encoders.encode(models.unwrap(case.model), case.frame[case.columns], case.favorable)
        distance = np.abs(decision.scores(points) - decision.threshold)
        truth, ties, near = [], [], []
        for i, key in enumerate(population.groups):
            member = np.logical_and.reduce([column == value for column, value in zip(keys, key, strict=True)])
            mass = masses(structure, population, i, case.frame[member], points)
            assert mass.sum() == pytest.approx(1.0, abs=1e-9)
            truth.append(mass[selected].sum())
            ties.append(mass[distance <= 4 * decision.slack].sum() if decision.slack else 0.0)
            near.append(mass[distance <= 2e-4 * decision.magnitude].sum())
        truth, ties, near = np.array(truth), np.array(ties), np.array(near)
        for (solver, search), audit in audits.items():
            solution = audit.groupings[0].solution
            assert (solution.lo <= truth + 1e-12).all(), (solver, search)
            assert (truth <= solution.hi + 1e-12).all(), (solver, search)
            if search == "enumerate":
                wanted = ties + 1e-12 if solver == "sums" or structure == "empirical" else near + tolerance
                assert (solution.hi - solution.lo <= wanted).all(), (solver, search)
        learned, every = audits["fourier", "learn"], audits["fourier", "enumerate"]
        for name in ("most_favored", "least_favored"):
            one, other = getattr(every.groupings[0], name), getattr(learned.groupings[0], name)
            found = {tuple(group.values()) for group in other.candidates}
            best = truth.max() if name == "most_favored" else truth.min()
            extreme = population.groups[int(truth.argmax() if name == "most_favored" else truth.argmin())]
            assert extreme in found
            assert float(other.selection_rate.lo) - 1e-12 <= max(truth)
            if near.max() == 0:
                # Of groups within the tolerance of each other any may be named.
                lo, hi = float(other.selection_rate.lo) - tolerance, float(other.selection_rate.hi) + tolerance
                assert lo - 1e-12 <= best <= hi
            assert abs(float(other.selection_rate.lo) - float(one.selection_rate.lo)) <= 2 * tolerance + near.max()
