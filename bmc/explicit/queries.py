"""Questions about runs of a fixed number of steps through enumerated states: which satisfy a formula, where they lead.

Where the runs are few they are all evaluated (``bmc.explicit.every_run``); else the formula is read along the run: of
each step what it says of the state or the input there is put in, and what is left is remembered. What it says of one
state or input alone is evaluated in arrays, once. A question whose formula speaks of nothing before the end of the run
from a source is a matter of whether the states there and those from which the formula can be satisfied meet.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property, reduce
from itertools import product as combined
from typing import Protocol

import numpy as np
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, Bool, Symbol

from bmc.explicit.every_run import EveryRun, Way
from bmc.explicit.input_classes import largest_terms
from bmc.explicit.paths import Check
from bmc.explicit.product import Classes, Product, product
from bmc.explicit.rows import Rows
from bmc.explicit.state_graph import StateGraph
from bmc.explicit.vectors import Column, compile_columns, walk
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import plain, shift, unframed
from bmc.system.transition import conjunction, symbols_of

MOST_FREE_BITS = 16
"""Bits of symbols that are no variables, of which all values are tried."""

Slot = tuple[int, bool]
"""A step, and whether it is the input there."""


class TooManyFree(Exception):
    """More symbols that are no variables than can be tried."""


class Query:
    """Watches ``formula`` (framed) over runs of ``steps`` steps of ``graph``; mask 1 tells that it is satisfied."""

    def __init__(self, graph: StateGraph, formula: FNode, steps: int) -> None:
        self.steps = steps
        order = walk([formula])
        slots = {s: self._slot(graph, s) for s in order if s.is_symbol()}
        known = {symbol: slot for symbol, slot in slots.items() if slot is not None}
        terms = {term: known[symbol] for term, symbol in largest_terms(order, {formula}, known).items()}
        stand_ins = {term: _stand_in(number, term) for number, term in enumerate(terms)}
        self._left = formula.substitute(stand_ins)
        self._at: dict[Slot, list[tuple[FNode, int]]] = {}
        read: tuple[dict[FNode, int], dict[FNode, int]] = ({}, {})
        for term, slot in terms.items():
            own = term.substitute({s: plain(s) for s in symbols_of(term)})
            place = read[slot[1]].setdefault(own, len(read[slot[1]]))
            self._at.setdefault(slot, []).append((stand_ins[term], place))
        states, self._state_values = _classes(graph.states, list(read[False]))
        inputs, self._input_values = _classes(graph.inputs, list(read[True]))
        self.classes = Classes(states, inputs)

    @staticmethod
    def _slot(graph: StateGraph, symbol: FNode) -> Slot | None:
        name, step = unframed(symbol)
        if name in graph.states.columns:
            return step, False
        return (step, True) if name in graph.inputs.columns else None

    def start(self, state_class: int) -> Sequence[tuple[Hashable, int]]:
        return self._told(0, self._read(self._left, (0, False), self._state_values[state_class]))

    def advance(self, memory: Hashable, input_class: int, state_class: int) -> Sequence[tuple[Hashable, int]]:
        assert isinstance(memory, tuple)
        step, left = memory
        if step == self.steps:
            return ()
        left = self._read(left, (step, True), self._input_values[input_class])
        return self._told(step + 1, self._read(left, (step + 1, False), self._state_values[state_class]))

    def _read(self, left: FNode, slot: Slot, values: Sequence[int]) -> FNode:
        known = {
            symbol: Bool(bool(values[place]))
            if symbol.get_type().is_bool_type()
            else BV(values[place], symbol.bv_width())
            for symbol, place in self._at.get(slot, ())
        }
        return left.substitute(known).simplify() if known else left.simplify()

    def _told(self, step: int, left: FNode) -> Sequence[tuple[Hashable, int]]:
        if left.is_false() or (step == self.steps and not _satisfiable(left)):
            return ()
        return [((step, left), int(step == self.steps))]


def run_between(
    found: Product, starts: Column | None = None, ends: Column | None = None
) -> tuple[int, list[int]] | None:
    """The state where the first run over which a query is satisfied starts, and its inputs; None if there is none.

    ``starts`` and ``ends`` (by node, None: all) tell where it may start and end.
    """
    done = found.done if ends is None else found.done[ends[found.done]]
    left = found.arrows.backward().distances(done)
    possible = left[found.starts] >= 0
    if starts is not None:
        possible &= starts[found.starts]
    first = found.starts[possible]
    if not first.size:
        return None
    node, chosen = int(first[0]), list[int]()
    while left[node]:
        places = np.arange(found.arrows.offsets[node], found.arrows.offsets[node + 1])
        place = places[np.flatnonzero(left[found.arrows.ends[places]] == left[node] - 1)[0]]
        chosen.append(int(found.choices[place]))
        node = int(found.arrows.ends[place])
    return int(found.states[first[0]]), chosen


def _stand_in(number: int, term: FNode) -> FNode:
    """A symbol for a term; the type is part of the name."""
    kind = term.get_type()
    return Symbol(f"query#{number}#{0 if kind.is_bool_type() else kind.width}", kind)


def _classes(rows: Rows, terms: Sequence[FNode]) -> tuple[Column, list[list[int]]]:
    """The class of each row by the values of ``terms``, and these values by class."""
    label = np.zeros(len(rows), np.int64)
    columns = [np.broadcast_to(column, (len(rows),)) for column in compile_columns(terms)(rows.columns)]
    for column in columns:
        _, part = np.unique(column, return_inverse=True)
        _, label = np.unique(label * (int(part.max(initial=0)) + 1) + part, return_inverse=True)
    _, first = np.unique(label, return_index=True)
    return label, [[int(column[place]) for column in columns] for place in first.tolist()]


def _satisfiable(formula: FNode) -> bool:
    """Whether some values of its symbols, which are no variables, satisfy ``formula``."""
    if formula.is_true():
        return True
    symbols = symbols_of(formula)
    widths = {s.symbol_name(): 0 if s.get_type().is_bool_type() else int(s.bv_width()) for s in symbols}
    if sum(max(bits, 1) for bits in widths.values()) > MOST_FREE_BITS:
        raise TooManyFree
    test = compile_formulas([formula])
    values = combined(*(range(1 << max(bits, 1)) for bits in widths.values()))
    return any(test(_named(widths, row))[0] for row in values)


def _named(widths: Mapping[str, int], row: Sequence[int]) -> dict[str, int]:
    return dict(zip(widths, row, strict=True))


MOST_ARROWS = 100_000_000
"""Steps between states with what is left of a formula that are kept."""


class TooManyNodes(Exception):
    """More states with what is left of a formula than may be kept."""


class Satisfied(Protocol):
    """The runs that satisfy formulas. ``size``: the bytes that are kept, about."""

    size: int

    @property
    def starts(self) -> Column:
        """Whether one starts in each state."""

    @property
    def ends(self) -> Column:
        """Whether one ends in each state."""

    def way(self, start: int | None = None, end: int | None = None) -> Way | None:
        """The first of them (that starts or ends in a state, if one is given)."""


def satisfied(runs: EveryRun, formulas: Sequence[FNode], steps: int, most: int, check: Check) -> Satisfied:
    """The runs of ``steps`` steps that satisfy all ``formulas`` (framed).

    TooManyNodes where more than ``most`` states, with what is left of the formula, would have to be looked at.
    ``check`` is called now and then and may raise.
    """
    if runs.count(steps) <= most and all(runs.knows(formula) for formula in formulas):
        return Enumerated(runs, [runs.holding(formula, steps, check) for formula in formulas], steps)
    query = Query(runs.graph, conjunction(formulas), steps)
    every = np.arange(len(runs.graph.states))
    found = product(runs.graph, query.classes, query, every, most, MOST_ARROWS, check)
    if found is None:
        raise TooManyNodes
    return Watched(found, len(every))


class Enumerated:
    """Runs by their numbers."""

    def __init__(self, runs: EveryRun, holding: Sequence[Column], steps: int) -> None:
        """``holding``: for each formula whether each run satisfies it, packed."""
        self._runs, self._steps = runs, steps
        self._which = runs.numbered(steps)
        self._bits = reduce(np.bitwise_and, holding)
        self.size = self._bits.nbytes + len(self._which.before)

    @cached_property
    def starts(self) -> Column:
        places = np.searchsorted(self._numbers(0, len(self._which.ends)), self._which.before)
        return np.asarray(places[1:] > places[:-1])

    @property
    def ends(self) -> Column:
        return _present(self._which.ends[self._numbers(0, len(self._which.ends))], len(self._which.before) - 1)

    def way(self, start: int | None = None, end: int | None = None) -> Way | None:
        if start is None and end is None:
            first = 8 * int(np.argmax(self._bits != 0)) if self._bits.size else 0
            numbers = self._numbers(first, min(first + 8, len(self._which.ends)))
        elif start is None:
            numbers = self._numbers(0, len(self._which.ends))
        else:
            numbers = self._numbers(int(self._which.before[start]), int(self._which.before[start + 1]))
        if end is not None:
            numbers = numbers[self._which.ends[numbers] == end]
        return self._runs.way(int(numbers[0]), self._steps) if numbers.size else None

    def _numbers(self, first: int, last: int) -> Column:
        """The runs from number ``first`` to before ``last``."""
        byte = first // 8
        found = np.flatnonzero(np.unpackbits(self._bits[byte : -(-last // 8)])) + 8 * byte
        return found[(found >= first) & (found < last)]


class Watched:
    """Runs through the product of the states with what is left of the formula."""

    def __init__(self, found: Product, states: int) -> None:
        self._found, self._count = found, states
        self.size = 16 * len(found.arrows.ends) + 12 * len(found.states)

    @property
    def starts(self) -> Column:
        left = self._found.arrows.backward().distances(self._found.done)
        return _present(self._found.states[self._found.starts[left[self._found.starts] >= 0]], self._count)

    @property
    def ends(self) -> Column:
        return _present(self._found.states[self._found.done], self._count)

    def way(self, start: int | None = None, end: int | None = None) -> Way | None:
        starts, ends = (None if state is None else self._found.states == state for state in (start, end))
        return run_between(self._found, starts, ends)


def _present(states: Column, count: int) -> Column:
    found = np.zeros(count, bool)
    found[states] = True
    return found


KEPT_BYTES = 500_000_000
"""Memory for what is known of formulas asked about before."""


def moved(formula: FNode, steps: int) -> tuple[FNode, int]:
    """``formula`` (framed) so much earlier that it speaks of step 0, and how much: by all ``steps`` if of none."""
    earlier = min((unframed(symbol)[1] for symbol in symbols_of(formula)), default=steps)
    return shift(formula, -earlier), earlier


class Reached:
    """The states that runs are in after each number of steps once ``source`` (framed) is satisfied."""

    def __init__(self, runs: EveryRun, source: FNode, span: int, most: int, check: Check) -> None:
        """``span``: the steps that ``source`` needs. TooManyNodes beyond ``most``; ``check`` may raise."""
        self._runs, self._span = runs, span
        self._source = satisfied(runs, [source], span, most, check)
        self._layers = [np.packbits(self._source.ends)]

    def after(self, steps: int, check: Check) -> Column:
        """Whether each state can be the one after ``steps``, which are at least ``span``."""
        while len(self._layers) <= steps - self._span:
            check()
            last = np.flatnonzero(self._unpacked(len(self._layers) - 1)).astype(np.int64)
            present = np.zeros(len(self._runs.graph.states), bool)
            present[self._runs.forward.ends[self._runs.forward.of(last)[0]]] = True
            self._layers.append(np.packbits(present))
        return self._unpacked(steps - self._span)

    def way(self, steps: int, state: int) -> Way:
        """A run from the source that is in ``state`` after ``steps``, which ``after`` told."""
        backward, choices = self._runs.backward, list[int]()
        assert backward.numbers is not None
        for place in range(steps - self._span, 0, -1):
            arrows = np.arange(backward.offsets[state], backward.offsets[state + 1])
            first = arrows[np.flatnonzero(self._unpacked(place - 1)[backward.ends[arrows]])[0]]
            choices.append(int(self._runs.graph.steps.choices[backward.numbers[first]]))
            state = int(backward.ends[first])
        found = self._source.way(end=state)
        assert found is not None
        return found[0], [*found[1], *reversed(choices)]

    def _unpacked(self, place: int) -> Column:
        return np.unpackbits(self._layers[place], count=len(self._runs.graph.states)).view(bool)


class Completions:
    """The runs that satisfy single formulas; those asked about last are kept, as many as fit."""

    def __init__(self, runs: EveryRun) -> None:
        self.runs = runs
        self._moved: dict[tuple[FNode, int], tuple[FNode, int]] = {}
        self._known: dict[tuple[FNode, int], Satisfied] = {}

    def moved(self, formula: FNode, steps: int) -> tuple[FNode, int]:
        """See ``moved``; found once for all sources."""
        key = (formula, steps)
        if key not in self._moved:
            self._moved[key] = moved(formula, steps)
        return self._moved[key]

    def of(self, formula: FNode, steps: int, most: int, check: Check) -> Satisfied:
        """The runs of ``steps`` steps; see ``satisfied``."""
        key = (formula, steps)
        found = self._known.pop(key, None) or satisfied(self.runs, [formula], steps, most, check)
        self._known[key] = found
        while len(self._known) > 1 and sum(known.size for known in self._known.values()) > KEPT_BYTES:
            del self._known[next(iter(self._known))]
        return found
