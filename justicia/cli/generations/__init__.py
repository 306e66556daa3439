"""``justicia generations``: sequences of a generative model, checked and enforced."""

from __future__ import annotations

import click

from justicia.cli.generations.answers import answers
from justicia.cli.generations.check import check
from justicia.cli.generations.cover import cover
from justicia.cli.generations.criteria import criteria
from justicia.cli.generations.enforce import enforce
from justicia.cli.generations.polarity import polarity
from justicia.cli.generations.prompts import prompts
from justicia.cli.generations.scores import scores
from justicia.cli.generations.seq import seq
from justicia.cli.generations.simulate import simulate

__all__ = ["generations"]


@click.group()
def generations() -> None:
    """Audit a generative model: sequences of labelled generations, and answers of a language model.

    \b
    justicia generations check t.csv --spec spec.yml
    justicia generations seq   t.csv --attr gender --domain female,male --beta 20 --by run
    justicia generations cover t.csv --spec spec.yml --t 2 --suggest 5
    justicia generations enforce labels.jsonl --spec spec.yml --attr gender --state s.json --out decisions.jsonl
    justicia generations simulate --values 4 --beta 12 --generator zipf --fail .05 --margin 2

    \b
    justicia generations prompts  plan.yml --out prompts.csv
    justicia generations answers  answers.jsonl --prompts prompts.csv --rules plan.yml --out labelled.csv
    justicia generations criteria labelled.csv --group group --response label --truth truth --pair pair
    justicia generations polarity labelled.csv --text answer --group group --vectors glove.txt
    justicia generations scores   labelled.csv --score toxicity --group group --pair pair
    """  # noqa: D301 (click reads the escape)


generations.add_command(check)
generations.add_command(seq)
generations.add_command(cover)
generations.add_command(enforce)
generations.add_command(simulate)
generations.add_command(prompts)
generations.add_command(answers)
generations.add_command(criteria)
generations.add_command(polarity)
generations.add_command(scores)
