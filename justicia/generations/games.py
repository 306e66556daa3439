"""Shields against an adversary, exhaustively: every state that is reachable, whatever the generator does."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from justicia.errors import ShieldError
from justicia.generations.rules import CHOICES, rule_named
from justicia.generations.winning import allowed_outputs, may_waste, winning_region
from justicia.words import counted, did_you_mean

__all__ = ["OUTPUTS", "STARTS", "ShieldProof", "verify_shield"]

STARTS = ("fresh", "any")
"""All values just seen, or any state that satisfies Hall's condition."""

OUTPUTS = ("single", "several", "unknown")
"""What a generation that nothing forces may show: one value; several at once, too; none, too."""

_MOST_STATES = 300_000
_State = tuple[int, ...]


@dataclass(frozen=True)
class ShieldProof:
    """The outcome of a game that was searched to its end.

    Attributes
    ----------
    safe : bool
        Whether no value is ever missed.
    states : int
        States that were reached.
    winning : int
        States from which some shield keeps every value, by the fixpoint.
    maximally_permissive : bool or None
        Whether the rule's winning states are all there are, and the outputs that it allows all that may be allowed;
        None for rules other than `maximal`.
    counterexample : tuple of (state, output) or None
        Counters and what was put out, until a counter is 0; the last output is None.
    """

    safe: bool
    states: int
    winning: int
    maximally_permissive: bool | None
    counterexample: tuple[tuple[_State, tuple[int, ...] | None], ...] | None

    @property
    def text(self) -> str:
        """One line: the outcome, and the way into a miss."""
        said = f"{'safe' if self.safe else 'unsafe'} over {counted(self.states, 'state')}"
        if self.maximally_permissive is not None:
            said += f"; {'maximally permissive' if self.maximally_permissive else 'not maximally permissive'}"
        if self.counterexample is not None:
            path = [
                f"{state}" + ("" if out is None else f" -{set(out) or '?'}->") for state, out in self.counterexample
            ]
            said += f": {' '.join(path)}"
        return said


def verify_shield(
    values: int,
    beta: int,
    *,
    rule: str = "maximal",
    choice: str = "edf",
    start: str | Sequence[int] = "fresh",
    outputs: Sequence[str] = ("single",),
) -> ShieldProof:
    """Play a shield against every generator.

    The adversary picks every output that is not forced, and every tie of the shield's choice.

    Parameters
    ----------
    values, beta : int
    rule : str
        One of `RULES`.
    choice : {"edf", "random"}
        Random: any of the values that the rule allows, to be picked by the adversary.
    start : {"fresh", "any"}, or sequence of int
        Or the counters to start from.
    outputs : sequence of {"single", "several", "unknown"}

    Raises
    ------
    ShieldError
        When there are more than 300,000 states, or a word names nothing.

    >>> verify_shield(2, 2).text
    'safe over 3 states; maximally permissive'
    >>> verify_shield(2, 2, rule="printed", outputs=["single", "unknown"]).text
    'unsafe over 5 states: (2, 2) -?-> (1, 1) -{0}-> (2, 0)'
    """
    words = [("choice", choice, CHOICES), *(("output", one, OUTPUTS) for one in outputs)]
    for what, word, known in [*words, *([("start", start, STARTS)] if isinstance(start, str) else [])]:
        if word not in known:
            raise ShieldError(f"{what} cannot be {word!r}{did_you_mean(word, known)}")
    if values < 1 or beta < 1 or beta**values > _MOST_STATES:
        raise ShieldError(
            f"{values} values within {beta} are more than {_MOST_STATES:,} states: choose smaller numbers"
        )
    decide = rule_named(rule)
    # Where a label may be unknown a place can be wasted, so the level of all values counts, too.
    most = values if "unknown" in outputs else values - 1
    if isinstance(start, str):
        starts = [(beta,) * values] if start == "fresh" else list(_hall_states(values, beta))
    else:
        starts = [tuple(start)]
        if len(starts[0]) != values or not all(1 <= counter <= beta for counter in starts[0]):
            raise ShieldError(f"a start is {counted(values, 'counter')} from 1 to {beta}, not {starts[0]}")
    before: dict[_State, tuple[_State, tuple[int, ...]] | None] = dict.fromkeys(starts)
    queue = deque(starts)
    lost: _State | None = next((state for state in starts if min(state) < 1), None)
    while queue and lost is None:
        state = queue.popleft()
        for output in _outputs(state, decide(state, beta, most), choice, outputs):
            after = tuple(beta if value in output else counter - 1 for value, counter in enumerate(state))
            if after in before:
                continue
            before[after] = (state, output)
            if min(after) <= 0:
                lost = after
                break
            queue.append(after)
    wins = winning_region([beta] * values)
    same = None
    if rule == "maximal":
        same = _permits_all(wins, values, beta)
    return ShieldProof(lost is None, len(before), int(wins.sum()), same, None if lost is None else _path(before, lost))


def _hall_states(values: int, beta: int) -> Iterator[_State]:
    for state in product(range(1, beta + 1), repeat=values):
        if all(counter >= place for place, counter in enumerate(sorted(state), start=1)):
            yield state


def _outputs(
    state: _State, allowed: list[int] | None, choice: str, outputs: Sequence[str]
) -> Iterator[tuple[int, ...]]:
    if allowed is not None:
        if choice == "edf":
            first = min(state)
            allowed = [value for value, counter in enumerate(state) if counter == first]
        yield from ((value,) for value in allowed)
        return
    everything = range(len(state))
    if "unknown" in outputs:
        yield ()
    yield from ((value,) for value in everything)
    if "several" in outputs:
        for size in range(2, len(state) + 1):
            yield from combinations(everything, size)


def _permits_all(wins: np.ndarray, values: int, beta: int) -> bool:
    """Whether Hall's condition is the winning region, and the rule allows what stays inside it, no more and no less."""
    decide = rule_named("maximal")
    hall = set(_hall_states(values, beta))
    if {tuple(int(counter) + 1 for counter in place) for place in np.argwhere(wins)} != hall:
        return False
    everything = list(range(values))
    for state in hall:
        for most, waste in ((values, True), (values - 1, False)):
            allowed = decide(state, beta, most)
            if allowed_outputs(wins, state) != (everything if allowed is None else allowed):
                return False
            if waste and may_waste(wins, state) != (allowed is None):
                return False
    return True


def _path(
    before: dict[_State, tuple[_State, tuple[int, ...]] | None], lost: _State
) -> tuple[tuple[_State, tuple[int, ...] | None], ...]:
    path: list[tuple[_State, tuple[int, ...] | None]] = [(lost, None)]
    step = before[lost]
    while step is not None:
        path.append(step)
        step = before[step[0]]
    return tuple(reversed(path))
