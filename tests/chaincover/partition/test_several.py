"""Several chains: partitions, learned conflicts, and the fewest against an explicit search."""

from __future__ import annotations

import json
from itertools import combinations

import pytest
from command_line import MODELS, chaincover
from explicit import Explicit
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.shortcuts import BV, BVULE, Equals, Ite, Or

from bmc.formulas.unroll import at
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.chain import COVERED
from chaincover.options import Options
from chaincover.partition.conflicts import classes_without
from chaincover.partition.several import generate_several
from chaincover.problem import Problem
from properties.goal import Goal

NIBBLE = ValueType("nibble", 4)
place, choice = NIBBLE.symbol("sv_place"), NIBBLE.symbol("sv_choice")


def tree(edges: dict[int, tuple[int, ...]]) -> TransitionSystem:
    """From each place the choice leads to one of the places that ``edges`` names (the first for any other choice)."""
    after = place
    for source, targets in edges.items():
        step = BV(targets[0], 4)
        for number, target in enumerate(targets[1:], 1):
            step = Ite(Equals(choice, BV(number, 4)), BV(target, 4), step)
        after = Ite(Equals(place, BV(source, 4)), step, after)
    return TransitionSystem(
        "tree",
        (StateVariable("sv_place", NIBBLE, BV(0, 4), after),),
        (InputVariable("sv_choice", NIBBLE, ((0, 3),)),),
        input_constraint=BVULE(choice, BV(3, 4)),
    )


def at_places(name: str, *values: int) -> Goal:
    return Goal(name, at(Or([Equals(place, BV(v, 4)) for v in values]), 0), None, 0)


def covered_by(result) -> list[set[str]]:
    return [{hit.goal for hit in part.chain.hits} for part in result.results]


def test_three_goals_that_fit_pairwise_but_not_together() -> None:
    """Three branches cover {a,b}, {b,c} and {a,c}: no pair is in conflict, yet two chains are needed."""
    system = tree({0: (1, 2, 3), 1: (11,), 2: (12,), 3: (13,)})
    goals = [at_places("a", 1, 13), at_places("b", 11, 2), at_places("c", 12, 3)]
    result = generate_several(Problem(system, tuple(goals), None), Options(bound=6))
    assert len(result.results) == 2
    assert result.fewest
    assert [v.status for v in result.verdicts] == [COVERED] * 3
    assert [set(c.goals) for c in result.conflicts] == [{"a", "b", "c"}]
    assert set.union(*covered_by(result)) == {"a", "b", "c"}


def test_one_chain_where_one_suffices() -> None:
    result = generate_several(Problem(tree({0: (1,), 1: (2,)}), (at_places("a", 1), at_places("b", 2)), None))
    assert len(result.results) == 1
    assert result.conflicts == ()


def test_goals_that_no_chain_covers_are_set_aside_with_their_verdict() -> None:
    system = tree({0: (1, 2), 1: (1,), 2: (2,)})
    goals = [at_places("a", 1), at_places("b", 2), at_places("never", 9)]
    result = generate_several(Problem(system, tuple(goals), None), Options(bound=4))
    assert [v.status for v in result.verdicts] == [COVERED, COVERED, "unreachable"]
    assert [v.detail for v in result.verdicts[:2]] == ["chain 1", "chain 2"]
    assert "after a no run reaches b, nor after b a run reaches a" in result.conflicts[0].reason


def test_a_final_condition_that_some_goals_cannot_reach() -> None:
    system = tree({0: (1, 2), 1: (0,), 2: (2,)})
    goals = [at_places("a", 1), at_places("trap", 2)]
    result = generate_several(Problem(system, tuple(goals), Equals(place, BV(0, 4))), Options(bound=4))
    assert [v.status for v in result.verdicts] == [COVERED, "no-way-to-final"]
    assert len(result.results) == 1


