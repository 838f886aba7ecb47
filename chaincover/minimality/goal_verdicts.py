"""What a search says of each goal: covered by its chain, proved not to be coverable, or open, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bmc.errors import counted, listed
from chaincover.chain import (
    COVERED,
    EXCLUDED,
    NO_WAY_TO_FINAL,
    NOT_WITHIN_BOUND,
    UNDECIDED,
    Verdict,
)
from chaincover.known import Known
from chaincover.options import Options
from chaincover.result import BY
from chaincover.verdicts import EFFORT, own_test
from chaincover.weights import INIT, Edge, ReachGraph, obstacles, transitive_closure


def judge_goals(known: Known, options: Options, stopped_by: str, used_up: bool) -> tuple[Verdict, ...]:
    """One verdict per goal of the problem of ``known``, in its order.

    Whatever the chain covers is covered; then come proofs, then what was seen, then what the graph tells.
    ``stopped_by`` is what ended the run early, or ''; ``used_up``: the effort was used up.
    """
    return _Verdicts(known, options, stopped_by, used_up).all()


class _Verdicts:
    """The verdicts of one run."""

    def __init__(self, known: Known, options: Options, stopped_by: str, used_up: bool) -> None:
        self._known, self._options = known, options
        self._stopped_by = stopped_by or (EFFORT if used_up else "")
        self._hits = {hit.goal: hit.step for hit in known.chain.hits} if known.chain else {}
        self._graph = known.target_graph.possible
        self._closed = transitive_closure(self._graph)
        self._found = obstacles(self._graph, self._closed)

    def all(self) -> tuple[Verdict, ...]:
        """One per goal."""
        return tuple(self._of(name) for name in self._known.problem.names)

    def _of(self, goal: str) -> Verdict:
        known = self._known
        if goal in self._hits:
            return Verdict(goal, COVERED, self._hits[goal])
        if goal in known.uncoverable:
            reason = known.uncoverable[goal]
            return Verdict(goal, reason.status, detail=reason.how, proved=reason.status != UNDECIDED)
        if goal in known.represented:
            by = self._of(known.represented[goal])
            detail = f"as {by.goal}, which implies it: {by.detail}"
            if by.goal in known.seen:
                detail = detail.replace(self._test(by.goal), self._test(goal))
            elif goal in known.seen:
                detail = f"{detail}; {self._test(goal)}"
            return Verdict(goal, by.status, detail=detail)
        if goal in known.seen:
            return self._reachable(goal)
        return self._unseen(goal)

    def _test(self, goal: str) -> str:
        """The shortest run that covers ``goal``, which one has; whoever covers its representative covers it too."""
        known = self._known
        run = known.seen.get(goal) or known.seen[known.represented[goal]]
        return own_test(run)

    def _reachable(self, goal: str) -> Verdict:
        """The verdict of a goal that a run covers, but not the chain."""
        known, test = self._known, self._test(goal)
        if known.no_chain and known.targets == (goal,):
            return Verdict(goal, NO_WAY_TO_FINAL, detail=f"{test}; no run goes on to the end: {known.no_chain}")
        if known.no_chain:
            verdict = self._without_chain_for_all(goal)
            return replace(verdict, detail=f"{verdict.detail}; {test}")
        if self._too_long():
            return Verdict(goal, self._beyond, detail=f"{self._too_long()}; {test}")
        by_graph = self._by_graph(goal)
        if self._stopped_by and not (by_graph and self._whole):
            why = f"the search was stopped by {self._limit()} before a chain with it was found{self._layers()}"
            return Verdict(goal, UNDECIDED, detail=f"{test}; {why}")
        if by_graph is not None:
            return replace(by_graph, detail=f"{by_graph.detail}; {test}")
        if self._graph.unknown:
            return Verdict(goal, UNDECIDED, detail=f"the solver gave up before a chain with it was found; {test}")
        why = self._failed() or f"no chain was found{' that covers it as well' if known.chain else ''}{self._within()}"
        bounded = known.failed is not None or self._options.bound is not None
        return Verdict(goal, NOT_WITHIN_BOUND if bounded else UNDECIDED, detail=f"{why}; {test}")

    def _unseen(self, goal: str) -> Verdict:
        """The verdict of a goal that no run has covered."""
        if self._too_long():
            return Verdict(goal, self._beyond, detail=self._too_long())
        found = self._by_graph(goal)
        if self._stopped_by and not (found and self._whole):
            return Verdict(goal, UNDECIDED, detail=f"stopped by {self._limit()}{self._so_far(goal)}{self._layers()}")
        if self._known.no_chain:
            return self._without_chain_for_all(goal)
        if found is not None and (self._graph.exact or self._graph.depth >= 0):
            return found
        if self._known.failed is not None:
            return Verdict(goal, NOT_WITHIN_BOUND, detail=self._failed())
        return Verdict(goal, UNDECIDED, detail=f"the solver gave up before a chain was found{self._within()}")

    @property
    def _whole(self) -> bool:
        """Whether the graph has all edges up to the K of the user: more work adds none."""
        return self._options.bound is not None and self._graph.depth >= self._options.bound

    @property
    def _beyond(self) -> str:
        """The verdict of a goal that only longer chains cover: how long they may be is said by the user, or not."""
        return UNDECIDED if self._options.max_length is None else NOT_WITHIN_BOUND

    def _failed(self) -> str:
        """The part of a covering path that could not be made concrete, or ''."""
        failed = self._known.failed
        way = "" if failed is None else f"no inputs with K = {failed.within} join {' -> '.join(failed.nodes)}"
        return way and f"the graph has a covering path, but {way}"

    def _without_chain_for_all(self, goal: str) -> Verdict:
        """The verdict of a goal where no chain covers all: it is excluded if it cannot stand with those covered."""
        others = [name for name in self._known.targets if name != goal]
        covered = [name for name in others if name in self._hits]
        apart = [name for name in covered if self._apart(goal, name)]
        if apart or len(covered) == len(others):
            which = f"{'' if len(apart) == 1 else 'any of '}{listed(apart)}" if apart else "all of " + listed(others)
            return Verdict(goal, EXCLUDED, detail=f"no run covers it together with {which}: {self._known.no_chain}")
        detail = f"no run covers all of {listed(self._known.targets)}: {self._known.no_chain}"
        return Verdict(goal, UNDECIDED, detail=f"no chain with it was found; {detail}")

    def _apart(self, a: str, b: str) -> bool:
        """Whether two goals are proved to exclude each other, by exact distances."""
        exact = self._graph.exact
        weights = self._graph.weights
        return exact and (a, b) not in weights and (b, a) not in weights

    def _layers(self) -> str:
        """What a search in layers takes that the effort did not suffice for."""
        need = self._known.layers
        return "" if need is None or self._stopped_by != EFFORT else f"; {need}"

    def _limit(self) -> str:
        return BY.get(self._stopped_by, self._stopped_by)

    def _within(self) -> str:
        return f" within K = {self._graph.depth}" if self._graph.depth >= 0 else ""

    def _too_long(self) -> str:
        """Why the limit on the length leaves no chain, or ''."""
        most, known = self._options.most_steps, self._known
        proved, given = known.lower > most, self._options.max_length is not None
        if known.length is not None or not (proved or (given and not self._stopped_by)):
            return ""
        proof = f"none is shorter than {known.lower}" if proved else "none was found"
        return f"no chain of at most {counted(most, 'step')} covers all goals: {proof}"

    def _by_graph(self, goal: str) -> Verdict | None:
        """The verdict if the goal itself stands against a chain by what the graph tells.

        Only edges from init are known to start in states that can be reached; a way through other goals need not be a
        run.
        """
        graph, closed, found = self._graph, self._closed, self._found
        if goal in found.unreached:
            if goal not in self._known.seen and _gave_up(graph, closed, INIT, goal):
                return Verdict(goal, UNDECIDED, detail="the solver gave up on whether it can be reached")
            return Verdict(goal, NOT_WITHIN_BOUND, detail=f"not reached from init{self._within()}")
        if goal in found.stuck:
            if _gave_up(graph, closed, goal, graph.end):
                return Verdict(
                    goal, UNDECIDED, detail="the solver gave up on whether it has a way to the final condition"
                )
            reached = "reached" if (INIT, goal) in graph.weights else "may be reached"
            detail = f"{reached}, but no way to the final condition found{self._within()}"
            return Verdict(goal, NO_WAY_TO_FINAL, detail=detail)
        return self._by_others(goal)

    def _by_others(self, goal: str) -> Verdict | None:
        """The verdict if the graph has no way between the goal and another one that it does not rule out itself."""
        graph, closed, found = self._graph, self._closed, self._found
        apart = [pair for pair in found.exclusive if goal in pair]
        others = [b if a == goal else a for a, b in apart]
        others = [other for other in others if other not in (*found.unreached, *found.stuck)]
        if not others:
            return None
        if any(_gave_up(graph, closed, goal, other) or _gave_up(graph, closed, other, goal) for other in others):
            detail = f"the solver gave up on whether it goes together with {listed(others)}"
            return Verdict(goal, UNDECIDED, detail=detail)
        covered = [other for other in others if other in self._hits]
        detail = f"no run{self._within()} per goal covers it together with {listed(covered or others)}"
        if not covered:
            return Verdict(goal, UNDECIDED, detail=f"no chain with it was found; {detail}")
        return Verdict(goal, EXCLUDED, detail=detail)

    def _so_far(self, goal: str) -> str:
        """What keeps ``goal`` from a chain at the K reached, if the goal itself does."""
        if self._graph.depth < 0:
            return ""
        if goal in self._found.unreached:
            return f"; not reached from init{self._within()} so far"
        if goal in self._found.stuck:
            return f"; no way to the final condition{self._within()} so far"
        return ""


def _gave_up(graph: ReachGraph, closed: Mapping[Edge, int], a: str, b: str) -> bool:
    """Whether an unknown answer may hide a way from ``a`` to ``b``."""
    return any((x == a or (a, x) in closed) and (y == b or (y, b) in closed) for x, y in graph.unknown)


def undecided_between(graph: ReachGraph, a: str, b: str) -> bool:
    """Whether an unknown answer may hide a way between two goals of ``graph``, one way or the other."""
    closed = transitive_closure(graph)
    return _gave_up(graph, closed, a, b) or _gave_up(graph, closed, b, a)
