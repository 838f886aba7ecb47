"""Runs of a fixed number of steps through listed states: evaluated all, read along, and one by one in Python."""

from __future__ import annotations

import random
from itertools import product as combined

import pytest
from explicit import Explicit
from random_systems import random_case

from bmc.explicit.enumeration import enumerated
from bmc.explicit.every_run import EveryRun
from bmc.explicit.product import product
from bmc.explicit.queries import MOST_ARROWS, Enumerated, Query, Satisfied, TooManyNodes, Watched, satisfied
from bmc.explicit.state_graph import StateGraph
from bmc.formulas.unroll import at, shift


def ways(graph: StateGraph, steps: int) -> list[tuple[int, list[int]]]:
    """All runs of ``steps`` steps in the order of their numbers."""
    found = [(start, list[int](), start) for start in range(len(graph.states))]
    for _ in range(steps):
        found = [(start, [*way, own], after) for start, way, last in found for own, after in graph.steps[last]]
    return [(start, way) for start, way, _ in found]


def last_of(graph: StateGraph, way: tuple[int, list[int]]) -> int:
    state = way[0]
    for choice in way[1]:
        state = next(after for own, after in graph.steps[state] if own == choice)
    return state


def setting(seed: int):  # type: ignore[no-untyped-def]
    """A random system's list, two formulas over a number of steps, and whether each run satisfies them."""
    case, rng = random_case(seed, goals=3, longest=2), random.Random(seed)
    system = case.system
    symbols = [*(var.symbol for var in system.state), *(var.symbol for var in system.inputs)]
    graph = enumerated(system, [at(symbol, 0) for symbol in symbols], 100_000_000)
    assert graph is not None
    picked = [(goal, rng.randint(0, 1)) for goal in rng.choices(case.goals, k=2)]
    formulas = [shift(goal.antecedent, later) for goal, later in picked]
    steps = max(goal.length + later for goal, later in picked)
    reference = Explicit(system)

    def holds(way: tuple[int, list[int]], formula) -> bool:  # type: ignore[no-untyped-def]
        numbers = [way[0], *(last_of(graph, (way[0], way[1][: n + 1])) for n in range(len(way[1])))]
        states = [tuple(graph.states[number][name] for name in reference.state_names) for number in numbers]
        inputs = [tuple(graph.inputs[choice][name] for name in reference.input_names) for choice in way[1]]
        return reference.holds(formula, states, inputs)

    return graph, formulas, steps, [way for way in ways(graph, steps) if all(holds(way, f) for f in formulas)]


@pytest.mark.parametrize("seed", range(25))
def test_both_ways_find_the_runs_that_satisfy_formulas(seed: int) -> None:
    graph, formulas, steps, wanted = setting(seed)
    runs = EveryRun(graph)
    query = Query(graph, formulas[0] & formulas[1], steps)
    found = product(graph, query.classes, query, range(len(graph.states)), 1_000_000, MOST_ARROWS)
    assert found is not None
    enumerated = satisfied(runs, formulas, steps, 10_000_000, lambda: None)
    assert isinstance(enumerated, Enumerated)
    both: list[Satisfied] = [enumerated, Watched(found, len(graph.states))]
    starts, ends = {way[0] for way in wanted}, {last_of(graph, way) for way in wanted}
    for one in both:
        assert set(one.starts.nonzero()[0].tolist()) == starts
        assert set(one.ends.nonzero()[0].tolist()) == ends
        for start, end in combined([None, *range(len(graph.states))], repeat=2):
            way = one.way(start, end)
            fitting = [w for w in wanted if start in (None, w[0]) and end in (None, last_of(graph, w))]
            assert way in fitting if fitting else way is None


@pytest.mark.parametrize("seed", range(8))
def test_runs_are_numbered_in_order(seed: int) -> None:
    graph, _, steps, _ = setting(seed)
    runs, every = EveryRun(graph), ways(graph, steps)
    assert runs.count(steps) == len(every) == len(runs.numbered(steps).ends)
    assert [runs.way(number, steps) for number in range(len(every))] == every
    assert runs.numbered(steps).ends.tolist() == [last_of(graph, way) for way in every]


def test_more_runs_than_allowed_are_read_along_and_too_many_refused() -> None:
    graph, formulas, steps, _ = setting(0)
    runs = EveryRun(graph)
    with pytest.raises(TooManyNodes):
        satisfied(runs, formulas, steps, 0, lambda: None)
    found = satisfied(runs, formulas, steps, int(runs.count(steps)) - 1, lambda: None)
    assert isinstance(found, Watched)
