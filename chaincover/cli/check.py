"""The command ``check``: everything read, and what is found out before any chain is sought."""

from __future__ import annotations

import click

from bmc.engines import choose as choose_engine
from chaincover.check import analysis
from chaincover.cli.options import (
    SECONDS,
    Shown,
    engine_option,
    held_request_options,
    read_controller,
    shown_options,
)
from chaincover.formats.output import to_json
from chaincover.project.load import Request
from chaincover.report import console
from chaincover.report.console_check import show_analysis


@click.command(name="check")
@held_request_options
@shown_options
@engine_option
@click.option(
    "--compare", default=1000, show_default=True, metavar="N", help="Random steps to compare with the original."
)
@click.option(
    "--time-limit",
    type=SECONDS,
    default=analysis.TIME_LIMIT,
    show_default=True,
    metavar="SECONDS",
    help="For all that follows reading; what it does not suffice for is told as undecided.",
)
def command(request: Request, shown: Shown, engine: str | None, compare: int, time_limit: float) -> int:
    """Read everything; report interface, goals, contradictions and possible undefined behaviour.

    An interrupt from the keyboard ends it with what is known by then.
    """
    progress = shown.progress()
    controller = read_controller(request, progress)
    with progress.stage("check"):
        found = analysis.analyse(
            controller, choose_engine(engine or "z3"), compare, time_limit=time_limit, progress=progress
        )
    progress.done()
    if shown.as_json:
        click.echo(to_json(analysis.as_data(controller, found)), nl=False)
    elif shown.text:
        show_analysis(console.console(), controller, found)
    return found.exit_code
