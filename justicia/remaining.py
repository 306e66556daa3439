"""What remains of a gap when mediators are drawn as in the most favored group: path-specific causal fairness.

Some of what groups differ in may be held legitimate, such as education: a mediator. Its distribution given what it
depends on is replaced by that of the most favored group, everything else stays as it is in the person's own group, and
rates and measures are verified anew. What is left of a gap does not go through the mediators. Ghosh, Basu and Meel's
published tool does so for features that are independent given the group; `justicia.population.mediators` says what it
is under each structure, `justicia.population.networks.mediators` under a stated network.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.enclosure import EXACT, Enclosure
from justicia.errors import InputError
from justicia.few_people import FEWEST
from justicia.given import Seen
from justicia.metrics import RATES_OF, REMAINABLE, SELECTION_MEASURES, Measure, Rates, measure
from justicia.population.mediators import with_mediators_of
from justicia.solvers.brackets import solve_between
from justicia.stating import restated
from justicia.watching import Watch
from justicia.words import counted, did_you_mean, listed

if TYPE_CHECKING:
    from justicia.metrics import Requirement
    from justicia.population import Domain
    from justicia.population.stored import PopulationFile
    from justicia.questions import Asked, Question
    from justicia.solvers import Effort, Solution
    from justicia.tables import Grouping, Roles, Table
    from justicia.tables.one_hot import OneHot

__all__ = ["Remaining", "as_mediators", "check_mediators", "remaining_rates"]

logger = logging.getLogger(__name__)

MOST_FAVORED = 8
"""Groups that may be the most favored one, up to which mediators are drawn as in each of them."""


@dataclass(frozen=True)
class Remaining:
    """Rates and measures of a grouping when mediators are drawn as in the most favored group.

    Attributes
    ----------
    mediators : tuple of str
    parents : dict of str to list of str
        Features that the population draws each of them given, beside the group; those that have any.
    favored : tuple of dict of str to str
        Groups that may be the most favored one. Rates and measures hold whichever of them it is.
    certain : bool
        There is no other group that may be it.
    rates : dict of str to tuple of (Enclosure or None)
        Of all groups of the grouping that have rows or a population, by kind of rate.
    intervals : dict of str to tuple of (Enclosure or None)
        Statistical bounds inside of them, where there are some.
    measures : dict of str to Measure
    statistical : dict of str to Measure
        From the statistical bounds; of measures of rates that have any.
    delta : dict of str to float
        Probability that some statistical interval of a kind misses.
    seconds : float
    """

    mediators: tuple[str, ...]
    parents: Mapping[str, Sequence[str]]
    favored: tuple[dict[str, str], ...]
    certain: bool
    rates: Mapping[str, tuple[Enclosure | None, ...]]
    intervals: Mapping[str, tuple[Enclosure | None, ...]]
    measures: Mapping[str, Measure]
    statistical: Mapping[str, Measure] = field(default_factory=dict)
    delta: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def words(self) -> str:
        """How the mediators are drawn."""
        names = " or ".join(", ".join(group.values()) for group in self.favored)
        return f"{listed(self.mediators)} drawn as in {names}"

    @staticmethod
    def of_group(rates: Mapping[str, tuple[Enclosure | None, ...]], position: int) -> dict[str, Enclosure]:
        """Of `rates` or `intervals`, those of the group at a position, by kind."""
        return {kind: one for kind, held in rates.items() if (one := held[position]) is not None}


def as_mediators(mediators: Any, requirements: Sequence[Requirement], shift: float | None) -> tuple[str, ...]:
    """Names of the mediators, each once; none when nothing is asked for.

    Raises
    ------
    InputError
        When they are no names, go with another option that has no meaning for them, or are needed by a requirement.
    """
    names = [mediators] if isinstance(mediators, str) else [] if mediators is None else mediators
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise InputError(f"mediators are a list of columns, not {mediators!r}")
    names = tuple(dict.fromkeys(part.strip() for name in names for part in name.split(",")))
    if not all(names):
        raise InputError("a mediator is the name of a column, and one of them is empty")
    if names and shift is not None:
        raise InputError(
            "shift and mediators do not go together: shift is about all populations near one, mediators about one that "
            "is far from it; leave one out"
        )
    for requirement in requirements:
        if requirement.remaining and not names:
            raise InputError(f"requirement {requirement.text!r} needs mediators: name them with --mediators")
    return names


def check_mediators(
    mediators: Sequence[str],
    file: PopulationFile | None,
    domain: Domain,
    table: Table,
    roles: Roles,
    one_hot: Sequence[OneHot],
) -> None:
    """Refuse what is no mediator, and say which of them change nothing.

    Parameters
    ----------
    mediators : sequence of str
    file : PopulationFile or None
        Where the population comes from, when it is not fitted on the rows.
    domain : Domain
        Of the model.
    table : Table
    roles : Roles
    one_hot : sequence of OneHot

    Raises
    ------
    InputError
        When there is no such column, or it is a sensitive column or the true outcome.
    """
    sensitive = {name for names in roles.groupings for name in names}
    sensitive |= {one.name for one in one_hot if sensitive & {*one.columns, *one.aliases}}
    label = None if roles.truth is None else roles.truth.name
    of = {column: one.name for one in one_hot for column in one.columns}
    known = {*domain.names, *table.people.columns, *of}
    # What a model does not look at may still change what it looks at, in a population that has both.
    telling = set(domain.names)
    if file is not None and file.network is not None:
        if file.network.numeric:
            raise InputError(
                "mediators are drawn from tables, and the network states densities of "
                f"{listed(file.network.numeric)}: state these in ranges, or leave --mediators out"
            )
        known |= set(file.network.variables)
        telling = file.network.ancestors([name for name in domain.names if name in file.network.variables])
    elif file is not None:
        known |= set(file.domain.names)
        telling |= set(file.domain.names)
    for name in mediators:
        if name in sensitive:
            raise InputError(
                f"mediator {name!r} is a sensitive column, and a mediator stands between those and the model: leave it "
                "out, or name other columns with --sensitive"
            )
        if name == label:
            raise InputError(f"mediator {name!r} is the true outcome, which the model does not look at: leave it out")
        if name in of and name not in domain.names:
            raise InputError(f"mediator {name!r} is one of the columns of the feature {of[name]!r}: name that")
        if name not in known:
            choices = sorted(known - sensitive - set(of) - {label or ""})
            raise InputError(f"mediator {name!r} is no column of the table{did_you_mean(name, choices)}")
    idle = [name for name in mediators if name not in telling]
    if idle:
        logger.warning("the model's outcome does not hang on %s: as a mediator it changes nothing", listed(idle))


@dataclass(frozen=True)
class _Answer:
    """Of one kind of rates: a population's groups by their positions in the grouping; further ones come after it."""

    positions: np.ndarray
    solution: Solution
    unknown: np.ndarray
    people: np.ndarray | None = None
    rest: Enclosure | None = None


