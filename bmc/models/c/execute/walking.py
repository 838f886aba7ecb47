"""Pointers that move within an array (C11 6.5.6p8): sums, differences and comparisons.

A pointer may come to stand one past the last element; what is there must not be accessed.
"""

from __future__ import annotations

from typing import Any

from pysmt.fnode import FNode

from bmc.errors import InputRefused
from bmc.formulas.terms import FALSE, TRUE, both, choose, constant, either, equals, negate
from bmc.limits import ELEMENTS
from bmc.models.c.execute.access import MemoryAccess, is_past
from bmc.models.c.execute.arithmetic import compare, constant_value, from_condition, in_range, interval
from bmc.models.c.execute.first_members import is_character
from bmc.models.c.execute.memory import State, Target, Value, merge_targets
from bmc.models.c.source.program import Program, unsupported, where
from bmc.models.c.source.types import (
    ArrayType,
    DataModel,
    FunctionType,
    IntType,
    Path,
    PointerType,
    VoidType,
    bits_of_part,
    bits_part,
    offset_of,
    same_type,
    size_of,
    type_at,
)

ORDERS = ("<", ">", "<=", ">=")
_INDEX = "write an index, as in ((unsigned char *)&x)[i], which is read"


class Walking(MemoryAccess):
    """Arithmetic on pointers."""

    moves = 0
    """How often a pointer has been moved."""
    program: Program
    model: DataModel

    def moved(self, pointer: Value, index: Value, back: bool, state: State, node: Any) -> Value:
        """``pointer + index``, or with ``back`` ``pointer - index``; undefined where that leaves the array."""
        ctype = _element_pointer(pointer, node)
        self.moves += 1
        if not isinstance(index.ctype, IntType):
            raise InputRefused("a pointer moves by an integer", where(node))
        choices: list[tuple[FNode, tuple[Target, ...]]] = []
        wrong = FALSE()
        for target in pointer.targets:
            span = self._span(target, ctype)
            if span is None:
                zero = self._unmoved(target, ctype, index, back, state, node)
                wrong = either(wrong, both(target.guard, negate(zero)))
                choices.append((zero, (target,)))
                continue
            last, length = span
            low, high = (last - length, last) if back else (-last, length - last)
            wrong = either(wrong, both(target.guard, negate(in_range(index, low, high + 1))))
            for step, when in _steps(index, low, high, node):
                path = _path_to(target, last - step if back else last + step, last, _is_other(target, ctype))
                choices.append((when, (Target(target.guard, target.object, path),)))
        self.undefined_at(state, node)("pointer moved out of its array", wrong)
        return Value(merge_targets(choices), ctype)

    def _span(self, target: Target, ctype: PointerType) -> tuple[int, int] | None:
        """Where a target lies in what a pointer may move through, and how long that is: an array, or for a character
        type the bytes of an object (C11 6.3.2.3p7); None for neither."""
        outer, last = _array_around(target)
        if _is_other(target, ctype):
            assert target.object is not None
            size = size_of(target.object.ctype, self.model)
            return (self.offset(target), size) if is_character(ctype.target) else None
        return None if outer is None else (last, outer.length or 0)

    def _unmoved(self, target: Target, ctype: PointerType, index: Value, back: bool, state: State, node: Any) -> FNode:
        """Whether a pointer stays at a target from which it cannot move; one with a meaning is refused."""
        width = index.bits.bv_width()
        zero = equals(index.bits, constant(0, width))
        other = _is_other(target, ctype)
        if other and not self.cases.impossible(both(target.guard, negate(zero)), state.pc):
            raise unsupported("pointer that moves through the bytes of another object", node, _INDEX)
        past = both(target.guard, equals(index.bits, constant(1, width)))
        if target.object is not None and not back and not self.cases.impossible(past, state.pc):
            raise unsupported("pointer past an object that is no array (pointer arithmetic)", node)
        return zero

    def distance(self, left: Value, right: Value, state: State, node: Any) -> Value:
        """``left - right`` in elements; undefined for pointers into two arrays."""
        ctype = _element_pointer(left, node)
        kind = self.program.model.ptrdiff_t
        result, wrong = constant(0, kind.bits), FALSE()
        for a in left.targets:
            for b in right.targets:
                (outer, first), (_, second) = _array_around(a), _array_around(b)
                same = a.object is b.object is not None and a.path[:-1] == b.path[:-1]
                when = both(a.guard, b.guard)
                if a.object is b.object is not None and (_is_other(a, ctype) or _is_other(b, ctype)):
                    if not is_character(ctype.target):
                        raise unsupported("difference of pointers into an object of another type", node)
                    result = choose(when, constant(self.offset(a) - self.offset(b), kind.bits), result)
                elif same and (outer is not None or a.path == b.path):
                    result = choose(when, constant(first - second, kind.bits), result)
                else:
                    wrong = either(wrong, when)
        self.undefined_at(state, node)("difference of pointers into two arrays", wrong)
        return Value(result, kind)

    def ordered(self, op: str, left: Value, right: Value, state: State, node: Any) -> Value:
        """``left < right`` and the like; undefined for pointers into two objects."""
        kind = self.program.model.ptrdiff_t
        holds, wrong = FALSE(), FALSE()
        for a in left.targets:
            for b in right.targets:
                when = both(a.guard, b.guard)
                if a.object is b.object is not None:
                    first, second = (constant(self.offset(target), kind.bits) for target in (a, b))
                    holds = either(holds, both(when, compare(op, first, second, kind)))
                else:
                    wrong = either(wrong, when)
        self.undefined_at(state, node)("order of pointers into two objects", wrong)
        return from_condition(holds, self.model.int_type)

    def same_pointer(self, left: Value, right: Value, state: State, node: Any) -> FNode:
        """Whether two pointers are equal; left out where one past an object meets another one, which may lie there."""
        same, open_ = FALSE(), FALSE()
        for a in left.targets:
            for b in right.targets:
                if a.object is b.object:
                    if self.offset(a) == self.offset(b):
                        same = either(same, both(a.guard, b.guard))
                elif (self._is_end(a) and not self.offset(b)) or (self._is_end(b) and not self.offset(a)):
                    open_ = either(open_, both(a.guard, b.guard))
        self.undefined_at(state, node)("pointer past the end compared with one to another object", open_)
        return same

    def offset(self, target: Target) -> int:
        """Where a target lies in its object, in bytes."""
        return offset_of(target.object.ctype, target.path, self.model) if target.object else 0

    def _is_end(self, target: Target) -> bool:
        obj = target.object
        if obj is None or isinstance(obj.ctype, FunctionType) or not target.path:
            return False
        return is_past(obj, target.path, self.model) and self.offset(target) == size_of(obj.ctype, self.model)


