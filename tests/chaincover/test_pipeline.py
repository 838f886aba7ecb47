"""Verdicts, limits, interrupts, findings, and the checks that every chain passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain as joined
from itertools import pairwise
from pathlib import Path

import pytest
from boards import board_of
from command_line import chaincover, write_files
from cruise import INIT, PROPERTIES, cruise, prop
from engine_doubles import NoRandomRuns, search_with
from listeners import Told
from machines import Machine, fork
from pysmt.shortcuts import BV, BVULE, FALSE, TRUE, And, BVURem, Equals, Ite, Not
from random_systems import random_case

from benchmarks.checks.short_runs import short_runs
from bmc import footprint
from bmc.engines import choose
from bmc.engines.protocol import Answer, Cost, Status, check_in_turn
from bmc.errors import UsageError, counted
from bmc.formulas.unroll import at, framed
from bmc.system.transition import BOOLEAN, Condition, InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover import limits, pipeline
from chaincover.chain import COVERED, UNDECIDED, UNREACHABLE, Violation
from chaincover.known import Board, Reason
from chaincover.limits import PER_UNIT, UNITS
from chaincover.minimality.windows import WindowSearch
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.project.load import Request, load_request
from chaincover.runs import random as random_runs
from chaincover.stages import Stage, pause, take_turns
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


class Listing:
    """Stands for an enumeration that is under way; ``rest``: operations on values."""

    def __init__(self, rest: float) -> None:
        self.rest = rest


def turns_of(names: Sequence[str], board: Board) -> list[str]:
    """Which of the stages ``names`` have turns, one after the other, in the first round, if they bring nothing."""
    log: list[str] = []

    def logging(name: str) -> Callable[[Board], None]:
        def work(board: Board) -> None:
            while True:
                log.append(name)
                pause()

        return work

    works = {name: logging(name) for name in names}
    take_turns([replace(s, work=works[s.name]) for s in pipeline.STAGES if s.name in names], board)
    return log


@pytest.mark.parametrize(
    ("rest", "turns"),
    [
        (None, "exact graph, simulate"),
        (pipeline.LONG + 0.1, "exact graph, simulate"),
        (pipeline.LONG, "enumerate, exact graph, simulate"),
    ],
)
def test_states_that_are_nearly_listed_come_before_the_long_turn_of_random_runs(rest: float | None, turns: str) -> None:
    """These runs, and what follows them, would be for nothing where the states settle all."""
    board, _ = board_of(fork(stuck=False))
    board.restore = lambda result: result  # there is no normal form
    board.enumeration = None if rest is None else Listing(rest * PER_UNIT.values)  # type: ignore[assignment]
    found = ", ".join(turns_of(["enumerate", "simulate", "exact graph"], board))
    assert found == f"enumerate, simulate, enumerate, simulate, {turns}"


def test_all_is_settled_where_no_goal_is_left_that_a_chain_can_cover() -> None:
    """Whether some run meets the final condition is no matter any more."""
    board, _ = board_of(fork(stuck=False))
    first, *others = board.known.problem.names
    board.rule_out({name: Reason(UNREACHABLE, "it is dead code") for name in others})
    assert not board.settled
    board.rule_out({first: Reason(UNREACHABLE, "it is dead code")})
    assert board.settled


def test_jumps_come_before_the_long_turn_of_random_runs_where_a_counter_goes_on() -> None:
    """As many states wait after a turn that would have listed those that waited."""
    board, _ = board_of(fork(stuck=False))
    board.restore = lambda result: result
    names = ["simulate", "exact graph", "accelerate"]
    assert turns_of(names, board)[-3:] == ["exact graph", "simulate", "accelerate"]
    board.enumeration = Listing(1.0)  # type: ignore[assignment]
    assert turns_of(names, board)[-4:] == ["exact graph", "accelerate", "simulate", "accelerate"]


@pytest.mark.slow
def test_a_counter_without_end_is_not_followed_value_by_value(tmp_path: Path) -> None:
    """What jumps tell after little work, millions of states would tell, one after the other."""
    code = """typedef struct { _Bool unread; } t_input;
