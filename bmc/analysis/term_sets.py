"""Sets of values of formulas whose symbols lie in given sets: sound, not tight; and what a formula says of its symbols.

Sets are ranges over raw patterns (``bmc.floats.ranges``). They pass through floating-point operations as intervals of
numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.floats.operations import COMPARISONS, Instruction, Program
from bmc.floats.ranges import BOTH, Ranges, applied, common, compared_so, pointwise, united, whole

Box = Mapping[str, Ranges]
"""Sets of values by name; what is not in it has any value."""
REFINED = 6
"""Depth down to which choices and conditions are taken apart."""
ROUNDS = 2
"""Times that a conjunction's parts are gone through to narrow the symbols."""


def width(node: FNode) -> int:
    """Bits; 0 for a Boolean."""
    kind = node.get_type()
    return 0 if kind.is_bool_type() else int(kind.width)


def sets_of(program: Program, box: Box) -> list[Ranges]:
    """The set of each result of ``program``."""
    found: list[Ranges] = []
    for place, instruction in enumerate(program.instructions):
        found.append(_set_of(program, place, instruction, found, box))
    return [found[place] for place in program.results]


def _set_of(program: Program, place: int, instruction: Instruction, found: list[Ranges], box: Box) -> Ranges:
    node = instruction.node
    if node.is_symbol():
        return box.get(node.symbol_name()) or whole(width(node))
    operands = [found[a] for a in instruction.arguments]
    if instruction.floating is not None:
        return applied(instruction.floating, operands)
    kind = node.node_type()
    if kind == op.ITE:
        if operands[0] == BOTH:
            return _chosen(program, instruction, found)
        return operands[1] if operands[0][0][0] else operands[2]
    if kind in (op.AND, op.OR):
        return _junction(operands, int(kind == op.OR))
    compute = program.compute[place]
    exact = pointwise(operands, compute) if compute is not None else None
    return exact if exact is not None else _wide(node, operands)


def _chosen(program: Program, instruction: Instruction, found: list[Ranges]) -> Ranges:
    """The union of both branches, each where the condition is so."""
    condition, then, other = instruction.arguments
    pieces: list[tuple[int, int]] = []
    for branch, holds in ((then, True), (other, False)):
        facts = _facts(program, condition, holds, found, REFINED)
        if () not in facts.values():
            pieces += _refined(program, branch, facts, found, REFINED)
    return united(pieces) or united([*found[then], *found[other]])


def _refined(program: Program, place: int, facts: dict[int, Ranges], found: list[Ranges], depth: int) -> Ranges:
    """The set of an instruction, of which ``facts`` tell something, or of what it chooses from."""
    if place in facts:
        return facts[place]
    instruction = program.instructions[place]
    choice = instruction.floating is None and instruction.node.node_type() == op.ITE
    if not choice or not depth or found[instruction.arguments[0]] != BOTH:
        return found[place]
    pieces: list[tuple[int, int]] = []
    for branch, holds in zip(instruction.arguments[1:], (True, False), strict=True):
        more = _facts(program, instruction.arguments[0], holds, found, REFINED)
        merged = {**facts, **{at: common(facts.get(at, ranges), ranges) for at, ranges in more.items()}}
        if () not in merged.values():
            pieces += _refined(program, branch, merged, found, depth - 1)
    return common(found[place], united(pieces))


def _facts(program: Program, place: int, holds: bool, found: list[Ranges], depth: int) -> dict[int, Ranges]:
    """What a condition's being ``holds`` says of other instructions, by place; () where it cannot be."""
    instruction = program.instructions[place]
    arguments, kind = instruction.arguments, instruction.node.node_type()
    if instruction.floating is not None:
        name, form = instruction.floating.name, instruction.floating.form
        if name not in COMPARISONS:
            return {}
        left, right = arguments
        return dict(zip(arguments, compared_so(name, holds, found[left], found[right], form), strict=True))
    if kind == op.NOT:
        return _facts(program, arguments[0], not holds, found, depth)
    if kind in (op.AND, op.OR) and (kind == op.AND) == holds and depth:
        result: dict[int, Ranges] = {}
        for argument in arguments:
            more = _facts(program, argument, holds, found, depth - 1)
            result.update({at: common(result.get(at, ranges), ranges) for at, ranges in more.items()})
        return result
    if kind in (op.EQUALS, op.BV_ULT, op.BV_ULE):
        for side, other in ((0, 1), (1, 0)):
            node = program.instructions[arguments[other]].node
            if node.is_constant():
                inside = _satisfying(kind, int(node.constant_value()), holds, width(node), side == 1)
                return {arguments[side]: common(found[arguments[side]], inside)}
    return {}


def _junction(operands: list[Ranges], decisive: int) -> Ranges:
    if any(operand == ((decisive, decisive),) for operand in operands):
        return ((decisive, decisive),)
    return BOTH if BOTH in operands else ((1 - decisive, 1 - decisive),)


