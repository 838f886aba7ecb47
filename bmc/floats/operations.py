"""The floating-point operations: what each computes, which of them a term was built for, and programs of them.

Host arithmetic takes the place of a circuit in a search and where operands are constants, and intervals of numbers pass
through an operation, not through its gates. Every entry is a fact about the value of a term, whatever formula it is in.
In a program, a straight line of instructions, a floating-point operation is one instruction and no circuit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import pysmt.operators as op
from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE

from bmc.floats.format import FLOAT64, Format, canonical, nearest, number, pattern
from bmc.formulas.evaluate import operation, unseen
from bmc.formulas.terms import Meaning, choose, constant, meanings, remember
from bmc.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Meaning):
    """``name`` of ``computing``, applied to ``operands``.

    ``form`` is the format of the floating operands, or of the result where they are integers; ``to_form`` the result's
    where that is another one; ``bits`` and ``signed`` tell of the integer in a conversion.
    """

    name: str
    form: Format
    to_form: Format | None = None
    bits: int = 0
    signed: bool = False

    @property
    def kind(self) -> Kind:
        """The operation without its operands."""
        return Kind(self.name, self.form, self.to_form, self.bits, self.signed)


@dataclass(frozen=True, slots=True)
class Kind:
    """An operation without its operands."""

    name: str
    form: Format
    to_form: Format | None = None
    bits: int = 0
    signed: bool = False

    def on(self, operands: tuple[FNode, ...]) -> Operation:
        return Operation(
            operands, name=self.name, form=self.form, to_form=self.to_form, bits=self.bits, signed=self.signed
        )


ENDLESS = 32
"""The remainder by a variable of more bits makes a circuit that no solver gets to the end of."""
ARITHMETIC = frozenset(["add", "subtract", "multiply", "divide", "remainder", "root"])
"""The operations with large circuits."""


def operation_of(term: FNode) -> Operation | None:
    """The operation that ``term`` was built for; None if it is no result of one, or a result known otherwise."""
    found = meanings().get(term)
    assert found is None or isinstance(found, Operation)
    return found


def has_arithmetic(formulas: Iterable[FNode]) -> bool:
    """Whether there are operations with large circuits in ``formulas``."""
    return any(found.name in ARITHMETIC for found in _operations_in(formulas))


def beyond_solvers(formulas: Iterable[FNode]) -> bool:
    """Whether ``formulas`` have an operation that no solver should be asked about."""
    remainders = (found for found in _operations_in(formulas) if found.name == "remainder")
    return any(found.form.bits > ENDLESS and not found.operands[1].is_constant() for found in remainders)


def _operations_in(formulas: Iterable[FNode]) -> Iterator[Operation]:
    found = map(operation_of, unseen(formulas, set()) if meanings() else ())
    return (operation for operation in found if operation is not None)


def outside_circuits(formulas: Iterable[FNode]) -> list[FNode]:
    """The nodes of ``formulas``; below a floating-point operation come its operands, not its circuit."""
    if not meanings():
        return unseen(formulas, set())
    found: dict[FNode, None] = {}
    todo = list(formulas)
    while todo:
        node = todo.pop()
        if node not in found:
            found[node] = None
            floating = operation_of(node)
            todo.extend(node.args() if floating is None else floating.operands)
    return list(found)


Compute = Callable[[Sequence[int]], int]

BINARY: dict[str, Callable[[float, float], float]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y if y else _by_zero(x, y),
    "remainder": lambda x, y: math.fmod(x, y) if y and not math.isinf(x) else math.nan,
}
"""On Python floats, rounded once more for a narrower format: see ``bmc.floats.arithmetic``."""
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "equal": lambda x, y: x == y,
    "less": lambda x, y: x < y,
    "less_equal": lambda x, y: x <= y,
}
UNARY: dict[str, Callable[[float], float]] = {
    "root": lambda x: math.sqrt(x) if x >= 0 else math.nan,
    "floor": lambda x: _whole(math.floor, x),
    "ceiling": lambda x: _whole(math.ceil, x),
    "truncate": lambda x: _whole(math.trunc, x),
    "round_half_even": lambda x: _whole(round, x),
    "round_half_away": lambda x: _whole(_half_away, x),
}


def computing(kind: Kind | Operation) -> Compute:
    """From the raw patterns of the operands to that of the result (Booleans 0/1)."""
    name, form = kind.name, kind.form
    if name in BINARY:
        binary = BINARY[name]
        return lambda raw: pattern(binary(number(raw[0], form), number(raw[1], form)), form)
    if name in COMPARISONS:
        test = COMPARISONS[name]
        return lambda raw: int(test(number(raw[0], form), number(raw[1], form)))
    if name in UNARY:
        unary = UNARY[name]
        return lambda raw: pattern(unary(number(raw[0], form)), form)
    return _OTHERS[name](kind)


def _from_int(kind: Kind | Operation) -> Compute:
    form, top = kind.form, 1 << (kind.bits - 1) if kind.signed else 0
    if form == FLOAT64 and kind.bits <= 53:
        return lambda raw: pattern(float((raw[0] ^ top) - top), form)
    return lambda raw: nearest((raw[0] ^ top) - top, form)


def _to_int(kind: Kind | Operation) -> Compute:
    """Some value where the conversion is not defined."""
    form, mask = kind.form, (1 << kind.bits) - 1

    def compute(raw: Sequence[int]) -> int:
        value = number(raw[0], form)
        return math.trunc(value) & mask if math.isfinite(value) else 0

    return compute


def _selecting(lesser: bool, form: Format) -> Compute:
    def compute(raw: Sequence[int]) -> int:
        x, y = number(raw[0], form), number(raw[1], form)
        first = (math.isnan(y) and not math.isnan(x)) or (x < y if lesser else y < x)
        return canonical(raw[0] if first else raw[1], form)

    return compute


def _negating(kind: Kind | Operation) -> Compute:
    form = kind.form
    return lambda raw: canonical(raw[0] ^ form.sign, form)


def _without_sign(kind: Kind | Operation) -> Compute:
    form = kind.form
    return lambda raw: canonical(raw[0] & ~form.sign, form)


def _resizing(kind: Kind | Operation) -> Compute:
    form, to_form = kind.form, kind.to_form
    assert to_form is not None
    return lambda raw: pattern(number(raw[0], form), to_form)


_OTHERS: dict[str, Callable[[Kind | Operation], Compute]] = {
    "fmin": lambda kind: _selecting(True, kind.form),
    "fmax": lambda kind: _selecting(False, kind.form),
    "negate": _negating,
    "absolute": _without_sign,
    "resize": _resizing,
    "from_int": _from_int,
    "to_int": _to_int,
}
"""The operations that are no functions of one or two numbers."""


def _by_zero(x: float, y: float) -> float:
    if x == 0 or math.isnan(x) or math.isnan(y):
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def _half_away(x: float) -> int:
    whole = math.trunc(x)
    return whole + int(math.copysign(1, x)) if abs(x - whole) >= 0.5 else whole


def _whole(rounded: Callable[[float], int], x: float) -> float:
    return math.copysign(float(rounded(x)), x) if math.isfinite(x) else x


KEPT_WHOLE = ("remainder", "absolute", "floor", "ceiling", "truncate", "round_half_even", "round_half_away")
"""Operations whose circuits end in a choice that is no choice of the program."""
CONSTANTS = 16
"""A choice between more constants than this is an operand like any other."""
NODES = 64
"""So is one that takes more if-then-elses than this."""

Fold = Callable[[tuple[int, ...]], FNode]
Build = Callable[..., FNode]


def apply(kind: Kind, operands: tuple[FNode, ...], build: Build) -> FNode:
    """The operation ``kind`` on ``operands``: computed for constants, else by the circuit ``build``."""
    compute = computing(kind)
    bits = kind.bits if kind.name == "to_int" else (kind.to_form or kind.form).bits

    def fold(raw: tuple[int, ...]) -> FNode:
        return truth(bool(compute(raw))) if kind.name in COMPARISONS else constant(compute(raw), bits)

    def remembered(*terms: FNode) -> FNode:
        result = build(*terms)
        remember(result, kind.on(terms))
        return result

    return folded(operands, fold, remembered)


def truth(value: bool) -> FNode:
    return TRUE() if value else FALSE()


def folded(operands: tuple[FNode, ...], fold: Fold, build: Build) -> FNode:
    """A term of ``operands``: ``fold`` gives it for constants, ``build`` for others.

    If all operands but one are constants, and that one chooses between constants and at most one other term, the
    result is the same choice between results: ``build`` is called once at most. If all operands choose between few
    constants, it is not called.
    """
    open_operands = [index for index, operand in enumerate(operands) if not operand.is_constant()]
    if not open_operands:
        return fold(tuple(int(operand.constant_value()) for operand in operands))
    found = [_leaves(operands[index]) for index in open_operands]
    constants, others = 1, 0
    for leaves in found:
        if leaves is None:
            return build(*operands)
        constants *= max(leaves[0], 1)
        others += leaves[1]
    lone = len(open_operands) == 1
    if constants > CONSTANTS or others > (1 if lone else 0) or (lone and found[0] == (0, 1)):
        return build(*operands)
    index = open_operands[0]

    def result(leaf: FNode) -> FNode:
        replaced = (*operands[:index], leaf, *operands[index + 1 :])
        return folded(replaced, fold, build) if leaf.is_constant() else build(*replaced)

    return _mapped(operands[index], result, {})


def _leaves(operand: FNode) -> tuple[int, int] | None:
    """How many constants and other terms a tree of choices ends in; None if they are too many."""
    seen: set[FNode] = set()
    constants = others = 0
    stack = [operand]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.is_constant():
            constants += 1
        elif _chooses(node):
            stack += [node.arg(1), node.arg(2)]
        else:
            others += 1
        if constants > CONSTANTS or others > 1 or len(seen) > NODES:
            return None
    return constants, others


def _chooses(node: FNode) -> bool:
    """Whether ``node`` is a choice to look into: not in the remainders and roundings whose circuits end in one.

    Those of arithmetic end in one too, for the one NaN: looked into, they are known better after a comparison.
    """
    found = operation_of(node)
    return bool(node.is_ite()) and (found is None or found.name not in KEPT_WHOLE)


def _mapped(node: FNode, result: Callable[[FNode], FNode], done: dict[FNode, FNode]) -> FNode:
    if node not in done:
        if _chooses(node):
            then, other = _mapped(node.arg(1), result, done), _mapped(node.arg(2), result, done)
            done[node] = choose(node.arg(0), then, other)
        else:
            done[node] = result(node)
    return done[node]


Values = list[int]


@dataclass(frozen=True, slots=True)
class Instruction:
    """``node`` has the value of ``floating``, or else of its own operator, on the instructions ``arguments``."""

    node: FNode
    arguments: tuple[int, ...]
    floating: Operation | None


MASKED = 1024
"""Bits of a mask of instructions."""


class Program:
    """``formulas`` in an order in which arguments come before their users; ``results`` are their places in it,
    ``places`` those of all nodes.

    ``compute`` of an instruction's place gives its value from those of its arguments (raw; Booleans 0/1).
    """

    def __init__(self, formulas: Iterable[FNode]) -> None:
        wanted = list(formulas)
        self.instructions: list[Instruction] = []
        places: dict[FNode, int] = {}
        special = meanings()
        stack = [(formula, False) for formula in reversed(wanted)]
        while stack:
            node, ready = stack.pop()
            if node in places:
                continue
            floating = special.get(node)
            assert floating is None or isinstance(floating, Operation)
            arguments = node.args() if floating is None else floating.operands
            if ready or not arguments:
                places[node] = len(self.instructions)
                self.instructions.append(Instruction(node, tuple([places[a] for a in arguments]), floating))
            else:
                stack.append((node, True))
                stack.extend([(a, False) for a in arguments])
        self.places = places
        self.results = tuple(places[formula] for formula in wanted)
        self.compute = [_computing(instruction) for instruction in self.instructions]

    @cached_property
    def below(self) -> Sequence[int]:
        """Of each instruction a mask of what its value follows from, itself included: bit ``place % MASKED`` of each.

        Instructions whose masks have no common bit have nothing in common; the others may.
        """
        masks: list[int] = []
        for place, instruction in enumerate(self.instructions):
            mask = 1 << place % MASKED
            for argument in instruction.arguments:
                mask |= masks[argument]
            masks.append(mask)
        return masks

    def run(self, symbols: Mapping[str, int]) -> Values:
        """The value of every instruction; ``symbols`` by name. KeyError for a symbol without a value."""
        values: Values = []
        for instruction, compute in zip(self.instructions, self.compute, strict=True):
            if compute is None:
                values.append(symbols[instruction.node.symbol_name()])
            else:
                values.append(compute([values[a] for a in instruction.arguments]))
        return values


def _computing(instruction: Instruction) -> Callable[[Sequence[int]], int] | None:
    """None for a symbol."""
    node = instruction.node
    if instruction.floating is not None:
        return computing(instruction.floating)
    if node.is_symbol():
        return None
    if node.is_constant():
        value = int(node.constant_value())
        return lambda raw: value
    if node.node_type() == op.ITE:
        return lambda raw: raw[1] if raw[0] else raw[2]
    return operation(node)
