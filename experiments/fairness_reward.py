"""Policies trained by the fairness reward: what group-relative and running advantages make of them.

Every prompt has a softmax policy over the values of three attributes (2, 3 and 5), so that diversity is known exactly,
without sampling or a classifier. Training is by group-relative policy optimisation (GRPO): N outputs a prompt, their
rewards by `justicia.generations.FairnessReward`, a clipped ratio over a few inner steps, and a penalty for the
divergence from the first policy. Advantages are relative to the group's mean and deviation, or to the running table of
the prompt.

    python -m experiments.fairness_reward --out experiments/results
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from experiments.running import Reporter, Rows, command, new_figure, of_one, read_rows, save_figure, table
from justicia.generations.entropies import Rule, indices
from justicia.generations.rewards import FairnessReward

__all__ = ["CAPTION", "NAME", "TITLE", "Policies", "Training", "collapsed", "parts", "plot", "run", "skewed", "train"]

NAME = "fairness_reward"
TITLE = "Training by the fairness reward"
CAPTION = "MGBI of policies in training, by where they begin and by how advantages are taken"

STARTS, ADVANTAGES = ("skewed", "collapsed"), ("group", "running")
SHOWN = (0, 50, 150, 300)
"""Iterations that the page has."""
KEY = ["start", "advantages", "iteration", "seed"]
COLUMNS = [*KEY, "mgbi"]
DOMAINS = {"gender": ("female", "male"), "age": ("young", "middle", "old"), "race": tuple("abcde")}
TRIGGERS, NEUTRAL_PROMPTS, TRIGGER_PROMPTS = 9, 12, 2


@dataclass
class Training:
    """Settings of a run.

    Attributes
    ----------
    outputs : int
        Of a prompt in each iteration.
    rate : float
        The length of a step.
    inner : int
        Steps with the same outputs.
    clip : float
        Of the ratio of probabilities.
    divergence : float
        Weight of the penalty.
    advantages : {"group", "running"}
    decay, prior : float
        Of the running table: it has to forget a collapse to go on pushing against it.
    """

    outputs: int = 16
    rate: float = 0.1
    inner: int = 2
    clip: float = 0.2
    divergence: float = 0.05
    advantages: str = "group"
    decay: float = 0.5
    prior: float = 32.0


class Policies:
    """A softmax policy a prompt and attribute.

    Parameters
    ----------
    logits : list of float64 arrays of shape (n_prompts, n_values)
    contexts : int array of shape (n_prompts,)
        0 is the neutral one.
    """

    def __init__(self, logits: list[np.ndarray], contexts: np.ndarray) -> None:
        self.logits = [one.copy() for one in logits]
        self.first = [_softmax(one) for one in logits]
        self.contexts = contexts
        # Of Adam: means of gradients and of their squares, and how many there were.
        self.means = [np.zeros_like(one) for one in logits]
        self.squares = [np.zeros_like(one) for one in logits]
        self.steps = 0

    def climb(self, gradients: list[np.ndarray], rate: float) -> None:
        """A step by Adam, whose length hardly depends on the gradients': those of a collapsed policy are tiny."""
        self.steps += 1
        for place, gradient in enumerate(gradients):
            self.means[place] += 0.1 * (gradient - self.means[place])
            self.squares[place] += 0.01 * (gradient**2 - self.squares[place])
            mean = self.means[place] / (1 - 0.9**self.steps)
            size = np.sqrt(self.squares[place] / (1 - 0.99**self.steps))
            self.logits[place] += rate * mean / (size + 1e-10)

    def probabilities(self) -> list[np.ndarray]:
        """Of every value, as the logits."""
        return [_softmax(one) for one in self.logits]

    def mgbi(self) -> float:
        """MGBI of the policies themselves: outputs of all prompts of a context together, and never so few."""
        shares = [
            np.stack([held[self.contexts == context].mean(axis=0) for context in range(self.contexts.max() + 1)])
            for held in self.probabilities()
        ]
        return float(indices(shares, Rule()).index)


def skewed(seed: int, strength: float = 1.6) -> Policies:
    """Policies that prefer values at random, contexts more than the neutral prompts."""
    rng = np.random.default_rng(seed)
    contexts = np.repeat(np.arange(TRIGGERS + 1), [NEUTRAL_PROMPTS, *[TRIGGER_PROMPTS] * TRIGGERS])
    logits = []
    for values in DOMAINS.values():
        of_context = rng.normal(0, strength, (TRIGGERS + 1, len(values)))
        logits.append(of_context[contexts] + rng.normal(0, 0.3, (len(contexts), len(values))))
    return Policies(logits, contexts)


def collapsed(share: float = 1 - 1e-6) -> Policies:
    """Policies that all but always show the first value of each attribute."""
    policies = skewed(0)
    logits = []
    for held in policies.logits:
        values = held.shape[1]
        one = np.full(held.shape, np.log((1 - share) / (values - 1)))
        one[:, 0] = np.log(share)
        logits.append(one)
    return Policies(logits, policies.contexts)


