"""Function calls: inlined, handled by the caller, or of functions that need no definition.

Such are assumptions and assertions, memset, memcpy, abs, and output that is ignored.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, Protocol

from pycparser import c_ast
from pysmt.shortcuts import TRUE

from bmc.c.execute import arithmetic
from bmc.c.execute.blocks import Blocks
from bmc.c.execute.expressions import Evaluator
from bmc.c.execute.lvalues import Result
from bmc.c.execute.math_library import MathCalls, stand_in
from bmc.c.execute.memory import UNDEFINED, Fork, MemObject, Place, State, Target, Value, join
from bmc.c.source.extensions import ASSEMBLY
from bmc.c.source.program import DEEPEST_CALL, Function, Program, Scope, too_deep, unsupported, where
from bmc.c.source.types import ArrayType, CType, Path, StructType, VoidType, offset_of, scalars, type_at
from bmc.errors import InputRefused, UnsupportedConstruct
from bmc.formulas.terms import both, choose, constant, equals


@dataclass(eq=False, slots=True)
class Frame:
    """One function activation: where its paths that return, break or continue are gathered."""

    function: Function
    result: MemObject | None
    entry: Fork
    """Where its memory parts from that of its caller."""
    returned: list[State] = field(default_factory=list)
    broken: list[list[State]] = field(default_factory=list)
    continued: list[list[State]] = field(default_factory=list)
    locals: list[MemObject] = field(default_factory=list)


class Outside(Protocol):
    """What runs the functions that no source defines and the library does not know."""

    def call(self, name: str, node: Any, scope: Scope, state: State) -> Result:
        """Run a call of the function ``name``."""


class Calls(Evaluator):
    """Runs functions. ``hooks`` are functions that are handled by the caller instead of being inlined."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.frames: list[Frame] = []
        self.library = Library(self)
        self.hooks: dict[str, Any] = {}
        self.discarded: Any = None
        self.environment: Outside | None = None

    @abstractmethod
    def execute(self, node: Any, scope: Scope, state: State | None) -> State | None:
        """Run a statement; provided by the executor."""

    def call(self, node: Any, scope: Scope, state: State) -> Result:
        """A function call: hooked, from the library, or inlined."""
        if not isinstance(node.name, c_ast.ID):
            raise unsupported("call through a function pointer", node)
        name = node.name.name
        if name == ASSEMBLY:
            raise unsupported("inline assembly", node)
        if name in self.hooks:
            return self.hooks[name](node, scope, state)  # type: ignore[no-any-return]
        function = scope.find(name)
        if isinstance(function, Place | MemObject):
            raise unsupported("call through a function pointer", node)
        if isinstance(function, Function) and stand_in(function) is not None:
            return self.library.math.call(name, node, scope, state)
        if not isinstance(function, Function) or function.node is None:
            if self.environment is not None and not self.library.knows(name):
                return self.environment.call(name, node, scope, state)
            return self.library.call(name, node, scope, state)
        arguments = self.arguments(node, scope, state)
        return self.invoke(function, arguments, state, node)

    def invoke(self, function: Function, arguments: list[Any], state: State, node: Any) -> Result:
        """Run ``function`` on already evaluated arguments; its effects go into ``state``."""
        if any(frame.function is function for frame in self.frames):
            raise unsupported(f"recursion ('{function.name}' calls itself)", node)
        if len(self.frames) >= DEEPEST_CALL:
            raise too_deep("calls", DEEPEST_CALL, where(node))
        ctype = function.ctype
        if len(arguments) != len(ctype.parameters) and not ctype.variadic:
            needs = len(ctype.parameters)
            raise InputRefused(f"'{function.name}' takes {needs} argument(s), not {len(arguments)}", where(node))
        if ctype.variadic:
            raise unsupported(f"call of the variadic function '{function.name}'", node)
        result = None if isinstance(ctype.result, VoidType) else MemObject("(result)", ctype.result, "automatic")
        self.recorder.entered[function] = None
        frame = Frame(function, result, state.cells.mark())
        scope = Scope(function.unit.scope)
        inner = State(state.cells, TRUE())
        for path, _ in scalars(ctype.result):
            inner.cells[result, path] = UNDEFINED  # type: ignore[index]
        for (name, ptype), value in zip(ctype.parameters, arguments, strict=True):
            if value is None:
                raise InputRefused(f"a void value is passed to '{function.name}'", where(node))
            place = self.local(name, ptype, scope, frame, inner)
            self.store(place, self.as_type(value, ptype, node, state), inner, node)
        return self._run(frame, scope, inner, state, node)

    def _run(self, frame: Frame, scope: Scope, inner: State, state: State, node: Any) -> Result:
        base = self.recorder.base
        self.recorder.base = both(base, state.pc)
        self.frames.append(frame)
        self.depth += 1
        try:
            end = self.execute(frame.function.node.body, Scope(scope), inner)
            final = join([*frame.returned, *([end] if end is not None else [])])
            if final is None:
                raise unsupported(f"'{frame.function.name}' never returns", frame.function.node)
            value: Result = None
            if frame.result is not None and node is not self.discarded:
                value = self.read(Place((Target(TRUE(), frame.result),), frame.result.ctype), final, node)
        finally:
            self.frames.pop()
            self.depth -= 1
            self.recorder.base = base
        self.end_of_life([*frame.locals, *([frame.result] if frame.result else [])], final)
        final.cells.settle(frame.entry)
        state.cells = final.cells
        return value

    @staticmethod
    def end_of_life(objects: list[MemObject], state: State) -> None:
        """Forget automatic objects: what still points to them must not be followed."""
        for obj in objects:
            obj.ended = True
        state.drop(objects)

    def temporary(self, name: str, ctype: CType, state: State) -> MemObject:
        obj = MemObject(name, ctype, "automatic")
        if self.frames:
            self.frames[-1].locals.append(obj)
        for path, _ in scalars(ctype):
            state.cells[obj, path] = UNDEFINED
        return obj

    def local(self, name: str, ctype: CType, scope: Scope, frame: Frame, state: State) -> Place:
        """A new automatic object; its cells are undefined."""
        obj = MemObject(name, ctype, "automatic")
        scope.names[name] = obj
        frame.locals.append(obj)
        for path, _ in scalars(ctype):
            state.cells[obj, path] = UNDEFINED
        return Place((Target(TRUE(), obj),), ctype)


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
