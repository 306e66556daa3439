"""The HTML report of an audit of generations, read as a browser reads it."""

from __future__ import annotations

import copy
import json
import re

import html5lib
import pandas as pd
import pytest

from justicia.generations import audit
from justicia.report.document import Table
from justicia.report.figures import scale, step_ticks
from justicia.report.generations_html import render_generations
from justicia.report.generations_pages import page_of
from tests.report.pages import parsed, text_of

NASTY = "</script><script>alert('x')</script>"


@pytest.fixture(scope="module")
def held():
    """By hand: of ten generations the first value is shown at 1, 2 and 9; beta is 4; one label is unknown."""
    table = pd.DataFrame(
        {
            "step": range(1, 11),
            "colour": [NASTY, NASTY, "b", "b", "b", "b", "", "b", NASTY, "b"],
            "shape": list("rsrsrsrsrs"),
            "enforced": [""] * 8 + ["yes", ""],
            "context": ["neutral"] * 5 + ["angry"] * 5,
        }
    )
    spec = {"attributes": {"colour": {"domain": [NASTY, "b"], "beta": 4}, "shape": ["r", "s"]}}
    return audit(table, spec, replicates=100, require=["coverage>=1", "mgbi>=.99"])


@pytest.fixture(scope="module")
def page(held):
    return parsed(held.to_html())


def _tables(page):
    return {
        one.get("aria-label"): [[text_of(cell) for cell in row if cell.tag in ("th", "td")] for row in one.iter("tr")]
        for one in page.iter("div")
        if one.get("role") == "region"
    }


def test_the_file_is_valid_and_asks_for_nothing(held, page):
    text = held.to_html()
    references = re.findall(r"""(?:src|href|action|data)\s*=\s*["']([^"']*)""", text)
    assert references
    assert all(one.startswith("#") for one in references)
    assert "@import" not in text
    assert "url(" not in text
    assert [script.get("type") for script in page.iter("script")] == ["application/json"]


def test_values_are_escaped(held, page):
    assert "<script>alert" not in held.to_html()
    assert "<script>alert" not in held._repr_html_()
    assert NASTY in text_of(page.find(".//body"))


def test_the_json_inside_is_the_audit(held, page):
    inside = json.loads("".join(page.find(".//script").itertext()))
    assert inside == json.loads(held.to_json())


def test_reading_aids(page):
    drawings = [svg for svg in page.iter("svg") if svg.get("role") == "img"]
    assert drawings
    assert all(svg.get("aria-label") for svg in drawings)
    assert page.get("lang") == "en"
    for table in page.iter("table"):
        assert all(cell.get("scope") for cell in table.iter("th"))
    identifiers = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(identifiers) == len(set(identifiers))
    assert {link.get("href")[1:] for link in page.iter("a")} <= set(identifiers)
    names = [one.get("aria-label") for one in page.iter() if one.tag in ("div", "figure") and one.get("aria-label")]
    headings = {text_of(one) for one in page.iter("h2")}
    assert len(names) == len(set(names))
    assert not headings & set(names)


def test_verdicts_are_told_by_symbol_and_word(page):
    verdicts = [text_of(one.find("strong")) for one in page.iter("li") if "verdict" in (one.get("class") or "")]
    # The gap of the first value is 9 - 2 = 7, whatever the unknown label at 7 is it is 7 - 2 = 5 at least.
    assert verdicts == ["✗ breached", "✓ met", "? undecided"]


def test_the_table_of_runs_is_that_by_hand(page):
    name, rows = next((name, rows) for name, rows in _tables(page).items() if name.startswith("Runs of </script>"[:8]))
    assert "colour" in name
    assert rows[1][:5] == ["the table", "10", "1", "5 to 7", "✗ fails"]
    values = next(rows for name, rows in _tables(page).items() if name.startswith("Values of colour"))
    assert values[1][1:] == [NASTY[:60], "3 to 4", "0.300", "5 to 7", "2 → 9"]
    assert values[2][1:] == ["b", "6 to 7", "0.600", "3", "start → 3"]


