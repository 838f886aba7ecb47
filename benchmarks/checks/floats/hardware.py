"""What a C compiler and the processor make of the operations, and where a circuit differs from them."""

from __future__ import annotations

import ctypes
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pysmt.shortcuts import Symbol
from pysmt.typing import BVType

from benchmarks.checks.floats.operations import CType, Operation
from benchmarks.checks.floats.patterns import Words, canonical, float_patterns, integer_patterns, related
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.terms import constant

FLAGS = "-shared -fPIC -O1 -ffp-contract=off -w"
HEAD = "#include <math.h>\n#include <stdint.h>\n"


class Hardware:
    """The operations, compiled by ``compiler`` (a command) in ``folder``."""

    def __init__(self, operations: Sequence[Operation], compiler: str, folder: Path) -> None:
        source, library = folder / "operations.c", folder / "operations.so"
        source.write_text(HEAD + "".join(_function(operation) for operation in operations))
        command = [*shlex.split(compiler), *shlex.split(FLAGS), str(source), "-o", str(library), "-lm"]
        subprocess.run(command, check=True, capture_output=True)
        self._library = ctypes.CDLL(str(library))

    def results(self, operation: Operation, operands: Sequence[Words]) -> Words:
        """Raw results; unspecified where the operation is undefined."""
        arrays = [_stored(raw, kind) for raw, kind in zip(operands, operation.operands, strict=True)]
        found = np.zeros(len(operands[0]), _stored(operands[0][:0], operation.result).dtype)
        places = [array.ctypes.data_as(ctypes.c_void_p) for array in [*arrays, *arrays, found]]
        self._library[_symbol(operation)](places[0], places[1], places[-1], ctypes.c_long(len(found)))
        raw = found.astype(np.uint64)
        return canonical(raw, operation.result.form) if operation.result.form else raw


def _symbol(operation: Operation) -> str:
    return f"{operation.name}_of_{operation.operands[0].name}_to_{operation.result.name}"


def _function(operation: Operation) -> str:
    first, last, result = operation.operands[0].name, operation.operands[-1].name, operation.result.name
    head = f"void {_symbol(operation)}(const {first} *x, const {last} *y, {result} *z, long n)"
    body = f"{first} a = x[i]; {last} b = y[i]; z[i] = {operation.expression};"
    return f"{head} {{ for (long i = 0; i < n; i++) {{ {body} }} }}\n"


def _stored(raw: Words, kind: CType) -> np.ndarray[tuple[int, ...], np.dtype[np.unsignedinteger]]:
    return np.ascontiguousarray(raw.astype(f"u{max(kind.bits, 8) // 8}"))


def operands(operation: Operation, count: int, seed: int) -> list[Words]:
    """Hard operands: the same for a seed."""
    chance = np.random.default_rng(seed)
    first = operation.operands[0]
    if first.form is None:
        return [integer_patterns(first.bits, count, chance)]
    found = [float_patterns(first.form, count, chance)]
    for kind in operation.operands[1:]:
        assert kind.form is not None
        found.append(related(found[0], kind.form, chance))
    return found


@dataclass(frozen=True, slots=True)
class Comparison:
    """``different``: operands, the circuit's and the hardware's result (raw)."""

    compared: int
    undefined: int
    different: tuple[tuple[tuple[int, ...], int, int], ...]


def compared(operation: Operation, hardware: Hardware, count: int, seed: int) -> Comparison:
    """The circuit's results against the hardware's, for ``count`` hard operands."""
    symbols = [
        Symbol(f"{name}_{kind.bits}", BVType(kind.bits)) for name, kind in zip("ab", operation.operands, strict=False)
    ]
    names = [symbol.symbol_name() for symbol in symbols]
    run = compile_formulas(operation.terms(*symbols))
    values = operands(operation, count, seed)
    expected = hardware.results(operation, values).tolist()
    undefined, different = 0, []
    for raw, right in zip(zip(*(word.tolist() for word in values), strict=True), expected, strict=True):
        found, defined = run(dict(zip(names, raw, strict=True)))
        if not defined:
            undefined += 1
        elif found != right:
            different.append((raw, found, right))
    return Comparison(count - undefined, undefined, tuple(different))


def folded(operation: Operation, hardware: Hardware, count: int, seed: int) -> Comparison:
    """The same with constant operands, of which no circuit is built."""
    values = operands(operation, count, seed)
    expected = hardware.results(operation, values).tolist()
    undefined, different = 0, []
    for raw, right in zip(zip(*(word.tolist() for word in values), strict=True), expected, strict=True):
        known = [constant(value, kind.bits) for value, kind in zip(raw, operation.operands, strict=True)]
        found, defined = operation.terms(*known)
        if defined.is_false():
            undefined += 1
        elif int(found.constant_value()) != right or not defined.is_true():
            different.append((raw, int(found.constant_value()), right))
    return Comparison(count - undefined, undefined, tuple(different))
