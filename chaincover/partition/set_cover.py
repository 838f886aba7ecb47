"""The minimal number of chains, and how short they can be in total.

Where the states are enumerated, a minimal set cover of the goals by the sets of goals that runs cover. Else the total
length of so many chains is bounded by one order with resets in it: a reset is a node that lies as far behind a goal as
the end, and as far before a goal as init. An order of all goals with m - 1 resets is a distribution over m chains, and
the shortest such order, over direct distances and least lengths of sub-paths, bounds the total length of any m chains
that cover all goals.

Where the search ends early, the runs that it has seen to cover goals are chains too, as many as it takes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from math import inf
from typing import TYPE_CHECKING

from bmc.system.transition import Run
from chaincover.certificate import Certificate
from chaincover.chain import COVERED, Bounds, Chain, Verdict
from chaincover.graph.enumerated import ENUMERATING, enumerated_within
from chaincover.known import NOTHING, steps_allowed
from chaincover.limits import HALF, PER_UNIT, UNITS, Limits
from chaincover.options import Options
from chaincover.partition.best import covered_by, of_own
from chaincover.problem import Problem
from chaincover.reductions.monitors import monitored
from chaincover.reductions.resets import has_resets
from chaincover.reductions.slicing import smaller_problem
from chaincover.replaying.judge import Judge
from chaincover.result import ChainResult
from chaincover.weights import INIT, Edge, ReachGraph

if TYPE_CHECKING:
    from chaincover.orderings.protocol import OrderingResult, Path
    from chaincover.partition.coverable_sets import Cover, Exhaustion

MOST_UNIONS = 400_000
"""Unions of covers that are made in the search for a minimal set cover; above, the number is left open."""

COMPARED = 1_000
"""So many unions are compared with each other, to leave out those that others contain."""


Unions = Mapping[int, tuple[int, tuple[int, ...]]]
"""For each union of covers, as bits: the total length, and the numbers of the covers."""


def sets_of_goals(
    problem: Problem, options: Options, limits: Limits, least: int = 0, measured: bool = True
) -> Exhaustion | None:
    """The sets of goals that one chain covers, no longer than ``options`` allow.

    Where at ``least`` so many goals are asked for, and chains may have any length, only the largest set is told, if
    the components of the states tell it. Where the sets need not be ``measured``, those are told that are within no
    other one; None where a chain has a greatest length, init leaves a variable open, or the components do not tell.
    None where the states are not to be enumerated, or cannot be within a share of the effort that ``limits`` leave.
    LimitReached when a share of the time is over.
    """
    from chaincover.partition.coverable_sets import coverable_sets, largest_set, maximal_sets

    if options.engine != ENUMERATING:
        return None
    if not measured and not (options.max_length is None and has_resets(problem.system)):
        return None
    part = part_of(limits, HALF)
    try:
        reduction = smaller_problem(monitored(problem).problem, options, part)
        small = reduction.problem
        states = enumerated_within(small, part, reduction.enumeration)
        if states is None:
            return None
        left = inf if part.effort is None else max(0.0, part.effort * UNITS - part.spent) * PER_UNIT.set_arrows
        found = None
        if least and options.max_length is None:
            found = largest_set(small, states, least, left, part.check)
        if not measured:
            found = maximal_sets(small, states, part.check)
        elif found is None:
            found = coverable_sets(small, states, left, part.check)
        if found is None:
            return None
        part.spend(found.work / PER_UNIT.set_arrows)
    finally:
        limits.spend(part.spent)
    most = inf if options.max_length is None else options.max_length
    fitting = [place for place, cover in enumerate(found.covers) if cover.length <= most]
    return replace(found, covers=found.covers[: len(fitting)])


def minimal_set_cover(pareto: Sequence[Cover], goals: Collection[str]) -> tuple[Cover, ...] | None:
    """The minimal number of covers whose union holds all ``goals`` and, among these, the least total length.

    ``pareto`` are those of ``Exhaustion``; the covers are in their order there. None where there are too many ways to
    choose; ValueError if a goal is in no cover.
    """
    names = sorted(set(goals))
    masks = [sum(1 << place for place, name in enumerate(names) if name in cover.goals) for cover in pareto]
    holders = [[index for index, mask in enumerate(masks) if mask >> place & 1] for place in range(len(names))]
    if not all(holders):
        raise ValueError("a goal is in none of the covers")
    numbers = [*map(len, holders)]
    rarest = sorted(range(len(names)), key=numbers.__getitem__)
    everything = (1 << len(names)) - 1
    unions: Unions = {0: (0, ())}
    made = 0
    while everything not in unions:
        following: dict[int, tuple[int, tuple[int, ...]]] = {}
        for done, (length, chosen) in unions.items():
            missing = next(place for place in rarest if not done >> place & 1)  # some cover must hold it
            for index in holders[missing]:
                found = (length + pareto[index].length, tuple(sorted((*chosen, index))))
                union = done | masks[index]
                following[union] = min(following.get(union, found), found)
            made += numbers[missing]
            if made > MOST_UNIONS:
                return None
        unions = _undominated(following)
    return tuple(pareto[index] for index in unions[everything][1])


def _undominated(unions: Unions) -> Unions:
    """Those of ``unions`` that no larger one contains which is no longer."""
    if len(unions) > COMPARED:
        return unions
    kept: dict[int, tuple[int, tuple[int, ...]]] = {}
    for mask in sorted(unions, key=lambda mask: (-mask.bit_count(), mask)):
        if not any(mask & ~other == 0 and kept[other][0] <= unions[mask][0] for other in kept):
            kept[mask] = unions[mask]
    return kept


class Distribution:
    """Orders of ``goals`` with ``chains`` - 1 resets. ``graph`` has the direct distances; more facts can be learned."""

    def __init__(self, graph: ReachGraph, goals: Sequence[str], chains: int) -> None:
        self._graph = graph.restricted(goals)
        self._resets = tuple(f"reset {number}" for number in range(1, chains))
        self._edges: dict[Edge, int] = dict(self._graph.lower)
        self._paths: dict[Path, int] = {}

    @staticmethod
    def of(whole: ChainResult, goals: Sequence[str], chains: int) -> Distribution | None:
        """Those of ``goals`` on the graph of ``whole``; None for a single chain, or if the graph lacks a goal."""
        kept = [name for name in goals if name in whole.graph.goals]
        if chains < 2 or any(whole.represented.get(name, name) not in kept for name in goals):
            return None
        return Distribution(whole.graph, kept, chains)

    def learn(self, certificates: Iterable[Certificate | None]) -> bool:
        """Add the facts of chains through some of the goals; whether any of them is new."""
        before = (dict(self._edges), dict(self._paths))
        for certificate in certificates:
            for edge in certificate.edges if certificate else ():
                source, target = edge.path
                if (source, target) in self._edges:
                    self._edges[source, target] = max(self._edges[source, target], edge.at_least)
            for fact in certificate.paths if certificate else ():
                self._paths[fact.path] = max(self._paths.get(fact.path, 0), fact.at_least)
        return before != (self._edges, self._paths)

    def least(self, seconds: float | None) -> OrderingResult:
        """The shortest order; its path has the resets in it."""
        from chaincover.orderings.auto import AutoOrdering
        from chaincover.orderings.protocol import Limit, OrderingProblem

        end = self._graph.end
        problem = OrderingProblem((*self._graph.goals, *self._resets), self._weights(), INIT, end, least=self._least())
        return AutoOrdering().solve(problem, Limit(seconds))

    def classes(self, path: Path) -> list[list[str]]:
        """The goals of each chain of an order, in the order of the chains' first goals among all goals."""
        chains: list[list[str]] = [[]]
        for node in path[1:-1]:
            if node in self._resets:
                chains.append([])
            else:
                chains[-1].append(node)
        place = {goal: number for number, goal in enumerate(self._graph.goals)}
        return sorted((sorted(chain, key=place.__getitem__) for chain in chains), key=lambda chain: place[chain[0]])

    def _weights(self) -> Mapping[Edge, int]:
        weights = dict(self._edges)
        for goal, reset in product(self._graph.goals, self._resets):
            weights[goal, reset] = self._edges[goal, self._graph.end]
            weights[reset, goal] = self._edges[INIT, goal]
        return weights

    def _least(self) -> Mapping[Path, int]:
        """The least lengths of sub-paths, also between resets. From init to the end they need no reset between."""
        least = {}
        for path, steps in self._paths.items():
            firsts = (INIT, *self._resets) if path[0] == INIT else (path[0],)
            lasts = (self._graph.end, *self._resets) if path[-1] == self._graph.end else (path[-1],)
            for first, last in product(firsts, lasts):
                if first != last:
                    least[first, *path[1:-1], last] = steps
        return least


