"""Columns that a model was fitted on as text, though their values may look like numbers: postcodes, codes, years."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from justicia.errors import MALFORMED, JusticiaError
from justicia.models.native_categories import native_categories

if TYPE_CHECKING:
    from collections.abc import Iterable

    from justicia.models import FittedModel

__all__ = ["text_columns"]


def text_columns(fitted: FittedModel) -> set[str]:
    """Columns whose categories, in the model's encoders or in the model itself, are all text.

    A table's "01133" is such a category, and the number 1133 is none. Steps that are not supported, or not fitted, say
    nothing here: the encoder refuses them later, in words of its own.

    Parameters
    ----------
    fitted : FittedModel
        As it was loaded.
    """
    from justicia.encoders.preprocessing import trace

    if fitted.columns is None:
        return set()
    held: dict[str, list[Iterable[Any]]] = {}
    try:
        for block in trace(fitted.steps, fitted.columns) if fitted.steps else []:
            for name, arrays in block.categories.items():
                held.setdefault(name, []).extend(arrays)
        if not fitted.steps:
            held = {name: [values] for name, values in native_categories(fitted).items()}
    except (JusticiaError, *MALFORMED):
        return set()
    return {name for name, arrays in held.items() if _all_text([value for array in arrays for value in array])}


def _all_text(values: list[Any]) -> bool:
    """Whether all values but the missing ones are text, and there are some."""
    known = [value for value in values if value is not None and value == value]
    return bool(known) and all(isinstance(value, str) for value in known)
