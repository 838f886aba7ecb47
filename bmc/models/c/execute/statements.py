"""Symbolic execution of C statements (C11 6.8): paths fork at branches and are merged at joins.

gcc's statement expressions ``({ ... })`` are blocks whose last expression is the value.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pycparser import c_ast
from pysmt.fnode import FNode

from bmc import ending
from bmc.errors import InputRefused, UnsupportedConstruct
from bmc.formulas.terms import TRUE, both, is_false, is_true, negate
from bmc.limits import ITERATIONS, OPEN_ITERATIONS, WORK, WORK_IN_CALLS
from bmc.models.c.execute.calls import Frame
from bmc.models.c.execute.cases import MOST_LISTED_CASES
from bmc.models.c.execute.cleanups import add_cleanup, run_cleanups
from bmc.models.c.execute.initialise import Initialiser
from bmc.models.c.execute.lvalues import Result, method_for
from bmc.models.c.execute.memory import UNDEFINED, Content, Key, MemObject, State, join, merge, whole
from bmc.models.c.execute.switches import DECLARATIONS, Switches
from bmc.models.c.execute.turns import Turns, has_no_way_out
from bmc.models.c.source.declarations import is_const, is_volatile, refuse_thread_local, type_alignment
from bmc.models.c.source.extensions import CLEANUP
from bmc.models.c.source.program import Function, Program, Scope, Typedef, nodes, unsupported, where
from bmc.models.c.source.types import ArrayType, CType, FunctionType, StructType, same_type, show_type

if TYPE_CHECKING:
    from bmc.models.c.source.survey import Survey

CONSTANT_LOOP_LIMIT = ITERATIONS.most
OPEN_LOOP_LIMIT = OPEN_ITERATIONS.most

_IGNORED = (c_ast.EmptyStatement, c_ast.Pragma)
_LOOPS = c_ast.For | c_ast.While | c_ast.DoWhile
_STATEMENTS = _LOOPS | c_ast.Compound | c_ast.If | c_ast.Switch | c_ast.Case | c_ast.Default | c_ast.Label


class Executor(Switches):
    """Runs the functions of a program."""

    def __init__(self, program: Program, survey: Survey | None = None) -> None:
        super().__init__(program)
        self.survey = survey
        if survey is not None:
            self.cases.most = MOST_LISTED_CASES
        self.turns = Turns(self)
        self.statics: dict[tuple[Function, int], MemObject] = {}
        self.static_cells: dict[tuple[MemObject, tuple[str | int, ...]], Content] = {}
        self.initialiser: Initialiser = Initialiser(self)
        self._staying: dict[int, Any] = {}
        """The blocks of statement expressions that no jump leaves, by their ids."""

    # statements

    def execute(self, node: Any, scope: Scope, state: State | None) -> State | None:
        """Run a statement; None where no path goes on after it."""
        if isinstance(node, c_ast.Label):
            state = self._entered_at(node.name, state)
        if state is None or isinstance(node, _IGNORED) or node is None:
            return state
        self.recorder.work += 1
        ending.check()
        try:
            if self.recorder.work > WORK.most:
                raise self._too_much(node)
            return self._execute(node, scope, state)
        except InputRefused as error:
            error.where = error.where or where(node)
            if self.survey is None or self.recorder.work > WORK.most:
                raise
            self.survey.note(error, node)
            for inner in self.survey.within(node):
                self.execute(inner, scope, state)
            return state
        except RecursionError:
            raise UnsupportedConstruct("code nested deeper than Python can follow", where(node)) from None

    def _too_much(self, node: Any) -> InputRefused:
        error = WORK.refusal(where(node))
        error.hint = error.hint if any(frame.continued for frame in self.frames) else WORK_IN_CALLS
        return error

    def _execute(self, node: Any, scope: Scope, state: State) -> State | None:
        method = getattr(self, method_for("_do", type(node).__name__), None)
        if method is not None:
            result: State | None = method(node, scope, state)
            return result
        if isinstance(node, c_ast.Case | c_ast.Default):
            raise InputRefused("a case label outside of a switch", where(node))
        around, self.discarded = self.discarded, node  # a statement may run within an expression of another one
        self.evaluate(node, scope, state)
        self.discarded = around
        return state

    def _do_compound(self, node: Any, scope: Scope, state: State | None) -> State | None:
        items = node.block_items or []
        frame = self.frames[-1]
        living = frame.locals
        before = len(living)
        cleanups = len(frame.cleanups)
        with self.labelled(items):
            state = self.block(items, scope.inner(), state)
        run_cleanups(self, cleanups, state)
        self.end_of_life(living[before:], state if state is not None else State())
        del living[before:]
        return state

    @contextlib.contextmanager
    def labelled(self, items: Sequence[Any]) -> Iterator[None]:
        """While the statements of a block are run, a goto may lead to their labels."""
        labels = self.frames[-1].gotos.labels
        labels.append({name for item in items for name in _labels(item)})
        yield
        labels.pop()

    def block(self, items: Sequence[Any], scope: Scope, state: State | None) -> State | None:
        """Run the statements of a block; from a label on that a later goto goes back to, as often as one does."""
        entered = state
        for place, item in enumerate(items):
            again = {name for name in _labels(item) if any(name in _targets(each) for each in items[place:])}
            if again and again.isdisjoint(self.frames[-1].gotos.repeated):
                return self._repeat(again, items[place:], scope, state)
            if state is None and entered is not None and isinstance(item, DECLARATIONS):
                self.declare(item, scope, entered)
            state = self.execute(item, scope, state)
        return state

    def _repeat(self, labels: set[str], items: Sequence[Any], scope: Scope, state: State | None) -> State | None:
        """Run statements from the first one's ``labels`` on, and again on the paths that come back to these."""
        gotos = self.frames[-1].gotos
        ends: list[State] = []
        gotos.repeated |= labels
        rounds = 0
        seen = [(state.pc, state.cells.contents())] if state and self.turns.watches(items[0]) else []
        while True:
            end = self.block(items, Scope(scope), state)
            ends += [end] if end is not None else []
            state = join([path for name in labels for path in gotos.jumps.pop(name, [])])
            rounds += 1
            if state is None or self.cases.impossible(state.pc, TRUE()):
                break
            seen += [(state.pc, state.cells.contents())] if self.turns.watches(items[0]) else []
            if self.turns.over(items[0], rounds, TRUE(), state, seen):
                break
            self._check_bound(rounds, rounds, items[0])
        gotos.repeated -= labels
        return join(ends)

    def _do_goto(self, node: Any, scope: Scope, state: State) -> None:
        gotos = self.frames[-1].gotos
        if not any(node.name in labels for labels in gotos.labels):
            raise unsupported(f"goto into a block, where the label '{node.name}' is", node)
        gotos.jumps.setdefault(node.name, []).append(state)

    def _entered_at(self, label: str, state: State | None) -> State | None:
        """The paths after a label: those that come from above, and those that jump to it."""
        jumped = self.frames[-1].gotos.jumps.pop(label, [])
        if state is None:
            return join(jumped)
        for path in jumped:
            for key in state.cells.keys() - path.cells.keys():  # declared above the label, and passed over
                path.cells[key] = state.cells[key] if key[0].kind == "local" else UNDEFINED
        return join([*jumped, state])

    def _do_label(self, node: Any, scope: Scope, state: State | None) -> State | None:
        return self.execute(node.stmt, scope, state)

    def _do_decllist(self, node: Any, scope: Scope, state: State | None) -> State | None:
        for item in node.decls:
            state = self.execute(item, scope, state)
        return state

    def _do_typedef(self, node: Any, scope: Scope, state: State) -> State:
        ctype = self.types.read(node, scope)
        if isinstance(ctype, StructType) and not ctype.tag:
            ctype.tag = node.name
        scope.names[node.name] = Typedef(
            ctype, is_const(node, scope), is_volatile(node, scope), type_alignment(node, scope)
        )
        return state

    def _do_staticassert(self, node: Any, scope: Scope, state: State) -> State:
        self.types.check_static_assert(node, scope)
        return state

    def declare(self, node: Any, scope: Scope, state: State) -> None:
        """Enter a declaration that no path reaches into its scope; ``state`` gets the start values of static ones."""
        if isinstance(node, c_ast.DeclList):
            for item in node.decls:
                self.declare(item, scope, state)
        elif isinstance(node, c_ast.Typedef):
            self._do_typedef(node, scope, State())
        elif node.name is not None and "static" not in node.storage:
            ctype = self.types.read(node, scope)
            if "extern" in node.storage or isinstance(ctype, FunctionType):
                self._linked(node, ctype, scope)
                return
            if isinstance(ctype, ArrayType) and ctype.length is None:
                ctype = self.initialiser.completed(ctype, node.init, scope)
            self.local(node.name, ctype, scope, self.frames[-1], State())
        elif "static" in node.storage:
            scope.names[node.name] = self.static_local(self.frames[-1].function, node, scope, state)

    def _do_decl(self, node: Any, scope: Scope, state: State) -> State:
        frame = self.frames[-1]
        if "static" in node.storage:
            scope.names[node.name] = self.static_local(frame.function, node, scope, state)
            return state
        ctype = self.types.read(node, scope)
        if node.name is None:
            return state
        if node.name == CLEANUP:
            add_cleanup(self, node.init, scope)
            return state
        refuse_thread_local(node)
        if "extern" in node.storage or isinstance(ctype, FunctionType):
            self._linked(node, ctype, scope)
            return state
        if isinstance(ctype, ArrayType) and ctype.length is None:
            ctype = self.initialiser.completed(ctype, node.init, scope)
        place = self.local(node.name, ctype, scope, frame, state)
        if node.init is not None:
            self.initialiser.automatic(place, node.init, scope, state)
        return state

    def _linked(self, node: Any, ctype: CType, scope: Scope) -> None:
        """Enter a block-scope declaration with linkage (C11 6.2.2): it names what the file scope has of that name."""
        unit = self.frames[-1].function.unit
        found = unit.function(node.name)
        if found is None and isinstance(ctype, FunctionType) and self.library.knows(node.name):
            found = Function(node.name, ctype, unit)
        if found is None:
            raise unsupported(f"declaration of '{node.name}' inside a function", node)
        if not _agrees(found, ctype):
            text = f"'{node.name}' is declared as {show_type(ctype)} here, and as something else at file scope"
            raise InputRefused(text, where(node), "declare it alike in both places")
        if scope.names.setdefault(node.name, found) is not found:
            raise InputRefused(f"'{node.name}' is declared twice in one block", where(node))
        if isinstance(ctype, FunctionType):
            self.prototypes.declare(node.name, ctype, scope)

    def static_local(self, function: Function, node: Any, scope: Scope, state: State) -> MemObject:
        """The object of a static local; made once, with its start value."""
        key = (function, id(node))
        refuse_thread_local(node)
        if key not in self.statics:
            ctype = self.types.read(node, scope)
            if isinstance(ctype, ArrayType) and ctype.length is None:
                ctype = self.initialiser.completed(ctype, node.init, scope)
            const = is_const(node, scope)
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
            obj.declared, obj.volatile = where(node), is_volatile(node, scope)
            self.statics[key] = obj
            self.static_cells.update(self.initialiser.static(obj, node.init, scope))
        obj = self.statics[key]
        for cell, content in self.static_cells.items():
            if cell not in state.cells and (cell[0] is obj or not cell[0].symbol):  # string literals have no symbol
                state.cells[cell] = content
        return obj

    def _do_if(self, node: Any, scope: Scope, state: State) -> State | None:
        """An ``if`` with its ``else if`` links: a loop, because chains of them are long."""
        taken: list[tuple[FNode, State | None]] = []
        end: State | None = state
        link = node
        while end is not None and isinstance(link, c_ast.If):
            scope = scope.inner()
            try:
                cond = self.decide(link.cond, scope, end)
            except InputRefused as error:
                error.where = error.where or where(link)
                raise
            if is_true(cond):
                link = link.iftrue
                break
            if not is_false(cond):
                taken.append((cond, self.execute(link.iftrue, scope.inner(), end.fork(cond))))
                end = State(end.cells, both(end.pc, negate(cond)))
            link = link.iffalse
        end = self.execute(link, scope.inner(), end)
        for cond, then in reversed(taken):
            end = merge(cond, then, end)
        return end

    def _do_return(self, node: Any, scope: Scope, state: State) -> None:
        frame = self.frames[-1]
        if node.expr is not None:
            value = self.evaluate(node.expr, scope, state)
            if frame.result is not None:
                if value is None:
                    raise InputRefused("a void value is returned", where(node))
                self.store(whole(frame.result), self.as_type(value, frame.result.ctype, node, state), state, node)
        frame.returned.append(state)

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
        return self._loop(node, scope, state)

    _do_dowhile = _do_while

    def _do_for(self, node: Any, scope: Scope, state: State) -> State | None:
        inner, cleanups = Scope(scope), len(self.frames[-1].cleanups)
        if node.init is not None:
            self.execute(node.init, inner, state)
        end = self._loop(node, inner, state)
        run_cleanups(self, cleanups, end)
        return end

    def _loop(self, node: Any, scope: Scope, state: State | None) -> State | None:
        exits: list[State] = []
        frame = self.frames[-1]
        self.turns.begins(node)
        rounds, open_rounds, moves, undefined = 0, 0, self.moves, len(self.recorder.undefined_behaviour)
        seen: list[tuple[FNode, Mapping[Key, Content]]] = []
        while state is not None:
            looked_at = rounds >= 16 and not rounds & (rounds - 1)  # now and then is enough
            follows = looked_at and (self.moves > moves or self.turns.meets_null(undefined))
            if follows and self.turns.leaves_array(both(self.recorder.base, state.pc)):
                break
            if seen and seen[-1] == (state.pc, state.cells):
                self.turns.never_ends(node, state, "an iteration changes nothing of what it reads")
                break
            if self.turns.watches(node):
                seen.append((state.pc, state.cells.contents()))
            else:
                seen = [(state.pc, state.cells.contents())] if looked_at else []
            left = len(exits)
            if rounds or not isinstance(node, c_ast.DoWhile):
                cond = self.decide(node.cond, scope, state) if node.cond is not None else TRUE()
                state = self._again(node, cond, state, exits, (rounds, open_rounds, seen))
                if state is None:
                    break
            rounds += 1
            state = self._body(node, scope, state, frame, exits)
            open_rounds += len(exits) > left
            self._check_bound(rounds, open_rounds, node)
            if state is not None and isinstance(node, c_ast.For) and node.next is not None:
                self.evaluate(node.next, scope, state)
        return join(exits)

    def _again(
        self,
        node: Any,
        cond: FNode,
        state: State,
        exits: list[State],
        turns: tuple[int, int, Sequence[tuple[FNode, Mapping[Key, Content]]]],
    ) -> State | None:
        """The paths that go round once more after so many ``turns``, all and open ones; those that do not become
        ``exits``."""
        rounds, open_rounds, seen = turns
        if (
            is_false(cond)
            or self.cases.impossible(cond, state.pc)
            or self.turns.over(node, open_rounds, cond, state, seen)
        ):
            exits.append(state)
            return None
        if is_true(cond) and rounds == 1 and has_no_way_out(node):
            self.turns.never_ends(node, state, "nothing in it leaves it")
            return None
        if is_true(cond) or self.cases.impossible(negate(cond), state.pc):
            return state
        exits.append(state.fork(negate(cond)))
        return state.fork(cond)

    def _body(self, node: Any, scope: Scope, state: State, frame: Frame, exits: list[State]) -> State | None:
        frame.broken.append(exits)
        frame.continued.append([])
        end = self.execute(node.stmt, scope.inner(), state)
        frame.broken.pop()
        return join([*frame.continued.pop(), *([end] if end is not None else [])])

    @staticmethod
    def _check_bound(rounds: int, open_rounds: int, node: Any) -> None:
        if rounds > CONSTANT_LOOP_LIMIT or open_rounds > OPEN_LOOP_LIMIT:
            limit = CONSTANT_LOOP_LIMIT if rounds > CONSTANT_LOOP_LIMIT else OPEN_LOOP_LIMIT
            raise UnsupportedConstruct(
                f"unsupported C construct: loop without a constant bound (still running after {limit} iterations)",
                where(node),
                OPEN_ITERATIONS.next_step,
            )

    # statement expressions

    def eval_compound(self, node: Any, scope: Scope, state: State) -> Result:
        """The value of gcc's ``({ ... })`` is that of its last statement, if this is an expression.

        A jump out of the block is refused.
        """
        if not self.frames:
            raise unsupported("statement expression outside of functions", node)
        if id(node) not in self._staying:
            self._staying |= {id(block): block for block in _refuse_leaving(node)}
        *before, last = node.block_items or [c_ast.EmptyStatement()]
        if not self.is_expression(last):
            before, last = [*before, last], None
        frame, inner = self.frames[-1], Scope(scope)
        start, cleanups = len(frame.locals), len(frame.cleanups)
        with self.labelled(before):
            end = self.block(before, inner, state)
        if end is not None:
            state.cells = end.cells
        elif not is_false(state.pc):  # of a path that no run takes nothing need be left
            raise unsupported("statement expression that never ends", node)
        value: Result = None
        if last is not None:
            self.recorder.work += 1
            value = self.evaluate(last, inner, state)
        run_cleanups(self, cleanups, state)
        self.end_of_life(frame.locals[start:], state)
        del frame.locals[start:]
        return value


