"""``--no-native`` compiles and runs nothing; else the first line says that code runs (docs/how-to/security.md)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import Outcome, chaincover, write_files
from small_programs import REACH, program

COMMANDS = {
    "generate": ("generate", "c.c", *REACH),
    "check": ("check", "c.c", *REACH),
    "replay": ("replay", "c.c", "chain-out", *REACH),
    "verify": ("verify", "c.c", "chain-out"),
    "graph": ("graph", "c.c", *REACH),
    "compare": ("compare", "c.c", *REACH),
    "export": ("export", "c.c", *REACH, "-o", "c.aig"),
}


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A folder with a program, its chain, and a compiler that leaves a trace wherever it is asked for anything."""
    write_files(tmp_path, {"c.c": program()})
    compiler = tmp_path / "cc"
    compiler.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/trace\nexec cc "$@"\n')
    compiler.chmod(0o700)
    assert chaincover("generate", "c.c", *REACH, "--no-native", cwd=tmp_path).code == 0
    return tmp_path


def run(folder: Path, command: str, *options: str) -> Outcome:
    return chaincover(*COMMANDS[command], *options, cwd=folder, CC=str(folder / "cc"))


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_compiled(command: str, recorded: Path) -> None:
    before = os.environ.get("CHAINCOVER_NO_NATIVE")
    outcome = run(recorded, command, "--no-native")
    assert outcome.code == (6 if command == "verify" else 0)
    assert not (recorded / "trace").exists()
    assert "is compiled and run" not in outcome.stderr
    assert os.environ.get("CHAINCOVER_NO_NATIVE") == before


@pytest.mark.needs_compiler
@pytest.mark.parametrize("command", COMMANDS)
def test_the_first_line_says_that_code_runs(command: str, recorded: Path) -> None:
    outcome = run(recorded, command)
    assert outcome.code == 0
    said = "the code of c.c is compiled and run in a process of its own (--no-native: it is not)\n"
    runs = command not in ("graph", "compare", "export")
    assert outcome.stderr.partition("s  ")[2].startswith(said) == runs
    assert (recorded / "trace").exists() == runs
    assert outcome.progress[:1] != [] or not runs


@pytest.mark.needs_compiler
def test_that_code_runs_is_said_once_where_something_can_be_kept(recorded: Path) -> None:
    def said(*options: str) -> bool:
        cache = {"CC": str(recorded / "cc"), "CHAINCOVER_CACHE": str(recorded / "cache")}
        return "is compiled and run" in chaincover(*COMMANDS["replay"], *options, cwd=recorded, **cache).stderr

    assert [said("-q"), said(), said(), said("-v")] == [False, True, False, True]


def test_what_is_lost_is_said(recorded: Path) -> None:
    lost = "with --no-native nothing is compiled"
    assert f"comparison with the compiled original: left out: {lost}" in run(recorded, "check", "--no-native").out
    assert f"note: replayed on the model: {lost}" in run(recorded, "generate", "--no-native").out
    assert f"on the model only ({lost})" in run(recorded, "verify", "--no-native").out


def test_macros_of_a_result_file_are_not_compiled_unless_they_are_repeated(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": program("if (i->b) s->n = LIMIT;")})
    goal = ("--property", "x: cover(n == 5)")
    assert chaincover("generate", "c.c", *goal, "-D", "LIMIT=5", "--no-native", cwd=tmp_path).code == 0
    refused = chaincover("verify", "c.c", "chain-out", "--no-native", cwd=tmp_path)
    assert refused.code == 2
    assert "was made with the macro LIMIT=5, which is not among those given" in refused.err
    assert "-D LIMIT=5" in refused.err
    repeated = chaincover("verify", "c.c", "chain-out", "-D", "LIMIT=5", "--no-native", cwd=tmp_path)
    assert (repeated.code, repeated.err) == (6, "")
