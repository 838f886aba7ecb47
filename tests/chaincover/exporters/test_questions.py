"""What questions ask, against an exhaustive search over the runs of small systems.

A question is answered by a search over its own states, as a model checker would; a chain, a distance and what no run
does are found by ``Explicit``, which knows runs and unrolled formulas only.
"""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest
from command_line import fresh_names
from drawn_seeds import seeds
from explicit import Explicit, least_apart
from held_runs import HeldRuns
from problems import problem_of
from pysmt.shortcuts import BV, TRUE, And, Not
from question_runs import first_bad, values_of
from random_systems import random_case

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at, framed
from bmc.system.ties import boundary, hold
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.certificate import PathFact
from chaincover.exporters.protocol import Statement
from chaincover.exporters.questions import chain_question, invariant_question, path_question
from chaincover.problem import Problem
from chaincover.weights import END, FINAL, INIT
from properties.goal import Goal

NO = Statement("claim", "title", "text")
DEEPEST = 14
"""Steps up to which chains are sought."""


def small(seed: int, longest: int = 3) -> Problem:
    case = random_case(seed, goals=3, longest=longest, inputs=1)
    return problem_of(case.system, case.goals, case.final)


@seeds(60)
def test_the_first_bad_frame_is_the_length_of_the_shortest_chain(seed: int) -> None:
    problem = small(seed)
    least = Explicit(problem.system).least_chain(problem.goals, problem.final, DEEPEST)
    assert first_bad(chain_question(problem, NO), DEEPEST) == least


@seeds(32)
def test_so_it_is_where_goals_share_no_step(seed: int) -> None:
    case = random_case(seed, goals=3, longest=2, inputs=1)
    problem = problem_of(case.system, case.goals, case.final, "forbid")
    least = least_apart(Explicit(case.system), case.goals, case.final)
    assert first_bad(chain_question(problem, NO)) == least


def ring() -> TransitionSystem:
    """A counter that goes round: 0, 1, 2, 3, 0, ..."""
    kind = ValueType("two_bits", 2)
    count = kind.symbol("q_count")
    return TransitionSystem("ring", (StateVariable("q_count", kind, BV(0, 2), count + BV(1, 2)),), ())


def when(name: str, value: int | None, length: int) -> Goal:
    """A goal of so many steps that begins where the counter has this value; None: anywhere."""
    count = ValueType("two_bits", 2).symbol("q_count")
    begins = TRUE() if value is None else at(count.Equals(BV(value, 2)), 0)
    return Goal(name, begins, None, length)


@pytest.mark.parametrize(
    ("goals", "shared", "apart"),
    [
        ([when("a", None, 1), when("b", None, 1)], 1, 2),
        ([when("a", None, 2), when("b", None, 3)], 3, 5),
        ([when("a", None, 2), when("b", None, 2), when("c", None, 1)], 2, 5),
        ([when("a", 0, 2), when("z", 1, 0)], 2, 5),
        ([when("a", 0, 2), when("z", 2, 0)], 2, 2),
        ([when("a", 0, 2), when("z", 0, 0), when("y", 0, 0)], 2, 2),
        ([when("a", 1, 0), when("b", 1, 2)], 3, 3),
        ([when("a", 1, 2), when("b", 2, 1)], 3, 7),
    ],
)
def test_which_steps_goals_share(goals: list[Goal], shared: int, apart: int) -> None:
    for overlap, length in (("allow", shared), ("forbid", apart)):
        assert first_bad(chain_question(problem_of(ring(), goals, None, overlap), NO)) == length
    assert least_apart(Explicit(ring()), goals, None) == apart


@seeds(15)
def test_so_it_is_from_the_best_of_all_open_starts(seed: int) -> None:
    problem, rng = small(seed, 2), random.Random(seed)
    names = rng.sample([var.name for var in problem.system.state], 2)
    ranges = {name: rng.choice([(), ((1, 1),)]) if name != "rs_flag" else () for name in names}
    state = [replace(v, init=None, starts=ranges[v.name]) if v.name in names else v for v in problem.system.state]
    opened = replace(problem, system=replace(problem.system, state=tuple(state)))
    found = []
    for values in product(*(values_of(problem.system.variable(name)) for name in names)):
        if any(ranges[name] and value != 1 for name, value in zip(names, values, strict=True)):
            continue
        given = dict(zip(names, values, strict=True))
        fixed = [
            replace(v, init=v.type.constant(given[v.name])) if v.name in given else v for v in problem.system.state
        ]
        explicit = Explicit(replace(problem.system, state=tuple(fixed)))
        found.append(explicit.least_chain(problem.goals, problem.final, DEEPEST))
    least = min((length for length in found if length is not None), default=None)
    assert first_bad(chain_question(opened, NO), DEEPEST) == least