def _labels(node: Any) -> Iterator[str]:
    """The labels of one statement of a block."""
    while isinstance(node, c_ast.Label):
        yield node.name
        node = node.stmt


def _targets(node: Any) -> set[str]:
    """The labels to which a statement, or one within it, may jump."""
    return {item.name for item in nodes(node) if isinstance(item, c_ast.Goto)}


def _agrees(found: Any, ctype: CType) -> bool:
    """Whether ``found`` at file scope may be declared as a ``ctype`` again; an array's length may be left out."""
    if not isinstance(found, MemObject):
        return isinstance(found, Function) and isinstance(ctype, FunctionType)
    old = found.ctype
    if isinstance(old, ArrayType) and isinstance(ctype, ArrayType) and None in (old.length, ctype.length):
        return same_type(old.element, ctype.element)
    return same_type(old, ctype)


def _refuse_leaving(block: Any) -> list[Any]:
    """Refuse a statement expression that a jump may leave, for what stands around it is then evaluated in part.

    Those within its expressions are looked at by themselves. The result are the blocks that no jump leaves.
    """
    labels: set[str] | None = None
    staying: list[Any] = []
    todo = [(block, False, False)]
    while todo:
        node, in_loop, in_switch = todo.pop()
        leaves = isinstance(node, c_ast.Return) or (isinstance(node, c_ast.Break) and not (in_loop or in_switch))
        if isinstance(node, c_ast.Goto):
            labels = labels or {each.name for each in nodes(block) if isinstance(each, c_ast.Label)}
            leaves = node.name not in labels
        if leaves or (isinstance(node, c_ast.Continue) and not in_loop):
            raise unsupported(f"{type(node).__name__.lower()} out of a statement expression", node)
        if isinstance(node, c_ast.Compound) and not (in_loop or in_switch):
            staying.append(node)
        in_loop = in_loop or isinstance(node, _LOOPS)
        in_switch = in_switch or isinstance(node, c_ast.Switch)
        within = isinstance(node, _STATEMENTS)
        inner = (child for _, child in node.children() if within or not isinstance(child, c_ast.Compound))
        todo += [(child, in_loop, in_switch) for child in inner]
    return staying if labels is None else [block]