typedef struct { int n; unsigned char m; } t_state;
void init(t_state *s) { s->n = 0; s->m = 0; }
void compute(t_input *i, t_state *s) {
    s->n++; if (s->n == 4) s->m = 1; if (s->n == 8) s->m = 2; if (s->n == 12) s->m = 0;
}
"""
    write_files(tmp_path, {"c.c": code})
    asked = ["--cover", "transitions(m, 0..2)", "--effort", "0.05"]
    found = chaincover("generate", "c.c", *asked, "-o", "out", "--json", cwd=tmp_path).json
    assert (found["bounds"]["length"], found["bounds"]["minimal"], found["effort_used_up"]) == (12, True, False)


@pytest.mark.slow
def test_few_states_that_take_long_each_are_listed_before_the_long_turn_of_random_runs() -> None:
    """Eleven states with 58 bits of inputs, under which a hundred goals are told apart: a solver lists them."""
    told = Told()
    crane = load_request(Request("benchmarks/models/crane/chaincover.toml", cover=("mcdc()",))).problem
    result = generate(crane, Options(), told)
    assert (result.bounds.length, result.bounds.minimal) == (59, True)
    assert told.said("enumerate: 11 reachable states")
    assert not told.said("recombine")


@pytest.mark.parametrize(("final", "status"), [(None, COVERED), (0, COVERED), (1, UNDECIDED)])
def test_what_holds_after_init_is_covered_before_any_stage(final: int | None, status: str) -> None:
    """By the run of no step, where it may end there; else that run is a test of the goal's own."""
    end = None if final is None else place.Equals(BV(final, 8))
    problem = Problem(branches(), (at_place("at once", 0), at_place("later", 2)), end)
    result = generate(problem, Options(effort=1e-9), stages=[Stage("none", lambda board: None)])
    assert statuses(result) == {"at once": status, "later": UNDECIDED}
    assert (result.chain is not None and result.chain.length == 0) == (status == COVERED)
    assert result.chain is not None or result.tests["at once"].length == 0


def test_goals_that_exclude_each_other_are_named() -> None:
    """The chain covers one of them; for the other there is a test of its own."""
    result = generate(Problem(branches(), (at_place("one", 1), at_place("two", 2)), None))
    assert result.chain is not None
    (covered,) = result.chain.goals
    (other,) = {"one", "two"} - {covered}
    assert statuses(result) == {covered: "covered", other: "excluded"}
    verdict = next(v for v in result.verdicts if v.goal == other)
    assert f"no run covers it together with {covered}: " in verdict.detail
    assert result.no_chain
    assert not result.complete
    assert result.certificate is not None
    assert result.certificate.conflicts == (("one", "two"),)


@pytest.mark.slow
def test_a_goal_that_was_reached_has_a_test_of_its_own() -> None:
    """Random runs get to a place from which there is no way back; the chain does not."""
    goals = (at_place("one", 1), Goal("home", at(place.Equals(BV(0, 8)), 0), None, 0))
    result = generate(Problem(branches(), goals, place.Equals(BV(0, 8))), Options(engine="sat", effort=0.01))
    assert result.chain is not None
    assert result.chain.order == ("home",)
    assert {name: run.length for name, run in result.tests.items()} == {"one": 1}
    assert "reachable: a test of its own has 1 step" in result.verdicts[0].detail
    by_states = generate(Problem(branches(), goals, place.Equals(BV(0, 8))))
    assert statuses(by_states) == {"one": "no-way-to-final", "home": "covered"}
    assert {name: run.length for name, run in by_states.tests.items()} == {"one": 1}


