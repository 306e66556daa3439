"""The experiments run, and say what they are meant to say."""

from __future__ import annotations

import csv
import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from experiments import coverage, ensembles, gaussian_study, outside_solvers, robustness
from experiments.running import Reporter


@pytest.mark.slow
def test_ensembles(tmp_path, monkeypatch, capsys):
    arguments = ["ensembles", "--data", "compas", "--encoding", "ordinal", "--model", "boosting", "--seconds", "3"]
    monkeypatch.setattr(sys, "argv", [*arguments, "--out", str(tmp_path)])
    ensembles.main()
    with (tmp_path / "ensembles.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["model"].split(",")[0] for row in rows] == ["gradient boosting", "histogram boosting"]
    for row in rows:
        assert float(row["hybrid"]) < float(row["plain_sampling"])
        assert float(row["hybrid"]) <= float(row["certain_in_hybrid"])
    assert (tmp_path / "ensembles.svg").read_text().startswith("<?xml")
    assert "histogram boosting" in capsys.readouterr().out


@pytest.mark.slow
def test_gaussian_study(tmp_path, monkeypatch, capsys):
    arguments = ["gaussian_study", "--draws", "3", "--rows", "10000", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", arguments)
    gaussian_study.main()
    with (tmp_path / "gaussian_study.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 4 * 2
    errors = [abs((float(row["lo"]) + float(row["hi"])) / 2 - float(row["exact"])) for row in rows]
    assert sum(errors) / len(errors) < 0.015
    assert (tmp_path / "gaussian_study.svg").read_text().startswith("<?xml")
    assert "overall" in capsys.readouterr().out


def test_coverage_of_a_few_populations(tmp_path, monkeypatch, capsys):
    """Two that follow the fitted structure and two that do not, with a trivial interval counted as a miss."""
    cases = [
        coverage.known(1, "independent", "independent", (2, 3), (30, 60), 0.4),
        coverage.known(2, "independent", "any", (3, 2), (100, 40), 1.0),
        coverage.known(3, "tree", "chain", (2, 2), (60,), 1.0),
        coverage.known(4, "tree", "any", (2, 3, 2), (200, 50), 0.4),
    ]
    monkeypatch.setattr(coverage, "populations", lambda: cases)
    arguments = ["coverage", "--simulations", "150", "--bootstrapped", "5", "--replicates", "39"]
    monkeypatch.setattr(sys, "argv", [*arguments, "--out", str(tmp_path)])
    coverage.main()
    with (tmp_path / "coverage.csv").open() as file:
        rows = list(csv.DictReader(file))
    methods = {row["method"] for row in rows}
    assert methods >= {"clopper_pearson", "total_variation", "confidence_box", "given_structure", "bootstrap"}
    for row in rows:
        if not row["method"].startswith("bootstrap"):
            assert float(row["coverage"]) >= float(row["at_least"]), row
        if row["method"] in ("clopper_pearson", "confidence_box", "given_structure"):
            assert float(row["says_nothing"]) == 0.0
    assert (tmp_path / "coverage.svg").read_text().startswith("<?xml")
    assert "confidence_box" in capsys.readouterr().out


def test_projections_of_known_populations_are_sums_over_points():
    case = coverage.known(5, "tree", "any", (2, 3, 2), (10, 10), 1.0)
    held = case.joint[1].reshape(2, 3, 2)
    by_hand = 0.0
    for x, y, z in case.points[case.decision.evaluate(case.points)]:
        of_y = held.sum(axis=(0, 2))
        by_hand += of_y[y] * held.sum(axis=2)[x, y] / of_y[y] * held.sum(axis=0)[y, z] / of_y[y]
    assert case.projected((1, -1, 1))[1] == pytest.approx(by_hand)
    assert case.projected((-1, 0, 1))[1] != pytest.approx(case.rates()[1], abs=1e-6)


def test_expected_square_of_the_sample_rate_is_that_of_many_draws():
    rng = np.random.default_rng(0)
    sizes, rates = np.array([40, 10]), np.array([0.25, 0.5])
    groups = np.repeat([0, 1], sizes)
    selected = np.concatenate([np.arange(40) < 10, np.arange(10) < 5])
    errors = []
    for _ in range(20_000):
        rows = rng.choice(50, 8, replace=False)
        for group in np.unique(groups[rows]):
            errors.append(selected[rows][groups[rows] == group].mean() - rates[group])
    assert np.mean(np.square(errors)) == pytest.approx(robustness.expected_square(sizes, rates, 8), rel=0.03)


def test_ridge_rates_are_those_of_the_rows_by_scikit_learn():
    keys = [("a", "x"), ("a", "y"), ("b", "x")]
    selected, n = np.array([3, 0, 5]), np.array([10, 2, 6])
    found = robustness.ridge_rates(selected, n, keys)
    codes = np.repeat(np.arange(3), n)
    x = np.concatenate([np.array([[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0]]), np.eye(3)], axis=1)
    label = np.concatenate([np.arange(size) < k for k, size in zip(selected, n, strict=True)])
    model = LogisticRegression(max_iter=1000).fit(x[codes], label)
    np.testing.assert_allclose(found, model.predict_proba(x)[:, 1], atol=1e-4)
    assert (robustness.ridge_rates(np.zeros(3), n, keys) == 0).all()


@pytest.mark.slow
def test_robustness(tmp_path):
    with Reporter(wanted=False) as progress:
        given = {"data": ("german",), "draws": 10, "model_seed": (0,)}
        robustness.run(tmp_path, quick=False, progress=progress, **given)
        written = (tmp_path / "robustness.csv").read_text()
        robustness.run(tmp_path, quick=False, progress=progress, **given)
    assert (tmp_path / "robustness.csv").read_text() == written
    with (tmp_path / "robustness.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 3 * 4
    relative = {
        method: [float(row["error"]) for row in rows if row["method"] == method and row["relative"] == "True"]
        for method in robustness.METHODS
    }
    assert np.mean(relative["auto"]) < 0.9 * np.mean(relative["sample"])
    assert all(float(row["error"]) < 1e-12 for row in rows if row["method"] == "sample" and row["rows"] == "1000")
    assert (tmp_path / "robustness.svg").read_text().startswith("<?xml")
    assert "| german, sex x age | 250 |" in robustness.section(tmp_path)


@pytest.mark.slow
def test_outside_solvers(tmp_path, monkeypatch, capsys):
    # A program that always says one half: it is counted, and never equal.
    program = tmp_path / "abc"
    program.write_text("#!/bin/sh\necho '  > Satisfying probability: 5.000000e-01'\n")
    program.chmod(0o755)
    monkeypatch.setenv("JUSTICIA_ABC", str(program))
    monkeypatch.delenv("JUSTICIA_SHARPSSAT", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    words = [
        "outside_solvers",
        "--data",
        "ricci",
        "--depth",
        "3",
        "--random",
        "4",
        "--no-rules",
        "--out",
        str(tmp_path),
    ]
    monkeypatch.setattr(sys, "argv", words)
    outside_solvers.main()
    with (tmp_path / "outside_solvers.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["solver"] for row in rows} == {"justicia", "abc"}
    assert len(rows) == 2 * (4 + 2 * 4)
    assert all(row["value"] == "0.5" for row in rows if row["solver"] == "abc" and row["status"] == "answer")
    out = capsys.readouterr().out
    assert "not installed, left out: sharpssat" in out
    assert "| 12 formulas | 10, 0," in out
    assert "Solved by another and not here: none" in out
