"""Cells of a population that is fitted before the model is known."""

from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import pytest

from justicia.errors import TableError
from justicia.population.fine_cells import fine_domain


def feature(values, most=512, **options):
    domain = fine_domain(pd.DataFrame({"x": values}), ["x"], most, **options)
    return domain.features[0] if domain.features else None


def test_few_numbers_have_a_cell_each():
    held = feature([3.5, 1.0, 1.0, -2.0])
    assert held.labels == ("-2", "1", "3.5")
    assert held.ranges.tolist() == [[-2, -2], [1, 1], [3.5, 3.5]]
    assert not held.integers
    assert held.missing is None
    assert held.cells_of(pd.Series([1.0, 3.5, -2.0])).tolist() == [1, 2, 0]


def test_many_numbers_share_cells_of_similar_mass_and_a_common_one_stays_alone():
    values = [0] * 700 + list(range(1, 301))
    held = feature(values, most=10)
    sizes = np.bincount(held.cells_of(pd.Series(values)))
    assert held.labels[0] == "0"
    assert sizes[0] == 700
    assert sizes[1:].max() <= 101
    assert len(held) <= 10
    assert held.integers
    # No number lies in two cells, none is lost.
    assert (held.ranges[1:, 0] > held.ranges[:-1, 1]).all()
    assert held.ranges[0, 0] == 0
    assert held.ranges[-1, 1] == 300


def test_listed_numbers_are_those_of_the_table():
    held = feature([1, 2, 5, 9], most=2, list_numbers=True)
    assert held.members == ((1.0, 2.0), (5.0, 9.0))


def test_empty_cells_are_a_cell_of_numbers_and_words():
    numbers = feature([1.0, np.nan, 2.0])
    assert numbers.labels == ("1", "2", "(missing)")
    assert numbers.cells_of(pd.Series([np.nan, 2.0])).tolist() == [2, 1]
    words = feature(["a", None, "b"])
    assert words.labels == ("a", "b", "(unseen)", "(missing)")
    assert words.cells_of(pd.Series(["b", None, "q"], dtype=object)).tolist() == [1, 3, 2]


def test_rare_words_share_a_cell():
    held = feature(["a"] * 50 + ["b"] * 30 + ["c", "d", "e"], most=3)
    assert held.labels == ("a", "b", "(other values)", "(unseen)")
    assert held.cells_of(pd.Series(["d", "a", "e"])).tolist() == [2, 0, 2]


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        ([True, False, True], {False: 0, True: 1}),
        (pd.Series([True, None, False], dtype="boolean"), {False: 0, True: 1}),
        (pd.Series(["b", "a", "b"], dtype="category"), {"a": 0, "b": 1}),
        (pd.Series([2**60, 2**60 + 1, 5]), {5: 2, 2**60: 0, 2**60 + 1: 1}),
    ],
)
def test_truth_values_categories_and_numbers_beyond_floats_are_words(values, cells):
    held = feature(values)
    assert held.cells == cells


@pytest.mark.parametrize(
    "values", [pd.Series([1, None, 3], dtype="Int64"), np.array([1, 2], dtype=np.int8), np.array([0.5], np.float32)]
)
def test_number_types(values):
    assert feature(values).numeric


def test_zeros_are_one_number():
    assert feature([0.0, -0.0, 1.0]).labels == ("0", "1")


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([f"person {i}" for i in range(30)], "tells people apart"),
        ([[1], [2]], "no words, numbers or truth values"),
        (pd.date_range("2020-01-01", periods=3), "no words, numbers or truth values"),
        ([np.nan, np.nan], "holds no value"),
    ],
)
def test_columns_that_are_no_features_are_left_out_and_said_so(values, says, caplog):
    with caplog.at_level(logging.WARNING, logger="justicia"):
        assert feature(values, most=10) is None
    assert says in caplog.text


def test_infinite_numbers_are_refused():
    with pytest.raises(TableError, match="column 'x' holds infinite numbers"):
        feature([1.0, np.inf])
