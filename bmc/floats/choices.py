"""Applying an operation to constants, and to choices between constants, without building its circuit."""

from __future__ import annotations

from collections.abc import Callable

from pysmt.fnode import FNode

from bmc.floats.operations import Kind, remember
from bmc.formulas.terms import choose

CONSTANTS = 16
"""A choice between more constants than this is an operand like any other."""
NODES = 64
"""So is one that takes more if-then-elses than this."""

Compute = Callable[[tuple[int, ...]], FNode]
Build = Callable[..., FNode]


def apply(operands: tuple[FNode, ...], compute: Compute, build: Build, kind: Kind | None = None) -> FNode:
    """An operation on ``operands``: ``compute`` gives its result for constants, ``build`` the circuit.

    ``kind`` is what the circuit is remembered as.

    If all operands but one are constants, and that one chooses between constants and at most one other term, the
    result is the same choice between results: the circuit is built once at most. If all operands choose between few
    constants, none is built.
    """
    open_operands = [index for index, operand in enumerate(operands) if not operand.is_constant()]
    if not open_operands:
        return compute(tuple(int(operand.constant_value()) for operand in operands))
    found = [_leaves(operands[index]) for index in open_operands]
    constants, others = 1, 0
    for leaves in found:
        if leaves is None:
            return _built(operands, build, kind)
        constants *= max(leaves[0], 1)
        others += leaves[1]
    lone = len(open_operands) == 1
    if constants > CONSTANTS or others > (1 if lone else 0) or (lone and found[0] == (0, 1)):
        return _built(operands, build, kind)
    index = open_operands[0]

    def result(leaf: FNode) -> FNode:
        if not leaf.is_constant():
            return _built((*operands[:index], leaf, *operands[index + 1 :]), build, kind)
        return apply((*operands[:index], leaf, *operands[index + 1 :]), compute, build, kind)

    return _mapped(operands[index], result, {})


def _built(operands: tuple[FNode, ...], build: Build, kind: Kind | None) -> FNode:
    result = build(*operands)
    if kind is not None:
        remember(result, kind.on(operands))
    return result


def _leaves(operand: FNode) -> tuple[int, int] | None:
    """How many constants and other terms a tree of choices ends in; None if they are too many."""
    seen: set[FNode] = set()
    constants = others = 0
    stack = [operand]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.is_constant():
            constants += 1
        elif node.is_ite():
            stack += [node.arg(1), node.arg(2)]
        else:
            others += 1
        if constants > CONSTANTS or others > 1 or len(seen) > NODES:
            return None
    return constants, others


def _mapped(node: FNode, result: Callable[[FNode], FNode], done: dict[FNode, FNode]) -> FNode:
    if node not in done:
        if node.is_ite():
            then, other = _mapped(node.arg(1), result, done), _mapped(node.arg(2), result, done)
            done[node] = choose(node.arg(0), then, other)
        else:
            done[node] = result(node)
    return done[node]
