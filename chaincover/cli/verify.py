"""The command ``verify``: its options, and the report as text and JSON."""

from __future__ import annotations

from functools import partial
from typing import Any

import click
from rich.console import Console

from chaincover.cli.options import controller_options, hold_option, start_progress
from chaincover.formats.output import to_json
from chaincover.report import console
from chaincover.report.documents import tool_version, versions
from chaincover.verify.document import CHAINS_FILE, chain_place, read_document
from chaincover.verify.limits import Limits
from chaincover.verify.loading import Request, load_for
from chaincover.verify.report import HOLDS, WRONG, Line, as_data
from chaincover.verify.several import verify_chains
from chaincover.verify.verification import Listener, verify

SCHEMA = "chaincover/verify/1"
WIDTH = len("open start values")
"""Of the names of checks."""


class Effort(click.ParamType):  # type: ignore[type-arg]
    """A number above 0, or ``none``."""

    name = "effort"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        if value == "none":
            return "none"
        return click.FloatRange(min=0, min_open=True).convert(value, param, ctx)


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
    type=Effort(),
    default=1.0,
    show_default=True,
    metavar="N",
    help="Work for each proof, in units of about a minute; none: no limit.",
)
def verify_command(chain: str, time_limit: float | None, effort: float | str, as_json: bool, **given: Any) -> int:
    """Check CHAIN (chain.json, chains.json or their folder) and the proof of its bound by means of its own.

    Goals, final condition and macros are those that CHAIN names, unless options name others.
    """
    progress = start_progress(given)
    place, request = chain_place(chain), _request(given)
    limits = Limits.of(None if isinstance(effort, str) else effort, time_limit)
    silent = as_json or given["quiet"]
    out = console.console()
    listener = Listener(progress, _tell_nobody if silent else partial(show_line, out))
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
    if as_json:
        head = {"schema": SCHEMA, "tool": {"name": "chaincover", "version": tool_version()}, "versions": versions()}
        click.echo(to_json({**head, **as_data(found)}), nl=False)
    elif not silent:
        console.say(out, found.summary, "bold")
    return found.exit_code


def _request(given: dict[str, Any]) -> Request:
    """What the options name beside the file to be checked."""
    pairs = (text.partition("=") for text in given["defines"])
    return Request(
        path=given["path"],
        properties=tuple(given["properties"]),
        cover=tuple(given["cover"]),
        final=given["final"],
        select=tuple(given["select"]),
        exclude=tuple(given["exclude"]),
        defines=tuple((name, value if equals else "1") for name, equals, value in pairs),
        include=tuple(given["include"]),
        hold=given["hold"],
    )


def _tell_nobody(line: Line) -> None:
    """Results are not told as they come."""


def show_line(out: Console, line: Line) -> None:
    """One check as soon as it is done, with what speaks against it below."""
    style = "bold red" if line.verdict == WRONG else "" if line.verdict == HOLDS else "bold"
    console.say(out, f"{line.check:<{WIDTH}}  {line.verdict:<13}  {line.text}", style)
    for detail in line.details:
        console.say(out, f"{'':<{WIDTH}}  {'':<13}  - {detail}")
