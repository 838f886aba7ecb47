"""The order bound and the sharing out of goals against all orders and all ways."""

from __future__ import annotations

import importlib.util
import random
from dataclasses import replace
from itertools import combinations, pairwise, permutations, product
from math import inf

import pytest

from chaincover.certificate import Certificate, EdgeFact, PathFact
from chaincover.verify.limits import Clock, Limits
from chaincover.verify.orders import OrderModel, dual_bound, needed_edges, order_bound
from chaincover.verify.report import HOLDS, OPEN, WRONG
from chaincover.verify.several import fits, least_total
from chaincover.weights import INIT

# the bound from orders


def random_certificate(rng: random.Random, goals: int, walked: int = 6) -> Certificate:
    names = tuple(f"g{n}" for n in range(goals))
    bare = Certificate(names, "end", "allow", (), (), (), 0, (0, 0), 0, 0)
    edges = tuple(EdgeFact(a, b, rng.randint(0, 4)) for a, b in needed_edges(bare))
    walks = [(INIT, *rng.sample(names, goals), "end") for _ in range(walked if goals else 0)]
    paths = []
    for walk in walks:
        begin = rng.randint(0, goals - 1)
        sub = walk[begin : rng.randint(begin + 3, goals + 3)]
        paths.append(PathFact(sub, rng.randint(3, 4 * len(sub))))
    return replace(bare, edges=edges, paths=tuple(paths))


def reference_bound(certificate: Certificate) -> int:
    """Over all orders: start times, each by all constraints on it."""
    weights = {(f.source, f.target): f.at_least for f in certificate.edges}
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


@pytest.mark.parametrize("orders", [300_000, 1], ids=["own", "backend"])
@pytest.mark.parametrize("seed", range(25))
def test_the_order_bound_is_that_of_all_orders(seed: int, orders: int) -> None:
    certificate = random_certificate(random.Random(seed), seed % 6)
    least = reference_bound(certificate)
    clock = Clock(Limits(orders=orders))
    for claimed in (0, least - 1, least):
        assert order_bound(replace(certificate, order_bound=claimed), clock).verdict == HOLDS
    assert order_bound(replace(certificate, order_bound=least + 1), clock).verdict == WRONG


def test_many_bounds_on_sub_paths() -> None:
    clock = Clock(Limits())
    for seed in range(150):
        certificate = random_certificate(random.Random(seed), 5, 60)
        least = reference_bound(certificate)
        assert order_bound(replace(certificate, order_bound=least), clock).verdict == HOLDS
        assert order_bound(replace(certificate, order_bound=least + 1), clock).verdict == WRONG, seed


def test_start_times_that_a_later_sub_path_needs() -> None:
    """Where the search has been, it is not enough to compare the last start time: y starts at 3 after a, b, x and after
    b, a, x, but x at 3 and at 0, and z four steps after x."""
    near = [(INIT, "a"), (INIT, "b"), ("a", "b"), ("b", "a"), ("a", "x"), ("x", "y"), ("y", "z"), ("z", "end")]
    names = ("a", "b", "x", "y", "z")
    bare = Certificate(names, "end", "allow", (), (), (), 0, (0, 0), 0, 0)
    weights = {pair: 0 if pair in near else 9 for pair in needed_edges(bare)} | {("b", "x"): 3}
    weights.update({(node, "end"): 0 for node in names} | {(INIT, node): 0 for node in names})
    edges = tuple(EdgeFact(a, b, weight) for (a, b), weight in weights.items())
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
        assert line.details == (f"the certificate has no bound for {fact.source} -> {fact.target}",)
        assert order_bound(replace(certificate, edges=rest, order_bound=0), Clock(Limits())).verdict == HOLDS


