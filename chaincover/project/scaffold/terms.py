"""What the terms of a model tell: which values of an input the step tells apart, and in which states a chain may end.

An input that is only compared with constants has few values that stand for all.
"""

from __future__ import annotations

import re

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem

MOST_VALUES = 12
"""Classes of values of an input up to which they are proposed as its values. Twice as many: longer project files, and
inputs that are numbers are listed as if they were modes."""
_EXTENSIONS = (op.BV_ZEXT, op.BV_SEXT)
_COMPARISONS = (op.EQUALS, op.BV_ULT, op.BV_ULE, op.BV_SLT, op.BV_SLE)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """``kind`` (a pysmt node type) of an input's extension and a constant; ``swapped``: the constant stands first."""

    kind: int
    extended: FNode
    constant: int
    swapped: bool

    def holds(self, raw: int) -> bool:
        """Whether it holds for the input's pattern ``raw``."""
        width = self.extended.bv_width()
        value = _extend(self.extended, raw)
        left, right = (self.constant, value) if self.swapped else (value, self.constant)
        if self.kind in (op.BV_SLT, op.BV_SLE):
            left, right = _signed(left, width), _signed(right, width)
        if self.kind == op.EQUALS:
            return left == right
        return left < right if self.kind in (op.BV_ULT, op.BV_SLT) else left <= right


def telling_values(system: TransitionSystem) -> dict[str, tuple[int, ...]]:
    """For each input that the system only compares with constants: one number per class of values, ascending.

    Two values of one class have the same effect in every state. An input may be kept in the state, as the last value of
    a button is, and compared later. Floating inputs and those with more than ``MOST_VALUES`` classes are left out.
    """
    uses = _Uses(system)
    found = {}
    for var in system.inputs:
        comparisons = uses.comparisons(var.symbol)
        values = _classes(var, comparisons) if comparisons else ()
        if 0 < len(values) <= MOST_VALUES:
            found[var.name] = values
    return found


class _Uses:
    """Where inputs and state variables are compared with constants, kept in the state, or used in any other way."""

    def __init__(self, system: TransitionSystem) -> None:
        words: list[InputVariable | StateVariable] = [*system.inputs]
        words += [var for var in system.state if var.role == "state"]
        self._bits = {var.symbol: var.type.bits for var in words if not var.type.floating and var.type.bits}
        self._compared: dict[FNode, list[_Comparison]] = {symbol: [] for symbol in self._bits}
        self._copied: dict[FNode, set[FNode]] = {symbol: set() for symbol in self._bits}
        self._otherwise: set[FNode] = set()
        self._seen: set[FNode] = set()
        for var in system.state:
            if var.symbol in self._bits:
                self._keep(var.symbol, var.next)
            else:
                self._look(var.next)
        for formula in (system.defined, system.input_constraint, *(each.formula for each in system.asserts)):
            self._look(formula)

    def comparisons(self, symbol: FNode) -> list[_Comparison]:
        """The comparisons of a variable, and of all that keep its value; none if one of these has another use."""
        reached, todo = {symbol}, [symbol]
        while todo:
            fresh = self._copied.get(todo.pop(), set()) - reached
            reached |= fresh
            todo += sorted(fresh, key=FNode.symbol_name)
        if not reached <= self._bits.keys() - self._otherwise:
            return []
        return [each for kept in sorted(reached, key=FNode.symbol_name) for each in self._compared[kept]]

    def _keep(self, target: FNode, term: FNode) -> None:
        """``target`` takes the value of one of the variables that ``term`` chooses from."""
        todo, seen = [term], set()
        while todo:
            node = todo.pop()
            if node in seen:
                continue
            seen.add(node)
            if node.is_ite():
                self._look(node.arg(0))
                todo += node.args()[1:]
            elif node in self._bits and self._bits[node] == self._bits[target]:
                self._copied[node].add(target)
            else:
                self._look(node)

    def _look(self, term: FNode) -> None:
        """Note how the variables below ``term`` are used."""
        if term in self._bits:
            self._otherwise.add(term)
        todo = [term]
        while todo:
            node = todo.pop()
            if node in self._seen:
                continue
            self._seen.add(node)
            for argument in node.args():
                symbol = _under(argument)
                if symbol not in self._bits:
                    todo.append(argument)
                elif (comparison := _comparison(node, argument)) is not None:
                    self._compared[symbol].append(comparison)
                else:
                    self._otherwise.add(symbol)


