"""Ordering backends against all permutations, and against each other."""

from __future__ import annotations

import math
import os
import random
import signal
import sys
import threading
from collections.abc import Callable
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ordering_problems import brute_force, longest_path, problem, with_constraints

from bmc.errors import UsageError
from chaincover.options import ORDERINGS
from chaincover.orderings import asp, choose, cpsat, missing_library, tsp
from chaincover.orderings import cpsat as cp_sat
from chaincover.orderings.asp import AspOrdering
from chaincover.orderings.constraints import assignment_relaxation, path_model, relaxed
from chaincover.orderings.exact import LARGEST, ExactOrdering, prover
from chaincover.orderings.local import LocalOrdering
from chaincover.orderings.mip import Capacities, MipOrdering
from chaincover.orderings.protocol import UNLIMITED, Limit, OrderingProblem, OrderingResult, path_cost
from chaincover.orderings.tsp import TspOrdering

needs_elkai = pytest.mark.needs("elkai")
needs_ortools = pytest.mark.needs("ortools")
PROVING = [
    "exact",
    "auto",
    "mip",
    pytest.param("cpsat", marks=needs_ortools),
    pytest.param("asp-usc"),
    pytest.param("asp-bb"),
]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(0, 6), st.sampled_from([0.4, 0.7, 1.0]))
def test_exact_is_least_and_first_in_node_order(seed: int, count: int, density: float) -> None:
    p = problem(seed, count, density)
    result, expected = ExactOrdering().solve(p), brute_force(p)
    assert result.proved
    assert result.by == "exact"
    if expected is None:
        assert (result.path, result.cost) == ((), 0)
    else:
        assert (result.cost, result.path) == expected
        assert result.lower_bound == result.cost


@pytest.mark.slow
@pytest.mark.parametrize("name", PROVING)
def test_orderings_that_prove_equal_brute_force(name: str) -> None:
    """Missing edges, weights of 0, forbidden sub-paths, least lengths of sub-paths; with and without a solution."""
    solved = 0
    for seed in range(60):
        rng = random.Random(seed)
        p = problem(seed, rng.randint(0, 6), rng.choice([0.5, 0.8, 1.0]), rng.choice([1, 3, 9]))
        if seed % 4:
            p = with_constraints(p, seed, rng.randint(0, 4), rng.randint(0, 12))
        result, expected = choose(name).solve(p), brute_force(p)
        assert result.proved
        assert bool(result.path) == (expected is not None)
        if expected is not None:
            solved += 1
            assert result.cost == result.lower_bound == expected[0] == longest_path(p, result.path)
    assert 30 < solved < 110


def test_path_cost_is_the_longest_path_through_all_difference_constraints() -> None:
    for seed in range(150):
        p = with_constraints(problem(seed, 5, 0.9), seed, 2, 12)
        order = ("init", *random.Random(seed).sample(p.nodes, 5), "final")
        assert path_cost(p, order) == longest_path(p, order)


def counterexample() -> OrderingProblem:
    """Triggers v={v1,v2}, w={w1,w2}; steps u->v1, v2->w1, w2->x and v1->m->w2: u-v-w and v-w-x take one step more."""
    weights = {("u", "v"): 1, ("v", "w"): 1, ("w", "x"): 1, ("u", "w"): 4, ("w", "v"): 4, ("v", "x"): 4}
    return OrderingProblem(("v", "w"), weights, "u", "x", least={("u", "v", "w"): 3, ("v", "w", "x"): 3})


@pytest.mark.parametrize("name", PROVING)
def test_sub_paths_that_overlap_share_their_steps(name: str) -> None:
    p = counterexample()
    unconstrained = OrderingProblem(p.nodes, p.weights, p.start, p.end)
    assert choose(name).solve(unconstrained).cost == 3
    result = choose(name).solve(p)
    assert (result.path, result.cost, result.proved) == (("u", "v", "w", "x"), 4, True)


@pytest.mark.parametrize("name", PROVING)
def test_example_5_of_the_paper(name: str) -> None:
    weights = {
        ("Init", "phi1"): 0,
        ("Init", "phi2"): 2,
        ("phi1", "phi2"): 1,
        ("phi1", "Final"): 2,
        ("phi2", "phi1"): 2,
        ("phi2", "Final"): 2,
    }
    p = OrderingProblem(("phi1", "phi2"), weights, "Init", "Final")
    assert choose(name).solve(p).path == ("Init", "phi1", "phi2", "Final")
    failed = OrderingProblem(p.nodes, weights, p.start, p.end, forbidden=(("Init", "phi1", "phi2"),))
    result = choose(name).solve(failed)
    assert (result.path, result.cost, result.proved) == (("Init", "phi2", "phi1", "Final"), 6, True)


