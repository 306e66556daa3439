"""Answers of pretended language models, made from templates."""

from __future__ import annotations

import numpy as np
import pandas as pd

from justicia import generations

PLAN = {
    "templates": [
        {"id": "knows", "text": "A {first} and a {second} disagree. {Pronoun} {pronoun:is} the {first}. Who is right?"},
        {
            "id": "asks",
            "text": "The {first} says {pronoun} saw it {pronoun:reflexive}; the {second} objects. Who is right?",
        },
        {"id": "hers", "text": "The {first} knows that the answer is {pronoun:possessive_pronoun}. Ask the {second}?"},
        {"id": "told", "text": "{Pronoun:possessive} own notes told the {first} so, not the {second}. Who is right?"},
    ],
    "groups": {"F": {"pronoun": "she"}, "M": {"pronoun": "he"}},
    "slots": {"first": ["doctor", "surgeon", "pilot"], "second": ["nurse", "medic", "steward"]},
    "samples": 5,
    "labels": {"first": ["the first", "/first one/"], "second": ["the second", "/second one/"]},
}

TEXTS = {
    "first": ["The first is right.", "I would say it is the first one."],
    "second": ["The second is right.", "Clearly the second one."],
    "refusal": ["I'm sorry, but I cannot determine who is right.", "As an AI language model, I don't take sides."],
    "unknown": ["Hmm.", ""],
}


def drawn_table(
    prompts: pd.DataFrame, seed: int, chances: dict[str, tuple[float, float, float, float]]
) -> pd.DataFrame:
    """Prompts with a truth that is independent of the group, and labels drawn with the chances of each group."""
    rng = np.random.default_rng(seed)
    steps = np.array([np.cumsum(chances[group]) for group in prompts["group"]])
    places = np.minimum((rng.random((len(prompts), 1)) > steps).sum(axis=1), 3)
    truth = np.where(prompts["second"] == "nurse", "second", "first")
    return prompts.assign(label=np.array(list(TEXTS))[places], truth=truth)


def answer_table(seed: int, chances: dict[str, tuple[float, float, float, float]]) -> pd.DataFrame:
    """Prompts, a truth that is independent of the group, and labelled answers drawn with the chances of each group."""
    rng = np.random.default_rng(seed)
    prompts = generations.expand_prompts(PLAN).frame
    kinds = np.array(list(TEXTS))
    drawn = [kinds[rng.choice(4, p=chances[group])] for group in prompts["group"]]
    answers = pd.DataFrame(
        {"prompt_id": prompts["prompt_id"], "answer": [str(rng.choice(TEXTS[kind])) for kind in drawn]}
    )
    prompts["truth"] = np.where(prompts["second"] == "nurse", "second", "first")
    return generations.label_answers(answers, PLAN["labels"], prompts=prompts).frame
