"""Trial runs of an engine, from goal to goal: what they find is a chain, and stays whatever the solver leaves open."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import in_process_of_its_own
from engine_doubles import (  # noqa: F401
    LIMIT,
    Open,
    Trying,
    check_found,
    few_trial_runs,
    no_random_runs,
    search_with,
    small,
    tried,
)
from explicit import Explicit
from hypothesis import given, settings
from hypothesis import strategies as st
from listeners import Told
from machines import Case, Machine, fork
from problems import problem_of

from bmc.engines.protocol import Engine, Status
from bmc.errors import LimitReached
from bmc.formulas.unroll import at
from chaincover import pipeline
from chaincover.limits import Limits
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.result import ChainResult
from chaincover.runs import nearest
from properties.goal import Goal

pytestmark = pytest.mark.usefixtures("few_trial_runs")
trial_runs_alone = pytest.mark.usefixtures("no_random_runs")


@settings(max_examples=12, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000))
def test_what_is_taken_is_a_chain_for_the_goals_it_is_credited_with(seed: int) -> None:
    case = small(seed)
    found = tried(case, "allow")
    if found is not None:
        assert set(found[1]) <= {goal.name for goal in case[1]}
        check_found(case, "allow", *found)


def test_trial_runs_find_many_chains_and_none_is_shorter_than_the_least() -> None:
    complete = 0
    for seed in range(30):
        system, goals, final = case = small(seed)
        found = tried(case, "allow")
        if found is None or len(found[1]) < len(goals):
            continue
        complete += 1
        if found[0].length <= LIMIT:
            least = Explicit(system).least_chain(goals, final, found[0].length)
            assert least is not None
            assert least <= found[0].length
    assert complete > 5


def test_the_end_of_time_ends_the_trial_runs() -> None:
    with pytest.raises(LimitReached):
        tried(fork(stuck=False), "allow", limits=Limits(1e-9))


def test_what_trial_runs_do_not_find_is_sought_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """A place that no run reaches, and that no bound excludes; the other goal is still taken."""
    monkeypatch.setattr(nearest, "PATIENCE", 3)
    steps = [("m", "left", "l"), ("l", "right", "m"), ("f", "left", "m")]
    machine = Machine("apart", ["m", "l", "r", "f"], ["left", "right"], steps)
    goals = tuple(Goal(place, at(machine.at_any(place), 0), None, 0) for place in ("l", "f"))
    engine = Trying(solver=False)
    engine.session = lambda *asked: Open(engine, Trying.session(engine, *asked), [Status.UNSAT])  # type: ignore[method-assign]
    found = tried((machine.system(), goals, None), "allow", engine, limit=30)
    assert found is not None
    assert list(found[1]) == ["l"]
    assert engine.open == 1 + 4


def solve(case: Case, monkeypatch: pytest.MonkeyPatch, engine: Engine, **options: object) -> tuple[ChainResult, Told]:
    """The result with ``engine``, and what was told; the chain is checked."""
    told = Told()
    with monkeypatch.context() as patch:
        search_with(patch, engine)
        result = generate(problem_of(*case), Options(**{"engine": "sat", **options}), told)  # type: ignore[arg-type]
    if result.chain is not None:
        steps = {hit.goal: hit.step for hit in result.chain.hits}
        check_found(case, result.options.overlap, result.chain.run, steps)
    return result, told


def statuses(result: ChainResult) -> dict[str, str]:
    return {verdict.goal: verdict.status for verdict in result.verdicts}


def only(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Runs have these stages alone from now on."""
    monkeypatch.setattr(pipeline, "STAGES", tuple(stage for stage in pipeline.STAGES if stage.name in names))


@trial_runs_alone
def test_an_interrupt_at_any_query_leaves_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what was reached by then, where a chain may end anywhere: the goals come in one after the other."""
    system, goals, _ = fork(stuck=False)
    only(monkeypatch, "nearest goal first")
    counts = []
    for limit in range(1, 40):
        left = [limit]

        def interrupted(left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt

        result, _ = solve((system, goals, None), monkeypatch, Trying(solver=False, before=interrupted))
        covered = [name for name, status in statuses(result).items() if status == "covered"]
        counts.append(len(covered))
        if not result.stopped_by:
            break
        assert result.stopped_by == "interrupt"
        assert set(statuses(result).values()) <= {"covered", "undecided"}
        assert (result.chain is None) == (not covered)
    assert counts == sorted(counts)
    assert set(counts) == {0, 1, 2}


@trial_runs_alone
def test_a_time_limit_in_the_trial_runs_leaves_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = solve(fork(stuck=False), monkeypatch, Trying(), time_limit=1e-6)
    assert (result.stopped_by, result.chain) == ("time limit", None)


@trial_runs_alone
def test_the_first_chain_stays_where_the_solver_gives_up_on_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = solve(fork(stuck=False), monkeypatch, Trying(solver=False), bound=4, effort=0.05)
    assert result.stopped_by == ""
    assert statuses(result) == {"far": "covered", "near": "covered"}
    assert result.chain is not None
    assert result.chain.length == 5
    assert result.bounds.lower <= 5


def detour() -> Case:
    """To ``near``, then ``far``, it takes 6 steps; to ``far``, then ``near``, 3."""
    steps = [("m", "left", "l"), ("l", "left", "x"), ("x", "left", "y"), ("y", "left", "m")]
    steps += [("m", "right", "a"), ("a", "right", "f"), ("f", "right", "l")]
    machine = Machine("detour", ["m", "l", "x", "y", "a", "f"], ["left", "right"], steps)
    places = {"near": "l", "far": "f"}
    goals = tuple(Goal(name, at(machine.at_any(place), 0), None, 0) for name, place in places.items())
    return machine.system(), goals, None


@trial_runs_alone
def test_a_shorter_chain_takes_the_place_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        only(patch, "nearest goal first")
        first, _ = solve(detour(), patch, Trying())
    assert first.chain is not None
    assert first.chain.length == 6
    result, _ = solve(detour(), monkeypatch, Trying())
    assert result.chain is not None
    assert (result.chain.length, result.bounds.minimal) == (3, True)


@trial_runs_alone
def test_a_first_chain_longer_than_asked_for_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "nearest goal first")
    result, _ = solve(fork(stuck=False), monkeypatch, Trying(), max_length=4)
    assert result.chain is not None
    assert (result.chain.length, statuses(result)) == (2, {"far": "not-within-bound", "near": "covered"})
    assert {*result.tests} == {"far"}


INTEGRATOR = """\
typedef struct { int on; } t_in;
typedef struct { float level; } t_st;
void init(t_st *s) { s->level = 0.0f; }
void compute(t_in *i, t_st *s) { s->level = i->on ? s->level + 0.75f : s->level * 0.5f; }
"""
GOALS = ("--property", "high: cover(level > 2.5f)", "--property", "low: cover(level > 0.0f && level < 0.4f)")


@pytest.mark.slow
def test_a_float_program_gives_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    """Trial runs are drawn the same way, whatever the hash order."""
    (tmp_path / "c.c").write_text(INTEGRATOR)
    options = ("--no-replay", "--engine", "sat", "-o")
    for seed in ("1", "2"):
        command = ("generate", tmp_path / "c.c", *GOALS, *options, tmp_path / seed)
        outcome = in_process_of_its_own(*command, PYTHONHASHSEED=seed)
        assert outcome.code == 0, outcome
    written = [(tmp_path / seed / "chain.json").read_bytes() for seed in ("1", "2")]
    assert written[0] == written[1]
    assert json.loads(written[0])["chain"]["length"] == 5
