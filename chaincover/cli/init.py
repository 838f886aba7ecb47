"""The command ``init``: a project file proposed for C sources."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from bmc import ending
from bmc.ending import ExitCode
from bmc.errors import ChainCoverError, Location, listed, printable
from chaincover.cli.entry import closing, signalled
from chaincover.cli.help import PLACE, Command, quiet_option
from chaincover.cli.options import init_time_option, name_pairs
from chaincover.formats.output import write_text
from chaincover.project.scaffold.sources import Wanted
from chaincover.project.scaffold.stubs import propose_with_stubs
from chaincover.project.scaffold.text import propose


@click.command(name="init", cls=Command)
@click.argument("sources", metavar="DIR|FILE.c...", type=PLACE, nargs=-1, required=True)
@click.option(
    "-o", "--output", metavar="FILE", type=PLACE, help="Default: chaincover.toml in DIR, or beside the first file."
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option("--step", default="", metavar="NAME", help="The step function, where another one was recognised.")
@click.option("-I", "include", multiple=True, metavar="DIR", type=PLACE, help="Folder of headers.")
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", callback=name_pairs, help="Define a macro.")
@click.option(
    "--stubs", metavar="DIR", type=PLACE, help="Write what the program lacks there, as far as it can be guessed."
)
@init_time_option
@quiet_option
@ending.uninterrupted()
def command(sources: tuple[str, ...], output: str | None, force: bool, **given: Any) -> int:
    """Write a commented project file for the C sources of a controller.

    What is not clear from the sources is asked below: the file tells it, too, where it is to be decided.
    """
    first = Path(sources[0])
    place = Path(output) if output else (first if os.path.isdir(first) else first.parent) / "chaincover.toml"
    if os.path.lexists(place) and not force:
        raise ChainCoverError("this file exists already", Location(str(place)), "give --force, or another -o FILE")
    wanted = Wanted(given["include"], tuple(given["defines"]), given["step"])
    stubs: tuple[str, ...] = ()
    with ending.interruptible():
        if given["stubs"]:
            scaffold, stubs = propose_with_stubs(sources, place.parent, wanted, Path(given["stubs"]), write_text)
        else:
            scaffold = propose(sources, place.parent, wanted)
    closing()
    write_text(place, scaffold.text)
    told = [f"- {question}" for question in scaffold.questions]
    if stubs:
        told.append(f"- stubs were guessed; look through them, and confirm each in its first line: {listed(stubs)}")
    if not given["quiet"]:
        for line in (scaffold.summary, *told):
            click.echo("\n".join(map(printable, line.split("\n"))))
        click.echo(f"wrote {place}; next: chaincover check {place}")
    return signalled() or (ExitCode.LIMIT if ending.called_off() else ExitCode.DONE)
