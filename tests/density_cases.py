"""Networks with densities as text, and what they say by quadrature: no code of the package."""

from __future__ import annotations

import json
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
from scipy.integrate import quad
from scipy.stats import norm

__all__ = ["SEX", "as_json", "interval_masses", "over_intervals", "remembered", "thresholds_of"]

SEX = {"name": "sex", "values": ["F", "M"], "probabilities": [0.5, 0.5]}


def as_json(*variables: dict[str, Any]) -> str:
    return json.dumps({"schema": "justicia.network/1", "variables": variables})


def thresholds_of(tree: Any, feature: int) -> np.ndarray:
    """Where outcomes of a fitted tree, or ensemble of trees, change along a feature.

    Trees round numbers to single precision: everybody passes who is nearer to the last single below the threshold than
    to the next one.
    """
    held = [one.tree_ for one in np.ravel(getattr(tree, "estimators_", [tree]))]
    limits = np.unique(np.concatenate([one.threshold[one.feature == feature] for one in held]))
    single = limits.astype(np.float32)
    below = np.where(single.astype(np.float64) <= limits, single, np.nextafter(single, np.float32(-np.inf)))
    above = np.nextafter(below, np.float32(np.inf))
    return (below.astype(np.float64) + above.astype(np.float64)) / 2


def over_intervals(cuts: np.ndarray, low: float, high: float, density: Any, inner: Any) -> float:
    """Integral of density(x) * inner(middle, x), piece by piece between the cuts; middle is that of the piece."""
    ends = [low, *cuts[(cuts > low) & (cuts < high)].tolist(), high]
    return sum(
        quad(lambda x, m=(a + b) / 2: density(x) * inner(m, x), a, b, epsabs=1e-13, epsrel=1e-12, limit=200)[0]
        for a, b in pairwise(ends)
    )


def remembered(model: Any, columns: list[str]) -> Any:
    """What a model predicts for a number of the first column and all numbers of the others, asked once."""
    known: dict[float, np.ndarray] = {}

    def outcomes(first: float, *others: np.ndarray) -> np.ndarray:
        if first not in known:
            grid = np.array([(first, *rest) for rest in product(*others)])
            known[first] = model.predict(pd.DataFrame(grid, columns=columns))
        return known[first]

    return outcomes


def interval_masses(cuts: np.ndarray, mean: float, deviation: float) -> tuple[np.ndarray, np.ndarray]:
    """A number in each interval, and the normal probability of it."""
    ends = np.array([-np.inf, *cuts, np.inf])
    if not len(cuts):
        return np.zeros(1), np.ones(1)
    middles = np.array([cuts[0] - 1, *((cuts[1:] + cuts[:-1]) / 2), cuts[-1] + 1])
    return middles, np.diff(norm.cdf(ends, mean, deviation))
