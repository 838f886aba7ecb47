"""The command ``judge``: a chain as it ran on a bench, from its recording."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from bmc import ending
from chaincover.cli.entry import closing
from chaincover.cli.help import PLACE, Command
from chaincover.cli.options import Shown, junit_option, request_options, shown_options, time_option
from chaincover.cli.replay import one_chain, read_chain
from chaincover.formats.output import to_json, write_text
from chaincover.project.bench import Bench
from chaincover.project.load import Request
from chaincover.report import console
from chaincover.report.console_replay import show_judged
from chaincover.report.documents import judged_document
from chaincover.subject import Subject
from chaincover.target.judge import JudgedRun
from chaincover.target.recorded import judge_recording, read_recording
from chaincover.target.table import Layout


@click.command(name="judge", cls=Command)
@request_options
@click.argument("chain", metavar="CHAIN", type=PLACE)
@click.argument("recording", metavar="RECORDING", type=PLACE)
@click.option("--start", type=click.IntRange(min=1), metavar="ROW", help="The row of the first step after the reset.")
@click.option("-o", "--output", metavar="FILE", type=PLACE, help="Write the judgement into this file, as JSON.")
@junit_option
@time_option
@shown_options
@ending.uninterrupted()
def command(
    request: Request,
    shown: Shown,
    chain: str,
    recording: str,
    start: int | None,
    output: str | None,
    junit: str | None,
    time_limit: float | None,
) -> int:
    """Judge the RECORDING (.csv or .vcd) of a run of CHAIN (chain.json, its folder, or a hand-written inputs.csv).

    Tells where outputs first deviate from the model, what became of each goal, and whether each requirement held. What
    was not recorded is not known. The table [target.signals] of the project says how variables are recorded.
    """
    place = one_chain(chain)
    bench = request.project().target or Bench()
    read = read_chain(request, shown, place)
    system = read.subject.system
    with read.progress.stage("judge"), ending.interruptible():
        layout = Layout.of(system, bench.of(system), read.subject.settings.period, start, read.subject.value_names)
        taken = read_recording(recording, layout)
        judged = judge_recording(read.subject, read.stimulus, taken, read.never, bench.shift)
    judged = replace(judged, not_known=read.not_known, remarks=(*judged.remarks, *read.remarks))
    closing()
    read.progress.done()
    deliver(judged, read.subject, Path(place).name, shown, (output, junit))
    return judged.exit_code


def deliver(
    judged: JudgedRun, subject: Subject, chain: str, shown: Shown, files: tuple[str | None, str | None]
) -> None:
    """Write the judgement into ``files`` (as JSON, as JUnit), where they are named, and show it."""
    document = to_json(judged_document(subject, chain, judged))
    output, junit = files
    if output is not None:
        write_text(Path(output), document)
    if junit is not None:
        from chaincover.report import junit as cases

        write_text(Path(junit), cases.junit(subject.system.name, cases.of_judged(judged)))
    if shown.as_json:
        click.echo(document, nl=False)
    elif shown.text:
        out = console.console(shown.verbose > 0)
        show_judged(out, subject, judged)
