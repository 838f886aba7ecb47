"""Verdicts, limits, interrupts, findings, and the checks that every chain passes."""

from __future__ import annotations

import pytest
from cruise import INIT, PROPERTIES, cruise, prop
from engine_doubles import NoRandomRuns, search_with
from pysmt.shortcuts import BV, BVULE, FALSE, TRUE, And, BVURem, Equals, Ite, Not
from random_systems import random_case

from bmc.engines import choose
from bmc.engines.cost import Cost
from bmc.engines.protocol import Answer, Status, check_in_turn
from bmc.errors import CheckDisagreed, UsageError
from bmc.formulas.unroll import at, framed
from bmc.system.run import Run
from bmc.system.simulation import Simulator
from bmc.system.transition import BOOLEAN, Condition, InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.chain import Chain, Violation
from chaincover.concretise import enumerated_inputs as explicit_inputs
from chaincover.concretise.check_path import Plan
from chaincover.minimality import proof
from chaincover.minimality.direct_bound import lower_bound
from chaincover.pipeline import Options, generate
from chaincover.replay.simulated import Checker
from chaincover.runs import first_chain
from chaincover.weights import ReachGraph
from properties.goal import Goal

BYTE = ValueType("uint8", 8)
place, level = BYTE.symbol("pl_place"), BYTE.symbol("pl_level")
choice = BYTE.symbol("pl_choice")


def branches(**changes) -> TransitionSystem:
    """From place 0 the choice leads to place 1 or 2 for good; place 3 is never reached."""
    system = TransitionSystem(
        "branches",
        (StateVariable("pl_place", BYTE, BV(0, 8), Ite(place.Equals(BV(0, 8)), choice, place)),),
        (InputVariable("pl_choice", BYTE, ((0, 2),)),),
        input_constraint=BVULE(choice, BV(2, 8)),
    )
    return TransitionSystem(**{**{f: getattr(system, f) for f in system.__dataclass_fields__}, **changes})


def at_place(name: str, value: int) -> Goal:
    return Goal(name, at(place.Equals(BV(value, 8)), 0), None, 0)


def statuses(result) -> dict[str, str]:
    return {v.goal: v.status for v in result.verdicts}


def test_goals_that_exclude_each_other_are_named() -> None:
    result = generate(branches(), [at_place("one", 1), at_place("two", 2)], None, Options(bound=3))
    assert result.chain is None
    assert statuses(result) == {"one": "excluded", "two": "excluded"}
    assert "two" in result.verdicts[0].detail


def test_unreachable_is_said_only_with_a_proof_and_the_rest_is_covered() -> None:
    goals = [at_place("three", 3), at_place("one", 1)]
    assert statuses(generate(branches(), goals, None)) == {"three": "unreachable", "one": "covered"}
    by_values = generate(branches(), goals, None, Options(bound=2, explore=0))
    assert statuses(by_values) == {"three": "unreachable", "one": "covered"}
    assert "proved invariants" in by_values.verdicts[0].detail
    blind = generate(branches(), goals, None, Options(bound=2, explore=0, improve=0))
    assert statuses(blind) == {"three": "not-within-bound", "one": "covered"}
    assert "K = 2" in blind.verdicts[0].detail
    void = generate(branches(), [prop("void", FALSE())], place.Equals(BV(0, 8)), Options(explore=0))
    assert void.chain is None
    assert statuses(void) == {"void": "unreachable"}


def test_zero_goals_one_goal_and_goals_equal_to_the_ends() -> None:
    assert generate(cruise(), [], None).chain.length == 0
    assert generate(cruise(), [], INIT).chain.length == 0
    assert generate(branches(), [], place.Equals(BV(2, 8))).chain.length == 1
    stuck = generate(branches(), [], place.Equals(BV(3, 8)), Options(bound=3))
    assert stuck.chain is None
    assert stuck.verdicts == ()
    same = generate(cruise(), [Goal("rest", at(INIT, 0), None, 0)], INIT)
    assert (same.chain.length, same.bounds.minimal) == (0, True)
    assert generate(cruise(), PROPERTIES[:1], None).chain.length == 3


def test_overlap_forbidden_keeps_the_steps_of_goals_disjoint() -> None:
    goals = [Goal(f"g{n}", TRUE(), None, 2) for n in range(3)]
    assert generate(cruise(), goals, None).chain.length == 2
    apart = generate(cruise(), goals, None, Options(overlap="forbid"))
    assert apart.chain.length == 6
    assert [hit.step for hit in apart.chain.hits] == [0, 2, 4]
    assert apart.bounds.minimal


def test_a_chain_ends_no_earlier_than_any_of_its_goals() -> None:
    goals = [Goal("long", TRUE(), TRUE(), 5), prop("short", TRUE())]
    result = generate(cruise(), goals, INIT)
    assert result.chain.length == 5
    assert result.chain.run.states[-1] == result.chain.run.states[0]


