"""``justicia generations association``: what a prompt's images have in common with those of its counterfactuals."""

from __future__ import annotations

from typing import Any

import click

from justicia.cli.generations.options import asked, check_files, command_words, file_options, pictures, show
from justicia.cli.options import announcing, names_of
from justicia.cli.running import running

__all__ = ["association"]


@click.command()
@click.argument("data")
@click.option("--text", metavar="COLUMN,COLUMN", help="Captions, or answers about the image.  [default: text]")
@click.option("--concepts", metavar="COLUMN", help="In their place: lists of concepts, or concepts between --split.")
@click.option("--counts", metavar="COLUMN,COLUMN", help="In their place: columns of numbers, one a concept.")
@click.option("--axis", metavar="NAME,NAME", help="The axes that are asked for.  [default: all]")
@click.option("--axis-column", metavar="COLUMN", help="What is varied.  [default: axis]")
@click.option(
    "--counterfactual-column",
    metavar="COLUMN",
    help="To which value; blank: the prompt's own images.  [default: counterfactual]",
)
@click.option("--by", metavar="COLUMN", help="Tells prompts apart: each is judged by itself.  [default: one prompt]")
@click.option("--initial", metavar="WORD", help="A counterfactual that means none, besides the blank.")
@click.option("--id", "identity", metavar="COLUMN", help="Names images: none may stand there twice.  [default: id]")
@click.option("--sim", default="iou", show_default=True, metavar="iou|cosine", help="Similarity of weights.")
@click.option("--normalise", default="sum", show_default=True, metavar="sum|none", help="Scores, before their MAD.")
@click.option("--rare", default="0.01", show_default=True, help="Concepts of less weight are left out of a set.")
@click.option("--stop-words", metavar="WORD,WORD", help="Words of captions that are no concepts, besides the usual.")
@click.option("--synonyms", metavar="FILE", help='JSON: words, and the concept each is taken for: {"medic": "doctor"}')
@click.option("--split", default="|", show_default=True, metavar="TEXT", help="Of concepts in text.")
@click.option("--human", metavar="COLUMN", help="People's scores of how near a counterfactual is: compared with CAS.")
@click.option("--human-mad", metavar="COLUMN", help="People's scores of how uneven an axis is: compared with MAD.")
@click.option("--confidence", default="0.95", show_default=True, help="Of intervals.")
@click.option("--bootstrap", default=1000, show_default=True, help="Replicates; 0: no intervals.")
@click.option("--simulations", default=2000, show_default=True, help="Of the null band; 0: none.")
@click.option("--most", metavar="NUMBER", help="The normalised MAD that is asked for at most.")
@click.option("--seed", default=0, show_default=True, help="Of bootstrap and simulations.")
@click.option("--bars", metavar="FILE", help="A picture of MAD with the null band (.svg, .png, .pdf).")
@click.option("--heatmap", metavar="FILE", help="A picture of CAS, a row an axis.")
@click.option("--radar", metavar="FILE", help="A picture of CAS around a circle.")
@file_options
@click.pass_context
@running
def association(context: click.Context, /, data: str, **options: Any) -> int:
    """Concept association scores (CAS) in DATA (CSV, JSON lines, Parquet), axis by axis, and their deviation (MAD).

    A row is an image, of the prompt itself (a blank counterfactual) or of one of its counterfactuals. MAD is printed
    with a bootstrap interval, and with what an even mixture of the counterfactuals has. Exit code 1 when a normalised
    MAD is above --most, 3 when its interval leaves that open.

    \b
    justicia generations association images.csv --text caption --by profession
    """  # noqa: D301 (click reads the escape)
    from justicia.generations import association as run
    from justicia.generations.concepts import read_synonyms

    files = {kind: options[kind] for kind in ("bars", "heatmap", "radar")}
    check_files([options["json_file"]], files.values(), [data, options["spec"], options["synonyms"]])
    with announcing(options["quiet"]):
        report = run(
            data,
            names_of(options["text"]),
            concepts=options["concepts"],
            counts=names_of(options["counts"]),
            axis=options["axis_column"],
            counterfactual=options["counterfactual_column"],
            axes=names_of(options["axis"]),
            by=options["by"],
            initial=options["initial"],
            identity=options["identity"],
            similarity=options["sim"],
            normalise=options["normalise"],
            rare=options["rare"],
            stop_words=names_of(options["stop_words"]) or (),
            synonyms=None if options["synonyms"] is None else read_synonyms(options["synonyms"]),
            separator=options["split"],
            human=options["human"],
            human_mad=options["human_mad"],
            confidence=options["confidence"],
            replicates=options["bootstrap"],
            simulations=options["simulations"],
            most=options["most"],
            seed=options["seed"],
            command=command_words(context),
            **{name: value for name, value in asked(options).items() if name != "separator"},
        )
        pictures(report, files)
        show(report, options["json_file"])
    return report.exit_code