def _wide(node: FNode, operands: list[Ranges]) -> Ranges:
    """For large sets: comparisons, sums that do not wrap, widening; all else may be anything."""
    kind = node.node_type()
    if kind == op.EQUALS:
        return BOTH if common(operands[0], operands[1]) else ((0, 0),)
    if kind in (op.BV_ULT, op.BV_ULE):
        (low, high), (least, greatest) = _ends(operands[0]), _ends(operands[1])
        always, never = (high < least, low >= greatest) if kind == op.BV_ULT else (high <= least, low > greatest)
        return ((1, 1),) if always else ((0, 0),) if never else BOTH
    if kind == op.BV_ZEXT:
        return operands[0]
    if kind in (op.BV_ADD, op.BV_SUB) and operands[1][0][0] == operands[1][-1][1]:
        return _moved(operands[0], operands[1][0][0] * (1 if kind == op.BV_ADD else -1), width(node))
    if kind == op.BV_EXTRACT and node.bv_extract_start() == 0 and operands[0][-1][1] >> width(node) == 0:
        return operands[0]
    return whole(width(node))


def _moved(ranges: Ranges, by: int, bits: int) -> Ranges:
    """A constant added, modulo the width."""
    size = 1 << bits
    found: list[tuple[int, int]] = []
    for low, high in ranges:
        first, last = (low + by) % size, (high + by) % size
        found += [(first, last)] if first <= last else [(first, size - 1), (0, last)]
    return united(found)


def _ends(ranges: Ranges) -> tuple[int, int]:
    return ranges[0][0], ranges[-1][1]


def narrowed(formula: FNode, box: Box) -> dict[str, Ranges] | None:
    """``box`` without values for which ``formula`` cannot hold; None if it cannot at all. Sound, not tight.

    Comparisons of a symbol with a constant are understood, and what joins them.
    """
    result = dict(box)
    for _ in range(ROUNDS):
        found = _assumed(formula, True, result, 40)
        if found is None:
            return None
        if found == result:
            break
        result = found
    return result


def _assumed(formula: FNode, holds: bool, box: dict[str, Ranges], depth: int) -> dict[str, Ranges] | None:
    """The box where ``formula`` is ``holds``."""
    kind = formula.node_type()
    if kind == op.NOT:
        return _assumed(formula.arg(0), not holds, box, depth)
    if kind == op.BOOL_CONSTANT:
        return box if formula.is_true() == holds else None
    if depth == 0:
        return box
    if kind in (op.AND, op.OR):
        if (kind == op.AND) == holds:
            for part in formula.args():
                found = _assumed(part, holds, box, depth - 1)
                if found is None:
                    return None
                box = found
            return box
        return _any_of([_assumed(part, holds, box, depth - 1) for part in formula.args()], box)
    return _atom(formula, holds, box)


def _any_of(found: list[dict[str, Ranges] | None], box: dict[str, Ranges]) -> dict[str, Ranges] | None:
    """The union of boxes that are all within ``box``."""
    kept = [one for one in found if one is not None]
    if not kept:
        return None
    names = set(kept[0]).intersection(*kept[1:])
    return {**box, **{name: united(piece for one in kept for piece in one[name]) for name in sorted(names)}}


def _atom(formula: FNode, holds: bool, box: dict[str, Ranges]) -> dict[str, Ranges] | None:
    if formula.is_symbol():
        return _kept(formula, ((1, 1),) if holds else ((0, 0),), box)
    kind = formula.node_type()
    if kind not in (op.EQUALS, op.IFF, op.BV_ULT, op.BV_ULE):
        return box
    left, right = formula.args()
    if kind == op.IFF:
        left, right = (right, left) if left.is_constant() else (left, right)
        return _assumed(left, right.is_true() == holds, box, 1) if right.is_constant() else box
    if left.is_symbol() and right.is_constant():
        return _kept(left, _satisfying(kind, int(right.constant_value()), holds, width(left), False), box)
    if right.is_symbol() and left.is_constant():
        return _kept(right, _satisfying(kind, int(left.constant_value()), holds, width(right), True), box)
    return box


def _satisfying(kind: int, value: int, holds: bool, bits: int, swapped: bool) -> Ranges:
    """The values of a symbol that compare so with ``value``, which stands on the left if ``swapped``."""
    last = (1 << bits) - 1
    if kind == op.EQUALS:
        inside: tuple[int, int] = (value, value)
    elif swapped:
        inside = (value + (kind == op.BV_ULT), last)
    else:
        inside = (0, value - (kind == op.BV_ULT))
    if inside[0] > inside[1]:
        return () if holds else ((0, last),)
    pieces = [inside] if holds else [(0, inside[0] - 1), (inside[1] + 1, last)]
    return tuple(piece for piece in pieces if piece[0] <= piece[1])


def _kept(symbol: FNode, ranges: Ranges, box: dict[str, Ranges]) -> dict[str, Ranges] | None:
    name = symbol.symbol_name()
    found = common(box.get(name) or whole(width(symbol)), ranges)
    return {**box, name: united(found)} if found else None