def test_unreachable_is_said_only_with_a_proof_and_the_rest_is_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    goals = [at_place("three", 3), at_place("one", 1)]
    assert statuses(generate(Problem(branches(), tuple(goals), None))) == {"three": "unreachable", "one": "covered"}
    asked = Options(bound=8, engine="sat")
    by_proof = generate(Problem(branches(), tuple(goals), None), asked)
    assert statuses(by_proof) == {"three": "unreachable", "one": "covered"}
    assert "proved invariants" in by_proof.verdicts[0].detail
    kept = tuple(s for s in pipeline.STAGES if s.name not in ("invariants", "unreachable goals"))
    monkeypatch.setattr(pipeline, "STAGES", kept)
    blind = generate(Problem(branches(), tuple(goals), None), Options(bound=2, engine="sat", effort=0.1))
    assert statuses(blind) == {"three": "not-within-bound", "one": "covered"}
    assert "K = 2" in blind.verdicts[0].detail
    monkeypatch.undo()
    void = generate(Problem(branches(), (prop("void", FALSE()),), place.Equals(BV(0, 8))))
    assert void.chain is None
    assert statuses(void) == {"void": "unreachable"}


def test_a_goal_that_needs_more_than_sixty_steps() -> None:
    """K is not bounded unless that is asked for."""
    go = BOOLEAN.symbol("pl_go")
    counter = StateVariable("pl_level", BYTE, BV(0, 8), Ite(go, level + 1, BV(0, 8)))
    system = TransitionSystem("far", (counter,), (InputVariable("pl_go", BOOLEAN),))
    goal = Goal("far", at(level.Equals(BV(62, 8)), 0), None, 0)
    for engine in ("auto", "sat"):
        result = generate(Problem(system, (goal,), None), Options(engine=engine))
        assert result.chain is not None
        assert (result.chain.length, result.bounds.minimal) == (62, True)
        near = generate(Problem(system, (goal,), None), Options(bound=61, engine=engine))
        assert (near.chain, statuses(near)) == (None, {"far": "not-within-bound"})
        assert "not reached from init within K = 61" in near.verdicts[0].detail
        assert near.tests["far"].length == 62
        just = generate(Problem(system, (goal,), None), Options(bound=62, engine=engine))
        assert (just.chain.length, just.chain.k_met, just.bounds.minimal) == (62, 62, True)


def test_a_chain_within_k_is_found_although_a_shorter_one_goes_further() -> None:
    """To the left a comes after one step, and b four steps later; to the right each takes three."""
    ways = {"left": ["m", "a1", "c1", "c2", "c3", "b"], "right": ["m", "d1", "d2", "a2", "e1", "e2", "b"]}
    places = list(dict.fromkeys(joined.from_iterable(ways.values())))
    machine = Machine("ways", places, [*ways], [(a, key, b) for key, way in ways.items() for a, b in pairwise(way)])
    goals = (Goal("a", at(machine.at_any("a1", "a2"), 0), None, 0), Goal("b", at(machine.at_any("b"), 0), None, 0))
    for engine in ("auto", "sat"):
        free, near = (
            generate(Problem(machine.system(), goals, None), Options(engine=engine, bound=bound)) for bound in (None, 3)
        )
        assert (free.chain.length, free.chain.k_met, free.bounds.minimal) == (5, 4, True)
        assert (near.chain.length, near.chain.k_met, near.bounds.minimal) == (6, 3, False)


def test_zero_goals_one_goal_and_goals_equal_to_the_ends() -> None:
    assert generate(Problem(cruise(), (), None)).chain.length == 0
    assert generate(Problem(cruise(), (), INIT)).chain.length == 0
    assert generate(Problem(branches(), (), place.Equals(BV(2, 8)))).chain.length == 1
    stuck = generate(Problem(branches(), (), place.Equals(BV(3, 8))), Options(bound=3))
    assert stuck.chain is None
    assert stuck.verdicts == ()
    same = generate(Problem(cruise(), (Goal("rest", at(INIT, 0), None, 0),), INIT))
    assert (same.chain.length, same.bounds.minimal) == (0, True)
    assert generate(Problem(cruise(), tuple(PROPERTIES[:1]), None)).chain.length == 3


