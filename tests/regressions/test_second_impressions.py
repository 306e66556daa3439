"""What users stumbled over who knew the README alone: warnings, and what messages tell them to do."""

from __future__ import annotations

import gzip
import io
import pickle
import zipfile

import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.cautions import announce_time, warn_of_few
from justicia.collecting import Announcements
from justicia.errors import ModelFileError, UnsupportedModelError
from justicia.speaking import speaking_options
from justicia.words import did_you_mean
from tests.regressions.common import audit, people, pipeline


def decided(**groups):
    """One row a person; a group is its number selected and its number of people."""
    rows = [(name, int(i < k)) for name, (k, n) in groups.items() for i in range(n)]
    return pd.DataFrame(rows, columns=["sex", "hired"])


def of(texts, words):
    """The one text that holds these words."""
    (found,) = [text for text in texts if words in text]
    return found


SIZES = {"a": (20, 40), "b": (20, 30), "c": (3, 29), "d": (1, 2), "e": (1, 3), "f": (2, 5)}


@pytest.mark.parametrize("tests", [False, True])
def test_decisions_of_small_groups_are_warned_of(tests):
    held = justicia.audit_decisions(decided(**SIZES), decision="hired", tests=tests)
    assert held.warnings == (
        "4 groups of sex: fewer than 30 people (d (2); e (3); f (5); and 1 more); rates of so few people are mostly "
        "chance; min_group=30 leaves them out of extremes, measures and tests",
    )
    with speaking_options():
        held = justicia.audit_decisions(decided(**SIZES), decision="hired", tests=tests)
    assert held.warnings[0].endswith("; justicia verify --min-group 30 leaves them out of extremes, measures and tests")
    quiet = justicia.audit_decisions(decided(**SIZES), decision="hired", min_group=30)
    assert not any("30 people" in text for text in quiet.warnings)
    few = justicia.audit_decisions(decided(**SIZES), decision="hired", min_group=4)
    assert "2 groups of sex: fewer than 30 people (f (5); c (29));" in of(few.warnings, "30 people")


def test_suppressed_groups_are_not_named_among_the_small_ones():
    held = justicia.audit_decisions(decided(**SIZES, g=(4, 20)), decision="hired", suppress_below=10)
    shown = {one.group["sex"]: one.n for one in held.groupings[0].compared if one.n < 30}
    assert "d" not in shown
    for text in held.warnings:
        assert not any(f"{name} ({n})" in text for name, n in (("d", 2), ("e", 3), ("f", 5)))


def test_small_groups_are_named_once_for_all_groupings():
    table = decided(a=(20, 40), b=(20, 30), c=(3, 29)).assign(race=["x", "y"] * 49 + ["z"])
    held = justicia.audit_decisions(table, decision="hired", sensitive_features=[["sex"], ["race"]])
    assert of(held.warnings, "30 people").startswith(
        "1 group of sex, 1 group of race: fewer than 30 people (z (1); c (29)); "
    )


def test_leaving_out_is_no_advice_where_nothing_is_left_to_compare():
    held = justicia.audit_decisions(decided(a=(20, 40), b=(3, 9)), decision="hired")
    assert held.warnings[0].endswith("; audit more rows, or fewer sensitive columns together")


@pytest.mark.parametrize("structure", ["tree", "independent", "empirical"])
def test_small_groups_of_models_are_named(structure):
    table, _ = people()
    kept = pd.concat([table[table["sex"] == "M"].head(45), table[table["sex"] == "F"].head(35)])
    kept = pd.concat([kept, kept.head(4).assign(sex="X")])
    held = audit(pipeline(), kept, population=structure)
    text = of(held.warnings, "30 people")
    assert text.startswith("1 group of sex: fewer than 30 people (X (4)); under the ")
    assert ("lean on those of other groups" in text) == (structure == "tree")
    assert text.endswith("; min_group=30 leaves them out of extremes, measures and tests")
    assert not any("30 people" in one for one in audit(pipeline(), kept, population=structure, min_group=30).warnings)


