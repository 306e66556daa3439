"""Columns of lists: passed over where they are not used, and refused with one message where they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.tables.plain import check_plain, is_plain

pytest.importorskip("pyarrow")

_SAYS = "column 'tags' holds values that are no single words or numbers, such as ['a', 'b'], which is a list"


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lists")
    frame = pd.DataFrame(
        {
            "sex": ["f", "m"] * 20,
            "x": np.arange(40) % 5,
            "hired": np.arange(40) % 3 // 2,
            "tags": [["a", "b"], None, ["c"], ["d"]] * 10,
        }
    )
    frame.to_parquet(folder / "people.parquet")
    (folder / "tags.rule").write_text("(tags = a or x >= 3)", encoding="utf-8")
    (folder / "x.rule").write_text("(x >= 3)", encoding="utf-8")
    return folder, DecisionTreeClassifier().fit(frame[["x"]], frame["hired"])


@pytest.mark.parametrize("stream", [False, True])
def test_passed_over_where_they_are_not_used(people, stream):
    folder, model = people
    audit = justicia.verify(model, folder / "people.parquet", sensitive_features="sex", stream=stream)
    assert audit.roles.truth.name == "hired"
    assert sum(group.n for group in audit.groupings[0].groups) == 40


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("tags.rule", {"sensitive_features": "sex", "favorable": "yes"}),
        ("x.rule", {"sensitive_features": "tags", "favorable": "yes"}),
        ("x.rule", {"sensitive_features": "sex", "label": "tags"}),
        ("x.rule", {"sensitive_features": "sex", "given": "tags"}),
        ("x.rule", {"sensitive_features": "sex", "weight": "tags"}),
    ],
)
def test_one_message_wherever_they_are_used(people, model, options, stream):
    folder, _ = people
    with pytest.raises(justicia.InputError) as refused:
        justicia.verify(folder / model, folder / "people.parquet", stream=stream, **options)
    assert _SAYS in str(refused.value)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"decision": "tags", "sensitive_features": "sex"},
        {"decision": "hired", "sensitive_features": "tags"},
        {"decision": "hired", "sensitive_features": "sex", "label": "tags"},
    ],
)
def test_decisions_say_the_same(people, options, stream):
    with pytest.raises(justicia.InputError) as refused:
        justicia.audit_decisions(people[0] / "people.parquet", stream=stream, **options)
    assert _SAYS in str(refused.value)


def test_models_that_are_trained_here_say_the_same(people):
    with pytest.raises(justicia.InputError) as refused:
        justicia.verify("tree", people[0] / "people.parquet", sensitive_features="sex", label="hired")
    assert _SAYS in str(refused.value)


@pytest.mark.parametrize("value", [["a"], {"a": 1}, {"a"}, ("a", "b"), np.array([1, 2])])
def test_kinds_of_values(value):
    column = pd.Series(["a", 1, None, value], dtype=object)
    assert not is_plain(column)
    with pytest.raises(justicia.InputError, match="column 'c' holds values that are no single words or numbers"):
        check_plain(column.to_frame("c"), [None, "absent", "c"])


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, 2.5, None]),
        pd.Series(["a", None, 3, True], dtype=object),
        pd.Series(["a", "b"], dtype="category"),
        pd.Series(["a", None], dtype="string"),
        pd.Series(pd.to_datetime(["2024-01-01", None])),
        pd.Series([], dtype=object),
    ],
)
def test_single_values_are_plain(column):
    assert is_plain(column)
