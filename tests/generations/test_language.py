import json
from itertools import combinations, product
from math import factorial

import jsonschema
import numpy as np
import pandas as pd
import pytest

from justicia import generations
from justicia.errors import SpecError, TableError
from justicia.generations.contingency import cramers_v, independence_test, pooled_test
from justicia.generations.resampling import Blocks, cluster_band, least_p, make_blocks, permutation_test
from justicia.generations.strata import make_stratum
from justicia.report.language_json import schema
from tests.generations.language_cases import PLAN, answer_table, drawn_table

ALIKE = (0.5, 0.3, 0.1, 0.1)


def table(*rows):
    """Rows (group, response, times[, truth])."""
    made = []
    for group, response, times, *truth in rows:
        made += [{"group": group, "response": response, **({"truth": truth[0]} if truth else {})}] * times
    return pd.DataFrame(made)


class TestTests:
    def test_fisher_as_in_the_books(self):
        # The lady tasting tea: 3 of 4 right has a two-sided p of 34 / 70.
        assert independence_test(np.array([[3, 1], [1, 3]])).p == pytest.approx(34 / 70)

    def test_chi_square_by_hand(self):
        test = independence_test(np.array([[10, 20], [20, 10]]))
        assert test.method == "chi-square"
        assert test.statistic == pytest.approx(20 / 3)
        assert test.df == 1

    @pytest.mark.parametrize(
        "counts", [[[2, 1, 0], [0, 1, 3]], [[1, 2], [3, 0], [0, 4]], [[2, 0, 1], [1, 1, 1], [0, 3, 0]]]
    )
    def test_freeman_halton_is_what_enumeration_says(self, counts):
        held = np.array(counts)
        rows, columns = held.sum(axis=1), held.sum(axis=0)

        def chance(made):
            value = np.prod([float(factorial(n)) for n in [*rows, *columns]]) / factorial(int(held.sum()))
            return value / np.prod([float(factorial(n)) for n in made.ravel()])

        free = (held.shape[0] - 1) * (held.shape[1] - 1)
        total = extreme = 0.0
        for cells in product(range(int(held.max(initial=0)) + int(held.sum())), repeat=free) if free < 3 else []:
            made = np.zeros_like(held)
            made[:-1, :-1] = np.reshape(cells, (held.shape[0] - 1, -1))
            made[:-1, -1] = rows[:-1] - made[:-1].sum(axis=1)
            made[-1] = columns - made[:-1].sum(axis=0)
            if (made >= 0).all():
                total += chance(made)
                extreme += chance(made) * (chance(made) <= chance(held) * (1 + 1e-9))
        if free < 3:
            assert total == pytest.approx(1)
        else:
            # Every way to deal the columns' labels to the rows' people.
            labels = np.repeat(np.arange(3), columns)
            people = np.repeat(np.arange(3), rows)
            tables = []
            for first in combinations(range(len(labels)), int(rows[0])):
                rest = [place for place in range(len(labels)) if place not in first]
                for second in combinations(rest, int(rows[1])):
                    order = [*first, *second, *(place for place in rest if place not in second)]
                    made = np.zeros((3, 3), dtype=int)
                    np.add.at(made, (people, labels[order]), 1)
                    tables.append(made)
            extreme = sum(chance(made) <= chance(held) * (1 + 1e-9) for made in tables) / len(tables)
        test = independence_test(held)
        assert "exact" in test.method
        assert test.p == pytest.approx(extreme)

    def test_many_tables_are_drawn(self):
        held = np.array([[9, 4, 1, 3, 2], [3, 8, 6, 2, 4], [1, 2, 9, 4, 3], [4, 1, 1, 2, 9]])
        test = independence_test(held, seed=1)
        assert "drawn" in test.method
        # Pearson's approximation is close enough at such sizes.
        from scipy.stats import chi2_contingency

        assert test.p == pytest.approx(chi2_contingency(held).pvalue, rel=1.0, abs=0.005)
        assert independence_test(held, seed=1).p == test.p

    def test_nothing_to_test(self):
        assert "fewer than two groups" in independence_test(np.array([[3, 4], [0, 0]])).undefined
        assert "the same" in independence_test(np.array([[3, 0], [4, 0]])).undefined

    def test_cramers_v(self):
        assert cramers_v(np.array([[5, 0], [0, 5]]))[0] == pytest.approx(1)
        assert cramers_v(np.array([[5, 0, 0], [0, 5, 0], [0, 0, 5]]))[0] == pytest.approx(1)
        assert cramers_v(np.array([[10, 20], [20, 10]]))[0] == pytest.approx(1 / 3)
        assert cramers_v(np.array([[4, 4], [8, 8]])) == (0.0, 0.0)
        assert cramers_v(np.array([[4, 4]])) == (None, None)

    def test_cochran_mantel_haenszel_of_the_admissions_to_berkeley(self):
        # Bickel, Hammel and O'Connell (1975): men and women, admitted and not, departments A to F.
        counts = [
            [[512, 313], [89, 19]], [[353, 207], [17, 8]], [[120, 205], [202, 391]],
            [[138, 279], [131, 244]], [[53, 138], [94, 299]], [[22, 351], [24, 317]],
        ]  # fmt: skip
        held = pooled_test([np.array(one) for one in counts])
        # R's mantelhaen.test has a common odds ratio of 0.9046968, and 0.7719074 to 1.0603298.
        assert held.odds_ratio == pytest.approx(0.9046968, abs=1e-7)
        assert (held.lo, held.hi) == (pytest.approx(0.7719074, abs=1e-6), pytest.approx(1.0603298, abs=1e-6))
        apart = variance = 0.0
        for (a, b), (c, d) in counts:
            n = a + b + c + d
            apart += a - (a + b) * (a + c) / n
            variance += (a + b) * (c + d) * (a + c) * (b + d) / (n * n * (n - 1))
        assert held.test.statistic == pytest.approx(apart**2 / variance)
        assert held.test.df == 1
        assert held.note is None

    def test_the_pooled_test_of_one_table_is_pearsons_but_for_n(self):
        counts = np.array([[10, 20, 5], [20, 10, 9]])
        n = counts.sum()
        expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / n
        pearson = ((counts - expected) ** 2 / expected).sum()
        held = pooled_test([counts])
        assert held.test.statistic == pytest.approx(pearson * (n - 1) / n)
        assert held.test.df == 2

    def test_pooled_strata_in_which_a_group_is_missing(self):
        held = pooled_test([np.array([[5, 5], [0, 0]]), np.array([[10, 2], [3, 9]]), np.array([[0, 0], [0, 0]])])
        assert held.strata == 1
        assert pooled_test([np.array([[5, 5], [0, 0]])]).test.undefined

    def test_permutation_inside_clusters_by_enumeration(self):
        # Four templates, each once for each group: 16 ways to swap, and the sum of signs decides.
        clusters, groups = np.repeat(np.arange(4), 2), np.tile([0, 1], 4)
        responses = np.array([1, 0, 1, 0, 1, 0, 1, 1])
        test = permutation_test(make_blocks(clusters, groups, responses, (2, 2)))
        # |difference| >= 3 of 4: all three discordant templates have one sign, 2 of 8.
        assert test.p == pytest.approx(0.25, abs=0.02)
        assert "inside" in test.method

    def test_permutation_among_clusters_by_enumeration(self):
        # Six people, three of each group, ten rows each that agree: 20 ways to choose the first group.
        groups, responses = np.repeat([0, 0, 0, 1, 1, 1], 10), np.repeat([1, 1, 1, 0, 0, 0], 10)
        test = permutation_test(make_blocks(np.repeat(np.arange(6), 10), groups, responses, (2, 2)))
        assert test.p == pytest.approx(0.1, abs=0.015)
        assert "among" in test.method
        assert least_p(make_blocks(np.repeat(np.arange(6), 10), groups, responses, (2, 2))) == pytest.approx(1 / 20)


