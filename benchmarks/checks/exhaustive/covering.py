"""The least walks over a graph that use an arc of each goal: an integer program, for goals that are too many to search.

A walk from the start to a final state is a flow of one unit that hangs together: what enters a state leaves it, but for
the start and the end, and each state that is used is reached from the start over arcs that are used. Conversely every
such flow is a walk (Euler). Several walks are a flow of several units. SCIP proves the least number of arcs; where the
flow does not hang together, arcs that enter the part that is left over are asked for, and it is solved again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ortools.linear_solver import pywraplp


@dataclass(frozen=True, slots=True)
class Graph:
    """States are numbers, 0 is the start. An arc is from, to, and the goals that it covers."""

    states: int
    finals: frozenset[int]
    arcs: tuple[tuple[int, int, frozenset[int]], ...]

    def coverable(self) -> frozenset[int]:
        """The goals that some arc covers."""
        return frozenset(goal for *_, goals in self.arcs for goal in goals)


def least(graph: Graph, goals: frozenset[int], walks: int, finals: frozenset[int]) -> int | None:
    """The least total length of so many walks from the start that end in ``finals`` and cover ``goals``; None: none."""
    solver = pywraplp.Solver.CreateSolver("SCIP")
    steps = [solver.IntVar(0, solver.infinity(), f"step {number}") for number in range(len(graph.arcs))]
    ends = {state: solver.IntVar(0, walks, f"end {state}") for state in finals}
    entering, leaving = defaultdict(list), defaultdict(list)
    covering = defaultdict(list)
    for variable, (source, target, covered) in zip(steps, graph.arcs, strict=True):
        leaving[source].append(variable)
        entering[target].append(variable)
        for goal in covered:
            covering[goal].append(variable)
    for state in range(graph.states):
        inflow = sum(entering[state]) + (walks if state == 0 else 0)
        solver.Add(inflow == sum(leaving[state]) + ends.get(state, 0))
    for goal in sorted(goals):
        solver.Add(sum(covering[goal]) >= 1)
    solver.Minimize(sum(steps))
    longest = (len(goals) + walks) * graph.states  # no least walk has more steps
    while True:
        status = solver.Solve()
        if status == pywraplp.Solver.INFEASIBLE:
            return None
        assert status == pywraplp.Solver.OPTIMAL, status
        used: list[int] = [round(variable.solution_value()) for variable in steps]
        parts = list(left_over(graph, used))
        if not parts:
            return sum(used)
        for part, arc in parts:
            into = [
                variable
                for variable, (source, target, _) in zip(steps, graph.arcs, strict=True)
                if source not in part and target in part
            ]
            solver.Add(sum(into) * longest >= steps[arc])


def left_over(graph: Graph, used: Sequence[int]) -> Iterator[tuple[set[int], int]]:
    """Each set of states that arcs in use join, but not with the start, with an arc in use inside."""
    after = defaultdict(set)
    for (source, target, _), times in zip(graph.arcs, used, strict=True):
        if times:
            after[source].add(target)
            after[target].add(source)
    seen = joined(0, after)
    for number, ((source, *_), times) in enumerate(zip(graph.arcs, used, strict=True)):
        if times and source not in seen:
            part = joined(source, after)
            seen |= part
            yield part, number


def joined(state: int, after: dict[int, set[int]]) -> set[int]:
    """All states that are joined with ``state``."""
    found, waiting = {state}, [state]
    while waiting:
        for other in after[waiting.pop()] - found:
            found.add(other)
            waiting.append(other)
    return found


def fewest(graph: Graph, goals: frozenset[int], finals: frozenset[int]) -> tuple[int, int]:
    """The fewest walks that cover ``goals``, and their least total length."""
    for walks in range(1, len(goals) + 1):
        length = least(graph, goals, walks, finals)
        if length is not None:
            return walks, length
    raise AssertionError("a goal has no run to a final state")
