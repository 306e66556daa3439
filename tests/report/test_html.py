"""The HTML report, read as a browser reads it."""

from __future__ import annotations

import copy
import json
import re

import html5lib
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.report import cells
from justicia.report.html import render_html
from tests.report.pages import parsed, text_of

NASTY = "</script><script>alert('x')</script>"


@pytest.fixture(scope="module")
def audit():
    """By hand: of the men 3 of 4 are older than 40, of the women 1 of 4."""
    frame = pd.DataFrame(
        {
            NASTY: [50, 45, 41, 30, 60, 20, 25, 30],
            "income <=50K & more": ["m", "m", "m", "m", "<=50K", "<=50K", "<=50K", "<=50K"],
            "hired": [1, 1, 1, 0, 1, 0, 0, 0],
        }
    )
    model = DecisionTreeClassifier().fit(frame[[NASTY]], frame["hired"])
    return justicia.verify(
        model,
        frame,
        sensitive_features=["income <=50K & more"],
        label="hired",
        favorable=1,
        population="independent",
        require=["disparate_impact>=0.8", "statistical_parity_difference<=0.9", "equal_opportunity_difference<=0"],
    )


@pytest.fixture(scope="module")
def page(audit):
    return parsed(audit.to_html())


def _spaced(cell):
    """The parts of a cell, a bar between the first and what explains it."""
    return " | ".join(
        [
            " ".join(text_of(cell).split()) if not list(cell.iter("p")) else (cell.text or "").strip(),
            *map(text_of, cell.iter("p")),
        ]
    )


def _table(page, heading):
    """The rows of the first table after a heading of the third order, as lists of texts."""
    after = False
    for element in page.iter():
        if element.tag == "h3" and text_of(element) == heading:
            after = True
        if after and element.tag == "table":
            return [[_spaced(cell) for cell in row if cell.tag in ("th", "td")] for row in element.iter("tr")]
    raise AssertionError(f"no table after {heading}")


def test_the_file_is_valid_and_asks_for_nothing(audit, page):
    text = audit.to_html()
    assert page.find(".//title") is not None
    references = re.findall(r"""(?:src|href|action|data)\s*=\s*["']([^"']*)""", text)
    assert references
    assert all(one.startswith("#") for one in references)
    assert "@import" not in text
    assert set(re.findall(r"url\(([^)]*)", text)) <= {"#head-grouping-1"}
    assert [script.get("type") for script in page.iter("script")] == ["application/json"]


def test_values_are_escaped(audit, page):
    assert "<script>alert" not in audit.to_html()
    assert NASTY in text_of(page.find(".//body"))
    assert any("<=50K" in name for row in _table(page, "Groups") for name in row)


def test_the_json_inside_is_the_audit(audit, page):
    held = json.loads("".join(page.find(".//script").itertext()))
    assert {**held, "created": None} == {**json.loads(audit.to_json()), "created": None}


def test_groups_and_measures_are_those_by_hand(page):
    heading, most, least = _table(page, "Groups")
    assert heading[:5] == ["income <=50K & more", "people", "selected", "verified", "rows"]
    assert most[:5] == ["m", "4", "3", "▲ 0.7500", "0.7500"]
    assert least[:5] == ["<=50K", "4", "1", "▼ 0.2500", "0.2500"]
    rows = {row[0].split(" | ")[0]: row for row in _table(page, "Measures")[1:]}
    assert rows["disparate impact"][1:3] == ["0.3333", "0.3333"]
    assert "0.250000 (income <=50K & more=<=50K) ÷ 0.750000 (income <=50K & more=m)" in rows["disparate impact"][0]
    assert rows["statistical parity difference"][1] == "0.5000"
    outcome = _table(page, "By true outcome")
    assert outcome[1] == ["m", "3", "1.0000", "1.0000", "1", "0.0000", "0.0000", "1.0000", "1.0000"]


