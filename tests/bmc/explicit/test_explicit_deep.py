"""Deep timers: the bundled car alarm with delays of hundreds of steps, exactly, without unrolling."""

from __future__ import annotations

from dataclasses import replace

import pytest
from command_line import MODELS

from chaincover.graph.enumerated import ListedGraphBuilder, listed_builder
from chaincover.graph.explored import Reachable
from chaincover.graph.small import ONE_BY_ONE, SmallSystem
from chaincover.limits import Limits
from chaincover.options import Options
from chaincover.project.load import Controller, load
from chaincover.project.project_file import read_project
from chaincover.reductions.slicing import sliced
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


def least_length(controller: Controller, reachable: Reachable) -> int:
    small = SmallSystem(reachable.plain, controller.goals, controller.final, Options(), reachable, lambda: None)
    found = small.least([goal.name for goal in controller.goals])
    assert found is not None
    assert found.run is not None
    return found.run.length


def test_the_least_chain_grows_with_the_timers(deep: tuple[Controller, Reachable]) -> None:
    """A step more of a delay is so many steps more of the chain as it waits for that delay to end."""
    controller, reachable = deep
    graph = reachable.graph
    assert graph is not None
    assert len(graph.states) > ONE_BY_ONE
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
    builder = listed_builder(reachable, controller.goals, controller.final, Options(), Limits())
    assert isinstance(builder, ListedGraphBuilder)
    builder.extend()
    graph = builder.graph()
    assert graph.queries == 0
    assert graph.unsatisfiable == ()
    assert graph.weights[INIT, "siren_ends"] > ARM + SIREN - 2
    assert graph.weights[INIT, "rearms"] > ARM + SIREN + FLASH - 4
    small = alarm(3, 4, 5)
    few = Reachable(small.system, small.goals, small.final, 100_000)
    assert listed_builder(few, small.goals, small.final, Options(), Limits()) is None, "the solver is quick there"
    none = Options()
    assert listed_builder(reachable, controller.goals, controller.final, none, Limits()) is None
