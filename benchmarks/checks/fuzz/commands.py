"""Command lines: run in this process as the entry point runs them, in a folder that nothing is written out of."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import random
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import click

from benchmarks.checks.fuzz.examine import ACCEPTED, FAILED, REFUSED, Input, Kind, Row
from benchmarks.checks.fuzz.mutations import NUMBERS, ODD_CHARACTERS
from benchmarks.checks.fuzz.programs import write_files
from bmc.native.build import NO_NATIVE
from chaincover.cli.entry import not_lost
from chaincover.cli.main import COMMANDS, Commands, main

CODES = frozenset({0, 1, 2, 3, 4, 5, 6, 7, 74})
"""Exit codes of commands that nobody interrupts (docs/reference/exit-codes.md), but for 70."""
REFUSALS = frozenset({2, 3, 74})
"""Those with one message."""
WRITING = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod"}
"""What Python tells its audit hooks of changes of files, beside ``open``."""


@dataclass(frozen=True)
class Told:
    """How a command ended, and what it wrote to stdout and stderr."""

    code: object
    out: str
    err: str


class Outside(Exception):
    """Something is about to be written outside of the folder."""


class _Guard:
    """Refuses, for as long as it has a folder, whatever Python is to write elsewhere; devices excepted."""

    def __init__(self) -> None:
        self.folder = ""
        self.broken: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """See ``sys.addaudithook``."""
        if not self.folder or (event != "open" and event not in WRITING):
            return
        if event == "open" and not self._writes(*arguments[1:3]):
            return
        for path in arguments[: 2 if event in ("os.rename", "os.link") else 1]:
            if isinstance(path, str | bytes | os.PathLike):
                real = os.path.realpath(os.fsdecode(path))
                if not real.startswith((self.folder, "/dev/")):
                    self.broken.append(f"{event} {real}")
                    raise Outside(real)

    @staticmethod
    def _writes(mode: object, flags: object) -> bool:
        if isinstance(mode, str):
            return any(letter in mode for letter in "wax+")
        return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


@functools.cache
def guard() -> _Guard:
    """The guard of this process, which stays until it ends."""
    found = _Guard()
    sys.addaudithook(found)
    return found


@contextlib.contextmanager
def guarded(folder: Path) -> Iterator[_Guard]:
    """Nothing is written outside of ``folder``, and temporary files are made there."""
    found = guard()
    with mock.patch.object(tempfile, "tempdir", str(folder)):
        found.folder, found.broken = os.path.realpath(folder), []
        try:
            yield found
        finally:
            found.folder = ""


def run(words: Sequence[str], folder: Path, root: Path | None = None) -> Told:
    """Run the entry point there, without native code; what is written outside of ``root`` (or there) is refused."""
    out, err = io.StringIO(), io.StringIO()
    with (
        guarded(root or folder) as watched,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["chaincover", *words]),
        mock.patch.object(sys, "dont_write_bytecode", True),
        mock.patch.object(sys, "unraisablehook", not_lost(sys.unraisablehook)),
        mock.patch.dict(os.environ, {NO_NATIVE: "1", "COLUMNS": "200"}),
    ):
        try:
            main()
        except SystemExit as ending:
            code: object = ending.code
    if watched.broken:
        return Told(f"wrote outside: {watched.broken[0]}", out.getvalue(), err.getvalue())
    return Told(code, out.getvalue(), err.getvalue())


def judged(told: Told, as_json: bool) -> Row:
    """Whether a command ended as it should: a documented code, and where it refuses one message with a next step."""
    errors = [row for row in told.err.splitlines() if row.lower().startswith("error: ")]
    if told.code not in CODES:
        return Row(FAILED, f"exit code {told.code}: {told.err[-300:]}")
    if any(word in told.out + told.err for word in ("Traceback", "internal error", "no memory is left")):
        return Row(FAILED, f"a fault: {told.err[-300:]}")
    if told.code in REFUSALS and len(errors) != 1:
        return Row(FAILED, f"exit code {told.code} with {len(errors)} messages: {told.err[-300:]}")
    if errors and not re.search(r"^  next: .|^Try '", told.err, re.M):
        return Row(FAILED, f"no next step: {told.err[-300:]}")
    if as_json and told.out and not told.out.startswith("Usage: "):
        try:
            json.loads(told.out)
        except ValueError:
            return Row(FAILED, f"--json gives no JSON: {told.out[:300]}")
    return Row(REFUSED, errors[0]) if told.code in REFUSALS else Row(ACCEPTED, f"exit code {told.code}")


PROGRAM = """\
typedef struct { unsigned char a; _Bool b; } In;
typedef struct { unsigned char n, m; } St;
void init(St *s) { s->n = 0; s->m = 0; }
void compute(In *i, St *s) { if (i->b && s->n < 5) s->n++; else if (i->a == 3) s->m = s->n; }
"""
PROJECT = """\
name = "small"
[sources]
files = ["c.c"]
[[property]]
text = "up: G(n == 1 && b -> X(n == 2))"
[[property]]
text = "m2: cover(m == 2)"
"""
HERE = "a/b/work"
"""The folder in which commands run: some levels deep, so that what goes up from there stays inside."""
QUICK = ("--effort", "0.002", "--time-limit", "10")
TEXTS = (
    *("", " ", "x", ".", "..", "../x", "~", "-", "--", "*", "?", "[", "[!a]", "a b", "x" * 5_000, "\udcff", "é"),
    *("c.c", "d", "d/p.toml", "empty.c", "bad.json", "in.csv", "chain.json", "out", "out/x/y", "c.c/x", "/dev/full"),
    *("/dev/null", "/dev/zero", "gone.c", "gone/x.toml", "d/chaincover.toml", "{}", "%s", "${HOME}", "none", "init"),
    *("p*", "up", "m2", "u?", "G(n == 1 -> X(n == 2))", "q: cover(n == 3)", "cover(n ==", "cover(X(X(b)))", "n == 0"),
    *("n == 0 && m", "a == 1", "states(n)", "transitions(m)", "branches()", "mcdc()", "conditions()", "states()", "f("),
    *("A=1", "A", "=1", "A==", "if=while", "n=m", "int=long", "A(x)=x", "1=2", "N=" + "9" * 2_000, "unsigned", "b=c"),
)
AMOUNTS = (
    *NUMBERS,
    *("nan", "inf", "-inf", "none", "None", "1e-9", "0.5", "1_000", " 1", "１", "9" * 5_000, "1e400", "+1", "true", ""),
)


@functools.cache
def commands() -> dict[str, click.Command]:
    """All commands, by their names, from the tables of click itself."""
    group = Commands()
    found = {name: group.get_command(click.Context(group), name) for name in COMMANDS}
    return {name: command for name, command in found.items() if command is not None}


def _word(random: random.Random, parameter: click.Parameter) -> str:
    """A value for a parameter: one that fits, one of another kind, or an odd one."""
    ctype, pick = parameter.type, random.choice
    if random.random() < 0.1:
        return pick(TEXTS) + pick(ODD_CHARACTERS).replace("\0", "")
    if isinstance(ctype, click.Choice) and random.random() < 0.8:
        return str(pick(list(ctype.choices)))
    if isinstance(ctype, click.types.StringParamType):
        return _named(random, parameter) if random.random() < 0.5 else pick(TEXTS)
    if parameter.name in ("hold", "bound", "max_length") and random.random() < 0.7:
        return pick(("1", "2", "3"))
    return pick(AMOUNTS)


def _named(random: random.Random, parameter: click.Parameter) -> str:
    """A value that the text of an argument or option may mean."""
    meant = {
        "path": ("c.c", "d", "d/p.toml", "d/chaincover.toml", "empty.c"),
        "sources": ("c.c", "d", "empty.c"),
        "chain": ("chain.json", ".", "out", "in.csv", "bad.json", "chains.json"),
        "select": ("up", "m2", "*", "p*"),
        "exclude": ("up", "m2", "x*"),
        "properties": ("q: cover(n == 3)", "G(n == 1 -> X(n == 2))"),
        "cover": ("states(n)", "branches()", "mcdc()"),
        "final": ("n == 0", "init", "none"),
        "defines": ("A=1", "A"),
        "include": ("d", "."),
        "output": ("out", "out/new", "x.json"),
    }
    return random.choice(meant.get(parameter.name or "", TEXTS))


def _draw(random: random.Random) -> Input:
    """A command with some of its options, in any order; mostly its arguments are there."""
    name = random.choice(list(commands()))
    words: list[list[str]] = []
    for parameter in commands()[name].params:
        if isinstance(parameter, click.Argument):
            words += [[_word(random, parameter)]] if random.random() < 0.95 else []
        elif random.random() < 2.5 / len(commands()[name].params):
            option = random.choice([*parameter.opts, *parameter.secondary_opts])
            flag = isinstance(parameter, click.Option) and (parameter.is_flag or parameter.count)
            words.append([option] if flag and random.random() < 0.95 else _with_value(random, option, parameter))
    if random.random() < 0.3:
        random.shuffle(words)
    flat = [word for group in words for word in group]
    if random.random() < 0.05:
        flat.insert(random.randrange(len(flat) + 1), random.choice((*TEXTS, "--help", "-h", "--version", "-qqvv")))
    names = [option for parameter in commands()[name].params for option in parameter.opts]
    limits = [word for at in (0, 2) if QUICK[at] in names and QUICK[at] not in flat for word in QUICK[at : at + 2]]
    first = name if random.random() < 0.98 else random.choice(TEXTS)
    return {"command": [first, *limits, *flat]}


def _with_value(random: random.Random, option: str, parameter: click.Parameter) -> list[str]:
    value = _word(random, parameter)
    return [f"{option}={value}"] if option.startswith("--") and random.random() < 0.2 else [option, value]


@functools.cache
def _made() -> dict[str, str]:
    """The files that are there for every command: programs, a project, chains, inputs, and broken ones."""
    files = {
        "c.c": PROGRAM,
        "d/c.c": PROGRAM,
        "d/chaincover.toml": PROJECT,
        "d/p.toml": PROJECT.replace("[[property]]", "[search]\nbound = 2\n[[property]]", 1),
        "empty.c": "",
        "bad.json": '{"schema": "chaincover/chain/6", "chain": {}}',
        "in.csv": "a,b\n1,1\n1,1\n3,0\n",
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "d").mkdir()
        write_files(folder, {"files": files})
        for more in ([], ["--several"]):
            told = run(["generate", "d", "-q", "-o", "out", *more], folder)
            assert told.code == 0, told
            made = [place for place in (folder / "out").iterdir() if place.suffix in (".json", ".csv")]
            files |= {place.name: place.read_text(encoding="utf-8") for place in made}
        files |= {f"out/{name}": files[name] for name in ("chain.json", "chain.csv")}
    return files


def _judge(data: Input) -> Row:
    files = _made()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, HERE)
        (folder / "d").mkdir(parents=True)
        (folder / "out").mkdir()
        write_files(folder, {"files": files})
        told = run(data["command"], folder, Path(name))
    return judged(told, "--json" in data["command"])


COMMAND_LINES = Kind("command", _draw, _judge)
