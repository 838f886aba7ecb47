"""Runs side by side: they are the simulator's runs, and what they show is an upper bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from chain_checks import check_run
from cruise import INIT as RESTED
from cruise import PROPERTIES, cruise
from enumerated import one_step
from explicit import Explicit
from hypothesis import given, settings
from hypothesis import strategies as st
from listeners import Told
from problems import problem_of
from pysmt.shortcuts import TRUE, And, Equals, Ite, Not, Or
from random_systems import random_case

from bmc.errors import LimitReached
from bmc.evaluation.vectors import column
from bmc.explicit.batch import Batch, EventFinder
from bmc.formulas.unroll import at, framed
from bmc.system.constraints import Constraint, constrained
from bmc.system.simulation import Simulator
from bmc.system.ties import hold, ties
from bmc.system.transition import InputVariable, Run, StateVariable, TransitionSystem, ValueType, membership
from chaincover.graph.edges import Distances
from chaincover.limits import Limits
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.replaying.judge import Judge
from chaincover.runs import random
from chaincover.runs.random import RandomRuns
from chaincover.stages import Stage
from chaincover.weights import FINAL, INIT
from properties.goal import Goal
from properties.monitor import Monitor

SEEDS = st.integers(0, 10**9)


def nodes(case) -> dict[str, Goal]:
    found = {INIT: Goal(INIT, at(case.system.init_formula, 0), None, 0)} | {goal.name: goal for goal in case.goals}
    return found | ({} if case.final is None else {FINAL: Goal(FINAL, at(case.final, 0), None, 0)})


TEMPERATURE = ValueType("temperature", 12)


def sensor() -> TransitionSystem:
    """What the step sees is what the sensor says, from 0 to 4,000."""
    now = TEMPERATURE.symbol("sensor_now")
    state = StateVariable("sensor_seen", TEMPERATURE, TEMPERATURE.constant(0), now)
    range_ = membership(now, TEMPERATURE, ((0, 4000),))
    return TransitionSystem("sensor", (state,), (InputVariable("sensor_now", TEMPERATURE, ((0, 4000),)),), range_)


def test_inputs_that_change_slowly_go_far() -> None:
    """From 2,000 to above 2,600 and below 1,600, by 7 in a step at most; a draw of any value is hardly ever allowed."""
    before, now = (framed(TEMPERATURE.symbol("sensor_now"), step) for step in (0, 1))
    seven = TEMPERATURE.constant(7)
    slow = And((now + seven).BVUGE(before), (before + seven).BVUGE(now))
    first = Constraint("warm", before.Equals(TEMPERATURE.constant(2000)), first=True)
    system = constrained(sensor(), (Constraint("slow", slow), first))
    seen = framed(TEMPERATURE.symbol("sensor_seen"), 0)
    goals = [Goal("hot", TEMPERATURE.constant(2600).BVULT(seen), None, 0)]
    goals += [Goal("cold", seen.BVULT(TEMPERATURE.constant(1600)), None, 0)]
    *_, run = RandomRuns(Problem(system, tuple(goals), None), Limits()).runs()
    assert all(Monitor(goals).covered(run).values())
    simulator = Simulator(system)
    assert simulator.valid_part(run).length == run.length


def test_a_clock_among_the_inputs_lets_others_stay_as_they_are() -> None:
    """It grows by 100 in every step: one value is allowed. The button has to be up for 40 steps, and down for 40."""
    wide, flag, time = ValueType("wide", 64), ValueType("flag", 1), ValueType("time", 8)
    now, button, old, held = (
        type_.symbol(f"board_{name}")
        for type_, name in ((wide, "now"), (flag, "button"), (flag, "old"), (time, "held"))
    )
    counted = Ite(held.BVULT(time.constant(40)), held + time.constant(1), held)
    state = (
        StateVariable("board_old", flag, flag.constant(0), button),
        StateVariable("board_held", time, time.constant(0), Ite(button.Equals(old), counted, time.constant(0))),
    )
    inputs = (InputVariable("board_now", wide), InputVariable("board_button", flag, ((0, 1),)))
    grows = framed(now, 1).Equals(framed(now, 0) + wide.constant(100))
    first = Constraint("first", framed(now, 0).Equals(wide.constant(0)), first=True)
    system = constrained(TransitionSystem("board", state, inputs, TRUE()), (Constraint("grows", grows), first))
    long = held.Equals(time.constant(40))
    goals = [Goal(f"held_{n}", at(And(long, old.Equals(flag.constant(n))), 0), None, 0) for n in (0, 1)]
    *_, run = RandomRuns(problem_of(system, goals, None), Limits()).runs()
    assert all(Monitor(goals).covered(run).values())
    assert [step["board_now"] for step in run.inputs] == [100 * n for n in range(run.length)]


@pytest.mark.parametrize(("name", "ends"), [("float", (0.0, 100.0)), ("double", (-20.0, 10.0))])
def test_floating_point_inputs_are_drawn_by_their_value(name: str, ends: tuple[float, float]) -> None:
    """Of the values between the ends of a range a good part lies in each tenth of it, not only near 0."""
    word, number = (np.uint32, np.float32) if name == "float" else (np.uint64, np.float64)
    bits = number().itemsize * 8
    kind = ValueType(name, bits, floating=True)
    low, high = (int(np.array(abs(end), number).view(word)) for end in ends)
    sign = 1 << (bits - 1)
    values = ((0, high), (sign, sign + low)) if ends[0] < 0 else ((0, high),)
    system = TransitionSystem("level", (), (InputVariable(f"level_in:{bits}", kind, values),), TRUE())
    drawn = Batch(system).draw({}, 4000, 1).inputs[f"level_in:{bits}"].astype(word).view(number)
    inside = drawn[(drawn > ends[0]) & (drawn < ends[1])]
    counts, _ = np.histogram(inside, 10, ends)
    assert ((ends[0] <= drawn) & (drawn <= ends[1])).all()
    assert counts.min() > 20


def test_one_input_acts_while_many_others_are_at_rest() -> None:
    """A timer of 60 steps that runs while the first of 16 inputs changes now and then, and none of the others is on."""
    flag, time = ValueType("flag", 1), ValueType("time", 6)
    inputs = tuple(InputVariable(f"rest_{n}", flag, ((0, 1),)) for n in range(16))
    first, *others = (flag.symbol(each.name).Equals(flag.constant(1)) for each in inputs)
    timer, turned = time.symbol("rest_timer"), flag.symbol("rest_turned")
    counted = Ite(timer.BVULT(time.constant(60)), timer + time.constant(1), timer)
    state = (
        StateVariable("rest_timer", time, time.constant(0), Ite(Or(others), time.constant(0), counted)),
        StateVariable(
            "rest_turned",
            flag,
            flag.constant(0),
            Ite(
                Or(others), flag.constant(0), Ite(And(first, timer.Equals(time.constant(50))), flag.constant(1), turned)
            ),
        ),
    )
    over = And(timer.Equals(time.constant(60)), turned.Equals(flag.constant(1)))
    goals = [Goal("over", at(over, 0), None, 0)]
    runs = RandomRuns(problem_of(TransitionSystem("rest", state, inputs, TRUE()), goals, None), Limits())
    *_, last = runs.runs()
    assert all(Monitor(goals).covered(last).values())


@pytest.mark.parametrize("most", [3, 40])
def test_runs_that_ended_stay_ended_while_others_wait(most: int) -> None:
    """The sensor rises or falls by at most so much: most draws end a run, and what follows is no run."""
    system = sensor()
    before, now = TEMPERATURE.symbol("sensor_seen"), TEMPERATURE.symbol("sensor_now")
    near = And((now + TEMPERATURE.constant(most)).BVUGE(before), (before + TEMPERATURE.constant(most)).BVUGE(now))
    system = replace(system, input_constraint=And(system.input_constraint, near))
    goals = [Goal("hot", TEMPERATURE.constant(2000).BVULT(framed(now, 0)), None, 1)]
    simulator = Simulator(system)
    for run in RandomRuns(Problem(system, tuple(goals), None), Limits(effort=0.004)).runs():
        assert simulator.valid_part(run).length == run.length


@settings(max_examples=30, deadline=None, derandomize=True)
@given(SEEDS, st.sampled_from([1, 3]))
def test_drawn_runs_are_runs_of_the_simulator(seed: int, ticks: int) -> None:
    case = random_case(seed)
    problem = problem_of(*one_step((hold(case.system, ticks), case.goals, None)))
    system = problem.system
    batch, simulator = Batch(system, seed=seed), Simulator(system)
    runs = batch.draw(batch.initial(), 5, 7)
    assert runs.steps == 7
    hits = EventFinder({goal.name: (goal.antecedent, goal.takes_step) for goal in problem.goals}).hits(runs)
    for number in range(5):
        run = simulator.run(simulator.initial(), runs.run_inputs(number, 7))
        for name, rows in runs.states.items():
            assert [state[name] for state in run.states] == rows[:, number].tolist()
        valid = simulator.valid_part(run)
        assert valid.length == runs.valid[number]
        shown = {name: np.flatnonzero(rows[:, number]).tolist() for name, rows in hits.items()}
        covered = Monitor(case.goals).covered(valid)
        assert shown == {goal.name: [goal.over(step) for step in covered[goal.name]] for goal in case.goals}


@settings(max_examples=30, deadline=None, derandomize=True)
@given(SEEDS, st.sampled_from([1, 3]))
def test_runs_under_given_inputs_are_runs_of_the_simulator(seed: int, ticks: int) -> None:
    """No input is drawn anew, also where a step is not allowed."""
    system = hold(random_case(seed).system, ticks)
    batch, simulator = Batch(system, seed=seed), Simulator(system)
    drawn = np.random.RandomState(seed % 1000)
    inputs = {var.name: drawn.randint(0, 2, (7, 5)).astype(column([0], var.type.bits).dtype) for var in system.inputs}
    runs = batch.follow(batch.repeated(batch.initial(), 5), inputs)
    for number in range(5):
        given = [{name: int(rows[step, number]) for name, rows in inputs.items()} for step in range(7)]
        if not ties(system):
            assert runs.run_inputs(number, 7) == given
        run = simulator.run(simulator.initial(), runs.run_inputs(number, 7))
        for name, rows in runs.states.items():
            assert [state[name] for state in run.states] == rows[:, number].tolist()
        assert simulator.valid_part(run).length == runs.valid[number]


@pytest.mark.evidence
@settings(max_examples=30, deadline=None, derandomize=True)
@given(SEEDS)
def test_what_runs_show_is_never_below_the_least_distance(seed: int) -> None:
    case = random_case(seed, longest=1)
    problem = problem_of(case.system, case.goals, case.final, "allow")
    simulated = RandomRuns(problem, Limits())
    runs = list(simulated.runs())
    reference, known = Explicit(case.system), nodes(case)
    for (a, b), steps in simulated.upper.items():
        least = known[a].length if b == FINAL else 0
        weight = reference.weight(known[a], known[b], reference.reachable(), steps, least)
        assert weight is not None, (a, b)
        assert weight <= steps
    for run in runs:
        chain = Judge(problem).chain(run)
        if chain is not None:
            check_run(case.system, problem.of(chain.goals).goals, case.final, "allow", chain.run)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(SEEDS)
def test_runs_side_by_side_are_credited_with_what_each_of_them_covers(seed: int) -> None:
    """Also where a goal begins before a run was chosen to go on, and ends after."""
    drawn = random_case(seed)
    system, goals, final = one_step((drawn.system, drawn.goals, drawn.final))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(random, "WIDTH", 12)
        patch.setattr(random, "STRIDE", 2)
        patch.setattr(random, "PATIENCE", (12, 0.0))
        simulated = RandomRuns(problem_of(system, goals, final), Limits(), distances=False)
        simulator, monitor = Simulator(system), Monitor(goals)
        for _ in simulated.runs():
            population = simulated._population
            for number in range(12):
                run = simulator.valid_part(simulator.run(simulator.initial(), population.inputs(number)))
                assert run.length == population.last[number]
                every = population.inputs(number, population.steps)
                assert len(every) == population.steps
                for steps in (0, 1, run.length, population.steps // 2):
                    assert population.inputs(number, steps) == every[:steps]
                covered = monitor.covered(run)
                for goal, end in zip(goals, population.ends[:, number].tolist(), strict=True):
                    assert end == min((goal.over(step) for step in covered[goal.name]), default=random.NEVER)


def cruise_runs(limit: int | None = None) -> list[Run]:
    return list(RandomRuns(problem_of(cruise(), PROPERTIES, RESTED), Limits(), limit).runs())


def test_the_cruise_controller_is_covered_by_simulation_alone() -> None:
    """A run with half of the goals of the next one is told too: there is a first chain soon."""
    runs = cruise_runs()
    chains = [Judge(problem_of(cruise(), PROPERTIES, RESTED)).chain(run) for run in runs]
    covered = [0 if chain is None else len(chain.goals) for chain in chains]
    assert covered[-1] == len(PROPERTIES)
    assert covered == sorted(covered)
    assert len(covered) > 1
    assert chains[-1] is not None
    assert chains[-1].length >= 9
    assert cruise_runs() == runs, "repeatable"


@pytest.mark.slow
@pytest.mark.parametrize("limit", range(6))
def test_no_part_of_the_chain_is_longer_than_the_limit(limit: int) -> None:
    """Every way has a part of two steps."""
    judge = Judge(problem_of(cruise(), PROPERTIES, RESTED))
    chains = [chain for run in cruise_runs(limit) if (chain := judge.chain(run)) is not None]
    most = max((len(chain.goals) for chain in chains), default=0)
    assert (most == len(PROPERTIES)) == (limit >= 2)


def test_a_largest_weight_that_is_given_binds_the_random_runs_too() -> None:
    """The shortest chain has parts of two steps."""
    for bound, status in ((1, "not-within-bound"), (2, "covered")):
        result = generate(Problem(cruise(), tuple(PROPERTIES), RESTED), Options(bound=bound, engine="sat"))
        assert [verdict.status for verdict in result.verdicts] == [status] * len(PROPERTIES)
        assert (None if result.chain is None else result.chain.length) == (None if bound == 1 else 9)
        assert len(result.tests) == (len(PROPERTIES) if bound == 1 else 0), "each goal was reached all the same"


def test_a_limit_or_an_interrupt_in_the_random_runs_leaves_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    for error, stopped_by in ((KeyboardInterrupt(), "interrupt"), (LimitReached("time is over"), "time limit")):

        def stopped(*given: object, error: BaseException = error) -> None:
            raise error

        monkeypatch.setattr(Batch, "draw", stopped)
        result = generate(Problem(cruise(), tuple(PROPERTIES), RESTED), Options(engine="sat"))
        assert (result.stopped_by, result.chain, result.depth) == (stopped_by, None, -1)
        assert {verdict.status for verdict in result.verdicts} == {"undecided"}


def test_the_chain_of_random_runs_stays_whatever_ends_the_search() -> None:
    """Interrupted before anything is asked for, with the first edges, and with the last inputs."""
    for words in ("implied goals: ", "graph: edges", "inputs: canonical"):
        result = generate(problem_of(cruise(), PROPERTIES, RESTED), Options(engine="sat"), Told(words))
        assert result.stopped_by == "interrupt"
        assert {verdict.status for verdict in result.verdicts} == {"covered"}
        assert result.chain is not None
        assert result.bounds.lower <= 9 <= result.chain.length


def test_distances_seen_in_a_run() -> None:
    covered = {INIT: [0], "a": [1, 5], "b": [2, 6], FINAL: [0, 9]}
    assert Distances({"a": True, "b": True}).shorter(covered, 9) == {
        (INIT, "a"): 1, (INIT, "b"): 2, (INIT, FINAL): 0, ("a", "b"): 1, ("a", FINAL): 4, ("b", "a"): 3, ("b", FINAL): 3
    }  # fmt: skip


def test_what_a_timer_brings_about_is_covered_by_runs_that_wait() -> None:
    """It takes 300 steps in which none of five inputs may be on."""
    flag, time = ValueType("flag", 1), ValueType("time", 9)
    inputs = tuple(InputVariable(f"quiet_{n}", flag, ((0, 1),)) for n in range(5))
    timer = time.symbol("quiet_timer")
    disturbed = Or([flag.symbol(each.name).Equals(flag.constant(1)) for each in inputs])
    counted = Ite(timer.BVULT(time.constant(300)), timer + time.constant(1), timer)
    state = StateVariable("quiet_timer", time, time.constant(0), Ite(disturbed, time.constant(0), counted))
    over = timer.Equals(time.constant(300))
    goals = [Goal("over", at(over, 0), None, 0), Goal("again", at(And(over, disturbed), 0), None, 1)]
    system = TransitionSystem("quiet", (state,), inputs, TRUE())
    runs = RandomRuns(problem_of(system, goals, None), Limits())
    *_, last = runs.runs()
    assert all(Monitor(goals).covered(last).values())


def test_runs_go_on_with_more_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """After 800 steps in which the input stays 1 the timer is over, which is longer than runs wait at first."""
    monkeypatch.setattr(random, "PATIENCE", (100, 0.0))
    flag, time = ValueType("flag", 1), ValueType("time", 10)
    now, old, timer = flag.symbol("slow_in"), flag.symbol("slow_old"), time.symbol("slow_timer")
    counted = Ite(timer.BVULT(time.constant(800)), timer + time.constant(1), timer)
    state = (
        StateVariable("slow_old", flag, flag.constant(0), now),
        StateVariable(
            "slow_timer",
            time,
            time.constant(0),
            Ite(And(now.Equals(old), now.Equals(flag.constant(1))), counted, time.constant(0)),
        ),
    )
    system = TransitionSystem("slow", state, (InputVariable("slow_in", flag, ((0, 1),)),), TRUE())
    goals = [Goal("over", at(timer.Equals(time.constant(800)), 0), None, 0)]
    runs = RandomRuns(problem_of(system, goals, None), Limits())
    found = [max(len(Monitor(goals).covered(run)["over"]) for run in runs.runs()) for _ in range(random.TIMES)]
    assert not found[0]
    assert found[-1]


def test_runs_that_wait_end_where_no_step_is_allowed() -> None:
    """Where the counter is 100 nothing is defined any more: what would come after is covered by no run.

    Another goal keeps a run the best one that goes on: 20 steps off, after which nothing is counted.
    """
    flag, byte = ValueType("flag", 1), ValueType("byte", 8)
    on = flag.symbol("dead_on").Equals(flag.constant(1))
    count, calm = byte.symbol("dead_count"), byte.symbol("dead_calm")
    done, disturbed = calm.Equals(byte.constant(20)), calm.Equals(byte.constant(255))
    calmer = Ite(Or(disturbed, on), byte.constant(255), calm + byte.constant(1))
    counted = Ite(And(on, disturbed), count + byte.constant(1), byte.constant(0))
    state = (
        StateVariable("dead_count", byte, byte.constant(0), counted),
        StateVariable("dead_calm", byte, byte.constant(0), Ite(done, calm, calmer)),
    )
    dead = Not(count.Equals(byte.constant(100)))
    system = TransitionSystem("dead", state, (InputVariable("dead_on", flag, ((0, 1),)),), TRUE(), dead)
    goals = [Goal(str(n), at(count.Equals(byte.constant(n)), 0), None, 0) for n in (100, 101, 180)]
    runs = RandomRuns(problem_of(system, [*goals, Goal("calm", at(done, 0), None, 0)], None), Limits())
    list(runs.runs())
    shown = [runs.best, *runs.tests.values()]
    assert all(run is not None and Simulator(system).valid_part(run).length == run.length for run in shown)
    assert runs.tests.keys() <= {"calm", "100"}


def test_what_waiting_brings_about_is_told_where_the_runs_end_there() -> None:
    """The counter is 50 after as many steps with inputs that stay as they are, and then no step is allowed: the first
    wait, after some 64 steps, is enough. Runs with a small first input go on, and take no places of the others."""
    word, byte = ValueType("word", 16), ValueType("byte", 8)
    inputs = [InputVariable(f"ending_in{n}", word, ()) for n in range(8)]
    last = [word.symbol(f"ending_last{n}") for n in range(8)]
    still = And(*(each.symbol.Equals(kept) for each, kept in zip(inputs, last, strict=True)))
    count = byte.symbol("ending_count")
    counting = And(still, inputs[0].symbol.BVUGE(word.constant(1 << 15)))
    state = [
        StateVariable("ending_count", byte, byte.constant(0), Ite(counting, count + byte.constant(1), byte.constant(0)))
    ]
    state += [
        StateVariable(kept.symbol_name(), word, word.constant(0), each.symbol)
        for each, kept in zip(inputs, last, strict=True)
    ]
    end = count.Equals(byte.constant(50))
    system = TransitionSystem("ending", tuple(state), tuple(inputs), TRUE(), Not(end))
    goals = [Goal("end", at(end, 0), None, 0), Goal("easy", at(count.Equals(byte.constant(0)), 1), None, 1)]
    goals += [Goal("never", at(count.Equals(byte.constant(51)), 0), None, 0)]
    told = [
        run
        for run in RandomRuns(problem_of(system, goals, None), Limits(effort=0.02)).runs()
        if Monitor(goals).covered(run)["end"]
    ]
    assert min(run.length for run in told) < 128


@pytest.mark.parametrize("calls", [1, 2, 30])
def test_random_runs_ask_at_every_step_whether_to_go_on(calls: int) -> None:
    case = random_case(5)
    batch, asked = Batch(case.system, seed=1), 0

    def check() -> None:
        nonlocal asked
        asked += 1
        if asked == calls:
            raise LimitReached("over")

    with pytest.raises(LimitReached):
        batch.draw(batch.initial(), 3, 40, check)
    assert asked == calls


def test_runs_that_may_take_no_step_begin_anew_when_they_are_asked_again() -> None:
    """Two steps are all that any run may take, and the goal is three away."""
    count = ValueType("count", 2).symbol("ended_count")
    kind = ValueType("count", 2)
    state = StateVariable("ended_count", kind, kind.constant(0), count + kind.constant(1))
    system = TransitionSystem("ended", (state,), (), count.BVULT(kind.constant(2)))
    goal = Goal("three", at(count.Equals(kind.constant(3)), 0), None, 0)
    simulated, simulator = RandomRuns(problem_of(system, [goal], None), Limits()), Simulator(system)
    for _ in range(3):
        for run in simulated.runs():
            assert simulator.valid_part(run) == run
            assert run.length <= 2


FLAG, TIME = ValueType("flag", 1), ValueType("time", 14)


def timed(steps: int, opens: bool) -> TransitionSystem:
    """A timer that counts to ``steps`` steps, and from 0 again when its input is pressed.

    With ``opens`` it does not count before the input was pressed once.
    """
    pressed, timer, on = FLAG.symbol("timed_in"), TIME.symbol("timed_timer"), FLAG.symbol("timed_on")
    one, full = FLAG.constant(1), TIME.constant(steps)
    counted = Ite(And(on.Equals(one), timer.BVULT(full)), timer + TIME.constant(1), timer)
    state = (
        StateVariable("timed_timer", TIME, TIME.constant(0), Ite(pressed.Equals(one), TIME.constant(0), counted)),
        StateVariable("timed_on", FLAG, FLAG.constant(0 if opens else 1), Ite(pressed.Equals(one), one, on)),
    )
    return TransitionSystem("timed", state, (InputVariable("timed_in", FLAG, ((0, 1),)),), TRUE())


@pytest.mark.parametrize("opens", [False, True])
def test_a_run_rests_until_a_long_timer_is_over(opens: bool) -> None:
    """6,000 steps are more than all runs together can wait for; one by itself is simulated that far."""
    timer = TIME.symbol("timed_timer")
    goals = [
        Goal("over", at(timer.Equals(TIME.constant(6000)), 0), None, 0),
        Goal("on", at(FLAG.symbol("timed_on").Equals(FLAG.constant(1)), 0), None, 0),
    ]
    *_, last = RandomRuns(problem_of(timed(6000, opens), goals, None), Limits()).runs()
    assert all(Monitor(goals).covered(last).values())


def test_a_run_rests_until_the_final_condition() -> None:
    """Steps that random runs do not go on to the end: what is told first ends in the final condition."""
    timer = TIME.symbol("timed_timer")
    final = timer.Equals(TIME.constant(6000))
    goals = [Goal("early", at(timer.Equals(TIME.constant(3)), 0), None, 0)]
    first = next(RandomRuns(problem_of(timed(6000, True), goals, final), Limits()).runs())
    assert first.states[-1]["timed_timer"] == 6000


@pytest.mark.parametrize("steps", [1, 3])
def test_a_run_at_rest_is_left_at_the_step_that_a_goal_asks_for(steps: int) -> None:
    """The input is to be pressed while the timer is at 5,000, so many steps before it is at 0 again."""
    timer, pressed = TIME.symbol("timed_timer"), FLAG.symbol("timed_in")
    asked = [at(timer.Equals(TIME.constant(5000)), 0), at(pressed.Equals(FLAG.constant(1)), steps - 1)]
    goal = Goal("pressed", And(*asked, at(timer.Equals(TIME.constant(0)), steps)), None, steps)
    system, goals, _ = one_step((timed(6000, False), (goal,), None))
    *_, last = RandomRuns(problem_of(system, goals, None), Limits()).runs()
    assert all(Monitor(goals).covered(last).values())
    assert last.length >= 5000 + steps


def test_a_run_at_rest_is_the_simulators_and_ends_where_nothing_changes() -> None:
    system = timed(20, False)
    start = Simulator(system).initial()
    runs = Batch(system).rest(start, 100)
    assert runs.steps == 21, "the last of them shows that nothing changes any more"
    assert runs.run_inputs(0, runs.steps) == [{"timed_in": 0}] * 21
    assert runs.states["timed_timer"][:, 0].tolist() == [*range(21), 20]
    assert Batch(system).rest(start, 7).steps == 7
    refused = replace(system, input_constraint=Not(TIME.symbol("timed_timer").Equals(TIME.constant(5))))
    assert Batch(refused).rest(start, 100).steps == 5


def test_runs_of_a_step_that_computes_nothing() -> None:
    """All that is known of the next state is an input: the step has no operation."""
    pressed = FLAG.symbol("plain_in")
    system = TransitionSystem(
        "plain",
        (StateVariable("plain_out", FLAG, FLAG.constant(0), pressed),),
        (InputVariable("plain_in", FLAG, ((0, 1),)),),
        TRUE(),
    )
    on = FLAG.symbol("plain_out").Equals(FLAG.constant(1))
    goals = [Goal("on", at(on, 0), None, 0)]
    *_, last = RandomRuns(problem_of(system, goals, Not(on)), Limits()).runs()
    assert all(Monitor(goals).covered(last).values())


@pytest.mark.evidence
def test_runs_begin_anew_for_what_cannot_be_where_the_best_one_has_gone() -> None:
    """The first step leads for good to one of two branches: in one a timer is over after 2,000 steps at rest, where the
    best run leads; in the other a sum that any input but 0 adds to is to be above 600."""
    pressed, branch, timer = FLAG.symbol("apart_in"), FLAG.symbol("apart_branch"), TIME.symbol("apart_timer")
    begun, one, zero = FLAG.symbol("apart_begun"), FLAG.constant(1), TIME.constant(0)
    resting = And(Equals(begun, one), Equals(branch, FLAG.constant(0)))
    adding = And(Equals(begun, one), Equals(branch, one), Equals(pressed, one), timer.BVULT(TIME.constant(8000)))
    counted = Ite(Equals(pressed, one), zero, Ite(timer.BVULT(TIME.constant(2000)), timer + TIME.constant(1), timer))
    state = (
        StateVariable("apart_begun", FLAG, FLAG.constant(0), one),
        StateVariable("apart_branch", FLAG, FLAG.constant(0), Ite(Equals(begun, one), branch, pressed)),
        StateVariable("apart_timer", TIME, zero, Ite(resting, counted, Ite(adding, timer + TIME.constant(1), timer))),
    )
    system = TransitionSystem("apart", state, (InputVariable("apart_in", FLAG, ((0, 1),)),), TRUE())
    over = {
        name: And(Equals(branch, FLAG.constant(n)), timer.BVUGE(TIME.constant(steps)))
        for name, n, steps in (("rested", 0, 2000), ("little", 0, 1), ("added", 1, 3000))
    }
    problem = problem_of(system, [Goal(name, at(condition, 0), None, 0) for name, condition in over.items()], None)
    found = generate(problem, Options(), stages=[Stage("simulate", random.random_runs, for_targets=False)])
    assert found.chain is not None
    assert found.chain.goals == {"rested", "little"}
    assert found.tests.keys() == {"added"}
