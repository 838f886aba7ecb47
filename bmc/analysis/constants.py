"""State variables that never change, and terms with values put in for their symbols.

Both passes are linear in the formulas' DAG: values are spread through it once, and taken back once where they fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import is_not
from types import MappingProxyType

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.formulas.evaluate import operation, post_order
from bmc.formulas.folding import constant_like, raw_value, rebuilt
from bmc.formulas.terms import is_constant, keep_meaning, meanings
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, Valuation

KEPT = 16
"""Systems of which the constants are kept: many questions about one system need them."""


def constant_state(system: TransitionSystem) -> Valuation:
    """The state variables with one and the same value in every reachable state, by name, raw; in the system's order.

    The largest set that is inductive as far as known values spread through the next-state functions: each variable has
    its start value again after every step, the others of the set having theirs. Variables that init leaves open never
    belong to it.
    """
    return MappingProxyType(_constants(system.state, system.inputs))


@lru_cache(maxsize=KEPT)
def _constants(state: tuple[StateVariable, ...], inputs: tuple[InputVariable, ...]) -> dict[str, int]:
    start = {var.name: raw_value(var.init) for var in state if var.init is not None}
    spread = _Spread([var.next for var in state], {**start, **_fixed(inputs)})
    by_next: dict[FNode, list[tuple[str, FNode]]] = {}
    for var in state:
        if var.init is not None:
            by_next.setdefault(var.next, []).append((var.name, var.symbol))
    todo = list(by_next)
    while todo:
        term = todo.pop()
        value = spread.known.get(term.node_id())
        for name, symbol in by_next.get(term, ()):
            if name in start and start[name] != value:
                del start[name]
                todo.extend(spread.forget(symbol))
    return start


@lru_cache(maxsize=KEPT)
def _stepped(state: tuple[StateVariable, ...], inputs: tuple[InputVariable, ...]) -> tuple[FNode, ...]:
    return tuple(put_in([var.next for var in state], {**_constants(state, inputs), **_fixed(inputs)}))


def next_states(system: TransitionSystem) -> dict[str, FNode]:
    """The next state of each state variable, by name, with the values put in of what never changes."""
    return dict(zip((var.name for var in system.state), _stepped(system.state, system.inputs), strict=True))


def fixed_inputs(system: TransitionSystem) -> Valuation:
    """The inputs of which one value only is allowed, by name, raw."""
    return _fixed(system.inputs)


def _fixed(inputs: Sequence[InputVariable]) -> dict[str, int]:
    return {var.name: value for var in inputs if (value := _only_value(var)) is not None}


def _only_value(var: InputVariable) -> int | None:
    if len(var.values) != 1 or var.values[0][0] != var.values[0][1]:
        return None
    return raw_value(var.type.constant(var.values[0][0]))


class _Spread:
    """``known`` holds the value of each node under ``formulas`` that follows from the values of some symbols.

    Nodes are told from each other by their numbers here, as to hash a node takes longer.
    """

    def __init__(self, formulas: Sequence[FNode], values: Valuation) -> None:
        self.known: dict[int, int] = {}
        self._values = values
        self._users: dict[int, list[FNode]] = {}
        for node in post_order(formulas):
            for argument in node._content.args:
                self._users.setdefault(argument._node_id, []).append(node)
            value = self._value(node)
            if value is not None:
                self.known[node._node_id] = value

    def forget(self, symbol: FNode) -> list[FNode]:
        """The value of ``symbol`` is not known any more; all nodes whose value goes with it."""
        gone = [symbol] if self.known.pop(symbol._node_id, None) is not None else []
        for node in gone:
            for user in self._users.get(node._node_id, ()):
                if user._node_id in self.known and self._value(user) is None:
                    del self.known[user._node_id]
                    gone.append(user)
        return gone

    def _value(self, node: FNode) -> int | None:
        arguments = node._content.args
        if arguments:
            return _known_value(node, [self.known.get(argument._node_id) for argument in arguments])
        return self._values.get(node.symbol_name()) if node.is_symbol() else raw_value(node)


_ABSORBING = {op.AND: 0, op.BV_AND: 0, op.BV_MUL: 0, op.OR: 1}
"""The value of one argument that decides the result, whatever the others are."""


def _known_value(node: FNode, values: Sequence[int | None]) -> int | None:
    """The value of ``node`` from those of its arguments, as far as they are known."""
    kind = node.node_type()
    if kind == op.ITE:
        cond, then, other = values
        if cond is not None:
            return then if cond else other
        return then if then == other else None
    if None not in values:
        return operation(node)([value for value in values if value is not None])
    if kind == op.IMPLIES:
        return 1 if values[0] == 0 or values[1] == 1 else None
    if kind in (op.EQUALS, op.IFF):
        return 1 if node.arg(0) is node.arg(1) else None
    absorbing = _ABSORBING.get(kind)
    return absorbing if absorbing in values else None


def put_in(formulas: Sequence[FNode], values: Valuation) -> list[FNode]:
    """``formulas`` with the (raw) values of the symbols that ``values`` names, folded where that decides a term."""
    others: dict[int, FNode] = {}  # what has become another node, by the number of the one before
    made: dict[FNode, FNode] = {}  # all, where something is known of the meaning of terms
    special = bool(meanings())
    for node in post_order(formulas):
        before, new = node._content.args, node
        if before:
            arguments = [others.get(argument._node_id, argument) for argument in before]
            if all(map(is_constant, arguments)) or any(map(is_not, arguments, before)):
                new = rebuilt(node, arguments)
        elif node.is_symbol() and node.symbol_name() in values:
            new = constant_like(node, values[node.symbol_name()])
        if new is not node:
            others[node._node_id] = new
        if special:
            made[node] = new
            if new is not node and before:
                keep_meaning(node, new, made)
    return [others.get(formula._node_id, formula) for formula in formulas]
