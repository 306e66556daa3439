"""Engines against brute force, on random questions, on this very machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import count

import numpy as np

from justicia import solvers
from justicia.choices import check_seed
from justicia.errors import InputError, JusticiaError
from justicia.random_cases import FAMILIES, random_case, random_formula, value_by_enumeration
from justicia.solvers import Effort, external, solve_clauses
from justicia.solvers.external import External
from justicia.solvers.interruption import Interruption
from justicia.ssat import Formula
from justicia.words import counted, shown

__all__ = ["EngineTally", "Mismatch", "SelfTest", "run_selftest"]

_SLACK = 1e-9
_TOLERANCE = 1e-4
_LIMIT = 10.0
"""Seconds for one question; what takes longer is left open."""
_OUTSIDE_EVERY = 5
"""Outside solvers take longer to start than to answer: they get every so many questions."""


@dataclass(frozen=True)
class Mismatch:
    """An answer that is not that of enumeration.

    Attributes
    ----------
    engine : str
    question : str
        With the seed and the number that make it again.
    lo, hi : float
    truth : float
    """

    engine: str
    question: str
    lo: float
    hi: float
    truth: float

    def __str__(self) -> str:
        return f"{self.engine} says {self.lo:.9g} to {self.hi:.9g}, enumeration {self.truth:.9g} ({self.question})"


@dataclass
class EngineTally:
    """How an engine fared.

    Attributes
    ----------
    questions, agreed, open : int
        Rates and formulas; those whose enclosure holds the enumerated value and is narrow; those without an answer, or
        with one that is too wide to count.
    largest_difference : float
        Between the middle of an enclosure and the enumerated value, among those that agree.
    """

    questions: int = 0
    agreed: int = 0
    open: int = 0
    largest_difference: float = 0.0


@dataclass(frozen=True)
class SelfTest:
    """What came out.

    Attributes
    ----------
    tallies : dict of str to EngineTally
    mismatches : list of Mismatch
    seconds : float
    seed : int
    absent : tuple of str
        Outside solvers that are not installed.
    """

    tallies: dict[str, EngineTally]
    mismatches: list[Mismatch] = field(default_factory=list)
    seconds: float = 0.0
    seed: int = 0
    absent: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """4 when an engine disagrees with enumeration."""
        return 4 if self.mismatches else 0


def run_selftest(
    seconds: float = 30.0, seed: int = 0, most: int | None = None, progress: Callable[[str, float], None] | None = None
) -> SelfTest:
    """Ask every engine random questions, and compare with enumeration.

    Parameters
    ----------
    seconds : float
        When they are over, the question at hand is the last one. Every engine gets one question at least. Ctrl-C ends
        it sooner, and what was counted by then is the answer.
    seed : int
        Of the questions.
    most : int, optional
        Ends after so many questions, whatever the time.
    progress : callable, optional
        Takes what has been asked, and how much of the time is over.

    Raises
    ------
    InputError
        When `seconds` is not positive.
    """
    check_seed(seed)
    if not seconds > 0:
        raise InputError(f"a self-test of {seconds:g} seconds asks nothing")
    start = time.perf_counter()
    outside = external.available()
    run = SelfTest(
        {name: EngineTally() for name in (*solvers.ENGINES, *outside)}, seed=seed,
        absent=tuple(name for name in external.NAMES if name not in outside),
    )  # fmt: skip
    families = len(FAMILIES) + 1
    # Ctrl-C ends all of it, and not the one engine that is asked then.
    with Interruption() as interruption:
        for number in count():
            spent = time.perf_counter() - start
            over = spent > seconds
            if progress is not None:
                progress(f"{counted(number, 'question')} asked", min(spent / seconds, 1.0))
            if interruption.pressed or (over and number >= 2 * families) or (most is not None and number >= most):
                break
            if number % families < len(FAMILIES):
                _ask_rates(run, FAMILIES[number % families], number, outside, interruption)
            else:
                _ask_formula(run, number, outside, interruption)
    return SelfTest(run.tallies, run.mismatches, time.perf_counter() - start, seed, run.absent)


def _ask_rates(run: SelfTest, family: str, number: int, outside: tuple[str, ...], interruption: Interruption) -> None:
    """A population and a decision: every group's rate, by every engine that takes it."""
    case = random_case(family, [run.seed % 2**32, number])
    asked = Formula(case.population, case.decision)
    search = "learn" if number // (len(FAMILIES) + 1) % 3 == 2 else "enumerate"
    engines: list[tuple[str, Callable[[], solvers.Solution]]] = []
    effort = Effort(search, _LIMIT, _TOLERANCE, interruption=interruption)
    for name, engine in solvers.ENGINES.items():
        if engine.takes(case.decision):
            engines.append((name, partial(engine.solve, asked, effort)))
    if number // (len(FAMILIES) + 1) % _OUTSIDE_EVERY == 0:
        for name in outside:
            other = External(external.outside_solver(name))
            if other.takes(case.decision):
                engines.append((name, partial(other.solve, asked, effort)))
    for name, solve in engines:
        try:
            solution = solve()
        except JusticiaError:
            # Too large for the engine, or of a kind that it does not take after all.
            run.tallies[name].questions += len(case.rates)
            run.tallies[name].open += len(case.rates)
            continue
        what = f"{case.name}, {search}; seed {run.seed}, question {number}"
        # Of the extremes alone more than bounds was asked for.
        learned = solution.search == "learn"
        wanted = {solution.best, solution.worst} if learned else set(range(len(case.rates)))
        for group, truth in enumerate(case.rates.tolist()):
            ends = float(solution.lo[group]), float(solution.hi[group])
            _note(run, name, ends, truth, f"{what}, group {group}", counts=group in wanted)
        if learned:
            best, worst = solution.best, solution.worst
            for end, extreme in ((best, case.rates.max()), (worst, case.rates.min())):
                ends = float(solution.lo[end]), float(solution.hi[end])
                if ends[1] - ends[0] <= 10 * _TOLERANCE:
                    _note(run, name, ends, float(extreme), f"{what}, extreme group", counts=False)


def _ask_formula(run: SelfTest, number: int, outside: tuple[str, ...], interruption: Interruption) -> None:
    """A formula with any prefix."""
    formula = random_formula([run.seed % 2**32, number])
    truth = value_by_enumeration(formula)
    what = f"formula; seed {run.seed}, question {number}"
    value = solve_clauses(formula, _LIMIT, interruption).value
    _note(run, "clauses", (float(value.lo), float(value.hi)), truth, what)
    for name in outside:
        other = external.outside_solver(name)
        if other.refuses(formula) is None:
            reply = other.ask(formula, _LIMIT, interruption)
            _note(run, name, external.enclosed(reply) if reply.answered else (0.0, 1.0), truth, what)


def _note(run: SelfTest, name: str, ends: tuple[float, float], truth: float, what: str, *, counts: bool = True) -> None:
    """Count an answer; one that excludes the truth is a mismatch, whatever was asked for."""
    tally = run.tallies[name]
    outside = not ends[0] - _SLACK <= truth <= ends[1] + _SLACK
    if outside:
        run.mismatches.append(Mismatch(name, shown(what, 200), *ends, truth))
    if not counts and not outside:
        return
    tally.questions += 1
    if outside:
        return
    if ends[1] - ends[0] > 10 * _TOLERANCE:
        tally.open += 1
        return
    tally.agreed += 1
    middle = (ends[0] + ends[1]) / 2
    tally.largest_difference = max(tally.largest_difference, float(np.abs(middle - truth)))
