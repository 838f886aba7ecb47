"""The command ``verify``: its options, and the report as text and JSON."""

from __future__ import annotations

import time
from dataclasses import replace
from math import isinf
from pathlib import Path

import click

from bmc import ending
from bmc.ending import CALLED_OFF, INTERRUPT
from bmc.errors import LimitReached, MemoryLimitReached, counted
from chaincover.cli.entry import closing
from chaincover.cli.help import PLACE, Command
from chaincover.cli.options import Amount, Shown, held_request_options, junit_option, shown_options, time_option
from chaincover.formats.document import CHAINS_FILE, chain_place, read_document
from chaincover.formats.output import to_json, write_text
from chaincover.formats.recorded_subject import load_for
from chaincover.formats.writer import tool_version, versions
from chaincover.project.load import Request
from chaincover.project.project_file import refuse_project
from chaincover.report import console
from chaincover.report.documents import VERIFIED_SCHEMA
from chaincover.verification.checks import Listener
from chaincover.verification.limits import Limits
from chaincover.verification.report import HOLDS, OPEN, UNCLAIMED, WRONG, Line, Verification, as_data
from chaincover.verification.several import verify_chains
from chaincover.verification.verification import verify

ENDED = "all checks"
"""The name of the line that tells what ended them before all were done."""
WIDTH = len("open start values")
"""Of the names of checks."""


@click.command(name="verify", cls=Command)
@held_request_options
@click.argument("chain", metavar="CHAIN", type=PLACE)
@time_option
@click.option(
    "--effort",
    type=Amount(),
    default=1.0,
    show_default=True,
    metavar="N",
    help="Work for each proof, in units of about a minute; none: no limit.",
)
@junit_option
@shown_options
@ending.uninterrupted()
def command(
    request: Request, shown: Shown, chain: str, time_limit: float | None, effort: float, junit: str | None
) -> int:
    """Check CHAIN (chain.json, chains.json or their folder) and the proof of its bound by means of its own.

    Goals, final condition and macros are those that CHAIN names, unless options name others.
    """
    refuse_project(chain)
    progress = shown.progress()
    progress.code_runs(request.path)
    place = chain_place(chain)
    limits = replace(Limits.of(None if isinf(effort) else effort, time_limit), begun=time.monotonic())
    out = console.console(shown.verbose > 0)
    telling = Telling(out)
    progress("verify")
    lines: list[Line] = []

    def tell(line: Line) -> None:
        with ending.uninterrupted():
            lines.append(line)
            if shown.text:
                progress.done()
                telling(line)

    stopped_by = ""
    try:
        with ending.interruptible():
            found = _verified(place, request, limits, Listener(progress, tell))
    except (LimitReached, MemoryError) as error:
        stopped_by = getattr(error, "limit", MemoryLimitReached.limit)
    except KeyboardInterrupt as error:
        if ending.reading():
            raise
        stopped_by = str(error) or INTERRUPT
    closing(stopped_by)
    progress.done()
    if stopped_by:
        tell(Line(ENDED, OPEN, f"{console.ended_by(stopped_by)}: what is not told above was not checked again"))
        found = Verification(str(place), tuple(lines))
    if junit is not None:
        from chaincover.report import junit as cases

        write_text(Path(junit), cases.junit(place.name, cases.of_verification(found.lines)))
    if shown.as_json:
        head = {
            "schema": VERIFIED_SCHEMA,
            "tool": {"name": "chaincover", "version": tool_version()},
            "versions": versions(),
        }
        click.echo(to_json({**head, **as_data(found)}), nl=False)
    elif shown.text:
        telling.end()
        console.say(out, telling.shortened(found.summary), "bold")
    return CALLED_OFF.get(stopped_by, found.exit_code)


def _verified(place: Path, request: Request, limits: Limits, listener: Listener) -> Verification:
    """What is found of the file, or the files, at ``place``."""
    if place.name == CHAINS_FILE:
        return verify_chains(place, request, limits, listener)
    document = read_document(place)
    subject = load_for(document, request)
    ending.reads(str)
    return verify(subject, document, limits, listener)


class Telling:
    """Tells every check as soon as it is done; of several chains the checks that hold as one line for each chain."""

    def __init__(self, out: console.Console) -> None:
        self._out = out
        self._chain = ""
        self._held = 0

    def __call__(self, line: Line) -> None:
        """A check is done."""
        chain = line.check.rpartition(": ")[0]
        if chain != self._chain:
            self.end()
            self._chain = chain
        if chain and line.verdict in (HOLDS, UNCLAIMED) and not self._out.everything:
            self._held += line.verdict == HOLDS
        else:
            show_line(self._out, line)

    def end(self) -> None:
        """There is no further check of this chain."""
        if self._held:
            text = f"{counted(self._held, 'check')}, told by -v"
            show_line(self._out, Line(self._chain, HOLDS, text))
        self._held = 0

    def shortened(self, summary: str) -> str:
        """``summary`` with the checks of several chains left out, which have lines of their own."""
        if self._out.everything:
            return summary
        parts = []
        for part in summary.split("; "):
            words, _, checks = part.partition(": ")
            names = checks.split(", ")
            own = [name for name in names if ": " not in name]
            chains = len({name.partition(": ")[0] for name in names if ": " in name})
            named = [*([f"what {counted(chains, 'chain')} claim{'s' * (chains == 1)}"] if chains else []), *own]
            parts.append(f"{words}: {', '.join(named)}" if checks else part)
        return "; ".join(parts)


def show_line(out: console.Console, line: Line) -> None:
    """One check, with what speaks against it below."""
    style = "bold red" if line.verdict == WRONG else "" if line.verdict == HOLDS else "bold"
    text = line.text if out.everything else line.brief or line.text
    console.say(out, f"{line.check:<{WIDTH}}  {line.verdict:<13}  {text}", style)
    for detail in line.details:
        console.say(out, f"{'':<{WIDTH}}  {'':<13}  - {detail}")
