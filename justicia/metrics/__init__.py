"""Measures between groups, intervals of rates, requirements."""

from __future__ import annotations

from justicia.metrics.disparities import MEASURES, RATES_OF, SELECTION_MEASURES, Measure, Rates, measure
from justicia.metrics.intervals import simultaneous_clopper_pearson, simultaneous_wilson, wilson
from justicia.metrics.requirements import REMAINING, Requirement, Verdict, measure_name, parse_requirement
from justicia.metrics.sample_size import justicia_sample_size

__all__ = [
    "MEASURES",
    "RATES_OF",
    "REMAINING",
    "SELECTION_MEASURES",
    "Measure",
    "Rates",
    "Requirement",
    "Verdict",
    "justicia_sample_size",
    "measure",
    "measure_name",
    "parse_requirement",
    "simultaneous_clopper_pearson",
    "simultaneous_wilson",
    "wilson",
]
