"""Functions that need no definition: assumptions and assertions, memset, memcpy, abs, output that is ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pycparser import c_ast
from pysmt.shortcuts import TRUE

from bmc.c.execute import arithmetic
from bmc.c.execute.blocks import Blocks
from bmc.c.execute.math_calls import MathCalls
from bmc.c.execute.memory import State, Value
from bmc.c.source.layout import offset_of
from bmc.c.source.program import Scope, unsupported, where
from bmc.c.source.types import ArrayType, Path, StructType, type_at
from bmc.errors import InputRefused, UnsupportedConstruct
from bmc.formulas.terms import choose, constant, equals

if TYPE_CHECKING:
    from bmc.c.execute.calls import Calls

_SILENT = {"printf", "puts", "putchar", "fflush", "fputs", "fprintf"}


class Library:
    """Calls of functions that the program declares but does not define."""

    def __init__(self, executor: Calls) -> None:
        self.executor = executor
        self.math = MathCalls(executor)
        self.blocks = Blocks(executor)
        self._functions = {
            "__CPROVER_assume": self._assume,
            "__VERIFIER_assume": self._assume,
            "__builtin_unreachable": self._unreachable,
            "__assert": self._assert,
            "assert": self._assert,
            "__CPROVER_assert": self._assert,
            "memset": self.blocks.set,
            "memcpy": self.blocks.copy,
            "memmove": self.blocks.copy,
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

    def _unreachable(self, node: Any, scope: Scope, state: State) -> None:
        self.executor.recorder.suspect("__builtin_unreachable is reached", where(node), state.pc, TRUE())

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
