"""The command ``verify``: its options, and the report as text and JSON."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console

from chaincover.cli.options import controller_options, hold_option, start_progress
from chaincover.formats.output import to_json
from chaincover.report import console
from chaincover.report.documents import tool_version, versions
from chaincover.verify.chains import verify_chains
from chaincover.verify.document import CHAINS_FILE, chain_place, read_document
from chaincover.verify.limits import Limits
from chaincover.verify.loading import load_for
from chaincover.verify.report import HOLDS, WRONG, Verification, as_data
from chaincover.verify.verification import verify

SCHEMA = "chaincover/verify/1"


@click.command(name="verify")
@controller_options
@click.argument("chain", metavar="CHAIN")
@hold_option
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="For all proofs; what does not finish is not re-proved.",
)
@click.option(
    "--effort",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="N",
    help="Work for each proof, in units of about a second.",
)
def verify_command(chain: str, time_limit: float | None, effort: float, as_json: bool, **given: Any) -> int:
    """Check CHAIN (chain.json, chains.json or their folder) and the proof of its bound by means of its own.

    Goals, final condition and macros are those that CHAIN names, unless options name others.
    """
    progress = start_progress(given)
    place = chain_place(chain)
    limits = Limits(seconds=time_limit, effort=effort)
    if place.name == CHAINS_FILE:
        with progress.stage("verify"):
            found = verify_chains(place, given, limits, progress)
    else:
        document = read_document(place)
        with progress.stage("read"):
            controller = load_for(document, given)
        with progress.stage("verify"):
            found = verify(controller, document, limits, progress)
    progress.done()
    if as_json:
        head = {"schema": SCHEMA, "tool": {"name": "chaincover", "version": tool_version()}, "versions": versions()}
        click.echo(to_json({**head, **as_data(found)}), nl=False)
    elif not given["quiet"]:
        show(console.console(), found)
    return found.exit_code


def show(out: Console, found: Verification) -> None:
    """A line for each check, what speaks against it below, and one sentence at the end."""
    wide = max((len(line.check) for line in found.lines), default=0)
    for line in found.lines:
        style = "bold red" if line.verdict == WRONG else "" if line.verdict == HOLDS else "bold"
        console.say(out, f"{line.check:<{wide}}  {line.verdict:<13}  {line.text}", style)
        for detail in line.details:
            console.say(out, f"{'':<{wide}}  {'':<13}  - {detail}")
    console.say(out, found.summary, "bold")
