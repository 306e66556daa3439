"""Dask DataFrames: partitions are condensed where they lie, and only distinct people travel.

Whatever scheduler Dask is set to does the work: the workers of a cluster when there is a `distributed.Client`, threads
of this process otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from justicia.tables.sources import Survey, check_names, head_rows, with_types

if TYPE_CHECKING:
    import pandas as pd

    from justicia.watching import Progress

__all__ = ["DaskSource", "is_dask_frame"]

_AT_ONCE = 4
"""Partitions that are asked for at once, by worker."""


def is_dask_frame(data: Any) -> bool:
    """Whether something is a Dask DataFrame, without importing Dask."""
    return type(data).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(data, "to_delayed")


class DaskSource:
    """A Dask DataFrame.

    Parameters
    ----------
    data : dask.dataframe.DataFrame
    """

    def __init__(self, data: Any) -> None:
        self._data = data
        self.name: str | None = None
        self.columns = [str(name) for name in data.columns]
        check_names(self.columns)
        self._held = dict(zip(self.columns, data.columns, strict=True))
        self._dtypes = {name: data.dtypes[held] for name, held in self._held.items()}

    def head(self) -> pd.DataFrame:
        """The first rows, all columns."""
        frame: pd.DataFrame = self._data.head(head_rows(len(self.columns)), npartitions=-1, compute=True)
        return self._named(frame, self.columns)

    def _named(self, frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
        return frame.reset_index(drop=True).set_axis(list(columns), axis="columns")

    def survey(self, columns: Sequence[str], wanted: Collection[str], progress: Progress | None) -> Survey:
        """Settle types of some columns, and collect all values of those that are `wanted`."""
        import pandas as pd

        survey = Survey()
        asked = [name for name in columns if name in wanted]
        categories = {
            name: dict[Any, None]() for name in columns if isinstance(self._dtypes[name], pd.CategoricalDtype)
        }
        looked_at = [name for name in columns if name in wanted or name in categories]
        for values, held in self.mapped(looked_at, _values, progress, "values") if looked_at else ():
            for name in categories:
                categories[name].update(dict.fromkeys(held[name]))
            survey.add_values({name: values[name] for name in asked})
        for name, known in categories.items():
            self._dtypes[name] = pd.CategoricalDtype(list(known), self._dtypes[name].ordered)
        survey.values = {
            name: with_types(column.to_frame(), {name: self._dtypes[name]})[name]
            for name, column in survey.values.items()
        }
        return survey

    def mapped(
        self,
        columns: Sequence[str],
        function: Callable[..., Any],
        progress: Progress | None,
        what: str = "people",
        asked: Callable[[], tuple[Any, ...]] = tuple,
    ) -> Iterator[Any]:
        """What a function makes of each partition, in their order, computed where they lie.

        Parameters
        ----------
        columns : sequence of str
        function : callable
            Takes a frame.
        progress : callable, optional
        what : str
            What it makes, in words.
        asked : callable
            Gives further arguments of the function, by what is known so far.
        """
        from dask.base import compute
        from dask.delayed import delayed

        parts = self._data[[self._held[name] for name in columns]].to_delayed()
        step, done = _AT_ONCE * _n_workers(), 0
        while done < len(parts):
            several = parts[done : done + step]
            work = delayed(_on_part, pure=False)
            further = asked()
            for made in compute(*(work(function, part, list(columns), self._dtypes, *further) for part in several)):
                done += 1
                if progress is not None:
                    progress(f"{what} of {done:,} of {len(parts):,} partitions", done / len(parts))
                yield made

    def batches(self, columns: Sequence[str], progress: Progress | None) -> Iterator[pd.DataFrame]:
        """Some columns, partition by partition."""
        yield from self.mapped(columns, _itself, progress)

    def restore(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Rows of batches, in the types that the whole table has."""
        return with_types(frame, self._dtypes)

    def sha256(self) -> str | None:
        """None: there is no file."""
        return None


def _n_workers() -> int:
    """Workers of the cluster; 1 without."""
    try:
        from distributed import default_client

        return max(sum(default_client().nthreads().values()), 1)
    except (ImportError, ValueError):
        return 1


def _on_part(
    function: Callable[..., Any], part: pd.DataFrame, columns: list[str], dtypes: dict[str, Any], *further: Any
) -> Any:
    frame = part.reset_index(drop=True).set_axis(columns, axis="columns")
    changed = {name: kind for name, kind in dtypes.items() if name in columns and str(kind) != "category"}
    return function(with_types(frame, {name: changed.get(name, frame[name].dtype) for name in columns}), *further)


def _itself(frame: pd.DataFrame) -> pd.DataFrame:
    return frame


def _values(frame: pd.DataFrame) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Distinct values, and categories."""
    held = {str(name): frame[name].cat.categories.tolist() for name in frame if str(frame[name].dtype) == "category"}
    return {str(name): frame[name].drop_duplicates() for name in frame}, held
