"""Formulas as gates, and what the gates answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pysmt.fnode import FNode

from bmc.engines.sat_encoding.aig import AND, INPUT, ITE, XOR, Graph
from bmc.engines.sat_encoding.blast import Blaster
from bmc.engines.sat_encoding.step import width


class Blasted:
    """Formulas as gates, and the gates' values for every row of inputs at once (bit n of a number: row n)."""

    def __init__(self, formulas: Sequence[FNode]) -> None:
        self.graph = Graph()
        self.inputs: dict[FNode, list[int]] = {}
        blaster = Blaster(self.graph, self._leaf)
        self.words = [blaster.word(formula) for formula in formulas]

    def _leaf(self, node: FNode) -> list[int] | None:
        if node.is_symbol() and node not in self.inputs:
            self.inputs[node] = [self.graph.fresh() for _ in range(width(node))]
        return self.inputs.get(node)

    def results(self, rows: Sequence[Mapping[str, int]]) -> list[list[int]]:
        """For each row the value of each formula."""
        given = {
            bit >> 1: sum((row[symbol.symbol_name()] >> place & 1) << n for n, row in enumerate(rows))
            for symbol, word in self.inputs.items()
            for place, bit in enumerate(word)
        }
        values = gate_values(self.graph, given)
        bits = [[values[bit >> 1] ^ -(bit & 1) for bit in word] for word in self.words]
        return [
            [sum((bit >> n & 1) << place for place, bit in enumerate(word)) for word in bits] for n in range(len(rows))
        ]


def gate_values(graph: Graph, given: Mapping[int, int]) -> list[int]:
    values = [0] * len(graph.kinds)
    for gate, kind in enumerate(graph.kinds):
        x = [values[literal >> 1] ^ -(literal & 1) for literal in graph.operands[gate]]
        if kind == INPUT:
            values[gate] = given.get(gate, 0)
        elif kind == AND:
            values[gate] = x[0] & x[1]
        elif kind == XOR:
            values[gate] = x[0] ^ x[1]
        elif kind == ITE:
            values[gate] = (x[0] & x[1]) | (~x[0] & x[2])
        elif x:
            values[gate] = (x[0] & x[1]) | (x[0] & x[2]) | (x[1] & x[2])
    return values
