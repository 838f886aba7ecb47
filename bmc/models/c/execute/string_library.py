"""The functions of <string.h> on strings in objects of known size; a string without an end is undefined there.

Of what ``strcmp`` and ``strncmp`` yield, C fixes the sign alone: their value may be compared with 0, or be a condition.
"""

from __future__ import annotations

from typing import Any

from pysmt.fnode import FNode

from bmc.errors import InputRefused
from bmc.formulas.terms import FALSE, TRUE, both, choose, constant, either, equals, is_false, negate
from bmc.limits import WORK
from bmc.models.c.execute import arithmetic
from bmc.models.c.execute.expressions import Evaluator
from bmc.models.c.execute.first_members import is_character
from bmc.models.c.execute.lvalues import Result
from bmc.models.c.execute.memory import Content, MemObject, Place, State, Target, Value, is_null, live
from bmc.models.c.source.program import Scope, unsupported, where
from bmc.models.c.source.types import (
    ArrayType,
    IntType,
    Path,
    PointerType,
    VoidType,
    bit_offset_of,
    bits_part,
    size_of,
    type_at,
)
from bmc.records import dataclass

EFFORT = 4
"""What one character counts among the statements and numbers of a step."""
_NO_END = "a string without an end is read"
_BEYOND = "{} reaches beyond the end of an array"


@dataclass(frozen=True, slots=True)
class Text:
    """Where the characters from a pointer's target on stand: up to the end of what is at ``within``."""

    guard: FNode
    object: MemObject
    within: Path
    paths: tuple[Path, ...]
    ctype: IntType

    def place(self, number: int, guard: FNode) -> Place:
        return Place((Target(guard, self.object, self.paths[number]),), self.ctype)

    def may_overlap(self, other: Text) -> bool:
        """Whether one of two texts stands in what the other one stands in."""
        length = min(len(self.within), len(other.within))
        return self.object is other.object and self.within[:length] == other.within[:length]


