"""Values up to which the spans of a growing variable are widened: the ends of the sets that concern it.

Constants concern a variable if it is compared with them, if they are added to it, or if it may be set to them, be it by
way of other variables; and so do inputs and variables that are settled before. Conditions do not connect: a variable
that is set where another one is 5 has nothing to do with 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

import pysmt.operators as op

from bmc.analysis.spans import closed, in_order, patterns_of, spans_of
from bmc.floats.format import FORMATS, is_nan, number
from bmc.floats.operations import COMPARISONS, Instruction, Program
from bmc.floats.values import PLAIN_MAGNITUDES
from bmc.formulas.value_sets import Ranges, width_of
from bmc.system.transition import StateVariable, ValueType

POWERS = 8
"""An unsigned variable may hold small negative numbers of a signed expression: down to minus this power of two."""


def widened(var: StateVariable, grown: Ranges, before: Ranges, ends: Sequence[int]) -> Ranges:
    """``grown``, each new end of a span moved on to the next of ``ends`` (values)."""

    def key(value: int) -> float:
        return in_order(var.type, value)

    known = spans_of(var, before)
    lows, highs = {low for low, _ in known}, {high for _, high in known}
    spans = []
    for low, high in spans_of(var, grown):
        if not (var.type.floating and is_nan(low, FORMATS[var.type.bits])):
            low = low if low in lows else max((e for e in ends if key(e) <= key(low)), key=key)
            high = high if high in highs else min((e for e in ends if key(e) >= key(high)), key=key)
        spans.append((low, high))
    return closed(var, [*grown, *patterns_of(var, spans)])


class Ends:
    """For the variables of a component the values at which their spans may end.

    ``places`` are those of the component's instructions. Terms in it that are compared with each other, or of which one
    is computed from the other, are a class. Terms outside that are used so belong to it; their ``sets`` are known.
    """

    def __init__(
        self, program: Program, places: Sequence[int], variables: Iterable[StateVariable], sets: Sequence[Ranges]
    ) -> None:
        self._program, self._sets = program, sets
        self._class = self._within(places, {program.places[var.symbol] for var in variables})
        self._outside: dict[int, set[int]] = {}
        self._found: dict[tuple[int, ValueType, bool], Sequence[int]] = {}
        used = [_used(place, program.instructions[place]) for place in self._class]
        used += [(program.places[var.symbol], program.places[var.next]) for var in variables]
        for words in used:
            inside = [self._root(word) for word in words if word in self._class]
            self._class.update((root, inside[0]) for root in inside)
        for words in used:
            self._join_outside(words)

    def _within(self, places: Sequence[int], varying: Set[int]) -> dict[int, int]:
        """Those of ``places`` that read one of the ``varying`` ones in the component, each as a class of its own."""
        found: dict[int, int] = {}
        for place in places:
            if place in varying or any(below in found for below in self._program.instructions[place].arguments):
                found[place] = place
        return found

    def _join_outside(self, words: Sequence[int]) -> None:
        """Let what is outside of the component belong to the classes of those of ``words`` that are inside."""
        outside = [word for word in words if word not in self._class]
        outside += [below for word in outside for below in _used(word, self._program.instructions[word])]
        for root in {self._root(word) for word in words if word in self._class}:
            self._outside.setdefault(root, set()).update(outside)

    def of(self, var: StateVariable, last: bool) -> Sequence[int]:
        """Those of one variable, and the least and the greatest of its type; ``last``: of the former the outermost."""
        key = self._root(self._program.places[var.symbol]), var.type, last
        if key not in self._found:
            self._found[key] = self._ends(var.type, self._outside.get(key[0], ()), last)
        return self._found[key]

    def _root(self, place: int) -> int:
        """The place that stands for a class."""
        while self._class[place] != place:
            self._class[place] = place = self._class[self._class[place]]
        return place

    def _ends(self, kind: ValueType, words: Iterable[int], last: bool) -> Sequence[int]:
        raws = {
            (raw, width_of(self._program.instructions[word].node))
            for word in words
            for ends in self._sets[word]
            for raw in ends
        }
        return _floating(kind, raws, last) if kind.floating else _whole(kind, raws, last)


def _used(place: int, instruction: Instruction) -> Sequence[int]:
    """The places of words that an instruction compares, or its own and those of the words from which it is computed."""
    arguments, kind = instruction.arguments, instruction.node.node_type()
    if instruction.floating is not None:
        return arguments if instruction.floating.name in COMPARISONS else (place, *arguments)
    if kind in op.RELATIONS:
        return arguments
    if kind in op.BOOL_CONNECTIVES:
        return ()
    return (place, *(arguments[1:] if kind == op.ITE else arguments))


def _whole(kind: ValueType, raws: Iterable[tuple[int, int]], last: bool) -> Sequence[int]:
    """With the numbers beside each."""
    numbers = {n for raw, bits in raws for n in (raw, raw - (1 << bits) if bits and raw >> (bits - 1) else raw)}
    size = 1 << max(kind.bits, 1)
    near = {kind.value((n + by) % size) for n in numbers if abs(n) < size for by in (-1, 0, 1)}
    if last:
        near = {min(near, default=kind.least), max(near, default=kind.greatest)}
    elif not kind.signed:
        near |= {size - (1 << power) for power in range(min(kind.bits, POWERS))}
    return sorted({kind.least, kind.greatest, *near})


def _floating(kind: ValueType, raws: Iterable[tuple[int, int]], last: bool) -> Sequence[int]:
    """With the same numbers of the other sign; the last ones are the infinities."""
    form = FORMATS[kind.bits]
    least, greatest = PLAIN_MAGNITUDES
    plain = {raw for raw, bits in raws if bits == form.bits and least <= abs(number(raw, form)) <= greatest}
    every = {form.infinity} if last else {0, form.infinity, *plain}
    return [each for raw in every for each in (raw, raw ^ form.sign)]
