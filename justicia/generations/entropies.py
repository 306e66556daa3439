r"""Diversity of labelled outputs under a neutral prompt and under contexts: ID, CA and MGBI, from counts.

With a share :math:`p_c` of each value c of an attribute a, the normalised entropy is
:math:`h_a = -\sum_c p_c \log p_c / \log |C_a|`, 1 for equal shares and 0 for one value alone. HoloFair (Chen et al.,
arXiv 2605.24687) takes the geometric mean of the attributes, of the neutral outputs and of each context (trigger)::

    ID   = (prod_a max(epsilon, h_a(neutral))) ** (1 / |A|)                  intrinsic diversity
    CA_q = quantile_q over contexts s of (prod_a max(epsilon, h_a(s))) ** (1 / |A|)    conditional diversity
    MGBI = sqrt(ID * CA_q)                                    multi-attribute group-wise bias index

Entropies of finite samples are too small, and a low quantile of noisy contexts is, too: even a generator without any
preference scores below 1. `noise_floor` says what it scores with as many labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from justicia.errors import InputError
from justicia.words import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "CORRECTIONS",
    "QUANTILES",
    "Indices",
    "Rule",
    "combined",
    "indices",
    "noise_floor",
    "normalised_entropy",
    "resampled",
]

CORRECTIONS = ("none", "miller-madow")
"""Of the entropies' bias: none, or Miller and Madow's (1955): (values that occur - 1) / (2 n) is added."""
QUANTILES = ("linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull", "median_unbiased")
"""Between which contexts a quantile is taken, and how; names and meaning are numpy's."""
_CHUNK = 4_000_000
"""Counts that are held at once."""


@dataclass(frozen=True)
class Rule:
    """How indices are made from entropies.

    Attributes
    ----------
    q : float
        The quantile over contexts; 0 is the least.
    quantile : str
        One of `QUANTILES`.
    epsilon : float
        Entropies below count as this, so that one attribute that has collapsed does not hide the others.
    correction : str
        One of `CORRECTIONS`.
    """

    q: float = 0.1
    quantile: str = "linear"
    epsilon: float = 1e-6
    correction: str = "none"

    def __post_init__(self) -> None:
        for what, value, low, high in (("q", self.q, 0.0, 1.0), ("epsilon", self.epsilon, 0.0, 0.5)):
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
                raise InputError(f"{what} is a number between {low:g} and {high:g}, not {value!r}")
        for what, value_, known in (
            ("quantile", self.quantile, QUANTILES),
            ("correction", self.correction, CORRECTIONS),
        ):
            if value_ not in known:
                raise InputError(f"{what} cannot be {value_!r}{did_you_mean(value_, known)}")


@dataclass(frozen=True)
class Indices:
    """Indices of one or many tables of counts.

    Attributes
    ----------
    entropies : float64 array of shape (..., n_contexts, n_attributes)
        The first context is the neutral one.
    scores : float64 array of shape (..., n_contexts)
        Geometric means over the attributes.
    intrinsic, conditional, mean, index : float64 array of shape (...)
        ID, CA_q, the mean over contexts, and MGBI; the last three are NaN when there is no context besides the neutral
        one.
    """

    entropies: np.ndarray
    scores: np.ndarray
    intrinsic: np.ndarray
    conditional: np.ndarray
    mean: np.ndarray
    index: np.ndarray


def normalised_entropy(counts: np.ndarray, correction: str = "none") -> np.ndarray:
    """Entropies of the last axis by their largest value, between 0 and 1; NaN where nothing is counted.

    Parameters
    ----------
    counts : array of shape (..., n_values)
        Counts or shares (shares only without a correction), of two values at least.
    correction : str
        One of `CORRECTIONS`; a corrected entropy is cut at 1.

    >>> normalised_entropy(np.array([[1, 1], [4, 0], [3, 1]])).round(4).tolist()
    [1.0, 0.0, 0.8113]
    """
    held = np.asarray(counts, dtype=np.float64)
    total = held.sum(axis=-1)
    # sum c log c and not sum p log p: equal counts then give exactly 1.
    logs = np.log(held, where=held > 0, out=np.zeros_like(held))
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = np.log(total) - (held * logs).sum(axis=-1) / total
        if correction == "miller-madow":
            entropy = entropy + ((held > 0).sum(axis=-1) - 1) / (2 * total)
    return np.asarray(np.where(total > 0, np.clip(entropy / np.log(held.shape[-1]), 0.0, 1.0), np.nan))


def indices(counts: Sequence[np.ndarray], rule: Rule) -> Indices:
    """ID, CA and MGBI.

    Parameters
    ----------
    counts : sequence of arrays of shape (..., n_contexts, n_values)
        One an attribute; the first context is the neutral one.
    rule : Rule
    """
    return combined(np.stack([normalised_entropy(one, rule.correction) for one in counts], axis=-1), rule)


def combined(entropies: np.ndarray, rule: Rule) -> Indices:
    """Indices of given entropies, of shape (..., n_contexts, n_attributes), the neutral context first."""
    scores = np.exp(np.log(np.maximum(entropies, max(rule.epsilon, 1e-300))).mean(axis=-1))
    # A floor of 0 is 0 again after the logarithm.
    scores = np.where((entropies == 0).any(axis=-1) & (rule.epsilon == 0), 0.0, np.minimum(scores, 1.0))
    intrinsic, others = scores[..., 0], scores[..., 1:]
    if others.shape[-1] == 0:
        none = np.full_like(intrinsic, np.nan)
        return Indices(entropies, scores, intrinsic, none, none, none)
    method: object = rule.quantile
    conditional = np.quantile(others, rule.q, axis=-1, method=method)  # type: ignore[call-overload]
    return Indices(
        entropies, scores, intrinsic, conditional, others.mean(axis=-1), np.sqrt(np.maximum(intrinsic * conditional, 0))
    )


