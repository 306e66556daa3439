from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from justicia.collecting import Announcements
from justicia.errors import GroupingError, LabelError, TableError
from justicia.tables import Table, assign_roles


def roles(frame, classes=("no", "yes"), model_columns=("x",), sensitive=None, label=None, favorable=None, given=None):
    return assign_roles(
        Table(frame),
        sensitive=sensitive,
        label=label,
        favorable=favorable,
        classes=list(classes),
        model_columns=list(model_columns),
        classify=lambda: np.array(given),
    )


def frame(**more):
    return pd.DataFrame({"x": [1.0, 2.0, 3.0], "Gender": list("fmf"), "race": list("abb"), **more})


def test_sensitive_columns_are_found_by_whole_name():
    found = roles(frame(sexual_history=[1, 2, 3], racecourse=[1, 2, 3], **{"Ethnic group": list("pqp")}))
    assert found.groupings == (
        ("Gender", "race", "Ethnic group"),
        ("Gender",),
        ("race",),
        ("Ethnic group",),
    )
    with pytest.raises(GroupingError, match=r"--sensitive.*the columns are x, y"):
        roles(pd.DataFrame({"x": [1], "y": [2]}))


def test_label_is_the_one_column_that_holds_the_classes():
    with Announcements() as said:
        found = roles(frame(outcome=["yes", "no", "no"]))
    assert found.truth.name == "outcome"
    assert found.truth.positive.tolist() == [True, False, False]
    assert found.favorable == ("yes",)
    assert any("label=..." in text for text in said.announcements)
    assert any("second class" in text for text in said.announcements)


def test_two_possible_labels_are_not_guessed():
    with Announcements() as said:
        found = roles(frame(a=["yes", "no", "no"], b=["no", "no", "yes"]))
    assert found.truth is None
    assert any("a, b could all be it" in text for text in said.announcements)


def test_label_written_differently_proposes_the_match():
    with pytest.raises(LabelError, match=r"holds '>50K\.', .*did you mean >50K\?"):
        roles(frame(income=[">50K.", "<=50K.", "<=50K."]), classes=("<=50K", ">50K"), label="income")


@pytest.mark.parametrize(("given", "one"), [([1, 0, 0], ">50K"), ([0, 1, 1], "<=50K")])
def test_text_label_beside_a_model_of_zero_and_one_is_read_by_its_association(given, one):
    table = frame(income=[">50K", "<=50K", "<=50K"])
    with Announcements() as said:
        found = roles(table, classes=(0, 1), label="income", favorable=[">50K"], given=given)
    assert found.favorable == ((1,) if one == ">50K" else (0,))
    assert found.truth.positive.tolist() == [True, False, False]
    assert any("association with predict" in text for text in said.announcements)


def test_no_association_is_no_evidence():
    table = pd.DataFrame({"sex": list("fmfm"), "y": ["a", "a", "b", "b"]})
    for given in ([0, 1, 0, 1], [1, 1, 1, 1]):
        with pytest.raises(LabelError, match="too weak to tell"):
            roles(table, classes=(0, 1), label="y", given=given)


def test_a_label_with_a_dot_is_proposed_even_when_it_was_not_named():
    with pytest.raises(LabelError, match=r"did you mean >50K\?"):
        roles(frame(income=[">50K.", "<=50K.", "<=50K."]), classes=("<=50K", ">50K"))


def test_no_favorable_outcome_is_refused():
    with pytest.raises(LabelError, match="no favorable outcome is named"):
        roles(frame(), favorable=[])


def test_classes_that_differ_by_blanks_are_told_apart():
    assert roles(frame(), classes=("yes", " yes"), favorable=[" yes"]).favorable == (" yes",)
    assert roles(frame(), classes=("yes", " yes"), favorable=["yes"]).favorable == ("yes",)


@pytest.mark.parametrize(
    ("classes", "favorable", "chosen"),
    [((0, 1), True, (1,)), ((False, True), 1, (True,)), ((0, 1), "true", (1,)), ((0,), 1, ()), ((0, 1), 1.0, (1,))],
)
def test_other_ways_to_say_zero_and_one(classes, favorable, chosen):
    assert roles(frame(), classes=classes, favorable=[favorable]).favorable == chosen


def test_a_boolean_label_beside_a_model_of_zero_and_one():
    found = roles(frame(y=[True, False, True]), classes=(0, 1), label="y")
    assert found.truth.positive.tolist() == [True, False, True]


