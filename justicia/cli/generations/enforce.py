"""``justicia generations enforce``: a label in, a decision out."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import ExitStack
from typing import IO, Any

import click

from justicia.cli.ending import gone, pacify
from justicia.cli.generations.options import betas, domains
from justicia.cli.options import announcing, note
from justicia.cli.running import running
from justicia.errors import InputError
from justicia.progress import stage, stop_bar
from justicia.words import shown

__all__ = ["enforce"]


@click.command()
@click.argument("labels", default="-")
@click.option("--spec", metavar="FILE", help="YAML or JSON: domains, betas, unknown words.")
@click.option("--attr", multiple=True, metavar="NAME", help="An attribute. Repeatable.  [default: all of the spec]")
@click.option("--domain", multiple=True, metavar="[ATTR=]VALUE,VALUE", help="The values of an attribute. Repeatable.")
@click.option("--beta", multiple=True, metavar="[ATTR=]NUMBER", help="Every value in every so many. Repeatable.")
@click.option("--margin", type=int, default=0, show_default=True, help="Work towards a smaller beta, for failures.")
@click.option("--choice", default="edf", show_default=True, metavar="edf|random", help="Of the values allowed.")
@click.option("--retries", type=int, default=0, show_default=True, help="Refuse what is not allowed, so many times.")
@click.option("--assume", is_flag=True, help="Take what is asked for as delivered: for labels that are drafts.")
@click.option("--unknown", multiple=True, metavar="WORD", help="A label that means unknown, besides null.")
@click.option("--split", metavar="TEXT", help="Separates several values of one generation, as in a|b.")
@click.option(
    "--off-domain", metavar="error|none|unknown", help="What a label outside its domain is.  [default: error]"
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of --choice random.")
@click.option("--state", metavar="FILE", help="Keeps the state; a command that was killed goes on from it.")
@click.option("--out", metavar="FILE", help="The log of decisions.  [default: standard output]")
@click.option("--continue", "goes_on", is_flag=True, help="LABELS begin after the state's last, not at the first.")
@click.option("--quiet", is_flag=True, help="Do not say what happened.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@running
def enforce(labels: str, **options: Any) -> int:
    """Keep every value within beta generations: read JSON lines from LABELS (- for standard input), write decisions.

    A line is what a generation showed, as in {"gender": "male"}; the reply says under "next" what the next has to show,
    and whether this one is taken. The first line written comes before any is read. Exit code 1 when a value was missed.

    \b
    justicia generations enforce labels.jsonl --spec spec.yml --attr gender --state s.json --out decisions.jsonl
    """  # noqa: D301 (click reads the escape)
    from dataclasses import replace

    from justicia.generations.asking import spec_of
    from justicia.generations.enforcing import Enforcement
    from justicia.generations.streaming import Journal, run_enforcement
    from justicia.writing import check_different, check_target

    inputs = [name for name in (labels, options["spec"]) if name and name != "-"]
    for target in (options["state"], options["out"]):
        check_target(target, inputs=inputs)
    if options["state"] == "-":
        raise click.BadParameter("the state is a file", param_hint="--state")
    out = None if options["out"] in (None, "-") else options["out"]
    check_different([options["state"], out])
    attributes = options["attr"]
    bounds = betas(options["beta"])
    given = domains(options["domain"], attributes)
    with announcing(options["quiet"]), ExitStack() as stack:
        spec = spec_of(
            options["spec"],
            domain=given,
            beta=bounds if isinstance(bounds, dict) else None,
            unknown=list(options["unknown"]) or None,
            separator=options["split"],
            off_domain=options["off_domain"],
        )
        if bounds is not None and not isinstance(bounds, dict):
            spec = spec_of(spec, beta=dict.fromkeys(attributes or spec.attributes, bounds))
        if attributes:
            spec = replace(spec, attributes={name: spec.named(name) for name in attributes})
        names = ("margin", "choice", "retries", "assume", "seed")
        enforcement = Enforcement(spec, **{name: options[name] for name in names})
        stream = _opened(labels, stack)
        batch = 1000 if _is_file(stream) else 1
        journal = stack.enter_context(Journal(enforcement, options["state"], out, _deliver))
        stage("deciding about %s", "standard input" if labels == "-" else shown(labels))
        skipped = run_enforcement(
            enforcement, iter(stream.readline, b""), journal, batch=batch, goes_on=options["goes_on"]
        )
        if not options["quiet"]:
            again = f" ({skipped:,} lines were decided before)" if skipped else ""
            note(f"{enforcement.text}{again}")
    return 1 if enforcement.missed else 0


def _opened(labels: str, stack: ExitStack) -> IO[bytes]:
    return sys.stdin.buffer if labels == "-" else stack.enter_context(open(labels, "rb"))


def _is_file(stream: IO[bytes]) -> bool:
    """Whether nobody waits at the other end."""
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):
        return False


def _deliver(content: bytes) -> None:
    stop_bar()
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except OSError as error:
        pacify(1)
        why = "their reader has gone" if gone(error) else error.strerror
        raise InputError(f"decisions cannot be delivered: {why}; a state holds those before them") from error
