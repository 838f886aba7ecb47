"""Goals that others imply: found by the solver as by listing all runs, and a result as if all had been searched for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import chaincover, write_files
from engine_doubles import GivesUpAfter
from implied_cases import branching, by_all_runs, check_result, followers, fork, outline, planted
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, And, Equals, Ite, Or
from small_programs import program, project

from bmc.engines import choose as choose_engine
from bmc.errors import InputRefused, LimitReached
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover import pipeline, search
from chaincover.budget import Budget
from chaincover.chain import COVERED, NO_WAY_TO_FINAL, NOT_WITHIN_BOUND, UNDECIDED, UNREACHABLE, Verdict
from chaincover.graph.explored import Reachable
from chaincover.partition import several
from chaincover.partition.several import SeveralChains, generate_several
from chaincover.pipeline import Options, find_implied, generate, generate_each
from chaincover.reductions import lost_goals
from chaincover.reductions.implied import all_verdicts, implied_goals, left_to_search
from properties.goal import Goal
from properties.monitor import Monitor

needs_compiler = pytest.mark.needs_compiler

OPTIONS = Options(bound=10)


@pytest.mark.slow
def test_implications_are_those_of_all_runs() -> None:
    found = 0
    for seed in range(60):
        system, goals, final = case = planted(seed)
        proved = Reachable(system, goals, final, 100_000).system
        implied = implied_goals(proved, goals, choose_engine("z3"), Budget())
        assert implied == by_all_runs(case), seed
        found += len(implied)
    assert found > 40


def test_nothing_is_implied_where_the_solver_gives_up() -> None:
    """Each query in turn: what is still found is a part of what holds."""
    system, goals, final = case = next(case for case in map(planted, range(60)) if len(by_all_runs(case)) > 1)
    proved = Reachable(system, goals, final, 100_000).system
    patient = GivesUpAfter(1000)
    whole = implied_goals(proved, goals, patient, Budget())
    assert len(whole) > 1
    assert implied_goals(proved, goals, GivesUpAfter(0), Budget()) == {}
    follows = followers(case)
    for after in range(patient.asked):
        less = implied_goals(proved, goals, GivesUpAfter(after), Budget())
        assert all(goal in follows[by] and by not in less for goal, by in less.items())
    assert find_implied(system, goals, final, Options(time_limit=1), Budget(1e-9)) == {}


def quiet(text: str) -> None:
    pass


@pytest.mark.slow
def test_the_result_is_that_of_a_search_for_all_goals() -> None:
    spared = 0
    for seed in range(40):
        system, goals, final = case = planted(seed)
        result = generate(system, goals, final, OPTIONS)
        assert outline(result) == outline(generate_each(system, goals, final, OPTIONS, quiet)), seed
        check_result(case, result)
        spared += result.chain is not None and len(result.graph.goals) < len(goals)
    assert spared > 10, "goals were left out of the search, and there is a chain"


def test_disjoint_steps_leave_nothing_out() -> None:
    options = replace(OPTIONS, overlap="forbid")
    for seed in range(0, 12, 2):
        system, goals, final = planted(seed)
        assert find_implied(system, goals, final, options, Budget()) == {}
        result = generate(system, goals, final, options)
        assert outline(result) == outline(generate_each(system, goals, final, options, quiet))
        assert {g.name for g in goals if g.length} <= set(result.graph.goals)


def totals(found: SeveralChains) -> tuple[object, ...]:
    verdicts = [(v.goal, v.status) for v in found.verdicts]
    return len(found.results), found.length, found.fewest, found.bounds.minimal, found.stopped_by, verdicts


@pytest.mark.slow
def test_several_chains_are_as_many_and_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    more = 0
    for seed in range(20):
        system, goals, final = branching(seed)
        found = generate_several(system, goals, final, OPTIONS)
        with monkeypatch.context() as patch:
            patch.setattr(several, "find_implied", lambda *_: {})
            assert totals(found) == totals(generate_several(system, goals, final, OPTIONS)), seed
        more += len(found.results) > 1
        named = {goal.name: goal for goal in goals}
        for number, result in enumerate(found.results, 1):
            part = tuple(named[v.goal] for v in result.verdicts)
            check_result((system, part, final), result)
            assert result.chain is not None
            for hit in result.chain.hits:
                verdict = next(v for v in found.verdicts if v.goal == hit.goal)
                assert (verdict.status, verdict.step, verdict.detail) == (COVERED, hit.step, f"chain {number}")
    assert more > 2


@pytest.mark.parametrize(
    ("place", "status"), [("trap", NO_WAY_TO_FINAL), ("lost", UNREACHABLE), ("lost", NOT_WITHIN_BOUND)]
)
def test_a_goal_is_searched_for_where_the_stronger_one_is_lost(
    place: str, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One chain may still be refused, as by a search for all goals; of several, one covers the weaker goals.

    Not within the bound is what neither the list of states nor induction proves.
    """
    if status == NOT_WITHIN_BOUND:
        monkeypatch.setattr(lost_goals, "never", lambda *given: None)
        monkeypatch.setattr(Reachable, "suggest", lambda *given: None)
    machine, system = fork()
    final, options = machine.at_any("home"), replace(OPTIONS, explore=0 if status == NOT_WITHIN_BOUND else 100_000)
    strong = Goal("strong", at(machine.at_any(place), 0), None, 0)
    weak = Goal("weak", at(machine.at_any(place, "far"), 0), None, 0)
    goals = (weak, strong, replace(weak, name="weaker", antecedent=at(machine.at_any(place, "far", "home"), 0)))
    result = generate(system, goals, final, options)
    assert outline(result) == outline(generate_each(system, goals, final, options, quiet))
    check_result((system, goals, final), result)
    found = {v.goal: v for v in generate_several(system, goals, final, options).verdicts}
    assert found["weak"].status == found["weaker"].status == COVERED
    assert found["weak"].step == 1
    assert found["strong"].status == status


