import json

import pytest

from justicia import generations
from justicia.errors import SpecError
from justicia.generations.pronouns import PRONOUNS, pronoun

BOTH = {"F": "she", "M": "he"}


def prompts(template, groups=None, **more):
    plan = {"templates": [template] if isinstance(template, str) else template, "groups": groups or BOTH, **more}
    return generations.expand_prompts(plan).frame


@pytest.mark.parametrize(
    ("template", "female", "male", "neutral"),
    [
        ("Is {pronoun} right?", "Is she right?", "Is he right?", "Is they right?"),
        ("{Pronoun} {pronoun:is} here.", "She is here.", "He is here.", "They are here."),
        ("Ask {pronoun:object}.", "Ask her.", "Ask him.", "Ask them."),
        ("It is {pronoun:possessive} car.", "It is her car.", "It is his car.", "It is their car."),
        ("The car is {pronoun:possessive_pronoun}.", "The car is hers.", "The car is his.", "The car is theirs."),
        ("{pronoun:reflexive}", "herself", "himself", "themself"),
        ("{pronoun} walk{pronoun:s}", "she walks", "he walks", "they walk"),
        (
            "{pronoun} {pronoun:was}, {pronoun} {pronoun:has}",
            "she was, she has",
            "he was, he has",
            "they were, they have",
        ),
        ("{Pronoun:poss} and {pronoun.acc}", "Her and her", "His and him", "Their and them"),
        ("{{{pronoun}}}", "{she}", "{he}", "{they}"),
    ],
)
def test_every_form_of_a_pronoun(template, female, male, neutral):
    made = prompts(template, {**BOTH, "N": "they"})
    assert made["prompt"].tolist() == [female, male, neutral]
    assert made["pair"].nunique() == 1


def test_every_slot_and_group_is_crossed():
    made = prompts("{Name} is {job:a}. Is {pronoun} at {place}?",
                   {"F": {"pronoun": "she", "name": ["Ada", "Eve"]}, "M": {"pronoun": "he", "name": ["Tim", "Ron"]}},
                   slots={"job": ["engineer", "nurse"], "place": ["home", "work"], "other": ["x", "y"]})  # fmt: skip
    # Slots that the text does not name do not multiply.
    assert len(made) == 2 * 2 * 2 * 2
    assert made["prompt_id"].nunique() == 16
    assert made["pair"].nunique() == 8
    assert (made.groupby("pair")["group"].nunique() == 2).all()
    first = made[made["pair"] == made["pair"][0]]
    assert first["prompt"].tolist() == ["Ada is an engineer. Is she at home?", "Tim is an engineer. Is he at home?"]
    assert set(made["other"]) == {""}


def test_names_that_do_not_match_have_no_pair():
    made = generations.expand_prompts(
        {"templates": ["Tell me about {name}."], "groups": {"F": {"name": ["Ada", "Eve"]}, "M": {"name": ["Tim"]}}}
    )
    assert len(made) == 3
    assert made.unpaired == 3


def test_ids_do_not_change_when_a_plan_grows():
    few = prompts("Is {pronoun} {job:a}?", slots={"job": ["nurse"]})
    more = prompts(["Hi {pronoun}", {"id": "1b", "text": "Is {pronoun} {job:a}?"}], slots={"job": ["cook", "nurse"]})
    assert set(few["prompt_id"]).isdisjoint(more["prompt_id"])
    again = prompts("Is {pronoun} {job:a}?", slots={"job": ["cook", "nurse"]})
    assert set(few["prompt_id"]) < set(again["prompt_id"])


def test_samples_have_a_row_each():
    made = prompts("Is {pronoun} right?", samples=3)
    assert made["sample"].tolist() == [1, 2, 3, 1, 2, 3]
    assert made["prompt_id"].is_unique
    assert made["pair"].nunique() == 1


def test_columns_of_a_template_are_kept():
    made = prompts(
        [{"id": "q1", "text": "Is {pronoun} right?", "truth": "A"}, {"id": "q2", "text": "{pronoun}", "task": 7}]
    )
    assert made["truth"].tolist() == ["A", "A", "", ""]
    assert made["task"].tolist() == ["", "", "7", "7"]


