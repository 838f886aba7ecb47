"""Sets of values of formulas whose symbols lie in given sets: sound, not tight; and what a formula says of its symbols.

Sets are ranges over raw patterns (``bmc.formulas.value_sets``). They pass through floating-point operations as
intervals of numbers (``bmc.floats.ranges``). In the branches of a choice its condition counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.floats import ranges as floating
from bmc.floats.operations import COMPARISONS, MASKED, Instruction, Program
from bmc.formulas.value_sets import (
    ALWAYS,
    BOTH,
    NEVER,
    PIECES,
    Ranges,
    applied,
    common,
    only,
    pointwise,
    signed_ends,
    united,
    whole,
    width_of,
    without,
    wrapped,
)

Box = Mapping[str, Ranges]
"""Sets of values by name; what is not in it has any value."""

REFINED = 4
"""Nodes below a choice, in depth, that are looked at again under its condition."""
DECIDING = 2
"""Nodes below a part of a condition, in depth, that are looked at to decide it: where all other parts of a conjunction
that fails hold, the last one fails."""
MOST_PARTS = 16
"""Parts of a condition that are looked at, and paths through the choices of a step that are told apart by what is known
after it; the others are dropped, which is safe."""
FEW_ARGUMENTS = 4
"""A node of more arguments is not looked at again."""
FEW_BITS = 2
"""Where all bits of a symbol but so many uppermost ones are given, what is left are a few ranges."""
ROUNDS = 2
"""Times that a conjunction's parts are gone through to narrow the symbols."""
NESTED = 40
"""Depth down to which a condition narrows symbols."""
LOOKED_AT = 20_000
"""So many parts of a condition narrow symbols; where alternatives share parts, each of these is one anew."""
MOST_KEPT = 10_000
"""Conditions of which it is kept what they say by themselves: those of some 12,000 lines. Twice as many take twice the
memory, and less is found anew in longer programs."""
Facts = dict[int, Ranges]
"""What is known of instructions, by place, where a condition is decided."""
NOTHING: Facts = {}
FLOATING = -1
"""What stands for the kind of the node of a floating operation."""

_COMPARED = (op.EQUALS, op.IFF, op.BV_ULT, op.BV_ULE, op.BV_SLT, op.BV_SLE)


def sets_of(
    program: Program, box: Box, known: Mapping[FNode, Ranges] | None = None, refined: bool = True
) -> list[Ranges]:
    """The set of each result of ``program``; ``known`` are those of some formulas, and of all below them.

    Unless they are ``refined``, the branches of a choice are taken as they are, whatever its condition: that is much
    sooner done, and tells less.
    """
    found = Evaluation(program, box, known, refined).found
    return [found[place] for place in program.results]


