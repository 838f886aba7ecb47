"""The command ``export``: questions and claims for the model checkers of others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from bmc import ending
from bmc.errors import InputRefused, Location, UsageError, counted
from chaincover.cli.entry import closing
from chaincover.cli.options import COUNT, Shown, held_request_options, overlap_option, read_controller, shown_options
from chaincover.cli.progress import Progress
from chaincover.exporters import exporter as writer_of
from chaincover.exporters import formats
from chaincover.exporters.claims import claims
from chaincover.exporters.files import INDEX, write_claims, write_question, written
from chaincover.exporters.protocol import Exporter, Statement
from chaincover.exporters.questions import chain_question
from chaincover.formats.document import CHAINS_FILE, chain_place, load_for, read_document
from chaincover.formats.output import NoFolder, prepare_folder, to_json
from chaincover.problem import Problem
from chaincover.project.load import Request
from chaincover.project.project_file import refuse_project
from chaincover.report.documents import tool_version

CHAIN = "chain"
"""The kind of the question for a whole chain."""

Index = dict[str, Any]
"""What a result's index says, and ``--json`` prints."""
Tools = tuple[Exporter, Progress]
Asked = tuple[str | None, int | None]
"""The overlap and the greatest length that options ask for."""


def _of_project(request: Request, asked: Asked, place: Path, tools: Tools, head: Index) -> Index:
    """Write the question for a chain of the project to the file ``place``."""
    writer, progress = tools
    overlap, most = asked
    if place.is_dir():
        raise NoFolder("this is a folder", Location(str(place)), "name a file: -o FILE")
    prepare_folder(str(place.parent))
    controller = read_controller(request, progress)
    if not controller.goals and controller.final is None:
        hint = "write property functions p_*, [[property]] tables in the project file, or give --property TEXT"
        raise InputRefused("there is no goal to cover, and no final condition to reach", controller.project.where, hint)
    with progress.stage("export"), ending.interruptible():
        problem = replace(controller.problem, overlap=overlap or controller.project.overlap)
        problem.check_names()
        frames = None if most is None else most + 1
        question = chain_question(problem, _no_chain(problem, most), frames)
        content = writer.write(question)
    closing()
    return write_question(place, {**head, "controller": problem.system.name}, question, content)


def _no_chain(problem: Problem, most: int | None) -> Statement:
    """That the problem has no chain of at most so many steps; of any length for None."""
    goals = counted(len(problem.goals), "goal")
    end = "" if problem.final is None else " and ends in the final condition"
    steps = "" if most is None else f" of {counted(most, 'step')} or fewer"
    apart = ", no two of which share a step" if problem.forbid else ""
    return Statement(CHAIN, problem.system.name, f"no chain{steps} covers all {goals}{apart}{end}")


def _of_result(request: Request, chain: str, folder: Path, tools: Tools, head: Index) -> Index:
    """Write the claims of a result into ``folder``."""
    writer, progress = tools
    refuse_project(chain)
    place = chain_place(chain)
    if place.name == CHAINS_FILE:
        text, hint = "this is the summary of several chains", "name one of their files, such as chain-1.json"
        raise InputRefused(text, Location(str(place)), hint)
    document = read_document(place)
    prepare_folder(str(folder))
    with progress.stage("read"), ending.interruptible():
        controller = load_for(document, request)
        ending.reads(str)
    with progress.stage("export"), ending.interruptible():
        found = list(written(claims(controller.problem, document), writer, progress))
    closing()
    return write_claims(folder, {**head, "controller": controller.system.name}, found)


@click.command(name="export")
@held_request_options
@click.argument("chain", metavar="[CHAIN]", required=False)
@overlap_option
@click.option("--max-length", type=COUNT, metavar="STEPS", help="Ask for a chain of so many steps at most.")
@click.option("--format", "form", type=click.Choice([*formats()]), default="aiger", show_default=True)
@click.option("-o", "--output", metavar="PLACE", required=True, help="The file to write; with CHAIN the folder.")
@shown_options
@ending.uninterrupted()
def command(
    request: Request,
    shown: Shown,
    chain: str | None,
    overlap: str | None,
    max_length: int | None,
    form: str,
    output: str,
) -> int:
    """Write the question whether there is a chain, for model checkers: a run of k steps to a bad state is one.

    With CHAIN (chain.json or its folder) instead what this result claims that no run does, a file each, into a folder
    with an index. Goals, final condition and macros are those that CHAIN names, unless options name others.
    """
    writer, progress = writer_of(form), shown.progress()
    head = {"tool": {"name": "chaincover", "version": tool_version()}, "format": form}
    if chain is None:
        index = _of_project(request, (overlap, max_length), Path(output), (writer, progress), head)
        told = f"{output}: {index['questions'][0]['text']}"
    elif overlap is not None or max_length is not None:
        raise UsageError("a result has its own overlap and greatest length", hint="leave these options out")
    else:
        index = _of_result(request, chain, Path(output), (writer, progress), head)
        left = len(index["left_out"])
        told = f"{output}: {counted(len(index['questions']), 'claim')}" + (
            f", {left} left out: see {INDEX}" if left else ""
        )
    progress.done()
    if shown.as_json:
        click.echo(to_json(index), nl=False)
    elif shown.text:
        click.echo(f"written to {told}")
    return 0
