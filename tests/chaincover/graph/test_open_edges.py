"""Questions about many edges at once: groups against single checks, open edges and shown distances against lists."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import random_machine
from random_systems import random_case

from bmc.engines import choose
from bmc.engines.protocol import Group, GroupSession, Placed, Status
from bmc.engines.sat import SatEngine
from bmc.engines.z3 import Z3Engine
from bmc.errors import CheckDisagreed
from bmc.formulas.unroll import at, shift
from chaincover.graph.edges import Distances, OpenEdges, Row
from chaincover.weights import FINAL, INIT, Edge
from properties.goal import Goal


@pytest.mark.slow
@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("engine", ["sat", "z3"])
def test_groups_are_met_where_one_of_their_alternatives_is(engine: str, number: int) -> None:
    """Groups come back after questions without them, and the source of the session has steps of its own."""
    if number < 5:
        case = random_case(number)
        system, goals = case.system, list(case.goals)
    else:
        system, goals, _ = random_machine(number)
    rng = random.Random(number)
    reference = Z3Engine()
    sources = [Goal("init", at(system.init_formula, 0), None, 0), *goals]
    start = rng.choice(sources)
    session = choose(engine).session(system, start.antecedent, [goal.antecedent for goal in goals])
    assert isinstance(session, GroupSession)
    groups, expected = [], []
    for _ in range(6):
        source, targets = (
            rng.choice(sources),
            [(rng.choice(goals), rng.randint(0, 4)) for _ in range(rng.randint(1, 3))],
        )
        placed = [Placed(t.antecedent, d, max(source.length, d + t.length)) for t, d in targets]
        slow = reference.session(system, start.antecedent)
        groups.append(Group(source.antecedent, tuple(placed)))
        expected.append(any(slow.check([source.antecedent, shift(f, d)], n).status is Status.SAT for f, d, n in placed))
    for asked in ([0], [1, 2], [0, 1, 2, 3, 4, 5], [5], [2], [0, 4], []):
        answer = session.check_groups([groups[n] for n in asked])
        assert answer.status is (Status.SAT if any(expected[n] for n in asked) else Status.UNSAT), asked
        if answer.status is Status.SAT:
            assert session.run().length >= min(placed.steps for n in asked for placed in groups[n].alternatives)


def test_a_group_that_reaches_beyond_its_steps_is_refused() -> None:
    case = random_case(0)
    goal = max(case.goals, key=lambda goal: goal.length)
    session = SatEngine().session(case.system, at(case.system.init_formula, 0))
    assert isinstance(session, GroupSession)
    with pytest.raises(ValueError, match="steps in a query over"):
        session.check_groups([Group(goal.antecedent, (Placed(goal.antecedent, 9, 5),))])


def shown(covered: dict[str, list[int]], lengths: dict[str, int]) -> dict[Edge, int]:
    """All pairs of occurrences, one by one."""
    found: dict[Edge, int] = {}
    for source, starts in covered.items():
        for target, ends in covered.items():
            if source == FINAL or target in (INIT, source):
                continue
            length = lengths.get(source, 0)
            gap = length if target == FINAL else 0
            distances = [b - a for a in starts for b in ends if b - a >= gap]
            if distances:
                found[source, target] = min(distances)
    return found


@given(st.integers(0, 1 << 30))
@settings(max_examples=80, deadline=None)
def test_shown_distances_are_those_of_all_pairs(seed: int) -> None:
    rng = random.Random(seed)
    lengths = {f"g{n}": rng.random() < 0.5 for n in range(rng.randint(0, 5))}
    distances, best = Distances(lengths), dict[Edge, int]()
    for _ in range(4):
        steps = rng.randint(0, 9)
        covered = {
            name: sorted(rng.sample(range(steps + 1), rng.randint(0, min(3, steps + 1))))
            for name in (*lengths, FINAL)
            if rng.random() < 0.8
        }
        if rng.random() < 0.7:
            covered[INIT] = [0]
        new = {e: d for e, d in shown(covered, lengths).items() if d < best.get(e, 99)}
        assert distances.shorter(covered, steps) == new
        best.update(new)


@given(st.integers(0, 1 << 30))
@settings(max_examples=80, deadline=None)
def test_open_edges_are_those_between_what_is_ruled_out_and_what_is_shown(seed: int) -> None:
    rng = random.Random(seed)
    targets, to = [f"t{n}" for n in range(rng.randint(1, 5))], rng.randint(0, 6)
    first = {target: rng.randint(0, 3) for target in targets}
    upper = {("s", target): rng.randint(first[target], 8) for target in targets if rng.random() < 0.5}
    row = Row("s", dict(first), dict(first))
    left = OpenEdges(row, upper, to)
    wanted = {(t, d) for t in targets for d in range(first[t], min(to, upper.get(("s", t), 99) - 1) + 1)}
    while left.ranges:
        assert set(left.up_to(to)) == wanted
        assert left.least == min(d for _, d in wanted)
        nearest = rng.randint(left.least, to)
        asked = {(t, d) for t, d in wanted if d <= nearest}
        assert set(left.up_to(nearest)) == asked
        if rng.random() < 0.5:
            target, distance = rng.choice(sorted(wanted))
            upper["s", target] = distance
            assert left.take_hits({target: distance}, upper, nearest) == any(
                t == target and distance <= d for t, d in asked
            )
            wanted -= {(t, d) for t, d in wanted if t == target and d >= distance}
        else:
            left.rule_out(upper, nearest)
            wanted -= asked
    for target in targets:
        known = upper.get(("s", target), 99)
        assert (target in row.pending) == (known > to)
        if known > to:
            assert row.lower[target] == max(first[target], to + 1)
        else:
            assert row.weights[target] == known


def test_a_run_below_a_proved_distance_disagrees_with_the_proof() -> None:
    """Whether the edge is still open or has its weight; what was only given up is no proof."""
    row = Row("s", {"t": 0}, {"t": 0})
    left = OpenEdges(row, {}, 6)
    left.rule_out({}, 3)
    with pytest.raises(CheckDisagreed, match=r"from s to t in 2 steps, .* fewer than 4"):
        left.take_hits({"t": 2}, {("s", "t"): 2}, 6)
    with pytest.raises(CheckDisagreed, match="from s to t in 3 steps"):
        OpenEdges(row, {("s", "t"): 3}, 6)
    assert OpenEdges(row, {("s", "t"): 4}, 6).row.weights == {"t": 4}
    with pytest.raises(CheckDisagreed, match="from s to t in 1 step,"):
        OpenEdges(row, {("s", "t"): 1}, 6)

    row = Row("s", {"t": 0}, {"t": 0})
    row.rule_out("t", 3, proved=False)
    assert OpenEdges(row, {("s", "t"): 2}, 6).row.weights == {"t": 2}