def _comparison(node: FNode, argument: FNode) -> _Comparison | None:
    if node.node_type() not in _COMPARISONS:
        return None
    swapped = node.arg(1) is argument
    other = node.arg(0) if swapped else node.arg(1)
    if not other.is_bv_constant():
        return None
    return _Comparison(node.node_type(), argument, other.bv_unsigned_value(), swapped)


def _under(term: FNode) -> FNode:
    """What a term extends."""
    while term.node_type() in _EXTENSIONS:
        term = term.arg(0)
    return term


def _extend(term: FNode, raw: int) -> int:
    """The pattern of an extension of a symbol whose pattern is ``raw``."""
    if term.node_type() not in _EXTENSIONS:
        return raw
    inner = _extend(term.arg(0), raw)
    if term.node_type() == op.BV_ZEXT:
        return inner
    return _signed(inner, term.arg(0).bv_width()) & int((1 << term.bv_width()) - 1)


def _signed(raw: int, width: int) -> int:
    return raw - (1 << width) if raw >> (width - 1) else raw


def _classes(var: InputVariable, comparisons: list[_Comparison]) -> tuple[int, ...]:
    """The number nearest to 0 of each class of allowed values.

    As a function of the pattern, a comparison changes only beside its constant, at 0 and where the sign changes; so
    each class has a member among these patterns and their neighbours, and the ends of the allowed ranges.
    """
    bits, vtype = var.type.bits, var.type
    edges = {0, 1 << (bits - 1), *(c.constant for c in comparisons)}
    edges |= {number for bounds in var.values for number in bounds}
    numbers = {vtype.value((edge + near) & ((1 << bits) - 1)) for edge in edges for near in (-1, 0, 1)}
    allowed = sorted(n for n in numbers if any(low <= n <= high for low, high in var.values))
    classes: dict[tuple[bool, ...], int] = {}
    for number in sorted(allowed, key=lambda n: (abs(n), n < 0)):
        raw = number & ((1 << bits) - 1)
        classes.setdefault(tuple(c.holds(raw) for c in comparisons), number)
    return tuple(sorted(classes.values()))


def first_step_flags(system: TransitionSystem) -> list[StateVariable]:
    """State variables that the first step sets to another value for good, whatever the inputs and the other state are.

    No later state is like the one after init.
    """
    own = [var for var in system.state if var.role == "state" and not var.type.floating and var.init is not None]
    return [var for var in own if _is_small(var.next) and _left_for_good(var)]


MOST_NODES = 200
"""Of greater next values it is not found out: flags have small ones."""


def _is_small(term: FNode) -> bool:
    seen, todo = {term}, [term]
    while todo and len(seen) <= MOST_NODES:
        fresh = [argument for argument in todo.pop().args() if argument not in seen]
        seen.update(fresh)
        todo += fresh
    return not todo


def _left_for_good(var: StateVariable) -> bool:
    assert var.init is not None
    after = _next_of(var, var.init)
    return after.is_constant() and after is not var.init and _next_of(var, after) is after


def _next_of(var: StateVariable, value: FNode) -> FNode:
    """The next value where this one is ``value``: a constant where nothing else decides it."""
    return var.next.substitute({var.symbol: value}).simplify()


MOST_MODES = 3
"""Modes that are proposed for the final condition. Twice as many: a condition with more parts to confirm."""


def modes_at_rest(system: TransitionSystem) -> dict[str, str]:
    """The variables that hold a mode, by their names, with their values after a first step with all inputs at rest.

    Only those that a second such step leaves as they are, and ``MOST_MODES`` at most; none where those steps are not
    allowed.
    """
    flags = {var.name for var in first_step_flags(system)}
    simulator = Simulator(system)
    rest = {var.name: _at_rest(var) for var in system.inputs}
    states = simulator.run(simulator.initial(), [rest, rest]).states
    if not all(simulator.allowed(state, rest) for state in states[:2]):
        return {}
    found = {}
    for var in system.state:
        named = var.role == "state" and var.name not in flags and _MODE.search(var.name)
        if named and not var.type.floating and states[1][var.name] == states[2][var.name]:
            found[var.name] = var.type.show(var.type.value(states[1][var.name]))
    return dict(list(found.items())[:MOST_MODES])


_MODE = re.compile(r"(^|[.>])(is_(?!active)\w+|(?!\w*_DSTATE)\w*(mode|state|phase)(_nxt\w*)?)$", re.IGNORECASE)


def _at_rest(var: InputVariable) -> int:
    """The allowed value nearest to 0, as a pattern."""
    numbers = [min(max(low, 0), high) for low, high in var.values] or [0]
    return min(numbers, key=abs) % (1 << max(var.type.bits, 1))
