"""The command ``init``: a project file proposed for C sources."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from bmc import ending
from bmc.errors import ChainCoverError, Location, printable
from chaincover.cli.entry import closing
from chaincover.cli.options import name_pairs, time_option
from chaincover.formats.output import write_text
from chaincover.project.scaffold.reading import Wanted
from chaincover.project.scaffold.text import propose


@click.command(name="init")
@click.argument("sources", metavar="DIR|FILE.c...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help="Default: chaincover.toml in DIR, or beside the first file.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option("--step", default="", metavar="NAME", help="The step function, where another one was recognised.")
@click.option("-I", "include", multiple=True, metavar="DIR", help="Folder of headers.")
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", callback=name_pairs, help="Define a macro.")
@time_option
@ending.uninterrupted()
def command(sources: tuple[str, ...], output: str | None, force: bool, **given: Any) -> int:
    """Write a commented project file for the C sources of a controller.

    What is not clear from the sources is asked below: the file tells it, too, where it is to be decided.
    """
    first = Path(sources[0])
    place = Path(output) if output else (first if os.path.isdir(first) else first.parent) / "chaincover.toml"
    if os.path.lexists(place) and not force:
        raise ChainCoverError("this file exists already", Location(str(place)), "give --force, or another -o FILE")
    with ending.interruptible():
        scaffold = propose(sources, place.parent, Wanted(given["include"], tuple(given["defines"]), given["step"]))
    closing()
    write_text(place, scaffold.text)
    for line in (scaffold.summary, *(f"- {question}" for question in scaffold.questions)):
        click.echo("\n".join(map(printable, line.split("\n"))))
    click.echo(f"wrote {place}; next: chaincover check {place}")
    return 0