class Evaluation:
    """The sets of all instructions of a program: ``found``, by place. Without a box they are empty until asked for."""

    def __init__(
        self,
        program: Program,
        box: Box | None = None,
        known: Mapping[FNode, Ranges] | None = None,
        refined: bool = True,
    ) -> None:
        self._program, self._refined = program, refined
        self._kinds = [
            FLOATING if each.floating is not None else each.node.node_type() for each in program.instructions
        ]
        self._arguments = [each.arguments for each in program.instructions]
        self.found: list[Ranges] = [(known or {}).get(instruction.node, ()) for instruction in program.instructions]
        self._compared: dict[int, int] = {}
        self._assumed: dict[tuple[int, int, bool, int], tuple[Facts, Facts | None, set[int]]] = {}
        self._alone: dict[tuple[int, bool, int], tuple[Facts | None, Mapping[int, Ranges]]] = {}
        """What conditions say where nothing else is known, with the sets that were read then."""
        self._read: set[int] = set()
        self._choices: dict[int, Sequence[int]] = {}
        """Of choices that were looked into the instructions whose sets were read."""
        if box is not None:
            self.again(range(len(program.instructions)), box)

    def again(self, places: Sequence[int], box: Box) -> int:
        """Find the sets of the instructions at ``places``, which rise, from those before them; how many were computed.

        A set that was found before stays if the sets are the same that were read then.
        """
        changed: set[int] = set()
        computed = 0
        for place in places:
            before, arguments = self.found[place], self._arguments[place]
            if before and arguments and changed.isdisjoint(self._choices.get(place, arguments)):
                continue
            computed += 1
            after = self._first(place, box)
            if after != before:
                self.found[place] = after
                changed.add(place)
        return computed

    def _first(self, place: int, box: Box) -> Ranges:
        """The set of an instruction from those before it."""
        instruction = self._program.instructions[place]
        if instruction.node.is_symbol():
            return box.get(instruction.node.symbol_name()) or whole(width_of(instruction.node))
        arguments = self._arguments[place]
        operands = [self.found[argument] for argument in arguments]
        if self._refined and self._kinds[place] == op.ITE and operands[0] == BOTH:
            self._read = {*arguments}
            self._assumed.clear()
            found = self._choice(arguments, NOTHING, REFINED)
            self._choices[place] = [*self._read]
            return found
        self._choices.pop(place, None)
        return self._set(place, operands)

    def ways(self, known: Facts) -> list[list[Ranges]]:
        """The sets of all instructions where those of ``known`` lie in its sets: a list for each way there.

        A way is a path through choices, each with its condition; there are few of them, or they are not told apart.
        """
        found: list[Facts] = [{}]
        for place, wanted in known.items():
            more: list[Facts] = []
            for given in found:
                self._lead(place, wanted, dict(given), more)
            found = more if len(more) <= MOST_PARTS else found
        return [sets for sets in map(self._under, found) if sets is not None]

    def _lead(self, place: int, wanted: Ranges, given: Facts, ways: list[Facts]) -> None:
        """Add to ``ways`` what holds besides ``given`` where the instruction at ``place`` is in ``wanted``."""
        chooses = self._kinds[place] == op.ITE and place not in given
        if len(ways) > MOST_PARTS or not self._restrict(place, wanted, given):
            return
        if not chooses:
            ways.append(given)
            return
        condition, then, other = self._arguments[place]
        for branch, holds in ((then, True), (other, False)):
            facts = dict(given)
            if self._assume(condition, holds, facts):
                self._lead(branch, wanted, facts, ways)

    def _under(self, given: Facts) -> list[Ranges] | None:
        """The sets of all instructions where ``given`` is known too; None if there are none."""
        found: list[Ranges] = []
        for place, instruction in enumerate(self._program.instructions):
            before, arguments = self.found[place], instruction.arguments
            kept = before
            if any(found[argument] is not self.found[argument] for argument in arguments):
                kept = common(before, self._set(place, [found[argument] for argument in arguments]))
            kept = common(kept, given[place]) if place in given else kept
            if not kept:
                return None
            found.append(before if kept == before else kept)
        return found

    def _set(self, place: int, operands: Sequence[Ranges]) -> Ranges:
        """The set of an instruction from those of its arguments."""
        instruction, compute = self._program.instructions[place], self._program.compute[place]
        if instruction.floating is not None:
            return floating.applied(instruction.floating, operands)
        if compute is not None and self._kinds[place] not in (op.ITE, op.AND, op.OR, op.NOT):
            exact = pointwise(operands, compute)
            if exact is not None:
                return exact
        return applied(instruction.node, operands)

    def _choice(self, arguments: Sequence[int], given: Facts, depth: int) -> Ranges:
        """The union of both branches of a choice, each where the condition is so, and ``given`` too."""
        condition, then, other = arguments
        self._read.update(arguments)
        pieces: list[tuple[int, int]] = []
        for branch, holds in ((then, True), (other, False)):
            facts = self._assuming(condition, holds, given, min(depth, DECIDING))
            if facts is not None:
                pieces += self._again(branch, facts, depth) if facts else self.found[branch]
        return united(pieces) or united([*self.found[then], *self.found[other]])

    def _assuming(self, condition: int, holds: bool, given: Facts, depth: int) -> Facts | None:
        """What is known where ``given`` is and a condition is ``holds``; None where that cannot be.

        Many choices have one condition. The facts are not to be changed; what was found is kept with what was given, as
        long as one choice is looked into.
        """
        if not given:
            return self._assuming_alone(condition, holds, depth)
        key = (id(given), condition, holds, depth)
        if key not in self._assumed:
            self._assumed[key] = given, *self._assumed_anew(condition, holds, given, depth)
        _, found, read = self._assumed[key]
        self._read |= read
        return found

    def _assuming_alone(self, condition: int, holds: bool, depth: int) -> Facts | None:
        """What is known where a condition is ``holds``: as it was before while the sets are the same that were read."""
        key = (condition, holds, depth)
        found, read = self._alone.get(key, (None, NOTHING))
        if not read or any(self.found[place] is not before for place, before in read.items()):
            found, places = self._assumed_anew(condition, holds, NOTHING, depth)
            read = {place: self.found[place] for place in places}
            if len(self._alone) >= MOST_KEPT:
                self._alone.clear()
            self._alone[key] = found, read
        self._read.update(read)
        return found

    def _assumed_anew(self, condition: int, holds: bool, given: Facts, depth: int) -> tuple[Facts | None, set[int]]:
        """What is known then, and the instructions whose sets were read."""
        facts, around, self._read = dict(given), self._read, set()
        found, read = facts if self._assume(condition, holds, facts, depth) else None, self._read
        self._read = around
        return found, read

    def _again(self, place: int, given: Facts, depth: int) -> Ranges:
        """The set of an instruction where ``given`` is known."""
        if place in given:
            return given[place]
        self._read.add(place)
        before, arguments = self.found[place], self._arguments[place]
        if not depth or not arguments or len(arguments) > FEW_ARGUMENTS or only(before) is not None:
            return before
        if not self._knows_below(place, given):  # then it is as it was
            return before
        if self._kinds[place] == op.ITE and self._again(arguments[0], given, depth - 1) == BOTH:
            return common(before, self._choice(arguments, given, depth - 1)) or before
        operands = [self._again(argument, given, depth - 1) for argument in arguments]
        for new, argument in zip(operands, arguments, strict=True):
            if new is not self.found[argument]:
                return common(before, self._set(place, operands)) or before
        return before

    def _knows_below(self, place: int, given: Facts) -> bool:
        """Whether something may be ``given`` of what an instruction reads."""
        below = self._program.below[place]
        return any([below >> known % MASKED & 1 for known in given])  # noqa: C419 - a generator takes longer

    def _assume(self, condition: int, holds: bool, given: Facts, depth: int = DECIDING) -> bool:
        """Put into ``given`` what a condition's being ``holds`` says of instructions; False where it cannot be.

        ``depth``: of the nodes below a part that are looked at to decide it.
        """
        todo = [(condition, holds)]
        for _ in range(MOST_PARTS):
            if not todo:
                return True
            place, value = todo.pop()
            kind, arguments = self._kinds[place], self._arguments[place]
            if parts := _implied(kind, arguments, value):
                todo += parts
                continue
            if not self._assume_atom(place, value, given):
                return False
            if kind in (op.AND, op.OR):
                known = [only(self._again(part, given, depth)) for part in arguments]
                if value not in known:  # then one of the parts that are still open has it
                    open_ones = [part for part, one in zip(arguments, known, strict=True) if one is None]
                    if not open_ones:
                        return False
                    todo += [(open_ones[0], value)] if len(open_ones) == 1 else []
        return True

    def _assume_atom(self, place: int, holds: bool, given: Facts) -> bool:
        kind = self._kinds[place]
        if not self._restrict(place, ALWAYS if holds else NEVER, given):
            return False
        instruction = self._program.instructions[place]
        if instruction.floating is not None:
            name, form = instruction.floating.name, instruction.floating.form
            if name not in COMPARISONS:
                return True
            left, right = (self._known(argument, given) for argument in instruction.arguments)
            parts = floating.compared_so(name, holds, left, right, form)
            return all(self._restrict(a, part, given) for a, part in zip(instruction.arguments, parts, strict=True))
        if kind not in _COMPARED:
            return True
        first, second = instruction.arguments
        sides = self._known(first, given), self._known(second, given)
        bits = self._compared.get(place)
        if bits is None:
            bits = self._compared[place] = width_of(instruction.node.arg(0))
        left, right = remaining(kind, holds, sides, bits)
        return self._restrict(first, left, given) and self._restrict(second, right, given)

    def _known(self, place: int, given: Facts) -> Ranges:
        if place in given:
            return given[place]
        self._read.add(place)
        return self.found[place]

    def _restrict(self, place: int, to: Ranges, given: Facts) -> bool:
        """An instruction, and what it extends, lies in ``to`` as well; False where nothing is left."""
        before = self._known(place, given)
        kept = common(before, to)
        if kept == before:
            return True
        if not kept:
            return False
        given[place] = kept if len(kept) <= PIECES else united(kept)
        if self._kinds[place] in (op.BV_ZEXT, op.BV_SEXT):
            size = 1 << width_of(self._program.instructions[place].node.arg(0))
            back = [(low % size, high % size) for low, high in kept if high - low < size]
            if all(low <= high for low, high in back) and len(back) == len(kept):
                return self._restrict(self._arguments[place][0], united(back), given)
        return True