def test_no_small_group_no_warning():
    with Announcements() as said:
        warn_of_few([(("sex",), ())], "nothing")
    assert said.warnings == ()


def test_columns_that_may_be_the_true_outcome_are_offered_beside_decisions():
    table = decided(a=(20, 40), b=(10, 40)).assign(true=[0, 1] * 40, pay=range(80), area=["n", "s"] * 40)
    held = justicia.audit_decisions(table, decision="hired")
    assert held.truth is None
    assert of(held.announcements, "no label") == (
        "no label is named: if true holds the true outcome, pass label='true' for true and false positive rates"
    )
    two = justicia.audit_decisions(table.assign(more=["no", "yes"] * 40), decision="hired")
    assert "if one of true, more holds" in of(two.announcements, "no label")
    named = justicia.audit_decisions(table, decision="hired", label="true")
    assert not any("no label" in text for text in named.announcements)
    scored = justicia.audit_decisions(table, score="pay", threshold=30)
    assert "if one of hired, true holds" in of(scored.announcements, "no label")


def test_a_label_of_numbers_beside_a_model_of_truth_values(tmp_path):
    table, out = people()
    model = pipeline().fit(table, out == "yes")
    written = table.assign(hired=(out == "yes").astype(int))
    written.to_csv(tmp_path / "people.csv", index=False)
    expected = audit(pipeline(), table.assign(out=out)).by_group
    for data, stream in ((written, None), (tmp_path / "people.csv", True), (tmp_path / "people.csv", False)):
        held = audit(model, data, favorable=None, stream=stream)
        assert held.roles.truth.name == "hired"
        assert held.by_group["tpr"].tolist() == pytest.approx(expected["tpr"].tolist())


def test_ages_are_offered_in_classes():
    table = decided(a=(20, 40), b=(20, 40)).assign(Age=range(18, 98), wage=range(80))
    held = justicia.audit_decisions(table, decision="hired")
    assert of(held.announcements, "sensitive: sex").endswith(
        "; Age can be one in classes: sensitive_features='Age', bins={'Age': [25, 40, 60]}"
    )
    assert "can be one" not in str(justicia.audit_decisions(table, decision="hired", sensitive_features="sex"))
    with speaking_options(), pytest.raises(justicia.InputError, match=r"--sensitive Age --bins Age=25,40,60$"):
        justicia.audit_decisions(table.drop(columns="sex"), decision="hired")
    for column in (["old", "young"] * 40, [20, 30] * 40):
        held = justicia.audit_decisions(table.assign(Age=column), decision="hired")
        assert not any("in classes" in text for text in held.announcements)
    classes = justicia.audit_decisions(
        table, decision="hired", sensitive_features="Age", bins={"Age": [25, 40, 60]}
    ).groupings[0]
    assert sorted(group.n for group in classes.groups) == [8, 15, 20, 37]


def test_a_sensitive_column_that_nobody_shares_is_warned_of_in_one_line():
    born = [f"{1950 + i // 12}-{1 + i % 12:02}-01" for i in range(300)] * 2
    table = pd.DataFrame({"born": born, "sex": ["f", "m"] * 300, "hired": [0, 1, 1] * 200})
    held = justicia.audit_decisions(table, decision="hired", sensitive_features=[["born", "sex"], ["born"]])
    assert of(held.warnings, "hardly anybody").startswith(
        "sensitive column 'born' has 300 values among 600 people, so hardly anybody is in the same group"
    )
    # Many people in each of many groups are no such case.
    shared = pd.DataFrame({"town": [f"t{i:03}" for i in range(100)] * 30, "hired": [0, 1, 1] * 1000})
    held = justicia.audit_decisions(shared, decision="hired", sensitive_features="town")
    assert not any("hardly anybody" in text for text in held.warnings)


