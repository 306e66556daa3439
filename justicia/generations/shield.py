"""A shield that keeps every value within beta generations, and forces as little as can be."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from operator import add, sub
from typing import TYPE_CHECKING, Any

from justicia.errors import ShieldError, SpecError
from justicia.generations.labels import label_text
from justicia.generations.rules import CHOICES, relaxed, rule_named, tight_level
from justicia.generations.spec import attribute, whole_number
from justicia.generations.winning import allowed_outputs, may_waste, nearest_winning, winning_region
from justicia.words import counted, did_you_mean, listed, shown

if TYPE_CHECKING:
    import os

    import numpy as np

__all__ = ["Enforce", "Shield"]

logger = logging.getLogger(__name__)

_EVER = 1 << 62


@dataclass(frozen=True, slots=True)
class Enforce:
    """What the next generation has to show.

    Attributes
    ----------
    allowed : frozenset of str
        Any of these keeps the guarantee; nothing else does.
    value : str
        The one to ask for.
    level : int
        Within how many generations the values that press are due; 0 for deadlines of their own.
    """

    allowed: frozenset[str]
    value: str
    level: int

    @property
    def reason(self) -> str:
        """One line."""
        if self.level:
            return f"{counted(len(self.allowed), 'value')} due within {counted(self.level, 'generation')}"
        return f"only {listed(sorted(self.allowed))} leaves every value in time"


class Shield:
    """Keeps every value of an attribute within every `beta` generations in a row.

    Ask `next` before a generation, tell `observe` what it showed; or let the generator go first, and ask `admits`
    whether its draft may stand. Nothing is forced as long as every output leaves the guarantee intact, and what is
    forced is any of the values that keep it: no shield forces less (see `justicia.generations.rules`).

    Parameters
    ----------
    values : iterable of str
        The declared domain.
    beta : int, or mapping of value to int
        A deadline for all values, or one for each. Different deadlines are searched exhaustively, and refused where
        there are more than 2,000,000 states.
    margin : int
        Works towards `beta - margin`, so that forced generations may fail before a value is missed.
    choice : {"edf", "random"}
        Of the values allowed, the one due first, or any.
    rule : str
        "maximal", or one of the others in `justicia.generations.rules` to compare with; "printed" is the paper's
        algorithm, safe only when each generation shows exactly one value and the shield starts fresh.
    unknown : bool
        Whether a generation may show none of the values, or nobody may know which. Costs nothing unless such labels
        occur.
    seed : int
        Of the random choice; the same seed and labels give the same decisions.
    counters : mapping of value to int, optional
        A warm start: within how many generations each value is due. What cannot be kept is relaxed as little as
        possible, with a warning.
    history : iterable of labels, optional
        A warm start from the labels generated so far.

    Attributes
    ----------
    step : int
        Generations observed.
    enforced, failed : int
        Of these, those for which `next` had named the values allowed, and those that showed none of them.
    missed : int
        Times that a value was absent for beta generations in a row.
    warnings : list of str

    Raises
    ------
    ShieldError
        When no shield can keep what is asked.

    >>> shield = Shield(["female", "male"], 3)
    >>> shield.next() is None, shield.observe("male"), shield.observe("male")
    (True, (), ())
    >>> decision = shield.next()
    >>> decision.value, decision.reason
    ('female', '1 value due within 1 generation')
    >>> shield.admits("male"), shield.admits("female")
    (False, True)
    """

    def __init__(
        self,
        values: Iterable[Any],
        beta: Any,
        *,
        margin: int = 0,
        choice: str = "edf",
        rule: str = "maximal",
        unknown: bool = True,
        seed: int = 0,
        counters: Mapping[Any, int] | None = None,
        history: Iterable[Any] | None = None,
    ) -> None:
        try:
            self.values = attribute("shield", values).domain
            betas = self._deadlines(beta)
            self.margin = whole_number(margin, "margin", 0)
            self.seed = whole_number(seed, "seed", 0)
        except SpecError as error:
            raise ShieldError(str(error).removeprefix("attribute shield: ")) from None
        if choice not in CHOICES:
            raise ShieldError(f"choice cannot be {choice!r}{did_you_mean(choice, CHOICES)}")
        if not isinstance(unknown, bool):
            raise ShieldError(f"unknown is True or False, not {shown(repr(unknown))}")
        self.betas, self.choice, self.rule, self.unknown = tuple(betas), choice, rule, unknown
        self._index = {value: place for place, value in enumerate(self.values)}
        self._most = len(self.values) if unknown else len(self.values) - 1
        self._decide = None if rule == "maximal" else rule_named(rule)
        self._reach = [each - self.margin for each in betas]
        self._wins = self._feasible()
        self.step, self.enforced, self.failed, self.missed = 0, 0, 0, 0
        self._seen = [0] * len(self.values)
        self._due = list(self._reach)
        self._decision: Enforce | None = None
        self._levels = range(1, self._most + 1)
        self._look_again()
        self.warnings: list[str] = []
        if rule != "maximal":
            self._warn(f"the rule {rule} can miss values where it starts warm, or a generation shows several or none")
        if counters is not None and history is not None:
            raise ShieldError("a warm start is given by counters or by a history, not by both")
        if counters is not None:
            self._start(counters)
        elif history is not None:
            for label in history:
                self.observe(label)
            self._begin_anew()

    def _deadlines(self, beta: Any) -> list[int]:
        if not isinstance(beta, Mapping):
            return [whole_number(beta, "beta")] * len(self.values)
        held = {label_text(value): bound for value, bound in beta.items()}
        for value in held:
            if value not in self.values:
                raise SpecError(f"beta of {shown(value)}, which is no value{did_you_mean(value, self.values)}")
        absent = [value for value in self.values if value not in held]
        if absent:
            raise SpecError(f"beta is missing for {listed(absent)}")
        return [whole_number(held[value], f"beta of {shown(value)}") for value in self.values]

    def _feasible(self) -> np.ndarray | None:
        """The winning region for deadlines that differ; None for one that all values share.

        Raises
        ------
        ShieldError
            When no output keeps every value in time.
        """
        n = len(self.values)
        less = f" less the margin {self.margin}" if self.margin else ""
        if min(self._reach) < 1:
            raise ShieldError(f"beta {min(self.betas)}{less} leaves no generation: choose a smaller margin")
        if len(set(self._reach)) == 1:
            if self._reach[0] < n:
                raise ShieldError(
                    f"beta {self.betas[0]}{less} is less than the number of values, {n}: no sequence can show them all"
                )
            return None
        if self.rule != "maximal":
            raise ShieldError(f"the rule {self.rule} is for one beta for all values")
        wins = winning_region(self._reach)
        if not wins.any():
            density = sum(1 / each for each in self._reach)
            raise ShieldError(
                f"no sequence keeps {n} values within {listed(self._reach)}: raise a deadline (their inverses add up "
                f"to {density:.3f}; up to 5/6 always suffices, more than 1 never)"
            )
        return wins

    def _start(self, counters: Mapping[Any, int]) -> None:
        held = {label_text(value): counter for value, counter in counters.items()}
        for value in [*held, *self.values]:
            if value not in held or value not in self._index:
                raise ShieldError(f"counters are one for each of {listed(self.values)}; see {shown(value)}")
        start = []
        for value, beta in zip(self.values, self.betas, strict=True):
            counter = held[value]
            if isinstance(counter, bool) or not isinstance(counter, int) or counter > beta:
                raise ShieldError(
                    f"the counter of {shown(value)} is a whole number up to its beta {beta}, not {counter!r}"
                )
            start.append(counter)
        self._seen = [counter - beta for counter, beta in zip(start, self.betas, strict=True)]
        self._relax([counter - self.margin for counter in start])

    def _relax(self, counters: list[int]) -> None:
        """Set what is due, relaxed as little as needed."""
        made = relaxed(counters) if self._wins is None else nearest_winning(self._wins, counters) or list(self._reach)
        late = [
            f"{shown(value)} by {after - before}"
            for value, before, after in zip(self.values, counters, made, strict=True)
            if after > before
        ]
        if late:
            self._warn(f"the start cannot be kept: due later are {', '.join(late)}; then every value is in time")
        self._due = [self.step + counter for counter in made]
        self._look_again()

    def _look_again(self) -> None:
        """Forget what was concluded from an earlier state."""
        self._decided, self._quiet_until, self._next_miss = False, 0, 0

    def _begin_anew(self) -> None:
        """Count steps and misses from here on; what is due stays due, relaxed where it must be."""
        now = self.step
        counters = [due - now for due in self._due]
        self._seen = [seen - now for seen in self._seen]
        self.step, self.enforced, self.failed, self.missed = 0, 0, 0, 0
        self._relax(counters)

    def _warn(self, text: str) -> None:
        self.warnings.append(text)
        logger.warning("%s", text)

    @property
    def counters(self) -> dict[str, int]:
        """Within how many generations each value is due, the margin taken off; 0 or less: it is late."""
        return {value: due - self.step for value, due in zip(self.values, self._due, strict=True)}

    @property
    def overdue(self) -> tuple[str, ...]:
        """Values that have not occurred in the last beta generations."""
        now = self.step
        return tuple(
            value for value, seen, beta in zip(self.values, self._seen, self.betas, strict=True) if now - seen >= beta
        )

    def next(self) -> Enforce | None:
        """What the next generation has to show; None when anything may come."""
        if not self._decided:
            self._decision = self._decision_now()
            self._decided = True
        return self._decision

    def _decision_now(self) -> Enforce | None:
        due, now = self._due, self.step
        if self._wins is None and self._decide is None:
            # Outputs only put deadlines off, so no level is tight before the first moment at which one would be.
            if now < self._quiet_until:
                return None
            ascending = sorted(due)
            level = tight_level(ascending, self._most, now)
            if not level:
                self._quiet_until = min(map(sub, ascending, self._levels), default=_EVER)
                return None
            latest = now + level
            members = [value for value, each in enumerate(due) if each <= latest]
        else:
            level, found = self._others([each - now for each in due])
            if found is None:
                return None
            members = found
        if self.choice == "edf":
            value = min(members, key=due.__getitem__)
        else:
            value = members[_pick(self.seed, now, len(members))]
        names = self.values
        return Enforce(frozenset([names[member] for member in members]), names[value], level)

    def _others(self, counters: list[int]) -> tuple[int, list[int] | None]:
        if self._decide is not None:
            members = self._decide(counters, self._reach[0], self._most)
            return (0, None) if members is None else (max(1, max(counters[member] for member in members)), members)
        if self._wins is None or min(counters) < 1 or not self._wins[tuple(counter - 1 for counter in counters)]:
            # A forced generation has failed, and a value will be late: the most urgent first.
            return max(1, min(counters)), [counters.index(min(counters))]
        allowed = allowed_outputs(self._wins, counters)
        free = len(allowed) == len(counters) and (not self.unknown or may_waste(self._wins, counters))
        return 0, None if free else allowed

    def admits(self, label: Any) -> bool:
        """Whether a draft may stand: it shows a value that is allowed, or nothing is forced.

        Parameters
        ----------
        label : str, collection of str, or None
            As of `observe`.
        """
        decision = self.next()
        shows = self._shows(label)
        return decision is None or any(self.values[value] in decision.allowed for value in shows)

    def observe(self, label: Any) -> tuple[str, ...]:
        """Take in what the generation showed.

        Parameters
        ----------
        label : str, collection of str, or None
            A value; several; or None, when it is unknown or none of the values.

        Returns
        -------
        tuple of str
            Values that are missed with this generation: the last beta generations lack them.

        Raises
        ------
        ShieldError
            When the label is no value.
        """
        shows = self._shows(label)
        if self._decided:
            decision = self._decision
            if decision is not None:
                self.enforced += 1
                if not any(self.values[value] in decision.allowed for value in shows):
                    self.failed += 1
            self._decided = False
        now = self.step = self.step + 1
        for value in shows:
            self._due[value] = now + self._reach[value]
            self._seen[value] = now
            if now + self.betas[value] < self._next_miss:
                self._next_miss = now + self.betas[value]
        return () if now < self._next_miss else self._missed_now(now)

    def _missed_now(self, now: int) -> tuple[str, ...]:
        """Values whose absence reaches beta with this generation: one miss for each stretch of absence."""
        ends = list(map(add, self._seen, self.betas))
        self._next_miss = min((end for end in ends if end > now), default=_EVER)
        missed = tuple(value for value, end in zip(self.values, ends, strict=True) if end == now)
        self.missed += len(missed)
        return missed

    def _shows(self, label: Any) -> Collection[int]:
        place = self._index.get(label) if isinstance(label, str) else None
        if place is not None:
            return (place,)
        if label is None:
            return ()
        parts = [label] if isinstance(label, (str, bool, int, float)) else list(label)
        found = set()
        for part in parts:
            if part is None:
                continue
            text = label_text(part)
            if text not in self._index:
                raise ShieldError(f"{shown(text)!r} is no value of the shield{did_you_mean(text, self.values)}")
            found.add(self._index[text])
        return found

    def settings(self) -> dict[str, Any]:
        """What the shield was made with."""
        return {
            "values": list(self.values),
            "beta": list(self.betas),
            "margin": self.margin,
            "choice": self.choice,
            "rule": self.rule,
            "unknown": self.unknown,
            "seed": self.seed,
        }

    def state(self) -> dict[str, Any]:
        """Where it stands."""
        return {
            "step": self.step,
            "seen": list(self._seen),
            "due": list(self._due),
            "enforced": self.enforced,
            "failed": self.failed,
            "missed": self.missed,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take what `state` gave back.

        Raises
        ------
        ShieldError
            When it is no state of such a shield.
        """
        from justicia.generations.shield_files import checked_state

        held = checked_state(state, len(self.values))
        self.step, self.enforced, self.failed, self.missed = (
            held[name] for name in ("step", "enforced", "failed", "missed")
        )
        self._seen, self._due = held["seen"], held["due"]
        self._look_again()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write settings and state to a JSON file, whole or not at all."""
        from justicia.generations.shield_files import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Shield:
        """A shield from a file that `save` wrote.

        Raises
        ------
        ShieldError
            When it cannot be read.
        """
        from justicia.generations.shield_files import load

        return load(path)


def _pick(seed: int, step: int, n: int) -> int:
    """One of n, by a hash of seed and step (splitmix64), so that a shield that is resumed picks the same."""
    mask = (1 << 64) - 1
    word = (seed * 0x9E3779B97F4A7C15 + (step + 1) * 0xD1B54A32D192ED03) & mask
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & mask
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & mask
    return ((word ^ (word >> 31)) * n) >> 64
