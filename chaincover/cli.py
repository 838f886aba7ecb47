"""The command line. Exit codes: docs/exit-codes.md."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from bmc.engines import choose as choose_engine
from bmc.errors import ChainCoverError, InputRefused, Location
from chaincover import analysis, chain_file, console, export_graph, pipeline, results, scaffold
from chaincover.chain import Chain
from chaincover.grow import grow
from chaincover.load import Controller, load
from chaincover.output import prepare_folder, to_json, write_text
from chaincover.progress import Progress
from chaincover.project import Project, read_project
from chaincover.replay import Replay, replay

F = TypeVar("F", bound=Callable[..., Any])
INTERRUPTED = 130
INTERNAL_ERROR = 70
CUT_OFF = 141
"""The reader of stdout has gone, as shells report it."""


def controller_options(command: F) -> F:
    """Options of every command that reads a controller."""
    options = [
        click.argument("path", metavar="PATH"),
        click.option("--goal", "select", multiple=True, metavar="NAME", help="Only these goals (shell patterns)."),
        click.option("--exclude", multiple=True, metavar="NAME", help="Leave these goals out (shell patterns)."),
        click.option("--property", "properties", multiple=True, metavar="TEXT", help="A further property, as text."),
        click.option(
            "--final",
            metavar="EXPR",
            help="Condition in which a chain must end: a C expression; init: a state like the one after init; "
            "none: a chain may end anywhere, whatever the project says.",
        ),
        click.option("-I", "include", multiple=True, metavar="DIR", help="Folder of headers."),
        click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro."),
        click.option("--json", "as_json", is_flag=True, help="The result as JSON on stdout, and nothing else there."),
        click.option("-v", "--verbose", count=True, help="Progress line by line on stderr."),
        click.option("-q", "--quiet", is_flag=True, help="No progress, no summary."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(results.tool_version(), prog_name="chaincover")
def cli() -> None:
    """One reset-free input sequence that exercises every requirement of a C controller.

    PATH is a C file (paper's convention: init, compute, p_*), a chaincover.toml or a folder with one.
    """


@cli.command()
@controller_options
@click.option(
    "--compare", default=1000, show_default=True, metavar="N", help="Random steps to compare with the original."
)
def check(compare: int, as_json: bool, **given: Any) -> int:
    """Read everything; report interface, goals, contradictions and suspected undefined behaviour."""
    progress = _progress(given)
    controller = _load(given, progress)
    with progress.stage("check"):
        found = analysis.analyse(controller, choose_engine("z3"), compare)
    progress.done()
    if as_json:
        click.echo(to_json(analysis.as_data(controller, found)), nl=False)
    elif not given["quiet"]:
        console.show_analysis(console.console(), controller, found)
    return found.exit_code


@cli.command()
@controller_options
@click.option("-o", "--output", default="chain-out", show_default=True, metavar="DIR", help="Folder for the results.")
@click.option("-K", "--bound", type=click.IntRange(min=0), metavar="K", help="Largest weight; without it K grows.")
@click.option("--overlap", type=click.Choice(["allow", "forbid"]), help="May goals share steps?")
@click.option("--ordering", type=click.Choice(["auto", "tsp", "exact"]), help="Who orders the goals.")
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="For the whole run.")
@click.option("--no-replay", is_flag=True, help="Do not replay the chain on the compiled original.")
def generate(output: str, no_replay: bool, as_json: bool, **given: Any) -> int:
    """Generate one chain that covers every goal; replay it on the compiled original."""
    progress = _progress(given)
    controller, options = _prepared(given, progress)
    folder = prepare_folder(output)
    with progress.stage("search"):
        result = pipeline.generate(controller.system, controller.goals, controller.final, options, progress)
    played, problem = _try_replay(controller, None if no_replay else result.chain, progress)
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
    return results.exit_code(result, played)


@cli.command(name="replay")
@controller_options
@click.argument("chain", metavar="CHAIN")
def replay_command(chain: str, as_json: bool, **given: Any) -> int:
    """Replay CHAIN (chain.json, its folder, or a hand-written inputs.csv) on the compiled original.

    Tells for each goal where it is covered and whether its consequent held.
    """
    progress = _progress(given)
    controller = _load(given, progress)
    stimulus = chain_file.read_stimulus(chain, controller.system)
    if given["final"] is not None:
        stimulus = replace(stimulus, to_final=True)
    with progress.stage("replay"):
        played = replay(controller, stimulus)
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
@click.option("-K", "--bound", type=click.IntRange(min=0), metavar="K", help="Largest weight; without it K grows.")
@click.option("--overlap", type=click.Choice(["allow", "forbid"]), help="May goals share steps?")
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="For the whole run.")
@click.option("--format", "form", type=click.Choice(["json", "dot"]), default="json", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of stdout.")
def graph(form: str, output: str | None, as_json: bool, **given: Any) -> int:
    """The K-reachability graph, as JSON or DOT, grown until a covering path exists."""
    progress = _progress(given)
    controller, options = _prepared({**given, "ordering": None}, progress)
    if output:
        prepare_folder(str(Path(output).parent))
    with progress.stage("graph"):
        found, stopped_by = grow(controller.system, controller.goals, controller.final, options, progress)
    progress.done()
    data = results.graph_data(found)
    text = to_json(data) if form == "json" or as_json else export_graph.to_dot(controller.system.name, data)
    if output:
        write_text(Path(output), text)
    else:
        click.echo(text, nl=False)
    return results.graph_exit_code(found, stopped_by)


@cli.command(name="init")
@click.argument("source", metavar="FILE.c")
@click.option("-o", "--output", metavar="FILE", help="Default: chaincover.toml beside the source.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def init_command(source: str, output: str | None, force: bool) -> int:
    """Write a commented project file for one C source."""
    place = Path(output) if output else Path(source).parent / "chaincover.toml"
    text = scaffold.project_text(source, place.parent)
    if place.exists() and not force:
        raise ChainCoverError("this file exists already", Location(str(place)), "give --force, or another -o FILE")
    write_text(place, text)
    click.echo(f"wrote {place}; next: chaincover check {place}")
    return 0


def _progress(given: dict[str, Any]) -> Progress:
    return Progress(-1 if given["quiet"] else given["verbose"])


def _load(given: dict[str, Any], progress: Progress) -> Controller:
    """The controller that the options name."""
    with progress.stage("read"):
        project = _with_options(read_project(given["path"]), given)
        return load(project, given["properties"], given["final"], given["select"], given["exclude"])


def _with_options(project: Project, given: dict[str, Any]) -> Project:
    defines = tuple(_define(text) for text in given["defines"])
    config = project.config
    config = replace(config, include=(*given["include"], *config.include), defines=(*config.defines, *defines))
    return replace(project, config=config)


def _define(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    return name, value if equals else "1"


def _prepared(given: dict[str, Any], progress: Progress) -> tuple[Controller, pipeline.Options]:
    """The controller with its invariants proved, and the options of the search."""
    controller = _load(given, progress)
    project = controller.project
    if not controller.goals:
        hint = "write property functions p_*, [[property]] tables in the project file, or give --property TEXT"
        raise InputRefused("there is no goal to cover", project.where, hint)
    options = pipeline.Options(
        bound=given["bound"] if given["bound"] is not None else project.bound,
        overlap=given["overlap"] or project.overlap,
        ordering=given["ordering"] or project.ordering,
        time_limit=given["time_limit"],
    )
    with progress.stage("check"):
        system = analysis.prepare(controller, choose_engine(options.engine))
    return replace(controller, system=system), options


def _try_replay(
    controller: Controller, chain: Chain | None, progress: Progress
) -> tuple[Replay | None, BaseException | None]:
    """The replay of a chain just found, or what stopped it: the chain is written in any case."""
    if chain is None:
        return None, None
    try:
        with progress.stage("replay"):
            return replay(controller, chain_file.stimulus_of(controller.system, chain)), None
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
        code = cli.main(standalone_mode=False)
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
    except SystemExit as leaving:  # click's answer to a closed pipe
        if not isinstance(leaving.__context__, BrokenPipeError):
            raise
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
