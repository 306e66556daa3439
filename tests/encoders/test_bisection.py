from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from justicia.encoders.bisection import LARGEST, last_true

finite = st.floats(-1e100, 1e100)


@given(st.lists(finite, min_size=1, max_size=20))
def test_finds_the_very_float(thresholds):
    levels = np.array(thresholds)
    found = last_true(lambda values: values <= levels[:, None], len(levels))
    assert (found == levels).all()


@given(st.floats(-(2.0**99), 2.0**99, width=32))
def test_float32_rule(threshold):
    with np.errstate(over="ignore"):
        found = last_true(lambda values: values.astype(np.float32).astype(np.float64) <= threshold, 1)[0]
        assert np.float64(np.float32(found)) <= threshold
        assert np.float64(np.float32(np.nextafter(found, np.inf))) > threshold


def test_constant_tests_have_no_edge():
    assert np.isnan(last_true(lambda values: np.ones_like(values, dtype=bool), 1)).all()
    assert np.isnan(last_true(lambda values: values > LARGEST, 1)).all()
