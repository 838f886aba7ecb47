"""The graph of jumps that ``verify`` makes: no run is shorter than the lightest path with its events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise, product
from random import Random

import pytest
from pysmt.shortcuts import BV, BVULT, And, Ite

from benchmarks.checks.accelerated.programs import random_program
from bmc.engines.sat import SatEngine
from bmc.formulas.unroll import at
from bmc.invariants.counters import Starts, find_counters
from bmc.invariants.induction import Prover
from bmc.system.simulation import Simulator
from bmc.system.transition import StateVariable, TransitionSystem, ValueType
from chaincover.certificate import Acceleration, Certificate
from chaincover.graph.accelerated import scope_of, seen_by
from chaincover.problem import Problem
from chaincover.reductions.monitors import monitored
from chaincover.verification import acceleration
from chaincover.verification.acceleration import Graph, Jumps, jumps_of
from chaincover.verification.counter_lemma import Looks
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.report import HOLDS, OPEN, WRONG
from chaincover.verification.setting import Setting
from properties.goal import Goal
from properties.monitor import Monitor

SEEDS = (3, 4, 12, 17)
"""Programs with encoders, dividers, sums that wrap around, and two counters in one step."""


@cache
def drawn(seed: int) -> tuple[Problem, Starts]:
    """A random program with goals of one step, and the cells of its counters."""
    problem = monitored(random_program(seed).problem).problem
    prover = Prover(SatEngine(), lambda: None, None)
    cells = find_counters(scope_of(problem).system, seen_by(problem), prover, lambda starts: True)
    assert cells is not None
    return problem, dict(cells.starts)


def certificate(problem: Problem, claim: Acceleration) -> Certificate:
    return Certificate(problem.names, problem.end, "allow", acceleration=claim)


def jumped(problem: Problem, claim: Acceleration) -> Jumps:
    setting = Setting(problem.system, problem.goals, problem.final)
    return jumps_of(setting, certificate(problem, claim), Clock(Limits()))


def runs(problem: Problem, most: int, seed: int) -> Iterator[tuple[int, frozenset[str]]]:
    """The lengths of the beginnings of a random run, each with the goals that it covers."""
    random, simulator, monitor = Random(seed), Simulator(problem.system), Monitor(problem.goals)
    names = [var.name for var in problem.system.inputs]
    ranges = [range(1 << var.type.bits if var.type.bits else 2) for var in problem.system.inputs]
    choices = [dict(zip(names, values, strict=True)) for values in product(*ranges)]
    liked = random.sample(choices, min(3, len(choices)))
    state, used = simulator.initial(), []
    for _ in range(most):
        allowed = [choice for choice in liked if simulator.allowed(state, choice)]
        allowed = allowed or [choice for choice in choices if simulator.allowed(state, choice)]
        if not allowed:
            return
        used.append(random.choice(allowed))
        state = simulator.step(state, used[-1])
        covered = monitor.covered(simulator.run(simulator.initial(), used))
        yield len(used), frozenset(name for name, steps in covered.items() if steps)


@cache
def shortest(seed: int) -> dict[frozenset[str], int]:
    """The least length of a random run for each set of goals that one covers."""
    least: dict[frozenset[str], int] = {}
    for number in range(12):
        for length, goals in runs(drawn(seed)[0], 40, number):
            least[goals] = min(length, least.get(goals, length))
    return {goals: length for goals, length in least.items() if goals}


def refuting(seed: int, graph: Graph) -> list[tuple[int, frozenset[str]]]:
    """The runs that are too short for ``graph``, wherever they end."""
    anywhere = Graph(graph.arcs, [True] * len(graph.ends), graph.begun, graph.of_goal)
    found = shortest(seed).items()
    return [(length, goals) for goals, length in found if anywhere.no_path([*goals], length + 1)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kept", [0, 3])
@pytest.mark.parametrize("slow", [False, True])
def test_no_run_is_shorter_than_the_lightest_path_with_its_goals(seed: int, kept: int, slow: bool) -> None:
    """Whatever is kept, and whichever counters are taken for slow: that makes the bound closer or not, never wrong."""
    problem, cells = drawn(seed)
    found = jumped(problem, Acceleration(cells, kept, 0, tuple(cells) if slow else ()))
    assert found.graph is not None
    assert shortest(seed)
    assert not refuting(seed, found.graph)
    assert all(weight >= 0 for arcs in found.graph.arcs for _, weight, _ in arcs)


@pytest.mark.parametrize("flaw", ["no leap", "a leap too dear", "no counter deviates"])
def test_a_graph_that_misses_runs_is_noticed(flaw: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs above tell graphs of jumps from such as are wrong."""
    builder = acceleration._Builder
    speeds = builder._speeds
    if flaw == "no leap":
        monkeypatch.setattr(builder, "_speeds", lambda self: {})
    elif flaw == "a leap too dear":
        monkeypatch.setattr(builder, "_speeds", lambda self: {key: 0.4 * speed for key, speed in speeds(self).items()})
    else:
        monkeypatch.setattr(builder, "_moved", lambda *given: None)
    wrong = 0
    for seed in SEEDS:
        problem, cells = drawn(seed)
        graph = jumped(problem, Acceleration(cells, 0, 0)).graph
        assert graph is not None
        wrong += len(refuting(seed, graph))
    assert wrong


