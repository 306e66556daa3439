"""What a warning of a poor fit advises: `--population auto` is no advice about a population that somebody states."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.population.networks import network_from_text


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        ("network", "look at the network's tables for this group"),
        ("file", "fit a population to this table if the one of the file"),
        ("independent", "pass population='auto'"),
    ],
)
def test_advice_fits_the_population(kind, advice):
    x = np.tile([0, 1], 200)
    frame = pd.DataFrame({"sex": ["F"] * 200 + ["M"] * 200, "x": x, "z": x})
    model = DecisionTreeClassifier().fit(pd.DataFrame({"x": [0, 0, 1, 1], "z": [0, 1, 0, 1]}), [0, 1, 1, 0])
    variables = [{"name": "sex", "values": ["F", "M"], "probabilities": [0.5, 0.5]}]
    variables += [{"name": name, "values": [0, 1], "probabilities": [0.5, 0.5]} for name in "xz"]
    network = network_from_text(json.dumps({"schema": "justicia.network/1", "variables": variables}))
    file = justicia.fit_population(frame, sensitive_features="sex", structure="independent")
    population = {"network": network, "file": file, "independent": "independent"}[kind]
    audit = justicia.verify(model, frame, sensitive_features="sex", favorable=1, population=population)
    (text,) = [text for text in audit.warnings if "sampling error" in text]
    assert advice in text
    assert (kind == "independent") == ("population=" in text)
