"""Formulas as C code against the same formulas value by value: operators, widths, floating operations."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, And, BVComp, Iff, Implies, Ite, Not, Or, Symbol
from pysmt.typing import BOOL, BVType

from benchmarks.checks.floats.operations import operations
from benchmarks.checks.floats.patterns import float_patterns, integer_patterns, related
from bmc.formulas.evaluate import compile_formulas, post_order
from bmc.native import commands
from bmc.native.kernel import (
    Kernel,
    KernelFailed,
    NoTranslation,
    arguments_of,
    declarations,
    expression,
    literal,
    word_of,
)

Rows = Sequence[Sequence[int]]


def every_operator(a: FNode, b: FNode, c: FNode, width: int) -> list[FNode]:
    high = width - 1
    words = [a + b, a - b, a * b, a & b, a | b, a ^ b, ~a, -a, a.BVUDiv(b), a.BVURem(b), a.BVSDiv(b), a.BVSRem(b)]
    shifted = [a.BVLShl(b), a.BVLShr(b), a.BVAShr(b), a.BVRol(1 % width), a.BVRor(high), a.BVLShr(BV(high, width))]
    cut = [a.BVExtract(high // 2, high), a.BVExtract(0, high // 2), a.BVZExt(3), a.BVSExt(3), BVComp(a, b)]
    wide = [a.BVSExt(128 - width), a.BVZExt(128 - width)] + ([a.BVConcat(b)] if width <= 64 else [])
    tests = [a.BVULT(b), a.BVULE(b), a.BVSLT(b), a.BVSLE(b), a.Equals(b), Ite(c, a, b)]
    logic = [Not(c), And(c, a.Equals(b)), Or(c, a.BVULT(b)), Implies(c, a.Equals(b)), Iff(c, a.BVULT(b))]
    return [*words, *shifted, *cut, *wide, *tests, *logic]


def translated(formulas: Sequence[FNode], symbols: Sequence[FNode], rows: Rows) -> list[str]:
    """A function that prints the values of ``formulas`` for each of ``rows``, the values of ``symbols``."""
    order: dict[FNode, None] = {}
    todo = [(formula, False) for formula in reversed(formulas)]
    while todo:
        node, expanded = todo.pop()
        if expanded:
            order[node] = None
        elif node not in order:
            todo += [(node, True), *((argument, False) for argument in reversed(arguments_of(node)))]
    names = {symbol: f"given{place}[row]" for place, symbol in enumerate(symbols)}
    values = zip(*rows, strict=True)
    lines = []
    for place, (symbol, column) in enumerate(zip(symbols, values, strict=True)):
        bits = 0 if symbol.get_type() is BOOL else symbol.bv_width()
        listed = ", ".join(literal(value, bits) for value in column)
        lines.append(f"  static const {word_of(symbol)} given{place}[] = {{{listed}}};")
    lines += [f"  for (int row = 0; row < {len(rows)}; row++) {{"]
    lines += declarations([node for node in order if node not in names], names, "t")
    lines += [f'  printf("%llx %llx ", (u64)((u128){names[f]} >> 64), (u64){names[f]});' for f in formulas]
    return ["{", *lines, "  }", "}"]


def check(cases: Sequence[tuple[list[FNode], list[FNode], Rows]]) -> None:
    """Each of ``cases`` are formulas, their symbols, and rows of values for these."""
    text = "\n".join(
        [
            *(f"static void case{n}(void) {chr(10).join(translated(*case))}" for n, case in enumerate(cases)),
            "int main(void) { char line[99]; int n; while (fgets(line, 99, stdin)) {",
            *(f'if (sscanf(line, "case %d", &n) == 1 && n == {n}) case{n}();' for n in range(len(cases))),
            r'printf("end\n"); fflush(stdout); } return 0; }',
        ]
    )
    kernel = Kernel(text)
    for number, (formulas, symbols, rows) in enumerate(cases):
        words = [int(word, 16) for word in kernel.ask("case", number)[:-1]]
        found = [high << 64 | low for high, low in zip(words[::2], words[1::2], strict=True)]
        slow = compile_formulas(formulas)
        expected = [
            value for row in rows for value in slow({s.symbol_name(): v for s, v in zip(symbols, row, strict=True)})
        ]
        wrong = next(
            (place for place, pair in enumerate(zip(found, expected, strict=True)) if pair[0] != pair[1]), None
        )
        assert wrong is None, (formulas[wrong % len(formulas)], rows[wrong // len(formulas)])
    kernel.close()


def interesting(width: int) -> list[int]:
    top, rng = 1 << width, random.Random(width)
    fixed = [0, 1, 2, width - 1, width, width + 1, top - 1, top // 2, top // 2 - 1]
    return [value % top for value in fixed] + [rng.randrange(top) for _ in range(3)]


@pytest.mark.needs_compiler
def test_every_operator_at_every_kind_of_width() -> None:
    cases: list[tuple[list[FNode], list[FNode], Rows]] = []
    for width in (1, 3, 8, 31, 32, 63, 64, 65, 100):
        a, b, c = Symbol(f"nk_a{width}", BVType(width)), Symbol(f"nk_b{width}", BVType(width)), Symbol("nk_c", BOOL)
        known = interesting(width)
        cases.append((every_operator(a, b, c, width), [a, b, c], list(product(known, known, (0, 1)))))
    check(cases)


@pytest.mark.needs_compiler
@pytest.mark.slow
def test_floating_operations_are_those_of_the_circuits() -> None:
    cases: list[tuple[list[FNode], list[FNode], Rows]] = []
    chance = np.random.default_rng(7)
    for operation in operations():
        kinds = operation.operands
        symbols = [Symbol(f"ev_{n}{k.bits}", BVType(k.bits)) for n, k in zip("ab", kinds, strict=False)]
        first = kinds[0]
        if first.form is None:
            columns = [integer_patterns(first.bits, 30, chance).tolist()]
        else:
            patterns = float_patterns(first.form, 30, chance)
            columns = [patterns.tolist(), *(related(patterns, k.form, chance).tolist() for k in kinds[1:] if k.form)]
        terms = list(operation.terms(*symbols))
        if not any(_too_wide(node) for node in post_order(terms)):
            cases.append((terms, symbols, list(zip(*columns, strict=True))))
    assert len(cases) > 40
    check(cases)


def _too_wide(node: FNode) -> bool:
    return bool(node.get_type().is_bv_type()) and node.bv_width() > 128


def test_words_that_c_does_not_have_are_told() -> None:
    wide = Symbol("nk_wide", BVType(129))
    with pytest.raises(NoTranslation, match="a term has 129 bits"):
        expression(wide + wide, {wide: "x"})


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo internal error >&2; exit 1", "makes no program of our own text; it says: internal error"),
        ("exit 0", "makes no program of our own text; it says: no message"),
        ('while [ "$1" != -o ]; do shift; done; echo > "$2"', "cannot be made or started: Permission denied"),
        ('while [ "$1" != -o ]; do shift; done; echo > "$2"; chmod +x "$2"', "cannot be made or started: Exec format"),
        ('while [ "$1" != -o ]; do shift; done; cp /bin/true "$2"', "ended without an answer"),
    ],
)
def test_a_compiler_that_makes_no_program_is_told(
    script: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text(f"#!/bin/sh\n{script}\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    monkeypatch.delenv("CHAINCOVER_NO_NATIVE", raising=False)
    with pytest.raises(KernelFailed, match=why):
        Kernel("int main(void) { return 0; }")


@pytest.mark.needs_compiler
@pytest.mark.parametrize("text", ["int main(void) { return unknown; }", "#error no program"])
def test_our_own_text_that_does_not_compile_is_told(text: str) -> None:
    with pytest.raises(KernelFailed, match=r"makes no program of our own text; it says: .*error"):
        Kernel(text)


@pytest.mark.needs_compiler
def test_a_disk_without_room_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder for what is made that is not there stands for one in which nothing can be written."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(KernelFailed, match="a program of our own cannot be made or started: No such file"):
        Kernel("int main(void) { return 0; }")


@pytest.mark.needs_compiler
def test_a_compiler_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "WAIT", 0.0)
    with pytest.raises(KernelFailed, match=r"makes no program of our own text; it took more than .* s by the clock"):
        Kernel("int main(void) { return 0; }")


@pytest.mark.needs_compiler
def test_a_program_that_ends_is_told() -> None:
    kernel = Kernel(r'int main(void) { char line[99]; fgets(line, 99, stdin); puts("ok"); return 0; }')
    with pytest.raises(KernelFailed, match="ended without an answer"):
        kernel.ask("more")


@pytest.mark.needs_compiler
def test_a_program_ends_with_the_command_that_left_it() -> None:
    """A command ends without taking itself apart; programs that it started do not outlive it."""
    endless = '#include <unistd.h>\nint main(void) { puts("ok"); fflush(stdout); for (;;) pause(); }'
    code = "import sys; from bmc.native.kernel import Kernel; from chaincover.cli.entry import _leave\n"
    code += "kernel = Kernel(sys.argv[1]); print(kernel._process.pid); _leave(0)"
    done = subprocess.run([sys.executable, "-c", code, endless], capture_output=True, text=True, check=True)
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


@pytest.mark.needs_compiler
def test_a_program_that_was_ended_has_no_answer() -> None:
    kernel = Kernel(
        'int main(void) { char line[9]; while (fgets(line, 9, stdin)) { puts("ok"); fflush(stdout); } return 0; }'
    )
    assert kernel.ask("what") == ["ok"]
    kernel.close()
    with pytest.raises(KernelFailed, match="ended without an answer"):
        kernel.ask("what")