@pytest.mark.parametrize("seed", SEEDS)
def test_cells_that_are_merged_are_refused(seed: int) -> None:
    """The solver tells two of their values apart; not where they were cut at half of the values only."""
    problem, cells = drawn(seed)
    verdicts = []
    for name, starts in cells.items():
        for start in starts[1:]:
            fewer = {**cells, name: tuple(value for value in starts if value != start)}
            verdicts.append(jumped(problem, Acceleration(fewer, 0, 0)).verdict)
    assert verdicts.count(WRONG) > verdicts.count(HOLDS)
    assert {*verdicts} <= {WRONG, HOLDS}


@pytest.mark.parametrize("starts", [(), (1, 16), (0, 16, 16), (0, 16, 8), (0, 16, 32), (0, -1, 16)])
def test_cells_that_are_none_are_refused(starts: tuple[int, ...]) -> None:
    """They begin with 0 and rise up to the greatest value at most."""
    problem, cells = drawn(SEEDS[0])
    assert jumped(problem, Acceleration(dict.fromkeys(cells, starts), 0, 0)).verdict == WRONG


def test_a_bound_that_is_too_large_or_of_unknown_goals_is_not_accepted() -> None:
    problem, cells = drawn(SEEDS[1])
    found = jumped(problem, Acceleration(cells, 2, 0))

    def verdict(bound: int, goals: tuple[str, ...] = problem.names) -> str:
        proof = replace(certificate(problem, Acceleration(cells, 2, bound)), goals=goals)
        return found.line(proof).verdict

    assert verdict(0) == HOLDS
    least = max(bound for bound in range(1, 100) if verdict(bound) == HOLDS)
    assert least < min(length for goals, length in shortest(SEEDS[1]).items() if goals == {*problem.names}) + 1
    assert {verdict(bound) for bound in range(least + 1, least + 20)} == {OPEN}
    assert verdict(1, ("unknown",)) == WRONG


@pytest.mark.parametrize("seed", SEEDS)
def test_cells_hold_their_values(seed: int) -> None:
    """A cell begins where the certificate says, at 0, or at half of all values, and ends before the next one; beside a
    state are the same cells, and other values where a cell has several."""
    problem, starts = drawn(seed)
    steps = acceleration._Steps(problem.system, Looks.of(Setting(problem.system, problem.goals, None)), starts)
    assert steps.cells
    for place, begins in steps.cells.items():
        half = begins[-1] // 2
        assert {*begins[:-1]} == {*starts[steps.names[place]], half}
        for low, after in pairwise(begins):
            assert {steps.cell(place, value) for value in (low, (low + after) // 2, after - 1)} == {(low, after - 1)}
        for value in (*begins[:-1], *(begin - 1 for begin in begins[1:])):
            state = (*steps.start[:place], value, *steps.start[place + 1 :])
            beside = steps.beside(state)
            low, high = steps.cell(place, value)
            assert steps.cell(place, beside[place]) == (low, high)
            assert (beside[place] != value) == (low < high)


def test_a_second_slow_counter_that_becomes_late_leaves_the_first_one_late() -> None:
    """The counter at place 0 goes down and is late, then the other one goes up, then the first goes up to where it was.

    The three steps are taken one after the other, so that no other run covers the goal.
    """
    nibble = ValueType("uint4", 4)
    first, second, phase = (nibble.symbol(f"ta_{name}") for name in ("first", "second", "phase"))
    one = BV(1, 4)
    turned = Ite(phase.Equals(BV(0, 4)), first - one, Ite(phase.Equals(BV(2, 4)), first + one, first))
    system = TransitionSystem(
        "two slow counters",
        (
            StateVariable("ta_first", nibble, BV(7, 4), turned),
            StateVariable("ta_second", nibble, BV(0, 4), Ite(phase.Equals(one), second + one, second)),
            StateVariable("ta_phase", nibble, BV(0, 4), Ite(BVULT(phase, BV(3, 4)), phase + one, phase)),
        ),
        (),
    )
    low = And(BVULT(first, BV(8, 4)), BVULT(second, BV(8, 4)), phase.Equals(BV(3, 4)))
    setting = Setting(system, (Goal("low", at(low, 0), None, 0),), None)
    cells = {"ta_first": (0, 8), "ta_second": (0, 8)}
    claim = Acceleration(cells, 0, 0, tuple(cells))
    graph = jumps_of(setting, Certificate(("low",), setting.end, "allow", acceleration=claim), Clock(Limits())).graph
    assert graph is not None
    assert graph.no_path(["low"], 4) is False, "a run of 3 steps covers the goal"
