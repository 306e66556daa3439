"""Measures in words and as formulas, for reports.

With s the selection rate of a group, TPR and FPR its true and false positive rates.
"""

from __future__ import annotations

__all__ = ["DEFINITIONS"]

DEFINITIONS: dict[str, tuple[str, str]] = {
    "disparate_impact": (
        "How many of the group selected least are selected for each one of the group selected most. 1 when all rates "
        "are equal.",
        "smallest s ÷ largest s",
    ),
    "statistical_parity_difference": (
        "How far the selection rates of the groups lie apart. 0 when all rates are equal.",
        "largest s − smallest s",
    ),
    "equal_opportunity_difference": (
        "How far the groups lie apart among people whose true outcome is favorable.",
        "largest TPR − smallest TPR",
    ),
    "equalized_odds_difference": (
        "The wider of the gaps among people whose true outcome is favorable, and among the others.",
        "max(largest TPR − smallest TPR, largest FPR − smallest FPR)",
    ),
    "equalized_odds_ratio": (
        "The smaller of the ratios among people whose true outcome is favorable, and among the others.",
        "min(smallest TPR ÷ largest TPR, smallest FPR ÷ largest FPR)",
    ),
    "average_odds_difference": (
        "The mean of the gaps among people whose true outcome is favorable, and among the others.",
        "((largest TPR − smallest TPR) + (largest FPR − smallest FPR)) ÷ 2",
    ),
    "equal_opportunity_ratio": (
        "How many of the group selected least are selected for each one of the group selected most, among people whose "
        "true outcome is favorable.",
        "smallest TPR ÷ largest TPR",
    ),
    "predictive_parity_ratio": (
        "How the shares of selected people whose true outcome is favorable compare. 1 when all are equal.",
        "smallest precision ÷ largest precision",
    ),
    "predictive_parity_difference": (
        "How far the groups lie apart in the share of selected people whose true outcome is favorable.",
        "largest precision − smallest precision",
    ),
}
"""What each measure tells, and its formula."""
