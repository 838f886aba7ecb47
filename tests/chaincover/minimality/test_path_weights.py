"""Path weights learned: the bound meets a chain, never passes the least one, and rests on facts that are true."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from boards import Kept, board_of
from enumerated import one_step
from explicit import Explicit
from greenlet import greenlet
from listeners import Told
from machines import Case, Machine, random_machine
from paper_examples import three_to_four
from path_lengths import PathLengths
from problems import problem_of

from benchmarks.checks.generated.reference import Reference
from benchmarks.checks.generated.systems import generated_case
from bmc.errors import LimitReached, counted
from bmc.formulas.unroll import at
from chaincover import pipeline
from chaincover.certificate import Certificate, as_data, from_data
from chaincover.graph.reachability import GraphBuilder
from chaincover.known import Board
from chaincover.minimality.path_weights import Learner
from chaincover.minimality.sub_path_lengths import SubPathSearch
from chaincover.options import Options
from chaincover.orderings.auto import AutoOrdering
from chaincover.orderings.bound import LEARNED, WHOLE
from chaincover.orderings.exact import ExactOrdering
from chaincover.orderings.protocol import Limit, OrderingProblem, OrderingResult, path_cost
from chaincover.pipeline import generate
from chaincover.runs.nearest import NearestFirst
from properties.goal import Goal

NO_SEARCH = Options(engine="sat")
"""Without the exact search over reachable states."""


def least_total(case: Case, overlap: str) -> int | None:
    """Steps of the shortest chain through all goals, None if there is none."""
    system, goals, final = case
    return Reference(system, goals, final, overlap).answer().least.get((1 << len(goals)) - 1)


def generated(seed: int) -> Case:
    made = generated_case(seed, states=16, goals=4, longest=2)
    return made.system, made.goals, made.final


def learner(case: Case, overlap: str, bound: int, listener: Kept | None = None) -> tuple[Learner, Board] | None:
    """A learner for ``case`` on its graph up to ``bound``, beside a chain that goes to the nearest goal each time.

    None where that leads to no chain.
    """
    board, kept = board_of(case, Options(engine="z3", overlap=overlap))
    board.listener = listener or kept
    builder = GraphBuilder(board.questions, bound)
    builder.extend(bound)
    board.tell(graph=builder.graph())
    run = NearestFirst(board.questions, board.problem.names, 12).run()
    if run is None or not board.offer(run) or not board.known.complete:
        return None
    return Learner(board, SubPathSearch(board.questions)), board


class Far:
    """Layers that have met a goal that is too far away for a solver."""

    far = True

    def run_along(self, path: object, covers: object) -> None:
        raise AssertionError("the graph is not exact")


def test_no_solver_is_asked_for_what_is_far_while_states_are_enumerated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its questions take gigabytes there, and the enumerated states will tell the same."""
    made = learner(with_a_shortcut(), "allow", 6)
    assert made is not None
    found, board = made
    asked: list[int] = []
    ask = SubPathSearch.ask
    monkeypatch.setattr(SubPathSearch, "ask", lambda *given: [asked.append(1), ask(*given)][1])
    board.layered = Far()  # type: ignore[assignment]
    stage = greenlet(found.work)
    for _ in range(5):  # turns
        stage.switch()
    assert not asked
    board.not_enumerated = "The states are too many."
    stage.switch()
    assert asked


def with_a_shortcut() -> Case:
    """The example ``three_to_four`` with ways to each single goal that are as short as the direct weights say.

    From u, u->y->w3->x covers w in 3 steps, and from x a step leads to v3 and back. The shortest chain is the same.
    """
    steps = [("u", "go", "v1"), ("v1", "go", "m"), ("m", "go", "w2"), ("w2", "go", "x"), ("v2", "go", "w1")]
    steps += [("u", "turn", "y"), ("y", "go", "w3"), ("w3", "go", "x"), ("x", "go", "v2")]
    steps += [("x", "turn", "v3"), ("v3", "go", "x")]
    places = ["u", "v1", "v2", "v3", "w1", "w2", "w3", "x", "m", "y"]
    machine = Machine("three to four with a shortcut", places, ["wait", "go", "turn"], steps)
    v = Goal("v", at(machine.at_any("v1", "v2", "v3"), 0), None, 0)
    w = Goal("w", at(machine.at_any("w1", "w2", "w3"), 0), None, 0)
    return machine.system(), (v, w), machine.at_any("x")


