"""Formulas on columns by a compiled interpreter: the same values as ``bmc.evaluation.vectors``, many times as fast.

The interpreter (``columns.c``) is one program for all systems: it is compiled once on a machine and kept, and a system
is a list of operations for it. An operation on a column takes some hundredths of the time that it takes in an array
library, where the call outweighs the work on a few dozen values.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib import resources
from itertools import pairwise
from pathlib import Path

import numpy as np
import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.evaluation.vectors import (
    BINARY,
    COMPARISONS,
    OVERHEAD,
    UNARY,
    WORD,
    Column,
    Columns,
    Program,
    arguments_of,
    bits_of,
    node_count,
    vector_operation,
    walk,
    word,
)
from bmc.floats.format import FLOAT32, FLOAT64, Format
from bmc.floats.operations import Kind, Operation, operation_of
from bmc.native.build import compiler_words, find_compiler, version
from bmc.native.cache import open_cache
from bmc.native.commands import run
from bmc.native.kernel import HELPERS, floating_expression

FLAGS = ["-x", "c", "-std=gnu11", "-O3", "-w", "-ffp-contract=off", "-fno-math-errno", "-shared", "-fPIC"]
"""What the interpreter is compiled with: its loops over columns become operations on several values at once."""

LEAST = 400
"""Programs of fewer operations are left to numpy: with half as many, short searches of small programs wait for a
compiler where the interpreter is not kept."""

BESIDE = 3
"""What an operation of the interpreter takes for each value, in operations on values of arrays. With twice as many,
random runs of large programs have turns of half as many steps."""

Evaluate = Callable[[Columns], tuple[Column, ...]]

_NAMES = (*BINARY, *UNARY, *COMPARISONS, "fmin", "fmax", "negate", "absolute")
"""The floating operations whose operands and result have one format, or the result none."""


def _floating(form: Format, other: Format) -> dict[str, str]:
    """The floating operations with results of one format, or comparisons of it; ``other`` is the other format."""
    number = "float" if form.bits == 32 else "double"
    return {
        **{f"{name}_{form.bits}": floating_expression(Kind(name, form), ("A", "B")) for name in _NAMES},
        f"resize_{form.bits}": floating_expression(Kind("resize", other, form), ("A",)),
        f"from_signed_{form.bits}": f"p{form.bits}(({number})S(A))",
        f"from_unsigned_{form.bits}": f"p{form.bits}(({number})A)",
    }


OPERATIONS = {
    "copy": "A",
    "and": "A & B",
    "or": "A | B",
    "xor": "A ^ B",
    "not": "~A & m",
    "implies": "(A ^ 1) | B",
    "equal": "A == B",
    "choose": "A ? B : C",
    "less": "A < B",
    "less_equal": "A <= B",
    "less_signed": "S(A) < S(B)",
    "less_equal_signed": "S(A) <= S(B)",
    "negate": "-A & m",
    "add": "(A + B) & m",
    "subtract": "(A - B) & m",
    "multiply": "(A * B) & m",
    "quotient": "B ? A / B : m",
    "remainder": "B ? A % B : A",
    "signed_quotient": "(u64)sdiv(A, B, p) & m",
    "signed_remainder": "(u64)srem(A, B, p) & m",
    "shift_left": "B < p ? (A << B) & m : 0",
    "shift_right": "B < p ? A >> B : 0",
    "shift_right_signed": "(S(A) >> (B < p ? B : p - 1)) & m",
    "join": "A << p | B",
    "part": "A >> p & m",
    "sign_extended": "S(A) & m",
    **_floating(FLOAT32, FLOAT64),
    **_floating(FLOAT64, FLOAT32),
}
"""What an operation computes from the values A, B and C of its arguments, with parameters p (bits) and m (a mask)."""

_NUMBERS = {name: number for number, name in enumerate(OPERATIONS)}

_PLAIN = {
    op.AND: "and",
    op.OR: "or",
    op.NOT: "not",
    op.IMPLIES: "implies",
    op.IFF: "equal",
    op.EQUALS: "equal",
    op.ITE: "choose",
    op.BV_AND: "and",
    op.BV_OR: "or",
    op.BV_XOR: "xor",
    op.BV_NOT: "not",
    op.BV_NEG: "negate",
    op.BV_ADD: "add",
    op.BV_SUB: "subtract",
    op.BV_MUL: "multiply",
    op.BV_UDIV: "quotient",
    op.BV_UREM: "remainder",
    op.BV_SDIV: "signed_quotient",
    op.BV_SREM: "signed_remainder",
    op.BV_ULT: "less",
    op.BV_ULE: "less_equal",
    op.BV_SLT: "less_signed",
    op.BV_SLE: "less_equal_signed",
    op.BV_COMP: "equal",
    op.BV_LSHL: "shift_left",
    op.BV_LSHR: "shift_right",
    op.BV_ASHR: "shift_right_signed",
    op.BV_CONCAT: "join",
    op.BV_EXTRACT: "part",
    op.BV_ZEXT: "copy",
    op.BV_SEXT: "sign_extended",
}


class NotInterpreted(Exception):
    """A formula has an operation, or a word, that the interpreter does not know."""


def nominal(size: int, count: int, least: int = LEAST) -> int:
    """Operations on values that so many operations on columns of ``count`` values take, whoever evaluates them; see
    ``evaluation``."""
    few = min(size, least)
    return few * (count + OVERHEAD) + (size - few) * BESIDE * count


def evaluation(formulas: Sequence[FNode], least: int = LEAST) -> Evaluate:
    """What computes the columns of ``formulas`` from those of their symbols: interpreted where there are at least so
    many operations, and where it can be."""
    library = interpreter() if node_count(formulas) >= least else None
    if library is not None:
        with suppress(NotInterpreted):
            return Interpreted(formulas, library)
    return Program(formulas)


class Interpreted:
    """``formulas`` as operations of the interpreter. NotInterpreted where they cannot be.

    A call with the symbols' columns by name, of one length or of one value, gives theirs, each of that length.
    """

    def __init__(self, formulas: Sequence[FNode], library: ctypes.CDLL) -> None:
        self._evaluate = library.evaluate
        made = _Slots(formulas)
        self._names = made.names
        self._operations = np.array(made.operations, np.uint64).reshape(-1, 7)
        self._slots = made.values()
        self._read = np.array(made.read, np.int64)
        kinds = [word(bits_of(formula)) for formula in formulas]
        self._order = sorted(range(len(formulas)), key=lambda place: str(kinds[place]))
        self._results = np.array([made.places[formulas[place].node_id()] for place in self._order], np.int64)
        ends = [at for at, (a, b) in enumerate(pairwise(self._order), 1) if kinds[a] is not kinds[b]]
        self._groups = [(a, b, kinds[self._order[a]]) for a, b in pairwise([0, *ends, len(formulas)]) if b > a]

    def __call__(self, columns: Columns) -> tuple[Column, ...]:
        given = [columns[name] for name in self._names]
        count = max((len(values) for values in given), default=1)
        read = np.empty((len(given), count), np.uint64)
        for place, values in enumerate(given):
            read[place] = values
        found = np.empty((len(self._order), count), np.uint64)
        self._evaluate(
            *(_at(self._operations), ctypes.c_int64(len(self._operations)), _at(self._slots)),
            *(_at(read), _at(self._read), ctypes.c_int64(len(given))),
            *(_at(found), _at(self._results), ctypes.c_int64(len(self._order)), ctypes.c_int64(count)),
        )
        results: list[Column] = [found[0]] * len(self._order) if len(self._order) else []
        for first, end, kind in self._groups:
            for place, values in zip(self._order[first:end], found[first:end].astype(kind), strict=True):
                results[place] = values
        return tuple(results)


def _at(array: Column) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class _Slots:
    """The operations of formulas, with a slot for each value for as long as it is needed.

    ``places`` are the slots by the numbers of the nodes.
    """

    def __init__(self, formulas: Sequence[FNode]) -> None:
        self.names: list[str] = []
        self.read: list[int] = []
        self.operations: list[tuple[int, ...]] = []
        self.places: dict[int, int] = {}
        self._constants: dict[int, int] = {}
        self._free: list[int] = []
        self._count = 0
        order = walk(formulas)
        self._uses = self._counted(order, formulas)
        for node in order:
            if bits_of(node) > WORD:
                raise NotInterpreted
            if node.is_constant():
                self._constants[self._slot(node)] = int(node.constant_value())
            elif node.is_symbol():
                self.names.append(node.symbol_name())
                self.read.append(self._slot(node))
            else:
                self._operate(node)

    def values(self) -> Column:
        """All slots, the constants in theirs."""
        slots = np.zeros((self._count, 64), np.uint64)
        for slot, value in self._constants.items():
            slots[slot] = value
        return slots

    @staticmethod
    def _counted(order: Sequence[FNode], formulas: Sequence[FNode]) -> dict[int, int]:
        """How often each value is read, by the numbers of the nodes; results, constants and symbols, which come before
        all else, once more."""
        uses = dict.fromkeys((node._node_id for node in order), 0)
        for node in order:
            for argument in arguments_of(node):
                uses[argument._node_id] += 1
        for node in [*formulas, *(node for node in order if node.is_constant() or node.is_symbol())]:
            uses[node._node_id] += 1
        return uses

    def _slot(self, node: FNode | None = None) -> int:
        """A slot that no value is in that is needed still: of ``node``, if that is given."""
        place = self._free.pop() if self._free and node is not None and arguments_of(node) else self._count
        self._count += place == self._count
        if node is not None:
            self.places[node._node_id] = place
        return place

    def _operate(self, node: FNode) -> None:
        """The operations of ``node``; of a connective of many parts one for each part."""
        name, bits, mask = _operation(node)
        arguments = arguments_of(node)
        own, joined = [self.places[a._node_id] for a in arguments], []
        while len(own) > 2 and name in ("and", "or"):
            joined.append(self._slot())
            self.operations.append((_NUMBERS[name], joined[-1], own[0], own[1], 0, bits, mask))
            own[:2] = joined[-1:]
        operands = [*own, 0, 0, 0][:3]
        self.operations.append((_NUMBERS[name], self._slot(node), *operands, bits, mask))
        self._free += joined
        for argument in arguments:
            number = argument._node_id
            self._uses[number] -= 1
            if not self._uses[number]:
                self._free.append(self.places[number])


def _operation(node: FNode) -> tuple[str, int, int]:
    """The name of the operation that ``node`` is, and its parameters. NotInterpreted if there is none."""
    floating = operation_of(node)
    if floating is not None and vector_operation(floating) is not None:
        return _floating_operation(floating)
    kind = node.node_type()
    if kind not in _PLAIN:
        raise NotInterpreted
    parameter = bits = bits_of(node)
    if kind in (op.BV_SLT, op.BV_SLE, op.BV_SEXT):
        parameter = bits_of(node.arg(0))
    elif kind == op.BV_CONCAT:
        parameter = bits_of(node.arg(1))
    elif kind == op.BV_EXTRACT:
        parameter = int(node.bv_extract_start())
    return _PLAIN[kind], parameter, (1 << max(bits, 1)) - 1


def _floating_operation(operation: Operation) -> tuple[str, int, int]:
    """The name of a floating operation, and its parameters."""
    name, form = operation.name, operation.to_form or operation.form
    if name == "resize" and operation.form is operation.to_form:
        raise NotInterpreted
    if name == "from_int":
        name = "from_signed" if operation.signed else "from_unsigned"
    return f"{name}_{form.bits}", operation.bits, 0


def interpreter() -> ctypes.CDLL | None:
    """The compiled interpreter, or None where there is no compiler, or what it makes cannot be kept or loaded."""
    return None if find_compiler() is None else _loaded(tuple(compiler_words()))


@cache
def _loaded(words: tuple[str, ...]) -> ctypes.CDLL | None:
    cases = "\n".join(f"    case {number}: EACH({text})" for number, text in enumerate(OPERATIONS.values()))
    text = resources.files("bmc.explicit").joinpath("columns.c").read_text(encoding="utf-8").replace("CASES", cases)
    text = HELPERS + text
    key = sha256("\0".join([*words, *FLAGS, version(words), text]).encode()).hexdigest()
    with (
        suppress(OSError),
        tempfile.TemporaryDirectory(prefix="chaincover-", ignore_cleanup_errors=True) as folder,
        open_cache() as cache,
    ):
        source, target = Path(folder) / "columns.c", Path(folder) / "columns.so"
        kept = cache.get(key)
        if kept is not None:
            target.write_bytes(kept[1])
        else:
            source.write_text(text, encoding="utf-8")
            done = run([*words, *FLAGS, str(source), "-o", str(target), "-lm"])
            if done.returncode or not target.exists():
                return None
            cache.put(key, {}, target.read_bytes())
        return ctypes.CDLL(str(target))
    return None