def remaining_rates(
    question: Question, grouping: Grouping, answers: Mapping[str, Asked], mediators: Sequence[str]
) -> Remaining:
    """Verify rates and measures with the mediators of the most favored group.

    Parameters
    ----------
    question : Question
    grouping : Grouping
    answers : mapping of str to Asked
        The ordinary answers by kind of rates; the most favored group is that of the selection rates.
    mediators : sequence of str
    """
    ordinary = answers["selection_rate"]
    candidates, certain = _most_favored(ordinary, " x ".join(grouping.sensitive), mediators)
    effort = replace(question.effort, delta=question.effort.delta / len(candidates))
    if effort.time_limit is not None:
        effort = replace(effort, time_limit=effort.time_limit / len(candidates))
    cases = [
        {kind: _answer(question, grouping, asked, kind, group, mediators, effort) for kind, asked in answers.items()}
        for group in candidates
    ]
    n_groups = len(grouping.groups)
    hulls = {kind: _hull([_spread(case[kind], n_groups) for case in cases]) for kind in answers}
    inner = {kind: _hull([_spread(case[kind], n_groups, inner=True) for case in cases]) for kind in answers}
    names = REMAINABLE if len(answers) > 1 else SELECTION_MEASURES
    drawn = {kind for kind in answers if any(one is not None and one.solution.interval for one in _of(cases, kind))}
    held = [one for case in cases for one in case.values() if one is not None]
    found = Remaining(
        tuple(mediators),
        {name: above for name, above in ordinary.people.parents.items() if name in mediators},
        tuple(grouping.named(group) for group in candidates),
        certain,
        {kind: values[:n_groups] for kind, values in hulls.items()},
        {kind: values[:n_groups] if kind in drawn else (None,) * n_groups for kind, values in inner.items()},
        {name: _measure(name, cases, n_groups) for name in names},
        {name: _measure(name, cases, n_groups, inner=True) for name in names if drawn & set(RATES_OF[name])},
        {kind: sum(one.solution.delta or 0.0 for one in _of(cases, kind) if one is not None) for kind in answers},
        sum(one.solution.seconds for one in held),
    )
    _warn(found, grouping, held, question)
    return found