def test_one_chain_covers_what_a_lost_goal_implies() -> None:
    """The goal that implies them is unreachable."""
    machine, system = fork()
    strong = Goal("strong", at(machine.at_any("lost"), 0), None, 0)
    weak = Goal("weak", at(machine.at_any("lost", "far"), 0), None, 0)
    weaker = Goal("weaker", at(machine.at_any("lost", "far", "home"), 0), None, 0)
    goals = (weaker, strong, weak)
    for final in (machine.at_any("home"), None):
        result = generate(system, goals, final, OPTIONS)
        assert outline(result) == outline(generate_each(system, goals, final, OPTIONS, quiet))
        check_result((system, goals, final), result)
        assert [v.status for v in result.verdicts] == [COVERED, UNREACHABLE, COVERED]


def test_a_goal_without_a_way_to_the_end_leaves_the_goals_that_it_implies() -> None:
    """Pushing in the trap never ends well; pushing there or in ``far`` does, after a step of its own."""
    machine, system = fork()
    strong = Goal("strong", at(And(machine.at_any("trap"), machine.chosen("left")), 0), None, 1)
    weak = Goal("weak", at(And(machine.at_any("trap", "far"), machine.chosen("left")), 0), None, 1)
    for goals in ((strong, weak), (weak, strong)):
        case = system, goals, machine.at_any("home")
        result = generate(*case, OPTIONS)
        assert outline(result) == outline(generate_each(*case, OPTIONS, quiet))
        check_result(case, result)
        whole = generate_several(*case, OPTIONS)
        assert {v.goal: v.status for v in whole.verdicts} == {"strong": NO_WAY_TO_FINAL, "weak": COVERED}


