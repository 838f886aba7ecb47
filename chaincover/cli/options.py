"""What several commands share: their options, and the controller and settings that these name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import click

from bmc.engines import NAMES as ENGINES
from bmc.engines import choose as choose_engine
from bmc.errors import InputRefused
from bmc.system.hold import MOST_TICKS
from chaincover import pipeline
from chaincover.check import analysis
from chaincover.graph.cache import default_folder
from chaincover.orderings import NAMES as ORDERINGS
from chaincover.progress import Progress
from chaincover.project.load import Controller, load
from chaincover.project.project_file import Project, read_project

PREPARING = 0.2
"""The part of a time limit that proving the project's invariants may take before the search."""

_NUMBER = click.IntRange(min=0)
_AS_GIVEN = ("explore", "exhaust", "rounds", "improve", "engine", "jobs", "scheduler", "query_limit")

F = TypeVar("F", bound=Callable[..., Any])

bound_option = click.option(
    "-K", "--bound", type=click.IntRange(min=0), metavar="K", help="Largest weight; without it K grows."
)
hold_option = click.option(
    "--hold",
    type=click.IntRange(1, MOST_TICKS),
    metavar="N",
    help="Inputs change only every N steps; 1: in every step, whatever the project says.",
)
overlap_option = click.option("--overlap", type=click.Choice(["allow", "forbid"]), help="May goals share steps?")


engine_option = click.option("--engine", type=click.Choice(ENGINES), help="Who answers the reachability questions.")


def work_options(command: F) -> F:
    """Options that say what answers the questions, where, and for how long each."""
    options = [
        engine_option,
        click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes that share the work."),
        click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler whose workers share it, such as tcp://..."),
        click.option(
            "--query-limit",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help="For a single question; what it leaves open is undecided.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def search_options(command: F) -> F:
    """Options of the search for a chain and its proof."""
    options = [
        click.option("--ordering", type=click.Choice(ORDERINGS), help="Who orders the goals."),
        click.option(
            "--repair",
            type=click.Choice(["auto", "refine", "paths", "none"]),
            help="Where no repair of the least order gives a chain: refine (split triggers), paths (path constraints).",
        ),
        work_options,
        click.option("--max-length", type=_NUMBER, metavar="STEPS", help="No chain longer than this."),
        click.option("--no-cache", is_flag=True, help="Neither read nor keep the graph on disk."),
        click.option("--memory-limit", type=click.IntRange(min=1), metavar="MB", help="For the solver."),
        click.option("--explore", type=_NUMBER, metavar="N", help="Simulated steps for the list of reachable states."),
        click.option("--exhaust", type=_NUMBER, metavar="N", help="Nodes of the exact search over these."),
        click.option("--rounds", type=_NUMBER, metavar="N", help="Orders tried for the bound."),
        click.option("--improve", type=_NUMBER, metavar="N", help="Work per query of the proof, 0: no proof."),
        click.option(
            "--time-limit", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="For the whole run."
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def controller_options(command: F) -> F:
    """Options of every command that reads a controller."""
    options = [
        click.argument("path", metavar="PATH"),
        click.option("--goal", "select", multiple=True, metavar="NAME", help="Only these goals (shell patterns)."),
        click.option("--exclude", multiple=True, metavar="NAME", help="Leave these goals out (shell patterns)."),
        click.option("--property", "properties", multiple=True, metavar="TEXT", help="A further property, as text."),
        click.option(
            "--cover",
            multiple=True,
            metavar="CRITERION",
            help="Goals of a coverage criterion too: states(x), transitions(x), branches(), conditions(), mcdc().",
        ),
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


def start_progress(given: dict[str, Any]) -> Progress:
    """Progress as verbose as asked for."""
    return Progress(-1 if given["quiet"] else given["verbose"])


def load_controller(given: dict[str, Any], progress: Progress) -> Controller:
    """The controller that the options name."""
    with progress.stage("read"):
        project = _with_options(read_project(given["path"]), given)
        chosen = given["select"], given["exclude"]
        return load(project, given["properties"], given["final"], *chosen, given["cover"])


def _with_options(project: Project, given: dict[str, Any]) -> Project:
    defines = tuple(_define(text) for text in given["defines"])
    config = project.config
    config = replace(config, include=(*given["include"], *config.include), defines=(*config.defines, *defines))
    hold = given.get("hold")
    return replace(project, config=config, hold=project.hold if hold is None else hold)


def _define(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    return name, value if equals else "1"


def prepare(given: dict[str, Any], progress: Progress) -> tuple[Controller, pipeline.Options]:
    """The controller with its invariants proved, and the options of the search."""
    controller = load_controller(given, progress)
    project = controller.project
    if not controller.goals and not controller.final_text:
        hint = "write property functions p_*, [[property]] tables in the project file, or give --property TEXT"
        raise InputRefused("there is no goal to cover, and no final condition to reach", project.where, hint)
    options = pipeline.Options(
        bound=given["bound"] if given["bound"] is not None else project.bound,
        overlap=given["overlap"] or project.overlap,
        ordering=given["ordering"] or project.ordering,
        time_limit=given["time_limit"],
        repair=given.get("repair") or "auto",
        max_length=given.get("max_length"),
        memory_limit=given.get("memory_limit"),
        cache=None if given.get("no_cache", True) else default_folder(),
        **{name: given[name] for name in _AS_GIVEN if given.get(name) is not None},
    )
    with progress.stage("check"):
        seconds = None if options.time_limit is None else options.time_limit * PREPARING
        system = analysis.prepare(controller, choose_engine(options.engine), seconds, options.query_limit)
    return replace(controller, system=system), options