def test_verdicts_are_told_by_symbol_and_word(page):
    verdicts = [text_of(one.find("strong")) for one in page.iter("li") if "verdict" in (one.get("class") or "")]
    assert verdicts == ["✗ breached", "✓ met", "✓ met"]
    says = text_of(page.find(".//main"))
    assert "75.0 % of the most favored group (income <=50K & more=m; in the table 3 of 4) and to 25.0 %" in says
    assert "For every 100 people it selects in the most favored group, it selects 33.3 among as many" in says
    assert "drawing people" not in says


def test_the_chart_places_rates_on_its_axis(page):
    chart = next(element for element in page.iter("figure"))
    drawings = [svg for svg in chart.iter("svg") if (svg.get("role")) == "img"]
    dots = [
        float(next(dot for dot in svg.iter("circle") if dot.get("class") == "dot").get("cx")[:-1]) for svg in drawings
    ]
    ticks = {text_of(text): float(text.get("x")[:-1]) for text in chart.iter("text")}
    assert ticks["0 %"] == 0
    assert ticks["100 %"] == 100
    assert dots == [75, 25]
    assert "verified 0.7500; rows 0.7500" in drawings[0].get("aria-label")


def test_reading_aids(page):
    drawings = [svg for svg in page.iter("svg") if svg.get("role") == "img"]
    assert len(drawings) == 2
    assert all(svg.get("aria-label") for svg in drawings)
    assert page.get("lang") == "en"
    for table in page.iter("table"):
        assert all(cell.get("scope") for cell in table.iter("th"))
    identifiers = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(identifiers) == len(set(identifiers))
    targets = {link.get("href")[1:] for link in page.iter("a")}
    assert targets <= set(identifiers)


def test_bounds_and_undefined_values_are_no_numbers(audit):
    held = copy.deepcopy(audit.to_dict())
    grouping = held["groupings"][0]
    for group in grouping["groups"]:
        group["selection_rate"].update(lo=0.21239, hi=0.21244)
    grouping["measures"]["disparate_impact"].update(lo=None, hi=None, undefined="every selection rate is 0")
    page = parsed(render_html(held))
    # The men's rate, 3 of 4, is then far above the bounds.
    assert [row[3] for row in _table(page, "Groups")[1:]] == ["▼ 0.2123 to 0.2125", "▲ 0.2123 to 0.2125*"]
    rows = {row[0].split(" | ")[0]: row for row in _table(page, "Measures")[1:]}
    assert rows["disparate impact"][1] == "undefined"
    assert "every selection rate is 0" in rows["disparate impact"][0]
    assert "÷ 0" not in rows["disparate impact"][0]


def test_certain_and_statistical_bounds_are_told_apart(audit):
    held = copy.deepcopy(audit.to_dict())
    grouping = held["groupings"][0]
    drawn = {"confidence": 0.999999, "method": "statistical"}
    for group in grouping["groups"]:
        group["selection_rate"].update(lo=0.1, hi=0.9, statistical={"lo": 0.3, "hi": 0.4, **drawn})
        group["tpr"].update(lo=0.5, hi=1.0, statistical={"lo": 0.7, "hi": 0.8, **drawn})
    for end in ("most_favored", "least_favored"):
        grouping[end]["selection_rate"].update(lo=0.1, hi=0.9)
    impact = grouping["measures"]["disparate_impact"]
    impact.update(lo=0.1111, hi=1.0, statistical={"lo": 0.75, "hi": 1.0, **drawn})
    page = parsed(render_html(held))
    says = text_of(page.find(".//main"))
    assert "it selects between 11.1 and 100.0 among as many of the least favored" in says
    assert "By drawing people at random it is between 75.0 and 100.0" in says
    assert "certain between the ends; the dot is the middle of the narrower statistical interval" in says
    groups = _table(page, "Groups")
    assert groups[0][3:5] == ["verified", "statistical"]
    assert {tuple(one.lstrip("▲▼ ") for one in row[3:5]) for row in groups[1:]} == {
        ("0.1000 to 0.9000", "0.3000 to 0.4000")
    }
    outcome = _table(page, "By true outcome")
    assert outcome[0][2:4] == ["TPR", "TPR, statistical"]
    assert {tuple(row[2:4]) for row in outcome[1:]} == {("0.5000 to 1.0000", "0.7000 to 0.8000")}


