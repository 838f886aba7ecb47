"""Goals that ask for the same are searched for once; verdicts, steps and consequents are those of a search for all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from command_line import MODELS
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.shortcuts import BV, BVULE, FALSE, BVAdd, Equals, Ite

from bmc.formulas.unroll import at
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.project.load import Request, load_request
from chaincover.reductions.reduction import distinct, expanded_chain, expanded_verdicts
from properties.goal import Goal
from properties.monitor import Monitor

NIBBLE = ValueType("nibble", 4)
place, push = NIBBLE.symbol("du_place"), NIBBLE.symbol("du_push")
OPTIONS = Options(bound=8)


def ring(size: int) -> TransitionSystem:
    """A counter that pushes move on, back to 0 after ``size`` of them."""
    after = Ite(Equals(place, BV(size - 1, 4)), BV(0, 4), BVAdd(place, BV(1, 4)))
    moved = Ite(Equals(push, BV(1, 4)), after, place)
    return TransitionSystem(
        "ring",
        (StateVariable("du_place", NIBBLE, BV(0, 4), moved),),
        (InputVariable("du_push", NIBBLE, ((0, 1),)),),
        input_constraint=BVULE(push, BV(1, 4)),
    )


def here(name: str, value: int, then: int | None = None, length: int = 1) -> Goal:
    """In ``value`` and pushed; afterwards in ``then``."""
    antecedent = at(Equals(place, BV(value, 4)) & Equals(push, BV(1, 4)), 0)
    consequent = None if then is None else at(Equals(place, BV(then, 4)), 1)
    return Goal(name, antecedent, consequent, length)


def state(name: str, value: int) -> Goal:
    return Goal(name, at(Equals(place, BV(value, 4)), 0), None, 0)


def test_the_first_goal_of_each_kind_stands_for_the_others() -> None:
    goals = [here("a", 1), here("b", 2), here("c", 1, then=2), here("d", 2), here("longer", 1, length=2)]
    kept, same_as = distinct(goals)
    assert [goal.name for goal in kept] == ["a", "b", "longer"]
    assert same_as == {"c": "a", "d": "b"}


def test_goals_that_must_not_share_steps_stand_for_themselves() -> None:
    goals = [here("a", 1), here("b", 1), state("s", 1), state("t", 1)]
    assert distinct(goals, "forbid") == ((goals[0], goals[1], goals[2]), {"t": "s"})


def test_two_goals_of_one_name_are_left_for_the_search_to_refuse() -> None:
    goals = [here("a", 1), here("a", 1)]
    assert distinct(goals) == (tuple(goals), {})


def test_each_consequent_is_judged() -> None:
    """The duplicate's consequent fails, that of the goal that stands for it holds."""
    goals = [here("right", 1, then=2), here("wrong", 1, then=7), here("none", 1), state("never", 9)]
    goals.append(Goal("nor this", goals[3].antecedent, None, 0))
    kept, same_as = distinct(goals)
    result = generate(Problem(ring(3), tuple(kept), None))
    chain = expanded_chain(result.chain, goals, same_as)
    assert [(h.goal, h.step, h.consequent_held) for h in chain.hits] == [
        ("right", 1, True),
        ("wrong", 1, False),
        ("none", 1, None),
    ]
    assert chain.order == ("right", "wrong", "none")
    assert [hit.goal for hit in chain.failures] == ["wrong"]
    verdicts = expanded_verdicts(result.verdicts, goals, same_as)
    assert [(v.goal, v.status) for v in verdicts] == [
        ("right", "covered"),
        ("wrong", "covered"),
        ("none", "covered"),
        ("never", "unreachable"),
        ("nor this", "unreachable"),
    ]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 4),
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from([None, 1, 2]), st.booleans()), min_size=1, max_size=6),
    st.sampled_from(["allow", "forbid"]),
)
def test_like_a_search_for_all_goals(size: int, kinds: list[tuple[int, int | None, bool]], overlap: str) -> None:
    """Length, bound and verdicts are those of a search that knows nothing of duplicates; the run covers each goal."""
    goals = [
        state(f"g{n}", value) if in_state else here(f"g{n}", value, then)
        for n, (value, then, in_state) in enumerate(kinds)
    ]
    system, options = ring(size), replace(OPTIONS, overlap=overlap)
    kept, same_as = distinct(goals, overlap)
    few, all_of = (
        generate(Problem(system, tuple(kept), None), options),
        generate(Problem(system, tuple(goals), None), options),
    )
    assert few.bounds.minimal == all_of.bounds.minimal
    assert few.bounds.lower == all_of.bounds.lower
    verdicts = expanded_verdicts(few.verdicts, goals, same_as)
    assert [(v.goal, v.status) for v in verdicts] == [(v.goal, v.status) for v in all_of.verdicts]
    if few.chain is None:
        assert all_of.chain is None
        return
    chain, monitor = expanded_chain(few.chain, goals, same_as), Monitor(goals)
    assert chain.length == all_of.chain.length
    assert {h.goal for h in chain.hits} == {h.goal for h in all_of.chain.hits}
    assert [hit.step for hit in chain.hits] == sorted(hit.step for hit in chain.hits)
    places = {name: {h.step for h in (*chain.hits, *chain.repeats) if h.goal == name} for name in chain.order}
    assert places == {name: set(steps) for name, steps in monitor.covered(chain.run).items() if steps}
    for hit in (*chain.hits, *chain.repeats):
        assert hit.consequent_held == monitor.judge(chain.run, hit.goal, hit.step)


@pytest.mark.parametrize(("model", "most"), [("alarm", 62), ("elevator", 45), ("latch", 16)])
def test_criteria_of_one_program_coincide(model: str, most: int) -> None:
    """At most ``most`` kinds of goals: single conditions are branches too, and all dead code is one goal."""
    read = load_request(Request(str(MODELS / model), cover=("branches()", "conditions()", "mcdc()")))
    kept, same_as = distinct(read.goals)
    assert len(kept) <= most < len(read.goals)
    assert len(kept) + len(same_as) == len(read.goals)
    assert [goal.antecedent for goal in kept].count(FALSE()) <= 1
