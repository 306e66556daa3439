from __future__ import annotations

import hashlib
from importlib import resources

import pytest

import justicia
from justicia import datasets
from justicia.errors import TableError

ROWS = {"adult": 32_561, "compas": 7_214, "german": 1_000, "ricci": 118, "titanic": 2_207}


@pytest.mark.parametrize("name", datasets.names())
def test_tables_are_as_described(name):
    frame, description = datasets.load(name)
    assert len(frame) == ROWS[name] == description.rows
    assert tuple(frame.columns) == description.columns
    assert description.label in frame.columns
    assert description.favorable in set(frame[description.label].astype(str))
    assert set(description.sensitive) <= set(frame.columns)
    assert set(description.not_features) <= set(frame.columns)
    assert description.label not in description.features


def test_hashes_and_size():
    folder = resources.files("justicia.datasets") / "data"
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    hashes = {name: digest for digest, name in (line.split("  ") for line in lines)}
    size = 0
    for name in datasets.names():
        packed = (folder / f"{name}.csv.gz").read_bytes()
        size += len(packed)
        assert hashlib.sha256(packed).hexdigest() == hashes[f"{name}.csv.gz"]
        assert hashlib.sha256(datasets.csv_bytes(name)).hexdigest() == hashes[f"{name}.csv"]
    assert size < 2_000_000
    provenance = (folder / "PROVENANCE.md").read_text()
    assert all(f"| {name} |" in provenance for name in datasets.names())


def test_no_names_or_birth_dates_in_compas():
    frame, _ = datasets.load("compas")
    assert not {"name", "first", "last", "dob", "id", "c_case_number"} & set(frame.columns)


def test_known_totals():
    adult, _ = datasets.load("adult")
    assert (adult["income"] == ">50K").sum() == 7_841
    assert adult.groupby(["race", "sex"]).size()["White", "Male"] == 19_174
    german, _ = datasets.load("german")
    assert german["credit"].value_counts().to_dict() == {"good": 700, "bad": 300}
    compas, _ = datasets.load("compas")
    assert compas["two_year_recid"].sum() == 3_251
    ricci, _ = datasets.load("ricci")
    assert ((ricci["combine"] >= 70) == (ricci["passed"] == "yes")).all()
    titanic, _ = datasets.load("titanic")
    assert titanic["survived"].sum() == 711


def test_unknown_name_proposes_one():
    with pytest.raises(TableError, match="did you mean adult"):
        datasets.load("adlut")


@pytest.mark.parametrize("name", datasets.names())
def test_a_tree_trained_on_the_spot_is_audited(name):
    audit = justicia.verify("tree", name)
    description = datasets.describe(name)
    assert audit.groupings[0].sensitive == description.sensitive
    assert audit.roles.truth.name == description.label
    assert not set(audit.features) & set(description.not_features)
    assert audit.to_json().count('"schema"') == 1
    again = justicia.verify("tree", name)
    assert [g.selection_rate for g in again.groupings[0].groups] == [
        g.selection_rate for g in audit.groupings[0].groups
    ]
