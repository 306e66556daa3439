"""Options of ``justicia verify`` about the rows' decisions, with a model or in place of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource

from justicia.cli.options import delimiter_of, named_lists, names_of, with_options
from justicia.errors import InputError
from justicia.progress import Bar
from justicia.words import listed

__all__ = ["audit_of_decisions", "decision_options", "model_alone", "row_options"]

_DECISIONS = (
    click.option(
        "--decisions",
        metavar="FILE|NAME",
        help="A table of decisions, in place of --model and --data; requirements are on sample.MEASURE then.",
    ),
    click.option("--decision", metavar="COLUMN", help="Column of the decisions; --favorable says which are favorable."),
    click.option("--score", metavar="COLUMN", help="Column of a score, in place of --decision."),
    click.option(
        "--threshold",
        metavar="NUMBER[,NUMBER]",
        help="Of the score: .3 or '>=.3' selects who has at least that, '>.3' more, '<5' and '<=5' less. A table each.",
    ),
)

_ROWS = (
    click.option("--weight", metavar="COLUMN", help="Row weights, in every rate and measure."),
    click.option(
        "--weight-kind",
        default="sampling",
        show_default=True,
        metavar="sampling|frequency",
        help="A row stands for so many people, or is so many equal rows.",
    ),
    click.option("--tests", is_flag=True, help="Test every group of the rows against the one with the highest rate."),
    click.option("--layout", metavar="ll144", help="Impact ratios of the rows in the layout of NYC Local Law 144."),
    click.option(
        "--min-group",
        type=click.IntRange(min=0),
        default=0,
        metavar="ROWS",
        help="Groups with fewer rows are listed, and left out of extremes and measures.",
    ),
    click.option(
        "--suppress-below",
        type=click.IntRange(min=0),
        default=0,
        metavar="PEOPLE",
        help="For publishing decisions: suppress groups with a smaller count, and what gives them away; 10 is usual.",
    ),
)

_SHARED = (
    *("sensitive", "label", "favorable", "confidence", "require", "config_file", "junit_file", "reference"),
    *("json_file", "missing", "bins", "na", "delimiter", "encoding", "all_groups", "all_measures", "quiet", "debug"),
    *("weight", "weight_kind", "tests", "layout", "min_group", "suppress_below", "stream"),
)
"""Options that decisions have, besides their own."""


def decision_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name decisions in place of a model."""
    return with_options(command, _DECISIONS)


def row_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that are about the rows, with a model or without."""
    return with_options(command, _ROWS)


def _given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) not in (ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP, None)


def _flag(context: click.Context, name: str) -> str:
    """How an option is written."""
    return next((parameter.opts[0] for parameter in context.command.params if parameter.name == name), name)


def model_alone(context: click.Context, options: dict[str, Any]) -> bool:
    """Whether a model is audited; the options of decisions are taken out then.

    Raises
    ------
    InputError
        When neither a model with data nor decisions are named, or both.
    """
    if options["decisions"] is None:
        for name in ("decision", "score", "threshold"):
            if options.pop(name) is not None:
                raise InputError(f"{_flag(context, name)} is about a table of decisions: name it with --decisions")
        options.pop("decisions")
        if options["model"] is None or options["data"] is None:
            lacking = "--model" if options["model"] is None else "--data"
            raise InputError(f"{lacking} is missing: name --model and --data, or a table of --decisions alone")
        return True
    own = (*_SHARED, "decisions", "decision", "score", "threshold")
    strange = [_flag(context, name) for name in options if name not in own and _given(context, name)]
    if strange:
        raise InputError(f"decisions have no model, so {listed(strange)} says nothing: leave it out")
    return False


def audit_of_decisions(options: dict[str, Any], command: list[str], bar: Bar) -> Any:
    """Run the audit that the options ask for."""
    from justicia.decisions import audit_decisions

    sensitive = [names_of(names) for names in options["sensitive"]]
    same = (
        *("decision", "score", "threshold", "label", "favorable", "confidence", "require", "reference", "missing"),
        *("na", "encoding", "weight", "weight_kind", "tests", "layout", "min_group", "suppress_below", "stream"),
    )
    return audit_decisions(
        options["decisions"],
        sensitive_features=sensitive or None,
        bins=named_lists(options["bins"], "--bins"),
        delimiter=delimiter_of(options["delimiter"]),
        command=command,
        progress=bar.show,
        **{name: options[name] for name in same},
    )
