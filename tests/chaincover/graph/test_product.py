"""Tables of the product with goals covered: steps of every size are kept as they are."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from enumerated import graph_of, made, problem_of

from bmc.explicit.state_graph import Arrows
from chaincover.graph.goal_product import goal_product
from chaincover.graph.product import _Layout, _Surroundings


@pytest.mark.parametrize("onward", [0, 65_533, 65_534, 65_535, 65_536, 1 << 20])
def test_steps_of_every_number_are_kept(onward: int) -> None:
    """The second place completes the goal in a step to the third one, which is ``onward`` steps from an end."""
    around = object.__new__(_Surroundings)
    arrows = Arrows(np.array([0, 1, 2, 2]), np.array([1, 2]))
    around.product = SimpleNamespace(arrows=arrows, masks=np.array([0, 1]))
    around._sets = [0, 1]
    around.layout = _Layout(3, 1)
    around.possible = [np.zeros(3, np.uint64)]
    around.to_end = np.array([onward + 2, onward + 1, onward], np.int32)
    assert around._to_complete(arrows.backward(), 1, lambda: None, lambda steps: None)[:, 0].tolist() == [
        onward + 2,
        onward + 1,
        0,
    ]
    assert around.possible[0].tolist() == [1, 1, 0]


def test_a_product_that_somebody_has_is_shared() -> None:
    case = made(1)
    problem, graph = problem_of(case), graph_of(*case)
    found = goal_product(problem, graph)
    assert found is not None
    assert goal_product(problem, graph) is found
    fewer, apart = goal_product(problem.of(()), graph), goal_product(problem_of(case, "forbid"), graph)
    assert fewer is not None
    assert (fewer.goals, found.goals) == ((), problem.goals)
    assert apart is not None
    assert apart is not found
    assert goal_product(problem, graph_of(*case)) is not found
