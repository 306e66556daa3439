"""``justicia generations answers``: free-text answers labelled, and joined to their prompts."""

from __future__ import annotations

from typing import Any

import click

from justicia.cli.options import announcing, delimiter_of, named_list, note
from justicia.cli.outputs import answer
from justicia.cli.running import running

__all__ = ["answers"]


@click.command()
@click.argument("data")
@click.option("--prompts", "prompts_file", metavar="FILE", help="The table of prompts, joined by --key.")
@click.option("--rules", metavar="FILE", help="YAML or JSON with labels and refusals; a plan of prompts will do.")
@click.option(
    "--label",
    "rules_given",
    multiple=True,
    metavar="LABEL[=WORDS,/REGEX/]",
    help="What an answer of this label says; alone, the label itself. Repeatable.",
)
@click.option("--gender", is_flag=True, help="Label by pronouns and titles: F, M, both, none.")
@click.option("--refusal", multiple=True, metavar="WORDS|/REGEX/", help="What a refusal says, besides what is known.")
@click.option("--no-known-refusals", is_flag=True, help="Only --refusal and the rules say what a refusal is.")
@click.option(
    "--several", default="unknown", show_default=True, metavar="unknown|first", help="What fits several labels."
)
@click.option("--text", default="answer", show_default=True, metavar="COLUMN", help="The answers.")
@click.option("--key", default="prompt_id", show_default=True, metavar="COLUMN", help="Names prompts in both tables.")
@click.option("--column", default="label", show_default=True, metavar="NAME", help="The new column.")
@click.option("--delimiter", metavar="CHARACTER", help="Of CSV files.  [default: ,]")
@click.option("--encoding", default="utf-8", show_default=True, help="Of CSV files.")
@click.option("--out", metavar="FILE", help="CSV, or JSON lines by its ending .jsonl.  [default: standard output]")
@click.option("--quiet", is_flag=True, help="Do not announce what was found.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@running
def answers(data: str, **options: Any) -> int:
    """Label the answers in DATA (CSV, JSON lines, Parquet) by rules; what no rule fits is unknown, and stays.

    \b
    justicia generations answers answers.jsonl --prompts prompts.csv --rules plan.yml --out labelled.csv
    justicia generations answers t.csv --label yes=yes,correct --label no=no,'/\bnot\b/' --out labelled.csv
    """  # noqa: D301 (click reads the escape)
    from justicia.generations import label_answers
    from justicia.generations.answer_rules import read_rules, read_rules_file
    from justicia.writing import check_target

    target = None if options["out"] == "-" else options["out"]
    check_target(target, inputs=[name for name in (data, options["prompts_file"], options["rules"]) if name])
    ways = [options["rules"] is not None, bool(options["rules_given"]), options["gender"]]
    if sum(ways) != 1:
        raise click.UsageError(
            "say in one way how answers are labelled: --rules FILE, --label LABEL=WORDS, or --gender"
        )
    asked = {
        "refusals": list(options["refusal"]) or None,
        "known_refusals": not options["no_known_refusals"],
        "several": options["several"],
    }
    with announcing(options["quiet"]):
        if options["rules"] is not None:
            rules = read_rules_file(options["rules"], **asked)
        elif options["gender"]:
            rules = read_rules("gender", **asked)
        else:
            rules = read_rules([_rule(text) for text in options["rules_given"]], **asked)
        made = label_answers(
            data,
            rules,
            prompts=options["prompts_file"],
            text=options["text"],
            key=options["key"],
            label=options["column"],
            delimiter=delimiter_of(options["delimiter"]),
            encoding=options["encoding"],
        )
        text = made.to_text(target)
        if text is not None:
            answer(text)
        if not options["quiet"]:
            said = ", ".join(f"{name} {count:,}" for name, count in made.counts.items())
            note(f"{len(made.frame):,} answers: {said}")
    return 0


def _rule(text: str) -> tuple[str, list[str]]:
    return named_list(text, "--label") if "=" in text else (text.strip(), [])
