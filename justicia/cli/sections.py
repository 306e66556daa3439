"""Help of a command whose options stand under headings, so that a reader finds what there is to ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

__all__ = ["SectionedCommand"]


class SectionedCommand(click.Command):
    """A command whose help lists options by section.

    Attributes
    ----------
    sections : mapping of str to sequence of str
        Names of the options under each heading. Every option has to be in one, but for --help and --debug.
    """

    sections: Mapping[str, Sequence[str]] = {}

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings, those of no section last."""
        by_name = {option.name: option for option in self.get_params(context)}
        told = {name for names in self.sections.values() for name in names}
        rest = [name for name in by_name if name not in told]
        for heading, names in [*self.sections.items(), ("Other", rest)]:
            records = [record for name in names if (record := by_name[name].get_help_record(context)) is not None]
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
