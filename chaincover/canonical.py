"""The least inputs for a plan, so that results do not depend on which model a solver happens to find.

Open start values first, then step by step and input by input, each gets the least value that still lets the rest of the
plan be run. The least values are those from 0 up, then the negative ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, And, Or

from bmc.engines.protocol import Run, Status
from bmc.system import InputVariable, StateVariable, TransitionSystem, ValueType, equal
from bmc.unroll import framed
from chaincover.concretize import Concretizer, Plan

Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Slot:
    """One value to choose: a variable at a step; an open start value is at step 0."""

    name: str
    type: ValueType
    symbol: FNode
    step: int
    start: bool
    ranges: Ranges

    def rank(self, run: Run) -> int:
        """The place of the run's value among the allowed ones, from 0."""
        values = run.states[0] if self.start else run.inputs[self.step]
        value = self.type.value(values[self.name])
        before = 0
        for low, high in self.ranges:
            if low <= value <= high:
                return before + value - low
            before += high - low + 1
        return before

    def value(self, rank: int) -> FNode:
        """The formula: this slot has the value at place ``rank``."""
        for low, high in self.ranges:
            if rank <= high - low:
                return equal(self.symbol, self.type.constant(low + rank))
            rank -= high - low + 1
        return FALSE()

    def below(self, rank: int) -> FNode:
        """The formula: this slot has a value before place ``rank``."""
        parts = []
        for low, high in self.ranges:
            if rank > 0:
                parts.append(self._between(low, min(high, low + rank - 1)))
            rank -= high - low + 1
        return Or(parts)

    def _between(self, low: int, high: int) -> FNode:
        if low == high:
            return equal(self.symbol, self.type.constant(low))
        least, greatest = self.type.constant(low), self.type.constant(high)
        if self.type.signed:
            return And(least.BVSLE(self.symbol), self.symbol.BVSLE(greatest))
        return And(least.BVULE(self.symbol), self.symbol.BVULE(greatest))


def canonicalise(tools: Concretizer, plan: Plan, run: Run) -> Run:
    """The least run of ``plan``, given one. Where the solver gives up, the value found last stays.

    LimitReached when time is over.
    """
    search = _Search(tools, plan, run)
    slots = _slots(tools.system, run.length)
    done = 0
    while done < len(slots):
        done = search.settle(slots, done)
    return search.run


class _Search:
    """Narrows the runs of one plan: ``run`` is a current model of ``fixed``."""

    def __init__(self, tools: Concretizer, plan: Plan, run: Run) -> None:
        self._tools = tools
        self._fixed, self._steps = tools.all_formulas(plan)
        self.run = run

    def settle(self, slots: Sequence[_Slot], first: int) -> int:
        """Fix as many slots from ``first`` as can be least together and the one after them; the next open one."""
        stop = self._most_at_least(slots, first)
        self._fixed += [slot.value(0) for slot in slots[first:stop]]
        if stop == len(slots):
            return stop
        self._fixed.append(slots[stop].value(self._least_rank(slots[stop])))
        return stop + 1

    def _least_from(self, slots: Sequence[_Slot], first: int) -> int:
        """The first slot from ``first`` on that is not least in the current run."""
        return next((i for i in range(first, len(slots)) if slots[i].rank(self.run) > 0), len(slots))

    def _most_at_least(self, slots: Sequence[_Slot], first: int) -> int:
        """The largest n such that the slots from ``first`` up to n can all be least; the run then shows it."""
        possible, ask, impossible = self._least_from(slots, first), len(slots), len(slots) + 1
        while possible < impossible - 1:
            wanted = [slot.value(0) for slot in slots[first:ask]]
            core = self._ask(wanted)
            if core is None:
                possible = max(ask, self._least_from(slots, ask))
            else:
                guilty = [i for i, formula in enumerate(wanted, first) if formula in core]
                impossible = min(ask, max(guilty, default=ask - 1) + 1)
            ask = (possible + impossible) // 2
        return possible

    def _least_rank(self, slot: _Slot) -> int:
        """The least place that ``slot`` can have, which is known not to be the first; the run then shows it."""
        impossible, possible = 0, slot.rank(self.run)
        while possible > impossible + 1:
            middle = (possible + impossible) // 2 + 1
            if self._ask([slot.below(middle)]) is None:
                possible = slot.rank(self.run)
            else:
                impossible = middle - 1
        return possible

    def _ask(self, wanted: Sequence[FNode]) -> tuple[FNode, ...] | None:
        """None if ``wanted`` is possible besides what is fixed (the run then shows it), else an unsat core."""
        session = self._tools.session
        answer = session.check([*self._fixed, *wanted], self._steps, self._tools.budget.for_query())
        if answer.status is Status.SAT:
            self.run = session.run()
            return None
        self._tools.budget.check()
        return answer.core


def _slots(system: TransitionSystem, steps: int) -> list[_Slot]:
    starts = [_slot(var, 0, True) for var in system.state if var.init is None]
    return starts + [_slot(var, step, False) for step in range(steps) for var in system.inputs]


def _slot(var: StateVariable | InputVariable, step: int, start: bool) -> _Slot:
    declared = var.values if isinstance(var, InputVariable) else ()
    ranges = _from_zero(declared or ((var.type.least, var.type.greatest),))
    return _Slot(var.name, var.type, framed(var.symbol, step), step, start, ranges)


def _from_zero(ranges: Ranges) -> Ranges:
    """The same values with those from 0 up first, then the negative ones."""
    up = tuple((max(low, 0), high) for low, high in ranges if high >= 0)
    return up + tuple((low, min(high, -1)) for low, high in ranges if low < 0)
