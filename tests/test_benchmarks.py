"""Benchmarks time every engine, encoder, population fit and reader, and what they print is what they measured."""

from __future__ import annotations

import logging
import subprocess

import pytest

from benchmarks import compare, growth, pieces
from justicia import encoders, population, solvers
from justicia.solvers import external

NOT_TIMED = {"imli"}
"""Rules of another library, which has to be installed for them."""
KINDS = {
    "decision_tree": "tree",
    "forest": "forest",
    "boosting": "boosting",
    "xgboost": "xgboost",
    "lightgbm": "lightgbm",
    "linear": "logistic",
    "naive_bayes": "naive bayes",
    "support_vectors": "support vectors",
    "rules": "rules",
}


def test_every_kind_has_a_piece():
    assert {f"engine {name}" for name in solvers.ENGINES} <= set(pieces.PIECES)
    assert {f"fit {name}" for name in population.STRUCTURES} <= set(pieces.PIECES)
    modules = {name.rpartition(".")[2] for name in encoders.REGISTRY.values()}
    assert modules - NOT_TIMED == set(KINDS)
    assert {f"encode {name}" for name in KINDS.values()} <= set(pieces.PIECES)


def test_outside_solvers_and_generations_have_pieces():
    assert {f"outside {name}" for name in external.NAMES} <= set(pieces.PIECES)
    assert {f"report generations {form}" for form in ("text", "json", "html")} <= set(pieces.PIECES)


@pytest.mark.slow
@pytest.mark.parametrize("name", [f"outside {name}" for name in external.NAMES])
def test_outside_solvers_run(name, monkeypatch):
    if name.removeprefix("outside ") not in external.available():
        pytest.skip("is not installed")
    monkeypatch.setattr(logging, "disable", lambda _: None)
    assert pieces.piece_seconds(name, least=1e-9, most=1) > 0


@pytest.mark.parametrize(
    "name",
    [
        "report generations text",
        "generations sequence",
        "fit independent",
        "read parquet in batches",
        "report decisions text",
    ],
)
def test_pieces_run(name, monkeypatch):
    monkeypatch.setattr(logging, "disable", lambda _: None)
    assert pieces.piece_seconds(name, least=1e-9, most=1) > 0


def test_costs_grow_one_at_a_time():
    assert set(growth.GROWTH) == set(growth.START)
    held = growth.cost(**{**growth.START, "rows": 400, "depth": 2})
    assert held["width"] < 1e-9
    assert held["cpu"] > 0


def test_two_commits_are_timed_in_turn(tmp_path, capsys, monkeypatch):
    trees = [tmp_path / "base", tmp_path / "head"]
    times = iter([4.0, 3.0, 2.0, 6.0, None, 1.0])
    asked = []

    def timed(piece, tree):
        asked.append((piece, tree.name))
        return next(times)

    monkeypatch.setattr(compare, "timed", timed)
    found = compare.compared(*trees, ["a"], 2)
    # Base 4 and 6, head 3 and 2.
    assert found == {"a": (4.0, 2.0)}
    assert asked == [("a", "base"), ("a", "head"), ("a", "head"), ("a", "base")]
    assert capsys.readouterr().out.split() == ["a", "4.0000", "s", "2.0000", "s", "0.50"]
    assert compare.compared(*trees, ["b"], 1) == {"b": (None, 1.0)}
    assert "absent" in capsys.readouterr().out


def test_a_piece_that_a_commit_does_not_have(tmp_path, monkeypatch):
    class Done:
        returncode, stdout = 1, ""

    monkeypatch.setattr(subprocess, "run", lambda *_, **__: Done())
    assert compare.timed("nothing", tmp_path) is None
