"""What new users stumbled over."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import justicia
from justicia.errors import InputError
from tests.regressions.common import audit, people, pipeline, rates, tree


def test_bounds_are_never_shown_as_rates():
    table, _ = people()
    held = audit(pipeline(), table, sensitive_features=["sex", "race", "job"], search="learn", population="tree")
    frame = held.by_group
    exact = frame["selection_rate_hi"] - frame["selection_rate_lo"] <= 1e-12
    assert frame.loc[~exact, "selection_rate"].isna().all()
    assert frame.loc[exact, "selection_rate"].notna().all()


def test_rates_of_the_rows_stand_beside_the_verified_ones():
    table, out = people()
    frame = audit(pipeline(), table, y=out).by_group
    chosen = pipeline().predict(table) == "yes"
    for sex, row in frame.iterrows():
        member = (table["sex"] == sex) & (out == "yes")
        assert row["sample_tpr"] == pytest.approx(chosen[member].mean())
        assert row["tpr"] == pytest.approx(row["sample_tpr"])


def test_small_groups_under_the_tree_are_warned_of():
    table, _ = people()
    held = audit(pipeline(), table.head(40), population="tree")
    assert any("lean on those of other groups" in text for text in held.warnings)
    assert not any("lean" in text for text in audit(pipeline(), table, population="tree").warnings)
    assert not any("lean" in text for text in audit(pipeline(), table.head(40)).warnings)


def test_a_label_that_has_nothing_to_do_with_the_model_is_warned_of():
    table, out = people()
    rng = np.random.default_rng(5)
    guessed = audit(pipeline(), table.assign(member=rng.permutation(out)))
    assert guessed.roles.truth.name == "member"
    assert any("hardly goes with" in text for text in guessed.warnings)
    assert not any("hardly" in text for text in audit(pipeline(), table.assign(out=out)).warnings)


def test_one_group_meets_no_limit():
    table, _ = people()
    men = table[table["sex"] == "M"]
    held = audit(pipeline(), men, require="disparate_impact>=0.8")
    assert held.disparate_impact is None
    assert held.requirements[0].status == "undecided"
    assert "one group only" in held.requirements[0].reason
    assert held.exit_code == 3


@pytest.mark.parametrize("text", ["disparate_impact<=0.8", "statistical_parity_difference>=0.1"])
def test_a_limit_in_the_wrong_direction_is_warned_of(text):
    table, _ = people()
    assert any("met by unequal rates" in warning for warning in audit(pipeline(), table, require=text).warnings)


def test_a_verdict_says_when_the_rows_would_judge_otherwise():
    table, _ = people()
    verified = float(audit(pipeline(), table, population="independent").disparate_impact)
    rows = float(audit(pipeline(), table).disparate_impact)
    assert verified != rows
    limit = (verified + rows) / 2
    held = audit(pipeline(), table, population="independent", require=f"disparate_impact>={limit:.6f}")
    assert "by the rows alone" in held.requirements[0].reason


def test_rows_in_another_order_are_refused():
    table, out = people()
    for options in ({"y": out.sample(frac=1, random_state=0)}, {"sensitive_features": table["sex"].sample(frac=1)}):
        with pytest.raises(InputError, match="different indexes"):
            audit(pipeline(), table, **options)
    shifted = table.set_axis(range(100, 500))
    assert rates(audit(pipeline(), shifted, y=out.set_axis(range(100, 500)))) == rates(audit(pipeline(), table))
    assert rates(audit(pipeline(), shifted, y=out)) == rates(audit(pipeline(), table))


def test_the_label_is_not_sensitive():
    table, out = people()
    with pytest.raises(InputError, match="is the label"):
        audit(pipeline(), table.assign(out=out), sensitive_features="out", label="out")


def test_measures_by_name():
    table, out = people()
    held = audit(pipeline(), table, y=out)
    assert held.measure("Disparate-Impact") == held.disparate_impact
    assert held.measure("demographic_parity_ratio") == held.disparate_impact
    with pytest.raises(InputError, match="no measure is called"):
        held.measure("nope")
    assert held.equalized_odds_ratio is not None
    assert held.average_odds_difference is not None
    assert repr(held).startswith("<Audit of sex, 2 groups: disparate_impact 0.")
    assert len(repr(held)) < 400


def test_a_model_whose_second_class_means_nothing_is_warned_of():
    table, out = people()
    model = tree().fit(table[["age", "pay"]], out.map({"yes": "approved", "no": "denied"}))
    held = audit(model, table, favorable=None)
    assert any("denied is the model's second class" in text for text in held.warnings)


def test_one_text_may_name_several_columns():
    table, _ = people()
    assert audit(pipeline(), table, sensitive_features="sex,race").groupings[0].sensitive == ("sex", "race")


def test_many_one_hot_columns_in_a_file_raise_no_warning(tmp_path):
    table, out = people()
    towns = pd.DataFrame({f"town_{i}": (np.arange(400) == i).astype(int) for i in range(150)})
    wide = pd.concat([pd.get_dummies(table, columns=["sex", "race", "job"], dtype=int), towns], axis="columns")
    wide.to_csv(tmp_path / "wide.csv", index=False)
    model = tree().fit(wide, out)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        audit(model, tmp_path / "wide.csv")


def test_a_one_hot_model_beside_the_original_table_says_so():
    table, out = people()
    model = tree().fit(pd.get_dummies(table, columns=["sex", "race", "job"]), out)
    with pytest.raises(InputError, match="one-hot encoded table"):
        audit(model, table)


def test_a_column_that_was_dropped_first_is_named():
    table, out = people()
    wide = pd.get_dummies(table, columns=["sex", "race", "job"], drop_first=True)
    with pytest.raises(InputError, match=r"did you mean sex_M\?"):
        audit(tree().fit(wide, out), wide)


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_numbers_are_never_cut(width):
    table, out = people()
    text = audit(pipeline(), table, sensitive_features=["race", "sex"], y=out).to_text(width)
    assert max(map(len, text.splitlines())) <= width
    group = next(line for line in text.splitlines() if line.startswith("  a     F"))
    assert str(((table["race"] == "a") & (table["sex"] == "F")).sum()) in group
    assert "verified" in text
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_people_cannot_be_fewer_than_none():
    table, _ = people()
    with pytest.raises(InputError, match="cannot be drawn"):
        audit(pipeline(), table).population.sample(("M",), -3)


def test_a_byte_that_is_no_text_is_named_by_its_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("a,b\n1,x\n2,é\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"byte 0xe9 in line 3"):
        justicia.verify("tree", path)