def _of(cases: Sequence[Mapping[str, _Answer | None]], kind: str) -> list[_Answer | None]:
    return [case[kind] for case in cases]


def _most_favored(asked: Asked, words: str, mediators: Sequence[str]) -> tuple[list[tuple[str, ...]], bool]:
    """Groups that may be the most favored one, and whether it is certainly among them."""
    enclosures, best = asked.solution.enclosures, asked.solution.best
    others = [i for i, one in enumerate(enclosures) if i != best and one.overlaps(enclosures[best])]
    groups = [asked.people.groups[i] for i in (best, *others)]
    if len(groups) > MOST_FAVORED:
        logger.warning(
            "%s: %s may be the most favored one; %s drawn as in %s, which has the largest lower bound",
            *(words, counted(len(groups), "group"), _are(mediators), ", ".join(groups[0])),
        )
        return groups[:1], False
    if others:
        logger.warning(
            "%s: the most favored group is one of %s; what remains holds with %s drawn as in any of them",
            *(words, "; ".join(", ".join(group) for group in groups), listed(mediators)),
        )
    rest = asked.people.rest
    return groups, rest is None or float(rest.hi) <= float(enclosures[best].lo) + EXACT


def _are(mediators: Sequence[str]) -> str:
    return f"{listed(mediators)} {'is' if len(mediators) == 1 else 'are'}"


def _answer(
    question: Question,
    grouping: Grouping,
    asked: Asked,
    kind: str,
    group: tuple[str, ...],
    mediators: Sequence[str],
    effort: Effort,
) -> _Answer | None:
    """One kind of rates with the mediators of a group; None where nobody of that group is among these people."""
    people, given = asked.people, question.given
    if given is not None and given.file.network is not None:
        file = restated(
            given.file, mediators, group, given.decision, given.domain, given.people, grouping, effort.search,
            effort.time_limit,
        )  # fmt: skip
        given = replace(given, file=file)
        if not given.has(grouping, kind):
            return None
        known = set(grouping.groups)
        further = (one for one in file.grouping(grouping.sensitive).everybody.groups if one not in known)
        grouping = replace(grouping, groups=(*grouping.groups, *further))
        people, positions = given.population(grouping, kind)
        unknown, count = np.zeros(people.n_groups), None
    elif group not in people.groups:
        return None
    else:
        features = [people.domain.names.index(name) for name in mediators if name in people.domain.names]
        if not features:
            return _Answer(asked.kept, asked.solution, np.zeros(people.n_groups))
        changed = with_mediators_of(people, people.groups.index(group), features)
        people, positions, unknown = changed.population, asked.kept, changed.unknown
        # What few people are said by is said by few before the change, too.
        count = np.where(asked.people.sizes >= FEWEST, changed.people, np.inf)
    seen = Seen(people, question.decision, question.decision) if given is None else given.seen(people)
    absent, names = len(grouping.groups) - len(positions), " x ".join(grouping.sensitive)
    watch = Watch((), kind, f"{names} with mediators", absent, effort.tolerance, question.progress)
    solution = solve_between(question.engine, seen.population, seen.least, seen.most, replace(effort, watch=watch))
    return _Answer(positions, _with_unknown(solution, unknown), unknown, count, people.rest)


