"""Deep timers: the bundled car alarm with delays of hundreds of steps, exactly, without unrolling."""

from __future__ import annotations

from dataclasses import replace

import pytest
from command_line import MODELS
from enumerated import graph_of, shortest_run

from bmc.explicit.state_graph import StateGraph
from chaincover.graph.enumerated import enumerated_graph
from chaincover.limits import Limits
from chaincover.problem import Problem
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.reductions.slicing import sliced
from chaincover.subject import Subject
from chaincover.weights import INIT

ARM, SIREN, FLASH = 110, 210, 420


def alarm(arm: int, siren: int, flash: int) -> Subject:
    project = read_project(str(MODELS / "alarm"))
    delays = (("ARM_DELAY", str(arm)), ("SIREN_TIME", str(siren)), ("FLASH_TIME", str(flash)))
    config = replace(project.config, defines=(*project.config.defines, *delays))
    return load(replace(project, config=config))


@pytest.fixture(scope="module")
def deep() -> tuple[Problem, StateGraph]:
    return enumerated(alarm(ARM, SIREN, FLASH))


def enumerated(subject: Subject) -> tuple[Problem, StateGraph]:
    """What is asked of the controller, and its reachable states."""
    system = sliced(subject.system, subject.goals, subject.final)
    return replace(subject.problem, system=system), graph_of(system, subject.goals, subject.final)


def least_length(problem: Problem, graph: StateGraph) -> int:
    found = shortest_run(problem, graph, 100_000_000)
    assert found is not None
    assert found.run is not None
    return found.run.length


@pytest.mark.evidence
def test_the_least_chain_grows_with_the_timers(deep: tuple[Problem, StateGraph]) -> None:
    """A step more of a delay is so many steps more of the chain as it waits for that delay to end."""
    problem, graph = deep
    assert len(graph.states) > 1000
    assert least_length(*enumerated(alarm(3, 4, 5))) == 29
    growth = {}
    for name, delays in {"arm": (4, 4, 5), "siren": (3, 5, 5), "flash": (3, 4, 6)}.items():
        growth[name] = least_length(*enumerated(alarm(*delays))) - 29
    expected = 29 + growth["arm"] * (ARM - 3) + growth["siren"] * (SIREN - 4) + growth["flash"] * (FLASH - 5)
    assert least_length(problem, graph) == expected


def test_a_long_list_makes_the_graph(deep: tuple[Problem, StateGraph]) -> None:
    graph = enumerated_graph(*deep, Limits())
    assert graph.queries == 0
    assert graph.unsatisfiable == ()
    assert graph.weights[INIT, "siren_ends"] > ARM + SIREN - 2
    assert graph.weights[INIT, "rearms"] > ARM + SIREN + FLASH - 4
