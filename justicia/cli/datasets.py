"""``justicia datasets``: list and export the bundled data sets."""

from __future__ import annotations

import click

from justicia.cli.outputs import answer, answering

__all__ = ["datasets"]


@click.group(invoke_without_command=True)
@click.pass_context
def datasets(context: click.Context) -> None:
    """List the bundled data sets; `export NAME` writes one as CSV."""
    if context.invoked_subcommand is not None:
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from justicia import datasets as bundled

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for heading in ("name", "people", "label", "favorable", "sensitive", "what"):
        table.add_column(heading, justify="right" if heading == "people" else "left")
    for name in bundled.names():
        held = bundled.describe(name)
        cells = (name, f"{held.rows:,}", held.label, held.favorable, ", ".join(held.sensitive), held.title)
        table.add_row(*(Text(cell) for cell in cells))
    console = Console()
    console.width = console.width if console.is_terminal else 140
    with answering():
        console.print(table)


@click.command()
@click.argument("name")
def export(name: str) -> None:
    """Write the data set NAME to standard output as CSV."""
    from justicia import datasets as bundled

    answer(bundled.csv_bytes(name))


datasets.add_command(export)
