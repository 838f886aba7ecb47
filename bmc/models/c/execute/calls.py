"""Function calls: inlined, handled by the caller, or of functions that need no definition.

Such are assumptions and assertions, memset, memcpy, gcc's built-in functions, strings, and output that is ignored.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from typing import Any, Protocol

from pycparser import c_ast
from pysmt.fnode import FNode

from bmc import ending
from bmc.errors import InputRefused, listed
from bmc.formulas.terms import TRUE, both, constant
from bmc.models.c.execute.blocks import Blocks
from bmc.models.c.execute.builtins import PREFIX, Builtins
from bmc.models.c.execute.indirect import IndirectCalls, nothing
from bmc.models.c.execute.inline_assembly import InlineAssembly
from bmc.models.c.execute.lvalues import Result
from bmc.models.c.execute.math_library import MathCalls, stand_in
from bmc.models.c.execute.memory import (
    UNDEFINED,
    Fork,
    MemObject,
    Place,
    State,
    Value,
    join,
    whole,
)
from bmc.models.c.execute.prototypes import Prototypes
from bmc.models.c.execute.string_library import Strings
from bmc.models.c.execute.text_output import TextOutput
from bmc.models.c.execute.turns import Turns
from bmc.models.c.execute.variadic import Variadic
from bmc.models.c.source.extensions import ASSEMBLY
from bmc.models.c.source.program import DEEPEST_CALL, Function, Program, Scope, too_deep, unsupported, where
from bmc.models.c.source.shown import shown
from bmc.models.c.source.types import (
    ArrayType,
    CType,
    Path,
    StructType,
    VoidType,
    offset_of,
    scalars,
    type_at,
)
from bmc.models.model import UnknownFunction
from bmc.records import dataclass


@dataclass(eq=False, slots=True)
class Gotos:
    """The gotos of one function activation, and the labels to which they may lead."""

    labels: list[set[str]] = field(default_factory=list)
    """The labels of each block that is being run, from the outermost one inwards."""
    jumps: dict[str, list[State]] = field(default_factory=dict)
    """The paths on which a goto has left for a label."""
    repeated: set[str] = field(default_factory=set)
    """The labels to which a goto goes back that is run now."""


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
    gotos: Gotos = field(default_factory=Gotos)
    locals: list[MemObject] = field(default_factory=list)
    cleanups: list[Any] = field(default_factory=list)
    """The calls that are made where the lifetimes of objects end that exist now."""
    rest: MemObject | None = None
    """The arguments behind the named parameters."""
    path: FNode = field(default_factory=TRUE)
    """The condition on which the function was called, with those of the calls around it."""


class Outside(Protocol):
    """What runs functions that no source defines: those that the library does not know, and those in ``functions``."""

    @property
    def functions(self) -> Mapping[str, Any]:
        """The functions that the project describes, or whose names do."""

    def call(self, name: str, node: Any, scope: Scope, state: State) -> Result:
        """Run a call of the function ``name``."""


class Calls(IndirectCalls):
    """Runs functions. ``hooks`` are functions that are handled by the caller instead of being inlined."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.frames: list[Frame] = []
        self.turns: Turns
        self.library = Library(self)
        self.prototypes = Prototypes(self)
        self.hooks: dict[str, Any] = {}
        self.environment: Outside | None = None

    @abstractmethod
    def execute(self, node: Any, scope: Scope, state: State | None) -> State | None:
        """Run a statement; provided by the executor."""

    def call(self, node: Any, scope: Scope, state: State) -> Result:
        """A function call: hooked, from the library, or inlined."""
        selected = self.library.builtins.called(node, scope)
        if selected is not None:
            return self.call(selected, scope, state)
        if not isinstance(node.name, c_ast.ID):
            return self.through_pointer(node, scope, state)
        name = node.name.name
        if name == ASSEMBLY:
            self.library.assembly.run(node, scope, state)
            return None
        if name in self.hooks:
            return self.hooks[name](node, scope, state)  # type: ignore[no-any-return]
        function = scope.find(name)
        if function is None and self.frames:
            function = self.frames[-1].function.unit.function(name)
        if isinstance(function, Place | MemObject):
            return self.through_pointer(node, scope, state)
        if isinstance(function, Function) and stand_in(function) is not None:
            return self.library.math.call(name, node, scope, state)
        if not isinstance(function, Function) or function.node is None:
            outside = self.environment
            if outside is not None and (name in outside.functions or not self.library.knows(name)):
                return outside.call(name, node, scope, state)
            return self.library.call(name, node, scope, state)
        arguments = self.arguments(node, scope, state)
        if self.frames:
            self.prototypes.check(function, arguments, node, scope, state)
        return self.invoke(function, arguments, state, node)

    def is_active(self, function: Function) -> bool:
        return any(frame.function is function for frame in self.frames)

    def invoke(self, function: Function, arguments: list[Any], state: State, node: Any) -> Result:
        """Run ``function`` on already evaluated arguments; its effects go into ``state``."""
        if not self.turns.enters(function, self.frames, state, node):
            return nothing(function.ctype.result)
        if len(self.frames) >= DEEPEST_CALL:
            raise too_deep("calls", DEEPEST_CALL, where(node))
        ctype = function.ctype
        needs = len(ctype.parameters)
        if len(arguments) < needs or (len(arguments) > needs and not ctype.variadic):
            raise InputRefused(f"'{function.name}' takes {needs} argument(s), not {len(arguments)}", where(node))
        result = None if isinstance(ctype.result, VoidType) else MemObject("(result)", ctype.result, "automatic")
        self.recorder.entered[function] = None
        self.recorder.work += len(self.frames)  # each of them notes what this one reads and writes
        frame = Frame(function, result, state.cells.mark(), path=both(self.recorder.base, state.pc))
        scope = Scope(function.unit.scope)
        inner = State(state.cells, TRUE())
        for path, _ in scalars(ctype.result):
            inner.cells[result, path] = UNDEFINED  # type: ignore[index]
        for (name, ptype), value in zip(ctype.parameters, arguments, strict=False):
            if value is None:
                raise InputRefused(f"a void value is passed to '{function.name}'", where(node))
            place = self.local(name, ptype, scope, frame, inner)
            self.store(place, self.as_type(value, ptype, node, state), inner, node)
        if ctype.variadic:
            self.library.variadic.pass_arguments(arguments[needs:], frame, inner, state, node)
        return self._run(frame, scope, inner, state, node)

    def _executed(self, file: str) -> str:
        """What is being executed, in words; between two functions the ``file`` of the last one."""
        if not self.frames:
            return f"what {file} defines was read"
        function = self.frames[-1].function
        return f"the function {function.name} was read ({where(function.node)})"

    def _run(self, frame: Frame, scope: Scope, inner: State, state: State, node: Any) -> Result:
        base = self.recorder.base
        self.recorder.base = both(base, state.pc)
        self.frames.append(frame)
        if len(self.frames) == 1:
            ending.reads(partial(self._executed, where(frame.function.node).file))
        self.depth += 1
        try:
            end = self.execute(frame.function.node.body, Scope(scope), inner)
            if frame.gotos.jumps:  # no path may be lost
                raise unsupported(
                    f"goto to {listed([*frame.gotos.jumps])}, where no path comes by", frame.function.node
                )
            final = join([*frame.returned, *([end] if end is not None else [])])
            if final is None:
                raise unsupported(f"'{frame.function.name}' never returns", frame.function.node)
            value: Result = None
            if frame.result is not None and node is not self.discarded:
                value = self.read(whole(frame.result), final, node)
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
        return whole(obj)


