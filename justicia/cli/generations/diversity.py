"""``justicia generations diversity``: how evenly outputs spread over values, neutrally asked and in every context."""

from __future__ import annotations

from typing import Any

import click

from justicia.cli.generations.options import (
    asked,
    check_files,
    command_words,
    conditions,
    domains,
    label_options,
    pictures,
    show,
)
from justicia.cli.options import announcing, names_of
from justicia.cli.running import running

__all__ = ["diversity"]


@click.command()
@click.argument("data")
@click.option("--attrs", metavar="COLUMN,COLUMN", help="Attributes.  [default: all of the spec]")
@click.option(
    "--context", metavar="COLUMN", help="In which context an output was asked for; none: in one.  [default: context]"
)
@click.option("--neutral", multiple=True, metavar="VALUE", help="The neutral context. Repeatable.  [default: neutral]")
@click.option("--triggers", metavar="VALUE,VALUE", help="The contexts that count.  [default: all but the neutral one]")
@click.option("--cluster", metavar="COLUMN", help="Such as the prompt: the bootstrap draws its outputs together.")
@click.option("--id", "identity", metavar="COLUMN", help="Names outputs: none may stand there twice.  [default: id]")
@click.option("--q", default="0.1", show_default=True, help="Which quantile over contexts.")
@click.option("--quantile", default="linear", show_default=True, metavar="METHOD", help="Between contexts, by numpy.")
@click.option("--epsilon", default="1e-6", show_default=True, help="Entropies below count as this.")
@click.option("--correction", default="none", show_default=True, metavar="none|miller-madow", help="Of entropies.")
@click.option("--confidence", default="0.95", show_default=True, help="Of intervals.")
@click.option("--bootstrap", default=1000, show_default=True, help="Replicates; 0: no intervals.")
@click.option("--simulations", default=2000, show_default=True, help="Of the noise floor; 0: none.")
@click.option("--least", metavar="NUMBER", help="The MGBI that is asked for.")
@click.option("--seed", default=0, show_default=True, help="Of bootstrap and simulations.")
@click.option("--bars", metavar="FILE", help="A picture of entropies by context (.svg, .png, .pdf).")
@click.option("--indices", metavar="FILE", help="A picture of ID, CA and MGBI with the noise floor.")
@label_options
@click.pass_context
@running
def diversity(context: click.Context, /, data: str, **options: Any) -> int:
    """Normalised entropies of attributes in DATA (CSV, JSON lines, Parquet) by context, and ID, CA and MGBI of them.

    Printed with bootstrap intervals, and with what a generator without any preference scores with as many labels. Exit
    code 1 when MGBI is below --least, 3 when its interval or unknown labels leave that open.

    \b
    justicia generations diversity faces.csv --attrs gender,age,race --neutral neutral
    """  # noqa: D301 (click reads the escape)
    from justicia.generations import diversity as run

    files = {"entropies": options["bars"], "indices": options["indices"]}
    check_files([options["json_file"]], files.values(), [data, options["spec"]])
    names = tuple(names_of(options["attrs"]) or ())
    neutral: Any = list(options["neutral"]) or None
    if neutral is not None and options["context"] is None and all("=" in text for text in neutral):
        neutral = conditions(options["neutral"], "--neutral")
    with announcing(options["quiet"]):
        report = run(
            data,
            names or None,
            context=options["context"],
            neutral=neutral,
            triggers=names_of(options["triggers"]),
            cluster=options["cluster"],
            identity=options["identity"],
            q=options["q"],
            quantile=options["quantile"],
            epsilon=options["epsilon"],
            correction=options["correction"],
            confidence=options["confidence"],
            replicates=options["bootstrap"],
            simulations=options["simulations"],
            least=options["least"],
            seed=options["seed"],
            domain=domains(options["domain"], names),
            command=command_words(context),
            **asked(options),
        )
        pictures(report, files)
        show(report, options["json_file"])
    return report.exit_code
