"""What users stumbled over while a command ran: stages, targets, other routes, bounds, errors and groups left out."""

from __future__ import annotations

import json
import pickle

import matplotlib
import pandas as pd
import pytest
from scipy.stats import beta

from justicia.cli import main
from tests.regressions.common import audit, people, pipeline


@pytest.fixture
def table(tmp_path):
    """Nine people of each of two groups."""
    path = tmp_path / "people.csv"
    frame = pd.DataFrame({"sex": ["f", "m"] * 9, "age": [20, 30, 40, 50, 60, 70] * 3, "hired": [0, 1, 1] * 6})
    frame.to_csv(path, index=False)
    return path


def run(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    captured = capsys.readouterr()
    return stopped.value.code, captured.out, captured.err


def stages(path):
    held = [json.loads(line) for line in path.read_text().splitlines()]
    return [one["stage"] for one in held if one["event"] == "stage"]


def test_batches_of_decisions_are_a_stage_of_their_own(table, tmp_path, capsys):
    log = tmp_path / "run.jsonl"
    code, _, said = run(
        capsys, "verify", "--decisions", table, "--decision", "hired", "--sensitive", "sex", "--stream", "--log", log
    )
    assert code == 0, said
    assert stages(log)[0] == "reading the table in batches"


def test_batches_of_a_population_are_a_stage_of_their_own(table, tmp_path, capsys):
    log, out = tmp_path / "run.jsonl", tmp_path / "people.json"
    code, _, said = run(
        capsys,
        *("population", "fit", table, "--sensitive", "sex", "--label", "hired", "--stream", "--log", log),
        *("--out", out, "--population", "independent"),
    )
    assert code == 0, said
    assert "reading the table in batches" in stages(log)


def test_batches_of_an_audit_are_a_stage_of_their_own(tmp_path, capsys):
    log = tmp_path / "run.jsonl"
    rows, out = people(60)
    rows.assign(out=out).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "tree.pkl").write_bytes(pickle.dumps(pipeline()))
    code, _, said = run(
        capsys,
        *("verify", "--model", tmp_path / "tree.pkl", "--data", tmp_path / "people.csv", "--sensitive", "sex"),
        *("--population", "empirical", "--stream", "--log", log),
    )
    assert code == 0, said
    assert stages(log)[:3] == ["loading the model", "reading the table in batches", "reading the table"]


def of_three(**options):
    """40, 40 and 4 people of three groups."""
    rows = people()[0][:84].assign(race=["a"] * 40 + ["b"] * 40 + ["c"] * 4)
    return audit(pipeline(), rows, sensitive_features="race", **options)


@pytest.mark.parametrize(("least", "compared"), [(0, 3), (10, 2)])
def test_errors_by_sampling_are_of_the_groups_that_are_compared(least, compared):
    grouping = of_three(min_group=least).groupings[0]
    for name, extreme in (("most_favored", grouping.most_favored), ("least_favored", grouping.least_favored)):
        (group,) = [one for one in grouping.groups if one.group == extreme.group]
        k, n, miss = group.selected, group.n, 0.05 / compared / 2
        lo = beta.ppf(miss, k, n - k + 1) if k else 0.0
        hi = beta.isf(miss, k + 1, n - k) if k < n else 1.0
        assert grouping.errors["sampling"][name] == pytest.approx(max(k / n - lo, hi - k / n), abs=1e-9)


def test_the_legend_names_the_interval_of_errors():
    text = " ".join(of_three().to_text(200).split())
    assert (
        "how far the clopper-pearson interval reaches from the rows' value, at confidence 0.95 for all compared" in text
    )


def test_frames_mark_groups_that_were_left_out():
    assert of_three(min_group=10).by_group["left_out"].to_dict() == {"a": False, "b": False, "c": True}
    assert of_three(min_group=2).by_group["left_out"].to_dict() == {"a": False, "b": False, "c": False}
    assert "left_out" not in of_three().by_group.columns
    assert of_three(min_group=10).to_frame()["left_out"].tolist() == [False, False, True]


def test_pictures_mark_groups_that_were_left_out():
    matplotlib.use("agg")
    for least, marked in ((10, "c (left out)"), (0, "c")):
        ax = of_three(min_group=least).plot()
        assert {label.get_text() for label in ax.get_yticklabels()} == {"a", "b", marked}
        matplotlib.pyplot.close(ax.figure)


def test_help_explains_ranges_over_people_of_unknown_group(capsys):
    _, says, _ = run(capsys, "verify", "--help")
    assert "bounds: they stay apart, and every rate gets the range" in " ".join(says.split())
    _, says, _ = run(capsys, "compare", "--help")
    assert "stay apart" not in says
