"""A plain unrolling of a transition system, one frame after the other, for questions asked one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, And, Not, Symbol

from bmc.engines.protocol import Status
from bmc.formulas.unroll import at, framed, plain_symbols, shift
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem, equal
from chaincover.verification.clauses import Clauses, contradictory
from chaincover.verification.limits import Clock


@dataclass(frozen=True)
class Found:
    """An answer: with SAT a run as long as asked for (simulated)."""

    status: Status
    run: Run | None = None


class Unrolling:
    """Runs that begin in a state of ``start``; ``always`` is known of every state after valid steps.

    Both are over plain state symbols; ``formulas`` (framed) are what will be asked about. A step restricts a run only
    where ``valid`` says so: next states exist for all states and inputs.
    """

    def __init__(
        self, system: TransitionSystem, formulas: Sequence[FNode], start: FNode, always: FNode, clock: Clock
    ) -> None:
        self.system = replace(system, invariants=())
        self._cone = self.system.cone(plain_symbols([at(start, 0), at(always, 0), *formulas]))
        self._clauses = Clauses(clock, fewer=True)
        allowed = And(system.input_constraint, system.defined)
        following = (equal(framed(var.symbol, 1), at(var.next, 0)) for var in self._cone)
        self._step = at(allowed, 0), tuple(following)
        self._always = always
        self._valid: list[FNode] = [TRUE()]
        self._begin, self._clock = And(at(start, 0), at(always, 0)), clock
        self._clauses.demand(self._begin)

    def valid(self, steps: int) -> FNode:
        """The formula: each of the first ``steps`` steps is allowed and defined."""
        while len(self._valid) <= steps:
            step = len(self._valid) - 1
            taken = self._clauses.own(Symbol(f"step {step} is valid"), self._clauses.placed(*self._step, step))
            so_far = self._clauses.literal(And(self._valid[-1], taken, at(self._always, step + 1)))
            self._valid.append(self._clauses.own(Symbol(f"{step + 1} steps are valid"), so_far))
        return self._valid[steps]

    def named(self, symbol: FNode, formula: FNode) -> FNode:
        """``symbol``, a Boolean one of the caller's own, from now on stands for ``formula``."""
        return self._clauses.own(symbol, self._clauses.literal(formula))

    def never(self, formula: FNode) -> None:
        """No run that is asked for satisfies ``formula``."""
        self._clauses.demand(Not(formula))

    def ask(self, formula: FNode, steps: int, share: float = 1) -> Found:
        """Is there a run of ``steps`` steps (valid where ``formula`` says so) that satisfies ``formula``?

        ``share`` is the part of an effort that may be spent.
        """
        self.valid(steps)
        answer = self._clauses.possible(formula, share=share)
        if answer is None:
            return Found(Status.UNKNOWN)
        if not answer:
            return Found(Status.UNSAT)
        return Found(Status.SAT, self._run(steps))

    def excludes(self, formula: FNode, steps: int, share: float = 1) -> bool:
        """Whether the words themselves show, at a share of an effort, that no run of ``steps`` valid steps satisfies
        ``formula``."""
        allowed, following = self._step
        taken = [shift(And(allowed, *following), step) for step in range(steps)]
        known = [at(self._always, step + 1) for step in range(steps)]
        return contradictory(And(self._begin, *taken, *known, formula), self._clock, share)

    def _run(self, steps: int) -> Run:
        """The run of the last answer: its start and inputs, simulated."""
        simulator, value = Simulator(self.system), self._clauses.value
        start = {var.name: value(framed(var.symbol, 0)) for var in self._cone}
        symbols = [var.symbol for var in self.system.inputs]
        inputs = [{s.symbol_name(): value(framed(s, step)) for s in symbols} for step in range(steps)]
        return simulator.run(simulator.initial(start), inputs)
