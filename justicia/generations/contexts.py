"""Outputs of a table by the context in which they were asked for, and the values that they show."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import SpecError, TableError
from justicia.generations.columns import coded
from justicia.generations.labels import label_text
from justicia.generations.spec import attribute
from justicia.words import counted, did_you_mean, listed, shown

if TYPE_CHECKING:
    from justicia.generations.labels import Labels
    from justicia.generations.reading import Source
    from justicia.generations.spec import Spec
    from justicia.generations.table import Generations

__all__ = [
    "UNKNOWN",
    "ContextRows",
    "RowsByContext",
    "check_identities",
    "neutral_context",
    "rows_by_context",
    "with_domains",
]

logger = logging.getLogger(__name__)

UNKNOWN = -1
"""In place of a value: a label that may be any."""
_SEVERAL, _OUTSIDE = -3, -2


@dataclass(frozen=True)
class ContextRows:
    """Rows of one context.

    Attributes
    ----------
    name : str
    neutral : bool
    codes : int array of shape (n_rows, n_attributes)
        The place of a row's value in the domain, or `UNKNOWN`, or less: none of the domain's values.
    clusters : int array of shape (n_rows,) or None
        Which rows belong together.
    """

    name: str
    neutral: bool
    codes: np.ndarray
    clusters: np.ndarray | None = None

    def units(self, values: Sequence[int]) -> tuple[list[np.ndarray], np.ndarray]:
        """What rows are drawn as: kinds of rows, or clusters; by attribute the values they show, and their numbers.

        Parameters
        ----------
        values : sequence of int
            Values of each attribute.
        """
        if self.clusters is None:
            kinds, weights = np.unique(np.maximum(self.codes, UNKNOWN), axis=0, return_counts=True)
            places = np.arange(len(kinds))
        else:
            _, places = np.unique(self.clusters, return_inverse=True)
            kinds, weights = self.codes, np.ones(int(places.max()) + 1, dtype=np.int64)
        shown_ = []
        for place, number in enumerate(values):
            held, known = np.zeros((len(weights), number)), kinds[:, place] >= 0
            np.add.at(held, (places[known], kinds[known, place]), 1.0)
            shown_.append(held)
        return shown_, weights


@dataclass(frozen=True)
class RowsByContext:
    """Rows of all contexts, the neutral one first; `column` is None when there is no context column."""

    generations: Generations
    names: tuple[str, ...]
    column: str | None
    contexts: tuple[ContextRows, ...]


def neutral_context(spec: Spec, context: str | None, neutral: Any) -> tuple[str, tuple[str, ...]]:
    """The context column, and the values of it that are neutral."""
    said = spec.neutral if neutral is None else neutral
    if isinstance(said, Mapping):
        held = {
            str(name): (values,) if isinstance(values, str) or not hasattr(values, "__iter__") else tuple(values)
            for name, values in said.items()
        }
        if context is not None:
            held = {name: values for name, values in held.items() if name == context}
        if len(held) > 1:
            raise SpecError(f"neutral names {listed(held)}: name the context column (--context)")
        for name, values in held.items():
            return name, tuple(label_text(value) for value in values)
        return context or "context", ("neutral",)
    listed_ = [said] if isinstance(said, str) or not hasattr(said, "__iter__") else list(said)
    if not listed_:
        raise SpecError("no context is named as neutral (--neutral)")
    return context or "context", tuple(label_text(value) for value in listed_)


def with_domains(source: Source, spec: Spec, names: Sequence[str], unknown: Any, separator: str | None) -> Spec:
    """The spec with a domain for every attribute: the values that occur, where none is declared."""
    found = dict(spec.attributes)
    # The words of the attributes that are declared mean the same elsewhere.
    words = set(unknown or ()) or {word for one in spec.attributes.values() for word in one.unknown}
    for name in names:
        if name not in found:
            _, values = coded(source.column(name, "attribute column"))
            parts = [
                part
                for value in values
                for part in (value.split(separator) if separator and isinstance(value, str) else [value])
            ]
            texts = {label_text(part) for part in parts if part is not None} - {"", *words}
            if len(texts) < 2:
                only = f"one value alone ({listed(texts)})" if texts else "no label"
                raise TableError(
                    f"column {shown(name)} has {only}: declare its values (--domain), those that were never "
                    "generated, too"
                )
            found[name] = attribute(name, sorted(texts), None, words, separator)
            logger.warning(
                "%s has no declared domain: the %s that occur are taken, %s; one that was never generated does not "
                "count (--domain)",
                shown(name), counted(len(texts), "value"), listed(sorted(texts)),
            )  # fmt: skip
        elif len(found[name].domain) < 2:
            raise SpecError(
                f"attribute {shown(name)} has one value ({shown(found[name].domain[0])}): nothing can be diverse"
            )
    return replace(spec, attributes=found)


def check_identities(generations: Generations, name: str | None) -> None:
    """Refuse a table that has an output twice, when a column names outputs.

    Raises
    ------
    TableError
    """
    source = generations.source
    if name is None:
        name = "id" if "id" in source.columns else "none"
    if name == "none" and name not in source.columns:
        return
    codes, values = coded(source.column(name, "identity column").iloc[generations.rows])
    held = codes[codes >= 0]
    counts = np.bincount(held, minlength=1)
    twice = np.flatnonzero(counts > 1)
    if len(twice):
        first = np.flatnonzero(codes == twice[0])[:2]
        places = [int(generations.rows[place]) + 1 for place in first]
        more = int((counts[twice] - 1).sum())
        raise TableError(
            f"{source.name or 'the table'}: {shown(name)} {shown(values[int(twice[0])])} stands in rows {places[0]} "
            f"and {places[1]}; {counted(more, 'such repeat')}: remove them, or name the column of identities "
            "(--id; none: there is none)"
        )


def _value_codes(name: str, labels: Labels, generations: Generations) -> np.ndarray:
    """The value of every row, or that it is unknown or outside the domain."""
    certain, possible = labels.shows.sum(axis=1), labels.may.sum(axis=1)
    of_kind = np.where(certain == 1, labels.shows.argmax(axis=1), np.where(possible > 0, UNKNOWN, _OUTSIDE))
    of_kind[(certain > 1) | ((certain == 1) & (possible > 1))] = _SEVERAL
    codes = np.asarray(of_kind[labels.codes])
    if (codes == _SEVERAL).any():
        row = int(generations.rows[int(np.argmax(codes == _SEVERAL))]) + 1
        raise TableError(
            f"{generations.source.name or 'the table'}: row {row} shows several values of {shown(name)}; diversity "
            "counts one value an output: split the row, or label what is seen first"
        )
    return codes


def rows_by_context(
    generations: Generations, names: tuple[str, ...], column: str | None, tags: tuple[str, ...],
    triggers: Sequence[str] | None, cluster: str | None = None,
) -> RowsByContext:  # fmt: skip
    """Rows by context; those of one value of the column `cluster` belong together."""
    codes = np.stack([_value_codes(name, generations.labels[name], generations) for name in names], axis=1)
    source = generations.source
    clusters = None if cluster is None else _clusters(generations, cluster)
    if column is None:
        logger.warning("there is no context column: all outputs are taken as neutral, and ID is all there is")
        return RowsByContext(generations, names, None, (ContextRows("(all)", True, codes, clusters),))
    if column not in source.columns:
        raise TableError(
            f"{source.name or 'the table'} has no context column {shown(column)!r}"
            f"{did_you_mean(column, source.columns)}: name it (--context; none: all outputs are neutral)"
        )
    of_row, values = coded(source.column(column).iloc[generations.rows])
    texts = np.array(["" if value is None else label_text(value) for value in values] + [""], dtype=object)[of_row]
    blank = int((texts == "").sum())
    if blank:
        row = int(generations.rows[int(np.argmax(texts == ""))]) + 1
        are = "is" if blank == 1 else "are"
        logger.warning("%s without a context %s left out, first row %d", counted(blank, "output"), are, row)
    there = [text for text in dict.fromkeys(texts.tolist()) if text]
    for tag in tags:
        if tag not in there:
            raise TableError(
                f"{source.name or 'the table'}: no output has the neutral {shown(column)} {shown(tag)!r}"
                f"{did_you_mean(tag, there)}: name it (--neutral)"
            )
    others = [text for text in there if text not in tags]
    if triggers is not None:
        asked = list(dict.fromkeys(label_text(value) for value in triggers))
        for one in asked:
            if one not in others:
                is_neutral = " besides the neutral one" if one in tags else ""
                raise TableError(
                    f"{source.name or 'the table'}: no output has the {shown(column)} {shown(one)!r}{is_neutral}"
                    f"{did_you_mean(one, others)}"
                )
        others = asked
    if not others:
        logger.warning("every output is neutral: CA and MGBI are not defined without other contexts")
    number = dict.fromkeys(tags, 0) | {one: place for place, one in enumerate(others, start=1)}
    of_context = np.array([number.get(text, -1) for text in texts.tolist()])
    # Sorted once, as contexts may be many.
    order = np.argsort(of_context, kind="stable")
    edges = np.searchsorted(of_context[order], np.arange(len(others) + 2))
    made = []
    for place, name in enumerate(["|".join(tags), *others]):
        rows = order[edges[place] : edges[place + 1]]
        made.append(ContextRows(name, place == 0, codes[rows], None if clusters is None else clusters[rows]))
    return RowsByContext(generations, names, column, tuple(made))


def _clusters(generations: Generations, name: str) -> np.ndarray:
    codes, values = coded(generations.source.column(name, "cluster column").iloc[generations.rows])
    blank = np.array([value is None or label_text(value) == "" for value in values] + [True], dtype=bool)[codes]
    if blank.any():
        row = int(generations.rows[int(np.argmax(blank))]) + 1
        raise TableError(
            f"{generations.source.name or 'the table'}: {shown(name)} of row {row} is blank; "
            f"{counted(int(blank.sum()), 'such row')}: say which outputs belong together"
        )
    return codes
