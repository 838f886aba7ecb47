"""Path weights learned: the bound meets a chain, never passes the least one, and rests on facts that are true."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from chaincover.minimality.direct_bound import EXACT, LEARNED, LEAST_ORDER, WHOLE, raised
from chaincover.minimality.learn import Learner
from explicit import Explicit
from machines import Case, Machine, random_machine
from paper_examples import three_to_four
from path_lengths import PathLengths
from problems import problem_of

from benchmarks.generated.reference import Reference
from benchmarks.generated.systems import generated_case
from bmc.engines import choose as choose_engine
from bmc.errors import CheckDisagreed, LimitReached
from bmc.formulas.unroll import at
from bmc.system.run import Run
from chaincover.certificate import Certificate, as_data, from_data
from chaincover.chain import Bounds
from chaincover.graph.reachability import GraphBuilder
from chaincover.limits import Limits
from chaincover.minimality.segments import SegmentSearch
from chaincover.options import Options
from chaincover.orderings.exact import ExactOrdering
from chaincover.orderings.protocol import OrderingProblem
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.questions import Questions
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


def learner(case: Case, overlap: str, length: int, bound: int, found: list[Run], rounds: int = 300) -> Learner:
    """A learner for ``case`` on its graph up to ``bound``, beside a chain of ``length`` steps."""
    system, goals, final = case
    engine = choose_engine("z3")
    builder = GraphBuilder(Questions(Problem(system, tuple(goals), final, overlap), engine, Limits()), bound)
    for _ in range(bound + 1):
        builder.extend()
    segments = SegmentSearch(Questions(Problem(system, tuple(goals), final), engine, Limits()), overlap, 5)
    return Learner(builder.graph().possible, segments, length, lambda run, path: found.append(run), rounds, 10.0)


def with_a_shortcut() -> Case:
    """The example ``three_to_four`` with ways to each single goal that are as short as the direct weights say.

    From u, u->y->w3->x covers w in 3 steps, and from x a step leads to v3 and back. The least chain is the same.
    """
    steps = [("u", "go", "v1"), ("v1", "go", "m"), ("m", "go", "w2"), ("w2", "go", "x"), ("v2", "go", "w1")]
    steps += [("u", "turn", "y"), ("y", "go", "w3"), ("w3", "go", "x"), ("x", "go", "v2")]
    steps += [("x", "turn", "v3"), ("v3", "go", "x")]
    places = ["u", "v1", "v2", "v3", "w1", "w2", "w3", "x", "m", "y"]
    machine = Machine("three to four with a shortcut", places, ["wait", "go", "turn"], steps)
    v = Goal("v", at(machine.at_any("v1", "v2", "v3"), 0), None, 0)
    w = Goal("w", at(machine.at_any("w1", "w2", "w3"), 0), None, 0)
    return machine.system(), (v, w), machine.at_any("x")


def test_overlapping_path_weights_are_not_added_up() -> None:
    """In the design's example the way to w alone already bounds by 4; with the shortcut only path weights do."""
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
    """Three windows deep: with both facts the least order over v and w costs 4, and 5 is never claimed."""
    case = three_to_four()
    found: list[Run] = []
    learning = learner(case, "allow", 9, 6, found)
    lowers: list[int] = []
    learning.work(lambda: lowers.append(learning.lower))
    assert (learning.lower, learning.length) == (4, 4)
    assert [run.length for run in found] == [4]
    assert {("init", "v", "w"), ("v", "w", "final")} <= learning.paths.keys()
    assert max(lowers) <= 4


@pytest.mark.slow
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@pytest.mark.parametrize("make", [random_machine, generated])
def test_the_loop_alone_closes_on_random_systems(make: Callable[[int], Case], overlap: str) -> None:
    closed = learned = 0
    for seed in range(26):
        case = make(seed)
        least = least_total(case, overlap)
        if least is None or least > 9:
            continue
        found: list[Run] = []
        learning = learner(case, overlap, least + 4, 6, found)
        lowers: list[int] = []
        learning.work(lambda lowers=lowers, learning=learning: lowers.append(learning.lower))
        assert max(lowers) <= least
        assert (learning.lower, learning.length) == (least, least), seed
        assert lowers == sorted(lowers)
        assert min(run.length for run in found) == least
        closed += 1
        learned += bool(learning.paths)
    assert closed >= 6
    assert learned >= 2


def check_facts(case: Case, certificate: Certificate, invariants: bool, most: int = 8) -> int:
    """Every fact against all runs; the number of those on paths that were checked."""
    system, goals, final = case
    reference = Explicit(system)
    starts = reference.reachable() if invariants else None
    lengths = PathLengths(reference, goals, final, certificate.overlap, starts)
    facts = [((e.source, e.target), e.at_least) for e in certificate.edges]
    facts += [(fact.path, fact.at_least) for fact in certificate.paths]
    for path, at_least in facts:
        nearer = min(at_least - 1, most)
        assert not lengths.possible(path, nearer), (path, at_least)
    return len(certificate.paths)


