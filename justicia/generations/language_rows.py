"""The rows of a table of answers that are judged, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from justicia.generations.language_results import Settings
from justicia.generations.language_tables import (
    MOST_VALUES,
    Coded,
    coded_column,
    coded_responses,
    joined_columns,
    need_filled,
    need_groups,
)
from justicia.generations.reading import Source
from justicia.generations.table import selected_rows

__all__ = ["LanguageRows"]


def _named(settings: Settings, values: Sequence[str]) -> Settings:
    """The settings with refusals and unknown as the table writes them, whatever its capitals."""
    words = {word.casefold() for word in settings.refusals}
    found = tuple(value for value in values if value.casefold() in words)
    unknown = [value for value in values if value.casefold() == settings.unknown.casefold()]
    return replace(settings, refusals=found or settings.refusals, unknown=unknown[0] if unknown else settings.unknown)


class LanguageRows:
    """The columns of the rows that are judged; `settings` has refusals and unknown as they are written there."""

    def __init__(self, source: Source, settings: Settings) -> None:
        selected = selected_rows(source, settings.where)
        total = len(source.frame) if selected is None else len(selected)
        groups = coded_column(source, settings.group, "group column", selected, MOST_VALUES)
        kept = need_groups(groups, source)
        rows = kept if selected is None else selected[kept]
        self.left_out = total - len(rows)
        self.groups = coded_column(source, settings.group, "group column", rows)
        raw = coded_column(source, settings.response, "response column", rows, MOST_VALUES)
        self.settings = _named(settings, raw.values)
        self.responses = coded_responses(raw, self.settings.refusals, self.settings.unknown)
        self.truth = self._optional(source, settings.truth, "truth column", rows, MOST_VALUES)
        self.models = self._optional(source, settings.model, "model column", rows, MOST_VALUES)
        self.clusters = self._optional(source, settings.cluster, "cluster column", rows)
        self.strata = [coded_column(source, name, "column", rows, MOST_VALUES) for name in settings.strata]
        self.pairs = joined_columns(source, settings.pair, "pair column", rows)
        need_filled((self.models, self.clusters, *self.strata), source)

    def __len__(self) -> int:
        return len(self.groups.codes)

    @staticmethod
    def _optional(
        source: Source, name: str | None, what: str, rows: np.ndarray, most: int | None = None
    ) -> Coded | None:
        return None if name is None else coded_column(source, name, what, rows, most)
