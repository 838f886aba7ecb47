"""Path constraints instead of refinement: Example 5, sub-paths with free positions, random systems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise, permutations

import pytest
from chain_tasks import TSP, DoubtfulEngine, check_against_explicit_search, extended, task, with_reachable_states
from enumerated import one_step
from explicit import Explicit
from machines import Case, Machine, random_machine
from paper_examples import DETOUR, endless, figure_5, three_to_four, trap
from random_systems import random_case

from bmc.engines.protocol import Status
from bmc.errors import LimitReached, UsageError
from bmc.formulas.unroll import at
from chaincover.chain import Plan
from chaincover.concretise.refine import constrained_chain, distances, refined_chain, undecided_edges
from chaincover.concretise.repair import Repair, concretise, repair_by_chaining, repair_by_prefixes
from chaincover.concretise.subpaths import Outcome, Reach, SubPaths, Task
from chaincover.limits import Limits
from chaincover.weights import FINAL, INIT, ReachGraph
from properties.goal import Goal

K = DETOUR + 2
ORDERINGS = ["asp", "asp-bb", "exact", "auto"]


@pytest.mark.parametrize("ordering", ORDERINGS)
def test_example_5_path_constraints_find_the_other_order(ordering: str) -> None:
    said: list[str] = []
    wanted = replace(task(figure_5(), ordering, K), progress=said.append)
    found = constrained_chain(wanted)
    assert found.infeasible == (("init", "p1", "p2"),)
    assert found.plan == Plan(("init", "p2", "p1", "final"), (2, 2, 2))
    assert found.run is not None
    assert found.run.length == 6
    assert found.tried == 2
    assert "path constraints: not init -> p1 -> p2" in said
    assert check_against_explicit_search(figure_5(), wanted, found)


def test_with_a_larger_bound_the_right_state_is_in_reach() -> None:
    wanted = task(figure_5(), "asp", K + 1)
    found = constrained_chain(wanted)
    assert found.infeasible == ()
    assert found.plan is not None
    assert found.plan.path == ("init", "p1", "p2", "final")
    check_against_explicit_search(figure_5(), wanted, found)


@pytest.mark.parametrize(("case", "length"), [(three_to_four(), 4), (trap(), 3)])
def test_repair_or_free_positions_suffice(case, length: int) -> None:
    found = constrained_chain(task(case, "asp", 4))
    assert found.infeasible == ()
    assert found.run is not None
    assert found.run.length == length
    assert Explicit(case[0]).least_chain(case[1], case[2], 6) == length


def test_three_to_four_has_direct_weights_of_one() -> None:
    weights = extended(task(three_to_four(), "asp", 4)).builder.graph().weights
    assert [weights[edge] for edge in pairwise(("init", "v", "w", "final"))] == [1, 1, 1]


def test_repair_alone_fails_in_the_trap() -> None:
    wanted = extended(task(trap(), "asp", 4))
    _, attempt = concretise(wanted.questions, Plan(("init", "v", "final"), (1, 1)), 4, print)
    assert attempt.status is Status.UNSAT


def test_no_chain() -> None:
    case = trap(way_out=False)
    wanted = task(case, "asp", 4)
    found = constrained_chain(wanted)
    assert found.status is Status.UNSAT
    assert found.infeasible == (("init", "v", "final"),)
    check_against_explicit_search(case, wanted, found)


def test_an_order_is_found_whose_edges_only_walks_allow() -> None:
    wanted = task(endless(), "asp", 1)
    found = constrained_chain(wanted)
    assert ("init", "a", "v", "b") in found.infeasible
    assert found.plan == Plan(("init", "b", "a", "v", "end"), (2, 1, 1, 0))
    check_against_explicit_search(endless(), wanted, found)


def test_what_is_not_decided_is_never_called_impossible() -> None:
    wanted = task(trap(way_out=False), "asp", 4)
    doubtful = replace(wanted.questions, engine=DoubtfulEngine(), limits=Limits(effort=1))
    found = constrained_chain(replace(wanted, questions=doubtful))
    assert found.status is Status.UNKNOWN
    assert found.gave_up == (("init", "v", "final"),)
    assert found.infeasible == ()


@pytest.mark.parametrize("search", [constrained_chain, refined_chain])
def test_no_chain_is_not_proved_while_an_edge_is_undecided(search: Callable[[Task], Outcome]) -> None:
    """The solver gave up on every edge to the end: no order has all its edges, and a chain there is all the same."""
    wanted = extended(task(three_to_four(), "asp" if search is constrained_chain else TSP, 4))
    graph = wanted.graph()
    known = {edge: weight for edge, weight in graph.weights.items() if edge[1] != graph.end}
    left = tuple(edge for edge in graph.weights if edge not in known)
    for unknown, status in ((left, Status.UNKNOWN), ((), Status.UNSAT)):
        found = search(replace(wanted, graph=partial(replace, graph, weights=known, unknown=unknown)))
        assert found.status is status


@pytest.mark.parametrize("limit", [2, 3])
@pytest.mark.parametrize("repair", [repair_by_chaining, repair_by_prefixes])
def test_algorithms_11_and_12_lengthen_an_edge_up_to_k(limit: int, repair: Callable[..., Repair]) -> None:
    row = [("a", "go", "b"), ("b", "go", "c"), ("c", "go", "d")]
    machine = Machine("row", ["a", "b", "c", "d"], ["stay", "go"], row)
    case = machine.system(), (Goal("v", at(machine.at_any("d"), 0), None, 0),), None
    found = repair(task(case, "asp", limit).questions, Plan(("init", "v", "end"), (1, 0)), 2, limit)
    assert found.status is (Status.SAT if limit == 3 else Status.UNSAT)
    assert found.plan.gaps[0] == (1 if repair is repair_by_chaining and limit == 2 else limit)


def test_the_time_limit() -> None:
    wanted = task(figure_5(), "asp", K)
    with pytest.raises(LimitReached):
        constrained_chain(replace(wanted, questions=replace(wanted.questions, limits=Limits(1e-9))))


@pytest.mark.needs("elkai")
def test_orderings_without_path_constraints_are_refused() -> None:
    with pytest.raises(UsageError):
        constrained_chain(task(figure_5(), "tsp", K))


def test_an_edge_that_is_not_there_is_looked_for_along_its_walk() -> None:
    weights = {("init", "a"): 1, ("a", "b"): 2, ("b", "c"): 2, ("a", "end"): 0, ("b", "end"): 0, ("c", "end"): 0}
    lower = {**weights, ("init", "b"): 6, ("init", "c"): 4, ("a", "c"): 6}
    graph = ReachGraph(("a", "b", "c"), "end", weights, lower, (("init", "c"),), (), 5, 0, 0.0)
    closed, reaches = distances(graph, 5)
    assert closed == {**weights, ("init", "b"): 6, ("init", "c"): 5, ("a", "c"): 6, ("init", "end"): 1}
    assert reaches["a", "b"] == Reach(2, 5, known=True)
    assert reaches["init", "b"] == Reach(6, 10)
    assert reaches["init", "c"] == Reach(4, 15)
    assert undecided_edges(graph) == (("init", "c"),)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 49, 5])
@pytest.mark.parametrize("reachable", [False, True])
def test_random_machines_against_explicit_search(seed: int, reachable: bool) -> None:
    case = one_step(random_machine(seed))
    wanted = task(with_reachable_states(case) if reachable else case, "asp", [2, 4, 12][seed % 7 % 3], "allow")
    learned = check_against_explicit_search(case, wanted, constrained_chain(wanted))
    assert learned or reachable or seed == 5


@pytest.mark.parametrize("seed", [16, 90, 161, 12, 21])
def test_random_systems_against_explicit_search(seed: int) -> None:
    made = random_case(seed, longest=2)
    case = one_step((made.system, made.goals, made.final))
    wanted = task(case, "asp", 2 + seed % 3, "allow")
    check_against_explicit_search(case, wanted, constrained_chain(wanted))


def placements(path: tuple[str, ...], nodes: dict[str, Goal], most: int, overlap: str) -> list[tuple[int, ...]]:
    """The starts of all nodes of ``path`` with gaps up to ``most`` (to the final condition: or the longest goal)."""
    longest = max(goal.length for goal in nodes.values())
    found = [(0,)]
    for before, node in pairwise(path):
        least = nodes[before].length if overlap == "forbid" or node == FINAL else 0
        limit = max(most, longest) if node == FINAL else most
        found = [(*p, p[-1] + gap) for p in found for gap in range(least, limit + 1)]
    if path[-1] == FINAL:
        found = [p for p in found if all(t + nodes[n].length <= p[-1] for t, n in zip(p, path, strict=True))]
    return found


def slowly_feasible(reference: Explicit, path, nodes: dict[str, Goal], most: int, overlap: str) -> bool:
    """Whether any run from any state follows ``path``, trying all runs and all placements."""
    by_length: dict[int, list[tuple[int, ...]]] = {}
    for placed in placements(path, nodes, most, overlap):
        end = max(start + nodes[node].length for start, node in zip(placed, path, strict=True))
        by_length.setdefault(end, []).append(placed)
    return any(
        all(reference.holds(nodes[n].antecedent, states[t:], inputs[t:]) for t, n in zip(placed, path, strict=True))
        for length, choices in sorted(by_length.items())
        for start in reference.states
        for states, inputs in reference.runs(start, length)
        for placed in choices
    )


def compared(case: Case, overlap: str, most: int) -> list[bool]:
    """Feasibility of the sub-paths of three nodes, as the solver says it and as all runs do."""
    system, goals, final = case
    nodes = {INIT: Goal(INIT, at(system.init_formula, 0), None, 0)} | {goal.name: goal for goal in goals}
    if final is not None:
        nodes[FINAL] = Goal(FINAL, at(final, 0), None, 0)
    reaches = {
        (a, b): Reach(nodes[a].length if overlap == "forbid" or b == FINAL else 0, most) for a in nodes for b in nodes
    }
    subpaths = SubPaths(task(case, "asp", most, overlap).questions, reaches)
    reference = Explicit(system)
    answers = []
    for path in permutations(nodes, 3):
        if INIT not in path[1:] and FINAL not in path[:-1]:
            expected = slowly_feasible(reference, path, nodes, most, overlap)
            assert subpaths.feasible(path) is (Status.SAT if expected else Status.UNSAT), path
            answers.append(expected)
    return answers


@pytest.mark.slow
def test_sub_paths_are_infeasible_exactly_if_no_run_follows_them() -> None:
    answers = []
    for seed in range(6):
        made = random_case(seed, goals=3, longest=1, inputs=1)
        answers += compared((made.system, made.goals, made.final), "allow", most=1 + seed % 2)
        answers += compared(one_step(random_machine(seed)), "allow", most=1 + seed % 2)
    assert answers.count(True) > 20
    assert answers.count(False) > 20


def test_the_end_waits_for_long_goals_before_the_last() -> None:
    machine = Machine("moving", ["u", "v"], ["left", "right"], [("u", "left", "v"), ("u", "right", "v")])
    long, short = (Goal(name, at(machine.at_any("u"), 0), None, length) for name, length in (("long", 1), ("short", 0)))
    everywhere = {(a, b): Reach(0, 3) for a in (INIT, "long", "short") for b in ("long", "short", FINAL)}

    def feasible(place: str) -> Status:
        case = machine.system(), (long, short), machine.at_any(place)
        return SubPaths(task(case, "asp", 3).questions, everywhere).feasible((INIT, "long", "short", FINAL))

    assert feasible("u") is Status.UNSAT
    assert feasible("v") is Status.SAT


def test_the_least_run_has_goals_at_the_same_step() -> None:
    machine = Machine("resting", ["u", "v"], ["left", "right"], [("u", "left", "v")])
    goals = tuple(Goal(name, at(machine.at_any("u"), 0), None, 1) for name in "ab")
    wanted = extended(task((machine.system(), goals, None), "asp", 4, "allow"))
    _, reaches = distances(wanted.builder.graph(), 4)
    found = SubPaths(wanted.questions, reaches).least_run((INIT, "a", "b", "end"))
    assert found is not None
    plan, run = found
    assert plan.gaps == (0, 0, 1)
    assert run.length == 1