def test_pronouns_of_ones_own():
    assert pronoun("ey/em/eir/eirs/emself").reflexive == "emself"
    assert pronoun("she/her") == PRONOUNS["she"]
    own = {"subject": "ve", "object": "ver", "possessive": "vis", "possessive_pronoun": "vis", "reflexive": "verself"}
    assert pronoun(own).form("poss") == "vis"


def test_files_in_both_forms(tmp_path):
    (tmp_path / "a.yml").write_text("templates:\n  - 'Is {pronoun} right?'\ngroups: {F: she, M: he}\nsamples: 2\n")
    (tmp_path / "a.json").write_text(
        json.dumps({"templates": {"1": "Is {pronoun} right?"}, "groups": BOTH, "samples": 2})
    )
    one, two = (generations.expand_prompts(tmp_path / name) for name in ("a.yml", "a.json"))
    assert one.to_text() == two.to_text()
    assert one.to_text().count("\n") == 5
    one.to_text(tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["prompt"] == "Is she right?"


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({"templates": ["Is it right?"], "groups": BOTH}, "no slot of the group cue"),
        ({"templates": ["Is {pronun} right?"], "groups": BOTH}, "did you mean pronoun"),
        ({"templates": ["Is {pronoun:subjekt} right?"], "groups": BOTH}, "did you mean subject"),
        ({"templates": ["Is {pronoun right?"], "groups": BOTH}, "a brace without its partner"),
        ({"templates": ["Is } {pronoun} right?"], "groups": BOTH}, "a brace without its partner"),
        ({"templates": ["Is {} {pronoun} right?"], "groups": BOTH}, "is no slot"),
        ({"templates": ["Is {job:object} {pronoun} right?"], "groups": BOTH, "slots": {"job": ["a"]}}, "only pronouns"),
        ({"templates": ["{pronoun}"], "groups": {"F": "she"}}, "two groups at least"),
        ({"templates": ["{pronoun}"], "groups": {"F": "she", "M": {"name": ["Tim"]}}}, "has no"),
        ({"templates": ["{pronoun}"], "groups": {"F": "she", "M": "hee"}}, "did you mean he"),
        ({"templates": [], "groups": BOTH}, "needs templates"),
        ({"templates": ["{pronoun}"], "groups": BOTH, "slots": {"pronoun": ["x"]}}, "cannot be both"),
        ({"templates": ["{pronoun}"], "groups": BOTH, "slots": {"sample": ["x"]}}, "cannot be called"),
        ({"templates": ["{pronoun}"], "groups": BOTH, "slots": {"Job": ["x"]}}, "begins with a capital"),
        ({"templates": ["{pronoun}"], "groups": BOTH, "slots": {"job": ["x", "x"]}}, "twice"),
        ({"templates": ["{pronoun}"], "groups": BOTH, "sampels": 2}, "did you mean samples"),
        ({"templates": ["{pronoun}"], "groups": BOTH, "samples": 0}, "whole number from 1"),
        ({"templates": ["{pronoun}"], "groups": BOTH, "samples": 10**7}, "more than 1,000,000"),
        ({"templates": [{"id": "a", "text": "{pronoun}"}, {"id": "a", "text": "x"}], "groups": BOTH}, "two templates"),
        ({"templates": [{"id": "a", "text": "{pronoun}", "group": "F"}], "groups": BOTH}, "cannot be a column"),
        ({"templates": ["{pronoun}"], "groups": {"F": {"pronoun": []}, "M": "he"}}, "has no value"),
        ({"templates": ["{pronoun}"], "groups": BOTH, "slots": ["job"]}, "a mapping of name to values"),
        ({"templates": ["{pronoun} \ud800"], "groups": BOTH}, "half of a surrogate pair"),
        ({"schema": "x/2", "templates": ["{pronoun}"], "groups": BOTH}, "is not known"),
    ],
)
def test_plans_that_mean_nothing_have_one_line(plan, said):
    with pytest.raises(SpecError, match=said) as caught:
        generations.expand_prompts(plan)
    assert "\n" not in str(caught.value)