ORACLE = "(oracle)"
"""The hook that is given the undefined behaviour of an assertion's condition; no function is called so."""
STREAMS = ("stdin", "stdout", "stderr")
_SILENT = {"printf", "puts", "putchar", "fflush", "fputs", "fprintf", "vprintf", "vfprintf"}


class Library:
    """Calls of functions that the program declares but does not define."""

    def __init__(self, executor: Calls) -> None:
        self.executor = executor
        self.math = MathCalls(executor)
        self.blocks = Blocks(executor)
        self.builtins = Builtins(executor)
        self.variadic = Variadic(executor)
        self.assembly = InlineAssembly(executor, self.math)
        self._functions: dict[str, Callable[[Any, Scope, State], Result]] = {
            "__CPROVER_assume": self._assume,
            "__VERIFIER_assume": self._assume,
            "__CPROVER_cover": self._cover,
            "__builtin_unreachable": self._unreachable,
            "__assert": self._assert,
            "assert": self._assert,
            "__CPROVER_assert": self._assert,
            "memset": self.blocks.set,
            "memcpy": self.blocks.copy,
            "memmove": self.blocks.copy,
            "memcmp": self.blocks.compare,
            "offsetof": self._offsetof,
            "__builtin_offsetof": self._offsetof,
            **self.builtins.functions,
            **self.variadic.functions,
            **TextOutput(executor).functions,
            **Strings(executor).functions,
        }

    def knows(self, name: str) -> bool:
        """Whether ``call`` can run the function, or refuses it with better advice than to define it."""
        return self._known(name) in self._functions or name in _SILENT or self.math.knows(name)

    def _known(self, name: str) -> str:
        """A function's name, or that of the function of C's library that a built-in one stands for."""
        return name if name in self._functions else name.removeprefix(PREFIX)

    def call(self, name: str, node: Any, scope: Scope, state: State) -> Result:
        """Run a library function; refuse one that is neither known nor defined."""
        if self._known(name) in self._functions:
            return self._functions[self._known(name)](node, scope, state)
        if self.math.knows(name):
            return self.math.call(name, node, scope, state)
        if name in _SILENT:
            items = [item for item in (node.args.exprs if node.args else ()) if not _is_stream(item)]
            self.executor.arguments(c_ast.FuncCall(node.name, c_ast.ExprList(items), node.coord), scope, state)
            zero_int = self.executor.model.int_type
            return Value(constant(0, zero_int.bits), zero_int)
        raise UnknownFunction(
            f"the function '{name}' is called but not defined",
            where(node),
            "add the source file that defines it to sources.files, or write a stand-in for it",
        )

    def _assume(self, node: Any, scope: Scope, state: State) -> None:
        condition = self.executor.condition(self._items(node, 1)[0], scope, state)
        self.executor.recorder.assume(where(node), state.pc, condition)

    def _cover(self, node: Any, scope: Scope, state: State) -> None:
        condition = self.executor.condition(self._items(node, 1)[0], scope, state)
        self.executor.recorder.cover(shown(node), where(node), state.pc, condition)

    def _unreachable(self, node: Any, scope: Scope, state: State) -> None:
        self.executor.recorder.note_undefined("__builtin_unreachable is reached", where(node), state.pc, TRUE())

    def _assert(self, node: Any, scope: Scope, state: State) -> None:
        recorder = self.executor.recorder
        before = len(recorder.undefined_behaviour)
        condition = self.executor.condition(self._items(node, 1)[0], scope, state)
        if ORACLE in self.executor.hooks:
            self.executor.hooks[ORACLE](recorder.undefined_behaviour[before:])
            del recorder.undefined_behaviour[before:]
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

    @staticmethod
    def _items(node: Any, count: int) -> list[Any]:
        items = list(node.args.exprs) if node.args else []
        if len(items) < count:
            raise InputRefused(f"{node.name.name} needs {count} argument(s)", where(node))
        return items


def _is_stream(node: Any) -> bool:
    """Whether an argument is a stream of the standard library, of which nothing is read."""
    return isinstance(node, c_ast.ID) and node.name in STREAMS


def _designated(node: Any, call: Any) -> list[Any]:
    """The names and index expressions of offsetof's second argument."""
    if isinstance(node, c_ast.ID):
        return [node.name]
    if isinstance(node, c_ast.StructRef) and node.type == ".":
        return [*_designated(node.name, call), node.field.name]
    if isinstance(node, c_ast.ArrayRef):
        return [*_designated(node.name, call), node.subscript]
    raise unsupported("offsetof of this form", call)
