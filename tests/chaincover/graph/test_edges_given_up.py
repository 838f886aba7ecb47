"""Edges where the solver gives up: few questions, and bounds that stay true."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from engine_doubles import GivesUp
from enumerated import one_step
from machines import random_machine
from pysmt.fnode import FNode
from random_systems import random_case

from bmc.engines import choose
from bmc.engines.protocol import Alternative, Answer, Cost, Engine, Session, Status
from bmc.system.transition import Run, TransitionSystem
from chaincover.graph.reachability import GraphBuilder
from chaincover.limits import Limits
from chaincover.problem import Problem, Questions
from chaincover.weights import END, ReachGraph

DEPTH = 7


class Moody:
    """``sat`` that leaves some questions open, by chance."""

    name, version = "moody", ""

    def __init__(self, seed: int) -> None:
        self._sat, self._rng, self.cost = choose("sat"), random.Random(seed), Cost()

    def tries(self, system: TransitionSystem) -> bool:
        return False

    def session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode] = ()) -> Session:
        return MoodySession(self._sat.session(system, source, goals), self._rng)


class MoodySession:
    """See Moody."""

    def __init__(self, session: Session, rng: random.Random) -> None:
        self._session, self._rng = session, rng

    def check(
        self, formulas: Sequence[FNode], steps: int, time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        return self._or_open(self._session.check(formulas, steps, time_limit, effort))

    def check_any(
        self, alternatives: Sequence[Alternative], time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        return self._or_open(self._session.check_any(alternatives, time_limit, effort))

    def run(self) -> Run:
        return self._session.run()

    def _or_open(self, answer: Answer) -> Answer:
        return Answer(Status.UNKNOWN) if self._rng.random() < 0.4 else answer


def graph(seed: int, engine: Engine) -> ReachGraph:
    """All edges of a random system, up to DEPTH in two portions."""
    if seed % 2:
        case = random_machine(seed)
    else:
        drawn = random_case(seed, goals=3, longest=2)
        case = drawn.system, drawn.goals, drawn.final
    system, goals, final = one_step(case)
    builder = GraphBuilder(Questions(Problem(system, tuple(goals), final, "allow"), engine, Limits()))
    for to in (DEPTH // 2, DEPTH):
        builder.extend(to)
    return builder.graph()


@pytest.mark.parametrize("seed", range(10))
def test_what_is_given_up_is_unknown_and_bounds_stay_true(seed: int) -> None:
    true, found = graph(seed, choose("sat")), graph(seed, Moody(seed))
    assert set(found.unsatisfiable) <= set(true.unsatisfiable)
    for edge, lower in true.lower.items():
        weight, bound = true.weights.get(edge, DEPTH + 1), found.lower[edge]
        assert bound <= weight
        assert found.weights.get(edge, DEPTH + 1) >= weight
        if edge not in found.unknown:
            assert (found.weights.get(edge), bound) == (true.weights.get(edge), lower)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_a_hopeless_edge_is_asked_for_a_few_times_not_once_for_each_distance(seed: int) -> None:
    found = graph(seed, GivesUp())
    assert all(target == END for _, target in found.weights)
    assert set(found.unknown) == set(found.lower) - set(found.weights)
    sources, edges = len(found.goals) + 1, len(found.unknown)
    halvings = 1 + (DEPTH // 2 + 1).bit_length()
    assert found.queries <= len(found.goals) + 2 * (sources + edges * halvings)
