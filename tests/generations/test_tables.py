"""Tables and specs as they come: dirty ones are told in one clear line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from justicia.errors import InputError, SpecError, TableError
from justicia.generations import check, read_spec, sequence

DOMAIN = ["female", "male"]


def findings(table, **asked):
    report = check(table, ["gender"], domain={"gender": DOMAIN}, **asked)
    return {one.kind: one for one in report.generations.findings}, report.exit_code


def refused(table, **asked):
    with pytest.raises(InputError) as error:
        sequence(table, "gender", domain=DOMAIN, **asked)
    text = str(error.value)
    assert "\n" not in text
    return text


def table_of(genders, **columns):
    return pd.DataFrame({"gender": genders, **columns})


def test_labels_outside_the_domain_are_named_with_row_and_proposal():
    table = table_of(["female", "femal", "male", "femal", "robot"])
    text = refused(table)
    assert "3 labels of gender outside its domain: 'femal' (row 2, 2 times), 'robot' (row 5)" in text
    assert "did you mean female?" in text
    found, code = findings(table)
    assert (found["off_domain"].count, found["off_domain"].level, code) == (3, "fault", 1)
    # None of the values: certain, so that no interval opens. Unknown: anything may be behind it.
    assert sequence(table, "gender", domain=DOMAIN, off_domain="none").results[0].interval == (5, 5)
    assert sequence(table, "gender", domain=DOMAIN, off_domain="unknown").results[0].interval == (2, 5)
    with pytest.raises(SpecError, match="off_domain cannot be 'drop'"):
        sequence(table, "gender", domain=DOMAIN, off_domain="drop")


@pytest.mark.parametrize("blank", [None, "", "  ", np.nan, pd.NA])
def test_blanks_are_unknown_and_announced(blank):
    table = table_of(pd.Series(["female", blank, "male", "male"], dtype=object))
    report = sequence(table, "gender", domain=DOMAIN)
    assert report.results[0].unknown == 1
    assert report.results[0].interval == (3, 4)
    assert any("1 label of gender is blank and taken as unknown, first in row 2" in text for text in report.warnings)


def test_repeated_steps():
    table = table_of(["female", "male", "male"], run=["a", "a", "a"], step=[1, 2, 2])
    assert "step 2 of run a stands in rows 2 and 3; 1 such repeat" in refused(table)
    # Without a column of runs, runs that were put into one table look like this.
    joined = table_of(["female", "male"] * 2, step=[1, 2, 1, 2])
    assert "step 1 stands in rows 1 and 3; 2 such repeats: if the table holds several runs" in refused(joined)
    found, code = findings(joined)
    assert found["duplicate_step"].count == 2
    assert code == 1
    assert len(sequence(joined.assign(who=list("aabb")), "gender", domain=DOMAIN, by="who").results) == 2


def test_rows_out_of_order_and_mixed_runs_are_sorted():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "run": np.repeat(["a", "b", "c"], 20),
            "step": np.tile(np.arange(1, 21), 3),
            "gender": rng.choice(DOMAIN, 60, p=[0.2, 0.8]),
        }
    )
    right = {one.run: one.interval for one in sequence(table, "gender", domain=DOMAIN).results}
    for seed in range(5):
        shuffled = table.sample(frac=1, random_state=seed)
        assert {one.run: one.interval for one in sequence(shuffled, "gender", domain=DOMAIN).results} == right
        assert "mixed_runs" in findings(shuffled)[0]
    assert "unordered_steps" in findings(table[table["run"] == "a"].iloc[::-1])[0]
    categories = table.assign(run=pd.Categorical(table["run"], ["z", "c", "b", "a"]))
    assert [one.run for one in sequence(categories, "gender", domain=DOMAIN).results] == ["a", "b", "c"]


def test_steps_that_are_missing_or_no_numbers():
    table = table_of(["female", "male", "male"], step=["1", "two", "3"])
    assert "the step (step) of row 2 is no number: 'two'; 1 such row" in refused(table)
    assert "the step (step) of row 1 is blank" in refused(table_of(["female"], step=[None]))
    holes = table_of(["female", "male", "male"], step=[1, 5, 6])
    report = sequence(holes, "gender", domain=DOMAIN)
    assert any("3 steps are missing, first after step 1" in text for text in report.warnings)
    moments = table_of(["female", "male"], step=pd.to_datetime(["2026-01-02", "2026-01-01"]))
    assert sequence(moments, "gender", domain=DOMAIN).results[0].witness.value == "female"


def test_blank_runs():
    text = refused(table_of(["female", "male"], run=["a", None]))
    assert "the run (run) of row 2 is blank; 1 such row" in text
    assert findings(table_of(["female", "male"], run=["a", " "]))[0]["blank_run"].level == "fault"


def test_unicode_forms_and_outer_blanks_are_one_value():
    composed, decomposed = "Caf\u00e9", "Cafe\u0301"
    table = pd.DataFrame({"place": [composed, decomposed, f" {composed}", "日本 ", "日本"]})
    report = check(table, ["place"], domain={"place": [decomposed, "日本"]})
    assert report.exit_code == 0
    assert report.generations.findings[0].kind == "unicode"
    assert report.generations.labels["place"].codes.tolist() == [0, 0, 0, 1, 1]


def test_no_rows(tmp_path):
    assert refused(table_of([])) == "the table has no rows"
    (tmp_path / "t.csv").write_text("gender\n")
    assert refused(tmp_path / "t.csv") == "t.csv has no rows"
    (tmp_path / "t.jsonl").write_text("\n\n")
    assert refused(tmp_path / "t.jsonl") == "t.jsonl has no rows"
    table_of([]).to_parquet(tmp_path / "t.parquet")
    assert refused(tmp_path / "t.parquet") == "t.parquet has no rows"
    (tmp_path / "e.csv").write_text("")
    assert "e.csv: is empty" in refused(tmp_path / "e.csv")


def test_conditions():
    table = table_of(["female", "male", "male", "female"], topic=["poor", "rich", "poor", None], n=[1, 1, 2, 2])
    one = sequence(table, "gender", domain=DOMAIN, where={"topic": "poor"}).results[0]
    assert (one.n, one.beta_star) == (2, 2)
    assert sequence(table, "gender", domain=DOMAIN, where={"topic": ["poor", "rich"], "n": 1}).results[0].n == 2
    assert "no row has topic=por; did you mean poor?" in refused(table, where={"topic": "por"})
    assert "no row satisfies topic=rich, n=2 all at once" in refused(table, where={"topic": "rich", "n": "2"})
    assert "has no column 'topc'; did you mean topic?" in refused(table, where={"topc": "poor"})


def test_columns_that_are_not_there():
    table = table_of(["female"])
    assert "has no run column 'rum'" in refused(table, by="rum")
    assert "has no step column 'when'" in refused(table, step="when")
    with pytest.raises(TableError, match="has no attribute column 'sex'"):
        sequence(table, "sex", domain=DOMAIN)
    with pytest.raises(SpecError, match="no attribute is named"):
        sequence(table)
    with pytest.raises(TableError, match="named more than once: gender"):
        sequence(pd.DataFrame([["a", "b"]], columns=["gender", "gender"]), "gender", domain=DOMAIN)


def test_the_four_kinds_of_table_are_one_table(tmp_path):
    rows = [
        {"run": "a", "step": 1, "flag": True, "size": 1, "gender": "female"},
        {"run": "a", "step": 2, "flag": False, "size": 2, "gender": "male"},
        {"run": "b", "step": 1, "flag": True, "size": 1, "gender": None},
    ]
    frame = pd.DataFrame(rows)
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / "t.jsonl").write_text(lines)
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    domain = {"gender": DOMAIN, "size": [1, 2], "flag": [True, False]}
    answers = []
    for table in (frame, tmp_path / "t.parquet", tmp_path / "t.csv", tmp_path / "t.jsonl", tmp_path / "t.jsonl.gz"):
        text = {**domain, "flag": ["True", "False"]} if str(table).endswith("csv") else domain
        report = sequence(table, list(domain), domain=text)
        answers.append([(one.attribute, one.run, one.n, one.interval, one.unknown) for one in report.results])
        assert (report.generations.source.sha256 is None) == (table is frame)
    assert all(answer == answers[0] for answer in answers)


def test_json_lines_that_cannot_be_read(tmp_path):
    path = tmp_path / "t.jsonl"
    for text, said in (
        ('{"gender": "male"}\n{"gender"', "line 2 is no JSON"),
        ("[1]\n", "line 1 is no JSON object"),
        ('{"gender": "male", "gender": "female"}\n', "line 1 has a key twice"),
        ('{"gender": {"a": 1}}\n', "line 1: gender is neither one value nor a list of values"),
        ("[" * 100_000, "line 1 cannot be read"),
    ):
        path.write_text(text)
        assert said in refused(path)
    path.write_bytes(b'{"gender": "male"}\n{"gender": "\xff"}\n')
    assert "is not UTF-8 text (byte 0xff in line 2)" in refused(path)
    path.write_text('{"gender": ["male", "female"]}\n\n{"step": 2}\n')
    one = sequence(path, "gender", domain=DOMAIN, step="none").results[0]
    assert (one.n, one.unknown, one.interval) == (2, 1, (1, 2))


def test_files_that_are_no_tables(tmp_path):
    assert "there is no such file" in refused(tmp_path / "none.csv")
    assert "is not a file" in refused(tmp_path)
    (tmp_path / "t.parquet").write_text("gender\nmale\n")
    assert "is not a Parquet file that can be read" in refused(tmp_path / "t.parquet")
    (tmp_path / "t.csv.gz").write_text("gender\n")
    assert "cannot be decompressed" in refused(tmp_path / "t.csv.gz")
    with pytest.raises(TableError, match="a file or a DataFrame, not int"):
        sequence(3, "gender", domain=DOMAIN)


def test_codes_of_numbers_and_zeros_stay_as_they_are(tmp_path):
    (tmp_path / "t.csv").write_text("code\n01\n1\n1.0\n")
    report = sequence(tmp_path / "t.csv", "code", domain=["01", "1", "1.0"])
    assert report.results[0].verdict == "holds"


SPEC = """
schema: justicia.generations.spec/1
run: who
step: number
where: {topic: [poor, rich]}
unknown: ["?"]
attributes:
  gender: {domain: [female, male], beta: 20}
  answer:
    domain: [yes, no]
    separator: "|"
  code: ["01", 2]