def test_a_model_is_warned_of_a_sensitive_column_that_nobody_shares():
    table, _ = people(150)
    dated = table.assign(day=[f"day {i}" for i in range(150)])
    held = audit(pipeline(), dated, sensitive_features="day")
    assert "'day' has 150 values among 150 people" in of(held.warnings, "hardly anybody")


def test_numbers_with_decimal_commas_are_no_missing_values(tmp_path):
    table, _ = people()
    commas = table.assign(pay=[str(value).replace(".", ",") for value in table["pay"]])
    commas.to_csv(tmp_path / "people.csv", index=False, sep=";")
    for stream in (True, False):
        with pytest.raises(justicia.InputError, match=r"write decimals with a point \(3\.14\)") as error:
            audit(pipeline(), tmp_path / "people.csv", delimiter=";", stream=stream)
        assert "na=" not in str(error.value)
    with pytest.raises(justicia.InputError, match="name them with na="):
        audit(pipeline(), table.assign(pay=["unknown", *table["pay"][1:]]))
    hired = decided(a=(1, 2)).assign(score=["0,5", "1.000,5"])
    for options in (
        {"score": "score", "threshold": 0.3},
        {"decision": "hired", "weight": "score"},
        {"decision": "hired", "sensitive_features": "score", "bins": {"score": [1]}},
    ):
        with pytest.raises(justicia.InputError, match=r"write decimals with a point \(3\.14\)"):
            justicia.audit_decisions(hired, **options)


@pytest.mark.parametrize(
    "model",
    [SVC(), KNeighborsClassifier(), MLPClassifier((2,), max_iter=500, tol=1.0, random_state=0)],
    ids=["svc", "neighbors", "network"],
)
def test_models_that_are_not_encoded_are_audited_by_their_decisions(model):
    table, out = people()
    model.fit(table[["age", "pay"]], out)
    with pytest.raises(UnsupportedModelError) as error:
        justicia.verify(model, table, sensitive_features="sex")
    assert "audit_decisions(table, decision=model.predict(X))" in str(error.value)
    with speaking_options(), pytest.raises(UnsupportedModelError) as error:
        justicia.verify(model, table, sensitive_features="sex")
    assert "--decisions FILE --decision COLUMN in place of the model" in str(error.value)
    # What the message says is what works.
    given = model.predict(table[["age", "pay"]])
    held = justicia.audit_decisions(table, decision=given, favorable=given[0], sensitive_features="sex")
    assert held.groupings[0].sensitive == ("sex",)


def test_files_of_models_that_are_not_encoded_are_audited_by_their_decisions(tmp_path):
    table, out = people()
    model = MLPClassifier((2,), max_iter=500, tol=1.0, random_state=0).fit(table[["age", "pay"]], out)
    path = tmp_path / "network.pkl"
    path.write_bytes(pickle.dumps(model))
    with speaking_options(), pytest.raises(ModelFileError) as error:
        justicia.verify(path, table)
    assert "--trust-model" in str(error.value)
    assert "--decisions FILE --decision COLUMN" in str(error.value)


def test_functions_in_model_files_are_called_functions(tmp_path):
    path = tmp_path / "own.pkl"
    for module in ("__main__", "cloudpickle.cloudpickle", "joblib.externals.cloudpickle.cloudpickle", "dill._dill"):
        path.write_bytes(b"\x80\x04c" + module.encode() + b"\n_make_function\n.")
        with pytest.raises(ModelFileError, match=r"functions or classes of somebody's own.*trust_model=True"):
            justicia.verify(path, people()[0])
    for module, name, says in (
        ("__main__", "no_such_function", "module on PYTHONPATH and save the model again"),
        ("no_such_module.inner", "f", "install no_such_module, or put your module of that name on PYTHONPATH"),
    ):
        path.write_bytes(b"\x80\x04c" + module.encode() + b"\n" + name.encode() + b"\n.")
        with pytest.raises(ModelFileError) as error:
            justicia.verify(path, people()[0], trust_model=True)
        assert "classes and functions that the model was made with must be importable" in str(error.value)
        assert says in str(error.value)


