"""Whether requirements can fail, against a search through all runs; and what is told of one that can."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest
from drawn_seeds import seeds
from listeners import Told
from problems import problem_of
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVSLE, BVSLT, BVULE, BVULT, TRUE, BVSExt, BVZExt, Equals, Ite, Not, Symbol
from pysmt.typing import BVType
from random_systems import RandomCase, random_case

from benchmarks.checks.generated.reference import Reference
from bmc.formulas.unroll import framed
from bmc.system.simulation import Simulator, compile_formulas
from bmc.system.transition import BOOLEAN, InputVariable, Run, StateVariable, TransitionSystem, ValueType
from chaincover.chain import CAN_FAIL, NEVER_VIOLATED, UNDECIDED, Bounds
from chaincover.known import NOTHING
from chaincover.limits import HALF, UNITS
from chaincover.options import Options
from chaincover.partition.maximum_coverage import generate_all_or_most, generate_most
from chaincover.partition.several import generate_several
from chaincover.problem import Problem
from chaincover.replaying.judge import _expected, explained
from chaincover.requirements import deciding as requirements
from chaincover.requirements import violations
from chaincover.requirements.deciding import Deciding
from chaincover.result import ChainResult, Requirements, SeveralChains, Silent
from properties.goal import Goal, violation
from properties.monitor import Monitor


def answer(tests: Mapping[str, Run], stopped_by: str = "") -> ChainResult:
    """A search for chains that has found no more than ``tests``."""
    return ChainResult(None, (), Bounds(0, None, ""), None, NOTHING, Options(), tests=tests, stopped_by=stopped_by)


def decide(problem: Problem, options: Options | None = None, runs: Sequence[Run] = ()) -> Requirements:
    """What is decided where the search for chains has found no more than ``runs``."""
    found = answer({str(number): run for number, run in enumerate(runs)})
    return Deciding[ChainResult](problem, options or Options(), Silent()).finish(found, 0.0)


def with_consequents(case: RandomCase) -> Problem:
    """Goals without a consequent get the antecedent of another goal for one, or its negation."""
    others = [*case.goals[1:], case.goals[0]]
    goals = tuple(
        goal
        if goal.consequent is not None
        else replace(goal, consequent=Not(other.antecedent) if len(goal.name) % 2 else other.antecedent)
        for goal, other in zip(case.goals, others, strict=True)
    )
    inputs = {var.name for var in case.system.inputs}
    goals = tuple(replace(goal, length=violation(goal, inputs).length) for goal in goals)
    return problem_of(case.system, goals, case.final)


def shortest_violations(problem: Problem) -> dict[str, int | None]:
    """For each goal with a consequent the first step at which some run violates it: all runs, by simulation."""
    inputs = {var.name for var in problem.system.inputs}
    violations = {g.name: violation(g, inputs) for g in problem.goals if g.consequent is not None}
    reference, simulator = Reference(problem.system, (), None), Simulator(problem.system)
    named = [var.name for var in problem.system.state]
    given = [dict(zip([v.name for v in problem.system.inputs], values, strict=True)) for values in reference.inputs]
    depth, todo = {0: 0}, deque([0])
    while todo:
        here = todo.popleft()
        for _, after in reference.steps[here]:
            if after not in depth:
                depth[after] = depth[here] + 1
                todo.append(after)

    def violated_from(state: int, goal: Goal, monitor: Monitor) -> bool:
        ways: list[list[int]] = [[]]
        ends = [state]
        for _ in range(goal.length):
            longer = [([*way, i], n) for way, end in zip(ways, ends, strict=True) for i, n in reference.steps[end]]
            ways, ends = [way for way, _ in longer], [end for _, end in longer]
        start = dict(zip(named, reference.states[state], strict=True))
        return any(monitor.holds(simulator.run(start, [given[i] for i in way]), goal.name, 0) for way in ways)

    found: dict[str, int | None] = {}
    for name, goal in violations.items():
        monitor = Monitor([goal])
        steps = [step for state, step in depth.items() if violated_from(state, goal, monitor)]
        found[name] = min(steps, default=None)
    return found


def check(problem: Problem, found: Requirements, right: dict[str, int | None]) -> None:
    """Nothing that is ruled is wrong, and each failure is one."""
    assert [ruling.goal for ruling in found.rulings] == [*right]
    monitor = Monitor(problem.goals)
    for ruling in found.rulings:
        first = right[ruling.goal]
        assert (ruling.status == CAN_FAIL) == (ruling.failure is not None)
        assert ruling.status != NEVER_VIOLATED or first is None
        if ruling.failure is not None:
            run, step = ruling.failure.run, ruling.failure.step
            assert monitor.holds(run, ruling.goal, step)
            assert monitor.judge(run, ruling.goal, step) is False
            assert first is not None
            assert step == first if ruling.failure.shortest else step >= first


@seeds(30)
def test_enumerated_states_decide_all(seed: int) -> None:
    problem = with_consequents(random_case(seed, longest=2))
    right = shortest_violations(problem)
    found = decide(problem)
    check(problem, found, right)
    assert [(r.status, r.failure.step if r.failure else None) for r in found.rulings] == [
        (NEVER_VIOLATED if first is None else CAN_FAIL, first) for first in right.values()
    ]
    assert all(ruling.failure is None or ruling.failure.shortest for ruling in found.rulings)


@pytest.mark.slow
@seeds(15)
def test_a_solver_is_never_wrong_and_finds_all_violations(seed: int) -> None:
    """Whatever has a violation is found; that there is none may be beyond induction, and is then left open."""
    problem = with_consequents(random_case(seed, longest=2))
    right = shortest_violations(problem)
    found = decide(problem, Options(engine="sat", effort=0.04))
    check(problem, found, right)
    assert all(r.status == CAN_FAIL for r in found.rulings if right[r.goal] is not None)


LAMP, DAY = StateVariable("lamp", BOOLEAN, BOOLEAN.constant(0), BOOLEAN.symbol("push")), ValueType("day", 3)
COUNT = StateVariable("count", DAY, DAY.constant(0), DAY.symbol("count") + BV(1, 3))
PUSH = InputVariable("push", BOOLEAN)
SYSTEM = TransitionSystem("lamp", (LAMP, COUNT), (PUSH,))
PUSHED, LIT = framed(PUSH.symbol, 0), framed(LAMP.symbol, 1)
FIVE = Equals(framed(COUNT.symbol, 0), BV(5, 3))
GOALS = (
    Goal("lights", PUSHED, LIT, 1),
    Goal("dark", PUSHED, Not(LIT), 1, requirement="R-7"),
    Goal("six", FIVE, Equals(framed(COUNT.symbol, 1), BV(7, 3)), 1),
    Goal("free", PUSHED, None, 1),
)


def statuses(found: Requirements) -> dict[str, str]:
    return {ruling.goal: ruling.status for ruling in found.rulings}


def test_a_failure_names_values_and_what_else_held() -> None:
    problem = problem_of(SYSTEM, GOALS, None)
    found = decide(problem)
    assert statuses(found) == {"lights": NEVER_VIOLATED, "dark": CAN_FAIL, "six": CAN_FAIL}
    dark, six = found.failures
    assert [(v.variable, v.step, v.actual, v.expected) for v in dark.values] == [("lamp", 1, "1", "0")]
    assert (dark.step, dark.run.length, dark.held, dark.shortest) == (0, 1, ("lights",), True)
    assert [(v.variable, v.step, v.actual, v.expected) for v in six.values] == [("count", 6, "6", "7")]
    assert (six.step, six.run.length) == (5, 6)


def test_only_what_the_failing_part_reads_is_told() -> None:
    both = Goal("both", PUSHED, LIT & Equals(framed(COUNT.symbol, 1), BV(0, 3)), 1)
    problem = problem_of(SYSTEM, (both,), None)
    run = Simulator(SYSTEM).run({"lamp": 0, "count": 0}, [{"push": 1}])
    assert [value.variable for value in explained(problem, "both", run, 0).values] == ["count"]


def test_a_value_that_an_alternative_compares_is_expected() -> None:
    """Of a variable of 16 bits not all values are tried: those that are compared with, wherever in the consequent."""
    word = ValueType("word", 16)
    wide = StateVariable("wide", word, word.constant(0), word.symbol("wide"))
    either = Goal("either", PUSHED, Not(LIT) | Equals(framed(wide.symbol, 1), BV(700, 16)), 1)
    system = TransitionSystem("lamp", (LAMP, wide), (PUSH,))
    run = Simulator(system).run({"lamp": 0, "wide": 0}, [{"push": 1}])
    values = explained(problem_of(system, (either,), None), "either", run, 0).values
    assert [(value.variable, value.expected) for value in values] == [("lamp", "0"), ("wide", "700")]


X10, Y10 = Symbol("compared x", BVType(10)), Symbol("compared y", BVType(10))


@pytest.mark.parametrize(
    ("said", "signed", "expected"),
    [
        (Not(BVSLT(BV(50, 32), BVZExt(X10, 22))), False, "<= 50"),
        (BVULT(X10, BV(50, 10)), False, "<= 49"),
        (BVSLT(BV(20, 10), X10), True, ">= 21"),
        (BVSLE(BVSExt(X10, 22), BV(2**32 - 5, 32)), True, "<= -5"),
        (BVULE(Y10, X10), False, ">= 7"),
        (BVULT(X10, BV(0, 10)), False, ""),
    ],
)
def test_of_a_comparison_the_bound_is_expected(said: FNode, signed: bool, expected: str) -> None:
    """The values are those with which the comparison holds, each of the 1,024 tried here."""
    own = ValueType("own", 10, signed)
    assert _expected([said], X10, own, {"compared x": 0, "compared y": 7}) == expected
    holds = compile_formulas([said])
    fit = {own.value(raw) for raw in range(1024) if holds({"compared x": raw, "compared y": 7})[0]}
    low, high = (-512, 511) if signed else (0, 1023)
    bound = int(expected[3:] or 0)
    within = {"<=": range(low, bound + 1), ">=": range(bound, high + 1), "": range(0)}
    assert fit == {*within[expected[:2]]}


def test_what_the_run_is_too_short_for_is_not_told_to_have_held() -> None:
    """The run ends with the violation: of a longer property the antecedent holds there, and nothing is known of it."""
    longer = Goal("longer", PUSHED, framed(LAMP.symbol, 2), 2)
    run = Simulator(SYSTEM).run({"lamp": 0, "count": 0}, [{"push": 1}])
    assert explained(problem_of(SYSTEM, (*GOALS, longer), None), "dark", run, 0).held == ("lights",)


def test_a_known_run_is_told_where_no_time_is_left() -> None:
    """It is told without the step that nothing needs, and whether it is the shortest one is not known; what no run
    shows is undecided."""
    problem = problem_of(SYSTEM, GOALS, None)
    run = Simulator(SYSTEM).run({"lamp": 0, "count": 0}, [{"push": 0}, {"push": 1}, {"push": 0}])
    found = decide(problem, Options(time_limit=1e-9), [run])
    assert statuses(found) == {"lights": UNDECIDED, "dark": CAN_FAIL, "six": UNDECIDED}
    assert (found.failures[0].run.length, found.failures[0].shortest) == (1, False)
    assert found.certificate is None


def test_what_an_earlier_chain_violates_is_told_at_once_and_stays() -> None:
    """A better chain that violates less takes its place; no effort is left to find the run anew."""
    problem = problem_of(SYSTEM, GOALS, None)
    first = Simulator(SYSTEM).run({"lamp": 0, "count": 0}, [{"push": 0}, {"push": 1}])
    better = Simulator(SYSTEM).run({"lamp": 0, "count": 0}, [{"push": 0}])
    told = Told("never: ")
    deciding = Deciding[ChainResult](problem, Options(effort=0.001), told)
    for run in (first, better):
        deciding.improved(lambda run=run: answer({"": run}))  # type: ignore[misc]
        assert statuses(told.results[-1].requirements)["dark"] == CAN_FAIL
    found = deciding.finish(answer({"": better}, "interrupt"), 0.0)
    assert statuses(found) == {"lights": UNDECIDED, "dark": CAN_FAIL, "six": UNDECIDED}


def test_looks_at_answers_take_a_part_of_the_effort_for_requirements() -> None:
    """Answers of a thousand steps each, without an end: the looks at them end, and are counted."""
    problem = problem_of(SYSTEM, GOALS, None)
    still = Simulator(SYSTEM).run({"lamp": 0, "count": 0}, [{"push": 0}] * 1000)
    asked = 0

    def result() -> ChainResult:
        nonlocal asked
        asked += 1
        return answer({"": Run(still.states, still.inputs)})

    deciding = Deciding[ChainResult](problem, Options(effort=1.0), Silent())
    for _ in range(2000):
        deciding.improved(result)
    most = HALF * requirements.EFFORT * UNITS
    assert 100 < asked < 2000
    assert most <= deciding.spent < 1.01 * most


def test_an_interrupt_leaves_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt("terminated")

    monkeypatch.setattr(violations, "_on_states", interrupted)
    result = generate_all_or_most(problem_of(SYSTEM, GOALS, None))
    assert result.complete
    assert result.stopped_by == result.requirements.stopped_by == "terminated"
    assert statuses(result.requirements)["lights"] == UNDECIDED
    assert "SIGTERM" in result.requirements.rulings[0].detail


def test_values_that_init_leaves_open_make_no_finding() -> None:
    """The compiled original starts with zeroes, and so does a test: a run from other values cannot be shown."""
    kept = StateVariable("kept", BOOLEAN, None, BOOLEAN.symbol("kept"))
    system = TransitionSystem("open", (kept,), (PUSH,))
    goal = Goal("off", PUSHED, Not(framed(kept.symbol, 1)), 1)
    found = decide(problem_of(system, (goal,), None))
    assert statuses(found) == {"off": UNDECIDED}
    assert "open" in found.rulings[0].detail
    chosen = replace(system, chosen=("kept",))
    found = decide(problem_of(chosen, (goal,), None))
    assert statuses(found) == {"off": CAN_FAIL}


def test_several_chains_have_rulings_of_all_goals() -> None:
    found = generate_several(problem_of(SYSTEM, GOALS, None))
    assert statuses(found.requirements) == {"lights": NEVER_VIOLATED, "dark": CAN_FAIL, "six": CAN_FAIL}


def test_the_last_step_of_a_run_need_not_be_allowed_to_go_on() -> None:
    """A violation in the state after which no step is allowed is one, and a chain's end plays no part in it."""
    stuck = replace(SYSTEM, input_constraint=Not(Equals(COUNT.symbol, BV(3, 3))))
    goal = Goal("three", TRUE(), Not(Equals(framed(COUNT.symbol, 0), BV(3, 3))), 0)
    found = decide(problem_of(stuck, (goal,), None))
    assert isinstance(found.failures[0].run, Run)
    assert found.failures[0].run.length == 3


