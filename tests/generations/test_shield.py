"""The shield: what it keeps, what it forces, and what happens when forcing fails."""

from __future__ import annotations

import itertools
import logging
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from justicia.errors import ShieldError
from justicia.generations import Shield, shielded, simulate
from justicia.generations.simulation import GENERATORS

NAMES = [f"v{i}" for i in range(8)]


def least_beta(items, values):
    """Of sets of values, from the positions."""
    gaps = []
    for value in values:
        marks = [0, *(i for i, shown in enumerate(items, start=1) if value in shown), len(items) + 1]
        gaps += [b - a for a, b in itertools.pairwise(marks)]
    return max(gaps)


@st.composite
def runs(draw):
    n = draw(st.integers(1, 5))
    beta = draw(st.integers(n, n + 8))
    # An output is any set of values, the empty one for an unknown label.
    output = (
        st.sets(st.integers(0, n - 1), max_size=n) if draw(st.booleans()) else st.integers(0, n - 1).map(lambda v: {v})
    )
    return n, beta, draw(st.lists(output, min_size=1, max_size=60)), draw(st.sampled_from(["edf", "random"]))


@settings(max_examples=200, deadline=None)
@given(runs(), st.booleans(), st.integers(0, 3))
def test_any_generator_behind_a_shield_keeps_the_least_beta_within_beta(run, draft, margin):
    n, beta, outputs, choice = run
    margin = min(margin, beta - n)
    shield = Shield(NAMES[:n], beta, choice=choice, margin=margin, seed=3)
    items = []
    for output in outputs:
        label = {NAMES[value] for value in output}
        decision = shield.next()
        if decision is not None and not (draft and shield.admits(label)):
            assert decision.value in decision.allowed
            label = {decision.value}
        assert shield.observe(label) == ()
        items.append(label)
    assert shield.missed == shield.failed == 0
    assert least_beta([*items], NAMES[:n]) <= beta - margin or len(items) < beta - margin
    # A value that is still to come can come in time.
    while len(items) < 3 * beta:
        decision = shield.next()
        label = {NAMES[0]} if decision is None else {decision.value}
        shield.observe(label)
        items.append(label)
    assert least_beta(items, NAMES[:n]) <= beta - margin


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from("abc"), max_size=30), st.integers(3, 7))
def test_nothing_is_forced_without_need(items, beta):
    """An output is let through exactly when a schedule that keeps every value can follow it."""

    def feasible(counters):
        return all(c >= place for place, c in enumerate(sorted(counters), start=1))

    shield = Shield(list("abc"), beta, unknown=False)
    for item in items:
        decision = shield.next()
        counters = [shield.counters[value] for value in "abc"]
        for place, value in enumerate("abc"):
            after = [beta if i == place else c - 1 for i, c in enumerate(counters)]
            assert shield.admits(value) == feasible(after)
        shield.observe(item if decision is None else decision.value)


def test_example_6_of_the_paper():
    shield = Shield(["0", "1", "2", "3"], 50)
    forced = []
    for step in range(1, 5001):
        decision = shield.next()
        if decision is not None:
            forced.append(step)
            if len(forced) == 1:
                assert list(shield.counters.values()) == [50, 3, 3, 3]
        shield.observe("0" if decision is None else decision.value)
    assert forced[:6] == [48, 49, 50, 98, 99, 100]
    assert len(forced) == 300  # 6.0 %


def test_figure_6_of_the_paper():
    shield = Shield(["m", "f"], 3)
    assert [shield.observe(label) for label in "mff"] == [(), (), ()]
    assert shield.next().value == "m"


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_a_constant_generator_is_forced_n_minus_1_times_in_beta(n):
    for beta in (n + 1, n + 5, 3 * n):
        result = simulate(n, beta, generator="constant", steps=beta * 100)
        assert result.enforced == (n - 1) * 100
        assert result.beta_star == beta


@pytest.mark.parametrize(("beta", "rate"), [(3, 1 / 3), (4, 1 / 7), (6, 1 / 31)])
def test_two_uniform_values_are_forced_as_often_as_the_formula_says(beta, rate):
    # 1 / (2^(beta - 1) - 1); the counts are near to binomial, so 5 deviations are a safe margin.
    assert rate == pytest.approx(1 / (2 ** (beta - 1) - 1))
    steps = 20_000
    result = simulate(2, beta, steps=steps, seed=1)
    assert abs(result.enforced - rate * steps) < 5 * (rate * steps) ** 0.5