def test_overlap_forbidden_keeps_the_steps_of_goals_disjoint() -> None:
    goals = [Goal(f"g{n}", TRUE(), None, 2) for n in range(3)]
    assert generate(Problem(cruise(), tuple(goals), None)).chain.length == 2
    apart = generate(Problem(cruise(), tuple(goals), None), Options(overlap="forbid"))
    assert apart.chain.length == 6
    assert [hit.step for hit in apart.chain.hits] == [0, 2, 4]
    assert apart.bounds.minimal


def test_a_chain_ends_no_earlier_than_any_of_its_goals() -> None:
    goals = [Goal("long", TRUE(), TRUE(), 5), prop("short", TRUE())]
    result = generate(Problem(cruise(), tuple(goals), INIT))
    assert result.chain.length == 5
    assert result.chain.run.states[-1] == result.chain.run.states[0]


def test_consequents_and_asserts_are_findings_not_restrictions() -> None:
    system = branches(asserts=(Condition("never 2", Not(place.Equals(BV(2, 8)))),))
    goal = Goal("two", at(place.Equals(BV(2, 8)), 0), at(place.Equals(BV(1, 8)), 1), 1)
    chain = generate(Problem(system, (goal,), None)).chain
    assert [hit.consequent_held for hit in chain.hits] == [False]
    assert chain.failures == chain.hits
    assert chain.violations == (Violation("never 2", 1),)


def test_a_time_limit_gives_what_is_known() -> None:
    result = generate(Problem(cruise(), tuple(PROPERTIES), None), Options(time_limit=1e-6))
    assert result.stopped_by == "time limit"
    assert result.chain is None
    assert set(statuses(result).values()) == {"undecided"}
    assert result.bounds.lower == 0


def test_an_interrupt_during_the_last_stage_keeps_the_chain() -> None:
    result = generate(Problem(cruise(), tuple(PROPERTIES), None), None, Told("inputs: canonical"))
    assert result.stopped_by == "interrupt"
    assert result.chain.length == 8
    assert set(statuses(result).values()) == {"covered"}


@pytest.mark.slow
@short_runs()
def test_an_interrupt_while_the_graph_grows_leaves_what_random_runs_found() -> None:
    told = Told("graph: K = 1")
    goals = (*PROPERTIES, prop("void", FALSE()))
    result = generate(Problem(cruise(), goals, None), Options(engine="sat"), told)
    assert result.stopped_by == "interrupt"
    assert {name: statuses(result)[name] for name in ("p1", "p2", "p3", "p4")} == dict.fromkeys(
        ("p1", "p2", "p3", "p4"), "covered"
    )
    assert statuses(result)["void"] in ("undecided", "unreachable")
    assert result.chain.length >= 8
    assert result.bounds.lower <= 8


def test_an_interrupt_while_the_graph_grows_leaves_other_goals_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tuple(s for s in pipeline.STAGES if s.name in ("graph", "get chain"))
    monkeypatch.setattr(pipeline, "STAGES", kept)
    told = Told("graph: K = 1")
    result = generate(Problem(cruise(), tuple(PROPERTIES), None), Options(engine="sat"), told)
    assert (result.stopped_by, result.depth, result.chain) == ("interrupt", 1, None)
    assert set(statuses(result).values()) == {"undecided"}


def test_every_improvement_is_told_at_once() -> None:
    """Chains only get better, bounds only rise, and the last one told is the result."""
    told = Told()
    result = generate(Problem(cruise(), tuple(PROPERTIES), INIT), Options(engine="sat"), told)
    assert len(told.results) > 2
    lengths = [known.chain.length for known in told.results if known.complete]
    lowers = [known.bounds.lower for known in told.results if known.complete]
    assert lengths == sorted(lengths, reverse=True)
    assert lowers == sorted(lowers)
    assert all(known.bounds.lower <= 9 <= known.chain.length for known in told.results if known.complete)
    assert (lengths[-1], lowers[-1]) == (result.chain.length, result.bounds.lower) == (9, 9)


