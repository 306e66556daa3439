"""The gate: requirements in the command, in files, in a test suite and in JUnit's XML, all judged alike."""

from __future__ import annotations

import json
import pickle
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.cli import main
from justicia.errors import GroupingError, RequirementError
from justicia.judging import RequirementAudit
from justicia.population.networks import network_from_text
from justicia.report.json import schema
from justicia.report.junit import junit_xml
from justicia.testing import assert_requirement


def run(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    captured = capsys.readouterr()
    return stopped.value.code, captured.out, captured.err


def table(*groups):
    """People of (group, selected, all), whose column x the model repeats."""
    rows = [(name, int(i < k)) for name, k, n in groups for i in range(n)]
    return pd.DataFrame(rows, columns=["sex", "x"])


@pytest.fixture
def gate(tmp_path, monkeypatch, capsys):
    """Audits a table in a folder of its own: exit code, audit, standard error, and cases of the JUnit file."""
    monkeypatch.chdir(tmp_path)
    model = DecisionTreeClassifier().fit(pd.DataFrame({"x": [0, 1]}), [0, 1])
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))

    def audit(frame, *words):
        frame.to_csv(tmp_path / "people.csv", index=False)
        code, out, err = run(
            capsys, "verify", "--model", "model.pkl", "--data", "people.csv", "--sensitive", "sex", "--population",
            "empirical", "--junit", "junit.xml", "--json", "-", *words,
        )  # fmt: skip
        cases = ElementTree.parse(tmp_path / "junit.xml").getroot().iter("testcase") if out else []
        held = json.loads(out) if out else None
        if held is not None:
            jsonschema.Draft202012Validator(schema()).validate(held)
        return code, held, err, [(case.get("name"), [part.tag for part in case]) for case in cases]

    return audit


def verified(frame):
    model = DecisionTreeClassifier().fit(pd.DataFrame({"x": [0, 1]}), [0, 1])
    return justicia.verify(model, frame, sensitive_features="sex", population="empirical")


FOUR_FIFTHS = table(("f", 3, 5), ("m", 3, 4))
HALF = table(("f", 1, 4), ("m", 2, 4))
NOBODY = table(("f", 0, 4), ("m", 0, 4))


@pytest.mark.parametrize("source", ["", "sample."])
@pytest.mark.parametrize(
    ("frame", "status", "code", "tag"),
    [
        (FOUR_FIFTHS, "met", 0, "system-out"),
        (HALF, "breached", 1, "failure"),
        (NOBODY, "undecided", 3, "error"),
    ],
    ids=["four fifths", "half", "nobody"],
)
def test_the_command_a_test_suite_and_junit_agree(gate, source, frame, status, code, tag):
    text = f"{source}disparate_impact>=0.8"
    exit_code, held, _, cases = gate(frame, "--require", text)
    assert exit_code == code
    assert [one["status"] for one in held["requirements"]] == [status]
    assert cases == [(text, [tag])]
    audit = verified(frame)
    if status == "met":
        assert_requirement(audit, text)
    else:
        with pytest.raises(AssertionError, match=rf"disparate_impact>=0.8 is {status}: .*disparate_impact"):
            assert_requirement(audit, text)


def test_a_breach_outweighs_what_is_undecided(gate):
    code, _, _, cases = gate(
        HALF, "--require", "disparate_impact>=0.8", "--require", "equal_opportunity_difference<=0.1",
        "--require", "selection_rate[sex=f]>=0.25",
    )  # fmt: skip
    assert code == 1
    assert [tags for _, tags in cases] == [["failure"], ["error"], ["system-out"]]


def test_junit_counts_and_escapes(gate, tmp_path):
    frame = HALF.assign(sex=HALF["sex"].map({"f": '<f> & "x"', "m": "m\x07é"}))
    text = "selection_rate[sex='<f> & \"x\"']>=0.5"
    code, _, _, cases = gate(frame, "--require", text, "--require", "disparate_impact>=.1")
    assert code == 1
    assert cases[0] == (text, ["failure"])
    root = ElementTree.parse(tmp_path / "junit.xml").getroot()
    suite = root.find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert "smallest selection_rate" in suite.find("testcase/failure").get("message")


def test_junit_holds_what_xml_cannot():
    text = junit_xml([RequirementAudit("a\x00b", "breached", 'c\ud800 <d> "e"\n]]>')], "\x1b", "<m>")
    case = ElementTree.fromstring(text.encode()).find("testsuite/testcase")
    assert case.get("name") == "a\ufffdb"
    assert case.find("failure").get("message").startswith('c\ufffd <d> "e"')
    empty = ElementTree.fromstring(junit_xml([]).encode())
    assert empty.get("tests") == "0"


