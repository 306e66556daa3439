"""What users stumbled over while a command ran: stages, targets, other routes, bounds, errors and groups left out."""

from __future__ import annotations

import json
import pickle
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from justicia import cross_checking, writing
from justicia.cli import main
from justicia.errors import InputError
from justicia.report.routes import cross_check_to_dict, route_lines
from justicia.solvers import Solution
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
        *("--out", out),
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


def test_a_route_that_is_out_of_time_says_so(monkeypatch):
    def late(engine, population, least, most, effort):
        size = population.n_groups
        return Solution(np.zeros(size), np.ones(size), "clauses", 0.0, "sound", 0, stopped="time")

    monkeypatch.setattr(cross_checking, "solve_between", late)
    held = audit(pipeline(), people()[0], population="independent", cross_check=True)
    routes = cross_check_to_dict(held.groupings[0].cross_check, timed=True)["routes"]
    (formula,) = [one for one in routes if one["route"] == "formula"]
    assert (formula["groups"], formula["reason"]) == (0, "not finished within the time limit")
    line = "selection rates by the formula and engine clauses: not finished within the time limit"
    assert line in " ".join(held.to_text(200).split())
    assert line in held.to_html()
    assert "0 of 0 groups" not in held.to_text(200)


def test_a_route_that_settles_some_groups_says_why_it_leaves_others():
    routes = [{"rate": "tpr", "route": "engine", "name": "boxes", "groups": 2, "agreed": 2, "largest_difference": 0.0}]
    routes[0] |= {"error_probability": 0.0, "people": None, "reason": "interrupted"}
    assert route_lines({"routes": routes}) == [
        "TPR by engine boxes: 2 of 2 groups agree, largest difference 0.0e+00; of others: interrupted"
    ]


def decide(capsys, table, *more):
    return run(capsys, "verify", "--decisions", table, "--decision", "hired", "--sensitive", "sex", "--quiet", *more)


def refuse(*arguments):
    raise PermissionError(13, "Permission denied")


@pytest.mark.parametrize("kind", ["--html", "--json"])
def test_a_folder_that_cannot_be_written_is_said_before_the_work(table, tmp_path, capsys, monkeypatch, kind):
    monkeypatch.setattr(writing, "_opened", refuse)
    monkeypatch.setattr(
        sys.modules["justicia.cli.verify"], "audit_of_decisions", lambda *_: pytest.fail("the work was begun")
    )
    code, out, said = decide(capsys, table, kind, tmp_path / "report")
    assert (code, out) == (2, "")
    assert said == f"justicia: {tmp_path / 'report'} cannot be written: Permission denied\n"


def test_the_check_of_a_target_leaves_nothing_and_changes_nothing(tmp_path):
    held = tmp_path / "held"
    held.write_text("before")
    writing.check_targets([str(held), str(tmp_path / "new"), "/dev/null"])
    assert [one.name for one in tmp_path.iterdir()] == ["held"]
    assert held.read_text() == "before"
    (tmp_path / "link").symlink_to(tmp_path / "nowhere" / "file")
    with pytest.raises(InputError, match="link cannot be written: No such file"):
        writing.check_target(str(tmp_path / "link"))


def test_the_answer_is_not_lost_when_a_file_cannot_be_written_at_the_end(table, tmp_path, capsys, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    _, answer, _ = decide(capsys, table)
    monkeypatch.setattr(writing, "_prepare", full)
    html = tmp_path / "report.html"
    code, out, said = decide(capsys, table, "--html", html)
    assert code == 2
    assert "disparate impact" in out
    assert out.splitlines()[-5:] == answer.splitlines()[-5:]
    assert said.splitlines()[-1] == f"justicia: {html} cannot be written: No space left on device"
    assert not html.exists()
    code, out, _ = decide(capsys, table, "--html", html, "--json", "-")
    assert code == 2
    assert json.loads(out)["schema"]


@pytest.mark.parametrize("structure", ["auto", "empirical", "tree"])
def test_bounds_say_at_the_start_which_populations_have_some(structure):
    held = audit(pipeline(), people()[0], population=structure, bounds=True)
    notes = [one for one in held.announcements if "bounds by the rows are for" in one]
    text = " ".join(held.to_text(200).split())
    assert "estimates no projection" not in text
    if structure == "tree":
        assert notes == []
        return
    assert notes == [
        "bounds by the rows are for population='tree' and independent: under the "
        f"{structure} population there are none, and the intervals of the rows say what chance leaves open"
    ]
    says = {
        "auto": "given structure none: bounds by the rows are for --population tree and independent",
        "empirical": "given structure none: the population is the rows themselves, and has no structure",
    }
    assert says[structure] in text