@pytest.mark.parametrize("generator", list(GENERATORS))
@pytest.mark.parametrize("rule", ["maximal", "printed"])
def test_round_robin_where_beta_is_the_number_of_values(generator, rule):
    result = simulate(3, 3, generator=generator, rule=rule, steps=300)
    assert result.misses == 0
    assert result.beta_star == 3
    # As printed, the first of a round is free: nobody can be late yet when labels are certain.
    assert result.interference == 1.0 if rule == "maximal" else result.enforced >= 298


@pytest.mark.parametrize("generator", list(GENERATORS))
def test_the_printed_rule_forces_the_same_where_it_is_safe(generator):
    for n, beta in ((2, 4), (3, 6), (5, 8)):
        one, other = (simulate(n, beta, generator=generator, rule=rule, steps=3000) for rule in ("maximal", "printed"))
        assert (one.enforced, one.beta_star) == (other.enforced, other.beta_star)
        assert one.misses == 0
        assert one.difference <= one.limit_bound + beta / 3000


def test_interference_that_was_measured_before():
    # Of N, beta: uniform, Zipf, 90 % one value, sticky; to two standard errors and the third decimal.
    known = {(3, 4): (0.500, 0.502, 0.499, 0.642), (5, 8): (0.334, 0.359, 0.473, 0.535)}
    for (n, beta), rates in known.items():
        for generator, rate in zip(("uniform", "zipf", "skewed", "sticky"), rates, strict=True):
            result = simulate(n, beta, generator=generator, steps=20_000)
            assert result.interference == pytest.approx(rate, abs=0.01)


def test_regenerating_only_what_is_not_allowed_interferes_less():
    ahead = simulate(2, 3, steps=20_000)
    draft = simulate(2, 3, steps=20_000, mode="draft")
    assert draft.enforced == draft.changed < ahead.enforced
    # Half of what is forced would have come by itself.
    assert draft.interference == pytest.approx(1 / 6, abs=0.01)
    assert draft.misses == 0


def test_enforcement_that_fails():
    lazy = simulate(4, 12, generator="constant", fail=0.05)
    margins = [simulate(4, 12, generator="constant", fail=0.05, margin=margin).misses for margin in (0, 1, 2, 3)]
    assert margins[0] == lazy.misses
    assert 12 < lazy.misses_per_1000 < 18
    assert margins[0] > 8 * margins[1] > 8 * margins[2] >= 8 * margins[3]
    assert simulate(4, 12, generator="constant", fail=0.05, retries=3).misses <= 2
    # As printed, a counter at 0 or less never equals a level again: the value starves for ever.
    starved = simulate(4, 12, generator="constant", fail=0.05, rule="printed")
    assert starved.interference < 0.02
    assert starved.beta_star is None or starved.beta_star > 10_000
    assert lazy.beta_star < 30


def test_misses_are_told_once_a_stretch():
    shield = Shield(list("ab"), 3)
    assert [shield.observe("a") for _ in range(5)] == [(), (), ("b",), (), ()]
    assert (shield.missed, shield.overdue) == (1, ("b",))
    assert shield.next().value == "b"
    shield.observe("b")
    assert shield.overdue == ()
    assert [shield.observe("b") for _ in range(4)] == [(), ("a",), (), ()]
    # Late values do not hide one that is due: both are asked for, the later first.
    late = Shield(list("abc"), 3)
    for _ in range(4):
        late.observe(None)
    assert late.next().allowed == {"a", "b", "c"}
    assert late.missed == 3


def test_unknown_labels_use_up_what_is_left():
    shield = Shield(list("ab"), 2)
    # With beta = N each place is needed: even the first label may not be wasted.
    assert shield.next().allowed == {"a", "b"}
    assert not shield.admits(None)
    assert shield.admits({"a", "b"})
    assert Shield(list("ab"), 2, unknown=False).next() is None


def test_warm_starts(caplog):
    shield = Shield(list("abcd"), 5, counters=dict(zip("abcd", (2, 3, 3, 4), strict=True)))
    assert not shield.warnings
    assert shield.next().allowed == {"a", "b", "c"}
    with caplog.at_level(logging.WARNING):
        shield = Shield(list("abcd"), 5, counters=dict(zip("abcd", (1, 1, 1, 1), strict=True)))
    assert shield.warnings == [
        "the start cannot be kept: due later are b by 1, c by 2, d by 3; then every value is in time"
    ]
    assert shield.warnings[0] in caplog.text
    order = []
    for _ in range(4):
        order.append(shield.next().value)
        shield.observe(order[-1])
    assert order == list("abcd")
    past = Shield(list("ab"), 4, history="bbaaa")
    assert (past.counters, past.step, past.missed) == ({"a": 4, "b": 1}, 0, 0)
    assert past.next().value == "b"
    # The missed value of a history is not missed again, and is due at once.
    late = Shield(list("ab"), 2, history="aaaa")
    assert (late.counters["b"], late.missed, late.next().value) == (1, 0, "b")


