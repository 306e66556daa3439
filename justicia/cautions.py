"""What makes the numbers of an audit weaker than they look, said as warnings."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from justicia.enclosure import EXACT
from justicia.few_people import FEWEST
from justicia.population.networks.population import GivenNetwork
from justicia.speaking import speaks_options
from justicia.tables.repeats import correlation, of_rows
from justicia.words import counted, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from justicia import encoders, tables
    from justicia.comparison import GroupAudit, GroupingAudit
    from justicia.solvers.interruption import Interruption
    from justicia.tables.groups import Grouping

__all__ = [
    "announce_time",
    "warn_of_few",
    "warn_of_fit",
    "warn_of_many",
    "warn_of_programs",
    "warn_of_weakness",
    "warn_of_width",
]

logger = logging.getLogger(__name__)

_RATE_WORDS = {"selection_rate": "rates", "tpr": "true positive rates", "fpr": "false positive rates"}
_WEAK_ASSOCIATION = 0.05
_MANY_VALUES = 100
_MOST_NAMED = 3
_LONG_SECONDS = 60
_HOUR = 3600
_FEWEST_GROUPS = 2
"""That can be compared."""


def warn_of_width(
    groupings: Sequence[GroupingAudit], tolerance: float, time_limit: float | None, interruption: Interruption
) -> None:
    """Say when bounds are wider than was asked for, and why."""
    held = [
        (float(rate.hi) - float(rate.lo), words)
        for kind, words in _RATE_WORDS.items()
        for grouping in groupings
        for group in grouping.reported
        if (rate := group.unshifted(kind)) is not None
    ]
    widest, what = max(held, key=lambda pair: pair[0], default=(0.0, "rates"))
    if widest <= tolerance + EXACT:
        return
    stopped = {one for grouping in groupings for one in grouping.stopped}
    if interruption.pressed:
        why = interruption.reason
    elif "program" in stopped:
        why = "the outside solver gave no answer to all questions"
    elif "memory" in stopped:
        why = "memory ran out"
    elif stopped == {"settled"}:
        why = "every requirement is settled, so the search for narrower ones ended"
    elif stopped == {"cells"}:
        population = groupings[0].population
        stated = population.structure == "network"
        narrower = "narrower ranges narrow" if stated else "a population fitted with more --cells narrows"
        why = f"the model tells people in one cell of the population apart; {narrower} them"
        if isinstance(population, GivenNetwork) and population.densities is not None:
            why = "the score of columns with densities is bounded between the numbers of a fine grid"
    elif stopped == {"estimated"}:
        why = "numbers that hang together are estimated; use the statistical intervals beside them"
    elif stopped:
        why = "pass --time-limit to give more time"
        if any(grouping.solution.interval is not None for grouping in groupings):
            why += ", or use the statistical intervals beside them"
    elif time_limit is not None:
        why = "time ran out, or that much probability lies too near the threshold of the score to be told apart"
    else:
        why = "that much probability lies at the threshold of the score, or too near to be told apart"
    logger.warning("%s are certain to within %.2g only, not to the tolerance %.2g: %s", what, widest, tolerance, why)


def warn_of_programs(groupings: Sequence[GroupingAudit]) -> None:
    """Say for which groups an outside solver gave no answer, and why."""
    for grouping in groupings:
        for kind, problems in grouping.problems.items():
            reasons = dict.fromkeys(problems.values())
            logger.warning(
                "solver %s gave no answer to the %s of %s of %s: %s",
                grouping.solution.engine, kind, counted(len(problems), "group"), " x ".join(grouping.sensitive),
                "; ".join(shown(reason, 300) for reason in list(reasons)[:3]),
            )  # fmt: skip


def _advice(structure: str, given: bool) -> str:
    """What to do about a population whose rates are off those of the rows."""
    if structure == "network":
        return "look at the network's tables for this group if it is meant to describe these rows"
    if given:
        return "fit a population to this table if the one of the file is meant to describe these rows"
    return "pass --population " + ("empirical" if structure == "auto" else "auto")


def warn_of_fit(groupings: Sequence[GroupingAudit], *, given: bool) -> None:
    """Say when the population's rates are further from the rows' than their sampling error.

    Parameters
    ----------
    groupings : sequence of GroupingAudit
    given : bool
        The population comes from a file.
    """
    for grouping in groupings:
        for fit in (grouping.fit, grouping.held_out):
            if fit is None or not fit.off:
                continue
            worst = max(fit.off, key=lambda group: abs(group.population - group.rows))
            logger.warning(
                "%s: under the %s population the rate of %s is off that of %s by more than their sampling error, most "
                "in %s: %.4f under the population, %.4f among the rows; %s",
                " x ".join(grouping.sensitive), grouping.population.structure,
                counted(len(fit.off), "group"), "the rows" if fit.folds is None else "rows held out",
                ", ".join(worst.group.values()), worst.population, worst.rows,
                _advice(grouping.population.structure, given),
            )  # fmt: skip


def announce_time(time_limit: float | None, groupings: int, answers: int) -> None:
    """Say how long all answers may take together, where each has a time limit and that is more than a minute.

    Parameters
    ----------
    time_limit : float or None
        Seconds of one answer.
    groupings : int
    answers : int
        Of each grouping.
    """
    total = 0 if time_limit is None else time_limit * groupings * answers
    if time_limit is None or groupings * answers < 2 or total <= _LONG_SECONDS:
        return
    whole = "; --max-time limits the whole command" if speaks_options() else ""
    logger.info(
        "the time limit is that of one answer, and there are %s (%s for each of %s): at most %s s (%s) together, "
        "besides reading and fitting%s",
        *(f"{groupings * answers:,}", f"{answers:,}", counted(groupings, "grouping")),
        *(f"{total:,.0f}", _spoken(total), whole),
    )


def _spoken(seconds: float) -> str:
    return f"{seconds / 60:.1f} minutes" if seconds < _HOUR else f"{seconds / _HOUR:.1f} hours"


def warn_of_few(
    groupings: Sequence[tuple[Sequence[str], Sequence[GroupAudit]]],
    meaning: str,
    *,
    least: int = 0,
    advise: bool = True,
) -> None:
    """Name the smallest of the groups that have few people, and the option that leaves them out, in one line.

    Parameters
    ----------
    groupings : sequence of tuple of sequence of str and sequence of GroupAudit
        Sensitive columns, and the groups that may enter measures.
    meaning : str
        What follows from few people.
    least : int
        Groups with fewer people are left out already.
    advise : bool
        Whether small groups can be left out.
    """
    compared = [(names, [group for group in groups if group.n and group.n >= least]) for names, groups in groupings]
    few = [(names, [group for group in groups if group.n < FEWEST]) for names, groups in compared]
    small = sorted((group for _, groups in few for group in groups), key=lambda group: group.n)
    if not small:
        return
    counts = [f"{counted(len(groups), 'group')} of {' x '.join(names)}" for names, groups in few if groups]
    shortest = [f"{shown(', '.join(group.group.values()))} ({group.n})" for group in small[:_MOST_NAMED]]
    if len(small) > _MOST_NAMED:
        shortest.append(f"and {len(small) - _MOST_NAMED:,} more")
    remedy = f"justicia verify --min-group {FEWEST} leaves them out of extremes, measures and tests"
    if not advise or any(
        len(groups) - len(rare) < _FEWEST_GROUPS for (_, groups), (_, rare) in zip(compared, few, strict=True)
    ):
        remedy = "audit more rows, or fewer sensitive columns together"
    logger.warning(
        "%s: fewer than %d people (%s); %s; %s", ", ".join(counts), FEWEST, "; ".join(shortest), meaning, remedy
    )


def warn_of_many(groupings: Sequence[Grouping]) -> None:
    """Say which sensitive column has so many values that hardly anybody shares one, as a date or a number of a person.

    Parameters
    ----------
    groupings : sequence of Grouping
    """
    many: dict[str, tuple[int, int]] = {}
    for grouping in groupings:
        for place, name in enumerate(grouping.sensitive):
            values = len({group[place] for group in grouping.groups})
            many[name] = (values, int(grouping.sizes.sum()))
    for name, (values, rows) in many.items():
        if values >= _MANY_VALUES and rows < values * FEWEST:
            logger.warning(
                "sensitive column %s has %s values among %s, so hardly anybody is in the same group: name another "
                "column with --sensitive, or classes of its values in a column of their own (numbers: --bins)",
                *(repr(name), f"{values:,}", counted(rows, "person", "people")),
            )


def warn_of_weakness(
    groupings: Sequence[GroupingAudit],
    roles: tables.Roles,
    check: encoders.SelfCheck,
    *,
    asked: bool,
    repeats: np.ndarray | None = None,
    min_group: int = 0,
) -> None:
    """Say what makes the numbers weaker than they look.

    Parameters
    ----------
    groupings : sequence of GroupingAudit
    roles : Roles
    check : SelfCheck
    asked : bool
        The label was named.
    repeats : int64 array of shape (n_rows,), optional
        Equal rows that each row stands for.
    min_group : int
        Groups with fewer rows are left out already.
    """
    structure = groupings[0].population.structure
    if structure != "network":
        leans = f"under the {structure} population their verified rates lean on those of other groups"
        mostly = f"under the {structure} population their rates hang on few people"
        narrower = all(one.solution.search == "enumerate" and one.remaining is None for one in groupings)
        warn_of_few(
            [(one.sensitive, one.groups) for one in groupings],
            leans if structure in ("auto", "tree") else mostly,
            least=min_group,
            advise=narrower,
        )
    truth = roles.truth
    if truth is not None and not asked:
        positive, selected = truth.positive[truth.known], check.selected[truth.known]
        if positive.std() and selected.std():
            phi = correlation(positive, selected, of_rows(repeats, truth.known))
            if abs(phi) < _WEAK_ASSOCIATION:
                logger.warning(
                    "label %s was found by its values, and hardly goes with the model's predict (phi %.2f): is it the "
                    "true outcome? name it with --label",
                    *(truth.name, phi),
                )
