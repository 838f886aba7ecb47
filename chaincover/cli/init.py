"""The command ``init``: a project file proposed for C sources."""

from __future__ import annotations

import os
from pathlib import Path

import click

from bmc.errors import ChainCoverError, Location
from chaincover.cli.options import time_option
from chaincover.formats.output import write_text
from chaincover.project.scaffold.text import propose


@click.command(name="init")
@click.argument("sources", metavar="DIR|FILE.c...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help="Default: chaincover.toml in DIR, or beside the first file.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@time_option
def command(sources: tuple[str, ...], output: str | None, force: bool, time_limit: float | None) -> int:
    """Write a commented project file for the C sources of a controller."""
    first = Path(sources[0])
    place = Path(output) if output else (first if os.path.isdir(first) else first.parent) / "chaincover.toml"
    text, found = propose(sources, place.parent)
    if os.path.lexists(place) and not force:
        raise ChainCoverError("this file exists already", Location(str(place)), "give --force, or another -o FILE")
    write_text(place, text)
    click.echo(f"{found}\nwrote {place}; next: chaincover check {place}")
    return 0
