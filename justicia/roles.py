"""Who is compared by what outcome, once the rows that are left out are gone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from justicia import encoders, models, tables
from justicia.inputs import as_list
from justicia.progress import told

if TYPE_CHECKING:
    from justicia.inputs import Collapsed

__all__ = ["settle_roles"]


def settle_roles(
    seen: Collapsed, groupings: Sequence[Sequence[str]], columns: Sequence[str], label: str | None, favorable: Any
) -> tuple[models.FittedModel, tables.Roles]:
    """The model with the table's own categories, and what each column is to it.

    Parameters
    ----------
    seen : Collapsed
    groupings : sequence of sequence of str
        Sensitive columns.
    columns : sequence of str
        That the model takes.
    label, favorable
        As `justicia.verify` takes them.

    Raises
    ------
    GroupingError, LabelError, TableError
    """
    table, frame = seen.table, seen.frame
    told("rows", table=table.source, rows=table.n_read, used=table.n_rows, dropped=table.dropped)
    fitted = models.with_native_categories(seen.fitted, frame)
    roles = tables.assign_roles(
        table,
        sensitive=groupings,
        label=label,
        favorable=as_list(favorable),
        classes=fitted.classes,
        model_columns=columns,
        classify=lambda: encoders.predict(fitted, frame),
    )
    return fitted, roles
