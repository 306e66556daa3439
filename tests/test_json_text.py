"""JSON text is that of the standard library, byte for byte."""

from __future__ import annotations

import collections
import enum
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from justicia.writing import json_text


class Color(enum.IntEnum):
    RED = 3


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
)
keys = st.one_of(st.text(), st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False, allow_infinity=False))
plain = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.lists(inner, max_size=3).map(tuple), st.dictionaries(keys, inner, max_size=4)
    ),
    max_leaves=25,
)


@given(plain)
def test_as_the_standard_library_writes_it(held):
    text = json.dumps(held, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(held, indent=1, allow_nan=False) + "\n"
    assert json_text(held) == text
    json_text(held).encode()


def test_what_only_looks_plain():
    held = {
        "float": np.float64(0.1),
        "text": np.str_("Zoë\nno"),
        "number": Color.RED,
        np.str_("ö"): collections.OrderedDict(a=[], b={}, c=[{}, [[]], {"d": collections.OrderedDict(e=["é"])}]),
        "half of a pair": "ok",
    }
    assert json_text(held) == json.dumps(held, indent=1, ensure_ascii=False) + "\n"
    held["half of a pair"] = "\ud800"
    assert json_text(held) == json.dumps(held, indent=1) + "\n"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_what_json_has_no_number_for(value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text({"a": [1.0, value]})


def test_what_json_has_no_form_for():
    with pytest.raises(TypeError, match="complex"):
        json_text({"a": 1j})
