"""Which cells of a model people in a cell of a population may be in, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from justicia.errors import InputError
from justicia.population.domain import Feature
from justicia.population.reach import known_values, reach


def numbers(ranges, **options):
    held = np.array(ranges, dtype=float)
    labels = tuple(map(str, range(len(held) + ("missing" in options))))
    return Feature("x", labels, (0.0,) * len(labels), held[:-1, 1], by_value=True, ranges=held, **options)


def cuts(*edges, **options):
    labels = tuple(map(str, range(len(edges) + 1 + ("missing" in options))))
    return Feature("x", labels, (0.0,) * len(labels), np.array(edges, dtype=float), **options)


def words(cells, **options):
    n = 1 + max([*cells.values(), *(held for held in options.values())])
    return Feature("x", tuple(map(str, range(n))), (None,) * n, cells=cells, **options)


def found(fine, model, possible=None):
    possible = np.ones(len(fine), dtype=bool) if possible is None else np.array(possible)
    return [np.flatnonzero(row).tolist() for row in reach(fine, model, possible)]


def test_intervals_against_thresholds():
    # Thresholds 2 and 5: up to 2, above 2 up to 5, above 5.
    fine = numbers([(0, 1), (2, 2), (2.5, 5), (5.5, 9), (10, 10)])
    assert found(fine, cuts(2, 5)) == [[0], [0], [1], [2], [2]]
    assert found(numbers([(0, 2.1), (3, 20)]), cuts(2, 5)) == [[0, 1], [1, 2]]
    assert found(numbers([(-9, 99)]), cuts(2, 5)) == [[0, 1, 2]]


def test_half_open_intervals():
    fine = Feature("x", ("a", "b", "c"), (0.0,) * 3, np.array([2.0, 4.0]), by_value=True)
    assert found(fine, cuts(2, 4)) == [[0], [1], [2]]
    assert found(fine, cuts(3)) == [[0], [0, 1], [1]]


def test_values_of_a_score():
    # The model knows 1 and 2, which are alike, and 5.
    model = numbers([(1, 2), (5, 5)])
    assert found(numbers([(1, 1), (2, 5)]), model) == [[0], [0, 1]]
    with pytest.raises(InputError, match="column 'x' holds 3 in the population, and nothing is known"):
        found(numbers([(3, 3)]), model)


def test_a_score_that_rises_and_falls_takes_listed_numbers_only():
    model = numbers([(1, 2), (5, 5)], members=((1.0, 2.0), (5.0,)))
    assert found(numbers([(2, 5)], members=((2.0, 5.0),)), model) == [[0, 1]]
    with pytest.raises(InputError, match="nothing is known of it between 2 and 5"):
        found(numbers([(2, 5)]), model)
    with pytest.raises(InputError, match=r"holds 1\.5 in the population"):
        found(numbers([(1.5, 1.5)]), model)


def test_words():
    model = words({"a": 0, "b": 1}, unseen=2)
    assert found(words({"a": 0, "b": 0, "c": 1}, unseen=2), model) == [[0, 1], [2], [2]]
    # Of values that no cell holds, all that the model knows besides, and those that it does not know.
    assert found(words({"a": 0}, unseen=1), model) == [[0], [1, 2]]
    with pytest.raises(InputError, match="holds c in the population, and the model refuses such values"):
        found(words({"a": 0, "c": 1}), words({"a": 0, "b": 1}))


def test_numbers_for_a_model_that_takes_categories():
    model = words({1: 0, 2: 1, 7: 2}, unseen=3)
    assert found(numbers([(1, 1), (2, 6), (7, 7), (8, 8)]), model) == [[0], [1, 3], [2], [3]]
    strict = words({1: 0, 2: 1, 7: 2})
    assert found(numbers([(1, 2), (7, 7)]), strict) == [[0, 1], [2]]
    with pytest.raises(InputError, match="between 3 and 6"):
        found(numbers([(3, 6)]), strict)


def test_words_and_truth_values_for_a_model_that_takes_numbers():
    assert found(words({False: 0, True: 1}), cuts(0.5)) == [[0], [1]]
    assert found(words({"3": 0, "0": 1}), cuts(0.5)) == [[1], [0]]
    for word in ("many", "nan", "inf"):
        with pytest.raises(InputError, match="the model takes it as a number"):
            found(words({word: 0}), cuts(0.5))


def test_missing_values():
    fine = numbers([(1, 1)], missing=1)
    assert found(fine, cuts(0.5, missing=2)) == [[1], [2]]
    with pytest.raises(InputError, match=r"holds \(missing\) in the population"):
        found(fine, cuts(0.5))


def test_cells_without_people_matter_nowhere():
    fine = numbers([(-5, 3), (4, 4)], missing=2)
    assert found(fine, cuts(0), [False, True, False]) == [[0], [1], [0]]


def test_values_that_an_encoder_has_to_look_at():
    assert known_values(numbers([(1, 2), (5, 5)])) == [1, 2, 5]
    assert known_values(numbers([(1, 4)], members=((1.0, 3.0, 4.0),))) == [1, 3, 4]
    assert known_values(words({"a": 0, 3: 1})) == ["a", 3]
