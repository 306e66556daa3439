"""Coverage of combinations and what to ask next."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from justicia.errors import SpecError
from justicia.generations import coverage
from justicia.generations.suggestions import _best, _grown, suggest
from tests.generations.literal import REAL_DOMAINS, real_combinations


def test_real_runs_have_the_coverage_of_their_labels():
    table = pd.DataFrame(real_combinations())
    report = coverage(table, list(REAL_DOMAINS), domain=REAL_DOMAINS, off_domain="none")
    assert [one.covered[0] for one in report.results] == [15, 37, 30, 35, 35, 47]
    assert {one.total for one in report.results} == {142}
    assert [round(one.coverage[0], 3) for one in report.results] == [0.106, 0.261, 0.211, 0.246, 0.246, 0.331]
    # Only the third run's blank ethnicity leaves anything open: it goes with one gender and one body type.
    assert [one.covered[1] - one.covered[0] for one in report.results] == [0, 2, 0, 0, 0, 0]
    assert report.results[0].curve[0] == (1, 6)
    assert report.results[0].curve[-1] == (4, 15)


def test_pairs_by_hand():
    table = pd.DataFrame({"a": list("xxy"), "b": list("uvu"), "c": list("ppp")})
    domain = {"a": ["x", "y"], "b": ["u", "v"], "c": ["p", "q"]}
    one = coverage(table, ["a", "b", "c"], domain=domain, suggest=9).results[0]
    # xu xp up; xv vp; yu yp: 7 of 12.
    assert (one.covered, one.total, one.curve) == ((7, 7), 12, ((1, 3), (2, 5), (3, 7)))
    assert {"a": "y", "b": "v"} in one.missing
    assert len(one.missing) == 5
    # y v q shows three new pairs, then x u q two more.
    assert [(list(next_.values.values()), next_.new) for next_ in one.suggestions] == [
        (["y", "v", "q"], 3),
        (["x", "u", "q"], 2),
    ]
    whole = coverage(table, ["a", "b"], domain={"a": ["x", "y"], "b": ["u", "v"]}, t=2, least="3/4")
    assert whole.results[0].verdict == "holds"
    assert whole.exit_code == 0
    assert coverage(table, ["a", "b"], domain=domain, least=".8").exit_code == 3  # Three rows cannot show four pairs.
    longer = pd.concat([table, table])
    assert coverage(longer, ["a", "b"], domain=domain, least=".8", by="none", step="none").exit_code == 1


@pytest.mark.parametrize("t", [1, 2, 3])
def test_coverage_against_sets(t):
    rng = np.random.default_rng(t)
    domain = {"a": list("xyz"), "b": list("uv"), "c": list("pqrs")}
    table = pd.DataFrame({name: rng.choice(values, 30) for name, values in domain.items()})
    one = coverage(table, list(domain), domain=domain, t=t).results[0]
    seen, curve = set(), []
    for place, row in enumerate(table.itertuples(index=False), start=1):
        before = len(seen)
        seen |= set(itertools.combinations(zip("abc", row, strict=True), t))
        if len(seen) > before:
            curve.append((place, len(seen)))
    assert one.covered == (len(seen), len(seen))
    assert list(one.curve) == curve
    sizes = [3, 2, 4]
    assert one.total == sum(np.prod([sizes[i] for i in held]) for held in itertools.combinations(range(3), t))


def test_bounds_under_unknown_labels_hold_every_completion():
    rng = np.random.default_rng(5)
    domain = {"a": list("xy"), "b": list("uv"), "c": list("pq")}
    for _ in range(40):
        table = pd.DataFrame(
            {name: rng.choice([*values, "?"], 4, p=[0.35, 0.35, 0.3]) for name, values in domain.items()}
        )
        one = coverage(table, list(domain), domain=domain, unknown=["?"]).results[0]
        most = 0
        cells = [[*domain[name], "-"] if value == "?" else [value] for name in domain for value in table[name]]
        for filled in itertools.product(*cells):
            rows = np.array(filled).reshape(3, 4).T
            seen = {
                (i, j, row[i], row[j])
                for row in rows
                for i, j in itertools.combinations(range(3), 2)
                if "-" not in (row[i], row[j])
            }
            most = max(most, len(seen))
            assert one.covered[0] <= len(seen)
        assert most <= one.covered[1]


def test_suggestions_end_when_everything_occurs():
    sets = list(itertools.combinations(range(4), 2))
    sizes = [4, 3, 3, 2]
    absent = [np.ones([sizes[i] for i in one], dtype=bool) for one in sets]
    found = suggest(sizes, sets, absent, 1000)
    assert sum(new for _, new in found) == sum(mask.sum() for mask in absent)
    assert all(new > 0 for _, new in found)
    assert found[0][1] == len(sets)
    # Twelve are needed; a greedy choice stays near that.
    assert 12 <= len(found) <= 16
    assert all(mask.all() for mask in absent)


def test_suggestions_grown_value_by_value_are_nearly_the_best():
    rng = np.random.default_rng(1)
    sizes = [4, 5, 3, 6]
    sets = list(itertools.combinations(range(4), 2))
    for _ in range(20):
        left = [rng.random([sizes[i] for i in one]) < 0.3 for one in sets]
        gains = []
        for choose in (_best, _grown):
            values = choose(sizes, sets, left)
            gains.append(sum(mask[tuple(values[i] for i in one)] for one, mask in zip(sets, left, strict=True)))
        best, grown = gains
        everything = max(
            sum(mask[tuple(values[i] for i in one)] for one, mask in zip(sets, left, strict=True))
            for values in itertools.product(*map(range, sizes))
        )
        assert best == everything
        assert best - 1 <= grown <= best


def test_bad_questions():
    table = pd.DataFrame({"a": ["x"], "b": ["u"]})
    domain = {"a": ["x"], "b": ["u"]}
    with pytest.raises(SpecError, match="t is 3"):
        coverage(table, ["a", "b"], domain=domain, t=3)
    for least in ("2", "-1", "much", "1/0", "nan"):
        with pytest.raises(SpecError, match="share between 0 and 1"):
            coverage(table, ["a", "b"], domain=domain, least=least)
    with pytest.raises(SpecError, match="no declared domain"):
        coverage(table, ["a", "c"], domain=domain)
