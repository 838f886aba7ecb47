"""The command line. Exit codes: docs/exit-codes.md."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from bmc.engines import choose as choose_engine
from bmc.errors import ChainCoverError, Location, UsageError
from chaincover import pipeline
from chaincover.budget import Budget
from chaincover.check import analysis
from chaincover.cli import several as commands_several
from chaincover.cli.compare import compare_command
from chaincover.cli.options import (
    bound_option,
    controller_options,
    engine_option,
    hold_option,
    load_controller,
    overlap_option,
    prepare,
    search_options,
    start_progress,
    work_options,
)
from chaincover.cli.restored import restore
from chaincover.cli.verify import verify_command
from chaincover.formats import chain_file
from chaincover.formats import dot as export_graph
from chaincover.formats.output import prepare_folder, to_json, write_text
from chaincover.formats.recorded import read_recorded
from chaincover.graph.explored import strengthened
from chaincover.graph.grow import grow
from chaincover.partition.most import generate_most
from chaincover.progress import Progress
from chaincover.project import scaffold
from chaincover.project.load import Controller
from chaincover.reductions.sliced import sliced
from chaincover.replay.original import Replay, replay
from chaincover.report import console
from chaincover.report import documents as results
from chaincover.verdicts import infeasible

INTERRUPTED = 130
INTERNAL_ERROR = 70
CUT_OFF = 141
"""The reader of stdout has gone, as shells report it."""


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(results.tool_version(), prog_name="chaincover")
def cli() -> None:
    """One reset-free input sequence that exercises every requirement of a C controller.

    PATH is a C file (paper's convention: init, compute, p_*), a chaincover.toml or a folder with one.
    """


@cli.command()
@controller_options
@hold_option
@engine_option
@click.option(
    "--compare", default=1000, show_default=True, metavar="N", help="Random steps to compare with the original."
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    default=analysis.TIME_LIMIT,
    show_default=True,
    metavar="SECONDS",
    help="For all that follows reading; what it does not suffice for is told as undecided.",
)
def check(compare: int, time_limit: float, engine: str | None, as_json: bool, **given: Any) -> int:
    """Read everything; report interface, goals, contradictions and suspected undefined behaviour.

    An interrupt from the keyboard ends it with what is known by then.
    """
    progress = start_progress(given)
    controller = load_controller(given, progress)
    with progress.stage("check"):
        found = analysis.analyse(
            controller, choose_engine(engine or "z3"), compare, time_limit=time_limit, progress=progress
        )
    progress.done()
    if as_json:
        click.echo(to_json(analysis.as_data(controller, found)), nl=False)
    elif not given["quiet"]:
        console.show_analysis(console.console(), controller, found)
    return found.exit_code


@cli.command()
@controller_options
@click.option("-o", "--output", default="chain-out", show_default=True, metavar="DIR", help="Folder for the results.")
@hold_option
@bound_option
@overlap_option
@search_options
@click.option("--no-replay", is_flag=True, help="Do not replay the chain on the compiled original.")
@click.option("--several", is_flag=True, help="As few chains as it takes, where one cannot cover every goal.")
@click.option("--most", is_flag=True, help="The one chain that covers most goals, where it cannot cover every goal.")
def generate(output: str, no_replay: bool, several: bool, most: bool, as_json: bool, **given: Any) -> int:
    """Generate one chain that covers every goal; replay it on the compiled original."""
    progress = start_progress(given)
    controller, options = prepare(given, progress)
    folder = prepare_folder(output)
    if several and most:
        raise UsageError("--several and --most exclude each other", hint="give one of them")
    if several:
        return commands_several.run(controller, options, folder, not no_replay, as_json, progress)
    with progress.stage("search"):
        find = generate_most if most else pipeline.generate
        result = find(controller.system, controller.goals, controller.final, options, progress)
    played, problem = _try_replay(controller, result, not no_replay, progress)
    progress.done()
    document = results.chain_document(controller, result)
    _write(folder, controller, result, document, results.run_document(controller, result, played, progress.seconds))
    if as_json and problem is None:
        click.echo(to_json(document), nl=False)
    elif not as_json and not given["quiet"]:
        out = console.console()
        console.show_result(out, controller, result)
        if played is not None:
            console.show_replay(out, played)
        out.print(f"written to {folder}/: chain.json, run.json" + (", chain.csv" if result.chain else ""), markup=False)
    if problem is not None:
        raise problem
    return results.exit_code(controller, result, played)


@cli.command(name="replay")
@controller_options
@click.argument("chain", metavar="CHAIN")
def replay_command(chain: str, as_json: bool, **given: Any) -> int:
    """Replay CHAIN (chain.json, its folder, or a hand-written inputs.csv) on the compiled original.

    Tells for each goal where it is covered and whether its consequent held. Goals that a chain.json was made for are
    looked at too where they came from options.
    """
    progress = start_progress(given)
    recorded = read_recorded(chain)
    restored = restore(recorded, given, progress)
    controller = restored.controller
    stimulus = chain_file.read_stimulus(chain, controller.system)
    if given["final"] is not None:
        stimulus = replace(stimulus, to_final=True)
    lost = frozenset(restored.lost)
    claimed = {goal: step for goal, step in stimulus.claimed.items() if goal not in lost}
    asked = None if stimulus.asked is None else stimulus.asked - lost
    with progress.stage("replay"):
        never = [goal for goal in recorded.infeasible if goal not in lost]
        played = replay(controller, replace(stimulus, claimed=claimed, asked=asked), never)
    played = replace(played, lost=restored.lost, remarks=(*played.remarks, *restored.notes))
    progress.done()
    if as_json:
        click.echo(to_json(results.replay_data(played)), nl=False)
    elif not given["quiet"]:
        out = console.console()
        console.show_replay(out, played)
        console.show_replay_goals(out, played)
    return played.exit_code


@cli.command()
@controller_options
@hold_option
@bound_option
@overlap_option
@work_options
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="For the whole run.")
@click.option("--format", "form", type=click.Choice(["json", "dot"]), default="json", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of stdout.")
def graph(form: str, output: str | None, as_json: bool, **given: Any) -> int:
    """The K-reachability graph, as JSON or DOT, grown until a covering path exists."""
    progress = start_progress(given)
    controller, options = prepare({**given, "ordering": None}, progress)
    if output:
        prepare_folder(str(Path(output).parent))
    with progress.stage("graph"):
        budget = Budget(options.time_limit)
        part = sliced(controller.system, controller.goals, controller.final)
        check = budget.share(pipeline.LISTING).check
        system = strengthened(part, controller.goals, controller.final, options.explore, check)
        within = pipeline.within(options, budget)
        found, stopped_by = grow(system, controller.goals, controller.final, within, progress)
    progress.done()
    data = results.graph_data(found)
    text = to_json(data) if form == "json" or as_json else export_graph.to_dot(controller.system.name, data)
    if output:
        write_text(Path(output), text)
    else:
        click.echo(text, nl=False)
    return results.graph_exit_code(found, stopped_by)


cli.add_command(compare_command)
cli.add_command(verify_command)


@cli.command(name="init")
@click.argument("sources", metavar="DIR|FILE.c...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help="Default: chaincover.toml in DIR, or beside the first file.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def init_command(sources: tuple[str, ...], output: str | None, force: bool) -> int:
    """Write a commented project file for the C sources of a controller."""
    first = Path(sources[0])
    place = Path(output) if output else (first if first.is_dir() else first.parent) / "chaincover.toml"
    text, found = scaffold.propose(sources, place.parent)
    if place.exists() and not force:
        raise ChainCoverError("this file exists already", Location(str(place)), "give --force, or another -o FILE")
    write_text(place, text)
    click.echo(f"{found}\nwrote {place}; next: chaincover check {place}")
    return 0


def _try_replay(
    controller: Controller, result: pipeline.ChainResult, wanted: bool, progress: Progress
) -> tuple[Replay | None, BaseException | None]:
    """The replay (where ``wanted``) of a chain just found, or what stopped it: the chain is written in any case."""
    if result.chain is None or not wanted:
        return None, None
    try:
        with progress.stage("replay"):
            stimulus = chain_file.stimulus_of(controller.system, result.chain)
            return replay(controller, stimulus, infeasible(controller.goals, result.verdicts)), None
    except (ChainCoverError, KeyboardInterrupt) as error:
        return None, error


def _write(
    folder: Path, controller: Controller, result: pipeline.ChainResult, document: dict[str, Any], run: dict[str, Any]
) -> None:
    write_text(folder / "chain.json", to_json(document))
    write_text(folder / "run.json", to_json(run))
    table = folder / "chain.csv"
    if result.chain is not None:
        write_text(table, chain_file.chain_csv(controller.system, result.chain, controller.project.period))
    else:
        table.unlink(missing_ok=True)


def main() -> None:
    """Entry point: runs the command line and ends the process with its exit code."""
    try:
        code = cli.main(prog_name="chaincover", standalone_mode=False)
    except click.exceptions.Exit as leaving:
        code = leaving.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except ChainCoverError as error:
        _show_error(error)
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("\ninterrupted", err=True)
        code = INTERRUPTED
    except (SystemExit, BrokenPipeError):  # click's answer to a closed pipe, the only one that ends the process
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = CUT_OFF
    except Exception as error:  # a fault of ours: say so without a traceback
        if os.environ.get("CHAINCOVER_DEBUG"):
            raise
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        click.echo(f"internal error: {text}\n  next: report it; CHAINCOVER_DEBUG=1 shows where it happened", err=True)
        code = INTERNAL_ERROR
    sys.exit(code or 0)


def _show_error(error: ChainCoverError) -> None:
    if "--json" in sys.argv:
        where = None if error.where is None else str(error.where)
        data = {"error": error.message, "where": where, "next": error.hint, "exit_code": error.exit_code}
        click.echo(json.dumps(data))
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", err=True, nl=False)
    click.echo(f"error: {error}", err=True)