def test_consequents_and_asserts_are_findings_not_restrictions() -> None:
    system = branches(asserts=(Condition("never 2", Not(place.Equals(BV(2, 8)))),))
    goal = Goal("two", at(place.Equals(BV(2, 8)), 0), at(place.Equals(BV(1, 8)), 1), 1)
    chain = generate(system, [goal], None).chain
    assert [hit.consequent_held for hit in chain.hits] == [False]
    assert chain.failures == chain.hits
    assert chain.violations == (Violation("never 2", 1),)


def test_a_time_limit_gives_what_is_known() -> None:
    result = generate(cruise(), PROPERTIES, None, Options(time_limit=1e-6))
    assert result.stopped_by == "time limit"
    assert result.chain is None
    assert set(statuses(result).values()) == {"undecided"}
    assert result.bounds.lower == 0


def test_an_interrupt_during_the_last_stage_keeps_the_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> Run:
        raise KeyboardInterrupt

    monkeypatch.setattr(explicit_inputs, "least_inputs", interrupted)
    result = generate(cruise(), PROPERTIES, None)
    assert result.stopped_by == "interrupt"
    assert result.chain.length == 8
    assert set(statuses(result).values()) == {"covered"}


def test_an_interrupt_while_the_graph_grows_leaves_what_random_runs_found() -> None:
    def progress(text: str) -> None:
        if "K = 1" in text:
            raise KeyboardInterrupt

    result = generate(cruise(), [*PROPERTIES, prop("void", FALSE())], None, Options(explore=0), progress=progress)
    assert result.stopped_by == "interrupt"
    assert result.depth == 1
    assert statuses(result) == {"p1": "covered", "p2": "covered", "p3": "covered", "p4": "covered"} | {
        "void": "unreachable"
    }
    assert 0 < result.bounds.lower <= 8 <= result.chain.length


def test_an_interrupt_while_the_graph_grows_leaves_other_goals_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def progress(text: str) -> None:
        if "K = 1" in text:
            raise KeyboardInterrupt

    monkeypatch.setattr(first_chain.Simulated, "chain", lambda simulated: None)
    result = generate(cruise(), [*PROPERTIES, prop("void", FALSE())], None, Options(explore=0), progress=progress)
    assert result.stopped_by == "interrupt"
    assert statuses(result) == {"p1": "undecided", "p2": "undecided", "p3": "undecided", "p4": "undecided"} | {
        "void": "unreachable"
    }
    assert 0 < result.bounds.lower <= 8


@pytest.mark.slow
@pytest.mark.parametrize("explore", [0, 100_000])
def test_unknown_answers_never_become_unreachable(explore: int, monkeypatch: pytest.MonkeyPatch) -> None:
    class Session:
        def __init__(self, inner) -> None:
            self.inner = inner
            self.run = inner.run

        def check(self, formulas, steps, time_limit=None, effort=None):
            return self.inner.check(formulas, steps) if steps < 2 else Answer(Status.UNKNOWN)

        def check_any(self, alternatives, time_limit=None, effort=None):
            return check_in_turn(self, alternatives, time_limit, effort)

    class Doubtful:
        name, version = "doubtful", "0"
        cost = Cost()

        def tries(self, system):
            return False

        def session(self, system, source, goals=()):
            return Session(choose("z3").session(system, source, goals))

    search_with(monkeypatch, Doubtful())
    simulated = generate(cruise(), PROPERTIES, INIT, Options(bound=4, explore=explore))
    assert set(statuses(simulated).values()) == {"covered"}
    assert simulated.bounds.lower <= 9 <= simulated.chain.length
    monkeypatch.setattr(first_chain, "Simulated", NoRandomRuns)
    result = generate(cruise(), PROPERTIES, INIT, Options(bound=4, explore=explore))
    if explore:
        assert (result.chain.length, result.bounds.minimal) == (9, True), "enumerated states need no engine"
        return
    assert result.chain is None
    assert result.stopped_by == ""
    assert set(statuses(result).values()) <= {"undecided", "excluded"}
    assert statuses(result)["p2"] == "undecided"


def test_wrong_options_are_usage_errors() -> None:
    for options in (Options(bound=-1), Options(overlap="maybe"), Options(time_limit=0), Options(ordering="x")):
        with pytest.raises(UsageError):
            generate(cruise(), PROPERTIES, None, options)


def test_a_chain_below_the_bound_or_a_false_claim_is_a_disagreement() -> None:
    graph = ReachGraph(("a",), "end", {}, {("init", "a"): 3, ("a", "end"): 1}, (), (), 0, 0, 0.0)
    assert lower_bound(graph, 4).minimal
    with pytest.raises(CheckDisagreed, match="below the proven"):
        lower_bound(graph, 3)
    checker = Checker(branches(), [at_place("one", 1)], place.Equals(BV(1, 8)))
    plan = Plan(("init", "one", "final"), (1, 0))

    def claim(*choices: int) -> Chain:
        return checker.chain(plan, Simulator(branches()).run({"pl_place": 0}, [{"pl_choice": c} for c in choices]))

    assert claim(1).length == 1
    for wrong, message in (((2,), "final"), ((0, 1), "cover one at step 1"), ((7,), "input constraint")):
        with pytest.raises(CheckDisagreed, match=message):
            claim(*wrong)


