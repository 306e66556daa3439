"""With the rows as the population, the rates and measures are those of AIF360 and Fairlearn."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import justicia
from justicia import datasets

fairlearn_metrics = pytest.importorskip("fairlearn.metrics", exc_type=ImportError)


def aif360():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("aif360.sklearn.metrics", exc_type=ImportError)


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.slow) if name == "adult" else name for name in datasets.names()],
)
def audited(request):
    frame, description = datasets.load(request.param)
    audit = justicia.verify("tree", frame, population="empirical")
    decided = audit.fitted.predictor.predict(frame[list(audit.fitted.columns)])
    selected = pd.Series(decided).astype(str).eq(description.favorable).astype(int)
    return audit, frame, selected


def test_fairlearn_agrees(audited):
    audit, frame, selected = audited
    for grouping in audit.groupings:
        groups = frame[list(grouping.sensitive)].astype(str)
        keys = groups.agg("|".join, axis=1)
        by_group = fairlearn_metrics.MetricFrame(
            metrics=fairlearn_metrics.selection_rate, y_true=selected, y_pred=selected, sensitive_features=keys
        ).by_group
        for group in grouping.groups:
            if group.n:
                theirs = by_group["|".join(group.group.values())]
                assert float(group.selection_rate.lo) == pytest.approx(theirs, abs=1e-12)
        ratio = fairlearn_metrics.demographic_parity_ratio(selected, selected, sensitive_features=keys)
        difference = fairlearn_metrics.demographic_parity_difference(selected, selected, sensitive_features=keys)
        assert float(grouping.measures["disparate_impact"].verified.value) == pytest.approx(ratio, abs=1e-12)
        assert float(grouping.measures["statistical_parity_difference"].verified.value) == pytest.approx(
            difference, abs=1e-12
        )


def test_aif360_agrees(audited):
    metrics = aif360()
    audit, frame, selected = audited
    for grouping in audit.groupings:
        keys = frame[list(grouping.sensitive)].astype(str).agg("|".join, axis=1)
        y = pd.Series(selected.to_numpy(), index=pd.Index(keys, name="group"))
        best = "|".join(grouping.most_favored.group.values())
        worst = "|".join(grouping.least_favored.group.values())
        pair = y[np.isin(y.index, [best, worst])]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ratio = metrics.disparate_impact_ratio(pair, prot_attr="group", priv_group=best)
            difference = metrics.statistical_parity_difference(pair, prot_attr="group", priv_group=best)
        assert float(grouping.measures["disparate_impact"].verified.value) == pytest.approx(ratio, abs=1e-12)
        assert float(grouping.measures["statistical_parity_difference"].verified.value) == pytest.approx(
            -difference, abs=1e-12
        )


def test_label_measures_agree_with_fairlearn(audited):
    audit, frame, selected = audited
    truth = pd.Series(audit.roles.truth.positive.astype(int))
    names = {
        "equal_opportunity_difference": fairlearn_metrics.equal_opportunity_difference,
        "equalized_odds_difference": fairlearn_metrics.equalized_odds_difference,
        "equalized_odds_ratio": fairlearn_metrics.equalized_odds_ratio,
    }
    for grouping in audit.groupings:
        keys = frame[list(grouping.sensitive)].astype(str).agg("|".join, axis=1)
        by_group = fairlearn_metrics.MetricFrame(
            metrics={"tpr": fairlearn_metrics.true_positive_rate, "fpr": fairlearn_metrics.false_positive_rate},
            y_true=truth,
            y_pred=selected,
            sensitive_features=keys,
        ).by_group
        for group in grouping.groups:
            theirs = by_group.loc["|".join(group.group.values())]
            for kind, total in (("tpr", group.positives), ("fpr", group.negatives)):
                ours = getattr(group, kind)
                if total:
                    assert float(ours.lo) == pytest.approx(theirs[kind], abs=1e-12)
                else:
                    # Fairlearn gives 0 where there is nothing to count.
                    assert ours is None
        for name, metric in names.items():
            held = grouping.measures[name].verified
            if held.undefined is None:
                theirs = metric(truth, selected, sensitive_features=keys)
                assert float(held.value) == pytest.approx(theirs, abs=1e-12)
