"""Sets of values that the state variables of a system never leave, found without a solver.

The sets are those of raw patterns (``bmc.analysis.values``). Spans are the same in the order of a variable's values: a
mode kept in a double is 0.0, 1.0 or 2.0, a limited sum lies in its limits. A variable that leaves its start value may
never have it again: a latch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import count

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.analysis.constants import raw_value
from bmc.analysis.values import Known, narrowed, sets_of
from bmc.floats.format import FORMATS, Format, is_nan, number
from bmc.floats.operations import Program
from bmc.floats.ranges import between, values_in
from bmc.floats.values import constants_in
from bmc.formulas.evaluate import post_order, unseen
from bmc.formulas.value_sets import NEVER, Ranges, common, united, whole, without
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType

ROUNDS = 12
"""Times that a set may grow before it becomes that of all values."""
EXACT_ROUNDS = 3
"""After so many rounds a span that grows does so up to the next constant in the program."""
FLOAT_ROUNDS = 5
"""The same for floating variables."""
FEW = 8
"""A floating variable with up to so many spans of values is followed from each of them alone."""

Sets = Mapping[str, Ranges]
"""Raw patterns by name."""
Span = tuple[int, int]
"""The least and the greatest of neighbouring values: numbers, or of a floating type their patterns."""


def state_values(system: TransitionSystem, stop: Callable[[], bool] = lambda: False) -> Sets | None:
    """Patterns of the state variables that hold in every start state and again after every allowed step.

    Those of floating variables have both zeros where there is one, and every NaN. None if ``stop``, asked after each
    round, says that it is time to end.
    """
    nexts = (*(var.next for var in system.state), system.defined)
    now = start_values(system)
    inputs = input_values(system)
    ends = _Ends(system)
    for round_number in count():
        box = {**now, **inputs}
        after = _from_each(system, box, _after(system, nexts, box))
        grown = {v.name: _closed(v, [*now[v.name], *after[v.name]]) for v in system.state}
        if grown == now:
            return now
        if stop():
            return None
        for var in system.state:
            name = var.name
            if grown[name] == now[name]:
                continue
            if round_number >= ROUNDS - 1:
                grown[name] = whole(var.type.bits)
            elif round_number >= (FLOAT_ROUNDS if var.type.floating else EXACT_ROUNDS):
                last = var.type.floating and round_number == ROUNDS - 2
                grown[name] = _widened(var, grown[name], now[name], ends.last(var.type) if last else ends.of(var.type))
        now = grown
    raise AssertionError("without an end")


def every_step(system: TransitionSystem) -> TransitionSystem:
    """``system`` with steps that are not allowed, or undefined, taken as well: its sets hold after these too."""
    return replace(system, defined=TRUE(), input_constraint=TRUE())


def values_of(formulas: Sequence[FNode], system: TransitionSystem, sets: Sets) -> list[Ranges]:
    """The sets of ``formulas`` (plain) in all states within ``sets``, for all allowed values of inputs."""
    return sets_of(Program(formulas), {**sets, **input_values(system)}, _KNOWN)


def input_values(system: TransitionSystem) -> Sets:
    """The allowed patterns of the inputs, each by itself."""
    return {var.name: united(raw_ranges(var)) for var in system.inputs}


def start_values(system: TransitionSystem) -> Sets:
    """The patterns of the state variables in start states, each by itself."""
    return {var.name: _start(var) for var in system.state}


def raw_ranges(var: InputVariable) -> Ranges:
    """The allowed values as rising ranges over raw patterns."""
    size = 1 << max(var.type.bits, 1)
    found: list[tuple[int, int]] = []
    for low, high in var.values:
        first, last = low % size, high % size
        found += [(first, last)] if first <= last else [(first, size - 1), (0, last)]
    return tuple(sorted(found)) if found else whole(var.type.bits)


def spans_of(var: StateVariable, ranges: Iterable[tuple[int, int]]) -> tuple[Span, ...]:
    """The values of ``var`` with raw patterns in the inclusive ``ranges``, as few rising spans.

    Of a floating type with both zeros where there is one, and NaN (one stands for all) as the last.
    """
    parts = _numbers(ranges, FORMATS[var.type.bits]) if var.type.floating else _integers(var, ranges)
    joined: list[Span] = []
    nan = False
    for low, high in parts:
        if var.type.floating and is_nan(low, FORMATS[var.type.bits]):
            nan = True
        elif joined and _touches(var.type, joined[-1][1], low):
            joined[-1] = (joined[-1][0], max(joined[-1][1], high, key=lambda value: in_order(var.type, value)))
        else:
            joined.append((low, high))
    return (*joined, *([(FORMATS[var.type.bits].nan,) * 2] if nan else []))


def patterns_of(var: StateVariable, spans: Iterable[Span]) -> tuple[tuple[int, int], ...]:
    """The raw patterns of the values in ``spans``, as inclusive ranges; of NaN every one."""
    size = 1 << max(var.type.bits, 1)
    found: list[tuple[int, int]] = []
    for low, high in spans:
        if var.type.floating:
            form = FORMATS[var.type.bits]
            found += _all_nans(form) if is_nan(low, form) else between(low, high, form)
        else:
            found += [(low % size, high % size)] if low % size <= high % size else [(low % size, size - 1), (0, high)]
    return tuple(found)


def in_order(kind: ValueType, value: int) -> float:
    """The number that a value of a span stands for."""
    return number(value, FORMATS[kind.bits]) if kind.floating else value


def _integers(var: StateVariable, ranges: Iterable[tuple[int, int]]) -> list[Span]:
    half, size = var.type.greatest + 1, 1 << max(var.type.bits, 1)
    if not var.type.signed or not var.type.bits:
        return sorted(ranges)
    found = []
    for low, high in ranges:
        found += [(low, min(high, half - 1))] if low < half else []
        found += [(max(low, half) - size, high - size)] if high >= half else []
    return sorted(found)


def _numbers(ranges: Iterable[tuple[int, int]], form: Format) -> list[Span]:
    """Spans of numbers, rising, and NaN last."""
    found, nan = [], False
    for low, high in ranges:
        nan = nan or any(max(low, first) <= min(high, last) for first, last in _all_nans(form))
        for least, greatest in values_in([(low, high)], form):
            if not is_nan(least, form):
                ends = (greatest, least) if least >= form.sign else (least, greatest)
                found.append((ends[0] % form.sign and ends[0], ends[1] % form.sign and ends[1]))
    return [*sorted(found, key=lambda span: number(span[0], form)), *([(form.nan, form.nan)] if nan else [])]


def _all_nans(form: Format) -> tuple[tuple[int, int], tuple[int, int]]:
    return (form.infinity + 1, form.sign - 1), ((form.sign | form.infinity) + 1, 2 * form.sign - 1)


def _touches(kind: ValueType, before: int, after: int) -> bool:
    """Whether a span that begins with ``after`` goes on where one up to ``before`` ends."""
    if kind.floating:
        return in_order(kind, after) <= in_order(kind, before)
    return after <= before + 1


def _start(var: StateVariable) -> Ranges:
    if var.init is not None:
        return _closed(var, [(raw_value(var.init), raw_value(var.init))])
    if not var.starts:
        return whole(var.type.bits)
    return _closed(var, var.starts if var.type.floating else patterns_of(var, var.starts))


@lru_cache(maxsize=32)
def _program(formulas: tuple[FNode, ...]) -> tuple[Program, frozenset[str]]:
    """The program of ``formulas``, and the names that it reads."""
    program = Program(formulas)
    return program, frozenset(i.node.symbol_name() for i in program.instructions if i.node.is_symbol())


@lru_cache(maxsize=512)
def _known_sets(formulas: tuple[FNode, ...], box: tuple[tuple[str, Ranges], ...]) -> tuple[Ranges, ...]:
    return tuple(sets_of(_program(formulas)[0], dict(box), _KNOWN))


_KNOWN = Known()
"""From one round to the next only some variables have other sets; slices of one system have formulas in common."""


def _sets_of(formulas: tuple[FNode, ...], box: Sets) -> tuple[Ranges, ...]:
    """The sets of ``formulas``: kept, since rounds and slices of one system ask for the same ones."""
    read = _program(formulas)[1]
    return _known_sets(formulas, tuple((name, ranges) for name, ranges in sorted(box.items()) if name in read))


def _after(system: TransitionSystem, nexts: tuple[FNode, ...], box: Sets) -> Sets:
    """Patterns after an allowed step from ``box``; none where there is no such step."""
    here: dict[str, Ranges] | None = dict(box)
    for condition in (system.input_constraint, system.defined):
        here = None if here is None else narrowed(condition, here)
    if here is None:
        return {var.name: () for var in system.state}
    *found, defined = _sets_of(nexts, here)
    return {var.name: () if defined == NEVER else s for var, s in zip(system.state, found, strict=True)}


def _from_each(system: TransitionSystem, box: Sets, after: Sets) -> Sets:
    """``after`` with fewer patterns of the floating variables that have few values in ``box``.

    From each of these alone it is often told which way the step goes: ``mode < 2.0 ? mode + 1.0 : mode``.
    """
    found = dict(after)
    for var in system.state:
        spans = spans_of(var, box[var.name]) if var.type.floating else ()
        if 1 < len(spans) <= FEW and after[var.name]:
            parts = [{**box, var.name: _closed(var, patterns_of(var, [span]))} for span in spans]
            ways = [r for part in parts for r in _sets_of((var.next,), part)[0]]
            found[var.name] = common(after[var.name], united(ways))
    return found


def _closed(var: StateVariable, ranges: Iterable[tuple[int, int]]) -> Ranges:
    """``ranges`` with all patterns of the values in it."""
    closed = united(ranges)
    while var.type.floating:
        again = united([*closed, *patterns_of(var, spans_of(var, closed))])
        if again == closed:
            break
        closed = again
    return closed


def _widened(var: StateVariable, grown: Ranges, before: Ranges, ends: Sequence[int]) -> Ranges:
    """``grown``, each new end of a span moved on to the next of ``ends`` (values)."""

    def key(value: int) -> float:
        return in_order(var.type, value)

    known = spans_of(var, before)
    lows, highs = {low for low, _ in known}, {high for _, high in known}
    spans = []
    for low, high in spans_of(var, grown):
        if not (var.type.floating and is_nan(low, FORMATS[var.type.bits])):
            low = low if low in lows else max((e for e in ends if key(e) <= key(low)), key=key)
            high = high if high in highs else min((e for e in ends if key(e) >= key(high)), key=key)
        spans.append((low, high))
    return _closed(var, [*grown, *patterns_of(var, spans)])


class _Ends:
    """Values at which a span may end: the program's constants, those beside them, the least and the greatest.

    For floating variables also the ends of the inputs: a mean of inputs lies between them. An unsigned variable may
    hold small negative numbers of a signed expression: there powers of two count too.
    """

    def __init__(self, system: TransitionSystem) -> None:
        self._nexts = [var.next for var in system.state]
        constants = [node for node in unseen(self._nexts, set()) if node.is_bv_constant()]
        self._raw = sorted({(int(node.constant_value()), int(node.bv_width())) for node in constants})
        self._inputs = [var for var in system.inputs if var.type.floating]
        self._known: dict[ValueType, tuple[int, ...]] = {}

    def last(self, kind: ValueType) -> tuple[int, int]:
        """The infinities of a floating type."""
        form = FORMATS[kind.bits]
        return form.sign | form.infinity, form.infinity

    def of(self, kind: ValueType) -> tuple[int, ...]:
        """Those of one type."""
        if kind not in self._known:
            self._known[kind] = self._floating(kind) if kind.floating else self._whole(kind)
        return self._known[kind]

    def _whole(self, kind: ValueType) -> tuple[int, ...]:
        numbers = {n for raw, bits in self._raw for n in (raw, raw - (1 << bits) if raw >> (bits - 1) else raw)}
        size = 1 << max(kind.bits, 1)
        near = {kind.value((n + by) % size) for n in numbers if abs(n) < size for by in (-1, 0, 1)}
        if not kind.signed:
            near |= {size - (1 << power) for power in range(min(kind.bits, FEW))}
        return tuple(sorted({kind.least, kind.greatest, *(n for n in near if kind.least < n < kind.greatest)}))

    def _floating(self, kind: ValueType) -> tuple[int, ...]:
        form = FORMATS[kind.bits]
        of_inputs = [end for var in self._inputs if var.type.bits == kind.bits for span in var.values for end in span]
        every = {0, form.infinity, *constants_in(self._nexts, form), *of_inputs}
        return tuple(sorted(every | {raw ^ form.sign for raw in every}))


LATCH_NODES = 200_000
"""Nodes of formulas that are looked at, two times, before further variables are no longer looked at as latches."""


def latches(system: TransitionSystem, names: Collection[str]) -> Mapping[str, bool]:
    """Those of the state variables ``names`` that, once they have another value, never have their start value again.

    A step from all other values in the proved ranges of the state leads to such values again, whatever the inputs are
    and whether or not it is defined. True: the first step of every run leaves the start value. Some may be missed.
    """
    free = every_step(system)
    sets = state_values(free)
    assert sets is not None
    starts = {v.name: raw_value(v.init) for v in system.state if v.init is not None}
    found = {}
    left = LATCH_NODES
    for var in system.state:
        if var.name not in names or var.name not in starts:
            continue
        left -= len(post_order([var.next]))
        if left < 0:
            break
        start = ((starts[var.name],) * 2,)
        others = common(sets[var.name], without(starts[var.name], var.type.bits))
        if others and not any(common(_values_after(free, var, {**sets, var.name: (part,)}), start) for part in others):
            first = {**sets, **{name: ((raw, raw),) for name, raw in starts.items()}}
            found[var.name] = not common(_values_after(free, var, first), start)
    return found


def _values_after(system: TransitionSystem, var: StateVariable, sets: Sets) -> Ranges:
    """The values of ``var`` after a step from the states within ``sets``."""
    return values_of([var.next], system, sets)[0]