@pytest.mark.parametrize(
    ("without", "verdict"), [((), WRONG), (("clingo",), WRONG), (("ortools",), WRONG), (("clingo", "ortools"), OPEN)]
)
def test_too_many_orders(without: tuple[str, ...], verdict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Orders that the assignment says too little about: cuts around goals prove the bound, either solver disproves a
    higher one."""
    near = {("g0", "g1"), ("g1", "g0"), ("g2", "g3"), ("g3", "g2")}
    bare = random_certificate(random.Random(4), 5)
    free = {(f.source, f.target) for f in bare.edges if f.source == INIT or f.target == "end"} | near
    edges = tuple(replace(f, at_least=int((f.source, f.target) not in free)) for f in bare.edges)
    paths = (PathFact(("g0", "g1", "g4"), 3), PathFact(("g1", "g0", "g4"), 3))
    least = reference_bound(replace(bare, edges=edges, paths=paths))
    if without:
        found = importlib.util.find_spec
        monkeypatch.setattr("chaincover.verify.orders.find_spec", lambda name: None if name in without else found(name))
    claimed = replace(bare, edges=edges, paths=paths, order_bound=least)
    assert order_bound(claimed, Clock(Limits(orders=1))).verdict == HOLDS
    for limits in (Limits(), Limits.of(1e15, None), Limits.of(None, None)):  # also more than a solver counts
        clock = Clock(replace(limits, orders=1))
        assert order_bound(replace(claimed, order_bound=least + 1), clock).verdict == verdict


@pytest.mark.parametrize("seed", range(30))
def test_an_assignment_is_no_more_than_the_least_order(seed: int) -> None:
    certificate = replace(random_certificate(random.Random(seed), seed % 6), paths=())
    edges = {(f.source, f.target): f.at_least for f in certificate.edges}
    model = OrderModel(certificate.goals, "end", edges, ())
    rows, columns = model.potentials
    assert all(rows[a] + columns[b] <= weight for (a, b), weight in model.weights.items())
    names = range(len(rows))
    assignments = (sum(model.weights.get((a, b), 99) for a, b in enumerate(order)) for order in permutations(names))
    assert model.assigned == min(assignments)


def in_corners(rng: random.Random, goals: int) -> Certificate:
    """Goals around three corners of a square: the cheapest successors make circles within each of them."""
    names = tuple(f"g{n}" for n in range(goals))
    bare = Certificate(names, "end", "allow", (), (), (), 0, (0, 0), 0, 0)
    corners = [(0, 0), (20, 0), (0, 20)]
    place = {name: [rng.randint(0, 3) + at for at in corners[n % 3]] for n, name in enumerate(names)}
    place |= {INIT: [20, 20], "end": [20, 20]}
    edges = tuple(
        EdgeFact(a, b, max(abs(p - q) for p, q in zip(place[a], place[b], strict=True))) for a, b in needed_edges(bare)
    )
    return replace(bare, edges=edges)


def test_cuts_around_goals_bound_no_more_than_the_least_order_and_more_than_an_assignment() -> None:
    more = exact = 0
    for seed in range(24):
        rng = random.Random(seed)
        make = in_corners if seed % 2 else random_certificate
        certificate = replace(make(rng, 6 if seed % 2 else 2 + seed % 5), paths=())
        edges = {(f.source, f.target): f.at_least for f in certificate.edges}
        walks = ((INIT, *order, "end") for order in permutations(certificate.goals))
        least = min(sum(edges[edge] for edge in pairwise(walk)) for walk in walks)
        model = OrderModel(certificate.goals, "end", edges, ())
        _, bound = dual_bound(model)
        assert model.assigned <= bound <= least
        more += bound > model.assigned
        exact += bound == least
    assert more > 5
    assert exact > 12


def test_an_order_bound_by_cuts_needs_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chaincover.verify.orders.find_spec", lambda name: None)
    certificate = in_corners(random.Random(1), 6)
    least = reference_bound(certificate)
    line = order_bound(replace(certificate, order_bound=least), Clock(Limits(orders=1)))
    assert (line.verdict, "its dual solution checked exactly" in line.text) == (HOLDS, True)
    assert order_bound(replace(certificate, order_bound=least + 1), Clock(Limits(orders=1))).verdict == OPEN


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
    clock = Clock(Limits(nodes=1000))
    assert [fits(goals, conflicts, number, clock) for number in (5, 6)] == [False, True]
    assert fits(goals, conflicts, 5, Clock(Limits(nodes=0))) is None


def test_goals_around_circles_of_odd_length_need_a_third_chain_where_none_is_as_another_one() -> None:
    """No two goals are ruled out alike, and no three exclude each other in pairs."""
    circles = [[f"{circle} {place}" for place in range(7)] for circle in range(4)]
    goals = sorted((goal for circle in circles for goal in circle), key=lambda goal: goal[::-1])
    conflicts = [(one[place - 1], one[place]) for one in circles for place in range(7)]
    clock = Clock(Limits(nodes=10_000))
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
