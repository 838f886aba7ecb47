"""Readers and simulators of AIGER and BTOR2 files, written from the formats' definitions, for nothing but tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Values = Mapping[str, int]
"""Values by name."""


@dataclass
class AigerFile:
    """A binary AIGER file with one output. Names are those of the table of symbols."""

    inputs: list[str]
    latches: list[str]
    resets: list[int]
    nexts: list[int]
    output: int
    gates: list[tuple[int, int]]
    comment: str

    @staticmethod
    def read(data: bytes) -> AigerFile:
        """The file; AssertionError where it is none."""
        place = 0

        def line() -> str:
            nonlocal place
            end = data.index(b"\n", place)
            text, place = data[place:end].decode(), end + 1
            return text

        def number() -> int:
            nonlocal place
            found, shift = 0, 0
            while data[place] & 0x80:
                found |= (data[place] & 0x7F) << shift
                place, shift = place + 1, shift + 7
            found |= data[place] << shift
            place += 1
            return found

        word, most, inputs, latches, outputs, gates = line().split()
        assert word == "aig"
        assert int(most) == int(inputs) + int(latches) + int(gates)
        assert outputs == "1"
        rows = [line().split() for _ in range(int(latches))]
        resets = [int(row[1]) if len(row) > 1 else 0 for row in rows]
        assert set(resets) <= {0, 1}
        output = int(line())
        made = []
        for index in range(int(gates)):
            own = 2 * (int(inputs) + int(latches) + index + 1)
            more = own - number()
            less = more - number()
            assert own > more >= less >= 0
            made.append((more, less))
        names: dict[str, str] = {}
        while place < len(data) and (text := line()) != "c":
            key, _, name = text.partition(" ")
            names[key] = name
        return AigerFile(
            [names[f"i{n}"] for n in range(int(inputs))],
            [names[f"l{n}"] for n in range(int(latches))],
            resets,
            [int(row[0]) for row in rows],
            output,
            made,
            data[place:].decode(),
        )

    def start(self) -> list[int]:
        """The values of the latches in the first frame."""
        return list(self.resets)

    def step(self, latches: list[int], given: Callable[[str], int]) -> tuple[list[int], bool]:
        """The values of the latches in the next frame, and whether the output is true in this one."""
        values = [0, *(given(name) for name in self.inputs), *latches]

        def of(literal: int) -> int:
            return values[literal >> 1] ^ (literal & 1)

        for more, less in self.gates:
            values.append(of(more) & of(less))
        return [of(literal) for literal in self.nexts], bool(of(self.output))


def word_in(bits: Values, name: str, width: int) -> int:
    """The value of a variable from those of its ``bits``; 0 for bits without one."""
    if not width:
        return bits.get(name, 0)
    return sum(bits.get(f"{name}[{place}]", 0) << place for place in range(width))


def bit_of(values: Values, name: str) -> int:
    """The bit called ``name`` (``x[3]``, or ``x`` of a Boolean) of ``values`` by variable."""
    base, _, place = name.rpartition("[")
    if base in values and place.endswith("]"):
        return values[base] >> int(place[:-1]) & 1
    return values[name]


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_BINARY: dict[str, Callable[[int, int, int], int]] = {
    "and": lambda a, b, n: a & b,
    "or": lambda a, b, n: a | b,
    "xor": lambda a, b, n: a ^ b,
    "implies": lambda a, b, n: (a ^ 1) | b,
    "iff": lambda a, b, n: int(a == b),
    "eq": lambda a, b, n: int(a == b),
    "ult": lambda a, b, n: int(a < b),
    "ulte": lambda a, b, n: int(a <= b),
    "slt": lambda a, b, n: int(_signed(a, n) < _signed(b, n)),
    "slte": lambda a, b, n: int(_signed(a, n) <= _signed(b, n)),
    "add": lambda a, b, n: a + b,
    "sub": lambda a, b, n: a - b,
    "mul": lambda a, b, n: a * b,
    "udiv": lambda a, b, n: a // b if b else -1,
    "urem": lambda a, b, n: a % b if b else a,
    "sdiv": lambda a, b, n: _quotient(_signed(a, n), _signed(b, n)) if b else 1 if _signed(a, n) < 0 else -1,
    "srem": lambda a, b, n: _signed(a, n) - _quotient(_signed(a, n), _signed(b, n)) * _signed(b, n) if b else a,
    "sll": lambda a, b, n: a << b if b < n else 0,
    "srl": lambda a, b, n: a >> b if b < n else 0,
    "sra": lambda a, b, n: _signed(a, n) >> min(b, n),
    "rol": lambda a, b, n: a << b % n | a >> (n - b % n),
    "ror": lambda a, b, n: a >> b % n | a << (n - b % n),
}


@dataclass
class Btor2File:
    """A BTOR2 file with one bad state."""

    nodes: dict[int, list[str]] = field(default_factory=dict)
    widths: dict[int, int] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)

    @staticmethod
    def read(data: bytes) -> Btor2File:
        """The file; AssertionError where it is none."""
        found = Btor2File()
        for row in data.decode().splitlines():
            if row.startswith(";"):
                found.comments.append(row[2:])
                continue
            number, *parts = row.split(" ")
            assert int(number) > max(found.nodes, default=0)
            found.nodes[int(number)] = parts
            if parts[0] == "sort":
                assert parts[1] == "bitvec"
                found.widths[int(number)] = int(parts[2])
            elif parts[0] == "init":
                assert int(parts[2]) > int(parts[3]), "a state comes after its start value"
            elif parts[0] not in ("next", "bad"):
                found.widths[int(number)] = found.widths[int(parts[1])]
        return found

    def of_kind(self, keyword: str) -> dict[str, int]:
        """The inputs, or states, by their symbols."""
        return {parts[2]: number for number, parts in self.nodes.items() if parts[0] == keyword}

    def start(self, given: Values) -> dict[int, int]:
        """The first values of the states; ``given`` has those that are open."""
        constants = self._values({}, {})
        starts = {int(p[2]): constants[int(p[3])] for p in self.nodes.values() if p[0] == "init"}
        return {number: starts.get(number, given.get(name, 0)) for name, number in self.of_kind("state").items()}

    def step(self, states: Mapping[int, int], given: Values) -> tuple[dict[int, int], bool]:
        """The next values of the states, and whether this frame is bad."""
        values = self._values(states, {number: given[name] for name, number in self.of_kind("input").items()})
        after = {int(p[2]): values[int(p[3])] for p in self.nodes.values() if p[0] == "next"}
        (bad,) = (int(p[1]) for p in self.nodes.values() if p[0] == "bad")
        return after, bool(values[bad])

    def _values(self, states: Mapping[int, int], inputs: Mapping[int, int]) -> dict[int, int]:
        values: dict[int, int] = {**states, **inputs}
        for number, (kind, *rest) in self.nodes.items():
            if kind == "constd":
                values[number] = int(rest[1])
            if number in values or kind in ("sort", "init", "next", "bad", "input", "state"):
                continue
            operands = [int(text) for text in rest[1:]]
            if kind in ("uext", "sext", "slice"):
                operands = operands[:1]
            if all(operand in values for operand in operands):
                width = self.widths[operands[0]]
                found = self._value(kind, [values[operand] for operand in operands], rest, width)
                values[number] = found & ((1 << self.widths[number]) - 1)
        return values

    def _value(self, kind: str, operands: list[int], rest: list[str], width: int) -> int:
        """The value of an operator; ``width`` is that of its first operand."""
        if kind == "not":
            return ~operands[0]
        if kind == "neg":
            return -operands[0]
        if kind == "ite":
            return operands[1] if operands[0] else operands[2]
        if kind == "concat":
            return operands[0] << self.widths[int(rest[2])] | operands[1]
        if kind == "slice":
            return operands[0] >> int(rest[3])
        if kind in ("uext", "sext"):
            return operands[0] if kind == "uext" else _signed(operands[0], width)
        return _BINARY[kind](operands[0], operands[1], width)
