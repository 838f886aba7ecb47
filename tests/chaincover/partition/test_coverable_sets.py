"""Exact answers against plain explicit searches, and the runs that come with them against the monitor."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from itertools import combinations, product
from math import inf

import pytest
from chain_checks import check_run, disjoint
from command_line import MODEL_NAMES, MODELS, fresh_names
from enumerated import exhaust, least_run, searched
from enumeration import enumerated, reachable_states
from explicit import Explicit, least_apart
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, FALSE, TRUE, And, Equals, Iff, Implies, Ite, Not, Or
from random_systems import RandomCase, random_case

from benchmarks.checks.generated.systems import generated_case
from bmc.errors import LimitReached
from bmc.formulas.unroll import framed
from bmc.system.simulation import Simulator
from bmc.system.transition import BOOLEAN, InputVariable, Run, StateVariable, TransitionSystem, ValueType
from chaincover.graph.enumerated_goals import states_in
from chaincover.graph.goal_product import goal_product, largest_sets
from chaincover.partition.coverable_sets import Exhaustion, largest_set
from chaincover.problem import Problem
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from properties.goal import Goal
from properties.monitor import Monitor

NIBBLE = ValueType("nibble", 4, signed=True)
level, push = NIBBLE.symbol("ex_level"), NIBBLE.symbol("ex_push")


DRAWN = [*(("random", seed) for seed in range(12)), *(("generated", seed) for seed in (12, 43, 48, 56, 74, 76, 94))]


@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@pytest.mark.parametrize(("kind", "seed"), DRAWN)
def test_the_largest_sets_on_components_are_those_of_a_search(kind: str, seed: int, overlap: str) -> None:
    """The search goes through all states with all sets of goals; the components tell the largest ones without it."""
    if kind == "random":
        drawn = random_case(seed, goals=6, longest=3)
        problem = Problem(drawn.system, tuple(drawn.goals), None if seed % 2 else drawn.final, overlap)
    else:
        made = generated_case(seed, states=16, goals=5, longest=1)
        problem = Problem(made.system, made.goals, made.final, overlap)
    system, goals, final = problem.system, problem.goals, problem.final
    covers = exhaust(system, goals, final, overlap).covers
    problem, graph = searched((system, goals, final), overlap)
    number = max((len(cover.goals) for cover in covers), default=0)
    if not number:
        assert largest_set(problem, graph, 1, inf, lambda: None) is None
        return
    walks = goal_product(problem, graph)
    assert walks is not None
    found = largest_sets(walks, states_in(graph, final), 1)
    assert found is not None
    named = {frozenset(name for place, name in enumerate(problem.names) if goals >> place & 1) for goals in found}
    every = {cover.goals for cover in covers if cover.goals}
    assert named == {names for names in every if not any(names < other for other in every)}
    best = largest_set(problem, graph, number, inf, lambda: None)
    assert best is not None
    fitting = [cover for cover in covers if len(cover.goals) == number]
    if len({cover.goals for cover in fitting}) > 1:
        assert best.covers[0].length == min(cover.length for cover in fitting)
        assert best.covers[0] in fitting
    else:
        assert best.covers[0].goals == fitting[0].goals


def subsets(goals: Sequence[Goal]) -> list[tuple[Goal, ...]]:
    return [chosen for size in range(len(goals) + 1) for chosen in combinations(goals, size)]


def finished(case: RandomCase, final: FNode | None, overlap: str = "allow") -> Exhaustion:
    return exhaust(case.system, case.goals, final, overlap)


def length(run: Run | None) -> int | None:
    return None if run is None else run.length


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(7))
def test_least_lengths_are_those_of_an_explicit_search(seed: int) -> None:
    case = random_case(seed)
    explicit = Explicit(case.system)
    for final in dict.fromkeys((case.final, None)):
        found = finished(case, final)
        for goals in subsets(case.goals):
            expected = explicit.least_chain(goals, final, 40 * 2 ** len(goals))
            run = found.least([goal.name for goal in goals])
            assert length(run) == expected
            if run is not None:
                check_run(case.system, goals, final, "allow", run)
        least = least_run(case.system, case.goals, final)
        assert length(least.run) == expected


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(7))
def test_least_lengths_without_shared_steps(seed: int) -> None:
    case = random_case(seed, goals=3)
    explicit = Explicit(case.system)
    for final in dict.fromkeys((case.final, None)):
        found = finished(case, final, "forbid")
        for goals in subsets(case.goals):
            run = found.least([goal.name for goal in goals])
            assert length(run) == least_apart(explicit, goals, final)
            if run is not None:
                check_run(case.system, goals, final, "forbid", run)
        least = least_run(case.system, case.goals, final, "forbid")
        assert length(least.run) == length(run)


@pytest.mark.slow
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@pytest.mark.parametrize("seed", range(200, 206))
def test_the_guided_search_finds_the_same_lengths(seed: int, overlap: str) -> None:
    """Estimates steer the search for one run alone: more goals, many under way and completed at once."""
    case = random_case(seed, goals=6, longest=4)
    for final in dict.fromkeys((case.final, None)):
        everything = finished(case, final, overlap)
        coverable = [cover.goals for cover in everything.covers]
        for names in sorted(map(sorted, coverable))[-3:]:
            goals = [goal for goal in case.goals if goal.name in names]
            least = least_run(case.system, goals, final, overlap)
            assert length(least.run) == length(everything.least(names))


@pytest.mark.parametrize("seed", range(100, 115))
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
def test_every_short_run_is_accounted_for(seed: int, overlap: str) -> None:
    """All runs of up to 4 steps, judged by the monitor: what one covers is in ``covers``, no longer than it."""
    case = random_case(seed, goals=3, longest=2)
    explicit, monitor = Explicit(case.system), Monitor(case.goals)
    covers = finished(case, None, overlap).covers
    for steps in range(5):
        for states, inputs in explicit.runs(explicit.init, steps):
            run = Run(
                tuple(dict(zip(explicit.state_names, s, strict=True)) for s in states),
                tuple(dict(zip(explicit.input_names, i, strict=True)) for i in inputs),
            )
            positions = monitor.covered(run)
            for goals in subsets([goal for goal in case.goals if positions[goal.name]]):
                if overlap == "allow" or disjoint(goals, [positions[goal.name] for goal in goals]):
                    names = {goal.name for goal in goals}
                    assert any(names <= cover.goals and cover.length <= steps for cover in covers)


@pytest.mark.parametrize("seed", range(30))
def test_no_cover_is_dominated_by_another(seed: int) -> None:
    covers = finished(random_case(seed), None).covers
    assert [c.length for c in covers] == sorted(c.length for c in covers)
    for a, b in product(covers, covers):
        assert a == b or not (a.goals <= b.goals and a.length >= b.length)


LONG = {"boiler", "gate"}
"""Models with thousands of combinations of state and goals."""
ENDLESS = {"dispenser", "stairlight"}
"""Models whose states, as they are, have no end."""
MANY = {"crane", "dishwasher"}
"""Models that take seconds, and that benchmarks/checks/exhaustive searches in C."""
COUNTING = {"drive", "kiln", "lubricator", "reminder", "tank"}
"""Models whose counters are jumped over, and that benchmarks/checks/exhaustive searches in C."""
MANY_GOALS = {"burner", "turret"}
"""Models with so many goals that only the prices of the covering flow let a search come to its end."""


@pytest.mark.evidence
@pytest.mark.parametrize(
    "model",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in LONG else name
        for name in MODEL_NAMES
        if name not in ENDLESS | MANY | MANY_GOALS | COUNTING
    ],
)
def test_bundled_models(model: str) -> None:
    runs = tomllib.loads((MODELS / model / "expected.toml").read_text())["run"]
    for expected in (run for run in runs if not run.get("several")):
        with fresh_names():
            subject = load(read_project(str(MODELS / model / expected["project"])), select=expected.get("goals", ()))
            least = least_run(subject.system, subject.goals, subject.final)
            assert length(least.run) == (None if "verdicts" in expected else expected.get("length"))
            if least.run is not None:
                check_run(subject.system, subject.goals, subject.final, "allow", least.run)
            if "length_without_final" in expected:
                anywhere = least_run(subject.system, subject.goals, None)
                assert length(anywhere.run) == expected["length_without_final"]


def level_system(start: FNode | None) -> TransitionSystem:
    """``ex_level`` becomes the sum of itself and ``ex_push`` (-2 to 1, not 0); ``ex_idle`` may only be 3 to 5."""
    return TransitionSystem(
        "level",
        (StateVariable("ex_level", NIBBLE, start, level + push), StateVariable("ex_other", BOOLEAN, FALSE(), TRUE())),
        (InputVariable("ex_push", NIBBLE, ((-2, -1), (1, 1))), InputVariable("ex_idle", NIBBLE, ((3, 5),))),
    )


def rises(name: str = "rises") -> Goal:
    """A relation between steps: twice one more than before, by way of the input's sign."""
    first, second, third = (framed(level, k) for k in range(3))
    return Goal(name, And(Equals(second, first + BV(1, 4)), Equals(third, second + framed(push, 0))), None, 2)


