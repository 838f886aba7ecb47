"""Refuting queries by sets of values: what no state and input in the sets can do, no run does."""

from __future__ import annotations

from collections.abc import Sequence

from pysmt.fnode import FNode

from bmc.analysis.state_values import input_values
from bmc.analysis.values import Box, narrowed, sets_of
from bmc.floats.operations import Program
from bmc.formulas.unroll import at
from bmc.formulas.value_sets import NEVER, Ranges, common, united, whole, width_of
from bmc.system.transition import TransitionSystem, conjunction


def name_at(name: str, step: int) -> str:
    """The name of the symbol ``name`` placed at ``step``."""
    return f"{name}@{step}"


class Bounding:
    """Sets of the values at each step of all runs of ``system`` that begin as ``source`` (framed) says.

    ``size``: how many sets are found for each step.
    """

    def __init__(self, system: TransitionSystem, source: FNode) -> None:
        self._system = system
        proved = conjunction(inv.formula for inv in system.invariants if inv.proved)
        self._proved = proved
        self._source = conjunction([source, at(proved, 0)])
        self._program = Program([*(var.next for var in system.state), system.input_constraint, system.defined])
        self.size = len(self._program.instructions)
        self._names = [*(var.name for var in system.state), *(var.name for var in system.inputs)]
        self._inputs = input_values(system)
        self._known: dict[int, dict[str, Ranges] | None] = {}

    def sets(self, formulas: Sequence[FNode], steps: int) -> dict[str, Ranges] | None:
        """Sets of the framed symbols in all runs of ``steps`` valid steps with ``formulas``; None: there are none."""
        box: dict[str, Ranges] | None = {
            name_at(name, step): ranges for name, ranges in self._inputs.items() for step in range(steps)
        }
        for formula in (self._source, *formulas):
            box = None if box is None else narrowed(formula, box)
        for step in range(steps):
            box = None if box is None else self._next(box, step)
        if box is None or NEVER in sets_of(Program([self._source, *formulas]), box):
            return None
        for formula in formulas:
            box = None if box is None else narrowed(formula, box)
        return box

    def refuted(self, formulas: Sequence[FNode], steps: int) -> tuple[tuple[FNode, ...] | None, Box]:
        """Those of ``formulas`` that, together, no run of ``steps`` valid steps satisfies; None if nothing is known.

        Then also sets of the framed symbols in all runs that do. ``steps`` are enough for source and formulas.
        """
        if steps not in self._known:
            self._known[steps] = self.sets([], steps)
        box = self._known[steps]
        if box is None:
            return (), {}
        for formula in formulas:
            if narrowed(formula, box) is None or sets_of(Program([formula]), box) == [NEVER]:
                return (formula,), {}
        found = self.sets(formulas, steps) if formulas else box
        return (tuple(formulas), {}) if found is None else (None, found)

    def _next(self, box: Box, step: int) -> dict[str, Ranges] | None:
        """``box`` with what the step number ``step`` tells of the states around it."""
        names = [name for name in self._names if name_at(name, step) in box]
        here: dict[str, Ranges] | None = {name: box[name_at(name, step)] for name in names}
        for condition in (self._system.input_constraint, self._system.defined):
            here = None if here is None else narrowed(condition, here)
        if here is None:
            return None
        *after, constraint, defined = sets_of(self._program, here)
        if NEVER in (constraint, defined):
            return None
        found = {**box, **{name_at(name, step): ranges for name, ranges in here.items()}}
        for var, ranges in zip(self._system.state, after, strict=True):
            key = name_at(var.name, step + 1)
            kept = common(found[key], ranges) if key in found else ranges
            if not kept:
                return None
            if kept != whole(width_of(var.symbol)):
                found[key] = united(kept)
        return narrowed(at(self._proved, step + 1), found)