def test_overlapping_path_weights_are_not_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the design's example the way to w alone already bounds by 4; with the shortcut only path weights do."""
    kept = tuple(stage for stage in pipeline.STAGES if stage.name not in ("whole lengths", "covering flow"))
    monkeypatch.setattr(pipeline, "STAGES", kept)
    plain = generate(problem_of(*three_to_four()), NO_SEARCH)
    assert plain.chain is not None
    assert (plain.chain.length, plain.bounds.lower) == (4, 4)
    result = generate(problem_of(*with_a_shortcut()), NO_SEARCH)
    assert result.chain is not None
    assert result.chain.length == 4
    assert (result.bounds.lower, result.bounds.basis, result.bounds.minimal) == (4, LEARNED, True)
    assert result.certificate is not None
    assert result.certificate.paths
    assert result.certificate.refuted == (0, 0)
    facts = {fact.path: fact.at_least for fact in result.certificate.paths}
    assert all(facts[path] == 3 for path in (("init", "v", "w"), ("v", "w", "final")) if path in facts)
    check_facts(with_a_shortcut(), result.certificate, invariants=False)
    check_bound(result.certificate)


def test_both_path_weights_together_still_bound_by_four() -> None:
    """Three windows deep: with both facts the shortest order over v and w costs 4, and 5 is never claimed."""
    kept = Kept()
    made = learner(with_a_shortcut(), "allow", 6, kept)
    assert made is not None
    learning, board = made
    learning.work()
    assert (board.known.lower, board.known.length) == (4, 4)
    assert {("init", "v", "w"), ("v", "w", "final")} <= learning.paths.keys()
    assert max(known.lower for known in kept.known) <= 4


@pytest.mark.evidence
@pytest.mark.parametrize("make", [random_machine, generated])
def test_the_loop_alone_closes_on_random_systems(make: Callable[[int], Case]) -> None:
    closed = learned = 0
    for seed in range(10):
        case = one_step(make(seed))
        least = least_total(case, "allow")
        if least is None or least > 9:
            continue
        kept = Kept()
        made = learner(case, "allow", 6, kept)
        if made is None:
            continue
        learning, board = made
        learning.work()
        assert (board.known.lower, board.known.length) == (least, least), seed
        lowers = [known.lower for known in kept.known]
        assert lowers == sorted(lowers)
        closed += 1
        learned += bool(learning.paths)
    assert closed >= 2
    assert learned


def check_facts(case: Case, certificate: Certificate, invariants: bool, most: int = 8) -> int:
    """Every fact against all runs; the number of those on paths that were checked."""
    system, goals, final = case
    reference = Explicit(system)
    starts = reference.reachable() if invariants else None
    lengths = PathLengths(reference, goals, final, certificate.overlap, starts)
    facts = [(e.path, e.at_least) for e in certificate.edges]
    facts += [(fact.path, fact.at_least) for fact in certificate.paths]
    for path, at_least in facts:
        nearer = min(at_least - 1, most)
        assert not lengths.possible(path, nearer), (path, at_least)
    return len(certificate.paths)


def check_bound(certificate: Certificate) -> None:
    """The certificate's bound, from its facts alone."""
    if certificate.order_bound:
        edges = {e.path: e.at_least for e in certificate.edges}
        facts = {fact.path: fact.at_least for fact in certificate.paths}
        problem = OrderingProblem(certificate.goals, edges, "init", certificate.end, least=facts)
        cost = ExactOrdering().solve(problem).cost
        far = [edges["init", g] + edges[g, certificate.end] for g in certificate.goals]
        assert certificate.order_bound <= max([cost, *far])
    begun, end = certificate.refuted
    assert end <= begun or begun <= certificate.order_bound
    if not certificate.exhausted:
        assert certificate.lower == max(certificate.order_bound, end)


