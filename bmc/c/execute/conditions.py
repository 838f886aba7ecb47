"""Conditions of C code: truth of scalars, ``&&`` and ``||`` with short circuit; every decision is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE

from bmc.c.execute.arithmetic import from_condition
from bmc.c.execute.floating import truth
from bmc.c.execute.lvalues import Lvalues
from bmc.c.execute.memory import State, Value, is_null, merge
from bmc.c.source.decisions import is_logical, leaves, without_negations
from bmc.c.source.program import Program, Scope, where
from bmc.c.source.types import PointerType
from bmc.errors import InputRefused
from bmc.formulas.terms import both, either, negate


class Conditions(Lvalues):
    """Scalar expressions used as conditions. ``Evaluator`` adds the other expressions."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._leaves: dict[int, tuple[Any, tuple[int, ...]]] = {}  # with the nodes: their ids must stay theirs
        self._operands: dict[int, Any] = {}
        self._values: dict[int, FNode] = {}
        self.asked: Any = None
        """The expression of which only the truth is wanted."""

    def condition(self, node: Any, scope: Scope, state: State) -> FNode:
        """When a scalar expression compares unequal to 0."""
        self.asked = node
        value = self.value(node, scope, state)
        if self.unknown_name is not None and isinstance(value.ctype, PointerType):
            raise InputRefused("a pointer is used as a condition", where(node), "name a variable, such as s->mode")
        return self.truth_of(value)

    @staticmethod
    def truth_of(value: Value) -> FNode:
        """When a scalar compares unequal to 0."""
        return negate(is_null(value.targets)) if isinstance(value.ctype, PointerType) else truth(value)

    def decide(self, node: Any, scope: Scope, state: State) -> FNode:
        """The condition of a branch, a loop or a ``?:``; its decision is recorded, where ``short_circuit`` does not."""
        holds = self.condition(node, scope, state)
        leaf, negated = without_negations(node)
        if not is_logical(leaf):
            self.recorder.decide(leaf, state.pc, [negate(holds) if negated else holds])
        return holds

    def short_circuit(self, node: Any, scope: Scope, state: State) -> Value:
        """``&&`` and ``||``; the outermost of an expression is recorded as a decision."""
        outermost = id(node) not in self._operands
        left = self._operand(node.left, scope, state)
        taken = left if node.op == "&&" else negate(left)
        right = self.under(taken, node.right, scope, state, lambda s: self._operand(node.right, scope, s))
        if right is None:
            right = FALSE()
        if outermost:
            if id(node) not in self._leaves:
                self._leaves[id(node)] = node, tuple(id(leaf) for leaf in leaves(node))
            values = [self._values.pop(leaf, FALSE()) for leaf in self._leaves[id(node)][1]]
            self.recorder.decide(node, state.pc, values)
        result = both(left, right) if node.op == "&&" else either(left, right)
        return from_condition(result, self.model.int_type)

    def _operand(self, node: Any, scope: Scope, state: State) -> FNode:
        """An operand of ``&&`` or ``||``: one more of these, or an atomic condition, whose value is kept."""
        leaf, negated = without_negations(node)
        if is_logical(leaf):
            self._operands[id(leaf)] = leaf
            return self.condition(node, scope, state)
        holds = self.condition(node, scope, state)
        self._values[id(leaf)] = negate(holds) if negated else holds
        return holds

    def under(self, taken: FNode, node: Any, scope: Scope, state: State, work: Callable[[State], Any]) -> Any:
        """Evaluate ``node`` by ``work`` where ``taken`` holds, and join its effects back. None if it never does."""
        if taken.is_false():
            return None
        if taken.is_true():
            return work(state)
        narrowed = both(state.pc, taken)
        if not self.has_effects(node):
            return work(State(state.cells, narrowed))
        branch = state.fork(taken)
        result = work(branch)
        joined = merge(taken, branch, State(state.cells, both(state.pc, negate(taken))))
        assert joined is not None
        state.cells = joined.cells
        return result