def _with_unknown(solution: Solution, unknown: np.ndarray) -> Solution:
    """The rest of each group may have any outcome; counts of weighted rows are no counts of people."""

    def widened(lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return lo * (1.0 - unknown), hi * (1.0 - unknown) + unknown

    lo, hi = widened(solution.lo, solution.hi)
    guarantee = "bounds" if solution.guarantee == "exact" and unknown.max(initial=0.0) > EXACT else solution.guarantee
    interval = None if solution.interval is None else widened(*solution.interval)
    return replace(solution, lo=lo, hi=hi, interval=interval, guarantee=guarantee, counts=None)


def _spread(answer: _Answer | None, n_groups: int, *, inner: bool = False) -> list[Enclosure | None]:
    """Enclosures by position in the grouping, then of further groups, at last of those that no search has reached.

    `inner`: the statistical ones where there are some.
    """
    if answer is None:
        return [None] * n_groups
    found: list[Enclosure | None] = [None] * max(n_groups, int(answer.positions.max(initial=-1)) + 1)
    solution = answer.solution
    for position, one, narrow in zip(answer.positions.tolist(), solution.enclosures, solution.intervals, strict=True):
        found[position] = (narrow or one) if inner else one
    return found if answer.rest is None else [*found, answer.rest]


def _hull(cases: Sequence[Sequence[Enclosure | None]]) -> tuple[Enclosure | None, ...]:
    found: list[Enclosure | None] = []
    for held in zip(*(case[: min(map(len, cases))] for case in cases), strict=True):
        known = [one for one in held if one is not None]
        whole = len(known) == len(held)
        found.append(Enclosure(min(one.lo for one in known), max(one.hi for one in known)) if whole else None)
    return tuple(found)


def _measure(
    name: str, cases: Sequence[Mapping[str, _Answer | None]], n_groups: int, *, inner: bool = False
) -> Measure:
    """A measure, whichever of the groups is the most favored one."""
    values = [
        measure(name, Rates.by_kind({kind: _spread(answer, n_groups, inner=inner) for kind, answer in case.items()}))
        for case in cases
    ]
    reason = next((one.undefined for one in values if one.undefined is not None), None)
    held = [one.value for one in values if one.value is not None]
    if len(held) < len(values):
        return Measure(None, reason)
    return Measure(Enclosure(min(one.lo for one in held), max(one.hi for one in held)), reason)


def _warn(found: Remaining, grouping: Grouping, held: Sequence[_Answer], question: Question) -> None:
    """Say what makes remaining rates wider than was asked for."""
    words = " x ".join(grouping.sensitive)
    unknown = max((float(one.unknown.max(initial=0.0)) for one in held), default=0.0)
    if unknown > EXACT:
        n_groups = max(int((one.unknown > EXACT).sum()) for one in held)
        logger.warning(
            "%s: %s of the most favored group have values together that nobody of %s has, up to %.3g of its people: "
            "what remains is bounded only; name fewer mediators%s",
            *(words, listed(found.mediators), counted(n_groups, "other group"), unknown),
            "" if question.given is not None else ", or pass --population auto",
        )
    counts = [one.people for one in held if one.people is not None]
    few = max((int((people < FEWEST).sum()) for people in counts), default=0)
    if few:
        logger.warning(
            "%s: with %s as in the most favored group, the rows of %s count as few as %.0f people, fewer than %d",
            *(words, listed(found.mediators), counted(few, "group"), min(float(one.min()) for one in counts)),
            FEWEST,
        )
    own = max((float(((one.solution.hi - one.solution.lo) - one.unknown).max(initial=0.0)) for one in held), default=0)
    if own > question.effort.tolerance + EXACT and any(one.solution.search == "enumerate" for one in held):
        logger.warning(
            "%s: what remains with mediators is certain to within %.2g only, not to the tolerance %.2g",
            *(words, own, question.effort.tolerance),
        )
