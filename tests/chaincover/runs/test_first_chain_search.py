"""A search with a first chain: it comes to the same as without, and has a chain whatever ends it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import chaincover, in_process_of_its_own
from engine_doubles import (  # noqa: F401
    GivesUp,
    Trying,
    check_found,
    few_trial_runs,
    no_random_runs,
    search_with,
    small,
    tried,
)
from machines import Case, Machine, fork

from bmc.engines import choose as choose_engine
from bmc.engines.protocol import Engine
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from chaincover import search
from chaincover.budget import Budget
from chaincover.concretise.check_path import Attempt, Concretizer, Plan
from chaincover.graph.reachability import GraphBuilder
from chaincover.minimality import proof
from chaincover.pipeline import ChainResult, Options, generate
from chaincover.runs.first_chain import FirstChain, shown_distances
from properties.goal import Goal

pytestmark = pytest.mark.usefixtures("few_trial_runs")
trial_runs_alone = pytest.mark.usefixtures("no_random_runs")


def solve(case: Case, monkeypatch: pytest.MonkeyPatch, engine: Engine, **options: object) -> tuple[ChainResult, str]:
    """The result with ``engine``, and the stages it went through."""
    told: list[str] = []
    with monkeypatch.context() as patch:
        search_with(patch, engine)
        result = generate(*case, Options(**options), told.append)  # type: ignore[arg-type]
    if result.chain is not None:
        system, goals, final = case
        steps = {hit.goal: hit.step for hit in result.chain.hits}
        check_found((system, goals, final), result.options.overlap, result.chain.run, steps)
    return result, "\n".join(told)


def statuses(result: ChainResult) -> dict[str, str]:
    return {verdict.goal: verdict.status for verdict in result.verdicts}


@pytest.mark.slow
@trial_runs_alone
@pytest.mark.parametrize("explore", [0, 100_000])
def test_results_are_those_without_trial_runs(explore: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same goals are covered; where both lengths are proved least they are equal, and no bound lies above."""
    least = 0
    for seed in range(7):
        case = small(seed)
        settings = {"explore": explore, "bound": 5}
        plain, _ = solve(case, monkeypatch, choose_engine("z3"), **settings)
        other, stages = solve(case, monkeypatch, Trying(), **settings)
        assert "trial runs" in stages
        if explore:
            assert statuses(plain) == statuses(other), seed
        else:
            assert {n for n, s in statuses(plain).items() if s == "covered"} <= {
                n for n, s in statuses(other).items() if s == "covered"
            }, seed
        if plain.chain is None or other.chain is None or statuses(plain) != statuses(other):
            continue
        assert max(plain.bounds.lower, other.bounds.lower) <= min(plain.chain.length, other.chain.length), seed
        if plain.bounds.minimal and other.bounds.minimal:
            least += 1
            assert plain.chain.length == other.chain.length, seed
    assert least > 2