def _element_pointer(pointer: Value, node: Any) -> PointerType:
    """The type of a pointer that can move."""
    ctype = pointer.ctype
    assert isinstance(ctype, PointerType)
    if isinstance(ctype.target, VoidType | FunctionType):
        raise unsupported("arithmetic on a pointer to void or to a function (pointer arithmetic)", node)
    return ctype


def _is_other(target: Target, pointer: PointerType) -> bool:
    """Whether a pointer points to bytes of something of another type than its own."""
    if target.object is None or isinstance(target.object.ctype, FunctionType):
        return False
    actual = type_at(target.object.ctype, target.path)
    if target.path and bits_of_part(target.path[-1]) is not None:
        return True
    return not (same_type(actual, pointer.target) or (is_character(actual) and is_character(pointer.target)))


def _path_to(target: Target, place: int, here: int, byte: bool) -> Path:
    """The path to the element ``place`` of the array of which a target is the element ``here``, or to a ``byte`` of its
    object."""
    if not byte:
        return (*target.path[:-1], place)
    return target.path if place == here else (bits_part(8 * place, 8 * place + 7),)


def _array_around(target: Target) -> tuple[ArrayType | None, int]:
    """The array that a target is an element of, and its number there; None where it is none."""
    if target.object is None or not target.path or not isinstance(target.path[-1], int):
        return None, 0
    outer = type_at(target.object.ctype, target.path[:-1])
    return (outer, target.path[-1]) if isinstance(outer, ArrayType) else (None, 0)


def _steps(index: Value, low: int, high: int, node: Any) -> list[tuple[int, FNode]]:
    """The values from ``low`` to ``high`` that ``index`` may have, each with the condition for it."""
    assert isinstance(index.ctype, IntType)
    number = constant_value(index)
    if number is not None:
        return [(number, TRUE())] if low <= number <= high else []
    least, greatest = interval(index.bits, index.ctype)
    numbers = range(max(low, least), min(high, greatest) + 1)
    ELEMENTS.check(len(numbers), where(node))
    return [(step, equals(index.bits, constant(step, index.ctype.bits))) for step in numbers]