LONG = ValueType("long", 9)
TICKS = StateVariable("ticks", LONG, LONG.constant(0), LONG.symbol("ticks") + BV(1, 9))
LATE = Goal("late", PUSHED, Not(Equals(framed(TICKS.symbol, 0), BV(20, 9))), 1)


@pytest.mark.parametrize("search", [generate_all_or_most, generate_most, generate_several])
def test_requirements_have_the_effort_that_chains_leave(search: Callable[..., ChainResult | SeveralChains]) -> None:
    """One step is a chain; to prove that the shortest violation takes 21 a question is asked for each length."""
    problem = problem_of(replace(SYSTEM, state=(LAMP, TICKS)), (LATE,), None)
    options = Options(engine="sat", effort=0.001)
    found = search(problem, options).requirements
    assert [(f.run.length, f.shortest) for f in found.failures] == [(21, True)]
    assert found.effort > requirements.EFFORT * 0.001 * UNITS
    assert search(problem, options).requirements == found


def test_effort_that_chains_used_up_is_not_there_for_requirements() -> None:
    share = requirements.EFFORT * 2
    given = [requirements.for_requirements(Options(effort=2.0), spent) for spent in (0, UNITS, 2 * UNITS, 500)]
    assert given == [share + 2, share + 1, share, share]
    assert requirements.for_requirements(Options(effort=None), 500) is None


