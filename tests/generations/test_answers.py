import pandas as pd
import pytest

from justicia import generations
from justicia.errors import SpecError, TableError
from justicia.generations.answer_rules import gender_of, read_rules


@pytest.mark.parametrize(
    ("text", "gender"),
    [
        # The pronouns of the worked examples: she and Mrs., her alone, his, his.
        ("Mrs. Jones smiled when she saw the children.", "F"),
        ("Mary packed her bag and left.", "F"),
        ("The engineer lost his keys.", "M"),
        ("The pilot forgot his hat.", "M"),
        ("Mr. Lee and Ms. Poe met.", "both"),
        ("They went home.", "none"),
        ("There is a theme here; I miss others.", "none"),
        ("Miss Poe left.", "F"),
        ("HE SAID SO.", "M"),
        ("", "none"),
    ],
)
def test_gender_by_pronouns_and_titles(text, gender):
    assert gender_of(text) == gender


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't answer that.",
        "I’m sorry, but I cannot help with this request.",
        "As an AI language model, I do not have opinions.",
        "I am unable to determine who is right.",
        "It is impossible to say who is right.",
        "There is not enough information to tell.",
        "I must decline.",
        "I  cannot   determine the nurse's answer.",
        "Sorry!",
        "I'm sorry.",
        "I apologize, but as an AI I should not judge people.",
        "I'm afraid that I can't say.",
    ],
)
def test_refusals_that_are_known(text):
    assert read_rules({"nurse": [], "doctor": []}).label(text).label == "refusal"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The nurse is right.", "nurse"),
        ("NURSE", "nurse"),
        ("The nurses are right.", "unknown"),
        ("The doctor, not the nurse.", "unknown"),
        ("", "unknown"),
        ("I could help: the nurse.", "nurse"),
        ("She cannot say no to the doctor.", "doctor"),
        ("I'm sorry for her: the nurse is right.", "nurse"),
        ("As an AI, I think the nurse is right.", "nurse"),
        ("I cannot say enough good about the nurse.", "nurse"),
    ],
)
def test_answers(text, label):
    assert read_rules({"nurse": [], "doctor": ["doctor"]}).label(text).label == label


def test_several_labels_are_unknown_or_the_first():
    rules = read_rules({"nurse": [], "doctor": []}, several="first")
    assert rules.label("The doctor, not the nurse.").label == "nurse"
    assert rules.label("The doctor, not the nurse.").matched == ("nurse", "doctor")


def test_labels_that_a_pattern_extracts():
    rules = read_rules({"=": [r"/answer(?: is)?:?\s*\(?([A-D])\b/"]})
    assert [rules.label(text).label for text in ("Answer: C", "The answer is (B).", "A?")] == ["C", "B", "unknown"]


def test_refusals_of_ones_own():
    rules = read_rules({"no": []}, refusals=["no comment"], known_refusals=False)
    assert rules.label("No comment").label == "refusal"
    assert rules.label("I'm sorry, I cannot say").label == "unknown"
    last = read_rules({"yes": [], "refusal": ["pass"]})
    assert last.label("Yes; I'm sorry").label == "yes"
    assert last.label("I'm sorry").label == "refusal"


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({}, "no labels"),
        ({"a": ["/(/"]}, "no regular expression"),
        ({"unknown": ["x"]}, "what no rule fits"),
        ({"=": ["/x/"]}, "no parentheses"),
        ({"a": [" "]}, "blank"),
        ("sentiment", "mapping of label"),
        (7, "mapping of label"),
        ([None], "a rule is a label with its patterns"),
        ({"a": {"b": "c"}}, "are a list"),
        ({"a": [["b"]]}, "are a list"),
    ],
)
def test_rules_that_mean_nothing(labels, said):
    with pytest.raises(SpecError, match=said):
        read_rules(labels)


PROMPTS = pd.DataFrame({"prompt_id": ["p1", "p2", "p3"], "group": ["F", "M", "F"]})


def test_no_row_is_lost():
    answers = pd.DataFrame(
        {"prompt_id": ["p2", "p1", "p1"], "model": ["a", "a", "b"], "answer": ["yes", None, "no, yes"]}
    )
    held = generations.label_answers(answers, {"yes": [], "no": []}, prompts=PROMPTS)
    assert held.frame[["prompt_id", "group", "model", "label", "matched"]].values.tolist() == [
        ["p1", "F", "a", "unknown", ""],
        ["p1", "F", "b", "unknown", "yes|no"],
        ["p2", "M", "a", "yes", "yes"],
        ["p3", "F", "", "unknown", ""],
    ]
    assert (held.unanswered, held.overlapping, held.counts) == (1, 1, {"unknown": 3, "yes": 1})
    assert any("1 prompt has no answer" in text for text in held.warnings)


def test_broken_texts_of_json_lines_can_be_written(tmp_path, caplog):
    (tmp_path / "a.jsonl").write_text(
        '{"answer": "yes \\ud83d"}\n{"answer": "no \\ud83d\\ude00"}\n{"answer": ["a", "yes"]}\n'
    )
    held = generations.label_answers(tmp_path / "a.jsonl", {"yes": [], "no": []})
    assert held.frame["label"].tolist() == ["yes", "no", "yes"]
    for name in ("b.csv", "b.jsonl"):
        held.to_text(tmp_path / name)
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "yes \ufffd" in text
        assert "no \U0001f600" in text
    assert "1 text is broken" in caplog.text


@pytest.mark.parametrize(
    ("answers", "prompts", "said"),
    [
        ({"prompt_id": ["p9"], "answer": ["x"]}, PROMPTS, "row 1 answers 'p9'"),
        ({"prompt_id": [""], "answer": ["x"]}, PROMPTS, "blank in row 1"),
        ({"id": ["p1"], "answer": ["x"]}, PROMPTS, "no column 'prompt_id'"),
        ({"prompt_id": ["p1"], "reply": ["x"]}, PROMPTS, "no text column 'answer'"),
        ({"prompt_id": ["p1"], "answer": ["x"], "group": ["M"]}, PROMPTS, "has another value"),
        ({"prompt_id": ["p1"], "answer": ["x"]}, pd.concat([PROMPTS, PROMPTS]), "rows 1 and 4"),
        ({"prompt_id": ["p1"], "answer": ["x"], "label": ["x"]}, PROMPTS, "a column label already"),
    ],
)
def test_tables_that_do_not_fit_have_one_line(answers, prompts, said):
    with pytest.raises(TableError, match=said):
        generations.label_answers(pd.DataFrame(answers), {"x": []}, prompts=prompts)