@seeds(15)
def test_how_many_goals_one_chain_covers(seed: int) -> None:
    problem = small(seed, 1)
    explicit = Explicit(problem.system)
    sets = [
        [g for g, there in zip(problem.goals, kept, strict=True) if there]
        for kept in product(*[(0, 1)] * len(problem.goals))
    ]
    coverable = [len(s) for s in sets if explicit.least_chain(s, problem.final, 40) is not None]
    most = max(coverable, default=-1)
    if most >= 0:
        assert first_bad(chain_question(problem, NO, least=most)) is not None
    assert first_bad(chain_question(problem, NO, least=most + 1)) is None


def one_step(seed: int) -> Problem:
    """A problem whose goals take one step at most, some of them by monitors."""
    problem = replace(small(seed, 1 + seed % 2), overlap=random.Random(seed).choice(["allow", "forbid"]))
    return problem.in_one_step(problem.names)[0]


def node_goals(problem: Problem) -> dict[str, Goal]:
    nodes = {INIT: Goal(INIT, TRUE(), None, 0), **problem.by_name}
    final = TRUE() if problem.final is None else at(problem.final, 0)
    return nodes | {problem.end: Goal(problem.end, final, None, 0)}


def distance(explicit: Explicit, problem: Problem, path: tuple[str, str], states: list[tuple[int, ...]]) -> int | None:
    """The weight of an edge, by definition."""
    nodes = node_goals(problem)
    a, b = nodes[path[0]], nodes[path[1]]
    least = a.length if path[1] == problem.end else 0
    return explicit.weight(a, b, states, DEEPEST, least)


@pytest.mark.slow
@seeds(20)
def test_edges(seed: int) -> None:
    """The first bad frame is the distance and the steps of the longer goal; within all runs from init none is below."""
    rng = random.Random(seed)
    problem = one_step(seed)
    explicit = Explicit(problem.system)
    reachable = explicit.reachable()
    pairs = [(a, b) for a in (INIT, *problem.names) for b in (*problem.names, problem.end) if a != b]
    for path in rng.sample(pairs, min(3, len(pairs))):
        longest = max(problem.over(node, 0) for node in path)
        starts = [explicit.init] if path[0] == INIT else explicit.states
        exact = distance(explicit, problem, path, starts)
        shown = DEEPEST + 1 if exact is None else exact
        for bound in (shown, shown + 1):
            question = path_question(problem, PathFact(path, bound), NO, TRUE())
            assert question.frames == bound + longest
            found = first_bad(question, question.frames - 1)
            assert found == (None if bound == shown else exact + longest if exact is not None else found)
        if path[0] != INIT:
            exact = distance(explicit, problem, path, reachable)
            shown = 4 if exact is None else min(exact, 4)
            assert first_bad(path_question(problem, PathFact(path, shown), NO, None)) is None
            if exact is not None and exact < 4:
                assert first_bad(path_question(problem, PathFact(path, exact + 1), NO, None)) is not None


def runs_in_order(explicit: Explicit, problem: Problem, fact: PathFact, starts: list[tuple[int, ...]]) -> bool:
    """Whether some run from ``starts`` breaks ``fact``; by all runs."""
    nodes, path, below = node_goals(problem), fact.path, fact.at_least
    longest = max(problem.over(node, 0) for node in path)

    def placed(states: list[tuple[int, ...]], inputs: list[tuple[int, ...]], number: int, first: int) -> bool:
        if number == len(path):
            return True
        goal, last = nodes[path[number]], path[number] == problem.end
        for k in range(first, (1 if number == 0 else below)):
            if last and k != len(inputs):
                continue
            fits = k + goal.length <= len(inputs) and explicit.holds(goal.antecedent, states[k:], inputs[k:])
            if fits and placed(states, inputs, number + 1, k):
                return True
        return False

    lengths = range(below) if path[-1] == problem.end else range(below + longest)
    return any(placed(*run, 0, 0) for start in starts for length in lengths for run in explicit.runs(start, length))


