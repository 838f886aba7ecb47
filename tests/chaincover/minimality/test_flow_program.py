"""The linear program of the covering flow against the same one written in the plain way: a variable for each arc."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import highspy
import numpy as np
import pytest
from enumerated import graph_of, made
from hypothesis import given, settings
from hypothesis import strategies as st

from bmc.explicit.state_graph import Arrows
from chaincover.graph.goal_product import Product
from chaincover.limits import Limits
from chaincover.minimality import flow_program
from chaincover.minimality.flow_network import Cut, Network
from chaincover.minimality.flow_program import Choices, Relaxation

SEEDS = st.integers(0, 100_000)
SETS = (0, 1, 2, 3, 4, 6)
GOALS = 3
SYSTEM = made(1, longest=1)


def network_of(seed: int) -> Network:
    """A network of a few nodes, many of which one arc leaves, with loops and with arcs beside each other."""
    draw = Random(seed)
    size = draw.randrange(1, 14)
    counts = [draw.choice([1, 1, 1, 2, 4]) for _ in range(size)]
    rows = [
        sorted(draw.choice([draw.randrange(size), (node + 1) % size]) for _ in range(n))
        for node, n in enumerate(counts)
    ]
    heads = [head for row in rows for head in row]
    starts = sorted(draw.sample(range(size), draw.randrange(1, min(size, 3) + 1)))
    made = Product(
        graph=graph_of(*SYSTEM),
        goals=(),
        sets=SETS,
        starts=np.array(starts),
        start_masks=np.array([draw.choice([0, 0, 1]) for _ in starts]),
        arrows=Arrows(np.append(0, np.cumsum(counts)), np.array(heads, np.int32)),
        masks=np.array([draw.choice([0, 0, *range(len(SETS))]) for _ in heads], np.uint8),
        choices=np.zeros(len(heads), np.int64),
    )
    ends = np.zeros(size, bool)
    ends[draw.sample(range(size), draw.randrange(1, min(size, 3) + 1))] = True
    return Network(made, ends, GOALS)


def plain_value(network: Network, cuts: Sequence[Cut]) -> float | None:
    """The least value with a variable for each column and a row for each node; None if there is no solution."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    arcs, starts = len(network.tails), len(network.starts)
    for place in range(network.size):
        solver.addCol(float(place < arcs), 0.0, highspy.kHighsInf, 0, [], [])
    rows = np.zeros((len(network.nodes), network.size))
    for place in range(arcs):
        tail, head, _ = network.arc(place)
        rows[tail, place] -= 1
        rows[head, place] += 1
    for place, (node, _) in enumerate(network.starts, arcs):
        rows[node, place] += 1
    for place, node in enumerate(network.ends.tolist(), arcs + starts):
        rows[node, place] -= 1
    begins = np.zeros(network.size)
    begins[arcs : arcs + starts] = 1
    asked = [(row, 0.0, 0.0) for row in rows] + [(begins, 1.0, 1.0)]
    for columns in [*network.covering, *(cut.columns for cut in cuts)]:
        row = np.zeros(network.size)
        row[columns] = 1
        asked.append((row, 1.0, highspy.kHighsInf))
    for row, low, high in asked:
        used = np.flatnonzero(row)
        solver.addRow(low, high, len(used), used.astype(np.int32), row[used])
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return float(solver.getInfo().objective_function_value)


def balance(network: Network, flow: np.ndarray) -> np.ndarray:
    """What enters each node less what leaves it."""
    arcs, starts = len(network.tails), len(network.starts)
    nodes = len(network.nodes)
    entering = np.concatenate([network.heads, [node for node, _ in network.starts]]).astype(int)
    leaving = np.concatenate([network.tails, network.ends]).astype(int)
    return np.bincount(entering, flow[: arcs + starts], nodes) - np.bincount(
        leaving, np.concatenate([flow[:arcs], flow[arcs + starts :]]), nodes
    )


@pytest.mark.slow
@settings(max_examples=51, deadline=None, derandomize=True)
@given(SEEDS, st.sampled_from([1, 20_000]))
def test_its_value_is_that_of_the_plain_one_before_and_after_cuts(seed: int, most: int) -> None:
    """Also where HiGHS has few of the variables at first, and gets the others where they are missing."""
    network = network_of(seed)
    if not network.starts:
        return
    cuts: list[Cut] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flow_program, "MOST_AT_ONCE", most)
        relaxation = Relaxation(network, Limits())
        for _ in range(6):
            expected = plain_value(network, cuts)
            assert relaxation.solve() == (expected is not None)
            if expected is None:
                return
            assert relaxation.solution.value == pytest.approx(expected, abs=1e-6)
            assert relaxation.solution.flow[: len(network.tails)].sum() == pytest.approx(expected, abs=1e-6)
            assert np.abs(balance(network, relaxation.solution.flow)).max() < 1e-6
            assert relaxation.solution.flow.min() > -1e-6
            for columns in [*network.covering, *(cut.columns for cut in cuts)]:
                assert relaxation.solution.flow[columns].sum() > 1 - 1e-6
            added = network.violated(relaxation.solution.flow)
            if not added:
                return
            relaxation.add(added)
            cuts += added
            if len(cuts) > 3:
                relaxation.drop([1])
                del cuts[1]


def test_a_node_that_one_arc_leaves_has_no_row_and_what_leaves_it_no_variable() -> None:
    """From node 0 to 1, 2 and back, and a loop: 1 and 2 have one way on, at 0 a chain may end."""
    made = Product(
        graph=graph_of(*SYSTEM),
        goals=(),
        sets=(0, 1, 2),
        starts=np.array([1]),
        start_masks=np.array([0]),
        arrows=Arrows(np.array([0, 2, 3, 4]), np.array([0, 1, 2, 0], np.int32)),
        masks=np.array([1, 0, 2, 2], np.uint8),
        choices=np.zeros(4, np.int64),
    )
    network = Network(made, np.array([True, False, False]), 2)
    choices = Choices(network)
    assert choices.balanced.tolist() == [0]
    assert choices.variables.tolist() == [0, 1, 4, 5]  # two arcs from node 0, the start, the end
    assert choices.sums(np.array([1.0, 1, 1, 1, 0, 0])).tolist() == [1, 3, 2, 0]
    variables, times = choices.row(network.covering[1])
    assert dict(zip(variables.tolist(), times.tolist(), strict=True)) == {1: 2, 2: 2}
    assert choices.flow(np.array([5.0, 2, 1, 1])).tolist() == [5, 2, 3, 3, 1, 1]