def test_effort_that_is_used_up_ends_a_run_with_its_best() -> None:
    problem = Problem(cruise(), tuple(PROPERTIES), INIT)
    result = generate(problem, Options(engine="z3", effort=0.0006))
    assert (result.used_up, result.stopped_by) == (True, "")
    assert result.chain is not None
    assert result.bounds.lower <= 9 <= result.chain.length
    whole = generate(problem, Options(engine="z3"))
    assert (whole.used_up, whole.bounds.minimal) == (False, True)
    assert result.answered.effort < whole.answered.effort


def test_unknown_answers_never_become_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
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
    options = Options(bound=4, engine="sat", effort=0.02)
    simulated = generate(Problem(cruise(), tuple(PROPERTIES), INIT), options)
    assert set(statuses(simulated).values()) == {"covered"}
    assert simulated.bounds.lower <= 9 <= simulated.chain.length
    monkeypatch.setattr(random_runs, "RandomRuns", NoRandomRuns)
    result = generate(Problem(cruise(), tuple(PROPERTIES), INIT), options)
    assert result.chain is None
    assert result.stopped_by == ""
    assert set(statuses(result).values()) <= {"undecided", "excluded"}
    assert statuses(result)["p2"] == "undecided"


def test_wrong_options_are_usage_errors() -> None:
    for options in (
        Options(bound=-1),
        Options(overlap="maybe"),
        Options(time_limit=0),
        Options(effort=0),
        Options(engine="x"),
    ):
        with pytest.raises(UsageError):
            generate(Problem(cruise(), tuple(PROPERTIES), None), options)


def test_timers_are_followed_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    go = BOOLEAN.symbol("pl_go")
    system = TransitionSystem(
        "timer",
        (StateVariable("pl_level", BYTE, BV(0, 8), Ite(go, level + 1, BV(0, 8))),),
        (InputVariable("pl_go", BOOLEAN),),
    )
    goal = Goal("elapsed", And(at(Equals(level, BV(20, 8)), 0), framed(go, 0)), at(Equals(level, BV(21, 8)), 1), 1)
    problem = Problem(system, (goal,), Equals(level, BV(0, 8)))
    for engine in ("sat", "auto"):
        result = generate(problem, Options(engine=engine))
        assert (result.chain.length, result.bounds.minimal) == (22, True)
    monkeypatch.setattr(random_runs, "RandomRuns", NoRandomRuns)
    kept = tuple(s for s in pipeline.STAGES if s.name in ("graph", "get chain"))
    monkeypatch.setattr(pipeline, "STAGES", kept)
    result = generate(problem, Options(engine="sat"))
    assert result.depth >= 20
    assert result.graph.weights["init", "elapsed"] == 20
    assert (result.chain.length, result.bounds.minimal) == (22, True)


