"""Tables of more distinct people than can be held: counted by group, true outcome and decision.

That is all that rates of the rows are made of, and the part of a population that is the rows themselves. What a
population adds to them under ``auto`` is the forest beside the rows, which counts as fifty people in each group
(`justicia.population.auto`): its tables are those of a sample, at random within each group and true outcome, in which
all rows of small groups are. So the answer is exact about a population whose forest has tables with the error of a
sample of `SAMPLE_OF_GROUP` rows, times 50 / (n + 50) in a group of n rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import TableError
from justicia.tables.condensing import Condition
from justicia.words import value_text

if TYPE_CHECKING:
    import pandas as pd

    from justicia.streaming_models import Ready

__all__ = ["SAMPLE_OF_GROUP", "ByDecision", "FirstOfCells", "Sample"]

SAMPLE_OF_GROUP = 10_000
"""Rows of each group and true outcome in a sample, at most."""
_MOST_SAMPLED = 400_000


@dataclass(frozen=True)
class ByDecision(Condition):
    """Two rows are the same when they have the same values, and the model decides the same.

    Attributes
    ----------
    ready : Ready
        The model.
    """

    ready: Ready | None = None

    def kinds(self, frame: pd.DataFrame) -> list[tuple[np.ndarray, int]]:
        """For each part, a number of each row, below another number."""
        import pandas as pd

        if self.ready is None:
            raise ValueError("there is no model")
        found = super().kinds(frame)
        held, points = self.ready.points_of(frame)
        decision, domain = self.ready.decision, self.ready.domain
        outcome = decision.evaluate(points).astype(np.int64)
        ties = decision.undecided(points)
        if ties.any():
            _, which = np.unique(points[ties], axis=0, return_inverse=True)
            outcome[ties] = 2 + which.ravel()
        found.append((outcome, int(outcome.max(initial=0)) + 1))
        for position, feature in enumerate(domain.features):
            if feature.numeric or feature.unseen is None:
                continue
            strange = points[:, position] == feature.unseen
            if strange.any():
                values = np.zeros(len(frame), dtype=np.int64)
                codes, uniques = pd.factorize(held[feature.name][strange])
                values[strange] = codes + 1
                found.append((values, len(uniques) + 1))
        return found


class FirstOfCells:
    """Keeps the first row of each cell of each feature, so that every cell has one."""

    def __init__(self, ready: Ready) -> None:
        self._ready = ready
        self._seen = [np.zeros(len(feature), dtype=bool) for feature in ready.domain.features]

    def take(self, batch: pd.DataFrame) -> np.ndarray:
        """Which rows of a batch are such, bool array of shape (n_rows,)."""
        _, points = self._ready.points_of(batch)
        taken = np.zeros(len(batch), dtype=bool)
        for cells, seen in zip(points.T, self._seen, strict=True):
            first = np.full(len(seen), -1, dtype=np.int64)
            first[cells[::-1]] = np.arange(len(cells) - 1, -1, -1)
            new = (first >= 0) & ~seen
            taken[first[new]] = True
            seen |= new
        return taken


class Sample:
    """Rows at random, as many of each kind as `SAMPLE_OF_GROUP` says, fewer where there are many kinds.

    Parameters
    ----------
    columns : sequence of str
        Rows with the same values in these are of one kind.
    seed : int
    """

    def __init__(self, columns: Sequence[str], seed: int) -> None:
        self._columns = list(columns)
        self._rng = np.random.default_rng([seed % 2**32, 0x5CA1E])
        self._frames: list[pd.DataFrame] = []
        self._numbers: list[np.ndarray] = []
        self._kinds: list[np.ndarray] = []
        self._full = np.zeros(0, dtype=np.uint64)
        self._limit = np.zeros(0)
        self._each = SAMPLE_OF_GROUP
        self._waiting = 0

    def add(self, batch: pd.DataFrame, restore: Any) -> None:
        """Draw from a batch."""
        kinds = kind_of_rows(batch, self._columns)
        numbers = self._rng.random(len(batch))
        kept = np.ones(len(batch), dtype=bool)
        if len(self._full):
            place = np.minimum(np.searchsorted(self._full, kinds), len(self._full) - 1)
            kept = (self._full[place] != kinds) | (numbers < self._limit[place])
        rows = np.flatnonzero(kept)
        self._frames.append(restore(batch.iloc[rows]))
        self._numbers.append(numbers[rows])
        self._kinds.append(kinds[rows])
        self._waiting += len(rows)
        if self._waiting > _MOST_SAMPLED // 2:
            self._draw()

    def _draw(self) -> None:
        import pandas as pd

        kinds, numbers = np.concatenate(self._kinds), np.concatenate(self._numbers)
        distinct, which = np.unique(kinds, return_inverse=True)
        self._each = max(min(self._each, _MOST_SAMPLED // len(distinct)), 1)
        order = np.lexsort((numbers, which))
        begin = np.searchsorted(which[order], np.arange(len(distinct)))
        place = np.arange(len(order)) - begin[which[order]]
        kept = order[place < self._each]
        last = order[place == self._each - 1]
        self._full, self._limit = distinct[which[last]], numbers[last]
        frame = pd.concat(self._frames, ignore_index=True) if len(self._frames) > 1 else self._frames[0]
        self._frames = [frame.iloc[kept].reset_index(drop=True)]
        self._numbers, self._kinds = [numbers[kept]], [kinds[kept]]
        self._waiting = 0

    def result(self, people: pd.DataFrame, repeats: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
        """The rows drawn, and how many rows each stands for, float64 array.

        Parameters
        ----------
        people : DataFrame
            All rows, condensed.
        repeats : int64 array
        """
        self._draw()
        frame, kinds = self._frames[0], self._kinds[0]
        distinct, which, drawn = np.unique(kinds, return_inverse=True, return_counts=True)
        place = np.searchsorted(distinct, kind_of_rows(people, self._columns))
        total = np.bincount(place, weights=repeats, minlength=len(distinct))
        return frame, (total / drawn)[which]


def kind_of_rows(frame: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """A hash of the values in some columns, uint64 array of shape (n_rows,), the same in every batch."""
    import pandas as pd

    if not columns:
        return np.zeros(len(frame), dtype=np.uint64)
    texts = pd.DataFrame(index=frame.index)
    for name in columns:
        codes, uniques = pd.factorize(frame[name])
        hashes = pd.util.hash_array(np.array([value_text(value) for value in uniques] + ["\x00"], dtype=object))
        texts[name] = hashes[codes]
    if len(columns) == 1:
        return np.asarray(texts[columns[0]].to_numpy(dtype=np.uint64))
    return np.asarray(pd.util.hash_pandas_object(texts, index=False).to_numpy(dtype=np.uint64))


def points_or_refuse(domain: Any, frame: pd.DataFrame) -> np.ndarray:
    """Domain points of a batch.

    Raises
    ------
    TableError
        That says that more rows may be affected.
    """
    try:
        return np.asarray(domain.points(frame))
    except TableError as error:
        raise TableError(f"{error} (in one batch of rows; there may be more)") from None
