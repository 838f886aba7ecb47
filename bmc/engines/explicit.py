"""Engine ``explicit``: no solver, but a search over all reachable states, which must be few enough to be listed.

Runs start in reachable states only: a source is met in those of its states that the system can be in. What is read of a
run is exact, so that the answer is never unknown but for a limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from pysmt.fnode import FNode

from bmc.engines.cost import Cost
from bmc.engines.protocol import Alternative, Answer, Run, Session, Status, check_in_turn
from bmc.errors import InputRefused
from bmc.explicit.product import product
from bmc.explicit.queries import Query, TooManyFree, first_run
from bmc.explore import StateGraph, affordable, state_graph
from bmc.system import TransitionSystem, conjunction, symbols_of
from bmc.unroll import framed, unframed

STEPS = 1_000_000
"""Steps, as many as one by one, that listing the states may take; fewer in a large model."""

NODES = 2_000_000
"""States with what is left of a question, per unit of effort; ten times as many where effort is not limited."""

MOST_ARROWS = 100_000_000


class _TimeOver(Exception):
    """The time for a question is over."""


class ExplicitEngine:
    """Makes sessions on lists of states, which are kept for systems asked about again."""

    name = "explicit"
    version = f"numpy {np.__version__}"

    def __init__(self, memory: int | None = None) -> None:
        """``memory`` makes no difference: what is kept is limited anyway."""
        self.cost = Cost()
        self._known: list[tuple[TransitionSystem, StateGraph]] = []

    def tries(self, system: TransitionSystem) -> bool:
        """Never: the search is exact at once."""
        return False

    def session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode] = ()) -> Session:
        """See the protocol. InputRefused where the states are too many."""
        with self.cost.in_session():
            return ExplicitSession(system, self._listed(system), source, self.cost)

    def _listed(self, system: TransitionSystem) -> StateGraph:
        for known, graph in self._known:
            if known is system:
                return graph
        symbols = [*(var.symbol for var in system.state), *(var.symbol for var in system.inputs)]
        everything = [framed(symbol, 0) for symbol in symbols]
        found = state_graph(replace(system, invariants=()), everything, affordable(system, STEPS))
        if found is None:
            text = f"{system.name} has too many reachable states, or input values, to be listed"
            raise InputRefused(text, hint="choose another engine, or narrow the ranges of inputs")
        self._known = [*self._known[-3:], (system, found)]
        return found


class ExplicitSession:
    """The runs from one source."""

    def __init__(self, system: TransitionSystem, graph: StateGraph, source: FNode, cost: Cost) -> None:
        self._system, self._graph, self._source, self._cost = system, graph, source, cost
        self._run: Run | None = None

    def check(
        self, formulas: Sequence[FNode], steps: int, time_limit: float | None = None, effort: int | None = None
    ) -> Answer:
        """See the protocol. The core names all ``formulas``."""
        wanted = conjunction([self._source, *formulas])
        names = {*self._graph.states.columns, *self._graph.inputs.columns}
        frames = [unframed(s) for s in symbols_of(wanted)]
        inputs = self._graph.inputs.columns
        span = max((step + (name in inputs) for name, step in frames if name in names), default=0)
        with self._cost.in_session(), self._cost.in_solver():
            try:
                query = Query(self._graph, wanted, max(steps, span))
                most = 10 * NODES if effort is None else effort * NODES
                every = np.arange(len(self._graph.states))
                found = product(self._graph, query.classes, query, every, most, MOST_ARROWS, _deadline(time_limit))
            except (_TimeOver, TooManyFree):
                return Answer(Status.UNKNOWN)
        if found is None:
            return Answer(Status.UNKNOWN)
        way = first_run(found)
        if way is None:
            return Answer(Status.UNSAT, tuple(formulas))
        self._run = self._along(*way, steps)
        return Answer(Status.SAT)

    def check_any(
        self, alternatives: Sequence[Alternative], time_limit: float | None = None, effort: int | None = None
    ) -> Answer:
        """See the protocol."""
        return check_in_turn(self, alternatives, time_limit, effort)

    def run(self) -> Run:
        """See the protocol."""
        assert self._run is not None
        return self._run

    def _along(self, start: int, choices: Sequence[int], steps: int) -> Run:
        states, graph = [start], self._graph
        for choice in choices[:steps]:
            states.append(next(after for own, after in graph.steps[states[-1]] if own == choice))
        inputs = [
            {var.name: graph.inputs[choice][var.name] for var in self._system.inputs} for choice in choices[:steps]
        ]
        return Run(tuple(dict(graph.states[state]) for state in states), tuple(inputs))


def _deadline(seconds: float | None) -> Callable[[], None]:
    """Raises _TimeOver once ``seconds`` are over."""
    end = None if seconds is None else time.monotonic() + seconds

    def check() -> None:
        if end is not None and time.monotonic() > end:
            raise _TimeOver

    return check
