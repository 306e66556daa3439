"""Ties of forests: decided where sums of shares are exact, undecided where the order of adding may tell."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier

from justicia import encoders, models

KINDS = {
    "random forest": RandomForestClassifier,
    "extra trees": ExtraTreesClassifier,
    "bagging": BaggingClassifier,
}


def table(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.permutation(400) for name in "abc"})
    return frame, (frame["a"] + 2 * frame["b"] + rng.normal(scale=200, size=len(frame)) > 600).to_numpy().astype(int)


def encoded(model, frame):
    decision, domain = encoders.encode(models.unwrap(model), frame, [1])
    return decision, domain.points(frame)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_trees", [2, 10, 64])
def test_ties_of_pure_leaves_are_for_the_first_class(kind, n_trees):
    frame, label = table()
    model = KINDS[kind](n_estimators=n_trees, random_state=0).fit(frame, label)
    rng = np.random.default_rng(1)
    people = pd.DataFrame({name: rng.integers(0, 400, size=4000) for name in "abc"})
    chances = model.predict_proba(people)
    tied = chances[:, 0] == chances[:, 1]
    assert tied.sum() > 20
    decision, points = encoded(model, people)
    assert not decision.undecided(points).any()
    assert (decision.evaluate(points) == (model.predict(people) == 1)).all()
    assert not decision.evaluate(points)[tied].any()


def test_ties_of_thirds_are_undecided():
    frame, label = table()
    frame = frame // 100
    model = RandomForestClassifier(n_estimators=6, random_state=0).fit(frame, label)
    people = pd.DataFrame([(a, b, c) for a in range(4) for b in range(4) for c in range(4)], columns=list("abc"))
    # One tree says 1/3 where another says 2/3: their sum is 1 in numbers, and may be a little off in floats.
    for number, member in enumerate(model.estimators_):
        member.tree_.value[member.tree_.children_left < 0, 0, :] = (1 / 3, 2 / 3) if number % 2 else (2 / 3, 1 / 3)
    decision, points = encoded(model, people)
    assert decision.undecided(points).all()


def test_a_score_next_to_a_tie_is_decided():
    frame, label = table()
    model = RandomForestClassifier(n_estimators=3, random_state=0).fit(frame, label)
    for member, share in zip(model.estimators_, (0.5 + 2.0**-20, 0.5, 0.5), strict=True):
        member.tree_.value[member.tree_.children_left < 0, 0, :] = (1.0 - share, share)
    decision, points = encoded(model, frame)
    assert not decision.undecided(points).any()
    assert decision.evaluate(points).all()
    assert (model.predict(frame) == 1).all()


def test_scores_that_are_kept_are_of_these_points():
    frame, label = table()
    model = RandomForestClassifier(n_estimators=5, random_state=0).fit(frame, label)
    decision, points = encoded(model, frame)
    says = model.predict(frame) == 1
    assert (decision.evaluate(points) == says).all()
    assert not decision.undecided(points).any()
    # Another part, the same array with other points, and back.
    assert (decision.evaluate(points[:7]) == says[:7]).all()
    held = points[:7].copy()
    assert (decision.evaluate(held) == says[:7]).all()
    held[:] = points[7:14]
    assert (decision.evaluate(held) == says[7:14]).all()
    assert (decision.evaluate(points) == says).all()
    again = pickle.loads(pickle.dumps(decision))
    assert "_last" not in vars(again)
    assert (again.evaluate(points) == says).all()