def _kind(instruction: Instruction) -> int:
    """The kind of an instruction's node; ``FLOATING`` where its value is that of a floating operation."""
    return FLOATING if instruction.floating is not None else int(instruction.node.node_type())


def _implied(kind: int, arguments: Sequence[int], value: bool) -> list[tuple[int, bool]]:
    """The parts of a connective whose values follow from its own alone, each with that value."""
    if kind == op.NOT:
        return [(arguments[0], not value)]
    if kind == op.IMPLIES:
        return [] if value else [(arguments[0], True), (arguments[1], False)]
    return [(part, value) for part in arguments] if kind == (op.AND if value else op.OR) else []


def remaining(kind: int, holds: bool, sides: tuple[Ranges, Ranges], bits: int) -> tuple[Ranges, Ranges]:
    """What remains of two sets of words where the comparison ``kind`` between their members is ``holds``."""
    left, right = sides
    if kind in (op.EQUALS, op.IFF):
        if holds:
            both = united(common(left, right))
            return both, both
        return _without(left, only(right), bits), _without(right, only(left), bits)
    strict = kind in (op.BV_ULT, op.BV_SLT)
    if not holds:
        more, less = remaining(_TURNED[kind], True, (right, left), bits)
        return less, more
    if kind in (op.BV_ULT, op.BV_ULE):
        least, greatest, (first, most), (low, last) = 0, (1 << bits) - 1, *map(_ends, sides)
    else:
        half = 1 << bits >> 1
        least, greatest = -half, half - 1
        (first, most), (low, last) = signed_ends(left, bits), signed_ends(right, bits)
    if most > last - strict:
        left = common(left, wrapped(least, last - strict, bits) if least <= last - strict else ())
    if low < first + strict:
        right = common(right, wrapped(first + strict, greatest, bits) if first + strict <= greatest else ())
    return left, right


