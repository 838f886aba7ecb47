"""Symbolic execution of C statements (C11 6.8): paths fork at branches and are merged at joins."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

from pycparser import c_ast
from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.c import arithmetic
from bmc.c.access import Watch
from bmc.c.expressions import Evaluator, Result
from bmc.c.initialise import Initialiser
from bmc.c.library import Library
from bmc.c.memory import UNDEFINED, Content, MemObject, Place, State, Target, merge
from bmc.c.program import Function, Program, Scope, Typedef, unsupported, where
from bmc.c.terms import both, constant, equals, negate
from bmc.c.types import ArrayType, FunctionType, IntType, StructType, VoidType, promote, scalars
from bmc.errors import InputRefused, UnsupportedConstruct

CONSTANT_LOOP_LIMIT = 100_000
"""Most iterations of a loop whose condition is constant in each iteration."""
OPEN_LOOP_LIMIT = 256
"""Most iterations of a loop whose condition depends on state or input."""

_IGNORED = (c_ast.EmptyStatement, c_ast.Pragma, c_ast.StaticAssert)


@dataclass(eq=False, slots=True)
class Frame:
    """One function activation: where its paths that return, break or continue are gathered."""

    function: Function
    result: MemObject | None
    returned: State | None = None
    broken: list[list[State]] = field(default_factory=list)
    continued: list[list[State]] = field(default_factory=list)
    locals: list[MemObject] = field(default_factory=list)


class Executor(Evaluator):
    """Runs functions of a program. ``hooks`` are functions that are handled by the caller instead of being inlined."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.frames: list[Frame] = []
        self.statics: dict[tuple[Function, int], MemObject] = {}
        self.static_cells: dict[tuple[MemObject, tuple[str | int, ...]], Content] = {}
        self.library = Library(self)
        self.initialiser = Initialiser(self)
        self.hooks: dict[str, Any] = {}
        self._discarded: Any = None

    # calls

    def call(self, node: Any, scope: Scope, state: State) -> Result:
        """A function call: hooked, from the library, or inlined."""
        if not isinstance(node.name, c_ast.ID):
            raise unsupported("call through a function pointer", node)
        name = node.name.name
        if name in self.hooks:
            return self.hooks[name](node, scope, state)  # type: ignore[no-any-return]
        function = scope.find(name)
        if isinstance(function, Place | MemObject):
            raise unsupported("call through a function pointer", node)
        if not isinstance(function, Function) or function.node is None:
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
            value, watch = self._watched(functools.partial(self.evaluate, item, scope, state))
            if any((watch.writes & (w.reads | w.writes)) | (w.writes & watch.reads) for w in watches):
                raise unsupported("arguments that change and use one object in no given order", node)
            watches.append(watch)
            values.append(value)
        return values

    def invoke(self, function: Function, arguments: list[Any], state: State, node: Any) -> Result:
        """Run ``function`` on already evaluated arguments; its effects go into ``state``."""
        if any(frame.function is function for frame in self.frames):
            raise unsupported(f"recursion ('{function.name}' calls itself)", node)
        ctype = function.ctype
        if len(arguments) != len(ctype.parameters) and not ctype.variadic:
            needs = len(ctype.parameters)
            raise InputRefused(f"'{function.name}' takes {needs} argument(s), not {len(arguments)}", where(node))
        if ctype.variadic:
            raise unsupported(f"call of the variadic function '{function.name}'", node)
        result = None if isinstance(ctype.result, VoidType) else MemObject("(result)", ctype.result, "automatic")
        frame = Frame(function, result)
        scope = Scope(function.unit.scope)
        inner = State(state.cells, TRUE())
        for path, _ in scalars(ctype.result):
            inner.cells[result, path] = UNDEFINED  # type: ignore[index]
        for (name, ptype), value in zip(ctype.parameters, arguments, strict=True):
            if value is None:
                raise InputRefused(f"a void value is passed to '{function.name}'", where(node))
            place = self.local(name, ptype, scope, frame, inner)
            self.store(place, self.as_type(value, ptype, node), inner, node)
        return self._run(frame, scope, inner, state, node)

    def _run(self, frame: Frame, scope: Scope, inner: State, state: State, node: Any) -> Result:
        base = self.recorder.base
        self.recorder.base = both(base, state.pc)
        self.frames.append(frame)
        self.depth += 1
        try:
            end = self.execute(frame.function.node.body, Scope(scope), inner)
            final = merge(end.pc, end, frame.returned) if end is not None else frame.returned
            if final is None:
                raise unsupported(f"'{frame.function.name}' never returns", frame.function.node)
            value: Result = None
            if frame.result is not None and node is not self._discarded:
                value = self.read(Place((Target(TRUE(), frame.result),), frame.result.ctype), final, node)
        finally:
            self.frames.pop()
            self.depth -= 1
            self.recorder.base = base
        final.drop([*frame.locals, *([frame.result] if frame.result else [])])
        state.cells = final.cells
        return value

    def local(self, name: str, ctype: Any, scope: Scope, frame: Frame, state: State) -> Place:
        """A new automatic object; its cells are undefined."""
        obj = MemObject(name, ctype, "automatic")
        scope.names[name] = obj
        frame.locals.append(obj)
        for path, _ in scalars(ctype):
            state.cells[obj, path] = UNDEFINED
        return Place((Target(TRUE(), obj),), ctype)

    # statements

    def execute(self, node: Any, scope: Scope, state: State | None) -> State | None:
        """Run a statement; None where no path goes on after it."""
        if state is None or isinstance(node, _IGNORED) or node is None:
            return state
        method = getattr(self, f"_do_{type(node).__name__.lower()}", None)
        if method is not None:
            result: State | None = method(node, scope, state)
            return result
        if isinstance(node, c_ast.Goto | c_ast.Label):
            raise unsupported("goto" if isinstance(node, c_ast.Goto) else "label", node)
        if isinstance(node, c_ast.FuncCall):
            self._discarded = node
        self.evaluate(node, scope, state)
        return state

    def _do_compound(self, node: Any, scope: Scope, state: State | None) -> State | None:
        inner = Scope(scope)
        for item in node.block_items or ():
            state = self.execute(item, inner, state)
        return state

    def _do_decllist(self, node: Any, scope: Scope, state: State | None) -> State | None:
        for item in node.decls:
            state = self.execute(item, scope, state)
        return state

    def _do_typedef(self, node: Any, scope: Scope, state: State) -> State:
        ctype = self.types.read(node, scope)
        if isinstance(ctype, StructType) and not ctype.tag:
            ctype.tag = node.name
        scope.names[node.name] = Typedef(ctype)
        return state

    def _do_decl(self, node: Any, scope: Scope, state: State) -> State:
        frame = self.frames[-1]
        if "static" in node.storage:
            scope.names[node.name] = self.static_local(frame.function, node, scope, state)
            return state
        ctype = self.types.read(node, scope)
        if node.name is None:
            return state
        if "extern" in node.storage or isinstance(ctype, FunctionType):
            found = scope.find(node.name)
            if found is None:
                raise unsupported(f"declaration of '{node.name}' inside a function", node)
            return state
        if isinstance(ctype, ArrayType) and ctype.length is None:
            ctype = self.initialiser.completed(ctype, node.init, scope)
        place = self.local(node.name, ctype, scope, frame, state)
        if node.init is not None:
            self.initialiser.automatic(place, node.init, scope, state)
        return state

    def static_local(self, function: Function, node: Any, scope: Scope, state: State) -> MemObject:
        """The object of a static local; made once, with its start value."""
        key = (function, id(node))
        if key not in self.statics:
            ctype = self.types.read(node, scope)
            if isinstance(ctype, ArrayType) and ctype.length is None:
                ctype = self.initialiser.completed(ctype, node.init, scope)
            const = self.initialiser.is_constant_object(node)
            kind = "constant" if const else "local"
            name = f"{function.name}::{node.name}"
            taken = sum(1 for obj in self.statics.values() if obj.name.split("#")[0] == name)
            obj = MemObject(
                f"{name}#{taken + 1}" if taken else name,
                ctype,
                kind,
                node.name,
                function.name,
                function.unit.source.file,
                const,
            )
            self.statics[key] = obj
            self.static_cells.update(self.initialiser.static(obj, node.init, scope))
        obj = self.statics[key]
        for cell, content in self.static_cells.items():
            if cell[0] is obj and cell not in state.cells:
                state.cells[cell] = content
        return obj

    def _do_if(self, node: Any, scope: Scope, state: State) -> State | None:
        cond = self.condition(node.cond, scope, state)
        if cond.is_true():
            return self.execute(node.iftrue, Scope(scope), state)
        if cond.is_false():
            return self.execute(node.iffalse, Scope(scope), state)
        then = self.execute(node.iftrue, Scope(scope), state.fork(cond))
        other = self.execute(node.iffalse, Scope(scope), State(state.cells, both(state.pc, negate(cond))))
        return merge(cond, then, other)

    def _do_return(self, node: Any, scope: Scope, state: State) -> None:
        frame = self.frames[-1]
        if node.expr is not None:
            value = self.evaluate(node.expr, scope, state)
            if frame.result is not None:
                if value is None:
                    raise InputRefused("a void value is returned", where(node))
                place = Place((Target(TRUE(), frame.result),), frame.result.ctype)
                self.store(place, self.as_type(value, frame.result.ctype, node), state, node)
        frame.returned = merge(state.pc, state, frame.returned)

    def _do_break(self, node: Any, scope: Scope, state: State) -> None:
        if not self.frames[-1].broken:
            raise InputRefused("'break' outside of a loop or switch", where(node))
        self.frames[-1].broken[-1].append(state)

    def _do_continue(self, node: Any, scope: Scope, state: State) -> None:
        if not self.frames[-1].continued:
            raise InputRefused("'continue' outside of a loop", where(node))
        self.frames[-1].continued[-1].append(state)

    # loops

    def _do_while(self, node: Any, scope: Scope, state: State) -> State | None:
        return self._loop(node, scope, state, node.cond, None)

    def _do_dowhile(self, node: Any, scope: Scope, state: State) -> State | None:
        return self._loop(node, scope, state, node.cond, None, test_first=False)

    def _do_for(self, node: Any, scope: Scope, state: State) -> State | None:
        inner = Scope(scope)
        if node.init is not None:
            self.execute(node.init, inner, state)
        return self._loop(node, inner, state, node.cond, node.next)

    def _loop(
        self, node: Any, scope: Scope, state: State | None, condition: Any, advance: Any, test_first: bool = True
    ) -> State | None:
        exits: list[State] = []
        frame = self.frames[-1]
        rounds = open_rounds = 0
        while state is not None:
            if rounds or test_first:
                cond = self.condition(condition, scope, state) if condition is not None else TRUE()
                if cond.is_false():
                    exits.append(state)
                    break
                if not cond.is_true():
                    open_rounds += 1
                    exits.append(state.fork(negate(cond)))
                    state = state.fork(cond)
            rounds += 1
            self._check_bound(rounds, open_rounds, node)
            state = self._body(node, scope, state, frame, exits)
            if state is not None and advance is not None:
                self.evaluate(advance, scope, state)
        return self._joined(exits)

    @staticmethod
    def _joined(paths: list[State]) -> State | None:
        """All paths merged; the last first, so that complementary path conditions cancel."""
        joined: State | None = None
        for path in reversed(paths):
            joined = merge(path.pc, path, joined)
        return joined

    def _body(self, node: Any, scope: Scope, state: State, frame: Frame, exits: list[State]) -> State | None:
        frame.broken.append(exits)
        frame.continued.append([])
        end = self.execute(node.stmt, Scope(scope), state)
        for other in frame.continued.pop():
            end = merge(other.pc, other, end)
        frame.broken.pop()
        return end

    @staticmethod
    def _check_bound(rounds: int, open_rounds: int, node: Any) -> None:
        if rounds > CONSTANT_LOOP_LIMIT or open_rounds > OPEN_LOOP_LIMIT:
            limit = CONSTANT_LOOP_LIMIT if rounds > CONSTANT_LOOP_LIMIT else OPEN_LOOP_LIMIT
            raise UnsupportedConstruct(
                f"unsupported C construct: loop without a constant bound (still running after {limit} iterations)",
                where(node),
                "bound the loop by a constant, for example with a second condition on a counter",
            )

    # switch

    def _do_switch(self, node: Any, scope: Scope, state: State) -> State | None:
        value = self.value(node.cond, scope, state)
        if not isinstance(value.ctype, IntType):
            raise InputRefused("'switch' needs an integer", where(node))
        ctype = promote(value.ctype, self.model)
        term = arithmetic.convert(value, ctype).bits
        items = node.stmt.block_items or [] if isinstance(node.stmt, c_ast.Compound) else [node.stmt]
        guards = self._case_guards(items, term, ctype, scope)
        frame, pc = self.frames[-1], state.pc
        inner = Scope(scope)
        exits: list[State] = []
        current: State | None = None
        frame.broken.append(exits)
        for item in items:
            if isinstance(item, c_ast.Case | c_ast.Default):
                guard = guards[id(item)]
                if not guard.is_false():
                    entered = state.fork(guard)
                    current = merge(guard, entered, current)
                for statement in item.stmts or ():
                    current = self._case_statement(statement, inner, current)
            else:
                current = self._case_statement(item, inner, current)
        frame.broken.pop()
        outside = guards.get(0)
        if outside is not None and not outside.is_false():
            exits.append(state.fork(outside))
        if current is not None:
            exits.append(current)
        return self._leave_switch(exits, guards, pc)

    def _leave_switch(self, exits: list[State], guards: dict[int, FNode], pc: FNode) -> State | None:
        joined = self._joined(exits)
        entered = {both(pc, guard) for guard in guards.values() if not guard.is_false()}
        if joined is not None and entered == {path.pc for path in exits}:
            joined.pc = pc
        return joined

    def _case_statement(self, node: Any, scope: Scope, state: State | None) -> State | None:
        if isinstance(node, c_ast.Case | c_ast.Default):
            raise unsupported("case label inside a nested statement", node)
        if state is None and isinstance(node, c_ast.Decl):
            raise unsupported("declaration between case labels", node)
        return self.execute(node, scope, state)

    def _case_guards(self, items: list[Any], term: FNode, ctype: IntType, scope: Scope) -> dict[int, FNode]:
        """When each case or default is entered; under key 0, when none is (no default)."""
        guards: dict[int, FNode] = {}
        none = TRUE()
        seen: dict[int, Any] = {}
        default = None
        for item in items:
            if isinstance(item, c_ast.Case):
                number = self.constant(item.expr, scope) % (1 << ctype.bits)
                if number in seen:
                    raise InputRefused("two equal case labels in one switch", where(item))
                seen[number] = item
                guard = equals(term, constant(number, ctype.bits))
                guards[id(item)] = guard
                none = both(none, negate(guard))
            elif isinstance(item, c_ast.Default):
                default = item
        guards[id(default) if default is not None else 0] = none
        return guards
