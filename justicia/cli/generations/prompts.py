"""``justicia generations prompts``: the prompts that templates make."""

from __future__ import annotations

from typing import Any

import click

from justicia.cli.options import announcing, named_list, note
from justicia.cli.outputs import answer
from justicia.cli.running import running
from justicia.progress import stage

__all__ = ["prompts"]


@click.command()
@click.argument("plan", required=False)
@click.option("--template", multiple=True, metavar="TEXT", help="With slots, as in 'Is {pronoun} right?'. Repeatable.")
@click.option(
    "--cue",
    multiple=True,
    metavar="GROUP[.SLOT]=VALUE,VALUE",
    help="A group's pronoun, or other slot, as in F=she or F.name=Ada,Eve. Repeatable.",
)
@click.option("--slot", multiple=True, metavar="SLOT=VALUE,VALUE", help="A slot that is the same for all. Repeatable.")
@click.option("--samples", metavar="NUMBER", help="Ask each prompt so many times.  [default: of the plan, or 1]")
@click.option("--out", metavar="FILE", help="CSV, or JSON lines by its ending .jsonl.  [default: standard output]")
@click.option("--quiet", is_flag=True, help="Do not say what was made.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@running
def prompts(plan: str | None, **options: Any) -> int:
    """Write the table of prompts to send, from the templates, groups and slots of PLAN (YAML or JSON) or of options.

    {pronoun} is she, {pronoun:object} her, {pronoun:possessive} her, {pronoun:possessive_pronoun} hers,
    {pronoun:reflexive} herself, {pronoun:is} is or are, {pronoun:s} the ending of a verb. {Pronoun} begins with a
    capital.

    \b
    justicia generations prompts plan.yml --out prompts.csv
    justicia generations prompts --template 'Is {pronoun} a good {job}?' --cue F=she --cue M=he --slot job=nurse,pilot
    """  # noqa: D301 (click reads the escape)
    from justicia.generations import expand_prompts
    from justicia.generations.templates import describe
    from justicia.writing import check_target

    target = None if options["out"] == "-" else options["out"]
    check_target(target, inputs=[plan] if plan else [])
    if plan is not None and (options["template"] or options["cue"] or options["slot"]):
        raise click.UsageError("templates, cues and slots stand in the plan, or in options, not in both")
    with announcing(options["quiet"]):
        held = plan if plan is not None else _plan(options)
        stage("making prompts")
        made = expand_prompts(held, samples=options["samples"])
        text = made.to_text(target)
        if text is not None:
            answer(text)
        if not options["quiet"]:
            note(describe(made))
    return 0


def _plan(options: dict[str, Any]) -> dict[str, Any]:
    if not options["template"]:
        raise click.UsageError("name a plan, or --template with --cue")
    groups: dict[str, dict[str, list[str]]] = {}
    for text in options["cue"]:
        name, values = named_list(text, "--cue")
        group, _, slot = name.partition(".")
        cue = groups.setdefault(group.strip(), {})
        key = slot.strip() or "pronoun"
        if key in cue:
            raise click.BadParameter(f"{name} is given twice", param_hint="--cue")
        cue[key] = values
    slots: dict[str, list[str]] = {}
    for text in options["slot"]:
        name, values = named_list(text, "--slot")
        if name in slots:
            raise click.BadParameter(f"{name} is given twice", param_hint="--slot")
        slots[name] = values
    return {"templates": list(options["template"]), "groups": groups, "slots": slots}
