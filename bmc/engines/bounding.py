"""Sets of the values in all runs of a floating-point system, and combinations of alternatives that they leave possible.

Sets pass forward through the steps. Where alternatives are asked about together (goals at any steps, say), one after
the other is assumed and the sets are found again, until they are empty or no disjunction is left: branch and prune, as
in L. Granvilliers, F. Benhamou: RealPaver, ACM TOMS 32 (2006).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import pysmt.operators as op
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVULE, And, Or

from bmc.analysis.state_values import input_values
from bmc.analysis.values import Box, Evaluation, narrowed, sets_of
from bmc.floats.format import FORMATS
from bmc.floats.operations import Program
from bmc.floats.ranges import KEPT, cut
from bmc.formulas.unroll import at, framed, unframed
from bmc.formulas.value_sets import NEVER, Ranges, common, united, whole, width_of
from bmc.system.transition import StateVariable, TransitionSystem, conjunction, proved_invariants, symbols_of


def name_at(name: str, step: int) -> str:
    """The name of the symbol ``name`` placed at ``step``."""
    return f"{name}@{step}"


Known = dict[str, Ranges] | None
"""Sets of framed symbols; None: no run has any values."""

PIECES = 4
"""A set of numbers that a step reads more than once is cut into so many, where the whole one refutes nothing."""


COPIES = 100
"""Sets that are copied in the time in which one is found."""


Surroundings = tuple[tuple[Ranges | None, ...], tuple[Ranges | None, ...]]
"""The sets of state and inputs before a step, and those of the state after it, as far as they are known."""


class _Formula:
    """What sets of its symbols' values tell of a formula; answers are kept."""

    def __init__(self, formula: FNode) -> None:
        self._formula = formula
        self._names = tuple(symbol.symbol_name() for symbol in symbols_of(formula))
        self._never: dict[tuple[Ranges | None, ...], bool] = {}
        self._narrowed: dict[tuple[Ranges | None, ...], dict[str, Ranges] | None] = {}

    @cached_property
    def _program(self) -> Program:
        return Program([self._formula])

    def __len__(self) -> int:
        """How many sets it takes to find that of the formula."""
        return len(self._program.instructions)

    def never(self, box: Box) -> bool:
        """Whether the sets of ``box`` show that the formula does not hold."""
        key = tuple(box.get(name) for name in self._names)
        if key not in self._never:
            _make_room(self._never)
            self._never[key] = sets_of(self._program, box) == [NEVER]
        return self._never[key]

    def narrowed(self, box: Box) -> dict[str, Ranges] | None:
        """``box`` without values for which the formula cannot hold; see there."""
        key = tuple(box.get(name) for name in self._names)
        if key not in self._narrowed:
            _make_room(self._narrowed)
            known = {name: ranges for name, ranges in zip(self._names, key, strict=True) if ranges is not None}
            self._narrowed[key] = narrowed(self._formula, known)
        found = self._narrowed[key]
        return None if found is None else {**box, **found}


def _make_room(kept: dict[Any, Any]) -> None:
    """Forget all answers where there are too many."""
    if len(kept) >= KEPT:
        kept.clear()


class Leaf(NamedTuple):
    """A combination of alternatives that sets do not refute: ``chosen`` of them, ``formulas`` in all, ``box``."""

    chosen: tuple[FNode, ...]
    formulas: tuple[FNode, ...]
    box: Box


