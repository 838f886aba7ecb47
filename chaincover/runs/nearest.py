"""A first chain that always goes on to the nearest goal: quick for many goals, and seldom the shortest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pysmt.fnode import FNode
from pysmt.shortcuts import Or

from bmc.engines.protocol import Session, Status
from bmc.formulas.unroll import at, shift
from bmc.system.run import Run
from bmc.system.simulation import Simulator, compile_formulas
from bmc.system.transition import Valuation, conjunction, equal
from chaincover.concretise.check_path import Concretizer
from properties.monitor import Monitor

PATIENCE = 40
"""Queries of limited effort that one stretch may leave open."""

Question = tuple[int, Sequence[FNode]]
"""A number of steps, and what is to hold in a run of so many."""


class NearestFirst:
    """From the state reached, the goal that can be ended first comes next, one after the other; then the end.

    Each stretch is at most ``limit`` steps to the start of its goal. ``overlap`` ``allow`` counts every goal that is
    covered on the way, ``forbid`` only the goals that were aimed at. ``effort`` limits the work for each query, see the
    protocol; then what is left open is passed over, up to ``PATIENCE`` times for a stretch. Without it (None) the first
    query left open ends the search.
    """

    def __init__(
        self, tools: Concretizer, names: Sequence[str], overlap: str, limit: int, effort: float | None = None
    ) -> None:
        self._tools = tools
        self._goals = {name: tools.goals[name] for name in names}
        self._monitor = Monitor(list(self._goals.values()))
        self._aimed_only = overlap == "forbid"
        self._limit = limit
        self._effort = effort
        self._simulator = Simulator(tools.system)
        self._run: Run | None = None
        self._left = dict.fromkeys(self._goals)

    def run(self) -> Run | None:
        """A run from init through all goals to the end; None where it leads into a dead end, or the solver gives up.

        LimitReached when time is over.
        """
        self._go()
        return None if self._left else self._to_end(self._run)

    def partial(self) -> tuple[Run, tuple[str, ...]] | None:
        """A run from init through as many goals as that way leads to, to the end; and these goals.

        None if there are none, or it has no way to the end. LimitReached when time is over.
        """
        self._go()
        ended = self._to_end(self._run) if self._reached else None
        return None if ended is None else (ended, self._reached)

    def so_far(self) -> tuple[Run, tuple[str, ...]] | None:
        """As ``partial``, from what was found before a limit or an interrupt; None if that does not lie at the end."""
        if self._run is None or not self._reached:
            return None
        final = self._tools.final
        ended = final is None or compile_formulas([final])(self._run.states[-1])[0]
        return (self._run, self._reached) if ended else None

    @property
    def _reached(self) -> tuple[str, ...]:
        return tuple(name for name in self._goals if name not in self._left)

    def _go(self) -> None:
        """Lengthen the run as far as the way leads, and strike off the goals that it covers."""
        while self._left:
            part = self._nearest(self._run, list(self._left))
            if part is None:
                return
            name, piece = part
            run = self._joined(self._run, piece)
            left = {other: None for other in self._left if other != name}
            if not self._aimed_only:
                covered = self._monitor.covered(run)
                left = {other: None for other in left if not covered[other]}
            self._run, self._left = run, left

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
        starts = {name: -self._goals[name].length for name in names}
        longest = self._limit - min(starts.values())

        def due(steps: int) -> list[str]:
            return [name for name, start in starts.items() if 0 <= steps + start <= self._limit]

        def placed(steps: int) -> FNode:
            return Or([shift(self._goals[name].antecedent, steps + starts[name]) for name in due(steps)])

        questions = ((steps, [placed(steps)]) for steps in range(longest + 1) if due(steps))
        piece = self._shortest(self._session(run), questions)
        if piece is None:
            return None
        return next(n for n in due(piece.length) if self._monitor.holds(piece, n, piece.length + starts[n])), piece

    def _to_end(self, run: Run | None) -> Run | None:
        if self._tools.final is None:
            return run if run is not None else self._joined(None, Run((self._simulator.initial(),), ()))
        questions = ((steps, self._tools.end_formulas(steps)) for steps in range(self._limit + 1))
        piece = self._shortest(self._session(run), questions)
        return None if piece is None else self._joined(run, piece)

    def _shortest(self, session: Session, questions: Iterable[Question]) -> Run | None:
        """A run for the first question that has one; None if none has, or too many are left open before."""
        left_open = 0
        for steps, formulas in questions:
            status = session.check(formulas, steps, self._tools.budget.for_query(), self._effort).status
            if status is Status.SAT:
                return session.run()
            if status is Status.UNKNOWN:
                self._tools.budget.check()
                left_open += 1
                if self._effort is None or left_open > PATIENCE:
                    return None
        return None

    def _joined(self, run: Run | None, piece: Run) -> Run:
        """``run`` and then ``piece``, simulated as one."""
        if run is None:
            return piece
        return self._simulator.run(run.states[0], [*run.inputs, *piece.inputs])
