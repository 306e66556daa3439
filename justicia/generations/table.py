"""The table as sequences: one a run, in the order of its steps, of the rows that satisfy the condition.

Runs are never joined: a sequence is what one run generated. The condition is applied before positions are counted, so
that "every 20 generations" means 20 generations of that kind.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import TableError
from justicia.generations.columns import Finding, coded, label_codes, step_numbers
from justicia.generations.labels import Labels, label_text
from justicia.words import counted, did_you_mean, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from justicia.generations.reading import Source
    from justicia.generations.spec import Spec

__all__ = ["Generations", "columns_needed", "prepare", "selected_rows"]

logger = logging.getLogger(__name__)

_MOST_PROPOSED = 200


@dataclass(frozen=True)
class Generations:
    """Labelled generations in the order of runs and steps.

    Attributes
    ----------
    source : Source
    spec : Spec
        With the columns of run and step that are used.
    labels : dict of str to Labels
        Of each attribute, n rows each.
    starts : int array of shape (n_runs + 1,)
        Where each run begins, and the end of the last.
    runs : tuple of str or None
        Names of the runs; (None,) when the table is one run.
    steps : array of shape (n,) or None
        The rows' own numbers; None when the table has none.
    rows : int array of shape (n,)
        Their places in the table, from 0.
    findings : tuple of Finding
    """

    source: Source
    spec: Spec
    labels: dict[str, Labels]
    starts: np.ndarray
    runs: tuple[str | None, ...]
    steps: np.ndarray | None
    rows: np.ndarray
    findings: tuple[Finding, ...]

    def __len__(self) -> int:
        return int(self.starts[-1])

    @property
    def faults(self) -> tuple[Finding, ...]:
        """What has to be mended first."""
        return tuple(one for one in self.findings if one.level == "fault")

    def require_sound(self) -> Generations:
        """The table itself, with its warnings logged.

        Raises
        ------
        TableError
            When there is a fault.
        """
        if self.faults:
            more = len(self.faults) - 1
            rest = f" ({counted(more, 'other fault')}: justicia generations check lists all)" if more else ""
            raise TableError(f"{self.source.name or 'the table'}: {self.faults[0].text}{rest}")
        for one in self.findings:
            logger.log(logging.WARNING if one.level == "warning" else logging.INFO, "%s", one.text)
        return self

    def step(self, place: int) -> int | float:
        """What a row is called in messages: its step, or its position in the run, from 1."""
        if self.steps is not None:
            value: int | float = self.steps[place].item()
            return value
        return place - int(self.starts[np.searchsorted(self.starts, place, side="right") - 1]) + 1


def columns_needed(spec: Spec, attributes: Iterable[str]) -> set[str]:
    """Every column that has to be read."""
    named = {*attributes, *spec.where, *spec.neutral, "run", "step"}
    return named | {name for name in (spec.run, spec.step, spec.prompt) if name}


def prepare(source: Source, spec: Spec, attributes: Iterable[str]) -> Generations:
    """Select, order and code the rows.

    Parameters
    ----------
    source : Source
    spec : Spec
        A run column "none" says that the table is one run.
    attributes : iterable of str

    Raises
    ------
    SpecError, TableError
        When an attribute has no domain, a column is missing, or no row satisfies the condition.
    """
    names = list(dict.fromkeys(attributes))
    declared = {name: spec.named(name) for name in names}
    spec = _found_columns(source, spec)
    rows = selected_rows(source, spec.where)
    findings: list[Finding] = []
    labels = {}
    for name, attribute in declared.items():
        column = source.column(name, "attribute column")
        labels[name], found = label_codes(_taken(column, rows), attribute, spec.off_domain, rows)
        findings += found
    n = len(source.frame) if rows is None else len(rows)
    runs, run_names, found = _runs(source, spec.run, rows, n)
    findings += found
    steps = None
    if spec.step is not None:
        steps, found = step_numbers(_taken(source.column(spec.step, "step column"), rows), spec.step, rows)
        findings += found
    sound = not any(one.level == "fault" and one.kind in ("step", "blank_run") for one in findings)
    order, starts, found = _ordered(runs, len(run_names), steps if sound else None, spec, rows, run_names)
    findings += found
    places = np.arange(n) if rows is None else rows
    if order is not None:
        labels = {name: held.part(order) for name, held in labels.items()}
        places = places[order]
        steps = None if steps is None else steps[order]
    if sound and steps is not None and not spec.where:
        findings += _holes(steps, starts, run_names, spec.step)
    return Generations(source, spec, labels, starts, run_names, steps, places, tuple(findings))


def _found_columns(source: Source, spec: Spec) -> Spec:
    """The spec with the columns of run and step settled, announcing what was found."""
    run, step = spec.run, spec.step
    if run is None:
        run = "run" if "run" in source.columns else "none"
        if run == "run":
            logger.info("runs are told apart by the column run (--by)")
    if step is None:
        step = "step" if "step" in source.columns else "none"
        said = "generations are in the order of the column step" if step == "step" else "generations are in table order"
        logger.info("%s (--step)", said)
    run, step = (None if name == "none" and name not in source.columns else name for name in (run, step))
    return replace(spec, run=run, step=step)


def _taken(column: Any, rows: np.ndarray | None) -> Any:
    return column if rows is None else column.iloc[rows]


def selected_rows(source: Source, where: Mapping[str, tuple[str, ...]]) -> np.ndarray | None:
    """The rows that satisfy the condition; None when that is all of them by its absence."""
    if not where:
        return None
    mask = np.ones(len(source.frame), dtype=bool)
    for name, wanted in where.items():
        codes, values = coded(source.column(name, "column"))
        texts = [label_text(value) for value in values]
        right = np.append(np.array([text in wanted for text in texts], dtype=bool), False)
        for word in wanted:
            if word not in texts:
                raise TableError(
                    f"{source.name or 'the table'}: no row has {shown(name)}={shown(word)}"
                    f"{did_you_mean(word, dict.fromkeys(texts[:_MOST_PROPOSED]))}"
                )
        mask &= right[codes]
    rows = np.flatnonzero(mask)
    if not len(rows):
        said = ", ".join(f"{shown(name)}={'|'.join(map(shown, wanted))}" for name, wanted in where.items())
        raise TableError(f"{source.name or 'the table'}: no row satisfies {said} all at once")
    return rows


def _runs(
    source: Source, name: str | None, rows: np.ndarray | None, n: int
) -> tuple[np.ndarray, tuple[str | None, ...], list[Finding]]:
    """Codes of the runs in the order of their first rows, and their names."""
    if name is None:
        return np.zeros(n, dtype=np.int8), (None,), []
    codes, values = coded(_taken(source.column(name, "run column"), rows))
    texts = ["" if value is None else label_text(value) for value in values]
    empty = np.append(np.array([text == "" for text in texts], dtype=bool), True)
    blank = empty[codes] if (codes < 0).any() or empty[:-1].any() else None
    if blank is not None and blank.any():
        place = int(np.argmax(blank))
        row = (place if rows is None else int(rows[place])) + 1
        total = int(blank.sum())
        text = f"the run ({shown(name)}) of row {row} is blank; {counted(total, 'such row')}: name the run of every row"
        return np.zeros(n, dtype=np.int8), (None,), [Finding("blank_run", "fault", name, total, text)]
    if len(set(texts)) < len(texts):
        merged = {text: code for code, text in enumerate(dict.fromkeys(texts))}
        codes, texts = np.array([merged[text] for text in texts])[codes], list(merged)
    # Categories need not be in the order of the rows, nor all occur.
    changes = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    seen = codes[np.append(0, changes)]
    kept, first = np.unique(seen, return_index=True)
    kept = kept[np.argsort(first)]
    if not np.array_equal(kept, np.arange(len(texts))):
        new = np.zeros(len(texts), dtype=np.int64)
        new[kept] = np.arange(len(kept))
        codes = new[codes]
    return codes, tuple(texts[code] for code in kept), []


def _ordered(
    runs: np.ndarray,
    n_runs: int,
    steps: np.ndarray | None,
    spec: Spec,
    rows: np.ndarray | None,
    names: tuple[str | None, ...],
) -> tuple[np.ndarray | None, np.ndarray, list[Finding]]:
    """An order of rows by run and step, None when they are in order; where each run begins; and what was found."""
    n, findings = len(runs), []
    order = None
    changes = np.flatnonzero(runs[1:] != runs[:-1]) + 1
    mixed = len(changes) + 1 > n_runs
    if mixed:
        text = f"rows of {counted(n_runs, 'run')} are mixed: each run is judged by itself"
        findings.append(Finding("mixed_runs", "note", spec.run, len(changes) + 1, text))
        order = np.argsort(runs, kind="stable")
        runs = runs[order]
        changes = np.flatnonzero(runs[1:] != runs[:-1]) + 1
    starts = np.concatenate([[0], changes, [n]]).astype(np.int64)
    if steps is None:
        return order, starts, findings
    in_order = steps if order is None else steps[order]
    rises = in_order[1:] > in_order[:-1]
    rises[starts[1:-1] - 1] = True
    if rises.all():
        return order, starts, findings
    inner = np.lexsort((in_order, runs))
    sorted_steps = in_order[inner]
    same = sorted_steps[1:] == sorted_steps[:-1]
    same[starts[1:-1] - 1] = False
    order = inner if order is None else order[inner]
    if same.any():
        findings.append(_duplicate(same, sorted_steps, order, starts, spec, rows, names))
    elif not mixed:
        text = "rows are not in the order of their steps: they are sorted by them"
        findings.append(Finding("unordered_steps", "note", spec.step, int((~rises).sum()), text))
    return order, starts, findings


def _duplicate(
    same: np.ndarray,
    steps: np.ndarray,
    order: np.ndarray,
    starts: np.ndarray,
    spec: Spec,
    rows: np.ndarray | None,
    names: tuple[str | None, ...],
) -> Finding:
    place = int(np.argmax(same))
    pair = [int(order[one] if rows is None else rows[order[one]]) + 1 for one in (place, place + 1)]
    run = names[int(np.searchsorted(starts, place, side="right")) - 1]
    of_run = "" if run is None else f" of run {shown(run)}"
    total = int(same.sum())
    remedy = (
        "if the table holds several runs, name the column that tells them apart (--by)"
        if run is None
        else "number the generations of a run in their order, or tell more runs apart (--by)"
    )
    number = steps[place].item()
    text = (
        f"step {number}{of_run} stands in rows {min(pair)} and {max(pair)}; {counted(total, 'such repeat')}: {remedy}"
    )
    return Finding("duplicate_step", "fault", spec.step, total, text)


def _holes(steps: np.ndarray, starts: np.ndarray, names: tuple[str | None, ...], column: str | None) -> list[Finding]:
    """A warning where numbers are missing between the steps of a run: a generation left out changes every gap."""
    if steps.dtype.kind not in "iu" or not len(steps):
        return []
    jumps = steps[1:] - steps[:-1] - 1
    jumps[starts[1:-1] - 1] = 0
    holed = np.flatnonzero(jumps > 0)
    if not len(holed):
        return []
    run = names[int(np.searchsorted(starts, int(holed[0]), side="right")) - 1]
    of_run = "" if run is None else f" of run {shown(run)}"
    total = int(jumps[holed].sum())
    text = (
        f"{counted(total, 'step')} {'is' if total == 1 else 'are'} missing, first after step "
        f"{steps[holed[0]].item()}{of_run}: a generation left out shortens gaps; keep its row, with a blank label"
    )
    return [Finding("missing_steps", "warning", column, total, text)]