def test_warm_starts_that_make_no_sense():
    for counters, said in (
        ({"a": 1}, "counters are one for each of a, b; see b"),
        ({"a": 1, "b": 1, "c": 1}, "see c"),
        ({"a": 9, "b": 1}, "the counter of a is a whole number up to its beta 3, not 9"),
        ({"a": 1.5, "b": 1}, "not 1.5"),
    ):
        with pytest.raises(ShieldError, match=said):
            Shield(list("ab"), 3, counters=counters)
    with pytest.raises(ShieldError, match="not by both"):
        Shield(list("ab"), 3, counters={"a": 1, "b": 2}, history="a")


@pytest.mark.parametrize("betas", [(2, 4, 4), (2, 4, 5), (3, 3, 4), (2, 6, 7)])
@pytest.mark.parametrize("choice", ["edf", "random"])
def test_deadlines_of_their_own(betas, choice):
    values = list("abc")
    for seed in range(3):
        shield = Shield(values, dict(zip(values, betas, strict=True)), choice=choice, seed=seed)
        rng = random.Random(seed)
        items = []
        for _ in range(300):
            decision = shield.next()
            label = rng.choice([*values, None])
            if decision is not None and not shield.admits(label):
                label = rng.choice(sorted(decision.allowed))
            assert shield.observe(label) == ()
            items.append({label})
        for value, beta in zip(values, betas, strict=True):
            assert least_beta(items, [value]) <= beta


@pytest.mark.parametrize("betas", [(2, 3, 6), (2, 3, 7), (2, 3, 14), (3, 4, 5, 6), (2, 4, 6, 12), (2, 5, 5, 9)])
def test_deadlines_that_nobody_can_keep(betas):
    names = NAMES[: len(betas)]
    with pytest.raises(ShieldError, match="no sequence keeps"):
        Shield(names, dict(zip(names, betas, strict=True)))


def test_late_values_under_deadlines_of_their_own():
    shield = Shield(list("abc"), {"a": 2, "b": 4, "c": 5})
    for _ in range(6):
        shield.observe(None)
    assert shield.next().value == "a"
    shield.observe("a")
    assert shield.next().value == "b"
    warm = Shield(list("abc"), {"a": 2, "b": 4, "c": 5}, counters={"a": 1, "b": 1, "c": 1})
    assert warm.warnings
    for _ in range(50):
        decision = warm.next()
        warm.observe(None if decision is None else decision.value)
    assert warm.missed == 2  # Two of the three that were due at once.


def test_bad_shields():
    for asked, said in (
        ({"values": list("abc"), "beta": 2}, "beta 2 is less than the number of values, 3"),
        ({"values": list("abc"), "beta": 4, "margin": 2}, "beta 4 less the margin 2"),
        ({"values": list("abc"), "beta": 4, "margin": 9}, "leaves no generation"),
        ({"values": list("aa"), "beta": 4}, "the domain has a more than once"),
        ({"values": [], "beta": 4}, "no values"),
        ({"values": "ab", "beta": 4}, "a domain is a list of values, not 'ab'"),
        ({"values": list("ab"), "beta": "many"}, "beta is a whole number"),
        ({"values": list("ab"), "beta": True}, "beta is a whole number"),
        ({"values": list("ab"), "beta": {"a": 2}}, "beta is missing for b"),
        ({"values": list("ab"), "beta": {"a": 2, "b": 2, "c": 2}}, "beta of c, which is no value"),
        ({"values": list("ab"), "beta": 4, "choice": "eager"}, "choice cannot be 'eager'"),
        ({"values": list("ab"), "beta": 4, "rule": "printd"}, "did you mean printed"),
        ({"values": list("ab"), "beta": 4, "unknown": "yes"}, "unknown is True or False"),
        ({"values": list("abcd"), "beta": {"a": 90, "b": 91, "c": 92, "d": 93}}, "more than the 2,000,000"),
        ({"values": list("ab"), "beta": {"a": 2, "b": 3}, "rule": "printed"}, "one beta for all values"),
    ):
        with pytest.raises(ShieldError, match=said):
            Shield(**asked)
    with pytest.raises(ShieldError, match="'femal' is no value of the shield; did you mean female"):
        Shield(["female", "male"], 3).observe("femal")


