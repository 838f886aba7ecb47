"""gcc's statement expressions ``({ ... })``: a block whose last expression is the value."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from pycparser import c_ast

from bmc.models.c.execute.cleanups import run_cleanups
from bmc.models.c.execute.lvalues import Result
from bmc.models.c.execute.memory import State
from bmc.models.c.execute.switches import Switches
from bmc.models.c.source.program import Scope, nodes, unsupported

_LOOPS = c_ast.For | c_ast.While | c_ast.DoWhile
_STATEMENTS = _LOOPS | c_ast.Compound | c_ast.If | c_ast.Switch | c_ast.Case | c_ast.Default | c_ast.Label


class StatementExpressions(Switches):
    """Blocks as expressions. ``Executor`` adds the statements."""

    def __init__(self, program: Any) -> None:
        super().__init__(program)
        self._staying: dict[int, Any] = {}
        """The blocks that no jump leaves, by their ids."""

    @abstractmethod
    def block(self, items: Sequence[Any], scope: Scope, state: State | None) -> State | None:
        """Run the statements of a block; provided by the executor."""

    @abstractmethod
    def labelled(self, items: Sequence[Any]) -> AbstractContextManager[None]:
        """While the statements of a block are run, a goto may lead to their labels; provided by the executor."""

    def eval_compound(self, node: Any, scope: Scope, state: State) -> Result:
        """The value of the last statement, where that is an expression; a jump out of the block is refused."""
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
        elif not state.pc.is_false():  # of a path that no run takes nothing need be left
            raise unsupported("statement expression that never ends", node)
        value: Result = None
        if last is not None:
            self.recorder.work += 1
            value = self.evaluate(last, inner, state)
        run_cleanups(self, cleanups, state)
        self.end_of_life(frame.locals[start:], state)
        del frame.locals[start:]
        return value


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