@trial_runs_alone
def test_an_interrupt_at_any_query_leaves_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what was reached by then, where a chain may end anywhere: the goals come in one after the other."""
    system, goals, _ = fork(stuck=False)
    counts = []
    for limit in range(1, 40):

        def interrupted(left: list[int]) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt

        left = [limit]
        engine = Trying(before=lambda left=left: interrupted(left))
        result, stages = solve((system, goals, None), monkeypatch, engine, explore=0)
        if not result.stopped_by:
            break
        assert result.stopped_by == "interrupt"
        assert set(statuses(result).values()) <= {"covered", "undecided"}
        covered = [name for name, status in statuses(result).items() if status == "covered"]
        assert (result.chain is None) == (not covered)
        counts.append(len(covered))
        if "graph" in stages:
            assert len(covered) == 2, "the first chain stays"
    assert counts == sorted(counts)
    assert set(counts) == {0, 1, 2}


@trial_runs_alone
def test_a_time_limit_in_the_trial_runs_leaves_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    result, stages = solve(fork(stuck=False), monkeypatch, Trying(), time_limit=1e-6, exhaust=0)
    assert (result.stopped_by, result.chain) == ("time limit", None)
    assert "graph" not in stages


@trial_runs_alone
def test_the_first_chain_stays_where_the_solver_gives_up_on_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    case = fork(stuck=False)
    engine = Trying(solver=False)
    result, _ = solve(case, monkeypatch, engine, explore=0, bound=4)
    assert result.stopped_by == ""
    assert statuses(result) == {"far": "covered", "near": "covered"}
    assert result.chain is not None
    assert result.chain.length == 5
    assert result.bounds.lower <= 5


@trial_runs_alone
def test_no_goal_is_set_aside_because_the_graph_has_no_way_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    search_with(monkeypatch, Trying(), GivesUp())
    monkeypatch.setattr(search, "shown_distances", lambda *given: {})
    result = generate(*fork(stuck=False), Options(explore=0, bound=4))
    assert result.graph.weights == {}
    assert statuses(result) == {"far": "covered", "near": "covered"}
    assert result.certificate is not None
    assert result.certificate.goals == ("far", "near")


def test_where_the_bound_is_met_nothing_more_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Round a ring there is one way: the graph is grown until it proves that, and no order is turned into inputs."""
    places = [f"p{n}" for n in range(5)]
    steps = [(here, "on", there) for here, there in zip(places, [*places[1:], "p0"], strict=True)]
    machine = Machine("ring", places, ["on", "stay"], steps)
    goals = tuple(Goal(name, at(machine.at_any(name), 0), None, 0) for name in ("p1", "p2", "p4"))
    case = machine.system(), goals, machine.at_any("p0")
    result, stages = solve(case, monkeypatch, Trying(), explore=0)
    assert result.chain is not None
    assert (result.chain.length, result.bounds.minimal) == (5, True)
    assert result.depth <= 3
    for later in ("->", "shorten", "exact", "bound:", "repair"):
        assert later not in stages
    assert "inputs: least values" in stages


def detour() -> Case:
    """To ``near``, then ``far``, it takes 6 steps; to ``far``, then ``near``, 3."""
    steps = [("m", "left", "l"), ("l", "left", "x"), ("x", "left", "y"), ("y", "left", "m")]
    steps += [("m", "right", "a"), ("a", "right", "f"), ("f", "right", "l")]
    machine = Machine("detour", ["m", "l", "x", "y", "a", "f"], ["left", "right"], steps)
    places = {"near": "l", "far": "f"}
    goals = tuple(Goal(name, at(machine.at_any(place), 0), None, 0) for name, place in places.items())
    return machine.system(), goals, None


