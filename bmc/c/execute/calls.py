"""Function calls: inlined, handled by the caller, or left to the library."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pycparser import c_ast
from pysmt.shortcuts import TRUE

from bmc.c.execute.access import Watch
from bmc.c.execute.cells import Fork
from bmc.c.execute.expressions import Evaluator
from bmc.c.execute.library import Library
from bmc.c.execute.lvalues import Result
from bmc.c.execute.memory import UNDEFINED, MemObject, Place, State, Target, join
from bmc.c.execute.nonfinite import stand_in
from bmc.c.source.depth import DEEPEST_CALL, too_deep
from bmc.c.source.extensions import ASSEMBLY
from bmc.c.source.program import Function, Program, Scope, unsupported, where
from bmc.c.source.types import CType, VoidType, scalars
from bmc.c.source.variables import variable_name
from bmc.errors import InputRefused
from bmc.formulas.terms import both

if TYPE_CHECKING:
    from bmc.c.controller.environment import Environment


@dataclass(eq=False, slots=True)
class Frame:
    """One function activation: where its paths that return, break or continue are gathered."""

    function: Function
    result: MemObject | None
    returned: list[State] = field(default_factory=list)
    broken: list[list[State]] = field(default_factory=list)
    continued: list[list[State]] = field(default_factory=list)
    locals: list[MemObject] = field(default_factory=list)


class Calls(Evaluator):
    """Runs functions. ``hooks`` are functions that are handled by the caller instead of being inlined."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.frames: list[Frame] = []
        self.library = Library(self)
        self.hooks: dict[str, Any] = {}
        self.discarded: Any = None
        self.environment: Environment | None = None

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

    def arguments(self, node: Any, scope: Scope, state: State) -> list[Any]:
        """The values of a call's arguments; refused where their order would matter."""
        items = node.args.exprs if node.args else []
        values: list[Any] = []
        watches: list[Watch] = []
        effects = any(self.has_effects(item) for item in items) and len(items) > 1
        for item in items:
            if not effects:
                values.append(self.evaluate(item, scope, state))
                continue
            value, watch = self.watched(lambda item=item: self.evaluate(item, scope, state))  # type: ignore[misc]
            clash = [key for w in watches for key in (watch.writes & (w.reads | w.writes)) | (w.writes & watch.reads)]
            if clash:
                name = min(variable_name(*key) for key in clash)
                raise unsupported(f"arguments that change and use one object ('{name}') in no given order", node)
            watches.append(watch)
            values.append(value)
        return values

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
        frame = Frame(function, result)
        scope = Scope(function.unit.scope)
        entry = state.cells.mark()
        inner = State(state.cells, TRUE())
        for path, _ in scalars(ctype.result):
            inner.cells[result, path] = UNDEFINED  # type: ignore[index]
        for (name, ptype), value in zip(ctype.parameters, arguments, strict=True):
            if value is None:
                raise InputRefused(f"a void value is passed to '{function.name}'", where(node))
            place = self.local(name, ptype, scope, frame, inner)
            self.store(place, self.as_type(value, ptype, node, state), inner, node)
        return self._run(frame, scope, inner, entry, state, node)

    def _run(self, frame: Frame, scope: Scope, inner: State, entry: Fork, state: State, node: Any) -> Result:
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
        final.cells.settle(entry)
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
