"""AIGER, binary (A. Biere, K. Heljanko, S. Wieringa, "AIGER 1.9 and beyond", 2011): gates, latches and one output.

The output is true in bad states; tools of AIGER 1.0 and 1.9 take an output for that where no bad-state property is
declared. Latches start with 0 or 1. A variable with any start value has a latch for each bit that is not read in the
first frame: there an input takes its place, and the latch *first frame* chooses. Latches without a start value, which
AIGER 1.9 has for this, are taken for 0 by some tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from pysmt.fnode import FNode

from bmc.engines.sat_encoding.aig import AND, ITE, MAJORITY, TRUE, XOR, Graph
from bmc.engines.sat_encoding.blast import Blaster, Word
from bmc.system.transition import InputVariable, StateVariable
from chaincover.exporters.protocol import Question

FIRST = "first frame"
"""The latch that is true in the start state alone."""
UNUSED = "unused"
"""The latch of a file that needs none: some tools refuse a file without latches."""


Variable = TypeVar("Variable", StateVariable, InputVariable)


class Aiger:
    """Writes questions; the gates of one program's step are made once for all of them."""

    suffix = ".aig"

    def __init__(self) -> None:
        self._graph = Graph()
        self._words: dict[FNode, Word] = {}
        self._blaster = Blaster(self._graph, self._leaf)

    def write(self, question: Question) -> bytes:
        """The file of ``question``."""
        system = question.system
        following = {var.name: self._blaster.word(var.next) for var in system.state}
        bad = self._blaster.literal(question.bad)
        for symbol in (*(var.symbol for var in system.inputs), *(var.symbol for var in system.state)):
            self._leaf(symbol)
        return _File(self._graph, self._words, question, following).text(bad)

    def _leaf(self, node: FNode) -> Word | None:
        """The inputs of the graph that are the bits of a symbol, the lowest first; None for another term."""
        if not node.is_symbol():
            return None
        if node not in self._words:
            bits = 1 if node.get_type().is_bool_type() else node.bv_width()
            self._words[node] = [self._graph.fresh() for _ in range(bits)]
        return self._words[node]


class _File:
    """One file: variables are numbered as they must be, inputs first, then latches, then gates of two operands."""

    def __init__(
        self, graph: Graph, words: Mapping[FNode, Word], question: Question, following: Mapping[str, Word]
    ) -> None:
        self._graph, self._question, self._following = graph, question, following
        self._literals = {0: 0}
        """For gates of the graph by number: the literal here of the gate that is true."""
        self._gates: dict[tuple[int, int], int] = {}
        system = question.system
        self._places = _bits(system.state)
        opened = [(var, bit) for var, bit in self._places if var.init is None]
        self._inputs = [_named(var, bit) for var, bit in _bits(system.inputs)]
        given = len(self._inputs)
        self._inputs += [f"{_named(var, bit)} at start" for var, bit in opened]
        self._latches = [_named(var, bit) for var, bit in self._places] + [FIRST][: len(opened)]
        self._latches = self._latches or [UNUSED]
        self._count = len(self._inputs) + len(self._latches)
        for number, (given_by, bit) in enumerate(_bits(system.inputs), 1):
            self._literals[words[given_by.symbol][bit] >> 1] = 2 * number
        first, start = 2 * self._count, 2 * given
        for number, (var, bit) in enumerate(self._places, len(self._inputs) + 1):
            literal = 2 * number
            if var.init is None:
                start += 2
                literal = self._choice(first, start, literal)
            self._literals[words[var.symbol][bit] >> 1] = literal

    def text(self, bad: int) -> bytes:
        """The file, whose output is the literal ``bad`` of the graph."""
        after = [self._following[var.name][bit] for var, bit in self._places]
        for gate in self._graph.cone([bad, *after], {*self._literals}):
            self._literals[gate] = self._made(gate)
        nexts = [f"{self._of(literal)}" for literal in after]
        resets = [_starts_with_one(var, bit) for var, bit in self._places]
        rows = [f"{literal} 1" if one else literal for literal, one in zip(nexts, resets, strict=True)]
        rows += ["0 1" if name == FIRST else "0" for name in self._latches[len(rows) :]]
        sizes = [self._count + len(self._gates), len(self._inputs), len(self._latches), 1, len(self._gates)]
        head = "\n".join([f"aig {' '.join(map(str, sizes))}", *rows, str(self._of(bad))])
        return b"".join([f"{head}\n".encode(), *self._deltas(), "".join(self._tail()).encode()])

    def _deltas(self) -> Iterator[bytes]:
        """The gates: by how much each operand is below what comes before it."""
        for (more, less), literal in self._gates.items():
            yield _number(literal - more) + _number(more - less)

    def _tail(self) -> Iterator[str]:
        """The table of names, and the comment."""
        for kind, names in (("i", self._inputs), ("l", self._latches), ("o", ["bad"])):
            yield from (f"{kind}{number} {name}\n" for number, name in enumerate(names))
        yield "c\n"
        yield from (f"{line}\n" for line in self._question.comments())

    def _of(self, literal: int) -> int:
        """A literal of the graph as one here."""
        return self._literals[literal >> 1] ^ (literal & 1)

    def _made(self, gate: int) -> int:
        """The literal of a gate whose operands are made."""
        operands = [self._of(operand) for operand in self._graph.operands[gate]]
        kind = self._graph.kinds[gate]
        if kind == AND:
            return self._both(*operands)
        if kind == XOR:
            a, b = operands
            return self._either(self._both(a, b ^ 1), self._both(a ^ 1, b))
        if kind == ITE:
            return self._choice(*operands)
        assert kind == MAJORITY, "an input of the graph is no variable of the question"
        a, b, c = operands
        return self._either(self._both(a, b), self._both(c, self._either(a, b)))

    def _choice(self, condition: int, then: int, other: int) -> int:
        return self._either(self._both(condition, then), self._both(condition ^ 1, other))

    def _either(self, a: int, b: int) -> int:
        return self._both(a ^ 1, b ^ 1) ^ 1

    def _both(self, a: int, b: int) -> int:
        """The gate of two literals; equal ones are made once."""
        more, less = max(a, b), min(a, b)
        if less == 0 or more == less ^ 1:
            return 0
        if less in (TRUE, more):
            return more
        if (more, less) not in self._gates:
            self._gates[more, less] = 2 * (self._count + len(self._gates) + 1)
        return self._gates[more, less]


def _bits(variables: Sequence[Variable]) -> list[tuple[Variable, int]]:
    """The bits of ``variables`` in their order, the lowest first."""
    return [(var, bit) for var in variables for bit in range(max(var.type.bits, 1))]


def _starts_with_one(var: StateVariable, bit: int) -> bool:
    if var.init is None:
        return False
    value = var.init.constant_value()
    return bool(value >> bit & 1 if var.type.bits else value)


def _named(var: StateVariable | InputVariable, bit: int) -> str:
    name = var.name.replace("\n", " ")
    return f"{name}[{bit}]" if var.type.bits else name


def _number(value: int) -> bytes:
    """A number in groups of seven bits, the lowest first, each but the last with the eighth bit set."""
    found: Sequence[int] = [value & 0x7F]
    while value > 0x7F:
        value >>= 7
        found = [*found[:-1], found[-1] | 0x80, value & 0x7F]
    return bytes(found)
