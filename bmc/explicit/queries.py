"""Questions about runs of a fixed number of steps, answered by search over all listed states.

The formula is read along the run: of each step what it says of the state or the input there is put in, and what is left
is remembered. What it says of one state or input alone is evaluated in arrays, once.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import product as combined

import numpy as np
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, Bool, Symbol

from bmc.explicit.input_classes import largest_terms
from bmc.explicit.product import Classes, Product
from bmc.explicit.rows import Rows
from bmc.explicit.state_graph import StateGraph
from bmc.explicit.vectors import Column, compile_columns, walk
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import plain, unframed
from bmc.system.transition import symbols_of

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
