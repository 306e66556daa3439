"""Tables and replicates on a cluster give what one process gives."""

from __future__ import annotations

import pickle
import warnings

import joblib
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import justicia
from tests.test_streaming import fitted, people

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")


def partitioned(table, n):
    from dask import dataframe

    return dataframe.from_pandas(table, npartitions=n, sort=False)


@pytest.fixture(scope="module")
def table():
    return people()


@pytest.fixture
def plain(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")


@pytest.mark.parametrize("estimator", [DecisionTreeClassifier(max_depth=4), LogisticRegression(max_iter=2000)])
def test_partitions_are_the_table(table, estimator, plain):
    model = fitted(estimator, table)
    table = table.assign(race=table["race"].astype("category"), sex=table["sex"].mask(table.index % 17 == 0))
    options = {"sensitive_features": [["race", "sex"]], "missing": "drop", "favorable": "yes"}
    whole = justicia.verify(model, table, **options)
    held = justicia.verify(model, partitioned(table, 7), **options)
    assert held.table.repeats is not None
    assert held.to_json() == whole.to_json()
    assert justicia.verify(model, partitioned(table, 3), stream=False, **options).to_json() == whole.to_json()


def test_decisions_of_partitions(table, plain):
    table = table.assign(hired=(table["pay"] > 0).astype(int))
    options = {"decision": "hired", "sensitive_features": ["race", "sex"], "tests": True}
    whole = justicia.audit_decisions(table, **options)
    assert justicia.audit_decisions(partitioned(table, 4), **options).to_json() == whole.to_json()


def test_audits_can_be_sent(table):
    audit = justicia.verify(fitted(DecisionTreeClassifier(max_depth=3), table), table, sensitive_features=["sex"])
    again = pickle.loads(pickle.dumps(audit))
    assert again.to_dict()["groupings"] == audit.to_dict()["groupings"]
    pd.testing.assert_frame_equal(
        again.population.sample(audit.most_favored, 5, 0), audit.population.sample(audit.most_favored, 5, 0)
    )


def test_replicates_do_not_depend_on_who_makes_them(table):
    model = fitted(DecisionTreeClassifier(max_depth=3), table)
    options = {"sensitive_features": ["sex"], "bootstrap": 40, "seed": 3}
    alone = justicia.verify(model, table, **options)
    with joblib.parallel_config(backend="threading", n_jobs=3):
        several = justicia.verify(model, table, **options)
    assert several.groupings[0].uncertainty == alone.groupings[0].uncertainty


@pytest.mark.slow
def test_two_workers(table, plain):
    model = fitted(DecisionTreeClassifier(max_depth=4, random_state=0), table)
    options = {"sensitive_features": [["race", "sex"]], "bootstrap": 40}
    whole = justicia.verify(model, table, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        with cluster, distributed.Client(cluster):
            held = justicia.verify(model, partitioned(table, 5), sensitive_features=[["race", "sex"]])
            with joblib.parallel_config(backend="dask"):
                drawn = justicia.verify(model, table, **options)
                jobs = [
                    joblib.delayed(justicia.verify)(model, table, sensitive_features=[name]) for name in ("race", "sex")
                ]
                both = joblib.Parallel()(jobs)
    assert held.to_json() == justicia.verify(model, table, sensitive_features=[["race", "sex"]]).to_json()
    assert drawn.to_json() == whole.to_json()
    assert both[1].to_json() == justicia.verify(model, table, sensitive_features=["sex"]).to_json()
