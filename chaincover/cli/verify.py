"""The command ``verify``: its options, and the report as text and JSON."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from math import isinf

import click

from chaincover.cli.options import Amount, Shown, held_request_options, shown_options, time_option
from chaincover.formats.output import to_json
from chaincover.project.load import Request
from chaincover.report import console
from chaincover.report.documents import tool_version, versions
from chaincover.verify.document import CHAINS_FILE, chain_place, load_for, read_document
from chaincover.verify.limits import Limits
from chaincover.verify.report import HOLDS, WRONG, Line, as_data
from chaincover.verify.several import verify_chains
from chaincover.verify.verification import Listener, verify

SCHEMA = "chaincover/verify/1"
WIDTH = len("open start values")
"""Of the names of checks."""


@click.command(name="verify")
@held_request_options
@click.argument("chain", metavar="CHAIN")
@time_option
@click.option(
    "--effort",
    type=Amount(),
    default=1.0,
    show_default=True,
    metavar="N",
    help="Work for each proof, in units of about a minute; none: no limit.",
)
@shown_options
def command(request: Request, shown: Shown, chain: str, time_limit: float | None, effort: float) -> int:
    """Check CHAIN (chain.json, chains.json or their folder) and the proof of its bound by means of its own.

    Goals, final condition and macros are those that CHAIN names, unless options name others.
    """
    progress = shown.progress()
    progress.code_runs(request.path)
    place = chain_place(chain)
    limits = replace(Limits.of(None if isinf(effort) else effort, time_limit), begun=time.monotonic())
    out = console.console()
    listener = Listener(progress, partial(show_line, out) if shown.text else _tell_nobody)
    if place.name == CHAINS_FILE:
        with progress.stage("verify"):
            found = verify_chains(place, request, limits, listener)
    else:
        document = read_document(place)
        with progress.stage("read"):
            controller = load_for(document, request)
        with progress.stage("verify"):
            found = verify(controller, document, limits, listener)
    progress.done()
    if shown.as_json:
        head = {"schema": SCHEMA, "tool": {"name": "chaincover", "version": tool_version()}, "versions": versions()}
        click.echo(to_json({**head, **as_data(found)}), nl=False)
    elif shown.text:
        console.say(out, found.summary, "bold")
    return found.exit_code


def _tell_nobody(line: Line) -> None:
    """Results are not told as they come."""


def show_line(out: console.Console, line: Line) -> None:
    """One check as soon as it is done, with what speaks against it below."""
    style = "bold red" if line.verdict == WRONG else "" if line.verdict == HOLDS else "bold"
    console.say(out, f"{line.check:<{WIDTH}}  {line.verdict:<13}  {line.text}", style)
    for detail in line.details:
        console.say(out, f"{'':<{WIDTH}}  {'':<13}  - {detail}")
