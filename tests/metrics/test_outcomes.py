"""People as users hold them: the right value, or an error that says what to do."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from justicia import metrics
from justicia.errors import GroupingError, InputError, LabelError

TRUTH = [1, 0, 1, 1, 0, 0, 1, 0]
CHOSEN = [1, 0, 0, 1, 1, 0, 1, 0]
GROUPS = [1, 1, 1, 1, 2, 2, 2, 2]
# Selection rates 1/2 and 1/2, true positive rates 2/3 and 1, false positive rates 0 and 1/3.
EXPECTED = 1 / 3


def relabelled(values, zero, one):
    return [one if value else zero for value in values]


@pytest.mark.parametrize(
    "form",
    [
        list, tuple, np.array, pd.Series, lambda v: np.array(v, dtype=bool), lambda v: np.array(v, dtype=float),
        lambda v: pd.Series(v, dtype="Int64"), lambda v: pd.Series(v, dtype="boolean"), lambda v: np.array(v)[:, None],
        lambda v: pd.Series(v).astype("category"), lambda v: pd.Series(v, index=range(100, 108)),
        lambda v: pd.DataFrame({"a": v}), lambda v: relabelled(v, -1, 1), lambda v: relabelled(v, "0", "1"),
        lambda v: np.array(relabelled(v, "-1", "1")), lambda v: relabelled(v, False, True),
        lambda v: np.array(v, dtype=np.uint8), lambda v: np.array(v, dtype=object),
        lambda v: pd.Series(v, dtype="float32"), lambda v: relabelled(v, "False", "True"),
    ],
)  # fmt: skip
def test_labels_of_every_type(form):
    found = metrics.equalized_odds_difference(form(TRUTH), form(CHOSEN), sensitive_features=GROUPS)
    assert found == EXPECTED


@pytest.mark.parametrize(
    "form",
    [
        list, np.array, pd.Series, lambda v: [str(one) for one in v], lambda v: pd.Series(v).astype("category"),
        lambda v: pd.Series(v, dtype=object), lambda v: pd.Series(v).astype("string"), lambda v: np.array(v) == 1,
        lambda v: np.array(v, dtype=float), lambda v: pd.DataFrame({"g": v}), lambda v: {"g": v},
        lambda v: np.array(v)[:, None], lambda v: [[one, "x"] for one in v], lambda v: pd.DataFrame({"g": v, "h": "x"}),
        lambda v: pd.Series(v, dtype="Int64"), lambda v: [(one, "x") for one in v],
        lambda v: pd.Series(v, index=range(50, 58)), lambda v: np.array(v, dtype="U3"),
    ],
)  # fmt: skip
def test_groups_of_every_type(form):
    assert metrics.equalized_odds_difference(TRUTH, CHOSEN, sensitive_features=form(GROUPS)) == EXPECTED


def test_words_need_a_favorable_one():
    truth, chosen = relabelled(TRUTH, "<=50K", ">50K"), relabelled(CHOSEN, " <=50K", " >50K ")
    given = {"sensitive_features": GROUPS}
    assert metrics.equalized_odds_difference(truth, chosen, pos_label=">50K", **given) == EXPECTED
    with pytest.raises(LabelError, match="pos_label, one or more of"):
        metrics.equalized_odds_difference(truth, chosen, **given)
    with pytest.raises(LabelError, match="did you mean >50K"):
        metrics.equalized_odds_difference(truth, chosen, pos_label=">50", **given)


def test_a_dot_behind_a_label_is_never_taken_for_all_negative():
    truth, chosen = relabelled(TRUTH, "<=50K.", ">50K."), relabelled(CHOSEN, "<=50K", ">50K")
    for label in (">50K", ">50K."):
        with pytest.raises(LabelError, match=r"y_true holds '.*50K\.' and y_pred '.*50K'"):
            metrics.equalized_odds_difference(truth, chosen, sensitive_features=GROUPS, pos_label=label)
    with pytest.raises(LabelError, match="in the same words"):
        metrics.equalized_odds_difference(
            relabelled(TRUTH, "bad", "good"), CHOSEN, sensitive_features=GROUPS, pos_label="good"
        )  # fmt: skip
    both = metrics.equalized_odds_difference(
        relabelled(TRUTH, "bad", "good"), CHOSEN, sensitive_features=GROUPS, pos_label=["good", 1]
    )  # fmt: skip
    assert both == EXPECTED


def test_several_favorable_labels_of_many():
    chosen = ["a", "c", "c", "b", "a", "c", "b", "c"]
    found = metrics.selection_rate(None, chosen, pos_label=["a", "b"])
    assert found == 0.5
    with pytest.raises(LabelError, match="every label"):
        metrics.selection_rate(None, chosen, pos_label=["a", "b", "c"])
    with pytest.raises(LabelError, match="no such label"):
        metrics.selection_rate(None, chosen, pos_label="d")
    with pytest.raises(LabelError, match="pos_label is empty"):
        metrics.selection_rate(None, chosen, pos_label=[])


def test_a_favorable_value_that_nobody_gets():
    assert metrics.selection_rate(None, [0, 0, 0]) == 0
    assert metrics.selection_rate(None, [0, 0, 0], pos_label=1) == 0
    assert metrics.selection_rate(None, [False, False]) == 0
    assert metrics.selection_rate(None, ["no", "no"], pos_label="no") == 1
    with pytest.raises(LabelError, match="no such label"):
        metrics.selection_rate(None, ["no", "no"], pos_label="yes")
    # The true outcomes hold the word: nobody is selected.
    assert metrics.true_positive_rate(["yes", "no"], ["no", "no"], pos_label="yes") == 0
    assert metrics.selection_rate([1, 1], [0, 0], pos_label=0) == 1


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ((TRUTH[:-1], CHOSEN, GROUPS), InputError, "y_true has 7 rows and y_pred 8"),
        ((TRUTH, CHOSEN, GROUPS[:-1]), InputError, "has 7 rows and y_pred 8"),
        ((TRUTH, [], GROUPS), InputError, "empty"),
        ((None, CHOSEN, GROUPS), InputError, "true outcomes"),
        ((TRUTH, "01", GROUPS), InputError, "one value a row"),
        ((TRUTH, np.zeros((8, 2)), GROUPS), InputError, "dimensions"),
        ((TRUTH, pd.DataFrame({"a": CHOSEN, "b": CHOSEN}), GROUPS), InputError, "2 columns"),
        (([*TRUTH[:-1], None], CHOSEN, GROUPS), LabelError, "y_true has no value in 1 row"),
        ((TRUTH, [*CHOSEN[:-1], math.nan], GROUPS), LabelError, "y_pred has no value in 1 row"),
        (
            (TRUTH, CHOSEN, [*GROUPS[:-2], None, math.nan]),
            GroupingError,
            "no value in 2 rows of 8: pass missing='group'",
        ),
        ((TRUTH, CHOSEN, None), GroupingError, "one value a row"),
        ((TRUTH, CHOSEN, "sex"), GroupingError, "one value a row"),
        ((TRUTH, CHOSEN, {}), GroupingError, "no column"),
        ((TRUTH, CHOSEN, [[1, 2], [1]] * 4), GroupingError, "different lengths"),
        ((TRUTH, [2, *CHOSEN[1:]], GROUPS), LabelError, "pos_label"),
        ((TRUTH, [-1, *CHOSEN[1:]], GROUPS), LabelError, "pos_label"),
    ],
)
def test_what_is_refused(arguments, error, says):
    with pytest.raises(error, match=says):
        metrics.equalized_odds_difference(*arguments[:2], sensitive_features=arguments[2])


def test_scores_and_ages_are_refused():
    rng = np.random.default_rng(0)
    scores, ages = rng.random(100), rng.integers(18, 80, 100)
    with pytest.raises(LabelError, match="look like scores"):
        metrics.selection_rate(None, scores)
    with pytest.raises(GroupingError, match=r"numeric with .* cut it into classes, as with pandas\.cut"):
        metrics.demographic_parity_ratio(None, scores > 0.5, sensitive_features=ages)
    metrics.demographic_parity_ratio(None, scores > 0.5, sensitive_features=ages.astype(str))


@pytest.mark.parametrize(
    "weight", [[1] * 7, [-1] + [1] * 7, [math.nan] + [1] * 7, [0] * 8, ["a"] * 8, [math.inf] + [1] * 7]
)
def test_weights_that_are_refused(weight):
    with pytest.raises(InputError, match="sample_weight"):
        metrics.demographic_parity_ratio(TRUTH, CHOSEN, sensitive_features=GROUPS, sample_weight=weight)


def test_methods_that_there_are_none_of():
    with pytest.raises(InputError, match="did you mean to_overall"):
        metrics.demographic_parity_ratio(TRUTH, CHOSEN, sensitive_features=GROUPS, method="to_overal")
    with pytest.raises(InputError, match="agg cannot be"):
        metrics.equalized_odds_ratio(TRUTH, CHOSEN, sensitive_features=GROUPS, agg="max")


def test_true_outcomes_are_not_looked_at_for_selection_rates():
    strange = ["?", None, "?", "?", "?", "?", "?", "?"]
    assert metrics.demographic_parity_ratio(strange, CHOSEN, sensitive_features=GROUPS, pos_label=1) == 1
    with pytest.raises(InputError, match="7 rows"):
        metrics.demographic_parity_ratio(strange[:-1], CHOSEN, sensitive_features=GROUPS)


def test_base_rates_have_values_by_hand():
    assert metrics.true_positive_rate(TRUTH, CHOSEN) == 0.75
    assert metrics.false_negative_rate(TRUTH, CHOSEN) == 0.25
    assert metrics.false_positive_rate(TRUTH, CHOSEN) == 0.25
    assert metrics.true_negative_rate(TRUTH, CHOSEN) == 0.75
    assert metrics.precision(TRUTH, CHOSEN) == 0.75
    assert metrics.selection_rate(TRUTH, CHOSEN) == 0.5
    assert metrics.count(TRUTH, CHOSEN) == 8
    assert math.isnan(metrics.true_positive_rate([0, 0], [0, 1]))
    assert math.isnan(metrics.precision([0, 1], [0, 0]))
    assert metrics.true_positive_rate(TRUTH, CHOSEN, sample_weight=[2, 1, 1, 1, 1, 1, 1, 1]) == 0.8


def test_the_table_of_groups():
    frame = pd.DataFrame({"sex": ["f", "f", "m", "m"] * 2, "race": ["B", "W"] * 4})
    found = metrics.GroupMetrics(TRUTH, CHOSEN, sensitive_features=frame, reference="sex=f,race=B")
    assert found.by_group.index.names == ["sex", "race"]
    assert found.by_group["count"].tolist() == [2, 2, 2, 2]
    # Selected: f B rows 0 and 4, f W rows 1 and 5, m B rows 2 and 6, m W rows 3 and 7.
    assert found.by_group["selection_rate"].tolist() == [1, 0, 0.5, 0.5]
    assert found.overall["selection_rate"] == 0.5
    assert found.difference()["selection_rate"] == 1
    assert found.difference("to_overall")["selection_rate"] == 0.5
    assert found.ratio("to_reference")["selection_rate"] == 0
    assert found.group_min()["selection_rate"] == 0
    assert found.group_max()["selection_rate"] == 1
    inside = (found.measures["lo"] <= found.measures["value"]) & (found.measures["value"] <= found.measures["hi"])
    assert inside[found.measures["value"].notna()].all()
    assert set(found.measures.index.get_level_values("comparison")) == set(metrics.COMPARISONS)
    with pytest.raises(GroupingError, match="nobody has 'x' in 'sex'"):
        metrics.GroupMetrics(TRUTH, CHOSEN, sensitive_features=frame, reference="sex=x,race=B")


def test_control_features_are_strata():
    found = metrics.GroupMetrics(
        TRUTH, CHOSEN, sensitive_features={"race": ["B", "W"] * 4}, control_features={"sex": list("ffmm") * 2}
    )  # fmt: skip
    assert found.by_group.index.names == ["sex", "race"]
    assert found.difference()["selection_rate"].to_dict() == {"f": 1.0, "m": 0.0}
    assert found.overall["selection_rate"].to_dict() == {"f": 0.5, "m": 0.5}
    assert found.measures.loc[("m", "disparate_impact", "between_groups"), "value"] == 1
    with pytest.raises(GroupingError, match="a control feature and a sensitive one"):
        metrics.GroupMetrics(TRUTH, CHOSEN, sensitive_features={"g": GROUPS}, control_features={"g": GROUPS})


def test_selection_rates_alone_without_true_outcomes():
    found = metrics.GroupMetrics(None, CHOSEN, sensitive_features=GROUPS)
    assert set(found.measures.index.get_level_values("measure")) == set(metrics.SELECTION_MEASURES)
    assert "true_positive_rate" not in found.by_group


def test_labels_and_groups_are_not_changed():
    frame = pd.DataFrame({"g": pd.Series(GROUPS).astype("category")})
    before = frame.copy(deep=True)
    metrics.GroupMetrics(
        TRUTH, CHOSEN, sensitive_features=frame, control_features=pd.Series(list("abab") * 2, name="c")
    )
    pd.testing.assert_frame_equal(frame, before)