LEFT_OUT = ("whole lengths", "covering flow", "product search", "tour", "accelerate")
"""Stages that settle small systems before path weights do."""


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "overlap"), [("sat", "forbid"), ("auto", "allow")])
def test_whole_runs_are_minimal_with_true_certificates(
    engine: str, overlap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tuple(stage for stage in pipeline.STAGES if stage.name not in LEFT_OUT)
    monkeypatch.setattr(pipeline, "STAGES", kept)
    chains = paths = 0
    for seed in range(40, 50):
        case = random_machine(seed)
        least = least_total(case, overlap)
        if least is None:
            continue
        result = generate(problem_of(*case), Options(engine=engine, overlap=overlap, bound=12))
        assert result.chain is not None
        assert result.certificate is not None
        assert (result.chain.length, result.bounds.lower) == (least, least), seed
        check_bound(result.certificate)
        assert from_data(as_data(result.certificate)) == result.certificate
        chains += 1
        told = one_step(case, overlap)
        paths += check_facts(told, result.certificate, engine == "auto" or bool(result.certificate.invariants))
    assert chains >= 2
    assert paths


@pytest.mark.parametrize("ending", [KeyboardInterrupt, LimitReached])
def test_a_bound_that_is_cut_short_is_valid(ending: type[BaseException]) -> None:
    """Stopped after each order in turn: the bound is what was proved until then, and grows to the shortest chain."""

    class Stops(Kept):
        """Raises at one of the orders."""

        def __init__(self, after: int) -> None:
            super().__init__()
            self._after = after

        def __call__(self, text: str) -> None:
            if text.endswith(f"after {counted(self._after, 'order')}"):
                raise ending("over")

    lowers = []
    for stop in range(1, 20):
        made = learner(with_a_shortcut(), "allow", 6, Stops(stop))
        assert made is not None
        learning, board = made
        stopped = False
        try:
            learning.work()
        except ending:
            stopped = True
        lowers.append(board.known.lower)
        assert board.known.length is not None
        assert board.known.lower <= 4 <= board.known.length
        assert all(at_least <= 4 for at_least in learning.paths.values())
        if not stopped:
            break
    assert lowers == sorted(lowers)
    assert (lowers[0] < 4, lowers[-1]) == (True, 4)


@pytest.mark.parametrize(
    "stage", ["graph: K = 1", "windows: shorter", "path weights: at least", "whole lengths", "inputs: canonical"]
)
def test_an_interrupt_leaves_chain_and_bound(stage: str) -> None:
    told = Told(stage)
    result = generate(problem_of(*with_a_shortcut()), NO_SEARCH, told)
    assert (result.stopped_by == "interrupt") == told.said(stage)
    assert result.chain is None or result.chain.length >= 4
    assert result.bounds.lower <= 4
    if result.certificate is not None and result.certificate.goals:
        check_bound(result.certificate)
        check_facts(with_a_shortcut(), result.certificate, invariants=False)


def grid_case(states_of_a_goal: int) -> Case:
    """Points on a path of 16 places, to be met back and forth; each goal is so many neighbours of them."""
    places = [f"p{n}" for n in range(16)]
    ways = [(a, "up", b) for a, b in pairwise(places)] + [(b, "down", a) for a, b in pairwise(places)]
    machine = Machine("sixteen in a row", places, ["wait", "up", "down"], ways)
    goals = [
        Goal(f"g{n}", at(machine.at_any(*places[n : n + states_of_a_goal]), 0), None, 0) for n in (2, 5, 8, 11, 13)
    ]
    return machine.system(), tuple(goals), machine.at_any("p0")


@pytest.mark.parametrize(("stage", "states", "effort", "length"), [("tour", 1, 0.2, 38), ("path weights", 2, 0.02, 34)])
def test_an_order_becomes_a_chain_before_more_work_is_spent(
    stage: str, states: int, effort: float, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order takes all of the effort and is not proved the shortest: the chain along it is there all the same."""
    kept = ("enumerate", "exact graph", stage)
    monkeypatch.setattr(pipeline, "STAGES", tuple(each for each in pipeline.STAGES if each.name in kept))
    order = ("init", "g5", "g2", "g11", "g8", "g13", "final")

    def unproved(_: AutoOrdering, problem: OrderingProblem, limit: Limit) -> OrderingResult:
        cost = path_cost(problem, order)
        assert cost is not None
        return OrderingResult(order, cost, 1, False, 0.0, "stub")

    monkeypatch.setattr(AutoOrdering, "solve", unproved)
    told = Told()
    result = generate(problem_of(*grid_case(states)), Options(effort=effort), told)
    assert result.used_up
    assert result.chain is not None
    assert (len(result.chain.hits), result.chain.length) == (5, length)
    assert told.said("path weights: at least 1 step after 1 order")
    assert not told.said("after 2 orders")


def test_lengths_are_refuted_without_path_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tuple(stage for stage in pipeline.STAGES if stage.name != "path weights")
    monkeypatch.setattr(pipeline, "STAGES", kept)
    result = generate(problem_of(*with_a_shortcut()), NO_SEARCH)
    assert result.certificate is not None
    assert not result.certificate.paths
    assert (result.bounds.lower, result.bounds.basis) == (4, WHOLE)
    assert result.certificate.refuted[0] <= 3
    assert result.certificate.refuted[1] == 4
    check_bound(result.certificate)
    assert from_data(as_data(result.certificate)) == result.certificate


@pytest.mark.parametrize("key", ["goals", "end", "claims", "lower"])
def test_damaged_certificates_are_refused(key: str) -> None:
    result = generate(problem_of(*with_a_shortcut()), NO_SEARCH)
    assert result.certificate is not None
    data = as_data(result.certificate)
    for damage in (None, 5, "x"):
        if (key, damage) in (("end", 5), ("end", None), ("end", "x"), ("goals", "x"), ("lower", 5)):
            continue
        with pytest.raises((KeyError, TypeError, ValueError)):
            from_data({**data, key: damage})
    del data[key]
    with pytest.raises(KeyError):
        from_data(data)


def test_an_order_that_was_not_found_is_no_proof_that_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The orders give up: nothing is known but their bound. With a proof that there is no order, no chain exists."""
    for proved in (False, True):
        board, kept = board_of(with_a_shortcut(), Options(engine="z3"))
        board.listener = kept
        builder = GraphBuilder(board.questions, 4)
        builder.extend(4)
        board.tell(graph=builder.graph())
        found = Learner(board, SubPathSearch(board.questions))
        monkeypatch.setattr(found, "_order", lambda proved=proved: OrderingResult((), 0, 1, proved, 0.0, "exact"))
        found.work()
        assert bool(board.known.no_chain) == proved
