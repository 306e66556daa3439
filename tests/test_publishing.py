"""Suppression: an attacker with linear algebra, and with every table that agrees, learns no small count."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest

import justicia
from justicia.errors import InputError
from justicia.publishing import _of_several, suppressed_groups
from tests.decision_cases import decided


def shown_and_hidden(codes, kinds, least):
    found = suppressed_groups(codes, kinds, least)
    shown = [
        {g for g in range(int(one.max()) + 1) if (one == g).any() and g not in hidden}
        for one, hidden in zip(codes, found, strict=True)
    ]
    return found, shown


def test_one_small_group_takes_the_next_smallest_with_it():
    codes = [np.repeat([0, 1, 2], [60, 35, 5])]
    assert suppressed_groups(codes, [np.ones(100, dtype=bool)], 10) == [frozenset({1, 2})]
    assert suppressed_groups(codes, [np.ones(100, dtype=bool)], 5) == [frozenset()]


def test_small_counts_of_selected_and_of_rejected_people_hide_a_group():
    codes = [np.repeat([0, 1, 2], [40, 40, 40])]
    selected = np.concatenate([np.arange(40) < 3, np.arange(40) < 20, np.arange(40) < 20])
    everybody = np.ones(120, dtype=bool)
    for kinds in ([everybody, selected, ~selected], [everybody, ~selected, selected]):
        (hidden,) = suppressed_groups(codes, kinds, 10)
        assert 0 in hidden
        assert len(hidden) == 2
    nobody = selected.copy()
    nobody[:40] = False
    assert suppressed_groups(codes, [everybody, nobody, ~nobody], 10) == [frozenset()]  # 0 is no small number


def possible(total, shown, atoms):
    """All tables of counts of atoms that agree with what is shown; small ones only."""
    for counts in itertools.product(range(total + 1), repeat=len(atoms) - 1):
        last = total - sum(counts)
        if last < 0:
            continue
        table = (*counts, last)
        if all(sum(table[i] for i in members) == number for members, number in shown):
            yield table


def test_no_table_of_counts_that_agrees_tells_a_small_count():
    # Two columns of two values; 3, 5, 6 and 4 people: rows and columns are groupings of their own.
    cells = {(0, 0): 3, (0, 1): 5, (1, 0): 6, (1, 1): 4}
    first = np.repeat([key[0] for key in cells], list(cells.values()))
    second = np.repeat([key[1] for key in cells], list(cells.values()))
    codes = [first * 2 + second, first, second]
    found, shown = shown_and_hidden(codes, [np.ones(18, dtype=bool)], 4)
    assert 0 in found[0]
    atoms = list(cells)
    members = (
        {(0, g): [g] for g in range(4)}
        | {(1, g): [i for i, key in enumerate(atoms) if key[0] == g] for g in range(2)}
        | {(2, g): [i for i, key in enumerate(atoms) if key[1] == g] for g in range(2)}
    )
    numbers = [
        (members[place, group], sum(list(cells.values())[i] for i in members[place, group]))
        for place, groups in enumerate(shown)
        for group in groups
    ]
    values = {table[0] for table in possible(18, numbers, atoms)}
    assert max(values) - min(values) >= 4


def attack(codes, layer, found):
    """Groups whose count follows from those shown, by least squares over the finest cells."""
    patterns = np.unique(np.stack(codes, axis=1), axis=0)
    rows, right = [np.ones(len(patterns))], [layer.sum()]
    hidden = []
    for place, (one, groups) in enumerate(zip(codes, found, strict=True)):
        for group in range(int(one.max()) + 1):
            row = (patterns[:, place] == group).astype(float)
            count = int(layer[one == group].sum())
            if group in groups:
                hidden.append((row, count))
            else:
                rows.append(row)
                right.append(count)
    matrix = np.array(rows)
    told = []
    for row, count in hidden:
        solution = np.linalg.lstsq(matrix.T, row, rcond=None)[0]
        if np.allclose(matrix.T @ solution, row):
            told.append(count)
            assert solution @ right == pytest.approx(count)
    return told


@pytest.mark.parametrize("seed", range(12))
def test_no_sum_of_what_is_shown_is_a_small_count(seed):
    rng = np.random.default_rng(seed)
    n = 150
    race, sex = rng.choice(4, n, p=[0.6, 0.25, 0.1, 0.05]), rng.choice(2, n)
    selected = rng.random(n) < 0.4
    codes = [np.unique(race * 2 + sex, return_inverse=True)[1], race, sex]
    kinds = [np.ones(n, dtype=bool), selected, ~selected]
    found = suppressed_groups(codes, kinds, 10)
    for place, one in enumerate(codes):
        for group in range(int(one.max()) + 1):
            counts = [int(kind[one == group].sum()) for kind in kinds]
            if any(0 < count < 10 for count in counts):
                assert group in found[place]
    for kind in kinds:
        assert not [count for count in attack(codes, kind, found) if 0 < count < 10]


@pytest.mark.parametrize("seed", range(12))
def test_one_grouping_is_as_linear_programs_have_it(seed):
    rng = np.random.default_rng(seed)
    for _ in range(8):
        n = int(rng.integers(1, 60))
        codes = np.sort(rng.choice(5, n, p=rng.dirichlet(np.full(5, 0.7)))) - (seed % 4 == 0)
        if codes.max() < 0:
            continue
        selected = rng.random(n) < rng.random()
        repeats = rng.integers(1, 4, n) if seed % 3 == 0 else None
        kinds, least = [np.ones(n, dtype=bool), selected, ~selected], int(rng.integers(1, 9))
        assert suppressed_groups([codes], kinds, least, repeats) == _of_several([codes], kinds, least, repeats)


def test_many_groups_are_suppressed_or_refused():
    codes = np.repeat(np.arange(30_000), 2)
    codes[:40] = 0
    everybody = np.ones(len(codes), dtype=bool)
    (hidden,) = suppressed_groups([codes], [everybody], 3)
    # 19 groups are without people; 29,980 of two hide each other; one of 40 people is shown.
    assert hidden == frozenset(range(20, 30_000))
    with pytest.raises(InputError, match=r"60,000 groups of 2 groupings are too many .* name one grouping"):
        suppressed_groups([codes, codes], [everybody], 3)


def numbers_of(value):
    """All numbers in a JSON value."""
    if isinstance(value, dict):
        return [number for key, held in value.items() if key not in ("created",) for number in numbers_of(held)]
    if isinstance(value, list):
        return [number for held in value for number in numbers_of(held)]
    return [value] if isinstance(value, (int, float)) and not isinstance(value, bool) else []


def test_no_output_holds_the_numbers_of_a_suppressed_group():
    table = decided({"a": (37, 61), "b": (23, 47), "c": (7, 13), "d": (53, 101)}, names=("race",))
    options = {"decision": "hired", "sensitive_features": "race", "tests": True}
    audit = justicia.audit_decisions(table, **options, suppress_below=10, require="sample.disparate_impact>=0.5")
    hidden = {group.group["race"] for group in audit.groupings[0].left_out}
    assert hidden == {"c", "b"}
    held = json.loads(audit.to_json())
    del held["command"], held["tool"]
    told = numbers_of(held)
    for number in (13, 7, 6, 7 / 13, 47, 23, 23 / 47):
        assert not any(abs(number - one) < 1e-9 for one in told)
    text = audit.to_text()
    for number in (f"{7 / 13:.4f}", f"{23 / 47:.4f}", " 13 ", " 47 "):
        assert number not in text
    assert "suppressed" in text
    frame = audit.by_group
    assert frame.loc[["b", "c"]].drop(columns="note").isna().all(axis=None)
    shown = {one["group"]["race"]: one["n"] for one in held["groupings"][0]["groups"]}
    assert shown == {"a": 61, "d": 101, "b": None, "c": None}
    # Of the groups that are shown alone.
    assert held["groupings"][0]["measures"]["disparate_impact"]["sample"]["value"] == pytest.approx(
        53 / 101 / (37 / 61)
    )


def test_thresholds_do_not_tell_those_between_them():
    scores = np.concatenate([np.repeat(0.1, 40), np.repeat(0.4, 4), np.repeat(0.9, 40)])
    table = pd.DataFrame({"sex": ["f"] * 84 + ["m"] * 100, "s": [*scores, *np.tile([0.1, 0.9], 50)]})
    one = justicia.audit_decisions(table, score="s", threshold=".3", suppress_below=10)
    assert not one.groupings[0].left_out
    two = justicia.audit_decisions(table, score="s", threshold=".3,.5", suppress_below=10)
    assert [len(grouping.left_out) for grouping in two.groupings] == [2, 2]


def test_few_people_who_are_left_out_are_not_counted():
    table = pd.concat([decided({"f": (20, 50), "m": (20, 50)}), pd.DataFrame({"sex": [None] * 3, "hired": [1, 0, 1]})])
    audit = justicia.audit_decisions(table, decision="hired", missing="drop", suppress_below=10)
    held = audit.to_dict()
    assert held["data"]["dropped"] == {"no value in sensitive column sex": None}
    assert (held["data"]["rows"], held["data"]["rows_used"]) == (None, 100)
    assert any("rows are left out" in text for text in audit.warnings)
    assert not any("3 rows" in text or "103" in text for text in (*audit.warnings, audit.to_text()))
    with pytest.raises(justicia.InputError, match="give small groups away"):
        justicia.audit_decisions(table, decision="hired", missing="bounds", suppress_below=10)
