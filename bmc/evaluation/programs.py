"""A step as a program over intervals of values, for many rows at once, and what comparisons tell of their operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.evaluation.intervals import (
    RULES,
    Beyond,
    Interval,
    compared,
    float_result,
    from_int,
    joined,
    keys_of,
    magnitudes,
    ordered_so,
    patterns_of,
    to_int,
)
from bmc.evaluation.vectors import WORD, Column, operator, word
from bmc.floats.format import Format
from bmc.floats.operations import COMPARISONS, Instruction, Operation, Program
from bmc.records import dataclass

JOINED = (op.AND, op.OR, op.NOT, op.IMPLIES, op.IFF)


@dataclass(frozen=True)
class Within:
    """A comparison that asks whether the value at ``place`` lies from ``low`` to ``high``, or, not ``inside``, that it
    does not."""

    place: int
    low: int
    high: int
    inside: bool

    def test(self, values: Interval) -> Interval:
        sure = (values.low >= self.low) & (values.high <= self.high)
        never = (values.high < self.low) | (values.low > self.high)
        yes, maybe = sure.astype(np.int64), (~never).astype(np.int64)
        return Interval(yes, maybe) if self.inside else Interval(1 - maybe, 1 - yes)

    def kept(self, values: Interval, holds: bool) -> Interval:
        """What remains of ``values`` where the comparison is ``holds``."""
        low, high = values
        if holds == self.inside:
            return Interval(np.maximum(low, self.low), np.minimum(high, self.high))
        inner, outer = low >= self.low, high <= self.high
        return Interval(
            np.where(inner & (low <= self.high), self.high + 1, low),
            np.where(outer & (high >= self.low), self.low - 1, high),
        )


_ORDERED = (op.BV_ULT, op.BV_ULE)
_WORDS = np.iinfo(np.int64)


class Machine:
    """A program over intervals. ``floating`` tells for each place the format of its keys, None for other values."""

    def __init__(self, formulas: Sequence[FNode], floating: Mapping[str, Format]) -> None:
        program = Program(formulas)
        self.instructions: Sequence[Instruction] = program.instructions
        self.results = program.results
        nodes = [instruction.node for instruction in program.instructions]
        self.symbols = {node.symbol_name(): place for place, node in enumerate(nodes) if node.is_symbol()}
        self.bits = [_bits(instruction) for instruction in program.instructions]
        self.floating: list[Format | None] = [None] * len(nodes)
        for name, place in self.symbols.items():
            self.floating[place] = floating.get(name)
        self._tell_formats()
        tests = {place: self._within(i) for place, i in enumerate(self.instructions) if i.floating is None}
        self.within = {place: test for place, test in tests.items() if test is not None}
        self._compute = [self._computing(place) for place in range(len(nodes))]

    def _tell_formats(self) -> None:
        """Which places hold floating values: by their operations, and by what is chosen between or made of them."""
        before: list[Format | None] | None = None
        while before != self.floating:
            before = list(self.floating)
            for place, instruction in enumerate(self.instructions):
                floating, read = instruction.floating, instruction.arguments
                own = self.floating[place]
                if floating is not None and floating.name not in (*COMPARISONS, "to_int"):
                    own = floating.to_form or floating.form
                elif floating is None and instruction.node.node_type() == op.ITE:
                    own = own or next(filter(None, (self.floating[a] for a in read[1:])), None)
                    self._want(read[1:], own)
                if floating is not None and floating.name != "from_int":
                    self._want(read, floating.form)
                self.floating[place] = own

    def _want(self, places: Sequence[int], form: Format | None) -> None:
        """The values at ``places``, but symbols, are read as floating ones."""
        for place in places:
            if not self.instructions[place].node.is_symbol():
                self.floating[place] = self.floating[place] or form

    def _within(self, instruction: Instruction) -> Within | None:
        """The test that a comparison of a word with a constant is."""
        kind = instruction.node.node_type()
        if kind not in (*_ORDERED, op.EQUALS):
            return None
        left, right = instruction.arguments
        constant = next((p for p in (right, left) if self.instructions[p].node.is_bv_constant()), None)
        if constant is None or left == right:
            return None
        value, place = int(self.instructions[constant].node.constant_value()), left if constant == right else right
        if self.floating[place] is None and self.bits[place] >= WORD:
            return None
        if kind == op.EQUALS:
            key = self._key(value, place)
            return Within(place, key, key, True)
        strict = kind == op.BV_ULT
        if constant == right:
            return self._below(place, value if strict else value + 1, True)
        return self._below(place, value + 1 if strict else value, False)

    def _below(self, place: int, end: int, inside: bool) -> Within:
        """Whether the pattern is less than ``end``: in the order of keys too these lie side by side."""
        form = self.floating[place]
        if form is None or end <= form.sign:
            return Within(place, 0, end - 1, inside)
        return Within(place, self._key(end - 1, place), form.sign - 1, inside)

    def _key(self, value: int, place: int) -> int:
        """How ``value`` is kept at ``place``."""
        form = self.floating[place]
        if form is not None:
            return value if value < form.sign else form.sign - 1 - value
        return value if value <= _WORDS.max else value - (1 << WORD)

    def everything(self, place: int) -> tuple[int, int]:
        """The ends of all values that a place may have."""
        form, bits = self.floating[place], self.bits[place]
        if form is not None:
            return -form.sign, form.sign - 1
        return (0, (1 << max(bits, 1)) - 1) if bits < WORD else (_WORDS.min, _WORDS.max)

    def is_atom(self, place: int) -> bool:
        """Whether a condition is a comparison, or anything else that is not put together of conditions."""
        instruction = self.instructions[place]
        node = instruction.node
        if self.bits[place] or node.is_symbol() or node.is_constant():
            return False
        return instruction.floating is not None or node.node_type() not in (*JOINED, op.ITE)

    def compared(self, place: int) -> Sequence[int]:
        """The places about whose values a comparison tells something."""
        if place in self.within:
            return (self.within[place].place,)
        floating = self.instructions[place].floating
        read = dict.fromkeys(self.instructions[place].arguments if floating is not None else ())
        return [a for a in read if self.floating[a] is not None and not self.instructions[a].node.is_constant()]

    def run(
        self, values: Mapping[int, Interval], decided: Mapping[int, Column], kept: Mapping[int, Interval], size: int
    ) -> tuple[list[Interval], Column]:
        """The values at all places in ``size`` rows, given those of the symbols, and which rows are possible.

        ``decided``: 0 or 1 for comparisons that are assumed to be false or true, below 0 for others. ``kept``: ends
        beyond which the values at a place do not lie.
        """
        found: list[Interval] = []
        possible = np.ones(size, bool)
        with np.errstate(all="ignore"):
            for place, compute in enumerate(self._compute):
                own = values[place] if compute is None else compute(found)
                low, high = (np.broadcast_to(np.asarray(end, np.int64), (size,)) for end in own)
                if place in kept:
                    low, high = np.maximum(low, kept[place].low), np.minimum(high, kept[place].high)
                    possible &= low <= high
                if place in decided:
                    told = decided[place]
                    possible &= (told < 0) | ((low <= told) & (told <= high))
                    low, high = np.where(told < 0, low, told), np.where(told < 0, high, told)
                found.append(Interval(low, high))
        return found, possible

    def _computing(self, place: int) -> Callable[[Sequence[Interval]], Interval] | None:
        """How the value at a place is found from those before; None for a symbol."""
        instruction = self.instructions[place]
        node, floating, read = instruction.node, instruction.floating, instruction.arguments
        kind = node.node_type()
        if node.is_symbol():
            return None
        if node.is_constant():
            value = self._key(int(node.constant_value()), place)
            ends = (value, value) if self.bits[place] <= WORD else (_WORDS.min, _WORDS.max)
            return lambda found: _from_to(*ends)
        if floating is not None:
            return self._on_numbers(floating, read)
        if place in self.within:
            test = self.within[place]
            return lambda found: test.test(found[test.place])
        if kind in JOINED:
            return lambda found: joined(kind, [found[a] for a in read])
        return (lambda found: self._chosen(place, found)) if kind == op.ITE else self._on_words(place)

    def _on_numbers(self, floating: Operation, read: Sequence[int]) -> Callable[[Sequence[Interval]], Interval]:
        """A floating-point operation on the values at the places ``read``."""
        if floating.name == "from_int":
            if self.floating[read[0]] is not None:
                raise Beyond
            return lambda found: from_int(floating, found[read[0]])
        result = compared if floating.name in COMPARISONS else to_int if floating.name == "to_int" else float_result
        return lambda found: result(floating, [self.as_number(a, floating.form, found) for a in read])

    def as_number(self, place: int, form: Format, found: Sequence[Interval]) -> Interval:
        """The value at a place as one of the format ``form``."""
        if self.floating[place] == form:
            return found[place]
        low, high = found[place]
        single = low == high
        if self.floating[place] is not None:
            raise Beyond
        keys = keys_of(low.view(np.uint64), form.bits)
        return Interval(np.where(single, keys, -form.sign), np.where(single, keys, form.sign - 1))

    def _chosen(self, place: int, found: Sequence[Interval]) -> Interval:
        """One of two values, or both, by a condition."""
        cond, then, other = (found[a] for a in self.instructions[place].arguments)
        form = self.floating[place]
        if form is not None:
            then, other = (self.as_number(a, form, found) for a in self.instructions[place].arguments[1:])
        surely, maybe = cond.low == 1, cond.high == 1
        low = np.where(surely, then.low, np.where(maybe, np.minimum(then.low, other.low), other.low))
        high = np.where(surely, then.high, np.where(maybe, np.maximum(then.high, other.high), other.high))
        return Interval(low, high)

    def _on_words(self, place: int) -> Callable[[Sequence[Interval]], Interval]:
        """An operator on words: exact on single values, by a rule of its own or unknown on others."""
        instruction = self.instructions[place]
        node, read, form = instruction.node, instruction.arguments, self.floating[place]
        least, most = self.everything(place)
        if max(self.bits[place], *(self.bits[a] for a in read)) > WORD:
            return lambda found: _from_to(least, most)
        narrow = form is None and all(self.floating[a] is None and self.bits[a] < WORD for a in read)
        exact, rule = operator(node), RULES.get(node.node_type()) if narrow else None

        def compute(found: Sequence[Interval]) -> Interval:
            single = np.logical_and.reduce([found[a].low == found[a].high for a in read])
            value = np.asarray(exact(*(self._raw(a, found[a].low) for a in read)))
            kept = keys_of(value, form.bits) if form is not None else value.astype(np.uint64).view(np.int64)
            low, high = _from_to(least, most)
            if rule is not None:
                low, high = rule([found[a] for a in read], most)
            elif self._drops_sign(node, read[0]):
                low, high = magnitudes(found[read[0]])
            return Interval(np.where(single, kept, low), np.where(single, kept, high))

        return compute

    def _drops_sign(self, node: FNode, place: int) -> bool:
        """Whether ``node`` is all of the floating value at ``place`` but its sign."""
        form = self.floating[place]
        return (
            form is not None
            and node.is_bv_extract()
            and node.bv_extract_start() == 0
            and int(node.bv_width()) == form.bits - 1
        )

    def _raw(self, place: int, values: Column) -> Column:
        """Values at a place as the column of a word."""
        form = self.floating[place]
        return (values if form is None else patterns_of(values, form.bits)).astype(word(self.bits[place]))


def _from_to(low: int, high: int) -> Interval:
    """The same interval in all rows."""
    return Interval(np.asarray(low, np.int64), np.asarray(high, np.int64))


def _bits(instruction: Instruction) -> int:
    """The bits of a value, 0 for a Boolean."""
    kind = instruction.node.get_type()
    return 0 if kind.is_bool_type() else int(kind.width)


def compared_so(machine: Machine, place: int, holds: bool, values: Sequence[Interval]) -> dict[int, Interval]:
    """What remains of the values that the comparison at ``place`` tells something about, where it is ``holds``."""
    if place in machine.within:
        test = machine.within[place]
        return {test.place: test.kept(values[test.place], holds)}
    instruction, told = machine.instructions[place], machine.compared(place)
    if not told or instruction.floating is None:
        return {}
    first, second = instruction.arguments
    form = instruction.floating.form
    a, b = (machine.as_number(p, form, values) for p in (first, second))
    rest = dict(zip((first, second), ordered_so(instruction.floating, holds, a, b), strict=True))
    return {p: kept for p, kept in rest.items() if p in told}
