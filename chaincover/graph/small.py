"""Exact answers about sets of goals where the reachable states are few, and honest silence where they are not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from pysmt.fnode import FNode

from bmc.system.hold import boundary
from bmc.system.transition import TransitionSystem
from chaincover.graph import enumerated_exact as explicit_exact
from chaincover.graph.exhaustive import Exhaustion, Least, exhaust, least_run
from chaincover.graph.explored import Reachable
from chaincover.options import Options
from chaincover.weights import ReachGraph, obstacles, transitive_closure
from properties.goal import Goal

ONE_BY_ONE = 2000
"""Up to so many states are searched node by node first, with estimates; more, and what takes too long, in arrays."""

NODES_IN_ARRAYS = 50
"""So many nodes are searched in arrays in the time of one by itself, and more."""

MOST_PAIRS = 200
"""Pairs of goals of which it is found out whether they exclude each other."""


class SmallSystem:
    """Searches over the states of ``reachable`` and covered goals, within the limit ``exhaust`` of the options.

    ``check`` is called now and then during a search and may raise LimitReached. Answers are remembered.
    """

    def __init__(
        self,
        system: TransitionSystem,
        goals: Sequence[Goal],
        final: FNode | None,
        options: Options,
        reachable: Reachable,
        check: Callable[[], None],
    ) -> None:
        self._system = system
        self._goals = tuple(goals)
        self._final = final
        self._options = options
        self._reachable = reachable
        self._check = check
        self._least: dict[tuple[frozenset[str], bool], Least | None] = {}

    def least(self, names: Collection[str], to_end: bool = True) -> Least | None:
        """A shortest run over the goals ``names``, or that there is none; None where the system is too large.

        ``to_end``: the run must end in the final condition.
        """
        key = (frozenset(names), to_end)
        if key not in self._least:
            self._least[key] = self._search(names, self._final) if to_end else self._anywhere(names)
        return self._least[key]

    def _anywhere(self, names: Collection[str]) -> Least | None:
        """A shortest run over ``names`` that may end anywhere; where inputs are held, the end of a held step is tried
        first, because that is faster."""
        held = boundary(self._system, None)
        found = None if held is None else self._search(names, held)
        return found if found is not None and found.run is not None else self._search(names, None)

    def apart(self, graph: ReachGraph) -> frozenset[frozenset[str]]:
        """The pairs of goals between which ``graph`` has no way yet and of which it is proved that none has both."""
        pairs = obstacles(graph, transitive_closure(graph)).exclusive[:MOST_PAIRS]
        found = ((pair, self.least(pair)) for pair in pairs)
        return frozenset(frozenset(pair) for pair, exact in found if exact is not None and exact.run is None)

    def covers(self, names: Collection[str]) -> Exhaustion | None:
        """All sets of the goals ``names`` that one run covers; None where the system is too large."""
        graph, options, goals = self._reachable.graph, self._options, self._chosen(names)
        if graph is None or not options.exhaust:
            return None
        known = self._system, goals, self._final, options.overlap, options.explore, options.exhaust, self._check, graph
        found = exhaust(*known) if len(graph.states) <= ONE_BY_ONE else None
        if found is None:
            limit = NODES_IN_ARRAYS * options.exhaust
            found = explicit_exact.exhaust(self._system, graph, goals, self._final, options.overlap, limit, self._check)
        return found

    def _search(self, names: Collection[str], final: FNode | None) -> Least | None:
        graph, options, goals = self._reachable.graph, self._options, self._chosen(names)
        if graph is None or not options.exhaust:
            return None
        known = self._system, goals, final, options.overlap, options.explore, options.exhaust, self._check, graph
        found = least_run(*known) if len(graph.states) <= ONE_BY_ONE else None
        if found is None:
            limit = NODES_IN_ARRAYS * options.exhaust
            found = explicit_exact.least_run(self._system, graph, goals, final, options.overlap, limit, self._check)
        return found

    def _chosen(self, names: Collection[str]) -> list[Goal]:
        return [goal for goal in self._goals if goal.name in names]
