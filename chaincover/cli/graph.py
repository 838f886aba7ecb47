"""The command ``graph``: the K-reachability graph as a table on the terminal, as JSON, DOT or SVG."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

import click

from bmc import ending
from bmc.engines import choose as choose_engine
from bmc.engines.protocol import Engine
from bmc.errors import InputRefused, LimitReached
from chaincover.cli.entry import closing
from chaincover.cli.help import PLACE, Command
from chaincover.cli.options import Search, Shown, graph_options, held_request_options, prepare, prepared, shown_options
from chaincover.cli.progress import Progress
from chaincover.cli.replay import one_chain
from chaincover.formats.distances import better_of
from chaincover.formats.document import Document, read_document
from chaincover.formats.drawing import edges_of, to_dot, to_svg
from chaincover.formats.output import prepare_folder, to_json, write_text
from chaincover.formats.recorded_subject import load_for, unlike
from chaincover.formats.writer import graph_data
from chaincover.graph.reachability import covering_graph
from chaincover.limits import Limits
from chaincover.minimality.implied import implied_goals
from chaincover.options import Options
from chaincover.problem import Problem, Questions
from chaincover.project.bounds import UseOfBounds
from chaincover.project.load import Request
from chaincover.reductions.slicing import reduced
from chaincover.report import console
from chaincover.report.console_graph import MOST_ROWS, show_graph
from chaincover.report.distances import said_of_search
from chaincover.report.documents import graph_exit_code
from chaincover.subject import Subject


@click.command(name="graph", cls=Command)
@held_request_options
@click.argument("chain", metavar="[CHAIN]", type=PLACE, required=False)
@graph_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "dot", "svg"]),
    help="[default: text on a terminal, else json]",
)
@click.option("-o", "--output", metavar="FILE", type=PLACE, help="Write to a file instead of stdout.")
@shown_options
@ending.uninterrupted()
def command(
    request: Request, search: Search, shown: Shown, chain: str | None, form: str | None, output: str | None
) -> int:
    """The K-reachability graph, as a table, JSON, DOT or SVG, grown until a covering path exists.

    With CHAIN (chain.json or its folder) the graph of its goals, in which it is drawn bold: each edge with the steps
    that the chain takes, and the fewest that there are where it takes more. What the chain's file has proved of these
    distances counts too where it is of the same sources and settings.
    """
    progress = shown.progress()
    document = None if chain is None else _with_chain(chain)
    subject, options = _prepared(document, request, search, progress)
    if output:
        prepare_folder(str(Path(output).parent))
    with progress.stage("graph"):
        problem, left = reduced(subject.problem, options)
        engine = choose_engine(options.engine, options.memory_limit)
        found = covering_graph(problem, left, engine, progress)
        closing(found.stopped_by)
    progress.done()
    data = graph_data(found.graph, subject.goals)
    notes = [*filter(None, [said_of_search(found, options.bound)])]
    if document is not None and not found.graph.exact:
        data, known = _with_recorded(data, document, subject, options)
        notes += known
    if document is not None:
        data["chain"] = edges_of(document, found.graph.goals, found.graph.end)
    form = "json" if shown.as_json else form or _usual_form(output)
    text = to_json(data)
    if form == "text":
        many = len(data["nodes"]) > MOST_ROWS and not found.stopped_by
        text = _table(subject.system.name, data, _implied(problem, left, engine) if many else {}, notes)
    elif form != "json":
        text = {"dot": to_dot, "svg": to_svg}[form](subject.system.name, data)
    if notes and form != "text" and progress.verbosity >= 0:
        progress.note("\n".join(notes))
    _deliver(text, output)
    return graph_exit_code(found)


def _usual_form(output: str | None) -> str:
    return "text" if sys.stdout.isatty() and not output else "json"


def _prepared(
    document: Document | None, request: Request, search: Search, progress: Progress
) -> tuple[Subject, Options]:
    """What is tested, with the goals of ``document`` where there is one, and how."""
    if document is None:
        return prepare(request, search, progress)
    with progress.stage("read"), ending.interruptible():
        subject = load_for(document, request, UseOfBounds.REFUSED)
        ending.reads(str)
    return prepared(subject, search, progress)


def _deliver(text: str, output: str | None) -> None:
    if output:
        write_text(Path(output), text)
    else:
        click.echo(text, nl=False)


def _with_recorded(
    data: dict[str, Any], document: Document, subject: Subject, options: Options
) -> tuple[dict[str, Any], list[str]]:
    """The graph's data with what the document has proved of the same goals, and a sentence on that, if any."""
    why = unlike(document, subject, options.overlap)
    if why:
        return data, [f"Distances that {document.place.name} has do not count: {why}. Generate the chain again."]
    texts = {goal.name: goal.text for goal in subject.goals}
    same = [goal.name for goal in document.goals if texts.get(goal.name) == goal.property]
    better = better_of(data, document.data["graph"], same)
    return better, [f"Distances that {document.place.name} has count too."] if better != data else []


def _table(name: str, data: dict[str, Any], implied: Mapping[str, str], notes: Sequence[str]) -> str:
    """The graph's data as text, as wide as the terminal is."""
    text = StringIO()
    show_graph(console.Console(text, console.columns_of(sys.stdout)), name, data, implied, notes)
    return text.getvalue()


def _implied(problem: Problem, options: Options, engine: Engine) -> dict[str, str]:
    """Of goals that others imply these others, as far as limits allow."""
    limits = Limits(options.time_limit, options.query_limit, options.effort)
    with suppress(LimitReached, KeyboardInterrupt), ending.interruptible():
        return implied_goals(Questions(problem, engine, limits))
    return {}


def _with_chain(chain: str) -> Document:
    """The document that ``chain`` names. InputRefused where that has no chain."""
    document = read_document(Path(one_chain(chain)))
    if document.chain is None:
        raise InputRefused("there is no chain in it", document.where, "leave it out, or generate a chain first")
    return document