def _ends(ranges: Ranges) -> tuple[int, int]:
    return ranges[0][0], ranges[-1][1]


_TURNED = {op.BV_ULT: op.BV_ULE, op.BV_ULE: op.BV_ULT, op.BV_SLT: op.BV_SLE, op.BV_SLE: op.BV_SLT}
"""Not a < b is b <= a."""


def _without(ranges: Ranges, value: int | None, bits: int) -> Ranges:
    return ranges if value is None else common(ranges, without(value, bits))


def narrowed(formula: FNode, box: Box) -> dict[str, Ranges] | None:
    """``box`` without values for which ``formula`` cannot hold; None if it cannot at all. Sound, not tight.

    Comparisons of symbols with constants and with each other are understood, and what joins them.
    """
    names = (symbol.symbol_name() for symbol in formula.get_free_variables())
    result = {name: box[name] for name in names if name in box}  # the others stay as they are, however many
    left = [LOOKED_AT]
    changed = False
    for _ in range(ROUNDS):
        found = _assumed(formula, True, result, NESTED, left)
        if found is None:
            return None
        if found == result:
            break
        result, changed = found, True
    return {**box, **result} if changed else dict(box)


def _assumed(
    formula: FNode, holds: bool, box: dict[str, Ranges], depth: int, left: list[int]
) -> dict[str, Ranges] | None:
    """The box where ``formula`` is ``holds``. ``left``: how many parts may still be looked at."""
    kind = formula.node_type()
    if kind == op.NOT:
        return _assumed(formula.arg(0), not holds, box, depth, left)
    if kind == op.BOOL_CONSTANT:
        return box if formula.is_true() == holds else None
    left[0] -= 1
    if depth == 0 or left[0] < 0:
        return box
    if kind in (op.AND, op.OR):
        if (kind == op.AND) == holds:
            for part in formula.args():
                found = _assumed(part, holds, box, depth - 1, left)
                if found is None:
                    return None
                box = found
            return box
        return _any_of((_assumed(part, holds, box, depth - 1, left) for part in formula.args()), box)
    return _atom(formula, holds, box, left)