@pytest.mark.parametrize("overlap", ["allow", "forbid"])
def test_distances_that_the_first_chain_shows_are_not_asked_for(overlap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights are the same without them, and take more queries, where each is about one number of steps."""
    fewer = 0
    for seed in (5, 14, 15, 23):
        case = small(seed)
        found = tried(case, overlap)
        if found is None:
            continue
        engines = [Trying(), Trying()]
        builders = [GraphBuilder(*case, engine, overlap) for engine in engines]
        tools = Concretizer(*case, choose_engine("z3"), Budget())
        shown = shown_distances(found[0], tools, overlap)
        assert {("init", name) for name in found[1]} <= shown.keys()
        builders[0].observe(shown)
        for builder in builders:
            builder.extend(6)
        less, more = (builder.graph() for builder in builders)
        assert less.weights == more.weights
        assert less.lower == more.lower
        assert all(steps >= less.lower[edge] for edge, steps in shown.items() if edge in less.lower)
        assert engines[0].trials <= engines[1].trials
        fewer += engines[0].trials < engines[1].trials
    assert fewer > 1


@trial_runs_alone
def test_the_search_knows_the_distances_of_the_first_chain(monkeypatch: pytest.MonkeyPatch) -> None:

    def stop(text: str) -> None:
        if "K = 0" in text:
            raise KeyboardInterrupt

    known = []
    for engine in (Trying(), choose_engine("z3")):
        with monkeypatch.context() as patch:
            search_with(patch, engine)
            known.append(generate(*detour(), Options(explore=0), stop).graph.upper)
    assert known[0]["near", "far"] == 5
    assert ("near", "far") not in known[1]


@trial_runs_alone
def test_a_shorter_chain_takes_the_place_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    case = detour()
    found = tried(case, "allow")
    assert found is not None
    assert found[0].length == 6
    result, stages = solve(case, monkeypatch, Trying(), explore=0)
    assert "trial runs" in stages
    assert result.chain is not None
    assert (result.chain.length, result.bounds.minimal) == (3, True)


@trial_runs_alone
def test_a_longer_chain_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The inputs found for the least order take steps to no purpose, and nothing shortens the chain."""
    least = search.concretise

    def longer(tools: Concretizer, plan: Plan, limit: int, progress: Callable[[str], None]) -> tuple[Plan, Attempt]:
        plan, attempt = least(tools, plan, limit, progress)
        assert attempt.run is not None
        inputs = [*attempt.run.inputs, *attempt.run.inputs[-1:] * 4]
        run = Simulator(tools.system).run(attempt.run.states[0], inputs)
        return plan.stretched(len(plan.gaps) - 1, plan.gaps[-1] + 4), replace(attempt, run=run)

    monkeypatch.setattr(search, "concretise", longer)
    monkeypatch.setattr(proof.Prover, "work", lambda *given: None)
    lengths = []
    for engine in (choose_engine("z3"), Trying()):
        result, _ = solve(detour(), monkeypatch, engine, explore=0)
        assert result.chain is not None
        lengths.append(result.chain.length)
    assert lengths == [7, 6]


@trial_runs_alone
def test_no_trial_runs_where_the_engine_makes_none_or_nothing_may_be_improved(monkeypatch: pytest.MonkeyPatch) -> None:
    _, stages = solve(fork(stuck=False), monkeypatch, choose_engine("z3"))
    assert "trial runs" not in stages
    _, stages = solve(fork(stuck=False), monkeypatch, Trying(), improve=0)
    assert "trial runs" not in stages


@trial_runs_alone
def test_a_first_chain_longer_than_asked_for_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    result, stages = solve(fork(stuck=False), monkeypatch, Trying(), max_length=4, exhaust=0)
    assert "trial runs" in stages
    assert result.chain is None
    assert set(statuses(result).values()) == {"not-within-bound"}


INTEGRATOR = """\
typedef struct { int on; } t_in;
typedef struct { float level; } t_st;
void init(t_st *s) { s->level = 0.0f; }
void compute(t_in *i, t_st *s) { s->level = i->on ? s->level + 0.75f : s->level * 0.5f; }
"""
GOALS = ("--property", "high: cover(level > 2.5f)", "--property", "low: cover(level > 0.0f && level < 0.4f)")


@pytest.mark.slow
def test_a_float_program_gives_the_same_bytes_in_every_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trial runs are drawn the same way, whatever the hash order; and they were made."""
    (tmp_path / "c.c").write_text(INTEGRATOR)
    options = ("--no-replay", "--no-cache", "--explore", "0", "-o")
    for seed in ("1", "2"):
        command = ("generate", tmp_path / "c.c", *GOALS, *options, tmp_path / seed)
        outcome = in_process_of_its_own(*command, PYTHONHASHSEED=seed)
        assert outcome.code == 0, outcome
    made: list[object] = []
    monkeypatch.setattr(search, "FirstChain", lambda chain, plan: made.append(chain) or FirstChain(chain, plan))
    assert chaincover("generate", tmp_path / "c.c", *GOALS, *options, tmp_path / "3").code == 0
    assert len(made) == 1
    written = [(tmp_path / seed / "chain.json").read_bytes() for seed in ("1", "2", "3")]
    assert written[0] == written[1] == written[2]
    assert json.loads(written[0])["chain"]["length"] == 5