def test_other_rules_come_with_a_warning():
    assert "can miss values" in Shield(list("abcd"), 5, rule="printed").warnings[0]
    shield = Shield(list("abcd"), 5, rule="printed", counters=dict(zip("abcd", (2, 3, 3, 4), strict=True)))
    assert shield.next() is None
    shield.observe("d")
    decision = shield.next()
    assert decision.allowed == {"b", "c"}
    # The values that it allows are the wrong ones: a is due now, and whichever is picked, a is late.
    assert shield.counters["a"] == 1


@pytest.mark.parametrize("choice", ["edf", "random"])
@pytest.mark.parametrize("beta", [7, {"a": 3, "b": 5, "c": 7}])
def test_a_shield_that_is_saved_goes_on_as_if_nothing_had_happened(tmp_path, choice, beta):
    whole, parts = (Shield(list("abc"), beta, margin=0, choice=choice, seed=5) for _ in range(2))
    rng = random.Random(1)
    for step in range(120):
        if step % 7 == 3:
            parts.save(tmp_path / "s.json")
            parts = Shield.load(tmp_path / "s.json")
        label = rng.choice(["a", "a", "b", None])
        one, other = whole.next(), parts.next()
        assert one == other
        if one is not None and rng.random() < 0.9:
            label = one.value
        assert whole.observe(label) == parts.observe(label)
    assert whole.state() == parts.state()
    assert whole.missed > 0


def test_shield_files_that_are_none(tmp_path):
    path = tmp_path / "s.json"
    for text, said in (
        ("{", "it is no JSON"),
        ("{}", "its schema is not"),
        ('{"schema": "justicia.shield/1"}', "its settings are broken"),
        ("[" * 100_000, "it is no JSON"),
    ):
        path.write_text(text)
        with pytest.raises(ShieldError, match=said):
            Shield.load(path)
    with pytest.raises(ShieldError, match="cannot be read"):
        Shield.load(tmp_path / "none.json")
    shield = Shield(list("ab"), 3)
    for change in ({"step": -1}, {"due": [1]}, {"seen": [1, "2"]}, {"step": True}, {"seen": [5, 5]}, {"more": 1}):
        with pytest.raises(ShieldError, match="broken"):
            shield.restore({**shield.state(), **change})


def test_the_decorator_forces_labels_and_tries_again():
    shield = Shield(["f", "m"], 3)
    asked = []

    @shielded(shield, label=lambda image: image["shows"], retries=1)
    def paint(prompt, *, value=None):
        asked.append(value)
        # Every other request for a value is ignored.
        listens = value is not None and asked.count(value) % 2 == 0
        return {"prompt": prompt, "shows": value if listens else "m"}

    images = [paint("a person") for _ in range(30)]
    assert paint.shield is shield
    assert paint.__name__ == "paint"
    assert shield.missed == 0
    assert least_beta([{image["shows"]} for image in images], "fm") == 3
    assert asked.count("f") == 2 * 10


def test_the_decorator_drafts_first_and_asks_in_words():
    shield = Shield(["cat", "dog"], 2)
    drafts = itertools.cycle(["cat", "dog", "dog", None])
    asked = []

    def ask(value, prompt):
        asked.append(f"{prompt}, a {value}")
        return value

    @shielded(shield, label=lambda made: made, ask=ask, mode="draft")
    def write(prompt):
        return next(drafts)

    # cat and dog may stand; the second dog and the unknown draft may not.
    assert [write("a story") for _ in range(4)] == ["cat", "dog", "cat", "dog"]
    assert asked == ["a story, a cat", "a story, a dog"]


def test_the_decorator_leaves_the_shield_alone_when_the_generator_raises(caplog):
    shield = Shield(list("ab"), 2)

    @shielded(shield, label=lambda made: made)
    def broken(value=None):
        raise RuntimeError("no luck")

    with pytest.raises(RuntimeError, match="no luck"):
        broken()
    assert shield.step == 0
    stubborn = shielded(Shield(list("ab"), 2), label=lambda made: made)(lambda value=None: "a")
    assert [stubborn() for _ in range(2)] == ["a", "a"]
    assert "generation 2: missed b within beta" in caplog.text
    with pytest.raises(ShieldError, match="mode cannot be"):
        shielded(shield, label=str, mode="after")


def test_simulations_that_make_no_sense():
    for asked, said in (
        ({"generator": "unifrom"}, "did you mean uniform"),
        ({"fail": 2}, "fail is a probability"),
        ({"mode": "before"}, "mode cannot be"),
        ({"rule": "x"}, "rule cannot be"),
    ):
        with pytest.raises(ShieldError, match=said):
            simulate(2, 3, **asked)
    assert simulate(2, 30, steps=10).verdict == "too short"
    assert simulate(2, 3, steps=50, fail=1, generator="constant").exit_code == 1
    assert simulate("2", 3, steps=50, unknown=0.3).verdict == "holds"
