"""``justicia generations diversity`` and ``association`` as a user runs them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from tests.cli.test_generations import run, valid

QUICK = ("--bootstrap", "50", "--simulations", "50")
PEOPLE = ("--attrs", "gender,age", "--domain", "gender=f,m", "--domain", "age=young,old")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with two tables, and that folder as the current one."""
    contexts = ["neutral"] * 20 + ["aggressive"] * 10 + ["compassionate"] * 10
    gender = ["f", "m"] * 10 + ["m"] * 9 + ["f"] + ["f"] * 7 + ["m"] * 2 + ["?"]
    age = ["young", "old"] * 20
    table = pd.DataFrame({"context": contexts * 6, "gender": gender * 6, "age": age * 6})
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    rows = [("doctor", "", "", "a man in a white coat")] * 9 + [("doctor", "", "", "a woman in a coat")] * 3
    for axis, values in {"gender": ("man", "woman"), "age": ("old", "young", "middle-aged")}.items():
        for place, value in enumerate(values):
            texts = ["coat", "white coat", "a tie"] if axis == "gender" else ["man, coat", "woman", "coat"]
            rows += [("doctor", axis, value, f"A {value}: {texts[row % 3]}") for row in range(9 + place)]
    table = pd.DataFrame(rows, columns=["profession", "axis", "counterfactual", "caption"])
    table.to_csv(tmp_path / "images.csv", index=False)
    table.to_json(tmp_path / "images.jsonl", orient="records", lines=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_diversity(capsys, folder):
    code, out, err = run(
        capsys, "diversity", "t.csv", *PEOPLE, "--unknown", "?", *QUICK, "--json", "r.json", "--bars", "b.svg"
    )
    assert code == 0
    # 1 and 9: 0.469; 2 and 7 of nine: 0.764.
    lines = [line.split() for line in out.splitlines()]
    assert ["aggressive", "60", "0", "0.469", "1.000", "0.685"] in lines
    assert ["compassionate", "60", "6", "0.764", "1.000", "0.874"] in lines
    assert "noise floor: with as many labels, a generator without any preference scores MGBI" in out
    assert err == "warning: 6 labels of gender are unknown, first in row 40: answers are intervals where that matters\n"
    held = valid((folder / "r.json").read_text())
    assert held["schema"] == "justicia.generations.diversity/1"
    assert held["contexts"][1]["attributes"][0]["counts"] == {"f": 6, "m": 54}
    assert held["contexts"][0]["attributes"][0]["entropy"]["possible"] is None
    assert held["mgbi"]["value"] == pytest.approx(np.sqrt(1 * (0.684831 + 0.1 * (0.874166 - 0.684831))), abs=1e-5)
    assert held["mgbi"]["possible"]["lo"] < held["mgbi"]["value"] < held["mgbi"]["possible"]["hi"]
    assert held["noise_floor"]["within"] is False
    assert held["verdict"] is None
    assert (folder / "b.svg").read_text().startswith("<?xml")


def test_the_same_whatever_the_file_and_the_call(capsys, folder):
    (folder / "s.yml").write_text(
        "attributes: {gender: [f, m], age: [young, old]}\nunknown: ['?']\nneutral: {context: neutral}\n"
    )
    calls = (
        ("t.csv", *PEOPLE, "--unknown", "?"),
        ("t.parquet", *PEOPLE, "--unknown", "?", "--neutral", "neutral"),
        ("t.csv", "--spec", "s.yml"),
        ("t.csv", *PEOPLE, "--unknown", "?", "--neutral", "context=neutral", "--triggers", "aggressive,compassionate"),
    )
    found = [valid(run(capsys, "diversity", *one, *QUICK, "--json", "-")[1]) for one in calls]
    assert all(one["mgbi"] == found[0]["mgbi"] and one["contexts"] == found[0]["contexts"] for one in found)


@pytest.mark.parametrize(("least", "code"), [("0.3", 0), ("0.999", 1), ("0.84", 3)])
def test_limits_of_diversity(capsys, folder, least, code):
    found = run(capsys, "diversity", "t.csv", *PEOPLE, "--unknown", "?", *QUICK, "--least", least)
    assert found[0] == code
    assert f"MGBI of at least {least}:" in found[1]


def test_association(capsys, folder):
    code, out, err = run(
        capsys, "association", "images.csv", "--text", "caption", "--by", "profession", *QUICK,
        "--json", "r.json", "--heatmap", "h.png", "--radar", "r.svg", "--bars", "b.pdf",
    )  # fmt: skip
    assert code == 0
    assert "doctor: gender" in out
    assert "null band: an even mixture of the counterfactuals has" in out
    assert "9 images of man: MAD is mostly noise below 10" in err
    held = valid((folder / "r.json").read_text())
    assert [one["axis"] for one in held["axes"]] == ["gender", "age"]
    assert held["axes"][0]["initial"]["concepts"] == {"coat": 1.0, "man": 0.75, "white": 0.75, "woman": 0.25}
    assert len(held["axes"][1]["counterfactuals"]) == 3
    assert (folder / "h.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "b.pdf").read_bytes().startswith(b"%PDF")
    lines = run(capsys, "association", "images.jsonl", "--text", "caption", "--by", "profession", *QUICK, "--json", "-")
    assert valid(lines[1])["axes"] == held["axes"]


def test_association_of_one_axis(capsys, folder):
    (folder / "same.json").write_text(json.dumps({"man": ["old"]}))
    code, out, _ = run(
        capsys, "association", "images.csv", "--text", "caption", "--axis", "gender", "--sim", "cosine", *QUICK,
        "--most", "0.9", "--stop-words", "white", "--synonyms", "same.json", "--rare", "0",
    )  # fmt: skip
    assert code == 0
    assert "middle-aged" not in out
    assert "white" not in out
    assert "normalised MAD of at most 0.9, all together: holds" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("diversity", "t.csv"), "justicia: no attribute is named"),
        (("diversity", "t.csv", "--attrs", "gendre"), "no attribute column 'gendre'; did you mean gender"),
        (("diversity", "t.csv", "--attrs", "gender", "--context", "kind"), "no context column 'kind'"),
        (("diversity", "none.csv", "--attrs", "gender"), "there is no such file"),
        (("diversity", "t.csv", *PEOPLE), "6 labels of gender outside its domain: '?' (row 40, 6 times)"),
        (("diversity", "t.csv", "--attrs", "gender", "--bars", "b.gif"), "b.gif: a picture's name ends in .svg"),
        (("diversity", "t.csv", "--attrs", "gender", "--bars", "x.svg", "--indices", "x.svg"), "two outputs"),
        (("diversity", "t.csv", "--attrs", "gender", "--json", "no/r.json"), "no folder"),
        (("diversity", "t.csv", "--attrs", "gender", "--least", "2"), "the least MGBI is a number between 0 and 1"),
        (("association", "images.csv"), "no column of captions 'text'"),
        (("association", "images.csv", "--text", "caption", "--axis", "sex"), "no axis 'sex'"),
        (("association", "images.csv", "--text", "caption", "--sim", "jaccard"), "similarity cannot be 'jaccard'"),
        (("association", "images.csv", "--text", "caption", "--synonyms", "s.json"), "s.json cannot be read"),
        (
            (
                "association",
                "images.csv",
                "--text",
                "caption",
                "--axis",
                "gender",
                "--radar",
                "r.svg",
                "--bars",
                "b.svg",
            ),
            "a radar needs 3 counterfactuals",
        ),
    ],
)
def test_bad_calls_end_in_one_line(capsys, folder, words, message):
    code, out, err = run(capsys, *words, "--quiet")
    assert code == 2
    assert out == ""
    lines = [line for line in err.splitlines() if not line.startswith(("Usage:", "Try", "warning:")) and line]
    assert len(lines) == 1, err
    assert message in lines[0]
    assert not list(folder.glob("*.svg"))
