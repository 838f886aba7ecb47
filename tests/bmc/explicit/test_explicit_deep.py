"""Deep timers: the bundled car alarm with delays of hundreds of steps, exactly, without unrolling."""

from __future__ import annotations

from dataclasses import replace

import pytest
from command_line import MODELS

from chaincover.graph.enumerated import EnumeratedGraphBuilder
from chaincover.graph.exact import shortest_run
from chaincover.graph.explored import Reachable
from chaincover.problem import Problem
from chaincover.project.load import Controller, load
from chaincover.project.project_file import read_project
from chaincover.reductions.sliced import sliced
from chaincover.weights import INIT

ARM, SIREN, FLASH = 300, 700, 1500


def alarm(arm: int, siren: int, flash: int) -> Controller:
    project = read_project(str(MODELS / "alarm"))
    delays = (("ARM_DELAY", str(arm)), ("SIREN_TIME", str(siren)), ("FLASH_TIME", str(flash)))
    config = replace(project.config, defines=(*project.config.defines, *delays))
    return load(replace(project, config=config))


@pytest.fixture(scope="module")
def deep() -> tuple[Controller, Reachable]:
    controller = alarm(ARM, SIREN, FLASH)
    system = sliced(controller.system, controller.goals, controller.final)
    return controller, Reachable(system, controller.goals, controller.final, 100_000)


def problem_of(controller: Controller, reachable: Reachable) -> Problem:
    return Problem(reachable.plain, tuple(controller.goals), controller.final)


def least_length(controller: Controller, reachable: Reachable) -> int:
    assert reachable.graph is not None
    found = shortest_run(problem_of(controller, reachable), reachable.graph, 100_000_000)
    assert found is not None
    assert found.run is not None
    return found.run.length


def test_the_least_chain_grows_with_the_timers(deep: tuple[Controller, Reachable]) -> None:
    """A step more of a delay is so many steps more of the chain as it waits for that delay to end."""
    controller, reachable = deep
    graph = reachable.graph
    assert graph is not None
    assert len(graph.states) > 2000
    small = alarm(3, 4, 5)
    assert least_length(small, Reachable(small.system, small.goals, small.final, 100_000)) == 29
    growth = {}
    for name, delays in {"arm": (4, 4, 5), "siren": (3, 5, 5), "flash": (3, 4, 6)}.items():
        longer = alarm(*delays)
        growth[name] = least_length(longer, Reachable(longer.system, longer.goals, longer.final, 100_000)) - 29
    expected = 29 + growth["arm"] * (ARM - 3) + growth["siren"] * (SIREN - 4) + growth["flash"] * (FLASH - 5)
    assert least_length(controller, reachable) == expected


def test_a_long_list_makes_the_graph(deep: tuple[Controller, Reachable]) -> None:
    controller, reachable = deep
    assert reachable.graph is not None
    builder = EnumeratedGraphBuilder(problem_of(controller, reachable), reachable.graph)
    builder.extend()
    graph = builder.graph()
    assert graph.queries == 0
    assert graph.unsatisfiable == ()
    assert graph.weights[INIT, "siren_ends"] > ARM + SIREN - 2
    assert graph.weights[INIT, "rearms"] > ARM + SIREN + FLASH - 4