def _any_of(found: Iterable[dict[str, Ranges] | None], box: dict[str, Ranges]) -> dict[str, Ranges] | None:
    """The union of boxes that are all within ``box``; what one of them leaves as it is stays so."""
    kept: list[dict[str, Ranges]] = []
    for one in found:
        if one is box:
            return box
        kept += [] if one is None else [one]
    if not kept:
        return None
    names = [name for name, ranges in kept[0].items() if ranges is not box.get(name)]
    for one in kept[1:]:
        names = [name for name in names if name in one and one[name] is not box.get(name)]
    return {**box, **{name: united(piece for one in kept for piece in one[name]) for name in names}}


def _atom(formula: FNode, holds: bool, box: dict[str, Ranges], budget: list[int]) -> dict[str, Ranges] | None:
    if formula.is_symbol():
        return _kept(formula, ALWAYS if holds else NEVER, box)
    kind = formula.node_type()
    if kind not in _COMPARED:
        return box
    left, right = formula.args()
    if kind in (op.EQUALS, op.IFF) and left.is_constant():
        left, right = right, left
    if kind == op.IFF and right.is_constant() and not left.is_symbol():
        return _assumed(left, right.is_true() == holds, box, 1, budget)
    if kind == op.EQUALS and holds and left.is_bv_extract() and right.is_constant():
        return _with_bits(left, int(right.constant_value()), box)
    return _compared(kind, holds, (left, right), box)


def _compared(kind: int, holds: bool, sides: tuple[FNode, FNode], box: dict[str, Ranges]) -> dict[str, Ranges] | None:
    """The box where a comparison is ``holds``, if both of its sides are symbols or constants."""
    if not all(side.is_symbol() or side.is_constant() for side in sides):
        return box
    left, right = sides
    ranges = remaining(kind, holds, (_value(left, box), _value(right, box)), width_of(left))
    for side, kept in zip(sides, ranges, strict=True):
        after = _kept(side, kept, box) if side.is_symbol() else box
        if after is None or not kept:
            return None
        box = after
    return box


def _with_bits(extract: FNode, value: int, box: dict[str, Ranges]) -> dict[str, Ranges] | None:
    """The box where the bits that are taken from a symbol are ``value``, as in a comparison with 0.0: 0.0 and -0.0."""
    symbol, first = extract.arg(0), extract.bv_extract_start()
    width, bits = width_of(symbol), width_of(extract)
    above = width - first - bits
    if not symbol.is_symbol() or above > FEW_BITS:
        return box
    lowest = [(high << bits | value) << first for high in range(1 << above)]
    return _kept(symbol, tuple((low, low + (1 << first) - 1) for low in lowest), box)


def _value(side: FNode, box: Box) -> Ranges:
    if side.is_constant():
        return ((int(side.constant_value()),) * 2,)
    return box.get(side.symbol_name()) or whole(width_of(side))


def _kept(symbol: FNode, ranges: Ranges, box: dict[str, Ranges]) -> dict[str, Ranges] | None:
    name = symbol.symbol_name()
    before = box.get(name) or whole(width_of(symbol))
    found = united(common(before, ranges))
    if not found:
        return None
    return box if found == before else {**box, name: found}
