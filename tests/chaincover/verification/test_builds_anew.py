"""``verify`` compiles the original itself: a library that ``generate`` has kept, right or wrong, is nothing to it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from command_line import chaincover, write_files
from small_programs import REACH, program

from bmc.native.original import find_compiler

PROGRAM = program()
FASTER = program(body="if (i->b && s->n < 100) s->n += 2;")


@pytest.mark.needs_compiler
def test_it_reads_no_kept_library_and_keeps_none(tmp_path: Path) -> None:
    cache = tmp_path / "kept"
    cache.mkdir(mode=0o700)

    def run(*command: object) -> int:
        return chaincover(*command, cwd=tmp_path, CHAINCOVER_CACHE=str(cache)).code

    def kept() -> set[Path]:
        return {file for file in cache.iterdir() if file.name != "said-that-code-runs"}

    write_files(tmp_path, {"c.c": FASTER})
    assert run("generate", "c.c", *REACH, "-o", "other", "-q") == 0
    (wrong,) = kept()
    write_files(tmp_path, {"c.c": PROGRAM})
    assert run("generate", "c.c", *REACH, "-o", "out", "-q") == 0
    (own,) = kept() - {wrong}
    own.write_bytes(wrong.read_bytes())
    assert run("replay", "c.c", "out/chain.json", *REACH) == 1, "the wrong library was not taken"
    for file in kept():
        digest, _, rest = file.read_bytes().partition(b"\n")
        assert hashlib.sha256(rest).hexdigest().encode() == digest
    assert run("verify", "c.c", "out") == 0
    for file in kept():
        file.unlink()
    assert run("verify", "c.c", "out") == 0
    assert not kept()


@pytest.mark.needs_compiler
def test_it_builds_the_program_once(tmp_path: Path) -> None:
    """The chain, the runs that violate requirements and the steps between states are run on one library."""
    compiler = tmp_path / "cc"
    compiler.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/log\nexec {find_compiler()} "$@"\n')
    compiler.chmod(0o755)
    write_files(tmp_path, {"c.c": PROGRAM})
    asked = ("c.c", *REACH, "--property", "never: G(i->b -> X(s->n == 0))")
    assert chaincover("generate", *asked, "-o", "out", "-q", cwd=tmp_path).code == 1
    for _ in range(2):
        (tmp_path / "log").write_text("")
        outcome = chaincover("verify", *asked[:1], "out", cwd=tmp_path, CC=str(compiler))
        assert "violations         holds" in outcome.out
        assert "all 2" in outcome.out
        assert (tmp_path / "log").read_text().count("-shared") == 1
