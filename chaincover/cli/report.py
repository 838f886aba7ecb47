"""The command ``report``: what a run left in files as one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from bmc import ending
from chaincover.formats.output import prepare_folder, write_text
from chaincover.report import console

REPORT = "report.html"
"""The name of the page."""


@click.command(name="report")
@click.argument("places", metavar="DIR|FILE...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help="The file to write.  [default: report.html beside the result]")
@click.option("--sources", metavar="DIR", help="Folder of the controller's sources, where they lie elsewhere.")
@click.option("--earlier", metavar="DIR|FILE", help="An earlier result: what differs is told.")
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
@ending.uninterrupted()
def command(places: tuple[str, ...], output: str | None, sources: str | None, earlier: str | None, quiet: bool) -> int:
    """Write a report on the results in DIR or FILE...: one HTML file that needs nothing else.

    It shows chain.json, chains.json, run.json, judged.json, verification files, logs of runs on line and rows of a
    benchmark. Nothing is compiled, loaded or run, and no file outside the named folders is read.
    """
    place = Path(output) if output else _beside(places[0])
    prepare_folder(str(place.parent))
    notes = write_report(places, place, sources, earlier)
    if not quiet:
        out = console.console(False)
        for note in notes:
            console.say(out, f"note: {note}")
        console.say(out, f"written to {place}")
    return 0


def write_report(
    places: Sequence[str], place: Path, sources: str | None = None, earlier: str | None = None
) -> Sequence[str]:
    """Write the report on the results in ``places`` to ``place``; what is missing in it, a sentence each.

    ``sources``: the folder with the controller's sources, where it is known; ``earlier``: a result to compare with.
    InputRefused where nothing can be read, CannotWrite, with the earlier report as it was, where nothing is written.
    """
    from chaincover.report.html.page import report
    from chaincover.report.html.saved import read_saved

    with ending.interruptible():
        saved = read_saved(places, sources, earlier)
        text, notes = report(saved)
    write_text(place, text)
    return notes


def _beside(place: str) -> Path:
    folder = Path(place)
    return (folder if folder.is_dir() else folder.parent) / REPORT