def test_values_at_several_steps_negative_inputs_and_inputs_that_nothing_reads() -> None:
    system = level_system(BV(0, 4))
    down = Goal("down", Equals(framed(level, 0), BV(-3 % 16, 4)), None, 0)
    found = exhaust(system, [rises(), down], None)
    run = found.least(["rises", "down"])
    assert length(run) == 4
    assert run is not None
    check_run(system, [rises(), down], None, "allow", run)
    assert {values["ex_idle"] for values in run.inputs} == {3}


def test_every_open_start_value_counts() -> None:
    system = level_system(None)
    far = Goal("far", Equals(framed(level, 0), BV(7, 4)), None, 0)
    least = least_run(system, [far, rises()], Equals(level, BV(9, 4)))
    assert least.run is not None
    assert (least.run.length, least.run.states[0]["ex_level"]) == (2, 7)
    check_run(system, [far, rises()], Equals(level, BV(9, 4)), "allow", least.run)


def test_goals_that_one_step_completes_together() -> None:
    """One by one on the way up takes 5 steps, and looks better until the place where all three hold, 4 steps down."""
    goals = [
        Goal(f"at{n}", Or([Equals(framed(level, 0), BV(value, 4)) for value in (n, 8)]), None, 0) for n in (1, 3, 5)
    ]
    least = least_run(level_system(BV(0, 4)), goals, None)
    assert length(least.run) == 4


