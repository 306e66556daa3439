"""Normalised entropies, ID, CA and MGBI, their intervals and their noise floor."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import entropy

from justicia.errors import InputError, SpecError, TableError
from justicia.generations import diversity
from justicia.generations.entropies import (
    CORRECTIONS,
    QUANTILES,
    Rule,
    combined,
    indices,
    noise_floor,
    normalised_entropy,
    possible_indices,
)

PUBLISHED = {
    # ID, CA at q = 0.1, MGBI as printed (Chen et al., arXiv 2605.24687).
    "Flux": (0.6858, 0.6702, 0.6780),
    "SANA": (0.7820, 0.3821, 0.5466),
    "SD3.5L": (0.7480, 0.3693, 0.5255),
    "SDXL": (0.8186, 0.2865, 0.4843),
    "Show-o": (0.7005, 0.6013, 0.6490),
    "Bagel": (0.6152, 0.5004, 0.5549),
    "Harmon": (0.5320, 0.4661, 0.4979),
    "Blip3-o": (0.4030, 0.1856, 0.2735),
}
DOMAIN = {"gender": ["f", "m"], "age": ["young", "middle", "old"], "race": list("abcde")}


@pytest.mark.parametrize("model", PUBLISHED)
def test_published_indices(model):
    intrinsic, conditional, mgbi = PUBLISHED[model]
    # One attribute, one context: its score is its entropy.
    found = combined(np.array([[intrinsic], [conditional]]), Rule())
    assert found.index == pytest.approx(mgbi, abs=1e-4)
    assert found.intrinsic == pytest.approx(intrinsic, abs=1e-12)


def test_the_most_diverse_of_the_published_models_is_not_the_best():
    ranked = sorted(PUBLISHED, key=lambda name: -math.sqrt(PUBLISHED[name][0] * PUBLISHED[name][1]))
    assert max(PUBLISHED, key=lambda name: PUBLISHED[name][0]) == "SDXL"
    assert ranked.index("SDXL") == 6


def test_entropies_by_hand():
    counts = [np.array([[30, 20]]), np.array([[10, 30, 10]]), np.array([[20, 10, 5, 5, 10]])]
    found = indices(counts, Rule())
    assert found.entropies[0] == pytest.approx([0.970951, 0.864974, 0.913865], abs=1e-6)
    assert found.intrinsic == pytest.approx(0.915575, abs=1e-6)
    assert math.isnan(found.index)


@pytest.mark.parametrize(("method", "conditional", "mgbi"), [("linear", 0.38, 0.589846), ("lower", 0.30, None)])
def test_quantiles_over_contexts(method, conditional, mgbi):
    triggers = [0.9, 0.8, 0.7, 0.65, 0.6, 0.55, 0.5, 0.4, 0.3]
    held = np.array([0.915575, *triggers])[:, None]
    found = combined(held, Rule(quantile=method))
    assert found.conditional == pytest.approx(conditional, abs=1e-9)
    assert found.mean == pytest.approx(sum(triggers) / 9)
    if mgbi is not None:
        assert found.index == pytest.approx(mgbi, abs=1e-6)
    assert combined(held, Rule(q=0)).conditional == pytest.approx(0.3)
    assert combined(held, Rule(q=1)).conditional == pytest.approx(0.9)


@pytest.mark.parametrize("method", QUANTILES)
def test_quantile_methods_are_between_the_extremes(method):
    found = combined(np.array([[1.0], [0.2], [0.5], [0.9]]), Rule(q=0.3, quantile=method))
    assert 0.2 <= found.conditional <= 0.9


def test_entropies_agree_with_scipy():
    rng = np.random.default_rng(0)
    for n_values in (2, 3, 7):
        counts = rng.integers(0, 9, (50, n_values))
        counts[:, 0] += 1
        expected = [entropy(one, base=n_values) for one in counts]
        assert normalised_entropy(counts) == pytest.approx(np.array(expected), abs=1e-12)


def test_entropy_at_its_ends():
    assert normalised_entropy(np.array([[7, 7, 7], [5, 0, 0]])).tolist() == [1.0, 0.0]
    assert math.isnan(normalised_entropy(np.array([0, 0])))
    # Miller and Madow: (3 values - 1) / (2 * 12) over log 3, and never above 1.
    plain = normalised_entropy(np.array([8, 3, 1]))
    corrected = normalised_entropy(np.array([8, 3, 1]), "miller-madow")
    assert corrected - plain == pytest.approx(2 / 24 / math.log(3))
    assert normalised_entropy(np.array([4, 4, 4]), "miller-madow") == 1.0
    # One value alone: nothing is added.
    assert normalised_entropy(np.array([4, 0, 0]), "miller-madow") == 0.0


def test_an_attribute_that_has_collapsed_does_not_hide_the_others():
    held = np.array([[1.0, 0.0], [0.5, 0.0]])
    found = combined(held, Rule(epsilon=1e-6))
    assert found.scores == pytest.approx([1e-3, math.sqrt(0.5e-6)])
    assert combined(held, Rule(epsilon=0)).scores.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("neutral", "others", "mean", "band"),
    [(300, 50, 0.983, (0.976, 0.988)), (100, 20, 0.954, None), (1500, 250, 0.997, None)],
)
def test_noise_floors(neutral, others, mean, band):
    sizes = np.full((10, 3), others)
    sizes[0] = neutral
    held = noise_floor(sizes, [2, 3, 5], Rule(), 10_000, np.random.default_rng(0)).index
    # Published to three decimals, of fewer simulations.
    assert held.mean() == pytest.approx(mean, abs=1.5e-3)
    if band is not None:
        assert np.quantile(held, [0.05, 0.95]) == pytest.approx(band, abs=6e-4)


def uniform_table(rng: np.random.Generator, neutral: int, others: int, triggers: int = 9) -> pd.DataFrame:
    contexts = ["neutral"] * neutral + [f"trigger {place}" for place in range(triggers) for _ in range(others)]
    return pd.DataFrame(
        {"context": contexts, **{name: rng.choice(values, len(contexts)) for name, values in DOMAIN.items()}}
    )


def test_a_uniform_generator_is_within_the_floor():
    rng = np.random.default_rng(1)
    inside = 0
    for seed in range(60):
        report = diversity(uniform_table(rng, 60, 20, 3), domain=DOMAIN, replicates=0, simulations=400, seed=seed)
        inside += report.within_floor
    # 57 are expected; fewer than 51 in one of a thousand.
    assert inside >= 51


@pytest.mark.slow
@pytest.mark.parametrize(("neutral", "others"), [(300, 50), (100, 20)])
def test_a_uniform_generator_is_within_the_floor_in_95_percent(neutral, others):
    rng = np.random.default_rng(2)
    inside = 0
    for seed in range(1000):
        report = diversity(uniform_table(rng, neutral, others), domain=DOMAIN, replicates=0, simulations=500, seed=seed)
        inside += report.within_floor
    # 950, less and more three standard errors.
    assert 929 <= inside <= 971


def test_the_published_layout_of_a_table():
    rng = np.random.default_rng(3)
    table = uniform_table(rng, 300, 50)
    angry = table["context"] == "trigger 4"
    table.loc[angry, "gender"] = np.where(rng.random(angry.sum()) < 0.95, "m", "f")
    report = diversity(table, list(DOMAIN), domain=DOMAIN)
    assert [one.name for one in report.contexts] == ["neutral", *(f"trigger {place}" for place in range(9))]
    assert [one.rows for one in report.contexts] == [300] + [50] * 9
    assert min(report.contexts, key=lambda one: one.score.value).name == "trigger 4"
    by_hand = [
        np.prod([entropy(group[name].value_counts(), base=len(values)) for name, values in DOMAIN.items()]) ** (1 / 3)
        for _, group in table.groupby("context", sort=False)
    ]
    assert [one.score.value for one in report.contexts] == pytest.approx(by_hand)
    assert report.intrinsic.value == pytest.approx(by_hand[0])
    assert report.conditional.value == pytest.approx(np.quantile(by_hand[1:], 0.1))
    assert report.mgbi.value == pytest.approx(math.sqrt(by_hand[0] * np.quantile(by_hand[1:], 0.1)))
    assert not report.within_floor
    assert report.floor.mgbi.lo == pytest.approx(0.976, abs=2e-3)
    assert report.verdict is None
    assert report.exit_code == 0
    assert report.warnings == ()
    frame = report.to_frame()
    assert len(frame) == 30
    assert frame["n"].sum() == 750 * 3


def test_limits_are_judged_by_the_interval():
    table = uniform_table(np.random.default_rng(4), 300, 50)
    held = {least: diversity(table, domain=DOMAIN, least=least, simulations=0) for least in (0.9, 0.99, 0.999999)}
    assert held[0.9].verdict == "holds"
    assert held[0.9].exit_code == 0
    assert held[0.999999].verdict == "undecided"
    assert held[0.999999].exit_code == 3
    table.loc[table["context"] == "trigger 3", "gender"] = "m"
    # CA is between the lowest score and the next but one.
    low = diversity(table, domain=DOMAIN, q=0, least=0.9)
    assert low.verdict == "fails"
    assert low.exit_code == 1


def test_the_range_under_unknown_labels_holds_every_completion():
    rng = np.random.default_rng(5)
    for _ in range(5):
        table = pd.DataFrame(
            {
                "context": ["neutral"] * 5 + ["s"] * 4 + ["t"] * 4,
                "gender": rng.choice(["f", "m", "?"], 13, p=[0.5, 0.35, 0.15]),
                "age": rng.choice(["young", "middle", "old", "?"], 13, p=[0.4, 0.3, 0.2, 0.1]),
            }
        )
        domain = {name: DOMAIN[name] for name in ("gender", "age")}
        report = diversity(table, domain=domain, unknown=["?"], replicates=0, simulations=0)
        places = [(row, name) for name in domain for row in np.flatnonzero(table[name] == "?")]
        found = []
        for filled in itertools.product(*(domain[name] for _, name in places)):
            whole = table.copy()
            for (row, name), value in zip(places, filled, strict=True):
                whole.loc[row, name] = value
            found.append(diversity(whole, domain=domain, replicates=0, simulations=0).mgbi.value)
        if places:
            assert report.mgbi.possible == pytest.approx((min(found), max(found)))
        else:
            assert report.mgbi.possible is None


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_ranges_by_enumeration(correction):
    rng = np.random.default_rng(6)
    for _ in range(40):
        counts, more = rng.integers(0, 5, (1, 3)), int(rng.integers(0, 5))
        low, high = possible_indices([counts], np.array([[more]]), Rule(correction=correction))
        held = [
            float(normalised_entropy(counts[0] + np.bincount(filled, minlength=3), correction))
            for filled in itertools.product(range(3), repeat=more)
        ]
        if counts.sum() + more == 0:
            assert (low.entropies.item(), high.entropies.item()) == (0, 1)
        else:
            ends = low.entropies.item(), high.entropies.item()
            assert ends == pytest.approx((min(held), max(held)), abs=1e-12)


def test_a_context_without_labels_is_left_out_and_said():
    table = uniform_table(np.random.default_rng(7), 40, 20, 3)
    table.loc[table["context"] == "trigger 1", "age"] = ""
    report = diversity(table, domain=DOMAIN, simulations=100, replicates=50)
    assert any(
        "context trigger 1 has no known label of age: it is left out of CA and MGBI" in one for one in report.warnings
    )
    left_out = report.contexts[2]
    assert left_out.score.value is None
    assert left_out.attributes[1].entropy.undefined == "no label is known"
    assert left_out.attributes[0].entropy.value is not None
    others = [report.contexts[place].score.value for place in (1, 3)]
    assert report.conditional.value == pytest.approx(np.quantile(others, 0.1))
    lo, hi = report.mgbi.possible
    assert lo < report.mgbi.value
    assert hi <= 1
    # What is left out may be anything: a limit is not known to be kept.
    assert diversity(table, domain=DOMAIN, least=0.5, replicates=0, simulations=0).verdict == "undecided"


def test_a_neutral_context_without_labels_has_no_index():
    table = uniform_table(np.random.default_rng(8), 10, 10, 2)
    table.loc[table["context"] == "neutral", "race"] = None
    report = diversity(table, domain=DOMAIN, simulations=10, replicates=50, least=0.5)
    assert report.mgbi.value is None
    assert report.mgbi.undefined == "no label of an attribute is known in the neutral context"
    assert report.intrinsic.value is None
    assert report.conditional.value is not None
    assert report.floor is None
    assert report.verdict == "undecided"
    assert report.within_floor is None


def test_a_table_of_neutral_outputs_has_an_intrinsic_diversity_alone():
    table = uniform_table(np.random.default_rng(9), 200, 1, 1)
    table = table[table["context"] == "neutral"]
    report = diversity(table, domain=DOMAIN)
    assert report.mgbi.undefined == "no context besides the neutral one has labels"
    assert report.intrinsic.value == pytest.approx(0.99, abs=0.01)
    assert report.floor.mgbi is None
    assert report.within_floor is True
    same = diversity(table.drop(columns="context"), domain=DOMAIN, context="none")
    assert same.intrinsic == report.intrinsic
    assert same.context is None
    assert any("no context column" in one for one in same.warnings)


def test_domains_that_are_not_declared_are_those_that_occur():
    table = pd.DataFrame({"context": ["neutral"] * 4 + ["t"] * 4, "gender": list("fmfm") + list("mm?f")})
    report = diversity(table, ["gender"], unknown=["?"], replicates=0, simulations=0)
    assert any("gender has no declared domain" in one for one in report.warnings)
    assert list(report.contexts[0].attributes[0].counts) == ["f", "m"]
    assert report.contexts[1].attributes[0].unknown == 1


def test_the_neutral_context_of_a_spec():
    table = pd.DataFrame({"kind": ["plain", "base", "t", "t"], "gender": list("fmfm")})
    spec = {"attributes": {"gender": ["f", "m"]}, "neutral": {"kind": ["plain", "base"]}}
    report = diversity(table, spec=spec, replicates=0, simulations=0)
    assert report.context == "kind"
    assert [(one.name, one.rows) for one in report.contexts] == [("plain|base", 2), ("t", 2)]
    assert report.mgbi.value == 1.0
    only = diversity(table, spec=spec, context="kind", neutral="base", triggers=["t"], replicates=0, simulations=0)
    assert [(one.name, one.rows) for one in only.contexts] == [("base", 1), ("t", 2)]


def test_rows_without_a_context_are_left_out():
    table = pd.DataFrame({"context": ["neutral", "", "t", None, "t"], "gender": list("fmfmm")})
    report = diversity(table, ["gender"], domain={"gender": ["f", "m"]}, replicates=0, simulations=0)
    assert any("2 outputs without a context are left out, first row 2" in one for one in report.warnings)
    assert [one.rows for one in report.contexts] == [1, 2]


def test_intervals_hold_what_is_true():
    # Skewed shares, the same in every context; 30 tables, of which 27 are expected to be held.
    rng = np.random.default_rng(10)
    shares = [np.array([0.8, 0.2]), np.array([0.6, 0.3, 0.1]), np.array([0.5, 0.2, 0.1, 0.1, 0.1])]
    truth = combined(np.array([[entropy(one, base=len(one)) for one in shares]] * 10), Rule()).index
    held = 0
    for seed in range(30):
        contexts = ["neutral"] * 300 + [f"t{place}" for place in range(9) for _ in range(50)]
        table = pd.DataFrame(
            {
                "context": contexts,
                **{
                    name: rng.choice(values, len(contexts), p=share)
                    for (name, values), share in zip(DOMAIN.items(), shares, strict=True)
                },
            }
        )
        one = diversity(table, domain=DOMAIN, replicates=200, simulations=0, seed=seed).mgbi
        held += one.lo <= truth <= one.hi
        assert one.hi - one.lo < 0.25
    assert held >= 22


def test_intervals_of_few_labels_are_not_sure_of_themselves():
    table = pd.DataFrame({"context": ["neutral"] * 2 + ["t"] * 2, "gender": list("fmfm")})
    report = diversity(table, ["gender"], domain={"gender": ["f", "m"]})
    assert report.mgbi.value == 1.0
    # One and one: the shares may be nearly anything.
    assert report.mgbi.lo < 0.9
    assert report.mgbi.hi == 1.0
    assert report.warnings == (
        "fewer than 10 known labels in 2 contexts: neutral, t; entropies and intervals of so few mean little",
    )


def test_values_are_inside_their_intervals():
    rng = np.random.default_rng(13)
    for seed in range(5):
        table = uniform_table(rng, 30, 10, 3)
        report = diversity(
            table, domain=DOMAIN, replicates=100, simulations=0, seed=seed, correction=CORRECTIONS[seed % 2]
        )
        held = [report.intrinsic, report.conditional, report.conditional_mean, report.mgbi]
        held += [one.score for one in report.contexts] + [a.entropy for one in report.contexts for a in one.attributes]
        assert all(one.lo <= one.value <= one.hi for one in held)


def test_intervals_of_contexts_that_show_one_value_are_not_empty():
    table = pd.DataFrame({"context": ["neutral"] * 20 + ["t"] * 20, "gender": ["f", "m"] * 10 + ["m"] * 20})
    report = diversity(table, ["gender"], domain={"gender": ["f", "m"]}, simulations=0)
    one = report.contexts[1].attributes[0].entropy
    assert one.value == 0.0
    # In twenty outputs a value of one in ten may be missing: its entropy is 0.47.
    assert 0.1 < one.hi < 0.6


def test_equal_calls_give_equal_reports():
    table = uniform_table(np.random.default_rng(11), 50, 20, 2)
    texts = {diversity(table, domain=DOMAIN, seed=seed).mgbi for seed in (1, 1)}
    assert len(texts) == 1
    assert diversity(table, domain=DOMAIN, seed=2).mgbi.lo != texts.pop().lo
    shuffled = table.sample(frac=1, random_state=0)
    assert diversity(shuffled, domain=DOMAIN).mgbi.value == pytest.approx(diversity(table, domain=DOMAIN).mgbi.value)


TABLE = pd.DataFrame({"context": ["neutral", "neutral", "t", "t"], "gender": list("fmfm"), "id": [1, 2, 3, 4]})


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"attrs": ["sex"]}, TableError, "no attribute column 'sex'"),
        ({"attrs": None}, SpecError, "no attribute is named"),
        ({"context": "kontext"}, TableError, "no context column 'kontext'; did you mean context"),
        ({"neutral": "plain"}, TableError, "no output has the neutral context 'plain'"),
        ({"triggers": ["u"]}, TableError, "no output has the context 'u' .there are: t."),
        ({"triggers": ["neutral"]}, TableError, "besides the neutral one"),
        ({"domain": {"gender": ["f"]}}, SpecError, "has one value"),
        ({"q": 2}, InputError, "q is a number between 0 and 1"),
        ({"q": "much"}, InputError, "q is a number"),
        ({"quantile": "linaer"}, InputError, "did you mean linear"),
        ({"correction": "miller"}, InputError, "did you mean miller-madow"),
        ({"epsilon": -1}, InputError, "epsilon is a number"),
        ({"confidence": 0.2}, InputError, "confidence is a number"),
        ({"replicates": 10}, InputError, "too few"),
        ({"simulations": 10**11}, InputError, "simulations are 1,000,000 at most"),
        ({"least": "high"}, InputError, "the least MGBI is a number"),
        ({"seed": -1}, SpecError, "seed is a whole number"),
        ({"identity": "name"}, TableError, "no identity column 'name'"),
        ({"neutral": {"a": "x", "b": "y"}}, SpecError, "name the context column"),
        ({"neutral": []}, SpecError, "no context is named as neutral"),
        ({"where": {"gender": "x"}}, TableError, "no row has gender=x"),
    ],
)
def test_bad_questions(changes, kind, message):
    with pytest.raises(kind, match=message):
        diversity(TABLE, **{"attrs": ["gender"], **changes})


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("id", [1, 2, 2, 4], "id 2 stands in rows 2 and 3; 1 such repeat"),
        ("gender", ["f", "f", "f", "f"], "one value alone \\(f\\): declare its values"),
        ("gender", ["", None, "", ""], "no label: declare its values"),
        ("gender", ["f", "m", "f|m", "f"], "row 3 shows several values of gender"),
    ],
)
def test_bad_tables(column, values, message):
    table = TABLE.assign(**{column: values})
    domain = {"gender": ["f", "m"]} if "f|m" in values else None
    with pytest.raises(TableError, match=message):
        diversity(table, ["gender"], domain=domain, separator="|" if domain else None)


def test_labels_outside_the_domain():
    table = TABLE.assign(gender=["f", "m", "x", "m"])
    with pytest.raises(TableError, match="1 label of gender outside its domain: 'x' \\(row 3\\)"):
        diversity(table, domain={"gender": ["f", "m"]})
    report = diversity(table, domain={"gender": ["f", "m"]}, off_domain="none", replicates=0, simulations=0)
    assert report.contexts[1].attributes[0].n == 1
    assert report.contexts[1].attributes[0].unknown == 0
    assert report.mgbi.possible is None
    unknown = diversity(table, domain={"gender": ["f", "m"]}, off_domain="unknown", replicates=0, simulations=0)
    assert unknown.mgbi.possible == pytest.approx((0.001, 1.0))


def test_labels_are_the_same_whatever_the_column_holds():
    kinds = {
        "text": ["1", "0", "1", "0"],
        "whole": [1, 0, 1, 0],
        "floats": [1.0, 0.0, 1.0, 0.0],
        "category": pd.Categorical([1, 0, 1, 0]),
    }
    for held in kinds.values():
        report = diversity(TABLE.assign(gender=held), domain={"gender": [0, 1]}, replicates=0, simulations=0)
        assert report.mgbi.value == 1.0


def test_steps_and_runs_mean_nothing_here():
    table = TABLE.assign(step=[1, 1, 1, 1], run=["a", "", "b", "c"])
    assert diversity(table, domain={"gender": ["f", "m"]}, replicates=0, simulations=0).mgbi.value == 1.0


def test_pictures():
    table = uniform_table(np.random.default_rng(12), 40, 10, 3)
    table.loc[table["context"] == "trigger 1", "age"] = ""
    report = diversity(table, domain=DOMAIN, simulations=100, replicates=100, least=0.5)
    figure = report.plot()
    axes = figure.axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [
        "neutral (neutral)", "trigger 0", "trigger 1", "trigger 2",
    ]  # fmt: skip
    assert len(axes.patches) == 12
    widths = [one.get_width() for one in axes.patches]
    assert widths[:4] == [one.attributes[0].entropy.value for one in report.contexts]
    assert len(report.plot("indices").axes[0].patches) == 6
    with pytest.raises(InputError, match="did you mean entropies"):
        report.plot("entropy")


def test_clusters_are_drawn_together():
    # 80 prompts of 5 outputs, all alike: as if there were 80 outputs, whose intervals are wider.
    rng = np.random.default_rng(14)
    table = pd.DataFrame(
        {
            "context": np.repeat(["neutral", "t"], 200),
            "prompt": np.repeat(np.arange(80), 5),
            "gender": np.repeat(rng.choice(["f", "m"], 80, p=[0.7, 0.3]), 5),
        }
    )
    domain = {"gender": ["f", "m"]}
    plain, drawn = (diversity(table, domain=domain, cluster=one, simulations=0) for one in (None, "prompt"))
    one_each = diversity(table[::5], domain=domain, simulations=0)
    assert drawn.mgbi.value == plain.mgbi.value == pytest.approx(one_each.mgbi.value)
    widths = [one.mgbi.hi - one.mgbi.lo for one in (plain, drawn, one_each)]
    assert widths[0] < 0.7 * widths[1]
    assert widths[1] == pytest.approx(widths[2], rel=0.35)
    with pytest.raises(TableError, match="prompt of row 3 is blank; 1 such row"):
        diversity(table.assign(prompt=["a", "b", " ", *"c" * 397]), domain=domain, cluster="prompt")
    with pytest.raises(TableError, match="no cluster column 'prompts'"):
        diversity(table, domain=domain, cluster="prompts")
    # A cluster of one output each is no cluster.
    alone = diversity(table.assign(prompt=range(400)), domain=domain, cluster="prompt", simulations=0)
    assert alone.mgbi.lo == pytest.approx(plain.mgbi.lo, abs=0.03)
