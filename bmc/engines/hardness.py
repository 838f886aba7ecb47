"""What makes a system hard for a solver: products, quotients and remainders of operands that both vary."""

from __future__ import annotations

from dataclasses import dataclass

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.floats.operations import has_arithmetic
from bmc.formulas.evaluate import unseen
from bmc.system.transition import TransitionSystem

CELLS = 100
"""A product or quotient of operands of m and n bits with at least so many cells, m * n, counts as hard."""

DEPTH = 8
"""How many operators of an operand are looked at."""

_DIVISIONS = frozenset([op.BV_UDIV, op.BV_UREM, op.BV_SDIV, op.BV_SREM])


@dataclass(frozen=True, slots=True)
class Hardness:
    """``products`` and ``divisions`` that are hard, each with the bits of its operands; ``floating``: it has floats.

    Operations inside floating-point ones are not counted: these are known as a whole.
    """

    products: tuple[tuple[int, int], ...]
    divisions: tuple[tuple[int, int], ...]
    floating: bool

    @property
    def hard(self) -> bool:
        """Whether a solver may be asked for minutes about one question."""
        return bool(self.products or self.divisions)

    def __str__(self) -> str:
        """The facts, such as ``2 products of variables (up to 16 x 16 bits)``."""
        parts = [_told(self.products, "product"), _told(self.divisions, "division")]
        return " and ".join(part for part in parts if part) or "no wide product or division of variables"


def hardness(system: TransitionSystem) -> Hardness:
    """What is hard in the step of ``system``."""
    formulas = [system.input_constraint, system.defined, *(var.next for var in system.state)]
    if has_arithmetic(formulas):
        return Hardness((), (), True)
    products: list[tuple[int, int]] = []
    divisions: list[tuple[int, int]] = []
    for node in unseen(formulas, set()):
        kind = node.node_type()
        if kind == op.BV_MUL or kind in _DIVISIONS:
            left, right = (varying_bits(arg) for arg in node.args())
            if left * right >= CELLS:
                (products if kind == op.BV_MUL else divisions).append((left, right))
    return Hardness(tuple(sorted(products)), tuple(sorted(divisions)), False)


def varying_bits(term: FNode, depth: int = DEPTH) -> int:
    """How many low bits of ``term`` vary, those above following from them, as far as its upper operators show."""
    kind = term.node_type()
    if term.is_constant():
        return 0
    if depth == 0:
        return int(term.bv_width())
    args = term.args()
    if kind == op.ITE:
        return max(varying_bits(arg, depth - 1) for arg in args[1:])
    if kind in (op.BV_ZEXT, op.BV_SEXT):
        return varying_bits(args[0], depth - 1)
    if kind == op.BV_CONCAT and args[0].is_constant():
        return varying_bits(args[1], depth - 1)
    if kind in (op.BV_ADD, op.BV_SUB):
        return min(int(term.bv_width()), 1 + max(varying_bits(arg, depth - 1) for arg in args))
    return int(term.bv_width())


def _told(operations: tuple[tuple[int, int], ...], name: str) -> str:
    if not operations:
        return ""
    left, right = max(operations, key=lambda pair: pair[0] * pair[1])
    many = f"{len(operations)} {name}{'s' if len(operations) > 1 else ''}"
    return f"{many} of variables (up to {left} x {right} bits)"
