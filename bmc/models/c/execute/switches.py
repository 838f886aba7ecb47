"""Symbolic execution of switch statements (C11 6.8.4.2): a path for each label, which may fall through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycparser import c_ast
from pysmt.fnode import FNode

from bmc.errors import InputRefused
from bmc.formulas.terms import FALSE, TRUE, both, constant, equals, is_false, negate
from bmc.models.c.execute import arithmetic
from bmc.models.c.execute.calls import Calls
from bmc.models.c.execute.cleanups import refuse_cleanups
from bmc.models.c.execute.memory import UNDEFINED, State, join, last_common, merge
from bmc.models.c.source.program import Scope, unsupported, where
from bmc.models.c.source.rewritten import range_of
from bmc.models.c.source.types import IntType, promote

DECLARATIONS = (c_ast.Decl, c_ast.DeclList, c_ast.Typedef)
_LABELS = (c_ast.Case, c_ast.Default)


class Switches(Calls):
    """Switch statements; ``Executor`` adds the others."""

    def _do_switch(self, node: Any, scope: Scope, state: State) -> State | None:
        statements = _statements(node.stmt)
        refuse_cleanups(statements)
        _refuse_inner_labels(statements)
        value = self.value(node.cond, scope, state)
        if not isinstance(value.ctype, IntType):
            raise InputRefused("'switch' needs an integer", where(node))
        ctype = promote(value.ctype, self.model)
        term = arithmetic.convert(value, ctype).bits
        items = node.stmt.block_items or [] if isinstance(node.stmt, c_ast.Compound) else [node.stmt]
        guards = self._case_guards(items, term, ctype, scope)
        self.recorder.decide(node, state.pc, guards.values())
        frame, pc = self.frames[-1], state.pc
        inner = Scope(scope)
        exits: list[State] = []
        current: State | None = None
        frame.broken.append(exits)
        for item in items:
            if isinstance(item, c_ast.Case | c_ast.Default):
                current = self._entered(state, guards[id(item)], current)
                for statement in item.stmts or ():
                    current = self._case_statement(statement, inner, current, state)
            else:
                current = self._case_statement(item, inner, current, state)
        frame.broken.pop()
        outside = guards.get(0)
        if outside is not None and not is_false(outside):
            exits.append(state.fork(outside))
        if current is not None:
            exits.append(current)
        return self._leave_switch(exits, guards, pc)

    @staticmethod
    def _entered(state: State, guard: FNode, current: State | None) -> State | None:
        """The paths after a label: those that jump to it and those that fall through from above."""
        if is_false(guard):
            return current
        entered = state.fork(guard)
        if current is not None:  # objects declared above the label are not set on the paths that jump to it
            for written in current.cells.written_since(last_common(current.cells, entered.cells)):
                for key in written:
                    if key in current.cells and key not in entered.cells:
                        entered.cells[key] = UNDEFINED
        return merge(guard, entered, current)

    def _leave_switch(self, exits: list[State], guards: dict[int, FNode], pc: FNode) -> State | None:
        entered = {both(pc, guard) for guard in guards.values() if not is_false(guard)}
        left = {path.pc for path in exits}
        joined = join(exits)
        if joined is not None and entered == left:
            joined.pc = pc
        return joined

    def _case_statement(self, node: Any, scope: Scope, state: State | None, before: State) -> State | None:
        """Do a statement; of one that no path reaches the declarations count, static ones with their start value."""
        if state is None and isinstance(node, DECLARATIONS):
            self.declare(node, scope, before)
        return self.execute(node, scope, state)

    def _case_number(self, node: Any, ctype: IntType, scope: Scope) -> int:
        """The number of a case label, converted to the type of the switch."""
        number = self.constant(node, scope) % (1 << ctype.bits)
        return number - (1 << ctype.bits) if number > ctype.greatest else number

    def _case_guards(self, items: list[Any], term: FNode, ctype: IntType, scope: Scope) -> dict[int, FNode]:
        """When each case is entered by its label; last, default, or under key 0 when none is (no default)."""
        guards: dict[int, FNode] = {}
        none = TRUE()
        numbers = _Numbers()
        default = None
        for item in items:
            if isinstance(item, c_ast.Case):
                low, high = (self._case_number(end, ctype, scope) for end in range_of(item.expr) or (item.expr,) * 2)
                numbers.add(low, high, item)
                guard = _between(term, low, high, ctype)
                guards[id(item)] = guard
                none = both(none, negate(guard))
            elif isinstance(item, c_ast.Default):
                if default is not None:
                    raise InputRefused("two default labels in one switch", where(item))
                default = item
        guards[id(default) if default is not None else 0] = none
        return guards


class _Numbers:
    """The numbers of the case labels of one switch."""

    def __init__(self) -> None:
        self._single: set[int] = set()
        self._ranges: list[tuple[int, int]] = []

    def add(self, low: int, high: int, node: Any) -> None:
        """Enter a label for the numbers from ``low`` to ``high``; one that another label has is refused."""
        if low > high:
            return
        taken = low in self._single or any(low <= b and a <= high for a, b in self._ranges)
        if taken or (low < high and any(low <= number <= high for number in self._single)):
            raise InputRefused("two equal case labels in one switch", where(node))
        if low == high:
            self._single.add(low)
        else:
            self._ranges.append((low, high))


def _between(term: FNode, low: int, high: int, ctype: IntType) -> FNode:
    """Whether a term of type ``ctype`` lies between two numbers."""
    if low == high:
        return equals(term, constant(low, ctype.bits))
    if low > high:
        return FALSE()
    above = arithmetic.compare(">=", term, constant(low, ctype.bits), ctype) if low > ctype.least else TRUE()
    below = arithmetic.compare("<=", term, constant(high, ctype.bits), ctype) if high < ctype.greatest else TRUE()
    return both(above, below)


def _statements(body: Any) -> list[Any]:
    """The statements of the body of a switch, without their case labels."""
    items = body.block_items or [] if isinstance(body, c_ast.Compound) else [body]
    return [s for item in items for s in (item.stmts or () if isinstance(item, _LABELS) else (item,))]


def _refuse_inner_labels(statements: Sequence[Any]) -> None:
    """Refuse case labels in blocks, loops or branches inside of a switch: their jumps would be lost."""
    todo = list(statements)
    while todo:
        node = todo.pop()
        if isinstance(node, _LABELS):
            raise unsupported("case label inside a nested statement", node)
        if isinstance(node, c_ast.Compound | c_ast.If | c_ast.While | c_ast.DoWhile | c_ast.For | c_ast.Label):
            todo.extend(child for _, child in node.children())
