"""BTOR2 (A. Niemetz, M. Preiner, C. Wolf, A. Biere, "Btor2, BtorMC and Boolector 3.0", 2018): words and one bad state.

A Boolean is a word of one bit. Floating-point numbers are the words of their bit patterns, and their operations the
circuits on words that the transition system has for them. A variable with any start value is a state without ``init``.
"""

from __future__ import annotations

from collections.abc import Sequence

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.formulas.evaluate import post_order
from bmc.system.transition import StateVariable
from chaincover.exporters.protocol import Question

_PLAIN = {
    op.NOT: "not",
    op.AND: "and",
    op.OR: "or",
    op.IMPLIES: "implies",
    op.IFF: "iff",
    op.EQUALS: "eq",
    op.ITE: "ite",
    op.BV_NOT: "not",
    op.BV_AND: "and",
    op.BV_OR: "or",
    op.BV_XOR: "xor",
    op.BV_CONCAT: "concat",
    op.BV_ULT: "ult",
    op.BV_ULE: "ulte",
    op.BV_SLT: "slt",
    op.BV_SLE: "slte",
    op.BV_COMP: "eq",
    op.BV_NEG: "neg",
    op.BV_ADD: "add",
    op.BV_SUB: "sub",
    op.BV_MUL: "mul",
    op.BV_UDIV: "udiv",
    op.BV_UREM: "urem",
    op.BV_SDIV: "sdiv",
    op.BV_SREM: "srem",
    op.BV_LSHL: "sll",
    op.BV_LSHR: "srl",
    op.BV_ASHR: "sra",
}
"""Operators whose operands are those of BTOR2, in the same order, with the same meaning also for a divisor 0."""
_TURNED = {op.BV_ROL: "rol", op.BV_ROR: "ror"}
_EXTENDED = {op.BV_ZEXT: "uext", op.BV_SEXT: "sext"}


class Btor2:
    """Writes questions."""

    suffix = ".btor2"

    def write(self, question: Question) -> bytes:
        """The file of ``question``. ValueError for an operator that is none of Booleans or bit-vectors."""
        return _File(question).text()


class _File:
    """One file: a node a line, each with a number above those of its operands."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._lines = [f"; {line}" for line in question.comments()]
        self._last = 0
        self._sorts: dict[int, int] = {}
        self._constants: dict[tuple[int, int], int] = {}
        self._nodes: dict[FNode, int] = {}

    def text(self) -> bytes:
        """The whole file. Constants that variables start with stand before all variables, as readers want it."""
        system, bad = self._question.system, self._question.bad
        starts = {var.name: self._start(var) for var in system.state if var.init is not None}
        for given in system.inputs:
            self._nodes[given.symbol] = self._line("input", self._sort(given.type.bits), _named(given.name))
        for var in system.state:
            self._nodes[var.symbol] = self._line("state", self._sort(var.type.bits), _named(var.name))
        for var in system.state:
            if var.init is not None:
                self._line("init", self._sort(var.type.bits), self._nodes[var.symbol], starts[var.name])
        for node in post_order([*(var.next for var in system.state), bad]):
            if node not in self._nodes:
                self._nodes[node] = self._made(node)
        for var in system.state:
            self._line("next", self._sort(var.type.bits), self._nodes[var.symbol], self._nodes[var.next])
        self._line("bad", self._nodes[bad])
        return ("\n".join(self._lines) + "\n").encode()

    def _line(self, *parts: int | str) -> int:
        self._last += 1
        self._lines.append(f"{self._last} {' '.join(map(str, parts))}")
        return self._last

    def _sort(self, bits: int) -> int:
        """The number of the sort of so many bits; a Boolean has 0."""
        bits = max(bits, 1)
        if bits not in self._sorts:
            self._sorts[bits] = self._line("sort bitvec", bits)
        return self._sorts[bits]

    def _constant(self, value: int, bits: int) -> int:
        key = value, max(bits, 1)
        if key not in self._constants:
            self._constants[key] = self._line("constd", self._sort(bits), value)
        return self._constants[key]

    def _start(self, var: StateVariable) -> int:
        assert var.init is not None
        return self._constant(int(var.init.constant_value()), var.type.bits)

    def _made(self, node: FNode) -> int:
        """The number of a node whose operands are made."""
        kind, bits = node.node_type(), _bits(node)
        if kind in (op.BOOL_CONSTANT, op.BV_CONSTANT):
            return self._constant(int(node.constant_value()), bits)
        operands, sort = [self._nodes[arg] for arg in node.args()], self._sort(bits)
        if kind in (op.AND, op.OR):
            return self._chain(_PLAIN[kind], sort, operands)
        if kind in _PLAIN:
            return self._line(_PLAIN[kind], sort, *operands)
        if kind == op.BV_EXTRACT:
            return self._line("slice", sort, *operands, node.bv_extract_end(), node.bv_extract_start())
        if kind in _EXTENDED:
            return self._line(_EXTENDED[kind], sort, *operands, node.bv_extend_step())
        if kind in _TURNED:
            return self._line(_TURNED[kind], sort, *operands, self._constant(node.bv_rotation_step() % bits, bits))
        raise ValueError(f"cannot write operator {op.op_to_str(kind)}: not Boolean nor bit-vector")

    def _chain(self, keyword: str, sort: int, operands: Sequence[int]) -> int:
        found = operands[0]
        for operand in operands[1:]:
            found = self._line(keyword, sort, found, operand)
        return found


def _bits(node: FNode) -> int:
    kind = node.get_type()
    return 1 if kind.is_bool_type() else int(kind.width)


def _named(name: str) -> str:
    """The name as a symbol, in which there is no white space."""
    return "_".join(name.split())
