"""How often a shield interferes, and what it misses when enforcement fails: simulated generators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Any

from justicia.errors import ShieldError
from justicia.generations.rules import RULES
from justicia.generations.sequences import limit_bound
from justicia.generations.shield import Shield
from justicia.generations.spec import whole_number
from justicia.words import did_you_mean

__all__ = ["GENERATORS", "MODES", "Simulation", "simulate"]

MODES = ("ahead", "draft")
"""Force before the generation, or generate first and regenerate what is not allowed."""

_Generator = Callable[[Random, int, int], int]
"""From a source of chance, the number of values and the last output to the next."""


def _uniform(random: Random, n: int, last: int) -> int:
    return int(random.random() * n)


def _zipf(random: Random, n: int, last: int) -> int:
    """Value k as often as 1 / k."""
    at = random.random() * sum(1 / rank for rank in range(1, n + 1))
    for value in range(n):
        at -= 1 / (value + 1)
        if at < 0:
            return value
    return n - 1


def _skewed(random: Random, n: int, last: int) -> int:
    """Nine in ten the first value."""
    return 0 if n == 1 or random.random() < 0.9 else 1 + int(random.random() * (n - 1))


def _constant(random: Random, n: int, last: int) -> int:
    return 0


def _sticky(random: Random, n: int, last: int) -> int:
    """Eight in ten the last output once more."""
    return last if last >= 0 and random.random() < 0.8 else _uniform(random, n, last)


GENERATORS: dict[str, _Generator] = {
    "uniform": _uniform,
    "zipf": _zipf,
    "skewed": _skewed,
    "constant": _constant,
    "sticky": _sticky,
}
"""Simulated generators by name."""


@dataclass(frozen=True)
class Simulation:
    """What happened.

    Attributes
    ----------
    parameters : dict
    steps : int
    enforced : int
        Generations that were forced; in mode draft, drafts that were made anew.
    changed : int
        Of these, those where the generator would have put out something that was not allowed.
    failed : int
        Forced generations that showed nothing that was allowed, after every retry.
    misses : int
        Times that a value was absent for beta generations in a row.
    beta_star : int or None
        The least beta of the whole sequence.
    difference : float
        Of the largest frequency and the smallest.
    limit_bound : float
        1 - N / beta.
    command : tuple of str or None
    """

    parameters: dict[str, Any]
    steps: int
    enforced: int
    changed: int
    failed: int
    misses: int
    beta_star: int | None
    difference: float
    limit_bound: float
    command: tuple[str, ...] | None = None

    @property
    def interference(self) -> float:
        """Share of generations that were forced."""
        return self.enforced / self.steps

    @property
    def misses_per_1000(self) -> float:
        """Misses in 1,000 generations."""
        return 1000 * self.misses / self.steps

    @property
    def verdict(self) -> str:
        """Whether the least beta stayed within beta."""
        beta = self.parameters["beta"]
        if self.beta_star is not None and self.beta_star <= beta:
            return "holds" if self.steps > beta else "too short"
        return "fails" if self.steps >= beta else "too short"

    @property
    def exit_code(self) -> int:
        """0 when it did, 1 when not, 3 when there were too few steps."""
        return {"holds": 0, "fails": 1}.get(self.verdict, 3)

    def to_dict(self) -> dict[str, Any]:
        """The report by the contract ``justicia.generations.simulation/1``."""
        from justicia.report.generations_json import simulation_to_dict

        return simulation_to_dict(self)

    def to_json(self, path: Any = None) -> str | None:
        """The report as JSON text, or written to a file."""
        from justicia.report.generations_json import to_json

        return to_json(self.to_dict(), path)

    def to_text(self, width: int = 100) -> str:
        """The report as plain text."""
        from justicia.report.generations_text import simulation_to_text

        return simulation_to_text(self, width)


def simulate(
    values: int | Iterable[Any],
    beta: int,
    *,
    generator: str = "uniform",
    steps: int = 20_000,
    fail: float = 0.0,
    unknown: float = 0.0,
    margin: int = 0,
    choice: str = "edf",
    rule: str = "maximal",
    mode: str = "ahead",
    retries: int = 0,
    seed: int = 0,
) -> Simulation:
    """Run a shield on a simulated generator.

    Parameters
    ----------
    values : int or iterable of str
        The values, or their number.
    beta, margin, choice, rule
        As of `Shield`.
    generator : {"uniform", "zipf", "skewed", "constant", "sticky"}
    steps : int
    fail : float in [0, 1]
        Probability that a forced generation is as if it had not been forced.
    unknown : float in [0, 1]
        Probability that a label is unknown.
    mode : {"ahead", "draft"}
    retries : int
        Forced generations to try again, when the label is not allowed.
    seed : int

    Raises
    ------
    InputError

    >>> simulate(4, 12, generator="constant", steps=12_000).interference
    0.25
    """
    names = (
        [str(place) for place in range(whole_number(values, "values"))]
        if isinstance(values, (int, str))
        else list(values)
    )
    for what, word, known in (("generator", generator, GENERATORS), ("mode", mode, MODES), ("rule", rule, RULES)):
        if word not in known:
            raise ShieldError(f"{what} cannot be {word!r}{did_you_mean(word, known)}")
    for what, share in (("fail", fail), ("unknown", unknown)):
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
            raise ShieldError(f"{what} is a probability, not {share!r}")
    steps, retries = whole_number(steps, "steps"), whole_number(retries, "retries", 0)
    shield = Shield(names, beta, margin=margin, choice=choice, rule=rule, seed=seed)
    # Draws of the generator and of what goes wrong are apart, so that modes and margins see the same generator.
    drafts, chance = (Random(f"{what} {shield.seed}") for what in ("drafts", "chance"))  # noqa: S311 (no secret)
    draw, n = GENERATORS[generator], len(shield.values)
    counts, seen, widest = [0] * n, [0] * n, 0
    enforced = changed = misses = failed = 0
    last = -1
    for step in range(1, steps + 1):
        decision = shield.next()
        output = draw(drafts, n, last)
        label: str | None = None if unknown and chance.random() < unknown else shield.values[output]
        if decision is not None:
            outside = label not in decision.allowed
            changed += outside
            if mode == "ahead" or outside:
                enforced += 1
                for _ in range(retries + 1):
                    if not fail or chance.random() >= fail:
                        output, label = shield.values.index(decision.value), decision.value
                    elif mode == "draft" or outside:
                        output = draw(chance, n, last)
                        label = shield.values[output]
                    if label in decision.allowed:
                        break
                failed += label not in decision.allowed
        misses += len(shield.observe(label))
        last = output
        if label is not None:
            counts[output] += 1
            widest = max(widest, step - seen[output])
            seen[output] = step
    widest = max(widest, *(steps + 1 - place for place in seen))
    parameters = {
        "values": n,
        "beta": shield.betas[0],
        "generator": generator,
        "fail": fail,
        "unknown": unknown,
        "margin": shield.margin,
        "choice": choice,
        "rule": rule,
        "mode": mode,
        "retries": retries,
        "seed": shield.seed,
    }
    star = None if 0 in counts else widest
    difference = (max(counts) - min(counts)) / steps
    return Simulation(
        parameters, steps, enforced, changed, failed, misses, star, difference, limit_bound(n, shield.betas[0])
    )
