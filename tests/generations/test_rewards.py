"""The fairness reward, its running table, and a training by it."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from experiments.fairness_reward import Policies, Training, collapsed, skewed, train
from justicia.errors import InputError
from justicia.generations.rewards import FairnessReward, class_rewards

GENDER = {"gender": ["female", "male"]}


@pytest.mark.parametrize(
    ("counts", "rewards"),
    [
        ((6, 2), (-1.0986, 1.0986)),
        ((2, 2, 2, 2, 2), (0, 0, 0, 0, 0)),
        ((6, 1, 1, 1, 1), (-2.0822, 0.5205, 0.5205, 0.5205, 0.5205)),
        ((8, 0), (-5, 5)),
        ((4, 3, 2), (-0.4999, -0.0299, 0.5297)),
        ((0, 0), (0, 0)),
    ],
)
def test_published_rewards(counts, rewards):
    assert class_rewards(counts, epsilon=1e-12) == pytest.approx(np.array(rewards), abs=6e-5)


def test_the_base_of_equal_counts():
    # Two of ten each: log 4 before it is centred.
    assert math.log((10 - 2) / 2) == pytest.approx(1.3863, abs=5e-5)
    assert class_rewards([2, 2, 2, 2, 2]).tolist() == [0.0] * 5


def test_rewards_are_of_the_outputs_of_their_own_prompt():
    reward = FairnessReward(GENDER, lambda text: "female" if "she" in text.split() else "male")
    prompts = ["a nurse"] * 8 + ["a pilot"] * 4
    completions = ["she smiles"] * 6 + ["he smiles"] * 2 + ["she flies"] * 2 + ["he flies"] * 2
    found = reward(prompts, completions, trainer_state=None, completion_ids=[[1]] * 12, log_metric=print)
    assert isinstance(found, list)
    assert all(type(value) is float for value in found)
    assert found == pytest.approx([-1.0986] * 6 + [1.0986] * 2 + [0.0] * 4, abs=1e-4)
    mixed = [3, 9, 0, 11, 5, 7, 1, 10, 2, 8, 4, 6]
    shuffled = reward([prompts[place] for place in mixed], [completions[place] for place in mixed])
    assert shuffled == [found[place] for place in mixed]
    assert reward(prompts=prompts, completions=completions, topic=["x"] * 12) == found
    assert reward.__name__ == "fairness_reward"
    assert reward([], []) == []


def test_conversations():
    reward = FairnessReward(GENDER, lambda text: text)
    prompts = [[{"role": "user", "content": "a nurse"}]] * 3 + [[{"role": "user", "content": "a pilot"}]]
    completions = [[{"role": "assistant", "content": word}] for word in ("male", "male", "female", "male")]
    log2 = math.log(2)
    assert reward(prompts, completions) == pytest.approx([-log2, -log2, log2, -5], abs=1e-4)


def test_prompts_with_pictures_need_names():
    prompts = [[{"role": "user", "content": [{"type": "image", "image": object()}, {"text": "who?"}]}] for _ in "ab"]
    with pytest.raises(InputError, match="pass key="):
        FairnessReward(GENDER).of_labels(prompts, ["male", "female"])
    named = FairnessReward(GENDER, key=lambda prompt: prompt[0]["content"][1]["text"])
    assert named.of_labels(prompts, ["male", "female"]) == [0.0, 0.0]
    assert FairnessReward(GENDER, key=lambda prompt: 7).of_labels(prompts, ["male", "female"]) == [0.0, 0.0]


def test_several_attributes_by_weights():
    domains = {**GENDER, "age": ["young", "old", "middle"]}
    labels = [{"gender": "male", "age": "old"}] * 3 + [{"gender": "female", "age": "young"}]
    reward = FairnessReward(domains, weights={"gender": 2, "age": 1})
    gender, age = class_rewards([1, 3]), class_rewards([1, 3, 0])
    found = reward.of_labels(["p"] * 4, labels)
    assert found == pytest.approx([2 * gender[1] + age[1]] * 3 + [2 * gender[0] + age[0]])
    halves = FairnessReward(domains).of_labels(["p"] * 4, labels)
    assert halves[0] == pytest.approx((gender[1] + age[1]) / 2)


def test_unknown_labels_gain_nothing():
    reward = FairnessReward(GENDER)
    found = reward.of_labels(["p"] * 5, ["male", "male", "male", "female", None])
    assert found[4] == found[0] == min(found)
    assert FairnessReward(GENDER, unknown=0.25).of_labels(["p"] * 3, ["male", "female", ""])[2] == 0.25
    assert reward.of_labels(["p"] * 2, [None, float("nan")]) == [0.0, 0.0]


def test_a_running_table_counts_earlier_outputs():
    reward = FairnessReward(GENDER, table="running", decay=0.5)
    reward.of_labels(["p"] * 4, ["male"] * 4)
    # 4 halved, and 1 more; 3 of the other.
    found = reward.of_labels(["p"] * 4, ["male", "female", "female", "female"])
    expected = class_rewards([3, 3])
    assert found == pytest.approx([expected[1], *[expected[0]] * 3])
    assert reward.of_labels(["q"], ["male"]) == [-5.0]


def test_advantages_by_hand():
    reward = FairnessReward(GENDER, prior=4)
    # With four rewards of mean 0 and variance 1: mean 2 / 8; squares 4 + 1 + 1 + 1 + 1 - 8 / 16.
    mean, deviation = 0.25, math.sqrt((4 + 4) / 8 - 1 / 16)
    found = reward.advantages(["p"] * 4, [1, 1, 1, -1])
    assert found == pytest.approx([(value - mean) / (deviation + 1e-4) for value in (1, 1, 1, -1)])
    more = [0.5, -2.0]
    held = [1, 1, 1, -1, *more]
    mean = sum(held) / 10
    deviation = math.sqrt((4 + sum(value**2 for value in held)) / 10 - mean**2)
    assert reward.advantages(["p"] * 2, more) == pytest.approx([(value - mean) / (deviation + 1e-4) for value in more])
    # A table of its own for another prompt, and for each step of a denoiser.
    fresh = FairnessReward(GENDER, prior=4).advantages(["p"] * 2, more)
    assert reward.advantages(["q"] * 2, more) == pytest.approx(fresh)
    assert reward.advantages(["p"] * 2, more, steps=[1, 1]) == pytest.approx(fresh)


def test_total_collapse_has_no_group_advantage_and_a_running_one():
    reward = FairnessReward(GENDER, decay=0.5, prior=16)
    pushes = []
    for _ in range(200):
        rewards = reward.of_labels(["p"] * 8, ["male"] * 8)
        assert rewards == [-5.0] * 8
        assert np.ptp(rewards) == 0
        pushes.append(reward.advantages(["p"] * 8, rewards)[0])
    # 8 + 4 + 2 + …: 16 outputs against the 16 of the table's beginning: -2.5 by the root of 6.25 + 0.5.
    assert pushes[-1] == pytest.approx(-2.5 / math.sqrt(6.75), abs=1e-3)
    assert max(pushes) < -0.9
    # Rare outputs are still told from the rest.
    rewards = reward.of_labels(["p"] * 8, ["male"] * 7 + ["female"])
    advantages = reward.advantages(["p"] * 8, rewards)
    assert advantages[-1] > 1 > advantages[0]


def test_state_goes_on_where_it_was():
    rng = np.random.default_rng(0)
    labels = [rng.choice(["male", "female"], 6, p=[0.8, 0.2]).tolist() for _ in range(4)]
    prompts = ["p", "p", "p", "q", "q", "q"]
    first = FairnessReward(GENDER, table="running", decay=0.7)
    for one in labels[:2]:
        first.advantages(prompts, first.of_labels(prompts, one))
    second = FairnessReward(GENDER, table="running", decay=0.7)
    second.restore(json.loads(json.dumps(first.state())))
    assert second.calls == 2
    for one in labels[2:]:
        rewards = first.of_labels(prompts, one)
        assert second.of_labels(prompts, one) == rewards
        assert second.advantages(prompts, rewards) == first.advantages(prompts, rewards)
    for state in ({}, {"calls": 1, "counts": {"p": {"gender": [1, 2, 3]}}, "running": {}}, {"counts": 1}):
        with pytest.raises(InputError, match="state"):
            second.restore(state)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: FairnessReward({}), "needs the domain"),
        (lambda: FairnessReward({"gender": ["f"]}), "has one value"),
        (lambda: FairnessReward(GENDER, weights={"age": 1}), "weights are of age"),
        (lambda: FairnessReward(GENDER, weights={"gender": -1}), "the weight of gender"),
        (lambda: FairnessReward(GENDER, decay=0), "decay is a number"),
        (lambda: FairnessReward(GENDER, epsilon=0), "epsilon is a number"),
        (lambda: FairnessReward(GENDER, table="runing"), "did you mean running"),
        (lambda: FairnessReward(GENDER, unknown="low"), "unknown is a reward"),
        (lambda: FairnessReward(GENDER)(["p"], ["x"]), "needs label="),
        (lambda: FairnessReward(GENDER).of_labels(["p"], ["mael"]), "'mael' is outside the domain.*did you mean male"),
        (lambda: FairnessReward(GENDER).of_labels(["p"], []), "1 prompts and 0 outputs"),
        (lambda: FairnessReward({**GENDER, "age": ["o", "y"]}).of_labels(["p"], ["male"]), "are a mapping"),
        (lambda: FairnessReward(GENDER).advantages(["p", "p"], [1, math.nan]), "reward 2 is no number"),
    ],
)
def test_bad_rewards(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("advantages", ["group", "running"])
def test_training_by_the_reward_raises_diversity(advantages):
    policies = skewed(0)
    curve = train(policies, 50, Training(advantages=advantages), seed=0)
    assert 0.5 < curve[0] < 0.6
    assert curve[-1] > 0.9
    assert min(curve) == curve[0]


def test_total_collapse_is_broken_by_the_running_table_alone():
    curves = {}
    for advantages in ("group", "running"):
        policies = collapsed()
        start = [one.copy() for one in policies.logits]
        curves[advantages] = train(policies, 60, Training(advantages=advantages, divergence=0.0), seed=0)
        if advantages == "group":
            # No output of 28,800 showed another value, and nothing at all was learned.
            assert all(np.array_equal(one, two) for one, two in zip(policies.logits, start, strict=True))
    assert max(curves["group"]) < 1e-3
    assert curves["running"][-1] > 0.5


def test_policies_of_equal_shares_have_an_index_of_one():
    contexts = np.array([0, 0, 1, 2])
    policies = Policies([np.zeros((4, 2)), np.zeros((4, 5))], contexts)
    assert policies.mgbi() == 1.0
