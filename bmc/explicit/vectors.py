"""Compiling pysmt formulas to functions over arrays: each symbol stands for many values at once.

A column is an array of raw unsigned patterns in the narrowest unsigned type that holds the width; Booleans are
``bool`` arrays, and patterns of more than 64 bits Python integers (``object`` arrays). Columns of different shapes are
broadcast: what depends on states alone is computed once per state, not once per state and input. Floating operations
are done by the processor where that is bit by bit the same (``bmc.explicit.float_vectors``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pysmt.operators as op
from numpy.typing import DTypeLike
from pysmt.fnode import FNode

from bmc.explicit.float_vectors import vector_operation
from bmc.explicit.word_vectors import FUNCTIONS
from bmc.floats.operations import Operation, operation_of

Column = np.ndarray[Any, np.dtype[Any]]
Columns = Mapping[str, Column]
Compiled = Callable[[Columns], tuple[Column, ...]]

INLINE_DEPTH, INLINE_LENGTH = 8, 300
_WORDS: tuple[tuple[int, type[np.unsignedinteger[Any]]], ...] = (
    (8, np.uint8),
    (16, np.uint16),
    (32, np.uint32),
    (64, np.uint64),
)


def word(bits: int) -> Any:
    """The numpy type of a column of ``bits`` bits (0: Boolean)."""
    if not bits:
        return np.bool_
    return next((kind for most, kind in _WORDS if bits <= most), object)


def column(values: Sequence[int] | Column, bits: int) -> Column:
    """Raw ``values`` as a column of ``bits`` bits (0: Boolean)."""
    return np.asarray(values).astype(word(bits)) if isinstance(values, np.ndarray) else np.array(values, word(bits))


def compile_columns(formulas: Sequence[FNode]) -> Compiled:
    """A function from the symbols' columns by name to the formulas' columns.

    What the columns have in common in shape the results have too; a constant is a column of one value. ValueError for
    an operator that is neither Boolean nor of bit-vectors.
    """
    return _Writer(formulas).function()


def node_count(formulas: Sequence[FNode]) -> int:
    """How many operations one evaluation of ``formulas`` takes, a floating one counting as one."""
    return sum(1 for node in walk(formulas) if arguments_of(node))


def arguments_of(node: FNode) -> tuple[FNode, ...]:
    """What an evaluation of ``node`` reads: its arguments, or the operands of the floating operation that it is."""
    found = _floating(node)
    return found.operands if found is not None else tuple(node.args())


def _floating(node: FNode) -> Operation | None:
    found = operation_of(node)
    return found if found is not None and vector_operation(found) is not None else None


def walk(formulas: Sequence[FNode]) -> list[FNode]:
    """Every node to compute once, what it reads before it."""
    order: dict[FNode, None] = {}
    stack = [(formula, False) for formula in reversed(formulas)]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            order[node] = None
        elif node not in order:
            stack.append((node, True))
            stack.extend((a, False) for a in reversed(arguments_of(node)) if a not in order)
    return list(order)


def _bits(node: FNode) -> int:
    kind = node.get_type()
    return 0 if kind.is_bool_type() else int(kind.width)


class _Writer:
    """Writes the function's source. ``_scope`` holds the constants and functions that the source names."""

    def __init__(self, formulas: Sequence[FNode]) -> None:
        self._formulas = formulas
        self._scope: dict[str, Any] = dict(FUNCTIONS)
        self._constants: dict[tuple[int, Any], str] = {}
        self._texts: dict[FNode, tuple[str, int]] = {}
        self._lines: list[str] = []

    def function(self) -> Compiled:
        order = walk(self._formulas)
        uses: dict[FNode, int] = dict.fromkeys(self._formulas, 1)
        for node in order:
            for argument in arguments_of(node):
                uses[argument] = uses.get(argument, 0) + 1
        for node in order:
            self._write(node, uses[node] > 1)
        results = "".join(f"{self._texts[formula][0]}, " for formula in self._formulas)
        body = "\n".join(f"    {line}" for line in _with_ends([*self._lines, f"return ({results})"]))
        exec(compile(f"def f(v):\n{body}", "<columns>", "exec"), self._scope)
        made: Compiled = self._scope["f"]
        return made

    def _write(self, node: FNode, shared: bool) -> None:
        if node.is_constant():
            self._texts[node] = (self._constant(int(node.constant_value()), _bits(node)), 0)
            return
        if node.is_symbol():
            text, depth, shared = f"v[{node.symbol_name()!r}]", 0, True
        else:
            arguments = [self._texts[a] for a in arguments_of(node)]
            text = self._operation(node, [text for text, _ in arguments])
            depth = 1 + max(depth for _, depth in arguments)
        if shared or depth > INLINE_DEPTH or len(text) > INLINE_LENGTH:
            name = f"t{len(self._lines)}"
            self._lines.append(f"{name} = {text}")
            text, depth = name, 0
        self._texts[node] = (text, depth)

    def _constant(self, value: int, bits: int) -> str:
        """The name of a column of one value."""
        key = (value, word(bits))
        if key not in self._constants:
            name = self._constants[key] = f"c{len(self._constants)}"
            self._scope[name] = np.array([value], word(bits))
        return self._constants[key]

    def _operation(self, node: FNode, texts: Sequence[str]) -> str:
        floating = _floating(node)
        if floating is not None:
            name = f"f{len(self._scope)}"
            self._scope[name] = vector_operation(floating)
            return f"{name}({', '.join(texts)})"
        writer = _WRITERS.get(node.node_type())
        if writer is None:
            raise ValueError(f"cannot evaluate operator {op.op_to_str(node.node_type())}: not Boolean nor bit-vector")
        return writer(self, node, texts)

    def masked(self, node: FNode, text: str) -> str:
        """``text`` cut to the width of ``node``, where its column is wider."""
        bits = _bits(node)
        return f"({text})" if exact(bits) else f"(({text}) & {self._constant((1 << bits) - 1, bits)})"

    def cast(self, node: FNode, text: str, bits: int) -> str:
        """The column of ``node`` as one for ``bits`` bits."""
        return text if word(_bits(node)) is word(bits) else f"{text}.astype({self._type(bits)})"

    def number(self, value: int, bits: int) -> str:
        return self._constant(value, bits)

    def _type(self, bits: int) -> str:
        kind: DTypeLike = word(bits)
        name = "k_" + np.dtype(kind).name
        self._scope[name] = kind
        return name


