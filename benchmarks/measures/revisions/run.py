"""Two revisions on the same questions: ``python -m benchmarks revisions``.

``run`` runs ``generate`` and ``verify`` of one revision on every row and keeps each finished row, so that it can be
stopped and started again. ``table`` compares two such files.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import IO, Any

import click

from benchmarks import FOLDER
from benchmarks.measures.revisions.outcome import facts, verified
from benchmarks.measures.revisions.rows import Row, rows
from benchmarks.measures.revisions.table import Measured, Process, proved, read, report

CLOCK = Path(__file__).parent / "processor_clock"
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Revision:
    """An installation of ChainCover: words and environment variables of the command, and the options of every run."""

    command: tuple[str, ...]
    variables: dict[str, str]
    mode: str
    generate: tuple[str, ...]
    verify: tuple[str, ...]
    patience: float
    """After so many seconds of the clock a process is ended."""


def revision(command: str, mode: str, limit: float, clock: bool, patience: float) -> Revision:
    """``command`` is read as a shell would read it; it may begin with assignments of environment variables."""
    words = shlex.split(command)
    variables: dict[str, str] = {}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    if clock:
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, [str(CLOCK), variables.get("PYTHONPATH")]))
    options = ("--time-limit", f"{limit:g}")
    if mode == "limit":
        variables["XDG_CACHE_HOME"] = os.devnull  # older revisions kept graphs there
    return Revision(tuple(words), variables, mode, options, options, patience)


def processor_seconds(number: int) -> float:
    """What the process, and its children that have ended, have used so far; 0 where that is not known."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(field) for field in fields[11:15]) / TICKS


def finished(process: subprocess.Popen[str], patience: float) -> tuple[int, float, float, bool]:
    """Exit code, seconds and megabytes of the whole process tree, and whether patience came to its end."""
    expired = threading.Event()

    def end() -> None:
        expired.set()
        process.send_signal(signal.SIGKILL)

    timer = threading.Timer(patience, end)
    timer.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, expired.is_set()


def progress(number: int, lines: IO[str], into: list[tuple[float, str]]) -> None:
    """Every line with the processor's seconds at which it came."""
    into.extend((round(processor_seconds(number), 2), line.rstrip()) for line in lines)


def run(revised: Revision, words: Sequence[str], output: Path) -> Process:
    """Run a command to its end; ``output`` gets what it says."""
    begun = time.monotonic()
    said: list[tuple[float, str]] = []
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment = {**inherited, "XDG_CACHE_HOME": str(output.parent / "cache"), **revised.variables}
    with (
        output.open("w") as out,
        subprocess.Popen(
            [*revised.command, *words], env=environment, stdout=out, stderr=subprocess.PIPE, text=True
        ) as process,
    ):
        assert process.stderr is not None
        reader = threading.Thread(target=progress, args=(process.pid, process.stderr, said))
        reader.start()
        code, seconds, memory, expired = finished(process, revised.patience)
        reader.join()
    wall = time.monotonic() - begun
    return Process(code, round(seconds, 2), round(wall, 2), round(memory), expired, said[-2000:])


def measure(row: Row, revised: Revision, folder: Path) -> Measured:
    """The row's ``generate``."""
    folder.mkdir(parents=True, exist_ok=True)
    chain = folder / "chain-out"
    for old in chain.glob("*"):
        old.unlink()
    words = ["generate", str(row.project), *row.options, *revised.generate, "-o", str(chain)]
    generated = run(revised, words, folder / "generate.txt")
    return Measured(row.name, revised.mode, generated, facts(chain))


def check(row: Row, measured: Measured, revised: Revision, folder: Path) -> Measured:
    """The row's ``verify``, where ``generate`` has left a chain."""
    if not verifiable(measured):
        return measured
    words = ["verify", str(row.project), str(folder / "chain-out"), "--json", *revised.verify]
    verify = run(revised, words, folder / "verify.json")
    return replace(measured, verify=verify, checks=verified(folder / "verify.json"))


def verifiable(measured: Measured) -> bool:
    """Whether there is a chain."""
    return measured.facts is not None and measured.facts.length is not None


@click.group()
def main() -> None:
    """Compare two revisions of ChainCover."""


@main.command("run")
@click.option("--command", required=True, help="How this revision is called, such as '.venv/bin/chaincover'.")
@click.option("--keep", required=True, type=click.Path(path_type=Path), help="Finished rows, one line of JSON each.")
@click.option("--folder", required=True, type=click.Path(path_type=Path), help="Where chains and outputs are left.")
@click.option(
    "--mode",
    type=click.Choice(["limit", "defaults"]),
    default="limit",
    help="One job, no kept graphs; or neither.",
)
@click.option("--limit", default=120.0, show_default=True, help="--time-limit of generate and of verify.")
@click.option("--patience", default=7200.0, show_default=True, help="Seconds of the clock after which a process ends.")
@click.option("--processor-clock", is_flag=True, help="Limits count seconds of the processor (one job only).")
@click.option("--row", "patterns", multiple=True, help="Only these rows (shell patterns).")
@click.option("--without", multiple=True, help="Not these rows (shell patterns).")
@click.option(
    "--unproved", type=click.Path(exists=True, path_type=Path), help="Only rows in this file without a proof."
)
@click.option("--models", type=click.Path(path_type=Path), default=FOLDER / "models", help="Bundled models.")
@click.option("--real", type=click.Path(path_type=Path), default=FOLDER / "real", help="Real programs, fetched.")
@click.option("--no-verify", is_flag=True, help="Only generate; a later run without this verifies.")
@click.option("--list", "only_list", is_flag=True, help="Say which rows are left, and run none.")
def run_command(keep: Path, folder: Path, only_list: bool, no_verify: bool, **settings: Any) -> None:
    """Run one revision on the rows that are not finished, one after the other."""
    revised = revision(
        settings["command"], settings["mode"], settings["limit"], settings["processor_clock"], settings["patience"]
    )
    done = {measured.row: measured for measured in read(keep) if measured.mode == revised.mode}
    for row in chosen(settings):
        known = done.get(row.name)
        if known and (known.verify or no_verify or not verifiable(known)):
            continue
        click.echo(row.name, err=True)
        if only_list:
            continue
        place = folder / row.name.replace("/", "-").replace(" ", "_")
        measured = known or measure(row, revised, place)
        if not no_verify:
            measured = check(row, measured, revised, place)
        with keep.open("a") as file:
            file.write(json.dumps(asdict(measured)) + "\n")


def chosen(settings: dict[str, Any]) -> list[Row]:
    """The rows that the options select."""
    unproved = settings["unproved"]
    asked = {one.row for one in read(unproved) if one.mode == "limit" and not proved(one)} if unproved else None
    patterns, without = settings["patterns"] or ("*",), settings["without"]
    return [
        row
        for row in rows(settings["models"], settings["real"])
        if (asked is None or row.name in asked)
        and any(fnmatch(row.name, pattern) for pattern in patterns)
        and not any(fnmatch(row.name, pattern) for pattern in without)
    ]


@main.command("table")
@click.argument("old", type=click.Path(exists=True, path_type=Path))
@click.argument("new", type=click.Path(exists=True, path_type=Path))
@click.option("-o", "--output", type=click.File("w"), default="-", help="Where the table goes.")
def table_command(old: Path, new: Path, output: IO[str]) -> None:
    """Compare the rows of two files, in Markdown."""
    for line in report(read(old), read(new)):
        print(line, file=output)
