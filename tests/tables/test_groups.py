from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from justicia.errors import GroupingError, TableError
from justicia.tables import check_bins, group_rows, rows_with_groups

KINDS = {
    "int": lambda v: pd.Series(v),
    "float": lambda v: pd.Series(v, dtype=float),
    "object": lambda v: pd.Series(v, dtype=object),
    "category": lambda v: pd.Series(v).astype("category"),
    "Int64": lambda v: pd.Series(v, dtype="Int64"),
    "text": lambda v: pd.Series([str(x) for x in v]),
    "string": lambda v: pd.Series([str(x) for x in v], dtype="string"),
    "text object": lambda v: pd.Series([str(x) for x in v], dtype=object),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_type_of_a_column_does_not_matter(kind):
    values = [2, 10, 2, 1, 10, 10]
    grouping = group_rows(pd.DataFrame({"g": KINDS[kind](values), "h": list("abaabb")}), ["g", "h"])
    assert grouping.groups == (("1", "a"), ("2", "a"), ("10", "b"))
    assert grouping.codes.tolist() == [1, 2, 1, 0, 2, 2]
    assert grouping.empty == (("1", "b"), ("2", "b"), ("10", "a"))


def test_booleans_as_bool_object_and_text():
    for column in (pd.Series([True, False]), pd.Series([True, False], dtype=object), pd.Series(["True", "False"])):
        assert group_rows(pd.DataFrame({"g": column}), ["g"]).groups == (("False",), ("True",))


def test_unused_categories_are_empty_groups():
    column = pd.Categorical(["a", "b"], categories=["a", "b", "c"])
    grouping = group_rows(pd.DataFrame({"g": column}), ["g"])
    assert grouping.groups == (("a",), ("b",))
    assert grouping.empty == (("c",),)


def test_missing_values_name_column_and_count():
    frame = pd.DataFrame({"race": ["a", None, "b", np.nan]})
    with pytest.raises(GroupingError, match="'race' has no value in 2 rows of 4"):
        group_rows(frame, ["race"])


def test_numeric_columns_with_many_values_are_refused():
    frame = pd.DataFrame({"age": range(11), "few": [0, 1] * 5 + [1]})
    with pytest.raises(GroupingError, match="'age' is numeric with 11 distinct values"):
        group_rows(frame, ["age"])
    assert len(group_rows(frame, ["few"]).groups) == 2


def test_unknown_and_repeated_columns():
    frame = pd.DataFrame({"race": ["a"]})
    with pytest.raises(TableError, match="did you mean race"):
        group_rows(frame, ["rase"])
    with pytest.raises(GroupingError, match="twice"):
        group_rows(frame, ["race", "race"])


def test_many_columns_do_not_overflow():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"c{i}": rng.integers(0, 9, 500).astype(str) for i in range(30)})
    grouping = group_rows(frame, list(frame.columns))
    assert len(grouping.groups) == 500
    assert grouping.empty == ()
    rows = list(map(tuple, frame.to_numpy().tolist()))
    assert [grouping.groups[code] for code in grouping.codes] == rows


def test_bins_say_which_side_is_closed():
    frame = pd.DataFrame({"age": [18, 25, 26, 40, 41, 90], "sex": list("fmfmfm")})
    grouping = group_rows(frame, ["age"], bins={"age": [25, 40, 60]})
    assert grouping.groups == (("<= 25",), ("(25, 40]",), ("(40, 60]",), ("> 60",))
    assert grouping.codes.tolist() == [0, 0, 1, 1, 2, 3]
    assert group_rows(frame[:2], ["age"], bins={"age": [25, 40, 60]}).empty == (("(25, 40]",), ("(40, 60]",), ("> 60",))


def test_bins_of_words_are_refused():
    with pytest.raises(GroupingError, match="holds old, which is not a number"):
        group_rows(pd.DataFrame({"age": ["old", "3"]}), ["age"], bins={"age": [1]})


@pytest.mark.parametrize(
    ("bins", "says"),
    [
        ({"pay": [1]}, "not among the sensitive columns"),
        ({"age": ["x"]}, "not a list of numbers"),
        ({"age": [2, 1]}, "not a list of increasing numbers"),
        ({"age": []}, "not a list of increasing numbers"),
        ({"age": ["nan"]}, "not a list of increasing numbers"),
    ],
)
def test_bins_are_checked(bins, says):
    with pytest.raises(GroupingError, match=says):
        check_bins(bins, [["age"]])
    assert check_bins({"age": ["25", 40]}, [["age"]]) == {"age": [25.0, 40.0]}


def test_missing_values_as_a_group():
    frame = pd.DataFrame({"race": ["a", None, "b", np.nan], "age": [1, 50, np.nan, 30]})
    grouping = group_rows(frame, ["race"], missing="group")
    assert grouping.groups == (("a",), ("b",), ("(missing)",))
    assert grouping.codes.tolist() == [0, 2, 1, 2]
    grouping = group_rows(frame, ["age"], missing="group", bins={"age": [40]})
    assert [grouping.groups[code][0] for code in grouping.codes] == ["<= 40", "> 40", "(missing)", "<= 40"]
    frame["race"] = ["(missing)", None, "b", "b"]
    with pytest.raises(GroupingError, match="both empty cells and the word"):
        group_rows(frame, ["race"], missing="group")


def test_rows_without_a_value_are_counted_by_column():
    frame = pd.DataFrame({"race": ["a", None, "b", None], "sex": ["f", None, None, "m"]})
    kept, dropped = rows_with_groups(frame, [["race", "sex"], ["race"]])
    assert kept.tolist() == [True, False, False, False]
    assert dropped == {"no value in sensitive column race": 2, "no value in sensitive column sex": 1}


def test_values_that_differ_in_case_are_warned_of(caplog):
    frame = pd.DataFrame({"sex": ["M", "m", "F", "F"], "race": ["A b", "a  B", "c", "d"]})
    grouping = group_rows(frame, ["sex", "race"])
    assert len(grouping.groups) == 4
    assert [record.getMessage() for record in caplog.records] == [
        "sensitive column 'sex' holds 'M', 'm', which are different groups: write them alike if they mean the same",
        "sensitive column 'race' holds 'A b', 'a  B', which are different groups: write them alike if they mean the same",  # noqa: E501
    ]


def test_values_that_differ_in_more_than_case_are_not(caplog):
    group_rows(pd.DataFrame({"sex": ["Male", "Female", "M", "F"]}), ["sex"])
    assert not caplog.records
