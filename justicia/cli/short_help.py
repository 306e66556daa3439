"""What each command does in so few words that a list of commands shows them whole on 80 columns."""

from __future__ import annotations

from types import MappingProxyType

import click

__all__ = ["SHORT_HELP", "with_short_help"]

SHORT_HELP = MappingProxyType(
    {
        "verify": "Tell how often a model, or a table of decisions, says yes.",
        "compare": "Put an audit beside AIF360, Fairlearn, or a second model.",
        "population": "Fit, show and sample populations apart from any model.",
        "population fit": "Fit a population to a table before there is a model.",
        "population show": "Show a population or a network: groups and tables.",
        "population sample": "Draw people from a population into a table.",
        "datasets": "List the bundled data sets, or export one as CSV.",
        "datasets export": "Write a bundled data set as CSV.",
        "encode": "Write an audit's question as an SDIMACS formula.",
        "solve": "Solve an SDIMACS formula exactly.",
        "selftest": "Check all engines against enumeration on this machine.",
        "report": "Make the HTML report of an audit saved as JSON.",
        "generations": "Audit generative models: images, texts, sequences.",
        "generations answers": "Label the answers of a language model by rules.",
        "generations association": "Score how concepts in captions go with groups (CAS, MAD).",
        "generations audit": "Audit a table of generations: all that its columns allow.",
        "generations check": "Check a table of generations against its spec.",
        "generations cover": "Tell which combinations of values were never generated.",
        "generations criteria": "Judge whether labelled answers depend on the group.",
        "generations diversity": "Measure how evenly values turn up: entropies.",
        "generations enforce": "Keep every value within beta generations, as a shield.",
        "generations label": "Label images, faces in them, into a table.",
        "generations polarity": "Compare texts of groups between two poles of word vectors.",
        "generations prompts": "Write prompts from templates and groups.",
        "generations scores": "Compare the scores of groups, such as toxicity.",
        "generations seq": "Judge whether every value turns up often enough in runs.",
        "generations simulate": "Try a shield on a simulated generator.",
    }
)


def with_short_help(group: click.Group, path: str = "") -> click.Group:
    """The group, each of its commands with its few words."""
    for name, command in group.commands.items():
        command.short_help = SHORT_HELP.get(f"{path}{name}", command.short_help)
        if isinstance(command, click.Group):
            with_short_help(command, f"{path}{name} ")
    return group
