"""Algorithm 2 by queries: the K-reachability graph for growing K, and how fast K grows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from chaincover.chain import UNREACHABLE
from chaincover.graph.edges import Told
from chaincover.graph.reachability import GraphBuilder
from chaincover.known import Board, Reason
from chaincover.options import Options
from chaincover.problem import Questions
from chaincover.stages import pause, wait_for
from chaincover.weights import Edge, ReachGraph, exists_path, transitive_closure

GROWTH = 1.5
"""K grows by this factor: each K is one query more per source, and a query about all distances up to it is harder."""

NEVER = Reason(UNREACHABLE, "no state and inputs satisfy it together with the constraints and the proved invariants")
"""Why a goal is unreachable that no step of any run can begin with."""


def grow(board: Board) -> None:
    """Let K grow until no edge is left to ask for, K may not grow, or the states are enumerated after all.

    Goals that nothing satisfies are ruled out. The graph is that of all goals not implied by others when it begins.
    Where goals come to it, it begins anew.
    """
    growth: Growth | None = None
    while board.known.enumerated is None:
        if growth is None or not {*board.known.targets} <= {*growth.graph.goals}:
            growth = Growth(board.questions, board.options, board.offer)
        growth.observe(board.known.observed)
        board.say(f"graph: edges of up to {growth.following} steps")
        try:
            growth.extend()
        finally:
            if board.known.enumerated is None:
                board.tell(graph=growth.graph)
        graph = growth.graph.possible
        board.say(f"graph: K = {graph.depth}, {len(graph.weights)} of {len(graph.lower)} edges")
        never = [name for name in growth.graph.unsatisfiable if name in board.known.targets]
        if never:
            board.rule_out(dict.fromkeys(never, NEVER))
        if growth.over:
            goals = {*growth.graph.goals}
            wait_for(board, lambda known, goals=goals: not {*known.targets} <= goals)  # type: ignore[misc]
        else:
            pause()


class Growth:
    """A graph that grows."""

    def __init__(self, questions: Questions, options: Options, told: Told = lambda run: None) -> None:
        self._most = options.bound
        self._observed: dict[Edge, int] = {}
        self._builder = GraphBuilder(questions, options.bound, told)

    @property
    def graph(self) -> ReachGraph:
        """The graph so far."""
        return self._builder.graph()

    def observe(self, upper: Mapping[Edge, int]) -> None:
        """Take note of distances that runs make.

        These and the weights tell how K grows, not what else the builder's queries showed: that depends on what was
        asked before.
        """
        self._observed.update(upper)
        self._builder.observe(upper)

    @property
    def following(self) -> int:
        """The next K: faster and faster, but not beyond where runs show a covering path."""
        depth = self._builder.depth
        to = max(depth + 1, int(depth * GROWTH))
        shown = shown_depth(replace(self.graph, upper=self._observed).possible)
        if shown is not None and shown > depth:
            to = min(to, shown)
        return to if self._most is None else min(to, self._most)

    def extend(self) -> None:
        """Let K grow. LimitReached when time is over."""
        self._builder.extend(self.following)

    @property
    def over(self) -> bool:
        """Whether no edge is left to ask for, or K may not grow."""
        return self._builder.complete or (self._most is not None and self._builder.depth >= self._most)


def shown_depth(graph: ReachGraph) -> int | None:
    """The least K whose edges, as far as runs have shown them, make a covering path; None if there is none."""
    known = {**graph.upper, **graph.weights}
    found = None
    steps = sorted({*known.values()})
    low, high = 0, len(steps) - 1
    while low <= high:
        middle = (low + high) // 2
        few = {edge: weight for edge, weight in known.items() if weight <= steps[middle]}
        part = ReachGraph(graph.goals, graph.end, few, {}, (), (), 0, 0, 0.0)
        if exists_path(part, transitive_closure(part)) is None:
            low = middle + 1
        else:
            found, high = steps[middle], middle - 1
    return found
