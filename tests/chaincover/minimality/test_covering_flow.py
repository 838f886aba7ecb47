"""The covering flow against an exhaustive search: its bound, its chains, and what searches make of its prices."""

from __future__ import annotations

from dataclasses import replace

import pytest
from boards import board_of
from enumerated import drawn, graph_of, made, one_step, problem_of
from explicit import Explicit, least_apart
from hypothesis import example, given, settings
from hypothesis import strategies as st
from machines import Case, fork

from chaincover.certificate import Certificate
from chaincover.graph.enumerated import exact_graph
from chaincover.known import Proof
from chaincover.minimality.claims import certificate_of
from chaincover.minimality.covering_flow import cover_by_flow
from chaincover.minimality.product import ShortestRun
from chaincover.options import Options
from chaincover.verification import prices as checked
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.marks import Marks
from chaincover.verification.report import HOLDS, WRONG
from chaincover.verification.search import search
from chaincover.verification.setting import Setting
from chaincover.verification.states import tabulate

SEEDS = st.integers(0, 10_000)


def flow_of(case: Case, overlap: str = "allow") -> tuple[Proof, int | None]:
    """What the covering flow proves about ``case``, and the length of the best chain that it offers."""
    board, _ = board_of(case, Options(engine="z3", overlap=overlap))
    board.tell(enumerated=graph_of(*case))
    exact_graph(board)
    if len(board.known.targets) == len(case[1]):
        cover_by_flow(board)
    return board.known.proof, board.known.length


def expected_length(case: Case, overlap: str) -> int | None:
    system, goals, final = case
    if overlap == "forbid":
        return least_apart(Explicit(system), goals, final)
    return Explicit(system).least_chain(goals, final, 40 * 2 ** len(goals))


def marked(case: Case) -> Marks:
    setting = Setting(*case)
    table = tabulate(setting.system, setting.formulas, Clock(Limits()))
    assert table is not None
    return Marks(table, setting, setting.names)


def certificate(case: Case, proof: Proof, overlap: str = "allow") -> Certificate:
    known = replace(board_of(case)[0].known, proof=proof)
    return replace(
        certificate_of(known, proof),
        goals=proof.goals,
        prices=proof.prices,
        overlap=overlap,
    )


@pytest.mark.slow
@settings(max_examples=9, deadline=None, derandomize=True)
@given(SEEDS, st.sampled_from([(2, "allow"), (1, "allow"), (1, "forbid")]))
@example(179, (1, "forbid"))
def test_bound_and_chains_agree_with_brute_force(seed: int, kind: tuple[int, str]) -> None:
    longest, overlap = kind
    case = drawn(seed, longest=longest)
    expected = expected_length(case, overlap)
    case = one_step(case, overlap)
    proof, length = flow_of(case)
    if expected is None:
        assert length is None
        return
    assert proof.flow_bound <= expected
    assert length is None or length >= expected
    if proof.prices is None:
        return
    quick = ShortestRun(problem_of(case), graph_of(*case))
    quick.advance(1)
    quick.use(proof.prices)
    while quick.advance(1_000):
        assert quick.lower <= expected
    assert quick.found is not None
    assert quick.found.length == expected
    marks, clock = marked(case), Clock(Limits())
    line, priced = checked.line(marks, certificate(case, proof), proof.prices)
    assert line.verdict == HOLDS
    assert search(marks, proof.goals, clock, ahead=priced).length == expected
    assert search(marks, proof.goals, clock, expected, ahead=priced).length is None


def test_what_is_tampered_with_is_disproved() -> None:
    """A bound above what the prices give, a price above what a step costs, a price below 0, that of another goal."""
    case = fork(stuck=False)
    proof, length = flow_of(case)
    assert proof.flow_bound == length == expected_length(case, "allow")
    true, marks = certificate(case, proof), marked(case)
    prices = true.prices
    assert prices is not None
    higher = {goal: 2 * prices.scale + price for goal, price in prices.goals.items()}
    wrong = [
        replace(true, prices=replace(prices, bound=prices.bound + 1)),
        replace(true, prices=replace(prices, goals=higher)),
        replace(true, prices=replace(prices, goals={"far": -1})),
        replace(true, prices=replace(prices, goals={**prices.goals, "another": 1})),
        replace(true, prices=None),
    ]
    assert checked.line(marks, true, true.prices)[0].verdict == HOLDS
    assert [checked.line(marks, each, each.prices)[0].verdict for each in wrong] == [WRONG] * len(wrong)


@pytest.mark.parametrize("rests", [False, True])
def test_distances_are_named_where_the_bound_rests_on_an_order(rests: bool) -> None:
    """Else what holds of any run is enough for every edge, and nothing is left to be proved again."""
    board, _ = board_of(made(1, longest=1))
    board.tell(enumerated=graph_of(*made(1, longest=1)))
    exact_graph(board)
    known = board.known
    proof = Proof(known.targets, order_bound=1) if rests else Proof(known.targets, refuted=(0, 4))
    edges = {fact.path: fact.at_least for fact in certificate_of(known, proof).edges}
    assert any(edges[edge] > known.problem.over(edge[0], 0) for edge in edges) == rests
    assert edges.keys() >= {("init", goal) for goal in known.targets}
