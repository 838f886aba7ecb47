"""How far states are from a condition, as search-based testing measures it, for many states at once.

A comparison that does not hold is as far as its sides are apart, on a scale below 1; a conjunction adds up, a
disjunction takes the least. A *mode*, a variable of few values, is as many steps from a value as the steps between its
values that runs have shown: its own numbers tell nothing. What is not told by the state counts as fulfilled. A distance
guides a search and proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, reduce

import numpy as np
from pysmt.fnode import FNode

from bmc.evaluation.vectors import Column, Columns, Program, arguments_of, bits_of, walk
from bmc.system.transition import MODES

FAR = 64.0
"""The distance of what no run has shown a way to."""


class ModeGraph:
    """The steps between the values of variables that runs have shown: of those that were asked for and may be modes."""

    def __init__(self) -> None:
        self._steps: dict[str, set[tuple[int, int]]] = {}
        self._asked: dict[str, None] = {}
        self._wide: set[str] = set()
        self._ways: dict[tuple[str, int], dict[int, int]] = {}

    def learn(self, name: str, values: Column) -> None:
        """Take note of the steps between ``values``, by (step, run), of the variable ``name``."""
        if name not in self._asked or name in self._wide or values.dtype == object:
            return
        before, after = values[:-1].ravel(), values[1:].ravel()
        moved = before != after
        known = self._steps.setdefault(name, set())
        pairs = np.unique(np.stack([before[moved], after[moved]]), axis=1).T.tolist() if moved.any() else []
        fresh = {(before, after) for before, after in pairs} - known
        known |= fresh
        if len({value for step in known for value in step}) > MODES:
            self._wide.add(name)
        if fresh:
            self._ways = {key: ways for key, ways in self._ways.items() if key[0] != name}

    def distance(self, name: str, goal: int, values: Column) -> Column | None:
        """The steps from each of ``values`` to ``goal``; None if ``name`` is no mode."""
        self._asked[name] = None
        if name in self._wide or not self._steps.get(name):
            return None
        if (name, goal) not in self._ways:
            self._ways[name, goal] = _ways(self._steps[name], goal)
        ways = self._ways[name, goal]
        if values.dtype == np.uint8:
            table: Column = np.array([float(ways.get(value, FAR)) for value in range(256)])
            return table[values]
        different, place = np.unique(values, return_inverse=True)
        found: Column = np.array([float(ways.get(value, FAR)) for value in different.tolist()])[place]
        return found


def _ways(steps: set[tuple[int, int]], goal: int) -> dict[int, int]:
    """The least number of ``steps`` to ``goal`` from each value that leads there."""
    ways, layer, length = {goal: 0}, {goal}, 0
    while layer:
        length += 1
        layer = {before for before, after in steps if after in layer and before not in ways}
        ways.update(dict.fromkeys(layer, length))
    return ways


class BranchDistance:
    """The distances of states from ``formulas``; of ``told`` the columns are given, other symbols are not known."""

    def __init__(self, formulas: Sequence[FNode], told: Mapping[str, str], modes: ModeGraph) -> None:
        """``told`` has for each symbol that is known the name of its variable."""
        self._formulas, self._told, self._modes = formulas, told, modes

    @cached_property
    def _known(self) -> dict[FNode, None]:
        """The terms that are told by the columns, every one after what it reads."""
        known: dict[FNode, None] = {}
        for node in walk(self._formulas):
            if node.symbol_name() in self._told if node.is_symbol() else all(a in known for a in arguments_of(node)):
                known[node] = None
        return known

    @cached_property
    def _program(self) -> tuple[Program, list[FNode]]:
        """The values of known terms that a distance may ask for."""
        terms = list(self._known)
        return Program(terms), terms

    def __call__(self, columns: Columns, count: int) -> list[Column]:
        """For each formula the distance of each of ``count`` states."""
        program, terms = self._program
        values = dict(zip(terms, program(columns), strict=True))
        measure = _Measure(self._modes, self._told, values)
        return [np.broadcast_to(measure.holds(formula, True), (count,)) for formula in self._formulas]


DEEP = 100
"""Terms below terms that are looked at."""


class _Measure:
    """One evaluation: each term once for each value that it is to have."""

    def __init__(self, modes: ModeGraph, told: Mapping[str, str], values: Mapping[FNode, Column]) -> None:
        self._modes, self._told, self._values = modes, told, values
        self._found: dict[tuple[FNode, bool | int], Column] = {}

    def holds(self, node: FNode, wanted: bool, deep: int = 0) -> Column:
        """How far it is until the Boolean ``node`` is ``wanted``."""
        key = node, wanted
        if key not in self._found:
            self._found[key] = self._holds(node, wanted, deep + 1) if deep < DEEP else NEAR
        return self._found[key]

    def _holds(self, node: FNode, wanted: bool, deep: int) -> Column:
        if arguments_of(node) != tuple(node.args()):  # a comparison of floating-point numbers
            return self._told_apart(node, wanted)
        if node.is_not():
            return self.holds(node.arg(0), not wanted, deep)
        if node.is_and() or node.is_or():
            parts = [self.holds(a, wanted, deep) for a in node.args()]
            return _sum(parts) if node.is_and() == wanted else _least(parts)
        if node.is_implies():
            parts = [self.holds(node.arg(0), not wanted, deep), self.holds(node.arg(1), wanted, deep)]
            return _least(parts) if wanted else _sum(parts)
        return self._compared(node, wanted, deep)

    def _compared(self, node: FNode, wanted: bool, deep: int) -> Column:
        """How far it is until a comparison is ``wanted``: by its sides, where these are words of known values."""
        if node.is_equals() and wanted:
            left, right = node.args()
            term, value = (right, left) if left.is_bv_constant() else (left, right)
            if value.is_bv_constant():
                return self.has_value(term, int(value.constant_value()), deep)
        apart = self._told_apart(node, wanted)
        if node in self._values and len(node.args()) == 2 and all(bits_of(a) for a in node.args()):
            return np.where(apart, _scaled(*(self._number(a, node) for a in node.args())), 0.0)
        return apart

    def _told_apart(self, node: FNode, wanted: bool) -> Column:
        """1 where ``node`` is known not to be ``wanted``, else 0."""
        return NEAR if node not in self._values else (self._values[node] != wanted).astype(float)

    def has_value(self, term: FNode, value: int, deep: int) -> Column:
        """How far it is until the word ``term`` has the raw ``value``."""
        key = term, value + 2  # apart from what is true or false
        if key not in self._found:
            self._found[key] = self._has_value(term, value, deep + 1) if deep < DEEP else NEAR
        return self._found[key]

    def _has_value(self, term: FNode, value: int, deep: int) -> Column:
        if term.is_bv_constant():
            return NEAR if int(term.constant_value()) == value else np.array([FAR])
        if term.is_bv_zext():
            fits = value >> bits_of(term.arg(0)) == 0
            return self.has_value(term.arg(0), value, deep) if fits else np.array([FAR])
        if term not in self._values:
            return NEAR
        values, steps = self._values[term], None
        if term.is_symbol():
            steps = self._modes.distance(self._told[term.symbol_name()], value, values)
        apart = _scaled(values.astype(float), np.array([float(value)]))
        return np.where(values == value, 0.0, apart) if steps is None else steps

    def _number(self, term: FNode, node: FNode) -> Column:
        """The values of a word as numbers, signed where they are compared so."""
        values = self._values[term].astype(float)
        if node.is_bv_slt() or node.is_bv_sle():
            wrap = float(1 << bits_of(term))
            return np.where(values >= wrap / 2, values - wrap, values)
        return values


NEAR = np.zeros(1)


def _sum(parts: Sequence[Column]) -> Column:
    return reduce(np.add, parts)


def _least(parts: Sequence[Column]) -> Column:
    return reduce(np.minimum, parts)


def _scaled(left: Column, right: Column) -> Column:
    """How far numbers are apart, by the size of it, between 1/2 and 1."""
    apart = np.log2(2 + np.abs(left - right))
    found: Column = apart / (1 + apart)
    return found
