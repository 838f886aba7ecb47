"""The command ``report``: what a run left in files as one HTML page, or for other readers."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import click

from bmc import ending
from chaincover.cli.help import Command, quiet_option
from chaincover.formats.output import prepare_folder, write_text
from chaincover.report import console

REPORT = "report.html"
"""The name of the page."""

STDOUT = "-"
"""The name of a file that stands for standard output."""

FORMATS = {
    "html": (".html", "chaincover.report.html.page"),
    "markdown": (".md", "chaincover.report.markdown"),
    "csv": (".csv", "chaincover.report.traceability"),
    "sarif": (".sarif", "chaincover.report.sarif"),
}
"""By format how names of its files end, and the module whose function ``report`` makes it."""


@click.command(name="report", cls=Command)
@click.argument("places", metavar="DIR|FILE...", nargs=-1, required=True)
@click.option("--format", "form", type=click.Choice([*FORMATS]), help="[default: by the end of -o, else html]")
@click.option(
    "-o", "--output", metavar="FILE", help="The file to write, - for stdout.  [default: report.html beside the result]"
)
@click.option("--sources", metavar="DIR", help="Folder of the controller's sources, where they lie elsewhere.")
@click.option("--earlier", metavar="DIR|FILE", help="An earlier result: what differs is told.")
@quiet_option
@ending.uninterrupted()
def command(
    places: tuple[str, ...], form: str | None, output: str | None, sources: str | None, earlier: str | None, quiet: bool
) -> int:
    """Write a report on the results in DIR or FILE...: one HTML file that needs nothing else.

    It shows chain.json, chains.json, run.json, judged.json, what verify and check printed with --json, logs of runs on
    line and rows of a benchmark. Nothing is compiled, loaded or run, and no file outside the named folders is read.

    Other formats: markdown for a pull request (under 60 lines), csv with a row for each goal, sarif with what failed
    and what may be undefined, for code hosts and editors.
    """
    form = form or _by_name(output)
    place = Path(output) if output else _beside(places[0], form)
    prepare_folder(str(place.parent))
    with ending.interruptible():
        text, notes = made(places, sources, earlier, form)
    if output == STDOUT:
        click.echo(text, nl=False)
        return 0
    write_text(place, text)
    if not quiet:
        out = console.console(False)
        for note in notes:
            console.say(out, f"note: {note}")
        console.say(out, f"written to {place}")
    return 0


def made(
    places: Sequence[str], sources: str | None = None, earlier: str | None = None, form: str = "html"
) -> tuple[str, Sequence[str]]:
    """The report on the results in ``places``, and what is missing in it, a sentence each.

    ``sources``: the folder with the controller's sources, where it is known; ``earlier``: a result to compare with.
    InputRefused where nothing can be read. A limit or a signal ends it only where the caller is ``interruptible``.
    """
    from chaincover.report.html.saved import read_saved

    text, notes = import_module(FORMATS[form][1]).report(read_saved(places, sources, earlier))
    return text, notes


def _by_name(output: str | None) -> str:
    """The format of a file of this name."""
    return next((form for form, (suffix, _) in FORMATS.items() if output and output.lower().endswith(suffix)), "html")


def _beside(place: str, form: str) -> Path:
    folder = Path(place)
    return (folder if folder.is_dir() else folder.parent) / f"{Path(REPORT).stem}{FORMATS[form][0]}"
