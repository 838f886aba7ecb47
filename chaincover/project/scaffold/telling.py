"""Which values of an input the step tells apart: where it is only compared with constants, a few stand for all."""

from __future__ import annotations

from dataclasses import dataclass

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.system.transition import InputVariable, TransitionSystem

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
