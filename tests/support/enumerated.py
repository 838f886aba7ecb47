"""Cases of all kinds whose states are few, and exact answers about them by the enumerated states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf

from machines import Case, random_machine
from pysmt.fnode import FNode
from random_systems import random_case

from benchmarks.checks.generated.systems import generated_case
from bmc.explicit.state_graph import StateGraph, invariant_of
from bmc.system.ties import boundary, hold
from bmc.system.transition import Run, TransitionSystem
from chaincover.graph.enumerated import enumerated_within
from chaincover.graph.enumerated_goals import Check
from chaincover.limits import Limits
from chaincover.minimality.product import ShortestRun
from chaincover.partition.coverable_sets import Exhaustion, coverable_sets
from chaincover.problem import Problem
from chaincover.reductions.monitors import plain_run
from properties.goal import Goal
from properties.one_step import in_one_step


def made(seed: int, longest: int = 3) -> Case:
    """Random formulas, places in a machine, or a table with counters; with goals of up to ``longest`` steps, told by
    their monitors."""
    return one_step(drawn(seed, longest))


def drawn(seed: int, longest: int = 3) -> Case:
    """The same with goals as they are drawn."""
    if seed % 3 == 0:
        case = random_case(seed, goals=4, longest=longest)
        return case.system, case.goals, case.final
    if seed % 3 == 1:
        return random_machine(seed)
    found = generated_case(seed, states=16, goals=4, longest=min(longest, 2))
    return found.system, found.goals, found.final


def one_step(case: Case, overlap: str = "allow") -> Case:
    """The case with goals of one step."""
    system, goals, final = case
    found = in_one_step(system, goals, overlap == "forbid")
    return case if found is None else (found.system, found.goals, final)


def held(case: Case, ticks: int) -> Case:
    """The same with inputs that are held for ``ticks`` steps."""
    system = hold(case[0], ticks)
    return system, case[1], boundary(system, case[2])


def graph_of(system: TransitionSystem, goals: Sequence[Goal], final: FNode | None) -> StateGraph:
    graph = enumerated_within(Problem(system, tuple(goals), final), Limits())
    assert graph is not None
    return graph


def strengthened(system: TransitionSystem, goals: Sequence[Goal], final: FNode | None) -> TransitionSystem:
    """``system`` with its reachable states as a proved invariant."""
    found = invariant_of(system, graph_of(system, goals, final).states)
    return system if found is None else replace(system, invariants=(*system.invariants, found))


def problem_of(case: Case, overlap: str = "allow") -> Problem:
    return Problem(case[0], tuple(case[1]), case[2], overlap)


def exhaust(
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    overlap: str = "allow",
    check: Callable[[], None] = lambda: None,
) -> Exhaustion:
    """All sets of goals that one run covers."""
    asked = Problem(system, tuple(goals), final, overlap)
    problem, graph = searched((system, goals, final), overlap)
    found = coverable_sets(problem, graph, inf, check)
    assert found.complete
    return replace(found, runs=[plain_run(found.runs[place], asked) for place in range(len(found.covers))])


def searched(case: Case, overlap: str = "allow") -> tuple[Problem, StateGraph]:
    """The problem of a case with goals of one step, and its states."""
    reduced = one_step(case, overlap)
    return problem_of(reduced), graph_of(*reduced)


@dataclass(frozen=True, slots=True)
class Least:
    """``run``: a shortest one over all goals to the end; None: proved to be none. ``states``, ``nodes``: the effort."""

    run: Run | None
    states: int
    nodes: int


def shortest_run(problem: Problem, graph: StateGraph, work: float, check: Check = lambda: None) -> Least | None:
    """A shortest run over all goals of ``problem``, or that there is none; None where ``work`` does not suffice."""
    search = ShortestRun(problem, graph, check)
    search.advance(work)
    if not search.finished:
        return None
    run = None if search.found is None else search.run_to(search.found)
    return Least(run, len(graph.states), search.nodes)


def least_run(system: TransitionSystem, goals: Sequence[Goal], final: FNode | None, overlap: str = "allow") -> Least:
    """A shortest run over all goals, or that there is none."""
    found = shortest_run(*searched((system, goals, final), overlap), inf)
    assert found is not None
    if found.run is None:
        return found
    return replace(found, run=plain_run(found.run, Problem(system, tuple(goals), final, overlap)))
