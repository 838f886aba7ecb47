"""Building blocks for pysmt terms with constant folding.

Folding keeps loop counters, indices and flags constant while code is unrolled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pysmt.operators as op
from pysmt.environment import get_env
from pysmt.fnode import FNode

from bmc.records import dataclass

COMPARISONS = frozenset((op.EQUALS, op.BV_ULT, op.BV_ULE, op.BV_SLT, op.BV_SLE))
"""The kinds of terms that compare two words."""

_CONSTANTS = (op.BOOL_CONSTANT, op.BV_CONSTANT)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a term was built for: the result of an operation on ``operands``."""

    operands: tuple[FNode, ...]


def meanings() -> dict[FNode, Meaning]:
    """Terms with what they were built for, for all values of their symbols.

    The formula manager in use keeps them: they are forgotten with it.
    """
    manager = get_env().formula_manager
    try:
        known: dict[FNode, Meaning] = manager.meanings
    except AttributeError:
        known = manager.meanings = {}
    return known


def remember(term: FNode, meaning: Meaning) -> None:
    """``term`` has this meaning, unless it has another one already.

    No meaning leads from a term to one that was made after it: so none leads back to where it began.
    """
    if term.args() and all(operand.node_id() < term.node_id() or is_constant(operand) for operand in meaning.operands):
        meanings().setdefault(term, meaning)


def keep_meaning(old: FNode, new: FNode, made: Mapping[FNode, FNode]) -> None:
    """``new`` means what ``old`` does, its operands replaced by what was ``made`` of them."""
    meaning = meanings().get(old)
    if meaning is not None and all(operand in made or is_constant(operand) for operand in meaning.operands):
        remember(new, replace(meaning, operands=tuple(made.get(operand, operand) for operand in meaning.operands)))


def TRUE() -> FNode:  # noqa: N802, as in pysmt, where it takes twice as long
    """The constant true."""
    true: FNode = get_env().formula_manager.true_formula
    return true


def FALSE() -> FNode:  # noqa: N802
    """The constant false."""
    false: FNode = get_env().formula_manager.false_formula
    return false


def is_constant(term: FNode) -> bool:
    """Whether a Boolean or bit-vector is a constant; much faster than pysmt's own test, as are the next two."""
    return term.node_type() in _CONSTANTS


def is_true(cond: FNode) -> bool:
    """Whether a formula is the constant true."""
    return bool(cond.node_type() == op.BOOL_CONSTANT and cond._content.payload)


def is_false(cond: FNode) -> bool:
    """Whether a formula is the constant false."""
    return bool(cond.node_type() == op.BOOL_CONSTANT and not cond._content.payload)


def _made(kind: int, *arguments: FNode) -> FNode:
    """The term of a ``kind``, in half the time that pysmt's functions take, which other arguments may be given to."""
    made: FNode = get_env().formula_manager.create_node(kind, arguments)
    return made


def negate(cond: FNode) -> FNode:
    """Not, folded."""
    kind = cond.node_type()
    if kind == op.BOOL_CONSTANT:
        return FALSE() if cond._content.payload else TRUE()
    return cond.arg(0) if kind == op.NOT else _made(op.NOT, cond)


def _complementary(left: FNode, right: FNode) -> bool:
    """Whether one of two formulas is the other's negation."""
    if left.node_type() == op.NOT:
        return left.arg(0) is right
    return bool(right.node_type() == op.NOT and right.arg(0) is left)


def both(left: FNode, right: FNode) -> FNode:
    """And of two, folded."""
    if left is right:
        return left
    if left.node_type() == op.BOOL_CONSTANT:
        return right if left._content.payload else left
    if right.node_type() == op.BOOL_CONSTANT:
        return left if right._content.payload else right
    return FALSE() if _complementary(left, right) else _made(op.AND, left, right)


def either(left: FNode, right: FNode) -> FNode:
    """Or of two, folded."""
    if left is right:
        return left
    if left.node_type() == op.BOOL_CONSTANT:
        return left if left._content.payload else right
    if right.node_type() == op.BOOL_CONSTANT:
        return right if right._content.payload else left
    if _complementary(left, right):
        return TRUE()
    pairs = left.node_type() == right.node_type() == op.AND and len(left.args()) == len(right.args()) == 2
    if pairs and left.arg(0) is right.arg(0) and _complementary(left.arg(1), right.arg(1)):
        return left.arg(0)
    return _made(op.OR, left, right)


def implies(left: FNode, right: FNode) -> FNode:
    """Implication, folded."""
    return either(negate(left), right)


def choose(cond: FNode, then: FNode, other: FNode) -> FNode:
    """If-then-else of two Booleans or two bit-vectors, folded."""
    if then is other:
        return then
    if cond.node_type() == op.BOOL_CONSTANT:
        return then if cond._content.payload else other
    if then.node_type() == op.BOOL_CONSTANT:
        if other.node_type() == op.BOOL_CONSTANT:
            return cond if then._content.payload else negate(cond)
        return either(cond, other) if then._content.payload else both(negate(cond), other)
    if other.node_type() == op.BOOL_CONSTANT:
        return either(negate(cond), then) if other._content.payload else both(cond, then)
    if then.node_type() == op.ITE and then.arg(0) is cond:
        then = then.arg(1)
    if other.node_type() == op.ITE and other.arg(0) is cond:
        other = other.arg(2)
    return then if then is other else _made(op.ITE, cond, then, other)


def folded(term: FNode) -> FNode:
    """``term``, computed where all its operands are constants."""
    return term.simplify() if all(is_constant(arg) for arg in term.args()) else term


def is_constant_choice(term: FNode) -> bool:
    """Whether ``term`` chooses between two constants."""
    return bool(term.node_type() == op.ITE and is_constant(term.arg(1)) and is_constant(term.arg(2)))


def equals(left: FNode, right: FNode) -> FNode:
    """Equality of two bit-vectors, folded, also through a choice between constants."""
    if left is right:
        return TRUE()
    if is_constant(left) and not is_constant(right):
        left, right = right, left
    if is_constant(right):
        if is_constant(left):
            return TRUE() if left.bv_unsigned_value() == right.bv_unsigned_value() else FALSE()
        if is_constant_choice(left):
            return choose(left.arg(0), equals(left.arg(1), right), equals(left.arg(2), right))
    return _made(op.EQUALS, left, right)


def constant(value: int, bits: int) -> FNode:
    """A bit-vector constant, wrapped to ``bits``."""
    made: FNode = get_env().formula_manager.create_node(op.BV_CONSTANT, (), (value % (1 << bits), bits))
    return made


def number(term: FNode, signed: bool) -> int:
    """The value of a bit-vector constant."""
    return int(term.bv_signed_value() if signed else term.bv_unsigned_value())
