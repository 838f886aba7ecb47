"""Project files and tables of inputs: bundled ones and made ones, changed in keys, values, types and bytes."""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path
from unittest import mock

from benchmarks.checks.fuzz.commands import QUICK, judged, run
from benchmarks.checks.fuzz.conditions import BOOL, DOUBLE
from benchmarks.checks.fuzz.examine import ACCEPTED, AGREE, DIFFER, Input, Kind, Row
from benchmarks.checks.fuzz.mutations import NUMBERS, ODD_CHARACTERS, Change, gentle, other_bytes, several, wild
from benchmarks.checks.fuzz.programs import model_files, mutant, write_files
from benchmarks.checks.fuzz.properties import INPUTS, NAMES, program, raw_of, subject, value_of
from bmc.native.build import NO_NATIVE
from chaincover.formats.chain_file import read_stimulus
from chaincover.project import project_file
from chaincover.project.load import Program, Request
from chaincover.project.project_file import PROJECT_FILE
from chaincover.target.original import replay

LARGE = ("turret", "heater", "gate", "window", "mixer", "seat", "elevator")
"""Models that take long to read; there are enough others."""
VALUES = (
    *NUMBERS,
    *("nan", "inf", "-inf", "true", "false", '""', '"x"', "'init'", '"none"', "[]", "[1]", '["a"]', '[["a"]]', "{}"),
    *(
        "{ a = 1 }",
        '{ a = ["b"] }',
        "{ a.b = 1 }",
        "1979-05-27",
        "07:32:00",
        "1979-05-27T07:32:00Z",
        '"\\u0000"',
        "[[]]",
    ),
    *('"\\ud800"', '"..9"', '"9..0"', '"0..9"', '"0..18446744073709551616"', '"nan"', '"0.5..1e400"', '"*"', '"["'),
    *('"[!"', '"s->*"', "'''a\nb'''", '"X(1)"', '"1 / 0"', '"i"', '["*", "*"]', '"1, 2, 3"', '"-1..1"', '"0..1..2"'),
    *('"states(mode)"', '["branches()", "branches()"]', '"G(1 -> 1)"', '"cover(1 / 0)"', '"a: b: cover(1)"', '"ip16"'),
    *(
        '"lp32"',
        '"../x.c"',
        '"/dev/zero"',
        '["gone.c"]',
        '"' + "x" * 5_000 + '"',
        "[" * 200,
        "9" * 2_000,
        '"\\U0010FFFF"',
    ),
)


def _keys() -> list[str]:
    return [key for keys in project_file.KEYS.values() for key in keys]


def _entry(random: random.Random, text: str) -> str:
    """``text`` with one line ``key = value`` that has another key or value, or with one more of them."""
    rows = text.splitlines(keepends=True)
    lines = [number for number, row in enumerate(rows) if "=" in row and not row.startswith("#")]
    tables = [number for number, row in enumerate(rows) if row.startswith("[")]
    kind = random.randrange(8)
    if kind == 0 and tables and random.random() < 0.5:
        table = random.choice(("sources", "functions", "interface", "ranges", "constraints", "final", "search", "x"))
        rows[random.choice(tables)] = random.choice(
            (f"[{table}]\n", f"[[{table}]]\n", f"[{table}.a]\n", "[[property]]\n")
        )
    elif kind == 1:
        table = random.choice([table for table in project_file.KEYS if f"[{table}]\n" in rows] or [""])
        key = random.choice([*project_file.KEYS[table]] if random.random() < 0.8 else _keys())
        rows.insert(rows.index(f"[{table}]\n") + 1 if table else 0, f"{key} = {random.choice(VALUES)}\n")
    elif lines:
        at = random.choice(lines)
        key, _, value = rows[at].partition("=")
        if kind >= 6:
            value = gentle(random, value)
        elif kind == 2:
            key = random.choice((*_keys(), '"s->*"', "'a.b'", '""', "a.b", '"\\n"'))
        else:
            value = f" {random.choice(VALUES)}\n"
        rows[at] = f"{key}={value}"
    return "".join(rows)


