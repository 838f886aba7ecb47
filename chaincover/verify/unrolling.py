"""A plain unrolling of a transition system, one frame after the other, for questions asked one at a time.

Made for re-proofs: it shares nothing with the engines that found the claims but pysmt, z3 and the formulas themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pysmt.exceptions import SolverReturnedUnknownResultError
from pysmt.fnode import FNode
from pysmt.logics import QF_BV
from pysmt.shortcuts import TRUE, And, Solver

from bmc.engines.protocol import Status
from bmc.formulas.unroll import at, framed, unframed
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem, equal, symbols_of
from chaincover.verify.limits import Clock


@dataclass(frozen=True)
class Found:
    """An answer: with SAT a run as long as asked for (simulated), and those of the asked symbols that are true."""

    status: Status
    run: Run | None = None
    true: frozenset[FNode] = frozenset()


class Unrolling:
    """Runs that begin in a state of ``start``; ``always`` is known of every state after valid steps.

    Both are over plain state symbols; ``formulas`` (framed) are what will be asked about. A step restricts a run only
    where ``valid`` says so: next states exist for all states and inputs.
    """

    def __init__(
        self, system: TransitionSystem, formulas: Sequence[FNode], start: FNode, always: FNode, clock: Clock
    ) -> None:
        self.system = replace(system, invariants=())
        asked = [TRUE().And(at(formula, 0)) for formula in (start, always)] + list(formulas)
        names = {unframed(s)[0] for formula in asked for s in symbols_of(formula)}
        kept = [var.symbol for var in system.state if var.name in names]
        self._cone = self.system.cone(kept)
        self._clock = clock
        self._solver = Solver(name="z3", logic=QF_BV, random_seed=7)
        self._allowed = And(system.input_constraint, system.defined)
        self._always = always
        self._valid: list[FNode] = [TRUE()]
        self._solver.add_assertion(And(at(start, 0), at(always, 0)))

    def valid(self, steps: int) -> FNode:
        """The formula: each of the first ``steps`` steps is allowed and defined."""
        while len(self._valid) <= steps:
            step = len(self._valid) - 1
            self._valid.append(And(self._valid[-1], at(self._allowed, step), at(self._always, step + 1)))
            for var in self._cone:
                self._solver.add_assertion(equal(framed(var.symbol, step + 1), at(var.next, step)))
        return self._valid[steps]

    def ask(self, formula: FNode, steps: int, symbols: Sequence[FNode] = (), share: float = 1) -> Found:
        """Is there a run of ``steps`` steps (valid where ``formula`` says so) that satisfies ``formula``?

        ``symbols`` are Boolean ones of the question's own, of which the answer tells those that are true. ``share`` is
        the part of an effort that may be spent.
        """
        if formula.is_false():
            return Found(Status.UNSAT)
        if self._clock.over:
            return Found(Status.UNKNOWN)
        self.valid(steps)
        self._set_limits(share)
        self._solver.push()
        try:
            self._solver.add_assertion(formula)
            if not self._solver.solve():
                return Found(Status.UNSAT)
            true = frozenset(s for s in symbols if self._solver.get_py_value(s))
            return Found(Status.SAT, self._run(steps), true)
        except SolverReturnedUnknownResultError:
            if "interrupted" in self._solver.z3.reason_unknown():
                raise KeyboardInterrupt from None
            return Found(Status.UNKNOWN)
        finally:
            self._solver.pop()

    def _set_limits(self, share: float) -> None:
        left = self._clock.left
        self._solver.z3.set("timeout", (1 << 32) - 1 if left is None else max(1, int(left * 1000)))
        self._solver.z3.set("rlimit", self._clock.resources(share))

    def _run(self, steps: int) -> Run:
        """The run of the solver's model: its start and inputs, simulated."""
        simulator = Simulator(self.system)
        start = {var.name: self._value(framed(var.symbol, 0)) for var in self._cone}
        symbols = [var.symbol for var in self.system.inputs]
        inputs = [{s.symbol_name(): self._value(framed(s, step)) for s in symbols} for step in range(steps)]
        return simulator.run(simulator.initial(start), inputs)

    def _value(self, symbol: FNode) -> int:
        return int(self._solver.get_py_value(symbol))
