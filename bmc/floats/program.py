"""Formulas as a straight line of instructions in which a floating-point operation is one instruction, not a circuit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.floats.operations import Operation, computing, operation_of
from bmc.formulas.evaluate import operation

Values = list[int]


@dataclass(frozen=True, slots=True)
class Instruction:
    """``node`` has the value of ``floating``, or else of its own operator, on the instructions ``arguments``."""

    node: FNode
    arguments: tuple[int, ...]
    floating: Operation | None


class Program:
    """``formulas`` in an order in which arguments come before their users; ``results`` are their places in it,
    ``places`` those of all nodes.

    ``compute`` of an instruction's place gives its value from those of its arguments (raw; Booleans 0/1).
    """

    def __init__(self, formulas: Iterable[FNode]) -> None:
        wanted = list(formulas)
        self.instructions: list[Instruction] = []
        places: dict[FNode, int] = {}
        stack = [(formula, False) for formula in reversed(wanted)]
        while stack:
            node, ready = stack.pop()
            if node in places:
                continue
            floating = operation_of(node)
            arguments = node.args() if floating is None else floating.operands
            if ready:
                places[node] = len(self.instructions)
                self.instructions.append(Instruction(node, tuple(places[a] for a in arguments), floating))
            else:
                stack.append((node, True))
                stack.extend((a, False) for a in arguments if a not in places)
        self.places = places
        self.results = tuple(places[formula] for formula in wanted)
        self.compute = [_computing(instruction) for instruction in self.instructions]

    def run(self, symbols: Mapping[str, int]) -> Values:
        """The value of every instruction; ``symbols`` by name. KeyError for a symbol without a value."""
        values: Values = []
        for instruction, compute in zip(self.instructions, self.compute, strict=True):
            if compute is None:
                values.append(symbols[instruction.node.symbol_name()])
            else:
                values.append(compute([values[a] for a in instruction.arguments]))
        return values


def _computing(instruction: Instruction) -> Callable[[Sequence[int]], int] | None:
    """None for a symbol."""
    node = instruction.node
    if instruction.floating is not None:
        return computing(instruction.floating)
    if node.is_symbol():
        return None
    if node.is_constant():
        value = int(node.constant_value())
        return lambda raw: value
    if node.node_type() == op.ITE:
        return lambda raw: raw[1] if raw[0] else raw[2]
    return operation(node)
