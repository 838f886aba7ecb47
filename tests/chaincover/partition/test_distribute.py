"""Orders with resets against all ways to share the goals out, and the bound on several chains against the least."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import permutations

import pytest
from drawn_seeds import seeds
from problems import problem_of

from benchmarks.checks.generated.reference import COVERABLE, Reference
from benchmarks.checks.generated.systems import generated_case
from chaincover.certificate import Certificate, PathFact
from chaincover.chain import COVERED
from chaincover.options import Options
from chaincover.partition.set_cover import Distribution
from chaincover.partition.several import generate_several
from chaincover.weights import END, FINAL, INIT, ReachGraph

Path = tuple[str, ...]
Edges = Mapping[tuple[str, str], int]


def random_graph(rng: random.Random, number: int, end: str) -> ReachGraph:
    """Distances of 0 to 9 steps; an edge may be missing between two goals."""
    goals = tuple(f"g{n}" for n in range(number))
    lower = {(a, b): rng.randint(0, 9) for a in (INIT, *goals) for b in goals if a != b}
    lower = {edge: d for edge, d in lower.items() if edge[0] == INIT or rng.random() < 0.85}
    lower |= {(goal, end): rng.randint(0, 6) for goal in goals}
    return ReachGraph(goals, end, {}, lower, (), (), 9, 0, 0.0)


def random_facts(rng: random.Random, graph: ReachGraph) -> dict[Path, int]:
    """Least lengths of some sub-paths, somewhat above the sum of their edges."""
    facts = {}
    for _ in range(rng.randint(0, 12)):
        order = tuple(rng.sample(graph.goals, rng.randint(1, len(graph.goals))))
        path = rng.choice([(INIT, *order), (*order, graph.end), (INIT, *order, graph.end), order])
        if len(path) > 2:
            facts[path] = rng.randint(4, 9 + 3 * len(path))
    return facts


def cost_of(path: Path, edges: Edges, facts: Mapping[Path, int]) -> int | None:
    """The least start of the last node: every edge and every sub-path with a fact keeps its distance."""
    times = [0]
    for last in range(1, len(path)):
        if path[last - 1 : last + 1] not in edges:
            return None
        ways = [times[last - 1] + edges[path[last - 1], path[last]]]
        ways += [
            times[first] + facts[path[first : last + 1]] for first in range(last) if path[first : last + 1] in facts
        ]
        times.append(max(ways))
    return times[-1]


def sharings(goals: Path, chains: int) -> Iterator[list[Path]]:
    """All ways to share ``goals`` out to so many chains, none of them empty."""
    if not goals:
        if chains == 0:
            yield []
        return
    for rest in sharings(goals[1:], chains - 1):
        yield [goals[:1], *rest]
    for rest in sharings(goals[1:], chains):
        for place, part in enumerate(rest):
            yield [*rest[:place], (goals[0], *part), *rest[place + 1 :]]


def least_by_all(graph: ReachGraph, facts: Mapping[Path, int], chains: int) -> int | None:
    best = None
    for parts in sharings(graph.goals, chains):
        total = 0
        for part in parts:
            costs = [cost_of((INIT, *order, graph.end), graph.lower, facts) for order in permutations(part)]
            total += min((cost for cost in costs if cost is not None), default=10**6)
        best = total if best is None else min(best, total)
    return best if best is not None and best < 10**6 else None


def certificate(graph: ReachGraph, edges: Edges, facts: Mapping[Path, int]) -> Certificate:
    return Certificate(
        graph.goals,
        graph.end,
        "allow",
        edges=tuple(PathFact(edge, steps) for edge, steps in edges.items()),
        paths=tuple(PathFact(path, steps) for path, steps in facts.items()),
    )


@pytest.mark.parametrize("chains", [1, 2, 3])
@seeds(13)
def test_the_least_order_equals_the_least_of_all_sharings(seed: int, chains: int) -> None:
    rng = random.Random(seed)
    graph = random_graph(rng, rng.randint(max(2, chains), 5), rng.choice([END, FINAL]))
    facts = random_facts(rng, graph)
    shared = Distribution(graph, graph.goals, chains)
    assert shared.learn([None, certificate(graph, {}, facts)]) == bool(facts)
    found = shared.least(None)
    least = least_by_all(graph, facts, chains)
    assert found.proved
    if least is None:
        assert not found.path
        return
    assert (found.cost, found.lower_bound) == (least, least)
    classes = shared.classes(found.path)
    assert len(classes) == chains
    assert sorted(goal for names in classes for goal in names) == sorted(graph.goals)
    assert all(names == sorted(names) for names in classes)
    assert [names[0] for names in classes] == sorted(names[0] for names in classes)


def test_facts_are_learned_once_and_never_weakened() -> None:
    graph = random_graph(random.Random(1), 3, END)
    shared = Distribution(graph, ["g0", "g1"], 2)
    before = shared.least(None).cost
    first = graph.lower[INIT, "g0"]
    assert not shared.learn([certificate(graph, graph.lower, {})])
    assert not shared.learn([certificate(graph, {(INIT, "g0"): first - 1, (INIT, "g2"): 99}, {})])
    assert shared.learn([certificate(graph, {(INIT, "g0"): first + 3}, {})])
    assert shared.least(None).cost == before + 3
    whole = (INIT, "g1", END)
    assert shared.learn([certificate(graph, {}, {whole: 40})])
    assert not shared.learn([certificate(graph, {}, {whole: 40})])
    assert not shared.learn([certificate(graph, {}, {whole: 7})])
    assert shared.least(None).cost == first + 3 + graph.lower["g0", END] + 40


def test_goals_that_are_not_asked_for_are_left_out() -> None:
    graph = random_graph(random.Random(2), 5, END)
    shared = Distribution(graph, ["g4", "g1", "g2"], 2)
    found = shared.least(None)
    assert {goal for names in shared.classes(found.path) for goal in names} == {"g1", "g2", "g4"}


@pytest.mark.slow
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@pytest.mark.parametrize(("seed", "exact"), [(48, False), (56, True), (80, True)])
def test_the_bound_on_several_chains_meets_the_least_total(seed: int, exact: bool, overlap: str) -> None:
    """With all reachable states enumerated the bound is exact; without, it is never above the least."""
    made = generated_case(seed, states=16, goals=4, longest=1)
    answer = Reference(made.system, made.goals, made.final, overlap).answer()
    assert answer.chains > 1
    options = Options(overlap=overlap) if exact else Options(overlap=overlap, engine="sat", effort=0.05, bound=2)
    result = generate_several(problem_of(made.system, made.goals, made.final), options)
    coverable = {goal for goal, verdict in answer.verdicts.items() if verdict == COVERABLE}
    assert {v.goal for v in result.verdicts if v.status == COVERED} == coverable
    assert len(result.results) == answer.chains
    assert result.number_minimal_within_k
    assert 0 < result.bounds.lower <= answer.total <= result.length
    assert result.number_minimal or not exact
    assert not exact or result.bounds.lower == result.length