"""


def test_specs_in_yaml_and_json_say_the_same(tmp_path):
    (tmp_path / "s.yml").write_text(SPEC)
    held = read_spec(tmp_path / "s.yml")
    # Words stay words: yes and no are no truth values here, and 01 keeps its zero.
    assert held.attributes["answer"].domain == ("yes", "no")
    assert held.attributes["code"].domain == ("01", "2")
    assert held.attributes["gender"].beta == 20
    assert held.attributes["gender"].unknown == {"?"}
    assert (held.run, held.step, held.where) == ("who", "number", {"topic": ("poor", "rich")})
    same = {
        "run": "who",
        "step": "number",
        "where": {"topic": ["poor", "rich"]},
        "unknown": "?",
        "attributes": {
            "gender": {"domain": ["female", "male"], "beta": 20},
            "answer": {"domain": ["yes", "no"], "separator": "|"},
            "code": ["01", 2],
        },
    }
    (tmp_path / "s.json").write_text(json.dumps(same))
    assert read_spec(tmp_path / "s.json") == held == read_spec(same)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("attributes: {gender: {domain: [a, a]}}", "s.yml: attribute gender: the domain has a more than once"),
        ("attributes: {gender: {domain: []}}", "the domain has no values"),
        ("attributes: {gender: {domain: a}}", "a domain is a list of values"),
        ("attributes: {gender: {domain: [a, '']}}", "a value of the domain is blank"),
        ("attributes: {gender: {domain: [a, [b]]}}", "is one word or number"),
        ("attributes: {gender: {beta: 3}}", "attribute gender needs a domain"),
        ("attributes: {gender: {domain: [a], beta: 0}}", "beta is a whole number from 1 on, not '0'"),
        ("attributes: {gender: {domain: [a], beta: 2.5}}", "beta is a whole number"),
        ("attributes: {gender: {domain: [a], bta: 2}}", "has no key bta; did you mean beta?"),
        ("attributes: {gender: {domain: [a, '?'], unknown: '?'}}", "? cannot be both a value and a word for unknown"),
        ("attributes: {gender: {domain: ['a|b'], separator: '|'}}", "holds the separator"),
        ("atributes: {}", "the spec has no key atributes; did you mean attributes?"),
        ("run: a", "the spec needs attributes"),
        ("schema: other/1\nattributes: {a: [b]}", "schema other/1 is not known"),
        ("attributes: {a: [b]}\nattributes: {a: [c]}", "line 2: the key attributes stands there twice"),
        ("attributes: {a: [b}", "is no YAML"),
        ("a: &a [*a]\nattributes: *a", "found unconstructable recursive node"),
        ("- a", "a spec is a mapping"),
        ("attributes: {a: [b]}\nwhere: a", "where is a mapping"),
        ("\x00", "is no YAML"),
    ],
)
def test_specs_that_cannot_be_read(tmp_path, text, said):
    (tmp_path / "s.yml").write_text(text)
    with pytest.raises(SpecError) as error:
        read_spec(tmp_path / "s.yml")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_spec_files_that_are_not_there_or_no_json(tmp_path):
    with pytest.raises(SpecError, match="no such spec file"):
        read_spec(tmp_path / "none.yml")
    for text, said in (
        ("{", "line 1 is no JSON"),
        ('{"run": 1, "run": 2}', "run stands there twice"),
        ("3", "a mapping"),
    ):
        (tmp_path / "s.json").write_text(text)
        with pytest.raises(SpecError, match=said):
            read_spec(tmp_path / "s.json")
    (tmp_path / "s.json").write_bytes(b"\xff\xfe")
    with pytest.raises(SpecError, match="not UTF-8"):
        read_spec(tmp_path / "s.json")


def test_what_a_call_says_goes_before_what_the_spec_says(tmp_path):
    spec = {"attributes": {"gender": {"domain": ["female", "male", "other"], "beta": 4}}}
    table = table_of(["female", "male"] * 3)
    assert sequence(table, spec=spec).results[0].beta == 4
    changed = sequence(table, spec=spec, domain={"gender": DOMAIN}, beta=3).results[0]
    assert (changed.beta, changed.verdict) == (3, "holds")
    with pytest.raises(SpecError, match="beta and no domain"):
        sequence(table, spec=spec, beta={"sex": 3})
    with pytest.raises(SpecError, match="a domain without a name"):
        sequence(table, ["gender", "sex"], domain=DOMAIN)


def test_the_spec_of_the_documentation_is_one(tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "generations.md").read_text(encoding="utf-8")
    (tmp_path / "s.yml").write_text(text.split("```yaml\n")[1].split("```")[0])
    held = read_spec(tmp_path / "s.yml")
    assert (held.run, held.step, held.prompt, held.off_domain) == ("run", "step", "prompt", "error")
    assert held.attributes["ethnicity"].separator == "|"
    assert held.attributes["age"].domain == ("young", "old")
    assert held.attributes["gender"].unknown == {"?", "unknown"}
    assert held.neutral == {"context": ("neutral",)}


def test_steps_that_differ_by_little_or_span_all_of_a_small_type():
    large = pd.DataFrame({"gender": ["male", "female"], "step": pd.Series([2**53 + 1, 2**53], dtype=object)})
    assert sequence(large, "gender", domain=DOMAIN).results[0].witness.value == "female"
    assert check(large, ["gender"], domain={"gender": DOMAIN}).exit_code == 0
    small = table_of(["male", "female", "male"], step=np.array([-100, 100, 101], dtype=np.int8))
    assert findings(small)[0]["missing_steps"].count == 199


def test_halves_of_surrogate_pairs_and_things_that_are_no_labels(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"gender": "\\ud800"}\n{"gender": "male"}\n')
    assert "ud800' (row 1)" in refused(path)
    report = sequence(path, "gender", domain=DOMAIN, off_domain="none")
    assert "ud800" in report.to_json()
    assert "holds things that are no labels" in refused(table_of([{"a": 1}, {"b": 2}]))


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"by": ["run"]}, "by is the name of one column"),
        ({"where": 3}, "where is a mapping"),
        ({"neutral": ["a"]}, "neutral is"),
    ],
)
def test_keywords_of_the_wrong_kind(asked, says):
    with pytest.raises(SpecError, match=says):
        sequence(pd.DataFrame({"a": ["m", "f"], "run": 1}), "a", domain=["m", "f"], **asked)