def test_there_are_as_few_classes_as_the_conflicts_allow() -> None:
    goals = [f"g{n}" for n in range(6)]
    wheel = [("g0", f"g{n}") for n in range(1, 6)] + [(f"g{n}", f"g{n % 5 + 1}") for n in range(1, 6)]
    assert len(classes_without(goals, wheel)) == 4
    assert classes_without(goals, []) == [goals]
    assert len(classes_without(goals[:3], [("g0", "g1", "g2")])) == 2


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.sets(st.integers(0, 4), min_size=2, max_size=3), max_size=6))
def test_classes_against_all_assignments(conflicts: list[set[int]]) -> None:
    goals = [f"g{n}" for n in range(5)]
    sets = [tuple(f"g{n}" for n in sorted(c)) for c in conflicts]
    found = classes_without(goals, sets)
    assert found is not None
    assert sorted(g for part in found for g in part) == goals
    assert not any(set(c) <= set(part) for c in sets for part in found)
    if len(found) > 1:
        assert not _colourable(goals, sets, len(found) - 1)


def _colourable(goals: list[str], sets: list[tuple[str, ...]], colours: int) -> bool:
    for number in range(colours ** len(goals)):
        colour = {g: number // colours**i % colours for i, g in enumerate(goals)}
        if not any(len({colour[g] for g in c}) == 1 for c in sets):
            return True
    return False


@st.composite
def one_way_cases(draw) -> tuple[TransitionSystem, list[Goal], object]:
    """Places 0 to 7 with edges that lead onwards, up to five goals of several places, perhaps a final place."""
    edges = {
        source: tuple(draw(st.lists(st.integers(min(source + 1, 7), 7), min_size=1, max_size=3))) for source in range(8)
    }
    places = st.lists(st.integers(1, 8), min_size=1, max_size=2)
    goals = [at_places(f"g{n}", *draw(places)) for n in range(draw(st.integers(3, 5)))]
    final = draw(st.sampled_from([None, None, Or(Equals(place, BV(6, 4)), Equals(place, BV(7, 4)))]))
    return tree(edges), goals, final


def fewest_explicit(explicit: Explicit, goals: list[Goal], final: object) -> tuple[int, set[str]]:
    """The least number of chains for all goals that some chain covers, and the names of these."""

    def feasible(part: tuple[Goal, ...]) -> bool:
        return explicit.least_chain(part, final, 24) is not None

    alone = [goal for goal in goals if feasible((goal,))]
    names = {goal.name for goal in alone}
    parts = [p for size in range(1, len(alone) + 1) for p in combinations(alone, size) if feasible(p)]
    together = [{goal.name for goal in part} for part in parts]
    for number in range(len(alone) + 1):
        if any(set().union(*chosen) >= names for chosen in combinations(together, number)):
            return number, names
    raise AssertionError("every goal alone is feasible")


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True)
@given(one_way_cases())
def test_number_of_chains_equals_an_explicit_search(case) -> None:
    system, goals, final = case
    needed, names = fewest_explicit(Explicit(system), goals, final)
    result = generate_several(Problem(system, tuple(goals), final), Options(bound=16))
    assert {v.goal for v in result.verdicts if v.status == COVERED} == names
    assert len(result.results) == needed
    assert result.fewest


@pytest.mark.slow
def test_command_writes_each_chain_and_a_summary(tmp_path) -> None:
    fig1 = MODELS / "cruise_fig1"
    outcome = chaincover("generate", str(fig1), "--several", "-o", "out", cwd=tmp_path)
    assert outcome.code == 4
    assert "1 chain, 6 steps in all (minimal, proved), cover 1 of 4 goals" in outcome.out
    summary = json.loads((tmp_path / "out" / "chains.json").read_text())
    assert [c["goals"] for c in summary["chains"]] == [["p_4"]]
    assert [v["verdict"] for v in summary["verdicts"]] == [*["no-way-to-final"] * 3, "covered"]
    again = chaincover("replay", str(fig1), "out/chain-1.json", "--goal", "p_4", cwd=tmp_path)
    assert again.code == 0
