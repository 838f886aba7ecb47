"""Simpler inputs of a chain that was stopped are judged again."""

from __future__ import annotations

from dataclasses import replace

from boards import run_by
from machines import Machine
from problems import problem_of
from pysmt.shortcuts import FALSE

from bmc.formulas.unroll import at, framed
from bmc.system.constraints import Dwell, constrained
from bmc.system.simulation import Simulator
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem
from chaincover.concretise.canonical import tidy
from chaincover.known import Known
from chaincover.replay.judge import Judge
from properties.goal import Goal


def test_a_goal_that_simpler_inputs_cover_earlier_is_credited_there() -> None:
    machine = Machine("tidy", ["m"], ["left", "right", "other"], [])
    goals = (
        Goal("left", at(machine.chosen("left"), 0), None, 1),
        Goal("right", at(machine.chosen("right"), 0), None, 1),
    )
    problem = problem_of(machine.system(), goals, None)
    chain = Judge(problem).chain(run_by(problem.system, 2, 1, 0))
    assert chain is not None
    assert {hit.goal: hit.step for hit in chain.hits} == {"right": 1, "left": 2}
    found = tidy(Known(problem, chain=chain))
    assert found is not None
    assert found == Judge(problem).chain(found.run)
    assert {hit.goal: hit.step for hit in found.hits} == {"right": 1, "left": 0}


def test_an_input_with_a_dwell_time_is_simpler_for_as_long_as_it_was_the_same() -> None:
    """One step alone could not change; the state, and what the goal reads, stay as they were."""
    light, key = (BOOLEAN.symbol(f"tidy_{name}") for name in ("light", "key"))
    pressed = StateVariable("tidy_pressed", BOOLEAN, FALSE(), key)
    free = TransitionSystem("tidy", (pressed,), tuple(InputVariable(s.symbol_name(), BOOLEAN) for s in (light, key)))
    rules = Dwell("tidy_light", 2), Dwell("tidy_key", 2)
    system = constrained(free, rules)
    goals = (Goal("pressed", at(pressed.symbol, 0), None, 0), Goal("lit", framed(light, 0), None, 1))
    given = [{"tidy_light": a, "tidy_key": b} for a, b in ((0, 0), (0, 0), (1, 0), (1, 0), (0, 1), (0, 1), (1, 1))]
    problem, simulator = problem_of(system, goals, None), Simulator(system)
    chain = Judge(problem).chain(simulator.run(simulator.initial(), given))
    assert chain is not None
    first, lit = (replace(problem, goals=chosen) for chosen in (goals[:1], goals))
    for asked, lights in ((first, [0, 0, 0, 0, 0]), (lit, [0, 0, 1, 1, 1])):
        found = tidy(Known(asked, chain=Judge(asked).chain(chain.run)))
        assert found is not None
        assert [values["tidy_light"] for values in found.run.inputs] == lights
        assert [values["tidy_key"] for values in found.run.inputs] == [0, 0, 0, 0, 1]
        assert all(list(rule.broken(found.run)) == [] for rule in rules)
