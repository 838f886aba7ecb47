"""The command ``chaincover bench``. It is loaded to show what it does, so all else is loaded when it is run."""

from __future__ import annotations

from typing import Any

import click

from chaincover.cli.help import PLACE, Command, quiet_option


@click.command(name="bench", cls=Command)
@click.argument("suite", metavar="SUITE", type=PLACE)
@click.option(
    "-o", "--output", required=True, metavar="DIR", type=PLACE, help="Folder for the table, the page and all logs."
)
@click.option("--jobs", type=click.IntRange(1, 1000), default=1, show_default=True, metavar="N", help="Runs at a time.")
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler whose workers do the runs, such as tcp://...")
@click.option("--resume", is_flag=True, help="Go on in DIR: runs that have ended are not repeated.")
@click.option(
    "--diff", "old", metavar="OLD", type=PLACE, help="Mark rows that differ from those of an earlier run's folder."
)
@quiet_option
@click.option("--list", "only_list", is_flag=True, help="Show which runs there are, and run none.")
def bench(suite: str, output: str, resume: bool, old: str | None, only_list: bool, **workers: Any) -> int:
    """Run a suite of models and tools: a table, a page to look at, all logs.

    SUITE is a TOML file, or the name of a bundled suite such as paper. Each run is a process with hard limits of time
    and memory.
    """
    from benchmarks.bench import session
    from benchmarks.bench.cluster import Cluster
    from benchmarks.bench.plan import plan
    from benchmarks.bench.suite import read_suite

    read = read_suite(suite)
    runs = plan(read)
    if only_list:
        for run in runs:
            click.echo(f"{run.id}  {run.shown}{f'  missing: {run.code.missing}' if run.code.missing else ''}")
        return 0
    before = session.read_old(old)
    cluster = None if workers["scheduler"] is None else Cluster(workers["scheduler"])
    with session.opened(read, runs, output, resume) as going:
        return going.run(workers["jobs"], cluster, before, workers["quiet"])
