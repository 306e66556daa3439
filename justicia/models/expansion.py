"""A model that takes one-hot columns, seen as a model that takes the feature behind them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from justicia.models.unwrapping import FittedModel
    from justicia.tables.one_hot import OneHot

__all__ = ["OneHotExpansion", "expanded"]


class OneHotExpansion:
    """Turns a frame with one column a feature back into the frame of 0/1 columns that a model takes.

    Attributes
    ----------
    inputs : tuple of str
        Columns taken.
    outputs : tuple of str
        Columns given: those of the model, in its order.
    source : tuple of int
        For each output, the input that it comes from.
    value : tuple of (str or None)
        For each output, the value for which it is 1; None where the input passes through.
    categories : dict of str to list of str
        Values of each feature, and the one that stands for "all 0".
    """

    def __init__(self, frame: pd.DataFrame, features: Sequence[OneHot], outputs: Sequence[str]) -> None:
        of_column = {column: feature for feature in features for column in feature.columns}
        self.outputs = tuple(outputs)
        names = [of_column[column].name if column in of_column else column for column in outputs]
        self.inputs = tuple(dict.fromkeys(names))
        self.source = tuple(self.inputs.index(name) for name in names)
        self.value = tuple(
            of_column[column].values[of_column[column].columns.index(column)] if column in of_column else None
            for column in outputs
        )
        self.categories = {
            feature.name: [*feature.values, feature.none] for feature in features if feature.name in self.inputs
        }
        self._kinds = [frame[column].dtype if frame[column].dtype.kind in "bf" else np.int64 for column in outputs]
        self._kept: tuple[pd.DataFrame, pd.DataFrame] | None = None

    def keep(self, frame: pd.DataFrame, made: pd.DataFrame) -> None:
        """Remember what a frame was turned into, until that is asked for once more: `predict` asks for all rows."""
        self._kept = frame, made

    def forget(self) -> None:
        """Keep nothing."""
        self._kept = None

    def transform(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The columns that the model takes.

        Parameters
        ----------
        frame : DataFrame of shape (n_rows, n_inputs)

        Returns
        -------
        DataFrame of shape (n_rows, n_outputs)
        """
        import pandas as pd

        if self._kept is not None and self._kept[0] is frame:
            made = self._kept[1]
            self.forget()
            return made
        columns: dict[str, Any] = {}
        codes: dict[int, np.ndarray] = {}
        for output, source, value, kind in zip(self.outputs, self.source, self.value, self._kinds, strict=True):
            name = self.inputs[source]
            if value is None:
                columns[output] = frame[name]
                continue
            if source not in codes:
                # One look at the texts of a column serves all of its values.
                known = pd.Index(self.categories[name], dtype=object)
                codes[source] = known.get_indexer(pd.Index(frame[name], dtype=object))
            columns[output] = (codes[source] == self.categories[name].index(value)).astype(kind)
        return pd.DataFrame(columns, index=frame.index)


class _ExpandedPredictor:
    """The model's own predict, behind the expansion."""

    def __init__(self, predictor: Any, expansion: OneHotExpansion) -> None:
        self._predictor = predictor
        self._expansion = expansion

    def predict(self, frame: pd.DataFrame) -> Any:
        return self._predictor.predict(self._expansion.transform(frame))


def expanded(fitted: FittedModel, expansion: OneHotExpansion) -> FittedModel:
    """`fitted`, taking the inputs of `expansion` instead of its outputs."""
    return replace(
        fitted,
        predictor=_ExpandedPredictor(fitted.predictor, expansion),
        steps=(expansion, *fitted.steps),
        columns=expansion.inputs,
        n_columns=len(expansion.inputs),
    )