def _concatenated(parts: list[Indices]) -> Indices:
    names = ("entropies", "scores", "intrinsic", "conditional", "mean", "index")
    return Indices(*(np.concatenate([getattr(one, name) for one in parts]) for name in names))


def _chunks(replicates: int, width: int) -> list[int]:
    size = max(1, _CHUNK // max(width, 1))
    return [min(size, replicates - start) for start in range(0, replicates, size)]


def noise_floor(
    sizes: np.ndarray, values: Sequence[int], rule: Rule, simulations: int, rng: np.random.Generator
) -> Indices:
    """Indices of tables of a generator without any preference, drawn with as many labels.

    Parameters
    ----------
    sizes : int array of shape (n_contexts, n_attributes)
        Labels that are known.
    values : sequence of int
        Values of each attribute.
    rule : Rule
    simulations : int
    rng : Generator

    Returns
    -------
    Indices
        Its arrays have a first axis of length `simulations`.
    """
    parts = []
    for part in _chunks(simulations, len(sizes) * sum(values)):
        counts = [
            rng.multinomial(sizes[:, place], np.full(number, 1 / number), size=(part, len(sizes)))
            for place, number in enumerate(values)
        ]
        parts.append(indices(counts, rule))
    return _concatenated(parts)


def resampled(
    units: Sequence[Sequence[np.ndarray]], weights: Sequence[np.ndarray], rule: Rule, replicates: int,
    rng: np.random.Generator,
) -> tuple[Indices, Indices]:  # fmt: skip
    """Indices of tables whose rows are drawn anew, context by context, and what they are drawn from.

    Rows, or clusters of them, are drawn whole, as attributes of one output belong together. Then one label in n + 1
    gives way to one drawn evenly: a value that is rare need not have occurred in n outputs, and without that a context
    with one value alone would have no interval.

    Parameters
    ----------
    units : sequence of sequence of arrays of shape (n_units, n_values)
        Of each context and attribute: which values a unit shows, and how often. A unit is a kind of rows, or a cluster.
    weights : sequence of int arrays of shape (n_units,)
        Of each context: how many units of a kind there are.
    rule : Rule
    replicates : int
    rng : Generator

    Returns
    -------
    drawn : Indices
        Its arrays have a first axis of length `replicates`; NaN where no label was drawn.
    truth : Indices
        Of the shares that rows are drawn from, without a correction.
    """
    attributes = range(len(units[0]))
    counts = [
        np.stack([held @ shown[place] for held, shown in zip(weights, units, strict=True)]) for place in attributes
    ]
    # With one label more, spread over the values.
    shares = [(one + 1 / one.shape[-1]) / (one.sum(axis=-1, keepdims=True) + 1) for one in counts]
    truth = indices(shares, replace(rule, correction="none"))
    parts = []
    for part in _chunks(replicates, sum(map(len, weights))):
        drawn = [np.empty((part, *one.shape), dtype=np.int64) for one in counts]
        for context, held in enumerate(weights):
            rows = rng.multinomial(int(held.sum()), held / held.sum(), size=part).astype(np.float64)
            for place in attributes:
                drawn[place][:, context] = np.rint(rows @ units[context][place])
        for place in attributes:
            number = counts[place].shape[-1]
            size = counts[place].sum(axis=-1)
            away = rng.binomial(drawn[place], (1 / (size + 1))[:, None])
            drawn[place] += rng.multinomial(away.sum(axis=-1), np.full(number, 1 / number)) - away
        parts.append(indices(drawn, rule))
    return _concatenated(parts), truth


def possible_indices(counts: Sequence[np.ndarray], unknown: np.ndarray, rule: Rule) -> tuple[Indices, Indices]:
    """Indices when the unknown labels are as uneven, and as even, as they can be.

    Entropy falls most when all of them show the commonest value, as it is concave, and rises most when each goes to the
    value that is rarest by then; indices rise with every entropy.
    """
    low, high = [], []
    for place, held in enumerate(counts):
        uneven, even = held.copy(), held.copy()
        for context, more in enumerate(unknown[:, place].tolist()):
            if more:
                uneven[context, int(np.argmax(held[context]))] += more
                even[context] = _levelled(held[context], more)
        # Without any label, known or not, an entropy may be anything.
        low.append(np.nan_to_num(normalised_entropy(uneven, rule.correction), nan=0.0))
        high.append(np.nan_to_num(normalised_entropy(even, rule.correction), nan=1.0))
    return combined(np.stack(low, axis=-1), rule), combined(np.stack(high, axis=-1), rule)


def _levelled(counts: np.ndarray, more: int) -> np.ndarray:
    """Counts with `more` units added, each to the smallest by then.

    >>> _levelled(np.array([5, 0, 2]), 4).tolist()
    [5, 3, 3]
    """
    order = np.argsort(counts, kind="stable")
    held = counts[order].astype(np.int64)
    for width in range(1, len(held) + 1):
        top = held[width] if width < len(held) else None
        room = None if top is None else int((top - held[:width]).sum())
        if room is None or more <= room:
            level, rest = divmod(int(held[:width].sum()) + more, width)
            held[:width] = level
            held[:rest] += 1
            break
    found = np.empty_like(held)
    found[order] = held
    return found
