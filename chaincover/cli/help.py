"""How commands show their options, in groups, and how a shell completes what they take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

OWN = "Options"
GROUPS = {
    "What is tested": (
        *("select", "exclude", "properties", "cover", "final", "hold", "include", "defines", "no_native", "violations"),
    ),
    "The search": (
        *("bound", "overlap", "ordering", "orderings", "repair", "engine", "max_length", "several", "most", "seeds"),
    ),
    "Limits": ("effort", "time_limit", "query_limit", "memory_limit", "watchdog"),
    "What is told and written": (
        *("output", "form", "delimiter", "decimal_comma", "changes_only", "log", "junit"),
        *("as_json", "verbose", "quiet"),
    ),
}
"""By its heading the options of each group; those of none stand first, below ``OWN``: they are the command's alone."""


class Command(click.Command):
    """A command whose options are shown in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, a section for each group."""
        heading = {name: group for group, names in GROUPS.items() for name in names}
        shown: dict[str, list[tuple[str, str]]] = {group: [] for group in (OWN, *GROUPS)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                shown[heading.get(parameter.name or "", OWN)].append(record)
        for group, records in shown.items():
            if records:
                with formatter.section(group):
                    formatter.write_dl(records)


class Place(click.ParamType):  # type: ignore[type-arg]
    """The path of a file or folder, taken as it is; a shell completes it."""

    name = "path"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """That the shell completes it as a path."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


PLACE = Place()

quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress, no summary.")
