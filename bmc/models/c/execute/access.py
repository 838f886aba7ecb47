"""Loading and storing through guarded places, with checks for null, uninitialised and out-of-range access."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from pysmt.fnode import FNode

from bmc.errors import InputRefused, Location
from bmc.formulas.terms import FALSE, TRUE, both, constant, either, equals, is_false, is_true, negate
from bmc.limits import ELEMENTS
from bmc.models.c.execute.arithmetic import Undefined, constant_value, in_range, interval
from bmc.models.c.execute.cases import Cases
from bmc.models.c.execute.first_members import begin_alike, converted, is_character
from bmc.models.c.execute.floating import convert
from bmc.models.c.execute.memory import (
    UNDEFINED,
    Aggregate,
    Content,
    Key,
    MemObject,
    Place,
    State,
    Target,
    Value,
    element_places,
    is_null,
    live,
    merge_contents,
)
from bmc.models.c.execute.recorder import Recorder, is_volatile, unwritten
from bmc.models.c.execute.representation import Representation
from bmc.models.c.execute.zero_sums import is_narrowed
from bmc.models.c.source.overlay import is_shared, outside_of_unions
from bmc.models.c.source.program import Program, unsupported, where
from bmc.models.c.source.types import (
    ArrayType,
    CType,
    DataModel,
    FloatType,
    FunctionType,
    IntType,
    Path,
    PointerType,
    StructType,
    bit_offset_of,
    bits_of_part,
    bits_part,
    offset_of,
    same_type,
    scalars,
    show_type,
    size_of,
    type_at,
)
from bmc.models.model import NotAMember


class Accesses:
    """Cells read and written while one operand is evaluated; ``direct`` are written outside of calls.

    ``early``: read before anything was written to them.
    """

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.reads: set[Key] = set()
        self.early: set[Key] = set()
        self.writes: set[Key] = set()
        self.direct: set[Key] = set()

    def clash(self, other: Accesses) -> set[Key]:
        """The cells for which it matters which of the two operands is evaluated first."""
        return (self.writes & (other.reads | other.writes)) | (other.writes & self.reads)


class MemoryAccess:
    """Base of the evaluator: how values get into and out of a State."""

    model: DataModel
    program: Program

    def __init__(self) -> None:
        self.recorder = Recorder()
        self.representation = Representation(self)
        self.cases = Cases()
        self.noted_in: list[Accesses] = []
        """Where each access is noted: a record for each operand under evaluation."""
        self.depth = 0
        self.filling = -1
        """The ``depth`` at which an automatic aggregate is being initialised, -1 outside of such an initialiser."""
        self.narrowed: Location | None = None
        """The first double constant of that initialiser that a conversion to float changes."""
        self.through_volatile: dict[MemObject, set[Path]] = {}
        """What was accessed through pointers to volatile."""
        self._declared_volatile: dict[Key, bool] = {}

    @contextlib.contextmanager
    def apart(self) -> Iterator[Recorder]:
        """Evaluate something that is no part of the run: it is recorded apart, and no access is noted."""
        saved = self.recorder, self.noted_in
        self.recorder, self.noted_in = Recorder(), []
        try:
            yield self.recorder
        finally:
            self.recorder, self.noted_in = saved

    def load(self, place: Place, state: State, node: Any) -> Value | Aggregate:
        """The value of an lvalue (C11 6.3.2.1p2). Undefined reads are noted."""
        self.check_not_null(place, state, node)
        ctype = place.ctype
        if isinstance(ctype, StructType):
            return Aggregate(
                tuple((p, self.content(place, p, state, node)) for p, _ in struct_scalars(ctype, node)), ctype
            )
        if isinstance(ctype, FloatType):
            refuse_long_double(ctype, node)
        if not isinstance(ctype, IntType | FloatType | PointerType):
            raise unsupported(f"value of type {show_type(ctype)}", node)
        content = self.content(place, (), state, node)
        if not is_true(content.defined):
            self.recorder.note_undefined("uninitialised read", where(node), state.pc, negate(content.defined))
        if isinstance(ctype, PointerType):
            return Value(content.term if isinstance(content.term, tuple) else (), ctype)
        term = content.term if isinstance(content.term, FNode) else constant(0, ctype.bits)
        return Value(term, ctype)

    def content(self, place: Place, path: Path, state: State, node: Any) -> Content:
        """What the cell at ``path`` below an lvalue holds, over all its targets."""
        result: Content | None = None
        for guard, obj, base in live(place.targets):
            key = (obj, base + path)
            self.check_usable(obj, guard, state, node)
            if key not in state.cells and self._is_past(key, guard, state, node):
                continue
            if key in state.cells or not is_shared(obj.ctype, key[1]):
                if key not in state.cells:
                    self._check_punning(Target(guard, obj, base), place.ctype, node)
                found = self.cell(key, guard, state, node)
            else:
                start = bit_offset_of(obj.ctype, key[1], self.model)
                ctype = type_at(obj.ctype, key[1])
                found = self.representation.read((obj, start), ctype, guard, state, node)
            result = found if result is None else merge_contents(guard, found, result)
        return result if result is not None else UNDEFINED

    def cell(self, key: Key, guard: FNode, state: State, node: Any) -> Content:
        """What one cell holds; that it is read is noted."""
        self.recorder.work += 1
        for accesses in self.noted_in:
            accesses.reads.add(key)
            if key not in accesses.writes:
                accesses.early.add(key)
        if key not in state.cells:
            return UNDEFINED
        found = state.cells[key]
        if self._is_volatile(key):
            self._note_unwritten(key, found, guard, state, node)
        return found

    def _is_volatile(self, key: Key) -> bool:
        if key not in self._declared_volatile:
            self._declared_volatile[key] = is_volatile(key, {})
        through = key[0] in self.through_volatile and is_volatile(key, self.through_volatile)
        return self._declared_volatile[key] or through

    def _note_unwritten(self, key: Key, found: Content, guard: FNode, state: State, node: Any) -> None:
        """Record the read of a volatile variable that the step may not have written before."""
        when = both(both(both(self.recorder.base, state.pc), guard), unwritten(key, found))
        if key not in self.recorder.unwritten and not self.cases.impossible(when, state.pc):
            self.recorder.unwritten[key] = where(node)

    def store(self, place: Place, value: Value | Aggregate, state: State, node: Any) -> None:
        """Assign to an lvalue; the value must already have its type."""
        self.check_not_null(place, state, node)
        if isinstance(value, Aggregate):
            for path, content in value.cells:
                self.put(place, path, content, state, node)
            self.representation.leave_padding(place, state, node)
            return
        self.put(place, (), Content(value.term, TRUE()), state, node)

    def put(self, place: Place, path: Path, content: Content, state: State, node: Any) -> None:
        """Set the cell at ``path`` below an lvalue."""
        for guard, obj, base in live(place.targets):
            if obj.const:
                raise InputRefused(f"assignment to the const object '{obj.name}'", where(node))
            self.check_usable(obj, guard, state, node)
            key = (obj, base + path)
            if key not in state.cells and self._is_past(key, guard, state, node):
                continue
            if key in state.cells or not is_shared(obj.ctype, key[1]):
                if key not in state.cells:
                    self._check_punning(Target(guard, obj, base), place.ctype, node)
                self.set_cell(key, content, guard, state, node)
            else:
                start = bit_offset_of(obj.ctype, key[1], self.model)
                ctype = type_at(obj.ctype, key[1])
                self.representation.write((obj, start), ctype, content, guard, state, node)

    def set_cell(self, key: Key, content: Content, guard: FNode, state: State, node: Any) -> None:
        """Set one cell where ``guard`` holds; that it is written is noted."""
        self.representation.note_change(key[0])
        self.recorder.work += 1
        for accesses in self.noted_in:
            accesses.writes.add(key)
            if accesses.depth == self.depth:
                accesses.direct.add(key)
        state.cells[key] = merge_contents(guard, content, state.cells.get(key, UNDEFINED))

    def check_usable(self, obj: MemObject, guard: FNode, state: State, node: Any) -> None:
        """Refuse an object whose start value could not be read; one whose block has ended is undefined."""
        if obj.refusal is not None:
            raise obj.refusal
        if obj.ended:
            self.recorder.note_undefined("use of an object after its lifetime", where(node), state.pc, guard)

    def _is_past(self, key: Key, guard: FNode, state: State, node: Any) -> bool:
        """Whether a cell would lie past the end of an array: access to it is undefined."""
        past = is_past(*key, self.model)
        if past:
            self.undefined_at(state, node)("access past the end of an array", guard)
        return past

    def check_not_null(self, place: Place, state: State, node: Any) -> None:
        """Access through a null or unset pointer is undefined."""
        if place.targets and None not in [target.object for target in place.targets]:
            return
        null = is_null(place.targets) if place.targets else TRUE()
        if not is_false(null):
            self.recorder.note_undefined("null or unset pointer", where(node), state.pc, null)

    def _check_punning(self, target: Target, ctype: CType, node: Any) -> None:
        assert target.object is not None
        if not same_type(type_at(target.object.ctype, target.path), ctype):
            raise unsupported(
                f"access to '{target.object.name}' as {show_type(ctype)} (another type than its own)", node
            )

    def dereference(self, pointer: Value, state: State, node: Any) -> Place:
        """The lvalue that a pointer points to.

        Access as another type is refused; as a struct that begins alike it is undefined, unless that is what every run
        does.
        """
        if not isinstance(pointer.ctype, PointerType):
            raise NotAMember("'->' needs a pointer to a struct", where(node))
        ctype = pointer.ctype.target
        if isinstance(ctype, FunctionType):
            return Place(pointer.targets, ctype)
        targets, others = [], []
        for target in converted(pointer.targets, ctype):
            obj, path = target.object, target.path
            if obj is None or is_character(ctype) or same_type(type_at(obj.ctype, path), ctype):
                targets.append(self._first_byte(target, ctype))
            else:
                others.append(target)
            if obj is not None and pointer.ctype.volatile:
                self.through_volatile.setdefault(obj, set()).add(outside_of_unions(obj.ctype, path))
        for guard, obj, path in live(others):
            text = (
                f"access to a {show_type(type_at(obj.ctype, path))} as {show_type(ctype)} (another type than its own)"
            )
            path_here = both(self.recorder.base, both(state.pc, guard))
            possible = not self.cases.impossible(guard, state.pc)
            if possible and (is_true(path_here) or not begin_alike(type_at(obj.ctype, path), ctype)):
                raise unsupported(text, node)
            self.undefined_at(state, node)(text, guard)
        return Place(tuple(targets), ctype)

    def _first_byte(self, target: Target, ctype: CType) -> Target:
        """A target as what a pointer to ``ctype`` points to: the first byte of another object for a character type."""
        if target.object is None or same_type(type_at(target.object.ctype, target.path), ctype):
            return target
        start = bit_offset_of(target.object.ctype, target.path, self.model)
        return Target(target.guard, target.object, (bits_part(start, start + 7),))

    def _bytes(
        self, target: Target, ctype: CType, index: Value, state: State, node: Any, past: int
    ) -> Iterator[Target]:
        """The bytes that lie ``index`` behind a target, anywhere in its object (C11 6.3.2.3p7)."""
        assert target.object is not None
        length = size_of(target.object.ctype, self.model)
        start = bit_offset_of(target.object.ctype, target.path, self.model) // 8
        array = Place((target,), ArrayType(ctype, length))
        for found in self.element(array, index, state, node, start, past).targets:
            number = int(found.path[-1])
            yield Target(found.guard, found.object, (bits_part(8 * number, 8 * number + 7),))

    def element(self, place: Place, index: Value, state: State, node: Any, base: int = 0, past: int = 0) -> Place:
        """``place[base + index]`` of an array lvalue; an index out of range is noted. ``past``: elements that may be
        named behind the last one."""
        assert isinstance(place.ctype, ArrayType)
        assert isinstance(index.ctype, IntType)
        length = (place.ctype.length or 0) + past
        meant = FALSE()
        for guard, _, _ in live(place.targets):
            meant = either(meant, guard)
        outside = both(meant, negate(in_range(index, -base, length - base)))
        self.undefined_at(state, node)("index out of range", outside)
        number = constant_value(index)
        if number is not None:
            return element_places(place, [(base + number, TRUE())] if 0 <= base + number < length else [])
        bits = index.ctype.bits
        low, high = interval(index.bits, index.ctype)
        numbers = range(max(low + base, 0), min(length - 1, high + base) + 1)
        ELEMENTS.check(len(numbers), where(node))
        return element_places(place, [(k, equals(index.bits, constant(k - base, bits))) for k in numbers])

    def subscript(self, pointer: Value, index: Value, state: State, node: Any, past: int = 0) -> Place:
        """``pointer[index]``: inside the array that the pointer points into."""
        assert isinstance(pointer.ctype, PointerType)
        targets: list[Target] = []
        for target in pointer.targets:
            if target.object is None:
                targets.append(target)
                continue
            if is_of_bytes(target, pointer.ctype.target):
                targets.extend(self._bytes(target, pointer.ctype.target, index, state, node, past))
                continue
            outer = type_at(target.object.ctype, target.path[:-1]) if target.path else None
            last = target.path[-1] if target.path else None
            if isinstance(outer, ArrayType) and isinstance(last, int):
                array = Place((Target(target.guard, target.object, target.path[:-1]),), outer)
                targets.extend(self.element(array, index, state, node, last, past).targets)
            else:
                width = index.bits.bv_width()
                outside = both(target.guard, negate(equals(index.bits, constant(0, width))))
                behind = both(target.guard, equals(index.bits, constant(1, width)))
                if past and not self.cases.impossible(behind, state.pc):
                    raise unsupported("pointer past an object that is no array (pointer arithmetic)", node)
                self.recorder.note_undefined("index out of range", where(node), state.pc, outside)
                targets.append(target)
        return self.dereference(Value(tuple(targets), pointer.ctype), state, node)

    def as_type(self, value: Value | Aggregate, ctype: CType, node: Any, state: State) -> Value | Aggregate:
        """Conversion as if by assignment (C11 6.5.16.1) or cast; one that is undefined is noted."""
        if isinstance(value, Aggregate):
            if not same_type(value.ctype, ctype):
                raise InputRefused(f"a {show_type(value.ctype)} is used as {show_type(ctype)}", where(node))
            return value
        if isinstance(ctype, IntType | FloatType):
            refuse_long_double(ctype, node)
            if isinstance(value.ctype, PointerType):
                value = self._address(value, ctype, node)
            if self.filling == self.depth and self.narrowed is None and is_narrowed(value, ctype):
                self.narrowed = where(node)
            return convert(value, ctype, self.undefined_at(state, node))
        if isinstance(ctype, PointerType):
            if isinstance(value.ctype, PointerType):
                same = same_type(value.ctype.target, ctype.target)
                return Value(value.targets if same else converted(value.targets, ctype.target), ctype)
            if isinstance(value.ctype, FloatType):
                raise InputRefused("a floating-point number is used as a pointer", where(node))
            if constant_value(value) == 0:
                return Value((Target(TRUE(), None),), ctype)
            register = self.program.register_casts.get(node)
            if register is not None:
                return Value((Target(TRUE(), register),), ctype)
            raise unsupported("conversion of an integer to a pointer", node)
        raise unsupported(f"conversion to {show_type(ctype)}", node)

    def _address(self, pointer: Value, ctype: CType, node: Any) -> Value:
        """The number that a pointer to a register is; that of any other object is not known."""
        first, *others = pointer.targets or (None,)
        start = self.program.registers.get(first.object) if first is not None and not others else None
        if first is None or first.object is None or start is None or not isinstance(ctype, IntType):
            kind = "an integer" if isinstance(ctype, IntType) else "a floating-point number"
            raise unsupported(f"conversion of a pointer to {kind}", node)
        number = start + offset_of(first.object.ctype, first.path, self.model)
        return Value(constant(number, self.model.pointer), self.model.size_t)

    def undefined_at(self, state: State, node: Any) -> Undefined:
        """Tells the recorder of undefined behaviour at ``node``, where it can happen."""

        def undefined(kind: str, when: FNode) -> None:
            if self.model.choices.wraps and kind in WRAPPING:
                return
            if not self.cases.impossible(when, state.pc):
                self.recorder.note_undefined(kind, where(node), state.pc, when)

        return undefined


WRAPPING = frozenset({"signed overflow in negation", *(f"signed overflow in '{op}'" for op in "+-*")})
"""The undefined behaviour that -fwrapv defines."""


def is_of_bytes(target: Target, ctype: CType) -> bool:
    """Whether a pointer to ``ctype`` points to bytes of an object, which another type than its own has."""
    if target.object is None or not is_character(ctype):
        return False
    named = bool(target.path) and bits_of_part(target.path[-1]) is not None
    return named or not same_type(type_at(target.object.ctype, target.path), ctype)


def is_past(obj: MemObject, path: Path, model: DataModel) -> bool:
    """Whether there would be one element more than some array of ``obj`` has, or one byte more than ``obj`` has."""
    bits = bits_of_part(path[0]) if path else None
    if bits is not None and bits[0] >= 8 * size_of(obj.ctype, model):
        return True
    around = (type_at(obj.ctype, path[:number]) for number in range(len(path)))
    return any(isinstance(array, ArrayType) and part == array.length for array, part in zip(around, path, strict=True))


def refuse_long_double(ctype: CType, node: Any) -> None:
    """``long double`` has no fixed format: its use is refused."""
    if isinstance(ctype, FloatType) and not ctype.readable:
        raise unsupported(f"{ctype.name}", node)


def struct_scalars(ctype: CType, node: Any) -> list[tuple[Path, CType]]:
    """The cells of a struct that is copied or cleared as a whole; unions without cells are refused."""
    refuse_opaque(ctype, node)
    return list(scalars(ctype))


def refuse_opaque(ctype: CType, node: Any) -> None:
    """Refuse unions that have no cells."""
    todo, seen = [ctype], {ctype}
    while todo:
        ctype = todo.pop()
        inner: list[CType] = []
        if isinstance(ctype, ArrayType):
            inner = [ctype.element]
        elif isinstance(ctype, StructType):
            inner = [member.type for member in ctype.members()]
            if ctype.opaque:
                raise unsupported("union with an address or a long double among its members", node)
        todo += [each for each in reversed(inner) if each not in seen]
        seen.update(inner)
