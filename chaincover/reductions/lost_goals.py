"""Goals that nothing so far leads to, or leads on from: whether no chain covers them, and how that is proved."""

from __future__ import annotations

from collections.abc import Sequence

from bmc.invariants.induction import Prover, never
from chaincover.chain import NO_WAY_TO_FINAL, UNREACHABLE
from chaincover.concretise.check_path import Concretizer
from chaincover.graph.exact import ExactSearch, Least
from chaincover.options import Options
from chaincover.reductions.set_aside import SetAside
from chaincover.weights import INIT, ReachGraph, hopeless

INDUCTION = 8
"""The largest k of a proof by k-induction."""


class LostGoals:
    """Sets goals ``aside`` that no chain covers even alone; ``options`` limit what ``small`` and ``tools`` find out."""

    def __init__(self, aside: SetAside, small: ExactSearch, tools: Concretizer, options: Options) -> None:
        self._aside, self._small, self._tools, self._options = aside, small, tools, options

    def settle(self, graph: ReachGraph, last: bool) -> bool:
        """Set aside the goals that nothing in ``graph`` leads to, or on from: those proved, or (``last``) all of them.

        Whether it is known of each of them that no chain covers it, or that one does. LimitReached when time is over.
        """
        lost = hopeless(self._aside.without(graph))
        proved, unsure = self._judged(lost, graph)
        self._aside.settle(proved, [goal for goal in lost if last and goal in unsure])
        return not unsure - {*self._aside.names}

    def least_together(self, graph: ReachGraph) -> Least | None:
        """The exact answer for the goals of ``graph`` that were not set aside; those are that no chain covers alone.

        None where the reachable states are too many. LimitReached when time is over.
        """
        goals = self._aside.without(graph).goals
        found = self._small.least(goals)
        if found is None or found.run is not None:
            return found
        proved, _ = self._judged(goals, graph)
        self._aside.settle(proved, ())
        return self.least_together(graph) if proved and len(proved) < len(goals) else found

    def _judged(self, goals: Sequence[str], graph: ReachGraph) -> tuple[dict[str, tuple[str, str]], frozenset[str]]:
        return judged_alone(goals, self._small, self._options, self._tools, graph)


def judged_alone(
    goals: Sequence[str], small: ExactSearch, options: Options, tools: Concretizer, graph: ReachGraph
) -> tuple[dict[str, tuple[str, str]], frozenset[str]]:
    """The goals that no chain covers, each with its verdict and how it is proved; and those of which it is not known.

    The exact search tells where the states are few, else k-induction, for goals to which ``graph`` knows no way from
    init. Where ``options`` bound K, a chain found beyond it tells nothing. LimitReached when time is over.
    """
    far = options.bound is None and options.improve > 0
    exact = {goal: small.least([goal]) for goal in goals}
    proved = {
        goal: _why_not(goal, alone, small) for goal, alone in exact.items() if alone is not None and alone.run is None
    }
    for goal in goals:
        if exact[goal] is None and options.improve and (INIT, goal) not in {**graph.upper, **graph.weights}:
            k = _never(goal, tools, graph, options.improve)
            if k is not None:
                proved[goal] = UNREACHABLE, f"no run covers it: proved by induction over {k} step(s)"
    return proved, frozenset(goal for goal in goals if goal not in proved and (exact[goal] is None or not far))


def _never(name: str, tools: Concretizer, graph: ReachGraph, effort: int) -> int | None:
    """The k with which it is proved that no run covers the goal ``name``, None if it is not."""
    goal, refuted = tools.goals[name], graph.lower.get((INIT, name), 0)
    prover = Prover(tools.engine, tools.budget.for_query, effort)
    return never(tools.system, goal.antecedent, goal.length, min(INDUCTION, refuted), prover)


def _why_not(goal: str, alone: Least, small: ExactSearch) -> tuple[str, str]:
    how = f"all {alone.states} reachable states were searched"
    anywhere = small.least([goal], to_end=False)
    if anywhere is not None and anywhere.run is None:
        return UNREACHABLE, f"no run covers it: {how}"
    reached = "reached, but no run goes on" if anywhere is not None else "no run covers it and goes on"
    return NO_WAY_TO_FINAL, f"{reached} to the final condition: {how}"
