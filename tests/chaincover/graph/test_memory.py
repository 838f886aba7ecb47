"""What is made of many steps takes little memory beside them: work is done on some states at a time."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from bmc.explicit.enumeration import _Kept
from bmc.explicit.product import Product
from bmc.explicit.rows import Rows, Steps
from bmc.explicit.state_graph import Arrows, StateGraph
from chaincover.graph.goal_product import GoalProduct
from chaincover.graph.goal_runs import _without_repeated_steps
from chaincover.minimality.flow_network import Network

STATES, EACH = 20_000, 50
Made = TypeVar("Made")


def peak_of(make: Callable[[], Made]) -> tuple[Made, int]:
    """What ``make`` makes, and the most bytes that it took meanwhile."""
    tracemalloc.start()
    try:
        made = make()
        return made, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def nexts() -> np.ndarray:
    return ((np.arange(STATES)[:, None] + np.arange(EACH) // 2) % STATES).astype(np.int32).reshape(-1)


def graph() -> StateGraph:
    """Each state has two steps to each of its neighbours, under different inputs."""
    choices = np.tile(np.arange(EACH, dtype=np.uint8), STATES)
    steps = Steps(np.arange(STATES + 1) * EACH, choices, nexts())
    return StateGraph(Rows({}, STATES), (0,), Rows({}, EACH), steps)


def test_repeated_steps_are_left_out_some_states_at_a_time() -> None:
    whole = graph()
    found, peak = peak_of(lambda: _without_repeated_steps(whole, np.zeros(EACH, np.int64)))
    assert found.steps.total == STATES * EACH / 2
    assert found.steps[7] == whole.steps[7][::2]
    assert peak < 25 * STATES * EACH


def test_without_repeated_steps_the_graph_is_shared() -> None:
    whole = graph()
    assert _without_repeated_steps(whole, np.arange(EACH)) is whole


def test_enumerated_steps_are_put_in_order_some_states_at_a_time() -> None:
    kept = _Kept()
    rows, choices = np.repeat(np.arange(STATES), EACH), np.tile(np.arange(EACH), STATES)
    kept.add(np.arange(STATES)[::-1], rows, choices, nexts())
    found, peak = peak_of(lambda: kept.steps(STATES, np.arange(EACH)[::-1]))
    assert found[STATES - 1] == tuple((EACH - 1 - place, place // 2) for place in reversed(range(EACH)))
    assert peak < 25 * STATES * EACH


def test_the_network_of_the_covering_flow_takes_little_for_each_arc() -> None:
    few = 4
    ends = ((np.arange(STATES)[:, None] + 1 + np.arange(few)) % STATES).astype(np.int32).reshape(-1)
    product = Product(
        states=np.arange(STATES, dtype=np.int32),
        memories=np.zeros(STATES, np.int32),
        starts=np.array([0]),
        start_masks=np.array([0]),
        arrows=Arrows(np.arange(STATES + 1) * few, ends),
        masks=np.zeros(len(ends), np.int64),
        choices=np.zeros(len(ends), np.int64),
    )
    made = GoalProduct(graph(), (), product, (0,))
    network, peak = peak_of(lambda: Network(made, np.ones(STATES, bool), 1))
    assert network.arcs[:few] == [(0, 1, 0), (0, 2, 0), (0, 3, 0), (0, 4, 0)]
    assert network.balance(5) == {7: 1, 10: 1, 13: 1, 16: 1, **dict.fromkeys(range(20, 24), -1), len(ends) + 1 + 5: -1}
    assert peak < 250 * len(ends)
