"""Tables of decisions by counts, for tests."""

from __future__ import annotations

import pandas as pd


def decided(cells, names=("sex",), yes=1, no=0):
    """A table with a row a person; `cells` has selected and all people by the values of a group."""
    rows = []
    for values, (selected, people) in cells.items():
        key = values if isinstance(values, tuple) else (values,)
        rows += [(*key, yes)] * selected + [(*key, no)] * (people - selected)
    return pd.DataFrame(rows, columns=[*names, "hired"])


INTERSECTION = {("H", "m"): (30, 60), ("W", "m"): (40, 100), ("H", "f"): (10, 40), ("W", "f"): (45, 90)}
"""By race and sex: each alone hides what both together show."""
