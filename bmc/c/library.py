"""Functions that need no definition: assumptions and assertions, memset, memcpy, abs, output that is ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pycparser import c_ast
from pysmt.shortcuts import TRUE

from bmc.c import arithmetic
from bmc.c.access import struct_scalars
from bmc.c.initialise import zero
from bmc.c.layout import offset_of, size_of
from bmc.c.math_calls import MathCalls
from bmc.c.memory import Content, Place, State, Target, Value, is_null, live
from bmc.c.program import Scope, unsupported, where
from bmc.c.types import ArrayType, CType, IntType, Path, PointerType, StructType, same_type, type_at
from bmc.errors import InputRefused, UnsupportedConstruct
from bmc.terms import choose, constant, equals

if TYPE_CHECKING:
    from bmc.c.calls import Calls

_SILENT = {"printf", "puts", "putchar", "fflush", "fputs", "fprintf"}


class Library:
    """Calls of functions that the program declares but does not define."""

    def __init__(self, executor: Calls) -> None:
        self.executor = executor
        self.math = MathCalls(executor)
        self._functions = {
            "__CPROVER_assume": self._assume,
            "__VERIFIER_assume": self._assume,
            "__assert": self._assert,
            "assert": self._assert,
            "__CPROVER_assert": self._assert,
            "memset": self._memset,
            "memcpy": self._memcpy,
            "memmove": self._memcpy,
            "abs": self._abs,
            "labs": self._abs,
            "offsetof": self._offsetof,
            "__builtin_offsetof": self._offsetof,
        }

    def knows(self, name: str) -> bool:
        """Whether ``call`` can run the function, or refuses it with better advice than to define it."""
        return name in self._functions or name in _SILENT or self.math.knows(name)

    def call(self, name: str, node: Any, scope: Scope, state: State) -> Value | None:
        """Run a library function; refuse one that is neither known nor defined."""
        if name in self._functions:
            return self._functions[name](node, scope, state)
        if self.math.knows(name):
            return self.math.call(name, node, scope, state)
        if name in _SILENT:
            self.executor.arguments(node, scope, state)
            zero_int = self.executor.model.int_type
            return Value(constant(0, zero_int.bits), zero_int)
        raise UnsupportedConstruct(
            f"the function '{name}' is called but not defined",
            where(node),
            "add the source file that defines it to sources.files, or write a stand-in for it",
        )

    def _assume(self, node: Any, scope: Scope, state: State) -> None:
        condition = self.executor.condition(self._items(node, 1)[0], scope, state)
        self.executor.recorder.assume(where(node), state.pc, condition)

    def _assert(self, node: Any, scope: Scope, state: State) -> None:
        recorder = self.executor.recorder
        before = len(recorder.suspects)
        condition = self.executor.condition(self._items(node, 1)[0], scope, state)
        if "assert" in self.executor.hooks:
            self.executor.hooks["assert"](recorder.suspects[before:])
            del recorder.suspects[before:]
        recorder.check(where(node), state.pc, condition)

    def _offsetof(self, node: Any, scope: Scope, state: State) -> Value:
        model = self.executor.model
        named, designator = self._items(node, 2)
        path: Path = ()
        ctype = self.executor.types.read(named, scope)
        for part in _designated(designator, node):
            inner = type_at(ctype, path)
            if isinstance(inner, StructType) and isinstance(part, str) and inner.find(part):
                path += tuple(m.name for m in inner.find(part))
            elif isinstance(inner, ArrayType) and not isinstance(part, str):
                path += (self.executor.constant(part, scope),)
            else:
                raise InputRefused("offsetof names no member", where(node))
        return Value(constant(offset_of(ctype, path, model), model.size_t.bits), model.size_t)

    def _abs(self, node: Any, scope: Scope, state: State) -> Value:
        model = self.executor.model
        ctype = model.basic["long"] if node.name.name == "labs" else model.int_type
        value = self.executor.as_type(self.executor.value(self._items(node, 1)[0], scope, state), ctype, node, state)
        assert isinstance(value, Value)
        least = equals(value.bits, constant(ctype.least, ctype.bits))
        self.executor.recorder.suspect("signed overflow in abs", where(node), state.pc, least)
        minus = arithmetic.unary("-", value, model, lambda kind, when: None)
        negative = arithmetic.compare("<", value.bits, constant(0, ctype.bits), ctype)
        return Value(choose(negative, minus.bits, value.bits), ctype)

    def _memset(self, node: Any, scope: Scope, state: State) -> Value:
        target, byte, size = self._values(node, scope, state, 3)
        number = arithmetic.constant_value(byte)
        if number is None:
            raise unsupported("memset with a byte that is not constant", node)
        place = self._whole(target, size, state, node)
        for path, ctype in struct_scalars(place.ctype, node):
            self.executor.put(place, path, self._filled(ctype, number & 255, node), state, node)
        return target

    @staticmethod
    def _filled(ctype: CType, byte: int, node: Any) -> Content:
        if byte == 0:
            return zero(ctype)
        if not isinstance(ctype, IntType) or ctype.is_bool:
            raise unsupported("memset with a byte other than 0 over pointers, floats or _Bool", node)
        return Content(constant(int.from_bytes(bytes([byte]) * (ctype.bits // 8), "little"), ctype.bits), TRUE())

    def _memcpy(self, node: Any, scope: Scope, state: State) -> Value:
        target, source, size = self._values(node, scope, state, 3)
        to = self._whole(target, size, state, node)
        from_ = self._whole(source, size, state, node)
        if not same_type(to.ctype, from_.ctype):
            raise unsupported(f"{node.name.name} between objects of different types", node)
        contents = [
            (path, self.executor.content(from_, path, state, node)) for path, _ in struct_scalars(to.ctype, node)
        ]
        for path, content in contents:
            self.executor.put(to, path, content, state, node)
        return target

    def _whole(self, pointer: Value, size: Value, state: State, node: Any) -> Place:
        """The object of ``size`` bytes that a pointer points to: the target itself or an array or struct around it."""
        count = arithmetic.constant_value(size)
        if count is None:
            raise unsupported(f"{node.name.name} of a size that is not constant", node)
        if not isinstance(pointer.ctype, PointerType):
            raise InputRefused(f"{node.name.name} needs a pointer", where(node))
        self.executor.check_not_null(Place(pointer.targets, pointer.ctype.target), state, node)
        found: list[Target] = []
        ctype: CType | None = None
        for guard, obj, start in live(pointer.targets):
            path = start
            while True:
                ctype = type_at(obj.ctype, path)
                if size_of(ctype, self.executor.model) == count:
                    break
                if not path or path[-1] not in (0, _first(type_at(obj.ctype, path[:-1]))):
                    raise unsupported(f"{node.name.name} of {count} bytes, which is no whole object", node)
                path = path[:-1]
            found.append(Target(guard, obj, path))
        if ctype is None or is_null(pointer.targets).is_true():
            raise InputRefused(f"{node.name.name} on a null or unset pointer", where(node))
        return Place(tuple(found), ctype)

    def _values(self, node: Any, scope: Scope, state: State, count: int) -> list[Value]:
        self._items(node, count)
        values = self.executor.arguments(node, scope, state)
        if not all(isinstance(v, Value) for v in values):
            raise InputRefused(f"{node.name.name} needs scalar arguments", where(node))
        return values

    @staticmethod
    def _items(node: Any, count: int) -> list[Any]:
        items = list(node.args.exprs) if node.args else []
        if len(items) < count:
            raise InputRefused(f"{node.name.name} needs {count} argument(s)", where(node))
        return items


def _designated(node: Any, call: Any) -> list[Any]:
    """The names and index expressions of offsetof's second argument."""
    if isinstance(node, c_ast.ID):
        return [node.name]
    if isinstance(node, c_ast.StructRef) and node.type == ".":
        return [*_designated(node.name, call), node.field.name]
    if isinstance(node, c_ast.ArrayRef):
        return [*_designated(node.name, call), node.subscript]
    raise unsupported("offsetof of this form", call)


def _first(ctype: CType) -> str | int | None:
    """The first member of an aggregate."""
    if isinstance(ctype, ArrayType):
        return 0
    if isinstance(ctype, StructType) and ctype.fields:
        return ctype.fields[0].name
    return None
