"""A table and a model that the regressions share."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import justicia

TEXT, NUMBERS = ["sex", "race", "job"], ["age", "pay"]


def people(n=400):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "sex": rng.choice(["M", "F"], n),
            "race": rng.choice(["a", "b"], n),
            "age": rng.integers(18, 70, n),
            "pay": rng.normal(50, 20, n).round(2),
            "job": rng.choice(["x", "y", "z"], n),
        }
    )
    score = table["pay"] + table["age"] + 10 * (table["job"] == "x") + 8 * (table["sex"] == "M")
    return table, pd.Series(np.where(score > 105, "yes", "no"), name="out")


def tree(depth=5):
    return DecisionTreeClassifier(max_depth=depth, random_state=0)


def columns(**options):
    text = ("text", OneHotEncoder(handle_unknown="ignore"), TEXT)
    return ColumnTransformer([text], remainder="passthrough", **options)


def pipeline():
    table, out = people()
    return make_pipeline(columns(), tree()).fit(table, out)


def audit(model, table, **options):
    return justicia.verify(
        model, table, **{"population": "empirical", "sensitive_features": "sex", "favorable": "yes", **options}
    )


def rates(held):
    return {
        tuple(group.group.values()): float(group.selection_rate.lo) for group in held.groupings[0].groups if group.n
    }


def truth(model, table, groups, favorable="yes"):
    """Selection rate of each group by the model's own predict."""
    chosen = pd.Series(model.predict(table) == favorable)
    keys = np.asarray(groups).astype(str)
    return {(key,): chosen[keys == key].mean() for key in np.unique(keys)}
