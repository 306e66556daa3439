"""Lists of commands on a terminal of 80 columns."""

from __future__ import annotations

import click
import pytest

from justicia.cli import cli
from justicia.cli.short_help import SHORT_HELP


def commands(group, path=""):
    for name, command in group.commands.items():
        yield f"{path}{name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path}{name} ")


def test_every_command_has_few_words_and_no_others_have():
    assert sorted(path for path, _ in commands(cli)) == sorted(SHORT_HELP)
    assert len(set(SHORT_HELP.values())) == len(SHORT_HELP)


@pytest.mark.parametrize("path", ["", *(path for path, command in commands(cli) if isinstance(command, click.Group))])
def test_lists_of_commands_are_shown_whole(path):
    group = dict(commands(cli))[path] if path else cli
    with click.Context(group, info_name="justicia", terminal_width=80, max_content_width=100) as context:
        text = group.get_help(context)
    lines = text.partition("Commands:\n")[2].splitlines()
    held = {line.split()[0]: line.split(maxsplit=1)[1] for line in lines}
    assert held == {name: SHORT_HELP[f"{path} {name}".strip()] for name in group.commands}
    assert "..." not in "".join(lines)
    assert max(map(len, lines)) <= 78


@pytest.mark.parametrize("name", ["verify", "compare"])
def test_help_tells_the_time_of_an_answer_from_that_of_the_command(name):
    with click.Context(cli.commands[name], terminal_width=100, max_content_width=100) as context:
        text = " ".join(cli.commands[name].get_help(context).split())
    assert "Of one answer, then bounds are it" in text
    assert "--max-time is of the whole command" in text
