"""Tables as text."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from justicia.words import counted
from justicia.writing import has_half_pairs

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["table_text"]

logger = logging.getLogger(__name__)


def table_text(frame: pd.DataFrame, path: Any = None) -> str:
    """A table as CSV, or as JSON lines by the ending of the file that it is for.

    Halves of surrogate pairs, which broken answers have and UTF-8 has not, are written as U+FFFD, with a warning.

    Parameters
    ----------
    frame : DataFrame of shape (n_rows, n_columns)
    path : str or path, optional
    """
    broken = 0
    for name in [name for name in frame.columns if frame[name].dtype.kind == "O"]:
        halved = [isinstance(value, str) and has_half_pairs(value) for value in frame[name]]
        if any(halved):
            broken += sum(halved)
            frame = frame.assign(**{name: [_whole(value) for value in frame[name]]})
    names = [_whole(name) for name in frame.columns]
    broken += sum(name != whole for name, whole in zip(frame.columns, names, strict=True))
    if broken:
        frame = frame.set_axis(names, axis=1)
        logger.warning(
            "%s broken: half of a surrogate pair is written as U+FFFD", counted(broken, "text is", "texts are")
        )
    if path is not None and Path(path).suffix.lower() in (".jsonl", ".ndjson", ".jsonlines"):
        return frame.to_json(orient="records", lines=True, force_ascii=False)
    return frame.to_csv(index=False, lineterminator="\n")


def _whole(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
