r"""A reward for outputs whose attributes are rare under their prompt, for trainers by group-relative optimisation.

Of N outputs of a prompt, :math:`N_k` show value k of an attribute with the values C. HoloFair's reward of an output
that shows k (Chen et al., arXiv 2605.24687) is

.. math:: r(k) = b(k) - \frac{1}{|C|} \sum_{j \in C} b(j),
          \qquad b(k) = \log \frac{N - N_k + \varepsilon}{N_k + \varepsilon},

cut at :math:`\pm 5`; rewards of several attributes are added, by weights. Equal counts give 0 to all.

**Collapse.** When all outputs of a group show the same value they have the same reward, and an advantage relative to
the group's mean is 0: nothing is learned, however bad it is. `FairnessReward.advantages` measures rewards against a
running table of the prompt instead, which begins at 0, the reward of even outputs, and remembers what was before the
collapse: a group that has collapsed then lies below it and is pushed away. Trainers that subtract the group's mean
themselves, as TRL's do, have no use of that; there a collapsed prompt stays as it is, whatever the reward.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from justicia.errors import InputError
from justicia.generations.labels import label_text
from justicia.generations.spec import attribute
from justicia.words import did_you_mean, listed, shown

__all__ = ["FairnessReward", "class_rewards"]

TABLES = ("group", "running")
"""What outputs are counted: those of the prompt in this call, or all of the prompt so far."""
_LEAST_DEVIATION = 1e-4


def class_rewards(counts: Any, *, clip: float = 5.0, epsilon: float = 1e-6) -> np.ndarray:
    """The reward of every value of an attribute.

    Parameters
    ----------
    counts : array of shape (..., n_values)
        Outputs by value.
    clip : float
        Rewards are cut at this, and at its negative.
    epsilon : float
        Keeps the logarithm finite where a value never occurs.

    >>> class_rewards([6, 2]).round(4).tolist(), class_rewards([8, 0]).tolist()
    ([-1.0986, 1.0986], [-5.0, 5.0])
    """
    held = np.asarray(counts, dtype=np.float64)
    total = held.sum(axis=-1, keepdims=True)
    base = np.log((total - held + epsilon) / (held + epsilon))
    return np.asarray(np.clip(base - base.mean(axis=-1, keepdims=True), -clip, clip))


@dataclass
class _Running:
    """Weight, mean and sum of squared deviations of the rewards of a prompt, older ones with less weight."""

    weight: float = 0.0
    mean: float = 0.0
    squares: float = 0.0

    def add(self, rewards: np.ndarray, decay: float) -> None:
        old, new = self.weight * decay, float(len(rewards))
        between = float(rewards.mean()) - self.mean
        total = old + new
        deviations = rewards - rewards.mean()
        self.squares = self.squares * decay + float(deviations @ deviations) + between * between * old * new / total
        self.mean += between * new / total
        self.weight = total

    def with_prior(self, prior: float) -> tuple[float, float]:
        """Mean and standard deviation, together with `prior` rewards of mean 0 and variance 1."""
        total = self.weight + prior
        if total <= 0:
            return 0.0, 1.0
        mean = self.weight * self.mean / total
        squares = self.squares + prior + self.mean * self.mean * self.weight * prior / total
        return mean, math.sqrt(squares / total)


class FairnessReward:
    """The reward as a callable of trainers: ``reward(prompts, completions, **kwargs)`` returns a list of floats.

    Parameters
    ----------
    domains : mapping of str to sequence
        The values of every attribute, also those that are never generated.
    label : callable, optional
        From a completion (the text, when it is a conversation) to its labels: a mapping of attribute to value, or the
        value alone when there is one attribute; None for what is not known. Left out, only `of_labels` is of use.
    weights : mapping of str to float, optional
        Of the attributes; equal ones of sum 1 by default.
    clip, epsilon : float
        As of `class_rewards`.
    table : {"group", "running"}
        What outputs are counted: those of the same prompt in one call, or these and all earlier ones of the prompt.
    decay : float in (0, 1]
        What remains of the weight of earlier outputs with every call that has the prompt.
    prior : float
        Of the running table: as many outputs of reward 0 stand in it from the beginning.
    unknown : float, optional
        The reward of an output without a known label of an attribute. By default that of the commonest value, so that
        nothing is gained by showing none.
    key : callable, optional
        From a prompt to what tells it from others; by default its text, or that of its conversation.

    Attributes
    ----------
    calls : int

    Notes
    -----
    TRL's `GRPOTrainer` and `RLOOTrainer` take it in `reward_funcs`. They call it by process: a group that is spread
    over processes is counted in parts, which ``table="running"`` makes less of a loss.

    >>> reward = FairnessReward({"gender": ["female", "male"]}, lambda text: text.split()[0])
    >>> [round(value, 4) for value in reward(["a doctor"] * 4, ["male 1", "male 2", "male 3", "female 4"])]
    [-1.0986, -1.0986, -1.0986, 1.0986]
    """

    __name__ = "fairness_reward"

    def __init__(
        self,
        domains: Mapping[str, Sequence[Any]],
        label: Callable[[Any], Any] | None = None,
        *,
        weights: Mapping[str, float] | None = None,
        clip: float = 5.0,
        epsilon: float = 1e-6,
        table: str = "group",
        decay: float = 1.0,
        prior: float = 8.0,
        unknown: float | None = None,
        key: Callable[[Any], Hashable] | None = None,
    ) -> None:
        if not domains:
            raise InputError("a reward needs the domain of an attribute")
        self.domains = {str(name): attribute(str(name), values).domain for name, values in domains.items()}
        for name, values in self.domains.items():
            if len(values) < 2:
                raise InputError(f"attribute {shown(name)} has one value: no output of it can be rare")
        if table not in TABLES:
            raise InputError(f"table cannot be {table!r}{did_you_mean(table, TABLES)}")
        for what, value, low, high in (
            ("clip", clip, 0.0, math.inf), ("epsilon", epsilon, 1e-300, 1.0), ("decay", decay, 1e-9, 1.0),
            ("prior", prior, 0.0, math.inf),
        ):  # fmt: skip
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
                raise InputError(f"{what} is a number between {low:g} and {high:g}, not {value!r}")
        if unknown is not None and (not isinstance(unknown, (int, float)) or not math.isfinite(unknown)):
            raise InputError(f"unknown is a reward, or None, not {unknown!r}")
        held = dict.fromkeys(self.domains, 1 / len(self.domains)) if weights is None else dict(weights)
        if set(held) != set(self.domains):
            raise InputError(f"weights are of {listed(held)}, and attributes are {listed(self.domains)}")
        for name, weight in held.items():
            if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight < math.inf:
                raise InputError(f"the weight of {shown(name)} is a number from 0 on, not {weight!r}")
        self.label, self.weights, self.clip, self.epsilon = label, held, float(clip), float(epsilon)
        self.table, self.decay, self.prior, self.unknown = table, float(decay), float(prior), unknown
        self.key = key
        self.calls = 0
        self._places = {
            name: {value: place for place, value in enumerate(values)} for name, values in self.domains.items()
        }
        self._counts: dict[str, dict[str, np.ndarray]] = {}
        self._running: dict[str, _Running] = {}

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **_: Any) -> list[float]:
        """Rewards of completions, each under its prompt; other keywords of a trainer are not looked at."""
        if self.label is None:
            raise InputError(
                "a reward of completions needs label=, which says what a completion shows; or call of_labels"
            )
        return self.of_labels(prompts, [self.label(_text(completion)) for completion in completions])

    def of_labels(self, prompts: Sequence[Any], labels: Sequence[Any]) -> list[float]:
        """Rewards of outputs whose labels are known.

        Parameters
        ----------
        prompts : sequence
            Texts, or conversations; equal ones are one group.
        labels : sequence
            Each a mapping of attribute to value, or the value alone when there is one attribute; None: not known.

        Raises
        ------
        InputError
            When a label is outside its domain, or there are not as many labels as prompts.
        """
        if len(prompts) != len(labels):
            raise InputError(f"there are {len(prompts)} prompts and {len(labels)} outputs: name the prompt of each")
        keys = [self._key(prompt) for prompt in prompts]
        places = {name: np.array([self._place(name, one) for one in labels], dtype=np.int64) for name in self.domains}
        rewards = np.zeros(len(keys))
        for key, rows in _grouped(keys).items():
            held = self._counts.setdefault(key, {}) if self.table == "running" else {}
            for name, values in self.domains.items():
                shown_ = places[name][rows]
                counts = np.bincount(shown_[shown_ >= 0], minlength=len(values)).astype(np.float64)
                if self.table == "running":
                    counts += held.get(name, 0.0) * self.decay
                    held[name] = counts
                if not counts.any():
                    continue
                by_value = class_rewards(counts, clip=self.clip, epsilon=self.epsilon)
                hidden = float(by_value.min()) if self.unknown is None else self.unknown
                rewards[rows] += self.weights[name] * np.where(shown_ >= 0, by_value[np.maximum(shown_, 0)], hidden)
        self.calls += 1
        return [float(value) for value in rewards]

    def advantages(
        self, prompts: Sequence[Any], rewards: Sequence[float], steps: Sequence[Hashable] | None = None
    ) -> list[float]:
        """Rewards less the running mean of their prompt, by its running deviation; the table takes them in first.

        Parameters
        ----------
        prompts, rewards : sequence
        steps : sequence, optional
            A table of its own for each, such as the steps of a denoiser.
        """
        named: list[Any] = list(prompts)
        if len(named) != len(rewards) or (steps is not None and len(steps) != len(named)):
            raise InputError(f"there are {len(named)} prompts and {len(rewards)} rewards: name the prompt of each")
        keys = [self._key(prompt) for prompt in named]
        if steps is not None:
            keys = [f"{key}\n{step}" for key, step in zip(keys, steps, strict=True)]
        values = np.asarray(rewards, dtype=np.float64)
        if not np.isfinite(values).all():
            raise InputError(f"reward {int(np.argmin(np.isfinite(values))) + 1} is no number")
        found = np.zeros(len(keys))
        for key, rows in _grouped(keys).items():
            table = self._running.setdefault(key, _Running())
            table.add(values[rows], self.decay)
            mean, deviation = table.with_prior(self.prior)
            found[rows] = (values[rows] - mean) / (deviation + _LEAST_DEVIATION)
        return [float(value) for value in found]

    def state(self) -> dict[str, Any]:
        """The tables, as JSON can hold them; `restore` goes on from there."""
        return {
            "calls": self.calls,
            "counts": {
                key: {name: counts.tolist() for name, counts in held.items()} for key, held in self._counts.items()
            },
            "running": {key: [one.weight, one.mean, one.squares] for key, one in self._running.items()},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take the tables of `state`, in place of those there are.

        Raises
        ------
        InputError
            When they do not fit the domains.
        """
        try:
            counts = {
                str(key): {str(name): np.asarray(one, dtype=np.float64) for name, one in held.items()}
                for key, held in state["counts"].items()
            }
            running = {str(key): _Running(*(float(value) for value in one)) for key, one in state["running"].items()}
            calls = int(state["calls"])
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError("this is no state of a fairness reward") from None
        for held in counts.values():
            for name, one in held.items():
                if name not in self.domains or one.shape != (len(self.domains[name]),):
                    raise InputError(f"the state counts {shown(name)} by other values than the reward has")
        self._counts, self._running, self.calls = counts, running, calls

    def _key(self, prompt: Any) -> str:
        held = prompt if self.key is None else self.key(prompt)
        if isinstance(held, str):
            return held
        try:
            return json.dumps(held, sort_keys=True, ensure_ascii=False)
        except TypeError:
            raise InputError(
                f"a prompt of {type(prompt).__name__} has no text of its own: pass key=, which names prompts"
            ) from None

    def _place(self, name: str, labels: Any) -> int:
        if isinstance(labels, Mapping):
            value = labels.get(name)
        elif len(self.domains) == 1 or labels is None:
            value = labels
        else:
            raise InputError(f"labels of {listed(self.domains)} are a mapping of attribute to value, not {labels!r}")
        text = "" if value is None or value != value else label_text(value)
        if text == "":
            return -1
        if text not in self._places[name]:
            raise InputError(
                f"label {shown(text)!r} is outside the domain of {shown(name)}"
                f"{did_you_mean(text, self.domains[name])}; None says that it is not known"
            )
        return self._places[name][text]


def _grouped(keys: Iterable[str]) -> dict[str, np.ndarray]:
    found: dict[str, list[int]] = {}
    for place, key in enumerate(keys):
        found.setdefault(key, []).append(place)
    return {key: np.array(rows) for key, rows in found.items()}


def _text(completion: Any) -> Any:
    """The text of a conversation's last message; other completions, images among them, are as they are."""
    if isinstance(completion, (list, tuple)) and completion and isinstance(completion[-1], Mapping):
        return completion[-1].get("content", completion)
    return completion