def with_implied(names: Sequence[str], goals: Sequence[str], represented: Mapping[str, str]) -> list[str]:
    """``names``, and those of ``goals`` that these represent, in the order of ``goals``."""
    return [name for name in goals if represented.get(name, name) in names]


LEAST_PART, LEAST_SECONDS = 0.01, 0.01
"""Every search may spend so much of the whole effort, and so many seconds, whatever is left."""


def share_of(options: Options, limits: Limits, share: float) -> Options:
    """``options`` for one search that may spend ``share`` of what ``limits`` leave. LimitReached when time is over."""
    limits.check()
    return within(options, part_of(limits, share))


def within(options: Options, part: Limits) -> Options:
    """``options`` for one search within the limits ``part``, even if no time is left: it tells what is known then."""
    return replace(options, time_limit=part.seconds, effort=part.effort)


def part_of(limits: Limits, share: float) -> Limits:
    """Limits over ``share`` of the time and the effort that ``limits`` leave, beginning now."""
    left, effort = limits.left(), limits.effort
    if effort is not None:
        effort = max(effort * LEAST_PART, (effort - limits.spent / UNITS) * share)
    return Limits(None if left == inf else max(LEAST_SECONDS, left * share), limits.query_limit, effort)


class RunsInHand:
    """The runs that searches have seen to cover goals, and the chains that they make. ``used_up``: a search has ended
    for want of effort."""

    def __init__(self, problem: Problem, options: Options) -> None:
        self._problem, self._options = problem, options
        self.runs: dict[str, Run] = {}
        self.used_up = False
        self._chains: dict[str, Chain | None] = {}

    def add(self, result: ChainResult) -> None:
        """Take note of the runs that ``result`` has for goals."""
        self.used_up = self.used_up or result.used_up
        for name, run in result.tests.items():
            if name not in self.runs or run.length < self.runs[name].length:
                self.runs[name] = run
                self._chains.pop(name, None)

    def tests(self, covered: Collection[str]) -> dict[str, Run]:
        """The runs in hand for goals that are not among those ``covered``."""
        return {name: run for name, run in self.runs.items() if name not in covered}

    def best(self, names: Collection[str]) -> ChainResult | None:
        """The chain in hand that covers most of the goals ``names``, with nothing said of shorter ones; None without
        one."""
        own = [self._chain(name) for name in names if name in self.runs]
        chains = [chain for chain in own if chain is not None and chain.goals & {*names}]
        if not chains:
            return None
        return self._told(min(chains, key=lambda chain: (-len(chain.goals & {*names}), chain.length)))

    def _told(self, chain: Chain) -> ChainResult:
        steps = {hit.goal: hit.step for hit in chain.hits}
        verdicts = tuple(Verdict(name, COVERED, steps[name]) for name in self._problem.names if name in steps)
        bounds = Bounds(0, chain.length, "nothing was asked yet")
        return ChainResult(chain, verdicts, bounds, None, NOTHING, self._options)

    def chain_of(self, run: Run) -> ChainResult | None:
        """The chain of ``run``, with nothing said of shorter ones; None where it may not end."""
        chain = self._judge.chain(run)
        return None if chain is None else self._told(chain)

    def proved(self, chain: ChainResult, whole: ChainResult) -> ChainResult | None:
        """``chain`` of some of the goals as one of all of them, with its proof, and the distances that the search for
        the ``whole`` has found; None where it is too long."""
        if chain.chain is None or chain.chain.length > self._options.most_steps:
            return None
        result = self.chain_of(chain.chain.run)
        if result is None or chain.certificate is None:
            return result
        proof = of_own(chain.certificate, self._problem.of(covered_by(result)))
        graph = whole.graph.restricted(covered_by(result))
        return result if proof is None else replace(result, bounds=chain.bounds, certificate=proof, graph=graph)

    def _chain(self, name: str) -> Chain | None:
        """The chain of the run for the goal ``name``, as far as it may go; None where it may not end."""
        if name not in self._chains:
            chain = self._judge.chain(self.runs[name])
            fits = chain is not None and steps_allowed(chain, self._options, self._problem) == chain.length
            self._chains[name] = chain if fits else None
        return self._chains[name]

    @cached_property
    def _judge(self) -> Judge:
        return Judge(self._problem)
