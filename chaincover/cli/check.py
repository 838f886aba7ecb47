"""The command ``check``: everything read, and what is found out before any chain is sought."""

from __future__ import annotations

from typing import Any

import click

from bmc import ending
from chaincover.check import analysis
from chaincover.cli.entry import closing
from chaincover.cli.help import Command
from chaincover.cli.options import (
    COUNT,
    Search,
    Shown,
    effort_option,
    engine_option,
    held_request_options,
    query_option,
    read_controller,
    settings,
    shown_options,
    time_option,
)
from chaincover.formats.output import to_json
from chaincover.project.bounds import UseOfBounds
from chaincover.project.load import Request
from chaincover.report import console
from chaincover.report.console_check import show_analysis

EFFORT = 0.2
"""The effort without ``--effort``: a check is to tell what it finds within seconds."""


@click.command(name="check", cls=Command)
@held_request_options
@shown_options
@engine_option
@effort_option
@query_option
@time_option
@click.option(
    "--compare",
    type=COUNT,
    default=1000,
    show_default=True,
    metavar="N",
    help="Random steps to compare with the original.",
)
@ending.uninterrupted()
def command(request: Request, shown: Shown, compare: int, **given: Any) -> int:
    """Read everything; report interface, goals, contradictions and possible undefined behaviour.

    What the limits do not suffice for is told as undecided. An interrupt from the keyboard ends it with what is known
    by then.
    """
    progress = shown.progress()
    if compare:
        progress.code_runs(request.path)
    subject = read_controller(request, progress, unconfirmed=True, bounds=UseOfBounds.LEFT_OUT)
    if given["effort"] is None:
        given["effort"] = EFFORT
    options = settings(Search(**given), subject.settings)
    options.check()
    with progress.stage("check"):
        found = analysis.analyse(subject, options, compare, progress)
    closing(found.interrupted)
    progress.done()
    if shown.as_json:
        click.echo(to_json(analysis.as_data(subject, found)), nl=False)
    elif shown.text:
        show_analysis(console.console(shown.verbose > 0), subject, found)
    return found.exit_code
