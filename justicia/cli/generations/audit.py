"""``justicia generations audit``: everything that the columns of a table of generations allow, in one report."""

from __future__ import annotations

import logging
from typing import Any

import click

from justicia.cli.generations.options import asked, betas, command_words, conditions, domains, spec_options
from justicia.cli.options import announcing
from justicia.cli.outputs import answer, show_made, write_reports
from justicia.cli.running import running

__all__ = ["audit"]

logger = logging.getLogger(__name__)


@click.command(
    epilog="Exit codes: 0 done and every requirement met, 1 a requirement is breached, 2 bad call or bad input, "
    "3 undecided (too short, unknown labels, or an interval holds the limit)."
)
@click.argument("data")
@click.option(
    "--require",
    multiple=True,
    metavar="MEASURE>=LIMIT",
    help="A limit, such as 'least_beta[attribute=gender]<=20' or 'coverage>=40%'; exit code 1 or 3 when it is not met. "
    "Repeatable.",
)
@click.option("--attr", multiple=True, metavar="COLUMN", help="Only these attributes. Repeatable.  [default: all]")
@click.option(
    "--beta", multiple=True, metavar="[ATTR=]NUMBER", help="Every value in every so many generations in a row."
)
@click.option("--neutral", multiple=True, metavar="COLUMN=VALUE", help="Tags neutral prompts. Repeatable.")
@click.option("--vectors", metavar="FILE", help="Word vectors, for the polarity of texts.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of every interval.")
@click.option("--replicates", type=int, default=500, show_default=True, help="Of everything that is drawn.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the same.")
@spec_options
@click.option("--html", "html_file", metavar="FILE", help="Write the report as one HTML file that needs nothing else.")
@click.option("--junit", "junit_file", metavar="FILE", help="Write the requirements as test cases in JUnit's XML.")
@click.pass_context
@running
def audit(context: click.Context, /, data: str, **options: Any) -> int:
    """Audit the table of generations in DATA (CSV, JSON lines, Parquet): all that its columns allow.

    \b
    justicia generations audit t.csv --spec s.yml --html r.html --json r.json --junit r.xml
    justicia generations audit t.csv --spec s.yml --require 'least_beta[attribute=gender]<=20'
    """  # noqa: D301 (click reads the escape)
    from dataclasses import replace

    from justicia.generations.asking import spec_of
    from justicia.generations.auditing import audit as run
    from justicia.report.generations_pages import render_audit
    from justicia.writing import check_targets

    targets = {name: options.pop(f"{name}_file") for name in ("json", "html", "junit")}
    check_targets(targets.values(), [data, options["spec"], options["vectors"]])
    attributes = options["attr"]
    with announcing(options["quiet"]):
        words = asked(options)
        spec = spec_of(words.pop("spec"), domain=domains(options["domain"], attributes))
        bounds = betas(options["beta"])
        if bounds is not None and not isinstance(bounds, dict):
            bounds = dict.fromkeys(attributes or spec.attributes, bounds)
        if attributes:
            spec = replace(spec, attributes={name: spec.named(name) for name in attributes})
        if targets["junit"] is not None and not (options["require"] or spec.require or bounds or _bounded(spec)):
            logger.warning(
                "no requirement is named, by --require or in the spec: %s has no test case", targets["junit"]
            )
        report = run(
            data,
            spec,
            beta=bounds,
            neutral=conditions(options["neutral"], "--neutral"),
            command=command_words(context),
            **{name: options[name] for name in ("require", "vectors", "confidence", "replicates", "seed")},
            **words,
        )
        text = write_reports(report, targets)
        if text is None:
            show_made(render_audit(report.held), 120)
        else:
            answer(text)
    return int(report.exit_code)


def _bounded(spec: Any) -> bool:
    return any(one.beta is not None for one in spec.attributes.values())