ZIPPED = io.BytesIO()
with zipfile.ZipFile(ZIPPED, "w") as book:
    book.writestr("[Content_Types].xml", "<Types/>")
    book.writestr("xl/workbook.xml", "<workbook/>")
OPEN = io.BytesIO()
with zipfile.ZipFile(OPEN, "w") as book:
    book.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
PLAIN = io.BytesIO()
with zipfile.ZipFile(PLAIN, "w") as book:
    book.writestr("people.csv", "age,sex\n")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.xlsx", ZIPPED.getvalue(), "is a workbook of a spreadsheet program: save"),
        ("a.csv", ZIPPED.getvalue(), "is a workbook of a spreadsheet program: save"),
        ("a.ods", OPEN.getvalue(), "is a workbook of a spreadsheet program: save"),
        ("a.zip", PLAIN.getvalue(), "is an archive (zip): take the table out of it, or save"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "is a workbook of a spreadsheet program"),
        ("a.sav", b"$FL2@(#) SPSS" + bytes(99), "is a data set of SPSS: save"),
        ("a.dta", b"\x72\x02\x01\x00" + bytes(99), "is a data set of Stata: save"),
        ("a.dta", b"<stata_dta><header>", "is a data set of Stata: save"),
        ("a.rds", gzip.compress(b"X\n" + bytes(99), mtime=0), "is a data file of R: save"),
        ("a.feather", b"ARROW1" + bytes(99), "is a Feather or Arrow file: save"),
        ("a.sqlite", b"SQLite format 3" + bytes(99), "is an SQLite database: save"),
        ("a.db", b"\x00\x01" + bytes(99), "is a database: save"),
        ("a.pkl", b"\x80\x04\x95" + bytes(9), "is a pickle: save"),
        ("a.json", b'{"age": [1, 2]}', "is JSON: save"),
        ("a.json", b"[\n 1]", "is JSON: save"),
        ("a.csv", b'[{"age": 1}]', "is JSON: save"),
        ("a.parq", b"PAR1" + bytes(99), "is a Parquet file whose name does not end in .parquet"),
        ("a.csv", b"\n<!DOCTYPE html><html>", "is a web page (HTML)"),
        ("a.csv", b"age,sex,hired\n" + b"1,\x00\x01,1\n" * 9, "is not a text file"),
    ],
)
def test_files_that_are_no_tables_are_told(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    for stream in (None, True):
        with pytest.raises(justicia.InputError) as error:
            justicia.audit_decisions(tmp_path / name, decision="hired", stream=stream)
        assert says in str(error.value)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["a.csv", "a.xls", "a.dta", "a.db", "a.txt"])
@pytest.mark.parametrize("header", ["ORC", "RDX", "FEA1", "ARROW1", "$FL2", "PKs"])
def test_text_is_a_table_whatever_its_name_and_its_first_column_are(tmp_path, name, header):
    (tmp_path / name).write_text(f"{header},sex,hired\n1,f,1\n2,m,0\n")
    for stream in (None, True):
        held = justicia.audit_decisions(tmp_path / name, decision="hired", stream=stream)
        assert held.table.n_rows == 2