class Bounding:
    """Sets of the values at each step of all runs of ``system`` that begin as ``source`` (framed) says.

    ``made``: how many sets were found so far.
    """

    def __init__(self, system: TransitionSystem, source: FNode) -> None:
        self._system = system
        self._proved = proved_invariants(system)
        self._source = conjunction([source, at(self._proved, 0)])
        self._program = Program([*(var.next for var in system.state), system.input_constraint, system.defined])
        self.made = 0
        self._formulas: dict[FNode, _Formula] = {}
        self._names = [*(var.name for var in system.state), *(var.name for var in system.inputs)]
        self._inputs = input_values(system)
        self._known: dict[int, Known] = {}
        self._arrived: list[Known] = []
        self._passed: list[dict[str, Ranges]] = []
        self._steps: dict[Surroundings, tuple[list[Ranges] | None, int]] = {}

    @cached_property
    def _read_often(self) -> list[StateVariable]:
        return [var for var in self._system.state if var.type.floating and self._reads(var) > 1]

    @cached_property
    def _source_at_once(self) -> bool:
        """Whether the source speaks of the first state only."""
        return all(unframed(symbol)[1] == 0 for symbol in symbols_of(self._source))

    def _reads(self, var: StateVariable) -> int:
        """How often the step reads ``var``."""
        instructions = self._program.instructions
        place = self._program.places.get(var.symbol)
        return sum(instruction.arguments.count(place) for instruction in instructions) if place is not None else 0

    def sets(self, formulas: Sequence[FNode], steps: int, finely: bool = False) -> dict[str, Ranges] | None:
        """Sets of the framed symbols in all runs of ``steps`` valid steps with ``formulas``; None: there are none.

        ``finely``: sets of numbers are cut into pieces, which takes several times as long.
        """
        asked = [unframed(symbol)[1] for formula in formulas for symbol in symbols_of(formula)]
        begun, box = self._before(min(asked, default=steps + 1) - 1)  # the steps before are as in all runs
        box = self._with_inputs(box, range(begun, steps))
        for formula in formulas if begun else (self._source, *formulas):
            box = self._narrowed(formula, box)
        for step in range(begun, steps):
            box = self._next(box, step, finely)
        if box is None or self._never([self._source, *formulas], box):
            return None
        for formula in formulas:
            box = self._narrowed(formula, box)
        return box

    def refuted(self, formulas: Sequence[FNode], steps: int) -> tuple[tuple[FNode, ...] | None, Box]:
        """Those of ``formulas`` that, together, no run of ``steps`` valid steps satisfies; None if nothing is known.

        Then also sets of the framed symbols in all runs that do. ``steps`` are enough for source and formulas.
        """
        box = self._in_all_runs(steps)
        if box is None:
            return (), {}
        for formula in formulas:
            if not self._possible(formula, box):
                return (formula,), {}
        found = self.sets(formulas, steps) if formulas else box
        return (tuple(formulas), {}) if found is None else (None, found)

    def facts(self, steps: int) -> list[FNode]:
        """What sets say of single values of the state in all runs of ``steps`` valid steps."""
        box = self._in_all_runs(steps) or {}
        words = [var for var in self._system.state if var.type.bits]
        places = [(framed(var.symbol, step), name_at(var.name, step)) for var in words for step in range(steps + 1)]
        return [_within(symbol, box[name]) for symbol, name in places if name in box]

    def leaves(self, formulas: Sequence[FNode], steps: int, most: int) -> tuple[list[Leaf], bool]:
        """The combinations of alternatives in ``formulas`` that may be satisfied by a run of ``steps`` valid steps.

        One disjunction after the other is replaced by each of its alternatives, the one with the fewest first. False:
        these are not all, for that takes more than ``most`` sets.
        """
        end = self.made + most
        found: list[Leaf] = []
        todo: list[tuple[tuple[FNode, ...], list[FNode], list[FNode]]] = [((), *_parted(formulas))]
        while todo:
            if self.made > end:
                return found, False
            chosen, fixed, either = todo.pop()
            box = self.sets(fixed, steps)
            if box is None:
                continue
            open_ones = [(one, [part for part in one.args() if self._possible(part, box)]) for one in either]
            if not open_ones:
                box = self.sets(fixed, steps, finely=True)
                if box is not None:
                    found.append(Leaf(chosen, tuple(fixed), box))
                continue
            first, parts = min(open_ones, key=lambda each: len(each[1]))
            rest = [one for one in either if one is not first]
            for part in reversed(parts):
                more, inner = _parted([part])
                todo.append(((*chosen, part), [*fixed, *more], [*rest, *inner]))
        return found, True

    def _possible(self, formula: FNode, box: Box) -> bool:
        """Whether the sets of ``box`` leave it possible that ``formula`` holds."""
        return self._narrowed(formula, box) is not None and not self._never([formula], box)

    def _never(self, formulas: Sequence[FNode], box: Box) -> bool:
        """Whether the sets of ``box`` show that one of ``formulas`` does not hold."""
        for formula in formulas:
            known = self._known_of(formula)
            self.made += len(known)
            if known.never(box):
                return True
        return False

    def _known_of(self, formula: FNode) -> _Formula:
        if formula not in self._formulas:
            self._formulas[formula] = _Formula(formula)
        return self._formulas[formula]

    def _narrowed(self, formula: FNode, box: Box | None) -> Known:
        return None if box is None else self._known_of(formula).narrowed(box)

    def _in_all_runs(self, steps: int) -> Known:
        """Sets of the framed symbols in all runs of ``steps`` valid steps; those for the last ``steps`` are kept."""
        if steps not in self._known:
            self._known = {steps: self.sets([], steps)}
        return self._known[steps]

    def _before(self, steps: int) -> tuple[int, Known]:
        """So many steps, up to ``steps``, begin alike whatever is asked of later ones; and the sets for these.

        ``_arrived`` has the sets of each state in all runs that get there, ``_passed`` those of state and inputs in all
        runs that take one more step.
        """
        if steps < 1 or not self._source_at_once:
            return 0, {}
        if not self._arrived:
            self._arrived.append(self._narrowed(self._source, {}))
        while len(self._arrived) <= steps:
            self._arrive()
        arrived = self._arrived[steps]
        if arrived is None:
            return steps, None
        self.made += steps * len(self._names) // COPIES
        return steps, {name: ranges for step in (*self._passed[:steps], arrived) for name, ranges in step.items()}

    def _arrive(self) -> None:
        """Find the sets of the states in all runs of one step more than so far."""
        done = len(self._passed)
        box = self._next(self._with_inputs(self._arrived[done], range(done, done + 1)), done)
        now = {name_at(name, done) for name in self._names}
        self._passed.append({name: ranges for name, ranges in (box or {}).items() if name in now})
        self._arrived.append(None if box is None else {n: ranges for n, ranges in box.items() if n not in now})

    def _with_inputs(self, box: Known, steps: range) -> Known:
        """``box`` with the values that the inputs may take in ``steps``."""
        if box is None:
            return None
        return box | {name_at(name, step): ranges for name, ranges in self._inputs.items() for step in steps}

    def _next(self, box: Known, step: int, finely: bool = False) -> Known:
        """``box`` with what the step number ``step`` tells of the states around it."""
        if box is None:
            return None
        here = self._narrowed(self._system.defined, self._narrowed(self._system.input_constraint, self._at(box, step)))
        after = None if here is None else self._successors(here, box, step)
        if here is None or after is None:
            return None
        for var in self._read_often if finely else ():
            after = self._by_pieces(var, after, here, box, step)
            if after is None:
                return None
        found = {**box, **_placed(here, step)}
        for var, ranges in zip(self._system.state, after, strict=True):
            if ranges != whole(width_of(var.symbol)):
                found[name_at(var.name, step + 1)] = united(ranges)
        kept = self._narrowed(self._proved, self._at(found, step + 1))
        return None if kept is None else {**found, **_placed(kept, step + 1)}

    def _at(self, box: Box, step: int) -> dict[str, Ranges]:
        """The sets of state and inputs at ``step``, by the names of the variables."""
        places = ((name, name_at(name, step)) for name in self._names)
        return {name: box[place] for name, place in places if place in box}

    def _successors(self, here: Box, box: Box, step: int) -> list[Ranges] | None:
        """The sets of the state variables after ``step``, before which values lie in ``here``; None if there are none.

        What ``box`` knows of the values after the step tells which branches the step takes.
        """
        before = tuple(here.get(name) for name in self._names)
        wanted = tuple(box.get(name_at(var.name, step + 1)) for var in self._system.state)
        if (before, wanted) not in self._steps:
            _make_room(self._steps)
            self._steps[before, wanted] = self._after(here, wanted)
        after, made = self._steps[before, wanted]
        self.made += made
        return after

    def _after(self, here: Box, wanted: Sequence[Ranges | None]) -> tuple[list[Ranges] | None, int]:
        """The sets of the state variables after a step from ``here`` into ``wanted``; and how many sets were found."""
        values = Evaluation(self._program, here)
        made = len(values.found)
        places = self._program.results
        *_, constraint, defined = (values.found[place] for place in places)
        if NEVER in (constraint, defined):
            return None, made
        known = {}
        for place, asked in zip(places, wanted, strict=False):
            kept = values.found[place] if asked is None else common(asked, values.found[place])
            if not kept:
                return None, made
            if kept != values.found[place]:
                known[place] = kept
        ways = values.ways(known) if known else [values.found]
        made += len(ways) * len(values.found) if known else 0
        after = [united(piece for way in ways for piece in way[place]) for place in places[:-2]]
        return (after if ways else None), made

    def _by_pieces(
        self, var: StateVariable, after: Sequence[Ranges], here: Box, box: Box, step: int
    ) -> list[Ranges] | None:
        """``after`` without what no piece of the numbers of ``var`` before the step leads to; None if none leads on."""
        parts = cut(here.get(var.name) or whole(width_of(var.symbol)), PIECES, FORMATS[var.type.bits])
        if len(parts) == 1:
            return list(after)
        found = [self._successors({**here, var.name: part}, box, step) for part in parts]
        rows = [row for row in found if row is not None]
        kept = [
            common(known, united(piece for row in rows for piece in row[place])) for place, known in enumerate(after)
        ]
        return kept if rows and all(kept) else None


def _placed(box: Box, step: int) -> dict[str, Ranges]:
    """``box`` with its names placed at ``step``."""
    return {name_at(name, step): ranges for name, ranges in box.items()}


def _within(word: FNode, ranges: Ranges) -> FNode:
    """That the pattern of ``word`` lies in one of ``ranges``."""
    bits = word.bv_width()
    ends = [(BV(low, bits), BV(high, bits)) for low, high in ranges]
    return Or([And(BVULE(low, word), BVULE(word, high)) for low, high in ends])


def _parted(formulas: Iterable[FNode]) -> tuple[list[FNode], list[FNode]]:
    """The conjuncts of ``formulas``: those that are no disjunctions, and those that are.

    A disjunction about one symbol is none here: it says in which set the symbol's value lies.
    """
    fixed: list[FNode] = []
    either: list[FNode] = []
    todo = list(formulas)
    while todo:
        formula = todo.pop()
        if formula.node_type() == op.AND:
            todo.extend(formula.args())
        else:
            (either if formula.node_type() == op.OR and len(symbols_of(formula)) > 1 else fixed).append(formula)
    return fixed, either
