"""Simpler inputs of a chain that was stopped are judged again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from random import Random

import pytest
from boards import run_by
from counted_calls import calls_in
from drawn_seeds import seeds
from machines import Machine
from problems import problem_of
from pysmt.shortcuts import BV, BVULT, FALSE, And, BVAdd, Ite, Not
from random_systems import random_case

from bmc.engines.protocol import INSTRUCTION, WORK
from bmc.formulas.unroll import at, framed
from bmc.system.constraints import Dwell, constrained
from bmc.system.simulation import Simulator
from bmc.system.transition import BOOLEAN, InputVariable, Run, StateVariable, TransitionSystem, ValueType
from chaincover import limits
from chaincover.chain import Chain
from chaincover.concretise.tidy import telling_constants, tidy, tidy_finding
from chaincover.known import Known
from chaincover.limits import UNITS, Limits
from chaincover.problem import Problem
from chaincover.replaying.judge import Judge
from properties.goal import Goal
from properties.monitor import Monitor


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
    found = tidy(Known(problem, chain=chain), Limits())
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
        found = tidy(Known(asked, chain=Judge(asked).chain(chain.run)), Limits())
        assert found is not None
        assert [values["tidy_light"] for values in found.run.inputs] == lights
        assert [values["tidy_key"] for values in found.run.inputs] == [0, 0, 0, 0, 1]
        assert all(list(rule.broken(found.run)) == [] for rule in rules)


def counting(steps: int) -> tuple[Problem, Chain]:
    """A problem whose goal is reached by waiting, and a chain of so many steps with inputs that nothing reads."""
    word = ValueType("uint16", 16)
    count = word.symbol("tidy_count")
    variable = StateVariable("tidy_count", word, BV(0, 16), BVAdd(count, BV(1, 16)))
    system = TransitionSystem("counting", (variable,), (InputVariable("tidy_noise", BOOLEAN),))
    problem = problem_of(system, [Goal("late", at(count.Equals(BV(steps, 16)), 0), None, 0)], None)
    chain = Judge(problem).chain(run_by(system, *(step % 2 for step in range(1, steps + 1))))
    assert chain is not None
    assert chain.length == steps
    return problem, chain


def test_work_grows_as_the_chain_does() -> None:
    """A change of one step copies no other one: 13,078 steps took 17 s, most of it for copies of all others."""

    def work(steps: int) -> int:
        problem, chain = counting(steps)
        return calls_in(lambda: tidy(Known(problem, chain=chain), Limits()))

    few, many = work(100), work(400)
    assert many < 4.5 * few


def test_inputs_of_later_steps_stay_where_the_effort_for_what_comes_after_the_search_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem, chain = counting(100)
    whole = Limits(effort=1.0)
    whole.spend(2.0 * UNITS)
    assert whole.used_up, "tidying is done beside the effort"
    found = tidy(Known(problem, chain=chain), whole.after())
    assert found is not None
    assert [values["tidy_noise"] for values in found.run.inputs] == [0] * 100
    assert found.as_found is None
    monkeypatch.setattr(limits, "AFTER", limits.AFTER * (whole.spent / UNITS - 2.0) / 2)
    before = whole.spent
    found = tidy(Known(problem, chain=chain), whole.after())
    assert found is not None
    noise, given = ([values["tidy_noise"] for values in run.inputs] for run in (found.run, chain.run))
    assert found.as_found in range(1, 100)
    assert noise == [*[0] * found.as_found, *given[found.as_found :]]
    assert whole.spent > before, "what it takes is counted"


def test_of_a_run_that_the_clock_has_ended_some_seconds_are_left_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: seconds[0])
    problem, chain = counting(10)
    ended = Limits(seconds=5.0)
    seconds[0] += 5.0
    after = ended.after()
    assert not after.over
    seconds[0] += limits.AFTER_SECONDS
    assert after.over
    found = tidy(Known(problem, chain=chain), after)
    assert found is not None
    assert (found.run, found.as_found) == (chain.run, 0)


def test_simpler_inputs_that_lose_a_goal_are_given_up_where_it_is_lost() -> None:
    """A try is over with the first goal that it loses: else each of hundreds goes on to the end of the run."""
    word = ValueType("uint16", 16)
    count, key, last = word.symbol("tidy_count"), BOOLEAN.symbol("tidy_key"), BOOLEAN.symbol("tidy_last")
    state = (
        StateVariable("tidy_count", word, BV(0, 16), BVAdd(count, BV(1, 16))),
        StateVariable("tidy_last", BOOLEAN, FALSE(), key),
    )
    system = TransitionSystem("presses", state, (InputVariable("tidy_key", BOOLEAN),))
    pressed, steps = [*range(5, 400, 10)], 400
    goals = [Goal(f"at_{k}", at(And(count.Equals(BV(k, 16)), last), 0), None, 0) for k in pressed]
    goals += [Goal(f"no_{k}", at(And(count.Equals(BV(k + 5, 16)), Not(last)), 0), None, 0) for k in pressed]
    goals.append(Goal("end", at(count.Equals(BV(steps, 16)), 0), None, 0))
    problem = problem_of(system, goals, None)
    chain = Judge(problem).chain(run_by(system, *(step % 10 in (2, 4, 8) for step in range(steps))))
    assert chain is not None
    left = Limits()
    found = tidy(Known(problem, chain=chain), left, freely=True)
    assert found is not None
    assert found.goals == chain.goals
    values = [inputs["tidy_key"] for inputs in found.run.inputs]
    assert sum(1 for _ in groupby(values)) <= 2 * len(pressed) + 1, "one press for each goal that asks for one"
    assert left.spent / (Simulator(system).size * INSTRUCTION / WORK) < 8 * steps


@pytest.mark.parametrize("seed", range(40))
def test_inputs_are_as_simple_as_trying_each_by_itself_makes_them(seed: int) -> None:
    case, rng = random_case(seed, longest=1, inputs=2), Random(seed)
    problem, simulator = problem_of(case.system, case.goals, None), Simulator(case.system)
    given = [{var.name: rng.getrandbits(1) for var in case.system.inputs} for _ in range(12)]
    run = simulator.valid_part(simulator.run(simulator.initial(), given))
    chain = Judge(problem).chain(run)
    assert chain is not None
    found = tidy(Known(problem, chain=chain), Limits())
    assert found is not None
    expected = Judge(problem).chain(simplified(problem, chain))
    assert expected is not None
    assert found.run == expected.run


def simplified(problem: Problem, chain: Chain) -> Run:
    """The run of ``chain``, of which each input of each step is replaced by itself where the whole run allows it."""
    simulator, monitor, run = Simulator(problem.system), Monitor(problem.of(chain.goals).goals), chain.run
    for step in range(chain.length):
        for var in problem.system.inputs:
            for value in candidates(run, step, var.name):
                inputs = [{**own, var.name: value} if k == step else own for k, own in enumerate(run.inputs)]
                other = simulator.run(run.states[0], inputs)
                same = other.states == run.states and simulator.valid_part(other) == other
                if same and all(monitor.holds(other, hit.goal, hit.step) for hit in chain.hits):
                    run = other
                    break
    return run


def candidates(run: Run, step: int, name: str) -> Iterator[int]:
    """The value of the step before, then 0, up to the one that the step has."""
    for value in ([run.inputs[step - 1][name]] if step else []) + [0]:
        if value == run.inputs[step][name]:
            return
        yield value


@seeds(30)
def test_a_finding_stays_and_each_change_of_an_input_is_needed_for_it(seed: int) -> None:
    """By trying each: where the input keeps its value up to its next change, the goal is not covered at the end."""
    case, rng = random_case(seed, longest=1, inputs=2), Random(seed)
    simulator = Simulator(case.system)
    given = [{var.name: rng.getrandbits(1) for var in case.system.inputs} for _ in range(12)]
    run = simulator.valid_part(simulator.run(simulator.initial(), given))
    for goal in case.goals:
        problem, monitor = problem_of(case.system, [goal], None), Monitor([goal])

        def holds(run: Run, step: int, monitor: Monitor = monitor, name: str = goal.name) -> bool:
            return monitor.holds(run, name, step)

        for step in monitor.covered(run)[goal.name][-1:]:
            end = goal.over(step)
            whole = Run(run.states[: end + 1], run.inputs[:end])
            found = tidy_finding(problem, whole, Limits())
            assert found == simulator.run(found.states[0], found.inputs)
            assert simulator.valid_part(found) == found
            assert holds(found, step)
            for var in case.system.inputs:
                first = 0
                for value, steps in groupby([values[var.name] for values in found.inputs]):
                    last = first + len([*steps])
                    before = [found.inputs[first - 1][var.name]] if first else [var.plainest]
                    block = [{**values, var.name: before[0]} for values in found.inputs[first:last]]
                    again = simulator.run(found.states[0], [*found.inputs[:first], *block, *found.inputs[last:]])
                    assert value == before[0] or simulator.valid_part(again) != again or not holds(again, step)
                    first = last


def test_a_finding_gets_constants_of_the_program_where_nothing_simpler_will_do() -> None:
    """A sum that has to pass 1000 by values of which only those above 700 count: the drawn ones go."""
    word = ValueType("uint16", 16)
    total, given, limit = word.symbol("tidy_total"), word.symbol("tidy_given"), BV(1000, 16)
    counted = Ite(BVULT(BV(700, 16), given), given, BV(0, 16))
    variable = StateVariable("tidy_total", word, BV(0, 16), BVAdd(total, counted))
    system = TransitionSystem("sum", (variable,), (InputVariable("tidy_given", word, ((0, 5000),)),))
    problem = problem_of(system, [Goal("over", at(BVULT(limit, total), 0), None, 0)], None)
    assert telling_constants(problem)["tidy_given"] == [700, 699, 701, 0, 5000]
    simulator = Simulator(system)
    drawn = simulator.run(simulator.initial(), [{"tidy_given": value} for value in (123, 919, 45, 851)])
    found = tidy_finding(problem, drawn, Limits())
    assert [values["tidy_given"] for values in found.inputs] == [0, 0, 701, 701]
    assert tidy_finding(problem, drawn, Limits(effort=0.0)) == drawn, "once the limits are over all stays"