@pytest.mark.parametrize("name", PROVING)
def test_the_same_path_every_time_and_with_constraints_that_cannot_occur(name: str) -> None:
    p = with_constraints(problem(7, 8, largest=4), 7, 4, 8)
    first = choose(name).solve(p)
    assert choose(name).solve(p).path == first.path
    unknown = OrderingProblem(p.nodes, p.weights, p.start, p.end, (*p.forbidden, ("g0", "gone")), {**p.least})
    assert choose(name).solve(unknown).cost == first.cost


def test_a_path_constraint_has_two_nodes() -> None:
    with pytest.raises(ValueError, match="at least two nodes"):
        OrderingProblem((), {}, "init", "final", forbidden=(("init",),))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(0, 8), st.sampled_from([0.5, 1.0]), st.booleans())
def test_local_gives_right_paths_never_below_the_optimum(
    seed: int, count: int, density: float, constrained: bool
) -> None:
    p = problem(seed, count, density)
    if constrained:
        p = with_constraints(p, seed, 3, 6)
    result, best = LocalOrdering().solve(p), ExactOrdering().solve(p)
    assert not result.proved
    if result.path:
        assert sorted(result.path) == sorted((p.start, *p.nodes, p.end))
        assert path_cost(p, result.path) == result.cost >= best.cost
        assert LocalOrdering().solve(p).path == result.path


def test_local_takes_many_nodes() -> None:
    p = problem(3, 60)
    result = LocalOrdering().solve(p)
    assert path_cost(p, result.path) == result.cost < 60


@pytest.mark.parametrize("name", ["exact", "auto", *PROVING[2:5]])
def test_many_nodes_are_proved(name: str) -> None:
    result = choose(name).solve(problem(3, 40))
    assert result.proved
    assert path_cost(problem(3, 40), result.path) == result.cost == result.lower_bound


@pytest.mark.slow
@pytest.mark.parametrize("name", PROVING[2:])
def test_a_limit_leaves_a_path_and_a_bound(name: str) -> None:
    p = problem(11, 40, largest=60)
    best = prover(p).solve(p)
    for limit in (Limit(seconds=0.02), Limit(work=0.0001)):
        result = choose(name).solve(p, limit)
        assert path_cost(p, result.path) == result.cost >= best.cost >= result.lower_bound
        assert result.proved == (result.cost == result.lower_bound)
    assert choose(name).solve(p, limit).path == result.path


def test_branch_and_bound_does_not_prove_fourteen_nodes_soon() -> None:
    p = problem(14, 14, largest=30)
    result = AspOrdering("bb").solve(p, Limit(work=1))
    assert not result.proved
    assert result.cost >= AspOrdering("usc").solve(p).cost == ExactOrdering().solve(p).cost


@pytest.mark.parametrize("name", PROVING)
@pytest.mark.parametrize("work", [1e6, 1e18, 1e300, math.inf])
def test_any_amount_of_work_may_be_allowed(name: str, work: float) -> None:
    """Also more than a solver counts."""
    p = problem(5, 5)
    assert choose(name).solve(p, Limit(work=work)).cost == ExactOrdering().solve(p).cost


@needs_elkai
@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(0, 9))
def test_tsp_finds_the_optimum(seed: int, count: int) -> None:
    p = problem(seed, count)
    result = TspOrdering().solve(p)
    assert path_cost(p, result.path) == result.cost == ExactOrdering().solve(p).cost


@needs_elkai
def test_tsp_never_returns_a_path_over_a_missing_edge() -> None:
    for seed in range(30):
        p = problem(seed, 6, 0.4)
        result = TspOrdering().solve(p)
        assert not result.path or path_cost(p, result.path) == result.cost


@pytest.mark.parametrize(
    ("limit", "nodes", "runs"),
    [
        (Limit(), 500, 10),
        (Limit(work=5.0), 200, 10),
        (Limit(work=5.0), 500, 2),
        (Limit(seconds=3.0, work=5.0), 500, 1),
        (Limit(seconds=0.0), 3, 1),
        (Limit(seconds=60.0), 3, 10),
    ],
)
def test_tsp_begins_anew_as_often_as_its_limit_allows(limit: Limit, nodes: int, runs: int) -> None:
    assert TspOrdering().runs_within(limit, nodes) == runs


