"""The alternative to lines 9 to 13 of Algorithm 5: infeasible sub-paths become path constraints of the ordering."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from chaincover.chain import Plan
from chaincover.concretise.path_trial import Outcome, Task, Trials
from chaincover.concretise.subpaths import Reach, SubPaths
from chaincover.orderings.protocol import Limit, OrderingProblem
from chaincover.weights import INIT, Edge, ReachGraph, transitive_closure


def constrained_chain(task: Task) -> Outcome:
    """Try orders of all goals, each time the least one without the sub-paths found infeasible, until one can be run.

    The graph is extended to K first (Remark 1). The ordering must take path constraints. UNSAT means: no run visits all
    these goals in any order so that each starts at most K steps after the one before where the graph has that edge,
    and at most K steps for each edge of the least walk where it has none; the final condition may also come as many
    steps after the last goal as the longest goal has. Without a limit it ends all the same, because every round rules
    out another order. UsageError if the ordering refuses, LimitReached when time is over.
    """
    while task.extended():
        pass
    graph = task.graph()
    weights, reaches = distances(graph, task.limit)
    longest = len(graph.goals) * max((reach.most for reach in reaches.values()), default=0)
    trials = Trials(task, SubPaths(task.questions, reaches), longest)
    while True:
        problem = OrderingProblem(graph.goals, weights, INIT, graph.end, forbidden=trials.excluded)
        order = task.ordering.solve(problem, Limit(task.questions.limits.for_query()))
        if not order.path:
            task.questions.limits.check()
            return trials.ended(order.proved and not undecided_edges(graph))
        gaps = [weights[edge] if reaches[edge].known else reaches[edge].least for edge in pairwise(order.path)]
        plan = Plan(order.path, tuple(gaps))
        tried = trials.try_path(plan)
        if isinstance(tried, Outcome):
            return tried
        task.progress(f"path constraints: not {' -> '.join(tried)}")


def distances(graph: ReachGraph, limit: int) -> tuple[dict[Edge, int], dict[Edge, Reach]]:
    """The weights of the closed graph, and between which distances each of its edges is looked for.

    A direct edge keeps its weight, which no visit between its ends can shorten; it may grow up to ``limit``. Any other
    one stands for a walk through other goals: what that takes is only sought, never demanded, between the least
    distance not excluded and ``limit`` for each edge of the walk.
    """
    base = len(graph.nodes) + 1
    closed = transitive_closure(replace(graph, weights={e: w * base + 1 for e, w in graph.weights.items()}))
    weights, reaches = {}, {}
    for edge, coded in closed.items():
        total, edges = divmod(coded, base)
        direct = edge in graph.weights
        least = graph.lower.get(edge, 0)
        weights[edge] = graph.weights[edge] if direct else max(total, least)
        reaches[edge] = Reach(least, max(limit if direct else limit * edges, weights[edge]), direct)
    return weights, reaches


def undecided_edges(graph: ReachGraph) -> tuple[Edge, ...]:
    """The edges that are missing only because the solver gave up on them."""
    return tuple(edge for edge in graph.unknown if edge not in graph.weights)