LINE = ValueType("line", 6)
FAR = StateVariable("far", LINE, LINE.constant(0), Ite(PUSH.symbol, LINE.symbol("far") + BV(1, 6), LINE.symbol("far")))
WIDE = (
    Goal("lights", PUSHED, LIT, 1),
    Goal("five", Equals(framed(FAR.symbol, 0), BV(5, 6)), Equals(framed(FAR.symbol, 0), BV(6, 6)), 0),
    Goal("free", Equals(framed(FAR.symbol, 0), BV(40, 6)), None, 0),
)
"""By a solver; *lights* and *five* are decided by few questions, the chain of 40 steps and its bound by many."""


@pytest.mark.parametrize("options", [Options(), Options(time_limit=500.0), Options(effort=None)])
@pytest.mark.parametrize("search", [generate_all_or_most, generate_most, generate_several])
@pytest.mark.parametrize("stage", ["recombine: ", "graph: "])
def test_what_is_decided_early_stays_where_the_search_for_chains_is_stopped(
    stage: str, search: Callable[..., ChainResult | SeveralChains], options: Options
) -> None:
    """Nothing is asked any more after the interrupt."""
    problem, told = problem_of(replace(SYSTEM, state=(LAMP, FAR)), WIDE, None), Told(stage)
    found = search(problem, replace(options, engine="sat"), told)
    assert (found.stopped_by, told.texts[-1][: len(stage)]) == ("interrupt", stage)
    assert statuses(found.requirements) == {"lights": NEVER_VIOLATED, "five": CAN_FAIL}
    assert [(failure.run.length, failure.shortest) for failure in found.requirements.failures] == [(5, True)]
    assert found.requirements.certificate is not None
    assert told.results[-1].requirements.rulings == found.requirements.rulings