def test_what_a_limit_leaves_open_is_not_taken_for_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stronger goal is proved to have no way to the end when time is over; the other one has.

    One chain is sought for the other one before time is over.
    """

    def over(*_: object) -> None:
        raise LimitReached("time is over")

    machine, system = fork()
    goals = (
        Goal("strong", at(machine.at_any("trap"), 0), None, 0),
        Goal("weak", at(machine.at_any("trap", "far"), 0), None, 0),
        Goal("home", at(machine.at_any("home"), 0), None, 0),
    )
    monkeypatch.setattr(search.Search, "_canonicalise", over)
    for find, weak in ((generate, COVERED), (generate_several, UNDECIDED)):
        result = find(system, goals, machine.at_any("home"), OPTIONS)
        assert result.stopped_by
        assert [v.status for v in result.verdicts] == [NO_WAY_TO_FINAL, weak, COVERED]


def test_verdicts_of_goals_that_were_left_out() -> None:
    machine, _ = fork()
    goals = [Goal(name, at(machine.at_any("far"), 0), None, 0) for name in "abc"]
    implied = {"b": "a", "c": "a"}
    for status in (UNREACHABLE, NO_WAY_TO_FINAL, NOT_WITHIN_BOUND):
        verdicts = [Verdict("a", status, detail="so it is")]
        assert left_to_search(implied, verdicts) == {}
        assert [v.status for v in all_verdicts(goals, verdicts, implied, [])] == [status, UNDECIDED, UNDECIDED]
    verdicts = [Verdict("a", UNDECIDED, detail="why")]
    assert left_to_search(implied, verdicts) == implied
    told = all_verdicts(goals, verdicts, implied, [])
    assert [v.status for v in told] == [UNDECIDED] * 3
    assert told[1].detail == "as a, which implies it: why"


@pytest.mark.parametrize("names", [("a", "x", "a"), ("a", "a", "b"), ("b", "init", "a"), ("end", "a", "b")])
def test_bad_names_are_refused(names: tuple[str, ...]) -> None:
    """Also those of goals that others imply."""
    machine, system = fork()
    where = (("far", "home"), ("far",), ("far", "home", "trap"))
    for places in (where, where[1:] + where[:1], where[2:] + where[:2]):
        goals = [Goal(n, at(machine.at_any(*p), 0), None, 0) for n, p in zip(names, places, strict=True)]
        for find in (generate, generate_several):
            with pytest.raises(InputRefused):
                find(system, goals, None, OPTIONS)


TWO_BITS = ValueType("two bits", 2)
position, noise, push = (TWO_BITS.symbol(name) for name in ("im_position", "im_noise", "im_push"))


def open_start() -> TransitionSystem:
    """A position that pushes move on; a second variable that nothing sets."""
    moved = Ite(Equals(push, BV(1, 2)), position + BV(1, 2), position)
    state = (
        StateVariable("im_position", TWO_BITS, BV(0, 2), moved),
        StateVariable("im_noise", TWO_BITS, None, noise),
    )
    return TransitionSystem("open", state, (InputVariable("im_push", TWO_BITS, ((0, 1),)),))


def here(name: str, formula: FNode) -> Goal:
    return Goal(name, at(formula, 0), None, 0)


def test_hits_do_not_rest_on_open_start_values_unless_told() -> None:
    """The implied goal holds at once for one start value; the chain covers it later for all of them."""
    system = open_start()
    strong = here("strong", Equals(position, BV(2, 2)))
    weak = here("weak", Or(Equals(position, BV(2, 2)), Equals(noise, BV(0, 2))))
    goals = (weak, strong)
    simulator, monitor = Simulator(system), Monitor(goals)
    for result in (generate(system, goals, None, OPTIONS), *generate_several(system, goals, None, OPTIONS).results):
        assert result.chain is not None
        assert result.chain.length == 2
        assert {hit.goal for hit in result.chain.hits} == {"weak", "strong"}
        for value in range(4):
            run = simulator.run(simulator.initial({"im_noise": value}), result.chain.run.inputs)
            held = all(monitor.holds(run, hit.goal, hit.step) for hit in result.chain.hits)
            assert held or "im_noise" in result.chain.relies_on, value


BODY = """if (s->n == 0) s->n = i->b ? 1 : 3; else if (s->n == 1) s->n = 2; else if (s->n == 3) s->n = 4;
  if (i->a == 1) s->m = s->m == 0 ? 1 : s->m == 1 ? 3 : 0;"""
PROJECT = project("[interface]\ninput = ['i->a', 'i->b']\n[ranges]\na = [0, 1, 2, 4]")
STRONG = ("--property", "strong: cover(n == 2)", "--property", "weak: cover(n == 2 || m == 3)")
EXCLUDED = ("--property", "other: cover(n == 4)", "--property", "twin: cover(4 == n)")


def checked(folder: Path, *options: str) -> str:
    """Generate and verify; what verify says."""
    write_files(folder, {"c.c": program(BODY), "chaincover.toml": PROJECT})
    out = folder / "out"
    made = chaincover("generate", folder, "-o", out, "--no-replay", "-q", *options)
    assert made.code == 0, made.out + made.err
    outcome = chaincover("verify", folder, out)
    assert outcome.code == 0, outcome.out
    return outcome.out


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("more", [(), ("--exhaust", "0"), ("--explore", "0"), ("--overlap", "forbid")])
def test_a_chain_for_implied_goals_is_verified(more: tuple[str, ...], tmp_path: Path) -> None:
    """The weaker goal depends on a variable that the stronger one does not: it counts for the reachable states."""
    checked(tmp_path, *STRONG, *more)
    document = json.loads((tmp_path / "out" / "chain.json").read_text())
    nodes = document["graph"]["nodes"]
    assert nodes == ["init", "strong", "end"] if "forbid" not in more else ["init", "strong", "weak", "end"]
    assert [(g["name"], g["verdict"], g["step"]) for g in document["goals"]] == [
        ("strong", "covered", 2),
        ("weak", "covered", 2),
    ]
    assert document["bounds"]["minimal"]


@needs_compiler
def test_several_chains_for_implied_goals_are_verified(tmp_path: Path) -> None:
    text = checked(tmp_path, *STRONG, *EXCLUDED, "--several")
    assert "number of chains holds" in " ".join(text.split())
    summary = json.loads((tmp_path / "out" / "chains.json").read_text())
    assert [sorted(chain["goals"]) for chain in summary["chains"]] in (
        [["strong", "weak"], ["other", "twin"]],
        [["other", "twin"], ["strong", "weak"]],
    )


def test_find_implied_says_nothing_of_one_goal() -> None:
    machine, system = fork()
    goals = [Goal("a", at(machine.at_any("far"), 0), None, 0)]
    assert pipeline.find_implied(system, goals, None, OPTIONS, Budget()) == {}
