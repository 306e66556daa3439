"""The experiments run, and say what they are meant to say."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from experiments import (
    coverage,
    ensembles,
    formulas,
    gaussian_study,
    outside_solvers,
    robustness,
    simulated_generations,
)
from experiments.running import Reporter, Rows, read_rows


@pytest.fixture
def progress():
    with Reporter(wanted=False) as reporter:
        yield reporter


@pytest.mark.slow
def test_ensembles(tmp_path, progress):
    ensembles.run(tmp_path, quick=False, progress=progress, data=("compas",), model="boosting", seconds=3.0)
    rows = read_rows(tmp_path / "ensembles.csv")
    assert [row["model"].split(",")[0] for row in rows] == ["gradient boosting", "histogram boosting"]
    for row in rows:
        assert float(row["hybrid"]) < float(row["plain_sampling"])
        assert float(row["hybrid"]) <= float(row["certain_in_hybrid"])
        curve = [one for one in read_rows(tmp_path / "ensembles_curves.csv") if one["model"] == row["model"]]
        assert [int(one["point"]) for one in curve] == list(range(len(curve)))
        assert curve[-1]["width"] == row["certain"]
        widths = [float(one["width"]) for one in curve]
        assert widths == sorted(widths, reverse=True)


def test_curves_are_thinned_to_points_that_they_have():
    seen = [(0.001 * n, 1 / n) for n in range(1, 2000)]
    kept = ensembles.thinned(seen)
    assert len(kept) <= ensembles.POINTS + 1
    assert kept[0] == seen[0]
    assert kept[-1] == seen[-1]
    assert set(kept) <= set(seen)
    assert kept == sorted(kept)
    assert ensembles.thinned([(0.0, 0.5)]) == [(0.0, 0.5)]


@pytest.mark.slow
def test_gaussian_study(tmp_path, progress):
    gaussian_study.run(tmp_path, quick=False, progress=progress, draws=3)
    rows = read_rows(tmp_path / "gaussian_study.csv")
    assert len(rows) == 3 * 4 * 2
    errors = [abs((float(row["lo"]) + float(row["hi"])) / 2 - float(row["exact"])) for row in rows]
    assert sum(errors) / len(errors) < 0.015


def test_coverage_of_a_few_populations(tmp_path, monkeypatch, progress):
    """Two that follow the fitted structure and two that do not, with a trivial interval counted as a miss."""
    cases = [
        coverage.known(1, "independent", "independent", (2, 3), (30, 60), 0.4),
        coverage.known(2, "independent", "any", (3, 2), (100, 40), 1.0),
        coverage.known(3, "tree", "chain", (2, 2), (60,), 1.0),
        coverage.known(4, "tree", "any", (2, 3, 2), (200, 50), 0.4),
    ]
    monkeypatch.setattr(coverage, "populations", lambda: cases)
    given = {"simulations": 150, "bootstrapped": 5, "replicates": 39}
    coverage.run(tmp_path, quick=False, progress=progress, **given)
    rows = read_rows(tmp_path / "coverage.csv")
    methods = {row["method"] for row in rows}
    assert methods >= {"clopper_pearson", "total_variation", "confidence_box", "given_structure", "bootstrap"}
    for row in rows:
        if not row["method"].startswith("bootstrap"):
            assert float(row["coverage"]) >= float(row["at_least"]), row
        if row["method"] in ("clopper_pearson", "confidence_box", "given_structure"):
            assert float(row["says_nothing"]) == 0.0
    assert (tmp_path / "coverage.svg").read_text().startswith("<?xml")
    assert "Each of the first four covered" in coverage.parts(tmp_path)["in words"]


def test_an_interval_that_covers_too_rarely_is_named(tmp_path):
    rows = Rows(tmp_path / "coverage.csv", coverage.COLUMNS, [*coverage.KEY, "method"])
    row = {
        "population": "any 2x2, 30", "fitted": "tree", "simulations": 1000, "bootstrapped": 100, "replicates": 100,
        "seed": 0, "counted": 1000, "at_least": 0.929, "says_nothing": 0.0, "width": 0.1,
        "width_to_clopper_pearson": 1.0, "people_rates": "0.25 1.0",
    }  # fmt: skip
    for method, share in (
        ("clopper_pearson", 0.96),
        ("total_variation", 1.0),
        ("confidence_box", 0.9),
        ("bootstrap", 0.5),
    ):
        rows.add({**row, "method": method, "coverage": share})
    words = " ".join(coverage.parts(tmp_path)["in words"].split())
    assert (
        "Less than .95 less three standard errors was covered by confidence box in `any 2x2, 30` under `tree`" in words
    )
    assert (
        "did so in 0 of 1: it covered .500 in `any 2x2, 30` under `tree`, where one group's rate is exactly 1." in words
    )


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
def test_outside_solvers(tmp_path, monkeypatch):
    # A program that always says one half: it is counted, and never equal.
    program = tmp_path / "abc"
    program.write_text("#!/bin/sh\necho '  > Satisfying probability: 5.000000e-01'\n")
    program.chmod(0o755)
    monkeypatch.setenv("JUSTICIA_ABC", str(program))
    monkeypatch.delenv("JUSTICIA_SHARPSSAT", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    notes = []
    given = {"data": ("ricci",), "depth": (3,), "n_random": 4, "rules": False}
    with Reporter(wanted=False) as progress:
        monkeypatch.setattr(progress, "note", notes.append)
        outside_solvers.run(tmp_path, quick=False, progress=progress, **given)
    rows = [row for row in read_rows(tmp_path / "outside_solvers.csv") if row["kind"] in outside_solvers.KINDS]
    assert {row["solver"] for row in rows} == {"justicia", "abc", "abc, default options"}
    assert sum(row["solver"] == "abc" for row in rows) == 4 + 2 * 4
    assert all(row["value"] == "0.5" for row in rows if row["solver"] == "abc" and row["status"] == "answer")
    assert "not installed, left out: sharpssat" in notes[0]
    parts = {name: " ".join(text.split()) for name, text in outside_solvers.parts(tmp_path).items()}
    assert "| 12 together | 10, 0," in parts["agreement"]
    assert "| 2 least favored | ∀ is not taken |" in parts["agreement"]
    assert "Values differ: abc on random 0 (random)" in parts["in words"]


@pytest.mark.slow
def test_formulas(tmp_path, monkeypatch, progress):
    monkeypatch.setattr(formulas, "RANDOM_SIZES", formulas.RANDOM_SIZES[:1])
    given = {"data": ("titanic",), "depth": (3, 6)}
    formulas.run(tmp_path, quick=False, progress=progress, **given)
    rows = read_rows(tmp_path / "formulas.csv")
    trees = [row for row in rows if row["source"] == "titanic"]
    assert len(trees) == 2 * 3 * 4
    assert all(float(row["apart"]) < formulas.EQUAL for row in trees)
    assert sum(row["question"] == formulas.WHOLE for row in rows) == 2


def test_true_association_by_hand():
    apart = np.eye(2)
    assert simulated_generations.true_mad(apart, np.array([1.0, 0.0]), "iou") == pytest.approx(1)
    assert simulated_generations.true_mad(apart, np.array([0.5, 0.5]), "iou") == pytest.approx(0)
    # Similarities of 3/5 and 1/7: 21 and 5 of 26, so 4/13 from one half each, where 1/2 is the most.
    found = simulated_generations.true_mad(apart, np.array([0.75, 0.25]), "iou")
    assert found == pytest.approx((8 / 13) ** 0.5)
    # Cosines of 3 and 1 by the same length.
    found = simulated_generations.true_mad(apart, np.array([0.75, 0.25]), "cosine")
    assert found == pytest.approx(0.5**0.5)


@pytest.mark.parametrize("shape", simulated_generations.SHAPES)
def test_true_shares_are_shares(shape):
    shares = simulated_generations.true_shares(shape, np.random.default_rng(0))
    assert [one.shape for one in shares] == [(10, 2), (10, 3), (10, 5)]
    assert all(np.allclose(one.sum(axis=1), 1) for one in shares)
    if shape == "alike":
        assert shares[1][4] == pytest.approx([4 / 7, 2 / 7, 1 / 7])
    if shape == "collapsed":
        assert shares[2][9] == pytest.approx([0.98, 0.005, 0.005, 0.005, 0.005])


def test_coverage_that_falls_short_is_pointed_out(tmp_path):
    rows = Rows(tmp_path / "simulated_generations.csv", simulated_generations.COLUMNS, simulated_generations.KEY)
    for study, (_, cases, number, _) in simulated_generations.STUDIES.items():
        for place, case in enumerate(cases):
            low = study in ("interval of MGBI", "interval of MAD") and place == 4
            row = {"study": study, "case": case, "number": number, "seed": 0, "value": 1.0, "width": 0.25}
            rows.add({**row, "share": 0.5 if low else 0.95, "beside": 0.125})
    parts = {name: " ".join(text.split()) for name, text in simulated_generations.parts(tmp_path).items()}
    assert "| 300, 50 | .95 (.25) | .95 (.25) | .95 (.25) | .95 (.25) | .50 (.25) |" in parts["intervals of MGBI"]
    assert "in less than 90 % of tables in some of them (nearly collapsed: .50)" in parts["intervals of MGBI"]
    assert "95 to 95 % of 150 tables each, but for 1: 50 % (`iou`, 2 values, 8 concepts" in parts["intervals of MAD"]
    assert "950 of 1,000 fail at alpha .05" in parts["without bias"]
