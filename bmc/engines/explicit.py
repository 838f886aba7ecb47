"""Engine ``explicit``: no solver, but a search over all reachable states, which must be few enough to be listed.

Runs start in reachable states only: a source is met in those of its states that the system can be in. What is read of a
run is exact, so that the answer is never unknown but for a limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from pysmt.fnode import FNode

from bmc.engines.cost import BYTE, NODE, QUESTION, WORK, Cost
from bmc.engines.protocol import Alternative, Answer, Deadline, OutOfTime, Session, Status
from bmc.engines.reach import Reaches
from bmc.errors import InputRefused
from bmc.explicit.enumeration import affordable, enumerated
from bmc.explicit.every_run import EveryRun, Way
from bmc.explicit.paths import Check
from bmc.explicit.queries import Completions, Reached, TooManyFree, TooManyNodes, satisfied
from bmc.formulas.unroll import framed
from bmc.system.run import Run
from bmc.system.transition import TransitionSystem, conjunction

STEPS = 1_000_000
"""Steps, as many as one by one, that listing the states may take; fewer in a large model."""

UNLIMITED = 10
"""The effort for a question where none is given: memory is limited anyway."""


class ExplicitEngine:
    """Makes sessions on lists of states, which are kept for systems asked about again."""

    name = "explicit"
    version = f"numpy {np.__version__}"

    def __init__(self, memory: int | None = None) -> None:
        """``memory`` makes no difference: what is kept is limited anyway."""
        self.cost = Cost()
        self._known: list[tuple[TransitionSystem, Completions, Reaches]] = []

    def tries(self, system: TransitionSystem) -> bool:
        """Never: the search is exact at once."""
        return False

    def session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode] = ()) -> Session:
        """See the protocol. InputRefused where the states are too many."""
        with self.cost.in_session():
            return ExplicitSession(system, *self._listed(system), source, self.cost)

    def _listed(self, system: TransitionSystem) -> tuple[Completions, Reaches]:
        for known, completions, reaches in self._known:
            if known is system:
                return completions, reaches
        symbols = [*(var.symbol for var in system.state), *(var.symbol for var in system.inputs)]
        everything = [framed(symbol, 0) for symbol in symbols]
        found = enumerated(replace(system, invariants=()), everything, affordable(STEPS))
        self.cost.work += (STEPS if found is None else len(found.steps.nexts)) * NODE
        if found is None:
            text = f"{system.name} has too many reachable states, or input values, to be listed"
            raise InputRefused(text, hint="choose another engine, or narrow the ranges of inputs")
        completions, reaches = Completions(EveryRun(found)), Reaches(system)
        self._known = [*self._known[-3:], (system, completions, reaches)]
        return completions, reaches


class ExplicitSession:
    """The runs from one source."""

    def __init__(
        self, system: TransitionSystem, completions: Completions, reaches: Reaches, source: FNode, cost: Cost
    ) -> None:
        self._system, self._completions, self._source, self._cost = system, completions, source, cost
        self._runs = completions.runs
        self._reaches = reaches
        self._span = self._reaches.span(source)
        self._reached: Reached | None = None
        self._run: Run | None = None

    def check(
        self, formulas: Sequence[FNode], steps: int, time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        """See the protocol. The core names all ``formulas``."""
        with self._cost.in_session(), self._cost.in_solver():
            status = self._any([(conjunction(formulas), steps)], time_limit, effort)
        return Answer(status, tuple(formulas) if status is Status.UNSAT else ())

    def check_any(
        self, alternatives: Sequence[Alternative], time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        """See the protocol: the first of ``alternatives`` that has a run gives it."""
        with self._cost.in_session(), self._cost.in_solver():
            return Answer(self._any(alternatives, time_limit, effort))

    def run(self) -> Run:
        """See the protocol."""
        assert self._run is not None
        return self._run

    def _any(self, alternatives: Sequence[Alternative], time_limit: float | None, effort: float | None) -> Status:
        most = int((UNLIMITED if effort is None else effort) * WORK) // NODE
        deadline, status = Deadline(time_limit), Status.UNSAT

        def check() -> None:
            deadline.left()

        for formula, steps in alternatives:
            try:
                found = self._way(formula, max(steps, self._span), most, check)
            except (OutOfTime, TooManyFree, TooManyNodes):
                status = Status.UNKNOWN
                continue
            if found is not None:
                self._run = self._along(*found)
                return Status.SAT
        return status

    def _way(self, formula: FNode, steps: int, most: int, check: Check) -> Way | None:
        """The start and the inputs of a run of ``steps`` steps from the source that satisfies ``formula``."""
        told, earlier = self._completions.moved(formula, steps)
        steps = max(steps, self._reaches.span(formula))
        if earlier < self._span or not self._runs.knows(told):
            found = satisfied(self._runs, [self._source, formula], steps, most, check)
            self._cost.work += QUESTION + found.size * BYTE
            return found.way()
        if self._reached is None:
            self._reached = Reached(self._runs, self._source, self._span, most, check)
        left = self._completions.of(told, steps - earlier, most, check)
        self._cost.work += QUESTION + (left.size + len(self._runs.graph.states)) * BYTE
        meeting = np.flatnonzero(self._reached.after(earlier, check) & left.starts)
        if not meeting.size:
            return None
        rest = left.way(start=int(meeting[0]))
        assert rest is not None
        start, choices = self._reached.way(earlier, int(meeting[0]))
        return start, [*choices, *rest[1]]

    def _along(self, start: int, choices: Sequence[int]) -> Run:
        states, graph = [start], self._runs.graph
        for choice in choices:
            states.append(next(after for own, after in graph.steps[states[-1]] if own == choice))
        inputs = [{var.name: graph.inputs[choice][var.name] for var in self._system.inputs} for choice in choices]
        return Run(tuple(dict(graph.states[state]) for state in states), tuple(inputs))
