"""The command ``graph``: the K-reachability graph as JSON, DOT or SVG."""

from __future__ import annotations

from pathlib import Path

import click

from bmc import ending
from bmc.engines import choose as choose_engine
from chaincover.cli.entry import closing
from chaincover.cli.options import Search, Shown, graph_options, held_request_options, prepare, shown_options
from chaincover.formats.drawing import to_dot, to_svg
from chaincover.formats.output import prepare_folder, to_json, write_text
from chaincover.formats.writer import graph_data
from chaincover.graph.reachability import covering_graph
from chaincover.project.load import Request
from chaincover.reductions.slicing import reduced
from chaincover.report.documents import graph_exit_code


@click.command(name="graph")
@held_request_options
@graph_options
@click.option("--format", "form", type=click.Choice(["json", "dot", "svg"]), default="json", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of stdout.")
@shown_options
@ending.uninterrupted()
def command(request: Request, search: Search, shown: Shown, form: str, output: str | None) -> int:
    """The K-reachability graph, as JSON, DOT or SVG, grown until a covering path exists."""
    progress = shown.progress()
    subject, options = prepare(request, search, progress)
    if output:
        prepare_folder(str(Path(output).parent))
    with progress.stage("graph"):
        problem, left = reduced(subject.problem, options)
        engine = choose_engine(options.engine, options.memory_limit)
        found = covering_graph(problem, left, engine, progress)
        closing(found.stopped_by)
    progress.done()
    data = graph_data(found.graph, subject.goals)
    drawn = {"dot": to_dot, "svg": to_svg}.get("json" if shown.as_json else form)
    text = to_json(data) if drawn is None else drawn(subject.system.name, data)
    if output:
        write_text(Path(output), text)
    else:
        click.echo(text, nl=False)
    return graph_exit_code(found)