def test_missing_labels_are_counted():
    found = roles(frame(y=["yes", None, "no"]), label="y")
    assert found.truth.known.tolist() == [True, False, True]


def test_unknown_favorable_outcome_and_label_column():
    with pytest.raises(LabelError, match="did you mean yes"):
        roles(frame(), favorable=["Yes"])
    with pytest.raises(TableError, match="did you mean outcome"):
        roles(frame(outcome=["yes", "no", "no"]), label="outcom")


def test_several_favorable_outcomes_and_commas_inside_one():
    found = roles(frame(), classes=("a", "b", "c"), favorable=["a,c"])
    assert found.favorable == ("a", "c")
    found = roles(frame(), classes=("a, b", "c"), favorable=["a, b"])
    assert found.favorable == ("a, b",)


@pytest.mark.parametrize("kind", ["int64", "float64", "bool", "object", "category"])
def test_types_of_a_zero_one_label(kind):
    values = pd.Series([1, 0, 1]).astype(kind)
    classes = [False, True] if kind == "bool" else [0, 1]
    found = roles(frame(y=values), classes=classes)
    assert found.truth.positive.tolist() == [True, False, True]
    assert found.favorable == (classes[1],)


def test_numpy_classes():
    assert roles(frame(), classes=np.array([0, 1]).tolist()).favorable == (1,)


@pytest.mark.parametrize(
    ("classes", "values"),
    [
        ((False, True), [1, 0, 0]),
        ((False, True), ["1", "0", "0"]),
        ((False, True), ["1.0", "0.0", "0.0"]),
        ((False, True), ["TRUE", "FALSE", "FALSE"]),
        ((False, True), [1.0, 0.0, None]),
        ((0, 1), [True, False, False]),
        ((0, 1), ["true", "false", "false"]),
        (("0", "1"), [True, False, False]),
        (("no", "yes"), ["Yes", "No", "No"]),
        ((0, 1), ["yes", "no", "no"]),
        ((0, 1), ["Y", "N", "N"]),
        ((False, True), ["YES", "NO", "NO"]),
        (("no", "yes"), [1, 0, 0]),
        (("N", "Y"), ["yes", "no", "no"]),
    ],
)
def test_a_label_in_other_words_for_yes_and_no_is_found_and_announced(classes, values):
    table = frame(hired=values, other=[1, 1, 1], more=["a", "b", "a"])
    with Announcements() as said:
        found = roles(table, classes=classes, given=[classes[1], classes[0], classes[0]])
    assert found.truth.name == "hired"
    assert found.truth.positive.tolist() == [True, False, False]
    assert found.favorable == (classes[1],)
    (text,) = [text for text in said.announcements if text.startswith("label hired is found")]
    assert "override with label=" in text


def test_yes_is_not_taken_for_a_class_that_predict_goes_against():
    table = frame(defaulted=["yes", "no", "no"])
    for given in ([0, 1, 1], [1, 1, 1]):
        with Announcements() as said:
            assert roles(table, classes=(0, 1), given=given).truth is None
        assert any("pass label=" in text for text in said.announcements)
    # Named, the words hold unless predict speaks against them.
    assert roles(table, classes=(0, 1), given=[1, 1, 1], label="defaulted").truth.positive.tolist() == [1, 0, 0]
    with Announcements() as said:
        assert roles(table, classes=(0, 1), given=[0, 1, 1], label="defaulted").truth.positive.tolist() == [0, 1, 1]
    assert any("yes is taken as 0 and no is taken as 1" in text for text in said.warnings)


def test_two_columns_of_yes_and_no_are_not_guessed_but_named():
    with Announcements() as said:
        assert roles(frame(a=["yes", "no", "no"], b=[1, 0, 1]), classes=(False, True)).truth is None
    assert any("(a, b could all be it)" in text and "label=" in text for text in said.announcements)


def test_columns_that_may_be_the_label_are_named_where_none_is_found():
    with Announcements() as said:
        assert roles(frame(a=["good", "bad", "bad"], b=[1, 2, 3]), classes=(0, 1)).truth is None
    assert any("a has two values" in text and "label=" in text for text in said.announcements)


def test_mixed_words_and_one_value_alone_are_no_label():
    for values in (["yes", 0, 0], ["yes", "yes", "yes"], ["yes", "no", "unknown"]):
        assert roles(frame(a=values), classes=(0, 1)).truth is None