def test_groups_that_enter_no_measure_are_marked(audit):
    held = copy.deepcopy(audit.to_dict())
    groups = held["groupings"][0]["groups"]
    groups.append({**groups[0], "group": {"income <=50K & more": "few"}, "note": "fewer than 30 rows: left out of all"})
    held["warnings"] = ["pass --min-group 30, or <b>--all-groups</b>"]
    page = parsed(render_html(held))
    chart = next(element for element in page.iter("figure"))
    marks = [text_of(span) for span in chart.iter("span") if span.get("class") == "mark"]
    assert sorted(marks) == ["left out", "▲ largest", "▼ smallest"]
    options = [text_of(code) for code in page.iter("code") if code.get("class") == "option"]
    assert options == ["--min-group 30", "--all-groups"]
    assert "or <b>--all-groups</b>" in text_of(page.find(".//main"))


def test_a_rate_of_the_rows_without_an_interval_is_shown_alone(audit):
    held = copy.deepcopy(audit.to_dict())
    men = next(one for one in held["groupings"][0]["groups"] if "m" in one["group"].values())
    men["sample_rate"].update(lo=None, hi=None)
    page = parsed(render_html(held))
    most, least = _table(page, "Groups")[1:]
    assert most[4:6] == ["0.7500", "–"]
    assert least[4] == "0.2500"
    assert " to " in least[5]
    drawings = [svg for svg in page.iter("svg") if svg.get("role") == "img"]
    assert drawings[0].get("aria-label") == "m: verified 0.7500; rows 0.7500"
    assert "None" not in text_of(page.find(".//main"))


def test_many_groups_are_shown_from_both_ends_and_all_in_the_table(audit):
    held = copy.deepcopy(audit.to_dict())
    grouping = held["groupings"][0]
    one = grouping["groups"][0]
    grouping["groups"] = []
    for number in range(213):
        group = copy.deepcopy(one)
        group["group"] = {"income <=50K & more": f"g{number:03}"}
        group["selection_rate"].update(lo=number / 213, hi=number / 213)
        grouping["groups"].append(group)
    page = parsed(render_html(held))
    assert len(_table(page, "Groups")) == 214
    chart = next(element for element in page.iter("figure"))
    names = [text_of(item) for item in chart.iter("li")]
    assert len(names) == 41
    assert names[0] == "g212"[:4] or names[0].startswith("g212")
    assert names[20].startswith("… 173 groups between")
    assert names[-1].startswith("g000")