def test_a_group_names_the_sensitive_columns_of_its_formula():
    with Announcements() as said:
        text = justicia.encode("tree", "titanic", group="gender=female", population="independent").to_sdimacs()
    assert text.splitlines()[0] == "c value: the selection rate of gender = female"
    assert text.splitlines()[1].startswith("c groups: gender, ")
    assert of(said.announcements, "sensitive: ").startswith(
        "sensitive: gender, the columns of the group; override with"
    )
    assert of(said.announcements, "the formula's") == "the formula's value is the selection rate of gender = female"
    same = justicia.encode(
        "tree", "titanic", group={"gender": "female"}, sensitive_features="gender", population="independent"
    )
    assert same.to_sdimacs() == text
    with Announcements() as said:
        justicia.encode("tree", "titanic", sensitive_features="gender", population="independent")
    assert of(said.announcements, "the formula's") == (
        "the formula's value is the largest selection rate of a group; ask for another with group= or question="
    )
    with pytest.raises(justicia.InputError, match=r"'gendr' is not in the table; did you mean gender\?"):
        justicia.encode("tree", "titanic", group="gendr=female", population="independent")


@pytest.mark.parametrize(
    ("word", "choices", "meant"),
    [
        ("income", ["name", "age"], None),
        ("income", ["outcome", "age"], None),
        ("education", ["vacation"], None),
        ("label", ["race", "table"], None),
        ("income", ["income_2020", "name"], "income_2020"),
        ("sex", ["applicant_sex", "age"], "applicant_sex"),
        ("applicant sex", ["sex", "age"], "sex"),
        ("incme", ["name", "income"], "income"),
        ("sxe", ["sex", "age"], "sex"),
        ("Gender", ["gender"], "gender"),
        ("gendre", ["gender", "age"], "gender"),
        ("disparat", ["statistical_parity_difference", "disparate_impact"], "disparate_impact"),
        ("ag", ["agent"], None),
        ("miller", ["plain", "miller-madow"], "miller-madow"),
        ("", ["a"], None),
        ("..", ["a", ""], None),
    ],
)
def test_only_what_is_near_is_proposed(word, choices, meant):
    says = did_you_mean(word, choices)
    assert ("did you mean" in says) == (meant is not None)
    assert meant is None or f"did you mean {meant}?" in says
    assert f"(there are: {', '.join(choices)})" in says


@pytest.mark.parametrize("name", ["verify", "audit_decisions"])
def test_misspelt_keywords_get_a_proposal(name):
    for keyword, meant in (("sensitive", "sensitive_features"), ("favourable", "favorable"), ("Label", "label")):
        with pytest.raises(TypeError, match=rf"{name}\(\) got .*'{keyword}'; did you mean {meant}\?"):
            getattr(justicia, name)("tree", **{keyword: "sex"})
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        getattr(justicia, name)(**{"label": "x", "model": 1} if name == "verify" else {"label": "x"})
    with pytest.raises(TypeError, match=r"did you mean population\?"):
        justicia.encode("tree", "titanic", popualtion="tree")


def test_misspelt_names_of_the_package_get_a_proposal():
    for name, meant in (("verfy", "verify"), ("audit_decision", "audit_decisions"), ("metric", "metrics")):
        with pytest.raises(AttributeError, match=rf"has no attribute '{name}'; did you mean {meant}\?"):
            getattr(justicia, name)
    assert not hasattr(justicia, "_nothing")


def test_intervals_are_labelled_by_their_methods():
    held = justicia.audit_decisions(
        decided(a=(20, 40), b=(12, 40), c=(15, 40)),
        decision="hired",
        require="sample.disparate_impact>=0.8",
        tests=True,
    )
    text = " ".join(held.to_text(200).split())
    assert "95% interval of groups: Wilson, each alone; of measures: Wilson intervals, simultaneous over groups" in text
    assert "(Clopper-Pearson, all groups together), on both sides of the limit" in text
    assert "its interval is of that ratio alone: log-ratio" in text
    table, _ = people()
    model = audit(pipeline(), table, require="sample.disparate_impact>=0.8")
    text = " ".join(model.to_text(200).split())
    assert "95% interval of groups: Wilson, each alone; of measures: " in text
    assert "errors of most favored least favored disparate impact verification 0 0 0 sampling" in text


