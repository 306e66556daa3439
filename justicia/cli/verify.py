"""``justicia verify``: audit a model on a table."""

from __future__ import annotations

import logging
import sys
from functools import partial
from types import MappingProxyType
from typing import Any

import click

from justicia.cli.decisions import audit_of_decisions, decision_options, model_alone, row_options
from justicia.cli.options import (
    FEATURES,
    STREAM,
    TRUST_MODEL,
    announcing,
    delimiter_of,
    named_lists,
    names_of,
    outside_options,
    table_options,
)
from justicia.cli.outputs import answer, answering, answering_anyway, write_reports
from justicia.cli.population import write_population
from justicia.cli.running import RUN_OPTIONS, running
from justicia.cli.sections import SectionedCommand
from justicia.progress import Bar
from justicia.writing import together

__all__ = ["verify"]

_EXIT_CODES = (
    "Exit codes: 0 done and every requirement met, 1 a requirement is breached, 2 bad call or bad input, 3 undecided, "
    "also when --max-time or --max-memory ends the command without an answer, 4 the encoding does not reproduce the "
    "model, or a cross-check disagrees; 130 when Ctrl-C ends it without an answer, 143 when SIGTERM does."
)

logger = logging.getLogger(__name__)


class _Verify(SectionedCommand):
    sections = MappingProxyType(
        {
            "What is audited": ("model", "data", "features", "trust_model"),
            "Decisions in place of a model": ("decisions", "decision", "score", "threshold", "suppress_below"),
            "People and outcomes": (
                "sensitive",
                "label",
                "favorable",
                "missing",
                "bins",
                "weight",
                "weight_kind",
                "min_group",
            ),
            "What is asked": ("reference", "given", "mediators", "shift", "tests", "layout"),
            "The population that rates are about": ("population", "population_out", "check_fit"),
            "What finite rows leave open": ("confidence", "bounds", "bootstrap"),
            "Requirements": ("require", "config_file", "junit_file"),
            "How it is answered": (
                *("search", "solver", "tolerance", "time_limit", "delta", "seed", "cross_check"),
                *("solver_command", "solver_pattern", "solver_digits"),
            ),
            "Where the answer goes": ("json_file", "html_file", "all_groups", "all_measures", "quiet"),
            "The run": RUN_OPTIONS,
            "How the table is read": ("one_hot", "na", "delimiter", "encoding", "stream"),
        }
    )