def check_bound(certificate: Certificate) -> None:
    """The certificate's bound, from its facts alone."""
    edges = {(e.source, e.target): e.at_least for e in certificate.edges}
    facts = {fact.path: fact.at_least for fact in certificate.paths}
    problem = OrderingProblem(certificate.goals, edges, "init", certificate.end, least=facts)
    cost = ExactOrdering().solve(problem).cost
    far = [edges["init", g] + edges[g, certificate.end] for g in certificate.goals]
    assert certificate.order_bound <= max([cost, *far])
    begun, end = certificate.refuted
    if end > begun:
        assert begun <= certificate.order_bound
        assert certificate.lower == end
    else:
        assert certificate.lower == certificate.order_bound


@pytest.mark.slow
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@pytest.mark.parametrize("explore", [0, 1000])
def test_whole_runs_are_minimal_with_true_certificates(explore: int, overlap: str) -> None:
    chains = paths = 0
    for seed in range(30, 55):
        case = random_machine(seed)
        least = least_total(case, overlap)
        if least is None:
            continue
        result = generate(problem_of(*case), Options(overlap=overlap, bound=12))
        assert result.chain is not None
        assert result.certificate is not None
        assert (result.chain.length, result.bounds.lower) == (least, least), seed
        check_bound(result.certificate)
        assert from_data(as_data(result.certificate)) == result.certificate
        chains += 1
        paths += check_facts(case, result.certificate, bool(result.certificate.invariants))
    assert chains >= 4
    assert paths


@pytest.mark.parametrize("ending", [KeyboardInterrupt, LimitReached])
def test_a_bound_that_is_cut_short_is_valid(ending: type[BaseException]) -> None:
    """Stopped before each order in turn: the bound is what was proved until then, and grows to the least chain."""
    lowers = []
    for stop in range(20):
        learning = learner(with_a_shortcut(), "allow", 9, 6, [])
        left = iter(range(stop))

        def seconds(left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise ending("over")

        try:
            learning.work(seconds)
        except ending:
            lowers.append(learning.lower)
        assert learning.lower <= 4 <= learning.length
        assert all(at_least <= 4 for at_least in learning.paths.values())
        if learning.lower == learning.length:
            break
    assert learning.lower == 4
    assert lowers == sorted(lowers)
    assert len(lowers) >= 2


@pytest.mark.parametrize("stage", ["graph: K = 1", "shorten: windows", "bound: orders", "shorten: 4", "inputs: least"])
def test_an_interrupt_leaves_chain_and_bound(stage: str) -> None:
    def progress(text: str) -> None:
        told.append(text)
        if text.startswith(stage):
            raise KeyboardInterrupt

    told: list[str] = []
    result = generate(Problem(*with_a_shortcut(), tuple(NO_SEARCH), progress))
    if any(text.startswith(stage) for text in told):
        assert result.stopped_by == "interrupt"
    assert result.chain is None or result.chain.length >= 4
    assert result.bounds.lower <= 4
    if result.certificate is not None:
        check_bound(result.certificate)
        check_facts(with_a_shortcut(), result.certificate, invariants=False)


def test_no_rounds_no_path_weights() -> None:
    result = generate(problem_of(*with_a_shortcut()), Options(engine="sat"))
    assert result.certificate is not None
    assert not result.certificate.paths
    assert (result.bounds.lower, result.bounds.basis) == (4, WHOLE)
    assert result.certificate.refuted == (3, 4)
    assert from_data(as_data(result.certificate)) == result.certificate


@pytest.mark.parametrize("key", ["goals", "end", "edges", "paths", "refuted", "lower", "exhausted"])
def test_damaged_certificates_are_refused(key: str) -> None:
    result = generate(problem_of(*with_a_shortcut()), NO_SEARCH)
    assert result.certificate is not None
    data = as_data(result.certificate)
    for damage in (None, 5, "x"):
        if (key, damage) in (("end", 5), ("end", None), ("end", "x"), ("goals", "x"), ("lower", 5), ("exhausted", 5)):
            continue
        with pytest.raises((KeyError, TypeError, ValueError)):
            from_data({**data, key: damage})
    del data[key]
    with pytest.raises(KeyError):
        from_data(data)


def test_the_greatest_bound_counts() -> None:
    direct = Bounds(3, None, LEAST_ORDER)
    assert raised(direct, 9) == Bounds(3, 9, LEAST_ORDER)
    assert raised(direct, 9, learned=3) == Bounds(3, 9, LEAST_ORDER)
    assert raised(direct, 9, learned=5, refuted_below=4) == Bounds(5, 9, LEARNED)
    assert raised(direct, 9, learned=5, refuted_below=6) == Bounds(6, 9, WHOLE)
    assert raised(direct, 9, learned=5, refuted_below=6, exact=9) == Bounds(9, 9, EXACT)
    assert raised(direct, None, learned=5) == Bounds(5, None, LEARNED)
    with pytest.raises(CheckDisagreed, match="4 steps was found below the proven least length 5"):
        raised(direct, 4, learned=5)