class TestStrata:
    def test_effects_by_hand(self):
        held = make_stratum(np.array([[56, 14], [48, 32]]), ("F", "M"), ("yes", "no"))
        assert (held.difference.value, held.difference.group, held.difference.outcome) == (
            pytest.approx(0.2),
            "F",
            "yes",
        )
        # Newcombe (1998), table II, method 10.
        assert (held.difference.lo, held.difference.hi) == (
            pytest.approx(0.0524, abs=1e-4),
            pytest.approx(0.3339, abs=1e-4),
        )
        # 14/70 over 32/80.
        assert held.ratio.value == pytest.approx(0.5)
        assert (held.ratio.outcome, held.ratio.group, held.ratio.other) == ("no", "M", "F")
        # Wilson's interval of 56 of 70.
        rate = held.rates[0]
        assert (rate.k, rate.n, rate.rate) == (56, 70, 0.8)
        assert held.largest == (held.difference.lo, held.difference.hi)

    def test_a_difference_is_told_from_the_larger_rate(self):
        held = make_stratum(np.array([[48, 32], [56, 14]]), ("F", "M"), ("yes", "no"))
        assert (held.difference.value, held.difference.group, held.difference.other) == (pytest.approx(0.2), "M", "F")
        assert held.difference.lo == pytest.approx(0.0524, abs=1e-4)

    def test_more_comparisons_make_wider_intervals(self):
        two = make_stratum(np.array([[30, 10], [20, 20]]), ("F", "M"), ("yes", "no"))
        three = make_stratum(np.array([[30, 9, 1], [20, 19, 1]]), ("F", "M"), ("yes", "no", "refusal"))
        assert three.difference.hi > two.difference.hi
        assert "3 together" in three.difference.method

    def test_an_empty_group(self):
        held = make_stratum(np.array([[3, 4], [0, 0]]), ("F", "M"), ("yes", "no"))
        assert held.difference is held.ratio is held.largest is held.cramers_v is None
        assert held.rates[2].rate is None
        assert "no row of M" in held.notes

    def test_few_rows_are_told_with_what_they_miss(self):
        held = make_stratum(np.array([[8, 8], [10, 15]]), ("F", "M"), ("yes", "no"))
        # 2.8016 / 2 times the root of 1/16 + 1/25.
        assert held.notes == ("few rows: F has 16, M has 25; a difference below 0.45 is easily missed",)

    def test_a_rate_of_nothing_has_a_ratio_of_nothing(self):
        held = make_stratum(np.array([[0, 40], [10, 30]]), ("F", "M"), ("yes", "no"))
        assert held.ratio.value == 0
        assert held.ratio.hi < 1

    def test_clusters_that_are_all_alike_are_no_proof(self):
        # Three templates, a hundred rows each, and never a difference: the rows alone would say 0 to within .02.
        clusters, groups = np.repeat(np.arange(3), 100), np.tile([0, 1], 150)
        blocks = make_blocks(clusters, groups, np.zeros(300, dtype=int), (2, 2))
        held = make_stratum(blocks.counts.sum(axis=0), ("F", "M"), ("yes", "no"), blocks=blocks)
        assert held.difference.value == 0
        assert held.difference.hi > 0.4
        # Three swaps, of which all together are none: 8 ways, two of them alike.
        assert "few clusters: 3, and no p-value below 0.25" in held.notes

    def test_intervals_of_ten_templates_cover_a_difference_that_varies(self):
        rng, inside = np.random.default_rng(4), 0
        for seed in range(150):
            base, apart = rng.uniform(0.3, 0.7, 10), rng.normal(0.1, 0.15, 10)
            k = rng.binomial(10, np.clip(np.stack([base + apart / 2, base - apart / 2], axis=1), 0, 1))
            lo, hi = cluster_band(Blocks(np.stack([k, 10 - k], axis=2)), [(0, 0, 1)], 0.95, seed)
            inside += lo[0] <= 0.1 <= hi[0]
        # Three standard errors below .95.
        assert inside >= 150 * 0.95 - 3 * (150 * 0.95 * 0.05) ** 0.5

    def test_clusters_without_a_group(self):
        blocks = make_blocks(np.arange(4), np.array([0, 1, 0, 1]), np.zeros(4, dtype=int), (3, 1))
        held = make_stratum(blocks.counts.sum(axis=0), ("a", "b", "c"), ("yes",), blocks=blocks)
        assert held.difference.value == 0
        assert "no row of c" in held.notes

    def test_the_largest_difference_covers_every_comparison(self):
        rng = np.random.default_rng(5)
        inside = 0
        for _ in range(300):
            counts = np.stack([rng.multinomial(60, [0.5, 0.3, 0.2]), rng.multinomial(60, [0.4, 0.35, 0.25])])
            lo, hi = make_stratum(counts, ("F", "M"), ("a", "b", "c")).largest
            inside += lo <= 0.1 <= hi
        assert inside >= 0.95 * 300