def test_equal_audits_give_equal_files(audit, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert audit.to_html() == audit.to_html()
    assert "1970-01-01, 00:00 UTC" in audit.to_html()


def test_other_json_is_refused():
    with pytest.raises(ValueError, match="not an audit"):
        render_html({"schema": "justicia.network/1"})


def test_the_notebook_form_is_valid(audit):
    parser = html5lib.HTMLParser(namespaceHTMLElements=False, strict=True)
    fragment = parser.parseFragment(audit._repr_html_())
    words = text_of(fragment)
    assert "✗ breached disparate_impact>=0.8" in words
    assert "0.3333" in words
    assert "<script>alert" not in audit._repr_html_()


def test_the_frame_of_all_groupings_and_the_plot(audit):
    frame = audit.to_frame()
    assert list(frame.index) == [("income <=50K & more", "<=50K"), ("income <=50K & more", "m")]
    assert frame["selection_rate"].tolist() == [0.25, 0.75]
    axes = audit.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["m", "<=50K"]
    dots = next(line for line in axes.lines if line.get_label() == "verified")
    assert list(dots.get_xdata()) == [0.75, 0.25]
    with pytest.raises(ValueError, match="2 groups at least"):
        audit.plot(most=1)


def test_a_rule_is_written_out():
    frame = pd.DataFrame({"a <b>": ["x", "y & z", "x", "y & z"], "sex": ["f", "f", "m", "m"], "n": [1, 2, 3, 4]})
    model = justicia.models.RuleClassifier('("a <b>" = "y & z" or n > 2.5) and sex != f', "<yes>", "no")
    audit = justicia.verify(model, frame, sensitive_features="sex", favorable="<yes>", population="empirical")
    page = html5lib.parse(render_html(audit.to_dict()), namespaceHTMLElements=False)
    codes = ["".join(element.itertext()) for element in page.iter("code")]
    at = codes.index("<yes>")
    assert codes[at : at + 4] == ["<yes>", "no", '("a <b>" = "y & z" or n > 2.5)', "(sex != f)"]
    text = " ".join("".join(page.itertext()).split())
    assert "Favorable (<yes>) when all of these hold, otherwise no:" in text


def test_the_reference_group_and_strata_by_hand():
    """Of f 1 of 2, of m 2 of 2 in stratum a; of f 1 of 4, of m 1 of 2 in stratum b."""
    rows = [("f", "a", 1), ("f", "a", 0), ("m", "a", 1), ("m", "a", 1)]
    rows += [("f", "b", 1), ("f", "b", 0), ("f", "b", 0), ("f", "b", 0), ("m", "b", 1), ("m", "b", 0)]
    frame = pd.DataFrame(rows, columns=["sex", "school", "score"])
    model = DecisionTreeClassifier().fit(frame[["score"]], frame["score"])
    held = justicia.verify(
        model,
        frame,
        sensitive_features=["sex"],
        favorable=1,
        population="empirical",
        reference="sex=m",
        given=["school"],
    )
    page = parsed(held.to_html())
    # Of all f 2 of 6, of all m 3 of 4.
    beside = _table(page, "Beside the reference group sex=m")
    assert beside[1] == ["f", "0.4444", "-0.4167", "0.4444", "-0.4167"]
    strata = {row[0]: row[1:] for row in _table(page, "Inside each stratum of school")[1:]}
    assert strata == {
        "a": ["4", "0.5000", "0.5000", "0.5000", "0.5000"],
        "b": ["6", "0.5000", "0.5000", "0.2500", "0.2500"],
    }
    assert "Conditional parity difference, the worst over all strata: 0.5000, in a." in text_of(page.find(".//main"))


def test_decisions_without_a_model():
    """Published counts: 48 of 80 against 12 of 40, z 3.098, ratio .5."""
    rows = [("a", 1)] * 48 + [("a", 0)] * 32 + [("b", 1)] * 12 + [("b", 0)] * 28
    frame = pd.DataFrame(rows, columns=["group", "hired"])
    held = justicia.audit_decisions(
        frame,
        decision="hired",
        favorable=1,
        sensitive_features=["group"],
        tests=True,
        require="sample.disparate_impact>=0.8",
    )
    text = held.to_html()
    assert [one.status for one in held.requirements] == ["breached"]
    page = parsed(text)
    assert _table(page, "Groups")[0] == ["group", "people", "selected", "rows", "95 % interval"]
    assert _table(page, "Groups")[1][:4] == ["a", "80", "48", "▲ 0.6000"]
    impact = dict(zip(*_table(page, "Adverse impact among the rows"), strict=True))
    assert impact["group"] == "b"
    assert impact["impact ratio"] == "0.5000"
    assert impact["95 % interval"] == "0.3014 to 0.8294"
    assert impact["four fifths"] == "below"
    assert impact["p"] == "0.0019"
    words = text_of(page.find(".//main"))
    assert (
        "60.0 % of the group selected most (group=a; 80 people) get the favorable outcome, and 30.0 % of the one "
        "selected least (group=b; 40 people)" in words
    )
    assert "nothing is verified" in words
    html5lib.HTMLParser(strict=True).parseFragment(held._repr_html_())


@pytest.mark.parametrize("asked", ["tests", "reference", "model"])
def test_long_tables_show_both_ends(monkeypatch, asked):
    n = 30
    frame = pd.DataFrame(
        {
            "group": [f"g{i:02}" for i in range(n) for _ in range(40)],
            "x": [int(j < i) for i in range(n) for j in range(40)],
        }
    )
    if asked == "model":
        model = DecisionTreeClassifier().fit(frame[["x"]], frame["x"])
        held = justicia.verify(model, frame, sensitive_features=["group"], label="x", population="empirical").to_dict()
    else:
        options = {"tests": True} if asked == "tests" else {"reference": "group=g05"}
        held = justicia.audit_decisions(frame, decision="x", sensitive_features="group", **options).to_dict()
    whole = parsed(render_html(held))
    monkeypatch.setattr(cells, "MOST_ROWS", 8)
    page = parsed(render_html(held))
    tables = [
        [[text_of(cell) for cell in row if cell.tag in ("th", "td")] for row in table.iter("tr")]
        for table in page.iter("table")
    ]
    long = [table for table in tables if any("more between" in row[0] for row in table)]
    every = [
        [[text_of(cell) for cell in row if cell.tag in ("th", "td")] for row in table.iter("tr")]
        for table in whole.iter("table")
    ]
    assert len(long) == 2
    for table in long:
        beside = next(one for one in every if one[0] == table[0])
        names = [row[0].split()[0] for row in table[1:]]
        total = [row[0].split()[0] for row in beside[1:]]
        assert len(total) in (n, n - 1)
        assert table[5][0] == f"… {len(total) - 8} more between, in the JSON of this page"
        assert names == [*total[:4], "…", *total[-4:]]
        # What is shown is as it is in the whole table.
        assert table[1:5] + table[6:] == beside[1:5] + beside[-4:]


def test_what_the_rows_leave_out_is_said():
    table = pd.DataFrame(
        {"sex": ["a"] * 10 + ["b"] * 10 + ["c"] * 10, "hired": [1, 0] * 5 + [0] * 10 + [1, 0, 0, 0, 0] * 2}
    )
    held = justicia.audit_decisions(
        table.assign(good=[1, 0] * 15), decision="hired", favorable=1, label="good", sensitive_features="sex"
    )
    rows = {row[0].split(" | ")[0]: row for row in _table(parsed(held.to_html()), "Measures")[1:]}
    assert rows["predictive parity difference"][0].endswith("rows incomplete: 1 group without selected people (b)")
    assert "incomplete" not in rows["disparate impact"][0]


def test_what_a_measure_is_made_of_are_the_groups_that_enter_it():
    frame = pd.DataFrame(
        {
            "x": [0, 1] * 20 + [0, 0, 0, 1] * 10 + [0, 0],
            "sex": ["a"] * 40 + ["b"] * 40 + ["few"] * 2,
            "age": ["old", "young"] * 41,
        }
    )
    model = DecisionTreeClassifier().fit(frame[["x"]], frame["x"])
    held = justicia.verify(
        model, frame, sensitive_features=[["sex"], ["age"]], favorable=1, population="empirical", min_group=10
    )
    page = parsed(held.to_html())
    rows = {row[0].split(" | ")[0]: row for row in _table(page, "Measures")[1:]}
    assert rows["disparate impact"][1] == "0.5000"
    assert "0.250000 (sex=b) ÷ 0.500000 (sex=a)" in rows["disparate impact"][0]
    # Of 41 old people nobody is selected, of 41 young ones 30: 10 of b, 20 of a.
    says = text_of(page.find(".//main"))
    assert "age: The model says yes to 73.2 % of the most favored group (age=young; in the table 30 of 41)" in says


def test_a_bad_outcome_that_nobody_named_is_warned_of():
    frame = pd.DataFrame({"x": range(80), "sex": ["f", "m"] * 40, "isDefault": [0] * 40 + [1] * 40})
    model = DecisionTreeClassifier().fit(frame[["x"]], frame["isDefault"])
    says = "1 of isDefault counts as the favorable outcome, and sounds bad"
    for asked, warned in ((None, True), (0, False), (1, False)):
        held = justicia.verify(model, frame, sensitive_features="sex", favorable=asked)
        assert any(one.startswith(says) for one in held.warnings) == warned
        decided = justicia.audit_decisions(frame, decision="isDefault", sensitive_features="sex", favorable=asked)
        assert any(one.startswith(says) for one in decided.warnings) == warned