@pytest.mark.slow
@seeds(27)
def test_sub_paths(seed: int) -> None:
    problem, rng = one_step(seed), random.Random(seed)
    explicit, names = Explicit(problem.system), list(problem.names)
    rng.shuffle(names)
    path = tuple(
        [*([INIT] if seed % 2 else []), *names][:2] + ([names[-1]] if seed % 3 and len(names) > 2 else [problem.end])
    )
    if len(set(path)) < len(path):
        return
    for fact in (PathFact(path, bound) for bound in range(1, 4)):
        question = path_question(problem, fact, NO, TRUE())
        found = first_bad(question, (question.frames or 0) - 1)
        starts = [explicit.init] if path[0] == INIT else explicit.states
        assert (found is not None) == runs_in_order(explicit, problem, fact, starts), fact
        if path[0] != INIT:
            found = first_bad(path_question(problem, fact, NO, None))
            assert (found is not None) == runs_in_order(explicit, problem, fact, explicit.reachable()), fact


@seeds(20)
def test_held_inputs(seed: int) -> None:
    """The shortest chain of a system with held inputs, by runs in which they are held."""
    case, overlap = random_case(seed, goals=2, longest=2, inputs=1), ("allow", "forbid")[seed % 2]
    held = hold(case.system, 2)
    problem = problem_of(held, case.goals, boundary(held, case.final), overlap)
    least = HeldRuns(case.system, case.goals, 2, problem.forbid).least_of_all(case.final)
    assert first_bad(chain_question(problem, NO)) == least


def machine(allowed: bool) -> TransitionSystem:
    """A door that opens, where an assumption says that the button and the lock are never on together.

    Without it ``open`` and ``locked`` hold together. ``defined``: once open the button is not pressed.
    """
    button, lock, door = (BOOLEAN.symbol(name) for name in ("q_button", "q_lock", "q_open"))
    return TransitionSystem(
        "door",
        (
            StateVariable("q_open", BOOLEAN, BOOLEAN.constant(0), button),
            StateVariable("q_locked", BOOLEAN, BOOLEAN.constant(0), lock),
        ),
        (InputVariable("q_button", BOOLEAN), InputVariable("q_lock", BOOLEAN)),
        input_constraint=Not(And(button, lock)) if allowed else TRUE(),
        defined=Not(And(door, button)),
    )


def test_what_only_an_assumption_makes_true_or_unreachable() -> None:
    door, locked = BOOLEAN.symbol("q_open"), BOOLEAN.symbol("q_locked")
    both = Goal("both", at(And(door, locked), 0), None, 0)
    for allowed, frame in ((True, None), (False, 1)):
        problem = problem_of(machine(allowed), [both], None)
        assert first_bad(chain_question(problem, NO)) == frame
        assert first_bad(invariant_question(problem, NO, Not(And(door, locked)))) == frame


def test_a_step_that_is_not_defined_ends_the_run() -> None:
    again = Goal("again", And(framed(BOOLEAN.symbol("q_open"), 0), framed(BOOLEAN.symbol("q_open"), 1)), None, 1)
    assert first_bad(chain_question(problem_of(machine(True), [again], None), NO)) is None


def test_final_is_judged_after_the_last_step() -> None:
    """A goal of two steps that would end beyond the chain's last step is not covered."""
    pressed = framed(BOOLEAN.symbol("q_button"), 0)
    goal = Goal("press", And(pressed, Not(framed(BOOLEAN.symbol("q_button"), 1))), None, 2)
    is_open = BOOLEAN.symbol("q_open")
    problem = problem_of(machine(True), [goal], Not(is_open))
    assert first_bad(chain_question(problem, NO)) == 2
    assert first_bad(chain_question(replace(problem, final=is_open), NO)) == 3


def test_a_variable_of_the_program_called_like_one_of_the_question() -> None:
    """A path to the end has an input of its own by which the run stops: a program with an input ``stop`` keeps that."""
    with fresh_names():
        kind = ValueType("two_bits", 2)
        count, stop = kind.symbol("q_count"), InputVariable("stop", kind)
        state = (StateVariable("q_count", kind, BV(0, 2), count + stop.symbol),)
        goal = Goal("two", at(count.Equals(BV(2, 2)), 0), None, 1)
        problem = problem_of(TransitionSystem("adder", state, (stop,)), [goal], count.Equals(BV(0, 2)))
        asked = [path_question(problem, PathFact(("two", FINAL), bound), NO, TRUE()) for bound in (1, 2)]
        assert [first_bad(question, question.frames - 1) for question in asked] == [None, 2]


def test_no_goal_and_no_final_condition() -> None:
    assert first_bad(chain_question(problem_of(machine(True), [], None), NO)) == 0
    bad = chain_question(problem_of(machine(True), [], BOOLEAN.symbol("q_open")), NO)
    assert (first_bad(bad), compile_formulas([bad.bad])({"q_open": 1, "valid so far": 1})[0]) == (1, 1)
    assert FINAL != END
