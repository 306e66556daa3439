"""Fixtures shared by the tests."""

from __future__ import annotations

import pickle
import signal

import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from justicia import datasets


def pytest_configure():
    """Hear Ctrl-C, as tests of interruptions do: a shell lets programs that it starts in the background ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_make_parametrize_id(config, val, argname):
    """Bytes are no names: they may hold the time, and then two processes that share the tests know other ones."""
    return argname if isinstance(val, bytes) else None


@pytest.fixture(scope="session")
def adult():
    return datasets.load("adult")[0]


def adult_pipeline(frame, max_depth=6, random_state=0):
    """A tree behind a pipeline on raw Adult columns, as a user would write it."""
    text = OneHotEncoder(handle_unknown="ignore")
    columns = ColumnTransformer([("text", text, make_column_selector(dtype_exclude="number"))], remainder="passthrough")
    tree = DecisionTreeClassifier(max_depth=max_depth, random_state=random_state)
    return Pipeline([("columns", columns), ("tree", tree)]).fit(frame.drop(columns="income"), frame["income"])


@pytest.fixture(scope="session")
def adult_tree(adult):
    return adult_pipeline(adult)


@pytest.fixture(scope="session")
def adult_files(adult, adult_tree, tmp_path_factory):
    """A folder with adult.csv and tree.pkl."""
    folder = tmp_path_factory.mktemp("adult")
    adult.to_csv(folder / "adult.csv", index=False)
    (folder / "tree.pkl").write_bytes(pickle.dumps(adult_tree))
    return folder
