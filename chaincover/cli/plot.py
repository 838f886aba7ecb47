"""The command ``plot``: the waveform of a saved run as a drawing."""

from __future__ import annotations

from pathlib import Path

import click

from bmc import ending
from bmc.errors import UsageError
from chaincover.cli.help import Command, quiet_option
from chaincover.cli.options import COUNT
from chaincover.formats.output import prepare_folder, write_texts
from chaincover.report import console


@click.command(name="plot", cls=Command)
@click.argument("chain", metavar="CHAIN")
@click.option(
    "-s", "--signals", metavar="NAME,...", default="", help="The lanes in order: names, ends of names, patterns."
)
@click.option("-o", "--output", metavar="FILE", required=True, help="The file to write: FILE.svg or FILE.png.")
@click.option("--from", "first", type=COUNT, default=0, metavar="STEP", help="The first step that is drawn.")
@click.option("--to", "last", type=COUNT, metavar="STEP", help="The last step that is drawn.")
@quiet_option
@ending.uninterrupted()
def command(chain: str, signals: str, output: str, first: int, last: int | None, quiet: bool) -> int:
    """Draw the waveform of CHAIN: chain.json, its folder, or the table of a violation beside it.

    Goals are flags, deadlines bars, modes have their names, and waiting is folded. Without --signals there is a lane
    for what the goals read, then for what changes. An SVG is light or dark as its reader is; PNG needs matplotlib.
    """
    from chaincover.report.picture import as_png, as_svg
    from chaincover.report.saved_run import read_run

    kind = Path(output).suffix.lower()
    if kind not in (".svg", ".png"):
        raise UsageError(f"'{output}' names no kind of drawing", hint="name a file that ends in .svg or .png")
    names = [name for name in (each.strip() for each in signals.split(",")) if name]
    with ending.interruptible():
        picture = read_run(chain).picture(names, (first, last))
        content = as_svg(picture).encode() if kind == ".svg" else as_png(picture)
    prepare_folder(str(Path(output).parent))
    write_texts({Path(output): [content]})
    if not quiet:
        console.say(console.console(False), f"written to {output}")
    return 0
