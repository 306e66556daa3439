"""Measures between groups, intervals of rates, requirements."""

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
from justicia.metrics.contrasts import Contrast, contrasts, exact_share, overall_rate, precision_of
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
from justicia.metrics.intervals import (
    log_ratio,
    newcombe,
    simultaneous_clopper_pearson,
    simultaneous_wilson,
    wilson,
)
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
    "Measure",
    "OutcomeCounts",
    "Rates",
    "Requirement",
    "SampleMeasure",
    "SampleMeasures",
    "Verdict",
    "check_filters",
    "compared_kinds",
    "contrasts",
    "count_outcomes",
    "exact_share",
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
    "precision_of",
    "reference_position",
    "reference_positions",
    "sample_measures",
    "simultaneous_clopper_pearson",
    "simultaneous_wilson",
    "wilson",
    "worst_of",
]
