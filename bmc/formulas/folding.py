"""Terms made anew with other arguments, folded where these decide them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pysmt.operators as op
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, Bool, get_env

from bmc.formulas.evaluate import operation
from bmc.formulas.terms import both, choose, either, equals, implies, negate


def raw_value(constant: FNode) -> int:
    """The raw pattern of a constant; Booleans 0/1."""
    return int(constant.constant_value())


def rebuilt(node: FNode, arguments: Sequence[FNode]) -> FNode:
    """``node`` with other arguments, folded."""
    if all(argument.is_constant() for argument in arguments):
        return constant_like(node, operation(node)([raw_value(argument) for argument in arguments]))
    fold = _FOLDS.get(node.node_type())
    if fold is not None:
        return fold(arguments)
    made: FNode = get_env().formula_manager.create_node(node.node_type(), tuple(arguments), node._content.payload)
    return made


def constant_like(node: FNode, value: int) -> FNode:
    """The constant of ``node``'s type."""
    kind = node.get_type()
    return Bool(bool(value)) if kind.is_bool_type() else BV(value, kind.width)


def _fold_iff(left: FNode, right: FNode) -> FNode:
    if left.is_constant():
        left, right = right, left
    if right.is_constant():
        return left if right.is_true() else negate(left)
    return left.Iff(right) if left is not right else Bool(True)


def _folded_all(join: Callable[[FNode, FNode], FNode], nary: int, stop: bool) -> Callable[[Sequence[FNode]], FNode]:
    """Folds And (``stop``: False) or Or (True) of any number of arguments."""

    def fold(arguments: Sequence[FNode]) -> FNode:
        kept = {argument: None for argument in arguments if not argument.is_constant()}
        if any(a.is_constant() and a.is_true() == stop for a in arguments):
            return Bool(stop)
        if len(kept) <= 2:
            items = [*kept, Bool(not stop), Bool(not stop)]
            return join(items[0], items[1])
        made: FNode = get_env().formula_manager.create_node(nary, tuple(kept))
        return made

    return fold


_FOLDS: Mapping[int, Callable[[Sequence[FNode]], FNode]] = {
    op.AND: _folded_all(both, op.AND, False),
    op.OR: _folded_all(either, op.OR, True),
    op.NOT: lambda a: negate(a[0]),
    op.IMPLIES: lambda a: implies(a[0], a[1]),
    op.IFF: lambda a: _fold_iff(a[0], a[1]),
    op.EQUALS: lambda a: equals(a[0], a[1]),
    op.ITE: lambda a: choose(a[0], a[1], a[2]),
}