def _project(random: random.Random) -> Input:
    """The project file of a bundled model with a few changes, and the command that reads it."""
    name = random.choice([name for name in model_files() if name not in LARGE])
    files = dict(model_files()[name])
    kind = random.random()
    change: Change = _entry if kind < 0.8 else wild if kind < 0.95 else other_bytes
    files[PROJECT_FILE] = several(random, files[PROJECT_FILE], change, 2)
    command = random.choice((["check", ".", "--compare", "0"], ["generate", "."], ["graph", "."]))
    return {"files": files, "command": [*command, *QUICK] if random.random() < 0.1 else []}


def _read_project(data: Input) -> Row:
    """The project is read as by every command; sometimes the command does all the rest too."""
    if data["command"]:
        return _run_command(data)
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name), data)
        Program.of(Request(name).project()).subject()
    return Row(ACCEPTED)


def _source(random: random.Random) -> Input:
    """A mutated program, and a command that reads it and goes on with what it has read."""
    data = mutant(random)
    place = "." if PROJECT_FILE in data["files"] else "program.c"
    checked = ["check", place, "--compare", "0", *QUICK]
    chain = ["generate", place, "--cover", random.choice(("branches()", "mcdc()")), "--no-replay", *QUICK]
    return {**data, "command": random.choice((["init", ".", "--force"], checked, chain))}


def _run_command(data: Input) -> Row:
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name), data)
        return judged(run(data["command"], Path(name)), False)


SOURCES = Kind("source", _source, _run_command)
PROJECTS = Kind("toml", _project, _read_project)


def _cell(random: random.Random, name: str, value: float) -> str:
    """A value as one may write it in a table."""
    ctype = NAMES.variables[name]
    if ctype == DOUBLE:
        return random.choice((repr(value), f" {value!r} ", float(value).hex(), f"{value:+.17g}"))
    number = int(value)
    forms = [str(number), f" {number}", f"{number} ", hex(number), f'"{number}"', f"{number:+d}"]
    if ctype == BOOL:
        forms += ["true" if number else "false", "TRUE" if number else "False"]
    return random.choice(forms)


def _table(random: random.Random) -> Input:
    """A table of inputs for the program that properties are about; half of them are changed somewhere."""
    columns = [*INPUTS]
    random.shuffle(columns)
    titles = [random.choice((name, f"i->{name}", f" {name} ")) for name in columns]
    more = random.choice(((), (), ("step",), ("step", "time", "goals"), ("s->n",), ("",)))
    end = random.choice(("\n", "\n", "\r\n"))
    rows = [",".join([*titles, *more])]
    steps = []
    for step in range(random.randrange(6)):
        values = {name: value_of(random, NAMES.variables[name]) for name in INPUTS}
        steps.append(values)
        rows.append(",".join([*(_cell(random, name, values[name]) for name in columns), *(str(step) for _ in more)]))
        if random.random() < 0.05:
            rows.append(random.choice(("", " ", "," * (len(columns) + len(more) - 1))))
    text = end.join(rows) + random.choice((end, ""))
    if random.random() < 0.5:
        return {"files": {"in.csv": text}, "steps": steps}
    change = random.choice((_wild_table, _wild_table, other_bytes))
    return {"files": {"in.csv": several(random, text, change)}, "steps": None}


def _wild_table(random: random.Random, text: str) -> str:
    cells = (
        *ODD_CHARACTERS,
        "nan",
        "inf",
        "-inf",
        "init",
        "step",
        "a",
        "i->b",
        '"',
        '""',
        "\n\n",
        ",",
        "x" * 3_000,
        "9" * 2_000,
    )
    return wild(random, text, cells)


def _read_table(data: Input) -> Row:
    """What is read are the values that were written; then the table is replayed on the model."""
    with tempfile.TemporaryDirectory() as name, mock.patch.dict(os.environ, {NO_NATIVE: "1"}):
        write_files(Path(name), data)
        return _same_values(Path(name, "in.csv"), data)


def _same_values(place: Path, data: Input) -> Row:
    found = read_stimulus(str(place), program().model.system)
    played = replay(subject(), found)
    if played.exit_code not in (0, 1, 4):
        return Row(DIFFER, f"exit code {played.exit_code}")
    if data["steps"] is None:
        return Row(ACCEPTED)
    wanted = [{f"i->{name}": raw_of(name, value) for name, value in step.items()} for step in data["steps"]]
    if list(found.inputs) != wanted:
        return Row(DIFFER, f"read {found.inputs}, written {wanted}")
    return Row(AGREE, steps=len(wanted))


TABLES = Kind("csv", _table, _read_table, keeps="conditions")
