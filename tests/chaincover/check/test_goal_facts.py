"""What ``check`` tells about goals: on the paper's example, with engines that give up, on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from command_line import MODELS, chaincover, write_files
from cruise import DIS, INIT, OFF, ON, PROPERTIES, at_speed, brake, button, cruise, enable, gas, prop, speed
from enumeration import enumerated
from pysmt.fnode import FNode
from pysmt.shortcuts import And, Not
from small_programs import program, project

from bmc.engines.protocol import Alternative, Answer, Cost, Status
from bmc.engines.z3 import Z3Engine
from bmc.formulas.unroll import at, framed, shift
from bmc.system.transition import Run, TransitionSystem
from chaincover.check.goal_facts import GoalFacts, Sharing, find_facts, lemma_3, theorem_2
from chaincover.graph.enumerated import enumerated_within
from chaincover.graph.enumerated_goals import trigger_states
from chaincover.limits import Limits
from chaincover.problem import Problem, Questions
from properties.goal import Goal


def facts_of(problem: Problem, explore: bool = True) -> GoalFacts:
    graph = enumerated_within(problem, Limits()) if explore else None
    return find_facts(Questions(problem, Z3Engine(), Limits()), graph)


def paper(*goals: Goal, final: FNode | None = INIT, overlap: str = "allow", explore: bool = True) -> GoalFacts:
    return facts_of(Problem(cruise(), goals, final, overlap), explore)


@pytest.mark.parametrize("explore", [True, False])
def test_the_papers_properties_start_in_one_state_each(explore: bool) -> None:
    """Without listed states, p3 has more of them: mode ON at other speeds, which no run reaches."""
    found = paper(*PROPERTIES, explore=explore)
    if explore:
        assert [(t.kind, t.states, t.connected) for t in found.triggers] == [("single", 1, True)] * 4
        assert (found.reachable, found.sharing, found.implied) == (8, (), ())
        assert (found.lemma_3.applies, found.theorem_2.applies) == ("yes", "yes")
    else:
        assert [t.kind for t in found.triggers] == ["unknown", "unknown", "unknown", "single"]
        assert (found.lemma_3.applies, found.theorem_2.applies) == ("unknown", "unknown")
        assert found.lemma_3.because == ("whether p1, p2, p3 can start in several states",)


def test_example_1_has_a_trigger_of_several_states_that_reach_each_other() -> None:
    found = paper(prop("p1", And(OFF, Not(enable), button)), prop("p2", And(ON, brake)))
    assert [(t.kind, t.states) for t in found.triggers] == [("several", 3), ("single", 1)]
    assert found.lemma_3.because == ("p1 can start in several states",)
    assert (found.lemma_3.applies, found.theorem_2.applies) == ("no", "yes")


def test_a_trigger_that_cannot_be_returned_to_stands_against_theorem_2() -> None:
    """Fig. 1 as printed never comes back to OFF: the states of OFF before and after ON differ in what they reach."""
    goal = prop("g", And(Not(DIS), at_speed(1)))
    found = facts_of(Problem(cruise(fixed=False), (goal,), None))
    assert (found.triggers[0].kind, found.triggers[0].connected) == ("several", False)
    assert (found.theorem_2.applies, found.theorem_2.because[0][:22]) == ("no", "not all states in whic")


def test_goals_like_init_and_final() -> None:
    start, off = prop("start", INIT), Goal("off", at(OFF, 0), None, 0)
    slow = prop("slow", And(INIT, button))
    found = paper(start, off, slow, final=OFF)
    assert [(t.init, t.final) for t in found.triggers] == [("equal", "inside"), ("meets", "equal"), ("equal", "inside")]
    asked = paper(start, off, slow, final=OFF, explore=False)
    assert [(t.init, t.final) for t in asked.triggers] == [(t.init, t.final) for t in found.triggers]


SHARED = (prop("brakes", And(ON, brake)), prop("slows", And(brake, speed > 0)))


def test_shared_steps_stand_against_the_claims_unless_forbidden() -> None:
    found = paper(*SHARED)
    assert found.sharing == (Sharing("brakes", "slows", 0),)
    assert found.implied == (("brakes", "slows"),)
    text = 'brakes and slows can share steps (not with overlap = "forbid")'
    assert (found.theorem_2.applies, found.theorem_2.because) == ("no", (text,))
    assert paper(*SHARED, overlap="forbid").theorem_2.applies == "yes"


def test_state_goals_alone_may_hold_together() -> None:
    found = paper(Goal("a", at(INIT, 0), None, 0), Goal("b", at(And(INIT, at_speed(0)), 0), None, 0))
    assert found.sharing == (Sharing("a", "b", 0),)
    assert found.lemma_3.applies == "yes"


def test_a_goal_within_a_longer_one_is_implied() -> None:
    """The longer one has it one step later, and at the state after its last step."""
    inner, off = prop("inner", And(OFF, button)), Goal("off", at(OFF, 0), None, 0)
    outer = Goal("outer", And(at(DIS, 0), at(button, 0), shift(inner.antecedent, 1)), None, 2)
    found = paper(inner, outer, off)
    assert found.implied == (("inner", "off"), ("outer", "inner"), ("outer", "off"))
    assert Sharing("outer", "inner", 1) in found.sharing


class GivesUp:
    """An engine that never finds an answer."""

    name, version = "gives up", "0"
    cost = Cost()

    def tries(self, system: TransitionSystem) -> bool:
        return False

    def session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode] = ()) -> GivesUp:
        return self

    def check(
        self, formulas: Sequence[FNode], steps: int, time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        return Answer(Status.UNKNOWN)

    def check_any(
        self, alternatives: Sequence[Alternative], time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        return Answer(Status.UNKNOWN)

    def run(self) -> Run:
        raise RuntimeError("there is no run")


@pytest.mark.parametrize("engine", [GivesUp(), Z3Engine()])
def test_no_answer_is_no_fact(engine: GivesUp | Z3Engine) -> None:
    """A solver that gives up, or no time at all."""
    budget = Limits(None if isinstance(engine, GivesUp) else 0)
    found = find_facts(Questions(Problem(cruise(), PROPERTIES, INIT), engine, budget), None)
    assert {(t.kind, t.states, t.connected, t.init, t.final) for t in found.triggers} == {
        ("unknown", None, None, "unknown", "unknown")
    }
    names = [goal.name for goal in PROPERTIES]
    assert found.sharing == found.implied == ()
    assert set(found.sharing_undecided) == {(a, b) for a in names for b in names if a < b} | {
        (b, a) for a, b in combinations(names, 2)
    }
    assert (found.lemma_3.applies, found.theorem_2.applies) == ("unknown", "unknown")
    forbidden = find_facts(Questions(Problem(cruise(), PROPERTIES, INIT, "forbid"), engine, budget), None)
    assert (forbidden.lemma_3.applies, forbidden.theorem_2.applies) == ("unknown", "unknown")


def test_a_goal_may_compare_its_last_step_with_its_first() -> None:
    """At OFF and speed 1, gas leads back to speed 2 but not to 0: what fails after one start succeeds after another."""
    same_speed = framed(speed, 2).Equals(framed(speed, 0))
    stays_off = [at(And(OFF, Not(enable)), 0), at(And(OFF, Not(enable), at_speed(1), gas), 1)]
    goal = Goal("back", And(*stays_off, same_speed), None, 2)
    graph = enumerated(cruise(), [goal.antecedent], 1_000_000)
    assert graph is not None
    found = trigger_states(graph, cruise(), goal)
    assert found is not None
    assert [(s["cc_mode"], s["cc_speed"]) for s in (graph.states[n] for n in sorted(found))] == [(0, 2)]


def test_many_names_are_cut() -> None:
    several = replace(paper(prop("p1", And(OFF, Not(enable), button))).triggers[0], connected=False)
    many = [replace(several, goal=f"g{n}") for n in range(9)]
    assert lemma_3(many, [], []).because == ("g0, g1, g2, g3, g4, g5, g6, g7 and 1 more can start in several states",)
    pairs = list(pairwise(f"g{n}" for n in range(9)))
    assert theorem_2([], [], pairs).because[0].startswith("whether g0 and g1, g1 and g2, ")
    assert theorem_2([], [], pairs).applies == "unknown"


def test_check_tells_the_facts_of_the_cruise_controller() -> None:
    told = chaincover("check", MODELS / "cruise", "--compare", "0", "--json").json["goal_facts"]
    assert {t["goal"]: (t["kind"], t["states"]) for t in told["triggers"]} == {
        f"p_{n}": ("single", 1) for n in range(1, 5)
    }
    assert (told["reachable_states"], told["sharing"], told["lemma_3"]) == (8, [], {"applies": "yes", "because": []})
    text = chaincover("check", "-v", MODELS / "cruise", "--compare", "0").out
    assert "goals that start in one state only: p_1, p_2, p_3, p_4\n" in text
    assert "Lemma 3 (the shortest order gives a minimal chain, if it meets no goal twice): applies\n" in text
    assert "share a step" not in text


def test_check_tells_goals_that_share_a_step() -> None:
    outcome = chaincover("check", "-v", MODELS / "latch", "--compare", "0")
    assert "goals that start in several of the 5 reachable states: sets (3), resets (2)," in outcome.out
    assert "goals that can share a step: sets + worn, resets + worn," in outcome.out
    assert "goals that start exactly where the final condition holds: sets\n" in outcome.out
    assert (
        "Theorem 2 (repair finds a chain if there is one, with K large enough): does not apply: not all" in outcome.out
    )


@pytest.mark.slow
def test_check_of_a_controller_with_too_many_states(tmp_path: Path) -> None:
    """The counter of 32 bits: pairs only *may* share a step, and the number of start states stays open."""
    files = {
        "c.c": program("s->n = i->b ? s->n + 1 : 0;"),
        "chaincover.toml": project('[functions]\ninit = "init"\nstep = "compute"\n[search]\noverlap = "forbid"\n'),
    }
    write_files(tmp_path, files)
    goals = (
        "--property",
        "far: cover(n > 20 && b)",
        "--property",
        "near: cover(n > 2)",
        "--property",
        "zero: cover(n == 0)",
    )
    given = (*goals, "--compare", "0", "--effort", "0.01")
    told = chaincover("check", tmp_path, *given, "--json").json["goal_facts"]
    assert (told["reachable_states"], told["sharing_is_exact"]) == (None, False)
    assert {t["goal"]: t["kind"] for t in told["triggers"]}["near"] == "several"
    text = chaincover("check", "-v", tmp_path, *given).out
    assert "goals that may share a step: far + near\n" in text
    assert "goals not decided whether they start in several states: far" in text
    assert "goals where covering the first covers the second: far -> near\n" in text
    assert "Lemma 3 (the shortest order gives a minimal chain, if it meets no goal twice): does not apply: near" in text


def test_without_goals_nothing_is_told(tmp_path: Path) -> None:
    write_files(
        tmp_path, {"c.c": program(), "chaincover.toml": project('[functions]\ninit = "init"\nstep = "compute"\n')}
    )
    told = chaincover("check", tmp_path, "--compare", "0", "--json").json["goal_facts"]
    assert (told["triggers"], told["sharing"], told["implied"]) == ([], [], [])
    assert "Lemma 3" not in chaincover("check", "-v", tmp_path, "--compare", "0").out