def test_filters_are_judged_in_every_grouping_that_has_them():
    rng = np.random.default_rng(1)
    n = 600
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], n), "race": rng.choice(["B", "W"], n), "x": rng.integers(0, 2, n)}
    )
    frame.loc[(frame["sex"] == "f") & (frame["race"] == "B") & (rng.random(n) < 0.8), "x"] = 0
    model = DecisionTreeClassifier().fit(pd.DataFrame({"x": [0, 1]}), [0, 1])
    audit = justicia.verify(model, frame, sensitive_features=[["sex", "race"], ["race"]], population="empirical")
    rates = frame.groupby(["sex", "race"])["x"].mean()
    assert rates["f", "B"] < 0.2 < frame.groupby("race")["x"].mean()["B"]
    with pytest.raises(AssertionError, match="sex x race: smallest selection_rate of race B is"):
        assert_requirement(audit, "selection_rate[race=B]>=0.2")
    assert_requirement(audit, "selection_rate[race=W]>=0.2", "selection_rate[sex=m,race=B]>=0.2")
    # A filter that leaves one group of a grouping compares the groups of the other.
    held = rates["f", "B"] / rates["m", "B"]
    assert_requirement(audit, f"sample.disparate_impact[race=B]>={held - 1e-6:.9f}")
    with pytest.raises(AssertionError):
        assert_requirement(audit, f"sample.disparate_impact[race=B]>={held + 1e-6:.9f}")


def test_requirements_to_a_reference_group(gate):
    frame = table(("f", 3, 5), ("m", 3, 4), ("x", 4, 4))
    code, held, _, _ = gate(
        frame, "--reference", "sex=m", "--require", "disparate_impact_to_reference[sex=f]>=0.8",
        "--require", "disparate_impact_to_reference[sex=x]>=0.75",
    )  # fmt: skip
    assert code == 0
    grouping = held["groupings"][0]
    assert grouping["reference"] == {"sex": "m"}
    beside = {one["group"]["sex"]: one["to_reference"] for one in grouping["groups"]}
    assert beside["m"] is None
    assert beside["f"]["sample_ratio"] == 0.8
    assert beside["x"]["ratio"]["lo"] == pytest.approx(4 / 3)
    assert beside["f"]["difference"]["lo"] == pytest.approx(-0.15)
    assert grouping["measures"]["disparate_impact"]["to_reference"]["sample"]["value"] == 0.75
    code, held, _, _ = gate(frame, "--require", "disparate_impact_to_reference>=0.8")
    assert code == 3
    assert "--reference" in held["requirements"][0]["reason"]
    code, held, err, _ = gate(frame, "--reference", "sex=w")
    assert code == 2
    assert "nobody has 'w' in 'sex'" in err


def test_filters_on_nobody_are_bad_calls(gate):
    code, held, err, _ = gate(HALF, "--require", "selection_rate[sex=F]>=0.1")
    assert (code, held) == (2, None)
    assert "nobody has 'F' in 'sex'; did you mean f?" in err
    with pytest.raises(RequirementError, match="did you mean sex"):
        assert_requirement(verified(HALF), "selection_rate[sxe=f]>=0.1")
    with pytest.raises(TypeError):
        assert_requirement(verified(HALF))


def test_requirements_in_a_file_are_found_and_announced(gate, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.justicia]\nrequire = ["disparate_impact>=0.8"]\n')
    code, held, err, _ = gate(HALF)
    assert code == 1
    assert [one["text"] for one in held["requirements"]] == ["disparate_impact>=0.8"]
    assert "1 requirement of pyproject.toml; --config none leaves them out" in err
    code, held, _, _ = gate(HALF, "--config", "none")
    assert (code, held["requirements"]) == (0, [])
    # justicia.toml comes first, and options are added.
    (tmp_path / "justicia.toml").write_text('require = "disparate_impact>=0.4"\n')
    code, held, err, _ = gate(HALF, "--require", "selection_rate>=0.1")
    assert code == 0
    assert [one["text"] for one in held["requirements"]] == ["selection_rate>=0.1", "disparate_impact>=0.4"]
    assert "justicia.toml" in err
    (tmp_path / "other.toml").write_text('require = ["disparate_impact>=0.9", "selection_rate>=0.1"]\n')
    code, held, _, _ = gate(HALF, "--config", "other.toml")
    assert (code, len(held["requirements"])) == (1, 2)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("require = 3", "require is a list of texts"),
        ("require = [3]", "require is a list of texts"),
        ("requires = []", "no key 'requires'; did you mean require"),
        ("require = [", "is no TOML"),
        ("require = ['disparate_impct>=0.8']", "did you mean disparate_impact"),
        ("[tool]\njusticia = 3", "a table of keys"),
    ],
)
def test_files_that_say_something_else(gate, tmp_path, text, says):
    (tmp_path / "justicia.toml").write_text(text)
    code, held, err, _ = gate(HALF)
    assert (code, held) == (2, None)
    assert says in err
    assert not (tmp_path / "junit.xml").exists()


