"""What new users stumbled over in their own tables."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.errors import LabelError, ModelFileError, TableError
from justicia.models import load_model

# reading


def _addresses(tmp_path, values=("01133", "01201", "1133", "")):
    """A CSV file whose people live in places that look like numbers, and the same people as pandas reads text."""
    frame = pd.DataFrame({"sex": ["f", "m"] * 40, "postcode": np.resize(np.repeat(values, 2), 80), "age": range(80)})
    frame["out"] = np.where(frame["postcode"] == values[0], "yes", "no")
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    return path, pd.read_csv(path, dtype={"postcode": str})


def _fitted(frame, encoder):
    step = make_pipeline(SimpleImputer(strategy="constant", fill_value="none"), encoder)
    # Only the first column's categories are text.
    mixed = ColumnTransformer([("code", step, ["postcode"]), ("rest", "passthrough", ["age"])])
    model = Pipeline([("columns", mixed), ("tree", DecisionTreeClassifier(random_state=0))])
    return model.fit(frame[["postcode", "age"]], frame["out"])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("encoder", [OneHotEncoder(handle_unknown="ignore"), OneHotEncoder(), OrdinalEncoder()])
def test_codes_that_the_model_knows_as_text_keep_their_zeros(tmp_path, encoder, stream):
    path, frame = _addresses(tmp_path)
    held = justicia.verify(_fitted(frame, encoder), str(path), sensitive_features="sex", label="out", stream=stream)
    # A quarter of the men and of the women live in 01133, and 1133 is another place.
    assert held.by_group["selection_rate"].tolist() == pytest.approx([0.25, 0.25])
    assert not any("not fitted on" in text for text in held.warnings)


@pytest.mark.parametrize("stream", [False, True])
def test_codes_that_the_model_knows_as_numbers_stay_numbers(tmp_path, stream):
    path, _ = _addresses(tmp_path, ("01133", "01201", "0733", "00012"))
    frame = pd.read_csv(path)
    model = make_pipeline(
        ColumnTransformer([("code", OneHotEncoder(), ["postcode"])]), DecisionTreeClassifier(random_state=0)
    ).fit(frame[["postcode"]], frame["out"])
    held = justicia.verify(model, str(path), sensitive_features="sex", label="out", stream=stream)
    assert held.by_group["selection_rate"].tolist() == pytest.approx([0.25, 0.25])


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
@pytest.mark.parametrize("stream", [False, True])
def test_native_categories_of_text_keep_their_zeros(tmp_path, library, stream):
    module = pytest.importorskip(library)
    path, frame = _addresses(tmp_path, ("01133", "01201", "0733", "00012"))
    features = frame[["postcode", "age"]].astype({"postcode": "category"})
    if library == "xgboost":
        if tuple(int(part) for part in module.__version__.split(".")[:2]) < (3, 1):
            pytest.skip("holds no categories")
        model = module.XGBClassifier(n_estimators=3, max_depth=2, enable_categorical=True, random_state=0)
    else:
        model = module.LGBMClassifier(
            n_estimators=20, min_child_samples=2, min_data_per_group=1, cat_smooth=0, cat_l2=0, verbose=-1
        )
    truth = (frame["out"] == "yes").astype(int)
    model.fit(features, truth)
    assert (model.predict(features) == truth).all()
    held = justicia.verify(model, str(path), sensitive_features="sex", favorable=1, stream=stream)
    assert held.by_group["selection_rate"].tolist() == pytest.approx([0.25, 0.25])


def test_a_comparison_and_a_population_keep_the_zeros_too(tmp_path):
    path, frame = _addresses(tmp_path)
    model = _fitted(frame, OneHotEncoder())
    people = justicia.fit_population(str(path), model=model, sensitive_features="sex", label="out")
    held = justicia.verify(model, str(path), population=people)
    assert held.by_group["selection_rate"].tolist() == pytest.approx([0.25, 0.25])
    both = justicia.compare(model, str(path), model, sensitive_features="sex", label="out")
    assert both.audits[0].by_group["selection_rate"].tolist() == pytest.approx([0.25, 0.25])


@pytest.mark.parametrize("protocol", [2, 4, 5])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_model_file_that_was_cut_short_is_called_incomplete(tmp_path, share, protocol):
    frame = pd.DataFrame({"age": range(500), "pay": range(500)})
    model = DecisionTreeClassifier().fit(frame, frame["age"] % 3 == 0)
    content = pickle.dumps(model, protocol)
    path = tmp_path / "model.pkl"
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ModelFileError, match=r"^model\.pkl is not complete: it ends too early"):
        load_model(path)


def test_a_value_that_is_no_class_is_named_not_one_that_is():
    frame = pd.DataFrame({"sex": ["f", "m"] * 20, "age": range(40)})
    frame["out"] = np.where(frame["age"] < 20, "no", "yes")
    model = DecisionTreeClassifier().fit(frame[["age"]], frame["out"])
    table = frame.assign(out=np.where(frame["age"] == 7, "NO", np.where(frame["age"] == 30, "Yes", frame["out"])))
    with pytest.raises(LabelError, match=r"column 'out' holds 'NO', which is no class .* did you mean no"):
        justicia.verify(model, table, sensitive_features="sex")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("at", [3, 15_000])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_header_inside_the_file_is_named_by_its_line(tmp_path, stream, at, mark):
    model, lines = _rows(tmp_path)
    lines.insert(at - 1, mark + lines[0])
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(TableError, match=rf"^people\.csv: line {at} repeats the header: remove it$"):
        justicia.verify(model, str(path), sensitive_features="sex", na=["age"], stream=stream)


@pytest.mark.parametrize("stream", [False, True])
def test_a_row_of_some_names_is_no_header(tmp_path, stream):
    model, lines = _rows(tmp_path)
    # A person whose sex is the word "sex".
    lines[4] = "sex,7"
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    held = justicia.verify(model, str(path), sensitive_features="sex", stream=stream)
    assert "sex" in held.by_group.index


def _rows(tmp_path):
    """A model of age, and lines of a file."""
    frame = pd.DataFrame({"sex": ["f", "m"] * 10_000, "age": np.arange(20_000) % 50})
    model = DecisionTreeClassifier().fit(frame[["age"]], frame["age"] > 30)
    return model, frame.to_csv(index=False).splitlines()


def _features(tmp_path, column, values, **options):
    """Features of a population whose people have such values."""
    frame = pd.DataFrame({"sex": np.resize(["f", "m"], len(values)), column: values})
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    held = justicia.fit_population(
        str(path), sensitive_features="sex", label="none", structure="independent", **options
    )
    return set(held.domain.names)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("column", ["name", "Full Name", "e-mail", "who"])
def test_names_that_some_people_share_are_not_published(tmp_path, column, stream):
    # 400 names: one person has each of 100, two have each of 300.
    values = [f"Ann {number:03} Lee" for number in [*range(400), *range(300)]]
    assert column not in _features(tmp_path, column, values, stream=stream)
    assert column in _features(tmp_path, column, values, stream=stream, keep=column)


def test_few_names_that_many_share_are_names_of_persons_by_the_column_alone(tmp_path):
    values = [f"Ann {number:02}" for number in range(30)] * 20
    assert "first_name" not in _features(tmp_path, "first_name", values)
    assert "occupation" in _features(tmp_path, "occupation", values)


def test_districts_and_countries_stay_features(tmp_path):
    assert "postcode" in _features(tmp_path, "postcode", [f"SW{number}" for number in range(180)] * 10)
    # Two people live in each of 80 small countries, and 840 in one.
    assert "country" in _features(tmp_path, "country", [f"C{number}" for number in range(80)] * 2 + ["home"] * 840)
