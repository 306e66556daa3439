"""Verdicts on the criteria: p-values corrected for all tests of a report, or differences beside a limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from justicia.metrics.adverse_impact import holm

if TYPE_CHECKING:
    from justicia.generations.contingency import Test
    from justicia.generations.language_results import Criterion, Settings
    from justicia.generations.pairing import PairedResult

__all__ = ["corrected", "judge"]


def corrected(tests: Sequence[Test]) -> list[Test]:
    """Tests with p-values by Holm's correction; those without p-value stay as they are."""
    held = [test.p for test in tests if test.p is not None]
    adjusted = iter(holm(held))
    return [test if test.p is None else replace(test, adjusted=next(adjusted)) for test in tests]


def judge(
    criteria: Sequence[Criterion], pairs: Sequence[PairedResult], settings: Settings
) -> tuple[list[Criterion], list[PairedResult]]:
    """Correct all p-values together, and judge each criterion and each comparison of pairs."""
    tests = iter(corrected([*(test for one in criteria for test in one.tests), *(one.test for one in pairs)]))
    judged = []
    for one in criteria:
        strata = tuple(replace(stratum, test=next(tests)) for stratum in one.strata)
        pooled = None if one.pooled is None else replace(one.pooled, test=next(tests))
        made = replace(one, strata=strata, pooled=pooled)
        verdict, reason = _by_tests(made, settings) if settings.at_most is None else _by_limit(made, settings.at_most)
        judged.append(replace(made, verdict=verdict, reason=reason))
    compared = []
    for pair in pairs:
        pair = replace(pair, test=next(tests))
        verdict, reason = _pair_verdict(pair, settings)
        compared.append(replace(pair, verdict=verdict, reason=reason))
    return judged, compared


def _by_tests(one: Criterion, settings: Settings) -> tuple[str, str]:
    rejecting = [stratum.name for stratum in one.strata if stratum.test.rejected(settings.alpha)]
    if rejecting:
        more = "" if len(rejecting) == 1 else f" and {len(rejecting) - 1} more"
        return "fails", f"a test rejects it: {rejecting[0]}{more}"
    if one.pooled is not None and one.pooled.test.rejected(settings.alpha):
        return "fails", "the pooled test rejects it"
    if any(test.p is not None for test in one.tests):
        return "holds", "no test rejects it"
    if any(stratum.difference is not None for stratum in one.strata):
        return "holds", "every response is the same"
    reasons = dict.fromkeys(stratum.undefined for stratum in one.strata if stratum.undefined)
    return "undecided", "; ".join(reasons) or "there are no rows"


def _by_limit(one: Criterion, limit: float) -> tuple[str, str]:
    compared = [stratum for stratum in one.strata if stratum.difference is not None]
    known = [(stratum.largest, stratum.name) for stratum in compared if stratum.largest is not None]
    for (lo, _), name in known:
        if lo > limit:
            return "fails", f"{name}: the largest difference is {lo:.3f} at least"
    if not compared:
        return "undecided", "no stratum has two groups with rows"
    if len(known) < len(compared):
        return "undecided", "there are too few clusters for an interval"
    (_, hi), name = max(known, key=lambda held: held[0][1])
    if hi <= limit:
        left = len(one.strata) - len(compared)
        rest = "" if not left else f"; {left} strata with fewer than two groups say nothing"
        return "holds", f"the largest difference is {hi:.3f} at most{rest}"
    return "undecided", f"{name}: the largest difference may be {hi:.3f}"


def _pair_verdict(pair: PairedResult, settings: Settings) -> tuple[str, str]:
    if not pair.pairs:
        return "undecided", "there is no complete pair"
    if settings.at_most is None:
        rejected = pair.test.rejected(settings.alpha)
        return ("fails", "the test rejects it") if rejected else ("holds", "the test does not reject it")
    if any(one.lo is None or one.hi is None for one in pair.differences):
        return "undecided", "there are too few clusters for an interval"
    ends = [(one.lo, one.hi) for one in pair.differences if one.lo is not None and one.hi is not None]
    lo, hi = max(max(low, -high) for low, high in ends), max(max(high, -low) for low, high in ends)
    if lo > settings.at_most:
        return "fails", f"the largest difference is {lo:.3f} at least"
    if hi <= settings.at_most:
        return "holds", f"the largest difference is {hi:.3f} at most"
    return "undecided", f"the largest difference may be {hi:.3f}"
