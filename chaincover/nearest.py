"""A first chain that always goes on to the nearest goal: quick for many goals, and seldom the shortest."""

from __future__ import annotations

from collections.abc import Sequence

from pysmt.fnode import FNode
from pysmt.shortcuts import Or

from bmc.engines.protocol import Run, Session, Status
from bmc.simulate import Simulator
from bmc.system import Valuation, conjunction, equal
from bmc.unroll import at, shift
from chaincover.concretize import Concretizer
from properties.monitor import Monitor


class NearestFirst:
    """From the state reached, the goal that can be ended first comes next, one after the other; then the end.

    Each stretch is at most ``limit`` steps to the start of its goal. ``overlap`` ``allow`` counts every goal that is
    covered on the way, ``forbid`` only the goals that were aimed at.
    """

    def __init__(self, tools: Concretizer, names: Sequence[str], overlap: str, limit: int) -> None:
        self._tools = tools
        self._goals = {name: tools.goals[name] for name in names}
        self._monitor = Monitor(list(self._goals.values()))
        self._aimed_only = overlap == "forbid"
        self._limit = limit
        self._simulator = Simulator(tools.system)

    def run(self) -> Run | None:
        """A run from init through all goals to the end; None where it leads into a dead end, or the solver gives up.

        LimitReached when time is over.
        """
        run, left = self._far()
        return None if left else self._to_end(run)

    def partial(self) -> tuple[Run, tuple[str, ...]] | None:
        """A run from init through as many goals as that way leads to, to the end; and these goals.

        None if there are none, or it has no way to the end. LimitReached when time is over.
        """
        run, left = self._far()
        reached = tuple(name for name in self._goals if name not in left)
        ended = self._to_end(run) if reached else None
        return None if ended is None else (ended, reached)

    def _far(self) -> tuple[Run | None, dict[str, None]]:
        """The run as far as it leads, and the goals that it leaves."""
        left = dict.fromkeys(self._goals)
        run: Run | None = None
        while left:
            part = self._nearest(run, list(left))
            if part is None:
                break
            name, piece = part
            run = self._joined(run, piece)
            left.pop(name, None)
            if not self._aimed_only:
                covered = self._monitor.covered(run)
                left = dict.fromkeys(name for name in left if not covered[name])
        return run, left

    def _session(self, run: Run | None) -> Session:
        """From the last state of ``run``, or from init."""
        system = self._tools.system
        if run is None:
            return self._tools.new_session(at(system.init_formula, 0))
        return self._tools.new_session(at(self._fixed(run.states[-1]), 0))

    def _fixed(self, state: Valuation) -> FNode:
        return conjunction(equal(v.symbol, v.type.constant(state[v.name])) for v in self._tools.system.state)

    def _nearest(self, run: Run | None, names: Sequence[str]) -> tuple[str, Run] | None:
        """The goal of ``names`` that can be ended first, with the stretch to its end."""
        session = self._session(run)
        lengths = sorted({self._goals[name].length for name in names})
        for steps in range(self._limit + lengths[-1] + 1):
            due = [n for n in names if 0 <= steps - self._goals[n].length <= self._limit]
            if not due:
                continue
            placed = [shift(self._goals[n].antecedent, steps - self._goals[n].length) for n in due]
            status = self._check(session, [Or(placed)], steps)
            if status is Status.SAT:
                piece = session.run()
                return next(n for n in due if self._ends(piece, n, steps)), piece
            if status is Status.UNKNOWN:
                return None
        return None

    def _ends(self, piece: Run, name: str, steps: int) -> bool:
        return self._monitor.holds(piece, name, steps - self._goals[name].length)

    def _to_end(self, run: Run | None) -> Run | None:
        if self._tools.final is None:
            return run if run is not None else self._joined(None, Run((self._simulator.initial(),), ()))
        session = self._session(run)
        for steps in range(self._limit + 1):
            status = self._check(session, self._tools.end_formulas(steps), steps)
            if status is Status.SAT:
                return self._joined(run, session.run())
            if status is Status.UNKNOWN:
                return None
        return None

    def _check(self, session: Session, formulas: Sequence[FNode], steps: int) -> Status:
        status = session.check(formulas, steps, self._tools.budget.for_query()).status
        if status is Status.UNKNOWN:
            self._tools.budget.check()
        return status

    def _joined(self, run: Run | None, piece: Run) -> Run:
        """``run`` and then ``piece``, simulated as one."""
        if run is None:
            return piece
        return self._simulator.run(run.states[0], [*run.inputs, *piece.inputs])
