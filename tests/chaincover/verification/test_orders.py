"""The order bound and the sharing out of goals against all orders and all ways."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations, pairwise, permutations, product
from math import inf

import pytest

from chaincover.certificate import Certificate, OrderProof, PathFact
from chaincover.orderings.auto import AutoOrdering
from chaincover.orderings.duals import order_proof
from chaincover.orderings.protocol import OrderingProblem
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.orders import Orders, needed_edges, order_bound
from chaincover.verification.report import HOLDS, OPEN, WRONG
from chaincover.verification.several import fits, least_total
from chaincover.weights import INIT

# the bound from orders


def random_certificate(rng: random.Random, goals: int, walked: int = 6) -> Certificate:
    names = tuple(f"g{n}" for n in range(goals))
    bare = Certificate(names, "end", "allow")
    edges = tuple(PathFact(edge, rng.randint(0, 4)) for edge in needed_edges(bare))
    walks = [(INIT, *rng.sample(names, goals), "end") for _ in range(walked if goals else 0)]
    paths = []
    for walk in walks:
        begin = rng.randint(0, goals - 1)
        sub = walk[begin : rng.randint(begin + 3, goals + 3)]
        paths.append(PathFact(sub, rng.randint(3, 4 * len(sub))))
    return replace(bare, edges=edges, paths=tuple(paths))


def reference_bound(certificate: Certificate) -> int:
    """Over all orders: start times, each by all constraints on it."""
    weights = {f.path: f.at_least for f in certificate.edges}
    costs = []
    for order in permutations(certificate.goals):
        walk = (INIT, *order, certificate.end)
        times = [0] * len(walk)
        for place in range(1, len(walk)):
            times[place] = times[place - 1] + weights[walk[place - 1], walk[place]]
            for fact in certificate.paths:
                begin = place + 1 - len(fact.path)
                if begin >= 0 and walk[begin : place + 1] == fact.path:
                    times[place] = max(times[place], times[begin] + fact.at_least)
        costs.append(times[-1])
    far = max((weights[INIT, g] + weights[g, certificate.end] for g in certificate.goals), default=0)
    return max(min(costs), far)


@pytest.mark.parametrize("seed", range(19))
def test_the_order_bound_is_that_of_all_orders(seed: int) -> None:
    certificate = random_certificate(random.Random(seed), seed % 8, 6 + seed // 4)
    least = reference_bound(certificate)
    clock = Clock(Limits())
    for claimed in (0, least - 1, least):
        assert order_bound(replace(certificate, order_bound=claimed), clock).verdict == HOLDS
    assert order_bound(replace(certificate, order_bound=least + 1), clock).verdict == WRONG


def test_many_bounds_on_sub_paths() -> None:
    clock = Clock(Limits())
    for seed in range(20):
        certificate = random_certificate(random.Random(seed), 5, 60)
        least = reference_bound(certificate)
        assert order_bound(replace(certificate, order_bound=least), clock).verdict == HOLDS
        assert order_bound(replace(certificate, order_bound=least + 1), clock).verdict == WRONG, seed


def test_start_times_that_a_later_sub_path_needs() -> None:
    """Where the search has been, it is not enough to compare the last start time: y starts at 3 after a, b, x and after
    b, a, x, but x at 3 and at 0, and z four steps after x."""
    near = [(INIT, "a"), (INIT, "b"), ("a", "b"), ("b", "a"), ("a", "x"), ("x", "y"), ("y", "z"), ("z", "end")]
    names = ("a", "b", "x", "y", "z")
    bare = Certificate(names, "end", "allow")
    weights = {pair: 0 if pair in near else 9 for pair in needed_edges(bare)} | {("b", "x"): 3}
    weights.update({(node, "end"): 0 for node in names} | {(INIT, node): 0 for node in names})
    edges = tuple(PathFact(edge, weight) for edge, weight in weights.items())
    paths = (PathFact(("a", "x", "y"), 3), PathFact(("x", "y", "z"), 4))
    certificate = replace(bare, edges=edges, paths=paths)
    assert reference_bound(certificate) == 4
    assert order_bound(replace(certificate, order_bound=4), Clock(Limits())).verdict == HOLDS
    assert order_bound(replace(certificate, order_bound=5), Clock(Limits())).verdict == WRONG


def test_every_edge_needs_a_bound() -> None:
    certificate = random_certificate(random.Random(0), 3)
    for fact in certificate.edges:
        rest = tuple(other for other in certificate.edges if other != fact)
        line = order_bound(replace(certificate, edges=rest, order_bound=1), Clock(Limits()))
        assert line.verdict == WRONG
        assert line.details == (f"the certificate has no bound for {' -> '.join(fact.path)}",)
        assert order_bound(replace(certificate, edges=rest, order_bound=0), Clock(Limits())).verdict == HOLDS


def in_corners(rng: random.Random, goals: int) -> Certificate:
    """Goals around three corners of a square: the cheapest successors make circles within each of them."""
    names = tuple(f"g{n}" for n in range(goals))
    bare = Certificate(names, "end", "allow")
    corners = [(0, 0), (20, 0), (0, 20)]
    place = {name: [rng.randint(0, 3) + at for at in corners[n % 3]] for n, name in enumerate(names)}
    place |= {INIT: [20, 20], "end": [20, 20]}
    edges = tuple(
        PathFact((a, b), max(abs(p - q) for p, q in zip(place[a], place[b], strict=True)))
        for a, b in needed_edges(bare)
    )
    return replace(bare, edges=edges)


def with_sub_paths(certificate: Certificate, count: int) -> Certificate:
    """Each sub-path makes the shortest order two steps longer than it was; the bound is that of the last one."""
    edges = {f.path: f.at_least for f in certificate.edges}
    paths: dict[tuple[str, ...], int] = {}
    while True:
        found = AutoOrdering().solve(OrderingProblem(certificate.goals, edges, INIT, "end", least=paths))
        assert found.proved
        if len(paths) == count:
            facts = tuple(PathFact(path, steps) for path, steps in paths.items())
            return replace(certificate, paths=facts, order_bound=found.cost)
        begin = len(paths) % (len(found.path) - 4)
        sub = found.path[begin : begin + 3 + len(paths) % 2]
        paths[sub] = max(sum(edges[edge] for edge in pairwise(sub)), paths.get(sub, 0)) + 2


def hard() -> Certificate:
    """A certificate whose linear program leaves a gap."""
    return with_sub_paths(in_corners(random.Random(1), 6), 12)


def test_the_order_bound_is_open_where_no_work_is_left_for_a_proof() -> None:
    certificate = hard()
    least = reference_bound(certificate)
    for claimed in (least, least + 1):
        line = order_bound(replace(certificate, order_bound=claimed), Clock(Limits(solver=0)))
        assert (line.verdict, line.unfinished) == (OPEN, True)
    for limits in (Limits(), Limits.of(1e15, None), Limits.of(None, None)):
        verdicts = [order_bound(replace(certificate, order_bound=least + n), Clock(limits)).verdict for n in (0, 1)]
        assert verdicts == [HOLDS, WRONG]


@pytest.mark.parametrize("bound", [10**12, 10**30, 10**400])
def test_a_bound_beyond_all_orders_is_wrong(bound: int) -> None:
    assert order_bound(replace(hard(), order_bound=bound), Clock(Limits())).verdict == WRONG


def test_a_goal_that_is_named_twice_is_visited_once() -> None:
    certificate = hard()
    least = reference_bound(certificate)
    twice = replace(certificate, goals=(*certificate.goals, "g0"))
    verdicts = [order_bound(replace(twice, order_bound=least + n), Clock(Limits())).verdict for n in (0, 1)]
    assert verdicts == [HOLDS, WRONG]


@pytest.mark.parametrize("end", [INIT, "g0"])
def test_an_end_that_is_another_node_proves_nothing(end: str) -> None:
    certificate = replace(hard(), end=end)
    edges = (*certificate.edges, *(PathFact(edge, 1) for edge in needed_edges(certificate)))
    assert order_bound(replace(certificate, edges=edges, order_bound=999), Clock(Limits())).verdict != HOLDS


def test_sub_paths_that_no_order_runs_along_say_nothing() -> None:
    certificate = replace(hard(), paths=())
    least = reference_bound(certificate)
    nowhere = [("g0",), ("g0", "g1", "g0"), ("g0", INIT, "g1"), ("g0", "end", "g1"), ("g0", "other"), (INIT, "end")]
    claimed = replace(certificate, paths=tuple(PathFact(path, 99) for path in nowhere), order_bound=least)
    assert order_bound(claimed, Clock(Limits())).verdict == HOLDS
    assert order_bound(replace(claimed, order_bound=least + 1), Clock(Limits())).verdict == WRONG


def orders_of(certificate: Certificate) -> Orders:
    return Orders.of(certificate, {f.path: f.at_least for f in certificate.edges})


def proof_of(certificate: Certificate, at_least: int) -> OrderProof:
    orders = orders_of(certificate)
    problem = OrderingProblem(certificate.goals, orders.edges, INIT, certificate.end, least=orders.paths)
    proof = order_proof(problem, at_least)
    assert isinstance(proof, OrderProof)
    return proof


def least_order(certificate: Certificate) -> int:
    orders = orders_of(certificate)
    return min(orders.cost((INIT, *order, certificate.end)) for order in permutations(certificate.goals))


def drawn_proof(rng: random.Random, certificate: Certificate, depth: int) -> OrderProof:
    """Any prices that could be written down, and any cases."""
    nodes = [*certificate.goals, certificate.end]
    cases = tuple(drawn_proof(rng, certificate, depth - 1) for _ in range(2)) if depth else ()
    return OrderProof(
        8,
        {name: rng.randint(-8, 24) for name in rng.sample(nodes, rng.randint(0, len(nodes)))},
        tuple((tuple(rng.sample(nodes, rng.randint(1, 2))), rng.randint(0, 12)) for _ in range(rng.randint(0, 3))),
        {fact.path: rng.randint(0, 12) for fact in certificate.paths if rng.random() < 0.5},
        rng.choice([INIT, *nodes]),
        tuple(rng.sample(nodes, rng.randint(0, len(nodes)))),
        cases,
    )


def test_whatever_the_prices_and_cases_no_more_than_the_least_order_follows() -> None:
    tight = 0
    for seed in range(50):
        rng = random.Random(seed)
        certificate = random_certificate(rng, 1 + seed % 4, 8)
        least = least_order(certificate)
        orders = orders_of(certificate)
        proofs = [drawn_proof(rng, certificate, seed % 3) for _ in range(10)]
        assert not any(orders.take(steps, proof) for proof in proofs for steps in (least + 1, least + 2, least + 50))
        tight += sum(orders.take(least, proof) for proof in proofs)
    assert tight > 5


def changed(proof: OrderProof, path: tuple[str, ...]) -> dict[str, OrderProof]:
    """The same with something in it that does not hold."""
    price = proof.paths.get(path, 0)
    return {
        "a price of init": replace(proof, nodes={**proof.nodes, INIT: 9 * proof.scale}),
        "a price of nothing": replace(proof, nodes={**proof.nodes, "other": 9 * proof.scale}),
        "a dearer goal": replace(proof, nodes={**proof.nodes, "g0": proof.nodes.get("g0", 0) + 9 * proof.scale}),
        "a set with init": replace(proof, cuts=(*proof.cuts, ((INIT, "g0"), 9 * proof.scale))),
        "a set of nothing": replace(proof, cuts=(*proof.cuts, ((), 9 * proof.scale))),
        "a set elsewhere": replace(proof, cuts=(*proof.cuts, (("other",), 9 * proof.scale))),
        "a set that costs": replace(proof, cuts=(*proof.cuts, (tuple(proof.nodes), -9 * proof.scale))),
        "a sub-path that costs": replace(proof, paths={**proof.paths, path: -9 * proof.scale}),
        "a dearer sub-path": replace(proof, paths={**proof.paths, path: price + 9 * proof.scale}),
        "a step of no part": replace(proof, scale=0),
        "a step of less than none": replace(proof, scale=-proof.scale),
        "no cases": replace(proof, cases=()),
        "one case": replace(proof, cases=proof.cases[:1]),
        "three cases": replace(proof, cases=(*proof.cases, proof.cases[0])),
        "cases that are turned": replace(proof, cases=proof.cases[::-1]),
        "cases of nothing": replace(proof, following=()),
    }


def test_a_proof_with_a_fault_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = hard()
    least = reference_bound(certificate)
    proof = proof_of(certificate, least)
    assert orders_of(certificate).take(least, proof)
    assert len(proof.cases) == 2
    faults = changed(proof, certificate.paths[-1].path)
    for text, forged in faults.items():
        assert not orders_of(certificate).take(least + 1, forged), text
        monkeypatch.setattr("chaincover.verification.orders.order_proof", lambda *_, forged=forged: forged)
        assert order_bound(replace(certificate, order_bound=least + 1), Clock(Limits())).verdict == OPEN, text
    for text in ("no cases", "one case", "three cases", "cases that are turned"):
        assert not orders_of(certificate).take(least, faults[text]), text


@pytest.mark.parametrize("left_out", [INIT, "g0", "end"])
def test_an_order_that_leaves_something_out_disproves_nothing(left_out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = hard()
    order = tuple(name for name in (INIT, *certificate.goals, "end") if name != left_out)
    monkeypatch.setattr("chaincover.verification.orders.order_proof", lambda *_: order)
    assert order_bound(replace(certificate, order_bound=99), Clock(Limits())).verdict == OPEN


@pytest.mark.parametrize(("goals", "sub_paths"), [(40, 0), (24, 10)])
def test_many_goals(goals: int, sub_paths: int) -> None:
    claimed = with_sub_paths(in_corners(random.Random(goals), goals), sub_paths)
    assert order_bound(claimed, Clock(Limits())).verdict == HOLDS
    assert order_bound(replace(claimed, order_bound=claimed.order_bound + 1), Clock(Limits())).verdict == WRONG


# fewest chains


@pytest.mark.parametrize("seed", range(100))
def test_sharing_goals_out(seed: int) -> None:
    rng = random.Random(seed)
    goals = [f"g{n}" for n in range(rng.randint(1, 6))]
    conflicts = [rng.sample(goals, rng.randint(2, 3)) for _ in range(rng.randint(0, 12)) if len(goals) > 2]
    number = rng.randint(1, 3)
    ways = product(range(number), repeat=len(goals))
    free = any(not any(len({way[goals.index(g)] for g in conflict}) == 1 for conflict in conflicts) for way in ways)
    assert fits(goals, conflicts, number, Clock(Limits())) == free


def test_goals_of_six_lines_that_exclude_each_other_are_shared_out_in_little_work() -> None:
    goals = [f"line {line}, place {place}" for line in range(6) for place in range(7)]
    conflicts = [pair for pair in combinations(goals, 2) if pair[0].split(",")[0] != pair[1].split(",")[0]]
    clock = Clock(Limits(question=0.01))
    assert [fits(goals, conflicts, number, clock) for number in (5, 6)] == [False, True]
    assert fits(goals, conflicts, 5, Clock(Limits(seconds=0.0))) is None


@pytest.mark.parametrize("number", [0, 1, 15, 16, 40])
def test_goals_that_all_exclude_each_other_need_a_chain_each(number: int) -> None:
    goals = [f"g{n}" for n in range(16)]
    assert fits(goals, [*combinations(goals, 2)], number, Clock(Limits(question=0.01))) == (number >= len(goals))


def test_what_the_solver_does_not_find_out_is_left_open() -> None:
    """A conflict of three goals each: no two of them exclude each other, so the solver has to search."""
    goals = [f"g{n}" for n in range(21)]
    assert fits(goals, [*combinations(goals, 3)], 10, Clock(Limits(question=0.001))) is None


def test_a_conflict_with_a_goal_that_no_chain_covers_keeps_nothing_apart() -> None:
    assert fits(["g0", "g1"], [("g0", "g2"), ("g0", "g1", "g2")], 1, Clock(Limits())) is True


def test_goals_around_circles_of_odd_length_need_a_third_chain_where_none_is_as_another_one() -> None:
    """No two goals are ruled out alike, and no three exclude each other in pairs."""
    circles = [[f"{circle} {place}" for place in range(7)] for circle in range(4)]
    goals = sorted((goal for circle in circles for goal in circle), key=lambda goal: goal[::-1])
    conflicts = [(one[place - 1], one[place]) for one in circles for place in range(7)]
    clock = Clock(Limits(question=0.1))
    assert [fits(goals, conflicts, number, clock) for number in (2, 3)] == [False, True]


@pytest.mark.parametrize("seed", range(20))
def test_the_least_total_length(seed: int) -> None:
    rng = random.Random(seed)
    goals = [f"g{n}" for n in range(rng.randint(1, 4))]
    sets = [frozenset(rng.sample(goals, rng.randint(0, len(goals)))) for _ in range(5)]
    lengths_of = {names: rng.randint(0, 9) for names in sets}
    number, clock = rng.randint(1, 3), Clock(Limits())
    totals = [
        sum(lengths_of[names] for names in chosen)
        for chosen in product(lengths_of, repeat=number)
        if frozenset().union(*chosen) == set(goals)
    ]
    fewer = [least_total(goals, lengths_of, n, clock) for n in range(1, number)]
    known = [total for total in (*totals, *fewer) if total is not None]
    assert least_total(goals, lengths_of, number, clock) == min(known, default=inf)
