"""The command ``generate``: one chain, its files, and its replay on the compiled original."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from bmc.engines import choose as choose_engine
from bmc.engines.dead_ends import DeadEnd, QuestionLimits, dead_end
from bmc.errors import ChainCoverError, LimitReached, UsageError
from chaincover import pipeline
from chaincover.cli.options import (
    Search,
    Shown,
    held_request_options,
    prepare,
    search_options,
    shown_options,
)
from chaincover.cli.saving import Answers, Saving
from chaincover.formats import chain_file
from chaincover.formats.output import CannotWrite, prepare_folder, to_json, write_text
from chaincover.limits import Limits
from chaincover.options import Options
from chaincover.problem import Problem
from chaincover.progress import Progress, described
from chaincover.project.load import Controller, Request
from chaincover.replay.original import Replay, replay
from chaincover.report import console
from chaincover.report import documents as results
from chaincover.result import INTERRUPT, TERMINATED, ChainResult, Listener
from chaincover.verdicts import infeasible

DEAD_END_STEPS = (1, 2, 4, 8, 16, 32)
"""Numbers of steps of which it is asked whether any run has them, where no goal is covered."""
DEAD_END_EFFORT, DEAD_END_QUESTION = 1 / 12, 1
"""Effort for all these questions, and units of work for one of them."""
DEAD_END_SECONDS = 20.0
"""Seconds for them at most, for what is only encoded counts as little work."""

Find = Callable[[Problem, Options, Listener], ChainResult]


@dataclass(frozen=True)
class Run:
    """One run of the command: for what, with which settings, and where its files go."""

    controller: Controller
    options: Options
    folder: Path
    progress: Progress
    shown: Shown
    with_replay: bool


@click.command(name="generate")
@held_request_options
@click.option("-o", "--output", default="chain-out", show_default=True, metavar="DIR", help="Folder for the results.")
@search_options
@click.option("--no-replay", is_flag=True, help="Do not replay the chain on the compiled original.")
@click.option("--several", is_flag=True, help="As few chains as it takes, where one cannot cover every goal.")
@click.option("--most", is_flag=True, help="The one chain that covers most goals, where it cannot cover every goal.")
@shown_options
def command(
    request: Request, search: Search, shown: Shown, output: str, no_replay: bool, several: bool, most: bool
) -> int:
    """Generate one chain that covers every goal; replay it on the compiled original.

    The best chain so far is on disk from the first one on.
    """
    progress = shown.progress()
    if several and most:
        raise UsageError("--several and --most exclude each other", hint="give one of them")
    controller, options = prepare(request, search, progress)
    run = Run(controller, options, prepare_folder(output), progress, shown, not no_replay)
    if several:
        from chaincover.cli.several import generate_chains

        return generate_chains(run)
    return generate_chain(run, _maximum_coverage() if most else pipeline.generate)


def _maximum_coverage() -> Find:
    from chaincover.partition.maximum_coverage import generate_most

    return generate_most


def generate_chain(run: Run, find: Find) -> int:
    """Search, write, replay, show; the exit code."""
    controller, progress = run.controller, run.progress
    answers = Answers[ChainResult](
        write=lambda best: _write(run, best, results.chain_document(controller, best, False)),
        described=described,
        chains=lambda best: best.chain,
    )
    saving = Saving(progress, answers)
    with saving.kept(run.folder), progress.stage("search"):
        result = find(controller.problem, run.options, saving)
    progress.better(described(result))
    no_step = None if result.chain is not None or result.tests else find_dead_end(run, result.stopped_by)
    played, problem = try_replay(run, controller, result)
    progress.done()
    document = results.chain_document(controller, result, no_step=no_step)
    errors = [problem]
    try:
        _write(run, result, document, played)
    except CannotWrite as error:
        errors.insert(0, error)
    if run.shown.as_json and not any(errors):
        click.echo(to_json(document), nl=False)
    elif run.shown.text:
        out = console.console()
        console.show_dead_end(out, no_step)
        console.show_result(out, controller, result)
        if played is not None:
            console.show_replay(out, played)
        if errors[0] is problem:
            files = "chain.json, run.json" + (", chain.csv" if result.chain else "")
            console.say(out, f"written to {run.folder}/: {files}")
    for stopped in errors:
        if stopped is not None:
            raise stopped
    return results.exit_code(controller, result, played, no_step)


def find_dead_end(run: Run, stopped_by: str) -> DeadEnd | None:
    """Why no run goes on after some number of steps, asked where no goal is covered; None where that is not so.

    The whole system is asked about: where nothing is covered, what the goals do not depend on may be to blame.
    """
    if stopped_by in (INTERRUPT, TERMINATED):
        return None
    options, found = run.options, None
    seconds = min(DEAD_END_SECONDS, options.time_limit or DEAD_END_SECONDS)
    limits = Limits(seconds, options.query_limit, DEAD_END_EFFORT)
    with run.progress.stage("dead end"), suppress(LimitReached, KeyboardInterrupt):
        engine = choose_engine(options.engine, options.memory_limit)
        limits.watch(engine)
        for most in DEAD_END_STEPS:
            if found is None and not limits.used_up:
                asked = QuestionLimits(limits.for_query(), DEAD_END_QUESTION)
                found = dead_end(run.controller.system, engine, most, limits=asked)
    return found


def try_replay(run: Run, part: Controller, result: ChainResult) -> tuple[Replay | None, BaseException | None]:
    """The replay of the chain of ``result``, where it is wanted, or what stopped it.

    ``part`` is the controller with the goals of the chain.
    """
    if result.chain is None or not run.with_replay:
        return None, None
    try:
        with run.progress.stage("replay"):
            stimulus = chain_file.stimulus_of(part.system, result.chain)
            return replay(part, stimulus, infeasible(part.goals, result.verdicts)), None
    except (ChainCoverError, KeyboardInterrupt) as error:
        return None, error


def _write(run: Run, result: ChainResult, document: dict[str, Any], played: Replay | None = None) -> None:
    """Write the files of ``result``, each whole or not at all."""
    controller, folder = run.controller, run.folder
    table = folder / "chain.csv"
    write_text(folder / "chain.json", to_json(document))
    if result.chain is not None:
        write_text(table, chain_file.chain_csv(controller.system, result.chain, controller.project.period))
    else:
        table.unlink(missing_ok=True)
    write_text(folder / "run.json", to_json(results.run_document(controller, result, played, run.progress.seconds)))
