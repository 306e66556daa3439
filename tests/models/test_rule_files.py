"""Rules as text and JSON: what is read, what is refused and where, and that nothing is rounded on the way."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from justicia.errors import ModelFileError, TableError
from justicia.learners import CNF, DNF, Condition, Rule
from justicia.models import RuleClassifier, load_model, read_rule, save_rule
from justicia.models.rule_files import rule_json, source_of
from justicia.models.rule_text import RuleSource, parse_rule, rule_text
from tests.rule_cases import random_rule_case

MALE = Condition("sex", "in", values=("Male",))
OLD = Condition("age", ">", number=40.0)
NONE = Condition("age", "missing")
NOT = Condition("not", "in", values=("and",))
SAYS = Condition("x", "in", values=('say "no" ü',))
LOSS = Condition("capital-gain", "<=", number=-0.30000000000000004)
GAIN = Condition("capital gain", ">=", number=1000.0)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ('(sex = Male or age > 40) and ("capital gain" >= 1e3)', Rule(CNF, ((MALE, OLD), (GAIN,)))),
        ("(sex = Male and age > 40) or 'capital gain' >= 1000", Rule(DNF, ((MALE, OLD), (GAIN,)))),
        ("sex = Male or age > 40", Rule(DNF, ((MALE,), (OLD,)))),
        ("sex == Male AND age>40", Rule(CNF, ((MALE,), (OLD,)))),
        ("(sex=Male or age>40)", Rule(CNF, ((MALE, OLD),))),
        ("(sex = Male and age > 40)", Rule(DNF, ((MALE, OLD),))),
        ("(sex = Male and age > 40) and 'capital gain' >= 1000", Rule(CNF, ((MALE,), (OLD,), (GAIN,)))),
        ("not age > 40 # a remark\n", Rule(CNF, ((OLD.opposite,),))),
        ("not not sex != Male", Rule(CNF, ((MALE.opposite,),))),
        ("job in (a, 'b c', a)", Rule(CNF, ((Condition("job", "in", values=("a", "b c")),),))),
        ("job not in (a)", Rule(CNF, ((Condition("job", "in", values=("a",), negated=True),),))),
        ("age is missing or age is not missing", Rule(DNF, ((NONE,), (NONE.opposite,)))),
        ('"not" = "and" and x = "say \\"no\\" \\u00fc"', Rule(CNF, ((NOT,), (SAYS,)))),
        ("capital-gain <= -0.30000000000000004", Rule(CNF, ((LOSS,),))),
        ("true", Rule(CNF, ())),
        ("false", Rule(DNF, ())),
    ],
)  # fmt: skip
def test_text_by_hand(text, rule):
    assert parse_rule(text) == RuleSource(rule)
    assert parse_rule(rule_text(RuleSource(rule))).rule == rule


def test_classes_in_text():
    source = parse_rule('if (sex = Male or age > 40)\r\nthen ">50K"\r\nelse "<=50K"')
    assert source == RuleSource(Rule(CNF, ((MALE, OLD),)), ">50K", "<=50K")
    assert rule_text(source) == 'if (sex = Male or age > 40)\nthen ">50K"\nelse "<=50K"\n'
    assert parse_rule(rule_text(source)) == source


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "line 1, column 1: the rule ends where a column is expected"),
        ("age", "line 1, column 4: the rule ends where =, !=, <, <=, >, >=, in or is is expected"),
        ("age > Male", "line 1, column 7: Male stands where a number is expected"),
        ("age > inf", "line 1, column 7: inf stands where a number is expected"),
        ("age > nan", "line 1, column 7: nan stands where a number is expected"),
        ("(age > 4 or\n sex = ", "line 2, column 8: the rule ends where a value is expected"),
        ("(age > 4", "line 1, column 9: the rule ends where ) is expected"),
        ("a = 1 and b = 2 or c = 3", 'line 1, column 17: "and" and "or" are mixed'),
        ("(a = 1 and b = 2 or c = 3)", 'line 1, column 18: "and" and "or" are mixed'),
        ("(a = 1 or b = 2) and (a = 1 and c = 3)", "line 1, column 1: some parentheses hold"),
        ("((a = 1) or b = 2)", "line 1, column 2: parentheses stand two deep"),
        ("a = 'x", "line 1, column 5: the quote is not closed: 'x"),
        ("a = !", "line 1, column 5: this has no meaning in a rule: !"),
        ('a = "\\q"', 'line 1, column 5: "\\q" has an escape that is none'),
        ("and = 1", "line 1, column 1: and stands where a column"),
        ("a in ()", "line 1, column 7: ) stands where a value is expected"),
        ("a = 1 b = 2", "line 1, column 7: b stands where the end, and, or or is expected"),
        ("if a = 1 then x else x", "line 1, column 22: both classes are the same"),
        ("if a = 1 then x", "line 1, column 16: the rule ends where else is expected"),
    ],
)
def test_errors_say_where(text, where):
    with pytest.raises(ModelFileError) as error:
        parse_rule(text)
    assert str(error.value).startswith(where)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("seed", range(60))
def test_nothing_is_lost_on_the_way(seed, tmp_path):
    model = random_rule_case(seed).model
    for name in ("rule.json", "rule.txt", "rule.rule"):
        save_rule(model, tmp_path / name)
        again = load_model(tmp_path / name).predictor
        source = RuleSource(model.rule_, "yes", "no")
        # One part of one condition, or parts of one, are the same in both forms.
        assert again.rule_.parts == model.rule_.parts or {len(part) for part in model.rule_.parts} == {1}
        frame = random_rule_case(seed).frame
        assert (again.predict(frame) == model.predict(frame)).all()
        assert again.classes_.tolist() == ["no", "yes"]
    assert source_of(json.loads(json.dumps(rule_json(source)))) == source


def test_json_by_hand(tmp_path):
    document = {
        "schema": "justicia.rule/1",
        "form": "CNF",
        "parts": [
            [{"column": "sex", "test": "in", "values": ["Male"]}, {"column": "age", "test": ">", "number": 40}],
            [{"column": "age", "test": "missing", "not": True}],
        ],
        "holds": 1,
        "fails": 0,
    }
    path = tmp_path / "rules.json"
    path.write_text("\ufeff" + json.dumps(document), encoding="utf-8")
    model = read_rule(path)
    assert model.rule_ == Rule(CNF, ((MALE, OLD), (Condition("age", "missing", negated=True),)))
    assert model.classes_.tolist() == ["0", "1"]


BROKEN = [
    ({"form": "XNF"}, "form is 'XNF', and CNF or DNF is meant"),
    ({"parts": {}}, "parts is no list"),
    ({"parts": [{}]}, "parts[0] is no list"),
    ({"parts": [[7]]}, "parts[0][0] is no object"),
    ({"parts": [[{"column": "a"}]]}, "parts[0][0] lacks 'test'"),
    ({"parts": [[{"column": "a", "test": "="}]]}, "parts[0][0]: no test is called '='"),
    ({"parts": [[{"column": "a", "test": ">"}]]}, "parts[0][0]: test > lacks 'number'"),
    ({"parts": [[{"column": "a", "test": ">", "number": "40"}]]}, "parts[0][0]: number is '40'"),
    ({"parts": [[{"column": "a", "test": ">", "number": 1, "values": []}]]}, "parts[0][0]: test > takes no 'values'"),
    ({"parts": [[{"column": "a", "test": "in", "values": []}]]}, "parts[0][0]: values is empty"),
    ({"parts": [[{"column": "a", "test": "in", "values": [None]}]]}, "parts[0][0]: 'None' among the values"),
    ({"parts": [[{"column": 7, "test": "missing"}]]}, "parts[0][0]: column is '7'"),
    ({"parts": [[{"column": "a", "test": "missing", "not": 1}]]}, "parts[0][0]: \"not\" is '1'"),
    ({"holds": "yes"}, "holds and fails name two classes"),
    ({"holds": "yes", "fails": "yes"}, "holds and fails name two classes"),
    ({"schema": "justicia.rule/2"}, "schema is 'justicia.rule/2', and justicia.rule/1 is read"),
    ({"part": []}, "the rule has a strange key 'part'; did you mean parts?"),
]


@pytest.mark.parametrize(("change", "says"), BROKEN)
def test_malformed_json_is_refused(tmp_path, change, says):
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"schema": "justicia.rule/1", "form": "CNF", "parts": [], **change}))
    with pytest.raises(ModelFileError) as error:
        load_model(path)
    assert str(error.value).startswith(f"r.json: {says}")


def test_files_that_are_something_else(tmp_path):
    (tmp_path / "a.json").write_text("[1, 2]")
    with pytest.raises(ModelFileError, match="XGBoost"):
        load_model(tmp_path / "a.json")
    (tmp_path / "b.json").write_text("{")
    with pytest.raises(ModelFileError, match=r"b\.json is not JSON"):
        load_model(tmp_path / "b.json")
    (tmp_path / "c.rule").write_bytes(b"\xff\xfe")
    with pytest.raises(ModelFileError, match=r"c\.rule is not UTF-8 text"):
        load_model(tmp_path / "c.rule")
    (tmp_path / "d.json").write_text('{"form": "CNF", "parts": [[{"column": "a", "test": ">", "number": 1e999}]]}')
    with pytest.raises(ModelFileError, match="a finite number is meant"):
        load_model(tmp_path / "d.json")


def test_a_stated_rule_in_python():
    frame = pd.DataFrame({"age": [39.0, 41.0, np.nan], "sex": ["Male", "Female", "Female"], "other": 1})
    assert RuleClassifier("sex = Male or age > 40").predict(frame).tolist() == [True, True, False]
    assert RuleClassifier("not age > 40", 1, 0).predict(frame).tolist() == [1, 0, 1]
    with pytest.raises(TableError, match="lacks 'sex', which the rule asks for"):
        RuleClassifier("sex = Male").predict(frame[["age"]])
    with pytest.raises(TableError, match="column 'sex' holds Male"):
        RuleClassifier("sex > 3").predict(frame)
    with pytest.raises(ModelFileError, match="whether it holds or not"):
        RuleClassifier("age > 40", "a", "a")
    with pytest.raises(ModelFileError, match="names both classes"):
        RuleClassifier("age > 40", "a")


def test_values_are_compared_by_the_column_that_holds_them():
    frame = pd.DataFrame({"n": [1.0, 1.5, np.nan], "t": ["1", "1.0", None], "b": [True, False, True]})
    assert RuleClassifier("n = 1").predict(frame).tolist() == [True, False, False]
    assert RuleClassifier("n = 1.0").predict(frame).tolist() == [True, False, False]
    assert RuleClassifier("n != 1").predict(frame).tolist() == [False, True, True]
    assert RuleClassifier("t = 1").predict(frame).tolist() == [True, False, False]
    assert RuleClassifier("t = 1.0").predict(frame).tolist() == [False, True, False]
    assert RuleClassifier("b = True").predict(frame).tolist() == [True, False, True]
    assert RuleClassifier("b = 1").predict(frame).tolist() == [True, False, True]
