"""The tests that take too long for the suite: ``python -m benchmarks tests [PYTEST_OPTION ...]``.

They compare the same things as those of the suite, on more programs or on larger ones; the suite has a sample of each.
"""

from __future__ import annotations

import subprocess
import sys

import click

from benchmarks import FOLDER


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("options", metavar="[PYTEST_OPTION]...", nargs=-1, type=click.UNPROCESSED)
def main(options: tuple[str, ...]) -> None:
    """Run the tests that are marked as evidence; files to take them from and options are those of pytest."""
    command = [sys.executable, "-m", "pytest", "--evidence", "-n", "auto", *options]
    sys.exit(subprocess.run(command, cwd=FOLDER.parent, check=False).returncode)
