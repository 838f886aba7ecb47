"""What is made of many steps takes little memory beside them: work is done on some states at a time."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pytest

from bmc.explicit.enumeration import _Kept
from bmc.explicit.rows import Rows, Steps
from bmc.explicit.state_graph import Arrows, StateGraph
from chaincover.graph.goal_product import Product
from chaincover.minimality.flow_network import Network
from chaincover.minimality.flow_program import Choices, program_of

STATES, EACH = 20_000, 50
Made = TypeVar("Made")


def peak_of(make: Callable[[], Made]) -> tuple[Made, int]:
    """What ``make`` makes, and the most bytes that it took meanwhile, once all modules that it needs are loaded."""
    make()
    gc.collect()
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


def test_enumerated_steps_are_put_in_order_some_states_at_a_time() -> None:
    kept = _Kept()
    rows, choices = np.repeat(np.arange(STATES), EACH), np.tile(np.arange(EACH), STATES)
    kept.add(np.arange(STATES)[::-1], rows, choices, nexts())
    found, peak = peak_of(lambda: kept.steps(STATES, np.arange(EACH)[::-1]))
    assert found[STATES - 1] == tuple((EACH - 1 - place, place // 2) for place in reversed(range(EACH)))
    assert peak < 25 * STATES * EACH


def ring(few: int) -> Callable[[], Network]:
    """Makes the network with an arc from each state to each of the ``few`` next ones; a chain ends in the last one."""
    ends = ((np.arange(STATES)[:, None] + 1 + np.arange(few)) % STATES).astype(np.int32).reshape(-1)
    made = Product(
        graph=graph(),
        goals=(),
        sets=(0, 1),
        starts=np.array([0]),
        start_masks=np.array([0]),
        arrows=Arrows(np.arange(STATES + 1) * few, ends),
        masks=np.ones(len(ends), np.uint8),
        choices=np.zeros(len(ends), np.int64),
    )
    return lambda: Network(made, np.arange(STATES) == STATES - 1, 1)


@pytest.mark.evidence
def test_the_network_of_the_covering_flow_takes_little_for_each_arc() -> None:
    few = 4
    found, peak = peak_of(ring(few))
    assert [found.arc(place) for place in range(few)] == [(0, 1, 1), (0, 2, 1), (0, 3, 1), (0, 4, 1)]
    assert found.leaving.of(np.array([5]))[0].tolist() == list(range(20, 24))
    assert found.entering.numbers is not None
    assert found.entering.numbers[found.entering.of(np.array([5]))[0]].tolist() == [7, 10, 13, 16]
    assert peak < 70 * few * STATES


def test_a_chain_of_steps_without_a_choice_is_one_variable_of_the_covering_flow() -> None:
    line = ring(1)()
    (choices, program), peak = peak_of(lambda: (found := Choices(line), program_of(line, found)))
    assert (len(choices.variables), len(choices.balanced)) == (3, 1)
    assert sorted(program.costs.tolist()) == [0, STATES - 1, STATES]
    assert peak < 60 * STATES
