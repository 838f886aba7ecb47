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

    Two values of one class have the same effect in every state. Floating inputs and those with more than
    ``MOST_VALUES`` classes are left out.
    """
    inputs = {var.symbol: var for var in system.inputs if not var.type.floating and var.type.bits}
    found = {}
    for symbol, comparisons in _comparisons(system, inputs).items():
        values = _classes(inputs[symbol], comparisons) if comparisons else ()
        if 0 < len(values) <= MOST_VALUES:
            found[symbol.symbol_name()] = values
    return found


def _comparisons(system: TransitionSystem, inputs: dict[FNode, InputVariable]) -> dict[FNode, list[_Comparison]]:
    """The comparisons of each input that is used in no other way."""
    found: dict[FNode, list[_Comparison]] = {symbol: [] for symbol in inputs}
    todo = [*(var.next for var in system.state), system.defined, system.input_constraint]
    todo += [each.formula for each in system.asserts]
    otherwise = {symbol for symbol in inputs if symbol in todo}
    seen = set()
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        for argument in node.args():
            symbol = _under(argument)
            if symbol not in inputs:
                todo.append(argument)
            elif (comparison := _comparison(node, argument)) is not None:
                found[symbol].append(comparison)
            else:
                otherwise.add(symbol)
    return {symbol: comparisons for symbol, comparisons in found.items() if symbol not in otherwise}


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
