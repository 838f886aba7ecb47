"""The paper's running example and its Examples 1 and 2."""

from __future__ import annotations

import pytest
from cruise import INIT, INPUTS, OFF, ON, PROPERTIES, cruise, enable, prop, transitions
from enumeration import reachable_states
from listeners import Told
from pysmt.fnode import FNode
from pysmt.shortcuts import And, Not

from bmc.system.simulation import Simulator
from chaincover import pipeline
from chaincover.chain import Hit
from chaincover.options import Options
from chaincover.orderings.bound import FARTHEST
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.result import ChainResult

State = tuple[int, int, bool]


def pressed(result: ChainResult) -> list[str]:
    """The one input of each step."""
    assert result.chain is not None
    return [next(name[3:] for name, value in values.items() if value) for values in result.chain.run.inputs]


def changes() -> list[tuple[State, State]]:
    """All pairs of a reachable state and another state one step later."""
    system = cruise()
    states = reachable_states(system, [], 10_000_000)
    assert states == ({},)
    states = reachable_states(system, [p.antecedent for p in PROPERTIES], 10_000_000)
    assert states is not None
    assert len(states) == 8
    simulator = Simulator(system)
    found = set()
    for state in states:
        for chosen in INPUTS:
            after = simulator.step(state, {s.symbol_name(): int(s is chosen) for s in INPUTS})
            if after != state:
                found.add((tuple(state.values()), tuple(after.values())))
    return [((a, b, bool(c)), (d, e, bool(f))) for (a, b, c), (d, e, f) in sorted(found)]


@pytest.mark.parametrize(("final", "length"), [(None, 8), (INIT, 9)])
@pytest.mark.parametrize("ordering", ["auto", "local"])
def test_four_properties(final: FNode | None, length: int, ordering: str) -> None:
    result = generate(Problem(cruise(), tuple(PROPERTIES), final), Options(ordering=ordering))
    assert result.chain is not None
    assert result.chain.length == result.bounds.lower == length
    assert result.bounds.minimal
    assert result.bounds.gap == 0
    assert {v.goal: v.status for v in result.verdicts} == dict.fromkeys(["p1", "p2", "p3", "p4"], "covered")
    assert [v.step for v in result.verdicts] == [
        next(hit.step for hit in result.chain.hits if hit.goal == v.goal) for v in result.verdicts
    ]
    assert all(hit.consequent_held for hit in result.chain.hits)
    assert result.chain.failures == ()


@pytest.mark.slow
@pytest.mark.parametrize("final", [None, INIT])
def test_all_eighteen_transitions(final: FNode | None) -> None:
    goals = transitions(changes())
    assert len(goals) == 18
    result = generate(Problem(cruise(), tuple(goals), final))
    assert result.chain is not None
    assert result.chain.length == 22
    assert result.bounds.minimal


def test_without_exploration_the_bound_is_still_right() -> None:
    result = generate(Problem(cruise(), tuple(PROPERTIES), None), Options(engine="sat"))
    assert not any("reachable states" in name for name in result.invariants)
    assert result.bounds.lower <= 8 <= result.bounds.length


@pytest.mark.evidence
def test_figure_1_as_printed_has_no_way_back() -> None:
    result = generate(Problem(cruise(fixed=False), tuple(PROPERTIES), INIT), Options(bound=12))
    assert {v.goal: v.status for v in result.verdicts} == {
        "p1": "no-way-to-final",
        "p2": "no-way-to-final",
        "p3": "no-way-to-final",
        "p4": "covered",
    }
    assert "no run goes on to the final condition" in result.verdicts[0].detail
    blind = generate(Problem(cruise(fixed=False), tuple(PROPERTIES), INIT), Options(bound=6, engine="sat"))
    assert "within K = 6" in blind.verdicts[0].detail


def test_figure_1_covers_p4_alone() -> None:
    result = generate(Problem(cruise(fixed=False), tuple(PROPERTIES[3:]), INIT))
    assert result.chain is not None
    assert result.chain.length == 6
    assert result.bounds.minimal


def test_examples_1_and_2_the_broken_chain_is_repaired(monkeypatch: pytest.MonkeyPatch) -> None:
    """By Algorithms 2 to 4 alone, without the other ways to a chain."""
    kept = ("graph", "get chain")
    monkeypatch.setattr(pipeline, "STAGES", tuple(stage for stage in pipeline.STAGES if stage.name in kept))
    goals = [prop("p1", And(OFF, Not(enable), INPUTS[4]), enable), prop("p2", And(ON, INPUTS[1]))]
    told = Told()
    result = generate(Problem(cruise(), tuple(goals), INIT), Options(engine="sat"), told)
    assert result.graph.weights["init", "p1"] == 0
    assert result.graph.weights["p1", "p2"] == 1
    assert result.graph.weights["p2", "final"] == 2
    assert told.said("repair: init -> p1 -> p2")
    assert result.chain is not None
    assert pressed(result)[0] == "button"
    assert pressed(result)[2:] == ["brake", "button"]
    assert result.chain.hits == (Hit("p1", 0, True), Hit("p2", 2, None))
    assert result.graph.lower["init", "p2"] + result.graph.lower["p2", "final"] == 4
    assert (result.bounds.lower, result.bounds.basis, result.bounds.minimal) == (4, FARTHEST, True)
