"""A model beside what other tools say about it, and beside another model: one table, the same rows and groups."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia import models, tables
from justicia.changes import GroupingChange, changes_of
from justicia.choices import MISSING_WAYS
from justicia.collecting import Announcements
from justicia.errors import InputError, LabelError
from justicia.inputs import settle_inputs, table_with_groups
from justicia.mitigation import refit, reweigh
from justicia.peers import PEERS
from justicia.sides import Side, side_of
from justicia.tables.one_hot import collapse
from justicia.words import counted, did_you_mean, listed, shown, value_text

if TYPE_CHECKING:
    import pandas as pd

    from justicia.audited import Audit
    from justicia.inputs import Inputs
    from justicia.watching import Progress

__all__ = ["MITIGATIONS", "Comparison", "Side", "compare"]

logger = logging.getLogger(__name__)

MITIGATIONS = ("reweigh",)
"""Ways to fit a model once more."""


@dataclass(frozen=True, repr=False)
class Comparison:
    """The result of `compare`.

    Attributes
    ----------
    sides : tuple of Side
        One model or two.
    changes : tuple of GroupingChange
        One a grouping; empty with one model.
    tools : tuple of str
        Those that were asked.
    announcements, warnings : tuple of str
    command : tuple of str or None
    """

    sides: tuple[Side, ...]
    changes: tuple[GroupingChange, ...]
    tools: tuple[str, ...]
    announcements: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    command: tuple[str, ...] | None = None

    @property
    def audits(self) -> tuple[Audit, ...]:
        """One a model."""
        return tuple(side.audit for side in self.sides)

    @property
    def numbers(self) -> pd.DataFrame:
        """Every number of the other tools, one a row, beside the rows' own here, and why they differ."""
        from justicia.report.side_by_side import numbers_frame

        return numbers_frame(self)

    @property
    def by_group(self) -> pd.DataFrame:
        """Selection rates of every group of the first grouping, by model and source, indexed by the group."""
        from justicia.report.side_by_side import rates_frame

        return rates_frame(self)

    @property
    def exit_code(self) -> int:
        """0; 4 when a number of another tool is neither equal nor explained."""
        return 4 if any(side.unexplained for side in self.sides) else 0

    def to_dict(self) -> dict[str, Any]:
        """The comparison as the JSON contract ``justicia.comparison/1`` has it."""
        from justicia.report.side_by_side_json import comparison_to_dict

        return comparison_to_dict(self)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The comparison as JSON text; when `path` is given, written there and not returned."""
        from justicia.writing import json_text, written

        return written(json_text(self.to_dict()), path)

    def to_text(self, width: int = 120, *, all_groups: bool = False) -> str:
        """The comparison as plain text tables, `width` characters wide; long ones in part unless `all_groups`."""
        from justicia.report.side_by_side import comparison_to_text

        return comparison_to_text(self, width, all_groups=all_groups)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The comparison as one HTML file that needs nothing else; when `path` is given, written there."""
        from justicia.report.side_by_side_html import comparison_to_html
        from justicia.writing import written

        return written(comparison_to_html(self), path)

    def __repr__(self) -> str:
        names = " and ".join(side.name for side in self.sides)
        return f"<Comparison of {names}, beside {', '.join(self.tools) or 'no other tool'}>"


