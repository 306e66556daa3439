"""The published sample size, and the case in which it fails."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import justicia
from justicia.metrics import justicia_sample_size


def test_the_worked_value():
    # (1 + ln 20) ln 10 / ln 1.1 = 96.5
    assert justicia_sample_size(1, 10, 1.1, 0.05) == 97


def test_the_claim_fails_far_more_often_than_promised():
    eps0, delta = 1.1, 0.05
    k = justicia_sample_size(1, 10, eps0, delta)
    rate = 0.9 / k
    estimates = np.random.default_rng(0).binomial(k, rate, size=20_000) / k
    failed = float((estimates > eps0 * rate).mean())
    assert failed == pytest.approx(1 - (1 - rate) ** k, abs=0.02)
    assert failed > 10 * delta


@pytest.mark.parametrize("values", [(-1, 10, 1.1, 0.1), (1, 0, 1.1, 0.1), (1, 10, 1.0, 0.1), (1, 10, 1.1, 0.0)])
def test_parameters_out_of_range(values):
    with pytest.raises(ValueError, match="eps0"):
        justicia_sample_size(*values)


def test_no_verdict_rests_on_it():
    package = Path(justicia.__file__).parent
    users = {path.name for path in package.rglob("*.py") if "justicia_sample_size" in path.read_text(encoding="utf-8")}
    assert users == {"sample_size.py", "__init__.py"}
