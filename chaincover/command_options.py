"""What several commands share: their options, and the controller and settings that these name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import click

from bmc.engines import choose as choose_engine
from bmc.errors import InputRefused
from chaincover import analysis, pipeline
from chaincover.load import Controller, load
from chaincover.progress import Progress
from chaincover.project import Project, read_project

F = TypeVar("F", bound=Callable[..., Any])

bound_option = click.option(
    "-K", "--bound", type=click.IntRange(min=0), metavar="K", help="Largest weight; without it K grows."
)
overlap_option = click.option("--overlap", type=click.Choice(["allow", "forbid"]), help="May goals share steps?")


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


def start_progress(given: dict[str, Any]) -> Progress:
    """Progress as verbose as asked for."""
    return Progress(-1 if given["quiet"] else given["verbose"])


def load_controller(given: dict[str, Any], progress: Progress) -> Controller:
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


def prepare(given: dict[str, Any], progress: Progress) -> tuple[Controller, pipeline.Options]:
    """The controller with its invariants proved, and the options of the search."""
    controller = load_controller(given, progress)
    project = controller.project
    if not controller.goals and controller.final is None:
        hint = "write property functions p_*, [[property]] tables in the project file, or give --property TEXT"
        raise InputRefused("there is no goal to cover, and no final condition to reach", project.where, hint)
    options = pipeline.Options(
        bound=given["bound"] if given["bound"] is not None else project.bound,
        overlap=given["overlap"] or project.overlap,
        ordering=given["ordering"] or project.ordering,
        time_limit=given["time_limit"],
    )
    with progress.stage("check"):
        system = analysis.prepare(controller, choose_engine(options.engine))
    return replace(controller, system=system), options
