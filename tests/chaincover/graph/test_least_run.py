"""The least inputs of a run that completes goals at given steps, against sets of nodes found step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from random import Random
from tracemalloc import get_traced_memory, start, stop

import numpy as np
from enumerated import graph_of, made, problem_of
from hypothesis import given, settings
from hypothesis import strategies as st

from bmc.explicit.state_graph import Arrows, StateGraph
from chaincover.graph.goal_product import Product, goal_product
from chaincover.graph.least_run import LeastRun

MOST_STEPS = 12


@cache
def product_of(seed: int) -> tuple[StateGraph, Product]:
    case = made(seed)
    graph = graph_of(*case)
    found = goal_product(problem_of(case), graph)
    assert found is not None
    return graph, found


def arrows_of(found: Product, node: int) -> list[tuple[int, int, int]]:
    """Of each arrow from ``node`` the input, the end, and the goals that it completes."""
    places = range(found.arrows.offsets[node], found.arrows.offsets[node + 1])
    return [(int(found.choices[n]), int(found.arrows.ends[n]), found.sets[int(found.masks[n])]) for n in places]


def walked(found: Product, random: Random) -> tuple[list[int], np.ndarray]:
    """Goals to complete at some steps of a random walk, and nodes at which it may end."""
    place = random.randrange(len(found.starts))
    node, completed = int(found.starts[place]), [found.sets[int(found.start_masks[place])]]
    for _ in range(random.randrange(MOST_STEPS)):
        arrows = arrows_of(found, node)
        if not arrows:
            break
        _, node, goals = random.choice(arrows)
        completed.append(goals & random.getrandbits(4) if random.random() < 0.5 else 0)
    ends = np.array([random.random() < 0.2 for _ in range(found.arrows.size)], bool)
    ends[node] = True
    return completed, ends


def slowly(graph: StateGraph, found: Product, completed: Sequence[int], ends: np.ndarray) -> tuple[int, list[int]]:
    onward = [{*np.flatnonzero(ends).tolist()}]
    for goals in reversed(completed[1:]):
        nodes = range(found.arrows.size)
        good = {n for n in nodes if any(not goals & ~own and e in onward[0] for _, e, own in arrows_of(found, n))}
        onward.insert(0, good)
    starts = [
        node
        for node, mask in zip(found.starts.tolist(), found.start_masks.tolist(), strict=True)
        if node in onward[0] and not completed[0] & ~found.sets[mask]
    ]
    begin = node = min(starts, key=lambda node: graph.starts.index(node))
    chosen = []
    for goals, after in zip(completed[1:], onward[1:], strict=True):
        choice, node = min(
            ((c, end) for c, end, own in arrows_of(found, node) if end in after and not goals & ~own),
            key=lambda pair: pair[0],
        )
        chosen.append(choice)
    return begin, chosen


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 30), st.integers(0, 1 << 20))
def test_the_least_run_is_the_one_that_sets_of_nodes_give(seed: int, walk: int) -> None:
    graph, found = product_of(seed)
    completed, ends = walked(found, Random(walk))
    asked = list[int]()
    least = LeastRun(graph, found, completed, lambda: None, lambda cells: not asked.append(cells)).found(ends)
    assert least == slowly(graph, found, completed, ends)


def test_distances_do_where_no_step_is_left_over_and_else_layers_are_asked_for() -> None:
    """Of the same walks some take layers, some do not; those that are not allowed have no answer."""
    asked, refused = set[bool](), 0
    for seed in range(12):
        graph, found = product_of(seed)
        for walk in range(12):
            completed, ends = walked(found, Random(walk))
            search = LeastRun(graph, found, completed, lambda: None, lambda _: False)
            answer = search.found(ends)
            asked.add(answer is None)
            if answer is None:
                refused += 1
            else:
                assert answer == slowly(graph, found, completed, ends)
    assert asked == {False, True}
    assert refused > 12


def test_stretches_between_near_goals_take_no_number_for_each_node() -> None:
    """Hundreds of goals, each two steps after the one before, in a circle of nodes; the second input completes one."""
    size, goals = 100_000, 300
    ends = np.arange(size) == 2 * goals
    graph = replace(graph_of(*made(1)), starts=(0,))
    circle = Product(
        graph=graph,
        goals=(),
        sets=(0, 1),
        starts=np.array([0]),
        start_masks=np.array([0]),
        arrows=Arrows(np.append(0, np.cumsum(np.full(size, 2))), np.repeat((np.arange(size) + 1) % size, 2)),
        masks=np.tile(np.array([0, 1], np.uint8), size),
        choices=np.tile([0, 1], size),
    )
    start()
    found = LeastRun(graph, circle, [0, *[0, 1] * goals], lambda: None, lambda _: False).found(ends)
    _, most = get_traced_memory()
    stop()
    assert most < 100 * size
    assert found == (0, [0, 1] * goals)