class TestCriteria:
    def test_independence_separation_and_sufficiency_by_hand(self):
        frame = table(
            ("F", "yes", 30, "yes"), ("F", "no", 10, "yes"), ("F", "yes", 10, "no"), ("F", "no", 30, "no"),
            ("M", "yes", 20, "yes"), ("M", "no", 20, "yes"), ("M", "yes", 20, "no"), ("M", "no", 20, "no"),
        )  # fmt: skip
        report = generations.criteria(frame, "group", "response", "truth")
        assert report.criterion("independence").difference.value == 0
        separation = report.criterion("separation")
        assert [one.where for one in separation.strata] == [{"truth": "no"}, {"truth": "yes"}]
        assert [one.difference.value for one in separation.strata] == [pytest.approx(0.25)] * 2
        # Of yes answers 30 of 40 are right for F, 20 of 40 for M.
        sufficiency = report.criterion("sufficiency")
        assert [one.difference.value for one in sufficiency.strata] == [pytest.approx(0.25)] * 2
        accuracy = report.criterion("accuracy")
        assert accuracy.difference.value == pytest.approx(0.25)
        assert (accuracy.difference.outcome, accuracy.difference.group) == ("correct", "F")

    def test_refusals_are_a_category_of_their_own(self):
        frame = table(("F", "yes", 50), ("F", "refusal", 30), ("M", "yes", 78), ("M", "refusal", 2))
        report = generations.criteria(frame, "group", "response")
        independence = report.criterion("independence").strata[0]
        assert independence.outcomes == ("yes", "refusal")
        assert independence.counts == ((50, 30), (78, 2))
        assert report.refusals[0].refused == (30, 2)
        assert report.criterion("refusals").difference.value == pytest.approx(30 / 80 - 2 / 80)
        assert report.verdict == "fails"
        answered = generations.criteria(frame, "group", "response", answered=True)
        assert answered.criterion("independence").verdict == "holds"
        assert answered.criterion("refusals").verdict == "fails"
        assert any("32 responses" in text for text in answered.warnings)

    def test_capitals_of_refusals_do_not_matter(self):
        frame = table(
            ("F", "yes", 50), ("F", "Refusal", 30), ("M", "yes", 70), ("M", "REFUSAL", 5), ("M", "Unknown", 5)
        )
        report = generations.criteria(frame, "group", "response")
        assert report.refusals[0].refused == (30, 5)
        assert report.refusals[0].unknown == (0, 5)
        assert report.responses == ("yes", "REFUSAL", "Refusal", "Unknown")

    def test_blanks_are_unknown_and_stay(self):
        frame = table(("F", "yes", 20), ("F", "", 20), ("M", "yes", 20), ("M", "unknown", 20))
        report = generations.criteria(frame, "group", "response")
        assert report.criterion("independence").strata[0].counts == ((20, 20), (20, 20))
        assert report.refusals[0].unknown == (20, 20)
        assert any("20 responses are blank" in text for text in report.warnings)

    def test_rows_without_group_or_truth_are_told(self):
        frame = table(("F", "yes", 20, "yes"), ("", "yes", 3, "yes"), ("M", "no", 20, "no"), ("M", "no", 2, ""))
        report = generations.criteria(frame, "group", "response", "truth")
        assert report.rows_used == 42
        assert report.criterion("independence").strata[0].n == 42
        assert sum(one.n for one in report.criterion("separation").strata) == 40
        assert any("3 rows without a group" in text for text in report.warnings)
        assert any("2 rows without a truth" in text for text in report.warnings)

    def test_empty_strata_are_undefined_and_do_not_decide(self):
        frame = table(
            ("F", "a", 20, "x"), ("M", "a", 22, "x"), ("F", "b", 20, "x"), ("M", "b", 18, "x"), ("F", "a", 5, "z")
        )
        report = generations.criteria(frame, "group", "response", "truth")
        alone = report.criterion("separation").strata[1]
        assert alone.undefined
        assert alone.difference is None
        assert report.criterion("separation").verdict == "holds"

    def test_holm_runs_over_all_tests(self):
        frame = table(("F", "a", 9, "x"), ("F", "b", 31, "x"), ("M", "a", 18, "x"), ("M", "b", 22, "x"),
                      ("F", "a", 20, "z"), ("F", "b", 20, "z"), ("M", "a", 20, "z"), ("M", "b", 20, "z"))  # fmt: skip
        report = generations.criteria(frame, "group", "response", "truth")
        tests = [test for one in report.criteria for test in one.tests if test.p is not None]
        least = min(tests, key=lambda test: test.p)
        assert least.adjusted == pytest.approx(min(1, len(tests) * least.p))
        assert len(tests) == 1 + 3 + 3

    def test_a_limit_has_three_verdicts(self):
        frame = table(("F", "a", 500), ("F", "b", 500), ("M", "a", 400), ("M", "b", 600))
        verdicts = [
            generations.criteria(frame, "group", "response", at_most=limit).exit_code for limit in (0.01, 0.1, 0.2)
        ]
        assert verdicts == [1, 3, 0]

    def test_strata_and_models(self):
        frame = pd.concat(
            [
                table(("F", "a", 30), ("F", "b", 10), ("M", "a", 10), ("M", "b", 30)).assign(model="one"),
                table(("F", "a", 20), ("F", "b", 20), ("M", "a", 20), ("M", "b", 20)).assign(model="two"),
            ]
        )
        report = generations.criteria(frame, "group", "response")
        assert report.models == ("one", "two")
        assert report.criterion("independence", "one").verdict == "fails"
        assert report.criterion("independence", "two").verdict == "holds"
        contrast = report.contrasts[0]
        assert (contrast.gap, contrast.other_gap, contrast.value) == (pytest.approx(0.5), 0.0, pytest.approx(0.5))
        assert contrast.differs
        alone = generations.criteria(frame, "group", "response", model="none")
        assert alone.models == (None,)
        assert alone.criterion("independence").strata[0].n == 160

    def test_contrast_of_models_combines_newcombes_intervals(self):
        from justicia.metrics.intervals import newcombe

        frame = pd.concat(
            [
                table(("F", "a", 30), ("F", "b", 10), ("M", "a", 10), ("M", "b", 30)).assign(model="one"),
                table(("F", "a", 25), ("F", "b", 15), ("M", "a", 20), ("M", "b", 20)).assign(model="two"),
            ]
        )
        contrast = generations.criteria(frame, "group", "response").contrasts[0]
        lo, hi = newcombe(np.array([30]), np.array([40]), np.array([10]), np.array([40]))
        other_lo, other_hi = newcombe(np.array([25]), np.array([40]), np.array([20]), np.array([40]))
        assert contrast.lo == pytest.approx(0.375 - np.hypot(0.5 - lo[0], other_hi[0] - 0.125))
        assert contrast.hi == pytest.approx(0.375 + np.hypot(hi[0] - 0.5, 0.125 - other_lo[0]))

    def test_an_audit_of_answers_made_from_templates(self):
        frame = answer_table(3, {"F": (0.25, 0.35, 0.35, 0.05), "M": (0.6, 0.3, 0.05, 0.05)})
        assert len(frame) == 4 * 9 * 2 * 5
        report = generations.criteria(
            frame, "group", "label", "truth", cluster="template", pair=["pair", "sample"], seed=2
        )
        assert report.criterion("independence").difference.outcome in ("first", "refusal")
        assert report.refusals[0].rates[0] > 0.25 > 0.1 > report.refusals[0].rates[1]
        pairs = report.pairs[0]
        assert (pairs.pairs, pairs.incomplete) == (180, 0)
        assert pairs.flip_rate > 0.4
        # Four templates can be swapped in 16 ways: no p below 1 / 8, and the report says so.
        assert report.criterion("independence").strata[0].test.p > 0.1
        rows = generations.criteria(frame, "group", "label", "truth", pair=["pair", "sample"])
        assert rows.verdict == "fails"
        assert rows.pairs[0].verdict == "fails"

    @pytest.mark.parametrize("options", [{}, {"cluster": "template"}, {"at_most": 0.2, "strata": "template"}])
    def test_the_json_is_what_the_schema_says(self, options, monkeypatch):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
        frame = answer_table(1, {"F": ALIKE, "M": ALIKE})
        frame["model"] = np.where(np.arange(len(frame)) % 3 == 0, "a", "b")
        made = generations.criteria(frame, "group", "label", "truth", pair=["pair", "sample", "model"], **options)
        held = json.loads(made.to_json())
        jsonschema.validate(held, schema())
        assert held["verdict"] == made.verdict
        again = generations.criteria(frame, "group", "label", "truth", pair=["pair", "sample", "model"], **options)
        assert again.to_json() == made.to_json()
        assert "independence" in made.to_text()
        assert len(made.to_frame()) == sum(len(one.strata) for one in made.criteria)
        assert made.plot().axes

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"group": "nobody"}, "no group column 'nobody'"),
            ({"response": "answer"}, "name a column of labels"),
            ({"truth": "group"}, "cannot be both group and truth"),
            ({"alpha": 2}, "between 0 and 1"),
            ({"at_most": -1}, "between 0 and 1"),
            ({"pair": "group"}, "not by the group"),
            ({"pair": "pair"}, "name the columns that tell them apart"),
            ({"refusals": "unknown"}, "cannot mean both"),
            ({"cluster": "truth", "truth": "truth"}, "cannot be both"),
            ({"where": {"template": "none"}}, "no row has template=none"),
            ({"where": {"group": "F"}}, "has one value only, F"),
        ],
    )
    def test_bad_questions_have_one_line(self, change, said):
        frame = answer_table(1, {"F": ALIKE, "M": ALIKE})
        frame["answer"] = [f"text {place}" for place in range(len(frame))]
        asked = {"group": "group", "response": "label", **change}
        with pytest.raises((SpecError, TableError), match=said) as caught:
            generations.criteria(frame, **asked)
        assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"pair": ["pair", "sample"]}, {"cluster": "template"}])
def test_a_model_without_bias_is_rejected_in_one_of_twenty_audits_at_most(options):
    prompts, rejected = generations.expand_prompts(PLAN).frame, 0
    for seed in range(1000):
        frame = drawn_table(prompts, seed, {"F": ALIKE, "M": ALIKE})
        report = generations.criteria(frame, "group", "label", "truth", **options)
        rejected += report.verdict == "fails"
    # Two standard errors of a share of .05.
    assert rejected <= 50 + 2 * (1000 * 0.05 * 0.95) ** 0.5
