"""Goals that others imply: found by the solver as by listing all runs, and a result as if all had been searched for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from boards import board_of
from chain_tasks import with_reachable_states
from command_line import chaincover, write_files
from drawn_seeds import seeds
from engine_doubles import GivesUpAfter
from enumerated import graph_of, one_step
from explicit import Explicit
from implied_cases import branching, by_all_runs, check_result, followers, fork, outline, planted
from machines import Case
from problems import problem_of
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, And, Equals, Ite, Or
from small_programs import program, project

from bmc.engines import choose as choose_engine
from bmc.engines.protocol import Engine
from bmc.errors import InputRefused, LimitReached
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover import pipeline
from chaincover.chain import COVERED, NO_WAY_TO_FINAL, NOT_WITHIN_BOUND, UNREACHABLE
from chaincover.graph import enumerated_goals
from chaincover.graph.goal_product import followers_on_steps
from chaincover.limits import PER_UNIT, Limits
from chaincover.minimality import implied as room
from chaincover.minimality.implied import implied_goals, represent_implied
from chaincover.options import Options
from chaincover.partition.several import generate_several
from chaincover.pipeline import generate
from chaincover.problem import Problem, Questions
from chaincover.result import ChainResult, SeveralChains
from chaincover.stages import Stage, take_turns
from properties.goal import Goal
from properties.monitor import Monitor

needs_compiler = pytest.mark.needs_compiler

OPTIONS = Options()


@pytest.mark.slow
def implied(case: Case, engine: Engine | None = None, limits: Limits | None = None) -> dict[str, str]:
    """The goals that others imply on the reachable states."""
    problem = problem_of(*with_reachable_states(case))
    return implied_goals(Questions(problem, engine or choose_engine("z3"), limits or Limits()))


def each_by_itself(case: Case, options: Options) -> ChainResult:
    """The result where no goal represents another one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "STAGES", tuple(stage for stage in pipeline.STAGES if stage.name != "implied goals"))
        return generate(problem_of(*case), options)


@pytest.mark.slow
def test_implications_are_those_of_all_runs() -> None:
    found = 0
    for seed in range(15):
        case = one_step(planted(seed))
        represented = implied(case)
        assert represented == by_all_runs(case), seed
        found += len(represented)
    assert found > 8


@seeds(20)
def test_on_enumerated_steps_goals_follow_that_all_runs_through_the_goal_cover(seed: int) -> None:
    """All that follow from the same step on, and more: what every way there has covered."""
    system, goals, final = planted(seed)
    case = system, tuple(goal for goal in goals if goal.length <= 1), final
    follows, reference = followers_on_steps(problem_of(*case), graph_of(*case)), Explicit(system)
    assert all(follows[goal] >= others for goal, others in followers(case).items())
    for states, inputs in reference.runs(reference.init, 3):
        covered = {
            goal.name
            for goal in case[1]
            for step in range(4 - goal.length)
            if reference.holds(goal.antecedent, states[step:], inputs[step:])
        }
        assert all(covered >= follows[goal] for goal in covered)


def test_steps_that_are_compared_count_before_the_limits_are_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is counted ahead is another turn's work."""
    system, goals, final = planted(0)
    case = system, tuple(goal for goal in goals if goal.length <= 1), final
    problem, graph = problem_of(*case), graph_of(*case)
    monkeypatch.setattr(enumerated_goals, "BLOCK", 1)
    board, _ = board_of(case)
    board.tell(enumerated=graph)
    spent = list[float]()
    board.limits.pause_after(0.0, lambda: spent.append(board.limits.spent))
    room.represent_implied(board)
    assert spent[0] == 0
    assert len(set(spent)) > 1
    assert board.limits.spent == pytest.approx(graph.steps.total * len(problem.goals) / PER_UNIT.steps)