def _with_ends(lines: Sequence[str]) -> list[str]:
    """``lines`` with each temporary column given back after the last line that reads it."""
    last = {name: number for number, line in enumerate(lines) for name in re.findall(r"\bt\d+\b", line)}
    made = {line.split(" ", 1)[0] for line in lines[:-1]}
    ended: dict[int, list[str]] = {}
    for name, number in last.items():
        if name in made and number < len(lines) - 1:
            ended.setdefault(number, []).append(name)
    found = []
    for number, line in enumerate(lines):
        found += [line, *([f"del {', '.join(ended[number])}"] if number in ended else [])]
    return found


def exact(bits: int) -> bool:
    """Whether a column of ``bits`` bits wraps around by itself."""
    return bits in (8, 16, 32, 64)


Writing = Callable[[_Writer, FNode, Sequence[str]], str]


def _joined(sign: str) -> Writing:
    return lambda w, n, t: f"({f' {sign} '.join(t)})"


def _wrapped(sign: str) -> Writing:
    return lambda w, n, t: w.masked(n, f" {sign} ".join(t))


def _called(name: str) -> Writing:
    """A function of ``word_vectors`` that gets the width of the arguments after them."""
    return lambda w, n, t: f"{name}({', '.join(t)}, {_bits(n.arg(0))})"


def _concat(w: _Writer, n: FNode, t: Sequence[str]) -> str:
    bits, low = _bits(n), _bits(n.arg(1))
    shift = w.number(low, bits)
    return f"(({w.cast(n.arg(0), t[0], bits)} << {shift}) | {w.cast(n.arg(1), t[1], bits)})"


