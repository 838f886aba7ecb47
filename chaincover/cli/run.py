"""The command ``run``: a chain on a target, on line."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from bmc import ending
from bmc.ending import CALLED_OFF, ExitCode
from bmc.errors import UsageError, counted
from chaincover.cli.entry import closing
from chaincover.cli.help import PLACE, Command
from chaincover.cli.judge import deliver
from chaincover.cli.options import SECONDS, Shown, junit_option, request_options, shown_options
from chaincover.cli.replay import ReadChain, one_chain, read_chain
from chaincover.formats.writer import tool_version
from chaincover.project.bench import Bench as BenchOfProject
from chaincover.project.load import Request
from chaincover.target.drivers import NEEDS_SAFE, Bus, driver, kind_of
from chaincover.target.judge import JudgedRun
from chaincover.target.log import log_file
from chaincover.target.online import ALL, LOST, STOPPED, Bench, OnLine, Pace
from chaincover.target.recorded import judge_recording


@click.command(name="run", cls=Command)
@request_options
@click.argument("chain", metavar="CHAIN", type=PLACE)
@click.option("--driver", "spec", metavar="NAME:TEXT", help="What drives the target; default: the project's.")
@click.option("--fast", is_flag=True, help="Make steps as fast as the target answers, not one each period.")
@click.option("--watchdog", type=SECONDS, default=1.0, show_default=True, help="Seconds for an answer.")
@click.option(
    "--log", metavar="FILE", type=PLACE, help="Write a log of each step, for replay and judge; default: online.jsonl."
)
@click.option("--no-safe", is_flag=True, help="Run a target that moves something without safe inputs.")
@click.option("--yes", is_flag=True, help="Run the driver that the project names without asking.")
@click.option("-o", "--output", metavar="FILE", type=PLACE, help="Write the judgement into this file, as JSON.")
@junit_option
@shown_options
@ending.uninterrupted()
def command(request: Request, shown: Shown, chain: str, **given: Any) -> int:
    """Run CHAIN (chain.json, its folder, or a hand-written inputs.csv) on a target, and judge it.

    Steps are made in real time where the project has a period. After a deviation or a lost target only the safe inputs
    of the project ([target] safe) are applied; Ctrl-C lets the chain go on to its final condition.
    """
    place = one_chain(chain)
    bench = request.project().target or BenchOfProject()
    spec = _spec(given["spec"], bench, given["yes"])
    read = read_chain(request, shown, place)
    system = read.subject.system
    safe = bench.safe_inputs(system)
    if kind_of(spec) in NEEDS_SAFE and not safe and not given["no_safe"]:
        hint = 'write [target] safe = { "INPUT" = VALUE } in the project, or give --no-safe'
        raise UsageError(f"the driver {kind_of(spec)} moves a target, and the project names no safe inputs", hint=hint)
    outputs = system.visible_state
    native = getattr(read.subject.model, "native", None)
    bus = Bus(system.inputs, outputs, read.stimulus.inputs, native, given["watchdog"])
    period = None if given["fast"] else read.subject.settings.period_seconds
    head = {"tool": f"chaincover {tool_version()}", "controller": system.name, "chain": Path(place).name}
    steps = len(read.stimulus.inputs)

    def told(step: int) -> None:
        read.progress(f"step {step + 1} of {steps}")

    with log_file(given["log"] or "online.jsonl", {**head, "driver": spec, "period": period}) as log:
        target = driver(spec, bus)
        try:
            own = Bench(read.subject, read.stimulus, target, bench.of(system), log, spec)
            with read.progress.stage("run"):
                done = own.run(Pace(period, bench.lateness), safe, told)
        finally:
            target.close()
    closing(ending.called_off())
    return _deliver(read, shown, done, Path(place).name, (given["output"], given["junit"]))


def _spec(named: str | None, bench: BenchOfProject, yes: bool) -> str:
    """The driver; one that a project file names is shown and has to be confirmed. UsageError where there is none."""
    if named is not None:
        return named
    if not bench.driver:
        raise UsageError("no driver is named", hint="give --driver NAME:TEXT, or write [target] driver in the project")
    if not yes:
        click.echo(f"the project's driver: {bench.driver}", err=True)
        if not sys.stdin.isatty():
            raise UsageError("a driver that the project names is run only when it is confirmed", hint="give --yes")
        if not click.confirm("run it?", err=True):
            raise UsageError("the driver was not confirmed", hint="give --driver NAME:TEXT for another one")
    return bench.driver


def _deliver(read: ReadChain, shown: Shown, done: OnLine, chain: str, files: tuple[str | None, str | None]) -> int:
    """Judge the run, write and show the judgement; the exit code."""
    judged = judge_recording(read.subject, read.stimulus, done.recording, read.never)
    remarks = [*judged.remarks, *read.remarks]
    if done.ended != ALL:
        remarks.insert(0, f"the run ended early: {done.ended}{': ' if done.why else ''}{done.why}")
        last = ", ".join(f"{name} {value}" for name, value in done.last_inputs.items())
        remarks.insert(1, f"{counted(done.stopped_safely, 'step')} to stop; the inputs applied last: {last or 'none'}")
    if done.recording.late:
        late = counted(len(done.recording.late), "step")
        remarks.append(f"the bench was late in {late}, by up to {1000 * done.latest:.1f} ms")
    judged = replace(judged, not_known=read.not_known, remarks=tuple(remarks))
    read.progress.done()
    deliver(judged, read.subject, chain, shown, files)
    return _exit_code(done, judged)


def _exit_code(done: OnLine, judged: JudgedRun) -> int:
    """That of the judgement; of a run that was called off, or whose target was lost, that of a limit at least."""
    if done.ended == STOPPED and done.why in CALLED_OFF:
        return CALLED_OFF[done.why]
    code = judged.exit_code
    return ExitCode.LIMIT if done.ended == LOST and code != ExitCode.FINDING else code
