"""Applying an operation to constants, and to choices between constants, without building its circuit."""

from __future__ import annotations

from collections.abc import Callable

from pysmt.fnode import FNode

from bmc.terms import choose

CONSTANTS = 16
"""A choice between more constants than this is an operand like any other."""
NODES = 64
"""So is one that takes more if-then-elses than this."""

Compute = Callable[[tuple[int, ...]], FNode]
Build = Callable[..., FNode]


def apply(operands: tuple[FNode, ...], compute: Compute, build: Build) -> FNode:
    """An operation on ``operands``: ``compute`` gives its result for constants, ``build`` the circuit.

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
            return build(*operands)
        constants *= max(leaves[0], 1)
        others += leaves[1]
    lone = len(open_operands) == 1
    if constants > CONSTANTS or others > (1 if lone else 0) or (lone and found[0] == (0, 1)):
        return build(*operands)
    index = open_operands[0]

    def result(leaf: FNode) -> FNode:
        if not leaf.is_constant():
            return build(*operands[:index], leaf, *operands[index + 1 :])
        return apply((*operands[:index], leaf, *operands[index + 1 :]), compute, build)

    return _mapped(operands[index], result, {})


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