def _extract(w: _Writer, n: FNode, t: Sequence[str]) -> str:
    wide, bits, start = _bits(n.arg(0)), _bits(n), int(n.bv_extract_start())
    text = f"({t[0]} >> {w.number(start, wide)})" if start else t[0]
    if start + bits < wide and not (exact(bits) and word(bits) is not word(wide) and wide <= 64):
        text = f"({text} & {w.number((1 << bits) - 1, wide)})"
    return w.cast(n.arg(0), text, bits)


def _sign_extend(w: _Writer, n: FNode, t: Sequence[str]) -> str:
    narrow, bits = _bits(n.arg(0)), _bits(n)
    top = w.number(1 << (narrow - 1), bits)
    return w.masked(n, f"({w.cast(n.arg(0), t[0], bits)} ^ {top}) - {top}")


def _rotate(w: _Writer, n: FNode, t: Sequence[str], left: int) -> str:
    bits = _bits(n)
    left %= bits
    if not left:
        return t[0]
    return w.masked(n, f"({t[0]} << {w.number(left, bits)}) | ({t[0]} >> {w.number(bits - left, bits)})")


def _signed_compare(sign: str) -> Writing:
    def write(w: _Writer, n: FNode, t: Sequence[str]) -> str:
        bits = _bits(n.arg(0))
        top = w.number(1 << (bits - 1), bits)
        return f"(({t[0]} ^ {top}) {sign} ({t[1]} ^ {top}))"

    return write


_WRITERS: dict[int, Writing] = {
    op.AND: _joined("&"),
    op.OR: _joined("|"),
    op.NOT: lambda w, n, t: f"(~{t[0]})",
    op.IMPLIES: lambda w, n, t: f"(~{t[0]} | {t[1]})",
    op.IFF: lambda w, n, t: f"({t[0]} == {t[1]})",
    op.EQUALS: lambda w, n, t: f"({t[0]} == {t[1]})",
    op.ITE: lambda w, n, t: f"where({t[0]}, {t[1]}, {t[2]})",
    op.BV_NOT: lambda w, n, t: f"({t[0]} ^ {w.number((1 << _bits(n)) - 1, _bits(n))})",
    op.BV_AND: _joined("&"),
    op.BV_OR: _joined("|"),
    op.BV_XOR: _joined("^"),
    op.BV_CONCAT: _concat,
    op.BV_EXTRACT: _extract,
    op.BV_ULT: _joined("<"),
    op.BV_ULE: _joined("<="),
    op.BV_NEG: lambda w, n, t: w.masked(n, f"{w.number(0, _bits(n))} - {t[0]}"),
    op.BV_ADD: _wrapped("+"),
    op.BV_SUB: _wrapped("-"),
    op.BV_MUL: _wrapped("*"),
    op.BV_UDIV: _called("unsigned_quotient"),
    op.BV_UREM: _called("unsigned_remainder"),
    op.BV_LSHL: lambda w, n, t: w.masked(n, f"shift_left({t[0]}, {t[1]}, {_bits(n)})"),
    op.BV_LSHR: _called("shift_right"),
    op.BV_ROL: lambda w, n, t: _rotate(w, n, t, n.bv_rotation_step()),
    op.BV_ROR: lambda w, n, t: _rotate(w, n, t, -n.bv_rotation_step()),
    op.BV_ZEXT: lambda w, n, t: w.cast(n.arg(0), t[0], _bits(n)),
    op.BV_SEXT: _sign_extend,
    op.BV_SLT: _signed_compare("<"),
    op.BV_SLE: _signed_compare("<="),
    op.BV_COMP: lambda w, n, t: f"({t[0]} == {t[1]}).view(k_byte)",
    op.BV_SDIV: _called("signed_quotient"),
    op.BV_SREM: _called("signed_remainder"),
    op.BV_ASHR: _called("shift_right_signed"),
}