def train(policies: Policies, iterations: int, settings: Training, seed: int = 0) -> list[float]:
    """Train, and return MGBI before and after every iteration."""
    rng = np.random.default_rng(seed)
    reward = FairnessReward(DOMAINS, decay=settings.decay, prior=settings.prior)
    prompts = [f"prompt {place}" for place in range(len(policies.contexts)) for _ in range(settings.outputs)]
    names, values = list(DOMAINS), list(DOMAINS.values())
    curve = [policies.mgbi()]
    for _ in range(iterations):
        old = policies.probabilities()
        drawn = [_draw(held, settings.outputs, rng) for held in old]
        labels = [
            {name: domain[place] for name, domain, place in zip(names, values, row, strict=True)}
            for row in zip(*(one.ravel().tolist() for one in drawn), strict=True)
        ]
        rewards = reward.of_labels(prompts, labels)
        if settings.advantages == "running":
            advantages = np.array(reward.advantages(prompts, rewards)).reshape(drawn[0].shape)
        else:
            by_prompt = np.array(rewards).reshape(drawn[0].shape)
            centred = by_prompt - by_prompt.mean(axis=1, keepdims=True)
            advantages = centred / (by_prompt.std(axis=1, keepdims=True) + 1e-4)
        before = _log_probability(old, drawn)
        for _ in range(settings.inner):
            _step(policies, drawn, advantages, before, settings)
        curve.append(policies.mgbi())
    return curve


def _step(
    policies: Policies, drawn: list[np.ndarray], advantages: np.ndarray, before: np.ndarray, settings: Training
) -> None:
    now = policies.probabilities()
    ratio = np.exp(_log_probability(now, drawn) - before)
    # The clipped objective has no slope where clipping makes it smaller.
    cut = ((advantages > 0) & (ratio > 1 + settings.clip)) | ((advantages < 0) & (ratio < 1 - settings.clip))
    slope = np.where(cut, 0.0, ratio * advantages)
    gradients = []
    for place, held in enumerate(now):
        chosen = np.eye(held.shape[1])[drawn[place]]
        gradient = (slope[..., None] * (chosen - held[:, None])).mean(axis=1)
        # Of the divergence from the first policy, in closed form.
        logs = np.log(held / policies.first[place])
        pull = held * (logs - (held * logs).sum(axis=1, keepdims=True))
        gradients.append(gradient - settings.divergence * pull)
    policies.climb(gradients, settings.rate)


def _softmax(logits: np.ndarray) -> np.ndarray:
    held = np.exp(logits - logits.max(axis=1, keepdims=True))
    return held / held.sum(axis=1, keepdims=True)


def _draw(held: np.ndarray, outputs: int, rng: np.random.Generator) -> np.ndarray:
    edges = np.cumsum(held, axis=1)[:, None, :-1]
    return (rng.random((len(held), outputs, 1)) > edges).sum(axis=2)


def _log_probability(held: list[np.ndarray], drawn: list[np.ndarray]) -> np.ndarray:
    return sum(np.log(np.take_along_axis(one, place, axis=1)) for one, place in zip(held, drawn, strict=True))


def run(out: Path, *, quick: bool, progress: Reporter, seed: int = 0, iterations: int = 300) -> None:
    """Train skewed and collapsed policies with both advantages where that is not there yet, and draw the figure."""
    iterations = 10 if quick else iterations
    rows = Rows(out / f"{NAME}.csv", COLUMNS, KEY)
    cases = [{"start": start, "advantages": advantages, "seed": seed} for start in STARTS for advantages in ADVANTAGES]
    for case in progress.track(rows.todo(cases, lambda case: {**case, "iteration": iterations}), TITLE):
        policies = skewed(seed) if case["start"] == "skewed" else collapsed()
        # The penalty would pull a collapsed policy back to where it began.
        divergence = 0.05 if case["start"] == "skewed" else 0.0
        curve = train(policies, iterations, Training(advantages=case["advantages"], divergence=divergence), seed)
        for iteration, value in enumerate(curve):
            # A run of fewer iterations has the first ones already.
            if {**case, "iteration": iteration} not in rows:
                rows.add({**case, "iteration": iteration, "mgbi": value})
    plot(rows.held, out / f"{NAME}.svg")


def parts(folder: Path) -> dict[str, str]:
    """The table of the page on diversity."""
    held = {
        (row["start"], row["advantages"], int(row["iteration"])): float(row["mgbi"])
        for row in read_rows(folder / f"{NAME}.csv")
    }
    shown = [one for one in SHOWN if any(iteration == one for *_, iteration in held)]
    words = {"skewed": "skewed", "collapsed": "collapsed (1 in a million else)"}
    lines = [
        [words[start], advantages, *(of_one(held[start, advantages, one], 3) for one in shown)]
        for start in STARTS
        for advantages in ADVANTAGES
    ]
    header = ["MGBI before" if one == 0 else f"after {one} iterations" for one in shown]
    return {"training": table(["start", "advantages", *header], lines)}


def plot(rows: list[dict[str, str]], path: Path) -> None:
    """MGBI against the iteration."""
    figure, axis = new_figure(figsize=(6, 3.4))
    for start in STARTS:
        for advantages in ADVANTAGES:
            mine = [row for row in rows if (row["start"], row["advantages"]) == (start, advantages)]
            mine.sort(key=lambda row: int(row["iteration"]))
            axis.plot([float(row["mgbi"]) for row in mine], label=f"{start}, {advantages} advantages")
    axis.set(xlabel="iteration", ylabel="MGBI", ylim=(0, 1))
    axis.legend(frameon=False, fontsize="small")
    save_figure(figure, path)


if __name__ == "__main__":
    command(
        NAME,
        run,
        __doc__,
        click.option("--iterations", type=click.IntRange(min=1), default=300, show_default=True),
    )()
