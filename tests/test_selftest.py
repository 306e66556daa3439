"""The self-test: its cases against others' enumeration, and engines that are wrong."""

from __future__ import annotations

import json

import numpy as np
import pytest

from justicia import selftest
from justicia.cli import main
from justicia.errors import InputError
from justicia.hearing import press
from justicia.random_cases import FAMILIES, enumerated, random_case, random_formula, value_by_enumeration
from justicia.selftest import run_selftest
from justicia.solvers import ENGINES, external
from tests.formula_cases import by_enumeration
from tests.linear_cases import every_point
from tests.solvers.shifted_engine import ShiftedEngine


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch):
    monkeypatch.setattr(external, "available", lambda: ())


@pytest.mark.parametrize("family", FAMILIES)
def test_cases_are_what_populations_and_decisions_say(family):
    structures = set()
    for seed in range(25):
        case = random_case(family, [seed])
        structures.add(case.population.structure)
        points = every_point(case.population.domain)
        boxes = [np.eye(size, dtype=bool)[points[:, i]] for i, size in enumerate(case.population.domain.sizes)]
        masses = case.population.masses(boxes, len(points))
        yes = case.decision.evaluate(points)
        assert yes.tolist() == [enumerated(case.decision, tuple(point)) for point in points.tolist()]
        assert case.rates == pytest.approx(masses[yes].sum(axis=0), abs=1e-12)
    assert len(structures) == 4


def test_formulas_have_the_values_of_the_other_enumeration():
    kinds = set()
    for seed in range(60):
        formula = random_formula([seed])
        kinds |= {block.quantifier for block in formula.prefix}
        assert value_by_enumeration(formula) == pytest.approx(by_enumeration(formula), abs=1e-12)
    assert kinds == {"e", "a", "r"}


def test_all_engines_agree():
    run = run_selftest(60, seed=5, most=40)
    assert run.mismatches == []
    assert set(run.tallies) == set(ENGINES)
    for tally in run.tallies.values():
        assert tally.agreed > 5
        assert tally.agreed + tally.open == tally.questions


@pytest.mark.slow
def test_all_engines_agree_for_longer():
    assert run_selftest(120, seed=17, most=1500).mismatches == []


@pytest.mark.parametrize("name", ["paths", "sums", "fourier", "branch_and_bound", "clauses"])
@pytest.mark.parametrize("by", [0.01, -0.01])
def test_an_engine_that_is_wrong_by_a_hundredth_is_found(name, by, monkeypatch):
    monkeypatch.setitem(ENGINES, name, ShiftedEngine(ENGINES[name], by))
    run = run_selftest(60, most=10)
    assert run.exit_code == 4
    assert {mismatch.engine for mismatch in run.mismatches} == {name}


def test_a_formula_solver_that_is_wrong_is_found(monkeypatch):
    from dataclasses import replace

    from justicia.enclosure import Enclosure

    right = selftest.solve_clauses

    def wrong(formula, limit, interruption):
        held = right(formula, limit, interruption)
        return replace(held, value=Enclosure(min(held.value.lo + 0.01, 1.0), 1.0))

    monkeypatch.setattr(selftest, "solve_clauses", wrong)
    assert run_selftest(60, most=30).exit_code == 4


def test_command(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(selftest, "count", lambda: range(10))
    target = tmp_path / "a.json"
    with pytest.raises(SystemExit) as ended:
        main(["selftest", "--seconds", "60", "--json", str(target)])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert "engine" in out.splitlines()[0]
    assert "answers agree with enumeration, 0 disagree" in out.splitlines()[-1]
    held = json.loads(target.read_text())
    assert held["schema"] == "justicia.selftest/1"
    assert held["mismatches"] == []
    monkeypatch.setitem(ENGINES, "paths", ShiftedEngine(ENGINES["paths"], 0.01))
    with pytest.raises(SystemExit) as ended:
        main(["selftest", "--seconds", "60"])
    assert ended.value.code == 4
    assert "DISAGREES: paths says" in capsys.readouterr().out


def test_no_time_is_refused():
    with pytest.raises(InputError, match="asks nothing"):
        run_selftest(0)


def test_an_interruption_ends_all_of_it_and_not_one_engine():
    asked = []

    def show(text, done):
        asked.append(text)
        if len(asked) == 3:
            assert press()

    run = run_selftest(600.0, progress=show)
    assert asked[-1].startswith("2 questions")
    assert len(asked) == 3
    assert run.mismatches == []
    assert not press()