def test_timers_are_followed_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs show the distance of 20 steps: then it is only asked whether there is a shorter one."""
    go = BOOLEAN.symbol("pl_go")
    system = TransitionSystem(
        "timer",
        (StateVariable("pl_level", BYTE, BV(0, 8), Ite(go, level + 1, BV(0, 8))),),
        (InputVariable("pl_go", BOOLEAN),),
    )
    goal = Goal("elapsed", And(at(Equals(level, BV(20, 8)), 0), framed(go, 0)), at(Equals(level, BV(21, 8)), 1), 1)
    shown = generate(system, [goal], Equals(level, BV(0, 8)), Options(explore=0))
    assert (shown.depth, shown.graph.lower["init", "elapsed"], shown.graph.upper["init", "elapsed"]) == (19, 20, 20)
    assert (shown.chain.length, shown.bounds.minimal) == (22, True)
    listed = generate(system, [goal], Equals(level, BV(0, 8)))
    assert (listed.graph.weights["init", "elapsed"], listed.graph.queries) == (20, 0), "enumerated states need no query"
    assert (listed.chain.length, listed.bounds.minimal) == (22, True)
    monkeypatch.setattr(first_chain, "Simulated", NoRandomRuns)
    result = generate(system, [goal], Equals(level, BV(0, 8)), Options(explore=0))
    assert result.depth >= 20
    assert result.graph.weights["init", "elapsed"] == 20
    assert (result.chain.length, result.bounds.minimal) == (22, True)


def test_the_search_over_whole_chains_finds_what_no_lengthening_of_one_order_can() -> None:
    case = random_case(345, goals=3, longest=2)
    one_order = generate(case.system, case.goals, case.final, Options(bound=4, improve=0, repair="none"))
    assert one_order.chain is None
    assert set(statuses(one_order).values()) <= {"not-within-bound", "unreachable"}
    assert "the graph has a covering path" in one_order.verdicts[0].detail
    result = generate(case.system, case.goals, case.final, Options(bound=4))
    assert result.chain is not None
    assert result.bounds.minimal


@pytest.mark.usefixtures("no_found_invariants")
def test_an_interrupt_while_shortening_keeps_chain_and_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(proof.WindowShortener, "work", interrupted)
    result = generate(cruise(), PROPERTIES, None, Options(explore=0))
    assert result.stopped_by == "interrupt"
    assert result.chain.length == 10
    assert 7 <= result.bounds.lower <= 8
    assert set(statuses(result).values()) == {"covered"}


def test_a_limit_while_one_goal_is_sought_leaves_a_chain_for_the_others() -> None:
    """The level rises by the one key in three that is right, at place 0: random runs do not get to 20."""
    told: list[str] = []

    def progress(text: str) -> None:
        told.append(text)
        if "K = 13," in text:
            raise KeyboardInterrupt

    key, start = BYTE.symbol("pl_key"), place.Equals(BV(0, 8))
    right = key.Equals(BVURem(level * level, BV(3, 8)))
    lock = StateVariable("pl_level", BYTE, BV(0, 8), Ite(And(start, right), level + 1, BV(0, 8)))
    system = branches(
        state=(*branches().state, lock), inputs=(*branches().inputs, InputVariable("pl_key", BYTE, ((0, 2),)))
    )
    goals = [Goal("far", at(And(start, level.Equals(BV(20, 8))), 0), None, 0), at_place("one", 1)]
    result = generate(system, goals, None, Options(explore=0), progress)
    assert result.stopped_by == "interrupt"
    assert sum(text.startswith("inputs: init -> one") for text in told) == 1
    assert statuses(result) == {"far": "undecided", "one": "covered"}
    assert "not reached from init within K = 13 so far" in result.verdicts[0].detail
    assert (result.chain.order, result.chain.length, result.bounds.minimal) == (("one",), 1, True)


def test_no_chain_is_longer_than_asked_for() -> None:
    within = generate(cruise(), PROPERTIES, INIT, Options(max_length=9))
    assert (within.chain.length, within.bounds.minimal) == (9, True)
    for options in (Options(max_length=8), Options(max_length=8, explore=0)):
        short = generate(cruise(), PROPERTIES, INIT, options)
        assert short.chain is None
        assert short.bounds.lower == 9
        assert set(statuses(short).values()) == {"not-within-bound"}
        assert "no chain of at most 8 steps" in short.verdicts[0].detail
