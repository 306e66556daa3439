"""The experiments run, and say what they are meant to say."""

from __future__ import annotations

import csv
import sys

import pytest

from experiments import gaussian_study

pytestmark = pytest.mark.slow


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