def compare(
    model: Any,
    data: Any,
    other_model: Any = None,
    *,
    test_data: Any = None,
    mitigate: str | None = None,
    tools: Sequence[str] = tuple(PEERS),
    sensitive_features: Any = None,
    y: Any = None,
    label: str | None = None,
    favorable: Any = None,
    reference: str | Mapping[str, Any] | None = None,
    population: Any = "auto",
    time_limit: float | None = None,
    tolerance: float | None = None,
    confidence: float = 0.95,
    features: Sequence[str] | None = None,
    one_hot: Mapping[str, Sequence[str]] | bool | None = None,
    missing: str = "error",
    bins: Mapping[str, Sequence[Any]] | None = None,
    weight: str | None = None,
    weight_kind: str = "sampling",
    na: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str = "utf-8",
    seed: int = 0,
    trust_model: bool = False,
    command: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Audit a model beside AIF360 and Fairlearn, and beside a second model if there is one.

    Every number of another tool stands beside the same number of the rows here. It is equal, or what that tool's own
    convention gives from the counts of the rows: then the difference is explained. Any other number is unexplained.

    Parameters
    ----------
    model : fitted classifier, path, or name
        As `justicia.verify` has it.
    data : DataFrame, path, or name
        What is audited; with `test_data`, what models are trained on.
    other_model : fitted classifier, path, or name, optional
        The second model, such as the same after mitigation; differences are second less first.
    test_data : DataFrame, path, or name, optional
        What is audited in place of `data`.
    mitigate : str, optional
        "reweigh": the second model is a clone of the first, fitted to `data` with the weights of
        `justicia.mitigation.reweigh` over the first grouping.
    tools : sequence of str
        Other tools to ask, of "aif360" and "fairlearn".
    sensitive_features, y, label, favorable
        As `justicia.verify` has them. With `test_data`, sensitive features and outcomes are columns of both.
    reference : str or mapping of str to value, optional
        The group that AIF360 is told is privileged; left out, the one with the highest selection rate of the rows,
        by the first model. Groups are compared with it here, too, when it is named.
    population, time_limit, tolerance, confidence, features, one_hot, missing, bins, weight, weight_kind, na, delimiter
        As `justicia.verify` has them. Models are fitted without `weight`.
    encoding, seed, trust_model, command, progress
        As `justicia.verify` has them.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError

    Examples
    --------
    >>> import justicia
    >>> found = justicia.compare("tree", "ricci", tools=["fairlearn"])
    >>> set(found.numbers["agreement"]) <= {"equal", "explained"}
    True
    """
    asked = _tools(tools)
    if mitigate is not None and mitigate not in MITIGATIONS:
        raise InputError(f"mitigate cannot be {mitigate!r}{did_you_mean(mitigate, MITIGATIONS)}")
    if mitigate is not None and other_model is not None:
        raise InputError("the second model is given, or made with mitigate: leave one of them out")
    if missing not in MISSING_WAYS:
        raise InputError(f"missing cannot be {missing!r}{did_you_mean(missing, MISSING_WAYS)}")
    read: dict[str, Any] = {"na": na, "delimiter": delimiter, "encoding": encoding}
    options = {
        **read, "label": label, "favorable": favorable, "reference": reference, "population": population,
        "time_limit": time_limit, "tolerance": tolerance, "confidence": confidence, "features": features,
        "one_hot": one_hot, "missing": missing, "bins": bins, "weight": weight, "weight_kind": weight_kind,
        "seed": seed, "trust_model": trust_model, "progress": progress,
    }  # fmt: skip
    given = {"sensitive_features": sensitive_features, "y": y}
    first_name, second_name = _names(model, other_model, mitigate)
    with Announcements() as said:
        if test_data is not None:
            model, other_model = _trained_apart(
                model, other_model, data, {**options, **given}, fits=mitigate is not None
            )
        audited = data if test_data is None else test_data
        sides = [side_of(first_name, model, audited, {**options, **given}, asked)]
        if mitigate is not None:
            other_model = _refitted(sides[0].audit, data, {**options, **given})
        if other_model is not None:
            sides.append(side_of(second_name, other_model, audited, {**options, **given}, asked, sides[0].audit))
            _check_same(sides)
        for side in sides:
            if side.unexplained:
                numbers = counted(side.unexplained, "number of another tool is", "numbers of other tools are")
                logger.warning("%s: %s neither equal nor explained, and marked", side.name, numbers)
        changes = changes_of(sides[0].audit, sides[1].audit) if len(sides) > 1 else ()
    return Comparison(
        tuple(sides), changes, asked, said.announcements, said.warnings, None if command is None else tuple(command)
    )


def _tools(names: Sequence[str]) -> tuple[str, ...]:
    held = [names] if isinstance(names, str) else list(names)
    for name in held:
        if name not in PEERS:
            raise InputError(f"there is no tool {name!r} to compare with{did_you_mean(name, PEERS)}")
    return tuple(dict.fromkeys(held))


def _names(model: Any, other: Any, mitigate: str | None) -> tuple[str, str]:
    """What the two models are called."""

    def one(given: Any) -> str:
        return os.fspath(given) if isinstance(given, (str, os.PathLike)) else type(given).__name__

    first = one(model)
    if mitigate is not None:
        return first, f"{first}, reweighed"
    second = "" if other is None else one(other)
    return (f"{first}, the first", f"{second}, the second") if first == second else (first, second)


def _trains_here(model: Any) -> bool:
    return isinstance(model, str) and model in models.TRAINABLE and not os.path.exists(model)


def _trained_apart(model: Any, other: Any, data: Any, options: dict[str, Any], *, fits: bool) -> tuple[Any, Any]:
    """Models that are named, trained on the table that is not audited."""
    if options["y"] is not None or not _is_names(options["sensitive_features"]):
        raise InputError(
            "with test_data there are two tables: name sensitive features and the true outcome as columns of both"
        )
    here = [_trains_here(one) for one in (model, other)]
    if not fits and not any(here):
        logger.warning("no model is fitted here: data is left unread, and test_data is what is audited")

    def settled(one: Any, trained: bool) -> Any:
        return _inputs(one, data, options, weight=options["weight"]).file.predictor if trained else one

    return settled(model, here[0]), settled(other, here[1])


def _is_names(given: Any) -> bool:
    if given is None or isinstance(given, str):
        return True
    return isinstance(given, (list, tuple)) and all(isinstance(one, (str, list, tuple)) for one in given)


def _inputs(model: Any, data: Any, options: dict[str, Any], **more: Any) -> Inputs:
    given = {name: options[name] for name in ("na", "delimiter", "encoding", "seed", "label", "progress")} | more
    return settle_inputs(
        model, data, options["y"], options["sensitive_features"], trust=options["trust_model"], **given
    )


def _refitted(audit: Audit, data: Any, options: dict[str, Any]) -> Any:
    """A clone of the audited model, fitted with the weights of reweighing over the first grouping."""
    truth = audit.roles.truth
    if truth is None:
        raise LabelError("to fit the model once more, name the column of the true outcome with --label")
    own_y = options["y"] is not None
    inputs = _inputs(audit.model.predictor, data, {**options, "label": None if own_y else truth.name})
    # A sensitive feature may be several columns of the table.
    table = replace(inputs.table, frame=collapse(inputs.table.frame, audit.one_hot))
    sensitive = audit.groupings[0].sensitive
    if audit.missing == "drop":
        table, _ = table_with_groups(table, [sensitive], say=False)
    column = table.people[truth.name]
    known = column.notna().to_numpy()
    if not known.any():
        raise LabelError(f"label column {truth.name!r} is empty: there is nothing to learn")
    grouping = tables.group_rows(table.people, sensitive, bins=audit.bins, missing=audit.missing)
    words = {
        name: np.array([group[place] for group in grouping.groups], dtype=object)[grouping.codes][known]
        for place, name in enumerate(sensitive)
    }
    outcomes = _classes_of(audit, column[known].map(value_text).to_numpy(dtype=object))
    weights = reweigh(outcomes, words)
    logger.info(
        "the model is fitted once more to %s with weights from %.3g to %.3g, under which %s does not depend on %s",
        *(counted(int(known.sum()), "row"), weights.min(), weights.max(), truth.name, " x ".join(sensitive)),
    )
    rows = table.frame.loc[known, list(audit.columns)]
    return refit(audit.model.predictor, rows, outcomes, weights, random_state=options["seed"])


def _classes_of(audit: Audit, texts: np.ndarray) -> np.ndarray:
    """Outcomes in the words of the model's classes."""
    classes, truth = audit.fitted.classes, audit.roles.truth
    by_text = {value_text(value): value for value in classes}
    if set(texts) <= set(by_text):
        return np.array([by_text[text] for text in texts])
    favorable = [value for value in classes if value in audit.roles.favorable]
    others = [value for value in classes if value not in audit.roles.favorable]
    if truth is None or len(favorable) != 1 or len(others) != 1:
        strange = sorted(set(texts) - set(by_text))
        raise LabelError(
            f"the label holds {listed(strange, 5)}, and the model's classes are {listed(classes)}: write the label in "
            "the same words to have the model fitted again"
        )
    column = audit.table.people[truth.name].map(value_text, na_action="ignore")
    good = set(column[truth.known & truth.positive])
    return np.array([favorable[0] if text in good else others[0] for text in texts])


def _check_same(sides: Sequence[Side]) -> None:
    """Refuse two models that call different outcomes favorable."""
    first, second = (side.audit.roles for side in sides)
    if first.truth is not None and second.truth is not None:
        differ = not np.array_equal(first.truth.positive, second.truth.positive)
    else:
        differ = first.favorable_text != second.favorable_text
    if differ:
        one, other = (shown(held.favorable_text) for held in (first, second))
        raise InputError(f"{one} is favorable for the first model and {other} for the second: say so with --favorable")
