"""Proofs of bounds on orders: a proof at the least cost, a cheaper path above it. ``verify`` tests what they say."""

from __future__ import annotations

import random

import pytest

from chaincover.certificate import OrderProof
from chaincover.orderings.duals import MOST, order_proof
from chaincover.orderings.exact import ExactOrdering
from chaincover.orderings.protocol import Limit, OrderingProblem, path_cost


def drawn(seed: int) -> OrderingProblem:
    rng = random.Random(seed)
    nodes = tuple(f"n{number}" for number in range(seed % 7))
    every = [(a, b) for a in ("start", *nodes) for b in (*nodes, "end") if a != b]
    weights = {edge: rng.randint(0, 9) for edge in every if not nodes or edge != ("start", "end")}
    walks = [("start", *rng.sample(nodes, len(nodes)), "end") for _ in range(12 if len(nodes) > 1 else 0)]
    least = {walk[begin : begin + 3]: rng.randint(4, 20) for walk in walks for begin in (0, 1)}
    return OrderingProblem(nodes, weights, "start", "end", least=least)


@pytest.mark.parametrize("seed", range(40))
def test_a_proof_at_the_least_cost_and_a_cheaper_path_above(seed: int) -> None:
    problem = drawn(seed)
    least = ExactOrdering().solve(problem).cost
    assert isinstance(order_proof(problem, least), OrderProof)
    path = order_proof(problem, least + 1)
    assert isinstance(path, tuple)
    cost = path_cost(problem, path)
    assert cost is not None
    assert cost <= least


def test_no_proof_without_work_or_time_or_of_large_numbers() -> None:
    problem = drawn(6)
    least = ExactOrdering().solve(problem).cost
    listed = path_cost(problem, ("start", *problem.nodes, "end"))
    assert listed is not None
    assert listed > least
    assert order_proof(problem, least, Limit(work=0)) is None
    assert order_proof(problem, least, Limit(seconds=0)) is None
    dear = OrderingProblem(problem.nodes, dict.fromkeys(problem.weights, 10**30), "start", "end")
    assert order_proof(dear, MOST + 1) is None
