"""Rules against every adversary, and the winning regions they are measured by."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from justicia.errors import ShieldError
from justicia.generations import Shield, verify_shield
from justicia.generations.rules import RULES, relaxed
from justicia.generations.winning import allowed_outputs, may_waste, winning_region

SIZES = [(n, beta) for n in (1, 2, 3, 4) for beta in range(n, n + 4)]

SETTINGS = {
    "a": {"start": "fresh", "outputs": ["single"]},
    "b": {"start": "any", "outputs": ["single"]},
    "c": {"start": "fresh", "outputs": ["single", "several"]},
    "d": {"start": "fresh", "outputs": ["single", "unknown"]},
}


def brute_region(betas):
    """Winning states by peeling off losing ones, a state at a time."""
    states = set(itertools.product(*[range(1, beta + 1) for beta in betas]))

    def after(state, output):
        return tuple(betas[i] if i == output else c - 1 for i, c in enumerate(state))

    while True:
        kept = {state for state in states if any(after(state, output) in states for output in range(len(betas)))}
        if kept == states:
            return states
        states = kept


@pytest.mark.parametrize("betas", [(1,), (2, 2), (2, 3), (3, 3, 3), (2, 4, 4), (2, 4, 5), (2, 3, 6), (4, 4, 5)])
def test_winning_region_against_single_states(betas):
    wins = winning_region(betas)
    states = brute_region(betas)
    assert {tuple(int(i) + 1 for i in place) for place in np.argwhere(wins)} == states
    for state in states:
        after = [tuple(betas[i] if i == x else c - 1 for i, c in enumerate(state)) for x in range(len(betas))]
        allowed = [x for x in range(len(betas)) if after[x] in states]
        assert allowed_outputs(wins, state) == allowed
        assert may_waste(wins, state) == (tuple(c - 1 for c in state) in states)


@pytest.mark.parametrize(("n", "beta"), SIZES)
def test_the_shield_is_the_fixpoint(n, beta):
    """On every state of the winning region, the shield allows what stays inside it, no more and no less."""
    wins = winning_region((beta,) * n)
    names = [f"v{i}" for i in range(n)]
    states = [tuple(int(i) + 1 for i in place) for place in np.argwhere(wins)]
    # Hall's condition, stated over again.
    assert states == [
        state
        for state in itertools.product(range(1, beta + 1), repeat=n)
        if all(sum(c <= k for c in state) <= k for k in range(1, beta + 1))
    ]
    for state in states:
        for unknown in (True, False):
            shield = Shield(names, beta, counters=dict(zip(names, state, strict=True)), unknown=unknown)
            assert not shield.warnings
            decision = shield.next()
            allowed = names if decision is None else [name for name in names if name in decision.allowed]
            assert allowed == [names[value] for value in allowed_outputs(wins, state)]
            if unknown:
                assert (decision is None) == may_waste(wins, state)
            if decision is not None:
                assert shield.counters[decision.value] == min(state)
            for value in range(n):
                assert shield.admits(names[value]) == (value in allowed_outputs(wins, state))


@pytest.mark.parametrize(("n", "beta"), SIZES)
@pytest.mark.parametrize("choice", ["edf", "random"])
def test_the_maximal_rule_is_safe_in_every_setting(n, beta, choice):
    for start, outputs in itertools.product(("fresh", "any"), (["single"], ["single", "several", "unknown"])):
        proof = verify_shield(n, beta, choice=choice, start=start, outputs=outputs)
        assert proof.safe
        assert proof.maximally_permissive
        assert proof.counterexample is None


@pytest.mark.parametrize(
    ("rule", "choice", "unsafe"),
    [
        # For each setting the numbers of values, 2 to 4, with which some beta from N to N + 2 is unsafe.
        ("printed", "random", {"a": "", "b": "4", "c": "4", "d": "234"}),
        ("printed", "edf", {"a": "", "b": "4", "c": "4", "d": "234"}),
        ("printed_upward", "random", {"a": "", "b": "4", "c": "4", "d": "234"}),
        ("released", "random", {"a": "", "b": "4", "c": "4", "d": ""}),
        ("last_moment", "random", {"a": "34", "b": "34", "c": "34", "d": "234"}),
        ("largest", "random", {"a": "34", "b": "34", "c": "34", "d": "234"}),
    ],
)
def test_where_other_rules_are_unsafe(rule, choice, unsafe):
    for setting, asked in SETTINGS.items():
        for n in (2, 3, 4):
            proofs = [verify_shield(n, beta, rule=rule, choice=choice, **asked) for beta in range(n, n + 3)]
            assert (str(n) in unsafe[setting]) == any(not proof.safe for proof in proofs), (setting, n)


def test_no_rule_keeps_more_values_than_beta():
    for rule in RULES:
        proof = verify_shield(3, 2, rule=rule, choice="random")
        assert (proof.safe, proof.winning) == (False, 0)


def lost(path):
    """Whether a path follows the rules of the game and ends in a miss."""
    for (state, output), (after, _) in itertools.pairwise(path):
        beta = max(max(held) for held, _ in path)
        assert after == tuple(beta if i in output else c - 1 for i, c in enumerate(state))
    return min(path[-1][0]) == 0


def test_four_counterexamples():
    # Any value of the largest tight set: (1, 2, 3) has S_2 = {0, 1}; picking 1 misses 0.
    assert RULES["largest"]((1, 2, 3), 3, 2) == [0, 1]
    assert not verify_shield(3, 3, rule="largest", choice="random", start=(1, 2, 3)).safe
    # As printed, from a warm start: three counters within 3, none of them "k counters equal to k".
    assert RULES["printed"]((2, 3, 3, 4), 5, 3) is None
    assert RULES["printed"]((1, 2, 2, 5), 5, 3) == [1, 2]
    warm = verify_shield(4, 5, rule="printed", choice="random", start=(2, 3, 3, 4))
    assert not warm.safe
    assert lost(warm.counterexample)
    # As printed, with several values in one generation: k = 2 fires before k = 1.
    several = verify_shield(4, 5, rule="printed", choice="random", outputs=["single", "several"])
    assert not several.safe
    assert lost(several.counterexample)
    assert RULES["printed"]((2, 2, 5, 1), 5, 3) == [0, 1]
    # As printed, with an unknown label: two values within 2 waste a place, and one of them is late.
    unknown = verify_shield(2, 2, rule="printed", choice="random", outputs=["single", "unknown"])
    assert unknown.counterexample[0] == ((2, 2), ())
    assert unknown.counterexample[1][0] == (1, 1)
    # The maximal rule gets out of each.
    for start in ((1, 2, 3), (2, 3, 3, 4), (2, 2)):
        n = len(start)
        assert verify_shield(n, max(start) + 1, start=start, outputs=["single", "several", "unknown"]).safe


@pytest.mark.parametrize(("beta", "beaten", "states"), [(4, 46, 125), (5, 116, 432)])
def test_states_from_which_the_printed_rule_can_be_beaten(beta, beaten, states):
    found = [
        verify_shield(4, beta, rule="printed", choice="random", start=state).safe
        for state in itertools.product(range(1, beta + 1), repeat=4)
        if all(c >= place for place, c in enumerate(sorted(state), start=1))
    ]
    assert (found.count(False), len(found)) == (beaten, states)


def test_the_smallest_relaxation():
    for counters in itertools.product(range(-2, 4), repeat=3):
        made = relaxed(counters)
        assert all(after >= before for before, after in zip(counters, made, strict=True))
        assert all(c >= place for place, c in enumerate(sorted(made), start=1))
        best = min(
            sum(after)
            for after in itertools.product(range(1, 4), repeat=3)
            if all(a >= b for a, b in zip(after, counters, strict=True))
            and all(c >= place for place, c in enumerate(sorted(after), start=1))
        )
        assert sum(made) == best


def test_games_that_are_too_large_or_make_no_sense():
    with pytest.raises(ShieldError, match="more than 300,000 states"):
        verify_shield(8, 8)
    with pytest.raises(ShieldError, match="output cannot be 'many'"):
        verify_shield(2, 2, outputs=["many"])
    with pytest.raises(ShieldError, match="no rule 'printd'; did you mean printed"):
        verify_shield(2, 2, rule="printd")
    with pytest.raises(ShieldError, match="2 counters from 1 to 2"):
        verify_shield(2, 2, start=(1, 3))