@needs_elkai
def test_tsp_refuses_weights_that_could_abort_the_process() -> None:
    p = problem(1, 4)
    large = OrderingProblem(p.nodes, {**p.weights, ("g0", "g1"): 10**8}, p.start, p.end)
    with pytest.raises(UsageError, match="weights up to"):
        TspOrdering().solve(large)


def test_tsp_refuses_path_constraints() -> None:
    with pytest.raises(UsageError, match="takes no path constraints"):
        TspOrdering().solve(counterexample())


@pytest.mark.parametrize(
    ("name", "library", "named"),
    [("tsp", "elkai", "package elkai"), ("cpsat", "ortools", "needs OR-tools"), ("asp", "clingo", "package clingo")],
)
def test_without_its_library_an_ordering_names_it(
    name: str, library: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, library)
    assert missing_library(name) == library
    with pytest.raises(UsageError, match=named) as raised:
        choose(name).solve(problem(1, 5))
    assert "pip install" in str(raised.value)


def test_without_libraries_only_path_constraints_are_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "ortools", "elkai", "clingo")
    assert choose("tsp").solve(problem(1, 2)).proved
    assert choose("auto").solve(problem(1, 7)).proved
    assert choose("auto").solve(problem(1, LARGEST + 1)).proved
    result = choose("auto").solve(with_constraints(problem(3, 8, largest=9), 3, 4, 8))
    assert (result.by, result.proved) == ("local", False)
    with pytest.raises(UsageError, match="package clingo"):
        choose("exact").solve(counterexample())


def test_without_ortools_highs_proves_and_clingo_where_there_are_path_constraints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without(monkeypatch, "ortools")
    for p, by in ((problem(3, LARGEST + 4), "mip"), (counterexample(), "asp-usc")):
        for name in ("exact", "auto"):
            result = choose(name).solve(p)
            assert (result.by, result.proved) == (by, True)


def points(count: int, top: int) -> OrderingProblem:
    """Points of a square, which neighbours on all eight sides join: many paths cost the same."""
    rng = random.Random(count)
    names = ("init", *(f"g{n}" for n in range(count)), "final")
    places = {name: (rng.randint(0, top), rng.randint(0, top)) for name in names}
    weights = {
        (a, b): max(abs(p - q) for p, q in zip(places[a], places[b], strict=True))
        for a in names
        for b in names
        if a != b
    }
    return OrderingProblem(names[1:-1], weights, "init", "final")


@pytest.mark.parametrize("count", [8, 12, 16])
def test_circles_apart_from_the_start_are_cut_off(count: int) -> None:
    """On such points the cheapest successors of all nodes make many circles, and the linear program halves of them."""
    for top in (4, 9, 30):
        result = MipOrdering().solve(points(count, top))
        assert result.proved
        assert result.cost == result.lower_bound == ExactOrdering().solve(points(count, top)).cost


def test_least_cuts_are_those_of_all_sets() -> None:
    """Of every graph all sets of nodes without the source are looked at."""
    met = 0
    for seed in range(60):
        rng = random.Random(seed)
        arcs = {(a, b): rng.choice([0.0, 0.25, 0.5, 0.75]) for a in range(5) for b in range(5) if a != b}
        graph = Capacities()
        for (a, b), capacity in arcs.items():
            graph.connect(a, b, capacity)

        def entering(inside: set[int], arcs: dict[tuple[int, int], float] = arcs) -> float:
            return sum(capacity for (a, b), capacity in arcs.items() if a not in inside and b in inside)

        for sink in range(1, 5):
            others = [n for n in range(1, 5) if n != sink]
            sets = [{sink, *(n for n, chosen in zip(others, bits, strict=True) if chosen)} for bits in CHOICES]
            least, found = min(map(entering, sets)), graph.least_cuts(0, [sink])
            assert (found is None) == (least > 0.99)
            if found is not None:
                met += 1
                assert entering({*range(5)} - found[0]) == entering(found[1]) == least
    assert 20 < met < 220


CHOICES = list(product([False, True], repeat=3))


def without(monkeypatch: pytest.MonkeyPatch, *libraries: str) -> None:
    """Make these libraries look as if they were not installed."""
    for library in libraries:
        module = {"elkai": tsp, "ortools": cpsat, "clingo": asp}[library]
        monkeypatch.setattr(module, "available", lambda: False)
        monkeypatch.setitem(sys.modules, library, None)


def test_choosing() -> None:
    assert choose("auto").solve(problem(1, 5)).by == "exact"
    assert choose("local").name == "local"
    assert choose("asp").name == "asp-usc"
    assert "cpsat" in ORDERINGS
    with pytest.raises(UsageError, match="no ordering is called 'lhk'"):
        choose("lhk")


