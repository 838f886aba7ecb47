"""Transition systems as pysmt formulas: state, inputs, next-state functions, constraints; and their concrete runs.

A system is deterministic once its inputs are fixed: every state variable has a total next-state
function over the current state and inputs. All formulas here are over the plain (unframed) symbols
of the variables; ``bmc.formulas.unroll`` places them at steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVSGE, BVSLE, BVUGE, BVULE, FALSE, TRUE, And, Bool, Symbol
from pysmt.typing import BOOL, BVType

from bmc.errors import Location
from bmc.floats.format import FORMATS, show
from bmc.floats.values import borders
from bmc.formulas.evaluate import compile_formulas, unseen
from bmc.formulas.terms import constant, either, equals, is_false, is_true
from bmc.formulas.value_sets import Ranges, common, joined
from bmc.records import dataclass


@dataclass(frozen=True, slots=True)
class ValueType:
    """How a value of ``bits`` bits is shown: signed or not, Boolean, enumeration labels, floating point.

    ``bits`` is 0 for a pysmt Boolean. ``labels`` are (name, value) pairs of an enumeration. The value of a
    ``floating`` type is its IEEE-754 bit pattern (unsigned); ``bmc.floats.format`` turns it into a number. ``truth``:
    its values are 0 and 1, as those of ``_Bool``, though its bits hold others.
    """

    name: str
    bits: int
    signed: bool = False
    labels: tuple[tuple[str, int], ...] = ()
    floating: bool = False
    truth: bool = False

    @property
    def is_pointer(self) -> bool:
        """Whether its values are what a pointer may point to."""
        return bool(self.labels) and "*" in self.name

    @property
    def size(self) -> int:
        """The bytes that hold a value."""
        return max(1, (self.bits + 7) // 8)

    def symbol(self, name: str) -> FNode:
        return Symbol(name, BVType(self.bits) if self.bits else BOOL)

    def constant(self, value: int) -> FNode:
        """The formula of a value, wrapped to the type's width."""
        return BV(value % (1 << self.bits), self.bits) if self.bits else Bool(bool(value))

    def value(self, raw: int) -> int:
        """The number that the raw (unsigned) pattern ``raw`` stands for."""
        if self.signed and self.bits and raw >> (self.bits - 1):
            return raw - (1 << self.bits)
        return int(raw)

    def show(self, value: int) -> str:
        """``value`` as text: its enumeration label where it has one."""
        for label, number in self.labels:
            if number == value:
                return label
        return show(value, FORMATS[self.bits]) if self.floating else str(value)

    @property
    def least(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def greatest(self) -> int:
        return (1 << (self.bits - 1)) - 1 if self.signed else (1 << max(self.bits, 1)) - 1


BOOLEAN = ValueType("bool", 0)

MODES = 32
"""A variable of up to so many values is a mode. With twice as many, more variables are proposed as modes, and runs are
led from value to value of them."""


@dataclass(frozen=True, slots=True)
class StateVariable:
    """One scalar of state: ``init`` is its start value (a constant), None where init leaves it open.

    ``starts`` are the values that it may start with where it is open, as inclusive ranges in rising order; () for all.
    ``role`` is ``state``, ``output`` (written for the outside; still state where it is read back),
    ``ignored`` (kept exact, but not reported nor compared with init) or ``internal`` (made by the tool).
    """

    name: str
    type: ValueType
    init: FNode | None
    next: FNode
    role: str = "state"
    low: int | None = None
    high: int | None = None
    starts: tuple[tuple[int, int], ...] = ()

    @property
    def symbol(self) -> FNode:
        return self.type.symbol(self.name)

    @property
    def start(self) -> FNode:
        """That it has a value with which it may start."""
        if self.init is not None:
            return equal(self.symbol, self.init)
        return membership(self.symbol, self.type, self.starts) if self.starts else TRUE()

    @property
    def plainest_start(self) -> int:
        """Where init leaves it open: the first value from 0 up that it may start with, raw; else the least one."""
        values = [max(low, 0) for low, high in self.starts if high >= 0] or [low for low, _ in self.starts[:1]]
        return min(values, default=0) % (1 << max(self.type.bits, 1))


@dataclass(frozen=True, slots=True)
class InputVariable:
    """One scalar input; ``values`` lists its allowed values as inclusive ranges, in rising order."""

    name: str
    type: ValueType
    values: tuple[tuple[int, int], ...] = ()

    @property
    def symbol(self) -> FNode:
        return self.type.symbol(self.name)

    @property
    def allowed(self) -> tuple[tuple[int, int], ...]:
        """The values that it may have, as inclusive ranges."""
        return self.values or ((self.type.least, self.type.greatest),)

    @property
    def count(self) -> int:
        """How many values it may have."""
        return sum(high - low + 1 for low, high in self.allowed)

    @property
    def plainest(self) -> int:
        """The first allowed value from 0 up, raw; the least one if all are negative."""
        values = [max(low, 0) for low, high in self.allowed if high >= 0] or [self.allowed[0][0]]
        return min(values) % (1 << max(self.type.bits, 1))


@dataclass(frozen=True, slots=True)
class Condition:
    """A named formula with its place in the source: an assertion, an invariant, an assumption, where undefined
    behaviour may happen."""

    name: str
    formula: FNode
    where: Location | None = None
    proved: bool = False


@dataclass(frozen=True)
class TransitionSystem:
    """A whole controller.

    ``input_constraint`` (allowed values, exclusion, assumptions; over state and inputs) and ``defined`` (no
    undefined behaviour, assumptions in the code) restrict every step. ``asserts`` never restrict: a step that
    violates one is a finding. ``undefined_behaviour`` and ``assumptions`` say where ``defined`` comes from: where
    it may happen (each formula is true of the (state, input) pairs that meet it), and what the code assumes.
    ``invariants`` hold in every reachable state; only those with ``proved`` may strengthen a claim. ``chosen`` names
    the state variables whose start value the tester may choose. ``constraints`` are the parts of the input constraint
    that have a name.
    """

    name: str
    state: tuple[StateVariable, ...]
    inputs: tuple[InputVariable, ...]
    input_constraint: FNode = field(default_factory=TRUE)
    defined: FNode = field(default_factory=TRUE)
    asserts: tuple[Condition, ...] = ()
    undefined_behaviour: tuple[Condition, ...] = ()
    assumptions: tuple[Condition, ...] = ()
    invariants: tuple[Condition, ...] = ()
    chosen: tuple[str, ...] = ()
    constraints: tuple[Condition, ...] = ()

    def variable(self, name: str) -> StateVariable | InputVariable:
        """The variable called ``name``; KeyError if there is none."""
        variables: list[StateVariable | InputVariable] = [*self.state, *self.inputs]
        for var in variables:
            if var.name == name:
                return var
        raise KeyError(name)

    @property
    def visible_state(self) -> tuple[StateVariable, ...]:
        """The state variables without those that the tool made."""
        return tuple(var for var in self.state if var.role != "internal")

    @property
    def init_formula(self) -> FNode:
        """The start states: every variable has its start value, or one of those that it may start with."""
        return conjunction(var.start for var in self.state)

    def cone(self, formulas: Iterable[FNode]) -> tuple[StateVariable, ...]:
        """The state variables on which ``formulas`` and every step's constraint depend, over any number of steps."""
        following = {var.name: var.next for var in self.state}
        roots = [*formulas, self.input_constraint, self.defined, *(inv.formula for inv in self.invariants)]
        seen: set[int] = set()
        wanted: set[str] = set()
        while roots:
            names = {node.symbol_name() for node in unseen(roots, seen) if node.is_symbol()}
            fresh = (names & following.keys()) - wanted
            wanted |= fresh
            roots = [following[name] for name in fresh]
        return tuple(var for var in self.state if var.name in wanted)


def symbols_of(formula: FNode) -> list[FNode]:
    """The symbols of a formula in a repeatable order (by name)."""
    return sorted((node for node in unseen([formula], set()) if node.is_symbol()), key=lambda s: s.symbol_name())


def conjuncts(formula: FNode) -> list[FNode]:
    """The formulas whose conjunction ``formula`` is."""
    found, todo = [], [formula]
    while todo:
        part = todo.pop()
        if part.is_and():
            todo.extend(reversed(part.args()))
        else:
            found.append(part)
    return found


def conjunction(parts: Iterable[FNode]) -> FNode:
    """And of any number of formulas, without the constants true; false as soon as one part is false."""
    kept: dict[FNode, None] = {}
    for part in parts:
        if is_false(part):
            return FALSE()
        if not is_true(part):
            kept[part] = None
    items = list(kept)
    if not items:
        return TRUE()
    return items[0] if len(items) == 1 else And(items)


def proved_invariants(system: TransitionSystem) -> FNode:
    """The invariants that may strengthen a claim."""
    return conjunction(inv.formula for inv in system.invariants if inv.proved)


def equal(symbol: FNode, value: FNode) -> FNode:
    """Equality of two formulas of one type, Boolean or bit-vector."""
    return symbol.Iff(value) if symbol.get_type().is_bool_type() else symbol.Equals(value)


def membership(symbol: FNode, kind: ValueType, ranges: Iterable[tuple[int, int]]) -> FNode:
    """That ``symbol`` has a value of its type ``kind`` in one of the inclusive ``ranges``."""
    result = FALSE()
    for low, high in ranges:
        result = either(result, between(symbol, kind, low, high))
    return result


def between(symbol: FNode, kind: ValueType, low: int, high: int) -> FNode:
    """That ``symbol`` has a value of its type ``kind`` from ``low`` to ``high``."""
    if low == high:
        return equals(symbol, constant(low, kind.bits))
    below, above = (BVSLE, BVSGE) if kind.signed else (BVULE, BVUGE)
    parts = []
    if low > kind.least:
        parts.append(above(symbol, constant(low, kind.bits)))
    if high < kind.greatest:
        parts.append(below(symbol, constant(high, kind.bits)))
    return And(parts) if len(parts) > 1 else parts[0] if parts else TRUE()


Valuation = Mapping[str, int]
"""Values of variables by name, as raw unsigned patterns (Booleans 0/1)."""


@dataclass(frozen=True, slots=True)
class Run:
    """A concrete run: ``states`` has one valuation more than ``inputs``; values are raw patterns by variable name."""

    states: tuple[Valuation, ...]
    inputs: tuple[Valuation, ...]

    @property
    def length(self) -> int:
        """Number of steps."""
        return len(self.inputs)


def with_stated_values(system: TransitionSystem) -> TransitionSystem:
    """``system``, each input with those values only that the input constraint allows it whatever all else is.

    They are read from the conjuncts that speak of one input alone, and compare it with constants. The constraint stays
    as it is.
    """
    parts: dict[str, list[FNode]] = {}
    for part in conjuncts(system.input_constraint):
        names = [symbol.symbol_name() for symbol in part.get_free_variables()]
        if len(names) == 1:
            parts.setdefault(names[0], []).append(part)
    return replace(system, inputs=tuple(_with_values(var, parts.get(var.name, ())) for var in system.inputs))


def _with_values(var: InputVariable, parts: Iterable[FNode]) -> InputVariable:
    """``var`` without the values that one of ``parts`` excludes, which speak of nothing else."""
    values: Ranges = var.values or ((var.type.least, var.type.greatest),)
    for part in parts:
        ways = [_raw_values(way, var) for way in disjuncts(part)]
        if None not in ways:
            allowed = (span for way in ways for span in way or ())
            values = common(values, joined((var.type.value(low), var.type.value(high)) for low, high in allowed))
    return replace(var, values=values) if values and values != ((var.type.least, var.type.greatest),) else var


def disjuncts(formula: FNode) -> list[FNode]:
    """The formulas of which ``formula`` says that one holds; equations with one constant only once."""
    found: dict[FNode, None] = {}
    todo = [formula]
    while todo:
        part = todo.pop()
        if part.is_or():
            todo.extend(part.args())
        else:
            found[part] = None
    return list(found)


def _raw_values(part: FNode, var: InputVariable) -> Sequence[tuple[int, int]] | None:
    """The raw patterns of ``var``, in ranges, that satisfy ``part``, which compares it with constants; None if not."""
    if part.is_equals() and var.symbol in part.args() and any(argument.is_constant() for argument in part.args()):
        value = next(argument.constant_value() for argument in part.args() if argument.is_constant())
        return [(value, value)]
    begins = borders({part: var.symbol}) if var.type.bits else None
    if begins is None:
        return None
    rising = sorted(begins)
    raw = zip(rising, [*(border - 1 for border in rising[1:]), (1 << var.type.bits) - 1], strict=True)
    holds = compile_formulas([part])
    return [(low, high) for low, high in raw if holds({var.name: low})[0]]
