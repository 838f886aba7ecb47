"""Sub-paths in the list of reachable states: least lengths and runs, against all runs and against the solver."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise, permutations

import pytest
from boards import Kept, board_of
from enumerated import graph_of, made, strengthened
from explicit import Explicit
from machines import Case, Machine
from path_lengths import PathLengths
from problems import problem_of
from pysmt.shortcuts import And
from random_systems import random_case

from benchmarks.checks.generated.reference import Reference
from bmc.engines import choose as choose_engine
from bmc.engines.protocol import Status
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem
from chaincover.chain import UNREACHABLE
from chaincover.graph.reachability import GraphBuilder
from chaincover.known import Board, Reason
from chaincover.limits import PER_UNIT, Limits
from chaincover.minimality.explicit_sub_paths import ExplicitSubPaths
from chaincover.minimality.path_weights import Learner
from chaincover.minimality.sub_path_lengths import KnownLength, SubPath, SubPathSearch
from chaincover.options import Options
from chaincover.orderings.protocol import OrderingProblem, start_times
from chaincover.problem import Questions
from chaincover.runs.nearest import NearestFirst
from chaincover.weights import END, FINAL, INIT
from properties.goal import Goal
from properties.monitor import Monitor

MOST = 7
"""The longest sub-path compared."""

Path = tuple[str, ...]


def sub_paths_of(case: Case, overlap: str, work: float = 10**9) -> ExplicitSubPaths:
    return ExplicitSubPaths(problem_of(*case, overlap), graph_of(*case), Limits(), work)


def paths_of(case: Case, seed: int, number: int) -> list[Path]:
    """Some paths of two to four nodes: from init and from goals, to goals, to the end and to the final condition."""
    names = [goal.name for goal in case[1]]
    ends = [END] if case[2] is None else [FINAL, END]
    found: list[Path] = []
    for size in range(1, 5):
        for order in permutations(names, size):
            found += [order, (INIT, *order)] + [(*order, end) for end in ends] + [(INIT, *order, end) for end in ends]
    found = [path for path in found if 2 <= len(path) <= 4]
    return random.Random(seed).sample(found, min(number, len(found)))


def states_of(case: Case) -> list[tuple[int, ...]]:
    return Explicit(case[0]).reachable()


def test_the_classes_of_states_and_steps_count_where_they_are_needed() -> None:
    """Goals that take steps are no single states: that is known without them."""
    case, limits = made(2), Limits()
    graph, (first, second, *_) = graph_of(*case), case[1]
    assert first.length > 0
    lengths = ExplicitSubPaths(problem_of(*case, "allow"), graph, limits)
    assert not lengths.single_states
    assert limits.spent == 0
    lengths.ask((first.name, second.name), 0)
    assert limits.spent * PER_UNIT.steps >= len(graph.states) + graph.steps.total


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 20, 2))
def test_least_lengths_equal_those_of_all_runs(seed: int) -> None:
    case = made(seed, longest=2)
    found = sub_paths_of(case, "allow")
    slow = Slow(case, "allow")
    for path in paths_of(case, seed, 8):
        possible = slow.possible(path)
        expected = KnownLength(min(possible), True) if possible else KnownLength(MOST + 1, False)
        assert found.least(SubPath(path, 0, MOST)) == expected, path
        check_runs(case, found, path, "allow", min(possible) if possible else None)


class Slow:
    """All runs of ``case`` from reachable states, layer by layer; ``end`` is reached in any state."""

    def __init__(self, case: Case, overlap: str) -> None:
        reference = Explicit(case[0])
        starts = reference.reachable()
        self._to_final = PathLengths(reference, case[1], case[2], overlap, starts)
        self._to_any = PathLengths(reference, case[1], None, overlap, starts)

    def possible(self, path: Path) -> set[int]:
        return (self._to_any if path[-1] == END else self._to_final).possible(path, MOST)


def check_runs(case: Case, found: ExplicitSubPaths, path: Path, overlap: str, least: int | None) -> None:
    """SAT at the least length alone, with a run that shows it."""
    for steps in range(MOST + 1):
        status, run = found.ask(path, steps)
        assert (status is Status.SAT) == (run is not None) == (steps == least), (path, steps)
        if run is not None:
            check_run(case, run, path, overlap, steps)


def check_run(case: Case, run: Run, path: Path, overlap: str, steps: int) -> None:
    """``run`` is one of the system, from a reachable state, and meets ``path``, its last node after ``steps``."""
    system, goals, final = case
    simulator, monitor, lengths = Simulator(system), Monitor(goals), {goal.name: goal.length for goal in goals}
    assert simulator.run(run.states[0], run.inputs) == run
    assert all(simulator.allowed(s, i) for s, i in zip(run.states, run.inputs, strict=False))
    first = tuple(run.states[0][var.name] for var in system.state)
    assert first in (states_of(case) if path[0] != INIT else [Explicit(system).init])
    if path[-1] in (FINAL, END):
        assert run.length == steps
    if path[-1] == FINAL:
        assert final is not None
        assert Explicit(system).holds(at(final, 0), [tuple(run.states[-1].values())], [])
    covered = monitor.covered(run)
    places = [{0} if node == INIT else {steps} if node in (FINAL, END) else set(covered[node]) for node in path]
    gaps = [lengths.get(node, 0) if overlap == "forbid" else 0 for node in path]
    reached = places[0] & {0}
    for here, gap in zip(places[1:], gaps, strict=False):
        reached = {k for k in here if any(k >= before + gap for before in reached)}
    assert steps in reached


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 20, 4))
def test_the_solver_says_the_same(seed: int) -> None:
    system, goals, final = case = made(seed, longest=2)
    found = sub_paths_of(case, "allow")
    proved = strengthened(system, goals, final)
    asked = SubPathSearch(Questions(problem_of(proved, goals, final, "allow"), choose_engine("z3"), Limits()))
    for path in paths_of(case, seed, 4):
        if path[-1] != END or final is None:
            assert found.least(SubPath(path, 0, MOST)) == asked.least(SubPath(path, 0, MOST)), path


def with_open_start(case: Case) -> Case:
    """``case`` with every start value left open."""
    system, goals, final = case
    return replace(system, state=tuple(replace(var, init=None) for var in system.state)), goals, final


@pytest.mark.parametrize("seed", range(0, 30, 3))
def test_open_start_values_are_all_tried(seed: int) -> None:
    """From init to a path is then the least over all states in which it may begin."""
    system, goals, final = case = with_open_start(made(seed, longest=2))
    found = sub_paths_of(case, "allow")
    asked = SubPathSearch(Questions(problem_of(system, goals, final, "allow"), choose_engine("z3"), Limits()))
    for path in paths_of(case, seed, 4):
        if path[-1] != END or final is None:
            assert found.least(SubPath(path, 0, MOST)) == asked.least(SubPath(path, 0, MOST)), path


def test_open_start_values_make_a_path_shorter() -> None:
    """A goal four steps from the start holds at once where the start is open."""
    closed = line()
    names = (INIT, "last")
    assert sub_paths_of(closed, "allow").least(SubPath(names, 0, 9)) == KnownLength(4, True)
    assert sub_paths_of(with_open_start(closed), "allow").least(SubPath(names, 0, 9)) == KnownLength(0, True)


def line(length: int = 1) -> Case:
    """Five places in a row; in the last one no step is allowed."""
    places = [f"p{n}" for n in range(5)]
    machine = Machine("line", places, ["go", "stay"], [(a, "go", b) for a, b in pairwise(places)])
    goals = (
        Goal("first", at(And(machine.at_any("p0"), machine.chosen("stay")), 0), None, length),
        Goal("go", at(And(machine.at_any("p0"), machine.chosen("go")), 0), None, length),
        Goal("last", at(machine.at_any("p4"), 0), None, 0),
        Goal("in p4", at(And(machine.at_any("p4"), machine.chosen("stay")), 0), None, length),
    )
    return machine.system(machine.at_any("p4")), goals, machine.at_any("p2")


def test_a_dead_end_is_reached_but_not_left() -> None:
    found = sub_paths_of(line(), "allow")
    assert found.least(SubPath((INIT, "last"), 0, 9)) == KnownLength(4, True)
    assert found.least(SubPath(("last", END), 0, 9)) == KnownLength(0, True)
    assert found.least(SubPath(("last", FINAL), 0, 9)) == KnownLength(10, False)
    assert found.least(SubPath((INIT, "in p4"), 3, 9)) == KnownLength(10, False), "no step is allowed there"
    assert found.least(SubPath(("in p4", "last"), 0, 9)) == KnownLength(10, False)
    assert found.ask((INIT, "in p4"), 4) == (Status.UNSAT, None)


def test_the_caller_s_bound_and_the_greatest_length_are_kept() -> None:
    found = sub_paths_of(line(), "allow")
    assert found.least(SubPath((INIT, "last"), 0, 2)) == KnownLength(3, False)
    assert found.least(SubPath((INIT, "last"), 4, 2)) == KnownLength(4, False), "proved by the caller"
    assert found.least(SubPath((INIT, "last"), 1, 4)) == KnownLength(4, True)


def test_goals_of_one_step_may_share_it() -> None:
    """The same step for two goals: distance 0."""
    case = line()
    twice = (*case[1], replace(case[1][1], name="go too"))
    found = sub_paths_of((case[0], twice, case[2]), "allow")
    assert found.least(SubPath(("go", "go too"), 0, 9)) == KnownLength(0, True)
    assert found.least(SubPath(("first", "go"), 0, 9)) == KnownLength(1, True)


@pytest.mark.parametrize("seed", range(10))
def test_paths_of_single_states_are_searched_leg_by_leg(seed: int) -> None:
    """With the same answers, also in little work at a time, and where there is no way."""
    rng, places = random.Random(seed), [f"p{n}" for n in range(6)]
    ways = [(rng.choice(places), choice, rng.choice(places)) for choice in ("go", "turn") for _ in range(5)]
    machine = Machine(
        "six places", places, ["stay", "go", "turn"], [*ways, *((a, "go", b) for a, b in pairwise(places))]
    )
    goals = tuple(Goal(f"in {place}", at(machine.at_any(place), 0), None, 0) for place in rng.sample(places, 3))
    case = machine.system(), goals, machine.at_any(*rng.sample(places, 2))
    found, little, slow = sub_paths_of(case, "allow"), sub_paths_of(case, "allow", work=1), Slow(case, "allow")
    assert found.single_states
    for path in paths_of(case, seed, 12):
        possible = slow.possible(path)
        expected = KnownLength(min(possible), True) if possible else KnownLength(MOST + 1, False)
        assert found.least(SubPath(path, 0, MOST)) == expected, path
        check_runs(case, found, path, "allow", min(possible) if possible else None)
        while (answer := little.least(SubPath(path, 0, MOST))).gave_up:
            assert answer.at_least <= expected.at_least
        assert answer == expected


def test_the_work_of_each_leg_is_counted_once() -> None:
    places = [f"p{n}" for n in range(6)]
    machine = Machine("one way", places, ["stay", "go"], [(a, "go", b) for a, b in pairwise(places)])
    goals = tuple(Goal(place, at(machine.at_any(place), 0), None, 0) for place in places[1:])
    case = machine.system(), goals, None
    path = INIT, "p2", "p3", "p5"
    whole, legs = sub_paths_of(case, "allow"), sub_paths_of(case, "allow")
    assert whole.least(SubPath(path, 0, MOST)) == KnownLength(5, True)
    assert sum(legs.least(SubPath(leg, 0, MOST)).at_least for leg in pairwise(path)) == 5
    assert whole.work == legs.work > 0


def test_work_that_is_used_up_leaves_a_lower_bound() -> None:
    """The next question about the same sub-path goes on from there."""
    found, bounds = sub_paths_of(line(), "allow", work=1), [0]
    while not (answer := found.least(SubPath((INIT, "last"), 0, 9))).exact:
        assert answer.gave_up
        bounds.append(answer.at_least)
    assert answer == KnownLength(4, True)
    assert bounds == sorted(bounds)
    assert 1 <= bounds[-1] <= 4
    assert sub_paths_of(line(), "allow", work=1).ask((INIT, "last"), 4) == (Status.UNKNOWN, None)


def test_variables_that_no_goal_depends_on_keep_their_start() -> None:
    """The run has all variables of the system, stepped like the others."""
    case, other = line(), random_case(2, goals=1, longest=1).system
    system, goals, final = case
    more: TransitionSystem = replace(
        system, state=(*system.state, *other.state), inputs=(*system.inputs, *other.inputs)
    )
    _, run = sub_paths_of((more, goals, final), "allow").ask((INIT, "last"), 4)
    assert run is not None
    simulator = Simulator(more)
    assert simulator.run(simulator.initial(), run.inputs) == run


def board_with_graph(case: Case, overlap: str, depth: int) -> tuple[Board, Kept]:
    """A board that knows the graph up to K, on the reachable states; goals that nothing satisfies are ruled out."""
    system, goals, final = case
    proved = strengthened(system, goals, final)
    board, kept = board_of((proved, goals, final), Options(overlap=overlap, engine="z3"))
    builder = GraphBuilder(board.questions)
    builder.extend(depth)
    board.tell(graph=builder.graph())
    board.rule_out(dict.fromkeys(builder.graph().unsatisfiable, Reason(UNREACHABLE, "nothing satisfies it")))
    return board, kept


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 15, 2))
def test_all_that_is_learned_is_true(seed: int) -> None:
    """Whole orders with their variants: each edge and sub-path bound is at most the least length, and the bound on all
    chains is met by the shortest chain."""
    system, goals, final = case = made(seed, longest=2)
    board, _ = board_with_graph(case, "allow", MOST - 1)
    targets = board.known.targets
    if not targets:
        return
    learner = Learner(board, sub_paths_of((system, board.problem.goals, final), "allow"))
    learner.work()
    slow = Slow(case, "allow")
    for path, at_least in {**learner.edges, **learner.paths}.items():
        assert all(steps >= at_least for steps in slow.possible(path)), path
    answer = Reference(system, goals, final, "allow").answer()
    least = answer.least.get(sum(1 << n for n, goal in enumerate(goals) if goal.name in targets))
    if least is None:
        assert board.known.length is None
    else:
        assert (board.known.length, board.known.lower) == (least, least)
    chain = board.known.chain
    if chain is not None:
        credited = {hit.goal: hit.step for hit in chain.hits}
        assert not Reference(system, goals, final, "allow").faults(chain.run.inputs, chain.run.states, credited)


def test_variants_of_a_long_stretch_are_learned_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where lengths come cheap, one round learns sub-paths that its own order does not hold."""

    class Once(Kept):
        """Stops after the first order."""

        def __call__(self, text: str) -> None:
            if text.endswith("after 2 orders"):
                raise KeyboardInterrupt

    for seed in range(1, 600, 6):
        system, _, final = case = made(seed)
        learned = []
        for cheap in (True, False):
            board, _ = board_with_graph(case, "allow", 4)
            board.listener = Once()
            if not board.known.targets:
                break
            run = NearestFirst(board.questions, board.known.targets, 12).run()
            if run is None or not board.offer(run) or not board.known.complete:
                break
            found = sub_paths_of((system, board.problem.goals, final), "allow")
            monkeypatch.setattr(ExplicitSubPaths, "cheap", cheap)
            learned.append(Learner(board, found))
            with suppress(KeyboardInterrupt):
                learned[-1].work()
        if len(learned) < 2:
            continue
        more = set(learned[0].paths) - set(learned[1].paths)
        if more:
            graph = board.known.target_graph
            problem = OrderingProblem(graph.goals, learned[0].edges, INIT, graph.end)
            for path in more:
                assert learned[0].paths[path] > start_times(problem, path)[-1]
            return
    pytest.fail("no machine shows a variant")