def test_nothing_is_implied_where_the_solver_gives_up() -> None:
    """Each query in turn: what is still found is a part of what holds."""
    case = next(case for case in map(planted, range(60)) if len(by_all_runs(case)) > 1)
    patient = GivesUpAfter(1000)
    assert len(implied(case, patient)) > 1
    assert implied(case, GivesUpAfter(0)) == {}
    follows = followers(case)
    for after in range(patient.asked):
        less = implied(case, GivesUpAfter(after))
        assert all(goal in follows[by] and by not in less for goal, by in less.items())
    with pytest.raises(LimitReached):
        implied(case, limits=Limits(1e-9))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["auto", pytest.param("sat", marks=pytest.mark.evidence)])
def test_the_result_is_that_of_a_search_for_all_goals(engine: str) -> None:
    options = replace(OPTIONS, engine=engine, effort=1.0 if engine == "auto" else 0.005)
    settled = 0
    for seed in range(8 if engine == "auto" else 3):
        case = planted(seed)
        result, plain = generate(problem_of(*case), options), each_by_itself(case, options)
        check_result(case, result)
        check_result(case, plain)
        if engine == "auto" or not (result.used_up or plain.used_up):
            assert outline(result) == outline(plain), seed
            settled += result.chain is not None
    assert settled


def test_targets_are_the_goals_that_nothing_represents() -> None:
    free, _ = board_of(one_step(planted(0)), Options(engine="z3"))
    take_turns([Stage("implied goals", represent_implied)], free)
    assert {*free.known.targets} == {goal.name for goal in free.known.problem.goals} - {*free.known.represented}


def totals(found: SeveralChains) -> tuple[object, ...]:
    verdicts = [(v.goal, v.status) for v in found.verdicts]
    return (
        len(found.results),
        found.length,
        found.number_minimal_within_k,
        found.bounds.minimal,
        found.stopped_by,
        verdicts,
    )