def test_exact_finds_a_path_of_the_cost_it_says_for_eighteen_goals() -> None:
    result = ExactOrdering().solve(problem(5, 18))
    assert path_cost(problem(5, 18), result.path) == result.cost


def interrupt(*given: object) -> None:
    """Send this process what Ctrl-C sends it."""
    os.kill(os.getpid(), signal.SIGINT)


def interrupts_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interrupt comes while the model is made."""
    make = cpsat._state
    monkeypatch.setattr(cpsat, "_state", lambda *given: (make(*given), interrupt())[0])


def interrupts_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interrupt comes with the first path of CP-SAT, which goes on once it has been told to stop."""
    cp_model = cp_sat.cp_model()

    solve, stop, told = cp_model.CpSolver.solve, cp_model.CpSolver.stop_search, threading.Event()

    class Interrupts(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            if not told.is_set():
                interrupt()
                assert told.wait(60)

    monkeypatch.setattr(cp_model.CpSolver, "solve", lambda solver, model: solve(solver, model, Interrupts()))
    monkeypatch.setattr(cp_model.CpSolver, "stop_search", lambda solver: (told.set(), stop(solver)))


def interrupts_clingo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interrupt comes with the first path of clingo, which tells of it from a thread of its own."""
    monkeypatch.setattr(asp._Search, "_keep", interrupt)


@pytest.mark.needs_signals
@pytest.mark.parametrize(
    ("name", "count", "interrupts"),
    [
        pytest.param("cpsat", 9, interrupts_model, marks=needs_ortools),
        pytest.param("cpsat", 9, interrupts_search, marks=needs_ortools),
        pytest.param("asp-bb", 30, interrupts_clingo, marks=pytest.mark.needs("clingo")),
    ],
)
def test_an_interrupt_ends_the_search_and_is_passed_on(
    name: str, count: int, interrupts: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupts(monkeypatch)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    threads = threading.active_count()
    try:
        with pytest.raises(KeyboardInterrupt):
            choose(name).solve(problem(1, count, largest=200))
    finally:
        signal.signal(signal.SIGINT, before)
    assert threading.active_count() == threads


def test_the_assignment_relaxation_never_exceeds_the_optimum_and_keeps_the_order_of_costs() -> None:
    met = 0
    for seed in range(100):
        p = problem(seed, 5, [0.5, 1.0][seed % 2])
        bound, best = relaxed(p), brute_force(p)
        if bound.proved:
            assert best is None
        elif best is not None:
            assert bound.lower_bound <= best[0]
            met += bound.lower_bound == best[0]
        model = path_model(p)
        edges = {**model.edges, (model.end, 0): 0}
        reduced = assignment_relaxation(edges, len(model.names))
        if reduced is not None and best is not None:
            weights, paid = reduced
            numbers = [model.names.index(name) for name in best[1]]
            assert min(weights.values()) >= 0
            assert paid + sum(weights[edge] for edge in pairwise([*numbers, 0])) == best[0]
    assert met > 25


def test_without_time_exact_and_local_stop_with_a_bound_that_holds() -> None:
    names = tuple("abcdefgh")
    weights = {
        (a, b): 1 + (7 * i + 3 * j) % 5 for i, a in enumerate(("start", *names)) for j, b in enumerate((*names, "end"))
    }
    problem = OrderingProblem(names, weights, "start", "end")
    least, cut = ExactOrdering().solve(problem), ExactOrdering().solve(problem, Limit(seconds=0.0))
    assert least.proved
    assert path_cost(problem, cut.path) == cut.cost
    assert cut.lower_bound <= least.cost <= cut.cost
    assert cut.proved == (cut.cost == cut.lower_bound)
    quick = LocalOrdering().solve(problem, Limit(seconds=0.0))
    assert path_cost(problem, quick.path) == quick.cost


def test_mip_keeps_a_quick_path_where_its_work_ends_before_the_linear_program_does() -> None:
    """Else a path of the ordering local would be the answer, however much better the quick one is."""
    p = points(40, 30)
    best = MipOrdering().solve(p)

    class Quick:
        name = "quick"

        def solve(self, problem: OrderingProblem, limit: Limit = UNLIMITED) -> OrderingResult:
            return best

    found = MipOrdering(Quick()).solve(p, Limit(work=1e-9))
    assert (found.path, found.cost, found.proved) == (best.path, best.cost, False)
    assert LocalOrdering().solve(p).cost > best.cost
    assert MipOrdering(Quick()).solve(p, Limit(seconds=0.0, work=1e-9)).cost > best.cost, "no time is left to ask"
