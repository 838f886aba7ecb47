"""Values drawn for an input: those that the code compares with, any others, and those that constraints allow."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np
from pysmt.fnode import FNode
from pysmt.shortcuts import BVExtract

from bmc.evaluation.vectors import Column, Columns, Program, bits_of, column
from bmc.explicit.draws import Draws
from bmc.floats.format import FORMATS
from bmc.floats.operations import outside_circuits
from bmc.floats.values import constants_in
from bmc.formulas.evaluate import unseen
from bmc.formulas.terms import COMPARISONS, is_constant
from bmc.system.transition import InputVariable, symbols_of

NEAR = 8
"""In so many draws only inputs are drawn that a constraint ties to something else, and near the last value where that
matters. With twice as many, runs keep their other inputs more often, and steps whose inputs are refused take longer."""

APART = 2
"""Constants of constraints for each input that its values are tried to differ by. There is room for three in ``NEAR``
draws, with one draw that is random."""

FEW = 16
"""An input of up to so many values takes each as often; of others mostly values that the code compares with."""

_FLOATS = {32: (np.uint32, np.float32), 64: (np.uint64, np.float64)}
"""Of floating-point formats that NumPy has: its words and its numbers."""


class Drawer:
    """Draws values of one input."""

    def __init__(self, var: InputVariable, formulas: Sequence[FNode], random: Draws) -> None:
        self.name, self._random = var.name, random
        wrap = 1 << max(var.type.bits, 1)
        self._mask = np.uint64(wrap - 1)
        spans = var.values or ((var.type.least, var.type.greatest),)
        if sum(high - low + 1 for low, high in spans) <= FEW:
            values = [value % wrap for low, high in spans for value in range(low, high + 1)]
            spans = ()
        else:
            values = _telling(var, spans, formulas, wrap)  # among them the ends of all spans
            spans = tuple((low, high) for low, high in spans if low < high) or spans
        self._spans = np.array([(low % (1 << 64), high - low) for low, high in spans], np.uint64)
        self._values = column(values, var.type.bits)
        self.rest = column([_at_rest(var) % wrap], var.type.bits)[0]
        self._floats = _FLOATS.get(var.type.bits if var.type.floating else 0)

    def draw(self, steps: int, count: int) -> Column:
        """An array of (step, run) of values."""
        shape = (steps, count)
        values: Column = self._values[self._random.below(len(self._values), shape)]
        if len(self._spans):
            span = self._spans[self._random.below(len(self._spans), shape)]
            spread = (self._random.parts(shape) * span[..., 1].astype(float)).astype(np.uint64)
            anything = ((span[..., 0] + spread) & self._mask).astype(values.dtype)
            kind = self._random.parts(shape)
            if self._floats is not None:
                anything = np.where(kind < 0.85, anything, self._between(self._floats, span, spread))
            values = np.where(kind < 0.7, values, anything)
        return values

    @staticmethod
    def _between(floats: tuple[Any, Any], span: Column, spread: Column) -> Column:
        """Floating-point numbers in each ``span`` of patterns, as far from its ends as patterns ``spread`` tell."""
        word, number = floats
        low, high = ((span[..., 0] + by).astype(word).view(number).astype(float) for by in (0, span[..., 1]))
        part = spread / np.maximum(span[..., 1], 1).astype(float)
        with np.errstate(all="ignore"):
            found = (low * (1 - part) + high * part).astype(number)
        patterns = (span[..., 0] + spread).astype(word)
        return np.where(np.isfinite(low) & np.isfinite(high), found.view(word), patterns)

    def after(self, by: int) -> Callable[[Column], Column]:
        """What gives the values that come so much after others."""

        def values(last: Column) -> Column:
            found: Column = ((last.astype(np.uint64) + np.uint64(by)) & self._mask).astype(self._values.dtype)
            return found

        return values

    def near(self, last: Column, down: Column, apart: Sequence[int]) -> Column:
        """For each run ``NEAR`` values below its ``last`` one where ``down``, else above; the last time this one.

        The smaller the distance, the more often it is drawn. Before the last one come those that are ``apart`` from it
        by so much, then on its other side.
        """
        shape = (NEAR, len(last))
        if self._values.dtype == bool or self._values.dtype == object:
            return np.broadcast_to(last, shape)
        bits = int(self._mask).bit_length()
        by = np.exp2(self._random.parts(shape) * bits).astype(np.uint64)
        by[-1] = 0
        before = last.astype(np.uint64)
        for place, distance in enumerate(apart):  # modulo 2 ** 64 as all that is here
            by[-2 - 2 * place], by[-3 - 2 * place] = (1 << 64) - distance, distance
        found: Column = (np.where(down, before - by, before + by) & self._mask).astype(self._values.dtype)
        return found


def _at_rest(var: InputVariable) -> int:
    """0 if that is allowed, else the least value that is."""
    spans = var.values or ((0, 0),)
    return 0 if any(low <= 0 <= high for low, high in spans) else spans[0][0]


def read_with(conditions: Iterable[FNode], names: Collection[str]) -> dict[str, tuple[int, ...]]:
    """The inputs of these ``names`` that one of ``conditions`` ties to something else, each with constants of them.

    These are the least that are neither 0 nor 1 in the conditions that tie it: by one of them it may differ from what
    it is tied to.
    """
    found: dict[str, set[int]] = {}
    for condition in conditions:
        symbols = symbols_of(condition)
        for symbol in symbols if len(symbols) > 1 else ():
            if symbol.symbol_name() in names:
                bits = bits_of(symbol)
                words = (n for n in unseen([condition], set()) if n.is_bv_constant() and n.bv_width() == bits)
                found.setdefault(symbol.symbol_name(), set()).update(int(node.constant_value()) for node in words)
    return {name: tuple(sorted(found[name] - {0, 1})[:APART]) for name in found}


def following(conditions: Iterable[FNode]) -> set[str]:
    """The variables that one of ``conditions`` sets equal to something that is no constant."""
    equal = (node for node in unseen(list(conditions), set()) if node.is_equals())
    sides = ((side, other) for node in equal for side, other in (node.args(), node.args()[::-1]))
    return {side.symbol_name() for side, other in sides if side.is_symbol() and not is_constant(other)}


def _telling(var: InputVariable, spans: Sequence[tuple[int, int]], formulas: Sequence[FNode], wrap: int) -> list[int]:
    """Values, raw, at which the code may change its mind: constants of ``formulas``, what lies beside them, bounds."""
    near: set[int] = {0, 1}
    if var.type.floating:
        near |= set(constants_in(formulas, FORMATS[var.type.bits]))
    else:
        constants = (node for node in unseen(formulas, set()) if node.is_bv_constant())
        near |= {var.type.value(int(node.constant_value()) % wrap) for node in constants}
    near |= {bound for span in spans for bound in span}
    near = {value + by for value in near for by in (-1, 0, 1)}
    rising = sorted(spans)
    at = ((value, bisect_right(rising, (value, inf)) - 1) for value in near)
    return sorted({value % wrap for value, place in at if place >= 0 and value <= rising[place][1]})


READ = 200
"""Terms of one comparison that are looked at."""


def compared(formulas: Sequence[FNode]) -> dict[str, list[FNode]]:
    """For each variable the constants in comparisons of words that read it, framed or not, but for their conditions."""
    found: dict[str, dict[FNode, None]] = {}
    read: dict[tuple[FNode, ...], list[str]] = {}
    for node in outside_circuits(formulas):
        if node.node_type() not in COMPARISONS:
            continue
        sides = tuple(side for side in node.args() if not is_constant(side))
        terms = list(node.args()) if sides in read else _words_below(node)
        if sides not in read:
            read[sides] = [t.symbol_name().partition("@")[0] for t in terms if t.is_symbol()]
        for name in read[sides]:
            found.setdefault(name, {}).update(dict.fromkeys(t for t in terms if t.is_bv_constant()))
    return {name: list(constants) for name, constants in found.items() if constants}


def _words_below(node: FNode) -> list[FNode]:
    """The words that ``node`` is made of, but for those in conditions; further ones than ``READ`` are left out."""
    terms = list(node.args())
    for term in terms:  # which grows meanwhile
        if len(terms) < READ and not term.is_symbol():
            terms += [a for a in term.args() if bits_of(a)]
    return terms


MOST_MET = 16
"""Terms that inputs are made equal to. To look at more takes longer than a step of a large program: then there are
none."""

FREE = -1
"""The number of no term: an input is not always equal to one."""


class Meeting:
    """Inputs that runs keep equal to what the code compares them with: a checksum, the next number of a sequence, or a
    second sensor that has to agree with the first one. At random such values are hardly ever drawn, and what lies
    behind the comparison is never seen.

    The terms are those with which ``formulas`` (over plain symbols) compare the inputs ``names``, by number.
    """

    def __init__(self, formulas: Iterable[FNode], names: Collection[str]) -> None:
        found = in_order(compared_with(formulas, names))
        self._terms = [(name, Program([term])) for name, term in found] if len(found) <= MOST_MET else []
        self._of = {name: [n for n, (other, _) in enumerate(self._terms) if other == name] for name, _ in self._terms}

    def drawn(self, random: Draws, count: int) -> dict[str, Column]:
        """For each input and each of ``count`` runs the number of the term that it is always equal to: in half of the
        runs ``FREE``."""
        found = {}
        for name, numbers in self._of.items():
            among = np.array([*numbers, *([FREE] * len(numbers))])
            found[name] = among[random.below(len(among), count)]
        return found

    def meet(
        self,
        now: Columns,
        drawn: dict[str, Column],
        meets: Mapping[str, Column],
        changing: Callable[[str], Column],
    ) -> None:
        """Make the inputs ``drawn`` for a step equal to their terms in the states ``now``: always where ``meets`` names
        the term; where it is ``FREE``, in the runs in which the input of that name is ``changing``."""
        columns = {**now, **drawn}  # which sees what is written into the columns of ``drawn``
        for number, (name, program) in enumerate(self._terms):
            own = program(columns)[0]
            free = (meets[name] == FREE) & changing(name)
            np.copyto(drawn[name], own.astype(drawn[name].dtype), where=(meets[name] == number) | free)


def compared_with(formulas: Iterable[FNode], names: Collection[str]) -> dict[tuple[str, FNode], set[str]]:
    """Inputs with terms that make both sides of a comparison equal, up to ``NEAR`` for each input; with each the inputs
    that the term reads, of which the input itself is none."""
    found: dict[tuple[str, FNode], set[str]] = {}
    for node in unseen(list(formulas), set()):
        for side, other in _sides(node) if node.node_type() in COMPARISONS else ():
            word = side.arg(0) if side.is_bv_zext() or side.is_bv_sext() else side
            name = word.symbol_name() if word.is_symbol() else ""
            if name not in names or is_constant(other) or word.bv_width() < 2:
                continue
            read = {symbol.symbol_name() for symbol in symbols_of(other)}
            if name not in read and sum(each == name for each, _ in found) < NEAR:
                term = other if word is side else BVExtract(other, 0, word.bv_width() - 1)
                found[name, term] = read & {*names}
    return found


def in_order(found: Mapping[tuple[str, FNode], set[str]]) -> list[tuple[str, FNode]]:
    """What was ``found``, those first that are read for others."""
    left, ordered = dict(found), list[tuple[str, FNode]]()
    while left:
        waiting = {name for name, _ in left}
        free = [each for each, read in left.items() if not read & waiting] or [*left]
        ordered += free
        for each in free:
            del left[each]
    return ordered


def _sides(comparison: FNode) -> Iterator[tuple[FNode, FNode]]:
    """Terms that a comparison tells apart: its sides, each with the other one, and those of a difference."""
    one, other = comparison.args()
    yield from ((one, other), (other, one))
    for side in (one, other):
        if side.is_bv_sub():
            yield from (side.args(), side.args()[::-1])