@pytest.mark.slow
def test_several_chains_are_as_many_and_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    more = 0
    for seed in range(8):
        system, goals, final = case = branching(seed)
        found = generate_several(problem_of(*case), OPTIONS)
        with monkeypatch.context() as patch:
            kept = tuple(stage for stage in pipeline.STAGES if stage.name != "implied goals")
            patch.setattr(pipeline, "STAGES", kept)
            assert totals(found) == totals(generate_several(problem_of(*case), OPTIONS)), seed
        more += len(found.results) > 1
        named = {goal.name: goal for goal in goals}
        for result in found.results:
            part = tuple(named[v.goal] for v in result.verdicts)
            check_result((system, part, final), result)
        for verdict in found.verdicts:
            if verdict.status == COVERED:
                number = int(verdict.detail.removeprefix("chain "))
                chain = found.results[number - 1].chain
                assert chain is not None
                assert (verdict.goal, verdict.step) in {(hit.goal, hit.step) for hit in chain.hits}
    assert more


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "status"), [("trap", NO_WAY_TO_FINAL), ("lost", UNREACHABLE), ("lost", NOT_WITHIN_BOUND)]
)
def test_a_goal_is_searched_for_where_the_stronger_one_is_lost(
    place: str, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not within the bound is what neither the list of states nor induction proves."""
    options = OPTIONS
    if status == NOT_WITHIN_BOUND:
        kept = tuple(s for s in pipeline.STAGES if s.name not in ("invariants", "unreachable goals"))
        monkeypatch.setattr(pipeline, "STAGES", kept)
        options = replace(OPTIONS, engine="sat", effort=0.02, bound=3)
    machine, system = fork()
    strong = Goal("strong", at(machine.at_any(place), 0), None, 0)
    weak = Goal("weak", at(machine.at_any(place, "far"), 0), None, 0)
    goals = (weak, strong, replace(weak, name="weaker", antecedent=at(machine.at_any(place, "far", "home"), 0)))
    case = system, goals, machine.at_any("home")
    result = generate(problem_of(*case), options)
    check_result(case, result)
    found = {v.goal: v for v in result.verdicts}
    assert found["weak"].status == found["weaker"].status == COVERED
    assert found["weak"].step == 1
    assert found["strong"].status == status
    several = {v.goal: v.status for v in generate_several(problem_of(*case), options).verdicts}
    assert several["weak"] == several["weaker"] == COVERED


def test_one_chain_covers_what_a_lost_goal_implies() -> None:
    """The goal that implies them is unreachable."""
    machine, system = fork()
    strong = Goal("strong", at(machine.at_any("lost"), 0), None, 0)
    weak = Goal("weak", at(machine.at_any("lost", "far"), 0), None, 0)
    weaker = Goal("weaker", at(machine.at_any("lost", "far", "home"), 0), None, 0)
    for final in (machine.at_any("home"), None):
        case = system, (weaker, strong, weak), final
        result = generate(problem_of(*case), OPTIONS)
        assert outline(result) == outline(each_by_itself(case, OPTIONS))
        check_result(case, result)
        assert [v.status for v in result.verdicts] == [COVERED, UNREACHABLE, COVERED]


def test_a_goal_without_a_way_to_the_end_leaves_the_goals_that_it_implies() -> None:
    """Pushing in the trap never ends well; pushing there or in ``far`` does, after a step of its own."""
    machine, system = fork()
    strong = Goal("strong", at(And(machine.at_any("trap"), machine.chosen("left")), 0), None, 1)
    weak = Goal("weak", at(And(machine.at_any("trap", "far"), machine.chosen("left")), 0), None, 1)
    for goals in ((strong, weak), (weak, strong)):
        case = system, goals, machine.at_any("home")
        result = generate(problem_of(*case), OPTIONS)
        assert outline(result) == outline(each_by_itself(case, OPTIONS))
        check_result(case, result)
        whole = generate_several(problem_of(*case), OPTIONS)
        assert {v.goal: v.status for v in whole.verdicts} == {"strong": NO_WAY_TO_FINAL, "weak": COVERED}


@pytest.mark.parametrize("names", [("a", "x", "a"), ("a", "a", "b"), ("b", "init", "a"), ("end", "a", "b")])
def test_bad_names_are_refused(names: tuple[str, ...]) -> None:
    """Also those of goals that others imply."""
    machine, system = fork()
    where = (("far", "home"), ("far",), ("far", "home", "trap"))
    for places in (where, where[1:] + where[:1], where[2:] + where[:2]):
        goals = [Goal(n, at(machine.at_any(*p), 0), None, 0) for n, p in zip(names, places, strict=True)]
        for find in (generate, generate_several):
            with pytest.raises(InputRefused):
                find(problem_of(system, goals, None), OPTIONS)


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
    for result in (
        generate(Problem(system, tuple(goals), None), OPTIONS),
        *generate_several(Problem(system, tuple(goals), None), OPTIONS).results,
    ):
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
@pytest.mark.parametrize("more", [(), ("--engine", "sat"), ("--overlap", "forbid")])
def test_a_chain_for_implied_goals_is_verified(more: tuple[str, ...], tmp_path: Path) -> None:
    """The weaker goal depends on a variable that the stronger one does not: it counts for the reachable states."""
    checked(tmp_path, *STRONG, *more)
    document = json.loads((tmp_path / "out" / "chain.json").read_text())
    if "sat" in more:
        assert document["graph"]["nodes"] == ["init", "strong", "end"]
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
    shared = sorted(sorted({*chain["goals"]} - {"weak"}) for chain in summary["chains"])
    assert shared == [["other", "twin"], ["strong"]], "a chain through the strong goal covers the weak one too"
    assert "weak" in {name for chain in summary["chains"] for name in chain["goals"]}


def test_nothing_is_asked_about_one_goal() -> None:
    system, goals, final = planted(0)
    board, kept = board_of((system, goals[:1], final))
    take_turns([Stage("implied goals", represent_implied)], board)
    assert kept.texts == []


def test_goals_that_represent_others_by_now_are_represented_by_none_of_these(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two stages ask the same in turns, with different knowledge: goals that represent each other would be lost."""
    system, goals, final = planted(0)
    board, _ = board_of((system, goals[:2], final))
    one, two = (goal.name for goal in goals[:2])

    def meanwhile(questions: Questions) -> dict[str, str]:
        board.tell(represented={two: one})
        return {one: two}

    monkeypatch.setattr(room, "implied_goals", meanwhile)
    take_turns([Stage("implied goals", represent_implied)], board)
    assert board.known.targets == (one,)
