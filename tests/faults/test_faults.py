"""A part of the faults that `python -m tests.faults` injects, and the table that it makes."""

from __future__ import annotations

import os

import pytest

from tests.faults.__main__ import prepare_all
from tests.faults.faults import all_faults, small_disk
from tests.faults.injecting import Seen, expect, inject, moments
from tests.faults.scenes import SCENES
from tests.faults.table import table_of, write_page

_PART = ("verify, every output", "encode > FILE", "population fit", "generations enforce")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    if os.name != "posix" or not os.path.isdir("/proc"):
        pytest.skip("what is left of a process is looked up in /proc")
    folder = tmp_path_factory.mktemp("faults") / "inputs"
    folder.mkdir()
    prepare_all(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", _PART)
def test_nothing_is_left_half_done(inputs, name):
    (scene,) = [one for one in SCENES if one.name == name]
    usual = expect(scene, inputs)
    with small_disk() as disk:
        seen = [inject(scene, inputs, fault, usual, disk) for fault in all_faults(scene, 2, 0, disk)]
    assert len(seen) > 15
    assert [one for one in seen if one.faults] == []


def test_moments_are_spread_and_the_same_every_time():
    chosen = list(moments(10, 3))
    assert chosen == list(moments(10, 3))
    assert chosen == sorted(chosen)
    assert chosen[0] < 0.11
    assert 0.99 < chosen[-1] < 1.1


def test_the_table_counts_what_was_injected(tmp_path):
    seen = [
        Seen("encode", "TERM at 5%", 143, "interrupted by SIGTERM"),
        Seen("encode", "TERM at 95%", 143, "", ["a traceback"]),
        Seen("encode", "ENOSPC in write 3", 2, "no space"),
        Seen("solve", "1,234 bytes left on the disk", 2, "no space"),
    ]
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- made by python -m tests.faults -->\nold\n<!-- end -->\nafter\n")
    write_page(page, seen)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("<!-- end -->\nafter\n")
    assert "old" not in text
    assert "4 faults in 2 commands, 1 of them not as they should be: *encode* 3, *solve* 1." in text
    assert "| TERM, at a random moment | 1 | 2 | 143 (2 times) | 1 |" in text
    assert "| ENOSPC in a call of write | 1 | 1 | 2 | 1 |" in text
    assert "| few bytes left on the disk | 1 | 1 | 2 | 1 |" in text
    assert table_of(seen) in text
