"""Sample measures equal Fairlearn's and AIF360's where both are defined, and differ where a rate is undefined."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import justicia.metrics.aif360 as signed
from justicia import metrics

fairlearn = pytest.importorskip("fairlearn.metrics")

N_TABLES = 1000


def random_table(seed):
    """True outcomes, decisions and groups; rare outcomes and small groups among them."""
    rng = np.random.default_rng(seed)
    n, n_groups = int(rng.integers(8, 120)), int(rng.integers(2, 6))
    groups = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, n - n_groups)])
    truth = (rng.random(n) < rng.choice([0.05, 0.3, 0.6, 0.95])).astype(int)
    chosen = (rng.random(n) < np.where(truth, rng.random(), rng.random())).astype(int)
    weight = None if rng.random() < 0.5 else rng.integers(1, 5, n).astype(float)
    return truth, chosen, groups, weight


def stratum_sizes(truth, groups):
    """Positives and negatives of each group."""
    table = pd.crosstab(groups, truth).reindex(columns=[0, 1], fill_value=0)
    return table[1].to_numpy(), table[0].to_numpy()


def same(ours, theirs):
    return (math.isnan(ours) and math.isnan(theirs)) or ours == pytest.approx(theirs, abs=1e-12)


def compare_with_fairlearn(seed):
    truth, chosen, groups, weight = random_table(seed)
    positives, negatives = stratum_sizes(truth, groups)
    people = {"sensitive_features": groups, "sample_weight": weight}
    for method in ("between_groups", "to_overall"):
        for name in ("demographic_parity_difference", "demographic_parity_ratio"):
            ours = getattr(metrics, name)(truth, chosen, method=method, **people)
            assert same(ours, getattr(fairlearn, name)(truth, chosen, method=method, **people)), (seed, name, method)
        names = []
        if positives.all():
            names += [("equal_opportunity_difference", {}), ("equal_opportunity_ratio", {})]
        if positives.all() and negatives.all():
            names += [("equalized_odds_difference", {"agg": agg}) for agg in ("worst_case", "mean")]
            names += [("equalized_odds_ratio", {"agg": "mean"}), ("equalized_odds_ratio", {"agg": "worst_case"})]
        for name, more in names:
            ours = getattr(metrics, name)(truth, chosen, method=method, **people, **more)
            theirs = getattr(fairlearn, name)(truth, chosen, method=method, **people, **more)
            if name == "equalized_odds_ratio" and math.isnan(_half_ratio(truth, chosen, people, method)):
                # All rates of one kind are 0: it has no ratio, and that of the other kind is the measure.
                continue
            assert same(ours, theirs), (seed, name, method, more)
    frame = fairlearn.MetricFrame(
        metrics={"selection_rate": fairlearn.selection_rate, "true_positive_rate": fairlearn.true_positive_rate},
        y_true=truth, y_pred=chosen, sensitive_features=groups,
        sample_params={name: {"sample_weight": weight} for name in ("selection_rate", "true_positive_rate")},
    )  # fmt: skip
    ours = metrics.GroupMetrics(truth, chosen, **people)
    assert np.allclose(ours.by_group["selection_rate"], frame.by_group["selection_rate"], atol=1e-12)
    held = positives > 0
    assert np.allclose(
        ours.by_group["true_positive_rate"][held], frame.by_group["true_positive_rate"][held], atol=1e-12
    )
    assert ours.by_group["true_positive_rate"][~held].isna().all()
    assert (frame.by_group["true_positive_rate"][~held] == 0).all()


def _half_ratio(truth, chosen, people, method):
    """NaN when a ratio of true or of false positive rates is undefined."""
    swapped = metrics.equal_opportunity_ratio(1 - truth, chosen, method=method, **people)
    return swapped + metrics.equal_opportunity_ratio(truth, chosen, method=method, **people)


def compare_with_aif360(seed):
    theirs = pytest.importorskip("aif360.sklearn.metrics")
    truth, chosen, groups, weight = random_table(seed)
    privileged = groups == 0
    index = pd.Index(groups, name="g")
    y_true, y_pred = pd.Series(truth, index=index), pd.Series(chosen, index=index)
    people = {"sensitive_features": groups, "priv_group": 0, "sample_weight": weight}
    held = {"prot_attr": "g", "priv_group": 0, "sample_weight": weight}
    pairs = [("statistical_parity_difference", theirs.statistical_parity_difference)]
    if chosen[privileged].any():
        pairs.append(("disparate_impact", theirs.disparate_impact_ratio))
    sides = [truth[privileged], truth[~privileged]]
    if all(side.any() for side in sides):
        pairs.append(("equal_opportunity_difference", theirs.equal_opportunity_difference))
    if all(0 < side.mean() < 1 for side in sides):
        pairs += [
            ("average_odds_difference", theirs.average_odds_difference),
            ("average_abs_odds_difference", theirs.average_odds_error),
        ]
    if all(0 < chosen[side].mean() < 1 for side in (privileged, ~privileged)):
        pairs.append(("average_predictive_value_difference", theirs.average_predictive_value_difference))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, other in pairs:
            ours = getattr(signed, name)(truth, chosen, **people)
            assert ours == pytest.approx(other(y_true, y_pred, **held), abs=1e-12), (seed, name)


@pytest.mark.parametrize("seed", range(3))
def test_fairlearn_agrees(seed):
    compare_with_fairlearn(seed)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(3))
def test_aif360_agrees(seed):
    compare_with_aif360(seed)


@pytest.mark.slow
@settings(max_examples=N_TABLES, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_fairlearn_agrees_on_a_thousand_tables(seed):
    compare_with_fairlearn(seed)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@settings(max_examples=N_TABLES, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_aif360_agrees_on_a_thousand_tables(seed):
    compare_with_aif360(seed)


def test_where_fairlearn_takes_an_undefined_rate_for_zero():
    """A model that is always right: Fairlearn's true positive rate of a group without positives is 0."""
    groups = np.array(["a"] * 4 + ["b"] * 4 + ["c"] * 3)
    truth = np.array([1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    assert fairlearn.equalized_odds_difference(truth, truth, sensitive_features=groups) == 1
    assert metrics.equalized_odds_difference(truth, truth, sensitive_features=groups) == 0
