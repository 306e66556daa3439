"""``--html`` and ``justicia report``, as a user runs them."""

from __future__ import annotations

import json

import html5lib
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from justicia.errors import InputError
from justicia.report.html import render_html
from justicia.report.reading import audit_from_json
from tests.cli.test_cli import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with audit.json and audit.html of one run."""
    place = tmp_path_factory.mktemp("audit")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        yield place


def written(capsys, folder):
    if not (folder / "audit.json").exists():
        words = ("verify", "--model", "tree", "--data", "ricci", "--json", "audit.json", "--html", "audit.html")
        code, out, _ = run(capsys, *words)
        assert code == 0
        assert "most favored" in out
    return (folder / "audit.json").read_text(encoding="utf-8")


def test_report_makes_the_same_file_as_verify(capsys, folder):
    written(capsys, folder)
    code, out, err = run(capsys, "report", "audit.json", "--html", "again.html")
    assert (code, out, err) == (0, "", "")
    assert (folder / "again.html").read_bytes() == (folder / "audit.html").read_bytes()
    code, out, err = run(capsys, "report", "audit.json", "--html", "-")
    assert code == 0
    assert out == (folder / "audit.html").read_text(encoding="utf-8")


def test_html_to_standard_output_stands_alone(capsys, folder):
    code, out, _ = run(capsys, "verify", "--model", "tree", "--data", "ricci", "--html", "-")
    assert code == 0
    html5lib.HTMLParser(strict=True).parse(out)
    assert "Audit of tree on ricci" in out


def test_outputs_may_not_meet(capsys, folder):
    code, _, err = run(capsys, "verify", "--model", "tree", "--data", "ricci", "--json", "x", "--html", "x")
    assert code == 2
    assert "two outputs are written to x" in err
    written(capsys, folder)
    code, _, err = run(capsys, "report", "audit.json", "--html", "audit.json")
    assert code == 2
    assert "is read as an input" in err


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no JSON: line 1"),
        (b"{", "no JSON: line 1"),
        (b"\xff\xfe{}", "no text in UTF-8"),
        (b"[]", "it names no schema"),
        (b'{"schema": "justicia.population/1"}', "its schema is justicia.population/1, not justicia.audit/1"),
        (b'{"schema": "justicia.audit/1"}', "no whole audit: the audit: 'tool' is a required property"),
        (b'{"schema": NaN}', "NaN is no number"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_other_files_are_refused_in_one_line(capsys, folder, content, says):
    (folder / "bad.json").write_bytes(content)
    code, out, err = run(capsys, "report", "bad.json", "--html", "bad.html")
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "bad.json" in err
    assert says in err
    assert not (folder / "bad.html").exists()


def test_a_missing_file_or_folder_is_named(capsys, folder):
    code, _, err = run(capsys, "report", "none.json", "--html", "a.html")
    assert code == 2
    assert "none.json cannot be read: No such file" in err
    written(capsys, folder)
    code, _, err = run(capsys, "report", "audit.json", "--html", "none/a.html")
    assert code == 2
    assert "there is no folder none" in err


def _places(held, path=()):
    yield path
    items = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
    for key, value in items:
        yield from _places(value, (*path, key))


@given(data=st.data())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_changed_audit_is_rendered_or_refused(capsys, folder, data):
    """Any value of the audit put elsewhere, or left out: a report, or one clear error."""
    held = json.loads(written(capsys, folder))
    places = [place for place in _places(held) if place]
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(places))
        inside = held
        try:
            for key in place[:-1]:
                inside = inside[key]
            if data.draw(st.booleans()):
                del inside[place[-1]]
            else:
                values = (None, 0, -1, 0.5, 1e308, "", "<b>", "\ud800", [], {}, True, ["a"], {"lo": 0.2, "hi": 0.1})
                inside[place[-1]] = data.draw(st.sampled_from(values))
        except (KeyError, IndexError, TypeError):
            continue
    fault = None
    try:
        checked = audit_from_json(json.dumps(held))
    except InputError as error:
        fault = str(error)
    if fault is not None:
        assert len(fault.splitlines()) == 1
        return
    text = render_html(checked)
    html5lib.HTMLParser(strict=True).parse(text)