def test_what_is_decided_is_told_at_once() -> None:
    """There is a chain by random runs, and no bound yet."""
    problem, told = problem_of(replace(SYSTEM, state=(LAMP, FAR)), WIDE, None), Told("recombine: ")
    generate_all_or_most(problem, Options(engine="sat"), told)
    last = told.results[-1]
    assert (last.finished, last.bounds.lower) == (False, 0)
    assert statuses(last.requirements) == {"lights": NEVER_VIOLATED, "five": CAN_FAIL}


def test_an_interrupt_of_the_first_turn_leaves_what_is_known() -> None:
    """A run of the chain shows what can fail, and one question what no state allows to fail."""
    late = Goal("late", PUSHED, Not(Equals(framed(FAR.symbol, 0), BV(50, 6))), 1)
    problem = problem_of(replace(SYSTEM, state=(LAMP, FAR)), (*WIDE, late), None)
    found = generate_all_or_most(problem, Options(engine="sat"), Told("requirements: runs of few steps"))
    assert found.stopped_by == "interrupt"
    assert statuses(found.requirements) == {"lights": NEVER_VIOLATED, "five": CAN_FAIL, "late": UNDECIDED}
    assert any("stopped by interrupt" in ruling.detail for ruling in found.requirements.rulings)


def test_what_is_open_has_the_whole_effort_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns that decide nothing take nothing away from it; a chain of one step is found at once."""
    problem = problem_of(replace(SYSTEM, state=(LAMP, TICKS)), (LATE,), None)
    options = Options(engine="sat", effort=0.001)
    right = generate_all_or_most(problem, options).requirements
    monkeypatch.setattr(requirements, "TURNS", {"recombine": 0.001, "accelerate": 0.002})
    found = generate_all_or_most(problem, options).requirements
    assert found.rulings == right.rulings
    assert [(failure.run.length, failure.shortest) for failure in found.failures] == [(21, True)]
