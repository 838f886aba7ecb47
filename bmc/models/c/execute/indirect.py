"""Calls through pointers (C11 6.5.2.2): each function that the pointer may point to runs where it does."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from pysmt.fnode import FNode

from bmc.errors import InputRefused
from bmc.formulas.terms import both
from bmc.models.c.execute.cases import impossible
from bmc.models.c.execute.expressions import Evaluator
from bmc.models.c.execute.first_members import passes_for
from bmc.models.c.execute.initialise import zero
from bmc.models.c.execute.lvalues import Result
from bmc.models.c.execute.memory import (
    UNDEFINED,
    Aggregate,
    Place,
    State,
    Value,
    live,
    merge,
    merge_contents,
    merge_terms,
)
from bmc.models.c.source.program import Function, Program, Scope, unsupported, where
from bmc.models.c.source.types import CType, FunctionType, PointerType, StructType, VoidType, same_type, scalars


class IndirectCalls(Evaluator):
    """Calls of what a pointer points to. ``Calls`` adds those by name.

    ``bases``: functions may be called through pointers that name a struct which theirs begins with, or the other way
    round; ``by_bases`` are those that are.
    """

    bases = False

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.by_bases: set[str] = set()

    @abstractmethod
    def invoke(self, function: Function, arguments: list[Any], state: State, node: Any) -> Result:
        """Run ``function`` on already evaluated arguments."""

    @abstractmethod
    def is_active(self, function: Function) -> bool:
        """Whether ``function`` is being run."""

    def through_pointer(self, node: Any, scope: Scope, state: State) -> Result:
        """A call of what the expression ``node.name`` points to.

        Where that is nothing, or a function of another type, behaviour is undefined.
        """
        pointer, *arguments = self.arguments(node, scope, state, node.name)
        ctype = pointer.ctype.target if isinstance(pointer, Value) and isinstance(pointer.ctype, PointerType) else None
        if not isinstance(ctype, FunctionType):
            raise InputRefused("what is called is no function", where(node))
        functions = self._functions(pointer, ctype, arguments, state, node)
        discarded = self.discarded
        ends: list[tuple[FNode, State, Result]] = []
        for guard, function in functions:
            self.discarded = discarded
            branch = state.fork(guard) if len(functions) > 1 else State(state.cells, both(state.pc, guard))
            ends.append((guard, branch, self.invoke(function, arguments, branch, node)))
        self.discarded = discarded
        return self._joined(ends, state) if ends else nothing(ctype.result)

    def _functions(
        self, pointer: Value, ctype: FunctionType, arguments: Sequence[Any], state: State, node: Any
    ) -> list[tuple[FNode, Function]]:
        """The functions that may be called, each with the condition for it."""
        self.check_not_null(Place(pointer.targets, ctype), state, node)
        found = []
        for guard, obj, _ in live(pointer.targets):
            function = self.function_of.get(obj)
            if not self._possible(guard, function, state):
                continue
            if function is not None and not (ctype.prototype and function.ctype.prototype) and arguments:
                hint = "write the types of the parameters where the pointer and the function are declared"
                raise unsupported("call through a pointer to a function without parameter types", node, hint)
            near = function is not None and not same_type(function.ctype, ctype) and passes_for(function.ctype, ctype)
            if function is not None and near and self.bases:
                self.by_bases.add(function.name)
                found.append((guard, function))
            elif function is None or not same_type(function.ctype, ctype):
                text = "call of a function of another type than the pointer's"
                text += ", which functions.bases = true reads" if near else ""
                self.recorder.note_undefined(text, where(node), state.pc, guard)
            else:
                found.append((guard, function))
        return found

    def _possible(self, guard: FNode, function: Function | None, state: State) -> bool:
        """Whether a call may come to ``function``; of one that is being run the solver has to say so, too."""
        if self.cases.impossible(guard, state.pc):
            return False
        if function is None or not self.is_active(function):
            return True
        path = both(self.recorder.base, both(state.pc, guard))
        return not impossible(both(path, self.recorder.limits))

    @staticmethod
    def _joined(ends: list[tuple[FNode, State, Result]], state: State) -> Result:
        """Join memory and results of functions of which one is called; their conditions exclude each other."""
        _, last, value = ends[-1]
        joined: State | None = last
        for guard, branch, other in reversed(ends[:-1]):
            joined = merge(guard, branch, joined)
            value = _choice(guard, other, value)
        assert joined is not None
        state.cells = joined.cells
        return value


def _choice(condition: FNode, then: Result, other: Result) -> Result:
    """The result ``then`` where ``condition`` holds, else ``other``; both are of one type."""
    if isinstance(then, Aggregate) and isinstance(other, Aggregate):
        right = dict(other.cells)
        cells = tuple((path, merge_contents(condition, content, right[path])) for path, content in then.cells)
        return Aggregate(cells, then.ctype)
    if isinstance(then, Value) and isinstance(other, Value):
        return Value(merge_terms(condition, then.term, other.term), then.ctype)
    return None


def nothing(ctype: CType) -> Result:
    """What a call yields that is always undefined: something of the right type."""
    if isinstance(ctype, VoidType):
        return None
    if isinstance(ctype, StructType):
        return Aggregate(tuple((path, UNDEFINED) for path, _ in scalars(ctype)), ctype)
    content = zero(ctype)
    return Value(content.term, ctype)  # type: ignore[arg-type]
