"""Times of sample measures beside Fairlearn's: python -m benchmarks.measures.

45,000 people in 40 groups. Both are called in turn, and the ratio of their median times is what counts: the machine's
speed drifts, the ratio does not. Fairlearn's bootstrap is timed with 20 replicates and multiplied up to 1,000.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import fairlearn.metrics as fairlearn
import numpy as np
import pandas as pd

from justicia import metrics

N_ROWS, N_GROUPS, REPEATS = 45_000, 40, 7
REPLICATES, WANTED = 20, 1_000


def people() -> tuple[np.ndarray, np.ndarray, pd.Series]:
    """True outcomes, decisions and groups as words."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, N_GROUPS, N_ROWS)
    truth = (rng.random(N_ROWS) < 0.3 + 0.005 * groups).astype(int)
    chosen = (rng.random(N_ROWS) < 0.2 + 0.4 * truth + 0.003 * groups).astype(int)
    return truth, chosen, pd.Series([f"group {group}" for group in groups])


def seconds(call: Callable[[], object]) -> float:
    """Time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    """Print median times and their ratios."""
    truth, chosen, groups = people()
    given = {"sensitive_features": groups}

    def everything() -> None:
        held = metrics.GroupMetrics(truth, chosen, **given)
        _ = held.by_group, held.measures

    def bootstrap() -> None:
        names = {"tpr": fairlearn.true_positive_rate, "fpr": fairlearn.false_positive_rate}
        fairlearn.MetricFrame(
            metrics=names, y_true=truth, y_pred=chosen, n_boot=REPLICATES, ci_quantiles=[0.025, 0.975], **given
        ).difference_ci()  # fmt: skip

    calls: dict[str, Callable[[], object]] = {
        "justicia, equalized odds difference": lambda: metrics.equalized_odds_difference(truth, chosen, **given),
        "justicia, all rates and measures with simultaneous intervals": everything,
        "fairlearn, equalized odds difference": lambda: fairlearn.equalized_odds_difference(truth, chosen, **given),
    }
    for call in calls.values():
        call()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(REPEATS):
        for name, call in calls.items():
            times[name].append(seconds(call))
    medians = {name: statistics.median(held) for name, held in times.items()}
    few = seconds(bootstrap)
    medians[f"fairlearn, bootstrap of {WANTED:,} replicates (from {REPLICATES})"] = few * WANTED / REPLICATES
    ours = medians["justicia, all rates and measures with simultaneous intervals"]
    for name, median in medians.items():
        print(f"{name:72} {1e3 * median:10.1f} ms  {median / ours:10.2f} x")


if __name__ == "__main__":
    main()