@click.command(cls=_Verify, epilog=_EXIT_CODES)
@click.option(
    "--model",
    metavar="FILE|NAME",
    help="A .pkl, .joblib or .skops file, XGBoost's .json, LightGBM's .txt, a rule in .rule, .txt or .json; or tree, "
    "logistic, forest, boosting or cnf, trained here.",
)
@click.option("--data", metavar="FILE|NAME", help="A CSV or Parquet file, or a bundled data set.")
@decision_options
@click.option("--sensitive", multiple=True, metavar="COLUMN[,COLUMN]", help="A grouping. Repeatable.  [default: found]")
@click.option("--label", metavar="COLUMN", help="True outcome; none: there is none.  [default: found]")
@click.option("--favorable", metavar="VALUE[,VALUE]", help="Outcome that is good for the person.  [default: found]")
@click.option(
    "--population",
    default="auto",
    show_default=True,
    metavar="auto|tree|independent|empirical|FILE",
    help="The distribution that rates are exact about, or a file that holds one, such as a Bayesian network.",
)
@click.option(
    "--search",
    default="enumerate",
    show_default=True,
    metavar="enumerate|learn",
    help="Every group, or the extremes by branch and bound.",
)
@click.option(
    "--solver",
    default="auto",
    show_default=True,
    metavar="auto|NAME",
    help="paths, satisfied_clauses, sums, fourier, branch_and_bound or clauses; or outside: abc, sharpssat, d4, "
    "pyganak, external.",
)
@outside_options
@click.option(
    "--cross-check",
    is_flag=True,
    help="Take a second route to every rate: another engine, the formula, an outside solver, or drawn people; exit "
    "code 4 when they disagree.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Of one answer, then bounds are it: a grouping has one, and two more with a true outcome. --max-time is of "
    "the whole command.",
)
@click.option(
    "--tolerance",
    type=float,
    metavar="WIDTH",
    help="Width to which rates are bounded.  [default: 1e-4 for linear models, 2e-3 for tree ensembles]",
)
@click.option(
    "--delta",
    type=float,
    default=1e-6,
    show_default=True,
    help="Probability that statistical intervals of a large ensemble miss.",
)
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    help="Of all that is said about the sampling of the rows.",
)
@click.option(
    "--require",
    multiple=True,
    metavar="MEASURE>=LIMIT",
    help="A limit, such as 'disparate_impact>=0.8', 'sample.disparate_impact>=.8', 'selection_rate[race=Black]>=.1'; "
    "exit code 1 or 3 when it is not met. Repeatable.",
)
@click.option(
    "--config",
    "config_file",
    metavar="FILE",
    help="A TOML file with more requirements; none: no file.  [default: justicia.toml or pyproject.toml, if here]",
)
@click.option("--junit", "junit_file", metavar="FILE", help="Write the requirements as test cases in JUnit's XML.")
@click.option(
    "--reference",
    metavar="COLUMN=VALUE[,COLUMN=VALUE]",
    help="A group that the others are compared with, too, as in race=White,sex=Male.",
)
@click.option(
    "--given",
    metavar="COLUMN[,COLUMN]",
    help="Lawful factors: compare selection rates inside each of their strata. A numeric one needs --bins.",
)
@click.option("--check-fit", is_flag=True, help="Compare the population also with rows held out of it, in 5 folds.")
@click.option("--bounds", is_flag=True, help="Bound rates under the structure, for any number of rows.")
@click.option(
    "--bootstrap",
    type=int,
    default=0,
    metavar="REPLICATES",
    help="Intervals of verified rates and measures, from people drawn from the population; 200 are usual.",
)
@click.option(
    "--shift",
    type=float,
    metavar="RADIUS",
    help="Ranges over all populations whose tables are this near, as in .05; requirements are judged by them.",
)
@click.option(
    "--mediators",
    metavar="COLUMN,COLUMN",
    help="Also show what remains of every gap when these are drawn as in the most favored group.",
)
@click.option(
    "--json",
    "json_file",
    metavar="FILE",
    help="Write the audit as JSON; - for standard output, in place of the tables.",
)
@click.option(
    "--html",
    "html_file",
    metavar="FILE",
    help="Write the report as one HTML file that needs nothing else; - for standard output, in place of the tables.",
)
@click.option(
    "--population-out",
    metavar="FILE",
    help="Write the populations that the rates were found under; - for standard output, in place of the tables.",
)
@FEATURES
@row_options
@partial(table_options, ways="error|group|drop|bounds")
@STREAM
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="For a model trained here, --check-fit, --bootstrap and --cross-check.",
)
@TRUST_MODEL
@click.option("--all-groups", is_flag=True, help="Print every group, however many there are.")
@click.option(
    "--all-measures", is_flag=True, help="Print every measure, and how far groups are from all people together."
)
@click.option("--quiet", is_flag=True, help="Do not announce what was found.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
@running
def verify(context: click.Context, /, **options: Any) -> int:
    """Tell how often MODEL says yes to every group of people in DATA.

    \b
    justicia verify --model tree.pkl --data adult.csv
    justicia verify --model tree --data adult --require 'disparate_impact>=0.8'
    justicia verify --decisions d.csv --decision hired --require 'sample.disparate_impact>=0.8'
    """  # noqa: D301 (click reads the escape)
    from justicia.configuration import FILES, requirements_of
    from justicia.writing import check_targets

    quiet = options.pop("quiet")
    targets = {
        "population": options.pop("population_out"),
        "json": options.pop("json_file"),
        "html": options.pop("html_file"),
        "junit": options.pop("junit_file"),
    }
    config = options.pop("config_file")
    inputs = [options[name] for name in ("model", "data", "decisions", "population")]
    inputs += [config] if config else FILES
    of_model = model_alone(context, options)
    check_targets(targets.values(), inputs)
    options.pop("debug")
    printed = {name: options.pop(name) for name in ("all_groups", "all_measures")}
    command = ["justicia", *(sys.argv[1:] if context.obj is None else context.obj)]
    with announcing(quiet):
        options["require"] = list(dict.fromkeys([*options["require"], *requirements_of(config)]))
        if targets["junit"] is not None and not options["require"]:
            logger.warning("no requirement is named, by --require or in a file: %s has no test case", targets["junit"])
        run = _audit_of_model if of_model else audit_of_decisions
        with Bar(not quiet) as bar:
            audit = run(options, command, bar)
            with answering_anyway(lambda: _print_in_place(audit, targets, printed)):
                text = _write(audit, targets)
        if text is None:
            _print(audit, printed)
        else:
            answer(text)
    return int(audit.exit_code)


def _audit_of_model(options: dict[str, Any], command: list[str], bar: Bar) -> Any:
    """Run the audit that the options ask for."""
    from justicia.audit import verify as run

    sensitive = [names_of(names) for names in options.pop("sensitive")]
    one_hot = options.pop("one_hot")
    return run(
        options.pop("model"),
        options.pop("data"),
        sensitive_features=sensitive or None,
        one_hot=False if one_hot == ("none",) else named_lists(one_hot, "--one-hot"),
        bins=named_lists(options.pop("bins"), "--bins"),
        features=names_of(options.pop("features")),
        given=names_of(options.pop("given")),
        delimiter=delimiter_of(options.pop("delimiter")),
        progress=bar.show,
        command=command,
        **options,
    )


def _write(audit: Any, targets: dict[str, str | None]) -> str | None:
    """Write files; return what stands on standard output in place of the tables."""
    target = targets["population"]
    own = {kind: place for kind, place in targets.items() if kind != "population"}
    # All files are new, or none is.
    with together():
        people = None if target is None else write_population(audit.population_file(), target)
        reports = write_reports(audit, own)
    return reports if people is None else people


def _print_in_place(audit: Any, targets: dict[str, str | None], printed: dict[str, bool]) -> None:
    """Print what standard output was to have: the tables, unless it was asked for something else."""
    asked = [kind for kind, target in targets.items() if target == "-"]
    if not asked:
        _print(audit, printed)
    elif asked != ["population"]:
        answer(getattr(audit, f"to_{asked[0]}")())


def _print(audit: Any, printed: dict[str, bool]) -> None:
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        answer(audit.to_text(120, **printed))
        return
    with answering():
        console.print(_renderer(audit)(audit, width=console.width, **printed))


def _renderer(audit: Any) -> Any:
    """What turns an audit into tables."""
    from justicia.report import decisions, text

    return text.render if hasattr(audit, "model") else decisions.render_decisions
