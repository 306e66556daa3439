"""``justicia generations``: sequences of a generative model, checked and enforced."""

from __future__ import annotations

import click

from justicia.cli.generations.association import association
from justicia.cli.generations.check import check
from justicia.cli.generations.cover import cover
from justicia.cli.generations.diversity import diversity
from justicia.cli.generations.enforce import enforce
from justicia.cli.generations.seq import seq
from justicia.cli.generations.simulate import simulate

__all__ = ["generations"]


@click.group()
def generations() -> None:
    """Check and enforce sequences of labelled generations of a generative model.

    \b
    justicia generations check t.csv --spec spec.yml
    justicia generations seq   t.csv --attr gender --domain female,male --beta 20 --by run
    justicia generations cover t.csv --spec spec.yml --t 2 --suggest 5
    justicia generations diversity faces.csv --attrs gender,age,race --neutral neutral
    justicia generations association images.csv --text caption --by profession
    justicia generations enforce labels.jsonl --spec spec.yml --attr gender --state s.json --out decisions.jsonl
    justicia generations simulate --values 4 --beta 12 --generator zipf --fail .05 --margin 2
    """  # noqa: D301 (click reads the escape)


generations.add_command(check)
generations.add_command(seq)
generations.add_command(cover)
generations.add_command(diversity)
generations.add_command(association)
generations.add_command(enforce)
generations.add_command(simulate)