class Strings:
    """String functions by their names."""

    def __init__(self, executor: Evaluator) -> None:
        self.executor = executor
        self.functions = {
            "strlen": self._length,
            "strcmp": self._compare,
            "strncmp": self._compare,
            "strcpy": self._copy,
            "strncpy": self._copy,
            "memchr": self._find,
        }

    def _length(self, node: Any, scope: Scope, state: State) -> Value:
        (pointer,) = self._values(node, scope, state, 1)
        ctype = self.executor.model.size_t
        result = constant(0, ctype.bits)
        for text in self._texts(pointer, 1, state, node):
            length, going = constant(0, ctype.bits), text.guard
            for number in range(len(text.paths)):
                ends = self._is(self._character(text, number, going, state, node), 0)
                length = choose(both(going, negate(ends)), constant(number + 1, ctype.bits), length)
                going = both(going, negate(ends))
            self.executor.undefined_at(state, node)(_NO_END, going)
            result = choose(text.guard, length, result)
        return Value(result, ctype)

    def _compare(self, node: Any, scope: Scope, state: State) -> Value:
        """-1, 0 or 1, of which only the sign is used."""
        if node is not self.executor.asked and node is not self.executor.compared:
            name = node.name.name
            hint = f"compare it with 0, as in {name}(a, b) < 0, or {name}(a, b) == 0"
            raise unsupported(f"'{name}' used as a number: only its sign is defined", node, hint)
        limited = node.name.name.endswith("strncmp")
        first, second, *rest = self._values(node, scope, state, 3 if limited else 2)
        bits = self.executor.model.int_
        result = constant(0, bits)
        lefts = self._texts(first, len(second.targets), state, node)
        rights = self._texts(second, len(first.targets), state, node)
        for left in lefts:
            for right in rights:
                guard = both(left.guard, right.guard)
                result = choose(guard, self._difference(left, right, (guard, rest), state, node), result)
        return Value(result, self.executor.model.int_type)

    def _difference(self, left: Text, right: Text, limits: tuple[FNode, list[Value]], state: State, node: Any) -> FNode:
        going, rest = limits
        bits = self.executor.model.int_
        decided: list[tuple[FNode, FNode]] = []
        length = min(len(left.paths), len(right.paths))
        for number in range(length):
            going = both(going, self._within(number, rest))
            a, b = (self._character(text, number, going, state, node) for text in (left, right))
            unsigned = IntType("", 8, False, 1)
            less = arithmetic.compare("<", a.bits, b.bits, unsigned)
            same = equals(a.bits, b.bits)
            decided.append((both(going, negate(same)), choose(less, constant(-1, bits), constant(1, bits))))
            going = both(going, both(same, negate(self._is(a, 0))))
        self.executor.undefined_at(state, node)(_NO_END, both(going, self._within(length, rest)))
        result = constant(0, bits)
        for when, sign in decided:
            result = choose(when, sign, result)
        return result

    def _copy(self, node: Any, scope: Scope, state: State) -> Value:
        limited = node.name.name.endswith("strncpy")
        target, source, *rest = self._values(node, scope, state, 3 if limited else 2)
        undefined = self.executor.undefined_at(state, node)
        writes: list[tuple[Place, Content]] = []
        sources = self._texts(source, len(target.targets), state, node)
        for to in self._texts(target, len(source.targets), state, node):
            for text in sources:
                if to.may_overlap(text):
                    raise unsupported(f"{node.name.name} within one object", node)
                going = guard = both(to.guard, text.guard)
                for number in range(len(to.paths)):
                    counted = both(guard, self._within(number, rest))
                    going = both(going, counted)
                    if number >= len(text.paths):
                        undefined(_NO_END, going)
                        going = FALSE()
                        content = constant(0, 8)
                    else:
                        content = self._character(text, number, going, state, node).bits
                    content = choose(going, content, constant(0, 8))
                    writes.append((to.place(number, counted if limited else going), Content(content, TRUE())))
                    going = both(going, negate(equals(content, constant(0, 8))))
                beyond = both(guard, self._within(len(to.paths), rest)) if limited else going
                undefined(_BEYOND.format(node.name.name), beyond)
        for place, written in writes:
            self.executor.put(place, (), written, state, node)
        return target

    def _find(self, node: Any, scope: Scope, state: State) -> Value:
        pointer, wanted, *rest = self._values(node, scope, state, 3)
        undefined = self.executor.undefined_at(state, node)
        targets: list[Target] = []
        missing = FALSE()
        byte = arithmetic.convert(wanted, IntType("", 8, False, 1)).bits
        for text in self._texts(pointer, 1, state, node):
            going = text.guard
            for number in range(len(text.paths)):
                missing = either(missing, both(going, negate(self._within(number, rest))))
                going = both(going, self._within(number, rest))
                found = equals(self._character(text, number, going, state, node).bits, byte)
                if not both(going, found).is_false():
                    targets.append(Target(both(going, found), text.object, text.paths[number]))
                going = both(going, negate(found))
            beyond = both(going, self._within(len(text.paths), rest))
            undefined(_BEYOND.format(node.name.name), beyond)
            missing = either(missing, going)
        targets += [] if is_false(missing) else [Target(missing, None)]
        return Value(tuple(targets), PointerType(VoidType()))

    # parts

    def _values(self, node: Any, scope: Scope, state: State, count: int) -> list[Value]:
        values = self.executor.arguments(node, scope, state)
        if len(values) != count or not all(isinstance(value, Value) for value in values):
            raise InputRefused(f"{node.name.name} needs {count} scalar argument(s)", where(node))
        if count == 3:
            converted: Result = self.executor.as_type(values[2], self.executor.model.size_t, node, state)
            assert isinstance(converted, Value)
            values[2] = converted
        return values

    def _texts(self, pointer: Value, times: int, state: State, node: Any) -> list[Text]:
        """What a pointer may point to, as characters, each of which is looked at so many ``times``."""
        name = node.name.name
        if not isinstance(pointer.ctype, PointerType):
            raise InputRefused(f"{name} needs a pointer", where(node))
        self.executor.check_not_null(Place(pointer.targets, pointer.ctype.target), state, node)
        if is_null(pointer.targets).is_true():
            raise InputRefused(f"{name} on a null or unset pointer", where(node))
        found: list[Text] = []
        for guard, obj, path in live(pointer.targets):
            text = self._text(guard, obj, path)
            found.append(text)
            self.executor.recorder.work += EFFORT * times * len(text.paths)
            if self.executor.recorder.work > WORK.most:
                raise WORK.refusal(where(node))
        return found

    def _text(self, guard: FNode, obj: MemObject, path: Path) -> Text:
        """The characters of an array from the one at ``path`` on; of what has another type, the bytes up to the end of
        its object."""
        ctype = type_at(obj.ctype, path)
        if not isinstance(ctype, IntType) or not is_character(ctype):
            model = self.executor.model
            first, end = bit_offset_of(obj.ctype, path, model), 8 * size_of(obj.ctype, model)
            bytes_ = tuple((bits_part(bit, bit + 7),) for bit in range(first, end, 8))
            return Text(guard, obj, (), bytes_, model.basic["unsigned char"])
        around = type_at(obj.ctype, path[:-1]) if path else None
        if not isinstance(around, ArrayType):
            return Text(guard, obj, path, (path,), ctype)
        array = path[:-1]
        elements = tuple((*array, number) for number in range(int(path[-1]), around.length or 0))
        return Text(guard, obj, array, elements, ctype)

    def _character(self, text: Text, number: int, going: FNode, state: State, node: Any) -> Value:
        """One character, read where ``going`` holds."""
        if is_false(going):
            return Value(constant(0, 8), text.ctype)
        found = self.executor.load(text.place(number, TRUE()), State(state.cells, both(state.pc, going)), node)
        assert isinstance(found, Value)
        return found

    @staticmethod
    def _is(character: Value, number: int) -> FNode:
        return equals(character.bits, constant(number, 8))

    @staticmethod
    def _within(number: int, limits: list[Value]) -> FNode:
        """Whether a character's number is below the limit, where there is one."""
        if not limits:
            return TRUE()
        ctype = limits[0].ctype
        assert isinstance(ctype, IntType)
        return arithmetic.compare("<", constant(number, ctype.bits), limits[0].bits, ctype)
