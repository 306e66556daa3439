"""Measures between groups, intervals of rates, requirements.

The metrics have Fairlearn's names and signature; `GroupMetrics` has all of them at once, with intervals, and
`justicia.metrics.aif360` AIF360's signed forms.

>>> demographic_parity_ratio(None, [1, 0, 1, 1], sensitive_features=["f", "f", "m", "m"])
0.5
"""

from __future__ import annotations

from justicia.metrics.asking import (
    check_filters,
    matching,
    measured,
    parse_reference,
    reference_position,
    reference_positions,
    worst_of,
)
from justicia.metrics.contrasts import Contrast, contrasts
from justicia.metrics.counts import OutcomeCounts, count_outcomes
from justicia.metrics.disparities import (
    COMPARISONS,
    MEASURES,
    RATES_OF,
    RATIOS,
    SELECTION_MEASURES,
    Measure,
    Rates,
    measure,
)
from justicia.metrics.functions import (
    average_odds_difference,
    count,
    demographic_parity_difference,
    demographic_parity_ratio,
    disparate_impact,
    equal_opportunity_difference,
    equal_opportunity_ratio,
    equalized_odds_difference,
    equalized_odds_ratio,
    false_negative_rate,
    false_positive_rate,
    precision,
    predictive_parity_difference,
    predictive_parity_ratio,
    selection_rate,
    statistical_parity_difference,
    true_negative_rate,
    true_positive_rate,
)
from justicia.metrics.group_metrics import GroupMetrics
from justicia.metrics.intervals import (
    log_ratio,
    newcombe,
    simultaneous_clopper_pearson,
    simultaneous_wilson,
    wilson,
)
from justicia.metrics.rates import exact_share, overall_rate, precision_of
from justicia.metrics.requirements import (
    CONDITIONAL,
    RATE_NAMES,
    Requirement,
    Verdict,
    filter_pairs,
    measure_name,
    parse_requirement,
)
from justicia.metrics.sample_size import justicia_sample_size
from justicia.metrics.sampling import SampleMeasure, SampleMeasures, compared_kinds, sample_measures

__all__ = [
    "COMPARISONS",
    "CONDITIONAL",
    "MEASURES",
    "RATES_OF",
    "RATE_NAMES",
    "RATIOS",
    "SELECTION_MEASURES",
    "Contrast",
    "GroupMetrics",
    "Measure",
    "OutcomeCounts",
    "Rates",
    "Requirement",
    "SampleMeasure",
    "SampleMeasures",
    "Verdict",
    "average_odds_difference",
    "check_filters",
    "compared_kinds",
    "contrasts",
    "count",
    "count_outcomes",
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "disparate_impact",
    "equal_opportunity_difference",
    "equal_opportunity_ratio",
    "equalized_odds_difference",
    "equalized_odds_ratio",
    "exact_share",
    "false_negative_rate",
    "false_positive_rate",
    "filter_pairs",
    "justicia_sample_size",
    "log_ratio",
    "matching",
    "measure",
    "measure_name",
    "measured",
    "newcombe",
    "overall_rate",
    "parse_reference",
    "parse_requirement",
    "precision",
    "precision_of",
    "predictive_parity_difference",
    "predictive_parity_ratio",
    "reference_position",
    "reference_positions",
    "sample_measures",
    "selection_rate",
    "simultaneous_clopper_pearson",
    "simultaneous_wilson",
    "statistical_parity_difference",
    "true_negative_rate",
    "true_positive_rate",
    "wilson",
    "worst_of",
]