@pytest.mark.parametrize(
    ("limit", "groupings", "answers", "says"),
    [
        (None, 3, 3, None),
        (6, 3, 3, None),
        (30, 1, 1, None),
        (20, 3, 1, None),
        (21, 3, 1, "there are 3 (1 for each of 3 groupings): at most 63 s (1.1 minutes) together"),
        (30, 3, 3, "there are 9 (3 for each of 3 groupings): at most 270 s (4.5 minutes) together"),
        (600, 3, 4, "there are 12 (4 for each of 3 groupings): at most 7,200 s (2.0 hours) together"),
    ],
)
def test_what_all_answers_may_take_is_announced(limit, groupings, answers, says):
    with Announcements() as said:
        announce_time(limit, groupings, answers)
    assert len(said.announcements) == (says is not None)
    assert says is None or says in said.announcements[0]
    assert "max" not in "".join(said.announcements)
    with speaking_options(), Announcements() as said:
        announce_time(limit, groupings, answers)
        assert says is None or said.announcements[0].endswith("; --max-time limits the whole command")


def test_an_audit_with_a_long_time_limit_says_what_all_answers_may_take():
    table, out = people()
    held = audit(pipeline(), table, y=out, time_limit=25, sensitive_features=[["sex"], ["race"]])
    assert "there are 6 (3 for each of 2 groupings): at most 150 s" in of(held.announcements, "the time limit")
    held = audit(pipeline(), table, time_limit=25, sensitive_features=[["sex"], ["race"]])
    assert not any("the time limit" in text for text in held.announcements)


def test_a_score_that_is_named_as_decision_is_told(tmp_path):
    table = decided(a=(20, 40), b=(20, 40)).assign(points=range(80))
    with speaking_options(), pytest.raises(justicia.InputError, match="pass --score points and --threshold"):
        justicia.audit_decisions(table, decision="points")
    assert justicia.audit_decisions(table, decision="points", favorable=[3, 4]).groupings[0].groups[0].selected == 2


def test_a_number_of_each_person_is_no_group():
    table = decided(a=(20, 40)).assign(id=range(40), age=range(20, 60))
    for name, says in (("id", "bins={'id': [EDGE, EDGE]}, or name another column"), ("age", "{'age': [25, 40]}")):
        with pytest.raises(justicia.InputError) as error:
            justicia.audit_decisions(table, decision="hired", sensitive_features=name)
        assert str(error.value).endswith(says)


def test_tables_of_similar_names_are_proposed(tmp_path):
    (tmp_path / "people.csv").write_text("sex,hired\nf,1\n")
    (tmp_path / "people.pkl").write_bytes(b"")
    for name, meant in (("peple.csv", "people.csv"), ("people", "people.csv"), ("adlut", "adult")):
        with pytest.raises(justicia.InputError, match=rf"there is no such file; did you mean {meant}\?"):
            justicia.audit_decisions(tmp_path / name, decision="hired")
    for name in ("other.csv", "no/folder/people.csv"):
        with pytest.raises(justicia.InputError, match=r"there is no such file \(bundled"):
            justicia.audit_decisions(tmp_path / name, decision="hired")


@pytest.mark.parametrize("stream", [False, True])
def test_a_label_that_is_found_can_be_declined(tmp_path, stream):
    table, out = people()
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(table[["age", "pay"]], out)
    table.assign(out=out).to_csv(tmp_path / "people.csv", index=False)
    options = {"sensitive_features": "sex", "favorable": "yes", "stream": stream}
    found = justicia.verify(model, tmp_path / "people.csv", **options)
    assert found.to_dict()["label"] == "out"
    held = justicia.verify(model, tmp_path / "people.csv", label="none", **options)
    assert held.to_dict()["label"] is None
    assert held.by_group["selection_rate"].tolist() == found.by_group["selection_rate"].tolist()
    with pytest.raises(justicia.InputError, match="label column 'nones' is not in the table"):
        justicia.verify(model, tmp_path / "people.csv", label="nones", **options)
