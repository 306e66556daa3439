"""Categorical columns that XGBoost and LightGBM take as they are, seen as a step that numbers the categories."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import TableError, UnsupportedModelError
from justicia.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from justicia.models.unwrapping import FittedModel

__all__ = ["NativeCategories", "native_categories", "with_native_categories"]


class NativeCategories:
    """Turns categories into their codes, as the library behind it does.

    Attributes
    ----------
    columns : tuple of str
        Columns taken.
    categories : dict of str to list
        Categories of each categorical column, in the order of their codes.
    strange_is_missing : bool
        Whether a value that is no category counts as missing; the model refuses it otherwise.
    """

    def __init__(
        self, columns: Sequence[str], categories: Mapping[str, Sequence[Any]], *, strange_is_missing: bool
    ) -> None:
        self.columns = tuple(columns)
        self.categories = {name: list(values) for name, values in categories.items()}
        self.strange_is_missing = strange_is_missing

    def transform(self, frame: pd.DataFrame) -> np.ndarray:
        """Numbers of every column, float64 array of shape (n_rows, n_columns).

        Raises
        ------
        TableError
            When a value is no category, and the model refuses such values.
        """
        given = [frame[name] for name in self.columns] if set(self.columns) <= set(frame.columns) else None
        held = given if given is not None else [frame.iloc[:, i] for i in range(len(self.columns))]
        return np.stack([self._numbers(name, column) for name, column in zip(self.columns, held, strict=True)], axis=1)

    def _numbers(self, name: str, column: pd.Series[Any]) -> np.ndarray:
        if name not in self.categories:
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        codes = np.asarray(self._column(name, column).cat.codes, dtype=np.float64)
        return np.where(codes < 0, np.nan, codes)

    def _column(self, name: str, column: pd.Series[Any]) -> pd.Series[Any]:
        import pandas as pd

        known = self.categories[name]
        if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.categories.tolist() == known:
            return column
        values = column.astype(object)
        strange = values[values.notna() & ~values.isin(known)]
        if len(strange) and not self.strange_is_missing:
            raise TableError(
                f"column {name!r} holds {listed(strange.unique(), 5)} in {counted(len(strange), 'row')}; the model was "
                "not fitted on such categories and its predict refuses them: remove these rows"
            )
        categories = pd.Index(known)
        if isinstance(column.dtype, pd.CategoricalDtype) and len(known):
            categories = pd.Index(known, dtype=column.cat.categories.dtype) if not len(strange) else categories
        return pd.Series(pd.Categorical(values, categories=categories), index=column.index, name=column.name)

    def cast(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame with categorical columns of the model's own categories."""
        return frame.assign(**{name: self._column(name, frame[name]) for name in self.categories})


class _CastingPredictor:
    """The model's own predict, behind the cast to its categories."""

    def __init__(self, predictor: Any, native: NativeCategories) -> None:
        self._predictor = predictor
        self._native = native

    def predict(self, frame: pd.DataFrame) -> Any:
        return self._predictor.predict(self._native.cast(frame))


def with_native_categories(fitted: FittedModel, frame: pd.DataFrame) -> FittedModel:
    """`fitted` with its native categories as a step, and a `predict` that takes them as text or numbers too.

    Parameters
    ----------
    fitted : FittedModel
    frame : DataFrame
        The columns that the model takes.

    Raises
    ------
    UnsupportedModelError
        When native categories come out of another step.
    TableError
        When the table has categories that the model does not take.
    """
    if fitted.steps and type(fitted.steps[-1]) is NativeCategories:
        return fitted
    of_family = _FAMILIES.get(fitted.class_name)
    if of_family is None:
        return fitted
    columns: Sequence[str] = list(frame.columns)
    if len(fitted.steps) == 1 and type(fitted.steps[0]).__name__ == "OneHotExpansion":
        columns = fitted.steps[0].outputs
    elif fitted.steps:
        columns = []
    categories = of_family(fitted.estimator, columns, frame)
    if not fitted.steps:
        _refuse_others(fitted, frame, categories)
    if not categories:
        return fitted
    if not columns:
        raise UnsupportedModelError(
            f"{fitted.class_name} with categories of its own behind another step is not supported: leave the step out, "
            "or encode the categories in it"
        )
    native = NativeCategories(
        columns, categories, strange_is_missing=fitted.class_name.startswith(("lightgbm", "justicia"))
    )
    if not native.strange_is_missing:
        # Categories that predict refuses are named here.
        native.cast(frame)
    return replace(fitted, predictor=_CastingPredictor(fitted.predictor, native), steps=(*fitted.steps, native))


def native_categories(fitted: FittedModel) -> dict[str, list[Any]]:
    """Categories by column, of a model that has no steps, as far as they are known without a table.

    LightGBM says which columns are categorical where it split by them, or their values differ.
    """
    if fitted.class_name not in _FAMILIES or fitted.columns is None:
        return {}
    if _FAMILIES[fitted.class_name] is _of_xgboost:
        # Large models without categories are not read twice.
        if "c" not in (fitted.estimator.get_booster().feature_types or ["c"]):
            return {}
        return _of_xgboost(fitted.estimator, fitted.columns, None)
    held = fitted.estimator.booster_.pandas_categorical or []
    told = fitted.estimator.booster_.dump_model(num_iteration=1)["feature_infos"] if held else {}
    names = [name for name in fitted.columns if told.get(name.replace(" ", "_"), {}).get("values")]
    return dict(zip(names, held, strict=True)) if len(names) == len(held) else {}


def _refuse_others(fitted: FittedModel, frame: pd.DataFrame, categories: Mapping[str, Sequence[Any]]) -> None:
    import pandas as pd

    kinds = {name: frame[name].dtype for name in frame.columns if name not in categories}
    others = [name for name, kind in kinds.items() if isinstance(kind, pd.CategoricalDtype)]
    if others:
        raise TableError(
            f"the table has categories in {listed(others)}, and {fitted.class_name} holds none for them: give the "
            "table the types that the model was fitted on (XGBoost holds categories from version 3.1 on: fit it again)"
        )


def _of_xgboost(estimator: Any, columns: Sequence[str], frame: pd.DataFrame | None) -> dict[str, list[Any]]:
    import json

    from justicia.models.xgboost_json import read_xgboost

    try:
        held = read_xgboost(json.loads(bytes(estimator.get_booster().save_raw("json"))))
    except UnsupportedModelError:
        # The encoder refuses it, in words of its own.
        return {}
    names = columns or [str(column) for column in range(held.n_columns)]
    return {names[column]: known.values for column, known in held.categories.items()}


def _of_lightgbm(estimator: Any, columns: Sequence[str], frame: pd.DataFrame) -> dict[str, list[Any]]:
    """Categories by column: LightGBM keeps their order only, and takes categorical columns by theirs."""
    import pandas as pd

    held = estimator.booster_.pandas_categorical or []
    inside = [name for name in columns if name in frame.columns]
    by_type = [name for name in inside if isinstance(frame[name].dtype, pd.CategoricalDtype)]
    text = [name for name in inside if name in by_type or frame[name].dtype.kind not in "biuf"]
    for names in (by_type, text):
        if held and len(names) == len(held):
            return dict(zip(names, held, strict=True))
    if held and not columns:
        return {str(position): values for position, values in enumerate(held)}
    return {}


_FAMILIES = {
    "lightgbm.sklearn.LGBMClassifier": _of_lightgbm,
    "justicia.models.native_files.LightGBMBooster": _of_lightgbm,
    "xgboost.sklearn.XGBClassifier": _of_xgboost,
    "xgboost.sklearn.XGBRFClassifier": _of_xgboost,
}