def test_connectives_between_steps() -> None:
    """An antecedent with every connective over several steps holds where its plain evaluation says so."""
    a, b = (framed(BOOLEAN.symbol("ex_flag"), k) for k in range(2))
    u, v = (framed(BOOLEAN.symbol("ex_in"), k) for k in range(2))
    flag, given = BOOLEAN.symbol("ex_flag"), BOOLEAN.symbol("ex_in")
    system = TransitionSystem(
        "flag", (StateVariable("ex_flag", BOOLEAN, FALSE(), given),), (InputVariable("ex_in", BOOLEAN),)
    )
    formulas = [
        Iff(a, v),
        Not(Iff(u, v)),
        Ite(a, u, v),
        Ite(v, a, b),
        Implies(v, a),
        Not(Implies(u, v)),
        Iff(a, TRUE()),
    ]
    goals = [Goal(f"g{n}", And(formula, u), None, 2) for n, formula in enumerate(formulas)]
    explicit = Explicit(system)
    for overlap in ("allow", "forbid"):
        found = exhaust(system, goals, Not(flag), overlap)
        for pair in combinations(goals, 2):
            plain = explicit.least_chain(pair, Not(flag), 50) if overlap == "allow" else None
            expected = plain if overlap == "allow" else least_apart(explicit, pair, Not(flag))
            assert length(found.least([goal.name for goal in pair])) == expected


def test_the_caller_can_stop_the_search() -> None:
    def stop() -> None:
        raise LimitReached("enough")

    with pytest.raises(LimitReached):
        exhaust(level_system(BV(0, 4)), [rises()], None, check=stop)


def test_no_goals_need_only_the_end() -> None:
    system = level_system(BV(0, 4))
    for final, steps in ((None, 0), (Equals(level, BV(2, 4)), 2), (FALSE(), None)):
        least, found = least_run(system, [], final), exhaust(system, [], final)
        assert length(least.run) == length(found.least([])) == steps


@pytest.mark.parametrize("seed", range(30))
def test_the_state_graph_has_the_reachable_states_and_their_steps(seed: int) -> None:
    case = random_case(seed)
    formulas = [goal.antecedent for goal in case.goals]
    graph, states = enumerated(case.system, formulas, 10_000_000), reachable_states(case.system, formulas, 10_000_000)
    assert graph is not None
    assert states is not None
    assert {tuple(s.items()) for s in graph.states} == {tuple(s.items()) for s in states}
    assert len(graph.states) == len(states)
    simulator = Simulator(case.system)
    rest = simulator.initial()
    for state, steps in zip(graph.states, graph.steps, strict=True):
        whole = {**rest, **state}
        allowed = [i for i, values in enumerate(graph.inputs) if simulator.allowed(whole, values)]
        assert [i for i, _ in steps] == allowed
        for i, after in steps:
            assert graph.states[after].items() <= simulator.step(whole, graph.inputs[i]).items()
