"""People as every tool gets them, and what a tool says about them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.metrics import OutcomeCounts, SampleMeasures, count_outcomes, sample_measures

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EQUAL", "RATES", "Call", "Peer", "PeerAnswer", "PeerNumber", "People", "quiet_call"]

EQUAL = 1e-12
"""Numbers that are so near are the same: what rounding of sums leaves."""

RATES = ("selection_rate", "tpr", "fpr", "precision")


@dataclass(frozen=True)
class People:
    """Rows of a table with their decisions: the same for every tool.

    Attributes
    ----------
    sensitive : tuple of str
    groups : tuple of tuple of str
        Groups with rows.
    codes : int array of shape (n_rows,)
        Each row's group.
    selected : bool array of shape (n_rows,)
    positive : bool array of shape (n_rows,), or None
        Whose true outcome is favorable; None where there is none.
    known : bool array of shape (n_rows,), or None
        Whose true outcome is known.
    weight : float64 array of shape (n_rows,), or None
    reference : int
        Position of the group that AIF360 is told is privileged.
    """

    sensitive: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    codes: np.ndarray
    selected: np.ndarray
    positive: np.ndarray | None
    known: np.ndarray | None
    weight: np.ndarray | None
    reference: int

    @cached_property
    def counts(self) -> OutcomeCounts:
        """Numbers of people by group, decision and true outcome."""
        return count_outcomes(self.codes, len(self.groups), self.selected, self.positive, self.known, self.weight)

    @cached_property
    def samples(self) -> SampleMeasures:
        """Rates and measures of the rows, as they are defined here."""
        return sample_measures(self.counts, confidence=0.95)

    def own_rate(self, kind: str, group: int) -> float:
        """A rate of a group as it is defined here, NaN when undefined."""
        part, whole = self.counts.of(kind)
        return float(part[group] / whole[group]) if whole[group] else math.nan

    def own_measure(self, name: str) -> float:
        """A measure as it is defined here, NaN when undefined."""
        value = self.samples.of(name).measure.value
        return math.nan if value is None else float(value.lo)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Rates that there are."""
        return RATES if self.positive is not None else RATES[:1]

    @cached_property
    def labelled(self) -> People:
        """The rows whose true outcome is known."""
        if self.known is None or self.known.all():
            return self
        held = self.known
        return People(
            self.sensitive, self.groups, self.codes[held], self.selected[held],
            None if self.positive is None else self.positive[held], held[held],
            None if self.weight is None else self.weight[held], self.reference,
        )  # fmt: skip

    def among(self, groups: Sequence[int]) -> People:
        """The rows of some groups."""
        held = np.isin(self.codes, groups)
        return People(
            self.sensitive, self.groups, self.codes[held], self.selected[held],
            None if self.positive is None else self.positive[held],
            None if self.known is None else self.known[held],
            None if self.weight is None else self.weight[held], self.reference,
        )  # fmt: skip

    def name(self, group: int) -> str:
        """A group in words."""
        return ", ".join(self.groups[group])

    def columns(self) -> pd.DataFrame:
        """The sensitive columns as words."""
        import pandas as pd

        # By position: two columns may have one name in a table of another tool.
        held = {}
        for place, name in enumerate(self.sensitive):
            words = np.array([group[place] for group in self.groups], dtype=object)
            held[name] = words[self.codes]
        return pd.DataFrame(held)


@dataclass(frozen=True)
class PeerNumber:
    """One number of a tool.

    Attributes
    ----------
    measure : str
        What it is called here: a measure, or a kind of rates.
    function : str
        What it is called there.
    group : int or None
        Position of the group that a rate is of.
    compared : str
        Whom it compares, in words; empty for all groups with each other.
    value : float
        NaN when undefined, or when the tool raises.
    ours : float
        Of the rows, as it is defined here; NaN when undefined.
    expected : float
        What the tool's convention gives from the counts of the rows.
    reasons : tuple of str
        Why it may differ.
    problem : str or None
        What the tool raised.
    open : bool
        Rounding decides about it, as a reason says: no value can be expected.
    """

    measure: str
    function: str
    group: int | None
    compared: str
    value: float
    ours: float
    expected: float
    reasons: tuple[str, ...] = ()
    problem: str | None = None
    open: bool = False

    @property
    def agreement(self) -> str:
        """One of "equal", "explained", "unexplained", and "error" where the tool raised."""
        if self.problem is not None:
            return "error"
        if same(self.value, self.ours):
            return "equal"
        predicted = self.open or same(self.value, self.expected)
        return "explained" if self.reasons and predicted else "unexplained"


def same(one: float, other: float) -> bool:
    """Whether two numbers are the same, but for rounding; two that are undefined are."""
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other or abs(one - other) <= EQUAL * max(1.0, abs(one), abs(other))


@dataclass(frozen=True)
class PeerAnswer:
    """What a tool says about some people, and what it took.

    Attributes
    ----------
    tool, title : str
    version : str or None
        None when it is not installed.
    numbers : tuple of PeerNumber
    seconds : float or None
        Of the processor, of the whole process.
    memory : int or None
        Bytes by which the process grew at most; None where the system does not tell.
    notes : tuple of str
        What was left out, or how to install it.
    """

    tool: str
    title: str
    version: str | None
    numbers: tuple[PeerNumber, ...] = ()
    seconds: float | None = None
    memory: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Call:
    """One call of a tool, and what it should give.

    Attributes
    ----------
    measure, function : str
    run : callable
        Asks the tool.
    ours : callable
    expected : callable
        Both asked after the tool, so that its time is its own.
    reasons : callable
        Why the number may differ from what is said here.
    group : int or None
    compared : str
    open : bool
        As `PeerNumber` has them.
    """

    measure: str
    function: str
    run: Callable[[], Any]
    ours: Callable[[], float]
    expected: Callable[[], float]
    reasons: Callable[[], tuple[str, ...]]
    group: int | None = None
    compared: str = ""
    open: bool = False


@dataclass(frozen=True)
class Peer:
    """A tool.

    Attributes
    ----------
    package : str
        That is imported and installed.
    title : str
    load : callable
        Imports what is called; its value goes to `calls`.
    calls : callable
        The calls for some people, and notes.
    """

    package: str
    title: str
    load: Callable[[], Any]
    calls: Callable[[Any, People], tuple[list[Call], tuple[str, ...]]]


def quiet_call(run: Callable[[], Any]) -> tuple[Any, str | None]:
    """What a call gives, or the first line of what it raises; warnings of other tools are not this report's."""
    import warnings

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return run(), None
        except Exception as error:
            # A tool may raise anything.
            said = str(error).strip().splitlines()
            return math.nan, f"{type(error).__name__}: {said[0] if said else ''}".rstrip(": ")
