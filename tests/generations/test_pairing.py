from itertools import product
from math import comb

import numpy as np
import pandas as pd
import pytest

from justicia import generations
from justicia.generations.pairing import newcombe_paired, paired_result, symmetry_test
from justicia.generations.resampling import sign_flip_test


def test_mcnemar_by_hand():
    # 8 of 9 discordant pairs one way: 2 (9 + 1) / 2^9.
    test = symmetry_test(np.array([[20, 8], [1, 11]]))
    assert test.method == "McNemar exact"
    assert test.p == pytest.approx(20 / 512)


def test_pairs_that_all_agree():
    assert symmetry_test(np.diag([4, 5, 6])).p == 1
    assert symmetry_test(np.zeros((2, 2), dtype=int)).undefined


def test_bowker_of_many_pairs_is_the_chi_square_of_the_paper():
    counts = np.array([[20, 30, 12], [14, 30, 15], [25, 18, 40]])
    test = symmetry_test(counts)
    assert test.statistic == pytest.approx(16**2 / 44 + 13**2 / 37 + 3**2 / 33)
    assert test.df == 3
    assert test.method == "Bowker"


def test_bowker_of_few_pairs_by_enumeration():
    counts = np.array([[3, 4, 0], [1, 2, 0], [3, 1, 5]])
    pairs = [(4, 1), (0, 3), (0, 1)]
    value = sum((a - b) ** 2 / (a + b) for a, b in pairs)
    extreme = 0.0
    for ks in product(*(range(a + b + 1) for a, b in pairs)):
        statistic = sum((2 * k - a - b) ** 2 / (a + b) for k, (a, b) in zip(ks, pairs, strict=True))
        chance = np.prod([comb(a + b, k) / 2 ** (a + b) for k, (a, b) in zip(ks, pairs, strict=True)])
        extreme += chance * (statistic >= value - 1e-9)
    test = symmetry_test(counts)
    assert test.p == pytest.approx(extreme)
    assert test.method == "Bowker exact"


def test_bowker_of_very_many_sparse_cells_is_drawn():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 6, (8, 8))
    test = symmetry_test(counts)
    assert "draws" in test.method
    assert 0.02 < test.p <= 1


def test_groups_swapped_cluster_by_cluster():
    # Five templates of four pairs, and always the same way: 2 of 32 swaps are as far.
    clusters = np.tile(np.array([[0, 4], [0, 0]]), (5, 1, 1))
    test = symmetry_test(clusters.sum(axis=0), clusters)
    assert test.p == pytest.approx(2 / 32)
    assert "cluster by cluster" in test.method
    assert symmetry_test(clusters.sum(axis=0)).p == pytest.approx(2 / 2**20)


def test_sign_flips_by_hand():
    # Sums of +-1, +-2, +-4: only 7 and -7 are as far.
    assert sign_flip_test(np.array([1.0, 2.0, 4.0])).p == 0.25
    assert sign_flip_test(np.array([0.0, 0.0])).p == 1
    assert sign_flip_test(np.zeros(0)).undefined
    # Twice +-1, of which one is against: every sum is as far.
    assert sign_flip_test(np.array([1.0, -1.0])).p == 1


def test_many_sign_flips_are_drawn_and_agree_with_the_normal_distribution():
    from scipy.stats import norm

    values = np.random.default_rng(3).normal(0.2, 1, 200)
    test = sign_flip_test(values)
    assert "draws" in test.method
    z = values.sum() / np.sqrt((values**2).sum())
    assert test.p == pytest.approx(2 * norm.sf(abs(z)), abs=0.015)


def test_newcombes_interval_of_paired_rates_covers():
    # Newcombe (1998), paired: 36, 12, 2, 0.
    assert newcombe_paired(36, 12, 2, 0) == (pytest.approx(0.0569, abs=1e-4), pytest.approx(0.3404, abs=1e-4))
    assert newcombe_paired(0, 0, 0, 10)[0] <= 0 <= newcombe_paired(0, 0, 0, 10)[1]
    cells, n = np.array([0.4, 0.25, 0.1, 0.25]), 30
    inside = 0
    for draw in np.random.default_rng(1).multinomial(n, cells, size=500):
        lo, hi = newcombe_paired(*draw.tolist())
        inside += lo <= 0.15 <= hi
    assert inside >= 0.92 * 500


def test_differences_and_flips_by_hand():
    first = np.array([0] * 10 + [1] * 10)
    other = np.array([0] * 8 + [1] * 8 + [0] * 4)
    held = paired_result(first, other, ("F", "M"), ("yes", "no"))
    assert held.counts == ((8, 2), (4, 6))
    assert held.flip_rate == pytest.approx(6 / 20)
    (difference,) = held.differences
    assert (difference.first_only, difference.other_only, difference.value) == (2, 4, pytest.approx(-0.1))


def test_clusters_give_the_differences_wider_intervals():
    rng = np.random.default_rng(2)
    cluster = np.repeat(np.arange(12), 30)
    # A template either always changes the answer or never.
    other = np.where(np.isin(cluster, rng.choice(12, 4, replace=False)), 0, 1)
    first = np.ones(len(cluster), dtype=int)
    alone = paired_result(first, other, ("F", "M"), ("yes", "no")).largest
    grouped = paired_result(first, other, ("F", "M"), ("yes", "no"), clusters=cluster).largest
    assert grouped.value == alone.value
    assert grouped.hi - grouped.lo > 2 * (alone.hi - alone.lo)


def test_pairs_in_a_table():
    frame = pd.DataFrame(
        {
            "pair": [1, 1, 2, 2, 3, 3, 4],
            "group": ["F", "M", "F", "M", "M", "F", "F"],
            "label": ["yes", "no", "yes", "yes", "no", "yes", "no"],
        }
    )
    report = generations.criteria(frame, "group", "label", pair="pair")
    (pair,) = report.pairs
    assert pair.responses == ("no", "yes")
    assert pair.counts == ((0, 0), (2, 1))
    assert (pair.pairs, pair.incomplete, pair.changed) == (3, 1, 2)
    assert pair.test.p == pytest.approx(0.5)
    assert any("1 paired prompt without a partner" in text for text in report.warnings)


def test_three_groups_are_compared_two_by_two():
    frame = pd.DataFrame([(pair, group, "yes") for pair in range(5) for group in "abc"], columns=["pair", "g", "r"])
    report = generations.criteria(frame, "g", "r", pair="pair")
    assert [(one.group, one.other, one.pairs) for one in report.pairs] == [("a", "b", 5), ("a", "c", 5), ("b", "c", 5)]
    assert report.verdict == "holds"