def test_the_search_over_whole_chains_finds_what_no_lengthening_of_one_order_can(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = random_case(345, goals=3, longest=2)
    problem = Problem(case.system, tuple(case.goals), case.final)
    with monkeypatch.context() as patch:
        kept = ("graph", "get chain", "other orders")
        patch.setattr(pipeline, "STAGES", tuple(s for s in pipeline.STAGES if s.name in kept))
        one_order = generate(problem, Options(bound=4, engine="sat", repair="none"))
    left_out = [verdict for verdict in one_order.verdicts if verdict.status != "covered"]
    assert {verdict.status for verdict in left_out} == {"not-within-bound"}
    assert all("but no inputs with K = 2 join g1 -> g2 -> final; reachable: " in v.detail for v in left_out)
    result = generate(problem, Options(bound=4, engine="sat"))
    assert result.chain is not None
    assert result.bounds.minimal


def without_whole_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stage would settle all before the others have a turn."""
    kept = tuple(stage for stage in pipeline.STAGES if stage.name != "whole lengths")
    monkeypatch.setattr(pipeline, "STAGES", kept)


def test_an_interrupt_while_shortening_keeps_chain_and_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(WindowSearch, "shorter", interrupted)
    without_whole_lengths(monkeypatch)
    result = generate(Problem(cruise(), tuple(PROPERTIES), None), Options(engine="sat"))
    assert result.stopped_by == "interrupt"
    assert result.chain.length >= 8 >= result.bounds.lower
    assert set(statuses(result).values()) == {"covered"}


@pytest.mark.slow
@short_runs()
def test_a_limit_while_one_goal_is_sought_leaves_a_chain_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The level rises by the one key in three that is right, at place 0: random runs do not get to 7."""
    key, start = BYTE.symbol("pl_key"), place.Equals(BV(0, 8))
    right = key.Equals(BVURem(level * level, BV(3, 8)))
    lock = StateVariable("pl_level", BYTE, BV(0, 8), Ite(And(start, right), level + 1, BV(0, 8)))
    system = branches(
        state=(*branches().state, lock), inputs=(*branches().inputs, InputVariable("pl_key", BYTE, ((0, 2),)))
    )
    goals = [Goal("far", at(And(start, level.Equals(BV(7, 8))), 0), None, 0), at_place("one", 1)]
    told = Told("graph: edges")
    whole = generate(Problem(system, tuple(goals), None), Options(engine="sat"))
    assert (whole.chain.order, whole.chain.length, whole.bounds.minimal) == (("far", "one"), 8, True)
    without_whole_lengths(monkeypatch)
    result = generate(Problem(system, tuple(goals), None), Options(engine="sat"), told)
    assert result.stopped_by == "interrupt"
    assert statuses(result)["one"] == "covered"
    assert statuses(result)["far"] in ("undecided", "covered")


def test_where_all_memory_is_taken_the_best_chain_so_far_is_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first chain on no stage can give back what is taken too much."""
    told = Told()
    monkeypatch.setattr(limits, "LOOK", 0)
    monkeypatch.setattr(footprint, "taken", lambda: (1 << 60) if told.results else 0)
    result = generate(Problem(cruise(), tuple(PROPERTIES), INIT), Options(engine="sat"), told)
    assert result.stopped_by == "memory limit"
    assert result.chain.goals == told.results[0].chain.goals
    assert all("memory limit of" in reason for reason in result.answered.gave_up)


def test_no_chain_is_longer_than_asked_for() -> None:
    within = generate(Problem(cruise(), tuple(PROPERTIES), INIT), Options(max_length=9))
    assert (within.chain.length, within.bounds.minimal) == (9, True)
    for engine, most in (("auto", 8), ("sat", 1)):
        short = generate(Problem(cruise(), tuple(PROPERTIES), INIT), Options(max_length=most, engine=engine))
        assert not short.used_up
        assert short.answered.effort < 0.2 * UNITS
        assert (short.chain is None) == (most == 1)
        assert short.chain is None or (short.chain.length <= 8 and 2 <= len(short.chain.goals) < len(PROPERTIES))
        missed = [verdict for verdict in short.verdicts if verdict.status != "covered"]
        assert {verdict.status for verdict in missed} == {"not-within-bound"}
        why = f"no chain of at most {counted(most, 'step')} covers all goals: none is shorter than 9; reachable: "
        assert all(verdict.detail.startswith(why) for verdict in missed)
        assert {verdict.goal for verdict in missed} == short.tests.keys()
        assert short.chain is not None or short.bounds.lower == short.certificate.lower == 9


def test_an_answer_that_several_ask_for_is_restored_once() -> None:
    class Twice(Told):
        def improved(self, result: Callable[[], object]) -> None:
            self.results.append((result(), result()))

    told = Twice()
    generate(Problem(branches(), (at_place("one", 1),), None), listener=told)
    assert told.results
    assert all(first is again for first, again in told.results)