def test_files_that_are_not_ours(gate, tmp_path):
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    code, held, _, _ = gate(HALF)
    assert (code, held["requirements"]) == (0, [])
    (tmp_path / "pyproject.toml").write_text("[project\n")
    code, _, err, _ = gate(HALF)
    assert code == 0
    assert "no requirements are read from it" in err
    for name, says in (("pyproject.toml", "is no TOML"), ("missing.toml", "no such file")):
        code, _, err, _ = gate(HALF, "--config", name)
        assert code == 2
        assert says in err


def test_targets_of_junit(gate, tmp_path, capsys):
    code, _, err, _ = gate(HALF, "--junit", "people.csv")
    assert code == 2
    assert "would be written over" in err
    HALF.to_csv("people.csv", index=False)
    words = ["verify", "--model", "model.pkl", "--data", "people.csv", "--sensitive", "sex", "--quiet"]
    code, out, _ = run(capsys, *words, "--require", "disparate_impact>=.8", "--junit", "-")
    assert code == 1
    assert ElementTree.fromstring(out).find(".//failure") is not None


def test_a_gate_without_requirements_says_so(gate, tmp_path):
    code, _, err, cases = gate(HALF)
    assert (code, cases) == (0, [])
    assert "junit.xml has no test case" in err
    (tmp_path / "justicia.toml").write_text("require = ['disparate_impact>=0.4']")
    code, _, err, cases = gate(HALF, "--require", "disparate_impact>=0.4")
    assert (code, len(cases)) == (0, 1)
    assert "no test case" not in err
    code, _, err, _ = gate(HALF, "--population-out", "justicia.toml")
    assert code == 2
    assert "would be written over" in err


def test_a_stated_network_says_not_how_many_people_there_are():
    variables = [
        {"name": "sex", "values": ["f", "m"], "probabilities": [0.5, 0.5]},
        {"name": "x", "values": [0, 1], "parents": ["sex"], "probabilities": [[0.6, 0.4], [0.5, 0.5]]},
    ]
    network = network_from_text(json.dumps({"schema": "justicia.network/1", "variables": variables}))
    model = DecisionTreeClassifier().fit(pd.DataFrame({"x": [0, 1]}), [0, 1])
    audit = justicia.verify(model, HALF, sensitive_features="sex", population=network)
    assert_requirement(audit, "disparate_impact>=0.8", "selection_rate[sex=f]>=0.4")
    with pytest.raises(AssertionError, match=r"undecided: .* does not say how many people"):
        assert_requirement(audit, "disparate_impact_to_overall>=0.8")


def test_what_python_refuses():
    model = DecisionTreeClassifier().fit(pd.DataFrame({"x": [0, 1]}), [0, 1])
    for reference in ({"sex": "w"}, "race=B", "sex", 3, {}):
        with pytest.raises(GroupingError):
            justicia.verify(model, HALF, sensitive_features="sex", reference=reference)


def test_text_and_json_of_everything_at_once(adult, adult_tree):
    given = {"sensitive_features": ["race", "sex"], "label": "income", "population": "independent"}
    plain = justicia.verify(adult_tree, adult, **given).to_text(120)
    for part in ("reference group", "stratum", "all people together", "predictive parity ratio"):
        assert part not in plain
    audit = justicia.verify(adult_tree, adult, **given, reference="race=White,sex=Male", given="education")
    text = audit.to_text(120, all_measures=True)
    for part in (
        "beside the reference group White, Male",
        "farthest from all people together",
        "inside each stratum of education",
        "predictive parity ratio",
    ):
        assert part in text
    assert max(map(len, text.splitlines())) <= 120
    held = audit.to_dict()
    jsonschema.Draft202012Validator(schema()).validate(held)
    first = held["groupings"][0]
    white = next(one for one in first["groups"] if one["group"] == {"race": "White", "sex": "Male"})
    assert white["precision"]["lo"] == pytest.approx(white["sample_precision"]["value"], abs=0.05)
    assert white["to_reference"] is None
    assert len(first["conditional"]["strata"]) == 16
    for measure in ("predictive_parity_difference", "equal_opportunity_ratio"):
        assert first["measures"][measure]["to_overall"]["sample"] is not None


def test_the_requirements_of_the_audit_itself_are_asserted():
    met = justicia.verify("tree", "titanic", require="disparate_impact>=0.05")
    assert_requirement(met)
    breached = justicia.verify("tree", "titanic", require=["disparate_impact>=0.05", "disparate_impact>=0.99"])
    with pytest.raises(AssertionError, match=r"disparate_impact>=0\.99 is breached"):
        assert_requirement(breached)
