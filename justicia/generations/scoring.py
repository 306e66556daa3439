"""Score of a text on the line between two poles, such as she and he, in a space of word vectors.

With f and m the vectors of the poles, mid = (f + m) / 2 and a = f - mid, a word's score is (w - mid)·a / |a|: the
first pole has |f - m| / 2, the second the same with a minus. A text's score is the mean over its words that have a
vector, function words and names left out (Sterlie, Weng and Feragen, arXiv 2403.08564).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from justicia.errors import InputError, SpecError
from justicia.generations.stopwords import STOPWORDS
from justicia.generations.vectors import WordVectors, load_vectors
from justicia.progress import stage
from justicia.words import listed, shown

__all__ = ["PolarityScale", "TextScore", "make_scale", "tokens"]

_WORD = re.compile(r"[^\W\d_]+")


def tokens(text: str) -> list[str]:
    """Runs of letters, as they are written; apostrophes and hyphens part words.

    >>> tokens("The nurse's well-being matters.")
    ['The', 'nurse', 's', 'well', 'being', 'matters']
    """
    return _WORD.findall(unicodedata.normalize("NFC", text))


@dataclass(frozen=True)
class TextScore:
    """A text's score.

    Attributes
    ----------
    score : float or None
        None where no word has a vector.
    used, without_vector, left_out : tuple of str
        Words that count; those that have no vector; function words and names.
    """

    score: float | None
    used: tuple[str, ...]
    without_vector: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class PolarityScale:
    """Scores of words.

    Attributes
    ----------
    poles : tuple of tuple of str
        Words of the first pole and of the second; several have their mean.
    half : float
        Score of the first pole: half the distance of the two.
    scores : dict of str to float
        Of all words that are known.
    stopwords, names : frozenset of str
        In small letters.
    vectors : str
        Where the vectors come from.
    dimensions : int
    """

    poles: tuple[tuple[str, ...], tuple[str, ...]]
    half: float
    scores: dict[str, float]
    stopwords: frozenset[str]
    names: frozenset[str]
    vectors: str
    dimensions: int

    def word(self, word: str) -> float | None:
        """A word's score, None where it has no vector; in small letters first, then as it is written."""
        folded = word.lower()
        return self.scores.get(folded, self.scores.get(word))

    def text(self, text: str) -> TextScore:
        """A text's score."""
        used, without, left_out, total = [], [], [], 0.0
        for token in tokens(text):
            folded = token.lower()
            if folded in self.stopwords or folded in self.names:
                left_out.append(folded)
                continue
            score = self.word(token)
            if score is None:
                without.append(folded)
            else:
                used.append(folded)
                total += score
        return TextScore(total / len(used) if used else None, tuple(used), tuple(without), tuple(left_out))


def make_scale(
    vectors: Any,
    texts: Iterable[str] = (),
    *,
    poles: Sequence[str | Sequence[str]] = ("she", "he"),
    stopwords: Collection[str] | None = None,
    names: Iterable[str] = (),
    trust_vectors: bool = False,
) -> PolarityScale:
    """A scale for the words of some texts.

    Parameters
    ----------
    vectors : as `load_vectors`
    texts : iterable of str
    poles : (first, second)
        Each a word, several words, or words joined by |.
    stopwords : collection of str, optional
        English function words by default; they include pronouns. Empty: none.
    names : iterable of str
        Left out as well; of a name of several words, every word.
    trust_vectors : bool
        As `load_vectors`.

    Raises
    ------
    SpecError
        When there are not two poles.
    InputError
        When a pole has no vector, or both are the same.
    """
    if isinstance(poles, str) or len(poles) != 2:
        raise SpecError("there are two poles, such as she and he")
    first, second = (tuple(_pole(pole)) for pole in poles)
    words = {token for text in texts for token in tokens(text)}
    wanted = {*first, *second, *words, *(word.lower() for word in words)}
    stage("reading word vectors of %s words", f"{len(wanted):,}")
    held = vectors if isinstance(vectors, WordVectors) else load_vectors(vectors, wanted, trust_vectors=trust_vectors)
    missing = [word for word in (*first, *second) if word not in held]
    if missing:
        raise InputError(
            f"{shown(held.name)}: no vector of {listed(missing)}: every word of a pole needs one; name others (--poles)"
        )
    f, m = (np.mean([held[word] for word in pole], axis=0) for pole in (first, second))
    middle, axis = (f + m) / 2, f - (f + m) / 2
    half = float(np.linalg.norm(axis))
    if not half or not np.isfinite(half):
        raise InputError(f"{shown(held.name)}: the poles {listed(first)} and {listed(second)} have the same vector")
    values = (held.matrix - middle) @ (axis / half)
    scores = {word: float(values[place]) for word, place in held.places.items()}
    stop = STOPWORDS if stopwords is None else frozenset(word.lower() for word in stopwords)
    parts = frozenset(token.lower() for name in names for token in tokens(str(name)))
    return PolarityScale((first, second), half, scores, stop, parts, held.name, held.matrix.shape[1])


def _pole(pole: str | Sequence[str]) -> list[str]:
    words = [word.strip() for word in (pole.split("|") if isinstance(pole, str) else pole)]
    if not words or not all(words):
        raise SpecError(f"a pole is a word, or several joined by |, not {shown(repr(pole))}")
    return words