def test_the_strip_places_blocks_gap_and_marks(page):
    figure = next(one for one in page.iter("figure") if one.get("aria-label", "").startswith("colour"))
    first, second, unknown = (one for one in figure.iter("svg") if one.get("role") == "img")
    block = next(one for one in first.iter("path") if one.get("class") == "block")
    assert [int(x) for x in re.findall(r"M(\d+)\.12", block.get("d"))] == [0, 1, 8]
    gap = next(one for one in first.iter("rect"))
    # The gap that is there whatever the unknown label is: after 2, before 7.
    assert (gap.get("x"), gap.get("width")) == ("20.0%", "40.0%")
    circles = {one.get("class"): one.get("cx") for one in first.iter("circle")}
    # Missed when four generations in a row have lacked it, at the end of the sixth; enforced in the ninth.
    assert circles == {"miss": "60.0%", "enforced": "85.0%"}
    due = next(one for one in first.iter("path") if one.get("class") == "due")
    assert due.get("d") == "M0 0L2 0L6 4L8 4L8 0L9 0L10 1"
    assert not any(one.get("class") == "miss" for one in second.iter("circle"))
    assert [one.get("class") for one in unknown.iter("path")] == ["unknown"]
    ticks = [text.text for text in figure.iter("text") if text.get("class") == "ticktext"]
    assert ticks[0] == "1"
    assert ticks[-1] == "9"


def test_pictures_have_tables(held):
    """Whatever is drawn stands in a table of the same section, too."""
    for part in page_of(held.to_dict()).sections:
        kinds = [type(block).__name__ for block in part.blocks]
        if {"Figure", "Plane"} & set(kinds):
            assert any(isinstance(block, Table) for block in part.blocks)


def test_equal_audits_give_equal_files(held, monkeypatch):
    assert held.to_html() == render_generations(json.loads(held.to_json()))


def test_other_json_is_refused():
    with pytest.raises(ValueError, match="not an audit"):
        render_generations({"schema": "justicia.audit/1"})


def test_the_notebook_form_is_valid(held):
    fragment = html5lib.HTMLParser(namespaceHTMLElements=False, strict=True).parseFragment(held._repr_html_())
    words = text_of(fragment)
    assert "✗ breached least_beta[attribute=colour]<=4" in words
    assert "Not computed" in words


def test_many_runs_are_cut_and_that_is_said(held):
    rows = [{"run": f"r{run}", "step": step, "x": "ab"[step % 2]} for run in range(520) for step in range(4)]
    made = audit(pd.DataFrame(rows), {"attributes": {"x": ["a", "b"]}}, replicates=20)
    question = made.sections["sequences"]["questions"][0]
    assert (len(question["runs"]), question["runs_left_out"], len(question["strips"])) == (500, 20, 12)
    assert "20 other runs of no worse verdict left out" in made.to_html()
    assert sum(question["verdicts"].values()) == 520


def test_a_section_without_values_is_rendered(held):
    changed = copy.deepcopy(held.to_dict())
    for one in changed["sections"]:
        if one["name"] == "coverage":
            one["content"]["runs"] = []
    parsed(render_generations(changed))


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (1, [1]),
        (6, [1, 2, 3, 4, 5, 6]),
        (27, [1, 5, 10, 15, 20, 25]),
        (200, [1, 50, 100, 150, 200]),
        (11, [1, 3, 5, 7, 9, 11]),
    ],
)
def test_ticks_stand_at_round_generations(n, expected):
    assert [int(text) for _, text in step_ticks(n)] == expected
    assert all(0 <= x <= 100 for x, _ in step_ticks(n))


def test_scales_end_at_round_numbers():
    for largest in (0.001, 0.07, 1.0, 3.3, 17, 999, 1e6):
        step, top = scale(largest)
        assert top >= largest > 0
        assert round(top / step) <= 5
