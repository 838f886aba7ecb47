"""One program, jumped and walked: what the search in jumps says against the search over all states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from bmc.engines.sat import SatEngine
from bmc.explicit.scope import Inputs
from bmc.invariants.counters import find_counters
from bmc.invariants.induction import Prover
from chaincover.certificate import Acceleration, Certificate
from chaincover.graph.accelerated import Jumps, scope_of, seen_by
from chaincover.graph.enumerated import enumerated_within
from chaincover.limits import Limits as RunLimits
from chaincover.minimality.jump_paths import LightestPath, distances
from chaincover.minimality.jump_paths import ShortestRun as CoveringRun
from chaincover.minimality.product import ShortestRun
from chaincover.problem import Problem
from chaincover.reductions.monitors import monitored
from chaincover.replaying.judge import Judge
from chaincover.verification.acceleration import jumps_of
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.report import HOLDS, OPEN
from chaincover.verification.setting import Setting
from properties.goal import Events


@dataclass(frozen=True)
class Jumped:
    """The search in the jumps of ``claim``: its ``bound`` (None: no path), and the length of the ``chain`` that it
    found (None: none), on how many ``nodes``; what ``verify`` says of the bound, and of one more.
    """

    claim: Acceleration
    bound: int | None
    chain: int | None
    nodes: int
    verified: str
    one_more: str


@dataclass(frozen=True)
class Compared:
    """``least``: the length of a shortest chain, None: there is none; ``states``: how many were searched for it."""

    least: int | None
    states: int
    jumped: tuple[Jumped, ...]

    @property
    def sound(self) -> bool:
        """Whether no bound is above the least length, no chain below it, and nothing wrong was verified."""
        return all(it.verified in (HOLDS, OPEN) and self._fits(it) for it in self.jumped)

    def _fits(self, it: Jumped) -> bool:
        if self.least is None or it.bound is None:
            return self.least is None and it.chain is None
        most = self.least if it.chain is None else it.chain
        return it.bound <= self.least <= most and (it.bound < self.least or it.one_more != HOLDS)

    @property
    def exact(self) -> bool:
        """Whether the last bound is the least length."""
        return self.jumped[-1].bound == self.least

    @property
    def verified(self) -> bool:
        """Whether every bound was proved again."""
        return all(it.verified == HOLDS for it in self.jumped)


KEPT = (0, 2, 32)
"""Steps for which values are kept."""


def compare(problem: Problem, kept: Sequence[int] = KEPT) -> Compared | None:
    """The comparison, of goals of one step; None where no counter is found."""
    problem = monitored(problem).problem
    scope = scope_of(problem)
    prover = Prover(SatEngine(), lambda: None, None)
    cells = find_counters(scope.system, seen_by(problem), prover, lambda starts: True)
    if cells is None:
        return None
    inputs = Inputs(scope)
    list(inputs.prepare())
    claims = [Acceleration(dict(cells.starts), steps, 0) for steps in kept]
    jumped = list[Jumped]()
    while claims:
        claim = claims.pop(0)
        jumps = Jumps(problem, scope, inputs, claim)
        list(jumps.advance())
        if jumps.slow and not jumped:  # with no value kept, too, slow counters are to be charged
            claims = [replace(one, slow=jumps.slow) for one in (claim, *claims)]
        jumped.append(_jumped(problem, claim, jumps))
    return Compared(*_walked(problem), tuple(jumped))


def _jumped(problem: Problem, claim: Acceleration, jumps: Jumps) -> Jumped:
    graph = jumps.graph
    assert graph is not None
    number = Events.of(problem.goals, problem.system).number
    search = LightestPath(graph, (1 << number) - 1, distances(graph, number, False))
    runs = CoveringRun(graph, problem, distances(graph, number, True))
    list(search.advance())
    list(runs.advance())
    paths = search.path, runs.path
    run = None if paths[1] is None else graph.run(problem, paths[1])
    chain = None if run is None else Judge(problem).chain(run)
    length = None if chain is None or len(chain.goals) < len(problem.goals) else chain.length
    bound = None if paths[0] is None else sum(arc.weight for arc in paths[0])
    verified, one_more = verdicts(problem, replace(claim, bound=bound or 0), bound is None)
    return Jumped(claim, bound, length, graph.size, verified, one_more)


def verdicts(problem: Problem, claim: Acceleration, no_path: bool) -> tuple[str, str]:
    """What ``verify`` says of ``claim`` about the goals of ``problem``, and of one with a bound above it; ``no_path``:
    that there is no chain at all."""
    setting = Setting(problem.system, problem.goals, problem.final)
    proof = Certificate(problem.names, problem.end, "allow", acceleration=claim)
    found = jumps_of(setting, proof, Clock(Limits()))
    more = replace(proof, acceleration=replace(claim, bound=claim.bound + 1))
    if no_path and found.graph is not None:
        return HOLDS if found.no_path(problem.names, inf) else OPEN, OPEN
    return found.line(proof).verdict, found.line(more).verdict


def _walked(problem: Problem) -> tuple[int | None, int]:
    graph = enumerated_within(problem, RunLimits())
    assert graph is not None
    search = ShortestRun(problem, graph)
    while search.advance(1_000_000):
        pass
    return (None if search.found is None else search.found.length), len(graph.states)
