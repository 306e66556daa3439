"""The bootstrap: values by hand, what ends it early, what it is asked for."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia import bootstrap, solvers
from justicia.bootstrap import alone, deviations, least_replicates, together
from tests.test_bounding import table


def verify(structure="tree", model=None, frame=None, label=None, **options):
    if frame is None:
        frame, label = table()
    model = DecisionTreeClassifier(max_depth=3).fit(frame[["x", "z"]], label) if model is None else model
    return justicia.verify(
        model, frame, sensitive_features="sex", population=structure, favorable=1, **{"bootstrap": 60, **options}
    )


def test_an_interval_by_hand():
    """Deviations -.3 to .3 on the scale arcsin(sqrt(rate)): 5 % and 95 % of 61 replicates cut off three at each end."""
    rate = np.array([0.5])
    scaled = np.arcsin(np.sqrt(0.5)) + np.linspace(-0.3, 0.2, 61)
    drawn = np.random.default_rng(0).permutation(np.sin(scaled) ** 2)[:, None]
    (found,) = alone(deviations(rate, rate, drawn, drawn), 0.9, np.array([40]))
    step = 0.5 / 60
    assert found.lo == pytest.approx(np.sin(np.pi / 4 - (0.2 - 3 * step)) ** 2)
    assert found.hi == pytest.approx(np.sin(np.pi / 4 + (0.3 - 3 * step)) ** 2)


def test_bands_hold_all_groups_of_as_many_replicates_as_asked_for():
    rng = np.random.default_rng(0)
    rates = rng.random(8)
    drawn = rng.binomial(200, rates, size=(400, 8)) / 200
    found = deviations(rates, rates, drawn, drawn)
    sizes = np.full(8, 200)
    (bands,) = together([found], 0.9, [sizes])
    single = alone(found, 0.9, sizes)
    # Around the estimates lie bands as wide as the replicates around them.
    middle, width = np.arcsin(np.sqrt(rates)), [np.arcsin(np.sqrt(band.hi)) for band in bands]
    inside = np.abs(np.arcsin(np.sqrt(drawn)) - middle) <= np.array(width) - middle + 1e-12
    assert 0.9 <= inside.all(axis=1).mean() <= 0.91
    assert sum(band.hi - band.lo for band in bands) > 1.1 * sum(one.hi - one.lo for one in single)


def test_bounds_in_place_of_rates_make_intervals_wider():
    rng = np.random.default_rng(0)
    rates, drawn = np.array([0.3]), rng.normal(0.3, 0.02, size=(100, 1))
    (exact,) = alone(deviations(rates, rates, drawn, drawn), 0.9, np.array([500]))
    (wide,) = alone(deviations(rates - 0.01, rates + 0.01, drawn - 0.01, drawn + 0.01), 0.9, np.array([500]))
    assert wide.lo < exact.lo - 0.015
    assert wide.hi > exact.hi + 0.015


def test_rates_that_never_vary_get_the_interval_of_people_without_exception():
    rates, sizes = np.array([0.0, 1.0, 0.5]), np.array([20, 30, 30])
    drawn = np.repeat(rates[None], 50, axis=0)
    found = deviations(rates, rates, drawn, drawn)
    none, every, half = alone(found, 0.9, sizes)
    assert (none.lo, every.hi) == (0.0, 1.0)
    assert none.hi == pytest.approx(1 - 0.05 ** (1 / 20))
    assert every.lo == pytest.approx(0.05 ** (1 / 30))
    assert half.lo == half.hi == pytest.approx(0.5)
    ((none, *_),) = together([found], 0.9, [sizes])
    assert none.hi == pytest.approx(1 - (0.05 / 3) ** (1 / 20))


@pytest.mark.parametrize("structure", ["auto", "tree", "independent", "empirical"])
def test_every_structure_has_intervals_that_the_seed_settles(structure):
    held = verify(structure, y=table()[1])
    grouping = held.groupings[0]
    for group in grouping.groups:
        for kind in ("selection_rate", "tpr", "fpr"):
            interval = group.bootstrap[kind]
            assert interval.lo <= float(getattr(group, kind).lo) <= interval.hi
            assert interval.hi - interval.lo < 0.5
        assert group.bootstrap["selection_rate"].hi - group.bootstrap["selection_rate"].lo > 0.01
    for name, found in grouping.measures.items():
        if name.startswith("predictive_parity"):
            # Replicates draw people of each true outcome, and no base rates.
            assert found.bootstrap is None
            continue
        assert found.bootstrap.lo <= float(found.verified.value.lo) <= found.bootstrap.hi, name
    same, other = verify(structure, y=table()[1]), verify(structure, y=table()[1], seed=1)
    assert same.groupings[0].uncertainty == grouping.uncertainty
    assert other.groupings[0].uncertainty != grouping.uncertainty
    assert "bootstrap_lo" in held.by_group.columns


def test_the_rows_resampled_have_the_spread_of_a_binomial():
    held = verify("empirical", bootstrap=400)
    for group in held.groupings[0].groups:
        rate = float(group.selection_rate.lo)
        expected = 2 * 1.96 * math.sqrt(rate * (1 - rate) / group.n)
        interval = group.bootstrap["selection_rate"]
        assert interval.hi - interval.lo == pytest.approx(expected, rel=0.25)


def test_time_ends_it_and_the_method_says_so(monkeypatch, caplog):
    held = verify(time_limit=0.0)
    made = held.groupings[0].uncertainty.bootstrap
    assert (made.reached, made.stopped) == (0, "time")
    assert all(not group.bootstrap for group in held.groupings[0].groups)
    assert any("too few for intervals" in warning for warning in held.warnings)
    assert held.to_dict()["groupings"][0]["groups"][0]["selection_rate"]["interval"] is None

    ticks = iter(np.arange(0.0, 1e6, 1.0))
    monkeypatch.setattr(bootstrap.time, "perf_counter", lambda: next(ticks))
    made = verify("independent", time_limit=230.0).groupings[0].uncertainty.bootstrap
    assert 39 <= made.reached < 60
    assert made.method == f"parametric bootstrap, {made.reached} of 60 replicates (the time limit)"


def test_ctrl_c_ends_it_and_what_is_known_stays():
    seen = []

    def press(text, done):
        seen.append(text)
        if "45 of 60" in text:
            press.interruption.pressed = True

    original = solvers.Effort.__init__

    def remember(self, *args, **kwargs):
        original(self, *args, **kwargs)
        press.interruption = self.interruption

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solvers.Effort, "__init__", remember)
        held = verify(progress=press)
    made = held.groupings[0].uncertainty.bootstrap
    assert (made.reached, made.stopped) == (45, "interrupted")
    assert "45 of 60 replicates (interrupted)" in " ".join(held.to_text().split())
    assert held.groupings[0].groups[0].bootstrap
    assert next(text for text in seen if "bootstrap" in text) == "sex: 1 of 60 bootstrap replicates"


def test_slow_engines_say_what_it_costs(caplog, monkeypatch):
    monkeypatch.setattr(bootstrap, "_LONG", 0.0)
    held = verify()
    assert any("60 bootstrap replicates at the pace of the first answers" in text for text in held.announcements)


@pytest.mark.parametrize("wrong", [-1, 38, True, 2.5, "200", 10**9])
def test_wrong_numbers_of_replicates(wrong):
    with pytest.raises(justicia.InputError, match="bootstrap"):
        verify(bootstrap=wrong)


def test_numbers_of_numpy_are_numbers():
    assert verify(bootstrap=np.int64(40)).to_dict()["groupings"][0]["bootstrap"]["replicates"] == 40


def test_confidence_settles_how_many_are_needed():
    assert [least_replicates(confidence) for confidence in (0.5, 0.9, 0.95, 0.99)] == [3, 19, 39, 199]
    with pytest.raises(justicia.InputError, match="199 at least"):
        verify(confidence=0.99, bootstrap=100)


def test_a_group_of_one_person():
    frame, label = table(60)
    frame = pd.concat([frame, pd.DataFrame({"sex": ["x"], "x": [2], "z": [1]})], ignore_index=True)
    label = pd.concat([label, pd.Series([1])], ignore_index=True)
    held = verify(frame=frame, label=label, bounds=True, y=label)
    (alone_there,) = [group for group in held.groupings[0].groups if group.n == 1]
    assert alone_there.sample_rate.simultaneous.hi == 1.0
    assert alone_there.bootstrap["selection_rate"].lo <= float(alone_there.selection_rate.lo)
    assert alone_there.fpr is None
    assert "fpr" not in alone_there.bootstrap
